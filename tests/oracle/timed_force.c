/* timed_force.c -- see timed_force.h. */
#include "oracle/timed_force.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 21, MOST = 1 << 20, NOBODY = 7 };
enum { ABSENT, READY, COMING };
enum { PROCESSOR, OUT, IN, LANES };

typedef struct state {
    uint8_t fast[TF_MAX], far[TF_MAX]; /* ABSENT, READY, COMING */
    uint8_t who[LANES], rest[LANES];   /* the node that a lane works on, and the ticks left */
    uint8_t held;                      /* what an overwritten input leaves until the computation ends */
    uint8_t recipe, again;             /* of the running computation: by its recipe; for by-products only */
    uint32_t made;
} state;

typedef struct search {
    const tf_problem *p;
    uint64_t *slot; /* packed state + 1 */
    uint64_t *list; /* states of this tick, then of the next */
    uint32_t count, first;
    bool full;
} search;

static uint64_t pack(const state *s)
{
    uint64_t x = 0;
    for (int v = 0; v < TF_MAX; v++)
        x = x << 4 | (uint64_t)s->fast[v] << 2 | s->far[v];
    for (int l = 0; l < LANES; l++)
        x = x << 7 | (uint64_t)s->who[l] << 4 | s->rest[l];
    return x << 11 | (uint64_t)s->recipe << 10 | (uint64_t)s->again << 9 | (uint64_t)s->held << 5 | s->made;
}

static state unpack(uint64_t x)
{
    state s;
    s.made = x & 31;
    s.held = x >> 5 & 15;
    s.again = x >> 9 & 1;
    s.recipe = x >> 10 & 1;
    x >>= 11;
    for (int l = LANES; l-- > 0; x >>= 7) {
        s.rest[l] = x & 15;
        s.who[l] = x >> 4 & 7;
    }
    for (int v = TF_MAX; v-- > 0; x >>= 4) {
        s.far[v] = x & 3;
        s.fast[v] = x >> 2 & 3;
    }
    return s;
}

static void add(search *x, const state *s)
{
    uint64_t key = pack(s) + 1, h = key * 0x9e3779b97f4a7c15u >> 43;
    while (x->slot[h] && x->slot[h] != key)
        h = (h + 1) % SLOTS;
    if (x->slot[h] || x->full)
        return;
    if (x->count == MOST) {
        x->full = true;
        return;
    }
    x->slot[h] = key;
    x->list[x->count++] = key - 1;
}

static uint32_t memory_of(const tf_problem *p, const state *s)
{
    uint32_t sum = p->fixed + s->held;
    for (uint32_t v = 0; v < p->node_count; v++)
        sum += s->fast[v] != ABSENT ? p->size[v] : 0;
    if (s->who[PROCESSOR] == NOBODY)
        return sum;
    return sum + (s->recipe ? p->recipe_workspace : p->workspace)[s->who[PROCESSOR]];
}

/* The lane has done its work. */
static void end_lane(const tf_problem *p, state *s, int lane)
{
    uint8_t v = s->who[lane];
    if (lane == OUT)
        s->far[v] = READY;
    else if (lane == IN || !s->again)
        s->fast[v] = READY;
    for (uint32_t w = 0; w < TF_MAX && lane == PROCESSOR; w++)
        if ((p->parts[v] >> w & 1) && s->fast[w] == COMING && s->who[IN] != w)
            s->fast[w] = READY;
    if (lane == PROCESSOR)
        s->held = s->again = s->recipe = 0;
    s->who[lane] = NOBODY;
    s->rest[lane] = 0;
}

static void begin_lane(search *x, state s, int lane, uint32_t v, uint32_t ticks)
{
    s.who[lane] = (uint8_t)v;
    s.rest[lane] = (uint8_t)ticks;
    if (lane == OUT)
        s.far[v] = COMING;
    else if (lane == IN || !s.again)
        s.fast[v] = COMING;
    if (lane == PROCESSOR)
        s.made |= 1u << v;
    if (memory_of(x->p, &s) > x->p->cap)
        return;
    if (!ticks)
        end_lane(x->p, &s, lane);
    add(x, &s);
}

static bool lane_free(const search *x, const state *s, int lane)
{
    bool shared = x->p->one_lane && lane != PROCESSOR;
    return s->who[lane] == NOBODY && (!shared || s->who[OUT + IN - lane] == NOBODY);
}

/* Computes v by these inputs, over each of those that may be overwritten or none; *s says what else is made. */
static void try_way(search *x, const state *s, uint32_t v, uint32_t reads, uint32_t inplace)
{
    const tf_problem *p = x->p;
    uint32_t ticks = (s->recipe ? p->recipe_duration : p->duration)[v];
    for (uint32_t u = 0; u < p->node_count; u++)
        if ((reads >> u & 1) && s->fast[u] != READY)
            return;
    begin_lane(x, *s, PROCESSOR, v, ticks);
    for (uint32_t u = 0; u < p->node_count && !s->again; u++)
        if ((inplace & reads) >> u & 1 && s->who[OUT] != u) {
            state t = *s;
            t.fast[u] = ABSENT;
            t.held = (uint8_t)(p->size[u] > p->size[v] ? p->size[u] - p->size[v] : 0);
            begin_lane(x, t, PROCESSOR, v, ticks);
        }
}

