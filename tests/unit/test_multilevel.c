/* test_multilevel.c -- streams over several storage levels: against figures from outside, a search of all schedules,
 * and a simulator that carries every action out. */
#include "base/rng.h"
#include "pebble/adjoint.h"
#include "support/adjoint_search.h"
#include "support/adjoint_sim.h"
#include "support/cases.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Carries the stream out, which must cost what it says; returns that. */
static uint64_t cost_of(const pb_multilevel_spec *spec)
{
    pb_context ctx;
    pb_arena arena;
    pb_multilevel stream;
    adjoint_sim sim;
    pb_action a;
    uint32_t room[PB_MAX_LEVELS];
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    if (pb_multilevel_init(&ctx, spec, &arena, &stream) != PB_OK)
        fail_msg("%s", ctx.error.message);
    uint64_t cost = stream.cost;
    for (uint32_t k = 0; k < spec->level_count; k++)
        room[k] = (uint32_t)(spec->level[k].slots < spec->steps ? spec->level[k].slots : spec->steps);
    sim_init(&sim, spec->steps, room, spec->level_count, false);
    while (pb_multilevel_next(&stream, &a))
        if (!sim_do(&sim, &a))
            fail_msg("%" PRIu64 " steps: %s", spec->steps, sim.complaint);
    if (!sim_done(&sim))
        fail_msg("%" PRIu64 " steps: %s", spec->steps, sim.complaint);
    uint64_t sum = sim.forward_steps * spec->forward_cost + spec->steps * spec->reverse_cost;
    for (uint32_t k = 0; k < spec->level_count; k++)
        sum += sim.writes[k] * spec->level[k].write_cost + sim.reads[k] * spec->level[k].read_cost;
    assert_int_equal(sum, cost);
    assert_false(pb_multilevel_next(&stream, &a));
    sim_release(&sim);
    pb_arena_release(&arena);
    return cost;
}

static pb_multilevel_spec two_levels(uint64_t n, uint64_t ram, uint64_t disk, const uint64_t costs[4])
{
    return (pb_multilevel_spec){
        n, costs[0], costs[1], 2, {{.slots = ram}, {.slots = disk, .write_cost = costs[2], .read_cost = costs[3]}}};
}

