/* test_schedule_json.c -- pebble-schedule/1: every field and move, errors at their places, the summary. */
#include "support/io_case.h"
#include "support/move_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/error_table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FORMAT "\"format\":\"pebble-schedule/1\""
#define GAME FORMAT ",\"game\":\"remat\""
#define MOVES(text) "{" GAME ",\n\"moves\":[" text "]}"
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char graph_text[] = "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"name\":\"a\",\"size\":1},"
                                 "{\"name\":\"b\",\"size\":2,\"inplace\":[0]},{\"size\":1,\"byproduct_of\":1},"
                                 "{\"name\":\"d e\",\"size\":1}],\"edges\":[[0,1],[1,3]]}";

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

static const char every_field[] =
    "{" FORMAT ",\"graph\":\"tiny\",\"graph_hash\":\"" HASH "\",\"game\":\"tiered\",\"cap\":4,"
    "\"tiers\":[{\"store_cost\":1,\"load_cost\":2,\"store_per_unit\":3,\"load_per_unit\":4,\"cap\":null},{\"cap\":9}],"
    "\n"
    "\"metrics\":{\"peak\":4,\"work\":5,\"io\":6,\"makespan\":11,\"recompute\":1,\"recompute_count\":2,\"uncompute\":3,"
    "\"flux\":\"340282366920938463463374607431768211455\",\"moves\":8,\"depth\":3,\"cost\":1.25,\"overhead\":0.1,"
    "\"gap\":2.5},"
    "\"strategy\":\"search\",\"options\":{\"seed\":\"18446744073709551615\",\"ticks\":100,\"threads\":2,\"k\":10,"
    "\"mode\":\"fast\",\"x\":true,\"big\":12345678901234567890},\"policy\":\"oldest\",\"weights\":[0.5,0,1.25],"
    "\"version\":\"0.1.0\",\"outcome\":\"optimal\",\"reason\":\"because\",\"note\":\"it is small\","
    "\"lower_bound\":5,\"bound_kind\":\"fixed-order\","
    "\"cost_bound\":\"12.75\",\"moves\":[]}";

static void reader_takes_every_field(void **state)
{
    (void)state;
    desk d;
    must_open(&d, every_field);
    const pb_schedule *s = &d.s;
    assert_string_equal(s->graph_name, "tiny");
    assert_string_equal(s->graph_hash, HASH);
    assert_int_equal(s->game, PB_GAME_TIERED);
    assert_int_equal(s->cap, 4);
    assert_int_equal(s->tier_count, 2);
    assert_int_equal(s->tiers[0].store_cost, 1);
    assert_int_equal(s->tiers[0].load_cost, 2);
    assert_int_equal(s->tiers[0].store_per_unit, 3);
    assert_int_equal(s->tiers[0].load_per_unit, 4);
    assert_true(s->tiers[0].cap == PB_UNLIMITED);
    assert_int_equal(s->tiers[1].store_cost, 0);
    assert_int_equal(s->tiers[1].cap, 9);
    assert_int_equal(s->weights.digits, 2);
    assert_int_equal(s->weights.alpha, 50);
    assert_int_equal(s->weights.gamma, 125);
    assert_string_equal(s->strategy, "search");
    assert_string_equal(s->policy, "oldest");
    assert_true(s->seed == UINT64_MAX);
    assert_int_equal(s->ticks, 100);
    assert_int_equal(s->threads, 2);
    assert_int_equal(s->option_count, 4);
    static const char *const options[][2] = {
        {"k", "10"}, {"mode", "fast"}, {"x", "true"}, {"big", "12345678901234567890"}};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(s->options[i].key, options[i][0]);
        assert_string_equal(s->options[i].value, options[i][1]);
    }
    assert_string_equal(s->version, "0.1.0");
    assert_int_equal(s->outcome, PB_OPTIMAL);
    assert_string_equal(s->reason, "because");
    assert_string_equal(s->note, "it is small");
    assert_int_equal(s->bound_kind, PB_BOUND_FIXED_ORDER);
    assert_int_equal(s->lower_bound, 5);
    assert_true(s->has_cost_bound);
    assert_int_equal(s->cost_bound.low, 1275);
    const pb_metrics *m = &s->metrics;
    assert_true(s->has_metrics);
    assert_int_equal(s->metrics_stated, (1 << 13) - 1);
    const uint64_t figures[] = {m->peak,      m->work,     m->io,    m->makespan, m->recompute, m->recompute_count,
                                m->uncompute, m->cost.low, m->moves, m->depth};
    const uint64_t wanted[] = {4, 5, 6, 11, 1, 2, 3, 125, 8, 3};
    assert_memory_equal(figures, wanted, sizeof wanted);
    assert_true(m->flux.high == UINT64_MAX && m->flux.low == UINT64_MAX);
    assert_true(m->overhead == 0.1 && m->gap == 2.5);
    shut(&d);
}

