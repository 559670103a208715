/* blocks_case.c -- see blocks_case.h. */
#include "support/blocks_case.h"

#include <stdlib.h>
#include <string.h>

static uint64_t upto(pbi_rng *rng, uint64_t most) { return pbi_rng_below(rng, most + 1); }
static uint64_t most_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void draw_way(pbi_rng *rng, const blocks_like *like, const blocks_case *c, uint32_t k, pbi_block_way *w)
{
    uint64_t u = like->size_unit;
    w->reads_left = like->usual || pbi_rng_below(rng, 2);
    w->reads_run = like->usual || pbi_rng_below(rng, 2);
    w->reads_right = pbi_rng_below(rng, 2);
    w->kept = w->reads_run ? upto(rng, like->size) * u : 0;
    w->forward = c->value[k] + w->kept + upto(rng, like->size / 2) * u;
    w->backward = w->kept + c->gradient[k] + (pbi_rng_below(rng, 3) ? c->gradient[k - 1] : 0) +
                  (w->reads_right ? c->value[k] : 0) + upto(rng, like->size / 2) * u;
    w->extra_work = pbi_rng_below(rng, 3) ? 0 : upto(rng, like->cost) * like->cost_unit;
}

void blocks_draw(pbi_rng *rng, const blocks_like *like, blocks_case *c)
{
    uint64_t u = like->size_unit;
    uint32_t ways = 0;
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i <= like->count; i++) {
        c->value[i] = upto(rng, like->size) * u;
        c->gradient[i] = pbi_rng_below(rng, 2) ? upto(rng, like->size) * u : 0;
    }
    for (uint32_t k = 1; k <= like->count; k++) {
        uint32_t count = 1 + (uint32_t)pbi_rng_below(rng, like->ways);
        uint64_t extra = upto(rng, like->size / 2) * u;
        uint64_t least = most_of(c->value[k], c->value[k - 1]), all = c->value[k] + c->value[k - 1];
        c->block[k] = (pbi_block){.cost = upto(rng, like->cost) * like->cost_unit,
                                  .run_keeping = c->value[k] + extra,
                                  .through = (pbi_rng_below(rng, 2) ? all : least) + extra,
                                  .way = ways,
                                  .way_count = count};
        for (uint32_t n = 0; n < count; n++)
            draw_way(rng, like, c, k, &c->way[ways++]);
    }
    c->b = (pbi_blocks){like->count, c->block, c->way, c->value, c->gradient};
}

uint64_t blocks_enough(const pbi_blocks *b)
{
    uint64_t all = b->value[0] + b->gradient[0];
    for (uint32_t k = 1; k <= b->count; k++) {
        uint64_t way = 0;
        for (uint32_t n = 0; n < b->block[k].way_count; n++) {
            const pbi_block_way *w = &b->way[b->block[k].way + n];
            way = most_of(way, w->kept + most_of(w->forward, w->backward));
        }
        all += b->value[k] + b->gradient[k] + way + most_of(b->block[k].run_keeping, b->block[k].through);
    }
    return all;
}

/* ---- replay ---- */

static const pbi_block_way *way_of(const pbi_blocks *b, const pbi_block_action *a)
{
    return &b->way[b->block[a->block].way + a->way];
}

static bool reads(const pbi_blocks *b, const pbi_block_action *a, uint32_t value)
{
    if (a->what != PBI_BLOCK_BACK)
        return value + 1 == a->block;
    return (value + 1 == a->block && way_of(b, a)->reads_left) || (value == a->block && way_of(b, a)->reads_right);
}

/* Is the value read by an action from `at` on, before it is recomputed? */
static bool is_live(const pbi_blocks *b, const pbi_block_action *action, size_t count, size_t at, uint32_t value)
{
    for (; at < count; at++) {
        if (reads(b, &action[at], value))
            return true;
        if (action[at].what != PBI_BLOCK_BACK && action[at].block == value)
            return false;
    }
    return false;
}

typedef struct replay {
    const pbi_blocks *b;
    const pbi_block_action *action;
    size_t count;
    bool there[CASE_BLOCKS + 1];   /* values */
    uint32_t ran[CASE_BLOCKS + 1]; /* 1 + the way that the block was last run in, until its backward part */
    uint32_t gradient;
} replay;

