/* test_mixed.c -- schedules that store states and tapes: against a search of every schedule of small cases, known
 * figures, and a simulator that carries every action out. */
#include "base/rng.h"
#include "pebble/adjoint.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_N = 64, NOWHERE = 255 };

/* ---- a simulator ---- */

typedef struct sim {
    const pb_mixed_spec *spec;
    uint64_t steps, work, tape, left, forward, used[PB_MAX_MIXED_LEVELS], cost;
    bool state[PB_MAX_MIXED_LEVELS][MAX_N], taped[PB_MAX_MIXED_LEVELS][MAX_N], ended;
} sim;

static void put(sim *s, uint32_t k, bool *what, uint64_t size, uint64_t price)
{
    assert_true(k < s->spec->level_count);
    assert_false(*what);
    *what = true;
    s->used[k] += size;
    s->cost += price;
    assert_true(s->used[k] <= s->spec->level[k].size);
}

static void do_forward(sim *s, const pb_action *a)
{
    assert_int_equal(s->work, a->n0);
    assert_true(a->n1 > a->n0 && a->n1 <= s->left);
    if (a->flags & PB_WRITE_RESTART) {
        uint32_t k = a->to - (uint32_t)PB_STORAGE_RAM;
        put(s, k, &s->state[k][a->n0], s->spec->state_size, s->spec->level[k].state_write);
    }
    if (a->flags & PB_WRITE_REVERSE) {
        assert_int_equal(a->n1, a->n0 + 1);
        uint32_t k = a->to - (uint32_t)PB_STORAGE_RAM;
        if (a->to == PB_STORAGE_WORK)
            s->tape = a->n0;
        else
            put(s, k, &s->taped[k][a->n0], s->spec->tape_size, s->spec->level[k].tape_write);
    }
    s->work = a->n1;
    s->forward += a->n1 - a->n0;
    s->cost += (a->n1 - a->n0) * s->spec->forward_cost;
}

static void do_read(sim *s, const pb_action *a)
{
    uint32_t k = a->from - (uint32_t)PB_STORAGE_RAM;
    bool tape = s->taped[k][a->n0];
    bool *what = tape ? &s->taped[k][a->n0] : &s->state[k][a->n0];
    assert_true(k < s->spec->level_count);
    assert_true(*what);
    if (a->kind == PB_ACTION_MOVE) {
        *what = false;
        s->used[k] -= tape ? s->spec->tape_size : s->spec->state_size;
    }
    if (a->to == PB_STORAGE_NONE)
        return;
    s->cost += tape ? s->spec->level[k].tape_read : s->spec->level[k].state_read;
    s->work = tape ? NOWHERE : a->n0;
    s->tape = tape ? a->n0 : NOWHERE;
}

static void do_action(sim *s, const pb_action *a)
{
    switch ((pb_action_kind)a->kind) {
    case PB_ACTION_FORWARD: do_forward(s, a); break;
    case PB_ACTION_END_FORWARD:
        assert_false(s->ended);
        assert_int_equal(s->work, s->steps);
        s->ended = true;
        break;
    case PB_ACTION_REVERSE:
        assert_true(s->ended);
        assert_int_equal(a->n1, s->left);
        assert_int_equal(s->tape, a->n0);
        s->left = a->n0;
        s->work = s->tape = NOWHERE;
        s->cost += s->spec->reverse_cost;
        break;
    case PB_ACTION_COPY:
    case PB_ACTION_MOVE: do_read(s, a); break;
    case PB_ACTION_END_REVERSE:
        assert_int_equal(s->left, 0);
        for (uint32_t k = 0; k < s->spec->level_count; k++)
            assert_int_equal(s->used[k], 0);
        break;
    default: fail();
    }
}

/* The cost of the schedule, which was carried out. */
static uint64_t cost_of(const pb_mixed_spec *spec)
{
    pb_context ctx;
    pb_arena arena;
    pb_mixed stream;
    pb_action a;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pb_mixed_init(&ctx, spec, &arena, &stream) != PB_OK)
        fail_msg("%s", ctx.error.message);
    sim s = {.spec = spec, .steps = spec->steps, .left = spec->steps, .tape = NOWHERE};
    while (pb_mixed_next_many(&stream, &a, 1))
        do_action(&s, &a);
    assert_int_equal(a.kind, PB_ACTION_END_REVERSE);
    assert_int_equal(s.cost, stream.cost);
    pb_arena_release(&arena);
    return s.cost;
}

/* ---- every schedule: the shortest path through all states of storage ---- */

/* Bits: steps left (3), working state (3; 7: none), then for each level a bit for each state and for each tape. */
typedef struct search {
    const pb_mixed_spec *spec;
    uint32_t n;
    uint64_t *heap; /* cost << 32 | state */
    size_t count, room;
    uint32_t *best;
} search;

