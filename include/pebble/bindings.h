/* bindings.h -- the rest of the session, for other languages: opaque handles, plain arrays, numbers and texts, and no
 * structs. pebble.h has the first calls.
 *
 *     pb_session *s = pb_session_new();
 *     pb_session_set(s, "cap", "60%");
 *     const pb_graph *g;
 *     const pb_plan_result *p;
 *     if (pb_session_read_graph(s, bytes, length, NULL, &g) != PB_OK || pb_session_plan(s, g, NULL, &p) != PB_OK)
 *         report(pb_session_message(s));
 *     else if (pb_session_write_plan(s, p, "summary") == PB_OK)
 *         use(pb_session_text(s, &length));
 *     pb_session_free(s);
 *
 * Graphs and plans of a session may be read by other sessions, also of other threads. A plan borrows its graph, so the
 * graph's session must outlive the plan's. One thread uses a session at a time; pb_session_stop and pb_session_progress
 * may be called by any other meanwhile. Every pb_session_ function accepts a NULL session: it returns PB_EINVAL, 0,
 * NULL or "".
 *
 * Results leave through the last pointer and are unchanged on failure. Sessions have a clock of their own, for time
 * limits.
 */
#ifndef PEBBLE_BINDINGS_H
#define PEBBLE_BINDINGS_H

#include "adjoint.h"
#include "api.h"
#include "pebble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sessions ---- */

/* Asks the call at work to stop, and every later one, until pb_session_go_on. From any thread or signal handler. */
void pb_session_stop(pb_session *s);
void pb_session_go_on(pb_session *s);
/* Why the last call stopped early: a pb_stop. */
int pb_session_stopped(const pb_session *s);

/* Where the last call that failed found the error in a file, from 1 (0: no place). */
uint64_t pb_session_line(const pb_session *s);
uint64_t pb_session_column(const pb_session *s);
/* Warnings of readers, one per line; "" for none. */
const char *pb_session_notes(const pb_session *s);

/* The text that the last call wrote. It ends with NUL and is valid until the next call that writes a text. */
const char *pb_session_text(const pb_session *s, uint64_t *length);

/* Progress of the running call: what it does (room of at least 1 byte), and five numbers: done, total (0: not known),
 * and the plans so far: how many, with peak and makespan of the last one. */
#define PB_PROGRESS_FIELDS 5
void pb_session_progress(pb_session *s, char *what, uint64_t room, uint64_t *numbers);
/* The same as a callback: planning threads call it on every change; it must be quick. NULL: no callback. */
typedef void (*pb_watch)(void *state, const char *what, uint64_t done, uint64_t total);
void pb_session_watch(pb_session *s, pb_watch watch, void *state);

/* What the library offers, as text: a JSON document with version, cbc and cadical (their versions, null without
 * them), strategies, policies, families and machines. */
pb_status pb_session_about(pb_session *s);

/* ---- graphs ---- */

/* A graph from arrays: nodes first, then the other calls in any order, then pb_session_make_graph. Every array has
 * `count` entries and is copied. A call that fails drops what was added before. */
/* Names of the nodes that pb_session_add_nodes adds next: texts one after the other, each ended by NUL, `length` bytes
 * in total; borrowed until then. Without names, nodes are named by their index. */
pb_status pb_session_name_nodes(pb_session *s, uint32_t count, const char *names, uint64_t length);
/* Their groups: an index into `names` for each node (UINT32_MAX: none), and names as above; borrowed likewise. */
pb_status pb_session_group_nodes(pb_session *s, uint32_t count, const uint32_t *group, const char *names,
                                 uint64_t length);
/* What they do, for machines: their "flops" or "bytes" (UINT64_MAX: not stated), and their "op" or "dtype" as an index
 * into `names` (UINT32_MAX: not stated); borrowed likewise. */
pb_status pb_session_count_nodes(pb_session *s, const char *what, uint32_t count, const uint64_t *values);
pb_status pb_session_word_nodes(pb_session *s, const char *what, uint32_t count, const uint32_t *word,
                                const char *names, uint64_t length);
