/* test_machine_models.c -- models in machine files and measurements in CSV: back to the same bytes, errors at their
 * places. */
#include "support/io_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BEGIN                                                                                                        \
    "{\"format\":\"pebble-machine/1\",\"name\":\"m\",\"time_unit\":\"ns\",\"reference\":{\"what\":\"synthetic\","    \
    "\"time\":12},\n\"memories\":[\n{\"name\":\"host\"}],\n\"processors\":[\n{\"name\":\"cpu\",\"memory\":\"host\"," \
    "\"models\":["
#define END "]}]}\n"

typedef struct desk {
    pb_context ctx;
    pb_arena arena;
    const pb_machine *m;
} desk;

static pb_status open_models(desk *d, const char *models)
{
    char text[2000];
    snprintf(text, sizeof text, BEGIN "%s" END, models);
    slow_memory memory = {text, strlen(text), 0, 7, SIZE_MAX};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    return pb_machine_read(&d->ctx, slow_source(&memory), &d->arena, &d->m);
}

static void models_and_reference_come_back(void **state)
{
    (void)state;
    static const char models[] =
        "\n{\"op\":\"conv\",\"dtype\":\"float32\",\"overhead\":5,\"rate\":100,\"bandwidth\":7,\"by\":\"flops\","
        "\"curves\":[[[100,10,50],[200,20,60]],[[400,4,70]]]},\n"
        "{\"op\":\"hash\",\"by\":\"bytes\",\"curves\":[[[0,64,1000]]]}";
    desk d;
    pb_buffer bytes;
    assert_int_equal(open_models(&d, models), PB_OK);
    const pb_machine_processor *p = &d.m->processors[0];
    assert_int_equal(p->model_count, 2);
    assert_string_equal(p->models[0].dtype, "float32");
    assert_null(p->models[1].dtype);
    assert_int_equal(p->models[0].by, PB_BY_FLOPS);
    assert_int_equal(p->models[0].curve_count, 2);
    assert_int_equal(p->models[0].curves[0].points[1].time, 60);
    assert_string_equal(d.m->reference.what, "synthetic");
    assert_int_equal(d.m->reference.time, 12);
    pb_buffer_init(&bytes, &d.arena);
    assert_int_equal(pb_machine_write(&d.ctx, d.m, pb_sink_buffer(&bytes)), PB_OK);
    char text[2000];
    snprintf(text, sizeof text, BEGIN "%s" END, models);
    assert_string_equal(bytes.bytes, text);
    pb_arena_release(&d.arena);
}

static void refused(const char *models, const char *part)
{
    desk d;
    assert_int_equal(open_models(&d, models), PB_EFORMAT);
    if (!strstr(d.ctx.error.message, part) || !d.ctx.error.line)
        fail_msg("%s: %s", models, d.ctx.error.message);
    pb_arena_release(&d.arena);
    assert_int_equal(d.ctx.memory_used, 0);
}

static void malformed_models_are_refused_at_their_place(void **state)
{
    (void)state;
    refused("3", "item 0 of \"models\" must be an object");
    refused("{\"op\":7}", "\"op\" of model 0 must be a string");
    refused("{\"op\":\"a\",\"op\":\"a\"}", "twice");
    refused("{\"op\":\"a\",\"by\":\"weight\",\"curves\":[[[1,1,1]]]}", "formula");
    refused("{\"op\":\"a\",\"rate\":\"18446744073709551615\",\"curves\":[[[1,1,1]]]}", "2^63");
    refused("{\"op\":\"a\",\"curves\":[[1,1,1]]}", "array");
    refused("{\"op\":\"a\",\"curves\":[[[1,1]]]}", "[flops, bytes, time]");
    refused("{\"op\":\"a\",\"curves\":[[[1,1,1,1]]]}", "[flops, bytes, time]");
    refused("{\"op\":\"a\",\"curves\":[[[1,-1,1]]]}", "curves");
    refused("{\"op\":\"a\"}", "no measured points");
    refused("{\"curves\":[[[1,1,1]]]}", "no operation");
    refused("{\"op\":\"a\",\"by\":\"bytes\",\"curves\":[[[1,2,5],[1,3,4]]]}", "less time");
    refused("{\"op\":\"a\",\"by\":\"bytes\",\"curves\":[[[1,2,5]]]},{\"op\":\"a\",\"curves\":[[[1,2,5]]]}", "twice");
}

static pb_status open_csv(desk *d, const char *text, pb_machine_sample **samples, uint32_t *count)
{
    slow_memory memory = {text, strlen(text), 0, 3, SIZE_MAX};
    pb_context_init(&d->ctx);
    pb_arena_init(&d->arena, &d->ctx);
    return pb_machine_samples_read(&d->ctx, slow_source(&memory), &d->arena, samples, count);
}

static void measurements_are_read_from_csv(void **state)
{
    (void)state;
    desk d;
    pb_machine_sample before = {"copy", NULL, {0, 1, 1}}, *samples = &before;
    uint32_t count = 1;
    assert_int_equal(open_csv(&d,
                              "op,dtype,flops,bytes,ns\r\n\n# a comment\n\"conv\",float32,2e6,1000,12.6\nhash,,0,64,7",
                              &samples, &count),
                     PB_OK);
    assert_int_equal(count, 3);
    assert_string_equal(samples[0].op, "copy");
    assert_string_equal(samples[1].op, "conv");
    assert_string_equal(samples[1].dtype, "float32");
    assert_int_equal(samples[1].at.flops, 2000000);
    assert_int_equal(samples[1].at.time, 13);
    assert_null(samples[2].dtype);
    assert_int_equal(samples[2].at.bytes, 64);
    pb_arena_release(&d.arena);
}

static void csv_faults_have_a_line(void **state)
{
    (void)state;
    static const char *const texts[] = {"op,dtype,flops,bytes,ns\nconv,float32,1,2\n",
                                        "x,y,1,2,3\nx,y,1,2,3,4\n",
                                        "x,y,1,2,3\nx,y,-1,2,3\n",
                                        "x,y,1,2,3\nx,y,1,2,0\n",
                                        "x,y,1,2,3\n,y,1,2,3\n",
                                        "x,y,1,2,3\nx,y,0,0,3\n",
                                        "x,y,1,2,3\nx,y,nan,0,3\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        desk d;
        pb_machine_sample *samples = NULL;
        uint32_t count = 0;
        assert_int_equal(open_csv(&d, texts[i], &samples, &count), PB_EFORMAT);
        assert_int_equal(d.ctx.error.line, 2);
        assert_int_equal(count, 0);
        pb_arena_release(&d.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_and_reference_come_back),
        cmocka_unit_test(malformed_models_are_refused_at_their_place),
        cmocka_unit_test(measurements_are_read_from_csv),
        cmocka_unit_test(csv_faults_have_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
