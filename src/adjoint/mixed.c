/* mixed.c -- executes a plan with states and tapes as a stream of actions.
 *
 * What is stored waits on a stack. A segment whose start is in the working state is entered; its start is written as
 * tape or state, and the part to the right of it comes first. When that is reversed, the top of the stack is read.
 */
#include "adjoint/mixed.h"
#include "adjoint/action_put.h"

#include "base/context.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENTER, POP, OVER };
#define GIVEN_UP UINT64_MAX

/* A tape (length 0), a state that nothing needs (GIVEN_UP), or the state at the start of a remaining segment, in slot
 * `slot` of level k. */
struct pb_mixed_waiting {
    uint64_t start, length, row; /* the row in which its room is free */
    uint32_t k, slot;
};

static uint8_t storage_of(uint32_t k) { return (uint8_t)(PB_STORAGE_RAM + k); }

static void push(pb_mixed *s, uint64_t length, uint32_t k, uint64_t size)
{
    s->waiting[s->depth++] = (struct pb_mixed_waiting){s->start, length, s->row, k, s->used[k]++};
    s->row -= size * s->plans->stride[k];
}

/* A segment whose start is in the working state, and stored in level k if `stored`. */
static pb_action *split(pb_mixed *s, pb_action *out, uint32_t k, bool stored)
{
    const pbi_mixed_plans *p = s->plans;
    uint64_t j = p->split[k][pbi_mixed_at(p, s->row, s->length)] & ~PBI_KEEP_STATE;
    out = stored ? pbi_put_advance(out, s->start, s->start + j)
                 : pbi_put_forward(out, s->start, s->start + j, storage_of(k), s->used[k]);
    push(s, j, k, p->state);
    s->start += j;
    s->length -= j;
    s->phase = ENTER;
    return out;
}

static pb_action *enter(pb_mixed *s, pb_action *out)
{
    const pbi_mixed_plans *p = s->plans;
    if (s->length == 1) {
        s->phase = POP;
        return s->ended ? pbi_put_reverse(out, s->start) : pbi_put_reverse_last(out, s->start, s->steps);
    }
    uint8_t first = p->first[pbi_mixed_at(p, s->row, s->length)];
    uint32_t k = first / 4;
    if (first % 4 == PBI_MIXED_STATE)
        return split(s, out, k, false);
    *out = (pb_action){s->start,         s->start + 1,    s->used[k],   PB_ACTION_FORWARD,
                       PB_WRITE_REVERSE, PB_STORAGE_NONE, storage_of(k)};
    push(s, 0, k, p->tape);
    s->start++;
    s->length--;
    return out + 1;
}

static pb_action *pop(pb_mixed *s, pb_action *out)
{
    const pbi_mixed_plans *p = s->plans;
    if (s->depth == 0) {
        s->phase = OVER;
        return pbi_put_end(out, s->steps, PB_ACTION_END_REVERSE);
    }
    const struct pb_mixed_waiting *w = &s->waiting[--s->depth];
    s->start = w->start;
    s->length = w->length;
    s->row = w->row;
    s->used[w->k]--;
    if (w->length == GIVEN_UP) {
        *out = (pb_action){w->start, w->start, w->slot, PB_ACTION_MOVE, 0, storage_of(w->k), PB_STORAGE_NONE};
        return out + 1;
    }
    if (!w->length) {
        out = pbi_put_load(out, w->start, storage_of(w->k), w->slot, PB_ACTION_MOVE);
        *out = (pb_action){w->start, w->start + 1, 0, PB_ACTION_REVERSE, 0, PB_STORAGE_WORK, PB_STORAGE_NONE};
        return out + 1;
    }
    bool keep = p->split[w->k][pbi_mixed_at(p, s->row, s->length)] & PBI_KEEP_STATE;
    out = pbi_put_load(out, s->start, storage_of(w->k), w->slot, keep ? PB_ACTION_COPY : PB_ACTION_MOVE);
    if (keep) { /* the new record is at the place of this one, with the same slot */
        uint32_t k = w->k, slot = w->slot;
        out = split(s, out, k, true);
        s->waiting[s->depth - 1].slot = slot;
        return out;
    }
    s->phase = ENTER;
    return out;
}

static size_t produce(void *stream, pb_action *actions, size_t room)
{
    pb_mixed *s = stream;
    pb_action *out = actions, *end = actions + room;
    while (end - out >= PBI_MIN_ROOM && s->phase != OVER)
        out = s->phase == POP ? pop(s, out) : enter(s, out);
    return (size_t)(out - actions);
}

size_t pb_mixed_next_many(pb_mixed *stream, pb_action *actions, size_t room)
{
    return pbi_queue_read(&stream->queue, produce, stream, actions, room);
}

