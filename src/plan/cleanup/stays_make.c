/* stays_make.c -- the stays of a plan from its moves, and moves from stays. See stays.h. */
#include "plan/cleanup/stays.h"

#include "base/arena.h"
#include "base/context.h"

#include <string.h>

typedef struct maker {
    pbi_stays *s;
    uint32_t *now[PBI_BORROWED];  /* per node: its stay, in fast or borrowed memory and in each tier */
    uint32_t *last[PBI_BORROWED]; /* the latest so far */
    uint32_t *computed;           /* per node: its last computation */
    uint64_t *height[PBI_PLACES];
    uint64_t used[PBI_PLACES];
} maker;

/* The row of `now` for a place. */
static unsigned row_of(uint8_t place) { return place == PBI_BORROWED ? PBI_FAST : place; }

static void begin_stay(maker *m, pb_node v, uint8_t place, uint32_t k)
{
    pbi_stays *s = m->s;
    unsigned row = row_of(place);
    uint32_t x = s->stay_count++, earlier = m->last[row][v];
    s->stay[x] = (pbi_stay){.node = v,
                            .from = k,
                            .to = PBI_NONE,
                            .first_read = PBI_NONE,
                            .last_read = PBI_NONE,
                            .earlier = earlier,
                            .later = PBI_NONE,
                            .joined = x,
                            .next_added = PBI_NONE,
                            .place = place};
    if (earlier != PBI_NONE)
        s->stay[earlier].later = x;
    m->now[row][v] = m->last[row][v] = x;
    m->used[place] += s->graph->size[v];
}

static void end(maker *m, pb_node v, unsigned row, uint32_t k)
{
    pbi_stays *s = m->s;
    pbi_stay *x = &s->stay[m->now[row][v]];
    x->to = k;
    s->removes[k] = m->now[row][v];
    m->now[row][v] = PBI_NONE;
    m->used[x->place] -= s->graph->size[v];
}

static void note_read(maker *m, pb_node v, unsigned row, uint32_t k)
{
    pbi_stays *s = m->s;
    uint32_t r = s->read_start[k + 1]++;
    pbi_stay *x = &s->stay[m->now[row][v]];
    s->read[r] = (pbi_read){m->now[row][v], x->last_read, k};
    if (x->first_read == PBI_NONE)
        x->first_read = r;
    x->last_read = r;
}

static void note_inputs(maker *m, uint32_t k)
{
    pb_way way = pbi_stays_way(m->s, k);
    for (uint32_t i = 0; i < way.in_count; i++)
        note_read(m, way.in[i], PBI_FAST, k);
}

/* Fast memory during it. */
static uint64_t play_compute(maker *m, uint32_t k, pb_node v)
{
    pbi_stays *s = m->s;
    uint32_t count;
    pb_node over = pb_moves_over(s->moves, k);
    const pb_node *also = pb_moves_also(s->moves, k, &count);
    note_inputs(m, k);
    if (s->moves->move[k].by)
        s->recovered[v] = 1;
    if (m->now[PBI_FAST][v] != PBI_NONE) { /* v is kept: it must remain resident, or the move would compute it */
        note_read(m, v, PBI_FAST, k);
    } else {
        begin_stay(m, v, s->moves->move[k].flags & PB_MOVE_BORROW ? PBI_BORROWED : PBI_FAST, k);
        s->makes[k] = 1;
        s->done[v]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        begin_stay(m, also[i], PBI_FAST, k);
        s->done[also[i]]++;
    }
    if (s->computed) {
        s->computed[k] = m->computed[v];
        m->computed[v] = k;
    }
    uint64_t during = m->used[PBI_FAST] + pbi_stays_way(s, k).workspace;
    if (over != PB_NO_NODE) {
        during -= pbi_stays_saved(s, k);
        end(m, over, PBI_FAST, k);
    }
    return during;
}

/* Fast memory during move k, and what it begins, ends and reads. */
static uint64_t play_move(maker *m, uint32_t k)
{
    pbi_stays *s = m->s;
    const pb_move *move = &s->moves->move[k];
    pb_node v = move->node;
    uint64_t before = m->used[PBI_FAST];
    switch ((pb_op)move->op) {
    case PB_COMPUTE: return play_compute(m, k, v);
    case PB_UNCOMPUTE:
        note_inputs(m, k);
        end(m, v, PBI_FAST, k);
        return before + s->graph->workspace[v];
    case PB_FREE: end(m, v, PBI_FAST, k); return before;
    case PB_STORE:
        note_read(m, v, PBI_FAST, k);
        begin_stay(m, v, move->tier, k);
        return before;
    case PB_LOAD:
        note_read(m, v, move->tier, k);
        begin_stay(m, v, PBI_FAST, k);
        return m->used[PBI_FAST];
    default: end(m, v, move->tier, k); return before;
    }
}

