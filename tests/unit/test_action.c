/* test_action.c -- the words and the text of adjoint actions. */
#include "pebble/adjoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void says(pb_action action, const char *expected)
{
    char text[PB_ACTION_TEXT];
    assert_int_equal(pb_action_text(&action, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void every_action_has_its_text(void **state)
{
    (void)state;
    says((pb_action){0, 5, 3, PB_ACTION_FORWARD, PB_WRITE_RESTART, PB_STORAGE_NONE, PB_STORAGE_RAM},
         "Forward(0, 5, true, false, RAM)");
    says((pb_action){4, 5, 0, PB_ACTION_FORWARD, PB_WRITE_REVERSE, PB_STORAGE_NONE, PB_STORAGE_WORK},
         "Forward(4, 5, false, true, WORK)");
    says((pb_action){1, 9, 0, PB_ACTION_FORWARD, 0, PB_STORAGE_NONE, PB_STORAGE_NONE},
         "Forward(1, 9, false, false, NONE)");
    says((pb_action){4, 5, 0, PB_ACTION_REVERSE, 0, PB_STORAGE_WORK, PB_STORAGE_NONE}, "Reverse(5, 4)");
    says((pb_action){7, 7, 1, PB_ACTION_COPY, 0, PB_STORAGE_DISK, PB_STORAGE_WORK}, "Copy(7, DISK, WORK)");
    says((pb_action){7, 7, 1, PB_ACTION_MOVE, 0, PB_STORAGE_DISK + 1, PB_STORAGE_WORK}, "Move(7, DISK2, WORK)");
    says((pb_action){9, 9, 0, PB_ACTION_END_FORWARD, 0, 0, 0}, "EndForward()");
    says((pb_action){9, 9, 0, PB_ACTION_END_REVERSE, 0, 0, 0}, "EndReverse()");
}

static void the_longest_text_has_room(void **state)
{
    (void)state;
    pb_action a = {UINT64_MAX - 1, UINT64_MAX, 0, PB_ACTION_FORWARD, 0, PB_STORAGE_NONE, PB_STORAGE_COUNT - 1};
    says(a, "Forward(18446744073709551614, 18446744073709551615, false, false, DISK7)");
}

static void numbers_without_a_name_are_no_trap(void **state)
{
    (void)state;
    assert_string_equal(pb_action_kind_name(PB_ACTION_KIND_COUNT), "?");
    assert_string_equal(pb_storage_name(PB_STORAGE_COUNT), "?");
    assert_string_equal(pb_storage_name(PB_STORAGE_NONE), "NONE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_has_its_text),
        cmocka_unit_test(the_longest_text_has_room),
        cmocka_unit_test(numbers_without_a_name_are_no_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
