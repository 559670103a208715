/* graph.h -- a computation as a directed acyclic graph, frozen into compressed rows.
 *
 *     pb_builder *b;
 *     pb_builder_new(&ctx, &b);
 *     pb_node x, y;
 *     pb_builder_add_node(b, &(pb_node_spec){.name = "x", .cost = 1, .size = 8}, &x);
 *     pb_builder_add_node(b, &(pb_node_spec){.name = "y", .cost = 2, .size = 8}, &y);
 *     pb_builder_add_edge(b, x, y);
 *     const pb_graph *g;
 *     if (pb_builder_freeze(b, &arena, &g) != PB_OK) puts(ctx.error.message);
 *     pb_builder_free(b);
 *
 * Edge u -> v: computing v reads u. docs/games.md explains the fields.
 */
#ifndef PEBBLE_GRAPH_H
#define PEBBLE_GRAPH_H

#include "base.h"
#include "machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t pb_node;
typedef uint32_t pb_edge;
#define PB_NO_NODE UINT32_MAX
#define PB_MAX_NODES 2000000000u
#define PB_MAX_EDGES 4000000000u

/* Node flags. The caller sets the first group; freeze computes the second. */
enum {
    PB_NODE_GIVEN = 1,      /* exists before the start, never computed */
    PB_NODE_GIVEN_SLOW = 2, /* with PB_NODE_GIVEN: starts in slow memory (tiered game) */
    PB_NODE_ONCE = 4,       /* computed at most once */
    PB_NODE_KEEP = 8,       /* must be resident at the end */
    PB_NODE_TARGET = 16,    /* must have been computed; freeze sets it for sinks if no targets were named */

    PB_NODE_NEEDED = 32,     /* a target or kept node is this node or depends on it */
    PB_NODE_BYPRODUCT = 64,  /* owner[] has the node it belongs to */
    PB_NODE_HAS_PARTS = 128, /* has by-products */
};

typedef enum pb_shape {
    PB_SHAPE_EMPTY,
    PB_SHAPE_CHAIN,         /* one path */
    PB_SHAPE_ADJOINT_CHAIN, /* a path, and a path of gradients that reads it backwards */
    PB_SHAPE_IN_TREE,       /* one sink, every other node is read exactly once */
    PB_SHAPE_GENERAL
} pb_shape;
const char *pb_shape_name(pb_shape shape);

/* What computing a node does, for machines (docs/machines.md). */
typedef struct pb_node_work {
    uint64_t flops, bytes; /* floating-point operations; everything that it reads and writes */
    uint32_t op, dtype;    /* indices into the graph's words, or PB_NO_WORD */
    bool has_flops, has_bytes;
} pb_node_work;
#define PB_NO_WORD UINT32_MAX

/* What a node says about a processor or memory of the machine, by name. */
typedef enum pb_note_kind {
    PB_NOTE_TIME, /* `times`: measured duration on this processor */
    PB_NOTE_ON,   /* `on`: this processor may compute it */
    PB_NOTE_IN,   /* `in`: the memory that a given value starts in */
    PB_NOTE_KEEP, /* `keep`: the memory that it must be in at the end */
} pb_note_kind;
typedef struct pb_note {
    uint32_t kind;  /* pb_note_kind */
    uint32_t word;  /* the processor or memory: an index into the graph's words */
    uint64_t value; /* of PB_NOTE_TIME */
} pb_note;

/* Another way to get a value back after it has existed (docs/games.md, "Recipes"). */
typedef struct pb_recipe {
    const char *name;  /* "" for none */
    const char *extra; /* unknown JSON fields, as of a node; "" for none */
    uint64_t cost, workspace;
    const pb_node *in; /* ascending; any nodes except its own */
    const pb_node *inplace;
    uint32_t in_count, inplace_count;
    pb_node_work work;
    const pb_note *time; /* measured durations; kind is not used */
    uint32_t time_count;
} pb_recipe;
#define PB_MAX_RECIPES 255 /* of a node */

