/* test_graph_peak.c -- the peak in program order, and looking nodes up. */
#include "graph_fixture.h"
#include "support/cases.h"
#include "support/small_game.h"

static uint64_t peak_of(bench *t)
{
    uint64_t peak = 12345;
    assert_int_equal(bench_freeze(t), PB_OK);
    assert_int_equal(pb_graph_program_peak(&t->ctx, t->g, &peak), PB_OK);
    return peak;
}

static void nothing_has_its_fixed_size(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    assert_int_equal(peak_of(&t), 0);
    pb_builder_set_fixed_size(t.b, 7);
    assert_int_equal(peak_of(&t), 7);
    bench_close(&t);
}

static void a_chain_holds_two_neighbours(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 1, 5, 0);
    bench_node(&t, "b", 1, 3, 0);
    bench_node(&t, "c", 1, 4, 0);
    bench_edges(&t, "a>b b>c");
    assert_int_equal(peak_of(&t), 8); /* a and b */
    bench_close(&t);
}

static void kept_values_stay_and_unread_ones_go(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 1, 5, PB_NODE_KEEP);
    bench_node(&t, "b", 1, 3, 0); /* a sink: gone after its computation */
    bench_node(&t, "c", 1, 4, 0);
    assert_int_equal(peak_of(&t), 9); /* a with c; b is gone by then */
    bench_close(&t);
}

static void workspace_counts_only_during_its_computation(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    pb_node_spec spec = {.name = "a", .size = 2, .workspace = 10};
    assert_int_equal(pb_builder_add_node(t.b, &spec, NULL), PB_OK);
    bench_node(&t, "b", 1, 9, 0);
    bench_edges(&t, "a>b");
    assert_int_equal(peak_of(&t), 12); /* not 2 + 9 + 10 */
    bench_close(&t);
}

static void given_values_are_there_from_the_start(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "x", 0, 10, PB_NODE_GIVEN);                      /* read by the first computation */
    bench_node(&t, "y", 0, 20, PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW); /* read by the last */
    bench_node(&t, "z", 0, 40, PB_NODE_GIVEN);                      /* never read: gone at once */
    bench_node(&t, "a", 1, 1, 0);
    bench_node(&t, "b", 1, 100, 0);
    bench_edges(&t, "x>a a>b y>b");
    assert_int_equal(peak_of(&t), 121); /* y, a and b; the start has 70 */
    bench_close(&t);
}

static void the_start_may_be_the_peak(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "x", 0, 10, PB_NODE_GIVEN);
    bench_node(&t, "z", 0, 40, PB_NODE_GIVEN);
    bench_node(&t, "a", 1, 1, 0);
    bench_edges(&t, "x>a");
    pb_builder_set_fixed_size(t.b, 5);
    assert_int_equal(peak_of(&t), 55);
    bench_close(&t);
}

static void byproducts_come_with_their_node(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "v", 1, 2, 0);
    bench_node(&t, "read", 0, 4, 0);
    bench_node(&t, "unread", 0, 8, 0);
    bench_node(&t, "r", 1, 1, 0);
    bench_edges(&t, "v>r read>r");
    pb_builder_set_byproduct(t.b, 1, 0);
    pb_builder_set_byproduct(t.b, 2, 0);
    assert_int_equal(peak_of(&t), 14); /* all of v's values; then 2 + 4 + 1 */
    bench_close(&t);
}

static void the_named_order_decides(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        bench t;
        bench_open(&t);
        bench_node(&t, "a", 1, 10, 0);
        bench_node(&t, "b", 1, 10, 0);
        bench_node(&t, "c", 1, 1, 0);
        bench_node(&t, "d", 1, 1, 0);
        bench_edges(&t, "a>c b>d");
        if (named)
            bench_order(&t, "a c b d");
        assert_int_equal(peak_of(&t), named ? 11 : 21);
        bench_close(&t);
    }
}

static void huge_sizes_do_not_wrap(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_node(&t, "a", 1, UINT64_C(1) << 63, 0);
    bench_node(&t, "b", 1, (UINT64_C(1) << 63) - 3, 0);
    bench_edges(&t, "a>b");
    assert_int_equal(peak_of(&t), UINT64_MAX - 2);
    bench_close(&t);
}