/* workspace and flags (PB_NODE_GIVEN, _GIVEN_SLOW, _ONCE, _KEEP, _TARGET) may be NULL. */
pb_status pb_session_add_nodes(pb_session *s, uint32_t count, const uint64_t *cost, const uint64_t *size,
                               const uint64_t *workspace, const uint16_t *flags);
/* Pairs of nodes: "edge" (second reads first), "inplace" (first may reuse the memory of second) or "byproduct_of"
 * (first is made by the computation of second). */
pb_status pb_session_add_pairs(pb_session *s, const char *what, uint64_t count, const uint32_t *first,
                               const uint32_t *second);
/* Lists of nodes: "target" or "order". */
pb_status pb_session_add_list(pb_session *s, const char *what, uint64_t count, const uint32_t *node);
/* Priorities of nodes for the eviction policy `priority`; 0 is the default. */
pb_status pb_session_add_priorities(pb_session *s, uint64_t count, const uint32_t *node, const uint64_t *priority);
/* What nodes state about one processor or memory of a machine, by its name: "time" (with values: their time on this
 * processor), "on" (it may compute them), "in" (they start in this memory), "keep" (they must be in it at the end);
 * "fixed" is memory that is always in use there (one value, no nodes). */
pb_status pb_session_add_notes(pb_session *s, const char *what, const char *name, uint64_t count, const uint32_t *node,
                               const uint64_t *value);
/* The machine that the graph carries, by name, path or JSON document. */
pb_status pb_session_carry_machine(pb_session *s, const char *machine);
/* Freezes what was added. Texts may be NULL. The next graph starts empty, even after a failure. */
pb_status pb_session_make_graph(pb_session *s, const char *name, const char *cost_unit, const char *size_unit,
                                uint64_t fixed_size, const pb_graph **out);

/* A graph from the bytes of a file in any format; `path` (may be NULL) helps if the content does not determine the
 * format. */
pb_status pb_session_read_graph(pb_session *s, const char *bytes, uint64_t length, const char *path,
                                const pb_graph **out);
/* A graph of a family; parameters as lines "key=value", "" for none. */
pb_status pb_session_generate(pb_session *s, const char *family, const char *parameters, const pb_graph **out);

/* An array of the graph by the name of its field in pb_graph: cost, size, workspace, priority (8 bytes each),
 * flags (2), in_start, in, out_start, out, inplace_start, inplace, owner, part_start, part, order, depth, targets,
 * group (4),
 * name_start (8), name_text (1). NULL if the graph has none or the name is unknown. The array belongs to the graph. */
const void *pb_graph_array(const pb_graph *g, const char *field, uint64_t *count, uint32_t *width);
/* node_count, edge_count, fixed_size, order_count, order_named, max_depth, target_count, targets_named, group_count,
 * needed_cost, needed_count, total_size; UINT64_MAX for any other name. */
uint64_t pb_graph_number(const pb_graph *g, const char *field);
/* name, cost_unit, size_unit, shape; NULL for any other name. */
const char *pb_graph_text(const pb_graph *g, const char *field);
const char *pb_graph_node_name(const pb_graph *g, uint32_t node);    /* NULL: no such node */
const char *pb_graph_group_label(const pb_graph *g, uint32_t group); /* NULL: no such group */
uint32_t pb_graph_find_node(const pb_graph *g, const char *name);    /* by name, else by index; PB_NO_NODE */
/* What the nodes state for machines, as in pb_session_count_nodes and pb_session_word_nodes, with words as indices for
 * pb_graph_word. Any array may be NULL. False: they state nothing, and the arrays are unchanged. */
bool pb_graph_work_arrays(const pb_graph *g, uint64_t *flops, uint64_t *bytes, uint32_t *op, uint32_t *dtype);
/* The notes of one kind, as in pb_session_add_notes, up to `room` of them; returns how many there are. Any array may
 * be NULL. */
uint64_t pb_graph_notes(const pb_graph *g, const char *what, uint64_t room, uint32_t *node, uint32_t *word,
                        uint64_t *value);
