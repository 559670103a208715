/* sequence.c -- see sequence.h.
 *
 * Each event creates an instance of its node and one of each by-product; each given value is an instance from the
 * start. Pass one finds the last event that reads each instance, pass two writes the moves.
 */
#include "plan/sequence/sequence.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"
#include "game/price.h"

#include <string.h>

#define UNREAD UINT32_MAX
#define STAYS (UINT32_MAX - 1)

typedef struct emitter {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const pbi_sequence *s;
    pb_arena scratch;
    uint32_t *slot;    /* per event: its instance, followed by its by-products. NULL when instance = event + given */
    uint32_t *current; /* per node: its latest instance, UNREAD before the first */
    uint32_t *last;    /* per instance: the last event that reads it, UNREAD or STAYS */
    uint32_t *loads;   /* per node: loads still to come; NULL without loads */
    uint8_t *store;    /* per instance: must be stored before it is freed, because a load follows; NULL without loads */
    uint32_t given_count;
    size_t slot_count;
    uint32_t *latest; /* per node: its latest computation, and */
    uint8_t *read;    /* whether any instance was read; both NULL without by-products */
    pb_node *also;

    pbi_plan *plan;
    pbi_figures f;
    uint64_t memory;
    pb_step step;
    uint32_t at; /* the current event */
} emitter;

void pbi_sequence_init(pbi_sequence *s, pb_arena *arena) { *s = (pbi_sequence){.arena = arena}; }

pb_status pbi_sequence_add(pbi_sequence *s, uint32_t event)
{
    if (s->count == s->room) {
        void *items = s->event;
        if (s->count >= UINT32_MAX / 2)
            return pbi_fail(s->arena->ctx, PB_ELIMIT,
                            "the plan has more than 2^31 computations; raise the cap, or use another strategy");
        if (!pbi_arena_reserve(s->arena, &items, &s->room, s->count + 1, sizeof *s->event))
            return PB_ENOMEM;
        s->event = items;
    }
    s->event[s->count++] = event;
    if (!s->by)
        return PB_OK;
    void *items = s->by;
    if (!pbi_arena_reserve(s->arena, &items, &s->by_room, s->room, sizeof *s->by))
        return PB_ENOMEM;
    s->by = items;
    s->by[s->count - 1] = 0;
    return PB_OK;
}

pb_status pbi_sequence_add_recipe(pbi_sequence *s, pb_node v, uint32_t by)
{
    pb_status status = pbi_sequence_add(s, v);
    if (status != PB_OK)
        return status;
    if (!s->by) {
        void *items = NULL;
        if (!pbi_arena_reserve(s->arena, &items, &s->by_room, s->room, sizeof *s->by))
            return PB_ENOMEM;
        s->by = items;
        memset(s->by, 0, s->count);
    }
    s->by[s->count - 1] = (uint8_t)by;
    return PB_OK;
}

static uint32_t recipe_of(const pbi_sequence *s, size_t e) { return s->by ? s->by[e] : 0; }

/* How event e, a computation, computes its node. */
static pb_way way_of(const pb_graph *g, const pbi_sequence *s, size_t e)
{
    return pb_graph_way(g, s->event[e], recipe_of(s, e));
}

static uint32_t parts_of(const pb_graph *g, pb_node v)
{
    return g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
}

/* By-products that event e may produce. */
static uint32_t parts_at(const pb_graph *g, const pbi_sequence *s, size_t e)
{
    return (s->event[e] & PBI_LOAD_EVENT) || recipe_of(s, e) ? 0 : parts_of(g, s->event[e]);
}

static bool starts_fast(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW)) == PB_NODE_GIVEN;
}

static bool any_given_slow(const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return true;
    return false;
}

/* Copies the sequence with a load before the first reader of each value that is given in slow memory, unless the
 * planner has put one there. */