static void what_is_left_out_has_defaults(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{" GAME ",\"moves\":[]}",
        "{" GAME ",\"graph\":null,\"graph_hash\":null,\"cap\":null,\"tiers\":null,\"strategy\":null,\"options\":null,"
        "\"policy\":null,\"weights\":null,\"version\":null,\"outcome\":null,\"reason\":null,\"note\":null,\"lower_"
        "bound\":null,"
        "\"bound_kind\":null,\"cost_bound\":null,\"metrics\":null,\"moves\":[],\"unknown\":[{}]}",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        desk d;
        must_open(&d, texts[i]);
        assert_string_equal(d.s.graph_name, "");
        assert_string_equal(d.s.graph_hash, "");
        assert_string_equal(d.s.strategy, "");
        assert_null(d.s.policy);
        assert_null(d.s.reason);
        assert_null(d.s.note);
        assert_true(d.s.cap == PB_UNLIMITED);
        assert_int_equal(d.s.weights.gamma, 1);
        assert_int_equal(d.s.threads, 1);
        assert_int_equal(d.s.outcome, PB_FOUND);
        assert_int_equal(d.s.bound_kind, PB_BOUND_NONE);
        assert_false(d.s.has_metrics);
        assert_false(d.s.has_cost_bound);
        assert_int_equal(d.s.moves.count, 0);
        shut(&d);
    }
}

static void only_stated_metrics_count(void **state)
{
    (void)state;
    desk d;
    must_open(&d, "{" GAME ",\"metrics\":{\"flux\":7,\"gap\":null,\"peak\":\"3\",\"novel\":{\"x\":1}},\"moves\":[]}");
    assert_true(d.s.has_metrics);
    assert_int_equal(d.s.metrics_stated, PB_STATED_PEAK | PB_STATED_FLUX);
    assert_true(d.s.metrics.gap < 0);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_non_null(strstr(bytes.bytes, "\"metrics\":{\"peak\":3,\"flux\":7,\"gap\":null}"));
    shut(&d);
    must_open(&d, "{" GAME ",\"metrics\":{},\"moves\":[]}");
    assert_false(d.s.has_metrics);
    shut(&d);
}

static void moves_take_every_form(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"[\"compute\",0]", "c0"},
        {"[\"compute\",\"a\"],[\"compute\",\"d e\"],[\"compute\",\"2\"]", "c0 c3 c2"},
        {"[\"compute\",1,{\"over\":\"a\"}]", "c1/0"},
        {"[\"compute\",1,{\"also\":[2]}]", "c1+2"},
        {"[\"compute\",1,{\"also\":[\"2\",3],\"over\":0}]", "c1/0+2+3"},
        {"[\"compute\",1,{\"in\":\"borrow\"}]", "b1"},
        {"[\"compute\",1,{}],[\"compute\",1,{\"also\":[]}]", "c1 c1"},
        {"[\"uncompute\",1],[\"free\",\"b\"]", "u1 f1"},
        {"[\"store\",0],[\"load\",0,1],[\"drop\",0,8]", "s0:1 l0:1 d0:8"},
        {" [ \"free\" , 3 ] ", "f3"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[300], moves[600];
        snprintf(text, sizeof text, MOVES("%s"), cases[i][0]);
        desk d;
        must_open(&d, text);
        moves_to_text(&d.s.moves, moves, sizeof moves);
        assert_string_equal(moves, cases[i][1]);
        shut(&d);
    }
}

