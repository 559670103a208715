/* brute_force.c -- Dijkstra over everything a game can be in.
 *
 * A state is what is in fast memory, what of that is in borrowed memory, what is in each slow tier, and which `once` nodes and targets were ever made.
 * Nothing is pruned but one thing that is plainly useless: dropping from a tier without a cap.
 */
#include "oracle/brute_force.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS_OUT = 8192 };

typedef struct state {
    uint32_t fast, lent, slow[BF_MAX_TIERS], ever; /* lent: a part of `fast` */
} state;

typedef struct step {
    bf_move move;
    state next;
    uint64_t cost, use; /* work or io, memory during */
} step;

typedef struct vertex {
    state at;
    uint64_t dist;
    uint32_t parent;
    bf_move move; /* that led here */
    bool closed;
} vertex;

typedef struct queued {
    uint64_t dist;
    uint32_t vertex;
} queued;

struct bf_space {
    vertex *vertex;
    uint32_t count, room, limit;
    uint32_t *slot; /* vertex + 1, or 0 */
    uint32_t slot_count;
    queued *heap;
    uint32_t heap_count, heap_room;
    step *steps;
    uint32_t step_count;
    bf_move *moves, *best;
    uint32_t moves_room, best_room, best_count;
};

typedef enum objective { LEAST_WORK, LEAST_PEAK, LEAST_WEIGHTED } objective;

static void *must(void *block)
{
    if (!block)
        abort();
    return block;
}

/* A bug of the search itself; it must never answer wrongly, so it ends the test in every build. */
static void demand(bool fact)
{
    if (!fact)
        abort();
}

static uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static uint64_t mul(uint64_t a, uint64_t b) { return a && b > UINT64_MAX / a ? UINT64_MAX : a * b; }
static uint32_t bit(unsigned v) { return UINT32_C(1) << v; }

bf_space *bf_space_new(void)
{
    bf_space *s = must(calloc(1, sizeof *s));
    s->limit = 4000000;
    s->steps = must(malloc(MAX_STEPS_OUT * sizeof *s->steps));
    return s;
}

void bf_space_free(bf_space *s)
{
    free(s->vertex);
    free(s->slot);
    free(s->heap);
    free(s->steps);
    free(s->moves);
    free(s->best);
    free(s);
}

void bf_space_limit(bf_space *space, uint32_t states) { space->limit = states; }

/* ---- the problem ---- */

static uint64_t needed_cost(const bf_problem *p)
{
    uint32_t needed = p->targets | p->keep, old = 0;
    while (needed != old) {
        old = needed;
        for (unsigned v = 0; v < p->node_count; v++)
            if (needed & bit(v)) {
                needed |= p->in[v];
                if (p->owner[v] != BF_NO_NODE)
                    needed |= bit(p->owner[v]);
            }
    }
    uint64_t sum = 0;
    for (unsigned v = 0; v < p->node_count; v++)
        if ((needed & bit(v)) && !(p->given & bit(v)) && p->owner[v] == BF_NO_NODE)
            sum = add(sum, p->cost[v]);
    return sum;
}

static void read_recipes(const pb_graph *g, unsigned v, bf_problem *p)
{
    p->recipe_count[v] = g->recipe_start ? g->recipe_start[v + 1] - g->recipe_start[v] : 0;
    for (uint32_t k = 0; k < p->recipe_count[v] && k < BF_MAX_RECIPES; k++) {
        const pb_recipe *from = &g->recipe[g->recipe_start[v] + k];
        bf_recipe *to = &p->recipe[v][k];
        to->cost = from->cost;
        to->workspace = from->workspace;
        for (uint32_t i = 0; i < from->in_count; i++)
            to->in |= bit(from->in[i]);
        for (uint32_t i = 0; i < from->inplace_count; i++)
            to->inplace |= bit(from->inplace[i]);
    }
}