/* A frozen graph: read its fields freely, write none. Arrays have node_count entries, *_start arrays one more: row v
 * of `in` is in[in_start[v]] .. in[in_start[v+1]-1]. */
typedef struct pb_graph {
    const char *name, *cost_unit, *size_unit; /* never NULL */
    const char *read_with; /* NULL, or the options its file was read with, if they change it: "train batch=8" */
    uint32_t node_count, edge_count;
    uint64_t fixed_size;

    const uint64_t *cost, *size, *workspace;
    const uint64_t *priority; /* for the eviction policy `priority`: higher values stay longer; NULL: none has one */
    const uint16_t *flags;
    const uint32_t *in_start;
    const pb_node *in; /* inputs, ascending */
    const uint32_t *out_start;
    const pb_node *out; /* readers, ascending */

    const uint32_t *inplace_start; /* NULL when no node lists any */
    const pb_node *inplace;
    const pb_node *owner; /* byproduct_of, or PB_NO_NODE; NULL when there are no by-products */
    const uint32_t *part_start;
    const pb_node *part; /* by-products of each node; NULL with owner */

    /* Every node that can be computed (not given, not a by-product) in program order: the file's, else the
     * lexicographically smallest by index. */
    const pb_node *order;
    uint32_t order_count;
    bool order_named;
    const uint32_t *recipe_start; /* NULL when no node has any */
    const pb_recipe *recipe;

    const uint32_t *depth; /* edges on the longest path from a source; a by-product has its owner's */
    uint32_t max_depth;

    const pb_node *targets; /* ascending */
    uint32_t target_count;
    bool targets_named;

    const char *const *group_names; /* group_count of them */
    const uint32_t *group;          /* index into group_names, or UINT32_MAX; NULL when there are none */
    uint32_t group_count;

    const uint64_t *name_start; /* names as one text, each NUL-terminated */
    const char *name_text;

    /* Unknown JSON fields, kept for writing: `"key":value` members joined by commas. */
    const char *extra;         /* of the graph, "" for none */
    const pb_node *extra_node; /* nodes that have some, ascending */
    const char *const *extra_text;
    uint32_t extra_count;

    /* For machines; each is NULL or 0 if the file has none. */
    const char *const *words; /* names of operations, types, processors and memories */
    uint32_t word_count;
    const pb_node_work *work; /* by node */
    const uint32_t *note_start;
    const pb_note *note;  /* of each node, ascending by kind and, within `on`, in the order of the file */
    const pb_note *fixed; /* `fixed`: memory in use by memory; kind is not used */
    uint32_t fixed_count;
    const pb_machine *machine;       /* the file's own */
    const pb_machine *priced_by;     /* the costs are times on its first processor */
    const struct pb_graph *unpriced; /* with priced_by: the graph as in its file, which hashes refer to */

    pb_shape shape;
    uint64_t needed_cost;  /* of needed nodes, each computed once */
    uint32_t needed_count; /* needed nodes that must be computed */
    uint64_t total_size;   /* of all values and fixed_size */
    bool forward_only;     /* known to compute no gradients; false: not known */
    uint32_t cost_digits;  /* the file's costs had decimals: they and their unit were multiplied by 10^cost_digits */
} pb_graph;

static inline const char *pb_graph_name(const pb_graph *g, pb_node v) { return g->name_text + g->name_start[v]; }

/* What the file states about a computation: of a node or a recipe. */
static inline pb_work pb_graph_work_of(const pb_graph *g, const pb_node_work *w)
{
    return (pb_work){w->op == PB_NO_WORD ? NULL : g->words[w->op],
                     w->dtype == PB_NO_WORD ? NULL : g->words[w->dtype],
                     w->has_flops,
                     w->has_bytes,
                     w->flops,
                     w->bytes};
}

static inline pb_work pb_graph_work(const pb_graph *g, pb_node v)
{
    const pb_node_work none = {.op = PB_NO_WORD, .dtype = PB_NO_WORD};
    return pb_graph_work_of(g, g->work ? &g->work[v] : &none);
}

