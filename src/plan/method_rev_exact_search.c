/* method_rev_exact_search.c -- the least work of a small reversible game.
 *
 * Plain games are searched from both ends, since every move can be taken back: a state is looked at in the order of the
 * larger of (work so far + bound on the rest) and (twice the work so far), so that no side goes much beyond the middle
 * (MM: Holte, Felner, Sharon, Sturtevant 2016). The ways meet where a state is known to both. The least key of both sides
 * bounds every plan that was not met yet. Other games are searched from the start alone, as A* does.
 * The bound need not be consistent: a state that is met again by a cheaper way is looked at again.
 */
#include "plan/method_rev_exact.h"

#include "base/checked.h"
#include "base/context.h"
#include "plan/method_live_set.h"
#include "plan/method_rev_exact_table.h"

typedef struct side {
    pbi_rev_table table;
    pbi_rev_aim aim; /* at the other end */
} side;

typedef struct search {
    pb_context *ctx;
    const pbi_rev_model *m;
    pbi_rev_symmetry sym;
    side side[2]; /* from the start, from the end */
    unsigned sides;
    uint64_t best, bound, limit;
    uint64_t meeting; /* the state where the best plan's halves meet */
    bool own, overflow;
    pbi_rev_move *moves;
    uint64_t ticks; /* not counted yet */
    pb_status status;
} search;

static uint64_t bit(unsigned i) { return UINT64_C(1) << i; }

static void meet(search *s, unsigned from, uint64_t set, uint64_t done)
{
    uint64_t rest = 0, whole;
    if (s->sides == 2) {
        const pbi_rev_table *other = &s->side[1 - from].table;
        uint32_t at = pbi_rev_table_find(other, set);
        if (at == PBI_REV_NO_STATE)
            return;
        rest = other->state[at].done;
    } else if ((set & s->m->values) != s->m->end) {
        return;
    }
    if (!pbi_add(done, rest, &whole) || whole == UINT64_MAX) {
        s->overflow = true;
    } else if (whole < s->best) {
        s->best = whole;
        s->own = true;
        s->meeting = set;
    }
}

/* A way to a state. False when memory is exhausted. */
static bool offer(search *s, unsigned from, uint64_t set, uint64_t done, uint32_t parent)
{
    side *d = &s->side[from];
    uint32_t at;
    s->ticks++;
    if (done == UINT64_MAX) {
        s->overflow = true;
        return true;
    }
    set = pbi_rev_canon(&s->sym, set, NULL);
    at = pbi_rev_table_find(&d->table, set);
    if (at != PBI_REV_NO_STATE && d->table.state[at].done <= done)
        return true;
    uint64_t rest = pbi_rev_rest(&d->aim, set), whole = pbi_add_saturated(done, rest);
    if (rest == PBI_REV_NEVER)
        return true;
    if (whole == UINT64_MAX) {
        s->overflow = true;
        return true;
    }
    if (pbi_rev_round_up(s->m, whole) >= s->best)
        return true;
    if (!pbi_rev_table_put(&d->table, set, &at))
        return false;
    pbi_rev_state *state = &d->table.state[at];
    state->done = done;
    state->parent = parent;
    state->closed = 0;
    meet(s, from, set, done);
    uint64_t twice = s->sides == 2 ? pbi_add_saturated(pbi_add_saturated(done, done), s->m->least) : 0;
    return pbi_rev_table_push(&d->table, at, whole > twice ? whole : twice);
}

static bool expand(search *s, unsigned from, uint32_t at)
{
    pbi_rev_state now = s->side[from].table.state[at];
    unsigned count = pbi_rev_moves(s->m, now.set, s->moves);
    if (count > PBI_REV_MOVES) {
        s->status = pbi_fail(s->ctx, PB_ELIMIT, "limit hit: a state with more than %d moves", PBI_REV_MOVES);
        return true;
    }
    for (unsigned i = 0; i < count; i++)
        if (!offer(s, from, s->moves[i].next, pbi_add_saturated(now.done, s->moves[i].cost), at))
            return false;
    return true;
}

/* The side to go on with, by the least key and then by the fewest states; 2: nothing is left to be looked at. */
static unsigned choose_side(search *s, uint32_t *at, uint64_t *key)
{
    unsigned best = 2;
    for (unsigned i = 0; i < s->sides; i++) {
        uint64_t own;
        uint32_t next = pbi_rev_table_next(&s->side[i].table, &own);
        if (next == PBI_REV_NO_STATE)
            return 2; /* all that this side reaches below the best was looked at */
        if (best == 2 || own < *key || (own == *key && s->side[i].table.heap_count < s->side[best].table.heap_count)) {
            best = i;
            *at = next;
            *key = own;
        }
    }
    return best;
}

