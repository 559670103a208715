/* search.c -- the least work of a small reversible game, by A*.
 *
 * In plain games every move can be undone at the same price, so the search may go from the end to the start: there
 * the targets restrict the moves, and far fewer states can be reached than from the start. The states that lead to
 * the empty one are the plan, already in order. Other games are searched from the start. The bound need not be
 * consistent: a state that is reached by a cheaper path is expanded again. Searching from both ends was tried: with
 * this bound it expands two to eight times as many states.
 */
#include "plan/reversible/exact/exact.h"

#include "base/checked.h"
#include "base/context.h"
#include "plan/reversible/exact/table.h"
#include "plan/statespace/set.h"

typedef struct search {
    pb_context *ctx;
    const pbi_rev_sets *m;
    pbi_rev_symmetry sym;
    pbi_rev_table table;
    pbi_rev_aim aim;
    uint64_t best, bound, limit;
    uint32_t goal; /* the last state of the best path */
    bool own, overflow;
    pbi_rev_move *moves;
    uint64_t ticks; /* not counted yet */
    uint32_t warm;
    pb_status status;
} search;

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

/* A path to a state. False when memory is exhausted. */
static bool add_path(search *s, uint64_t set, uint64_t done, uint32_t parent)
{
    pbi_rev_table *t = &s->table;
    uint32_t at = pbi_rev_table_find(t, set);
    s->ticks++;
    if (at != PBI_REV_NO_STATE && t->state[at].done <= done)
        return true;
    uint64_t rest = pbi_rev_rest(&s->aim, set), whole = pbi_add_saturated(done, rest);
    if (rest == PBI_REV_NEVER)
        return true;
    if (whole >= PBI_REV_TOO_MUCH) {
        s->overflow = true;
        return true;
    }
    if (pbi_rev_round_up(s->m, whole) >= s->best)
        return true;
    if (!pbi_rev_table_find_or_add(t, set, &at))
        return false;
    t->state[at].done = done;
    t->state[at].parent = parent;
    t->state[at].closed = 0;
    if ((set & s->m->values) == s->aim.end) {
        s->best = done;
        s->goal = at;
        s->own = true;
    }
    return pbi_rev_table_push(t, at, whole);
}

static bool expand(search *s, uint32_t at)
{
    pbi_rev_state now = s->table.state[at];
    unsigned count = pbi_rev_moves(s->m, now.set, s->moves);
    if (count > PBI_REV_MOVES) {
        s->status = pbi_fail(s->ctx, PB_ELIMIT, "limit hit: a state with more than %d moves; use another strategy",
                             PBI_REV_MOVES);
        return true;
    }
    for (unsigned i = 0; i < count; i++)
        s->moves[i].next = pbi_rev_canon(&s->sym, s->moves[i].next, NULL);
    s->warm += pbi_rev_table_prefetch(&s->table, s->moves, count);
    for (unsigned i = 0; i < count; i++)
        if (!add_path(s, s->moves[i].next, pbi_add_saturated(now.done, s->moves[i].cost), at))
            return false;
    return true;
}

/* The initial state of the search. */
static uint64_t root(const pbi_rev_sets *m)
{
    uint64_t state = m->plain ? m->end : 0;
    for (uint64_t left = state & m->once; left; left &= left - 1)
        state |= bit(m->used[pbi_lowest(left)]);
    return state;
}

/* PB_ENOMEM, or PB_OK with the end of the search. */
static pb_status run_search(search *s, pbi_rev_end *end)
{
    *end = PBI_REV_STOPPED;
    if (!add_path(s, pbi_rev_canon(&s->sym, root(s->m), NULL), 0, PBI_REV_NO_STATE))
        return PB_ENOMEM;
    for (;;) {
        uint64_t key = 0;
        uint32_t at = pbi_rev_table_next(&s->table, &key);
        if (at == PBI_REV_NO_STATE) {
            *end = s->best == PBI_REV_NEVER ? PBI_REV_INFEASIBLE : PBI_REV_PROVED;
            return PB_OK;
        }
        key = pbi_rev_round_up(s->m, key);
        s->bound = key > s->bound ? key : s->bound;
        if (s->best <= s->bound) {
            *end = PBI_REV_PROVED;
            return PB_OK;
        }
        pbi_rev_table_close(&s->table);
        if (!expand(s, at))
            return PB_ENOMEM;
        if (s->ticks >= 256 && s->status == PB_OK) {
            s->status = pbi_tick(s->ctx, s->ticks);
            s->ticks = 0;
        }
        if (s->status != PB_OK || pbi_rev_table_bytes(&s->table) > s->limit)
            return PB_OK;
    }
}

/* ---- the plan ---- */

