/* sweep_mark.c -- winners, the Pareto front, its knee, and the flips of the winner in a sweep. */
#include "pebble/metrics.h"
#include "pebble/sweep.h"

#include <stdlib.h>
#include <string.h>

const char *pb_sweep_winner_name(const pb_sweep *s, uint32_t cell)
{
    const pb_sweep_line *line = &s->lines[pb_sweep_line_of(s, cell)];
    return line->portfolio ? s->cells[cell].schedule.strategy : line->spec;
}

/* Whether cell a costs less than cell b. Ties go to less work, a smaller peak, fewer moves; then b wins. */
static bool cheaper(const pb_sweep *s, uint32_t a, uint32_t b)
{
    const pb_metrics *x = &s->cells[a].schedule.metrics, *y = &s->cells[b].schedule.metrics;
    int order = pb_u128_compare(x->cost, y->cost);
    if (order)
        return order < 0;
    if (x->makespan != y->makespan)
        return x->makespan < y->makespan;
    return x->peak != y->peak ? x->peak < y->peak : x->moves < y->moves;
}

static bool same_cost(const pb_sweep *s, uint32_t a, uint32_t b)
{
    return pb_u128_compare(s->cells[a].schedule.metrics.cost, s->cells[b].schedule.metrics.cost) == 0;
}

/* The winner at a cap; `above` is the line that wins at the next larger one, UINT32_MAX for none. */
static uint32_t winner_at(const pb_sweep *s, uint32_t w, uint32_t k, uint32_t above)
{
    uint32_t best = PB_NO_CELL;
    for (uint32_t l = 0; l < s->line_count; l++) {
        uint32_t cell = pb_sweep_at(s, w, l, k);
        if (s->cells[cell].certificate && (best == PB_NO_CELL || cheaper(s, cell, best)))
            best = cell;
    }
    if (best == PB_NO_CELL || above == UINT32_MAX)
        return best;
    uint32_t stays = pb_sweep_at(s, w, above, k);
    return s->cells[stays].certificate && same_cost(s, stays, best) ? stays : best;
}

static void mark_winners(pb_sweep *s)
{
    for (uint32_t w = 0; w < s->weights_count; w++) {
        uint32_t above = UINT32_MAX;
        s->cheapest[w] = PB_NO_CELL;
        for (uint32_t k = 0; k < s->cap_count; k++) {
            uint32_t best = winner_at(s, w, k, above);
            s->winner[w * s->cap_count + k] = best;
            above = best == PB_NO_CELL ? above : pb_sweep_line_of(s, best);
            if (best != PB_NO_CELL && (s->cheapest[w] == PB_NO_CELL || cheaper(s, best, s->cheapest[w])))
                s->cheapest[w] = best;
        }
    }
}

typedef struct point {
    uint64_t peak, makespan;
    uint32_t cell;
    bool reused; /* the plan of another cell, which represents both */
} point;

static int by_peak(const void *left, const void *right)
{
    const point *a = left, *b = right;
    if (a->peak != b->peak)
        return a->peak < b->peak ? -1 : 1;
    if (a->makespan != b->makespan)
        return a->makespan < b->makespan ? -1 : 1;
    if (a->reused != b->reused)
        return a->reused ? 1 : -1;
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

/* Points by ascending peak, each with less work than all before it; then reversed, the largest peak first. */
static void mark_front(pb_sweep *s, point *points)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->cell_count; i++)
        if (s->cells[i].certificate)
            points[count++] = (point){s->cells[i].schedule.metrics.peak, s->cells[i].schedule.metrics.makespan, i,
                                      s->cells[i].from != i};
    qsort(points, count, sizeof *points, by_peak);
    uint64_t least = UINT64_MAX;
    s->front_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (points[i].makespan < least || i == 0) {
            least = points[i].makespan;
            s->front[s->front_count++] = points[i].cell;
        }
    for (uint32_t i = 0, j = s->front_count; i + 1 < j; i++) {
        uint32_t swap = s->front[--j];
        s->front[j] = s->front[i];
        s->front[i] = swap;
    }
}

static void mark_knee(pb_sweep *s)
{
    s->knee = PB_NO_CELL;
    if (s->front_count < 3)
        return;
    const pb_metrics *first = &s->cells[s->front[0]].schedule.metrics; /* most memory, least work */
    const pb_metrics *last = &s->cells[s->front[s->front_count - 1]].schedule.metrics;
    double wide = (double)(first->peak - last->peak), high = (double)(last->makespan - first->makespan);
    double furthest = 1e-9;
    for (uint32_t i = 1; i + 1 < s->front_count; i++) {
        const pb_metrics *m = &s->cells[s->front[i]].schedule.metrics;
        double x = (double)(m->peak - last->peak) / wide, y = (double)(m->makespan - first->makespan) / high;
        double below = 1 - x - y; /* the line between the ends is x + y = 1 */
        if (below > furthest) {
            furthest = below;
            s->knee = s->front[i];
        }
    }
}

static bool same_winner(const pb_sweep *s, uint32_t a, uint32_t b)
{
    if (a == PB_NO_CELL || b == PB_NO_CELL)
        return a == b;
    return s->cells[a].schedule.game == s->cells[b].schedule.game &&
           strcmp(pb_sweep_winner_name(s, a), pb_sweep_winner_name(s, b)) == 0;
}

/* A flip has a winner on both sides: a cap at which nothing fits is not a flip. */
static void add_flip(pb_sweep *s, bool across_weights, uint32_t w, uint32_t k, uint32_t before, uint32_t after)
{
    if (before != PB_NO_CELL && after != PB_NO_CELL && !same_winner(s, before, after))
        s->flips[s->flip_count++] = (pb_sweep_flip){across_weights, w, k, before, after};
}

static void mark_flips(pb_sweep *s)
{
    uint32_t n = s->cap_count;
    s->flip_count = 0;
    for (uint32_t w = 0; w < s->weights_count; w++)
        for (uint32_t k = 0; k + 1 < n; k++)
            add_flip(s, false, w, k, s->winner[w * n + k], s->winner[w * n + k + 1]);
    for (uint32_t w = 0; w + 1 < s->weights_count; w++)
        for (uint32_t k = 0; k < n; k++)
            add_flip(s, true, w, k, s->winner[w * n + k], s->winner[(w + 1) * n + k]);
}

pb_status pb_sweep_mark(pb_sweep *s, pb_arena *result)
{
    size_t grid = (size_t)s->weights_count * s->cap_count;
    uint32_t *winner = pb_arena_alloc(result, grid, sizeof *winner);
    uint32_t *cheapest = pb_arena_alloc(result, s->weights_count, sizeof *cheapest);
    uint32_t *front = pb_arena_alloc(result, s->cell_count, sizeof *front);
    pb_sweep_flip *flips = pb_arena_alloc(result, 2 * grid, sizeof *flips);
    point *points = pb_arena_alloc(result, s->cell_count, sizeof *points);
    if (!winner || !cheapest || !front || !flips || !points)
        return PB_ENOMEM;
    s->winner = winner;
    s->cheapest = cheapest;
    s->front = front;
    s->flips = flips;
    mark_winners(s);
    mark_front(s, points);
    mark_knee(s);
    mark_flips(s);
    return PB_OK;
}