/* steps, RAM, disk, forward, reverse, write, read: least cost by exhaustive search, computed elsewhere. */
static void least_costs_equal_known_figures(void **state)
{
    (void)state;
    static const uint64_t rows[][8] = {
        {4, 1, 1, 1, 1, 1, 1, 14},   {4, 1, 1, 1, 1, 5, 1, 14},   {4, 1, 1, 1, 1, 0, 0, 12},
        {4, 1, 1, 1, 5, 2, 2, 30},   {4, 1, 1, 1, 20, 5, 5, 90},  {4, 1, 1, 1, 1, 3, 0, 14},
        {4, 1, 2, 1, 1, 2, 2, 14},   {4, 1, 2, 1, 1, 1, 5, 14},   {4, 1, 2, 2, 1, 3, 3, 24},
        {4, 1, 2, 5, 1, 2, 2, 47},   {4, 1, 2, 1, 1, 0, 3, 14},   {4, 2, 1, 1, 1, 1, 1, 12},
        {4, 2, 1, 1, 1, 5, 1, 12},   {4, 2, 1, 1, 1, 0, 0, 11},   {4, 2, 1, 1, 5, 2, 2, 28},
        {4, 2, 1, 1, 20, 5, 5, 88},  {4, 2, 1, 1, 1, 3, 0, 12},   {4, 2, 2, 1, 1, 2, 2, 12},
        {4, 2, 2, 1, 1, 1, 5, 12},   {4, 2, 2, 2, 1, 3, 3, 20},   {4, 2, 2, 5, 1, 2, 2, 43},
        {4, 2, 2, 1, 1, 0, 3, 12},   {4, 1, 9, 1, 1, 1, 1, 14},   {4, 1, 9, 1, 1, 5, 1, 14},
        {4, 1, 9, 1, 1, 0, 0, 11},   {4, 1, 9, 1, 5, 2, 2, 30},   {4, 1, 9, 1, 20, 5, 5, 90},
        {4, 1, 9, 1, 1, 3, 0, 14},   {6, 1, 1, 1, 1, 2, 2, 25},   {6, 1, 1, 1, 1, 1, 5, 27},
        {6, 1, 1, 2, 1, 3, 3, 42},   {6, 1, 1, 5, 1, 2, 2, 82},   {6, 1, 1, 1, 1, 0, 3, 24},
        {6, 1, 2, 1, 1, 1, 1, 23},   {6, 1, 2, 1, 1, 5, 1, 27},   {6, 1, 2, 1, 1, 0, 0, 19},
        {6, 1, 2, 1, 5, 2, 2, 49},   {6, 1, 2, 1, 20, 5, 5, 141}, {6, 1, 2, 1, 1, 3, 0, 23},
        {6, 2, 1, 1, 1, 2, 2, 20},   {6, 2, 1, 1, 1, 1, 5, 20},   {6, 2, 1, 2, 1, 3, 3, 34},
        {6, 2, 1, 5, 1, 2, 2, 75},   {6, 2, 1, 1, 1, 0, 3, 20},   {6, 2, 2, 1, 1, 1, 1, 20},
        {6, 2, 2, 1, 1, 5, 1, 20},   {6, 2, 2, 1, 1, 0, 0, 18},   {6, 2, 2, 1, 5, 2, 2, 44},
        {6, 2, 2, 1, 20, 5, 5, 134}, {6, 2, 2, 1, 1, 3, 0, 20},   {6, 1, 9, 1, 1, 2, 2, 25},
        {6, 1, 9, 1, 1, 1, 5, 27},   {6, 1, 9, 2, 1, 3, 3, 42},   {6, 1, 9, 5, 1, 2, 2, 77},
        {6, 1, 9, 1, 1, 0, 3, 24},   {8, 1, 1, 1, 1, 1, 1, 33},   {8, 1, 1, 1, 1, 5, 1, 37},
        {8, 1, 1, 1, 1, 0, 0, 30},   {8, 1, 1, 1, 5, 2, 2, 68},   {8, 1, 1, 1, 20, 5, 5, 194},
        {8, 1, 1, 1, 1, 3, 0, 33},   {8, 1, 2, 1, 1, 2, 2, 36},   {8, 1, 2, 1, 1, 1, 5, 38},
        {8, 1, 2, 2, 1, 3, 3, 60},   {8, 1, 2, 5, 1, 2, 2, 113},  {8, 1, 2, 1, 1, 0, 3, 34},
        {8, 2, 1, 1, 1, 1, 1, 29},   {8, 2, 1, 1, 1, 5, 1, 30},   {8, 2, 1, 1, 1, 0, 0, 27},
        {8, 2, 1, 1, 5, 2, 2, 62},   {8, 2, 1, 1, 20, 5, 5, 182}, {8, 2, 1, 1, 1, 3, 0, 30},
        {8, 2, 2, 1, 1, 2, 2, 30},   {8, 2, 2, 1, 1, 1, 5, 30},   {8, 2, 2, 2, 1, 3, 3, 52},
        {8, 2, 2, 5, 1, 2, 2, 106},  {8, 2, 2, 1, 1, 0, 3, 30},   {8, 1, 9, 1, 1, 1, 1, 32},
        {8, 1, 9, 1, 1, 5, 1, 37},   {8, 1, 9, 1, 1, 0, 0, 23},   {8, 1, 9, 1, 5, 2, 2, 68},
        {8, 1, 9, 1, 20, 5, 5, 194}, {8, 1, 9, 1, 1, 3, 0, 33},   {9, 1, 1, 1, 1, 2, 2, 41},
        {9, 1, 1, 1, 1, 1, 5, 44},   {9, 1, 1, 2, 1, 3, 3, 70},   {9, 1, 1, 5, 1, 2, 2, 145},
        {9, 1, 1, 1, 1, 0, 3, 41},   {9, 1, 2, 1, 1, 1, 1, 37},   {9, 1, 2, 1, 1, 5, 1, 42},
        {9, 1, 2, 1, 1, 0, 0, 31},   {9, 1, 2, 1, 5, 2, 2, 77},   {9, 1, 2, 1, 20, 5, 5, 219},
        {9, 1, 2, 1, 1, 3, 0, 37},   {9, 2, 1, 1, 1, 2, 2, 35},   {9, 2, 1, 1, 1, 1, 5, 35},
        {9, 2, 1, 2, 1, 3, 3, 59},   {9, 2, 1, 5, 1, 2, 2, 123},  {9, 2, 1, 1, 1, 0, 3, 34},
        {9, 2, 2, 1, 1, 1, 1, 33},   {9, 2, 2, 1, 1, 5, 1, 35},   {9, 2, 2, 1, 1, 0, 0, 30},
        {9, 2, 2, 1, 5, 2, 2, 71},   {9, 2, 2, 1, 20, 5, 5, 206}, {9, 2, 2, 1, 1, 3, 0, 34},
        {9, 1, 9, 1, 1, 2, 2, 41},   {9, 1, 9, 1, 1, 1, 5, 44},   {9, 1, 9, 2, 1, 3, 3, 69},
        {9, 1, 9, 5, 1, 2, 2, 122},  {9, 1, 9, 1, 1, 0, 3, 39}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pb_multilevel_spec spec = two_levels(rows[i][0], rows[i][1], rows[i][2], rows[i] + 3);
        assert_int_equal(cost_of(&spec), rows[i][7]);
    }
}