/* Everything but values a and b, and what block `without` keeps. */
static uint64_t others(const replay *r, uint32_t a, uint32_t b, uint32_t without)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= r->b->count; i++)
        if (r->there[i] && i != a && i != b)
            sum += r->b->value[i];
    for (uint32_t k = 1; k <= r->b->count; k++)
        if (r->ran[k] && k != without)
            sum += r->b->way[r->b->block[k].way + r->ran[k] - 1].kept;
    return sum;
}

static uint64_t memory_during(const replay *r, size_t at)
{
    const pbi_block_action *a = &r->action[at];
    const pbi_block *block = &r->b->block[a->block];
    uint64_t left = r->b->value[a->block - 1], gradient = r->b->gradient[r->gradient];
    uint64_t rest = others(r, a->block - 1, a->block, a->block);
    if (a->what == PBI_BLOCK_WAY)
        return rest + gradient + left + way_of(r->b, a)->forward;
    if (a->what == PBI_BLOCK_RUN)
        return rest + gradient +
               (is_live(r->b, r->action, r->count, at + 1, a->block - 1) ? left + block->run_keeping : block->through);
    return rest + (r->there[a->block - 1] ? left : 0) + way_of(r->b, a)->backward;
}

static const char *lacks(const replay *r, const pbi_block_action *a)
{
    if (a->block == 0 || a->block > r->gradient)
        return "no such block, or one that is reversed";
    if (a->what != PBI_BLOCK_BACK)
        return r->there[a->block - 1] ? NULL : "the left value is not there";
    const pbi_block_way *w = way_of(r->b, a);
    if (a->block != r->gradient)
        return "the gradient is not there";
    if (w->reads_left && !r->there[a->block - 1])
        return "the backward part lacks its left value";
    if (w->reads_right && !r->there[a->block])
        return "the backward part lacks its right value";
    return w->reads_run && r->ran[a->block] != a->way + 1u ? "the backward part lacks its run" : NULL;
}

bool blocks_replay(const pbi_blocks *b, const pbi_block_action *action, size_t count, uint64_t *peak, uint64_t *work,
                   const char **why)
{
    replay r = {.b = b, .action = action, .count = count, .gradient = b->count};
    r.there[0] = true;
    *peak = *work = 0;
    for (size_t at = 0; at < count; at++) {
        const pbi_block_action *a = &action[at];
        if ((*why = lacks(&r, a)))
            return false;
        for (uint32_t i = 0; i <= b->count; i++)
            r.there[i] = r.there[i] && is_live(b, action, count, at, i);
        *peak = most_of(*peak, memory_during(&r, at));
        if (a->what == PBI_BLOCK_BACK) {
            *work += way_of(b, a)->extra_work;
            r.there[a->block] = false;
            r.ran[a->block] = 0;
            r.gradient--;
        } else {
            *work += b->block[a->block].cost;
            r.there[a->block] = true;
            r.ran[a->block] = a->what == PBI_BLOCK_WAY ? a->way + 1u : 0;
        }
    }
    *why = r.gradient ? "it ends before the last gradient" : NULL;
    return !*why;
}

/* ---- search ----
 *
 * A state is the values that are held, the ways that blocks have been run in, and the gradient. The held value
 * next before the gradient is the one that is worked from; it goes when it is at the gradient, or when its block is run
 * in a way that does not read it. */

enum { SEARCH_BLOCKS = 5, STATES = 1 << (3 + SEARCH_BLOCKS + 1 + 2 * SEARCH_BLOCKS) };

typedef struct state {
    uint8_t gradient;
    uint8_t values;
    uint8_t ran[SEARCH_BLOCKS + 1];
} state;

typedef struct search {
    const pbi_blocks *b;
    uint64_t memory;
    uint64_t *best; /* 0: not known; else 1 + the least work; UINT64_MAX: there is none */
} search;

static uint64_t from_here(search *s, state now);

static uint32_t state_key(const state *now)
{
    uint32_t key = now->gradient;
    key = key << (SEARCH_BLOCKS + 1) | now->values;
    for (int k = 1; k <= SEARCH_BLOCKS; k++)
        key = key << 2 | now->ran[k];
    return key;
}