static pb_status with_given_loads(const pb_graph *g, const pbi_sequence *from, pbi_sequence *to)
{
    uint8_t *tier = pb_arena_zero(to->arena, g->node_count, sizeof *tier);
    uint8_t *loaded = pb_arena_zero(to->arena, g->node_count, sizeof *loaded);
    if (!tier || !loaded)
        return PB_ENOMEM;
    if (from->tier)
        memcpy(tier, from->tier, g->node_count);
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            tier[v] = 1;
    for (size_t e = 0; e < from->count && status == PB_OK; e++) {
        uint32_t event = from->event[e], by = recipe_of(from, e);
        pb_way way = event & PBI_LOAD_EVENT ? (pb_way){.in_count = 0} : way_of(g, from, e);
        for (uint32_t k = 0; k < way.in_count && status == PB_OK; k++) {
            pb_node u = way.in[k];
            if ((g->flags[u] & PB_NODE_GIVEN_SLOW) && !loaded[u]) {
                loaded[u] = 1;
                status = pbi_sequence_add(to, u | PBI_LOAD_EVENT);
            }
        }
        if (by || (event & PBI_LOAD_EVENT))
            loaded[event & ~PBI_LOAD_EVENT] = 1;
        if (status == PB_OK)
            status = by ? pbi_sequence_add_recipe(to, event, by) : pbi_sequence_add(to, event);
    }
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && (g->flags[v] & PB_NODE_KEEP) && !loaded[v])
            status = pbi_sequence_add(to, v | PBI_LOAD_EVENT);
    to->tier = tier;
    return status;
}

static uint32_t slot_of(const emitter *m, uint32_t e) { return m->slot ? m->slot[e] : m->given_count + e; }

/* Number the instances. */
static pb_status lay_out(emitter *m)
{
    const pb_graph *g = m->g;
    uint64_t count = 0;
    m->current = pb_arena_alloc(&m->scratch, g->node_count, sizeof *m->current);
    if (!m->current)
        return PB_ENOMEM;
    memset(m->current, 0xff, g->node_count * sizeof *m->current);
    for (pb_node v = 0; v < g->node_count; v++)
        if (starts_fast(g, v))
            m->current[v] = (uint32_t)count++;
    m->given_count = (uint32_t)count;
    if (g->owner) {
        m->slot = pb_arena_alloc(&m->scratch, m->s->count, sizeof *m->slot);
        m->latest = pb_arena_zero(&m->scratch, g->node_count, sizeof *m->latest);
        m->read = pb_arena_zero(&m->scratch, g->node_count, sizeof *m->read);
        if (!m->slot || !m->latest || !m->read)
            return PB_ENOMEM;
        for (size_t e = 0; e < m->s->count; e++) {
            m->slot[e] = (uint32_t)count;
            count += 1 + parts_at(g, m->s, e);
            if (count >= STAYS)
                return pbi_fail(m->ctx, PB_ELIMIT,
                                "the plan has more than 2^32 values; raise the cap, or use another strategy");
        }
    } else {
        count += m->s->count;
    }
    m->slot_count = (size_t)count;
    m->last = pb_arena_alloc(&m->scratch, (size_t)count, sizeof *m->last);
    m->also = pb_arena_alloc(&m->scratch, g->node_count, sizeof *m->also);
    if (!m->last || !m->also)
        return PB_ENOMEM;
    memset(m->last, 0xff, (size_t)count * sizeof *m->last);
    return PB_OK;
}

static pb_status lay_out_loads(emitter *m)
{
    if (!m->s->tier)
        return PB_OK;
    m->loads = pb_arena_zero(&m->scratch, m->g->node_count, sizeof *m->loads);
    m->store = pb_arena_zero(&m->scratch, m->slot_count, sizeof *m->store);
    return m->loads && m->store ? PB_OK : PB_ENOMEM;
}

static void create_instances(emitter *m, uint32_t e)
{
    uint32_t event = m->s->event[e], slot = slot_of(m, e);
    pb_node v = event & ~PBI_LOAD_EVENT;
    m->current[v] = slot;
    for (uint32_t i = 0, count = parts_at(m->g, m->s, e); i < count; i++)
        m->current[m->g->part[m->g->part_start[v] + i]] = slot + 1 + i;
}

