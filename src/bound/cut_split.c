/* cut_split.c -- see cut_split.h. */
#include "bound/cut_split.h"

#include <string.h>

enum { STEPS = 40 };
#define NO_CASE UINT32_MAX
#define WHOLE 1e-3 /* values within this distance of 0 or 1 count as 0 or 1 */

typedef struct pbi_split {
    uint32_t parent;
    pb_node x, next_x; /* what this case decides, and what to branch on next */
    uint8_t k, how, next_k;
    int64_t value;
} pbi_split;

bool pbi_splitter_init(pbi_splitter *s, pbi_climb *climb, pb_arena *arena, uint32_t room)
{
    size_t n = climb->m->net[0].game->graph->node_count;
    *s = (pbi_splitter){.climb = climb, .room = room};
    s->list = pb_arena_alloc(arena, room, sizeof *s->list);
    s->heap = pb_arena_alloc(arena, room, sizeof *s->heap);
    bool ok = s->list && s->heap;
    for (uint32_t k = 0; k < PBI_MOMENTS && ok; k++) {
        s->settled[k] = pb_arena_zero(arena, n, 1);
        s->link[k] = pb_arena_zero(arena, n, sizeof *s->link[k]);
        ok = s->settled[k] && s->link[k];
    }
    return ok;
}

/* ---- open cases, the smallest bound on top; older ones first among equals ---- */

static bool before(const pbi_splitter *s, uint32_t i, uint32_t k)
{
    int64_t x = s->list[i].value, y = s->list[k].value;
    return x != y ? x < y : i < k;
}

static void push_case(pbi_splitter *s, const pbi_split *item)
{
    uint32_t at = s->open++, i = s->count++;
    s->list[i] = *item;
    while (at > 0 && before(s, i, s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = i;
}

static uint32_t pop(pbi_splitter *s)
{
    uint32_t top = s->heap[0], last = s->heap[--s->open], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->open)
            break;
        if (child + 1 < s->open && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (before(s, last, s->heap[child]))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

/* ---- cases ---- */

static void restore(pbi_splitter *s)
{
    pbi_moments *m = s->climb->m;
    for (uint32_t k = 0; k < m->count; k++) {
        memcpy(m->net[k].settled, s->settled[k], m->net[k].game->graph->node_count);
        m->free_size[k] = m->net[k].free_size;
    }
}

static bool apply_decision(pbi_moments *m, const pbi_split *c)
{
    uint64_t size = m->net[c->k].game->graph->size[c->x];
    m->net[c->k].settled[c->x] = c->how;
    if (c->how != PBI_CUT_HELD)
        return true;
    if (size > m->free_size[c->k])
        return false;
    m->free_size[c->k] -= size;
    return true;
}

/* Applies the decisions of a case, and marks values that are now too large as not resident. False: it does not fit. */
static bool enter(pbi_splitter *s, const pbi_split *c)
{
    pbi_moments *m = s->climb->m;
    const pb_graph *g = m->net[0].game->graph;
    restore(s);
    bool fits = apply_decision(m, c);
    for (uint32_t i = c->parent; i != NO_CASE && s->list[i].parent != NO_CASE && fits; i = s->list[i].parent)
        fits = apply_decision(m, &s->list[i]);
    for (uint32_t k = 0; k < m->count && fits; k++)
        for (pb_node v = 0; v < g->node_count; v++)
            if (m->net[k].settled[v] == PBI_CUT_OPEN && g->size[v] > m->free_size[k])
                m->net[k].settled[v] = PBI_CUT_GONE;
    return fits;
}

/* What to branch on next: the largest memory that is neither fully resident nor fully absent. */
static void choose(const pbi_splitter *s, pbi_split *c)
{
    const pbi_climb *climb = s->climb;
    const pb_graph *g = climb->m->net[0].game->graph;
    double most = 0;
    c->next_x = PB_NO_NODE;
    for (uint32_t k = 0; k < climb->m->count; k++)
        for (pb_node v = 0; v < g->node_count; v++) {
            double part = climb->mean[k][v];
            part = part < 0.5 ? part : 1 - part;
            double score = part * (double)g->size[v];
            if (part > WHOLE && score > most && climb->m->net[k].settled[v] == PBI_CUT_OPEN) {
                most = score;
                c->next_x = v;
                c->next_k = (uint8_t)k;
            }
        }
}

/* Bounds a case, at least by the bound of its parent, and keeps it open. */
static void open_case(pbi_splitter *s, pbi_split *c)
{
    pbi_climb *climb = s->climb;
    pbi_moments *m = climb->m;
    int64_t known = c->value;
    if (!enter(s, c))
        return;
    climb->best = INT64_MIN;
    for (uint32_t k = 0; k < m->count; k++) {
        climb->rate[k] = s->rate[k];
        memcpy(climb->link[k], s->link[k], m->linked_count[k] * sizeof *climb->link[k]);
    }
    pbi_climb_run(climb, STEPS);
    bool impossible = climb->impossible;
    climb->impossible = false;
    if (impossible)
        return;
    int64_t bound = pbi_cut_network_round(&m->net[0], climb->best);
    c->value = bound > known ? bound : known;
    choose(s, c);
    push_case(s, c);
}

/* The two cases of the top case's branching value. False: it has none. */
static bool split(pbi_splitter *s)
{
    uint32_t i = s->heap[0];
    pbi_split c = {.parent = i, .x = s->list[i].next_x, .k = s->list[i].next_k, .value = s->list[i].value};
    if (c.x == PB_NO_NODE)
        return false;
    pop(s);
    for (c.how = PBI_CUT_HELD; c.how <= PBI_CUT_GONE; c.how++) {
        pbi_split item = c;
        open_case(s, &item);
    }
    return true;
}

int64_t pbi_splitter_run(pbi_splitter *s)
{
    pbi_climb *climb = s->climb;
    pbi_moments *m = climb->m;
    pbi_split all = {.parent = NO_CASE, .x = PB_NO_NODE};
    s->count = s->open = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        s->rate[k] = climb->rate[k];
        memcpy(s->link[k], climb->link[k], m->linked_count[k] * sizeof *s->link[k]);
        memcpy(s->settled[k], m->net[k].settled, m->net[k].game->graph->node_count);
    }
    int64_t value = all.value = pbi_cut_network_round(&m->net[0], climb->best);
    choose(s, &all);
    push_case(s, &all);
    while (s->open && s->count + 2 < s->room && !m->stopped) {
        value = s->list[s->heap[0]].value;
        if (!split(s))
            break;
    }
    restore(s);
    return s->open || m->stopped ? value : PBI_FLOW_INF;
}
