/* test_machine_json.c -- pebble-machine/1: every field, every error at its place, and back to the same bytes. */
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/error_table.h"

#define FORMAT "\"format\":\"pebble-machine/1\""

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    const pb_machine *m;
} desk;

static pb_status open_bytes(desk *d, const char *text, size_t length, size_t chunk)
{
    slow_memory memory = {text, length, 0, chunk, SIZE_MAX};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->m = NULL;
    return pb_machine_read(&d->ctx, slow_source(&memory), &d->arena, &d->m);
}

static pb_status open_text(desk *d, const char *text, size_t chunk) { return open_bytes(d, text, strlen(text), chunk); }

static void must_open(desk *d, const char *text, size_t chunk)
{
    if (open_text(d, text, chunk) != PB_OK)
        fail_msg("%s: %llu:%llu: %s", text, (unsigned long long)d->ctx.error.line,
                 (unsigned long long)d->ctx.error.column, d->ctx.error.message);
}

static void shut(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static const char *written(desk *d)
{
    pb_buffer bytes;
    pb_buffer_init(&bytes, &d->arena);
    assert_int_equal(pb_machine_write(&d->ctx, d->m, pb_sink_buffer(&bytes)), PB_OK);
    return bytes.bytes;
}

static const char every_field[] =
    "{" FORMAT ",\"name\":\"two\",\"time_unit\":\"us\",\"source\":{\"by\":\"hand\"},\n"
    "\"memories\":[\n{\"name\":\"hbm\",\"cap\":\"40000000000000000\",\"reserve\":7,\"speed\":\"fast\"},\n"
    "{\"name\":\"host\"}],\n"
    "\"processors\":[\n{\"name\":\"gpu\",\"memory\":\"hbm\",\"overhead\":4000,\"bandwidth\":1555000000000,"
    "\"rates\":{\"conv/float32\":14,\"other\":\"9223372036854775808\"},\"bandwidths\":{\"norm\":3},"
    "\"vendor\":[{\"op\":\"conv\"}, 2]},\n"
    "{\"name\":\"cpu\",\"memory\":\"host\"}],\n"
    "\"links\":[\n{\"name\":\"out\",\"from\":\"hbm\",\"to\":\"host\",\"bandwidth\":25,\"latency\":10,\"per_unit\":2,"
    "\"lane\":\"bus\"},\n"
    "{\"name\":\"in\",\"from\":\"host\",\"to\":\"hbm\",\"note\":1}]}\n";

static void reader_takes_every_field(void **state)
{
    (void)state;
    for (size_t chunk = 1; chunk < 1000; chunk += 998) {
        desk d;
        must_open(&d, every_field, chunk);
        const pb_machine *m = d.m;
        assert_string_equal(m->name, "two");
        assert_string_equal(m->time_unit, "us");
        assert_int_equal(m->per_second, 1000000);
        assert_int_equal(m->memory_count, 2);
        assert_int_equal(m->memories[0].cap, 40000000000000000);
        assert_int_equal(m->memories[0].reserve, 7);
        assert_true(m->memories[1].cap == PB_UNLIMITED);
        assert_int_equal(m->processor_count, 2);
        const pb_machine_processor *p = &m->processors[0];
        assert_int_equal(p->overhead, 4000);
        assert_int_equal(p->bandwidth, 1555000000000);
        assert_int_equal(p->rate_count, 2);
        assert_string_equal(p->rates[0].key, "conv/float32");
        assert_true(p->rates[1].per_second == PB_MACHINE_MAX_RATE);
        assert_int_equal(p->bandwidth_count, 1);
        assert_int_equal(p->bandwidths[0].per_second, 3);
        assert_string_equal(p->extra, "\"vendor\":[{\"op\":\"conv\"}, 2]");
        assert_int_equal(m->processors[1].memory, 1);
        assert_int_equal(m->processors[1].bandwidth, 0);
        assert_int_equal(m->link_count, 2);
        assert_int_equal(m->links[0].to, 1);
        assert_int_equal(m->links[0].latency, 10);
        assert_int_equal(m->links[0].per_unit, 2);
        assert_string_equal(m->links[0].lane, "bus");
        assert_null(m->links[1].lane);
        assert_int_equal(m->links[1].from, 1);
        assert_string_equal(m->extra, "\"source\":{\"by\":\"hand\"}");
        assert_string_equal(written(&d), every_field);
        shut(&d);
    }
}

static void fields_come_in_any_order_and_have_defaults(void **state)
{
    (void)state;
    desk d;
    must_open(&d,
              "{\"links\":[],\"processors\":[{\"memory\":\"m\",\"name\":\"p\",\"rates\":{}}],"
              "\"memories\":[{\"cap\":null,\"name\":\"m\",\"reserve\":0}]," FORMAT "}",
              SIZE_MAX);
    assert_string_equal(d.m->time_unit, "ns");
    assert_int_equal(d.m->per_second, 1000000000);
    assert_string_equal(written(&d), "{" FORMAT ",\"time_unit\":\"ns\",\n\"memories\":[\n{\"name\":\"m\"}],\n"
                                     "\"processors\":[\n{\"name\":\"p\",\"memory\":\"m\"}]}\n");
    shut(&d);
}

#define MEMORIES(text) "{" FORMAT ",\n\"memories\":[" text "]"
#define PROCESSORS(text) MEMORIES("{\"name\":\"m\"},{\"name\":\"n\"}") ",\n\"processors\":[" text "]"
#define CPU(text) PROCESSORS("{\"name\":\"p\",\"memory\":\"m\"," text "}") "}"
#define LINKS(text) PROCESSORS("{\"name\":\"p\",\"memory\":\"m\"}") ",\n\"links\":[" text "]}"

static void errors_have_message_and_place(void **state)
{
    (void)state;
    static const error_case cases[] = {
        {"", PB_EFORMAT, 1, 1, "found the end of the file"},
        {"[1]", PB_EFORMAT, 1, 1, "expected a machine, which is an object, not an array"},
        {"{\"format\":\"pebble-graph/1\"}", PB_EFORMAT, 1, 11, "must be \"pebble-machine/1\", not \"pebble-graph/1\""},
        {"{\"name\":\"x\"}", PB_EFORMAT, 1, 1, "no field \"format\"; add"},
        {"{" FORMAT "}", PB_EFORMAT, 1, 1, "has no memories; add at least one"},
        {"{" FORMAT ",\"time_unit\":\"\"}", PB_EFORMAT, 1, 42, "\"time_unit\" must not be empty"},
        {"{" FORMAT ",\"name\":\"a\",\"name\":\"b\"}", PB_EFORMAT, 1, 41, "\"name\" appears twice"},
        {"{" FORMAT ",\"x\":1,\"x\":1}", PB_EFORMAT, 1, 36, "\"x\" appears twice"},
        {MEMORIES("") "}", PB_EFORMAT, 1, 1, "has no memories; add at least one"},
        {MEMORIES("7") "}", PB_EFORMAT, 2, 13, "item 0 of \"memories\" must be an object, not a number"},
        {MEMORIES("{}") "}", PB_EFORMAT, 2, 13, "\"name\" of memory 0 is missing; add it"},
        {MEMORIES("{\"name\":\"\"}") "}", PB_EFORMAT, 2, 21, "must not be empty"},
        {MEMORIES("{\"name\":\"m\"}") "}", PB_EFORMAT, 1, 1, "has no processors; add at least one"},
        {MEMORIES("{\"name\":\"m\",\"cap\":-1}") "}", PB_EFORMAT, 2, 31, "\"cap\" of memory 0 must be a whole number"},
        {MEMORIES("{\"name\":\"m\",\"cap\":1.5}") "}", PB_EFORMAT, 2, 31, "not 1.5"},
        {MEMORIES("{\"name\":\"m\",\"x\":1,\"x\":1}") "}", PB_EFORMAT, 2, 31, "\"x\" appears twice"},
        {MEMORIES("{\"name\":\"m\",\"cap\":5,\"reserve\":6},{\"name\":\"n\"}") ",\"processors\":[{\"name\":\"p\","
                                                                               "\"memory\":\"n\"}]}",
         PB_EFORMAT, 2, 13, "memory \"m\" reserves more than its cap; lower the reserve"},
        {MEMORIES("{\"name\":\"m\"},{\"name\":\"m\"}") ",\"processors\":[{\"name\":\"p\",\"memory\":\"m\"}]}",
         PB_EFORMAT, 2, 26, "memory \"m\" appears twice; rename one of them"},
        {PROCESSORS("{\"name\":\"p\"}") "}", PB_EFORMAT, 3, 15, "\"memory\" of processor 0 is missing"},
        {PROCESSORS("{\"name\":\"p\",\"memory\":\"x\"}") "}", PB_EFORMAT, 3, 36,
         "\"memory\" of processor 0 names \"x\", which is not a memory of the machine"},
        {CPU("\"bandwidth\":0"), PB_EFORMAT, 3, 52, "\"bandwidth\" of processor 0 must be above 0 per second"},
        {CPU("\"bandwidth\":-5"), PB_EFORMAT, 3, 52, "\"bandwidth\" of processor 0 must be a whole number"},
        {CPU("\"bandwidth\":1.5e13"), PB_EFORMAT, 3, 52, "write 15000000000000"},
        {CPU("\"bandwidth\":9223372036854775809"), PB_EFORMAT, 3, 52, "must be at most 2^63 per second"},
        {CPU("\"overhead\":\"x\""), PB_EFORMAT, 3, 51, "\"overhead\" of processor 0 must be a whole number"},
        {CPU("\"rates\":[]"), PB_EFORMAT, 3, 48, "\"rates\" of processor 0 must be an object, not an array"},
        {CPU("\"rates\":{\"a\":0}"), PB_EFORMAT, 3, 53, "\"a\" of processor 0 must be above 0 per second"},
        {CPU("\"rates\":{\"a\":true}"), PB_EFORMAT, 3, 53, "\"a\" of processor 0 must be a whole number, not"},
        {CPU("\"rates\":{\"a\":1,\"a\":1}"), PB_EFORMAT, 3, 55, "\"a\" of processor 0 appears twice"},
        {CPU("\"rates\":{\"\":1}"), PB_EFORMAT, 3, 49, "\"rates\" of processor 0 has a key that is empty"},
        {CPU("\"rates\":{\"a\\u0000b\":1}"), PB_EFORMAT, 3, 49, "contains NUL; rename it"},
        {CPU("\"bandwidths\":{\"norm\":0}"), PB_EFORMAT, 3, 61, "\"norm\" of processor 0 must be above 0"},
        {LINKS("{\"name\":\"l\"}"), PB_EFORMAT, 4, 10, "\"from\" of link 0 is missing"},
        {LINKS("{\"name\":\"l\",\"from\":\"m\",\"to\":\"x\"}"), PB_EFORMAT, 4, 38, "\"to\" of link 0 names \"x\""},
        {LINKS("{\"name\":\"l\",\"from\":\"m\",\"to\":\"m\"}"), PB_EFORMAT, 4, 10,
         "link \"l\" leads from a memory to itself; change"},
        {LINKS("{\"name\":\"l\",\"from\":\"m\",\"to\":\"n\",\"bandwidth\":0}"), PB_EFORMAT, 4, 54,
         "\"bandwidth\" of link 0 must be above 0"},
        {LINKS("{\"name\":\"l\",\"from\":\"m\",\"to\":\"n\",\"latency\":0.5}"), PB_EFORMAT, 4, 52,
         "\"latency\" of link 0 must be a whole number"},
        {LINKS("{\"name\":\"l\",\"from\":\"m\",\"to\":\"n\",\"lane\":3}"), PB_EFORMAT, 4, 49, "must be a string"},
        {LINKS("") "\n]", PB_EFORMAT, 5, 1, "nothing after"},
    };
    EXPECT_ERRORS(cases);
}

static void every_cut_of_a_file_is_refused(void **state)
{
    (void)state;
    for (size_t cut = 0; cut + 2 < sizeof every_field; cut++) { /* the newline at the end may be missing */
        desk d;
        assert_int_equal(open_bytes(&d, every_field, cut, 50), PB_EFORMAT);
        shut(&d);
    }
}

static void a_machine_has_a_limited_number_of_parts(void **state)
{
    (void)state;
    char *text = malloc((PB_MACHINE_MAX_PARTS + 2) * 32), *rates = malloc((PB_MACHINE_MAX_PARTS + 2) * 32);
    for (int count = PB_MACHINE_MAX_PARTS; count <= PB_MACHINE_MAX_PARTS + 1; count++) {
        size_t length =
            (size_t)sprintf(text, "{" FORMAT ",\"processors\":[{\"name\":\"p\",\"memory\":\"m7\"}],\"memories\":[");
        size_t used =
            (size_t)sprintf(rates, "{" FORMAT ",\"memories\":[{\"name\":\"m\"}],\"processors\":[{\"name\":\"p\","
                                   "\"memory\":\"m\",\"rates\":{");
        for (int i = 0; i < count; i++) {
            length += (size_t)sprintf(text + length, "%s{\"name\":\"m%d\"}", i ? "," : "", i);
            used += (size_t)sprintf(rates + used, "%s\"r%d\":1", i ? "," : "", i);
        }
        strcpy(text + length, "]}");
        strcpy(rates + used, "}}]}");
        desk d;
        assert_int_equal(open_text(&d, text, SIZE_MAX), count > PB_MACHINE_MAX_PARTS ? PB_EFORMAT : PB_OK);
        assert_true(count <= PB_MACHINE_MAX_PARTS ||
                    strstr(d.ctx.error.message, "item 1024 of \"memories\" is one too many"));
        shut(&d);
        assert_int_equal(open_text(&d, rates, SIZE_MAX), count > PB_MACHINE_MAX_PARTS ? PB_EFORMAT : PB_OK);
        assert_true(count <= PB_MACHINE_MAX_PARTS || strstr(d.ctx.error.message, "has more than 1024 entries"));
        shut(&d);
    }
    free(text);
    free(rates);
}

static void a_long_key_is_refused(void **state)
{
    (void)state;
    char key[PB_MACHINE_KEY + 1] = "", text[512];
    memset(key, 'k', PB_MACHINE_KEY);
    for (size_t skip = 0; skip < 2; skip++) {
        desk d;
        snprintf(text, sizeof text,
                 "{" FORMAT ",\"memories\":[{\"name\":\"m\"}],\"processors\":[{\"name\":\"p\",\"memory\":\"m\","
                 "\"rates\":{\"%s\":1}}]}",
                 key + skip);
        assert_int_equal(open_text(&d, text, SIZE_MAX), skip ? PB_OK : PB_EFORMAT);
        shut(&d);
    }
}

static void a_refused_allocation_is_clean_wherever_it_comes(void **state)
{
    (void)state;
    uint64_t refuse = 0;
    pb_status status = PB_ENOMEM;
    while (status == PB_ENOMEM) {
        failing_allocator allocator = {.refuse = ++refuse};
        pb_context ctx;
        failing_context(&ctx, &allocator);
        pb_arena arena;
        pb_arena_init(&arena, &ctx);
        const pb_machine *m = NULL;
        slow_memory memory = {every_field, strlen(every_field), 0, 1000, SIZE_MAX};
        status = pb_machine_read(&ctx, slow_source(&memory), &arena, &m);
        assert_true((status == PB_OK) == (m != NULL));
        pb_arena_release(&arena);
        assert_int_equal(allocator.blocks, 0);
    }
    assert_int_equal(status, PB_OK);
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    desk d;
    pb_context_init(&d.ctx);
    pb_arena_init(&d.arena, &d.ctx);
    assert_int_equal(pb_machine_read_file(&d.ctx, "/nowhere/m.json", &d.arena, &d.m), PB_EIO);
    assert_non_null(strstr(d.ctx.error.message, "/nowhere/m.json: cannot be read"));
    shut(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_takes_every_field),
        cmocka_unit_test(fields_come_in_any_order_and_have_defaults),
        cmocka_unit_test(errors_have_message_and_place),
        cmocka_unit_test(every_cut_of_a_file_is_refused),
        cmocka_unit_test(a_machine_has_a_limited_number_of_parts),
        cmocka_unit_test(a_long_key_is_refused),
        cmocka_unit_test(a_refused_allocation_is_clean_wherever_it_comes),
        cmocka_unit_test(a_file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