/* Where a known package, which takes the two step costs for one another, needs 203; and where reading a disk checkpoint
 * only once costs 44. */
static void the_dear_mistakes_of_others_are_not_made(void **state)
{
    (void)state;
    pb_multilevel_spec spec = two_levels(9, 1, 2, (const uint64_t[]){5, 1, 2, 2});
    assert_int_equal(cost_of(&spec), 131);
    spec = two_levels(9, 1, 3, (const uint64_t[]){1, 1, 5, 1});
    assert_int_equal(cost_of(&spec), 42);
}

static pb_multilevel_spec random_spec(pbi_rng *rng, uint64_t most_steps)
{
    pb_multilevel_spec spec = {.steps = pbi_rng_below(rng, most_steps + 1),
                               .forward_cost = 1 + pbi_rng_below(rng, 6),
                               .reverse_cost = pbi_rng_below(rng, 6),
                               .level_count = 1 + (uint32_t)pbi_rng_below(rng, 3)};
    uint64_t write = 0, read = 0, grow = 1 + pbi_rng_below(rng, 9);
    for (uint32_t k = 0; k < spec.level_count; k++) {
        if (k || pbi_rng_below(rng, 3) == 0) {
            write += pbi_rng_below(rng, grow);
            read += pbi_rng_below(rng, grow);
        }
        spec.level[k] = (pb_level){pbi_rng_below(rng, 3), write, read};
    }
    spec.level[pbi_rng_below(rng, spec.level_count)].slots++;
    return spec;
}

static void small_cases_equal_a_search_of_all_schedules(void **state)
{
    (void)state;
    pbi_rng rng = {2024};
    for (uint64_t i = test_cases(300); i > 0; i--) {
        pb_multilevel_spec spec = random_spec(&rng, 9);
        if (spec.level_count == 3 && spec.steps > 7)
            spec.steps = 7; /* or the search takes its time */
        assert_int_equal(cost_of(&spec), adjoint_search(&spec));
    }
}

/* The recursion once more, plainly and with more choices: a start that is kept in RAM for a while before it goes to
 * disk, or with a copy on disk. */
enum { PLAIN = 40 };
static uint64_t ram_cost[8][PLAIN + 1], o_cost[8][PLAIN + 1], d_cost[8][PLAIN + 1];

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void plain_ram(const pb_multilevel_spec *spec)
{
    for (unsigned s = 0; s <= spec->level[0].slots; s++)
        for (unsigned l = 1; l <= PLAIN; l++) {
            ram_cost[s][l] = l == 1 ? spec->forward_cost + spec->reverse_cost : UINT32_MAX;
            for (unsigned j = 1; j < l && s; j++)
                ram_cost[s][l] =
                    least(ram_cost[s][l], j * spec->forward_cost + ram_cost[s - 1][l - j] + ram_cost[s][j]);
        }
}

