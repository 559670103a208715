/* test_verify_timed.c -- the timed game: one broken schedule for each rule, and figures worked out by hand. */
#include "base/checked.h"
#include "support/io_case.h"
#include "support/timed_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Shorthand for nodes, moves and their places. */
#define N(name, cost, size) "{\"name\":\"" name "\",\"cost\":" #cost ",\"size\":" #size
#define C(v, at, on) "[\"compute\",\"" v "\",{\"on\":\"" on "\",\"at\":" #at "}]"
#define OVER(v, u, at, on) "[\"compute\",\"" v "\",{\"on\":\"" on "\",\"at\":" #at ",\"over\":\"" u "\"}]"
#define ALSO(v, w, at, on) "[\"compute\",\"" v "\",{\"on\":\"" on "\",\"at\":" #at ",\"also\":[\"" w "\"]}]"
#define F(v, at, in) "[\"free\",\"" v "\",{\"in\":\"" in "\",\"at\":" #at "}]"
#define X(v, at, link) "[\"copy\",\"" v "\",{\"link\":\"" link "\",\"at\":" #at "}]"
#define A N("a", 1, 2) "}"
#define AB A "," N("b", 1, 2) "}"
#define A_TO_B "[\"a\",\"b\"]"

typedef struct row {
    const char *nodes, *edges, *moves;
    pb_rule rule; /* PB_RULE_NONE: legal */
    pb_step step;
    pb_node node, other;
} row;

#define NONE PB_NO_NODE