static void writer_says_the_tier_and_keeps_the_form(void **state)
{
    (void)state;
    desk d;
    must_open(&d, MOVES("[\"store\",0],[\"compute\",1,{\"also\":[2],\"over\":0}],[\"free\",1]"));
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_string_equal(
        bytes.bytes, "{" FORMAT ",\"graph\":\"\",\"graph_hash\":\"\",\"game\":\"remat\",\"cap\":null,\"tiers\":[],\n"
                     "\"strategy\":\"\",\"options\":{\"seed\":0,\"ticks\":0,\"threads\":1},\"policy\":null,"
                     "\"weights\":[0,0,1],\"version\":\"\",\n"
                     "\"outcome\":\"found\",\"lower_bound\":null,\"bound_kind\":null,\n\"metrics\":null,\n\"moves\":[\n"
                     "[\"store\",0,1],[\"compute\",1,{\"over\":0,\"also\":[2]}],[\"free\",1]]}\n");
    shut(&d);
}

static void borrowed_memory_is_written_and_read(void **state)
{
    (void)state;
    desk d;
    must_open(&d, "{" FORMAT ",\"game\":\"remat\",\"borrow\":3,\"metrics\":{\"borrowed\":2},\"moves\":[[\"compute\",0,{"
                  "\"in\":\"borrow\"}]]}");
    assert_int_equal(d.s.borrow, 3);
    assert_int_equal(d.s.metrics.borrowed, 2);
    assert_int_equal(d.s.metrics_stated, PB_STATED_BORROWED);
    pb_buffer bytes;
    assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
    assert_non_null(strstr(bytes.bytes, "\"cap\":null,\"borrow\":3,\"tiers\""));
    assert_non_null(strstr(bytes.bytes, "\"borrowed\":2}"));
    assert_non_null(strstr(bytes.bytes, "[\"compute\",0,{\"in\":\"borrow\"}]"));
    shut(&d);
}

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"[]", PB_EFORMAT, 1, 1, "expected a schedule, which is an object"},
        {"{\"game\":\"remat\",\"moves\":[]}", PB_EFORMAT, 1, 1, "no field \"format\""},
        {"{" FORMAT ",\"moves\":[]}", PB_EFORMAT, 1, 1, "no field \"game\""},
        {"{" GAME "}", PB_EFORMAT, 1, 1, "no field \"moves\""},
        {"{\"format\":\"pebble-graph/1\"}", PB_EFORMAT, 1, 11, "must be \"pebble-schedule/1\", not \"pebble-graph/1\""},
        {"{\"game\":null}", PB_EFORMAT, 1, 9, "\"game\" must be a string, not null"},
        {"{\"game\":\"chess\"}", PB_EFORMAT, 1, 9, "remat, reversible, tiered or timed, not \"chess\""},
        {"{\"outcome\":\"lost\"}", PB_EFORMAT, 1, 12, "not \"lost\""},
        {"{\"bound_kind\":\"loose\"}", PB_EFORMAT, 1, 15, "free-order or fixed-order"},
        {"{\"cap\":-4}", PB_EFORMAT, 1, 8, "\"cap\" must be a whole number"},
        {"{\"cap\":4,\"cap\":4}", PB_EFORMAT, 1, 10, "\"cap\" appears twice"},
        {"{\"graph_hash\":\"12\"}", PB_EFORMAT, 1, 15, "64 hexadecimal digits"},
        {"{\"graph\":\"a\\u0000\"}", PB_EFORMAT, 1, 10, "NUL"},
        {"{\"tiers\":[{},7]}", PB_EFORMAT, 1, 14, "item 1 of \"tiers\" must be an object"},
        {"{\"tiers\":[{},{\"cap\":\"x\"}]}", PB_EFORMAT, 1, 21, "\"cap\" of tier 2"},
        {"{\"tiers\":[{},{},{},{},{},{},{},{},{}]}", PB_EFORMAT, 1, 35, "the limit of 8 tiers"},
        {"{\"weights\":[1,2]}", PB_EFORMAT, 1, 12, "three numbers"},
        {"{\"weights\":[1,2,3,4]}", PB_EFORMAT, 1, 12, "three numbers"},
        {"{\"weights\":[1,2,-3]}", PB_EFORMAT, 1, 12, "decimals"},
        {"{\"weights\":[1e-3x,2,3]}", PB_EFORMAT, 1, 17, ""},
        {"{\"weights\":[-1,2,3]}", PB_EFORMAT, 1, 12, "decimals"},
        {"{\"weights\":[0.0000000000000000001,2,3]}", PB_EFORMAT, 1, 12, "at most 18 digits"},
        {"{\"tiers\":[{\"load_per_unit\":-0.5}]}", PB_EFORMAT, 1, 28, "\"load_per_unit\" of tier 1 must be a decimal"},
        {"{\"tiers\":[{\"store_per_unit\":1e-10}]}", PB_EFORMAT, 1, 29, "at most 9 digits after the point, not 1e-10"},
        {"{\"weights\":[\"1,1\",2,3]}", PB_EFORMAT, 1, 13, "decimals"},
        {"{\"weights\":[true,2,3]}", PB_EFORMAT, 1, 13, "must be a number"},
        {"{\"options\":{\"threads\":4294967296}}", PB_EFORMAT, 1, 23, "must be at most 4294967295"},
        {"{\"options\":{\"k\":[]}}", PB_EFORMAT, 1, 17, "a text, a number or a boolean"},
        {"{\"options\":{\"k\":1,\"k\":2}}", PB_EFORMAT, 1, 19, "\"k\" appears twice"},
        {"{\"options\":{\"k\\u0000\":1}}", PB_EFORMAT, 1, 13, "NUL"},
        {"{\"metrics\":{\"peak\":1.5}}", PB_EFORMAT, 1, 20, "\"peak\" must be a whole number"},
        {"{\"metrics\":{\"flux\":\"340282366920938463463374607431768211456\"}}", PB_EFORMAT, 1, 20, "2^128-1"},
        {"{\"metrics\":{\"gap\":\"1\"}}", PB_EFORMAT, 1, 19, "\"gap\" must be a number"},
        {"{\"metrics\":{\"gap\":1e999}}", PB_EFORMAT, 1, 19, "too large"},
        {"{\"metrics\":{\"peak\":1,\"peak\":1}}", PB_EFORMAT, 1, 22, "\"peak\" appears twice"},
        {"{" GAME ",\"moves\":[],\n\"metrics\":{\"cost\":0.5}}", PB_EFORMAT, 2, 19,
         "no more decimals than the weights"},
        {"{" GAME ",\"moves\":[],\n\"metrics\":{\"cost\":-1}}", PB_EFORMAT, 2, 19, "a decimal of 0 or more"},
        {"{" GAME ",\"moves\":[],\n\"cost_bound\":\"1e3x\"}", PB_EFORMAT, 2, 14, "\"cost_bound\" must be a decimal"},
        {"{" GAME ",\"moves\":[],\"lower_bound\":3}", PB_EFORMAT, 1, 1, "needs \"bound_kind\""},
        {MOVES("7"), PB_EFORMAT, 2, 10, "item 0 of \"moves\" must be an array"},
        {MOVES("[]"), PB_EFORMAT, 2, 10, "must begin with the kind of move and a node"},
        {MOVES("[\"free\"]"), PB_EFORMAT, 2, 10, "must begin with the kind of move and a node"},
        {MOVES("[\"free\",0],\n[\"jump\",0]"), PB_EFORMAT, 3, 2, "item 1 of \"moves\" has the unknown word \"jump\""},
        {MOVES("[0,0]"), PB_EFORMAT, 2, 11, "must be a string"},
        {MOVES("[\"free\",4]"), PB_EFORMAT, 2, 18, "names node 4, but there are 4 nodes"},
        {MOVES("[\"free\",-1]"), PB_EFORMAT, 2, 18, "must be a whole number"},
        {MOVES("[\"free\",\"z\"]"), PB_EFORMAT, 2, 18, "\"z\", which is not a node"},
        {MOVES("[\"free\",null]"), PB_EFORMAT, 2, 18, "not by null"},
        {MOVES("[\"free\",0,1]"), PB_EFORMAT, 2, 20, "takes exactly one node"},
        {MOVES("[\"uncompute\",0,{}]"), PB_EFORMAT, 2, 25, "takes exactly one node"},
        {MOVES("[\"store\",0,0]"), PB_EFORMAT, 2, 21, "\"tier\" of move 0 must be from 1 to 8"},
        {MOVES("[\"store\",0,9]"), PB_EFORMAT, 2, 21, "must be from 1 to 8, not 9"},
        {MOVES("[\"store\",0,1,1]"), PB_EFORMAT, 2, 23, "more than three parts"},
        {MOVES("[\"compute\",0,1]"), PB_EFORMAT, 2, 23, "must be an object"},
        {MOVES("[\"compute\",0,{\"up\":\"borrow\"}]"), PB_EFORMAT, 2, 24, "expected \"over\", \"also\", \"by\", "},
        {MOVES("[\"compute\",0,{\"in\":\"attic\"}]"), PB_EFORMAT, 2, 29, "must be \"borrow\", not \"attic\""},
        {MOVES("[\"compute\",0,{\"in\":\"borrow\",\"over\":1}]"), PB_EFORMAT, 2, 45,
         "in borrowed memory nothing is overwritten"},
        {MOVES("[\"compute\",0,{\"over\":9}]"), PB_EFORMAT, 2, 31, "\"over\" of move 0 names node 9"},
        {MOVES("[\"compute\",0,{\"also\":[1,9]}]"), PB_EFORMAT, 2, 34, "\"also\" of move 0 names node 9"},
        {MOVES("[\"compute\",0,{\"over\":1,\"over\":1}]"), PB_EFORMAT, 2, 33, "appears twice"},
    };
    EXPECT_ERRORS(cases);
}