static void read_node(const pb_graph *g, unsigned v, bf_problem *p)
{
    p->owner[v] = g->owner && g->owner[v] != PB_NO_NODE ? (uint8_t)g->owner[v] : BF_NO_NODE;
    p->cost[v] = p->owner[v] == BF_NO_NODE ? g->cost[v] : 0;
    p->size[v] = g->size[v];
    p->workspace[v] = g->workspace[v];
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
        p->in[v] |= bit(g->in[i]);
    for (uint32_t i = g->inplace_start ? g->inplace_start[v] : 0; g->inplace_start && i < g->inplace_start[v + 1]; i++)
        p->inplace[v] |= bit(g->inplace[i]);
    if (p->owner[v] != BF_NO_NODE)
        p->parts[p->owner[v]] |= bit(v);
    read_recipes(g, v, p);
    uint16_t flags = g->flags[v];
    p->given |= flags & PB_NODE_GIVEN ? bit(v) : 0;
    p->given_slow |= (flags & PB_NODE_GIVEN) && (flags & PB_NODE_GIVEN_SLOW) ? bit(v) : 0;
    p->once |= flags & PB_NODE_ONCE ? bit(v) : 0;
    p->keep |= flags & PB_NODE_KEEP ? bit(v) : 0;
    p->targets |= flags & PB_NODE_TARGET ? bit(v) : 0;
}

bool bf_from_game(const pb_game *game, bf_problem *p)
{
    const pb_graph *g = game->graph;
    uint32_t tiers = game->kind == PB_GAME_TIERED ? game->tier_count : 0;
    if (g->node_count > BF_MAX_NODES || tiers > BF_MAX_TIERS)
        return false;
    memset(p, 0, sizeof *p);
    p->node_count = g->node_count;
    for (unsigned v = 0; v < g->node_count; v++)
        read_node(g, v, p);
    for (unsigned v = 0; v < g->node_count; v++)
        if (p->recipe_count[v] > BF_MAX_RECIPES)
            return false;
    p->fixed_size = g->fixed_size;
    p->kind = game->kind;
    p->cap = game->cap;
    p->borrow = game->borrow;
    p->alpha = game->weights.alpha;
    p->beta = game->weights.beta;
    p->gamma = game->weights.gamma;
    p->tier_count = tiers;
    for (uint32_t t = 0; t < tiers; t++)
        p->tiers[t] = game->tiers[t];
    p->needed_cost = needed_cost(p);
    return true;
}

/* ---- the rules ---- */

static uint64_t sum_sizes(const bf_problem *p, uint32_t set)
{
    uint64_t sum = 0;
    for (unsigned v = 0; set; v++, set >>= 1)
        if (set & 1)
            sum = add(sum, p->size[v]);
    return sum;
}

static uint64_t fast_memory(const bf_problem *p, const state *s)
{
    return add(p->fixed_size, sum_sizes(p, s->fast & ~s->lent));
}

/* What must be remembered in addition to residence: `once` nodes that were used up, targets that may be gone again, and
 * values that may come back by recipe because they existed. */
static uint32_t tracked(const bf_problem *p)
{
    uint32_t set = p->once;
    if (p->kind == PB_GAME_REVERSIBLE)
        return set & ~p->given;
    set |= p->targets;
    for (unsigned v = 0; v < p->node_count; v++)
        set |= p->recipe_count[v] ? bit(v) : 0;
    return set & ~p->given;
}

static state start_state(const bf_problem *p)
{
    state s = {0};
    s.fast = p->given & ~p->given_slow;
    s.slow[0] = p->given_slow;
    return s;
}

static bool start_is_legal(const bf_problem *p, const state *s)
{
    if (fast_memory(p, s) > p->cap)
        return false;
    return p->tier_count == 0 || p->tiers[0].cap == PB_UNLIMITED || sum_sizes(p, s->slow[0]) <= p->tiers[0].cap;
}

static bool is_end(const bf_problem *p, const state *s)
{
    if (s->lent)
        return false;
    if (p->kind == PB_GAME_REVERSIBLE)
        return s->fast == (p->targets | p->keep | p->given);
    uint32_t want = p->targets & ~p->given;
    return (s->ever & want) == want && (s->fast & p->keep) == p->keep;
}

static void push_step(bf_space *space, bf_move move, state next, uint64_t cost, uint64_t use)
{
    demand(space->step_count < MAX_STEPS_OUT);
    space->steps[space->step_count++] = (step){move, next, cost, use};
}

