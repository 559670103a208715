/* test_plain_loops.c -- loops over an input give the bits of those with an output of their own, and what they should. */
#include "workloads/plain_loops.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 1003, ROWS = 17, COLUMNS = 59 };

static void draw(float *x, uint64_t seed)
{
    pbi_rng rng = {seed};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(2 * pbi_rng_real(&rng) - 1);
}

static void over_an_input_is_as_beside_it(void **state)
{
    (void)state;
    static float a[COUNT], b[COUNT], beside[COUNT], over[COUNT];
    pbi_mask mask = {.seed = 3, .step = 5, .layer = 7, .rate = 0.3f};
    draw(a, 1);
    draw(b, 2);
    pbi_loop_relu(a, beside, COUNT);
    memcpy(over, a, sizeof a);
    pbi_loop_relu(over, over, COUNT);
    assert_memory_equal(beside, over, sizeof a);
    pbi_loop_relu_back(a, b, beside, COUNT);
    memcpy(over, b, sizeof b);
    pbi_loop_relu_back(a, over, over, COUNT);
    assert_memory_equal(beside, over, sizeof a);
    pbi_loop_add(a, b, beside, COUNT);
    memcpy(over, a, sizeof a);
    pbi_loop_add(over, b, over, COUNT);
    assert_memory_equal(beside, over, sizeof a);
    memcpy(over, b, sizeof b);
    pbi_loop_add(a, over, over, COUNT);
    assert_memory_equal(beside, over, sizeof a);
    pbi_loop_dropout(&mask, a, beside, COUNT);
    memcpy(over, a, sizeof a);
    pbi_loop_dropout(&mask, over, over, COUNT);
    assert_memory_equal(beside, over, sizeof a);
    pbi_loop_softmax_back(a, b, beside, ROWS, COLUMNS);
    memcpy(over, b, sizeof b);
    pbi_loop_softmax_back(a, over, over, ROWS, COLUMNS);
    assert_memory_equal(beside, over, ROWS * COLUMNS * sizeof *a);
}

/* How many numbers stay; those that do are scaled up. */
static int kept(const pbi_mask *mask, float *y)
{
    static float ones[COUNT];
    int count = 0;
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    pbi_loop_dropout(mask, ones, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_true(y[i] == 0 || fabsf(y[i] * (1 - mask->rate) - 1) < 1e-6f);
        count += y[i] != 0;
    }
    return count;
}

static void masks_come_from_seed_step_and_layer(void **state)
{
    (void)state;
    static float one[COUNT], other[COUNT];
    pbi_mask mask = {.seed = 1, .step = 0, .layer = 0, .rate = 0.25f};
    int count = kept(&mask, one);
    assert_in_range(count, COUNT * 70 / 100, COUNT * 80 / 100);
    assert_int_equal(kept(&mask, other), count);
    assert_memory_equal(one, other, sizeof one);
    for (int which = 0; which < 3; which++) {
        pbi_mask changed = mask;
        *(which == 0 ? &changed.seed : which == 1 ? &changed.step : &changed.layer) += 1;
        int same = 0;
        assert_in_range(kept(&changed, other), COUNT * 70 / 100, COUNT * 80 / 100);
        for (int i = 0; i < COUNT; i++)
            same += (one[i] != 0) == (other[i] != 0);
        assert_in_range(same, COUNT * 55 / 100, COUNT * 70 / 100); /* 0.75^2 + 0.25^2 of them by chance */
    }
}

static void the_loss_is_that_of_softmax(void **state)
{
    (void)state;
    const float logits[2][3] = {{1, 2, 3}, {100, 0, -100}};
    const int32_t label[2] = {2, 1};
    float d[2][3];
    double e = log(exp(1) + exp(2) + exp(3)) - 3;
    assert_true(fabs(pbi_loop_loss(&logits[0][0], label, 2, 3) - (e + 100) / 2) < 1e-6);
    pbi_loop_loss_back(&logits[0][0], label, &d[0][0], 2, 3);
    assert_true(fabs((double)d[0][2] - (exp(-e) - 1) / 2) < 1e-6);
    assert_true(fabsf(d[0][0] + d[0][1] + d[0][2]) < 1e-6f);
    assert_true(fabsf(d[1][0] - 0.5f) < 1e-6f && fabsf(d[1][1] + 0.5f) < 1e-6f && d[1][2] == 0);
}

static void momentum_adds_up(void **state)
{
    (void)state;
    float w = 1, m = 0;
    const float grad = 2;
    pbi_loop_momentum(&w, &m, &grad, 1, 0.25f, 0.5f);
    assert_true(m == 2 && w == 0.5f);
    pbi_loop_momentum(&w, &m, &grad, 1, 0.25f, 0.5f);
    assert_true(m == 3 && w == -0.25f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_an_input_is_as_beside_it), cmocka_unit_test(masks_come_from_seed_step_and_layer),
        cmocka_unit_test(the_loss_is_that_of_softmax), cmocka_unit_test(momentum_adds_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
