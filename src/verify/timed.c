/* timed.c -- replays a schedule of the timed game by the rules of docs/games.md and reports the first broken one.
 *
 * Moves are listed by start time, so one pass suffices: each copy of a value has the time from which it can be read
 * and the time until which a move reads or writes it; each lane has the time at which it is free again. Room that a
 * computation holds only while it runs (workspace, and what an overwritten input leaves over) is given back when it
 * ends: one amount per processor, because a processor does one thing at a time.
 */
#include "verify/certificate.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

#define ABSENT UINT64_MAX

/* One value in one memory. */
typedef struct copy {
    uint64_t ready; /* readable from then on; ABSENT: not there, and takes no room */
    uint64_t used;  /* no move reads or writes it after that */
    bool copied;    /* by a link */
} copy;

/* What a running computation gives back when it ends. */
typedef struct release {
    uint64_t end, amount; /* amount 0: nothing */
} release;

typedef struct replay {
    const pb_game *game;
    const pb_graph *g;
    const pb_timing *t;
    const pb_machine *m;
    const pb_moves *moves;
    copy *copies;        /* [node * memories + memory] */
    uint64_t *made;      /* by node: the end of the first move that made it; ABSENT: none */
    bool *own;           /* by node: it was computed by its own inputs */
    uint64_t *now, *cap; /* by memory */
    uint64_t *peaks;
    bool *local;       /* by memory: has a processor */
    pb_lane_use *lane; /* processors, then lanes of links */
    release *releases; /* by processor */
    uint64_t next_release, clock, local_now;
    pb_u128 flux, idle_flux; /* up to the makespan; after it, which counts if the makespan grows */
    bool in_range;
    pb_totals totals;
    pb_verdict verdict;
} replay;

/* The move that is played. */
typedef struct step {
    pb_step k;
    const pb_move *move;
    uint64_t at, end;
    uint32_t place, memory; /* memory: of the processor, or the one that is copied to */
    pb_way way;             /* of a computation */
} step;

static bool breaks(replay *r, pb_rule rule, pb_node node, pb_node other, uint64_t amount)
{
    r->verdict.rule = rule;
    r->verdict.node = node;
    r->verdict.other = other;
    r->verdict.amount = amount;
    return false;
}

static copy *copy_of(const replay *r, pb_node v, uint32_t memory)
{
    return &r->copies[(size_t)v * r->m->memory_count + memory];
}

/* ---- time and room ---- */

/* The memory over time up to t. */
static void pass_time(replay *r, uint64_t t)
{
    uint64_t makespan = r->totals.timed.makespan, busy = t < makespan ? t : makespan;
    if (busy > r->clock) {
        pbi_u128_add(&r->flux, pbi_u128_product(busy - r->clock, r->local_now));
        r->clock = busy;
    }
    if (t > r->clock) {
        pbi_u128_add(&r->idle_flux, pbi_u128_product(t - r->clock, r->local_now));
        r->clock = t;
    }
}

static void take_room(replay *r, uint32_t memory, uint64_t amount)
{
    r->in_range &= pbi_add(r->now[memory], amount, &r->now[memory]);
    if (r->local[memory])
        r->in_range &= pbi_add(r->local_now, amount, &r->local_now);
}

static void give_room(replay *r, uint32_t memory, uint64_t amount)
{
    r->now[memory] -= amount;
    r->local_now -= r->local[memory] ? amount : 0;
}

/* Gives back what ends by t, in the order of the ends, and moves the clock to t. */
static void pass_until(replay *r, uint64_t t)
{
    while (r->next_release <= t && r->next_release != UINT64_MAX) {
        uint64_t end = r->next_release, next = UINT64_MAX;
        pass_time(r, end);
        for (uint32_t p = 0; p < r->m->processor_count; p++) {
            release *one = &r->releases[p];
            if (one->amount && one->end <= end) {
                give_room(r, r->m->processors[p].memory, one->amount);
                one->amount = 0;
            }
            next = one->amount && one->end < next ? one->end : next;
        }
        r->next_release = next;
    }
    pass_time(r, t);
}