/* Every way to compute v now: each set of by-products, in place or not. */
static void push_computes(bf_space *space, const bf_problem *p, const state *s, unsigned v, uint64_t memory)
{
    if ((p->given & bit(v)) || p->owner[v] != BF_NO_NODE || (p->in[v] & ~s->fast) || (p->once & s->ever & bit(v)))
        return;
    bool again = s->fast & bit(v);
    uint32_t parts = p->parts[v] & ~s->fast, also = parts;
    for (;; also = (also - 1) & parts) {
        if (!again || also) {
            state next = *s;
            next.fast |= bit(v) | also;
            next.ever |= (bit(v) | also) & tracked(p);
            uint64_t extra = add(sum_sizes(p, also), p->workspace[v]);
            uint64_t use = add(memory, add(again ? 0 : p->size[v], extra));
            push_step(space, (bf_move){PB_COMPUTE, (uint8_t)v, 0, BF_NO_NODE, also, 0}, next, p->cost[v], use);
            for (unsigned u = 0; u < p->node_count && !again; u++)
                if (p->inplace[v] & p->in[v] & ~s->lent & bit(u)) {
                    state over = next;
                    over.fast &= ~bit(u);
                    use = add(memory, add(p->size[v] > p->size[u] ? p->size[v] - p->size[u] : 0, extra));
                    push_step(space, (bf_move){PB_COMPUTE, (uint8_t)v, 0, (uint8_t)u, also, 0}, over, p->cost[v], use);
                }
        }
        if (!also)
            break;
    }
}

/* Every recipe that brings v back now, in place or not. */
static void push_recipes(bf_space *space, const bf_problem *p, const state *s, unsigned v, uint64_t memory)
{
    bool existed = (p->given | s->ever) & bit(v);
    if (p->kind == PB_GAME_REVERSIBLE || (s->fast & bit(v)) || !existed)
        return;
    for (uint32_t k = 0; k < p->recipe_count[v]; k++) {
        const bf_recipe *r = &p->recipe[v][k];
        if (r->in & ~s->fast)
            continue;
        state next = *s;
        next.fast |= bit(v);
        push_step(space, (bf_move){PB_COMPUTE, (uint8_t)v, 0, BF_NO_NODE, 0, k + 1}, next, r->cost,
                  add(memory, add(p->size[v], r->workspace)));
        for (unsigned u = 0; u < p->node_count; u++)
            if (r->inplace & r->in & ~s->lent & bit(u)) {
                state over = next;
                over.fast &= ~bit(u);
                uint64_t more = p->size[v] > p->size[u] ? p->size[v] - p->size[u] : 0;
                push_step(space, (bf_move){PB_COMPUTE, (uint8_t)v, 0, (uint8_t)u, 0, k + 1}, over, r->cost,
                          add(memory, add(more, r->workspace)));
            }
    }
}

/* Computes v in borrowed memory: nothing else goes with it, and it leaves by uncomputation alone. */
static void push_borrowed(bf_space *space, const bf_problem *p, const state *s, unsigned v, uint64_t memory)
{
    if (!p->borrow || ((p->given | s->fast) & bit(v)) || p->owner[v] != BF_NO_NODE || (p->in[v] & ~s->fast) ||
        (p->once & s->ever & bit(v)) || add(sum_sizes(p, s->lent), p->size[v]) > p->borrow)
        return;
    state next = *s;
    next.fast |= bit(v);
    next.lent |= bit(v);
    next.ever |= bit(v) & tracked(p);
    push_step(space, (bf_move){PB_COMPUTE, (uint8_t)v, 0, BF_IN_BORROW, 0, 0}, next, p->cost[v],
              add(memory, p->workspace[v]));
}

static void push_uncompute(bf_space *space, const bf_problem *p, const state *s, unsigned v, uint64_t memory)
{
    uint32_t needs = p->owner[v] == BF_NO_NODE ? p->in[v] : p->in[p->owner[v]];
    if (!(s->fast & bit(v)) || (p->given & bit(v)) || (needs & ~s->fast))
        return;
    state next = *s;
    next.fast &= ~bit(v);
    next.lent &= ~bit(v);
    push_step(space, (bf_move){PB_UNCOMPUTE, (uint8_t)v, 0, BF_NO_NODE, 0, 0}, next, p->cost[v],
              add(memory, p->workspace[v]));
}

