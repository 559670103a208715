/* test_judge.c -- schedules from elsewhere: replayed, measured, and each wrong figure found. */
#include "api_fixture.h"

/* A schedule of the tiny graph with its true figures. */
static void judged(bench *b, const char *moves, pb_schedule *s, pb_judgement *j)
{
    *s = (pb_schedule){.game = PB_GAME_REMAT, .cap = 9, .weights = {125, 7, 1500, 3}};
    s->bound_kind = PB_BOUND_FREE_ORDER;
    s->lower_bound = 5;
    pb_moves_init(&s->moves, &b->arena);
    moves_from_text(moves, &s->moves);
    assert_int_equal(pb_judge(&b->ctx, b->game.graph, s, &b->arena, j), PB_OK);
    assert_ptr_equal(j->game.graph, b->game.graph);
    assert_int_equal(j->game.cap, 9);
    assert_int_equal(j->game.weights.alpha, 125);
    s->metrics = j->metrics;
    s->has_metrics = true;
}

static void open_tiny(bench *b)
{
    small_game s;
    small_tiny(&s);
    bench_open(b, &s);
}

static void a_legal_schedule_is_measured(void **state)
{
    (void)state;
    bench b;
    pb_schedule s;
    pb_judgement j;
    open_tiny(&b);
    judged(&b, "c0 c1 f1 c1 c2", &s, &j);
    assert_non_null(j.verdict.certificate);
    assert_int_equal(j.metrics.peak, 4);
    assert_int_equal(j.metrics.makespan, 6);
    assert_int_equal(j.metrics.recompute, 1);
    assert_true(j.metrics.gap > 0.1999 && j.metrics.gap < 0.2001);
    char text[200] = "untouched";
    assert_false(pb_judge_metrics(&s, &j.metrics, text, sizeof text));
    assert_string_equal(text, "untouched");
    bench_close(&b);
}

static void an_illegal_schedule_is_not_measured(void **state)
{
    (void)state;
    bench b;
    pb_schedule s = {.game = PB_GAME_REMAT, .cap = 3, .weights = PB_WEIGHTS_DEFAULT};
    pb_judgement j = {.metrics.peak = 77};
    open_tiny(&b);
    pb_moves_init(&s.moves, &b.arena);
    moves_from_text("c0 c1 c2", &s.moves);
    assert_int_equal(pb_judge(&b.ctx, b.game.graph, &s, &b.arena, &j), PB_OK);
    assert_null(j.verdict.certificate);
    assert_int_equal(j.verdict.rule, PB_RULE_CAP);
    assert_int_equal(j.verdict.step, 2);
    assert_int_equal(j.verdict.amount, 4);
    assert_int_equal(j.metrics.peak, 77);
    s.cap = 4;
    assert_int_equal(pb_judge(&b.ctx, b.game.graph, &s, &b.arena, &j), PB_OK);
    assert_non_null(j.verdict.certificate);
    assert_true(j.metrics.gap < 0); /* no bound, no gap */
    bench_close(&b);
}

static void tiers_come_from_the_schedule(void **state)
{
    (void)state;
    bench b;
    pb_schedule s = {.game = PB_GAME_TIERED, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT, .tier_count = 1};
    pb_judgement j;
    s.tiers[0] = (pb_tier){.store_cost = 3, .load_cost = 4, .store_per_unit = 1, .load_per_unit = 1, .cap = 1};
    open_tiny(&b);
    pb_moves_init(&s.moves, &b.arena);
    moves_from_text("c0 s0:1 c1 f0 l0:1 c2", &s.moves);
    assert_int_equal(pb_judge(&b.ctx, b.game.graph, &s, &b.arena, &j), PB_OK);
    assert_non_null(j.verdict.certificate);
    assert_int_equal(j.metrics.io, 4 + 5);
    assert_int_equal(j.metrics.makespan, 14);
    bench_close(&b);
}