/* The move from a state of the search to the next one, before that became an image. */
static uint64_t find_move(const search *s, uint64_t state, uint64_t next)
{
    unsigned count = pbi_rev_moves(s->m, state, s->moves);
    for (unsigned i = 0; i < count; i++)
        if (pbi_rev_canon(&s->sym, s->moves[i].next, NULL) == next)
            return s->moves[i].next;
    return state;
}

static uint64_t replace(uint64_t set, const uint8_t *place)
{
    uint64_t out = 0;
    for (; set; set &= set - 1)
        out |= bit(place[pbi_lowest(set)]);
    return out;
}

/* Writes the move that leads from one set to the other. */
static pb_status write_move(const pbi_rev_sets *m, uint64_t from, uint64_t to, pb_moves *moves)
{
    pb_node also[PBI_REV_BITS];
    uint32_t count = 0;
    uint64_t made = to & ~from & m->values, gone = from & ~to & m->values;
    if (!made)
        return pb_moves_add(moves, PB_UNCOMPUTE, m->node[pbi_lowest(gone)], 0);
    unsigned v = pbi_lowest(made & ~m->byproducts ? made & ~m->byproducts : made);
    v = m->byproducts & bit(v) ? m->owner[v] : v;
    for (uint64_t left = made & m->byproducts; left; left &= left - 1)
        also[count++] = m->node[pbi_lowest(left)];
    return pb_moves_add_compute(moves, m->node[v], gone ? m->node[pbi_lowest(gone)] : PB_NO_NODE, also, count);
}

/* Fills the states of the best path in the order of the search; NULL when memory is exhausted. */
static uint64_t *search_path(const search *s, pb_arena *scratch, uint32_t *count)
{
    uint32_t length = 0;
    for (uint32_t i = s->goal; i != PBI_REV_NO_STATE; i = s->table.state[i].parent)
        length++;
    uint64_t *path = pb_arena_alloc(scratch, length, sizeof *path);
    uint32_t k = length;
    for (uint32_t i = s->goal; path && i != PBI_REV_NO_STATE; i = s->table.state[i].parent)
        path[--k] = s->table.state[i].set;
    *count = length;
    return path;
}

/* Undoes the images: each state becomes one of the original game. `place` is where each bit of the current state is
 * in it. States are visited in the order of the search, since the image need not be unique. */
static void undo_images(const search *s, uint64_t *path, uint32_t count)
{
    uint8_t place[PBI_REV_BITS];
    uint64_t from = path[0];
    for (unsigned b = 0; b < PBI_REV_BITS; b++)
        place[b] = (uint8_t)b;
    path[0] = root(s->m);
    pbi_rev_canon(&s->sym, path[0], place);
    for (uint32_t k = 1; k < count; k++) {
        uint64_t to = path[k], next = find_move(s, from, to);
        path[k] = replace(next, place);
        pbi_rev_canon(&s->sym, next, place);
        from = to;
    }
}

static pb_status write_plan(const search *s, pb_arena *scratch, pb_moves *moves)
{
    uint32_t count;
    uint64_t *path = search_path(s, scratch, &count);
    if (!path)
        return PB_ENOMEM;
    undo_images(s, path, count);
    pb_status status = PB_OK;
    for (uint32_t k = 1; k < count && status == PB_OK; k++)
        status = s->m->plain ? write_move(s->m, path[count - k], path[count - k - 1], moves)
                             : write_move(s->m, path[k - 1], path[k], moves);
    return status;
}

pb_status pbi_rev_solve(pb_context *ctx, const pbi_rev_sets *m, const pbi_search_limits *limits, pb_moves *moves,
                        pbi_rev_answer *out)
{
    pb_arena scratch;
    search s = {.ctx = ctx, .m = m, .best = limits->known, .bound = limits->bound, .limit = limits->bytes};
    pb_arena_init(&scratch, ctx);
    pbi_rev_symmetry_init(&s.sym, m);
    pbi_rev_aim_init(&s.aim, m, m->plain ? 0 : m->end);
    s.moves = pb_arena_alloc(&scratch, PBI_REV_MOVES, sizeof *s.moves);
    pbi_rev_answer a = {.end = PBI_REV_STOPPED};
    pb_status status = s.moves && pbi_rev_table_init(&s.table, &scratch) ? run_search(&s, &a.end) : PB_ENOMEM;
    if (status == PB_OK && s.own)
        status = write_plan(&s, &scratch, moves);
    a.status = s.status;
    a.own = s.own;
    a.overflow = s.overflow;
    a.work = s.best;
    a.bound = a.end == PBI_REV_PROVED ? s.best : s.bound;
    a.states = s.table.count;
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = a;
    return status;
}