/* Occupies a lane from s->at on, for `duration`. */
static bool occupy(replay *r, step *s, uint32_t lane, uint64_t duration)
{
    pb_lane_use *l = &r->lane[lane];
    if (l->moves && l->end > s->at)
        return breaks(r, PB_RULE_BUSY, s->move->node, PB_NO_NODE, l->end);
    r->in_range &= pbi_add(s->at, duration, &s->end) && s->end != ABSENT;
    l->begin = l->moves ? l->begin : s->at;
    l->end = s->end;
    l->busy += duration; /* moves of a lane do not overlap */
    l->moves++;
    if (s->end > r->totals.timed.makespan)
        r->totals.timed.makespan = s->end;
    pbi_u128_add(&r->flux, r->idle_flux); /* time has passed in which memory was held: it is before the makespan now */
    r->idle_flux = pbi_u128(0);
    return true;
}

static bool read_value(replay *r, const step *s, pb_node u, uint32_t memory)
{
    copy *c = copy_of(r, u, memory);
    if (c->ready == ABSENT || c->ready > s->at)
        return breaks(r, PB_RULE_NOT_READY, s->move->node, u, c->ready);
    if (s->end > c->used)
        c->used = s->end;
    return true;
}

static bool put_value(replay *r, const step *s, pb_node v, bool copied)
{
    copy *c = copy_of(r, v, s->memory);
    if (c->ready != ABSENT)
        return breaks(r, PB_RULE_IN_MEMORY, v, v, 0);
    *c = (copy){s->end, s->end, copied};
    take_room(r, s->memory, r->g->size[v]);
    return true;
}

static bool fits(replay *r, uint32_t memory, pb_rule rule, pb_node v)
{
    uint64_t now = r->now[memory];
    if (now > r->peaks[memory])
        r->peaks[memory] = now;
    r->verdict.place = memory;
    return now <= r->cap[memory] || breaks(r, rule, v, PB_NO_NODE, now);
}

/* ---- moves ---- */

/* Why the processor was idle before this computation. `free_at`: since when. */
static void count_stalls(replay *r, const step *s, uint64_t free_at)
{
    pb_lane_use *l = &r->lane[s->place];
    uint64_t arrival[2] = {0, 0};
    for (uint32_t k = 0; k < s->way.in_count; k++) {
        const copy *c = copy_of(r, s->way.in[k], s->memory);
        arrival[c->copied] = c->ready > arrival[c->copied] ? c->ready : arrival[c->copied];
    }
    bool copied = arrival[1] >= arrival[0];
    uint64_t ready = arrival[copied] > free_at ? arrival[copied] : free_at;
    l->stall[copied ? PB_STALL_COPY : PB_STALL_PROCESSOR] += ready - free_at;
    l->stall[PB_STALL_MEMORY] += s->at - ready;
}

/* v takes over the memory of an input; *rest is what stays taken until the end. */
static bool overwrite(replay *r, const step *s, pb_node u, uint64_t held, uint64_t *rest)
{
    const pb_graph *g = r->g;
    pb_node v = s->move->node;
    if (held > s->at)
        return breaks(r, PB_RULE_OVER_READ, v, u, held);
    if (copy_of(r, v, s->memory)->ready != ABSENT)
        return breaks(r, PB_RULE_OVER_RESIDENT, v, u, 0);
    *copy_of(r, u, s->memory) = (copy){ABSENT, 0, false};
    *rest = g->size[u] > g->size[v] ? g->size[u] - g->size[v] : 0;
    give_room(r, s->memory, g->size[u]);
    take_room(r, s->memory, *rest);
    return true;
}

/* The input that the move overwrites and the time until which other moves use it; PB_NO_NODE: none. */
static bool find_overwritten(replay *r, const step *s, pb_node *u, uint64_t *held)
{
    pb_node v = s->move->node;
    *u = pb_moves_over(r->moves, s->k);
    *held = 0;
    if (*u == PB_NO_NODE)
        return true;
    if (*u >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, v, *u, 0);
    for (uint32_t k = 0; k < s->way.inplace_count; k++)
        if (s->way.inplace[k] == *u) {
            *held = copy_of(r, *u, s->memory)->used;
            return true;
        }
    return breaks(r, PB_RULE_OVER, v, *u, 0);
}

