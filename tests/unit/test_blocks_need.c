/* tests/unit/test_blocks_need.c -- least needs of segments: with them there is a plan, with less there is none. */
#include "plan/blocks/need.h"
#include "unit/blocks_fixture.h"

static void needs_are_the_least_memory_with_a_plan(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_cases(800); seed++) {
        pbi_rng rng = {seed};
        blocks_like like = {1 + (uint32_t)(seed % 5), 1 + (uint32_t)(seed % 3), 1 + seed % 12, 3, 1, 1, seed % 2};
        blocks_case c;
        fixture f;
        pbi_block_needs needs;
        blocks_draw(&rng, &like, &c);
        open_fixture(&f);
        assert_int_equal(pbi_block_needs_fill(&f.ctx, &c.b, &f.arena, &needs), PB_OK);
        uint64_t need = pbi_block_need_of(&needs, PBI_FREE, PBI_BARE, 0, c.b.count);
        assert_true(blocks_search(&c.b, need) != UINT64_MAX);
        assert_true(need == 0 || blocks_search(&c.b, need - 1) == UINT64_MAX);
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(needs_are_the_least_memory_with_a_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
