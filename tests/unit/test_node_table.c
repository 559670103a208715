/* test_node_table.c -- nodes by mention, lists of names, fields as text. */
#include "io/node_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void lists_hold_any_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "", "b c", "\\", "\\e", "e", "tab\there", "\n", " ", "end\\"};
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pb_buffer list, name;
    pb_buffer_init(&list, &arena);
    pb_buffer_init(&name, &arena);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(pbi_name_list_add(&list, names[i]));
    assert_true(pbi_bytes_add(&list, "", 1));
    const char *at = list.bytes;
    bool more;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(pbi_name_list_next(&at, &name, &more), PB_OK);
        assert_true(more);
        assert_int_equal(name.length, strlen(names[i]));
        if (name.length)
            assert_memory_equal(name.bytes, names[i], name.length);
    }
    assert_int_equal(pbi_name_list_next(&at, &name, &more), PB_OK);
    assert_false(more);
    pb_arena_release(&arena);
}

static void a_name_is_one_node(void **state)
{
    (void)state;
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pbi_node_table table;
    assert_int_equal(pbi_node_table_init(&table, &ctx, &arena), PB_OK);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 1000; i++) {
            char name[16];
            pb_node v;
            int length = snprintf(name, sizeof name, "n%u", i);
            assert_int_equal(
                pbi_node_table_get(&table, name, (size_t)length, &PBI_NODE_STANDARD, (pbi_place){i, 1}, &v), PB_OK);
            assert_int_equal(v, i);
        }
    assert_int_equal(table.count, 1000);
    assert_int_equal(pbi_node_table_find(&table, "n1000", 5), PB_NO_NODE);
    bool known;
    pbi_node_row row = table.row[7];
    assert_int_equal(
        pbi_node_table_set(&table, &row, (pbi_slice){"given", 5}, (pbi_slice){"slow", 4}, (pbi_place){1, 1}, &known),
        PB_OK);
    assert_int_equal(row.flags, PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW);
    assert_int_equal(
        pbi_node_table_set(&table, &row, (pbi_slice){"given", 5}, (pbi_slice){"true", 4}, (pbi_place){1, 1}, &known),
        PB_OK);
    assert_int_equal(row.flags, PB_NODE_GIVEN);
    assert_int_equal(
        pbi_node_table_set(&table, &row, (pbi_slice){"given", 5}, (pbi_slice){"false", 5}, (pbi_place){1, 1}, &known),
        PB_OK);
    assert_int_equal(row.flags, 0);
    assert_int_equal(
        pbi_node_table_set(&table, &row, (pbi_slice){"color", 5}, (pbi_slice){"red", 3}, (pbi_place){1, 1}, &known),
        PB_OK);
    assert_false(known);
    const pb_graph *g;
    assert_int_equal(pbi_node_table_freeze(&table, &arena, &g), PB_OK);
    assert_int_equal(g->node_count, 1000);
    assert_string_equal(pb_graph_name(g, 999), "n999");
    pbi_node_table_release(&table);
    pb_arena_release(&arena);
    assert_int_equal(ctx.memory_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_hold_any_names),
        cmocka_unit_test(a_name_is_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
