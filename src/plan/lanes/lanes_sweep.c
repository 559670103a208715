/* lanes_sweep.c -- makes a plan fit in a few passes, by a fixed rule. See lanes.h.
 *
 * A pass visits the computations in order. Where memory is too small, the kept values that no input of this
 * computation needs leave memory until their next use, those with the highest score first. A recomputation reads
 * inputs, which then live longer, so another pass may be needed.
 */
#include "plan/lanes/lanes.h"

#include "base/arena.h"
#include "base/context.h"

#include <string.h>

enum { PASSES = 40 };

typedef struct sweep {
    const pbi_lanes *l;
    pbi_lanes_plan *p;
    pbi_lanes_relief relief;
    uint32_t *first, *next; /* by computation after which a gap begins, plus 1: its first use; by use: the next one */
    uint32_t *at;           /* by use: its computation */
    uint32_t *heap;         /* uses by score */
    double *score;
    uint64_t *back;   /* by computation: what comes back into memory there */
    uint8_t *again;   /* by use: the value is recomputed for it */
    uint32_t count;   /* of the heap */
    uint32_t changes; /* of this pass */
} sweep;

static bool get_memory(sweep *s, pb_arena *arena)
{
    size_t steps = (size_t)s->l->most + 2, uses = (size_t)s->l->most_uses + 1;
    s->first = pb_arena_alloc(arena, steps, sizeof *s->first);
    s->next = pb_arena_alloc(arena, uses, sizeof *s->next);
    s->at = pb_arena_alloc(arena, uses, sizeof *s->at);
    s->heap = pb_arena_alloc(arena, uses, sizeof *s->heap);
    s->score = pb_arena_alloc(arena, uses, sizeof *s->score);
    s->back = pb_arena_alloc(arena, steps, sizeof *s->back);
    s->again = pb_arena_alloc(arena, uses, 1);
    return s->first && s->next && s->at && s->heap && s->score && s->back && s->again;
}

static pb_node node_of(const sweep *s, uint32_t use)
{
    uint32_t i = s->at[use];
    return pbi_lanes_way(s->l, &s->p->step[i])->in[use - s->l->facts.use_start[i]];
}

/* The time of computing v again by its own inputs; UINT64_MAX: it cannot be. */
static uint64_t again_time(const pbi_lanes *l, pb_node v)
{
    pb_node maker = pb_graph_maker(l->g, v);
    bool can = pb_graph_is_computed(l->g, maker) && !(l->g->flags[maker] & PB_NODE_ONCE);
    return can ? l->way[maker].duration : UINT64_MAX;
}

static uint64_t copy_time(const pbi_lanes *l, pb_node v)
{
    return l->can_fetch ? (l->out_time[v] > l->in_time[v] ? l->out_time[v] : l->in_time[v]) : UINT64_MAX;
}

static double score_of(const sweep *s, uint32_t use, uint32_t from, uint32_t at)
{
    const pbi_lanes *l = s->l;
    pb_node v = node_of(s, use);
    double size = (double)l->g->size[v], length = from == PBI_AT_START ? at : at - from - 1;
    uint64_t copy = copy_time(l, v), again = again_time(l, v);
    switch (s->relief) {
    case PBI_RELIEF_LARGEST: return size;
    case PBI_RELIEF_FARTHEST: return (double)at;
    case PBI_RELIEF_CHEAPEST: return size / (1.0 + (double)(copy < again ? copy : again));
    default: return size * length;
    }
}