static pb_status open(pb_context *ctx, const pb_mixed_spec *spec, uint64_t steps, uint64_t longest, pb_arena *arena,
                      pb_mixed *out)
{
    pbi_mixed_plans *plans = pb_arena_alloc(arena, 1, sizeof *plans);
    if (!plans)
        return PB_ENOMEM;
    pb_status status = pbi_mixed_solve(ctx, spec, longest, arena, plans);
    if (status != PB_OK)
        return status;
    *out = (pb_mixed){.steps = steps, .length = steps, .row = plans->top, .plans = plans};
    out->waiting = pb_arena_alloc(arena, (size_t)steps + 2, sizeof *out->waiting);
    return out->waiting ? PB_OK : PB_ENOMEM;
}

static void start_empty(pb_mixed *s)
{
    s->phase = POP;
    pbi_put_end(s->queue.action, 0, PB_ACTION_END_FORWARD);
    s->queue.count = 1;
}

pb_status pb_mixed_init(pb_context *ctx, const pb_mixed_spec *spec, pb_arena *arena, pb_mixed *out)
{
    pb_mixed s;
    pb_status status = pbi_mixed_check(ctx, spec);
    if (status == PB_OK)
        status = open(ctx, spec, spec->steps, spec->steps ? spec->steps : 1, arena, &s);
    if (status != PB_OK)
        return status;
    s.cost = spec->steps ? s.plans->cost[pbi_mixed_at(s.plans, s.row, s.length)] : 0;
    if (s.cost >= PBI_MIXED_IMPOSSIBLE)
        return pbi_fail(ctx, PB_EINVAL,
                        "%" PRIu64 " steps do not fit: no level has room for a state of size %" PRIu64
                        ", and there is not enough for all tapes; make one larger",
                        spec->steps, spec->state_size);
    if (!spec->steps)
        start_empty(&s);
    *out = s;
    return PB_OK;
}

/* ---- online ---- */

pb_status pb_mixed_online_init(pb_context *ctx, const pb_mixed_spec *spec, pb_arena *arena, pb_mixed_online *out)
{
    pb_mixed_online s = {.spec = *spec};
    uint64_t slots = 0;
    s.spec.steps = 2;
    pb_status status = pbi_mixed_check(ctx, &s.spec);
    if (status != PB_OK)
        return status;
    for (uint32_t k = 0; k < spec->level_count; k++) {
        uint64_t own = spec->level[k].size / spec->state_size;
        if (own > UINT32_MAX / 4)
            return pbi_fail(ctx, PB_EINVAL,
                            "storage without a limit, or for 2^30 states: an online schedule needs a smaller size");
        s.slots[k] = (uint32_t)own;
        slots += own;
    }
    s.held = pb_arena_alloc(arena, (size_t)slots + 1, sizeof *s.held);
    if (!s.held)
        return PB_ENOMEM;
    memset(s.held, 0xff, ((size_t)slots + 1) * sizeof *s.held);
    status = pb_online_init(ctx, (uint32_t)slots, arena, &s.forward);
    if (status == PB_OK)
        *out = s;
    return status;
}

/* The level of a slot of the forward pass; *slot becomes its place there. */
static uint32_t level_of(const pb_mixed_online *s, uint32_t *slot)
{
    uint32_t k = 0;
    while (*slot >= s->slots[k])
        *slot -= s->slots[k++];
    return k;
}

