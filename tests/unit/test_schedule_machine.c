/* test_schedule_machine.c -- schedules that carry a machine: its links as tiers, and graphs priced by it. */
#include "pebble/api.h"
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/error_table.h"

/* y takes ceil(10 * 10^6 / 3000000) = 4 us and 1 us of overhead, z was measured, w has its cost. */
static const char graph_text[] =
    "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"name\":\"x\",\"size\":3,\"given\":true},"
    "{\"name\":\"y\",\"cost\":100,\"size\":2,\"flops\":10,\"dtype\":\"float32\"},"
    "{\"name\":\"z\",\"cost\":200,\"size\":2,\"times\":{\"gpu\":7}},{\"name\":\"w\",\"cost\":9,\"size\":1}],"
    "\"edges\":[[0,1],[1,2],[2,3]]}";

#define MACHINE                                                                                                       \
    "\"machine\":{\"format\":\"pebble-machine/"                                                                       \
    "1\",\"name\":\"m\",\"time_unit\":\"us\",\"memories\":[{\"name\":\"hbm\"},"                                       \
    "{\"name\":\"host\",\"cap\":90},{\"name\":\"disk\"}],\"processors\":[{\"name\":\"gpu\",\"memory\":\"hbm\","       \
    "\"overhead\":1,\"rates\":{\"float32\":3000000}}],\"links\":[{\"name\":\"out\",\"from\":\"hbm\",\"to\":\"host\"," \
    "\"bandwidth\":300000,\"latency\":2},{\"name\":\"in\",\"from\":\"host\",\"to\":\"hbm\",\"per_unit\":5},"          \
    "{\"name\":\"spill\",\"from\":\"host\",\"to\":\"disk\"},{\"name\":\"back\",\"from\":\"disk\",\"to\":\"hbm\"}]}"
#define SCHEDULE(tiers, rest) \
    "{\"format\":\"pebble-schedule/1\",\"game\":\"tiered\",\"cap\":9,\n\"tiers\":[" tiers "]" rest "}"
#define LINKED "{\"store\":\"out\",\"load\":\"in\",\"cap\":50}"

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    const pb_graph *g;
    pb_schedule s;
} desk;

static pb_status open_text(desk *d, const char *text, size_t chunk)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    assert_int_equal(graph_from(&d->ctx, graph_text, strlen(graph_text), SIZE_MAX, PB_FORMAT_JSON, &d->arena, &d->g),
                     PB_OK);
    return schedule_from(&d->ctx, text, strlen(text), chunk, PB_FORMAT_JSON, d->g, &d->arena, &d->s);
}

static void must_open(desk *d, const char *text)
{
    if (open_text(d, text, SIZE_MAX) != PB_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)d->ctx.error.line, (unsigned long long)d->ctx.error.column,
                 d->ctx.error.message);
    const char *fault = schedule_round_trips(&d->ctx, &d->s, d->g);
    if (fault)
        fail_msg("%s: %s", text, fault);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static void check_linked(desk *d)
{
    const pb_tier *tier = &d->s.tiers[0];
    assert_non_null(d->s.machine);
    assert_int_equal(d->s.tier_count, 1);
    assert_string_equal(tier->store_link, "out");
    assert_string_equal(tier->load_link, "in");
    assert_int_equal(tier->cap, 50);
    assert_int_equal(pb_tier_store_price(tier, 2), 2 + 7); /* ceil(2 * 10^6 / 300000) */
    assert_int_equal(pb_tier_load_price(tier, 2), 10);
    assert_false(d->s.linked);
}

static void tiers_name_the_links_of_the_machine(void **state)
{
    (void)state;
    static const char *const texts[] = {SCHEDULE(LINKED, "," MACHINE ",\"moves\":[]"),
                                        "{" MACHINE "," /* fields come in any order */
                                        "\"format\":\"pebble-schedule/1\",\"moves\":[],\"tiers\":[" LINKED
                                        "],\"game\":\"tiered\"}"};
    for (int i = 0; i < 2; i++) {
        desk d;
        must_open(&d, texts[i]);
        check_linked(&d);
        pb_buffer bytes;
        assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
        assert_non_null(strstr(bytes.bytes, ",\"tiers\":[" LINKED "],\n" MACHINE ",\n"));
        shut(&d);
    }
}

static void a_null_cap_is_no_limit(void **state)
{
    (void)state;
    desk d;
    must_open(&d, SCHEDULE("{\"store\":\"out\",\"load\":\"in\"}", "," MACHINE ",\"moves\":[]"));
    assert_true(d.s.tiers[0].cap == PB_UNLIMITED); /* the file counts, not the memory's 90 */
    shut(&d);
}