static uint64_t held(const search *s, const state *now, uint32_t without)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= s->b->count; i++)
        if (now->values >> i & 1 && i != without)
            sum += s->b->value[i];
    for (uint32_t k = 1; k <= s->b->count; k++)
        if (now->ran[k])
            sum += s->b->way[s->b->block[k].way + now->ran[k] - 1].kept;
    return sum;
}

static void take(uint64_t *best, uint64_t cost, uint64_t rest)
{
    if (rest != UINT64_MAX && cost + rest < *best)
        *best = cost + rest;
}

/* The backward part of the block at the gradient, once all it reads is there; the left value stays or goes. */
static void try_back(search *s, state now, uint32_t way, uint64_t cost, uint64_t *best)
{
    uint32_t k = now.gradient;
    const pbi_block_way *w = &s->b->way[s->b->block[k].way + way];
    bool left = now.values >> (k - 1) & 1, right = now.values >> k & 1;
    if ((w->reads_left && !left) || (w->reads_right && !right))
        return;
    now.values &= (uint8_t) ~(1u << k);
    now.ran[k] = 0;
    now.gradient--;
    if (held(s, &now, k - 1) + (left ? s->b->value[k - 1] : 0) + w->backward <= s->memory)
        take(best, cost + w->extra_work, from_here(s, now));
    now.values &= (uint8_t) ~(1u << (k - 1));
    if (left && !w->reads_left && held(s, &now, k - 1) + w->backward <= s->memory)
        take(best, cost + w->extra_work, from_here(s, now));
}

static void try_way(search *s, state now, uint32_t top, uint32_t way, uint64_t *best)
{
    const pbi_block *block = &s->b->block[top + 1];
    const pbi_block_way *w = &s->b->way[block->way + way];
    uint64_t gradient = s->b->gradient[now.gradient];
    if (held(s, &now, top) + s->b->value[top] + w->forward + gradient > s->memory || (now.values >> (top + 1) & 1))
        return;
    now.values |= (uint8_t)(1u << (top + 1));
    now.ran[top + 1] = (uint8_t)(way + 1);
    if (now.gradient == top + 1) {
        try_back(s, now, way, block->cost, best);
        return;
    }
    take(best, block->cost, from_here(s, now));
    now.values &= (uint8_t) ~(1u << top);
    if (!w->reads_left)
        take(best, block->cost, from_here(s, now));
}

static void try_runs(search *s, state now, uint32_t top, uint64_t *best)
{
    uint64_t cost = 0, rest = held(s, &now, UINT32_MAX) + s->b->gradient[now.gradient];
    for (uint32_t m = top + 1; m < now.gradient; m++) {
        if (rest + (m == top + 1 ? s->b->block[m].run_keeping : s->b->block[m].through) > s->memory)
            return;
        cost += s->b->block[m].cost;
        state next = now;
        next.values |= (uint8_t)(1u << m);
        take(best, cost, from_here(s, next));
    }
}

static uint64_t from_here(search *s, state now)
{
    uint32_t g = now.gradient;
    if (g == 0)
        return 0;
    uint64_t *known = &s->best[state_key(&now)], best = UINT64_MAX;
    if (*known)
        return *known == UINT64_MAX ? UINT64_MAX : *known - 1;
    if (now.values >> g & 1) { /* the right value let go */
        state next = now;
        next.values &= (uint8_t) ~(1u << g);
        best = from_here(s, next);
    }
    if (now.ran[g]) {
        try_back(s, now, now.ran[g] - 1u, 0, &best);
    } else {
        uint32_t top = g;
        while (top-- > 0)
            if (now.values >> top & 1)
                break;
        if (top < g && !now.ran[top + 1]) {
            try_runs(s, now, top, &best);
            for (uint32_t n = 0; n < s->b->block[top + 1].way_count; n++) {
                try_way(s, now, top, n, &best);
                if (top + 1 == g && !s->b->way[s->b->block[g].way + n].reads_run)
                    try_back(s, now, n, 0, &best);
            }
        }
    }
    *known = best == UINT64_MAX ? UINT64_MAX : best + 1;
    return best;
}

uint64_t blocks_search(const pbi_blocks *b, uint64_t memory)
{
    search s = {.b = b, .memory = memory, .best = calloc(STATES, sizeof *s.best)};
    if (!s.best)
        abort();
    uint64_t best = from_here(&s, (state){.gradient = (uint8_t)b->count, .values = 1});
    free(s.best);
    return best;
}
