/* order_exact.c -- the order of the least peak, by search over the sets of nodes computed so far.
 *
 * A state is a set, reached with some peak. The state with the smallest peak is expanded first, on ties the fullest,
 * so the first full set has the least peak. Two rules keep the sets few. First, a node that leaves no more behind
 * than it frees and fits under the peak of the state is computed at once: memory after any later set is then no
 * larger (what a computed node adds to memory only falls as more is computed), so nothing is lost. Second, states
 * whose peak is no better than that of a known order are dropped.
 */
#include "base/arena.h"
#include "base/context.h"
#include "plan/sequence/order_parts.h"

#include <string.h>

#define NONE UINT32_MAX
enum { PERIOD = 1024 }; /* ticks between two polls of the clock */

typedef struct value {
    uint64_t size;
    uint32_t reader_start, reader_count; /* its readers among the nodes, as a range of `readers` */
    bool leaves;                         /* freed after its last reader among the nodes */
    bool slow;                           /* loaded before its first reader among them */
} value;

typedef struct state {
    uint64_t peak, memory;
    uint32_t parent, step; /* the previous state, and the node that was computed first after it */
    uint32_t count;        /* nodes in the set */
    bool dead;             /* outdated: the set was reached with a smaller peak later */
} state;

typedef struct exact {
    const pbi_order_task *t;
    pb_arena arena;
    uint32_t count, words;
    pb_node *node;         /* per local index */
    uint32_t *local;       /* per node of the graph: local index, NONE for others */
    uint64_t *before;      /* per local index, `words` each: what must be computed before it */
    uint32_t *input_start; /* per local index + 1 */
    uint32_t *input;       /* values, local numbers */
    uint8_t *over;         /* per input: its memory may be overwritten */
    value *values;
    uint32_t value_count;
    uint32_t *readers;

    state *states;
    uint64_t *sets; /* per state, `words` each */
    uint32_t state_count, max;
    uint32_t *heap, heap_count;
    uint32_t *table, table_mask;
    uint64_t *now;        /* the set under construction */
    uint32_t *open;       /* nodes that could be next */
    uint32_t *recheck;    /* stack of nodes whose readiness must be rechecked */
    uint64_t *on_recheck; /* bit set: which nodes are on that stack */
    uint32_t recheck_count;
} exact;

static bool has(const uint64_t *set, uint32_t i) { return set[i / 64] >> (i % 64) & 1; }
static void add(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << (i % 64); }
static const uint64_t *set_of(const exact *x, uint32_t s) { return x->sets + (size_t)s * x->words; }

/* ---- the nodes and the values they read ---- */

/* The local number of a value; assigns a new one if it has none yet. `number` is per node of the graph. */
static uint32_t value_number(exact *x, uint32_t *number, pb_node u, const uint32_t *rest)
{
    const pb_graph *g = x->t->g;
    if (number[u] == NONE) {
        number[u] = x->value_count;
        x->values[x->value_count++] = (value){
            .size = g->size[u], .leaves = rest[u] == 0 && !pbi_order_stays(g, u), .slow = pbi_order_given_slow(g, u)};
    }
    return number[u];
}

static void list_readers(exact *x)
{
    uint32_t total = 0;
    for (uint32_t n = 0; n < x->value_count; n++) {
        x->values[n].reader_start = total;
        total += x->values[n].reader_count;
        x->values[n].reader_count = 0;
    }
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = x->input_start[i]; k < x->input_start[i + 1]; k++) {
            value *u = &x->values[x->input[k]];
            x->readers[u->reader_start + u->reader_count++] = i;
        }
}

static void list_inputs(exact *x, const pb_node *order, uint32_t *number, const uint32_t *rest)
{
    const pb_graph *g = x->t->g;
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        pb_node v = x->node[i] = order[i];
        x->local[v] = i;
        x->input_start[i] = inputs;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k], maker = pb_graph_maker(g, u);
            uint32_t n = value_number(x, number, u, rest);
            x->values[n].reader_count++;
            x->over[inputs] = pbi_order_inplace(g, v, u);
            x->input[inputs++] = n;
            if (x->local[maker] != NONE && !(g->flags[u] & PB_NODE_GIVEN))
                add(x->before + (size_t)i * x->words, x->local[maker]);
        }
    }
    x->input_start[x->count] = inputs;
    list_readers(x);
}