/* fixed + price * size, both in parts of a power of ten and what remains counts as one. */
static uint64_t transfer_price(uint64_t fixed, uint64_t per_unit, uint32_t digits, uint64_t size)
{
    uint64_t parts = add(fixed, mul(per_unit, size));
    for (uint32_t i = 0; i < digits && parts != UINT64_MAX; i++)
        parts = parts / 10 + (parts % 10 != 0); /* ceil(ceil(x / 10) / 10) is ceil(x / 100) */
    return parts;
}

static void push_transfers(bf_space *space, const bf_problem *p, const state *s, unsigned v, uint64_t memory,
                           bool all_drops)
{
    for (uint32_t t = 0; t < p->tier_count; t++) {
        const pb_tier *tier = &p->tiers[t];
        uint8_t number = (uint8_t)(t + 1);
        bool fast = s->fast & bit(v), stored = s->slow[t] & bit(v), capped = tier->cap != PB_UNLIMITED;
        state next = *s;
        next.slow[t] |= bit(v);
        if (fast && !stored && (!capped || sum_sizes(p, next.slow[t]) <= tier->cap))
            push_step(space, (bf_move){PB_STORE, (uint8_t)v, number, BF_NO_NODE, 0, 0}, next,
                      transfer_price(tier->store_cost, tier->store_per_unit, tier->digits, p->size[v]), memory);
        if (!fast && stored) {
            next = *s;
            next.fast |= bit(v);
            push_step(space, (bf_move){PB_LOAD, (uint8_t)v, number, BF_NO_NODE, 0, 0}, next,
                      transfer_price(tier->load_cost, tier->load_per_unit, tier->digits, p->size[v]),
                      add(memory, p->size[v]));
        }
        if (stored && (capped || all_drops)) {
            next = *s;
            next.slow[t] &= ~bit(v);
            push_step(space, (bf_move){PB_DROP, (uint8_t)v, number, BF_NO_NODE, 0, 0}, next, 0, memory);
        }
    }
}

static void list_steps(bf_space *space, const bf_problem *p, const state *s, bool all_drops)
{
    uint64_t memory = fast_memory(p, s);
    space->step_count = 0;
    for (unsigned v = 0; v < p->node_count; v++) {
        push_computes(space, p, s, v, memory);
        push_recipes(space, p, s, v, memory);
        push_borrowed(space, p, s, v, memory);
        if (p->kind == PB_GAME_REVERSIBLE || (s->lent & bit(v))) {
            push_uncompute(space, p, s, v, memory);
        } else if (s->fast & bit(v)) {
            state next = *s;
            next.fast &= ~bit(v);
            push_step(space, (bf_move){PB_FREE, (uint8_t)v, 0, BF_NO_NODE, 0, 0}, next, 0, memory);
        }
        if (p->kind == PB_GAME_TIERED)
            push_transfers(space, p, s, v, memory, all_drops);
    }
}

/* ---- the search ---- */

