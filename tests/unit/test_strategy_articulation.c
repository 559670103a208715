/* test_strategy_articulation.c -- segments end at articulation points and nowhere else, against a search that takes each
 * node out. */
#include "strategy_fixture.h"

/* A forward part of `count` nodes, each reading `in`, of size 1, then gradients that read them backwards. */
static void add_training(small_game *s, const uint32_t *in, uint32_t count)
{
    small_game_init(s);
    for (uint32_t v = 0; v < count; v++)
        small_game_add(s, 1, 1, in[v]);
    for (uint32_t v = count; v-- > 0;)
        small_game_add(s, 1, 1, bit(v) | (v + 1 < count ? bit(s->node_count - 1) : 0));
}

/* Which forward nodes are made once when every articulation point is an end? With b 0 those are the points and the last
 * segment. */
static uint32_t made_once(desk *d, uint32_t count)
{
    uint32_t once = 0;
    desk_plan(d, "articulation:variant=greedy,b=0");
    for (uint32_t v = 0; v < count; v++)
        once |= desk_computations(d, v) == 1 ? bit(v) : 0;
    return once;
}

static uint32_t parts(const uint32_t *in, uint32_t count, uint32_t without)
{
    uint32_t left = (bit(count) - 1) & ~without, found = 0;
    while (left) {
        uint32_t part = left & (~left + 1), before = 0;
        while (part != before) {
            before = part;
            for (uint32_t v = 0; v < count; v++)
                for (uint32_t u = 0; u < v; u++)
                    if ((in[v] & bit(u)) && !((bit(u) | bit(v)) & without) && ((part & bit(u)) || (part & bit(v))))
                        part |= bit(u) | bit(v);
        }
        left &= ~part;
        found++;
    }
    return found;
}

static void ends_are_the_nodes_without_which_it_falls_apart(void **state)
{
    (void)state;
    uint32_t seed = 12345, compared = 0;
    for (int round = 0; round < 400; round++) {
        uint32_t in[10] = {0}, count = 4 + (uint32_t)round % 7;
        for (uint32_t v = 1; v < count; v++) {
            seed = seed * 1664525 + 1013904223;
            in[v] = bit(v - 1);
            if (v > 1 && (seed >> 20) % 3 == 0)
                in[v] |= bit((seed >> 8) % (v - 1));
            if (v > 2 && (seed >> 24) % 5 == 0)
                in[v] &= ~bit(v - 1) | (in[v] == bit(v - 1) ? bit(v - 1) : 0);
        }
        small_game small;
        add_training(&small, in, count);
        desk d;
        desk_open(&d, &small);
        uint32_t expected = 0, last = 0, whole = parts(in, count, 0);
        for (uint32_t v = 0; v < count; v++)
            if (parts(in, count, bit(v)) > whole) {
                expected |= bit(v);
                last = v;
            }
        if (expected)
            expected |= (bit(count) - 1) & ~(bit(last + 1) - 1);
        else
            expected = bit(count) - 1; /* no end: one segment, the last */
        uint32_t once = made_once(&d, count);
        if (once != expected)
            fail_msg("round %d: made once %x, not %x", round, once, expected);
        compared++;
        desk_shut(&d);
    }
    assert_int_equal(compared, 400);
}

/* Residual blocks: cut at their ends, nothing from before the block is recomputed. */
static void blocks_are_better_cut_at_their_ends(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "transformer", 0, NULL);
    desk_cap(&d, 60);
    const pb_schedule *s = desk_plan(&d, "articulation");
    uint64_t by_points = s->metrics.recompute;
    assert_int_equal(s->outcome, PB_FOUND);
    s = desk_plan(&d, "chen");
    assert_true(s->outcome == PB_GAVE_UP || s->metrics.recompute > by_points);
    desk_shut(&d);
}

static void on_a_chain_it_is_the_same_as_chen(void **state)
{
    (void)state;
    desk d;
    desk_generate(&d, "adjoint-chain", 1, (pb_option[]){{"steps", "60"}});
    for (d.game.cap = 18; d.game.cap < 60; d.game.cap += 14) {
        uint64_t points = desk_plan(&d, "articulation")->metrics.recompute;
        assert_in_range(desk_plan(&d, "chen")->metrics.recompute, points - points / 10 - 1, points + points / 10 + 1);
    }
    desk_shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_the_nodes_without_which_it_falls_apart),
        cmocka_unit_test(blocks_are_better_cut_at_their_ends),
        cmocka_unit_test(on_a_chain_it_is_the_same_as_chen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
