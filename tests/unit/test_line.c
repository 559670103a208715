/* tests/unit/test_line.c -- reading chains, and playing cuts in both directions. */
#include "plan/reversible/line/line.h"
#include "unit/chain_fixture.h"

static void read_line(chain_bench *t, pbi_plan *plan, pbi_line *line, bool *is_line)
{
    pbi_plan_reset(plan, &t->plan_arena);
    assert_int_equal(pbi_line_read(&t->game, &t->plan_arena, plan, line, is_line), PB_OK);
}

static void chains_are_read_in_order_up_to_the_last_target(void **state)
{
    small_game s;
    chain_bench t;
    pbi_plan plan;
    pbi_line line;
    bool is_line;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    for (unsigned v = 0; v < 6; v++)
        small_game_add(&s, 1 + (v == 3), 2, v ? UINT32_C(1) << (v - 1) : 0);
    s.flags[0] = PB_NODE_GIVEN;
    s.flags[2] = PB_NODE_KEEP;
    s.targets = UINT32_C(1) << 4;
    s.fixed_size = 3;
    s.cap = 20;
    chain_open_small(&t, &s);
    read_line(&t, &plan, &line, &is_line);
    assert_true(is_line);
    assert_int_equal(line.count, 4); /* 1 to 4: the given one and the one behind the target are none */
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(line.node[i], i + 1);
    assert_int_equal(line.stop_count, 2);
    assert_int_equal(line.stop[0], 2);
    assert_int_equal(line.stop[1], 4);
    assert_int_equal(line.budget, 20 - 3 - 2);
    assert_true(line.equal_sizes && !line.equal_costs && !line.overwrites);
    assert_int_equal(line.cost, 2);
    chain_close(&t);
}

static void other_shapes_are_no_lines(void **state)
{
    small_game s;
    chain_bench t;
    pbi_plan plan;
    pbi_line line;
    bool is_line;
    (void)state;
    small_game_init(&s);
    s.kind = PB_GAME_REVERSIBLE;
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 0);
    small_game_add(&s, 1, 1, 3);
    chain_open_small(&t, &s);
    read_line(&t, &plan, &line, &is_line);
    assert_false(is_line);
    assert_int_equal(plan.outcome, PB_GAVE_UP);
    assert_string_equal(plan.reason, "does not apply: the graph is not a chain");
    chain_close(&t);
    chain_open(&t, 0, 0);
    read_line(&t, &plan, &line, &is_line);
    assert_true(is_line);
    assert_int_equal(line.count, 0);
    chain_close(&t);
}

/* Halves; the level counts how deep. */
static pbi_cut halve(const void *state, uint32_t from, uint32_t to, uint64_t level)
{
    assert_true(state == NULL && to - from > 1);
    return (pbi_cut){from + (to - from) / 2, level + 1, level + 1, level + 1};
}

/* Cutting 4 in halves is Bennett's game: a b A c, c d, c A: 9 moves, 3 values. */
static void cuts_are_played_forwards_and_backwards(void **state)
{
    static const struct {
        uint8_t op, node;
    } expected[] = {{PB_COMPUTE, 0},   {PB_COMPUTE, 1}, {PB_UNCOMPUTE, 0}, {PB_COMPUTE, 2},  {PB_COMPUTE, 3},
                    {PB_UNCOMPUTE, 2}, {PB_COMPUTE, 0}, {PB_UNCOMPUTE, 1}, {PB_UNCOMPUTE, 0}};
    chain_bench t;
    pbi_plan plan;
    pbi_line line;
    pbi_reversible r;
    bool is_line;
    (void)state;
    chain_open(&t, 4, 0);
    t.game.cap = 3;
    read_line(&t, &plan, &line, &is_line);
    assert_int_equal(pbi_reversible_init(&r, &t.ctx, &t.game, &plan, 100, &t.plan_arena), PB_OK);
    pbi_line_player p = {.line = &line, .r = &r, .cut = halve, .arena = &t.plan_arena};
    assert_int_equal(pbi_line_play(&p, 0, 4, 0), PB_OK);
    assert_false(r.stuck);
    assert_int_equal(plan.moves.count, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(plan.moves.move[i].op, expected[i].op);
        assert_int_equal(plan.moves.move[i].node, expected[i].node);
    }
    chain_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_read_in_order_up_to_the_last_target),
        cmocka_unit_test(other_shapes_are_no_lines),
        cmocka_unit_test(cuts_are_played_forwards_and_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