const char *pb_graph_word(const pb_graph *g, uint32_t word); /* NULL: no such word */
/* The graph as text in "json", "dot" or "csv", or its "hash". */
pb_status pb_session_write_graph(pb_session *s, const pb_graph *g, const char *form);
/* Peak in program order: 100 % of caps. */
pb_status pb_session_program_peak(pb_session *s, const pb_graph *g, uint64_t *peak);
/* A size from text, for this graph: "60%", "8GiB"; PB_UNLIMITED for none. */
pb_status pb_session_size(pb_session *s, const pb_graph *g, const char *text, uint64_t *size);

/* ---- plans ---- */

/* One verified plan with the session's settings. `start` (may be NULL) is a plan of the same graph and game to start
 * from. If a plan was found before a stop, it returns PB_OK, and pb_session_stopped has the reason. */
pb_status pb_session_plan(pb_session *s, const pb_graph *g, const pb_plan_result *start, const pb_plan_result **out);

/* Moves for pb_session_judge_moves; may be called several times; a failure drops all moves. Each is a row of four
 * numbers: op (pb_op), node, place (the tier of store, load and drop, 0 means 1; or PB_MOVE_BORROWED for a computation
 * in borrowed memory) and over (the input that is overwritten, or PB_NO_NODE). By-products of move k:
 * also[also_start[k]] .. also[also_start[k + 1] - 1], both NULL for none. */
#define PB_MOVE_FIELDS 4
#define PB_MOVE_BORROWED 255
pb_status pb_session_add_moves(pb_session *s, uint64_t count, const uint32_t *rows, const uint64_t *also_start,
                               const uint32_t *also);
/* Replays the moves that were added, as a schedule of the session's game, cap, tiers and weights. The verdict is the
 * text: a JSON document as `pebble verify --json` prints it. *out has a certificate if the moves are legal. */
pb_status pb_session_judge_moves(pb_session *s, const pb_graph *g, const pb_plan_result **out);
/* The same for the bytes of a schedule file, which states its own game. The session's cap, if set, overrides the
 * file's. */
pb_status pb_session_judge_file(pb_session *s, const pb_graph *g, const char *bytes, uint64_t length,
                                const pb_plan_result **out);

bool pb_result_has_plan(const pb_plan_result *p); /* verified moves, not only a reason */
uint64_t pb_result_move_count(const pb_plan_result *p);
/* Copies moves first .. first + room - 1, at most, in rows as above; returns how many. */
uint64_t pb_result_moves(const pb_plan_result *p, uint64_t first, uint64_t room, uint32_t *rows);
/* By-products of all moves as above: also_start has move_count + 1 entries, `also` has the returned number.
 * Each may be NULL, for instance to get the number first. */
uint64_t pb_result_also(const pb_plan_result *p, uint64_t *also_start, uint32_t *also);
const char *pb_op_label(uint32_t op); /* compute, uncompute, free, store, load, drop; NULL: no such op */

/* The plan as text: "schedule" (the file), "summary" (the file without moves, with seconds), "reason" (why there is
 * no plan), "strategy" (the requested one); if there is a plan, also "decisions", "csv", "json", "dot", "trace",
 * "actions", "explain". */
pb_status pb_session_write_plan(pb_session *s, const pb_plan_result *p, const char *form);
/* The plan in the compact binary form. */
pb_status pb_session_write_plan_binary(pb_session *s, const pb_plan_result *p);
/* Why values are kept or recomputed, for one node or (PB_NO_NODE) for all: "text" or "json". */
pb_status pb_session_explain(pb_session *s, const pb_plan_result *p, uint32_t node, const char *form);

/* For each move: work and io up to its end, fast memory during it, slow memory after it. Each array may be NULL. */
pb_status pb_session_memory(pb_session *s, const pb_plan_result *p, uint64_t *time, uint64_t *fast, uint64_t *slow);
/* Memory in `buckets` equal parts of the "moves" or of the "time": the largest in each. */
pb_status pb_session_profile(pb_session *s, const pb_plan_result *p, const char *axis, uint32_t buckets, uint64_t *fast,
                             uint64_t *slow);