static uint64_t bytes_of(const search *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < s->sides; i++)
        sum += pbi_rev_table_bytes(&s->side[i].table);
    return sum;
}

/* PB_ENOMEM, or PB_OK with the end of the search. */
static pb_status run(search *s, pbi_rev_end *end)
{
    *end = PBI_REV_STOPPED;
    if (!offer(s, 0, 0, 0, PBI_REV_NO_STATE) || (s->sides == 2 && !offer(s, 1, s->m->end, 0, PBI_REV_NO_STATE)))
        return PB_ENOMEM;
    for (;;) {
        uint32_t at = 0;
        uint64_t key = 0;
        unsigned from = choose_side(s, &at, &key);
        if (from == 2) {
            *end = s->best == PBI_REV_NEVER ? PBI_REV_INFEASIBLE : PBI_REV_PROVED;
            return PB_OK;
        }
        key = pbi_rev_round_up(s->m, key);
        s->bound = key > s->bound ? key : s->bound;
        if (s->best <= s->bound) {
            *end = PBI_REV_PROVED;
            return PB_OK;
        }
        pbi_rev_table_close(&s->side[from].table);
        if (!expand(s, from, at))
            return PB_ENOMEM;
        if (s->ticks >= 256 && s->status == PB_OK) {
            s->status = pbi_tick(s->ctx, s->ticks);
            s->ticks = 0;
        }
        if (s->status != PB_OK || bytes_of(s) > s->limit)
            return PB_OK;
    }
}

/* ---- the plan ---- */

/* The move from `state` to the state `next`, which may be an image of it. */
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
static pb_status write_move(const pbi_rev_model *m, uint64_t from, uint64_t to, pb_moves *moves)
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

/* Follows the states of the best plan, from the start to the meeting and on to the end; `place` undoes the images. */
static pb_status write_plan(const search *s, pb_arena *scratch, pb_moves *moves)
{
    const pbi_rev_table *first = &s->side[0].table, *last = &s->side[1].table;
    uint32_t at = pbi_rev_table_find(first, s->meeting), count = 0;
    uint8_t place[PBI_REV_BITS];
    for (uint32_t i = at; i != PBI_REV_NO_STATE; i = first->state[i].parent)
        count++;
    uint32_t *path = pb_arena_alloc(scratch, count, sizeof *path);
    if (!path)
        return PB_ENOMEM;
    for (uint32_t i = at, k = count; k > 0; i = first->state[i].parent)
        path[--k] = i;
    for (unsigned b = 0; b < PBI_REV_BITS; b++)
        place[b] = (uint8_t)b;
    uint32_t back = s->sides == 2 ? pbi_rev_table_find(last, s->meeting) : PBI_REV_NO_STATE, k = 1;
    uint64_t now = 0;
    pb_status status = PB_OK;
    while (status == PB_OK) {
        uint64_t aim;
        if (k < count)
            aim = first->state[path[k++]].set;
        else if (back != PBI_REV_NO_STATE && (back = last->state[back].parent) != PBI_REV_NO_STATE)
            aim = last->state[back].set;
        else
            break;
        uint64_t next = find_move(s, now, aim);
        status = write_move(s->m, replace(now, place), replace(next, place), moves);
        now = pbi_rev_canon(&s->sym, next, place);
    }
    return status;
}

pb_status pbi_rev_solve(pb_context *ctx, const pbi_rev_model *m, uint64_t known, uint64_t bound, uint64_t limit,
                        pb_moves *moves, pbi_rev_answer *out)
{
    pb_arena scratch;
    search s = {.ctx = ctx, .m = m, .best = known, .bound = bound, .limit = limit};
    s.sides = m->plain && !m->once ? 2 : 1;
    pb_arena_init(&scratch, ctx);
    pbi_rev_symmetry_init(&s.sym, m);
    pbi_rev_aim_init(&s.side[0].aim, m, m->end);
    pbi_rev_aim_init(&s.side[1].aim, m, 0);
    s.moves = pb_arena_alloc(&scratch, PBI_REV_MOVES, sizeof *s.moves);
    bool ready =
        s.moves && pbi_rev_table_init(&s.side[0].table, &scratch) && pbi_rev_table_init(&s.side[1].table, &scratch);
    pbi_rev_answer a = {.end = PBI_REV_STOPPED};
    pb_status status = ready ? run(&s, &a.end) : PB_ENOMEM;
    if (status == PB_OK && s.own)
        status = write_plan(&s, &scratch, moves);
    a.status = s.status;
    a.own = s.own;
    a.overflow = s.overflow;
    a.work = s.best;
    a.bound = a.end == PBI_REV_PROVED ? s.best : s.bound;
    a.states = (uint64_t)s.side[0].table.count + s.side[1].table.count;
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = a;
    return status;
}
