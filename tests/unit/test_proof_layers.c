/* test_proof_layers.c -- layers to keep for proofs: expected figures against every set of leaves of small trees. */
#include "pebble/hashtree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Totals over all sets of `queries` leaves, counted node by node. */
typedef struct total {
    double sets, subtrees[6], work[6], hashes;
} total;

static void count_set(uint32_t height, uint32_t set, uint64_t leaf, uint64_t hash, total *t)
{
    uint32_t on[7] = {set}; /* by level: nodes on paths */
    for (uint32_t h = 0; h < height; h++)
        for (uint32_t i = 0; i < 1u << (height - h); i++)
            on[h + 1] |= (on[h] >> i & 1) << (i / 2);
    t->sets++;
    for (uint32_t h = 0; h < height; h++)
        for (uint32_t i = 0; i < 1u << (height - h); i++)
            t->hashes += !(on[h] >> i & 1) && (on[h] >> (i ^ 1) & 1);
    for (uint32_t d = 0; d <= height; d++)
        for (uint32_t root = 0; root < 1u << (height - d); root++) {
            if (!(on[d] >> root & 1))
                continue;
            t->subtrees[d]++;
            for (uint32_t h = 0; h < d; h++)
                for (uint32_t i = root << (d - h); i < (root + 1) << (d - h); i++)
                    if (!(on[h] >> i & 1))
                        t->work[d] += (double)(h ? hash : leaf);
        }
}

static unsigned ones(uint32_t set)
{
    unsigned count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

static void expected_figures_are_the_means_over_all_sets(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    for (uint32_t height = 0; height <= 4; height++)
        for (uint32_t queries = 1; queries <= 1u << height; queries++) {
            pb_proof_request r = {height, queries, UINT64_MAX, {7, 2}};
            pb_proof_choice c;
            total t = {0};
            for (uint32_t set = 1; set < UINT32_C(1) << (1u << height); set++)
                if (ones(set) == queries)
                    count_set(height, set, 7, 2, &t);
            assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_OK);
            assert_int_equal(c.row_count, height + 1);
            assert_int_equal(c.winner, 0);
            assert_true(near(c.batch_hashes, t.hashes / t.sets));
            for (uint32_t d = 0; d <= height; d++) {
                assert_true(near(c.row[d].subtrees, t.subtrees[d] / t.sets));
                assert_true(near(c.row[d].batch_work, t.work[d] / t.sets));
                if (queries == 1)
                    assert_true(near(c.row[d].batch_work, (double)c.row[d].work));
                assert_int_equal(c.row[d].kept, (2u << (height - d)) - 1);
            }
        }
}

static void the_fewest_layers_are_dropped_that_fit(void **state)
{
    (void)state;
    pb_context ctx;
    pb_proof_choice c;
    pb_context_init(&ctx);
    pb_proof_request r = {20, 100, 100000, {50, 1}};
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_OK);
    assert_int_equal(c.winner, 5);
    assert_int_equal(c.row[5].stored, 65535 + 5);
    assert_int_equal(c.row[5].work, 31 * 50 + 26);
    r.cap = 20; /* the root is kept as well */
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_OK);
    assert_true(c.winner == UINT32_MAX);
    r.queries = 0;
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_ERANGE);
    r = (pb_proof_request){3, 9, UINT64_MAX, {1, 1}};
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_ERANGE);
    r = (pb_proof_request){41, 1, UINT64_MAX, {1, 1}};
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_ERANGE);
    r = (pb_proof_request){20, 1, UINT64_MAX, {UINT64_MAX, 1}};
    assert_int_equal(pb_proof_layers(&ctx, &r, &c), PB_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expected_figures_are_the_means_over_all_sets),
        cmocka_unit_test(the_fewest_layers_are_dropped_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
