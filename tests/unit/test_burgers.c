/* test_burgers.c -- the adjoint of the solver against finite differences and by the dot-product test. */
#include "base/rng.h"
#include "workloads/burgers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 24, POINTS = N * N, STEPS = 30 };

static pbi_burgers model;
static double state[STEPS + 1][POINTS], gradient[POINTS + PBI_BURGERS_TAIL], work[2 * POINTS];

static double objective_from(const pbi_burgers *b, const double *begin)
{
    double u[POINTS];
    memcpy(u, begin, sizeof u);
    for (int i = 0; i < STEPS; i++)
        pbi_burgers_step(b, u, u, work);
    return pbi_burgers_objective(b, u);
}

static void make_gradient(void)
{
    pbi_burgers_init(&model, N);
    pbi_burgers_begin(&model, state[0]);
    for (int i = 0; i < STEPS; i++)
        pbi_burgers_step(&model, state[i], state[i + 1], work);
    pbi_burgers_turn(&model, state[STEPS], gradient);
    for (int i = STEPS; i-- > 0;)
        pbi_burgers_reverse(&model, state[i], gradient, gradient, work);
}

static void random_field(uint64_t seed, double *field)
{
    pbi_rng rng = {seed};
    for (int i = 0; i < POINTS; i++)
        field[i] = 2 * pbi_rng_real(&rng) - 1;
}

static double dot(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += a[i] * b[i];
    return sum;
}

static void the_gradient_by_the_initial_state_is_that_of_differences(void **unused)
{
    (void)unused;
    double along[POINTS], plus[POINTS], minus[POINTS], e = 1e-5;
    make_gradient();
    assert_true(fabs(gradient[POINTS + PBI_BURGERS_OBJECTIVE] - objective_from(&model, state[0])) == 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        random_field(seed, along);
        for (int i = 0; i < POINTS; i++) {
            plus[i] = state[0][i] + e * along[i];
            minus[i] = state[0][i] - e * along[i];
        }
        double difference = (objective_from(&model, plus) - objective_from(&model, minus)) / (2 * e);
        double slope = dot(gradient, along);
        assert_true(fabs(slope) > 1e-9);
        assert_true(fabs(difference - slope) <= 1e-6 * fabs(slope));
    }
}

static void the_gradient_by_nu_is_that_of_differences(void **unused)
{
    (void)unused;
    make_gradient();
    pbi_burgers plus = model, minus = model;
    double e = 1e-5 * model.nu;
    plus.nu += e;
    minus.nu -= e;
    double difference = (objective_from(&plus, state[0]) - objective_from(&minus, state[0])) / (2 * e);
    double slope = gradient[POINTS + PBI_BURGERS_BY_NU];
    assert_true(fabs(slope) > 1e-9);
    assert_true(fabs(difference - slope) <= 1e-6 * fabs(slope));
}

/* The derivative of f at u along du and dnu, written out once more. */
static void rate_along(const double *u, const double *du, double dnu, double *out)
{
    double h = model.h;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            int e = y * N + (x + 1) % N, w = y * N + (x + N - 1) % N;
            int n = (y + 1) % N * N + x, s = (y + N - 1) % N * N + x, at = y * N + x;
            out[at] = -(u[e] * du[e] - u[w] * du[w] + u[n] * du[n] - u[s] * du[s]) / (2 * h) +
                      model.nu / (h * h) * (du[e] + du[w] + du[n] + du[s] - 4 * du[at]) +
                      dnu / (h * h) * (u[e] + u[w] + u[n] + u[s] - 4 * u[at]);
        }
}

/* The derivative of a step. */
static void step_along(const double *u, double *du, double dnu)
{
    double mid[POINTS], dmid[POINTS], rate[POINTS], next[POINTS];
    pbi_burgers_step(&model, u, next, mid);
    rate_along(u, du, dnu, rate);
    for (int i = 0; i < POINTS; i++)
        dmid[i] = du[i] + 0.5 * model.dt * rate[i];
    rate_along(mid, dmid, dnu, rate);
    for (int i = 0; i < POINTS; i++)
        du[i] += model.dt * rate[i];
}

/* <F du, g> = <du, F^T g>, for one step and for all, to the last few bits. */
static void the_adjoint_is_the_transpose_of_the_derivative(void **unused)
{
    (void)unused;
    make_gradient();
    for (int length = 1; length <= STEPS; length += STEPS - 1) {
        double du[POINTS], g[POINTS + PBI_BURGERS_TAIL] = {0}, begin[POINTS], end[POINTS], dnu = 0.37;
        random_field(11, begin);
        random_field(12, end);
        memcpy(du, begin, sizeof du);
        memcpy(g, end, sizeof end);
        for (int i = 0; i < length; i++)
            step_along(state[i], du, dnu);
        for (int i = length; i-- > 0;)
            pbi_burgers_reverse(&model, state[i], g, g, work);
        double forwards = dot(du, end), backwards = dot(begin, g) + dnu * g[POINTS + PBI_BURGERS_BY_NU];
        assert_true(fabs(forwards - backwards) <= 1e-12 * (fabs(forwards) + 1));
    }
}

static void results_in_the_place_of_inputs_have_the_same_bits(void **unused)
{
    (void)unused;
    double u[POINTS], next[POINTS], before[POINTS + PBI_BURGERS_TAIL];
    make_gradient();
    memcpy(u, state[3], sizeof u);
    pbi_burgers_step(&model, u, next, work);
    pbi_burgers_step(&model, u, u, work);
    assert_memory_equal(u, next, sizeof u);
    pbi_burgers_reverse(&model, state[3], gradient, before, work);
    pbi_burgers_reverse(&model, state[3], gradient, gradient, work);
    assert_memory_equal(before, gradient, sizeof before);
}

/* Many steps on every size stay within bounds: the scheme is stable. */
static void the_solution_stays_bounded(void **unused)
{
    (void)unused;
    static double u[128 * 128], mid[128 * 128];
    for (uint32_t n = 8; n <= 128; n *= 2) {
        pbi_burgers b;
        pbi_burgers_init(&b, n);
        pbi_burgers_begin(&b, u);
        double first = 0, sum = 0;
        for (uint32_t i = 0; i < n * n; i++)
            first += u[i];
        for (int i = 0; i < 500; i++)
            pbi_burgers_step(&b, u, u, mid);
        for (uint32_t i = 0; i < n * n; i++) {
            assert_true(fabs(u[i]) < 1.5);
            sum += u[i];
        }
        assert_true(fabs(sum - first) < 1e-9 * n * n); /* nothing flows in or out */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_by_the_initial_state_is_that_of_differences),
        cmocka_unit_test(the_gradient_by_nu_is_that_of_differences),
        cmocka_unit_test(the_adjoint_is_the_transpose_of_the_derivative),
        cmocka_unit_test(results_in_the_place_of_inputs_have_the_same_bits),
        cmocka_unit_test(the_solution_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
