/* test_train_revnet.c -- blocks that are really inverted: memory does not grow with depth, and values come back. */
#include "train_fixture.h"

#include <stdlib.h>

/* Memory of values beside what the parameters need: their gradients are kept to the end. */
enum { ACTIVATIONS = 400000 };

static uint64_t kept_bytes(const pb_graph *g)
{
    uint64_t sum = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++)
        sum += g->flags[v] & PB_NODE_KEEP ? g->size[v] : 0;
    return sum;
}

static void deeper_blocks_are_inverted_in_the_same_memory(void **state)
{
    (void)state;
    need_library();
    static const char *const depths[] = {"4", "16", "32"};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        network net = {"revnet",
                       {{"model", "revnet"}, {"batch", "256"}, {"depth", NULL}, {"width", "32"}, {"image", "4"}},
                       5,
                       "256"};
        bench b;
        char text[200];
        double difference = -1;
        net.option[2].value = depths[i];
        bench_open(&b, &net);
        uint64_t cap = kept_bytes(b.game.graph) + ACTIVATIONS;
        assert_int_equal(pb_graph_check(&b.ctx, b.game.graph), PB_OK);
        bool found = false; /* the strategy has no look-ahead: a plan may be missing at one cap and found below it */
        for (uint64_t most = cap + ACTIVATIONS / 2; !found && cap <= most; cap += found ? 0 : ACTIVATIONS / 20)
            found = bench_plan(&b, "demand", cap);
        if (!found)
            fail_msg("depth %s: no plan in %llu bytes", depths[i], (unsigned long long)cap);
        bench_steps(&b, 3);
        assert_true(b.m.peak == b.peak);
        assert_true(b.m.peak <= cap);
        assert_true(b.m.recomputed > 0);
        pb_workload_text(b.w, text, sizeof text);
        const char *at = strstr(text, "differ by at most ");
        assert_non_null(at);
        difference = strtod(at + strlen("differ by at most "), NULL);
        assert_true(difference >= 0 && difference < 1e-3);
        print_message("depth %s: %llu bytes, %llu in program order: %s\n", depths[i], (unsigned long long)b.m.peak,
                      (unsigned long long)b.written, text);
        bench_close(&b);
    }
}

static void without_recoveries_results_are_bit_equal(void **state)
{
    (void)state;
    need_library();
    network net = {
        "revnet", {{"model", "revnet"}, {"batch", "64"}, {"depth", "6"}, {"width", "32"}, {"image", "4"}}, 5, "64"};
    char all[PB_HASH_TEXT], less[PB_HASH_TEXT], text[200];
    bench b;
    bench_open(&b, &net);
    assert_true(bench_plan(&b, "cache-all", PB_UNLIMITED));
    bench_steps(&b, 2);
    assert_int_equal(pb_workload_digest(b.w, b.e, all), PB_OK);
    assert_true(bench_plan(&b, "sqrt", b.written * 9 / 10));
    bench_steps(&b, 2);
    assert_int_equal(pb_workload_digest(b.w, b.e, less), PB_OK);
    assert_string_equal(all, less);
    pb_workload_text(b.w, text, sizeof text);
    assert_null(strstr(text, "differ"));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deeper_blocks_are_inverted_in_the_same_memory),
        cmocka_unit_test(without_recoveries_results_are_bit_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
