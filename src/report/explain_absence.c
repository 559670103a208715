/* explain_absence.c -- for each absence of a value: where memory was tightest, and what keeping it would have needed.
 *
 * One walk over the moves. A stack has the moves so far that no later one exceeds in memory, so the move with the most
 * memory since a value was removed is found by bisection. Keeping the value changes nothing else in the plan: every
 * move in between needs its size in addition. Values that one computation recomputes together are kept together,
 * because only then is it saved. Borrowed memory is treated likewise: a value that was in it both times could have
 * remained there.
 *
 * The pipeline removes needless recomputations by the same definition, with separate code (plan/cleanup/cleanup.c).
 */
#include "report/explain.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <stdlib.h>

enum { POLL_MOVES = 1 << 14 };

typedef struct full_move {
    pb_step step;
    uint64_t during;
} full_move;

/* Moves so far, in descending order of memory; ends with the latest. */
typedef struct fullest {
    full_move *move;
    size_t count, room;
} fullest;

typedef struct watcher {
    pbi_walk walk;
    pb_arena *arena;
    pb_node only;          /* this value alone, or PB_NO_NODE */
    pb_step *gone;         /* by value: the move that removed it; PBI_NO_STEP: it is resident, or never was */
    uint64_t *kept_then;   /* by value: memory during that move if the value had been kept */
    pb_step *computed;     /* by node: its last computation, or PBI_NO_STEP, */
    uint64_t *during_then; /* and memory during it */
    uint64_t *ended_then;  /* and the time at its end */
    uint64_t *time_then;   /* by value: the time of its removal, or of the computation that could have made it */
    double *flux_then;     /* by value: how keeping it changes the flux of that move */
    bool *lent_then;       /* by value: it is or was in borrowed memory; NULL if nothing is borrowed */
    uint64_t lent;         /* borrowed memory in use */
    uint64_t peak;         /* of the plan */
    pb_node *group;        /* values that the current move recomputes */
    fullest own, borrowed;
    size_t room;
    pbi_absences *out;
} watcher;

static bool push_move(pb_arena *arena, fullest *f, pb_step step, uint64_t during)
{
    while (f->count && f->move[f->count - 1].during < during)
        f->count--;
    void *items = f->move;
    if (!pbi_arena_reserve(arena, &items, &f->room, f->count + 1, sizeof *f->move))
        return false;
    f->move = items;
    f->move[f->count++] = (full_move){step, during};
    return true;
}

/* The move with the most memory after `since`; the first of several. NULL: there is none. */
static const full_move *fullest_since(const fullest *f, pb_step since)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->move[middle].step <= since)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->count ? &f->move[low] : NULL;
}

/* For a by-product that the previous computation of its node did not make: it could have been made then, and kept. */
static void as_if_made(watcher *x, pb_node v)
{
    const pbi_walk *w = &x->walk;
    pb_step before = x->computed[w->move.node];
    if (x->gone[v] != PBI_NO_STEP || v == w->move.node || before == PBI_NO_STEP ||
        w->moves->move[before].flags & PB_MOVE_BORROW)
        return;
    x->gone[v] = before;
    x->kept_then[v] = pbi_add_saturated(x->during_then[w->move.node], w->graph->size[v]);
    x->time_then[v] = x->ended_then[w->move.node];
    x->flux_then[v] = (double)w->cost * (double)w->graph->size[v];
}

/* Collects the values that the current move recomputes, the first removed first. None: they are made for the first
 * time. */
static size_t gather(watcher *x)
{
    const pbi_walk *w = &x->walk;
    size_t count = 0;
    for (uint32_t i = 0; i < w->also_count + w->makes; i++) {
        pb_node v = i < w->also_count ? w->also[i] : w->move.node;
        as_if_made(x, v);
        if (x->gone[v] == PBI_NO_STEP)
            return 0;
        size_t at = count++;
        for (; at && x->gone[x->group[at - 1]] > x->gone[v]; at--)
            x->group[at] = x->group[at - 1];
        x->group[at] = v;
    }
    return count;
}

static void need_at_least(pbi_absence *a, uint64_t need, const full_move *full)
{
    if (need <= a->need)
        return;
    a->need = need;
    if (full) {
        a->full_step = full->step;
        a->full = full->during;
    }
}

/* Memory if the group had been kept: a move needs the sizes of all members that were removed before it. The maximum
 * is at one of the moves with the most memory since the removal of each member. */
static pbi_absence weigh_group(const watcher *x, const pb_node *group, size_t count)
{
    const pbi_walk *w = &x->walk;
    const full_move *since_first = fullest_since(&x->own, x->gone[group[0]]);
    pbi_absence a = {.node = w->move.node, .values = count, .removed = x->gone[group[0]], .made = w->step};
    a.full_step = since_first ? since_first->step : PBI_NO_STEP;
    a.full = since_first ? since_first->during : w->before;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        pb_node v = group[i];
        const full_move *full = fullest_since(&x->own, x->gone[v]);
        if (x->kept_then[v])
            need_at_least(&a, pbi_add_saturated(x->kept_then[v], sum), NULL);
        sum += w->graph->size[v];
        if (full)
            need_at_least(&a, pbi_add_saturated(full->during, sum), full);
        if (w->moves->move[x->gone[v]].op == PB_UNCOMPUTE)
            a.saves = pbi_add_saturated(a.saves, w->graph->cost[v]);
    }
    need_at_least(&a, pbi_add_saturated(w->before, sum), NULL);
    return a;
}