static void names_need_the_graph(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pb_schedule s;
    const char *by_index = MOVES("[\"compute\",1999999999]"), *by_name = MOVES("[\"compute\",\"a\"]");
    assert_int_equal(schedule_from(&ctx, by_index, strlen(by_index), 9, PB_FORMAT_AUTO, NULL, &arena, &s), PB_OK);
    assert_int_equal(s.moves.move[0].node, 1999999999);
    assert_int_equal(schedule_from(&ctx, by_name, strlen(by_name), 9, PB_FORMAT_AUTO, NULL, &arena, &s), PB_EFORMAT);
    assert_non_null(strstr(ctx.error.message, "needs the graph"));
    pb_arena_release(&arena);
}

static void costs_are_numbers_where_doubles_hold_them(void **state)
{
    (void)state;
    static const struct {
        const char *weights, *cost, *written;
    } cases[] = {
        {"[0,0,1]", "9007199254740991", "9007199254740991"},
        {"[0,0,1]", "9007199254740992", "\"9007199254740992\""},
        {"[0,0,1]", "\"340282366920938463463374607431768211455\"", "\"340282366920938463463374607431768211455\""},
        {"[0,0,0.25]", "1.50", "1.5"},
        {"[0,0,0.25]", "\"1.0\"", "1"},
        {"[0,0,0.001]", "999999999999.999", "999999999999.999"},
        {"[0,0,0.001]", "9999999999999.999", "\"9999999999999.999\""},
        {"[0,0,0.000000001]", "0.000000001", "0.000000001"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[300], wanted[100];
        snprintf(text, sizeof text, "{" GAME ",\"moves\":[],\"metrics\":{\"cost\":%s},\"weights\":%s}", cases[i].cost,
                 cases[i].weights);
        snprintf(wanted, sizeof wanted, "{\"cost\":%s,", cases[i].written);
        desk d;
        must_open(&d, text);
        pb_buffer bytes;
        assert_int_equal(schedule_bytes(&d.ctx, &d.s, PB_FORMAT_JSON, &d.arena, &bytes), PB_OK);
        if (!strstr(bytes.bytes, wanted))
            fail_msg("%s: %s", wanted, bytes.bytes);
        shut(&d);
    }
}

static void summary_has_seconds_and_no_moves(void **state)
{
    (void)state;
    desk d;
    must_open(&d, MOVES("[\"compute\",0]"));
    for (int timed = 0; timed < 2; timed++) {
        pb_buffer bytes;
        pb_buffer_init(&bytes, &d.arena);
        assert_int_equal(pb_schedule_write_summary(&d.ctx, &d.s, timed ? 0.25 : -1, pb_sink_buffer(&bytes)), PB_OK);
        assert_null(strstr(bytes.bytes, "\"moves\""));
        assert_int_equal(strstr(bytes.bytes, ",\"seconds\":0.25}\n") != NULL, timed);
        assert_int_equal(strstr(bytes.bytes, "seconds") != NULL, timed);
    }
    shut(&d);
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    enum { MOVE_COUNT = 4000 };
    char *text = malloc((size_t)MOVE_COUNT * 50);
    size_t length = (size_t)sprintf(text, "{" GAME ",\"options\":{\"k0\":1");
    for (int i = 1; i < 500; i++)
        length += (size_t)sprintf(text + length, ",\"k%d\":1", i);
    length += (size_t)sprintf(text + length, "},\"metrics\":{\"cost\":3},\"moves\":[[\"compute\",0]");
    for (int i = 1; i < MOVE_COUNT; i++)
        length += (size_t)sprintf(text + length, ",[\"compute\",\"b\",{\"over\":0,\"also\":[2,3]}]");
    length += (size_t)sprintf(text + length, "]}");
    pb_context plain;
    pb_context_init(&plain);
    pb_arena graph_arena;
    pb_arena_init(&graph_arena, &plain);
    const pb_graph *g;
    assert_int_equal(graph_from(&plain, graph_text, strlen(graph_text), SIZE_MAX, PB_FORMAT_JSON, &graph_arena, &g),
                     PB_OK);
    uint64_t refuse = 0;
    pb_status status = PB_ENOMEM;
    while (status == PB_ENOMEM) {
        failing_allocator allocator = {.refuse = ++refuse};
        pb_context ctx;
        failing_context(&ctx, &allocator);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        pb_schedule s;
        status = schedule_from(&ctx, text, length, 1000, PB_FORMAT_JSON, g, &arena, &s);
        if (status == PB_ENOMEM) {
            assert_null(arena.newest); /* nothing is left in the result */
            assert_non_null(strstr(ctx.error.message, "memory"));
        }
        pb_arena_release(&arena);
        assert_int_equal(allocator.blocks, 0);
    }
    assert_int_equal(status, PB_OK);
    assert_true(refuse > 8);
    pb_arena_release(&graph_arena);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_takes_every_field),
        cmocka_unit_test(what_is_left_out_has_defaults),
        cmocka_unit_test(only_stated_metrics_count),
        cmocka_unit_test(moves_take_every_form),
        cmocka_unit_test(borrowed_memory_is_written_and_read),
        cmocka_unit_test(writer_says_the_tier_and_keeps_the_form),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(names_need_the_graph),
        cmocka_unit_test(costs_are_numbers_where_doubles_hold_them),
        cmocka_unit_test(summary_has_seconds_and_no_moves),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