static void the_largest_number_is_no_limit_either(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "{\"format\":\"pebble-schedule/1\",\"game\":\"tiered\",\"cap\":18446744073709551615,\"tiers\":"
              "[{\"load_cost\":1,\"cap\":\"18446744073709551615\"},{\"cap\":\"18446744073709551614\"}],\"moves\":[],"
              "\"machine\":{\"format\":\"pebble-machine/1\",\"memories\":[{\"name\":\"m\",\"reserve\":1,\"cap\":"
              "18446744073709551615}],\"processors\":[{\"name\":\"p\",\"memory\":\"m\"}]}}");
    assert_true(d.s.cap == PB_UNLIMITED && d.s.tiers[0].cap == PB_UNLIMITED && d.s.tiers[1].cap == PB_UNLIMITED - 1);
    assert_true(d.s.machine->memories[0].cap == PB_UNLIMITED);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_null(strstr(bytes.bytes, "18446744073709551615")); /* null, or omitted */
    assert_non_null(strstr(bytes.bytes, "\"18446744073709551614\""));
    shut(&d);
}

static void prices_have_priority_over_links(void **state)
{
    (void)state;
    desk d;
    must_open(&d, SCHEDULE("{\"store_cost\":0.5,\"store\":\"out\",\"load\":\"in\"}", "," MACHINE ",\"moves\":[]"));
    assert_non_null(d.s.machine); /* prices the nodes */
    assert_null(d.s.tiers[0].store_link);
    assert_int_equal(pb_tier_store_price(&d.s.tiers[0], 2), 1);
    assert_false(d.s.linked); /* the one machine of a schedule is already there */
    shut(&d);
    must_open(&d, SCHEDULE("{\"store_cost\":5}", "," MACHINE ",\"moves\":[]"));
    assert_non_null(d.s.machine);
    assert_int_equal(pb_tier_store_price(&d.s.tiers[0], 2), 5);
    shut(&d);
}

/* As the writer writes decimal prices for other programs. */
#define PRICES                                                                                                        \
    "\"machine\":{\"format\":\"pebble-machine/1\",\"name\":\"prices of the tiers\",\"time_unit\":\"ns\","             \
    "\"memories\":[{\"name\":\"fast\"},{\"name\":\"slow1\"}],\"processors\":[{\"name\":\"unit\",\"memory\":\"fast\"," \
    "\"rates\":{\"other\":1000000000}}],\"links\":[{\"name\":\"store1\",\"from\":\"fast\",\"to\":\"slow1\"},"         \
    "{\"name\":\"load1\",\"from\":\"slow1\",\"to\":\"fast\"}]}"

static void a_machine_that_only_has_the_prices_is_skipped(void **state)
{
    (void)state;
    desk d;
    must_open(&d, SCHEDULE("{\"store_cost\":0.5,\"store\":\"store1\",\"load\":\"load1\"}", "," PRICES ",\"moves\":[]"));
    assert_null(d.s.machine);
    assert_null(d.s.tiers[0].store_link);
    shut(&d);
    must_open(&d, SCHEDULE("{\"store_cost\":0.5,\"store\":\"store1\",\"load\":\"load1\"},"
                           "{\"store\":\"store1\",\"load\":\"load1\"}",
                           "," PRICES ",\"moves\":[]"));
    assert_non_null(d.s.machine); /* the second tier has no other prices */
    assert_string_equal(d.s.tiers[1].store_link, "store1");
    shut(&d);
}

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {SCHEDULE(LINKED, ",\"moves\":[]"), PB_EFORMAT, 2, 10,
         "names a link, but the schedule has no \"machine\"; add"},
        {SCHEDULE("{\"store\":\"out\"}", "," MACHINE ",\"moves\":[]"), PB_EFORMAT, 2, 10,
         "\"load\" of tier 1 is missing; name the link, or give prices"},
        {SCHEDULE(LINKED ",{\"store\":\"out\",\"load\":\"inn\"}", "," MACHINE ",\"moves\":[]"), PB_EFORMAT, 2, 47,
         "\"load\" of tier 2 names \"inn\", which is not a link of the machine; correct it"},
        {SCHEDULE("{\"store\":\"spill\",\"load\":\"in\"}", "," MACHINE ",\"moves\":[]"), PB_EFORMAT, 2, 10,
         "\"store\" of tier 1 must join the machine's first memory and the tier's: store from \"hbm\""},
        {SCHEDULE("{\"store\":\"out\",\"load\":\"back\"}", "," MACHINE ",\"moves\":[]"), PB_EFORMAT, 2, 10,
         "\"load\" of tier 1 must join"},
        {SCHEDULE("{\"store\":1}", ",\"moves\":[]"), PB_EFORMAT, 2, 19, "\"store\" of tier 1 must be a string"},
        {SCHEDULE("", ",\n\"machine\":{\"memories\":[]},\"moves\":[]"), PB_EFORMAT, 3, 11, "has no memories"},
        {SCHEDULE("", ",\n\"machine\":\"a100\",\"moves\":[]"), PB_EFORMAT, 3, 11, "expected a machine"},
    };
    EXPECT_ERRORS(cases);
}