/* How a move computes a value: from the inputs of its node (by 0), or by the node's recipe `by`, counted from 1. */
typedef struct pb_way {
    const pb_node *in, *inplace; /* inputs, and those whose memory it may take over; ascending */
    uint32_t in_count, inplace_count;
    uint64_t cost, workspace;
} pb_way;

static inline uint32_t pb_graph_recipes(const pb_graph *g, pb_node v)
{
    return g->recipe_start ? g->recipe_start[v + 1] - g->recipe_start[v] : 0;
}

static inline pb_way pb_graph_way(const pb_graph *g, pb_node v, uint32_t by)
{
    if (by) {
        const pb_recipe *r = &g->recipe[g->recipe_start[v] + by - 1];
        return (pb_way){r->in, r->inplace, r->in_count, r->inplace_count, r->cost, r->workspace};
    }
    uint32_t first = g->in_start[v], over = g->inplace_start ? g->inplace_start[v] : 0;
    return (pb_way){g->in + first,
                    g->inplace_start ? g->inplace + over : NULL,
                    g->in_start[v + 1] - first,
                    g->inplace_start ? g->inplace_start[v + 1] - over : 0,
                    g->cost[v],
                    g->workspace[v]};
}

/* Whether v has a computation of its own: it is neither given nor a by-product. */
static inline bool pb_graph_is_computed(const pb_graph *g, pb_node v)
{
    return !(g->flags[v] & (PB_NODE_GIVEN | PB_NODE_BYPRODUCT));
}

/* The node whose computation makes v: its owner for a by-product, else v itself. */
static inline pb_node pb_graph_maker(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_BYPRODUCT ? g->owner[v] : v;
}

/* Finds a node by its name, else by its 0-based index in decimal; PB_NO_NODE if there is none. O(nodes). */
pb_node pb_graph_find(const pb_graph *g, const char *name);

/* Peak in program order (docs/games.md, "Percent caps"): 100 % of percent caps. */
pb_status pb_graph_program_peak(pb_context *ctx, const pb_graph *g, uint64_t *peak);
/* The same, where it first occurs, and the values that are in memory there.
 *   out      *position  index into g->order; UINT32_MAX: before the first computation
 *            resident   1 or 0 by node; may be NULL */
pb_status pb_graph_program_peak_at(pb_context *ctx, const pb_graph *g, uint64_t *peak, uint32_t *position,
                                   uint8_t *resident);

/* SHA-256 of the canonical graph (docs/formats.md) in hexadecimal. */
#define PB_HASH_TEXT 65
pb_status pb_graph_hash(pb_context *ctx, const pb_graph *g, char hash[PB_HASH_TEXT]);

/* The same as pb_graph_hash with every cost taken as 0: graphs that differ only in costs have the same one. */
pb_status pb_graph_form_hash(pb_context *ctx, const pb_graph *g, char hash[PB_HASH_TEXT]);

/* Replacements for pb_graph_with_costs; NULL leaves a text unchanged. */
typedef struct pb_graph_costs {
    const uint64_t *cost;        /* by node; used for computed nodes, the others keep theirs */
    const uint64_t *recipe_cost; /* by index into the graph's recipes; NULL: they keep theirs */
    const char *cost_unit, *size_unit;
    const char *extra;             /* JSON members `"key":value` to add to the graph's own */
    const char *const *node_extra; /* by node: members to add to the node's own, NULL for none */
} pb_graph_costs;
/* The graph with other costs and everything else unchanged: names, edges, order, targets, groups, in-place steps,
 * by-products. It borrows from `g`, which must outlive it. PB_ERANGE: the costs together pass 2^64. */
pb_status pb_graph_with_costs(pb_context *ctx, const pb_graph *g, const pb_graph_costs *costs, pb_arena *result,
                              const pb_graph **out);

/* Checks every array against every other; PB_EBUG and ctx->error name what is wrong. For tests. */
pb_status pb_graph_check(pb_context *ctx, const pb_graph *g);