/* The values that the move makes. */
static bool make_values(replay *r, const step *s)
{
    pb_node v = s->move->node;
    uint32_t count;
    const pb_node *also = pb_moves_also(r->moves, s->k, &count);
    bool again = count && copy_of(r, v, s->memory)->ready != ABSENT; /* only for the by-products */
    if (!again && !put_value(r, s, v, false))
        return false;
    r->made[v] = r->made[v] == ABSENT ? s->end : r->made[v];
    for (uint32_t i = 0; i < count; i++) {
        pb_node w = also[i];
        if (w >= r->g->node_count)
            return breaks(r, PB_RULE_NODE, v, w, 0);
        if (!r->g->owner || r->g->owner[w] != v)
            return breaks(r, PB_RULE_ALSO, v, w, 0);
        if (!put_value(r, s, w, false))
            return false;
        r->made[w] = r->made[w] == ABSENT ? s->end : r->made[w];
    }
    return true;
}

/* Whether the node may be computed by its own inputs, or by the recipe of the move. */
static bool may_compute(replay *r, const step *s)
{
    const pb_graph *g = r->g;
    pb_node v = s->move->node;
    uint32_t by = s->move->by;
    if (by > pb_graph_recipes(g, v))
        return breaks(r, PB_RULE_RECIPE, v, PB_NO_NODE, by);
    if (by && (s->move->flags & PB_MOVE_ALSO))
        return breaks(r, PB_RULE_RECIPE_ALSO, v, PB_NO_NODE, 0);
    if (by)
        return r->made[v] <= s->at || breaks(r, PB_RULE_RECIPE_EARLY, v, PB_NO_NODE, 0);
    if (g->flags[v] & PB_NODE_GIVEN)
        return breaks(r, PB_RULE_GIVEN, v, PB_NO_NODE, 0);
    if (g->flags[v] & PB_NODE_BYPRODUCT)
        return breaks(r, PB_RULE_BYPRODUCT, v, g->owner[v], 0);
    if ((g->flags[v] & PB_NODE_ONCE) && r->own[v])
        return breaks(r, PB_RULE_ONCE, v, PB_NO_NODE, 0);
    return !(s->move->flags & PB_MOVE_BORROW) || breaks(r, PB_RULE_MOVE, v, PB_NO_NODE, 0);
}

/* What the computation takes; PB_NO_TIME: it may not or cannot run there. */
static uint64_t duration_of(const replay *r, const step *s)
{
    pb_node v = s->move->node;
    if (!s->move->by)
        return r->t->duration[(size_t)s->place * r->g->node_count + v];
    return r->t->recipe[(size_t)s->place * r->t->recipe_count + r->g->recipe_start[v] + s->move->by - 1];
}

/* Adds up the work, and what of it is not the first of its node by its own inputs. */
static void count_work(replay *r, const step *s, uint64_t duration)
{
    pb_node v = s->move->node;
    bool first = !s->move->by && !r->own[v];
    r->in_range &= pbi_add(r->totals.compute_work, duration, &r->totals.compute_work);
    r->totals.compute_count++;
    r->totals.timed.recompute += first ? 0 : duration; /* at most the work */
    r->totals.timed.recompute_count += !first;
    r->own[v] |= first;
}

static bool play_compute(replay *r, step *s)
{
    pb_node v = s->move->node, u;
    if (s->place >= r->m->processor_count)
        return breaks(r, PB_RULE_LANE, v, PB_NO_NODE, s->place);
    pb_lane_use before = r->lane[s->place];
    s->memory = r->m->processors[s->place].memory;
    if (!may_compute(r, s))
        return false;
    uint64_t duration = duration_of(r, s), held, rest = 0;
    s->way = pb_graph_way(r->g, v, s->move->by);
    if (duration == PB_NO_TIME)
        return breaks(r, PB_RULE_PROCESSOR, v, PB_NO_NODE, 0);
    if (!occupy(r, s, s->place, duration) || !find_overwritten(r, s, &u, &held))
        return false;
    for (uint32_t k = 0; k < s->way.in_count; k++)
        if (!read_value(r, s, s->way.in[k], s->memory))
            return false;
    if (before.moves && s->at > before.end)
        count_stalls(r, s, before.end);
    if ((u != PB_NO_NODE && !overwrite(r, s, u, held, &rest)) || !make_values(r, s))
        return false;
    take_room(r, s->memory, s->way.workspace);
    r->in_range &= pbi_add(rest, s->way.workspace, &rest);
    r->releases[s->place] = (release){s->end, rest};
    if (rest && s->end < r->next_release)
        r->next_release = s->end;
    count_work(r, s, duration);
    return fits(r, s->memory, PB_RULE_MEMORY, v);
}