static const char plan[] = SCHEDULE(
    LINKED,
    "," MACHINE ",\"moves\":[[\"compute\",1],[\"compute\",2],[\"store\",2],[\"free\",2],[\"load\",2],[\"compute\",3]],"
    "\"metrics\":{\"work\":21,\"io\":19,\"makespan\":40}");

static void the_machine_prices_the_graph_that_is_judged(void **state)
{
    (void)state;
    desk d;
    pb_judgement j;
    const pb_graph *own, *priced;
    must_open(&d, plan);
    own = d.g;
    assert_int_equal(pb_judge_all(&d.ctx, own, &d.s, false, &d.arena, &j), PB_OK);
    assert_string_equal(j.message, "");
    assert_int_equal(j.metrics.work, 5 + 7 + 9);
    assert_int_equal(j.metrics.io, 9 + 10);
    assert_ptr_equal(j.game.graph->priced_by, d.s.machine);
    assert_ptr_equal(j.game.graph->unpriced, own);
    /* Without a machine the costs of the file count, also if the graph was priced before. */
    assert_int_equal(pb_graph_price(&d.ctx, own, d.s.machine, &d.arena, &priced), PB_OK);
    d.s.machine = NULL;
    d.s.has_metrics = false;
    assert_int_equal(pb_judge_all(&d.ctx, priced, &d.s, false, &d.arena, &j), PB_OK);
    assert_int_equal(j.metrics.work, 309);
    shut(&d);
}

static void a_machine_without_the_rate_cannot_judge(void **state)
{
    (void)state;
    desk d;
    pb_judgement j;
    must_open(&d, "{\"format\":\"pebble-schedule/1\",\"game\":\"remat\",\"moves\":[],\"machine\":{\"name\":\"m\","
                  "\"memories\":[{\"name\":\"a\"}],\"processors\":[{\"name\":\"p\",\"memory\":\"a\"}]}}");
    assert_int_equal(pb_judge_all(&d.ctx, d.g, &d.s, false, &d.arena, &j), PB_EFORMAT);
    assert_non_null(
        strstr(d.ctx.error.message, "the schedule's machine cannot price the graph: node \"y\": machine m"));
    shut(&d);
}

static void plans_carry_the_machine(void **state)
{
    (void)state;
    desk d;
    pb_plan_result result;
    pb_request request = PB_REQUEST_DEFAULT;
    must_open(&d, plan);
    pb_game game = {.kind = PB_GAME_TIERED, .cap = 9, .weights = PB_WEIGHTS_DEFAULT};
    assert_int_equal(pb_graph_price(&d.ctx, d.g, d.s.machine, &d.arena, &game.graph), PB_OK);
    assert_int_equal(pb_machine_tiers(d.s.machine, game.tiers, &game.tier_count), 1);
    assert_int_equal(pb_plan(&d.ctx, &game, &request, &d.arena, &result), PB_OK);
    assert_ptr_equal(result.schedule.machine, d.s.machine);
    assert_int_equal(result.schedule.metrics.work, 21);
    const char *fault = schedule_round_trips(&d.ctx, &result.schedule, d.g);
    assert_true(!fault);
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers_name_the_links_of_the_machine),
        cmocka_unit_test(a_null_cap_is_no_limit),
        cmocka_unit_test(the_largest_number_is_no_limit_either),
        cmocka_unit_test(prices_have_priority_over_links),
        cmocka_unit_test(a_machine_that_only_has_the_prices_is_skipped),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(the_machine_prices_the_graph_that_is_judged),
        cmocka_unit_test(a_machine_without_the_rate_cannot_judge),
        cmocka_unit_test(plans_carry_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