/* The definition, word for word: who is there is worked out anew at each computation. */
static uint64_t simulated(const pb_graph *g)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i <= g->order_count; i++) { /* i counts computations; the start is i = 0 */
        uint64_t now = g->fixed_size;
        for (pb_node v = 0; v < g->node_count; v++) {
            uint32_t made = 0, last = 0; /* 1-based computations; 0: from the start, never read */
            bool given = g->flags[v] & PB_NODE_GIVEN;
            for (uint32_t k = 0; k < g->order_count; k++) {
                pb_node w = g->order[k];
                bool makes = w == v || (g->owner && g->owner[v] == w);
                if (makes && !given)
                    made = last = k + 1;
                for (uint32_t e = g->in_start[w]; e < g->in_start[w + 1]; e++)
                    if (g->in[e] == v)
                        last = k + 1;
            }
            bool there = given ? last >= i : made && made <= i && last >= i;
            bool kept = (g->flags[v] & PB_NODE_KEEP) && made <= i;
            now += there || kept ? g->size[v] : 0;
        }
        now += i ? g->workspace[g->order[i - 1]] : 0;
        peak = now > peak ? now : peak;
    }
    return peak;
}

static void the_peak_is_that_of_a_plain_simulation(void **state)
{
    (void)state;
    for (uint64_t seed = 1, cases = test_cases(2000); seed <= cases; seed++) {
        small_game s;
        pb_context ctx;
        pb_arena arena;
        pb_game game;
        uint64_t peak;
        (seed % 2 ? small_game_random : small_game_random_large)(seed, PB_GAME_ALL, &s);
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_true(small_game_build(&ctx, &s, &arena, &game));
        assert_int_equal(pb_graph_program_peak(&ctx, game.graph, &peak), PB_OK);
        if (peak != simulated(game.graph)) {
            small_game_print(&s, stderr);
            fail_msg("peak %" PRIu64 ", simulated %" PRIu64, peak, simulated(game.graph));
        }
        pb_arena_release(&arena);
    }
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a");
    assert_int_equal(bench_freeze(&t), PB_OK);
    uint64_t peak = 99;
    t.ctx.memory_limit = 1;
    assert_int_equal(pb_graph_program_peak(&t.ctx, t.g, &peak), PB_ENOMEM);
    assert_int_equal(peak, 99);
    bench_close(&t);
}

static void nodes_are_found_by_name_before_index(void **state)
{
    (void)state;
    bench t;
    bench_open(&t);
    bench_nodes(&t, "a 0 c");
    assert_int_equal(bench_freeze(&t), PB_OK);
    assert_int_equal(pb_graph_find(t.g, "c"), 2);
    assert_int_equal(pb_graph_find(t.g, "0"), 1); /* the name wins over the index */
    assert_int_equal(pb_graph_find(t.g, "2"), 2);
    assert_int_equal(pb_graph_find(t.g, "3"), PB_NO_NODE);
    assert_int_equal(pb_graph_find(t.g, "18446744073709551616"), PB_NO_NODE);
    assert_int_equal(pb_graph_find(t.g, "4294967296"), PB_NO_NODE); /* 2^32 is not node 0 */
    assert_int_equal(pb_graph_find(t.g, ""), PB_NO_NODE);
    assert_int_equal(pb_graph_find(t.g, "-1"), PB_NO_NODE);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_its_fixed_size),
        cmocka_unit_test(a_chain_holds_two_neighbours),
        cmocka_unit_test(kept_values_stay_and_unread_ones_go),
        cmocka_unit_test(workspace_counts_only_during_its_computation),
        cmocka_unit_test(given_values_are_there_from_the_start),
        cmocka_unit_test(the_start_may_be_the_peak),
        cmocka_unit_test(byproducts_come_with_their_node),
        cmocka_unit_test(the_named_order_decides),
        cmocka_unit_test(huge_sizes_do_not_wrap),
        cmocka_unit_test(the_peak_is_that_of_a_plain_simulation),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(nodes_are_found_by_name_before_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
