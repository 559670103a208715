/* stays.c -- joins, shortens and removes the stays of a plan. See stays.h.
 *
 * A removed move reads nothing. A stay that has lost its last read now ends behind the read before, if it was freed
 * and not uncomputed; a stay that nothing reads is removed, and then the inputs of its computation lose a read in
 * turn.
 */
#include "plan/cleanup/stays.h"

#include "base/checked.h"
#include "game/price.h"

/* ---- heights and costs ---- */

bool pbi_stays_fit(const pbi_stays *s, uint8_t place, uint32_t from, uint32_t to, uint64_t size)
{
    const pbi_range_max *height = s->height[place];
    if (!height || from > to || to == PBI_NONE)
        return true;
    uint64_t max = pbi_range_max_find(height, from, to);
    return max <= s->limit[place] && size <= s->limit[place] - max;
}

void pbi_stays_raise(pbi_stays *s, uint8_t place, uint32_t from, uint32_t to, uint64_t size)
{
    if (s->height[place] && to != PBI_NONE)
        pbi_range_max_add(s->height[place], from, to, size);
}

static uint64_t time_before(const pbi_stays *s, uint32_t k)
{
    uint64_t sum = 0;
    for (uint64_t i = k; i; i &= i - 1)
        sum += s->time[i];
    return sum;
}

uint64_t pbi_stays_time(const pbi_stays *s, uint32_t from, uint32_t to)
{
    return from <= to && to != PBI_NONE ? time_before(s, to + 1) - time_before(s, from) : 0;
}

uint64_t pbi_stays_cost(const pbi_stays *s, uint32_t k)
{
    const pb_move *move = &s->moves->move[k];
    const pb_tier *tier = &s->game->tiers[move->tier ? move->tier - 1 : 0];
    uint64_t size = s->graph->size[move->node];
    switch ((pb_op)move->op) {
    case PB_COMPUTE: return pbi_stays_way(s, k).cost;
    case PB_UNCOMPUTE: return s->graph->cost[move->node];
    case PB_STORE: return pbi_store_price(tier, size);
    case PB_LOAD: return pbi_load_price(tier, size);
    default: return 0;
    }
}

/* A by-product is uncomputed with the inputs of its node. */
pb_way pbi_stays_way(const pbi_stays *s, uint32_t k)
{
    const pb_move *move = &s->moves->move[k];
    return pb_graph_way(s->graph, move->by ? move->node : pb_graph_maker(s->graph, move->node), move->by);
}

pb_node pbi_stays_over(const pbi_stays *s, uint32_t k) { return s->apart[k] ? PB_NO_NODE : pb_moves_over(s->moves, k); }

uint64_t pbi_stays_saved(const pbi_stays *s, uint32_t k)
{
    pb_node over = pbi_stays_over(s, k);
    uint64_t made = s->graph->size[s->moves->move[k].node], taken = over == PB_NO_NODE ? 0 : s->graph->size[over];
    return made < taken ? made : taken;
}

uint32_t pbi_stays_computed(pbi_stays *s, uint32_t k)
{
    uint32_t c = s->computed ? s->computed[k] : PBI_NONE;
    while (c != PBI_NONE &&
           (s->state[c] != PBI_MOVE_THERE || s->moves->move[c].by || s->moves->move[c].flags & PB_MOVE_BORROW))
        c = s->computed[c];
    if (s->computed)
        s->computed[k] = c;
    return c;
}

/* ---- moves that go ---- */

static uint32_t joined(pbi_stays *s, uint32_t x)
{
    while (s->stay[x].joined != x) {
        s->stay[x].joined = s->stay[s->stay[x].joined].joined;
        x = s->stay[x].joined;
    }
    return x;
}

static void queue_stay(pbi_stays *s, uint32_t x)
{
    if (s->stay[x].queued || s->stay[x].gone)
        return;
    s->stay[x].queued = true;
    s->queue[s->queue_count++] = x;
}

static void release_reads(pbi_stays *s, uint32_t k)
{
    s->work += s->read_start[k + 1] - s->read_start[k];
    for (uint32_t r = s->read_start[k]; r < s->read_start[k + 1]; r++)
        queue_stay(s, joined(s, s->read[r].stay));
    for (uint64_t i = (uint64_t)k + 1; s->time && i <= s->count; i += i & (~i + 1))
        s->time[i] -= pbi_stays_cost(s, k);
}

static void drop_move(pbi_stays *s, uint32_t k)
{
    if (s->state[k] == PBI_MOVE_THERE)
        release_reads(s, k);
    s->state[k] = PBI_MOVE_DROPPED;
    pbi_range_max_take_out(s->height[PBI_FAST], k);
}

void pbi_stays_drop_make(pbi_stays *s, uint32_t k)
{
    if (s->moves->move[k].op != PB_COMPUTE || pbi_stays_over(s, k) == PB_NO_NODE) {
        drop_move(s, k);
        return;
    }
    uint64_t less = pbi_stays_way(s, k).workspace - pbi_stays_saved(s, k); /* may wrap around, and back */
    s->state[k] = PBI_MOVE_FREES;
    release_reads(s, k);
    pbi_stays_raise(s, PBI_FAST, k, k, ~less + 1);
}