/* Builder. Names are copied; a NULL name becomes the node's index. A call that fails leaves the builder usable, with
 * a sentence in ctx->error. */
typedef struct pb_builder pb_builder;

typedef struct pb_node_spec {
    const char *name; /* need not be NUL-terminated when name_length > 0 */
    size_t name_length;
    uint64_t cost, size, workspace;
    uint16_t flags; /* of the first group */
    const char *group;
    size_t group_length;
    pb_work work; /* for machines; all zero: not stated */
} pb_node_spec;

pb_status pb_builder_new(pb_context *ctx, pb_builder **out);
void pb_builder_free(pb_builder *b);
void pb_builder_clear(pb_builder *b); /* removes everything, to build another graph */

pb_status pb_builder_add_node(pb_builder *b, const pb_node_spec *spec, pb_node *out);
/* The ends may be nodes that do not exist yet; freeze checks them. */
pb_status pb_builder_add_edge(pb_builder *b, pb_node from, pb_node to);
/* Of a node that was added before; 0 is the default. */
pb_status pb_builder_set_priority(pb_builder *b, pb_node v, uint64_t priority);
pb_status pb_builder_add_inplace(pb_builder *b, pb_node v, pb_node input);
pb_status pb_builder_set_byproduct(pb_builder *b, pb_node v, pb_node owner);
pb_status pb_builder_add_target(pb_builder *b, pb_node v);
/* What v, which was added before, says about a processor or memory; v PB_NO_NODE: `fixed`, memory that is always in use
 * there (the kind is not used). PB_NOTE_KEEP also sets PB_NODE_KEEP. */
pb_status pb_builder_add_note(pb_builder *b, pb_node v, pb_note_kind kind, const char *name, uint64_t value);
/* The machine that the graph's file carries; it must outlive the graph. */
void pb_builder_set_machine(pb_builder *b, const pb_machine *machine);
/* A recipe of node v, which may be added later. Its inputs, in-place inputs and times follow by its number. */
typedef struct pb_recipe_spec {
    const char *name; /* NULL for none */
    uint64_t cost, workspace;
    pb_work work;
    const char *extra; /* unknown JSON fields; NULL for none */
} pb_recipe_spec;
pb_status pb_builder_add_recipe(pb_builder *b, pb_node v, const pb_recipe_spec *spec, uint32_t *number);
pb_status pb_builder_add_recipe_input(pb_builder *b, uint32_t number, pb_node input);
pb_status pb_builder_add_recipe_inplace(pb_builder *b, uint32_t number, pb_node input);
pb_status pb_builder_add_recipe_time(pb_builder *b, uint32_t number, const char *processor, uint64_t time);
/* Appends to the named order; it must list every computed node once (given nodes and by-products may be left out). */
pb_status pb_builder_add_order(pb_builder *b, pb_node v);
/* A NULL leaves that text unchanged. */
pb_status pb_builder_set_texts(pb_builder *b, const char *name, const char *cost_unit, const char *size_unit);
void pb_builder_set_fixed_size(pb_builder *b, uint64_t size);
/* The graph is known to compute no gradients, so that it is not guessed from names and order. */
void pb_builder_set_forward_only(pb_builder *b);
/* Raw JSON members `"key":value`; call at most once per node, nodes ascending; PB_NO_NODE: the graph's own. */
pb_status pb_builder_set_extra(pb_builder *b, pb_node v, const char *members, size_t length);

uint32_t pb_builder_node_count(const pb_builder *b);
/* PB_NO_NODE if there is none. */
pb_node pb_builder_find(const pb_builder *b, const char *name, size_t length);

/* Checks everything, builds the arrays in `result`. The builder may be reused or freed afterwards.
 *   returns PB_EGRAPH  loop, cycle (with its nodes), bad reference, given node with inputs, bad order...
 *           PB_ERANGE  sizes or costs together pass 2^64 */
pb_status pb_builder_freeze(pb_builder *b, pb_arena *result, const pb_graph **out);

#ifdef __cplusplus
}
#endif
#endif
