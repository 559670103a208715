/* tests/unit/test_order.c -- orders of small peak: trees, layers, stopping early. Random small games: property/prop_order.c. */
#include "pebble/generate.h"
#include "plan/sequence/order.h"
#include "plan/sequence/sequence.h"
#include "unit/plan_fixture.h"

typedef struct found_order {
    pb_status status;
    pbi_order_found found;
    pb_node order[SMALL_MAX];
} found_order;

static found_order find(bench *b, uint64_t enough, uint64_t effort)
{
    found_order f = {.status = PB_OK};
    pbi_order_options options = {.enough = enough, .effort = effort, .seed = 1};
    f.status = pbi_order_find(&b->ctx, &b->game, &options, f.order, &f.found);
    return f;
}

/* Two pairs of leaves of size 3, a parent of size 1 each, a root: written with all leaves first. */
static void leaves_first(small_game *s)
{
    small_game_init(s);
    for (int i = 0; i < 4; i++)
        small_game_add(s, 1, 3, 0);
    small_game_add(s, 1, 1, bit(0) | bit(1));
    small_game_add(s, 1, 1, bit(2) | bit(3));
    small_game_add(s, 1, 1, bit(4) | bit(5));
}

static void a_tree_is_walked_one_branch_after_the_other(void **state)
{
    (void)state;
    small_game s;
    bench b;
    leaves_first(&s);
    bench_open(&b, &s);
    found_order f = find(&b, 0, 0);
    assert_int_equal(f.status, PB_OK);
    assert_int_equal(f.found.peak, 8); /* one parent with two leaves and the other parent; 13 in program order */
    f = find(&b, 0, 100000);
    assert_int_equal(f.found.peak, 8);
    assert_int_equal(f.found.min_peak, 8);
    bench_close(&b);
}

static void the_order_as_written_stays_where_it_is_enough(void **state)
{
    (void)state;
    small_game s;
    bench b;
    leaves_first(&s);
    bench_open(&b, &s);
    found_order f = find(&b, 13, 100000);
    assert_int_equal(f.found.peak, 13);
    assert_true(f.found.min_peak <= 8);
    for (pb_node v = 0; v < 7; v++)
        assert_int_equal(f.order[v], v);
    b.game.cap = 12;
    uint64_t peak;
    assert_int_equal(pbi_order_low_peak(&b.ctx, &b.game, 100000, f.order, &peak), PB_OK);
    assert_true(peak <= 12);
    bench_close(&b);
}

static void an_empty_game_has_an_empty_order(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    s.fixed_size = 4;
    bench_open(&b, &s);
    found_order f = find(&b, 0, 1000);
    assert_int_equal(f.status, PB_OK);
    assert_int_equal(f.found.peak, 4);
    assert_int_equal(f.found.min_peak, 4);
    bench_close(&b);
}

/* The large sizes of conformance: sums near 2^64. */
static void sizes_near_the_end_of_the_range_do_not_overflow(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    const uint64_t big = UINT64_C(1) << 61;
    for (int i = 0; i < 3; i++)
        small_game_add(&s, 1, big, 0);
    for (unsigned i = 0; i < 3; i++)
        small_game_add(&s, 1, 1, bit(i));
    small_game_add(&s, 1, 1, bit(3) | bit(4) | bit(5));
    bench_open(&b, &s);
    found_order f = find(&b, 0, 0);
    assert_true(f.found.peak == big + 3);
    f = find(&b, 0, 1000);
    assert_true(f.found.peak == big + 3 && f.found.min_peak == big + 3);
    bench_close(&b);
}

/* ---- layered graphs, too large for the exact search ---- */

typedef struct layers {
    pb_context ctx;
    pb_arena arena;
    pb_game game;
    pb_node *order;
} layers;

static void open_layers(layers *l, const char *nodes)
{
    const pb_option params[] = {{"nodes", nodes}, {"seed", "5"}};
    const pb_graph *g = NULL;
    pb_context_init(&l->ctx);
    pb_arena_init(&l->arena, &l->ctx);
    assert_int_equal(pb_generate(&l->ctx, "layered", params, 2, &l->arena, &g), PB_OK);
    l->game = (pb_game){.graph = g, .kind = PB_GAME_REMAT, .cap = 0, .weights = PB_WEIGHTS_DEFAULT};
    l->order = pb_arena_alloc(&l->arena, g->needed_count, sizeof *l->order);
    assert_non_null(l->order);
}

static uint64_t measured(layers *l)
{
    pbi_sequence s;
    pbi_figures figures;
    pb_game open = l->game;
    open.cap = PB_UNLIMITED;
    pbi_sequence_init(&s, &l->arena);
    for (uint32_t i = 0; i < l->game.graph->needed_count; i++)
        assert_int_equal(pbi_sequence_add(&s, l->order[i]), PB_OK);
    assert_int_equal(pbi_sequence_emit(&l->ctx, &open, &s, NULL, &figures), PB_OK);
    return figures.peak;
}

static void more_effort_brings_smaller_peaks_on_layers(void **state)
{
    (void)state;
    layers l;
    open_layers(&l, "2000");
    uint64_t written, peak[3];
    assert_int_equal(pb_graph_program_peak(&l.ctx, l.game.graph, &written), PB_OK);
    const uint64_t effort[3] = {0, 20000, 200000};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pbi_order_low_peak(&l.ctx, &l.game, effort[i], l.order, &peak[i]), PB_OK);
        assert_int_equal(peak[i], measured(&l));
    }
    assert_true(peak[0] < written);
    assert_true(peak[1] < peak[0]);
    assert_true(peak[2] < peak[1]);
    pb_arena_release(&l.arena);
}

static void a_stop_leaves_the_best_order_so_far(void **state)
{
    (void)state;
    layers l;
    open_layers(&l, "1000");
    const uint64_t limit[] = {1, 10000, 100000, 150000};
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < 4; i++) {
        uint64_t peak = 0;
        l.ctx.tick_limit = limit[i];
        l.ctx.ticks = 0;
        assert_int_equal(pbi_order_low_peak(&l.ctx, &l.game, 10000000, l.order, &peak), PB_ELIMIT);
        l.ctx.tick_limit = 0;
        assert_int_equal(peak, measured(&l));
        assert_true(peak <= before);
        before = peak;
    }
    pb_arena_release(&l.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_walked_one_branch_after_the_other),
        cmocka_unit_test(the_order_as_written_stays_where_it_is_enough),
        cmocka_unit_test(an_empty_game_has_an_empty_order),
        cmocka_unit_test(sizes_near_the_end_of_the_range_do_not_overflow),
        cmocka_unit_test(more_effort_brings_smaller_peaks_on_layers),
        cmocka_unit_test(a_stop_leaves_the_best_order_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