static const row rows[] = {
    /* start and caps */
    {N("x", 0, 11) ",\"given\":true}", "", F("x", 0, "hbm"), PB_RULE_START_CAP, 0, NONE, NONE},
    {N("a", 1, 6) "}," N("b", 1, 6) "}", "", C("a", 0, "gpu") "," C("b", 1, "gpu") "," F("a", 1, "hbm"), PB_RULE_MEMORY,
     1, 1, NONE},
    {N("a", 1, 6) "}," N("b", 1, 6) "}", "", C("a", 0, "gpu") "," F("a", 1, "hbm") "," C("b", 1, "gpu"), PB_RULE_NONE,
     0, NONE, NONE},
    {N("a", 0, 1) ",\"workspace\":10}", "", C("a", 5, "gpu"), PB_RULE_MEMORY, 0, 0, NONE},
    {N("a", 1, 8) "}," N("b", 2, 2) ",\"inplace\":[\"a\"]}," N("c", 1, 3) "}", A_TO_B,
     C("a", 0, "gpu") "," OVER("b", "a", 1, "gpu") "," C("c", 2, "gpu2"), PB_RULE_MEMORY, 2, 2, NONE},
    {N("a", 1, 8) "}," N("b", 2, 2) ",\"inplace\":[\"a\"]}," N("c", 1, 3) "}", A_TO_B,
     C("a", 0, "gpu") "," OVER("b", "a", 1, "gpu") "," C("c", 3, "gpu2"), PB_RULE_NONE, 0, NONE, NONE},
    /* what may be computed */
    {N("x", 0, 1) ",\"given\":true}", "", C("x", 0, "gpu"), PB_RULE_GIVEN, 0, 0, NONE},
    {A "," N("w", 0, 1) ",\"byproduct_of\":\"a\"}", "", C("w", 0, "gpu"), PB_RULE_BYPRODUCT, 0, 1, 0},
    {N("a", 1, 2) ",\"once\":true}", "", C("a", 0, "gpu") "," F("a", 1, "hbm") "," C("a", 1, "gpu"), PB_RULE_ONCE, 2, 0,
     NONE},
    {A, "", C("a", 0, "gpu") "," C("a", 1, "gpu"), PB_RULE_IN_MEMORY, 1, 0, 0},
    {A, "", C("a", 0, "gpu") "," F("a", 1, "hbm") "," C("a", 1, "gpu"), PB_RULE_NONE, 0, NONE, NONE},
    {N("a", 1, 2) ",\"on\":\"gpu\"}", "", C("a", 0, "gpu2"), PB_RULE_PROCESSOR, 0, 0, NONE},
    /* lanes and times */
    {AB, "", C("a", 1, "gpu") "," C("b", 0, "gpu2"), PB_RULE_TIME, 1, 1, NONE},
    {N("a", 3, 2) "}," N("b", 0, 0) "}", "", C("a", 0, "gpu") "," C("b", 1, "gpu"), PB_RULE_BUSY, 1, 1, NONE},
    {AB, "", C("a", 0, "gpu") "," C("b", 1, "gpu") "," X("a", 2, "out") "," X("b", 3, "out"), PB_RULE_BUSY, 3, 1, NONE},
    {A "," N("b", 1, 2) ",\"given\":true,\"in\":\"host\"}", "", X("b", 0, "b") "," C("a", 0, "gpu") "," X("a", 1, "a"),
     PB_RULE_BUSY, 2, 0, NONE},
    {A "," N("b", 1, 2) ",\"given\":true,\"in\":\"host\"}", "",
     X("b", 0, "in") "," C("a", 0, "gpu") "," X("a", 1, "out"), PB_RULE_NONE, 0, NONE, NONE},
    /* what is read and made */
    {AB, A_TO_B, C("a", 0, "gpu") "," C("b", 0, "gpu2"), PB_RULE_NOT_READY, 1, 1, 0},
    {AB, A_TO_B, C("b", 0, "gpu2"), PB_RULE_NOT_READY, 0, 1, 0},
    {N("x", 0, 2) ",\"given\":\"slow\"}," N("b", 1, 2) "}", "[\"x\",\"b\"]", C("b", 0, "gpu"), PB_RULE_NOT_READY, 0, 1,
     0},
    {N("a", 3, 2) "}", "", C("a", 0, "gpu") "," X("a", 2, "out"), PB_RULE_NOT_READY, 1, 0, 0},
    {A, "", C("a", 0, "gpu") "," X("a", 1, "out") "," X("a", 3, "in"), PB_RULE_IN_MEMORY, 2, 0, 0},
    /* in place and by-products */
    {AB, A_TO_B, C("a", 0, "gpu") "," OVER("b", "a", 1, "gpu"), PB_RULE_OVER, 1, 1, 0},
    {N("a", 1, 2) "}," N("b", 1, 2) ",\"inplace\":[\"a\"]}", A_TO_B,
     C("a", 0, "gpu") "," X("a", 1, "out") "," OVER("b", "a", 1, "gpu"), PB_RULE_OVER_READ, 2, 1, 0},
    {N("a", 1, 2) "}," N("b", 1, 2) ",\"inplace\":[\"a\"]}", A_TO_B,
     C("a", 0, "gpu") "," X("a", 1, "out") "," OVER("b", "a", 3, "gpu"), PB_RULE_NONE, 0, NONE, NONE},
    {N("a", 1, 1) "}," N("b", 1, 1) ",\"inplace\":[\"a\"]}," N("w", 0, 1) ",\"byproduct_of\":\"b\"}", A_TO_B,
     C("a", 0, "gpu") "," C("b", 1,
                            "gpu") ",[\"compute\",\"b\",{\"on\":\"gpu\",\"at\":2,\"over\":\"a\",\"also\":[\"w\"]}]",
     PB_RULE_OVER_RESIDENT, 2, 1, 0},
    {AB, "", ALSO("a", "b", 0, "gpu"), PB_RULE_ALSO, 0, 0, 1},
    {A "," N("w", 0, 1) ",\"byproduct_of\":\"a\"}", "", ALSO("a", "w", 0, "gpu") "," ALSO("a", "w", 1, "gpu"),
     PB_RULE_IN_MEMORY, 1, 1, 1},
    {A "," N("w", 0, 1) ",\"byproduct_of\":\"a\"}", "", C("a", 0, "gpu") "," ALSO("a", "w", 1, "gpu"), PB_RULE_NONE, 0,
     NONE, NONE},
    /* frees */
    {A, "", C("a", 0, "gpu") "," F("a", 1, "host"), PB_RULE_FREE_ABSENT, 1, 0, NONE},
    {N("a", 3, 2) "}", "", C("a", 0, "gpu") "," F("a", 2, "hbm"), PB_RULE_FREE_USED, 1, 0, NONE},
    {A, "", C("a", 0, "gpu") "," X("a", 1, "out") "," F("a", 2, "hbm"), PB_RULE_FREE_USED, 2, 0, NONE},
    {A, "", C("a", 0, "gpu") "," X("a", 1, "out") "," F("a", 3, "hbm"), PB_RULE_NONE, 0, NONE, NONE},
    /* the end */
    {AB, A_TO_B, C("a", 0, "gpu"), PB_RULE_TARGET, 1, 1, NONE},
    {N("a", 1, 2) ",\"keep\":\"host\"}", "", C("a", 0, "gpu"), PB_RULE_KEEP_MEMORY, 1, 0, NONE},
    {N("a", 1, 2) ",\"keep\":true}", "", C("a", 0, "gpu") "," F("a", 1, "hbm"), PB_RULE_KEEP_MEMORY, 2, 0, NONE},
    {N("a", 1, 2) ",\"keep\":true}", "", C("a", 0, "gpu") "," X("a", 1, "out") "," F("a", 3, "hbm"), PB_RULE_NONE, 0,
     NONE, NONE},
};