static uint64_t plain_cost(const pb_multilevel_spec *spec)
{
    const pb_level *ram = &spec->level[0], *disk = &spec->level[1];
    plain_ram(spec);
    for (unsigned c = 0; c <= disk->slots; c++)
        for (unsigned l = 1; l <= PLAIN; l++) {
            uint64_t d = ram_cost[ram->slots][l], o = d;
            for (unsigned j = 1; j < l; j++) {
                uint64_t run = j * spec->forward_cost;
                if (c)
                    d = least(d, run + o_cost[c - 1][l - j] + disk->read_cost + d_cost[c][j]);
                if (ram->slots) {
                    d = least(d, run + ram_cost[ram->slots - 1][l - j] + d_cost[c][j]);
                    o = least(o, run + ram_cost[ram->slots - 1][l - j] + o_cost[c][j]);
                }
            }
            d_cost[c][l] = d;
            o_cost[c][l] = l > 1 && c ? least(o, disk->write_cost + d) : o;
        }
    return o_cost[disk->slots][spec->steps];
}

static void more_choices_never_pay(void **state)
{
    (void)state;
    pbi_rng rng = {11};
    for (uint64_t i = test_cases(60); i > 0; i--) {
        uint64_t n = 1 + pbi_rng_below(&rng, PLAIN), ram = 1 + pbi_rng_below(&rng, 3),
                 disk = 1 + pbi_rng_below(&rng, 5);
        uint64_t costs[4] = {1 + pbi_rng_below(&rng, 5), pbi_rng_below(&rng, 5), pbi_rng_below(&rng, 50),
                             pbi_rng_below(&rng, 50)};
        pb_multilevel_spec spec = two_levels(n, ram, disk, costs);
        assert_int_equal(cost_of(&spec), plain_cost(&spec));
    }
}

static void more_slots_never_cost_more(void **state)
{
    (void)state;
    const uint64_t costs[] = {3, 2, 20, 15};
    for (uint64_t ram = 0; ram < 4; ram++) {
        uint64_t before = UINT64_MAX;
        for (uint64_t disk = ram ? 0 : 1; disk < 14; disk++) {
            pb_multilevel_spec spec = two_levels(300, ram, disk, costs);
            uint64_t cost = cost_of(&spec);
            assert_true(cost <= before);
            before = cost;
        }
        pb_multilevel_spec spec = two_levels(300, ram, UINT64_MAX, costs);
        assert_true(cost_of(&spec) <= before);
    }
}

static void levels_that_cost_nothing_are_binomial_checkpointing(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 200; n += 3) {
        pb_context ctx;
        pb_revolve_cost cost;
        pb_context_init(&ctx);
        assert_int_equal(pb_revolve_count(&ctx, n, 5, &cost), PB_OK);
        pb_multilevel_spec spec = {n, 1, 0, 3, {{.slots = 2}, {.slots = 0}, {.slots = 3}}};
        assert_int_equal(cost_of(&spec), cost.forward_steps.low);
    }
}

static void endless_slots_are_planned_in_one_pass(void **state)
{
    (void)state;
    pb_multilevel_spec spec = two_levels(4000, 3, UINT64_MAX, (const uint64_t[]){1, 1, 10, 10});
    uint64_t endless = cost_of(&spec);
    spec.level[1].slots = 3999;
    assert_int_equal(cost_of(&spec), endless);
    spec.level[1].slots = 2;
    assert_true(cost_of(&spec) > endless);
}

static void five_thousand_steps_are_planned(void **state)
{
    (void)state;
    pb_multilevel_spec spec = two_levels(5000, 5, 20, (const uint64_t[]){1, 2, 5, 5});
    uint64_t both = cost_of(&spec);
    spec.level[1].slots = 0;
    assert_int_equal(cost_of(&spec), 52624 + 2 * 5000);
    assert_true(both < 52624 + 2 * 5000);
    spec = two_levels(5000, 25, 0, (const uint64_t[]){1, 2, 5, 5}); /* as if the disk were memory: a bound */
    assert_true(both > cost_of(&spec));
}