static void push(search *q, uint64_t cost, uint32_t state)
{
    if (cost >= q->best[state])
        return;
    q->best[state] = (uint32_t)cost;
    if (q->count == q->room)
        q->heap = realloc(q->heap, (q->room = 2 * q->room + 1024) * sizeof *q->heap);
    size_t i = q->count++;
    uint64_t entry = cost << 32 | state;
    for (; i && q->heap[(i - 1) / 2] > entry; i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = entry;
}

static uint64_t pop(search *q)
{
    uint64_t top = q->heap[0], last = q->heap[--q->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < q->count; i = child) {
        child += child + 1 < q->count && q->heap[child + 1] < q->heap[child];
        if (q->heap[child] >= last)
            break;
        q->heap[i] = q->heap[child];
    }
    q->heap[i] = last;
    return top;
}

static unsigned bits(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }

static uint32_t reversed(const search *q, uint32_t state, uint32_t left)
{
    uint32_t keep = (1u << left) - 1, out = left | 7u << 3; /* what is later is of no use */
    for (uint32_t i = 0; i < 2 * q->spec->level_count; i++)
        out |= (state >> (6 + i * q->n) & keep) << (6 + i * q->n);
    return out;
}

static void expand(search *q, uint64_t cost, uint32_t state)
{
    const pb_mixed_spec *spec = q->spec;
    uint32_t left = state & 7, work = state >> 3 & 7, full = (1u << q->n) - 1,
             next = (state & ~(7u << 3)) | (work + 1) << 3;
    if (work < 7 && work + 1 == left)
        push(q, cost + spec->forward_cost + spec->reverse_cost, reversed(q, state, left - 1));
    else if (work < 7)
        push(q, cost + spec->forward_cost, next);
    for (uint32_t k = 0; k < spec->level_count; k++) {
        const pb_mixed_level *l = &spec->level[k];
        uint32_t at = 6 + 2 * k * q->n, states = state >> at & full, tapes = state >> (at + q->n) & full;
        uint64_t used = bits(states) * spec->state_size + bits(tapes) * spec->tape_size;
        if (work < 7 && work < left && !(states >> work & 1) && used + spec->state_size <= l->size)
            push(q, cost + l->state_write, state | 1u << (at + work));
        if (work < 7 && work + 1 < left && !(tapes >> work & 1) && used + spec->tape_size <= l->size)
            push(q, cost + spec->forward_cost + l->tape_write, next | 1u << (at + q->n + work));
        for (uint32_t i = 0; i < left; i++) {
            if (states >> i & 1) {
                push(q, cost + l->state_read, (state & ~(7u << 3)) | i << 3);
                push(q, cost, state & ~(1u << (at + i)));
            }
            if (tapes >> i & 1) {
                push(q, cost, state & ~(1u << (at + q->n + i)));
                if (i + 1 == left)
                    push(q, cost + l->tape_read + spec->reverse_cost, reversed(q, state, i));
            }
        }
    }
}

static uint64_t least_cost(const pb_mixed_spec *spec)
{
    search q = {.spec = spec, .n = (uint32_t)spec->steps};
    size_t states = (size_t)1 << (6 + 2 * spec->level_count * q.n);
    q.best = malloc(states * sizeof *q.best);
    assert_non_null(q.best);
    memset(q.best, 0xff, states * sizeof *q.best);
    push(&q, 0, q.n);
    uint64_t answer = UINT64_MAX;
    while (q.count && answer == UINT64_MAX) {
        uint64_t top = pop(&q);
        uint32_t state = (uint32_t)top;
        if (top >> 32 > q.best[state])
            continue;
        if (!(state & 7))
            answer = top >> 32;
        else
            expand(&q, top >> 32, state);
    }
    free(q.heap);
    free(q.best);
    return answer;
}

static uint64_t between(pbi_rng *rng, uint64_t low, uint64_t high) { return low + pbi_rng_below(rng, high - low + 1); }

static void costs_are_those_of_the_best_of_all_schedules(void **state)
{
    (void)state;
    pbi_rng rng = {11};
    for (int i = 0; i < 250; i++) {
        pb_mixed_spec spec = {.level_count = (uint32_t)between(&rng, 1, 2)};
        spec.steps = between(&rng, 1, spec.level_count == 1 ? 6 : 4);
        spec.state_size = between(&rng, 1, 3);
        spec.tape_size = between(&rng, 1, 3);
        spec.forward_cost = between(&rng, 1, 4);
        spec.reverse_cost = between(&rng, 0, 2);
        for (uint32_t k = 0; k < spec.level_count; k++) {
            pb_mixed_level *l = &spec.level[k];
            l->size = k ? between(&rng, 0, 6) : between(&rng, spec.state_size, 8);
            if (k || i % 2)
                *l = (pb_mixed_level){l->size, between(&rng, 0, 4), between(&rng, 0, 4), between(&rng, 0, 4),
                                      between(&rng, 0, 4)};
        }
        assert_int_equal(cost_of(&spec), least_cost(&spec));
    }
}

static pb_mixed_spec plain(uint64_t steps, uint64_t units)
{
    return (pb_mixed_spec){steps, 1, 1, 1, 0, 1, {{.size = units}}};
}

static void equal_sizes_cost_what_is_published(void **state)
{
    (void)state;
    static const uint64_t rows[][3] = {{10, 9, 10}, {10, 1, 54}, {60, 3, 271}, {57, 1, 1652}, {50, 49, 50}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(cost_of(&(pb_mixed_spec){rows[i][0], 1, 1, 1, 0, 1, {{.size = rows[i][1]}}}), rows[i][2]);
    pb_context ctx;
    pb_arena arena;
    pb_mixed stream;
    pb_mixed_spec spec = plain(1000, 20);
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_OK);
    assert_int_equal(stream.cost, 2823);
    pb_arena_release(&arena);
}

/* Large tapes are of no use: the schedule is binomial checkpointing; without limits every tape is stored. */
static void extremes_are_known(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    for (uint64_t n = 1; n <= 40; n++)
        for (uint64_t s = 1; s <= 4; s++) {
            pb_revolve_cost revolve;
            pb_mixed_spec spec = plain(n, 5 * s);
            spec.state_size = 5;
            spec.tape_size = 5 * s + 1;
            assert_int_equal(pb_revolve_count(&ctx, n, s, &revolve), PB_OK);
            assert_int_equal(cost_of(&spec), revolve.forward_steps.low);
            spec = plain(n, UINT64_MAX);
            assert_int_equal(cost_of(&spec), n);
        }
    pb_mixed_spec none = plain(0, 1);
    assert_int_equal(cost_of(&none), 0);
}

/* The end may come after any step; what follows costs what it says, and never more than with states alone. */
static void the_end_may_come_at_any_time(void **state)
{
    (void)state;
    for (uint64_t n = 0; n <= 40; n++)
        for (uint64_t room = 2; room <= 9; room++) {
            pb_mixed_spec spec = {n, 2, 3, 1, 0, 2, {{.size = room}, {room / 2, 1, 1, 2, 2}}};
            pb_context ctx;
            pb_arena arena;
            pb_mixed_online stream;
            pb_action a = {0};
            pb_context_init(&ctx);
            pb_arena_init(&arena, &ctx);
            assert_int_equal(pb_mixed_online_init(&ctx, &spec, &arena, &stream), PB_OK);
            sim s = {.spec = &spec, .steps = n, .left = n, .tape = NOWHERE};
            uint64_t held[2][MAX_N];
            memset(held, 0xff, sizeof held);
            for (uint64_t i = 0; i < n; i++) {
                assert_true(pb_mixed_online_step(&stream, &a));
                uint64_t *slot = &held[a.to == PB_STORAGE_DISK][a.slot];
                if (a.flags & PB_WRITE_RESTART && *slot != UINT64_MAX) { /* overwritten */
                    s.state[a.to - PB_STORAGE_RAM][*slot] = false;
                    s.used[a.to - PB_STORAGE_RAM] -= spec.state_size;
                }
                if (a.flags & PB_WRITE_RESTART)
                    *slot = a.n0;
                do_action(&s, &a);
            }
            s.cost = 0;
            assert_int_equal(pb_mixed_online_end(&ctx, &arena, &stream), PB_OK);
            assert_int_equal(pb_mixed_online_end(&ctx, &arena, &stream), PB_EINVAL);
            assert_false(pb_mixed_online_step(&stream, &a));
            while (pb_mixed_next_many(&stream.back, &a, 1))
                do_action(&s, &a);
            assert_int_equal(a.kind, PB_ACTION_END_REVERSE);
            assert_int_equal(s.cost, stream.back.cost);
            pb_arena_release(&arena);
        }
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_mixed stream;
    pb_mixed_online online;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_mixed_spec spec = plain(9, 2);
    spec.state_size = 3;
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_EINVAL);
    assert_non_null(strstr(ctx.error.message, "no level has room for a state of size 3"));
    assert_int_equal(pb_mixed_online_init(&ctx, &spec, &arena, &online), PB_EINVAL);
    spec = plain(9, 2);
    spec.tape_size = 0;
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_EINVAL);
    spec = plain(9, 2);
    spec.level_count = PB_MAX_MIXED_LEVELS + 1;
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_EINVAL);
    spec = plain(100000000, 1000);
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_ERANGE);
    spec = plain(1000, 10);
    spec.forward_cost = UINT64_MAX / 4;
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_ERANGE);
    spec = plain(9, UINT64_MAX);
    assert_int_equal(pb_mixed_online_init(&ctx, &spec, &arena, &online), PB_EINVAL);
    ctx.memory_limit = 10000;
    spec = plain(1000, 20);
    assert_int_equal(pb_mixed_init(&ctx, &spec, &arena, &stream), PB_ENOMEM);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_of_the_best_of_all_schedules),
        cmocka_unit_test(equal_sizes_cost_what_is_published),
        cmocka_unit_test(extremes_are_known),
        cmocka_unit_test(the_end_may_come_at_any_time),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
