/* test_explain_absence.c -- what keeping a value that was away would have taken. */
#include "report/explain.h"
#include "unit/report_fixture.h"

static pbi_pressure pressure_of(bench *b)
{
    pbi_pressure p;
    assert_int_equal(pbi_pressure_make(&b->ctx, b->certificate, 10, &b->arena, &p), PB_OK);
    return p;
}

/* A path of five of size 1 and cost 2 whose last node reads the first too. */
static void the_fullest_moment_decides(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_loop(&s, 5);
    s.size[2] = 4;
    s.cap = 6;
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
    pbi_pressure p = pressure_of(&b);
    assert_int_equal(p.absence_count, 1);
    assert_int_equal(p.absences[0].node, 0);
    assert_int_equal(p.absences[0].removed, 2);
    assert_int_equal(p.absences[0].made, 7);
    assert_int_equal(p.absences[0].full_step, 3); /* 1 and 2 there; so are 2 and 3 later: the first counts */
    assert_int_equal(p.absences[0].full, 5);
    assert_int_equal(p.absences[0].need, 6);
    assert_int_equal(p.absences[0].saves, 2);
    assert_int_equal(p.spare, 1); /* it would have fitted */
    assert_false(p.raised);
    b.game.cap = 5;
    bench_certify(&b);
    p = pressure_of(&b);
    assert_int_equal(p.spare, 0);
    assert_true(p.raised);
    assert_int_equal(p.raise.need, 6);
    assert_int_equal(p.moment_count, 1);
    assert_int_equal(p.moments[0].step, 3);
    assert_int_equal(p.moments[0].absences, 1);
    assert_int_equal(p.moments[0].work, 2);
    bench_close(&b);
}

/* 0 makes 1 as well; 2 reads 0, 3 reads both. They go at different times. */
static void what_is_made_together_is_kept_together(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, 3, 2, 0);
    small_game_add(&s, 0, 5, 0);
    s.owner[1] = 0;
    small_game_add(&s, 1, 1, 1);
    small_game_add(&s, 1, 1, 7);
    bench_open(&b, &s, "c0+1 f1 c2 f0 c0+1 c3");
    pbi_pressure p = pressure_of(&b);
    assert_int_equal(p.absence_count, 1);
    assert_int_equal(p.absences[0].values, 2);
    assert_int_equal(p.absences[0].removed, 1);
    assert_int_equal(p.absences[0].saves, 3);
    assert_int_equal(p.absences[0].need, 8); /* 0 and 2 together with 1, and so it stays */
    pbi_absences one;
    assert_int_equal(pbi_absences_make(&b.ctx, b.certificate, 1, &b.arena, &one), PB_OK);
    assert_int_equal(one.count, 1);
    assert_int_equal(one.item[0].need, 8);
    bench_close(&b);
}

/* The first time 1 is left out: it would have had to be made then, and kept. */
static void a_by_product_that_was_left_out_counts_from_then(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, 3, 2, 0);
    small_game_add(&s, 0, 5, 0);
    s.owner[1] = 0;
    s.workspace[0] = 4;
    small_game_add(&s, 1, 1, 1);
    small_game_add(&s, 1, 1, 7);
    bench_open(&b, &s, "c0 c2 f0 c0+1 c3");
    pbi_pressure p = pressure_of(&b);
    assert_int_equal(p.absence_count, 1);
    assert_int_equal(p.absences[0].removed, 0);
    assert_int_equal(p.absences[0].saves, 3);
    assert_int_equal(p.absences[0].need, 11); /* 0, 1 and the workspace */
    bench_close(&b);
}

/* 1 is computed over 0, which is recomputed: kept, 1 would have needed its own room. */
static void an_overwritten_value_needs_room_beside_the_new_one(void **state)
{
    (void)state;
    small_game s;
    bench b;
    small_game_init(&s);
    small_game_add(&s, 1, 3, 0);
    small_game_add(&s, 1, 2, 1);
    s.inplace[1] = 1;
    small_game_add(&s, 1, 1, 3);
    bench_open(&b, &s, "c0 c1/0 c0 c2");
    pbi_pressure p = pressure_of(&b);
    assert_int_equal(p.absence_count, 1);
    assert_int_equal(p.absences[0].need, 5);
    assert_int_equal(p.absences[0].full_step, PBI_NO_STEP);
    bench_close(&b);
}

/* ---- against a plan in which the value is really kept ---- */

/* The same plan without freeing and recomputing 0 has just the peak that was said. */
static void the_cap_that_is_said_to_do_does(void **state)
{
    (void)state;
    small_game s;
    bench b, kept;
    small_loop(&s, 5);
    s.size[1] = 4;
    s.size[2] = 6;
    s.size[3] = 2;
    s.cap = 100;
    bench_open(&b, &s, "c0 c1 f0 c2 f1 c3 f2 c0 c4");
    pbi_pressure p = pressure_of(&b);
    assert_int_equal(p.absence_count, 1);
    s.cap = p.absences[0].need;
    bench_open(&kept, &s, "c0 c1 c2 f1 c3 f2 c4");
    const pb_totals *totals = pb_certificate_totals(kept.certificate);
    assert_int_equal(totals->peak, s.cap);
    bench_close(&kept);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fullest_moment_decides),
        cmocka_unit_test(what_is_made_together_is_kept_together),
        cmocka_unit_test(a_by_product_that_was_left_out_counts_from_then),
        cmocka_unit_test(an_overwritten_value_needs_room_beside_the_new_one),
        cmocka_unit_test(the_cap_that_is_said_to_do_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
