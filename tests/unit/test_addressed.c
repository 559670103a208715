/* test_addressed.c -- plans with addresses: replanned where they do not fit, clean when memory is refused or time is up. */
#include "pebble/api.h"
#include "support/outside.h"
#include "support/small_game.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    outside world;
    pb_context ctx;
    pb_arena arena;
    pb_game game;
} fixture;

static void open_game(fixture *f, const small_game *s)
{
    pb_context_init(&f->ctx);
    outside_context(&f->ctx, &f->world);
    pb_arena_init(&f->arena, &f->ctx);
    assert_true(small_game_build(&f->ctx, s, &f->arena, &f->game));
    f->ctx.tick_limit = 5000;
}

static void close_game(fixture *f)
{
    pb_arena_release(&f->arena);
    assert_int_equal(f->world.live_blocks, 0);
    assert_int_equal(f->ctx.memory_used, 0);
}

static bool plan(fixture *f, uint64_t align, pb_addressed *out)
{
    return pb_plan_addressed(&f->ctx, &f->game, &(pb_request){.seed = 1}, align, &f->arena, out) == PB_OK;
}

static void an_alignment_is_a_power_of_two(void **state)
{
    fixture f = {0};
    small_game s;
    pb_addressed out;
    (void)state;
    small_game_init(&s);
    small_game_add(&s, 1, 3, 0);
    open_game(&f, &s);
    assert_int_equal(pb_plan_addressed(&f.ctx, &f.game, &PB_REQUEST_DEFAULT, 0, &f.arena, &out), PB_EINVAL);
    assert_int_equal(pb_plan_addressed(&f.ctx, &f.game, &PB_REQUEST_DEFAULT, 12, &f.arena, &out), PB_EINVAL);
    assert_true(plan(&f, 16, &out));
    assert_true(out.fits && out.packing.minimal);
    assert_int_equal(out.packing.size, 16);
    assert_int_equal(out.lost, 13);
    close_game(&f);
}

static void an_empty_graph_needs_nothing(void **state)
{
    fixture f = {0};
    small_game s;
    pb_addressed out;
    (void)state;
    small_game_init(&s);
    open_game(&f, &s);
    assert_true(plan(&f, 64, &out));
    assert_true(out.fits);
    assert_int_equal(out.packing.size, 0);
    close_game(&f);
}

/* A sum that is too large is infeasible with addresses too. */
static void infeasible_stays_infeasible(void **state)
{
    fixture f = {0};
    small_game s;
    pb_addressed out;
    (void)state;
    small_game_init(&s);
    small_game_add(&s, 1, 5, 0);
    small_game_add(&s, 1, 5, 1);
    s.cap = 9;
    open_game(&f, &s);
    assert_true(plan(&f, 1, &out));
    assert_null(out.planned.certificate);
    assert_int_equal(out.planned.schedule.outcome, PB_INFEASIBLE);
    assert_int_equal(out.planned.schedule.addresses.align, 0);
    assert_int_equal(out.plans, 1);
    close_game(&f);
}

/* Games whose plan for the cap does not fit as addresses; the first one where another plan does. */
static void find_rescued(small_game *s, pb_addressed *out)
{
    for (uint64_t seed = 1; seed < 20000; seed++) {
        fixture f = {0};
        small_game_random_large(seed, PB_GAME_REMAT, s);
        pb_plan_result free;
        open_game(&f, s);
        if (pb_plan(&f.ctx, &f.game, &(pb_request){.seed = 1}, &f.arena, &free) == PB_OK && free.certificate) {
            s->cap = f.game.cap = free.schedule.metrics.peak;
            bool rescued = plan(&f, 4, out) && out->planned.certificate && out->plans > 1 && out->fits;
            close_game(&f);
            if (rescued)
                return;
        } else {
            close_game(&f);
        }
    }
    fail_msg("no such game");
}

static void a_plan_for_less_memory_fits(void **state)
{
    fixture f = {0};
    small_game s;
    pb_addressed out;
    bool good;
    char text[200];
    (void)state;
    find_rescued(&s, &out);
    open_game(&f, &s);
    assert_true(plan(&f, 4, &out));
    const pb_schedule *plan_ = &out.planned.schedule;
    assert_true(out.fits && out.plans > 1);
    assert_true(plan_->addresses.size <= s.cap);
    assert_int_equal(plan_->cap, s.cap);
    assert_int_equal(out.planned.game->cap, s.cap);
    if (out.planned_cap < s.cap) {
        assert_int_equal(plan_->outcome, PB_FOUND);
        assert_non_null(strstr(plan_->note, "room for gaps"));
    }
    assert_int_equal(pb_judge_addresses(&f.ctx, out.planned.certificate, &plan_->addresses, &good, text, sizeof text),
                     PB_OK);
    assert_true(good);
    close_game(&f);
}

static void every_refused_request_is_clean(void **state)
{
    small_game s;
    pb_addressed out;
    (void)state;
    find_rescued(&s, &out);
    for (uint64_t k = 1;; k++) {
        fixture f = {0};
        open_game(&f, &s);
        uint64_t before = f.world.requests;
        f.world.refuse_at = before + k;
        pb_status status = pb_plan_addressed(&f.ctx, &f.game, &(pb_request){.seed = 1}, 4, &f.arena, &out);
        bool refused = f.world.requests >= before + k;
        assert_true(status == PB_OK || (refused && status == PB_ENOMEM));
        close_game(&f);
        if (!refused)
            return;
    }
}

static void stops_keep_the_best_so_far(void **state)
{
    small_game s;
    pb_addressed out;
    unsigned kept = 0;
    (void)state;
    find_rescued(&s, &out);
    for (uint64_t k = 1; k < 3000; k += 1 + k / 16) {
        fixture f = {0};
        bool good;
        char text[200];
        open_game(&f, &s);
        uint64_t before = f.world.polls;
        f.world.stop_at = before + k;
        pb_status status = pb_plan_addressed(&f.ctx, &f.game, &(pb_request){.seed = 1}, 4, &f.arena, &out);
        bool stopped = f.world.polls >= before + k;
        assert_true(status == PB_OK || (stopped && status == PB_ECANCELLED));
        f.ctx.stop = NULL;
        f.ctx.stopped = PB_GO_ON;
        if (status == PB_OK && out.planned.certificate) {
            kept++;
            assert_int_equal(pb_judge_addresses(&f.ctx, out.planned.certificate, &out.planned.schedule.addresses, &good,
                                                text, sizeof text),
                             PB_OK);
            assert_true(good);
        }
        close_game(&f);
        if (!stopped)
            break;
    }
    assert_true(kept > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alignment_is_a_power_of_two), cmocka_unit_test(an_empty_graph_needs_nothing),
        cmocka_unit_test(infeasible_stays_infeasible),    cmocka_unit_test(a_plan_for_less_memory_fits),
        cmocka_unit_test(every_refused_request_is_clean), cmocka_unit_test(stops_keep_the_best_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