/* Lists the gaps by where they begin: kept values that may leave memory. */
static void list_gaps(sweep *s)
{
    const pbi_lanes_facts *f = &s->l->facts;
    memset(s->first, 0xff, ((size_t)s->p->count + 2) * sizeof *s->first);
    memset(s->back, 0, ((size_t)s->p->count + 1) * sizeof *s->back);
    memset(s->again, 0, f->use_start[s->p->count]);
    s->count = s->changes = 0;
    for (uint32_t i = 0; i < s->p->count; i++)
        for (uint32_t use = f->use_start[i], k = 0; use < f->use_start[i + 1]; use++, k++) {
            uint32_t from = f->from[use], begin = from == PBI_AT_START ? 0 : from + 1;
            s->at[use] = i;
            pb_node v = node_of(s, use);
            bool again = s->relief == PBI_RELIEF_CHEAPEST && again_time(s->l, v) != UINT64_MAX;
            if (k >= PBI_LANES_MAX_FETCH || pbi_lanes_fetches(&s->p->step[i], k) || begin >= i || !s->l->g->size[v] ||
                !(s->l->can_fetch || again))
                continue;
            s->score[use] = score_of(s, use, from, i);
            s->next[use] = s->first[begin];
            s->first[begin] = use;
        }
}

static void push(sweep *s, uint32_t use)
{
    uint32_t i = s->count++;
    for (; i && s->score[s->heap[(i - 1) / 2]] < s->score[use]; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = use;
}

static uint32_t pop(sweep *s)
{
    uint32_t first = s->heap[0], last = s->heap[--s->count], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < s->count; i = child) {
        child += child + 1 < s->count && s->score[s->heap[child + 1]] > s->score[s->heap[child]];
        if (s->score[s->heap[child]] <= s->score[last])
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return first;
}

/* The value is out of memory until this use. */
static void end_gap(sweep *s, uint32_t use, uint32_t now, uint64_t *gone)
{
    const pbi_lanes *l = s->l;
    pb_node v = node_of(s, use);
    uint32_t i = s->at[use], k = use - l->facts.use_start[i];
    if (i <= now)
        return;
    if (s->relief == PBI_RELIEF_CHEAPEST && again_time(l, v) < copy_time(l, v))
        s->again[use] = 1;
    else
        s->p->step[i].fetch |= UINT64_C(1) << k;
    *gone += l->g->size[v];
    s->back[i] += l->g->size[v];
    s->changes++;
}

static void pass(sweep *s)
{
    const pbi_lanes *l = s->l;
    uint64_t gone = 0;
    list_gaps(s);
    for (uint32_t i = 0; i < s->p->count; i++) {
        gone -= s->back[i];
        for (uint32_t use = s->first[i]; use != PBI_NEVER; use = s->next[use])
            push(s, use);
        while (s->count && l->facts.load[i] > gone && l->facts.load[i] - gone > l->cap)
            end_gap(s, pop(s), i, &gone);
    }
}

/* Inserts the recomputations that the pass has chosen. */
static bool insert_all(sweep *s)
{
    const pbi_lanes_facts *f = &s->l->facts;
    pbi_lanes_plan *p = s->p;
    uint32_t more = 0, old = p->count;
    for (uint32_t use = 0; use < f->use_start[old]; use++)
        more += s->again[use];
    if (more > s->l->most - old)
        return false;
    p->count += more;
    for (uint32_t i = old, to = p->count; i-- > 0 && more;) {
        const pbi_lane_way *w = pbi_lanes_way(s->l, &p->step[i]);
        p->step[--to] = p->step[i]; /* never in front of what is still to be moved */
        for (uint32_t use = f->use_start[i + 1]; use-- > f->use_start[i];) {
            if (!s->again[use])
                continue;
            pb_node maker = pb_graph_maker(s->l->g, w->in[use - f->use_start[i]]);
            p->step[--to] = (pbi_lane_step){maker, PBI_LANES_MAX_DISTANCE, 0};
            more--;
        }
    }
    return true;
}

bool pbi_lanes_sweep(const pbi_lanes *l, pbi_lanes_plan *p, pbi_lanes_relief relief, pb_arena *arena)
{
    sweep s = {.l = l, .p = p, .relief = relief};
    if (!get_memory(&s, arena))
        return false;
    for (uint32_t i = 0; i < PASSES && pbi_lanes_check(l, p); i++) {
        if (pbi_lanes_fits(l, p))
            return true;
        pass(&s);
        if (!s.changes || !insert_all(&s) || pbi_tick(l->ctx, 1 + p->count / 64) != PB_OK)
            return false;
    }
    return false;
}