/* ---- running plans with kernels of the caller ---- */

/* What the caller does: writes a value that is given, computes a node, sets up fixed memory before the first step,
 * reads a value that is resident at the end of a step. */
typedef enum pb_duty { PB_DUTY_FILL, PB_DUTY_COMPUTE, PB_DUTY_FIXED, PB_DUTY_RESULT } pb_duty;
/* `numbers`: the step; how often the node was computed before in this step; the recipe (0: its own inputs); 1 if only
 * by-products are needed. `value` has addresses by node (NULL: not in memory); only those of inputs and results may be
 * read. `workspace` and `fixed` as in engine.h. Returns 0; anything else ends the run. */
#define PB_DUTY_FIELDS 4
typedef int (*pb_own_kernel)(void *state, uint32_t duty, uint32_t node, const uint64_t *numbers, void *const *value,
                             void *workspace, void *fixed);
/* How pb_session_run works: numbers by name, and the folder of slow memory, which the next run takes. "steps" (1),
 * "align" (64), "max_block" (no limit), "check" (1: every kernel runs twice, see engine.h). */
pb_status pb_session_run_number(pb_session *s, const char *name, uint64_t value);
pb_status pb_session_run_slow(pb_session *s, const char *path);
/* Runs a plan of a graph with sizes in bytes in one block of memory. The text is a JSON object: the figures of the
 * last step (peak and block are the largest of all steps) with planned_peak, times of all steps, node_ns (the shortest
 * time of each node), and the nodes that `differs` lists. The kernel is called on this thread; it must not use the
 * session. */
pb_status pb_session_run(pb_session *s, const pb_plan_result *p, pb_own_kernel kernel, void *state);

/* ---- many plans, and graphs ---- */

/* Compares strategies under the session's cap: those of the setting strategy, else all; in the game that is set,
 * else in remat and reversible, and in tiered if there are tiers. */
pb_status pb_session_compare(pb_session *s, const pb_graph *g, const pb_comparison **out);
/* As text: the document of `pebble compare --json`. */
pb_status pb_session_write_comparison(pb_session *s, const pb_comparison *c);
uint64_t pb_comparison_row_count(const pb_comparison *c);
const pb_plan_result *pb_comparison_row(const pb_comparison *c, uint64_t row); /* NULL: no such row */

/* Plans for many caps (the settings caps and points), strategies and weights. */
pb_status pb_session_sweep(pb_session *s, const pb_graph *g, const pb_sweep **out);
/* As "json" (pebble-sweep/1), "csv" or "svg". */
pb_status pb_session_write_sweep(pb_session *s, const pb_sweep *sweep, const char *form);
/* The plan of a cell, made in this session: NULL in *out if the cell has none. */
pb_status pb_session_cell(pb_session *s, const pb_sweep *sweep, uint64_t cell, const pb_plan_result **out);

/* Sweeps in a store (pebble/store.h). Adds the cells of such a sweep to the store in this folder, which is made if it
 * is not there. As text: the id of the sweep. */
pb_status pb_session_store_add(pb_session *s, const pb_graph *g, const char *path);
/* Plans cells of a store, of one sweep or (NULL) of all, until none is left or the time is up. With `wait` also those
 * that other workers have and lose. As text: {"done":12,"returned":0,"taken_over":0,"failed":0}. */
pb_status pb_session_store_work(pb_session *s, const char *path, const char *only, uint32_t threads, bool wait);
/* The sweep from its rows; cells without a row are missing, and it is then marked as stopped. */
pb_status pb_session_store_collect(pb_session *s, const char *path, const char *id, const pb_sweep **out);

/* What a graph contains and how little memory is enough, as text: the document of `pebble info --json`. */
pb_status pb_session_info(pb_session *s, const pb_graph *g);

/* ---- machines: by built-in name, path or JSON document (machine.h) ---- */