bool pb_mixed_online_step(pb_mixed_online *s, pb_action *action)
{
    if (s->ended || !pb_online_step(&s->forward, action))
        return false;
    s->steps = action->n1;
    if (action->flags & PB_WRITE_RESTART) {
        s->held[action->slot] = action->n0;
        action->to = storage_of(level_of(s, &action->slot));
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct pb_mixed_waiting *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The stored states in the order of time. */
static uint32_t take_states(const pb_mixed_online *s, struct pb_mixed_waiting *list)
{
    uint32_t count = 0, slots = 0;
    for (uint32_t k = 0; k < s->spec.level_count; k++)
        slots += s->slots[k];
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t slot = i;
        if (s->held[i] >= s->steps) /* empty, or a state at the end, which nothing needs */
            continue;
        uint32_t k = level_of(s, &slot);
        list[count++] = (struct pb_mixed_waiting){s->held[i], 0, 0, k, slot};
    }
    qsort(list, count, sizeof *list, by_start);
    return count;
}

/* Which of the states to use, and which to give up at the end of the forward pass, for the room that they take. */
typedef struct choice {
    pb_context *ctx;
    const pb_mixed *b;
    struct pb_mixed_waiting *list;
    uint32_t count;
    /* By state and row (the free room, with that of this state, if those used before it are stored): the minimum cost
     * of the steps before it, and the state that is used before it. */
    uint64_t *best;
    uint32_t *before;
} choice;

/* The steps from state i to the next state that is used, or to the end, for every row of state i. */
static pb_status extend(choice *c, uint32_t i, uint32_t after)
{
    const pbi_mixed_plans *p = c->b->plans;
    const struct pb_mixed_waiting *w = &c->list[i];
    uint64_t end = after == c->count ? c->b->steps : c->list[after].start;
    uint64_t taken = p->state * p->stride[w->k], read = p->spec.level[w->k].state_read;
    for (uint64_t row = taken; row < p->rows; row++) {
        uint64_t so_far = c->best[i * p->rows + row];
        uint64_t next = after * p->rows + (after == c->count ? 0 : row - taken);
        if (so_far == UINT64_MAX)
            continue;
        pb_status status = pbi_tick(c->ctx, 1);
        if (status != PB_OK)
            return status;
        uint64_t sum = so_far + read + pbi_mixed_again(p, w->k, row, end - w->start);
        if (sum < c->best[next]) {
            c->best[next] = sum;
            c->before[next] = i;
            if (after == c->count)
                c->list[after].row = row;
        }
    }
    return PB_OK;
}

/* State 0 is state 0 of the computation, so there is always an answer. list[count] gets the row of the last state. */
static pb_status choose_states(choice *c)
{
    const pbi_mixed_plans *p = c->b->plans;
    memset(c->best, 0xff, ((c->count + 1) * p->rows) * sizeof *c->best);
    c->best[p->top] = 0;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < c->count && status == PB_OK; i++)
        for (uint32_t after = i + 1; after <= c->count && status == PB_OK; after++)
            status = extend(c, i, after);
    return status;
}

/* Puts the chosen states on the stack, and above them those that are given up. */
static void load_stack(pb_mixed *b, const choice *c)
{
    uint64_t rows = b->plans->rows, end = b->steps, row = c->list[c->count].row;
    uint32_t at = c->before[c->count * rows];
    for (uint32_t i = 0; i < c->count; i++)
        c->list[i].length = GIVEN_UP;
    for (;;) { /* from the last */
        struct pb_mixed_waiting *w = &c->list[at];
        w->row = row;
        w->length = end - w->start;
        end = w->start;
        if (at == 0)
            break;
        uint32_t before = c->before[at * rows + row];
        row += b->plans->state * b->plans->stride[c->list[before].k];
        at = before;
    }
    for (uint32_t i = 0; i < c->count; i++)
        if (c->list[i].length != GIVEN_UP)
            b->waiting[b->depth++] = c->list[i];
    for (uint32_t i = 0; i < c->count; i++)
        if (c->list[i].length == GIVEN_UP)
            b->waiting[b->depth++] = c->list[i];
}

/* Plans what follows the last step. */
static pb_status plan_back(pb_context *ctx, const pb_mixed_online *s, pb_mixed *b)
{
    uint64_t slots = 1;
    for (uint32_t k = 0; k < s->spec.level_count; k++)
        slots += s->slots[k];
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    choice c = {.ctx = ctx, .b = b, .list = pb_arena_alloc(&scratch, slots, sizeof *c.list)};
    pb_status status = c.list ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        c.count = take_states(s, c.list);
        c.best = pb_arena_alloc(&scratch, (c.count + 1) * b->plans->rows, sizeof *c.best);
        c.before = pb_arena_zero(&scratch, (c.count + 1) * b->plans->rows, sizeof *c.before);
        status = c.best && c.before ? choose_states(&c) : PB_ENOMEM;
    }
    if (status == PB_OK) {
        b->cost = c.best[c.count * b->plans->rows];
        load_stack(b, &c);
        for (uint32_t k = 0; k < s->spec.level_count; k++)
            b->used[k] = 2 * s->slots[k]; /* places of their own for what is stored from now on */
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pb_mixed_online_end(pb_context *ctx, pb_arena *arena, pb_mixed_online *s)
{
    if (s->ended)
        return pbi_fail(ctx, PB_EINVAL, "the online schedule has ended already; read its actions");
    pb_mixed back;
    pb_status status = open(ctx, &s->spec, s->steps, s->steps ? s->steps : 1, arena, &back);
    if (status == PB_OK && s->steps)
        status = plan_back(ctx, s, &back);
    if (status != PB_OK)
        return status;
    back.phase = POP;
    back.ended = true;
    pbi_put_end(back.queue.action, s->steps, PB_ACTION_END_FORWARD);
    back.queue.count = 1;
    s->back = back;
    s->ended = true;
    return PB_OK;
}
