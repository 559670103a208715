/* comebacks.h -- recipes for values that have no computation of their own: given values and `once` nodes.
 *
 * Such a value may be evicted only if it surely comes back. A recipe is sure if everything that it reads stays in
 * memory, or can be recomputed and depends on nothing as deep in the graph: then no chain of recomputations returns to
 * the value.
 */
#ifndef PBI_PLAN_EVICT_COMEBACKS_H
#define PBI_PLAN_EVICT_COMEBACKS_H

#include "pebble/game.h"

typedef struct pbi_comebacks {
    uint32_t *first; /* per node, and the end: the inputs of its recipes, one recipe after the other */
    pb_node *in;
    uint32_t *reader_first; /* per node, and the end: nodes whose recipes read it */
    pb_node *reader;
    uint8_t *by;    /* per node: its sure recipe, 0 for none */
    uint8_t *fixed; /* per node: a sure recipe of another reads it, so it stays */
} pbi_comebacks;

/* Is v given, or by a `once` computation? */
static inline bool pbi_is_final_computation(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_GIVEN) || (g->flags[pb_graph_maker(g, v)] & PB_NODE_ONCE);
}

/* `recipes` false: as if there were none. */
pb_status pbi_comebacks_find(pbi_comebacks *c, const pb_graph *g, bool recipes, pb_arena *arena);
/* The first input of recipe `by` of v. */
uint32_t pbi_comebacks_first(const pbi_comebacks *c, const pb_graph *g, pb_node v, uint32_t by);

#endif