static void each_rule_has_its_name(void **state)
{
    (void)state;
    bool seen[PB_RULE_COUNT] = {[PB_RULE_LANE] = true}; /* the next test has it */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        timed_text t;
        const row *r = &rows[i];
        if (timed_text_judge(&t, r->nodes, r->edges, r->moves, NULL, "") != PB_OK)
            fail_msg("row %zu: %s", i, t.ctx.error.message);
        const pb_verdict *v = &t.judged.verdict;
        if (v->rule != r->rule || (r->rule == PB_RULE_NONE) != (v->certificate != NULL))
            fail_msg("row %zu: %s", i, v->certificate ? "legal" : t.judged.message);
        if (r->rule != PB_RULE_NONE) {
            assert_int_equal(v->step, r->step);
            assert_int_equal(v->node, r->node);
            assert_int_equal(v->other, r->other);
            assert_non_null(strstr(t.judged.message, pb_rule_name(r->rule)));
        }
        seen[r->rule] = true;
        assert_null(schedule_round_trips(&t.ctx, &t.schedule, t.graph));
        timed_text_close(&t);
    }
    for (unsigned rule = PB_RULE_LANE; rule < PB_RULE_COUNT; rule++)
        if (!seen[rule])
            fail_msg("no broken schedule for rule %s", pb_rule_name((pb_rule)rule));
}