static void every_wrong_figure_is_found_with_both_values(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "peak is 5 in the file, but 4 in the replay",        "work is 7 in the file, but 6 in the replay",
        "io is 1 in the file, but 0 in the replay",          "makespan is 7 in the file, but 6 in the replay",
        "recompute is 2 in the file, but 1 in the replay",   "recompute_count is 2 in the file, but 1 in the replay",
        "uncompute is 1 in the file, but 0 in the replay",   "flux is 18 in the file, but 17 in the replay",
        "moves is 6 in the file, but 5 in the replay",       "depth is 5 in the file, but 4 in the replay",
        "cost is 2.12 in the file, but 2.119 in the replay", "overhead is 1.2 in the file, but 0.2 in the replay",
        "gap is 1.2 in the file, but 0.2 in the replay",
    };
    bench b;
    pb_schedule s;
    pb_judgement j;
    open_tiny(&b);
    judged(&b, "c0 c1 f1 c1 c2", &s, &j);
    for (int i = 0; i < 13; i++) {
        char text[200];
        pb_schedule wrong = s;
        pb_metrics *f = &wrong.metrics;
        uint64_t *whole[] = {&f->peak,      &f->work,     &f->io,    &f->makespan, &f->recompute, &f->recompute_count,
                             &f->uncompute, &f->flux.low, &f->moves, &f->depth,    &f->cost.low};
        if (i < 11)
            ++*whole[i];
        else
            *(i == 11 ? &f->overhead : &f->gap) += 1;
        assert_true(pb_judge_metrics(&wrong, &j.metrics, text, sizeof text));
        assert_string_equal(text, texts[i]);
        wrong.metrics_stated = 0x1fff & ~(1u << i); /* a figure that the file does not state cannot be wrong */
        assert_false(pb_judge_metrics(&wrong, &j.metrics, text, sizeof text));
        wrong.metrics_stated = 1u << i;
        assert_true(pb_judge_metrics(&wrong, &j.metrics, text, sizeof text));
        wrong.has_metrics = false;
        assert_false(pb_judge_metrics(&wrong, &j.metrics, text, sizeof text));
    }
    bench_close(&b);
}

static void wide_figures_are_compared_in_full(void **state)
{
    (void)state;
    pb_schedule s = {.has_metrics = true, .weights = PB_WEIGHTS_DEFAULT};
    pb_metrics m = {.flux = {1, 0}};
    char text[200];
    assert_true(pb_judge_metrics(&s, &m, text, sizeof text));
    assert_string_equal(text, "flux is 0 in the file, but 18446744073709551616 in the replay");
    s.metrics.flux = m.flux;
    s.metrics.cost = (pb_u128){UINT64_MAX, UINT64_MAX};
    assert_true(pb_judge_metrics(&s, &m, text, sizeof text));
    assert_string_equal(text, "cost is 340282366920938463463374607431768211455 in the file, but 0 in the replay");
    char little[12];
    assert_true(pb_judge_metrics(&s, &m, little, sizeof little)); /* cut, not overrun */
    assert_string_equal(little, "cost is 340");
}

static void rounded_reals_are_near_enough(void **state)
{
    (void)state;
    pb_schedule s = {.has_metrics = true, .weights = PB_WEIGHTS_DEFAULT, .bound_kind = PB_BOUND_FREE_ORDER};
    pb_metrics m = {.overhead = 1.0 / 3, .gap = 2.0 / 3};
    char text[200];
    s.metrics = m;
    s.metrics.overhead = 0.3333333333;
    s.metrics.gap = 0.6666666667;
    assert_false(pb_judge_metrics(&s, &m, text, sizeof text));
    s.metrics.overhead = 0.3333;
    assert_true(pb_judge_metrics(&s, &m, text, sizeof text));
    s.metrics.overhead = m.overhead;
    s.metrics.gap = 5;
    s.bound_kind = PB_BOUND_NONE; /* without a bound there is no gap to check */
    assert_false(pb_judge_metrics(&s, &m, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_legal_schedule_is_measured),
        cmocka_unit_test(an_illegal_schedule_is_not_measured),
        cmocka_unit_test(tiers_come_from_the_schedule),
        cmocka_unit_test(every_wrong_figure_is_found_with_both_values),
        cmocka_unit_test(wide_figures_are_compared_in_full),
        cmocka_unit_test(rounded_reals_are_near_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