static pb_status play_all(pb_context *ctx, maker *m)
{
    pbi_stays *s = m->s;
    const pb_graph *g = s->graph;
    m->used[PBI_FAST] = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW;
        if ((g->flags[v] & PB_NODE_GIVEN) && (!slow || m->now[1]))
            begin_stay(m, v, slow ? 1 : PBI_FAST, PBI_NONE);
    }
    s->read_start[0] = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        uint64_t before[PBI_PLACES];
        if ((k & 0xffff) == 0 && pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
        memcpy(before, m->used, sizeof before);
        s->read_start[k + 1] = s->read_start[k];
        s->made[k] = s->stay_count;
        uint64_t during = play_move(m, k);
        for (unsigned place = PBI_FAST; place < PBI_PLACES; place++)
            if (m->height[place])
                m->height[place][k] = place == PBI_FAST                ? during
                                      : before[place] > m->used[place] ? before[place]
                                                                       : m->used[place];
    }
    s->made[s->count] = s->stay_count;
    return PB_OK;
}

/* Upper limits on the number of stays and reads. False if they exceed 32 bits. */
static bool count_all(const pbi_stays *s, size_t *stays, size_t *reads)
{
    const pb_graph *g = s->graph;
    *stays = g->node_count;
    *reads = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t also = 0;
        if (s->moves->move[k].op == PB_COMPUTE)
            pb_moves_also(s->moves, k, &also);
        *stays += 1 + (size_t)also;
        *reads += 1 + (size_t)pbi_stays_way(s, k).in_count;
    }
    return *stays < PBI_NONE && *reads < PBI_NONE;
}

static bool allocate_rows(maker *m, pb_arena *scratch, size_t stays, size_t reads)
{
    pbi_stays *s = m->s;
    size_t n = s->graph->node_count, count = s->count;
    s->stay = pb_arena_alloc(scratch, stays, sizeof *s->stay);
    s->queue = pb_arena_alloc(scratch, stays, sizeof *s->queue);
    s->read = pb_arena_alloc(scratch, reads, sizeof *s->read);
    s->read_start = pb_arena_alloc(scratch, count + 1, sizeof *s->read_start);
    s->made = pb_arena_alloc(scratch, count + 1, sizeof *s->made);
    s->makes = pb_arena_zero(scratch, count, sizeof *s->makes);
    s->removes = pb_arena_alloc(scratch, count, sizeof *s->removes);
    s->state = pb_arena_zero(scratch, count, sizeof *s->state);
    s->apart = pb_arena_zero(scratch, count, sizeof *s->apart);
    s->done = pb_arena_zero(scratch, n, sizeof *s->done);
    s->recovered = pb_arena_zero(scratch, n, sizeof *s->recovered);
    if (!s->stay || !s->queue || !s->read || !s->read_start || !s->made || !s->makes || !s->removes || !s->state ||
        !s->apart || !s->done || !s->recovered)
        return false;
    memset(s->removes, 0xff, count * sizeof *s->removes);
    if (!s->graph->owner)
        return true;
    s->computed = pb_arena_alloc(scratch, count, sizeof *s->computed);
    s->added = pb_arena_alloc(scratch, count, sizeof *s->added);
    m->computed = pb_arena_alloc(scratch, n, sizeof *m->computed);
    if (!s->computed || !s->added || !m->computed)
        return false;
    memset(s->added, 0xff, count * sizeof *s->added);
    memset(s->computed, 0xff, count * sizeof *s->computed);
    memset(m->computed, 0xff, n * sizeof *m->computed);
    return true;
}

/* Rows per node for the existing memories, and heights for those with a limit. */
static bool allocate_places(maker *m, pb_arena *scratch)
{
    pbi_stays *s = m->s;
    size_t n = s->graph->node_count;
    uint32_t tiers = s->game->kind == PB_GAME_TIERED ? s->game->tier_count : 0;
    for (unsigned place = PBI_FAST; place < PBI_PLACES; place++) {
        bool there = place == PBI_FAST || place <= tiers || (place == PBI_BORROWED && s->game->borrow);
        if (!there)
            continue;
        s->limit[place] = place == PBI_FAST       ? s->game->cap
                          : place == PBI_BORROWED ? s->game->borrow
                                                  : s->game->tiers[place - 1].cap;
        if (place == PBI_FAST || s->limit[place] != PB_UNLIMITED) {
            m->height[place] = pb_arena_alloc(scratch, s->count, sizeof **m->height);
            s->height[place] = pb_arena_alloc(scratch, 1, sizeof **s->height);
            if (!m->height[place] || !s->height[place])
                return false;
        }
        if (place == PBI_BORROWED)
            continue;
        m->now[place] = pb_arena_alloc(scratch, n, sizeof **m->now);
        m->last[place] = pb_arena_alloc(scratch, n, sizeof **m->last);
        if (!m->now[place] || !m->last[place])
            return false;
        memset(m->now[place], 0xff, n * sizeof **m->now);
        memset(m->last[place], 0xff, n * sizeof **m->last);
    }
    return true;
}

