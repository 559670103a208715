/* method_anneal.c -- see method_anneal.h.
 *
 * A proposal is one or several insertions and removals; it is carried out, judged by work + price * excess, and undone
 * when it is refused. What pays is found by moves that make sense for memory: a value is computed again right before a
 * reader, together with inputs that would have to be kept for it; a computation that is repeated goes, with what was
 * only made for it; a computation moves in time, taking along what is in its way.
 */
#include "plan/method_anneal.h"

#include "base/arena.h"
#include "base/context.h"

#include <math.h>
#include <string.h>

enum {
    SPREAD = 4,  /* slots per node */
    NEAR = 96,   /* slots that are looked at for an empty one */
    DEEP = 24,   /* most computations in one proposal */
    PERIOD = 256 /* proposals between looks at the clock */
};

static uint32_t below(pbi_anneal *a, uint32_t bound) { return (uint32_t)pbi_rng_below(&a->rng, bound); }

/* ---- carrying out and undoing ---- */

static bool note(pbi_anneal *a, uint32_t slot, uint32_t event, bool inserted)
{
    void *items = a->log;
    if (!pbi_arena_reserve(a->t.arena, &items, &a->log_room, a->log_count + 1, sizeof *a->log)) {
        a->t.failed = true;
        return false;
    }
    a->log = items;
    a->log[a->log_count++] = (pbi_step_log){slot, event, inserted};
    return true;
}

static bool insert(pbi_anneal *a, uint32_t event, uint32_t slot)
{
    return a->log_count < DEEP && pbi_timeline_insert(&a->t, event, slot) && note(a, slot, event, true);
}

static bool take_out(pbi_anneal *a, uint32_t slot)
{
    uint32_t event = a->t.event[slot];
    return a->log_count < DEEP && pbi_timeline_remove(&a->t, slot) && note(a, slot, event, false);
}

static void undo(pbi_anneal *a)
{
    while (a->log_count) {
        pbi_step_log step = a->log[--a->log_count];
        if (step.inserted)
            pbi_timeline_remove(&a->t, step.slot);
        else
            pbi_timeline_insert(&a->t, step.event, step.slot);
    }
}

/* ---- slots ---- */

/* An empty slot above `low` and below `high`, as high as possible; PBI_EMPTY for none nearby. */
static uint32_t free_below(const pbi_anneal *a, uint32_t low, uint32_t high)
{
    uint32_t end = high > NEAR + low ? high - NEAR : low + 1;
    for (uint32_t s = high - 1; s >= end && s > low; s--)
        if (a->t.event[s] == PBI_EMPTY)
            return s;
    return PBI_EMPTY;
}

/* An empty slot between, at random. */
static uint32_t free_between(pbi_anneal *a, uint32_t low, uint32_t high)
{
    if (high <= low + 1)
        return PBI_EMPTY;
    uint32_t s = low + 1 + below(a, high - low - 1);
    for (uint32_t n = 0; n < NEAR && s + n < high; n++)
        if (a->t.event[s + n] == PBI_EMPTY)
            return s + n;
    return free_below(a, low, s);
}

static bool is_load(uint32_t event) { return (event & PBI_LOAD_EVENT) != 0; }

static bool can_repeat(const pb_graph *g, pb_node v) { return !(g->flags[v] & (PB_NODE_GIVEN | PB_NODE_ONCE)); }

/* ---- proposals; each returns false when it leads nowhere ---- */

/* Computes v again before `reader`, and with it, by chance, inputs that are not there just now. */
static bool repeat_before(pbi_anneal *a, pb_node v, uint32_t reader)
{
    const pb_graph *g = a->t.g;
    uint32_t copy = pbi_timeline_copy(&a->t, v, reader);
    if (copy == PBI_EMPTY || pbi_anneal_cost(a) + a->gamma * (double)g->cost[v] > a->most)
        return false;
    uint32_t slot = free_below(a, a->t.copy[v].slot[copy], reader);
    if (slot == PBI_EMPTY)
        return false;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k], maker = pb_graph_maker(g, u);
        uint32_t i = pbi_timeline_copy(&a->t, u, slot);
        if (i == PBI_EMPTY)
            return false;
        if (a->t.copy[u].last[i] < slot && can_repeat(g, maker) && a->log_count + 1 < DEEP && below(a, 2) &&
            !repeat_before(a, maker, slot))
            return false;
    }
    return insert(a, v, slot);
}

