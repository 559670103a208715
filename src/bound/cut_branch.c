/* cut_branch.c -- see cut_branch.h. */
#include "bound/cut_branch.h"

enum { MAX_OVER = 8 }; /* max in-place inputs with a case each */
enum { CASE_ALL, CASE_HELD, CASE_GONE, CASE_PLAIN, CASE_OVER };

typedef struct pbi_case {
    uint32_t parent;
    pb_node x;
    uint8_t how; /* CASE_* of x */
    int64_t value;
    pbi_rate rate;
} pbi_case;

#define NO_CASE UINT32_MAX

bool pbi_brancher_init(pbi_brancher *b, pbi_pricer *pricer, pb_arena *arena, uint32_t room)
{
    *b = (pbi_brancher){.pricer = pricer, .room = room};
    b->list = pb_arena_alloc(arena, room, sizeof *b->list);
    b->heap = pb_arena_alloc(arena, room, sizeof *b->heap);
    return b->list && b->heap;
}

/* ---- open cases, the smallest bound on top; older ones first among equals ---- */

static bool before(const pbi_brancher *b, uint32_t i, uint32_t k)
{
    int64_t x = b->list[i].value, y = b->list[k].value;
    return x != y ? x < y : i < k;
}

static void push_case(pbi_brancher *b, pbi_case item)
{
    uint32_t at = b->open++, i = b->count++;
    b->list[i] = item;
    while (at > 0 && before(b, i, b->heap[(at - 1) / 2])) {
        b->heap[at] = b->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    b->heap[at] = i;
}

static uint32_t pop(pbi_brancher *b)
{
    uint32_t top = b->heap[0], last = b->heap[--b->open], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= b->open)
            break;
        if (child + 1 < b->open && before(b, b->heap[child + 1], b->heap[child]))
            child++;
        if (before(b, last, b->heap[child]))
            break;
        b->heap[at] = b->heap[child];
        at = child;
    }
    b->heap[at] = last;
    return top;
}

/* ---- cases ---- */

static uint64_t saved_by(const pb_graph *g, pb_node z, pb_node u)
{
    return g->size[u] < g->size[z] ? g->size[u] : g->size[z];
}

static bool take(uint64_t *from, uint64_t size)
{
    bool fits = size <= *from;
    *from -= fits ? size : 0;
    return fits;
}

/* Applies the decisions of the case to the network, and subtracts them from the cap. False: it does not fit. */
static bool enter(pbi_brancher *b, uint32_t i, uint64_t *free_size)
{
    pbi_cut_network *net = b->pricer->net;
    const pb_graph *g = net->game->graph;
    bool fits = true;
    *free_size = net->free_size;
    for (; i != NO_CASE; i = b->list[i].parent) {
        const pbi_case *c = &b->list[i];
        switch (c->how) {
        case CASE_HELD:
            net->settled[c->x] = PBI_CUT_HELD;
            fits = take(free_size, g->size[c->x]) && fits;
            break;
        case CASE_GONE: net->settled[c->x] = PBI_CUT_GONE; break;
        case CASE_PLAIN: fits = take(free_size, net->saved) && fits; break;
        case CASE_OVER:
            net->settled[c->x] = PBI_CUT_GONE;
            fits = take(free_size, net->saved - saved_by(g, net->z, c->x)) && fits;
            break;
        default: break;
        }
    }
    return fits;
}

static void leave(pbi_brancher *b, uint32_t i)
{
    for (; i != NO_CASE; i = b->list[i].parent)
        if (b->list[i].how == CASE_HELD || b->list[i].how == CASE_GONE)
            b->pricer->net->settled[b->list[i].x] = PBI_CUT_OPEN;
        else if (b->list[i].how == CASE_OVER)
            b->pricer->net->settled[b->list[i].x] = PBI_CUT_HELD;
}

/* The largest value that one of the two labellings keeps and the other does not. */
static pb_node choose(const pbi_brancher *b, const pbi_priced *priced)
{
    const pbi_pricer *p = b->pricer;
    const pb_graph *g = p->net->game->graph;
    pb_node best = PB_NO_NODE;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool low = priced->has_low && p->low_kept[v], high = priced->has_high && p->high_kept[v];
        if (low && !high && (best == PB_NO_NODE || g->size[v] > g->size[best]))
            best = v;
    }
    return best;
}

/* The two cases of a value, or, first of all, the ways to place z. False if there is nothing to branch on. */
static bool split(pbi_brancher *b, uint32_t i, const pbi_priced *priced, int64_t value)
{
    const pbi_cut_network *net = b->pricer->net;
    const pb_graph *g = net->game->graph;
    pbi_case c = {.parent = i, .x = PB_NO_NODE, .value = value, .rate = priced->rate};
    if (i == 0 && net->saved && g->inplace_start[net->z + 1] - g->inplace_start[net->z] <= MAX_OVER) {
        c.how = CASE_PLAIN;
        push_case(b, c);
        c.how = CASE_OVER;
        for (uint32_t k = g->inplace_start[net->z]; k < g->inplace_start[net->z + 1]; k++) {
            c.x = g->inplace[k];
            push_case(b, c);
        }
        return true;
    }
    c.x = choose(b, priced);
    if (c.x == PB_NO_NODE)
        return false;
    for (c.how = CASE_HELD; c.how <= CASE_GONE; c.how++)
        push_case(b, c);
    return true;
}

int64_t pbi_brancher_run(pbi_brancher *b, pb_node z, int64_t value, pbi_rate rate, int64_t least)
{
    pbi_pricer *p = b->pricer;
    int64_t lower = value, best = PBI_FLOW_INF; /* best: of a labelling that fits */
    b->count = b->open = 0;
    pbi_cut_network_at(p->net, z);
    push_case(b, (pbi_case){.parent = NO_CASE, .x = PB_NO_NODE, .how = CASE_ALL, .value = value, .rate = rate});
    while (b->open && b->count + MAX_OVER + 2 < b->room && !p->stopped) {
        uint32_t i = b->heap[0];
        uint64_t free_size;
        pbi_priced priced = {.impossible = true};
        lower = b->list[i].value;
        if (lower >= best || best <= least)
            break;
        if (enter(b, i, &free_size))
            pbi_pricer_run(p, free_size, b->list[i].rate, INT64_MIN, &priced);
        leave(b, i);
        if (p->stopped)
            break;
        pop(b);
        if (priced.impossible)
            continue;
        bool whole = i || !p->net->saved; /* the first case assumes that z is in place at no cost */
        if (whole && priced.has_high && priced.high.work < best)
            best = priced.high.work;
        int64_t bound = pbi_cut_network_round(p->net, priced.value);
        bound = bound > lower ? bound : lower;
        if (bound < best && !split(b, i, &priced, bound))
            best = bound;
    }
    if (!b->open)
        return best;
    lower = b->list[b->heap[0]].value > lower ? b->list[b->heap[0]].value : lower;
    return lower < best ? lower : best;
}