static void batches_of_any_length_give_the_same_actions(void **state)
{
    (void)state;
    pb_multilevel_spec spec = {150, 2, 1, 3, {{.slots = 2}, {2, 3, 3}, {2, 9, 8}}};
    for (size_t room = 1; room < 90; room += 4) {
        pb_context ctx;
        pb_arena arena;
        pb_multilevel one, many;
        pb_action a, batch[90];
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        assert_int_equal(pb_multilevel_init(&ctx, &spec, &arena, &one), PB_OK);
        assert_int_equal(pb_multilevel_init(&ctx, &spec, &arena, &many), PB_OK);
        for (size_t got; (got = pb_multilevel_next_many(&many, batch, room)) > 0;)
            for (size_t i = 0; i < got; i++) {
                assert_true(pb_multilevel_next(&one, &a));
                assert_int_equal(a.n0, batch[i].n0);
                assert_int_equal(a.n1, batch[i].n1);
                assert_int_equal(a.slot, batch[i].slot);
                assert_int_equal(a.kind, batch[i].kind);
                assert_int_equal(a.from, batch[i].from);
                assert_int_equal(a.to, batch[i].to);
            }
        assert_false(pb_multilevel_next(&one, &a));
        pb_arena_release(&arena);
    }
}

static void refuses(const pb_multilevel_spec *spec, pb_status expected, const char *word)
{
    pb_context ctx;
    pb_arena arena;
    pb_multilevel stream;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    assert_int_equal(pb_multilevel_init(&ctx, spec, &arena, &stream), expected);
    if (!strstr(ctx.error.message, word))
        fail_msg("no '%s' in: %s", word, ctx.error.message);
    pb_arena_release(&arena);
}

static void what_cannot_be_done_is_refused_with_a_sentence(void **state)
{
    (void)state;
    refuses(&(pb_multilevel_spec){2, 1, 1, 0, {{0}}}, PB_EINVAL, "needs at least one slot");
    refuses(&(pb_multilevel_spec){2, 1, 1, 9, {{0}}}, PB_EINVAL, "too many");
    refuses(&(pb_multilevel_spec){9, 1, 1, 2, {{1, 2, 2}, {1, 3, 1}}}, PB_EINVAL, "DISK is cheaper");
    refuses(&(pb_multilevel_spec){UINT64_C(1) << 32, 1, 1, 1, {{1, 2, 2}}}, PB_ERANGE, "2^60");
    refuses(&(pb_multilevel_spec){1000, UINT64_C(1) << 50, 1, 1, {{1, 2, 2}}}, PB_ERANGE, "2^60");
    refuses(&(pb_multilevel_spec){UINT64_C(1) << 40, 1000, 1, 1, {{.slots = 1}}}, PB_ERANGE, "2^60");
}

static pb_stop stop_at_once(void *state)
{
    (void)state;
    return PB_STOP_INTERRUPT;
}

static void a_stop_and_a_memory_limit_end_the_planning(void **state)
{
    (void)state;
    pb_context ctx;
    pb_arena arena;
    pb_multilevel stream;
    pb_multilevel_spec spec = two_levels(3000, 3, 20, (const uint64_t[]){1, 1, 2, 2});
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    ctx.stop = stop_at_once;
    assert_int_equal(pb_multilevel_init(&ctx, &spec, &arena, &stream), PB_ECANCELLED);
    pb_context_init(&ctx);
    ctx.tick_limit = 100;
    assert_int_equal(pb_multilevel_init(&ctx, &spec, &arena, &stream), PB_ELIMIT);
    ctx.tick_limit = 0;
    ctx.memory_limit = 60000;
    assert_int_equal(pb_multilevel_init(&ctx, &spec, &arena, &stream), PB_ENOMEM);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_costs_equal_known_figures),
        cmocka_unit_test(the_dear_mistakes_of_others_are_not_made),
        cmocka_unit_test(small_cases_equal_a_search_of_all_schedules),
        cmocka_unit_test(more_choices_never_pay),
        cmocka_unit_test(more_slots_never_cost_more),
        cmocka_unit_test(levels_that_cost_nothing_are_binomial_checkpointing),
        cmocka_unit_test(endless_slots_are_planned_in_one_pass),
        cmocka_unit_test(five_thousand_steps_are_planned),
        cmocka_unit_test(batches_of_any_length_give_the_same_actions),
        cmocka_unit_test(what_cannot_be_done_is_refused_with_a_sentence),
        cmocka_unit_test(a_stop_and_a_memory_limit_end_the_planning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