/* Produces the latest instance of v, a by-product, with its node, even if nothing reads it. An instance that came by
 * recipe or load is there anyway. */
static void produce_unread(emitter *m, pb_node v)
{
    uint32_t at = m->latest[m->g->owner[v]], slot = m->current[v], first = slot_of(m, at);
    if (m->last[slot] == UNREAD && slot > first && slot <= first + parts_at(m->g, m->s, at))
        m->last[slot] = at;
}

/* The first load of a value needs the instance before it stored, unless the value was given in slow memory. */
static pb_status note_load(emitter *m, pb_node v)
{
    if (m->loads[v]++ || (m->g->flags[v] & PB_NODE_GIVEN_SLOW))
        return PB_OK;
    if (m->current[v] == UNREAD)
        return pbi_fail(m->ctx, PB_EBUG, "a plan loads %s before it is computed", pb_graph_name(m->g, v));
    m->store[m->current[v]] = 1;
    if (m->g->flags[v] & PB_NODE_BYPRODUCT)
        produce_unread(m, v); /* only to be stored */
    return PB_OK;
}

/* A by-product that comes back by recipe must have been produced before, even if nothing reads that instance. */
static void note_recovery(emitter *m, uint32_t e)
{
    pb_node v = m->s->event[e];
    if (recipe_of(m->s, e) && (m->g->flags[v] & PB_NODE_BYPRODUCT) && !m->read[v] && m->current[v] != UNREAD)
        produce_unread(m, v);
    if (recipe_of(m->s, e) && m->read)
        m->read[v] = 1;
}

/* Pass one. An event computes a by-product only if something reads that instance. */
static pb_status find_last_reads(emitter *m)
{
    const pb_graph *g = m->g;
    for (uint32_t e = 0; e < m->s->count; e++) {
        uint32_t event = m->s->event[e];
        if ((e & 0xffff) == 0 && pbi_poll(m->ctx) != PB_OK)
            return PB_ECANCELLED;
        pb_way way = event & PBI_LOAD_EVENT ? (pb_way){.in_count = 0} : way_of(g, m->s, e);
        for (uint32_t k = 0; k < way.in_count; k++) {
            uint32_t slot = m->current[way.in[k]];
            if (slot == UNREAD)
                return pbi_fail(m->ctx, PB_EBUG, "a plan reads %s before it is computed", pb_graph_name(g, way.in[k]));
            m->last[slot] = e;
            if (m->read)
                m->read[way.in[k]] = 1;
        }
        if ((event & PBI_LOAD_EVENT) && note_load(m, event & ~PBI_LOAD_EVENT) != PB_OK)
            return PB_EBUG;
        if (!(event & PBI_LOAD_EVENT))
            note_recovery(m, e);
        create_instances(m, e);
        if (m->latest && !(event & PBI_LOAD_EVENT) && !recipe_of(m->s, e))
            m->latest[event] = e;
    }
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t slot = m->current[v];
        if (slot == UNREAD)
            continue;
        if (g->flags[v] & PB_NODE_KEEP)
            m->last[slot] = STAYS;
        else if ((g->flags[v] & PB_NODE_BYPRODUCT) && (g->flags[v] & PB_NODE_TARGET) && !m->read[v])
            m->last[slot] = m->latest[g->owner[v]]; /* computed and freed at once: it only has to have been computed */
    }
    return PB_OK;
}

static bool fits(emitter *m, uint64_t during, const char *word, pb_node v, pb_status *status)
{
    if (during > m->f.peak) {
        m->f.peak = during;
        m->f.peak_event = m->at;
    }
    if (during <= m->game->cap)
        return true;
    m->f.fits = false;
    if (m->plan)
        *status = pbi_plan_over_cap(m->plan, m->game, m->step, word, v, during);
    return false;
}