static bool load_before(pbi_anneal *a, pb_node u, uint32_t reader)
{
    uint32_t copy = pbi_timeline_copy(&a->t, u, reader);
    if (copy == PBI_EMPTY || pbi_anneal_cost(a) + a->gamma * (double)pbi_timeline_load_cost(&a->t, u) > a->most)
        return false;
    uint32_t slot = free_below(a, a->t.copy[u].slot[copy], reader);
    return slot != PBI_EMPTY && insert(a, u | PBI_LOAD_EVENT, slot);
}

static bool propose_repeat(pbi_anneal *a)
{
    const pb_graph *g = a->t.g;
    uint32_t reader = a->t.where[below(a, a->t.filled)], x = a->t.event[reader];
    if (is_load(x))
        return false;
    uint32_t inputs = g->in_start[x + 1] - g->in_start[x];
    if (!inputs)
        return false;
    pb_node u = g->in[g->in_start[x] + below(a, inputs)], v = pb_graph_maker(g, u);
    bool load = a->loads && (!a->repeats || !can_repeat(g, v) || below(a, 2));
    return load ? load_before(a, u, reader) : a->repeats && can_repeat(g, v) && repeat_before(a, v, reader);
}

/* Copies of inputs that nobody reads any more go as well. */
static void drop_unread(pbi_anneal *a, pb_node v, uint32_t slot)
{
    const pb_graph *g = a->t.g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint32_t i = pbi_timeline_copy(&a->t, g->in[k], slot);
        uint32_t at = i == PBI_EMPTY ? 0 : a->t.copy[g->in[k]].slot[i];
        if (!at || pbi_timeline_is_read(&a->t, at))
            continue;
        uint32_t event = a->t.event[at];
        bool again = is_load(event) || (a->t.copy[event].count > 1 && can_repeat(g, event));
        if (again && take_out(a, at) && !is_load(event))
            drop_unread(a, event, at);
    }
}

static bool drop_at(pbi_anneal *a, uint32_t slot)
{
    uint32_t event = a->t.event[slot];
    if (!take_out(a, slot))
        return false;
    if (!is_load(event))
        drop_unread(a, event, slot);
    return true;
}

static bool propose_drop(pbi_anneal *a)
{
    for (int tries = 0; tries < 8; tries++) {
        uint32_t slot = a->t.where[below(a, a->t.filled)];
        if (is_load(a->t.event[slot]) || a->t.copy[a->t.event[slot]].count > 1)
            return drop_at(a, slot);
    }
    return false;
}

/* The slots between which an event can be moved: behind the makers of what it reads, before its readers. */
static void limits(const pbi_anneal *a, uint32_t slot, uint32_t *low, uint32_t *high)
{
    const pb_graph *g = a->t.g;
    uint32_t event = a->t.event[slot];
    pb_node v = event & ~PBI_LOAD_EVENT;
    const pbi_copies *c = &a->t.copy[v];
    uint32_t i = pbi_timeline_copy(&a->t, v, slot + 1);
    *low = i ? c->slot[i - 1] : 0;
    *high = i + 1 < c->count ? c->slot[i + 1] : a->t.profile.slots;
    for (uint32_t k = g->in_start[v]; !is_load(event) && k < g->in_start[v + 1]; k++) {
        uint32_t made = a->t.copy[g->in[k]].slot[pbi_timeline_copy(&a->t, g->in[k], slot)];
        *low = made > *low ? made : *low;
    }
}