/* The move that ended stay x no longer does. */
static void drop_removal(pbi_stays *s, const pbi_stay *x)
{
    uint32_t k = x->to;
    if (k == PBI_NONE || x->early)
        return;
    s->removes[k] = PBI_NONE;
    if (s->state[k] != PBI_MOVE_THERE || s->moves->move[k].op != PB_COMPUTE) {
        drop_move(s, k);
        return;
    }
    s->apart[k] = 1;
    queue_stay(s, s->made[k]); /* if nothing reads its result, it may be removed now: nothing has to be freed instead */
}

/* ---- stays ---- */

static void unlink_stay(pbi_stays *s, const pbi_stay *x)
{
    if (x->earlier != PBI_NONE)
        s->stay[x->earlier].later = x->later;
    if (x->later != PBI_NONE)
        s->stay[x->later].earlier = x->earlier;
}

void pbi_stays_join(pbi_stays *s, uint32_t earlier, uint32_t later)
{
    pbi_stay *a = &s->stay[earlier], *b = &s->stay[later];
    drop_removal(s, a);
    a->to = b->to;
    a->early = b->early;
    if (b->to != PBI_NONE && !b->early)
        s->removes[b->to] = earlier;
    if (b->last_read != PBI_NONE) {
        s->read[b->first_read].before = a->last_read;
        a->first_read = a->last_read == PBI_NONE ? b->first_read : a->first_read;
        a->last_read = b->last_read;
    }
    unlink_stay(s, b);
    b->joined = earlier;
    b->gone = true;
    if (s->moves->move[b->from].op == PB_COMPUTE)
        s->done[b->node]--;
}

void pbi_stays_add(pbi_stays *s, uint32_t x, uint32_t k)
{
    s->stay[x].from = k;
    s->stay[x].next_added = s->added[k];
    s->added[k] = x;
}

/* Stays that computation k begins, except x. */
static bool makes_others(const pbi_stays *s, uint32_t k, uint32_t x)
{
    for (uint32_t y = s->made[k]; y < s->made[k + 1]; y++)
        if (y != x && !s->stay[y].gone && s->stay[y].from == k)
            return true;
    for (uint32_t y = s->added ? s->added[k] : PBI_NONE; y != PBI_NONE; y = s->stay[y].next_added)
        if (y != x && !s->stay[y].gone && s->stay[y].from == k)
            return true;
    return false;
}

/* Can the plan do without stay x, which nothing reads? */
static bool is_idle(const pbi_stays *s, uint32_t index)
{
    const pbi_stay *x = &s->stay[index];
    const pb_graph *g = s->graph;
    bool reversible = s->game->kind == PB_GAME_REVERSIBLE, kept = g->flags[x->node] & PB_NODE_KEEP;
    if (x->from == PBI_NONE || (x->to == PBI_NONE && (reversible || (kept && x->place == PBI_FAST))))
        return false;
    const pb_move *move = &s->moves->move[x->from];
    if (move->op != PB_COMPUTE)
        return true;
    if ((g->flags[x->node] & PB_NODE_TARGET) && s->done[x->node] < 2)
        return false;
    if (s->recovered[x->node] && !move->by && s->done[x->node] > 1) /* a recipe needs a computation before it */
        return false;
    if (move->node != x->node)
        return true;
    return !makes_others(s, x->from, index) && !(reversible && pbi_stays_over(s, x->from) != PB_NO_NODE);
}

bool pbi_stays_remove(pbi_stays *s, uint32_t index)
{
    pbi_stay *x = &s->stay[index];
    uint32_t k = x->from;
    if (!is_idle(s, index))
        return false;
    bool computed = s->moves->move[k].op == PB_COMPUTE;
    drop_removal(s, x);
    pbi_stays_raise(s, x->place, k, x->to == PBI_NONE ? s->count - 1 : x->to, ~s->graph->size[x->node] + 1);
    unlink_stay(s, x);
    x->gone = true;
    if (computed)
        s->done[x->node]--;
    if (!computed || !makes_others(s, k, index))
        pbi_stays_drop_make(s, k);
    else
        queue_stay(s, s->made[k]); /* its node may be in memory for the by-product alone */
    return true;
}

/* Ends the stay behind its last read, if it is freed later. */
static void shorten(pbi_stays *s, pbi_stay *x)
{
    uint32_t last = x->last_read == PBI_NONE ? x->from : s->read[x->last_read].at;
    if (x->to == PBI_NONE || last == PBI_NONE || x->place == PBI_BORROWED || s->game->kind == PB_GAME_REVERSIBLE)
        return;
    if (x->from != PBI_NONE && last < x->from)
        last = x->from;
    bool moved = s->state[x->to] == PBI_MOVE_THERE && s->moves->move[x->to].op == PB_COMPUTE;
    if (last >= x->to || (!x->early && (moved || last + 1 == x->to)))
        return;
    pbi_stays_raise(s, x->place, last + 1, x->to, ~s->graph->size[x->node] + 1);
    drop_removal(s, x);
    x->to = last;
    x->early = true;
}

void pbi_stays_shorten_all(pbi_stays *s)
{
    while (s->queue_count) {
        uint32_t index = s->queue[--s->queue_count];
        pbi_stay *x = &s->stay[index];
        x->queued = false;
        s->work++;
        if (x->gone)
            continue;
        while (x->last_read != PBI_NONE && s->state[s->read[x->last_read].at] != PBI_MOVE_THERE)
            x->last_read = s->read[x->last_read].before;
        if (x->last_read == PBI_NONE)
            x->first_read = PBI_NONE;
        if (x->last_read != PBI_NONE || !pbi_stays_remove(s, index))
            shorten(s, x);
    }
}
