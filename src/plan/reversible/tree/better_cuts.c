/* better_cuts.c -- see better_cuts.h.
 *
 * An order of the edges determines where to cut first; joined from the last cut to the first, the pieces are a
 * binary tree. The work of a piece with b values at a time follows from its parts, W(b) = L(b) + U(b - 1) + L(b -
 * 1), or is that of computing it place by place if it has no more than b places. One edge at a time moves to another
 * place of the order; the move is undone if it costs too much. The threshold falls to zero.
 */
#include "plan/reversible/tree/better_cuts.h"

#include "base/context.h"
#include "base/rng.h"

#include <string.h>

#define NEVER (UINT64_C(1) << 60)

typedef struct cutter {
    const pbi_trees *t;
    uint32_t count, values;
    uint32_t *order; /* places, the edge that is cut last first */
    uint32_t *best;
    uint32_t *holder, *now;
    uint32_t *size;  /* per piece: the places, then the joins in their order */
    uint64_t *apart; /* per piece: its work place by place */
    uint64_t *root;  /* per piece: the cost of its root */
    uint64_t *table; /* per join: work with 1 .. values at a time */
} cutter;

static uint32_t find_root(uint32_t *holder, uint32_t i)
{
    while (holder[i] != i) {
        holder[i] = holder[holder[i]];
        i = holder[i];
    }
    return i;
}

static uint64_t work_of(const cutter *c, uint32_t piece, uint32_t values)
{
    if (values >= c->size[piece])
        return c->apart[piece];
    return values ? c->table[(size_t)(piece - c->count) * c->values + values - 1] : NEVER;
}

static uint64_t capped(uint64_t work) { return work < NEVER ? work : NEVER; }

/* Fills in the row of a join. */
static void join(cutter *c, uint32_t piece, uint32_t lower, uint32_t upper)
{
    c->size[piece] = c->size[lower] + c->size[upper];
    c->root[piece] = c->root[upper];
    c->apart[piece] = c->apart[lower] + c->root[lower] + c->apart[upper];
    uint64_t *row = c->table + (size_t)(piece - c->count) * c->values;
    for (uint32_t b = 1; b <= c->values && b < c->size[piece]; b++)
        row[b - 1] = capped(work_of(c, lower, b) + work_of(c, upper, b - 1) + work_of(c, lower, b - 1));
}

static uint64_t evaluate(cutter *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        c->holder[i] = c->now[i] = i;
    for (uint32_t i = 0; i + 1 < c->count; i++) {
        uint32_t below = find_root(c->holder, c->order[i]), above = find_root(c->holder, c->t->parent[c->order[i]]);
        join(c, c->count + i, c->now[below], c->now[above]);
        c->holder[below] = above;
        c->now[above] = c->count + i;
    }
    return work_of(c, 2 * c->count - 2, c->values);
}

static void move(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t moved = order[from];
    if (from < to)
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    else
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = moved;
}

static pb_status search(cutter *c, pb_context *ctx, uint64_t tries, uint64_t seed, uint64_t *work)
{
    enum { PART = 30 }; /* at first a plan may become worse by one part in this many */
    uint32_t edges = c->count - 1;
    uint64_t now = evaluate(c);
    pbi_rng rng = {seed};
    *work = now;
    memcpy(c->best, c->order, edges * sizeof *c->best);
    for (uint64_t i = 0; i < tries; i++) {
        uint32_t from = (uint32_t)pbi_rng_below(&rng, edges), to = (uint32_t)pbi_rng_below(&rng, edges);
        pb_status status = pbi_tick(ctx, 1 + (uint64_t)c->count * c->values / 16);
        if (status != PB_OK)
            return status;
        move(c->order, from, to);
        uint64_t then = evaluate(c), slack = now / PART * (tries - i) / tries;
        if (then > now + slack || then >= NEVER) {
            move(c->order, to, from);
            continue;
        }
        now = then;
        if (now < *work) {
            *work = now;
            memcpy(c->best, c->order, edges * sizeof *c->best);
        }
    }
    return PB_OK;
}

static pb_status init_order(cutter *c, const uint32_t *rank, pb_arena *scratch)
{
    size_t n = c->count;
    uint32_t at = 0;
    c->order = pb_arena_alloc(scratch, n, sizeof *c->order);
    c->best = pb_arena_alloc(scratch, n, sizeof *c->best);
    c->holder = pb_arena_alloc(scratch, n, sizeof *c->holder);
    c->now = pb_arena_alloc(scratch, n, sizeof *c->now);
    c->size = pb_arena_alloc(scratch, 2 * n, sizeof *c->size);
    c->apart = pb_arena_alloc(scratch, 2 * n, sizeof *c->apart);
    c->root = pb_arena_alloc(scratch, 2 * n, sizeof *c->root);
    c->table = pb_arena_alloc(scratch, n * c->values, sizeof *c->table);
    if (!c->order || !c->best || !c->holder || !c->now || !c->size || !c->apart || !c->root || !c->table)
        return PB_ENOMEM;
    for (uint32_t r = 0; at + 1 < n; r++) /* few places: one pass for each rank */
        for (uint32_t i = 0; i + 1 < n; i++)
            if (rank[i] == r)
                c->order[at++] = i;
    for (uint32_t i = 0; i < n; i++) {
        c->size[i] = 1;
        c->apart[i] = c->root[i] = c->t->g->cost[c->t->node[i]];
    }
    return PB_OK;
}

pb_status pbi_better_cuts(pb_context *ctx, const pbi_trees *trees, uint64_t effort, uint64_t seed, uint32_t *rank,
                          uint64_t *work)
{
    enum { MAX_PLACES = 4096, MAX_COST = 1 << 20 };
    uint64_t values = trees->budget / trees->g->size[trees->node[0]];
    cutter c = {.t = trees, .count = trees->count, .values = (uint32_t)values};
    *work = UINT64_MAX;
    if (trees->count < 3 || trees->count > MAX_PLACES || values >= trees->count ||
        effort / (trees->count * values) < trees->count)
        return PB_OK;
    for (uint32_t i = 0; i < trees->count; i++)
        if (trees->g->cost[trees->node[i]] > MAX_COST)
            return PB_OK; /* so that sums remain far below NEVER */
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = init_order(&c, rank, &scratch);
    if (status == PB_OK)
        status = search(&c, ctx, effort / (trees->count * values), seed, work);
    for (uint32_t i = 0; i + 1 < trees->count && status != PB_ENOMEM; i++)
        rank[c.best[i]] = i;
    *work = *work < NEVER ? *work : UINT64_MAX;
    pb_arena_release(&scratch);
    return status;
}
