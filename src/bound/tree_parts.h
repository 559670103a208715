/* tree_parts.h -- what both orders of a forest share: what each computation does to the memory.
 *
 * A job is a run of computations that stay together. Seen from outside it lets the memory rise to a hill and fall to where
 * it ends; jobs one after the other make a job again. The least hill of jobs in any order has those first that end below
 * where they began, the lower hills before the higher; then the others, the deeper falls before the shallower.
 */
#ifndef PBI_TREE_PARTS_H
#define PBI_TREE_PARTS_H

#include "bound/tree_order.h"

typedef struct pbi_job_steps {
    uint64_t rise; /* from the memory before it to the most during it */
    uint64_t fall; /* from there to the memory after it */
} pbi_job_steps;

typedef struct pbi_tree {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    pb_arena *arena;
    pb_node *reader;    /* per node: the needed node that reads it, or PB_NO_NODE */
    pbi_job_steps *job; /* per node that is computed */
    uint64_t start;     /* memory before anything happens */
    uint64_t base;      /* and when given values that nothing reads have gone */
} pbi_tree;

static inline pbi_job_steps pbi_job_join(pbi_job_steps a, pbi_job_steps b)
{
    if (b.rise <= a.fall)
        return (pbi_job_steps){a.rise, a.fall - b.rise + b.fall};
    return (pbi_job_steps){a.rise + (b.rise - a.fall), b.fall};
}

/* Below 0 where a must come before b, 0 where it does not matter. */
static inline int pbi_job_compare(pbi_job_steps a, pbi_job_steps b)
{
    bool a_sinks = a.fall > a.rise, b_sinks = b.fall > b.rise;
    if (a_sinks != b_sinks)
        return a_sinks ? -1 : 1;
    if (a_sinks)
        return a.rise < b.rise ? -1 : a.rise > b.rise;
    return a.fall > b.fall ? -1 : a.fall < b.fall;
}

static inline bool pbi_tree_is_planned(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_NEEDED) && pb_graph_is_computed(g, v);
}

/* The needed nodes that are computed, each after its inputs, into `order` with the least peak among postorders. */
pb_status pbi_tree_postorder(const pbi_tree *t, pb_node *order, pbi_job_steps *all);

#endif
