/* test_session_run.c -- plans run with kernels of the caller, through the border for other languages. */
#include "session_fixture.h"

enum { A, B, C, D, NODES, SIZE = 64 };

typedef struct bench {
    unsigned computed[NODES], filled, fixed, results;
    unsigned unsteady; /* adds to c */
    int fails;         /* the node whose kernel fails, or -1 */
    uint64_t steps;
    unsigned char d;
} bench;

static int work(void *state, uint32_t duty, uint32_t node, const uint64_t *numbers, void *const *value, void *workspace,
                void *fixed)
{
    bench *b = state;
    unsigned char *out = duty == PB_DUTY_FIXED ? fixed : value[node];
    assert_non_null(fixed);
    assert_non_null(out);
    switch ((pb_duty)duty) {
    case PB_DUTY_FIXED: b->fixed++; return out[0] = 3, 0;
    case PB_DUTY_FILL: b->filled++; return memset(out, 10 + (int)numbers[0], SIZE), 0;
    case PB_DUTY_RESULT:
        if (node != D) /* whatever else the plan leaves in memory */
            return 0;
        b->results++;
        b->d = out[SIZE - 1];
        b->steps = numbers[0] + 1;
        return 0;
    case PB_DUTY_COMPUTE: break;
    }
    if (b->fails == (int)node)
        return 1;
    const unsigned char *first = value[node == D ? A : node - 1], *second = node == D ? value[C] : first;
    unsigned char more = node == C && b->unsteady ? (unsigned char)b->computed[C] : 0;
    b->computed[node]++;
    if (node == C)
        memset(workspace, 9, 32);
    for (int k = 0; k < SIZE; k++)
        out[k] = (unsigned char)(first[k] + second[k] * ((unsigned char *)fixed)[0] + more);
    return 0;
}

/* a is given; b, c, d; d reads a and c and is kept. */
static const pb_plan_result *planned(pb_session *s, const char *unit)
{
    static const uint64_t cost[] = {0, 1, 1, 1}, size[] = {SIZE, SIZE, SIZE, SIZE}, workspace[] = {0, 0, 32, 0};
    static const uint16_t flags[] = {PB_NODE_GIVEN, 0, 0, PB_NODE_KEEP};
    static const uint32_t from[] = {A, B, A, C}, to[] = {B, C, D, D};
    const pb_graph *g;
    const pb_plan_result *p;
    must(s, pb_session_add_nodes(s, NODES, cost, size, workspace, flags));
    must(s, pb_session_add_pairs(s, "edge", 4, from, to));
    must(s, pb_session_make_graph(s, "own", "ns", unit, 64, &g));
    must(s, pb_session_set(s, "cap", "none"));
    must(s, pb_session_plan(s, g, NULL, &p));
    return p;
}

static void a_plan_runs_and_is_measured(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_plan_result *p = planned(s, "byte");
    bench b = {.fails = -1};
    uint64_t length;
    must(s, pb_session_run_number(s, "steps", 3));
    must(s, pb_session_run(s, p, work, &b));
    const char *text = pb_session_text(s, &length);
    assert_non_null(strstr(text, "\"planned_peak\":288,\"peak\":288,")); /* fixed memory, three values and workspace */
    assert_non_null(strstr(text, "\"computed\":3,\"recomputed\":0,"));
    assert_non_null(strstr(text, "\"differs\":[]}"));
    assert_int_equal(b.fixed, 1);
    assert_int_equal(b.filled, 3);
    assert_int_equal(b.results, 3);
    assert_int_equal(b.steps, 3);
    assert_int_equal(b.d, (unsigned char)(12 + 3 * 16 * 12)); /* a + 3 c, c = 4 b, b = 4 a, and a is 12 in step 2 */
    pb_session_free(s);
}

static void a_check_names_unsteady_kernels(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_plan_result *p = planned(s, "byte");
    bench b = {.fails = -1, .unsteady = 1};
    uint64_t length;
    must(s, pb_session_run_number(s, "check", 1));
    must(s, pb_session_run(s, p, work, &b));
    assert_non_null(strstr(pb_session_text(s, &length), "\"differs\":[2]}"));
    assert_int_equal(b.computed[B], 2);
    must(s, pb_session_run(s, p, work, &b)); /* the next run is not checked: nothing is noticed */
    assert_non_null(strstr(pb_session_text(s, &length), "\"differs\":[]}"));
    pb_session_free(s);
}

static void what_cannot_run_is_refused(void **state)
{
    (void)state;
    pb_session *s = open_session(NULL);
    const pb_plan_result *p = planned(s, "byte");
    bench b = {.fails = C};
    assert_int_equal(pb_session_run(s, p, work, &b), PB_EINVAL);
    assert_non_null(strstr(pb_session_message(s), "the kernel of 2 failed"));
    assert_int_equal(pb_session_run(s, p, NULL, &b), PB_EINVAL);
    assert_int_equal(pb_session_run(s, NULL, work, &b), PB_EINVAL);
    assert_int_equal(pb_session_run(NULL, p, work, &b), PB_EINVAL);
    assert_int_equal(pb_session_run_number(s, "align", 3), PB_EINVAL);
    assert_int_equal(pb_session_run_number(s, "stepz", 3), PB_EINVAL);
    assert_int_equal(pb_session_run_number(NULL, "steps", 3), PB_EINVAL);
    assert_int_equal(pb_session_run_slow(NULL, "."), PB_EINVAL);
    must(s, pb_session_run_slow(s, "."));
    b.fails = -1;
    must(s, pb_session_run_number(s, "max_block", 100));
    assert_int_equal(pb_session_run(s, p, work, &b), PB_ELIMIT);
    must(s, pb_session_run(s, p, work, &b));
    assert_int_equal(pb_session_run(s, planned(s, "pebble"), work, &b), PB_EINVAL);
    assert_non_null(strstr(pb_session_message(s), "they must be bytes"));
    pb_session_free(s);
}

static void any_allocation_may_be_refused(void **state)
{
    (void)state;
    pb_session *owner = open_session(NULL);
    const pb_plan_result *p = planned(owner, "byte");
    for (refusal r = {.refused = 1};; r.refused++) {
        pb_session *s = open_session(&r);
        bench b = {.fails = -1};
        pb_status status = pb_session_run(s, p, work, &b);
        bool reached = r.count >= r.refused;
        assert_true(status == PB_OK || (reached && status == PB_ENOMEM));
        pb_session_free(s);
        if (!reached)
            break;
        assert_true(r.refused < 1000);
    }
    pb_session_free(owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_runs_and_is_measured),
        cmocka_unit_test(a_check_names_unsteady_kernels),
        cmocka_unit_test(what_cannot_run_is_refused),
        cmocka_unit_test(any_allocation_may_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
