/* test_train_gradients.c -- gradients against differences of losses, for every parameter of small networks. */
#include "base/rng.h"
#include "train_bench.h"

#include <stdlib.h>

/* Tried in each list of parameters, and how many of them may lie at a kink: which do depends on the processor's kernels. */
enum { PLACES = 3, KINKS = 1 };

/* The slope of the loss along one number, by two runs. */
static double slope(bench *b, float *at, float step)
{
    float before = *at;
    *at = before + step;
    float up = *at;
    bench_run(b);
    double high = bench_loss(b);
    *at = before - step;
    float down = *at;
    bench_run(b);
    double low = bench_loss(b);
    *at = before;
    return (high - low) / ((double)up - (double)down);
}

static float largest(const float *x, uint64_t count)
{
    float most = 0;
    for (uint64_t i = 0; i < count; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

/* Kinks (of rectifiers and maxima) within the step bend the difference, rounding blurs it: one of several steps has to agree. */
static bool is_slope(bench *b, const network *net, const pbi_param *p, uint64_t place, double said, double most)
{
    static const float steps[] = {4e-3f, 1e-3f, 1.6e-2f, 3e-4f};
    float *at = (float *)((unsigned char *)pb_engine_fixed(b->e) + p->at) + place;
    double seen = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        seen = slope(b, at, steps[i]);
        if (fabs(seen - said) <= 0.02 * fabs(said) + 0.01 * most + 1e-5)
            return true;
    }
    print_message("%s: %s, number %llu: the gradient is %g, and losses say %g\n", net->name,
                  pb_graph_name(b->game.graph, p->grad), (unsigned long long)place, said, seen);
    return false;
}

static void check_network(const network *net)
{
    bench b;
    uint32_t count;
    pbi_rng rng = {7};
    bench_open(&b, net);
    const pbi_param *params = pbi_train_params(b.w, &count);
    assert_true(count >= 3);
    assert_true(bench_plan(&b, "last-use", PB_UNLIMITED));
    bench_steps(&b, 3); /* away from the start, where shifts are zero */
    assert_int_equal(pb_workload_begin(b.w, 3, b.e), PB_OK);
    for (uint32_t i = 0; i < count; i++) {
        const pbi_param *p = &params[i];
        float *grad = malloc(p->count * sizeof *grad);
        assert_non_null(grad);
        bench_run(&b);
        memcpy(grad, pb_engine_value(b.e, p->grad), p->count * sizeof *grad);
        double most = (double)largest(grad, p->count);
        int off = 0;
        for (int k = 0; k < PLACES; k++) {
            uint64_t place = pbi_rng_below(&rng, p->count);
            off += !is_slope(&b, net, p, place, (double)grad[place], most);
        }
        assert_in_range(off, 0, KINKS);
        free(grad);
    }
    bench_close(&b);
}

static void gradients_are_slopes_of_the_loss(void **state)
{
    (void)state;
    need_library();
    for (int i = 0; i < TINY; i++)
        check_network(&tiny[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_are_slopes_of_the_loss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
