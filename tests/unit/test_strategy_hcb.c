/* test_strategy_hcb.c -- memory and recomputation of blocks and levels on chains, the order, and what does not compress. */
#include "strategy_fixture.h"

static void open_chain(desk *d, unsigned steps)
{
    char count[24];
    snprintf(count, sizeof count, "%u", steps);
    desk_generate(d, "adjoint-chain", 1, (pb_option[]){{"steps", count}});
}

/* Blocks of the root, all borders kept: twice the root in memory, the inside of all blocks but the last recomputed. */
static void chains_take_twice_the_root(void **state)
{
    (void)state;
    for (unsigned root = 3; root <= 30; root += 9) {
        desk d;
        open_chain(&d, root * root);
        const pb_schedule *s = desk_plan(&d, "hcb:blocks=%u,cut=equal,levels=0", root);
        assert_in_range(s->metrics.peak, 2 * root, 2 * root + 2);
        assert_int_equal(s->metrics.recompute_count, (root - 1) * (root - 1));
        desk_shut(&d);
    }
}

/* Every level that is replayed halves the borders and makes half of the steps once more. */
static void levels_halve_the_borders(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, 1024);
    uint64_t last = UINT64_MAX;
    for (unsigned levels = 0; levels <= 7; levels++) {
        const pb_schedule *s = desk_plan(&d, "hcb:blocks=256,cut=equal,levels=%u", levels);
        assert_in_range(s->metrics.peak, 256 >> levels, (256 >> levels) + levels + 7);
        assert_in_range(s->metrics.recompute_count, 500 + 480 * levels, 1024 + 512 * levels);
        assert_true(s->metrics.peak < last);
        last = s->metrics.peak;
    }
    desk_shut(&d);
}

static void as_few_levels_as_fit(void **state)
{
    (void)state;
    desk d;
    open_chain(&d, 400);
    uint64_t last = 0;
    for (d.game.cap = 450; d.game.cap >= 15; d.game.cap = d.game.cap * 2 / 3) {
        const pb_schedule *s = desk_plan(&d, "hcb");
        assert_int_not_equal(s->outcome, PB_GAVE_UP);
        assert_true(s->metrics.recompute >= last);
        assert_true(d.game.cap < 402 || s->metrics.recompute == 0);
        last = s->metrics.recompute;
        assert_non_null(strstr(s->note, "has a frontier of 1 and a largest value of 1"));
    }
    d.game.cap = 7;
    assert_non_null(strstr(desk_plan(&d, "hcb")->reason, "does not fit: the smallest of"));
    desk_shut(&d);
}

/* Many short chains, written side by side and joined at the end: one after the other they hold less. */
static void the_order_is_chosen_for_a_small_frontier(void **state)
{
    (void)state;
    enum { CHAINS = 3, LENGTH = 3 };
    small_game small;
    small_game_init(&small);
    for (uint32_t i = 0; i < LENGTH; i++)
        for (uint32_t c = 0; c < CHAINS; c++)
            small_game_add(&small, 1, i + 1 < LENGTH ? 10 : 1, i ? UINT32_C(1) << ((i - 1) * CHAINS + c) : 0);
    small_game_add(&small, 1, 1, UINT32_C(7) << (LENGTH - 1) * CHAINS);
    for (uint32_t v = CHAINS * LENGTH + 1; v-- > 0;)
        small_game_add(&small, 1, 0,
                       UINT32_C(1) << v | (v < CHAINS * LENGTH ? UINT32_C(1) << (small.node_count - 1) : 0));
    desk d;
    desk_open(&d, &small);
    const pb_schedule *s = desk_plan(&d, "hcb:blocks=3,cut=adaptive");
    assert_non_null(s->note);
    if (!strstr(s->note, "the forward pass, reordered, has a frontier of 12"))
        fail_msg("%s", s->note);
    desk_shut(&d);
}

/* Everything reads everything: program order, and the plan says so. */
static void what_does_not_compress_is_told(void **state)
{
    (void)state;
    small_game small;
    small_game_init(&small);
    for (uint32_t v = 0; v < 8; v++)
        small_game_add(&small, 1, 1, (UINT32_C(1) << v) - 1);
    for (uint32_t v = 8; v-- > 0;)
        small_game_add(&small, 1, 1, UINT32_C(1) << v | (v < 7 ? UINT32_C(1) << (small.node_count - 1) : 0));
    desk d;
    desk_open(&d, &small);
    const pb_schedule *s = desk_plan(&d, "hcb");
    assert_int_equal(s->metrics.recompute, 0);
    assert_string_equal(s->note,
                        "the graph does not compress: 7 of its 8 forward values are in memory at the same time");
    d.game.cap = 8;
    assert_string_equal(desk_plan(&d, "hcb")->reason, "does not fit: its plan needs 9 unit, 1 over the cap of 8 unit");
    desk_shut(&d);
}

static void networks_fit_in_less(void **state)
{
    (void)state;
    static const char *const families[] = {"resnet", "transformer"};
    for (unsigned f = 0; f < 2; f++) {
        desk d;
        desk_generate(&d, families[f], 0, NULL);
        desk_cap(&d, 60);
        assert_int_equal(desk_plan(&d, "hcb")->outcome, PB_FOUND);
        desk_shut(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_take_twice_the_root),     cmocka_unit_test(levels_halve_the_borders),
        cmocka_unit_test(as_few_levels_as_fit),           cmocka_unit_test(the_order_is_chosen_for_a_small_frontier),
        cmocka_unit_test(what_does_not_compress_is_told), cmocka_unit_test(networks_fit_in_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
