/* test_engine_dynamic.c -- programs whose graph is not known ahead: the right bits under any cap that is enough, with every policy. */
#include "base/rng.h"
#include "engine/dynamic/parts.h"
#include "pebble/full.h"
#include "support/cases.h"
#include "support/outside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LIVE = 40, MOST_SIZE = 500 };

/* What a kernel makes follows from its seed and its inputs. */
static uint64_t digest(const unsigned char *bytes, uint64_t count, uint64_t hash)
{
    for (uint64_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static void spread(uint64_t hash, unsigned char *out, uint64_t count)
{
    pbi_rng rng = {hash};
    for (uint64_t i = 0; i < count; i++)
        out[i] = (unsigned char)pbi_rng_next(&rng);
}

typedef struct step_state {
    uint64_t seed, sizes[4];
} step_state;

static pb_status step(void *state, pb_context *ctx, const pb_dynamic_call *call)
{
    const step_state *s = state;
    uint64_t hash = s->seed;
    (void)ctx;
    for (uint32_t i = 0; i < call->count; i++)
        hash = digest(call->input[i], s->sizes[i], hash);
    if (call->workspace)
        memset(call->workspace, 0x5c, 64);
    spread(hash, call->output, call->size);
    return PB_OK;
}

typedef struct live {
    pb_value value;
    uint64_t size;
    unsigned char bytes[MOST_SIZE];
} live;

typedef struct program {
    pb_context ctx;
    pb_dynamic *o;
    pbi_rng rng;
    live live[MOST_LIVE];
    unsigned count;
    step_state *states;
    unsigned state_count;
    unsigned refused;
} program;

static bool audit(const pb_dynamic *o)
{
    uint64_t at = 0, used = 0;
    bool free_before = false;
    for (uint32_t i = o->pool.first, before = PBI_NO_PIECE; i != PBI_NO_PIECE; i = o->pool.piece[i].after) {
        const pbi_block_piece *b = &o->pool.piece[i];
        if (b->at != at || b->before != before || !b->size || b->value == PBI_WORK)
            return false;
        if (b->value == PBI_FREE && free_before)
            return false; /* two free neighbours */
        if (b->value != PBI_FREE && o->record[b->value].piece != i)
            return false;
        used += b->value == PBI_FREE ? 0 : b->size;
        free_before = b->value == PBI_FREE;
        at += b->size;
        before = i;
    }
    return at == o->pool.size && used == o->pool.used;
}

static void add_input(program *p)
{
    live *l = &p->live[p->count];
    l->size = pbi_rng_below(&p->rng, 100);
    spread(pbi_rng_next(&p->rng), l->bytes, l->size);
    pb_status status = pb_dynamic_input(p->o, l->bytes, l->size, &l->value);
    assert_true(status == PB_OK || status == PB_ELIMIT);
    p->count += status == PB_OK;
    p->refused += status != PB_OK;
}

static void add_step(program *p)
{
    pb_value inputs[3];
    uint32_t count = 1 + (uint32_t)pbi_rng_below(&p->rng, 3);
    step_state *s = &p->states[p->state_count++];
    live made;
    uint64_t hash = s->seed = pbi_rng_next(&p->rng);
    for (uint32_t i = 0; i < count; i++) {
        const live *in = &p->live[pbi_rng_below(&p->rng, p->count)];
        inputs[i] = in->value;
        s->sizes[i] = in->size;
        hash = digest(in->bytes, in->size, hash);
    }
    made.size = pbi_rng_below(&p->rng, MOST_SIZE);
    spread(hash, made.bytes, made.size);
    pb_dynamic_spec spec = {.kernel = step,
                            .state = s,
                            .inputs = inputs,
                            .count = count,
                            .size = made.size,
                            .workspace = pbi_rng_below(&p->rng, 4) ? 0 : 64,
                            .cost = 1 + pbi_rng_below(&p->rng, 50),
                            .once = pbi_rng_below(&p->rng, 40) == 0};
    pb_status status = pb_dynamic_compute(p->o, &spec, &made.value);
    assert_true(status == PB_OK || status == PB_ELIMIT);
    if (status == PB_OK)
        p->live[p->count++] = made;
    p->refused += status != PB_OK;
}

static void look_at(program *p, unsigned i)
{
    void *address;
    pb_status status = pb_dynamic_pin(p->o, p->live[i].value, &address);
    assert_true(status == PB_OK || status == PB_ELIMIT);
    p->refused += status != PB_OK;
    if (status != PB_OK)
        return;
    assert_memory_equal(address, p->live[i].bytes, p->live[i].size);
    assert_int_equal((uintptr_t)address % 16, 0);
    assert_int_equal(pb_dynamic_unpin(p->o, p->live[i].value), PB_OK);
}

static void run_program(uint64_t seed, pb_dynamic_policy policy, uint64_t cap, unsigned steps, pb_dynamic_counts *out,
                        unsigned *refused)
{
    program p = {.rng = {seed}};
    pb_context_init(&p.ctx);
    p.states = calloc(steps, sizeof *p.states);
    pb_dynamic_options o = {.cap = cap, .align = 16, .policy = policy, .record = true};
    assert_int_equal(pb_dynamic_new(&p.ctx, &o, &p.o), PB_OK);
    for (unsigned i = 0; i < steps; i++) {
        uint64_t what = pbi_rng_below(&p.rng, 10);
        if (p.count == 0 || (what == 0 && p.count < MOST_LIVE))
            add_input(&p);
        else if (what < 6 && p.count < MOST_LIVE)
            add_step(&p);
        else if (what < 8) {
            unsigned k = (unsigned)pbi_rng_below(&p.rng, p.count);
            assert_int_equal(pb_dynamic_release(p.o, p.live[k].value), PB_OK);
            p.live[k] = p.live[--p.count];
        } else
            look_at(&p, (unsigned)pbi_rng_below(&p.rng, p.count));
        assert_true(audit(p.o));
    }
    for (unsigned i = 0; i < p.count; i++)
        look_at(&p, i);
    const pb_graph *g;
    pb_arena arena;
    pb_arena_init(&arena, &p.ctx);
    assert_int_equal(pb_dynamic_trace(p.o, &arena, &g), PB_OK);
    assert_int_equal(pb_graph_check(&p.ctx, g), PB_OK);
    pb_arena_release(&arena);
    while (p.count)
        assert_int_equal(pb_dynamic_release(p.o, p.live[--p.count].value), PB_OK);
    pb_dynamic_count(p.o, out);
    assert_int_equal(out->values, 0); /* nothing is held: nothing is known */
    assert_int_equal(p.o->pool.used, 0);
    assert_true(out->peak <= cap);
    *refused = p.refused;
    pb_dynamic_free(p.o);
    assert_int_equal(p.ctx.memory_used, 0);
    free(p.states);
}

static void random_programs_get_the_right_bits(void **state)
{
    (void)state;
    uint64_t recomputed[PB_DYNAMIC_POLICIES] = {0}, windows = 0, moved = 0;
    unsigned refused, all_refused = 0;
    for (uint64_t seed = 1; seed <= test_cases(60); seed++)
        for (pb_dynamic_policy policy = 0; policy < PB_DYNAMIC_POLICIES; policy++)
            for (uint64_t cap = 2048; cap <= 16384; cap *= 2) {
                pb_dynamic_counts counts;
                run_program(seed, policy, cap, 200, &counts, &refused);
                recomputed[policy] += counts.recomputed;
                windows += counts.windows;
                moved += counts.moved;
                all_refused += refused;
            }
    for (pb_dynamic_policy policy = 0; policy < PB_DYNAMIC_POLICIES; policy++)
        assert_true(recomputed[policy] > 0);
    assert_true(windows > 0 && moved > 0 && all_refused > 0);
}

static pb_status grow(void *state, pb_context *ctx, const pb_dynamic_call *call)
{
    (void)ctx;
    ++*(unsigned *)state;
    for (uint64_t i = 0; i < call->size; i++)
        ((unsigned char *)call->output)[i] = (unsigned char)(((const unsigned char *)call->input[0])[i] * 3 + 1);
    return PB_OK;
}

/* Ten thousand values deep, and room for four. */
static void long_chains_are_computed_again_without_recursion(void **state)
{
    (void)state;
    enum { LENGTH = 10000 };
    pb_context ctx;
    pb_dynamic *o;
    unsigned calls = 0;
    unsigned char zero[64] = {0}, right = 0;
    pb_value value[LENGTH + 1];
    void *address;
    pb_context_init(&ctx);
    pb_dynamic_options options = {.cap = 4 * 64, .policy = PB_DYNAMIC_DTR_LOCAL};
    assert_int_equal(pb_dynamic_new(&ctx, &options, &o), PB_OK);
    assert_int_equal(pb_dynamic_input(o, zero, 64, &value[0]), PB_OK);
    for (int i = 1; i <= LENGTH; i++) {
        pb_dynamic_spec spec = {
            .kernel = grow, .state = &calls, .inputs = &value[i - 1], .count = 1, .size = 64, .cost = 1};
        assert_int_equal(pb_dynamic_compute(o, &spec, &value[i]), PB_OK);
        right = (unsigned char)(right * 3 + 1);
    }
    assert_int_equal(calls, LENGTH);
    assert_int_equal(pb_dynamic_pin(o, value[LENGTH], &address), PB_OK);
    assert_int_equal(*(unsigned char *)address, right);
    assert_int_equal(pb_dynamic_unpin(o, value[LENGTH]), PB_OK);
    assert_int_equal(pb_dynamic_pin(o, value[LENGTH / 2], &address), PB_OK);
    assert_true(calls > LENGTH + LENGTH / 4);
    assert_int_equal(pb_dynamic_unpin(o, value[LENGTH / 2]), PB_OK);
    assert_int_equal(pb_dynamic_pin(o, value[LENGTH], &address), PB_OK);
    assert_int_equal(*(unsigned char *)address, right);
    pb_dynamic_free(o);
    assert_int_equal(ctx.memory_used, 0);
}

static void what_cannot_fit_is_a_sentence(void **state)
{
    (void)state;
    pb_context ctx;
    pb_dynamic *o;
    unsigned char zero[256] = {0};
    unsigned calls = 0;
    pb_value x, y, z;
    void *address;
    pb_context_init(&ctx);
    pb_dynamic_options options = {.cap = 512};
    assert_int_equal(pb_dynamic_new(&ctx, &options, &o), PB_OK);
    assert_int_equal(pb_dynamic_input(o, zero, 256, &x), PB_OK);
    pb_dynamic_spec spec = {.kernel = grow, .state = &calls, .inputs = &x, .count = 1, .size = 256, .cost = 1};
    assert_int_equal(pb_dynamic_compute(o, &spec, &y), PB_OK);
    assert_int_equal(pb_dynamic_pin(o, y, &address), PB_OK);
    assert_int_equal(pb_dynamic_compute(o, &spec, &z), PB_ELIMIT);
    assert_non_null(strstr(ctx.error.message, "256 bytes are needed"));
    assert_int_equal(pb_dynamic_unpin(o, y), PB_OK);
    assert_int_equal(pb_dynamic_compute(o, &spec, &z), PB_OK);
    spec.size = 1024;
    assert_int_equal(pb_dynamic_compute(o, &spec, &z), PB_ELIMIT);
    spec.inputs = (pb_value[]){99};
    assert_int_equal(pb_dynamic_compute(o, &spec, &z), PB_EINVAL);
    assert_int_equal(pb_dynamic_release(o, 99), PB_EINVAL);
    pb_dynamic_free(o);
    options.align = 48;
    assert_int_equal(pb_dynamic_new(&ctx, &options, &o), PB_EINVAL);
}

/* What is computed once only never needs its inputs again: their memory is free when the program is done with them. */
static void inputs_of_once_values_can_go(void **state)
{
    (void)state;
    static unsigned char bytes[768];
    pb_context ctx;
    pb_context_init(&ctx);
    for (int policy = 0; policy < PB_DYNAMIC_POLICIES; policy++) {
        pb_dynamic *o;
        pb_value x, y, z, w;
        unsigned calls = 0;
        pb_dynamic_counts counts;
        const pb_graph *g;
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        pb_dynamic_options options = {.cap = 1024, .policy = (pb_dynamic_policy)policy, .record = true};
        assert_int_equal(pb_dynamic_new(&ctx, &options, &o), PB_OK);
        assert_int_equal(pb_dynamic_input(o, bytes, 768, &x), PB_OK);
        pb_dynamic_spec spec = {.kernel = grow, .state = &calls, .count = 2, .size = 64, .cost = 1, .once = true};
        spec.inputs = (pb_value[]){x, x};
        assert_int_equal(pb_dynamic_compute(o, &spec, &y), PB_OK);
        spec.inputs = (pb_value[]){y, x};
        assert_int_equal(pb_dynamic_compute(o, &spec, &z), PB_OK);
        assert_int_equal(pb_dynamic_release(o, x), PB_OK);
        assert_int_equal(pb_dynamic_input(o, bytes, 768, &w), PB_OK);
        assert_int_equal(pb_dynamic_release(o, y), PB_OK);
        pb_dynamic_count(o, &counts);
        assert_int_equal(counts.values, 2); /* z and w */
        assert_true(audit(o));
        assert_int_equal(pb_dynamic_trace(o, &arena, &g), PB_OK);
        assert_int_equal(g->node_count, 4);
        assert_int_equal(g->in_start[4], 3);
        pb_arena_release(&arena);
        pb_dynamic_free(o);
        assert_int_equal(ctx.memory_used, 0);
    }
}

/* Steps with workspace now and then, all values held; each refused request is an error after which all goes on. */
static unsigned run_refused(uint64_t refuse_at, unsigned spaced, uint64_t *requests)
{
    enum { STEPS = 1000 };
    outside world = {.refuse_at = refuse_at};
    pb_context ctx;
    pb_dynamic *o;
    unsigned calls = 0, refused = 0;
    pb_value value[STEPS + 1];
    unsigned char zero[64] = {0};
    outside_context(&ctx, &world);
    pb_dynamic_options options = {.cap = 2048 * 64, .policy = PB_DYNAMIC_DTR_EQ, .record = true};
    pb_status status = pb_dynamic_new(&ctx, &options, &o);
    if (status == PB_OK) {
        while ((status = pb_dynamic_input(o, zero, 64, &value[0])) == PB_ENOMEM && refused++ < 3)
            assert_true(audit(o));
        assert_int_equal(status, PB_OK);
        for (unsigned i = 1; i <= STEPS; i++) {
            pb_dynamic_spec spec = {.kernel = grow, .state = &calls, .inputs = &value[i - 1], .count = 1, .size = 64};
            spec.workspace = i % spaced ? 0 : 64;
            spec.cost = 1;
            while ((status = pb_dynamic_compute(o, &spec, &value[i])) == PB_ENOMEM && refused++ < 3)
                assert_true(audit(o));
            assert_int_equal(status, PB_OK);
        }
        assert_true(audit(o));
        pb_dynamic_free(o);
    }
    *requests = world.requests;
    assert_int_equal(world.live_blocks, 0);
    return refused;
}

static void every_refused_request_leaves_order(void **state)
{
    (void)state;
    for (unsigned spaced = 1; spaced < 12; spaced++) {
        uint64_t requests, ignored;
        unsigned refused = run_refused(0, spaced, &requests);
        for (uint64_t at = 1; at <= requests; at++)
            refused += run_refused(at, spaced, &ignored);
        assert_true(refused > 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_fit_is_a_sentence),
        cmocka_unit_test(every_refused_request_leaves_order),
        cmocka_unit_test(inputs_of_once_values_can_go),
        cmocka_unit_test(long_chains_are_computed_again_without_recursion),
        cmocka_unit_test(random_programs_get_the_right_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