/* Readers of each value that are not in the order. */
static void count_outside(const exact *x, const pb_node *order, uint32_t *rest)
{
    const pb_graph *g = x->t->g;
    memcpy(rest, x->t->readers, g->node_count * sizeof *rest);
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = g->in_start[order[i]]; k < g->in_start[order[i] + 1]; k++)
            rest[g->in[k]]--;
}

static bool lay_out(exact *x, const pb_node *order)
{
    const pb_graph *g = x->t->g;
    size_t inputs = 0;
    for (uint32_t i = 0; i < x->count; i++)
        inputs += g->in_start[order[i] + 1] - g->in_start[order[i]];
    x->node = pb_arena_alloc(&x->arena, x->count, sizeof *x->node);
    x->local = pb_arena_alloc(&x->arena, g->node_count, sizeof *x->local);
    x->before = pb_arena_zero(&x->arena, (size_t)x->count * x->words, sizeof *x->before);
    x->input_start = pb_arena_alloc(&x->arena, (size_t)x->count + 1, sizeof *x->input_start);
    x->input = pb_arena_alloc(&x->arena, inputs, sizeof *x->input);
    x->over = pb_arena_alloc(&x->arena, inputs, sizeof *x->over);
    x->values = pb_arena_alloc(&x->arena, inputs, sizeof *x->values);
    x->readers = pb_arena_alloc(&x->arena, inputs, sizeof *x->readers);
    uint32_t *number = pb_arena_alloc(&x->arena, g->node_count, sizeof *number);
    uint32_t *rest = pb_arena_alloc(&x->arena, g->node_count, sizeof *rest);
    if (!x->node || !x->local || !x->before || !x->input_start || !x->input || !x->over || !x->values || !x->readers ||
        !number || !rest)
        return false;
    memset(x->local, 0xff, g->node_count * sizeof *x->local);
    memset(number, 0xff, g->node_count * sizeof *number);
    count_outside(x, order, rest);
    list_inputs(x, order, number, rest);
    return true;
}

/* ---- states ---- */

static bool make_room(exact *x, uint64_t states)
{
    const uint64_t bytes = UINT64_C(64) << 20;
    uint64_t max = bytes / (8 * (uint64_t)x->words + sizeof(state) + 12);
    max = states < max ? states : max;
    x->max = (uint32_t)(max < 16 ? 16 : max);
    uint32_t slots = 64;
    while (slots < x->max * 2)
        slots *= 2;
    x->table_mask = slots - 1;
    x->states = pb_arena_alloc(&x->arena, x->max, sizeof *x->states);
    x->sets = pb_arena_alloc(&x->arena, (size_t)x->max * x->words, sizeof *x->sets);
    x->heap = pb_arena_alloc(&x->arena, x->max, sizeof *x->heap);
    x->table = pb_arena_alloc(&x->arena, slots, sizeof *x->table);
    x->now = pb_arena_zero(&x->arena, x->words, sizeof *x->now);
    x->open = pb_arena_alloc(&x->arena, x->count, sizeof *x->open);
    x->recheck = pb_arena_alloc(&x->arena, x->count, sizeof *x->recheck);
    x->on_recheck = pb_arena_zero(&x->arena, x->words, sizeof *x->on_recheck);
    if (!x->states || !x->sets || !x->heap || !x->table || !x->now || !x->open || !x->recheck || !x->on_recheck)
        return false;
    memset(x->table, 0xff, slots * sizeof *x->table);
    return true;
}

/* The place of a set in the table: that of the state that has it, or an empty one. */
static uint32_t table_place(const exact *x, const uint64_t *set)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (uint32_t w = 0; w < x->words; w++) {
        hash = (hash ^ set[w]) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & x->table_mask;
    while (x->table[at] != NONE && memcmp(set_of(x, x->table[at]), set, x->words * sizeof *set) != 0)
        at = (at + 1) & x->table_mask;
    return at;
}

