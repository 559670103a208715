/* test_format.c -- which format a file is in: by its name, and by its content first. */
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define JSON "{\"format\":\"pebble-graph/1\",\"nodes\":[{\"size\":1}]}"

static void names_of_formats_go_both_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"auto", "json", "dot", "csv", "binary", "bench", "blif", "aiger"};
    for (unsigned i = 0; i < COUNT(names); i++) {
        pb_format format;
        assert_string_equal(pb_format_name((pb_format)i), names[i]);
        assert_true(pb_format_parse(names[i], &format));
        assert_int_equal(format, i);
    }
    pb_format untouched = PB_FORMAT_DOT;
    assert_false(pb_format_parse("xml", &untouched));
    assert_false(pb_format_parse("", &untouched));
    assert_int_equal(untouched, PB_FORMAT_DOT);
}

static void paths_suggest_formats(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        pb_format format;
    } cases[] = {
        {"a.json", PB_FORMAT_JSON},     {"/x.csv/a.JSON", PB_FORMAT_JSON}, {"a.dot", PB_FORMAT_DOT},
        {"a.gv", PB_FORMAT_DOT},        {"a.csv", PB_FORMAT_CSV},          {"a.pbs", PB_FORMAT_BINARY},
        {"json", PB_FORMAT_AUTO},       {"a.json.gz", PB_FORMAT_AUTO},     {"", PB_FORMAT_AUTO},
        {"-", PB_FORMAT_AUTO},          {".json", PB_FORMAT_JSON},         {NULL, PB_FORMAT_AUTO},
        {"c17.bench", PB_FORMAT_BENCH}, {"x.BLIF", PB_FORMAT_BLIF},        {"x.aag", PB_FORMAT_AIGER},
        {"x.aig", PB_FORMAT_AIGER},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(pb_format_of_path(cases[i].path), cases[i].format);
}

static void content_decides_before_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path;
        pb_status status;
        uint32_t nodes;
        const char *words;
    } cases[] = {
        {JSON, "a.csv", PB_OK, 1, NULL},
        {"\xef\xbb\xbf\r\n \t" JSON, "a.dot", PB_OK, 1, NULL},
        {"digraph { a -> b, c }", NULL, PB_EFORMAT, 0, "','"},
        {"digraph{a->b}", "a.json", PB_OK, 2, NULL},
        {"// {\n/* a, b */ # c\nSTRICT digraph { a -> b }", "a.json", PB_OK, 2, NULL},
        {"graph { a }", NULL, PB_EFORMAT, 0, "undirected"},
        {"graph,name,x\na,b\n", NULL, PB_OK, 2, NULL},
        {"digraph,b\n", NULL, PB_OK, 2, NULL},
        {"# edges\na,b\n", NULL, PB_OK, 2, NULL},
        {"a,b\n", "a.csv", PB_OK, 2, NULL},
        {"a,b\n", "a.json", PB_EFORMAT, 0, "a value"},
        {"[1,2]", NULL, PB_EFORMAT, 0, "expected a graph, which is an object"},
        {"", NULL, PB_EFORMAT, 0, "the file is empty; expected a graph"},
        {"", "a.csv", PB_OK, 0, NULL},
        {"", "a.json", PB_EFORMAT, 0, "end of the file"},
        {"hello\nworld, all\n", NULL, PB_EFORMAT, 0, "the format is not recognized"},
        {"/* never closed", NULL, PB_EFORMAT, 0, "the format is not recognized"},
        {"/", NULL, PB_EFORMAT, 0, "the format is not recognized"},
        {"# c\n\nINPUT(a)\nz = AND(a, a)\n", "a.csv", PB_OK, 1, NULL},
        {"z = NAND (a, b)\nINPUT(a)\nINPUT(b)\n", NULL, PB_OK, 1, NULL},
        {"z = LUT 0x8 (a, b)\nINPUT(a)\nINPUT(b)\n", NULL, PB_OK, 1, NULL},
        {"output (z)\nINPUT(a)\nz = OR(a,a)\n", NULL, PB_OK, 1, NULL},
        {"a=b,c\n", NULL, PB_OK, 2, NULL},
        {"n0 = gnd\n", "a.bench", PB_OK, 0, NULL},
        {"# x\n.model m\n.inputs a b\n.names a b z\n11 1\n", "a.json", PB_OK, 1, NULL},
        {"aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n", "a.csv", PB_OK, 1, NULL},
        {"aig 3 2 0 1 1\n6\n\x02\x02", NULL, PB_OK, 1, NULL},
        {"aag,b\n", NULL, PB_OK, 2, NULL},
        {"\x89PBS\r\n\x1a\n\1", NULL, PB_EFORMAT, 0, "binary schedule, not a graph"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t chunk = 1; chunk < 1000; chunk += 998) {
            pb_context ctx;
            pb_context_init(&ctx);
            pb_arena arena;
            pb_arena_init(&arena, &ctx);
            slow_memory memory = {cases[i].text, strlen(cases[i].text), 0, chunk, SIZE_MAX};
            const pb_graph *g = NULL;
            pb_status status = pb_graph_read(&ctx, slow_source(&memory), PB_FORMAT_AUTO, cases[i].path, &arena, &g);
            if (status != cases[i].status || (cases[i].words && !strstr(ctx.error.message, cases[i].words)))
                fail_msg("%s: %d, %s", cases[i].text, status, ctx.error.message);
            if (status == PB_OK)
                assert_int_equal(g->node_count, cases[i].nodes);
            else
                assert_int_equal(ctx.error.line > 0, 1);
            pb_arena_release(&arena);
        }
}

