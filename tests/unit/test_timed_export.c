/* test_timed_export.c -- exports of timed plans: what they say about times, lanes and memories. */
#include "pebble/report.h"
#include "support/timed_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char nodes[] =
    "{\"name\":\"a\",\"cost\":1,\"size\":8},{\"name\":\"b\",\"cost\":2,\"size\":2,\"inplace\":[\"a\"]},"
    "{\"name\":\"c\",\"cost\":1,\"size\":3,\"workspace\":1}";
static const char moves[] =
    "[\"compute\",\"a\",{\"on\":\"gpu\",\"at\":0}],[\"compute\",\"b\",{\"on\":\"gpu\",\"at\":1,\"over\":\"a\"}],"
    "[\"copy\",\"b\",{\"link\":\"out\",\"at\":3}],[\"free\",\"b\",{\"in\":\"hbm\",\"at\":5}],"
    "[\"copy\",\"b\",{\"link\":\"b\",\"at\":6}],[\"compute\",\"c\",{\"on\":\"gpu\",\"at\":8}]";

typedef pb_status (*writer)(pb_context *, const pb_certificate *, pb_sink);

static pb_status explain(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    return pb_explain_text(ctx, c, PB_NO_NODE, sink);
}

static void expect(writer write, const char *const *parts)
{
    timed_text t;
    pb_buffer text;
    if (timed_text_judge(&t, nodes, "[\"a\",\"b\"],[\"b\",\"c\"]", moves, NULL, "") != PB_OK)
        fail_msg("%s", t.ctx.error.message);
    assert_string_equal(t.judged.message, "");
    pb_buffer_init(&text, &t.arena);
    assert_int_equal(write(&t.ctx, t.judged.verdict.certificate, pb_sink_buffer(&text)), PB_OK);
    for (const char *at = text.bytes; *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!found)
            fail_msg("after the parts before, there is no %s in:\n%s", *parts, text.bytes);
        at = found + strlen(*parts);
    }
    timed_text_close(&t);
}

static void traces_have_a_track_for_each_lane_and_a_counter_for_each_memory(void **state)
{
    (void)state;
    static const char *const parts[] = {"\"tid\":1,\"args\":{\"name\":\"gpu\"}",
                                        "\"args\":{\"name\":\"gpu2\"}",
                                        "\"args\":{\"name\":\"out\"}",
                                        "\"args\":{\"name\":\"bus\"}",
                                        "\"name\":\"hbm\",\"pid\":1,\"ts\":0,\"args\":{\"size\":0}",
                                        "\"name\":\"a\",\"cat\":\"compute\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1",
                                        "\"ts\":0,\"args\":{\"size\":8}",
                                        "\"ts\":1,\"dur\":2",
                                        "\"ts\":1,\"args\":{\"size\":8}", /* b and what a leaves */
                                        "\"ts\":3,\"args\":{\"size\":2}", /* when b is ready */
                                        "\"cat\":\"copy\"",
                                        "\"name\":\"host\",\"pid\":1,\"ts\":3,\"args\":{\"size\":2}",
                                        "\"name\":\"hbm\",\"pid\":1,\"ts\":8,\"args\":{\"size\":6}",
                                        "\"ts\":9,\"args\":{\"size\":5}",
                                        NULL};
    expect(pb_trace_write, parts);
}

static void rows_have_start_and_end(void **state)
{
    (void)state;
    static const char *const parts[] = {"step,op,node,name,place,start,end,memory,held\n",
                                        "0,compute,0,a,gpu,0,1,hbm,8\n",
                                        "2,copy,1,b,out,3,5,host,2\n",
                                        "3,free,1,b,hbm,5,5,hbm,0\n",
                                        "5,compute,2,c,gpu,8,9,hbm,6\n",
                                        NULL};
    expect(pb_steps_csv_write, parts);
}

static void decisions_are_copies_and_frees(void **state)
{
    (void)state;
    static const char *const parts[] = {"copy b over out at 3 until 5\n", "free b from hbm at 5\n",
                                        "copy b over b at 6 until 8\n", NULL};
    expect(pb_decisions_write, parts);
}

static void explanations_name_the_cause_of_a_stall(void **state)
{
    (void)state;
    static const char *const parts[] = {"makespan 9 tick, span 9 tick",
                                        "gpu: busy 4 tick (44.4 %) in 3 moves, waits for copy 5 tick",
                                        "out: busy 2 tick",
                                        "bus: busy 2 tick",
                                        "hbm: peak 8 unit of 10 unit",
                                        "host: peak 2 unit",
                                        NULL};
    expect(explain, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_have_a_track_for_each_lane_and_a_counter_for_each_memory),
        cmocka_unit_test(rows_have_start_and_end),
        cmocka_unit_test(decisions_are_copies_and_frees),
        cmocka_unit_test(explanations_name_the_cause_of_a_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