/* The smaller peak first, then the fuller set, then the older state. */
static bool goes_first(const exact *x, uint32_t a, uint32_t b)
{
    const state *p = &x->states[a], *q = &x->states[b];
    if (p->peak != q->peak)
        return p->peak < q->peak;
    return p->count != q->count ? p->count > q->count : a < b;
}

static void heap_push(exact *x, uint32_t s)
{
    uint32_t at = x->heap_count++;
    for (; at && goes_first(x, s, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = s;
}

static uint32_t heap_pop(exact *x)
{
    uint32_t first = x->heap[0], s = x->heap[--x->heap_count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= x->heap_count)
            break;
        if (child + 1 < x->heap_count && goes_first(x, x->heap[child + 1], x->heap[child]))
            child++;
        if (!goes_first(x, x->heap[child], s))
            break;
        x->heap[at] = x->heap[child];
        at = child;
    }
    x->heap[at] = s;
    return first;
}

/* ---- steps ---- */

static bool is_ready(const exact *x, const uint64_t *set, uint32_t i)
{
    const uint64_t *before = x->before + (size_t)i * x->words;
    for (uint32_t w = 0; w < x->words; w++)
        if (before[w] & ~set[w])
            return false;
    return true;
}

static pbi_order_step step_of(const exact *x, const uint64_t *set, uint32_t i)
{
    pbi_order_step s = {0, 0, 0};
    for (uint32_t k = x->input_start[i]; k < x->input_start[i + 1]; k++) {
        const value *u = &x->values[x->input[k]];
        const uint32_t *reader = x->readers + u->reader_start;
        uint32_t done = 0;
        for (uint32_t n = 0; n < u->reader_count; n++)
            done += has(set, reader[n]);
        if (u->slow && !done)
            s.loaded += u->size;
        if (!u->leaves || done + 1 != u->reader_count)
            continue;
        s.freed += u->size;
        if (x->over[k] && u->size > s.over)
            s.over = u->size;
    }
    return s;
}

static void recheck_node(exact *x, uint32_t i)
{
    if (has(x->now, i) || has(x->on_recheck, i))
        return;
    add(x->on_recheck, i);
    x->recheck[x->recheck_count++] = i;
}

/* Marks nodes that computing i may have made ready or cheaper: readers of its results and of its inputs. */
static void recheck_neighbours(exact *x, uint32_t i)
{
    const pb_graph *g = x->t->g;
    pb_node v = x->node[i];
    for (uint32_t n = 0, parts = pbi_order_parts(g, v); n <= parts; n++) {
        pb_node w = n ? g->part[g->part_start[v] + n - 1] : v;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
            if (x->local[g->out[k]] != NONE)
                recheck_node(x, x->local[g->out[k]]);
    }
    for (uint32_t k = x->input_start[i]; k < x->input_start[i + 1]; k++) {
        const value *u = &x->values[x->input[k]];
        for (uint32_t n = 0; n < u->reader_count; n++)
            recheck_node(x, x->readers[u->reader_start + n]);
    }
}

static void recheck_all(exact *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        recheck_node(x, i);
}

static void compute(exact *x, state *s, uint32_t i, uint64_t after, pb_node *list)
{
    add(x->now, i);
    s->memory = after;
    if (list)
        list[s->count] = x->node[i];
    s->count++;
    recheck_neighbours(x, i);
}

/* Computes, in x->now, every node that costs no memory; appends them to `list` unless it is NULL. */
static void take_free_steps(exact *x, state *s, pb_node *list)
{
    while (x->recheck_count) {
        uint32_t i = x->recheck[--x->recheck_count];
        x->on_recheck[i / 64] &= ~(UINT64_C(1) << (i % 64));
        if (has(x->now, i) || !is_ready(x, x->now, i))
            continue;
        pbi_order_step step = step_of(x, x->now, i);
        uint64_t after = pbi_order_after(x->t, x->node[i], &step, s->memory);
        if (after <= s->memory && pbi_order_during(x->t, x->node[i], &step, s->memory) <= s->peak)
            compute(x, s, i, after, list);
    }
}

/* Computes one node, then everything that costs nothing after it. */
static void take_step(exact *x, state *s, uint32_t i, pb_node *list)
{
    pbi_order_step step = step_of(x, x->now, i);
    uint64_t during = pbi_order_during(x->t, x->node[i], &step, s->memory);
    if (during > s->peak)
        recheck_all(x); /* more fits now */
    s->peak = during > s->peak ? during : s->peak;
    compute(x, s, i, pbi_order_after(x->t, x->node[i], &step, s->memory), list);
    take_free_steps(x, s, list);
}

/* Adds the state whose set is in x->now unless it is known with no larger peak. False when there is no more room. */
static bool add_state(exact *x, const state *s)
{
    uint32_t at = table_place(x, x->now);
    if (x->table[at] != NONE && x->states[x->table[at]].peak <= s->peak)
        return true;
    if (x->state_count == x->max)
        return false;
    if (x->table[at] != NONE)
        /* the known state was not expanded yet: expanded states were reached with their least peak */
        x->states[x->table[at]].dead = true;
    memcpy(x->sets + (size_t)x->state_count * x->words, x->now, x->words * sizeof *x->now);
    x->states[x->state_count] = *s;
    x->table[at] = x->state_count;
    heap_push(x, x->state_count++);
    return true;
}

/* All successors of s. */
static bool expand(exact *x, uint32_t s, uint64_t below, uint64_t *work)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < x->count; i++)
        if (!has(set_of(x, s), i) && is_ready(x, set_of(x, s), i))
            x->open[open++] = i;
    *work += x->count / 64 + 8 * (uint64_t)open + 1;
    for (uint32_t n = 0; n < open; n++) {
        state next = x->states[s];
        next.parent = s;
        next.step = x->open[n];
        memcpy(x->now, set_of(x, s), x->words * sizeof *x->now);
        take_step(x, &next, x->open[n], NULL);
        if (next.peak < below && !add_state(x, &next))
            return false;
    }
    return true;
}

