/* test_spec.c -- strategy specs as people write them. */
#include "api/pipeline/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    pbi_spec spec;
} desk;

static pb_status parse(desk *d, const char *text)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    return pbi_spec_parse(&d->ctx, text, strlen(text), &d->arena, &d->spec);
}

static void drop(desk *d)
{
    pb_arena_release(&d->arena);
    assert_int_equal(d->ctx.memory_used, 0);
}

static void a_name_alone_is_a_spec(void **state)
{
    (void)state;
    desk d;
    static const char *const texts[] = {"sqrt", "sqrt:"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(parse(&d, texts[i]), PB_OK);
        assert_string_equal(d.spec.row->name, "sqrt");
        assert_int_equal(d.spec.option_count, 0);
        assert_null(d.spec.policy);
        drop(&d);
    }
}

static void options_are_taken_apart(void **state)
{
    (void)state;
    desk d;
    assert_int_equal(parse(&d, "every-k:k=10,limit=500"), PB_OK);
    assert_ptr_equal(d.spec.row, pb_strategy_find("every-k"));
    assert_int_equal(d.spec.option_count, 2);
    assert_string_equal(d.spec.options[0].key, "k");
    assert_string_equal(d.spec.options[0].value, "10");
    assert_string_equal(d.spec.options[1].key, "limit");
    assert_string_equal(d.spec.options[1].value, "500");
    drop(&d);
    assert_int_equal(parse(&d, "every-k:k=,"), PB_OK); /* an empty value is for the strategy to judge */
    assert_string_equal(d.spec.options[0].value, "");
    drop(&d);
    assert_int_equal(parse(&d, "every-k:k=a=b"), PB_OK);
    assert_string_equal(d.spec.options[0].value, "a=b");
    drop(&d);
}

static void only_the_length_counts(void **state)
{
    (void)state;
    desk d;
    pb_context_init(&d.ctx);
    pb_arena_init(&d.arena, &d.ctx);
    assert_int_equal(pbi_spec_parse(&d.ctx, "every-k:k=10,limit=7", 11, &d.arena, &d.spec), PB_OK);
    assert_int_equal(d.spec.option_count, 1);
    assert_string_equal(d.spec.options[0].value, "1");
    drop(&d);
}

static void a_policy_is_kept_apart(void **state)
{
    (void)state;
    desk d;
    assert_int_equal(parse(&d, "demand:policy=largest,limit=9"), PB_OK);
    assert_string_equal(d.spec.policy, "largest");
    assert_int_equal(d.spec.option_count, 1);
    drop(&d);
    assert_int_equal(parse(&d, "auto:policy=oldest"), PB_OK); /* for the rows that a portfolio tries */
    assert_string_equal(d.spec.policy, "oldest");
    drop(&d);
}

static void faults_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pb_status status;
        const char *message;
    } cases[] = {
        {"", PB_EUNKNOWN, "there is no strategy ``; choose auto, "},
        {"nope", PB_EUNKNOWN, "there is no strategy `nope`; choose auto, "},
        {"Sqrt", PB_EUNKNOWN, "there is no strategy `Sqrt`; did you mean sqrt?"},
        {":k=1", PB_EUNKNOWN, "there is no strategy ``; choose auto, "},
        {"every-k:k", PB_EINVAL, "expected an option key=value of the strategy, not \"k\""},
        {"every-k:=3", PB_EINVAL, "expected an option key=value of the strategy, not \"=3\""},
        {"every-k:,k=3", PB_EINVAL, "expected an option key=value of the strategy, not \"\""},
        {"every-k:q=3", PB_EUNKNOWN, "strategy every-k has no option \"q\"; its options: k, limit"},
        {"every-k:lim=3", PB_EUNKNOWN, "strategy every-k has no option \"lim\"; its options: k, limit"},
        {"cache-all:k=3", PB_EUNKNOWN, "strategy cache-all has no option \"k\"; its options: none"},
        {"demand:policy=lru", PB_EUNKNOWN, "there is no policy `lru`; "},
        {"auto:policy=", PB_EUNKNOWN, "there is no policy ``; "},
        {"sqrt:policy=lru", PB_EUNKNOWN, "there is no policy `lru`; "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        desk d;
        assert_int_equal(parse(&d, cases[i].text), cases[i].status);
        if (strncmp(d.ctx.error.message, cases[i].message, strlen(cases[i].message)) != 0)
            assert_string_equal(d.ctx.error.message, cases[i].message);
        drop(&d);
    }
}

static void too_many_options_are_refused(void **state)
{
    (void)state;
    char text[400] = "every-k:";
    for (int i = 0; i <= PBI_SPEC_OPTIONS; i++)
        strcat(text, "k=1,");
    desk d;
    assert_int_equal(parse(&d, text), PB_EINVAL);
    assert_string_equal(d.ctx.error.message, "strategy every-k has too many options; leave some out");
    drop(&d);
    text[strlen(text) - 4] = '\0'; /* one less */
    assert_int_equal(parse(&d, text), PB_OK);
    assert_int_equal(d.spec.option_count, PBI_SPEC_OPTIONS);
    drop(&d);
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    desk d;
    pb_context_init(&d.ctx);
    d.ctx.memory_limit = 1;
    pb_arena_init(&d.arena, &d.ctx);
    assert_int_equal(pbi_spec_parse(&d.ctx, "sqrt", 4, &d.arena, &d.spec), PB_ENOMEM);
    drop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_alone_is_a_spec), cmocka_unit_test(options_are_taken_apart),
        cmocka_unit_test(only_the_length_counts), cmocka_unit_test(a_policy_is_kept_apart),
        cmocka_unit_test(faults_are_named),       cmocka_unit_test(too_many_options_are_refused),
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