static bool play_copy(replay *r, step *s)
{
    pb_node v = s->move->node;
    if (s->place >= r->m->link_count)
        return breaks(r, PB_RULE_LANE, v, PB_NO_NODE, s->place);
    const pb_machine_link *link = &r->m->links[s->place];
    uint64_t duration = pb_machine_copy_time(r->m, link, r->g->size[v]);
    s->memory = link->to;
    r->in_range &= duration != UINT64_MAX && pbi_add(r->totals.io, duration, &r->totals.io);
    return occupy(r, s, r->m->processor_count + r->t->lane[s->place], duration) && read_value(r, s, v, link->from) &&
           put_value(r, s, v, true) && fits(r, s->memory, PB_RULE_MEMORY, v);
}

static bool play_free(replay *r, const step *s)
{
    pb_node v = s->move->node;
    if (s->place >= r->m->memory_count)
        return breaks(r, PB_RULE_LANE, v, PB_NO_NODE, s->place);
    copy *c = copy_of(r, v, s->place);
    r->verdict.place = s->place;
    if (c->ready == ABSENT)
        return breaks(r, PB_RULE_FREE_ABSENT, v, PB_NO_NODE, 0);
    if (c->used > s->at)
        return breaks(r, PB_RULE_FREE_USED, v, PB_NO_NODE, c->used);
    *c = (copy){ABSENT, 0, false};
    give_room(r, s->place, r->g->size[v]);
    return true;
}

static bool play(replay *r, pb_step k)
{
    const pb_move *move = &r->moves->move[k];
    pb_node v = move->node;
    if (v >= r->g->node_count)
        return breaks(r, PB_RULE_NODE, PB_NO_NODE, v, 0);
    if (move->op != PB_COMPUTE && move->op != PB_COPY && move->op != PB_FREE)
        return breaks(r, PB_RULE_MOVE, v, PB_NO_NODE, 0);
    if (k >= r->moves->when_count)
        return breaks(r, PB_RULE_LANE, v, PB_NO_NODE, UINT32_MAX);
    const pb_when *when = &r->moves->when[k];
    if (k && when->at < r->moves->when[k - 1].at)
        return breaks(r, PB_RULE_TIME, v, PB_NO_NODE, when->at);
    step s = {.k = k, .move = move, .at = when->at, .end = when->at, .place = when->place};
    pass_until(r, s.at);
    return move->op == PB_COMPUTE ? play_compute(r, &s) : move->op == PB_COPY ? play_copy(r, &s) : play_free(r, &s);
}

/* ---- start and end ---- */

static bool set_start(replay *r)
{
    const pb_graph *g = r->g;
    const pb_machine *m = r->m;
    for (uint32_t i = 0; i < m->processor_count; i++)
        r->local[m->processors[i].memory] = true;
    for (uint32_t i = 0; i < m->memory_count; i++) {
        r->cap[i] = i ? m->memories[i].cap : r->game->cap;
        take_room(r, i, r->t->fixed[i]);
    }
    for (size_t i = 0; i < (size_t)g->node_count * m->memory_count; i++)
        r->copies[i].ready = ABSENT;
    for (pb_node v = 0; v < g->node_count; v++) {
        r->made[v] = g->flags[v] & PB_NODE_GIVEN ? 0 : ABSENT;
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        copy_of(r, v, r->t->start[v])->ready = 0;
        take_room(r, r->t->start[v], g->size[v]);
    }
    for (uint32_t i = 0; i < m->memory_count; i++)
        if (!fits(r, i, PB_RULE_START_CAP, PB_NO_NODE))
            return false;
    r->totals.start_memory = r->local_now;
    return true;
}

static bool check_end(replay *r)
{
    const pb_graph *g = r->g;
    r->verdict.step = r->moves->count;
    for (uint32_t i = 0; i < g->target_count; i++)
        if (r->made[g->targets[i]] == ABSENT)
            return breaks(r, PB_RULE_TARGET, g->targets[i], PB_NO_NODE, 0);
    for (pb_node v = 0; v < g->node_count; v++) {
        bool there = !(g->flags[v] & PB_NODE_KEEP);
        for (uint32_t i = 0; i < r->m->memory_count && !there; i++)
            there = (r->t->keep[v] == UINT32_MAX || r->t->keep[v] == i) && copy_of(r, v, i)->ready != ABSENT;
        r->verdict.place = r->t->keep[v];
        if (!there)
            return breaks(r, PB_RULE_KEEP_MEMORY, v, PB_NO_NODE, 0);
    }
    return true;
}