/* How keeping the group would change the cost, if peak or flux have a weight. */
static double change_in_cost(const watcher *x, const pb_node *group, const pbi_absence *a)
{
    const pbi_walk *w = &x->walk;
    const pb_weights *by = &w->game->weights;
    double flux = -(double)w->cost * (double)w->during, rise = a->need > x->peak ? (double)(a->need - x->peak) : 0;
    for (size_t i = 0; i < a->values; i++)
        flux += x->flux_then[group[i]] + (double)w->graph->size[group[i]] * (double)(w->start - x->time_then[group[i]]);
    return (double)by->alpha * rise + (double)by->beta * flux - (double)by->gamma * (double)a->saves;
}

/* Whether the plan would be as good or better with the group kept and everything else unchanged. */
static void judge_group(const watcher *x, const pb_node *group, pbi_absence *a)
{
    const pbi_walk *w = &x->walk;
    const pb_weights *by = &w->game->weights;
    bool lent = w->move.flags & PB_MOVE_BORROW, all_lent = lent;
    a->stuck = w->game->kind == PB_GAME_REVERSIBLE && w->removes != PB_NO_NODE; /* that could not be freed instead */
    for (size_t i = 0; i < a->values && x->lent_then; i++) {
        a->stuck = a->stuck || x->lent_then[group[i]] != lent;
        all_lent = all_lent && x->lent_then[group[i]];
    }
    const full_move *full = all_lent ? fullest_since(&x->borrowed, a->removed) : NULL;
    uint64_t limit = all_lent ? w->game->borrow : w->game->cap;
    uint64_t need = all_lent ? pbi_add_saturated(full ? full->during : 0, w->graph->size[group[0]]) : a->need;
    a->needless = !a->stuck && need <= limit && ((!by->alpha && !by->beta) || change_in_cost(x, group, a) < 0);
    a->stuck = a->stuck || all_lent; /* the cap would not help */
}

static pb_status come_back(watcher *x)
{
    const pbi_walk *w = &x->walk;
    size_t count = gather(x);
    bool asked = x->only == PB_NO_NODE;
    for (size_t i = 0; i < count && !asked; i++)
        asked = x->group[i] == x->only;
    if (asked && count) {
        pbi_absence a = weigh_group(x, x->group, count);
        a.saves = pbi_add_saturated(a.saves, w->cost);
        judge_group(x, x->group, &a);
        void *items = x->out->item;
        if (!pbi_arena_reserve(x->arena, &items, &x->room, x->out->count + 1, sizeof *x->out->item))
            return PB_ENOMEM;
        x->out->item = items;
        x->out->item[x->out->count++] = a;
    }
    for (uint32_t i = 0; i < w->also_count; i++)
        x->gone[w->also[i]] = PBI_NO_STEP;
    x->gone[w->move.node] = PBI_NO_STEP;
    return PB_OK;
}

static void go_away(watcher *x, pb_node v)
{
    const pbi_walk *w = &x->walk;
    uint64_t made = w->makes ? w->graph->size[w->move.node] : 0, size = w->graph->size[v];
    x->gone[v] = w->step;
    /* Overwritten: if it had been kept, the new value would have needed memory of its own. */
    bool over = w->move.op == PB_COMPUTE;
    x->kept_then[v] = over ? pbi_add_saturated(w->during, made < size ? made : size) : 0;
    x->time_then[v] = w->end;
    x->flux_then[v] =
        over ? (double)w->cost * (double)(made < size ? made : size) : -(double)w->cost * (double)w->during;
}

/* Borrowed memory after the move; its maximum during the move is that before or after it. */
static bool watch_borrowed(watcher *x)
{
    const pbi_walk *w = &x->walk;
    uint64_t before = x->lent;
    if (!x->lent_then)
        return true;
    if (w->makes) {
        x->lent_then[w->move.node] = w->move.flags & PB_MOVE_BORROW;
        x->lent += x->lent_then[w->move.node] ? w->graph->size[w->move.node] : 0;
    } else if (w->removes != PB_NO_NODE && x->lent_then[w->removes]) {
        x->lent -= w->graph->size[w->removes];
    }
    for (uint32_t i = 0; i < w->also_count; i++)
        x->lent_then[w->also[i]] = false;
    return push_move(x->arena, &x->borrowed, w->step, before > x->lent ? before : x->lent);
}

static pb_status watch(watcher *x)
{
    const pbi_walk *w = &x->walk;
    pb_status status = w->makes || w->also_count ? come_back(x) : PB_OK;
    if (w->removes != PB_NO_NODE)
        go_away(x, w->removes);
    if (w->move.op == PB_COMPUTE) {
        x->computed[w->move.node] = w->step;
        x->during_then[w->move.node] = w->during;
        x->ended_then[w->move.node] = w->end;
    }
    bool pushed = push_move(x->arena, &x->own, w->step, w->during) && watch_borrowed(x);
    return status == PB_OK && !pushed ? PB_ENOMEM : status;
}

