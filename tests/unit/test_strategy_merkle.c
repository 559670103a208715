/* test_strategy_merkle.c -- plans of all authentication paths: what each algorithm takes as a plan, which one is chosen, what is
 * not taken for a hash tree; and the graph itself. */
#include "strategy_fixture.h"

#include "pebble/hashtree.h"

static void open_traversal(desk *d, uint32_t height, const char *leaf_cost)
{
    char text[12];
    snprintf(text, sizeof text, "%u", height);
    desk_generate(d, "merkle-traversal", 2, (pb_option[]){{"height", text}, {"leaf-cost", leaf_cost}});
}

/* The work of the stream with its set-up, in no more memory than its slots. */
static void plans_are_what_the_streams_do(void **state)
{
    (void)state;
    for (uint32_t height = 0; height <= 4; height++)
        for (int kind = 0; kind < PB_TRAVERSAL_COUNT; kind++)
            for (uint32_t k = 0; k <= (pb_traversal_takes_k((pb_traversal_kind)kind) ? height : 0); k++) {
                pb_traversal_spec spec = {(pb_traversal_kind)kind, height, k};
                pb_traversal_figures f;
                desk d;
                open_traversal(&d, height, "10");
                assert_int_equal(pb_traversal_measure(&d.ctx, &spec, (pb_traversal_prices){10, 1}, &f), PB_OK);
                d.game.cap = f.slots;
                char how[PB_TRAVERSAL_TEXT];
                pb_traversal_text(&spec, how);
                if (strchr(how, ':'))
                    *strchr(how, ':') = ',';
                const pb_schedule *s = desk_plan(&d, "merkle:algorithm=%s", how);
                assert_true(s->has_metrics);
                assert_true(s->metrics.peak <= f.slots);
                uint64_t leaves = UINT64_C(1) << height;
                assert_int_equal(s->metrics.work, f.work + 10 * leaves + leaves - 1);
                desk_shut(&d);
            }
}

static void less_memory_costs_no_less_and_nothing_fits_below_the_least(void **state)
{
    (void)state;
    desk d;
    open_traversal(&d, 5, "100");
    uint64_t before = UINT64_MAX;
    for (d.game.cap = 6; d.game.cap <= 66; d.game.cap += 6) {
        const pb_schedule *s = desk_plan(&d, "merkle");
        assert_true(s->has_metrics);
        assert_true(s->metrics.work <= before);
        before = s->metrics.work;
    }
    d.game.cap = 5;
    assert_int_equal(desk_plan(&d, "merkle")->outcome, PB_GAVE_UP);
    assert_string_equal(d.p.schedule.reason, "does not fit: direct stores 6 hashes, and the cap has room for 5");
    desk_shut(&d);
}

static void sizes_scale_the_cap(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "merkle-traversal", 2, (pb_option[]){{"height", "5"}, {"hash-size", "32"}});
    d.game.cap = 6 * 32;
    assert_true(desk_plan(&d, "merkle")->has_metrics);
    d.game.cap--;
    assert_false(desk_plan(&d, "merkle")->has_metrics);
    desk_shut(&d);
}

static void other_graphs_are_left_to_others(void **state)
{
    (void)state;
    static const char *const families[] = {"merkle", "chain", "tree", "butterfly"};
    for (unsigned i = 0; i < 4; i++) {
        desk d;
        desk_generate(&d, families[i], 0, NULL);
        assert_string_equal(desk_plan(&d, "merkle")->reason,
                            "does not apply: the graph is not the traversal of a hash tree");
        desk_shut(&d);
    }
    small_game s; /* three nodes in a row, as a tree of height 0 has; but the last one takes memory */
    desk d;
    small_game_init(&s);
    for (uint32_t v = 0; v < 3; v++)
        small_game_add(&s, 1, 1, v ? UINT32_C(1) << (v - 1) : 0);
    desk_open(&d, &s);
    assert_string_equal(desk_plan(&d, "merkle")->reason,
                        "does not apply: the graph is not the traversal of a hash tree");
    desk_shut(&d);
}

static void wrong_options_are_told(void **state)
{
    (void)state;
    static const char *const specs[] = {"merkle:k=3", "merkle:algorithm=treehash", "merkle:algorithm=szydlo,k=2",
                                        "merkle:algorithm=bds,k=9", "merkle:algorithm=bds,k=x"};
    desk d;
    open_traversal(&d, 4, "1");
    for (unsigned i = 0; i < 5; i++) {
        pb_request request = {.strategy = specs[i], .seed = 1};
        pb_status status = pbi_plan_as_made(&d.ctx, &d.game, &request, &d.arena, &d.p);
        assert_true(status == PB_EINVAL || status == PB_EUNKNOWN);
    }
    desk_shut(&d);
}

/* Every path reads its siblings, and they come in order. */
static void the_graph_has_every_path(void **state)
{
    (void)state;
    desk d;
    open_traversal(&d, 5, "3");
    const pb_graph *g = d.game.graph;
    assert_int_equal(g->node_count, 3 * 32);
    assert_int_equal(g->target_count, 1);
    assert_int_equal(g->needed_count, g->node_count);
    assert_int_equal(g->needed_cost, 3 * 32 + 31);
    for (unsigned i = 0; i < 32; i++) {
        char name[24];
        snprintf(name, sizeof name, "path_%u", i);
        pb_node v = pb_graph_find(g, name);
        assert_int_equal(g->in_start[v + 1] - g->in_start[v], 6);
        for (unsigned h = 0; h < 5; h++) {
            snprintf(name, sizeof name, "h%u_%u", h, i >> h ^ 1);
            pb_node u = pb_graph_find(g, name);
            bool read = false;
            for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
                read = read || g->in[k] == u;
            assert_true(read);
        }
    }
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_what_the_streams_do),
        cmocka_unit_test(less_memory_costs_no_less_and_nothing_fits_below_the_least),
        cmocka_unit_test(sizes_scale_the_cap),
        cmocka_unit_test(other_graphs_are_left_to_others),
        cmocka_unit_test(wrong_options_are_told),
        cmocka_unit_test(the_graph_has_every_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