/* The initial state, after everything that costs nothing. */
static state start_state(exact *x, pb_node *list)
{
    uint64_t memory = x->t->start;
    uint64_t peak = memory > x->t->enough ? memory : x->t->enough;
    state s = {.peak = peak, .memory = memory, .parent = NONE};
    memset(x->now, 0, x->words * sizeof *x->now);
    recheck_all(x);
    take_free_steps(x, &s, list);
    return s;
}

/* Writes the nodes in the order that led to state `end`. */
static void write_order(exact *x, uint32_t end, pb_node *order)
{
    uint32_t length = 0;
    for (uint32_t s = end; s != NONE; s = x->states[s].parent)
        x->heap[length++] = s; /* the heap is not needed any more */
    start_state(x, order);
    for (uint32_t n = length - 1; n-- > 0;) {
        state s = x->states[x->heap[n + 1]];
        memcpy(x->now, set_of(x, x->heap[n + 1]), x->words * sizeof *x->now);
        take_step(x, &s, x->states[x->heap[n]].step, order);
    }
}

static pb_status search(exact *x, uint64_t below, pb_node *order, pbi_order_exact_answer *out)
{
    state start = start_state(x, NULL);
    pb_status status = PB_OK;
    bool room = true;
    uint64_t work = PERIOD;
    if (start.peak < below)
        add_state(x, &start);
    while (x->heap_count && room && status == PB_OK) {
        uint32_t s = heap_pop(x);
        if (x->states[s].dead)
            continue;
        if (x->states[s].count == x->count) {
            *out = (pbi_order_exact_answer){true, true, x->states[s].peak};
            write_order(x, s, order);
            return PB_OK;
        }
        room = expand(x, s, below, &work);
        if (work >= PERIOD) {
            status = pbi_tick(x->t->ctx, work);
            work = 0;
        }
    }
    out->proved = room && status == PB_OK;
    return status;
}

pb_status pbi_order_exact(const pbi_order_task *t, pb_node *order, const pbi_order_exact_limits *limits,
                          pbi_order_exact_answer *out)
{
    *out = (pbi_order_exact_answer){false, false, 0};
    exact x = {.t = t, .count = t->count, .words = t->count / 64 + 1};
    pb_arena_init(&x.arena, t->ctx);
    pb_status status = lay_out(&x, order) && make_room(&x, limits->states) ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        status = search(&x, limits->below, order, out);
    pb_arena_release(&x.arena);
    return status;
}