static bool take_rows(watcher *x, uint32_t n)
{
    x->gone = pb_arena_alloc(x->arena, n, sizeof *x->gone);
    x->kept_then = pb_arena_alloc(x->arena, n, sizeof *x->kept_then);
    x->group = pb_arena_alloc(x->arena, n, sizeof *x->group);
    x->computed = pb_arena_alloc(x->arena, n, sizeof *x->computed);
    x->during_then = pb_arena_alloc(x->arena, n, sizeof *x->during_then);
    x->ended_then = pb_arena_alloc(x->arena, n, sizeof *x->ended_then);
    x->time_then = pb_arena_alloc(x->arena, n, sizeof *x->time_then);
    x->flux_then = pb_arena_alloc(x->arena, n, sizeof *x->flux_then);
    x->lent_then = x->walk.game->borrow ? pb_arena_zero(x->arena, n, sizeof *x->lent_then) : NULL;
    return x->gone && x->kept_then && x->group && x->computed && x->during_then && x->ended_then && x->time_then &&
           x->flux_then && (x->lent_then || !x->walk.game->borrow);
}

pb_status pbi_absences_make(pb_context *ctx, const pb_certificate *c, pb_node only, pb_arena *scratch,
                            pbi_absences *out)
{
    watcher x = {.arena = scratch, .only = only, .out = out, .peak = pb_certificate_totals(c)->peak};
    *out = (pbi_absences){NULL, 0};
    pb_status status = pbi_walk_init(&x.walk, c, scratch);
    uint32_t n = pb_certificate_game(c)->graph->node_count;
    if (status != PB_OK || !take_rows(&x, n))
        return PB_ENOMEM;
    for (pb_node v = 0; v < n; v++)
        x.gone[v] = x.computed[v] = PBI_NO_STEP;
    while (status == PB_OK && pbi_walk_next(&x.walk)) {
        if (x.walk.step % POLL_MOVES == 0)
            status = pbi_poll(ctx);
        if (status == PB_OK)
            status = watch(&x);
    }
    return status;
}

/* ---- for the whole plan ---- */

static int by_saving(const void *a, const void *b)
{
    const pbi_absence *x = a, *y = b;
    if (x->saves != y->saves)
        return x->saves > y->saves ? -1 : 1;
    if (x->need != y->need)
        return x->need < y->need ? -1 : 1;
    return x->made != y->made ? (x->made < y->made ? -1 : 1) : x->node < y->node ? -1 : x->node > y->node;
}

static int by_place(const void *a, const void *b)
{
    const pbi_absence *x = a, *y = b;
    if (x->full_step != y->full_step)
        return x->full_step < y->full_step ? -1 : 1;
    return by_saving(a, b);
}

static int by_forced_work(const void *a, const void *b)
{
    const pbi_moment *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* The moves at which memory was tightest for some absence; `item` is sorted by them. */
static pb_status gather_moments(const pbi_absences *all, pb_arena *scratch, pbi_pressure *out)
{
    out->moments = pb_arena_alloc(scratch, all->count, sizeof *out->moments);
    if (!out->moments)
        return PB_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const pbi_absence *x = &all->item[i];
        if (x->full_step == PBI_NO_STEP)
            continue;
        if (!out->moment_count || out->moments[out->moment_count - 1].step != x->full_step)
            out->moments[out->moment_count++] = (pbi_moment){x->full_step, x->full, 0, 0};
        pbi_moment *m = &out->moments[out->moment_count - 1];
        m->absences++;
        m->work = pbi_add_saturated(m->work, x->saves);
    }
    qsort(out->moments, out->moment_count, sizeof *out->moments, by_forced_work);
    return PB_OK;
}

static void find_raise(const pbi_absences *all, uint64_t cap, pbi_pressure *out)
{
    for (size_t i = 0; i < all->count; i++) { /* largest saving first, so that of equal needs the best is taken */
        const pbi_absence *x = &all->item[i];
        out->spare += x->needless;
        if (x->need > cap && !x->stuck && (!out->raised || x->need < out->raise.need)) {
            out->raise = *x;
            out->raised = true;
        }
    }
}

pb_status pbi_pressure_make(pb_context *ctx, const pb_certificate *c, size_t longest, pb_arena *scratch,
                            pbi_pressure *out)
{
    *out = (pbi_pressure){.absences = NULL};
    pbi_absences all;
    pb_status status = pbi_absences_make(ctx, c, PB_NO_NODE, scratch, &all);
    if (status != PB_OK || !all.count)
        return status;
    qsort(all.item, all.count, sizeof *all.item, by_place);
    status = gather_moments(&all, scratch, out);
    qsort(all.item, all.count, sizeof *all.item, by_saving);
    find_raise(&all, pb_certificate_game(c)->cap, out);
    out->absences = all.item;
    out->absence_count = all.count < longest ? all.count : longest;
    out->moment_count = out->moment_count < longest ? out->moment_count : longest;
    return status;
}
