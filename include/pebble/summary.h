/* summary.h -- comparisons and graph information as records and JSON: the output of `pebble compare --json` and
 * `pebble info --json`, for the command, the server and other languages. */
#ifndef PEBBLE_SUMMARY_H
#define PEBBLE_SUMMARY_H

#include "api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of one row of a comparison, without the braces. `base` is the game if the row has none. */
pb_status pb_row_json_write(pb_context *ctx, const pb_plan_result *p, const pb_game *base, pb_sink sink);

/* ---- what a comparison shows first ---- */

/* One line of the table. Rows whose plans have the same moves share a line. */
typedef struct pb_view_line {
    uint32_t count;
    const uint32_t *rows;      /* of the comparison */
    const char *const *titles; /* of each: "baseline", "program-order", "partial", "reversible", "best"; NULL: none */
} pb_view_line;

typedef struct pb_view {
    const pb_view_line *lines;
    uint32_t count;
    uint32_t hidden; /* rows that no line shows */
} pb_view;

/* The lines of a comparison.
 *   in   all    every row, by game and then the cheapest first. Else those that decide: keep everything, program order,
 *               the best of fixed intervals and depths, the usual choices, Bennett's recursion, schedules of the user,
 *               and the best plan */
pb_status pb_view_make(pb_context *ctx, const pb_comparison *c, bool all, pb_arena *result, pb_view *out);
/* The title of a row by itself, without "partial" and "best"; NULL: none. */
const char *pb_row_title(const pb_plan_result *p);
/* Computations, uncomputations and transfers of a plan: its moves without frees and drops. */
uint64_t pb_operation_count(const pb_moves *moves);

/* ---- the minimum work of the reversible game, shown with a comparison ---- */

typedef struct pb_front_view {
    pb_front front;    /* no points: the graph is too large */
    uint64_t *bennett; /* work of Bennett's recursion in the memory of each point; UINT64_MAX: it does not fit */
} pb_front_view;

/* Takes a fraction of a second, and a fraction of the time limit (in nanoseconds from now; 0: none). */
pb_status pb_front_view_make(pb_context *ctx, const pb_graph *g, uint64_t time_ns, pb_arena *result,
                             pb_front_view *out);
/* Whether this plan is the point of the front. */
bool pb_front_is_point(const pb_plan_result *p, const pb_front_point *point);
/* Whether there are rows of the reversible game, for which a front can be shown. */
bool pb_front_matters(const pb_comparison *rows);

/* The document of `pebble compare --json`. `view` may be NULL. */
pb_status pb_comparison_json_write(pb_context *ctx, const pb_game *base, uint64_t program_peak,
                                   const pb_comparison *rows, const pb_front_view *view, pb_sink sink);

/* As a picture: peaks under the cap and extra work, best first; reasons where there is no plan. */
pb_status pb_comparison_svg_write(pb_context *ctx, const pb_game *base, const pb_comparison *rows, pb_sink sink);

/* ---- graphs ---- */

/* What memory is used for; gradients include the buffers of parameters' gradients. */
typedef enum pb_memory_kind {
    PB_MEMORY_PARAMETERS,
    PB_MEMORY_OPTIMIZER,
    PB_MEMORY_FIXED,  /* always in use, and the file does not state for what */
    PB_MEMORY_INPUTS, /* given values */
    PB_MEMORY_ACTIVATIONS,
    PB_MEMORY_GRADIENTS,
    PB_MEMORY_WORKSPACE,
    PB_MEMORY_KINDS
} pb_memory_kind;
const char *pb_memory_kind_name(pb_memory_kind kind); /* parameters, optimizer_state, ... */

/* Values of one kind in memory at the peak, by group and the operation that computes them. */
typedef struct pb_memory_row {
    pb_memory_kind kind;
    const char *group, *op; /* op: of the first part, "conv" of "conv.dx"; NULL: none */
    uint64_t size;
    uint32_t values;
} pb_memory_row;

typedef struct pb_op_time {
    const char *op; /* likewise */
    uint64_t time;
    uint32_t nodes;
} pb_op_time;

enum { PB_MEMORY_ROWS = 8 };

/* A step in program order on the machine that priced the graph. */
typedef struct pb_step_report {
    const pb_machine *machine; /* NULL: none, and nothing else is set */
    uint64_t room;             /* of its first memory, without what it reserves */
    uint64_t peak;
    pb_node peak_at;                    /* the computation; PB_NO_NODE: before the first */
    uint32_t position, computations;    /* of that one, from 1; of the step */
    bool trains, backward;              /* whether there is a backward pass; whether the peak is in it */
    uint64_t in_use[PB_MEMORY_KINDS];   /* at the peak; their sum is the peak */
    pb_memory_row rows[PB_MEMORY_ROWS]; /* the largest first; values only */
    uint32_t row_count;
    uint64_t time;
    const pb_op_time *ops; /* the longest time first */
    uint32_t op_count;
} pb_step_report;
/* For a graph with priced_by. Names are borrowed from it. */
pb_status pb_step_report_make(pb_context *ctx, const pb_graph *g, pb_arena *result, pb_step_report *out);

/* What `pebble info` shows about a graph. */
typedef struct pb_info {
    const pb_graph *g;
    uint64_t program_peak, largest;
    pb_node largest_at;
    uint32_t given, byproducts, once, keep;
    pb_least_fact games[3];
    int game_count;
    pb_step_report step; /* pb_step_report_make fills it; without a machine it is empty */
} pb_info;

/* Everything except the games and the step. */
pb_status pb_info_make(pb_context *ctx, const pb_graph *g, pb_info *out);
/* Adds what is known about one more game: the proven minimum cap, and the smallest cap that a plan shows. A stop
 * ends planning; the result is then what is known so far. */
pb_status pb_info_add_game(pb_context *ctx, const pb_game *game, const pb_request *request, pb_arena *result,
                           pb_info *info);
/* The fields of `pebble info --json`, without the braces. */
pb_status pb_info_json_write(pb_context *ctx, const pb_info *info, pb_sink sink);

#ifdef __cplusplus
}
#endif
#endif