static void spend(emitter *m, uint64_t cost, uint64_t during)
{
    if (cost && !pbi_add(m->f.time, cost, &m->f.time))
        m->f.overflow = true;
    pbi_u128_add(&m->f.flux, pbi_u128_product(cost, during));
}

static pb_status add_move(emitter *m, pb_op op, pb_node v, uint8_t tier)
{
    m->step++;
    return m->plan ? pb_moves_add(&m->plan->moves, op, v, tier) : PB_OK;
}

/* A value that is loaded later must be in slow memory before it leaves fast memory. */
static pb_status store_if_needed(emitter *m, pb_node v)
{
    if (!m->store || !m->store[m->current[v]])
        return PB_OK;
    const pb_tier *tier = &m->game->tiers[m->s->tier[v] - 1];
    spend(m, pbi_store_price(tier, m->g->size[v]), m->memory);
    return add_move(m, PB_STORE, v, m->s->tier[v]);
}

static pb_status free_value(emitter *m, pb_node v)
{
    pb_status status = store_if_needed(m, v);
    m->memory -= m->g->size[v];
    return status == PB_OK ? add_move(m, PB_FREE, v, 0) : status;
}

/* The largest input that may be overwritten and is read here for the last time. */
static pb_node pick_over(const emitter *m, const pb_way *way, uint32_t e)
{
    const pb_graph *g = m->g;
    pb_node best = PB_NO_NODE;
    for (uint32_t k = 0; k < way->inplace_count; k++) {
        pb_node u = way->inplace[k];
        if (m->last[m->current[u]] == e && (best == PB_NO_NODE || g->size[u] > g->size[best]))
            best = u;
    }
    return best;
}

static pb_status emit_compute(emitter *m, uint32_t e, bool *stop)
{
    const pb_graph *g = m->g;
    pb_way way = way_of(g, m->s, e);
    pb_node v = m->s->event[e], over = pick_over(m, &way, e);
    uint32_t by = recipe_of(m->s, e), slot = slot_of(m, e), made_count = 0;
    uint64_t made = g->size[v], taken = 0, saved = 0;
    pb_status status = PB_OK;
    for (uint32_t i = 0, count = parts_at(g, m->s, e); i < count; i++)
        if (m->last[slot + 1 + i] != UNREAD) {
            m->also[made_count] = g->part[g->part_start[v] + i];
            made += g->size[m->also[made_count++]];
        }
    if (over != PB_NO_NODE) {
        status = store_if_needed(m, over);
        taken = g->size[over];
        saved = taken < g->size[v] ? taken : g->size[v];
    }
    uint64_t during = m->memory + made - saved + way.workspace;
    *stop = status != PB_OK || !fits(m, during, "compute", v, &status);
    if (*stop)
        return status;
    spend(m, way.cost, during);
    m->memory = m->memory + made - taken;
    m->step++;
    if (m->plan)
        status = by ? pb_moves_add_recipe(&m->plan->moves, v, by, over)
                    : pb_moves_add_compute(&m->plan->moves, v, over, m->also, made_count);
    if (e + 1 == m->s->count) /* values that remain at the end need not be freed */
        return status;
    for (uint32_t k = 0; k < way.in_count && status == PB_OK; k++)
        if (way.in[k] != over && m->last[m->current[way.in[k]]] == e)
            status = free_value(m, way.in[k]);
    create_instances(m, e);
    if (status == PB_OK && m->last[slot] == UNREAD)
        status = free_value(m, v);
    for (uint32_t i = 0; i < made_count && status == PB_OK; i++)
        if (m->last[m->current[m->also[i]]] == e)
            status = free_value(m, m->also[i]);
    return status;
}