/* The first slot after `slot` and before `end` that reads what its event makes. */
static uint32_t first_read(const pbi_anneal *a, uint32_t slot, uint32_t end)
{
    const pb_graph *g = a->t.g;
    uint32_t event = a->t.event[slot];
    pb_node v = event & ~PBI_LOAD_EVENT;
    uint32_t parts = !is_load(event) && (g->flags[v] & PB_NODE_HAS_PARTS) ? g->part_start[v + 1] - g->part_start[v] : 0;
    for (uint32_t n = 0; n <= parts; n++) {
        pb_node w = n ? g->part[g->part_start[v] + n - 1] : v;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++) {
            const pbi_copies *c = &a->t.copy[g->out[k]];
            for (uint32_t i = 0; i < c->count; i++)
                if (c->slot[i] > slot && c->slot[i] < end && !is_load(a->t.event[c->slot[i]]))
                    end = c->slot[i];
        }
    }
    return end;
}

static bool move_to(pbi_anneal *a, uint32_t from, uint32_t to)
{
    uint32_t event = a->t.event[from];
    return insert(a, event, to) && take_out(a, from);
}

static bool propose_move(pbi_anneal *a)
{
    uint32_t slot = a->t.where[below(a, a->t.filled)], low, high;
    limits(a, slot, &low, &high);
    high = first_read(a, slot, high);
    uint32_t to = free_between(a, low, high);
    return to != PBI_EMPTY && move_to(a, slot, to);
}

/* Moves the computation in `slot` before `goal`, and before it whatever it reads that was made later. */
static bool pull(pbi_anneal *a, uint32_t slot, uint32_t goal)
{
    const pb_graph *g = a->t.g;
    uint32_t event = a->t.event[slot], low, high;
    pb_node v = event & ~PBI_LOAD_EVENT;
    if (a->log_count + 2 > DEEP)
        return false;
    for (uint32_t k = g->in_start[v]; !is_load(event) && k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        uint32_t made = a->t.copy[u].slot[pbi_timeline_copy(&a->t, u, slot)];
        if (made >= goal && !pull(a, made, goal))
            return false;
    }
    limits(a, slot, &low, &high);
    uint32_t to = low + 1 < goal ? free_below(a, low, goal) : PBI_EMPTY;
    return to != PBI_EMPTY && move_to(a, slot, to);
}

/* Moves the computation in `slot` behind `goal`, and behind it whatever reads it before. */
static bool push(pbi_anneal *a, uint32_t slot, uint32_t goal)
{
    uint32_t low, high;
    if (a->log_count + 2 > DEEP)
        return false;
    limits(a, slot, &low, &high);
    for (uint32_t reader = first_read(a, slot, high); reader <= goal && reader < high;
         reader = first_read(a, slot, high)) {
        if (a->log_count + 2 > DEEP || !push(a, reader, goal))
            return false;
    }
    high = first_read(a, slot, high);
    if (high <= goal + 1)
        return false;
    uint32_t end = high - goal > NEAR ? goal + NEAR : high, to = PBI_EMPTY;
    for (uint32_t s = goal + 1; s < end && to == PBI_EMPTY; s++)
        if (a->t.event[s] == PBI_EMPTY)
            to = s;
    return to != PBI_EMPTY && move_to(a, slot, to);
}

static bool propose_pull(pbi_anneal *a)
{
    uint32_t slot = a->t.where[below(a, a->t.filled)], far = a->t.profile.slots / 8 + 2;
    uint32_t back = 1 + below(a, far);
    return slot > back && pull(a, slot, slot - back);
}

static bool propose_push(pbi_anneal *a)
{
    uint32_t slot = a->t.where[below(a, a->t.filled)], far = a->t.profile.slots / 8 + 2;
    uint32_t on = 1 + below(a, far);
    return slot + on < a->t.profile.slots && push(a, slot, slot + on);
}

static bool propose(pbi_anneal *a)
{
    uint32_t kind = below(a, 16);
    if (kind < 5)
        return propose_repeat(a);
    if (kind < 8)
        return propose_drop(a);
    if (kind < 10)
        return propose_drop(a) && propose_repeat(a); /* another in its place */
    if (kind < 13)
        return propose_move(a);
    return kind < 15 ? propose_pull(a) : propose_push(a);
}

/* ---- annealing ---- */

double pbi_anneal_cost(const pbi_anneal *a)
{
    return a->gamma * (double)a->t.work + (a->t.profile.time ? a->beta * a->t.profile.flux : 0);
}

