/* test_builtin.c -- the machines that come with the library are sound, and found by their names. */
#include "pebble/game.h"

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
    const pb_machine *m;
} desk;

static pb_status look_up(desk *d, const char *name)
{
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    d->m = NULL;
    return pb_machine_builtin(&d->ctx, name, &d->arena, &d->m);
}

static void every_machine_is_sound(void **state)
{
    (void)state;
    desk d;
    pb_tier tiers[PB_MAX_TIERS];
    uint32_t count;
    for (uint32_t i = 0; i < pb_machine_builtin_count(); i++) {
        pb_machine_summary s = pb_machine_builtin_at(i);
        assert_int_equal(look_up(&d, s.name), PB_OK);
        assert_string_equal(d.m->name, s.name);
        assert_true(strlen(s.text) > 0);
        assert_int_equal(pb_machine_check(&d.ctx, d.m), PB_OK);
        assert_int_equal(pb_machine_tiers(d.m, tiers, &count), 1);
        assert_true(d.m->memories[0].cap != PB_UNLIMITED);
        pb_arena_release(&d.arena);
    }
}

static void several_devices_have_links(void **state)
{
    (void)state;
    desk d;
    assert_int_equal(look_up(&d, "a100-40*3"), PB_OK);
    assert_int_equal(pb_machine_check(&d.ctx, d.m), PB_OK);
    assert_string_equal(d.m->name, "a100-40*3");
    assert_int_equal(d.m->processor_count, 3);
    assert_int_equal(d.m->memory_count, 4);
    assert_string_equal(d.m->memories[2].name, "hbm2");
    assert_string_equal(d.m->memories[3].name, "host");
    assert_int_equal(d.m->link_count, 3 * 2 + 2 * 2);
    assert_int_equal(d.m->processors[2].memory, 2);
    uint64_t joined = 0;
    for (uint32_t i = 0; i < d.m->link_count; i++)
        joined |= UINT64_C(1) << (d.m->links[i].from * 4 + d.m->links[i].to);
    /* each with the host, both ways, and 0-1, 1-2 */
    assert_int_equal(joined, 0x7ada);
    pb_arena_release(&d.arena);
    assert_int_equal(look_up(&d, "t4*64"), PB_OK);
    assert_int_equal(pb_machine_check(&d.ctx, d.m), PB_OK);
    pb_arena_release(&d.arena);
    assert_int_equal(look_up(&d, "t4*1"), PB_OK);
    assert_string_equal(d.m->memories[0].name, "hbm");
    pb_arena_release(&d.arena);
}

static void rates_are_published_peaks_and_what_kernels_reach(void **state)
{
    (void)state;
    desk d;
    uint64_t ns;
    assert_int_equal(look_up(&d, "a100-40"), PB_OK);
    const pb_machine_processor *gpu = &d.m->processors[0];
    pb_work work = {.dtype = "float32", .has_flops = true, .flops = 19500000};
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, gpu, &work, 0, &ns), PB_OK);
    assert_int_equal(ns, 4000 + 1000);
    work.op = "matmul";
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, gpu, &work, 0, &ns), PB_OK);
    assert_int_equal(ns, 4000 + 1112); /* 90 % of the peak */
    work.dtype = "tf32";               /* on units for matrix products */
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, gpu, &work, 0, &ns), PB_OK);
    assert_int_equal(ns, 4000 + 167); /* 75 % of 156 Tflop/s */
    work.dtype = "complex64";         /* no such rate: as float32 */
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, gpu, &work, 0, &ns), PB_OK);
    assert_int_equal(ns, 4000 + 1000);
    work = (pb_work){.op = "elementwise", .has_bytes = true, .bytes = 1555000};
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, gpu, &work, 0, &ns), PB_OK);
    assert_int_equal(ns, 4000 + 1112); /* 90 % of the bandwidth */
    pb_arena_release(&d.arena);
}

static void the_two_level_game_is_abstract(void **state)
{
    (void)state;
    desk d;
    assert_int_equal(look_up(&d, "red-blue"), PB_OK);
    assert_int_equal(d.m->per_second, 0);
    assert_int_equal(d.m->memories[0].cap, 11);
    assert_int_equal(pb_machine_copy_time(d.m, &d.m->links[0], 1), 100);
    assert_int_equal(pb_machine_copy_time(d.m, &d.m->links[1], 7), 100);
    pb_work work = {.has_flops = true, .flops = 1000};
    uint64_t time;
    assert_int_equal(pb_machine_duration(&d.ctx, d.m, &d.m->processors[0], &work, 3, &time), PB_OK);
    assert_int_equal(time, 3); /* the node's cost, as the text says */
    assert_non_null(strstr(pb_machine_builtin_at(pb_machine_builtin_count() - 1).text, "a node takes its cost"));
    pb_arena_release(&d.arena);
}

static void wrong_names_get_advice(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"a100-41", "did you mean a100-40?"},
                                           {"a100-4O*4", "did you mean a100-40?"},
                                           {"cray", "choose v100-16"},
                                           {"t4*0", "as in t4*4"},
                                           {"t4*65", "expected 1 to 64 devices"},
                                           {"t4*x", "as in t4*4"},
                                           {"t4*", "as in t4*4"},
                                           {"laptop*2", "laptop is one device"}};
    desk d;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pb_status status = look_up(&d, wrong[i][0]);
        assert_true(status == PB_EUNKNOWN || status == PB_EINVAL);
        assert_null(d.m);
        if (!strstr(d.ctx.error.message, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], d.ctx.error.message);
        pb_arena_release(&d.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine_is_sound),
        cmocka_unit_test(several_devices_have_links),
        cmocka_unit_test(rates_are_published_peaks_and_what_kernels_reach),
        cmocka_unit_test(the_two_level_game_is_abstract),
        cmocka_unit_test(wrong_names_get_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
