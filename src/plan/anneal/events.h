/* events.h -- what may sit in a slot of the timeline: a computation, a computation by recipe, or a load.
 *
 * An event is a node, computed by its own inputs; with PBI_LOAD_EVENT a value that is loaded; or, from node_count on,
 * the graph's recipes in order: node_count + i is the i-th entry of graph->recipe.
 */
#ifndef PBI_PLAN_ANNEAL_EVENTS_H
#define PBI_PLAN_ANNEAL_EVENTS_H

#include "pebble/game.h"
#include "plan/sequence/sequence.h"

typedef struct pbi_event_space {
    const pb_graph *g;
    bool recipes;           /* there are some, and the game has them */
    bool overwrites;        /* some computation may take over the memory of an input */
    pb_node *recipe_node;   /* per recipe, its node; NULL without */
    uint32_t *reader_start; /* per node and the end, with `reader`: the recipes that read it, as events */
    uint32_t *reader;
} pbi_event_space;

/* False when memory is exhausted. */
bool pbi_event_space_init(pbi_event_space *s, const pb_game *game, pb_arena *arena);
/* The event that computes v by its recipe `by`; by 0: by its own inputs. */
uint32_t pbi_event_of(const pb_graph *g, pb_node v, uint32_t by);
/* Adds the event to a sequence of moves. */
pb_status pbi_event_add(const pbi_event_space *s, uint32_t event, pbi_sequence *out);

static inline bool pbi_event_is_load(uint32_t event) { return (event & PBI_LOAD_EVENT) != 0; }

static inline bool pbi_event_is_recipe(const pbi_event_space *s, uint32_t event)
{
    return s->recipes && event >= s->g->node_count && !pbi_event_is_load(event);
}

/* The node that it computes or loads. */
static inline pb_node pbi_event_node(const pbi_event_space *s, uint32_t event)
{
    pb_node v = event & ~PBI_LOAD_EVENT;
    return s->recipes && v >= s->g->node_count ? s->recipe_node[v - s->g->node_count] : v;
}

/* How a computation works. A load reads nothing. */
static inline pb_way pbi_event_way(const pbi_event_space *s, uint32_t event)
{
    if (pbi_event_is_load(event))
        return (pb_way){.in_count = 0};
    if (!pbi_event_is_recipe(s, event))
        return pb_graph_way(s->g, event, 0);
    const pb_recipe *r = &s->g->recipe[event - s->g->node_count];
    return (pb_way){r->in, r->inplace, r->in_count, r->inplace_count, r->cost, r->workspace};
}

/* Computations that read v: first the nodes, then the recipes. */
static inline uint32_t pbi_event_readers(const pbi_event_space *s, pb_node v)
{
    uint32_t recipes = s->recipes ? s->reader_start[v + 1] - s->reader_start[v] : 0;
    return s->g->out_start[v + 1] - s->g->out_start[v] + recipes;
}

static inline uint32_t pbi_event_reader(const pbi_event_space *s, pb_node v, uint32_t i)
{
    uint32_t nodes = s->g->out_start[v + 1] - s->g->out_start[v];
    return i < nodes ? s->g->out[s->g->out_start[v] + i] : s->reader[s->reader_start[v] + i - nodes];
}

/* By-products that a computation may produce as well. */
static inline uint32_t pbi_event_parts(const pbi_event_space *s, uint32_t event)
{
    const pb_graph *g = s->g;
    bool own = !pbi_event_is_load(event) && !pbi_event_is_recipe(s, event);
    return own && (g->flags[event] & PB_NODE_HAS_PARTS) ? g->part_start[event + 1] - g->part_start[event] : 0;
}

#endif