/* A sum tree (Fenwick's) over the costs of moves. */
static bool sum_time(pbi_stays *s, pb_arena *scratch)
{
    const pb_weights *w = &s->game->weights;
    if (!w->alpha && !w->beta)
        return true;
    s->time = pb_arena_zero(scratch, (size_t)s->count + 1, sizeof *s->time);
    for (uint32_t k = 0; s->time && k < s->count; k++)
        for (uint64_t i = (uint64_t)k + 1; i <= s->count; i += i & (~i + 1))
            s->time[i] += pbi_stays_cost(s, k);
    return s->time != NULL;
}

pb_status pbi_stays_make(pb_context *ctx, pbi_stays *s, const pb_game *game, const pb_moves *moves, pb_arena *scratch)
{
    size_t stays, reads;
    *s = (pbi_stays){.game = game, .graph = game->graph, .moves = moves, .count = (uint32_t)moves->count};
    maker m = {.s = s};
    if (moves->count >= PBI_NONE || !count_all(s, &stays, &reads))
        return PB_ERANGE;
    if (!allocate_rows(&m, scratch, stays, reads) || !allocate_places(&m, scratch))
        return PB_ENOMEM;
    pb_status status = play_all(ctx, &m);
    for (unsigned place = PBI_FAST; place < PBI_PLACES && status == PB_OK; place++)
        if (s->height[place] && !pbi_range_max_init(s->height[place], scratch, m.height[place], s->count))
            status = PB_ENOMEM;
    return status == PB_OK && !sum_time(s, scratch) ? PB_ENOMEM : status;
}

/* ---- moves from stays ---- */

/* By-products that move k makes now. */
static uint32_t gather_also(const pbi_stays *s, uint32_t k, pb_node *also)
{
    uint32_t count = 0;
    for (uint32_t x = s->made[k] + s->makes[k]; x < s->made[k + 1]; x++)
        if (!s->stay[x].gone && s->stay[x].from == k)
            also[count++] = s->stay[x].node;
    for (uint32_t x = s->added ? s->added[k] : PBI_NONE; x != PBI_NONE; x = s->stay[x].next_added)
        if (!s->stay[x].gone && s->stay[x].from == k)
            also[count++] = s->stay[x].node;
    return count;
}

static pb_status write_move(const pbi_stays *s, uint32_t k, pb_node *also, pb_moves *out)
{
    const pb_move *move = &s->moves->move[k];
    if (s->state[k] == PBI_MOVE_DROPPED)
        return PB_OK;
    if (s->state[k] == PBI_MOVE_FREES)
        return pb_moves_add(out, PB_FREE, s->stay[s->removes[k]].node, 0);
    if (move->op != PB_COMPUTE)
        return pb_moves_add(out, (pb_op)move->op, move->node, move->tier);
    if (move->flags & PB_MOVE_BORROW)
        return pb_moves_add_borrowed(out, move->node);
    if (move->by)
        return pb_moves_add_recipe(out, move->node, move->by, pbi_stays_over(s, k));
    return pb_moves_add_compute(out, move->node, pbi_stays_over(s, k), also, gather_also(s, k, also));
}

static pb_status write_early(const pbi_stays *s, const uint32_t *next, uint32_t x, pb_moves *out)
{
    pb_status status = PB_OK;
    for (; x != PBI_NONE && status == PB_OK; x = next[x]) {
        bool fast = s->stay[x].place == PBI_FAST;
        status = pb_moves_add(out, fast ? PB_FREE : PB_DROP, s->stay[x].node, fast ? 0 : s->stay[x].place);
    }
    return status;
}

pb_status pbi_stays_write(const pbi_stays *s, pb_arena *scratch, pb_moves *out)
{
    uint32_t *next = pb_arena_alloc(scratch, s->stay_count, sizeof *next);
    uint32_t *early = pb_arena_alloc(scratch, s->count, sizeof *early); /* per move: what is freed behind it */
    pb_node *also = pb_arena_alloc(scratch, s->graph->node_count, sizeof *also);
    pb_status status = next && early && also ? PB_OK : PB_ENOMEM;
    for (uint32_t k = 0; k < s->count && status == PB_OK; k++)
        early[k] = PBI_NONE;
    for (uint32_t x = s->stay_count; x-- > 0 && status == PB_OK;)
        if (!s->stay[x].gone && s->stay[x].early) {
            next[x] = early[s->stay[x].to];
            early[s->stay[x].to] = x;
        }
    for (uint32_t k = 0; k < s->count && status == PB_OK; k++) {
        status = write_move(s, k, also, out);
        if (status == PB_OK)
            status = write_early(s, next, early[k], out);
    }
    return status;
}