static void a_stated_format_is_taken_at_its_word(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    const pb_graph *g;
    assert_int_equal(graph_from(&ctx, JSON, strlen(JSON), SIZE_MAX, PB_FORMAT_DOT, &arena, &g), PB_EFORMAT);
    assert_int_equal(graph_from(&ctx, "a,b", 3, SIZE_MAX, PB_FORMAT_JSON, &arena, &g), PB_EFORMAT);
    assert_int_equal(graph_from(&ctx, JSON, strlen(JSON), SIZE_MAX, PB_FORMAT_JSON, &arena, &g), PB_OK);
    pb_buffer bytes;
    assert_int_equal(graph_bytes(&ctx, g, PB_FORMAT_BINARY, &arena, &bytes), PB_EINVAL);
    assert_int_equal(graph_bytes(&ctx, g, PB_FORMAT_AUTO, &arena, &bytes), PB_EINVAL);
    assert_int_equal(graph_bytes(&ctx, g, PB_FORMAT_BENCH, &arena, &bytes), PB_EINVAL);
    pb_schedule s;
    assert_int_equal(schedule_from(&ctx, "a,b", 3, SIZE_MAX, PB_FORMAT_CSV, g, &arena, &s), PB_EINVAL);
    static const char schedule[] = "{\"format\":\"pebble-schedule/1\",\"game\":\"remat\",\"moves\":[]}";
    assert_int_equal(schedule_from(&ctx, schedule, sizeof schedule - 1, 1, PB_FORMAT_BINARY, g, &arena, &s),
                     PB_EFORMAT);
    assert_int_equal(schedule_from(&ctx, schedule, sizeof schedule - 1, 1, PB_FORMAT_AUTO, g, &arena, &s), PB_OK);
    assert_int_equal(schedule_bytes(&ctx, &s, PB_FORMAT_DOT, &arena, &bytes), PB_EINVAL);
    pb_arena_release(&arena);
}

static void a_failing_source_is_passed_on(void **state)
{
    (void)state;
    static const char *const texts[] = {JSON,
                                        "digraph { a -> b -> c }",
                                        "a,b\nb,c\nc,d\nd,e\n",
                                        NULL,
                                        "INPUT(a)\nz = AND(a, a)\n",
                                        ".inputs a b\n.names a b z\n11 1\n",
                                        "aig 3 2 0 1 1\n6\n\x02\x02"};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t fail_at = 0; texts[i] && fail_at < strlen(texts[i]); fail_at++) {
            pb_context ctx;
            pb_context_init(&ctx);
            pb_arena arena;
            pb_arena_init(&arena, &ctx);
            slow_memory memory = {texts[i], strlen(texts[i]), 0, 1, fail_at};
            const pb_graph *g = NULL;
            assert_int_equal(
                pb_graph_read(&ctx, slow_source(&memory), (pb_format)(PB_FORMAT_JSON + i), NULL, &arena, &g), PB_EIO);
            assert_non_null(strstr(ctx.error.message, "reading failed after"));
            pb_arena_release(&arena);
            assert_int_equal(ctx.memory_used, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_formats_go_both_ways),   cmocka_unit_test(paths_suggest_formats),
        cmocka_unit_test(content_decides_before_the_name), cmocka_unit_test(a_stated_format_is_taken_at_its_word),
        cmocka_unit_test(a_failing_source_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