/* Moves that no file can have: they come from callers of the library. */
static void moves_from_callers_are_checked(void **state)
{
    (void)state;
    static const struct {
        pb_op op;
        pb_node node;
        uint32_t place;
        pb_rule rule;
    } cases[] = {{PB_COMPUTE, 0, 2, PB_RULE_LANE}, {PB_COPY, 0, 4, PB_RULE_LANE},
                 {PB_FREE, 0, 2, PB_RULE_LANE},    {PB_COMPUTE, 9, 0, PB_RULE_NODE},
                 {PB_STORE, 0, 0, PB_RULE_MOVE},   {PB_COMPUTE, 0, UINT32_MAX, PB_RULE_LANE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timed_text t;
        pb_verdict v;
        pb_moves moves;
        char text[300];
        assert_int_equal(timed_text_judge(&t, A, "", C("a", 0, "gpu"), NULL, ""), PB_OK);
        pb_moves_init(&moves, &t.arena);
        assert_int_equal(pb_moves_add(&moves, cases[i].op, cases[i].node, 0), PB_OK);
        if (cases[i].place != UINT32_MAX)
            assert_int_equal(pb_moves_set_when(&moves, cases[i].place, 3), PB_OK);
        assert_int_equal(pb_verify(&t.ctx, &t.judged.game, &moves, &t.arena, &v), PB_OK);
        assert_int_equal(v.rule, cases[i].rule);
        assert_true(pb_verdict_text(&t.judged.game, &moves, &v, text, sizeof text) > 10);
        timed_text_close(&t);
    }
}

/* Two values of 2 and 3: the first goes out and comes back, the second is computed while it is out. */
static void figures_are_those_of_the_definition(void **state)
{
    (void)state;
    timed_text t;
    const char *moves = C("a", 0, "gpu") "," X("a", 1, "out") "," C("b", 1, "gpu") "," F("a", 3, "hbm") "," X(
        "a", 5, "in") "," C("c", 7, "gpu") "," C("b2", 8, "gpu2");
    assert_int_equal(timed_text_judge(&t, AB "," N("c", 1, 1) ",\"workspace\":4}," N("b2", 3, 1) "}",
                                      "[\"a\",\"c\"],[\"b\",\"b2\"]", moves, NULL,
                                      "\"metrics\":{\"peaks\":{\"host\":2,\"hbm\":9},\"span\":8}"),
                     PB_OK);
    const pb_metrics *m = &t.judged.metrics;
    assert_string_equal(t.judged.message, "");
    assert_int_equal(m->makespan, 11);
    assert_int_equal(m->span, 8);
    assert_int_equal(m->work, 6);
    assert_int_equal(m->io, 4);
    assert_int_equal(m->recompute, 0);
    assert_int_equal(m->peak, 9);
    assert_int_equal(m->peaks[0], 9);
    assert_int_equal(m->peaks[1], 2);
    /* 2 from 0 to 1, 4 to 3, 2 to 5, 4 to 7, 9 to 8, 6 to 11 */
    assert_int_equal(m->flux.low, 2 + 8 + 4 + 8 + 9 + 18);
    assert_true(m->overhead < 0);
    const pb_lane_use *gpu = &pb_certificate_totals(t.judged.verdict.certificate)->timed.lanes[0];
    assert_int_equal(gpu->busy, 3);
    assert_int_equal(gpu->stall[PB_STALL_COPY], 5);
    assert_int_equal(gpu->stall[PB_STALL_MEMORY], 0);
    timed_text_close(&t);
}

/* A free after the last end does not count in flux; time without any move between two moves does. */
static void flux_ends_with_the_makespan(void **state)
{
    (void)state;
    timed_text t;
    assert_int_equal(timed_text_judge(&t, AB, "",
                                      C("a", 0, "gpu") "," F("a", 9, "hbm") "," C("b", 11, "gpu") "," F("b", 50, "hbm"),
                                      NULL, "\"metrics\":{\"flux\":20,\"makespan\":12}"),
                     PB_OK);
    assert_string_equal(t.judged.message, "");
    assert_int_equal(pb_certificate_totals(t.judged.verdict.certificate)->timed.lanes[0].stall[PB_STALL_MEMORY], 10);
    timed_text_close(&t);
}

static void times_that_pass_64_bits_are_refused(void **state)
{
    (void)state;
    timed_text t;
    assert_int_equal(timed_text_judge(&t, A, "", C("a", 18446744073709551615, "gpu"), NULL, ""), PB_OK);
    assert_int_equal(t.judged.failure, PB_FAILURE_RANGE);
    timed_text_close(&t);
    assert_int_equal(
        timed_text_judge(&t, N("a", 0, 2) "}," N("b", 0, 1) "}", A_TO_B, C("b", 18446744073709551615, "gpu"), NULL, ""),
        PB_OK);
    assert_true(t.judged.failure == PB_FAILURE_RANGE || t.judged.failure == PB_FAILURE_RULE);
    timed_text_close(&t);
}

static void refuse(const char *nodes, const char *moves, const char *machine, const char *more, const char *why)
{
    timed_text t;
    pb_status status = timed_text_judge(&t, nodes, "", moves, machine, more);
    if (status != PB_EFORMAT || !strstr(t.ctx.error.message, why))
        fail_msg("expected \"%s\", got status %d: %s", why, status, t.ctx.error.message);
    timed_text_close(&t);
}

static void the_reader_refuses_what_has_no_meaning(void **state)
{
    (void)state;
    refuse(A, "[\"compute\",\"a\",{\"on\":\"gpu\"}]", NULL, "", "add \"at\"");
    refuse(A, "[\"compute\",\"a\",{\"at\":0}]", NULL, "", "add \"on\"");
    refuse(A, "[\"copy\",\"a\",{\"at\":0}]", NULL, "", "add \"link\"");
    refuse(A, "[\"compute\",\"a\"]", NULL, "", "need a start time");
    refuse(A, C("a", 0, "tpu"), NULL, "", "names processor \"tpu\"");
    refuse(A, C("a", 0, "gpu") "," X("a", 1, "up"), NULL, "", "names link \"up\"");
    refuse(A, C("a", 0, "gpu") "," F("a", 1, "ram"), NULL, "", "names memory \"ram\"");
    refuse(A, "[\"free\",\"a\",{\"on\":\"gpu\"}]", NULL, "", "expected \"in\" and \"at\"");
    refuse(A, C("a", 0, "gpu"), NULL, "\"cap\":5", "first memory");
    refuse(A, C("a", 0, "gpu"), NULL, "\"borrow\":5", "no \"borrow\"");
    refuse(A, C("a", 0, "gpu"), NULL, "\"tiers\":[{}]", "no \"tiers\"");
    refuse(A, C("a", 0, "gpu"), NULL, "\"objective\":\"peak\"", "makespan or span");
    refuse(A, C("a", 0, "gpu"), NULL, "\"metrics\":{\"peaks\":{\"hbm\":2}}", "each memory");
    refuse(A, C("a", 0, "gpu"), "null", "", "needs the field \"machine\"");
    refuse(N("x", 0, 1) ",\"given\":true,\"in\":\"tape\"}", "", NULL, "", "\"tape\"");
    refuse(N("a", 0, 1) ",\"keep\":\"tape\"}", "", NULL, "", "\"tape\"");
}

static void wrong_figures_are_named(void **state)
{
    (void)state;
    static const char *const stated[][2] = {{"\"span\":99", "span is 99 in the file, but 1"},
                                            {"\"peaks\":{\"hbm\":9,\"host\":0}", "the peak of hbm is 9"},
                                            {"\"makespan\":2", "makespan is 2"},
                                            {"\"recompute\":1", "recompute is 1"}};
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        timed_text t;
        char more[100];
        snprintf(more, sizeof more, "\"metrics\":{%s}", stated[i][0]);
        assert_int_equal(timed_text_judge(&t, A, "", C("a", 0, "gpu"), NULL, more), PB_OK);
        assert_int_equal(t.judged.failure, PB_FAILURE_FIGURES);
        assert_non_null(strstr(t.judged.message, stated[i][1]));
        timed_text_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_its_name),
        cmocka_unit_test(moves_from_callers_are_checked),
        cmocka_unit_test(figures_are_those_of_the_definition),
        cmocka_unit_test(flux_ends_with_the_makespan),
        cmocka_unit_test(times_that_pass_64_bits_are_refused),
        cmocka_unit_test(the_reader_refuses_what_has_no_meaning),
        cmocka_unit_test(wrong_figures_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
