/* test_name_index.c -- names to numbers: found, not found, many, growing. */
#include "base/name_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NAMES = 5000 };

typedef struct names {
    char text[NAMES * 8];
    uint64_t start[NAMES];
} names;

static void fill(names *n)
{
    size_t used = 0;
    for (int i = 0; i < NAMES; i++) {
        n->start[i] = used;
        used += (size_t)sprintf(n->text + used, "n%d", i) + 1;
    }
}

static void check_all(const pbi_name_index *index, const names *n, uint32_t known)
{
    for (uint32_t i = 0; i < NAMES; i++) {
        const char *name = n->text + n->start[i];
        uint32_t found = pbi_name_index_find(index, n->text, n->start, name, strlen(name));
        assert_int_equal(found, i < known ? i : UINT32_MAX);
    }
}

static void built_and_grown_indices_agree(void **state)
{
    (void)state;
    static names n;
    fill(&n);
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pbi_name_index built = {0}, grown = {0};
    check_all(&built, &n, 0);
    assert_true(pbi_name_index_build(&built, &arena, n.text, n.start, 0));
    check_all(&built, &n, 0);
    pbi_name_index whole = {0};
    assert_true(pbi_name_index_build(&whole, &arena, n.text, n.start, NAMES));
    check_all(&whole, &n, NAMES);
    for (uint32_t i = 0; i < NAMES; i++) {
        if (i == 31 || i == 32 || i == 33 || i == 1000)
            check_all(&grown, &n, i);
        assert_true(pbi_name_index_add(&grown, &arena, n.text, n.start, i));
    }
    check_all(&grown, &n, NAMES);
    pb_arena_release(&arena);
}

static void a_name_is_compared_whole(void **state)
{
    (void)state;
    static const char text[] = "\0ab\0abc";
    static const uint64_t start[] = {0, 1, 4};
    pb_context ctx;
    pb_context_init(&ctx);
    pb_arena arena;
    pb_arena_init(&arena, &ctx);
    pbi_name_index index = {0};
    assert_true(pbi_name_index_build(&index, &arena, text, start, 3));
    assert_int_equal(pbi_name_index_find(&index, text, start, "", 0), 0);
    assert_int_equal(pbi_name_index_find(&index, text, start, "abcd", 2), 1);
    assert_int_equal(pbi_name_index_find(&index, text, start, "abcd", 3), 2);
    assert_int_equal(pbi_name_index_find(&index, text, start, "abcd", 4), UINT32_MAX);
    assert_int_equal(pbi_name_index_find(&index, text, start, "a", 1), UINT32_MAX);
    pb_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_and_grown_indices_agree),
        cmocka_unit_test(a_name_is_compared_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