static void keep_best(pbi_anneal *a)
{
    if (a->t.filled > a->best_room)
        return;
    pbi_timeline_read(&a->t, a->best);
    a->best_count = a->t.filled;
    a->best_cost = pbi_anneal_cost(a);
}

static void step(pbi_anneal *a)
{
    double allowed = -a->temperature * log(1 - pbi_rng_real(&a->rng)), cost = pbi_anneal_cost(a);
    uint64_t excess = a->t.profile.excess;
    a->log_count = 0;
    a->most = cost + allowed + a->price * (double)excess; /* at best all excess goes */
    bool made = propose(a);
    double change = pbi_anneal_cost(a) - cost + a->price * (double)(int64_t)(a->t.profile.excess - excess);
    if (!made || change > allowed) {
        undo(a);
        return;
    }
    a->accepted++;
    if (!a->t.profile.excess && pbi_anneal_cost(a) < a->best_cost)
        keep_best(a);
}

bool pbi_anneal_init(pbi_anneal *a, pb_context *ctx, const pb_game *game, uint64_t seed, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    const pb_weights *w = &game->weights;
    uint32_t nodes = g->needed_count ? g->needed_count : 1;
    *a = (pbi_anneal){.ctx = ctx, .rng = {seed}, .best_cost = INFINITY, .repeats = true};
    a->best_room = SPREAD * nodes + 64;
    a->best = pb_arena_alloc(arena, a->best_room, sizeof *a->best);
    a->order = pb_arena_alloc(arena, a->best_room, sizeof *a->order);
    if (!a->best || !a->order || !pbi_timeline_init(&a->t, ctx, game, game->cap, arena, a->best_room))
        return false;
    a->loads = a->t.tier != NULL;
    a->beta = (double)w->beta * (double)a->t.unit;
    a->gamma =
        w->gamma ? (double)w->gamma : 1e-9 * ((double)w->alpha + a->beta) + 1e-30; /* of two equals the shorter */
    return true;
}

bool pbi_anneal_start(pbi_anneal *a, const uint32_t *events, uint32_t count, uint64_t cap)
{
    if (count >= a->best_room - 2)
        return false;
    pbi_timeline_set_cap(&a->t, cap);
    if (!pbi_timeline_load(&a->t, events, count))
        return false;
    const pb_graph *g = a->t.g;
    double needed = a->gamma * (double)g->needed_cost + pbi_anneal_cost(a) - a->gamma * (double)a->t.work;
    a->unit = needed / (g->needed_count ? g->needed_count : 1);
    a->price = 10 * a->unit / ((double)a->t.profile.cap + 1);
    a->best_cost = INFINITY;
    if (!a->t.profile.excess)
        keep_best(a);
    return true;
}

/* Too little price and the cap is not kept, too much and nothing moves. */
static void adapt(pbi_anneal *a)
{
    double base = a->unit / ((double)a->t.profile.cap + 1);
    a->price *= a->t.profile.excess ? 1.05 : 0.97;
    a->price = a->price < base ? base : a->price > 1e6 * base ? 1e6 * base : a->price;
}

/* Full neighbourhoods leave no slot to insert into: spread the computations anew. */
static void respace(pbi_anneal *a)
{
    pbi_timeline_read(&a->t, a->order);
    pbi_timeline_load(&a->t, a->order, a->t.filled);
}

pb_status pbi_anneal_run(pbi_anneal *a, uint64_t proposals, double hot, double cold, double enough)
{
    pb_status status = PB_OK;
    uint64_t spread = 0, adapted = 0, nodes = a->t.g->needed_count;
    for (uint64_t n = 0; n < proposals && status == PB_OK && a->best_cost > enough && !a->t.failed; n++) {
        if (n % PERIOD == 0) {
            a->temperature = a->unit * hot * pow(cold / hot, (double)n / (double)proposals);
            status = pbi_tick(a->ctx, PERIOD);
        }
        if (n - adapted >= nodes) {
            adapt(a);
            adapted = n;
        }
        if (a->accepted - spread >= a->t.profile.slots) {
            respace(a);
            spread = a->accepted;
        }
        step(a);
        a->proposals++;
    }
    return a->t.failed ? PB_ENOMEM : status;
}