static void try_compute(search *x, const state *s, uint32_t v)
{
    const tf_problem *p = x->p;
    uint32_t parts = 0;
    if (s->who[PROCESSOR] != NOBODY)
        return;
    for (uint32_t w = 0; w < p->node_count; w++)
        parts |= p->parts[w];
    if ((p->recipes >> v & 1) && s->fast[v] == ABSENT && (s->made | p->given) >> v & 1) {
        state t = *s;
        t.recipe = 1;
        try_way(x, &t, v, p->recipe_reads[v], p->recipe_inplace[v]);
    }
    if ((p->given | parts | (p->once & s->made)) >> v & 1)
        return;
    for (uint32_t also = p->parts[v];; also = (also - 1) & p->parts[v]) {
        state t = *s;
        bool fine = s->fast[v] == ABSENT || (s->fast[v] == READY && also);
        t.again = s->fast[v] != ABSENT;
        for (uint32_t w = 0; w < p->node_count; w++)
            if (also >> w & 1) {
                fine &= s->fast[w] == ABSENT;
                t.fast[w] = COMING;
                t.made |= 1u << w;
            }
        if (fine)
            try_way(x, &t, v, p->reads[v], p->inplace[v]);
        if (!also)
            break;
    }
}

static void try_moves(search *x, const state *s)
{
    const tf_problem *p = x->p;
    for (uint32_t v = 0; v < p->node_count; v++) {
        uint8_t runs = s->who[PROCESSOR];
        bool read = s->who[OUT] == v || (runs != NOBODY && (s->recipe ? p->recipe_reads : p->reads)[runs] >> v & 1);
        try_compute(x, s, v);
        if (s->fast[v] == READY && s->far[v] == ABSENT && lane_free(x, s, OUT))
            begin_lane(x, *s, OUT, v, p->out[v]);
        if (s->far[v] == READY && s->fast[v] == ABSENT && lane_free(x, s, IN))
            begin_lane(x, *s, IN, v, p->in[v]);
        if (s->fast[v] == READY && !read) {
            state t = *s;
            t.fast[v] = ABSENT;
            add(x, &t);
        }
    }
}

/* When everything that runs has ended, if nothing more is needed then. */
static bool is_end(const tf_problem *p, const state *s, uint32_t *left)
{
    if (p->targets & ~(s->made | p->given))
        return false;
    for (uint32_t v = 0; v < p->node_count; v++)
        if ((p->keep >> v & 1) && s->fast[v] == ABSENT && s->far[v] == ABSENT)
            return false;
    *left = 0;
    for (int l = 0; l < LANES; l++)
        *left = s->who[l] != NOBODY && s->rest[l] > *left ? s->rest[l] : *left;
    return true;
}

static void tick(search *x, state s)
{
    bool runs = false;
    for (int l = 0; l < LANES; l++) {
        if (s.who[l] == NOBODY)
            continue;
        runs = true;
        if (--s.rest[l] == 0)
            end_lane(x->p, &s, l);
    }
    if (runs)
        add(x, &s);
}

static void add_start(search *x)
{
    const tf_problem *p = x->p;
    state s;
    memset(&s, 0, sizeof s);
    memset(s.who, NOBODY, sizeof s.who);
    for (uint32_t v = 0; v < p->node_count; v++)
        if (p->given >> v & 1)
            *(p->outside >> v & 1 ? &s.far[v] : &s.fast[v]) = READY;
    if (memory_of(p, &s) <= p->cap)
        add(x, &s);
}

bool tf_solve(const tf_problem *p, bool *feasible, uint32_t *makespan)
{
    search x = {.p = p, .slot = calloc(SLOTS, sizeof *x.slot), .list = malloc(MOST * sizeof *x.list)};
    uint32_t best = UINT32_MAX, left;
    add_start(&x);
    for (uint32_t now = 0, begin = 0; begin < x.count && now < best && !x.full; now++) {
        for (uint32_t i = begin; i < x.count; i++) { /* what happens at this tick; the list grows */
            state s = unpack(x.list[i]);
            try_moves(&x, &s);
            if (is_end(p, &s, &left) && now + left < best)
                best = now + left;
        }
        uint32_t end = x.count;
        for (uint32_t i = begin; i < end; i++)
            tick(&x, unpack(x.list[i]));
        begin = end;
    }
    free(x.slot);
    free(x.list);
    *feasible = best != UINT32_MAX;
    *makespan = best;
    return !x.full;
}
