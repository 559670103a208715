/* tree_parts.h -- shared by both orders of a forest: how each computation changes memory.
 *
 * A job is a sequence of computations that stay together. Seen from outside, memory rises to a maximum (hill) and
 * falls to where the job ends; jobs in sequence form a job again. The minimum hill over all orders of jobs has
 * first the jobs that end below where they start, lower hills before higher ones; then the others, larger falls
 * before smaller ones.
 */
#ifndef PBI_TREE_PARTS_H
#define PBI_TREE_PARTS_H

#include "bound/tree_order.h"

typedef struct pbi_job_steps {
    uint64_t rise; /* from the memory before it to the maximum during it */
    uint64_t fall; /* from there to the memory after it */
} pbi_job_steps;

typedef struct pbi_tree {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    pb_arena *arena;
    pb_node *reader;    /* by node: the needed node that reads it, or PB_NO_NODE */
    pbi_job_steps *job; /* by computed node */
    uint64_t start;     /* memory before the first move */
    uint64_t base;      /* the same without given values that nothing reads */
} pbi_tree;

static inline pbi_job_steps pbi_job_join(pbi_job_steps a, pbi_job_steps b)
{
    if (b.rise <= a.fall)
        return (pbi_job_steps){a.rise, a.fall - b.rise + b.fall};
    return (pbi_job_steps){a.rise + (b.rise - a.fall), b.fall};
}

/* Below 0 if a must come before b, 0 if it does not matter. */
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

/* The needed nodes that are computed, each after its inputs, into `order` with the minimum peak among postorders. */
pb_status pbi_tree_postorder(const pbi_tree *t, pb_node *order, pbi_job_steps *all);

#endif
