/* tree_postorder.c -- the best order of a forest that finishes a subtree before it starts the next.
 *
 * Each subtree is then one job, and the inputs of a node follow one another in the order of jobs: for values of
 * equal size this is the rule of Sethi and Ullman, for others Liu's (1986).
 */
#include "bound/tree_parts.h"

#include "base/context.h"

#include <stdlib.h>

typedef struct entry {
    pbi_job_steps job;
    pb_node node;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = pbi_job_compare(x->job, y->job);
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* The computed inputs of v in their order, from `row` on; returns their number. The jobs of the subtrees are known. */
static uint32_t sort_inputs(const pbi_tree *t, pb_node v, entry *row)
{
    uint32_t count = 0;
    for (uint32_t k = t->g->in_start[v]; k < t->g->in_start[v + 1]; k++)
        if (pb_graph_is_computed(t->g, t->g->in[k]))
            row[count++] = (entry){t->job[t->g->in[k]], t->g->in[k]};
    if (count == 2 && compare_entries(&row[0], &row[1]) > 0) {
        entry swap = row[0];
        row[0] = row[1];
        row[1] = swap;
    } else if (count > 2) {
        qsort(row, count, sizeof *row, compare_entries);
    }
    return count;
}

/* From the last node to the first: a node, then its subtrees from the last to the first. */
static void write_backwards(const pbi_tree *t, const entry *roots, uint32_t root_count, pb_node *order, pb_node *stack,
                            entry *row)
{
    uint32_t place = t->g->needed_count, depth = 0;
    for (uint32_t i = 0; i < root_count; i++)
        stack[depth++] = roots[i].node;
    while (depth) {
        pb_node v = stack[--depth];
        uint32_t count = sort_inputs(t, v, row);
        order[--place] = v;
        for (uint32_t i = 0; i < count; i++)
            stack[depth++] = row[i].node;
    }
}

pb_status pbi_tree_postorder(const pbi_tree *t, pb_node *order, pbi_job_steps *all)
{
    const pb_graph *g = t->g;
    uint32_t root_count = 0;
    entry *roots = pb_arena_alloc(t->arena, g->node_count, sizeof *roots);
    entry *row = pb_arena_alloc(t->arena, g->node_count, sizeof *row);
    pb_node *stack = pb_arena_alloc(t->arena, g->node_count, sizeof *stack);
    if (!roots || !row || !stack)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if ((i & 0xffff) == 0 && pbi_poll(t->ctx) != PB_OK)
            return PB_ECANCELLED;
        if (!pbi_tree_is_planned(g, v))
            continue;
        uint32_t count = sort_inputs(t, v, row);
        pbi_job_steps whole = {0, 0};
        for (uint32_t k = 0; k < count; k++)
            whole = pbi_job_join(whole, row[k].job);
        t->job[v] = pbi_job_join(whole, t->job[v]);
        if (t->reader[v] == PB_NO_NODE)
            roots[root_count++] = (entry){t->job[v], v};
    }
    qsort(roots, root_count, sizeof *roots, compare_entries);
    for (uint32_t i = 0; i < root_count; i++)
        *all = pbi_job_join(*all, roots[i].job);
    if (order)
        write_backwards(t, roots, root_count, order, stack, row);
    return PB_OK;
}
