/* timeline_init.c -- sizes in units, and a tier for each value; see timeline.h. */
#include "base/arena.h"
#include "game/price.h"
#include "plan/anneal/timeline.h"

int32_t pbi_timeline_units(const pbi_timeline *t, uint64_t size)
{
    return (int32_t)(size / t->unit + (size % t->unit != 0));
}

static bool allocate_timeline(pbi_timeline *t)
{
    uint32_t slots = t->profile.room;
    t->event = pb_arena_alloc(t->arena, slots, sizeof *t->event);
    t->extra = pb_arena_alloc(t->arena, slots, sizeof *t->extra);
    t->where = pb_arena_alloc(t->arena, slots, sizeof *t->where);
    t->index = pb_arena_alloc(t->arena, slots, sizeof *t->index);
    t->copy = pb_arena_zero(t->arena, t->g->node_count, sizeof *t->copy);
    t->size = pb_arena_alloc(t->arena, t->g->node_count, sizeof *t->size);
    return t->event && t->extra && t->where && t->index && t->copy && t->size;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Sizes of tensors have a common factor: divided by it, they mostly fit. */
static void choose_unit(pbi_timeline *t)
{
    const pb_graph *g = t->g;
    uint64_t unit = g->fixed_size, max_size = g->total_size > g->fixed_size ? g->total_size : g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        unit = common_divisor(g->size[v], unit);
        unit = common_divisor(g->workspace[v], unit);
        max_size = g->workspace[v] > max_size ? g->workspace[v] : max_size;
    }
    for (uint32_t r = 0; t->events.recipes && r < g->recipe_start[g->node_count]; r++) {
        uint64_t workspace = g->recipe[r].workspace;
        unit = common_divisor(workspace, unit);
        max_size = workspace > max_size ? workspace : max_size;
    }
    t->unit = unit ? unit : 1;
    while (max_size / t->unit > PBI_SLOTS_MAX)
        t->unit *= 2;
}

/* Each value's tier: the one with the cheapest store and load. Tiers with a cap of their own are not used. */
static bool choose_tiers(pbi_timeline *t, const pb_game *game)
{
    const pb_graph *g = t->g;
    uint32_t open = 0;
    for (uint32_t k = 0; game->kind == PB_GAME_TIERED && k < game->tier_count; k++)
        open += game->tiers[k].cap == PB_UNLIMITED;
    if (!open)
        return true;
    t->tiers = game->tiers;
    t->tier = pb_arena_zero(t->arena, g->node_count, sizeof *t->tier);
    t->loads = pb_arena_zero(t->arena, g->node_count, sizeof *t->loads);
    for (pb_node v = 0; t->tier && v < g->node_count; v++) {
        uint64_t min = UINT64_MAX;
        for (uint32_t k = game->tier_count; k-- > 0;) {
            const pb_tier *tier = &game->tiers[k];
            uint64_t price = pbi_add_saturated(pbi_store_price(tier, g->size[v]), pbi_load_price(tier, g->size[v]));
            if (tier->cap == PB_UNLIMITED && price <= min) {
                min = price;
                t->tier[v] = (uint8_t)(k + 1);
            }
        }
    }
    return t->tier && t->loads;
}

bool pbi_timeline_init(pbi_timeline *t, pb_context *ctx, const pb_game *game, uint64_t cap, pb_arena *arena,
                       uint32_t max_events)
{
    const pb_graph *g = game->graph;
    *t = (pbi_timeline){.ctx = ctx, .g = g, .arena = arena};
    if (!pbi_event_space_init(&t->events, game, arena))
        return false;
    choose_unit(t);
    if (!pbi_slots_init(&t->profile, arena, max_events + 2, game->weights.beta > 0) || !allocate_timeline(t) ||
        !choose_tiers(t, game))
        return false;
    t->fetches = t->tier || t->events.recipes;
    for (pb_node v = 0; v < g->node_count; v++)
        t->size[v] = pbi_timeline_units(t, g->size[v]);
    pbi_timeline_set_cap(t, cap);
    return true;
}

void pbi_timeline_set_cap(pbi_timeline *t, uint64_t cap)
{
    uint64_t max_cap = 4 * PBI_SLOTS_MAX, scaled = cap / t->unit;
    pbi_slots_set_cap(&t->profile, (int32_t)(scaled < max_cap ? scaled : max_cap));
}