/* The machine as text: its document pebble-machine/1. */
pb_status pb_session_write_machine(pb_session *s, const char *machine);
/* The same for the machine that a graph carries; "" for none. */
pb_status pb_session_write_graph_machine(pb_session *s, const pb_graph *g);
/* The graph with times by the models of the session's machine, or of its own (pb_graph_time). The text is a JSON
 * object: kept, unknown, outside, and rows with op, dtype, nodes, modelled, outside, beyond, node and time. */
pb_status pb_session_time_graph(pb_session *s, const pb_graph *g, const pb_graph **out);
/* Measurements of one operation and type (may be NULL) for pb_session_fit_machine: rows of flops, bytes and time. */
pb_status pb_session_add_samples(pb_session *s, const char *op, const char *dtype, uint64_t count,
                                 const uint64_t *rows);
/* Fits the one processor of a machine to them (pb_machine_fit). The text is a JSON object: models, with op, dtype,
 * samples and error (null: too few samples), and machine. The next call starts without measurements. */
pb_status pb_session_fit_machine(pb_session *s, const char *machine);
/* The machine with every time multiplied by `factor`, as text. */
pb_status pb_session_rescale_machine(pb_session *s, const char *machine, double factor);

/* ---- adjoint codes: streams of actions (adjoint.h) ---- */

typedef struct pb_stream pb_stream;

/* One more storage level for pb_session_multilevel, after cheaper ones. A failure drops all levels. */
pb_status pb_session_add_level(pb_session *s, uint64_t slots, uint64_t write_cost, uint64_t read_cost);
/* Fewest forward steps with `snapshots` snapshots; minimum cost over the levels that were added, after which there are
 * none; a number of steps that is not known in advance. */
pb_status pb_session_revolve(pb_session *s, uint64_t steps, uint64_t snapshots, pb_stream **out);
pb_status pb_session_multilevel(pb_session *s, uint64_t steps, uint64_t forward_cost, uint64_t reverse_cost,
                                pb_stream **out);
pb_status pb_session_online(pb_session *s, uint32_t snapshots, pb_stream **out);

/* States and tapes of different sizes: one more level with its costs of writing and reading a state and a tape; then
 * the schedule. Numbers: sizes of a state and a tape, costs of a step and an adjoint step. Steps UINT64_MAX: not known
 * in advance; then pb_stream_online_steps gives the forward steps, and pb_session_mixed_end, called once after the
 * last of them, plans the backward pass. */
pb_status pb_session_add_mixed_level(pb_session *s, uint64_t size, const uint64_t costs[4]);
pb_status pb_session_mixed(pb_session *s, uint64_t steps, const uint64_t numbers[4], pb_stream **out);
pb_status pb_session_mixed_end(pb_session *s, pb_stream *stream);

/* Up to `room` more actions, each a row of seven numbers: kind (pb_action_kind), n0, n1, slot, flags (PB_WRITE_*),
 * from and to (pb_storage). Returns how many: fewer than `room` only at the end. Only one thread at a time may use a
 * stream. */
#define PB_ACTION_FIELDS 7
uint64_t pb_stream_actions(pb_stream *stream, uint64_t room, uint64_t *rows);
/* Of an online stream: `steps` more forward steps, in rows as above. Call pb_stream_online_end once after the last
 * step; pb_stream_actions then gives the backward pass. */
uint64_t pb_stream_online_steps(pb_stream *stream, uint64_t steps, uint64_t *rows);
void pb_stream_online_end(pb_stream *stream);
/* The cost of all actions of a multi-level or mixed stream (after the end, if that is set); 0 for others. */
uint64_t pb_stream_cost(const pb_stream *stream);
/* The cost of pb_session_revolve in closed form, as text: a JSON object with forward_steps, writes, reads, actions
 * and repetitions. */
pb_status pb_session_revolve_count(pb_session *s, uint64_t steps, uint64_t snapshots);
const char *pb_action_label(uint32_t kind);     /* Forward, Reverse...; NULL: no such kind */
const char *pb_storage_label(uint32_t storage); /* NONE, WORK, RAM, DISK...; NULL likewise */

#ifdef __cplusplus
}
#endif
#endif
