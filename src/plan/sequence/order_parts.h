/* order_parts.h -- what the parts of sequence/order share.
 *
 * Let S be the set of nodes computed so far. What is resident then depends on S alone, not on the order inside it;
 * so do the memory that one more node needs while it is computed, and what it leaves behind. All methods here rely
 * on that.
 */
#ifndef PBI_PLAN_SEQUENCE_ORDER_PARTS_H
#define PBI_PLAN_SEQUENCE_ORDER_PARTS_H

#include "plan/sequence/order.h"

typedef struct pbi_order_task {
    pb_context *ctx;
    const pb_graph *g;
    pb_arena *arena;
    uint32_t count;         /* nodes to compute */
    pb_node *program_order; /* these nodes, in program order */
    uint32_t *readers;      /* per node: needed readers of its value */
    uint64_t *made;         /* per node to compute: size of all results of its computation, including by-products */
    uint64_t *unread;       /* per node to compute: size of results that nothing reads, freed at once */
    uint64_t start;         /* resident before the first computation */
    uint64_t floor;         /* lower bound on the peak of every order */
    uint64_t enough;        /* a peak that is small enough: never below the floor */

    pb_node *best; /* of the orders so far */
    uint64_t peak; /* of `best` */
} pbi_order_task;

/* Fills the task and measures program order. */
pb_status pbi_order_task_init(pbi_order_task *t, pb_context *ctx, const pb_game *game, uint64_t enough, pb_node *best,
                              pb_arena *arena);

/* Is the value resident before anything is computed, or from its first reader on? */
static inline bool pbi_order_given_slow(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_GIVEN_SLOW; }
static inline bool pbi_order_stays(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_KEEP; }

/* By-products of v: 0 for most nodes. */
static inline uint32_t pbi_order_parts(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
}

/* May v be computed in the memory of u? */
static inline bool pbi_order_inplace(const pb_graph *g, pb_node v, pb_node u)
{
    if (g->inplace_start)
        for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++)
            if (g->inplace[k] == u)
                return true;
    return false;
}

/* Memory while v is computed, and after it, from the memory before. */
typedef struct pbi_order_step {
    uint64_t loaded; /* values given in slow memory that it is the first to read */
    uint64_t freed;  /* values that it is the last to read */
    uint64_t over;   /* largest of those that it may overwrite */
} pbi_order_step;

static inline uint64_t pbi_order_during(const pbi_order_task *t, pb_node v, const pbi_order_step *s, uint64_t before)
{
    uint64_t saved = s->over < t->g->size[v] ? s->over : t->g->size[v];
    uint64_t loaded = before + s->loaded, during = loaded + t->made[v] - saved + t->g->workspace[v];
    return during > loaded ? during : loaded;
}

static inline uint64_t pbi_order_after(const pbi_order_task *t, pb_node v, const pbi_order_step *s, uint64_t before)
{
    return before + s->loaded + t->made[v] - t->unread[v] - s->freed;
}

/* The peak of an order, given `left`, room for a number per node. */
uint64_t pbi_order_measure(const pbi_order_task *t, const pb_node *order, uint32_t *left);
/* Makes it the best if its peak is smaller. */
void pbi_order_keep_best(pbi_order_task *t, const pb_node *order, uint64_t peak);

/* Greedy orders from the start, from the end, and depth first; notes the best. */
pb_status pbi_order_greedy(pbi_order_task *t);

/* Rearranges an order into the one of the least peak, by search over sets of computed nodes. An order of at most
 * t->enough ends the search. */
typedef struct pbi_order_exact_limits {
    uint64_t below;  /* orders with this peak or more are not searched */
    uint64_t states; /* max sets to search */
} pbi_order_exact_limits;
typedef struct pbi_order_exact_answer {
    bool found;    /* the nodes have been rearranged; else they are unchanged */
    bool proved;   /* the search was complete: `peak` is the least (or enough), or nothing is below `below` */
    uint64_t peak; /* t->enough at least */
} pbi_order_exact_answer;
pb_status pbi_order_exact(const pbi_order_task *t, pb_node *order, const pbi_order_exact_limits *limits,
                          pbi_order_exact_answer *out);

/* Local search from the best order, for this many ticks. */
pb_status pbi_order_local(pbi_order_task *t, uint64_t ticks, uint64_t seed);

#endif