static void sum_up(replay *r)
{
    pb_timed_totals *t = &r->totals.timed;
    pass_until(r, t->makespan);
    r->totals.flux = r->flux;
    r->totals.end_memory = r->local_now;
    r->totals.peak_step = UINT64_MAX;
    t->peaks = r->peaks;
    t->lanes = r->lane;
    t->memory_count = r->m->memory_count;
    t->lane_count = r->m->processor_count + r->t->lane_count;
    for (uint32_t i = 0; i < r->m->memory_count; i++)
        if (r->local[i])
            r->in_range &= pbi_add(r->totals.peak, r->peaks[i], &r->totals.peak);
    for (uint32_t i = 0; i < r->m->processor_count; i++)
        if (r->lane[i].end - r->lane[i].begin > t->span)
            t->span = r->lane[i].end - r->lane[i].begin;
}

static pb_status play_all(replay *r, pb_context *ctx, bool *legal)
{
    pb_status status = PB_OK;
    *legal = set_start(r);
    for (pb_step k = 0; k < r->moves->count && *legal; k++) {
        if ((k & 0xffff) == 0 && (status = pbi_poll(ctx)) != PB_OK)
            return status;
        *legal = play(r, k);
        r->verdict.step = k;
        if (!r->in_range)
            return pbi_fail(ctx, PB_ERANGE,
                            "a time or an amount of memory exceeds 2^64 at move %llu; use coarser units",
                            (unsigned long long)k);
    }
    *legal = *legal && check_end(r);
    if (*legal)
        sum_up(r);
    return r->in_range ? PB_OK : pbi_fail(ctx, PB_ERANGE, "the memory exceeds 2^64; use a larger size unit");
}

static bool get_memory(replay *r, pb_arena *scratch, pb_arena *result)
{
    size_t n = (size_t)r->g->node_count, memories = r->m->memory_count;
    r->copies = pb_arena_zero(scratch, n * memories + 1, sizeof *r->copies);
    r->made = pb_arena_alloc(scratch, n + 1, sizeof *r->made);
    r->own = pb_arena_zero(scratch, n + 1, sizeof *r->own);
    r->now = pb_arena_zero(scratch, memories, sizeof *r->now);
    r->cap = pb_arena_zero(scratch, memories, sizeof *r->cap);
    r->local = pb_arena_zero(scratch, memories, sizeof *r->local);
    r->releases = pb_arena_zero(scratch, r->m->processor_count, sizeof *r->releases);
    r->peaks = pb_arena_zero(result, memories, sizeof *r->peaks);
    r->lane = pb_arena_zero(result, (size_t)r->m->processor_count + r->t->lane_count, sizeof *r->lane);
    return r->copies && r->made && r->own && r->now && r->cap && r->local && r->releases && r->peaks && r->lane;
}

pb_status pbi_verify_timed(pb_context *ctx, const pb_game *game, const pb_moves *moves, pb_arena *result, pb_verdict *v)
{
    if (!game->timing)
        return pbi_fail(ctx, PB_EINVAL, "the timed game needs the times of a machine; call pb_timing_make");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    replay r = {.game = game,
                .g = game->graph,
                .t = game->timing,
                .m = game->timing->machine,
                .moves = moves,
                .next_release = UINT64_MAX,
                .in_range = true,
                .verdict = {.node = PB_NO_NODE, .other = PB_NO_NODE}};
    bool legal = false;
    pb_status status = get_memory(&r, &scratch, result) ? play_all(&r, ctx, &legal) : PB_ENOMEM;
    pb_arena_release(&scratch);
    if (status == PB_OK && legal) {
        pb_certificate *c = pb_arena_alloc(result, 1, sizeof *c);
        if (!c)
            return PB_ENOMEM;
        *c = (pb_certificate){game, moves, r.totals};
        r.verdict.certificate = c;
    }
    if (status == PB_OK)
        *v = r.verdict;
    return status;
}
