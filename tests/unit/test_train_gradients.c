/* test_train_gradients.c -- gradients against differences of losses, for every parameter of small networks. */
#include "base/rng.h"
#include "train_fixture.h"

#include <stdlib.h>

/* How a gradient is tried: along all weights of a list of parameters, along a random half of them, and likewise along its shifts. */
enum { WAYS = 4 };
/* The most that gradient and losses may be apart, as a share: half of 5 %. Kernels on one machine were at most 1.7 % apart. */
#define TOLERANCE 0.025
/* Gradients below this share of the largest list's cannot be seen in float32: shifts in front of a norm have none at all. */
#define UNSEEN 2e-3

static double length(const float *x, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* The loss with a list of parameters moved by step * way. */
static double loss_at(bench *b, float *at, const float *before, const float *way, uint64_t count, double step)
{
    for (uint64_t i = 0; i < count; i++)
        at[i] = (float)((double)before[i] + step * (double)way[i]);
    bench_run(b);
    memcpy(at, before, count * sizeof *at);
    return bench_loss(b);
}

static double middle(double a, double b, double c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }

/* Along its own direction a gradient's slope is its length. Steps change the loss by far more than the rounding of float32 and move each
 * parameter by so little that hardly a rectifier or a maximum turns; of three steps the middle one counts. */
static void check_slope(bench *b, const network *net, const pbi_param *p, const float *way, float *before)
{
    static const double change[] = {2e-4, 1e-4, 5e-5};
    float *at = (float *)((unsigned char *)pb_engine_fixed(b->e) + p->at);
    double said = length(way, p->count), slope[3];
    memcpy(before, at, p->count * sizeof *at);
    for (int i = 0; i < 3; i++) {
        double step = change[i] / 2 / (said * said);
        double high = loss_at(b, at, before, way, p->count, step), low = loss_at(b, at, before, way, p->count, -step);
        slope[i] = (high - low) / (2 * step * said);
    }
    double seen = middle(slope[0], slope[1], slope[2]);
    if (fabs(seen - said) > TOLERANCE * said)
        fail_msg("%s: %s: the gradient's slope is %g, and losses say %g", net->name,
                 pb_graph_name(b->game.graph, p->grad), said, seen);
}

static float *take(uint64_t count)
{
    float *x = malloc(count * sizeof *x);
    assert_non_null(x);
    return x;
}

static double largest_gradient(bench *b, const pbi_param *params, uint32_t count)
{
    double most = 0;
    bench_run(b);
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, length(pb_engine_value(b->e, params[i].grad), params[i].count));
    return most;
}

static void check_network(const network *net)
{
    bench b;
    uint32_t count, seen = 0;
    pbi_rng rng = {7};
    bench_open(&b, net);
    const pbi_param *params = pbi_train_params(b.w, &count);
    assert_true(count >= 3);
    assert_true(bench_plan(&b, "cache-all", PB_UNLIMITED)); /* gradients of all lists are there at the end */
    bench_steps(&b, 3);                                     /* away from the start, where shifts are zero */
    assert_int_equal(pb_workload_begin(b.w, 3, b.e), PB_OK);
    double most = largest_gradient(&b, params, count);
    for (uint32_t i = 0; i < count; i++) {
        const pbi_param *p = &params[i];
        float *grad = take(p->count), *way = take(p->count), *before = take(p->count);
        bench_run(&b);
        memcpy(grad, pb_engine_value(b.e, p->grad), p->count * sizeof *grad);
        for (int k = 0; k < WAYS; k++) {
            for (uint64_t j = 0; j < p->count; j++)
                way[j] = (j < p->lead) == (k < 2) && (k % 2 == 0 || pbi_rng_below(&rng, 2)) ? grad[j] : 0;
            if (length(way, p->count) < UNSEEN * most)
                continue;
            check_slope(&b, net, p, way, before);
            seen += k == 0;
        }
        free(grad);
        free(way);
        free(before);
    }
    assert_true(2 * seen > count); /* of most lists there is something to see */
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
