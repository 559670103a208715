/* test_engine.c -- a certified schedule on real buffers: the peak is the plan's, the results are those of keeping everything. */
#include "pebble/full.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { STEPS = 12, WORDS = 16 };

/* y = 3 x + 1, word by word; the gradient of step i reads the step's input and the gradient after it. */
static pb_status forward(void *state, pb_context *ctx, const pb_call *call)
{
    (void)state;
    (void)ctx;
    const uint64_t *x = call->value[call->node - 1];
    uint64_t *y = call->value[call->node];
    for (int i = 0; i < WORDS; i++)
        y[i] = 3 * x[i] + 1;
    return PB_OK;
}

static pb_status backward(void *state, pb_context *ctx, const pb_call *call)
{
    (void)state;
    (void)ctx;
    pb_node v = call->node, step = 2 * STEPS + 1 - v; /* 1.. of the step whose input it reads */
    const uint64_t *x = call->value[step], *after = call->value[v - 1];
    uint64_t *y = call->value[v];
    for (int i = 0; i < WORDS; i++)
        y[i] = after[i] * 5 + x[i];
    return PB_OK;
}

static pb_status fill(void *state, pb_context *ctx, pb_node v, void *bytes)
{
    (void)state;
    (void)ctx;
    (void)v;
    uint64_t *x = bytes;
    for (int i = 0; i < WORDS; i++)
        x[i] = (uint64_t)i;
    return PB_OK;
}

typedef struct case_ {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_kernel kernel[2 * STEPS + 1];
    pb_kernels kernels;
} case_;

static void open_case(case_ *c)
{
    pb_builder *b;
    pb_context_init(&c->ctx);
    pb_arena_init(&c->arena, &c->ctx);
    assert_int_equal(pb_builder_new(&c->ctx, &b), PB_OK);
    for (pb_node v = 0; v <= 2 * STEPS; v++) {
        pb_node got;
        pb_node_spec spec = {.cost = v ? 1 : 0, .size = WORDS * sizeof(uint64_t)};
        spec.flags = v == 0 ? PB_NODE_GIVEN : v == 2 * STEPS ? PB_NODE_KEEP : 0;
        assert_int_equal(pb_builder_add_node(b, &spec, &got), PB_OK);
        if (v)
            assert_int_equal(pb_builder_add_edge(b, v - 1, v), PB_OK);
        if (v > STEPS + 1)
            assert_int_equal(pb_builder_add_edge(b, 2 * STEPS + 1 - v, v), PB_OK);
        c->kernel[v] = v == 0 ? NULL : v <= STEPS ? forward : backward;
    }
    const pb_graph *g;
    assert_int_equal(pb_builder_freeze(b, &c->arena, &g), PB_OK);
    pb_builder_free(b);
    c->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    c->kernels = (pb_kernels){.of = c->kernel, .fill = fill};
}

static void run_case(case_ *c, uint64_t cap, uint64_t result[WORDS], pb_measured *m)
{
    pb_plan_result planned;
    pb_engine *e;
    c->game.cap = cap;
    assert_int_equal(pb_plan(&c->ctx, &c->game, &PB_REQUEST_DEFAULT, &c->arena, &planned), PB_OK);
    assert_non_null(planned.certificate);
    assert_int_equal(pb_engine_new(&c->ctx, planned.certificate, &c->kernels, &(pb_engine_options){0}, &e), PB_OK);
    assert_int_equal(pb_engine_run(e, m), PB_OK);
    assert_int_equal(m->peak, pb_certificate_totals(planned.certificate)->peak);
    memcpy(result, pb_engine_value(e, 2 * STEPS), WORDS * sizeof *result);
    pb_engine_free(e);
}

static void any_cap_gives_the_same_bits(void **state)
{
    (void)state;
    case_ c;
    uint64_t all[WORDS], some[WORDS], size = WORDS * sizeof *all;
    pb_measured m;
    open_case(&c);
    run_case(&c, PB_UNLIMITED, all, &m);
    assert_int_equal(m.recomputed, 0);
    for (uint64_t cap = 14; cap >= 5; cap--) {
        run_case(&c, cap * size, some, &m);
        assert_true(m.peak <= cap * size);
        assert_true(m.recomputed > 0 || cap > 10);
        assert_memory_equal(all, some, sizeof all);
    }
    pb_arena_release(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_cap_gives_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