static pb_status emit_load(emitter *m, uint32_t e, bool *stop)
{
    pb_node v = m->s->event[e] & ~PBI_LOAD_EVENT;
    uint8_t t = m->s->tier[v];
    const pb_tier *tier = &m->game->tiers[t - 1];
    pb_status status = PB_OK;
    *stop = !fits(m, m->memory + m->g->size[v], "load", v, &status);
    if (*stop)
        return status;
    m->memory += m->g->size[v];
    spend(m, pbi_load_price(tier, m->g->size[v]), m->memory);
    status = add_move(m, PB_LOAD, v, t);
    create_instances(m, e);
    if (--m->loads[v] == 0 && tier->cap != PB_UNLIMITED && status == PB_OK)
        status = add_move(m, PB_DROP, v, t);
    if (status == PB_OK && m->last[slot_of(m, e)] == UNREAD)
        status = free_value(m, v);
    return status;
}

/* Start of pass two: given values are resident; those that nothing reads are freed at once. */
static pb_status emit_start(emitter *m)
{
    const pb_graph *g = m->g;
    pb_status status = PB_OK;
    uint32_t slot = 0;
    m->memory = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        m->current[v] = starts_fast(g, v) ? slot++ : UNREAD;
        if (starts_fast(g, v))
            m->memory += g->size[v];
    }
    m->f.peak = m->memory;
    m->f.fits = m->memory <= m->game->cap;
    for (pb_node v = 0; v < g->node_count && m->s->count && status == PB_OK; v++)
        if (starts_fast(g, v) && m->last[m->current[v]] == UNREAD)
            status = free_value(m, v);
    return status;
}

static pb_status emit_all(emitter *m)
{
    pb_status status = emit_start(m);
    bool stop = !m->f.fits;
    for (uint32_t e = 0; e < m->s->count && status == PB_OK && !stop; e++) {
        if ((e & 0xffff) == 0 && (status = pbi_poll(m->ctx)) != PB_OK)
            break;
        m->at = e;
        status = m->s->event[e] & PBI_LOAD_EVENT ? emit_load(m, e, &stop) : emit_compute(m, e, &stop);
    }
    return status;
}

pb_status pbi_sequence_emit(pb_context *ctx, const pb_game *game, const pbi_sequence *s, pbi_plan *plan,
                            pbi_figures *figures)
{
    emitter m = {.ctx = ctx, .game = game, .g = game->graph, .s = s, .plan = plan};
    pb_arena_init(&m.scratch, ctx);
    pbi_sequence loading;
    pbi_sequence_init(&loading, &m.scratch);
    pb_status status = PB_OK;
    if (any_given_slow(m.g)) {
        status = with_given_loads(m.g, s, &loading);
        m.s = &loading;
    }
    if (status == PB_OK)
        status = lay_out(&m);
    if (status == PB_OK)
        status = lay_out_loads(&m);
    if (status == PB_OK)
        status = find_last_reads(&m);
    if (status == PB_OK)
        status = emit_all(&m);
    pb_arena_release(&m.scratch);
    if (status == PB_OK && plan && m.f.overflow)
        status = pbi_plan_give_up(plan, "the work of this plan exceeds 2^64; use a coarser cost unit");
    else if (status == PB_OK && plan && m.f.fits)
        plan->outcome = PB_FOUND;
    if (figures)
        *figures = m.f;
    return status;
}

/* alpha * peak + beta * flux + gamma * time, saturated on overflow. */
static pb_u128 weighed(const pb_game *game, const pbi_figures *f)
{
    const pb_weights *w = &game->weights;
    pb_u128 sum = pbi_u128_product(w->alpha, f->peak), part;
    if (!pbi_u128_scale(f->flux, w->beta, &part) || !pbi_u128_add(&sum, part) ||
        !pbi_u128_add(&sum, pbi_u128_product(w->gamma, f->time)))
        return (pb_u128){UINT64_MAX, UINT64_MAX};
    return sum;
}

bool pbi_figures_better(const pb_game *game, const pbi_figures *a, const pbi_figures *b)
{
    int order = pb_u128_compare(weighed(game, a), weighed(game, b));
    if (order)
        return order < 0;
    return a->time != b->time ? a->time < b->time : a->peak < b->peak;
}