static uint64_t hash_state(const state *s)
{
    uint64_t h = (s->fast | (uint64_t)s->ever << 32) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29 ^ (uint64_t)s->lent << 20;
    h = (h ^ (s->slow[0] | (uint64_t)s->slow[1] << 32)) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

static void rehash(bf_space *space, uint32_t slots)
{
    free(space->slot);
    space->slot = must(calloc(slots, sizeof *space->slot));
    space->slot_count = slots;
    for (uint32_t i = 0; i < space->count; i++) {
        uint32_t at = (uint32_t)hash_state(&space->vertex[i].at) & (slots - 1);
        while (space->slot[at])
            at = (at + 1) & (slots - 1);
        space->slot[at] = i + 1;
    }
}

/* The vertex of a state, made when it is new. */
static uint32_t find_vertex(bf_space *space, const state *s)
{
    uint32_t at = (uint32_t)hash_state(s) & (space->slot_count - 1);
    while (space->slot[at]) {
        const state *other = &space->vertex[space->slot[at] - 1].at;
        if (other->fast == s->fast && other->lent == s->lent && other->ever == s->ever &&
            other->slow[0] == s->slow[0] && other->slow[1] == s->slow[1])
            return space->slot[at] - 1;
        at = (at + 1) & (space->slot_count - 1);
    }
    if (space->count == space->room) {
        space->room = space->room ? space->room * 2 : 1024;
        space->vertex = must(realloc(space->vertex, space->room * sizeof *space->vertex));
    }
    space->vertex[space->count] = (vertex){.at = *s, .dist = UINT64_MAX, .parent = UINT32_MAX};
    space->slot[at] = ++space->count;
    if (space->count * 2 > space->slot_count)
        rehash(space, space->slot_count * 4);
    return space->count - 1;
}

static void heap_push(bf_space *space, uint64_t dist, uint32_t v)
{
    if (space->heap_count == space->heap_room) {
        space->heap_room = space->heap_room ? space->heap_room * 2 : 1024;
        space->heap = must(realloc(space->heap, space->heap_room * sizeof *space->heap));
    }
    uint32_t at = space->heap_count++;
    while (at && space->heap[(at - 1) / 2].dist > dist) {
        space->heap[at] = space->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    space->heap[at] = (queued){dist, v};
}

static queued heap_pop(bf_space *space)
{
    queued top = space->heap[0], last = space->heap[--space->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= space->heap_count)
            break;
        if (child + 1 < space->heap_count && space->heap[child + 1].dist < space->heap[child].dist)
            child++;
        if (space->heap[child].dist >= last.dist)
            break;
        space->heap[at] = space->heap[child];
        at = child;
    }
    space->heap[at] = last;
    return top;
}

static void relax(bf_space *space, const bf_problem *p, objective goal, uint32_t from, const step *e)
{
    uint64_t dist = space->vertex[from].dist;
    switch (goal) {
    case LEAST_WORK: dist = add(dist, e->cost); break;
    case LEAST_PEAK: dist = e->use > dist ? e->use : dist; break;
    case LEAST_WEIGHTED: dist = add(dist, add(mul(p->gamma, e->cost), mul(p->beta, mul(e->cost, e->use)))); break;
    }
    uint32_t to = find_vertex(space, &e->next);
    vertex *v = &space->vertex[to];
    if (v->closed || dist >= v->dist)
        return;
    v->dist = dist;
    v->parent = from;
    v->move = e->move;
    heap_push(space, dist, to);
}

/* Writes the moves from the start to `end` behind `before` moves that are there already. */
static void trace_path(bf_space *space, uint32_t end, uint32_t before, bf_answer *out)
{
    uint32_t length = 0;
    for (uint32_t v = end; space->vertex[v].parent != UINT32_MAX; v = space->vertex[v].parent)
        length++;
    if (before + length > space->moves_room) {
        space->moves_room = before + length + 64;
        space->moves = must(realloc(space->moves, space->moves_room * sizeof *space->moves));
    }
    uint32_t at = before + length;
    for (uint32_t v = end; space->vertex[v].parent != UINT32_MAX; v = space->vertex[v].parent)
        space->moves[--at] = space->vertex[v].move;
    out->moves = space->moves;
    out->move_count = before + length;
}

/* The largest memory of the schedule in out->moves, played from the start. */
static uint64_t path_peak(bf_space *space, const bf_problem *p, const bf_answer *a)
{
    state s = start_state(p);
    uint64_t peak = fast_memory(p, &s);
    for (uint32_t k = 0; k < a->move_count; k++) {
        list_steps(space, p, &s, true);
        const step *e = space->steps;
        while (memcmp(&e->move, &a->moves[k], sizeof e->move) != 0) {
            e++;
            demand(e < space->steps + space->step_count);
        }
        peak = e->use > peak ? e->use : peak;
        s = e->next;
    }
    return peak;
}

/* Least `goal` from `from` to an end under `cap`. Infeasible: out->feasible false. */
static bool search(bf_space *space, const bf_problem *p, objective goal, uint64_t cap, const state *from,
                   uint32_t before, bf_answer *out)
{
    *out = (bf_answer){0};
    space->count = space->heap_count = 0;
    if (space->slot_count > 1u << 12) {
        free(space->slot);
        space->slot = NULL;
    }
    rehash(space, 1u << 10);
    uint32_t first = find_vertex(space, from);
    space->vertex[first].dist = goal == LEAST_PEAK ? fast_memory(p, from) : 0;
    heap_push(space, space->vertex[first].dist, first);
    while (space->heap_count) {
        queued top = heap_pop(space);
        if (space->vertex[top.vertex].closed)
            continue;
        space->vertex[top.vertex].closed = true;
        state at = space->vertex[top.vertex].at;
        if (is_end(p, &at)) {
            out->feasible = true;
            out->value = top.dist;
            trace_path(space, top.vertex, before, out);
            out->peak = path_peak(space, p, out);
            return true;
        }
        list_steps(space, p, &at, false);
        for (uint32_t i = 0; i < space->step_count; i++)
            if (space->steps[i].use <= cap)
                relax(space, p, goal, top.vertex, &space->steps[i]);
        if (space->count > space->limit)
            return false;
    }
    return true;
}

bool bf_least_makespan(bf_space *space, const bf_problem *p, bf_answer *out)
{
    *out = (bf_answer){0};
    state start = start_state(p);
    return !start_is_legal(p, &start) || search(space, p, LEAST_WORK, p->cap, &start, 0, out);
}

bool bf_least_peak(bf_space *space, const bf_problem *p, bf_answer *out)
{
    *out = (bf_answer){0};
    bf_problem open = *p;
    open.cap = PB_UNLIMITED;
    state start = start_state(p);
    return !start_is_legal(&open, &start) || search(space, &open, LEAST_PEAK, PB_UNLIMITED, &start, 0, out);
}

/* Lower the cap below each plan's peak in turn: between two such caps the least flux and work do not change. */
bool bf_least_cost(bf_space *space, const bf_problem *p, bf_answer *out)
{
    *out = (bf_answer){0};
    bf_problem now = *p;
    state start = start_state(p);
    uint64_t spent = mul(p->gamma, p->needed_cost);
    while (start_is_legal(&now, &start)) {
        bf_answer a;
        if (!search(space, &now, LEAST_WEIGHTED, now.cap, &start, 0, &a))
            return false;
        if (!a.feasible)
            break;
        uint64_t value = add(a.value - spent, mul(p->alpha, a.peak));
        if (!out->feasible || value < out->value) {
            if (a.move_count > space->best_room) {
                space->best_room = a.move_count + 64;
                space->best = must(realloc(space->best, space->best_room * sizeof *space->best));
            }
            if (a.move_count)
                memcpy(space->best, a.moves, a.move_count * sizeof *space->best);
            *out = a;
            out->value = value;
        }
        if (p->alpha == 0 || a.peak == 0)
            break;
        now.cap = a.peak - 1;
    }
    out->moves = space->best;
    return true;
}

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool bf_random_schedule(bf_space *space, const bf_problem *p, uint64_t seed, uint32_t wander, bf_answer *out)
{
    *out = (bf_answer){0};
    state s = start_state(p);
    if (!start_is_legal(p, &s))
        return true;
    if (space->moves_room < wander + 64) {
        space->moves_room = wander + 64;
        space->moves = must(realloc(space->moves, space->moves_room * sizeof *space->moves));
    }
    uint32_t count = 0;
    for (; count < wander; count++) {
        list_steps(space, p, &s, true);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < space->step_count; i++)
            if (space->steps[i].use <= p->cap)
                space->steps[kept++] = space->steps[i];
        if (!kept)
            break;
        const step *e = &space->steps[next_random(&seed) % kept];
        space->moves[count] = e->move;
        s = e->next;
    }
    return search(space, p, LEAST_WORK, p->cap, &s, count, out);
}

pb_status bf_to_moves(const bf_answer *a, pb_moves *out)
{
    for (uint32_t k = 0; k < a->move_count; k++) {
        const bf_move *m = &a->moves[k];
        pb_status status;
        if (m->op == PB_COMPUTE && m->over == BF_IN_BORROW) {
            status = pb_moves_add_borrowed(out, m->node);
        } else if (m->by) {
            status = pb_moves_add_recipe(out, m->node, m->by, m->over == BF_NO_NODE ? PB_NO_NODE : m->over);
        } else if (m->op == PB_COMPUTE) {
            pb_node also[BF_MAX_NODES];
            uint32_t count = 0;
            for (unsigned v = 0; v < BF_MAX_NODES; v++)
                if (m->also & bit(v))
                    also[count++] = v;
            status = pb_moves_add_compute(out, m->node, m->over == BF_NO_NODE ? PB_NO_NODE : m->over, also, count);
        } else {
            status = pb_moves_add(out, (pb_op)m->op, m->node, m->tier);
        }
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}
