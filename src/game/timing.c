/* timing.c -- the times and places of the timed game: a graph on the lanes and memories of a machine. */
#include "base/checked.h"
#include "base/context.h"
#include "game/machine_price.h"

#include <string.h>

typedef struct maker {
    pb_context *ctx;
    const pb_graph *g;
    const pb_machine *m;
    uint64_t *duration, *recipe, *fixed;
    uint32_t recipe_count;
    uint32_t *start, *keep, *lane;
} maker;

static uint32_t memory_of(const pb_machine *m, const char *name)
{
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (strcmp(m->memories[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

static pb_status no_memory(const maker *t, const char *what, const char *name)
{
    return pbi_fail(t->ctx, PB_EINVAL,
                    "%.120s is in memory \"%.60s\", which machine \"%.60s\" does not have; add it, or change the graph",
                    what, name, t->m->name);
}

/* The memory that a note of this kind names; UINT32_MAX if there is none. */
static pb_status noted_memory(const maker *t, pb_node v, pb_note_kind kind, uint32_t *out)
{
    const pb_graph *g = t->g;
    *out = UINT32_MAX;
    for (uint32_t i = g->note ? g->note_start[v] : 0; g->note && i < g->note_start[v + 1]; i++)
        if (g->note[i].kind == (uint32_t)kind) {
            const char *name = g->words[g->note[i].word];
            *out = memory_of(t->m, name);
            return *out == UINT32_MAX ? no_memory(t, pb_graph_name(g, v), name) : PB_OK;
        }
    return PB_OK;
}

static pb_status place_node(const maker *t, pb_node v)
{
    bool given = t->g->flags[v] & PB_NODE_GIVEN, slow = t->g->flags[v] & PB_NODE_GIVEN_SLOW;
    pb_status status = noted_memory(t, v, PB_NOTE_KEEP, &t->keep[v]);
    if (status == PB_OK)
        status = noted_memory(t, v, PB_NOTE_IN, &t->start[v]);
    if (!given)
        t->start[v] = UINT32_MAX;
    else if (status == PB_OK && t->start[v] == UINT32_MAX)
        t->start[v] = slow;
    if (status == PB_OK && given && t->start[v] >= t->m->memory_count)
        return no_memory(t, pb_graph_name(t->g, v), "the second one");
    return status;
}

/* Whether v may be computed on this processor. */
static bool allowed(const pb_graph *g, pb_node v, const char *processor)
{
    bool any = true;
    for (uint32_t i = g->note ? g->note_start[v] : 0; g->note && i < g->note_start[v + 1]; i++)
        if (g->note[i].kind == PB_NOTE_ON) {
            if (strcmp(g->words[g->note[i].word], processor) == 0)
                return true;
            any = false;
        }
    return any;
}

/* PB_NO_TIME if it may not or cannot run there. */
static pb_status node_duration(const maker *t, pb_node v, const pb_machine_processor *p, uint64_t *out)
{
    *out = PB_NO_TIME;
    if (!pb_graph_is_computed(t->g, v) || !allowed(t->g, v, p->name) || pbi_measured_time(t->g, v, p->name, out))
        return PB_OK;
    pb_status status = pbi_formula_duration(t->ctx, t->g, t->m, p, v, out);
    return status == PB_EINVAL ? PB_OK : status; /* there is no rate: other processors may have one */
}

/* Of the recipes of v on processor number i. */
static pb_status recipe_durations(const maker *t, pb_node v, uint32_t i)
{
    const pb_machine_processor *p = &t->m->processors[i];
    pb_status status = PB_OK;
    for (uint32_t k = t->g->recipe_start[v]; k < t->g->recipe_start[v + 1] && status == PB_OK; k++) {
        uint64_t *out = &t->recipe[(size_t)i * t->recipe_count + k];
        *out = PB_NO_TIME;
        if (allowed(t->g, v, p->name))
            status = pbi_recipe_duration(t->ctx, t->g, t->m, p, &t->g->recipe[k], out);
        status = status == PB_EINVAL ? PB_OK : status;
    }
    return status;
}

static pb_status set_fixed(const maker *t)
{
    const pb_graph *g = t->g;
    bool fits = true;
    for (uint32_t i = 0; i < t->m->memory_count; i++)
        t->fixed[i] = t->m->memories[i].reserve;
    if (!g->fixed_count)
        fits = pbi_add(t->fixed[0], g->fixed_size, &t->fixed[0]);
    for (uint32_t i = 0; i < g->fixed_count && fits; i++) {
        const char *name = g->words[g->fixed[i].word];
        uint32_t memory = memory_of(t->m, name);
        if (memory == UINT32_MAX)
            return no_memory(t, "`fixed`", name);
        fits = pbi_add(t->fixed[memory], g->fixed[i].value, &t->fixed[memory]);
    }
    return fits ? PB_OK : pbi_fail(t->ctx, PB_ERANGE, "what is always in memory exceeds 2^64; use a larger size unit");
}

/* Links of one lane have its number; returns how many lanes there are. */
static uint32_t number_lanes(const maker *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->m->link_count; i++) {
        const char *lane = t->m->links[i].lane;
        uint32_t same = 0;
        while (same < i && !(lane && t->m->links[same].lane && strcmp(lane, t->m->links[same].lane) == 0))
            same++;
        t->lane[i] = same < i ? t->lane[same] : count++;
    }
    return count;
}

static pb_status fill(const maker *t)
{
    uint32_t n = t->g->node_count;
    pb_status status = set_fixed(t);
    for (pb_node v = 0; v < n && status == PB_OK; v++)
        status = place_node(t, v);
    for (uint32_t i = 0; i < t->m->processor_count && status == PB_OK; i++)
        for (pb_node v = 0; v < n && status == PB_OK; v++) {
            status = node_duration(t, v, &t->m->processors[i], &t->duration[(size_t)i * n + v]);
            if (status == PB_OK && t->recipe_count)
                status = recipe_durations(t, v, i);
        }
    return status;
}

pb_status pb_timing_make(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *result,
                         const pb_timing **out)
{
    const pb_graph *own = g->unpriced ? g->unpriced : g;
    size_t n = own->node_count, all;
    uint32_t recipes = own->recipe_start ? own->recipe_start[n] : 0;
    if (n && m->processor_count > SIZE_MAX / sizeof(uint64_t) / n)
        return PB_ENOMEM;
    all = n * m->processor_count;
    pb_timing *timing = pb_arena_alloc(result, 1, sizeof *timing);
    maker t = {.ctx = ctx,
               .g = own,
               .m = m,
               .duration = pb_arena_alloc(result, all + 1, sizeof *t.duration),
               .recipe = pb_arena_alloc(result, (size_t)recipes * m->processor_count + 1, sizeof *t.recipe),
               .recipe_count = recipes,
               .fixed = pb_arena_alloc(result, m->memory_count, sizeof *t.fixed),
               .start = pb_arena_alloc(result, n + 1, sizeof *t.start),
               .keep = pb_arena_alloc(result, n + 1, sizeof *t.keep),
               .lane = pb_arena_alloc(result, (size_t)m->link_count + 1, sizeof *t.lane)};
    if (!timing || !t.duration || !t.recipe || !t.fixed || !t.start || !t.keep || !t.lane)
        return PB_ENOMEM;
    *timing = (pb_timing){.graph = own,
                          .machine = m,
                          .duration = t.duration,
                          .recipe = recipes ? t.recipe : NULL,
                          .recipe_count = recipes,
                          .start = t.start,
                          .keep = t.keep,
                          .fixed = t.fixed,
                          .lane = t.lane,
                          .lane_count = number_lanes(&t)};
    pb_status status = fill(&t);
    if (status == PB_OK)
        *out = timing;
    return status;
}

pb_status pb_game_with_cap(pb_arena *arena, pb_game *game, uint64_t cap)
{
    const pb_machine *from = game->timing->machine;
    pb_machine *m = pb_arena_alloc(arena, 1, sizeof *m);
    pb_machine_memory *memories = pb_arena_alloc(arena, from->memory_count, sizeof *memories);
    pb_timing *timing = pb_arena_alloc(arena, 1, sizeof *timing);
    pb_graph *g = pb_arena_alloc(arena, 1, sizeof *g);
    if (!m || !memories || !timing || !g)
        return PB_ENOMEM;
    memcpy(memories, from->memories, from->memory_count * sizeof *memories);
    memories[0].cap = cap;
    *m = *from;
    m->memories = memories;
    *timing = *game->timing;
    timing->machine = m;
    *g = *game->graph;
    g->priced_by = m;
    game->cap = cap;
    game->timing = timing;
    game->graph = g;
    return PB_OK;
}

static pb_status least_times(pb_context *ctx, const pb_timing *t, uint64_t *cost)
{
    const pb_graph *g = t->graph;
    for (pb_node v = 0; v < g->node_count; v++) {
        cost[v] = PB_NO_TIME;
        for (uint32_t i = 0; i < t->machine->processor_count; i++) {
            uint64_t here = t->duration[(size_t)i * g->node_count + v];
            cost[v] = here < cost[v] ? here : cost[v];
        }
        if (cost[v] == PB_NO_TIME && pb_graph_is_computed(g, v) && (g->flags[v] & PB_NODE_NEEDED))
            return pbi_fail(ctx, PB_EINVAL,
                            "node \"%.80s\" cannot be computed on any processor of machine \"%.60s\": `on` names none "
                            "of them, or they have no rate for it; change one or the other",
                            pb_graph_name(g, v), t->machine->name);
        cost[v] = cost[v] == PB_NO_TIME ? 0 : cost[v];
    }
    return PB_OK;
}

pb_status pb_timing_graph(pb_context *ctx, const pb_timing *t, pb_arena *result, const pb_graph **out)
{
    const pb_graph *timed;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint64_t *cost = pb_arena_alloc(&scratch, (size_t)t->graph->node_count + 1, sizeof *cost);
    pb_graph *priced = pb_arena_alloc(result, 1, sizeof *priced);
    pb_status status = cost && priced ? least_times(ctx, t, cost) : PB_ENOMEM;
    pb_graph_costs costs = {.cost = cost, .cost_unit = t->machine->time_unit};
    if (status == PB_OK)
        status = pb_graph_with_costs(ctx, t->graph, &costs, result, &timed);
    pb_arena_release(&scratch);
    if (status != PB_OK)
        return status;
    *priced = *timed;
    priced->priced_by = t->machine;
    priced->unpriced = t->graph;
    *out = priced;
    return PB_OK;
}
