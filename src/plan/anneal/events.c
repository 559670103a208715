/* events.c -- see events.h. */
#include "plan/anneal/events.h"

#include "base/arena.h"

static void count_readers(pbi_event_space *s, uint32_t recipes)
{
    const pb_graph *g = s->g;
    for (uint32_t r = 0; r < recipes; r++)
        for (uint32_t k = 0; k < g->recipe[r].in_count; k++)
            s->reader_start[g->recipe[r].in[k] + 1]++;
    for (pb_node v = 0; v < g->node_count; v++)
        s->reader_start[v + 1] += s->reader_start[v];
}

static bool list_readers(pbi_event_space *s, uint32_t recipes, pb_arena *arena)
{
    const pb_graph *g = s->g;
    uint32_t *at = pb_arena_alloc(arena, (size_t)g->node_count + 1, sizeof *at);
    s->reader = pb_arena_alloc(arena, s->reader_start[g->node_count] + (size_t)1, sizeof *s->reader);
    if (!at || !s->reader)
        return false;
    for (pb_node v = 0; v < g->node_count; v++)
        at[v] = s->reader_start[v];
    for (uint32_t r = 0; r < recipes; r++)
        for (uint32_t k = 0; k < g->recipe[r].in_count; k++)
            s->reader[at[g->recipe[r].in[k]]++] = g->node_count + r;
    return true;
}

bool pbi_event_space_init(pbi_event_space *s, const pb_game *game, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    *s = (pbi_event_space){.g = g, .overwrites = g->inplace_start != NULL};
    uint32_t recipes = pb_game_recipes(game) ? g->recipe_start[g->node_count] : 0;
    if (!recipes || recipes >= PBI_LOAD_EVENT - g->node_count) /* no room for their numbers: as if there were none */
        return true;
    s->recipe_node = pb_arena_alloc(arena, recipes, sizeof *s->recipe_node);
    s->reader_start = pb_arena_zero(arena, (size_t)g->node_count + 1, sizeof *s->reader_start);
    if (!s->recipe_node || !s->reader_start)
        return false;
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t r = g->recipe_start[v]; r < g->recipe_start[v + 1]; r++) {
            s->recipe_node[r] = v;
            s->overwrites |= g->recipe[r].inplace_count > 0;
        }
    count_readers(s, recipes);
    s->recipes = true;
    return list_readers(s, recipes, arena);
}

uint32_t pbi_event_of(const pb_graph *g, pb_node v, uint32_t by)
{
    return by ? g->node_count + g->recipe_start[v] + by - 1 : v;
}

pb_status pbi_event_add(const pbi_event_space *s, uint32_t event, pbi_sequence *out)
{
    if (!pbi_event_is_recipe(s, event))
        return pbi_sequence_add(out, event);
    pb_node v = pbi_event_node(s, event);
    return pbi_sequence_add_recipe(out, v, event - s->g->node_count - s->g->recipe_start[v] + 1);
}
