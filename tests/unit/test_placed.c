/* test_placed.c -- plans made in a block of memory: legal, within the cap, close to plans as sums of sizes. */
#include "pebble/api.h"
#include "pebble/workload.h"
#include "plan/placed/placed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TICKS = 20000, ALIGN = 64 };

typedef struct fixture {
    pb_context ctx;
    pb_arena arena;
    pb_workload *w;
    pb_game game;
    uint64_t peak;
} fixture;

/* An image of 8 x 8 tiles; values of several sizes, and workspaces. */
static void open_pipeline(fixture *f)
{
    const pb_option options[] = {{"width", "128"}, {"height", "128"}, {"tile", "16"}};
    pb_context_init(&f->ctx);
    pb_arena_init(&f->arena, &f->ctx);
    assert_int_equal(pb_workload_open(&f->ctx, "pipeline", options, 3, &f->w), PB_OK);
    f->game = (pb_game){.kind = PB_GAME_REMAT, .graph = pb_workload_graph(f->w), .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_graph_program_peak(&f->ctx, f->game.graph, &f->peak), PB_OK);
    f->ctx.tick_limit = TICKS;
}

static void close_pipeline(fixture *f)
{
    pb_workload_close(f->w);
    pb_arena_release(&f->arena);
    assert_int_equal(f->ctx.memory_used, 0);
}

static void place_at(fixture *f, uint64_t percent, pb_plan_result *sums, pb_addressed *out)
{
    bool good;
    char text[200];
    const pb_request request = {.seed = 1};
    f->game.cap = f->peak * percent / 100;
    assert_int_equal(pb_plan(&f->ctx, &f->game, &request, &f->arena, sums), PB_OK);
    assert_non_null(sums->certificate);
    assert_int_equal(pb_plan_addressed(&f->ctx, &f->game, &request, ALIGN, &f->arena, out), PB_OK);
    assert_true(out->fits);
    assert_true(out->packing.size <= f->game.cap);
    assert_int_equal(pb_judge_addresses(&f->ctx, out->planned.certificate, &out->planned.schedule.addresses, &good,
                                        text, sizeof text),
                     PB_OK);
    assert_true(good);
}

/* Lowering the cap until a packing fits took more than twice the work of the plan as sums of sizes at 80 %. */
static void addresses_cost_little(void **state)
{
    static const uint64_t percent[] = {100, 90, 80};
    fixture f;
    (void)state;
    open_pipeline(&f);
    for (size_t i = 0; i < sizeof percent / sizeof *percent; i++) {
        pb_plan_result sums;
        pb_addressed out;
        place_at(&f, percent[i], &sums, &out);
        uint64_t work = out.planned.schedule.metrics.makespan, least = sums.schedule.metrics.makespan;
        assert_true(work <= least + least / 4);
    }
    close_pipeline(&f);
}

static void the_note_says_what_addresses_cost(void **state)
{
    fixture f;
    pb_plan_result sums;
    pb_addressed out;
    (void)state;
    open_pipeline(&f);
    place_at(&f, 80, &sums, &out);
    const pb_schedule *s = &out.planned.schedule;
    assert_int_equal(s->cap, f.game.cap);
    assert_true(s->outcome == PB_FOUND || s->metrics.makespan == s->lower_bound);
    assert_non_null(strstr(s->note, "placed in a block of the cap"));
    close_pipeline(&f);
}

/* Seed and effort decide the plan, also where the search ends in the middle. */
static void equal_effort_gives_equal_plans(void **state)
{
    fixture f;
    pb_plan_result sums;
    pbi_placed a, b;
    (void)state;
    open_pipeline(&f);
    f.game.cap = f.peak * 8 / 10;
    assert_int_equal(pb_plan(&f.ctx, &f.game, &(pb_request){.seed = 1}, &f.arena, &sums), PB_OK);
    f.ctx.tick_limit = 0;
    pbi_placed_options o = {.align = ALIGN, .seed = 7, .effort = 1000000, .below = UINT64_MAX};
    assert_int_equal(pbi_placed_search(&f.ctx, &f.game, &sums.schedule.moves, &o, &f.arena, &a), PB_OK);
    assert_int_equal(pbi_placed_search(&f.ctx, &f.game, &sums.schedule.moves, &o, &f.arena, &b), PB_OK);
    assert_true(a.any && b.any);
    assert_int_equal(a.work, b.work);
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.offset, b.offset, a.count * sizeof *a.offset);
    o.below = a.work; /* nothing cheaper */
    o.effort = 1000;
    assert_int_equal(pbi_placed_search(&f.ctx, &f.game, &sums.schedule.moves, &o, &f.arena, &b), PB_OK);
    assert_true(!b.any || b.work <= a.work);
    close_pipeline(&f);
}

/* One value is larger than the block: nothing is found, and that is not an error. */
static void a_block_too_small_finds_nothing(void **state)
{
    fixture f;
    pb_plan_result sums;
    pbi_placed out;
    (void)state;
    open_pipeline(&f);
    f.game.cap = f.peak;
    assert_int_equal(pb_plan(&f.ctx, &f.game, &(pb_request){.seed = 1}, &f.arena, &sums), PB_OK);
    f.game.cap = 512;
    const pbi_placed_options o = {.align = ALIGN, .seed = 1, .effort = 100000, .below = UINT64_MAX};
    assert_int_equal(pbi_placed_search(&f.ctx, &f.game, &sums.schedule.moves, &o, &f.arena, &out), PB_OK);
    assert_false(out.any);
    close_pipeline(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_cost_little),
        cmocka_unit_test(the_note_says_what_addresses_cost),
        cmocka_unit_test(equal_effort_gives_equal_plans),
        cmocka_unit_test(a_block_too_small_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
