/* test_workload_pipeline.c -- what is found in an image is the same whole, in tiles, and at every cap. */
#include "workload_runs.h"

#include "workloads/filters.h"

static void tiles_find_the_same_at_every_cap(void **state)
{
    (void)state;
    static const char *const options[] = {"width=90,height=70,tile=16", "width=90,height=70,tile=32,blur=8,window=8",
                                          "width=90,height=70,tile=16,halo=own"};
    for (int i = 0; i < 3; i++) {
        char whole[PB_HASH_TEXT], tiled[PB_HASH_TEXT];
        runs r;
        runs_open(&r, "pipeline", i == 1 ? "width=90,height=70,tile=0,blur=8,window=8" : "width=90,height=70,tile=0");
        assert_int_equal(pb_workload_graph(r.w)->node_count, 5);
        runs_down(&r, 2, "auto", whole);
        runs_close(&r);
        runs_open(&r, "pipeline", options[i]);
        r.loose = true;
        r.ctx.tick_limit = 10000;
        runs_down(&r, 5, "auto", tiled);
        assert_string_equal(whole, tiled);
        runs_close(&r);
    }
}

/* Whole buffers of the image that is made by default, against the memory of a small processor. */
static void an_image_of_more_than_a_megabyte_goes_through_little_memory(void **state)
{
    (void)state;
    char whole[PB_HASH_TEXT], tiled[PB_HASH_TEXT], text[200];
    runs r;
    runs_open(&r, "pipeline", "tile=0");
    pb_measured all = runs_at(&r, PB_UNLIMITED, "auto", whole);
    pb_workload_text(r.w, text, sizeof text);
    assert_non_null(strstr(text, " detections, the strongest "));
    runs_close(&r);
    assert_true(all.peak > 1500000);
    static const char *const options[] = {"tile=32", "tile=64,halo=own"};
    static const uint64_t caps[] = {256 << 10, 40 << 10};
    for (int i = 0; i < 2; i++) {
        runs_open(&r, "pipeline", options[i]);
        r.loose = true;
        runs_at(&r, caps[i], "auto", tiled);
        assert_string_equal(whole, tiled);
        runs_close(&r);
    }
}

static void an_image_from_a_file_is_gone_through(void **state)
{
    (void)state;
    static const char name[] = "test_workload_pipeline.pgm";
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs("P5 40 20 255\n", file);
    for (int i = 0; i < 800; i++) /* a bright square */
        fputc(i % 40 >= 10 && i % 40 < 20 && i / 40 >= 5 && i / 40 < 15 ? 255 : 0, file);
    fclose(file);
    char whole[PB_HASH_TEXT], tiled[PB_HASH_TEXT], text[200];
    runs r;
    runs_open(&r, "pipeline", "file=test_workload_pipeline.pgm,tile=0,blur=1,window=1");
    runs_at(&r, PB_UNLIMITED, "auto", whole);
    pb_workload_text(r.w, text, sizeof text);
    assert_null(strstr(text, "no detection"));
    runs_close(&r);
    runs_open(&r, "pipeline", "file=test_workload_pipeline.pgm,tile=16,blur=1,window=1");
    runs_down(&r, 3, "auto", tiled);
    assert_string_equal(whole, tiled);
    runs_close(&r);
    remove(name);
}

static void an_image_of_one_pixel_has_no_detection(void **state)
{
    (void)state;
    char digest[PB_HASH_TEXT], text[100];
    runs r;
    runs_open(&r, "pipeline", "width=1,height=1,threshold=65535");
    runs_at(&r, PB_UNLIMITED, "auto", digest);
    pb_workload_text(r.w, text, sizeof text);
    assert_string_equal(text, "no detection");
    runs_close(&r);
}

/* Results cover every pixel: with a threshold that nothing reaches images still differ, and tiles still agree. */
static void what_is_not_detected_is_compared_too(void **state)
{
    (void)state;
    static const char *const options[] = {"width=50,height=40,tile=0,threshold=65535,seed=1",
                                          "width=50,height=40,tile=16,threshold=65535,seed=1",
                                          "width=50,height=40,tile=16,halo=own,threshold=65535,seed=1",
                                          "width=50,height=40,tile=0,threshold=65535,seed=2"};
    char digest[4][PB_HASH_TEXT], text[100];
    for (int i = 0; i < 4; i++) {
        runs r;
        runs_open(&r, "pipeline", options[i]);
        runs_at(&r, PB_UNLIMITED, "auto", digest[i]);
        pb_workload_text(r.w, text, sizeof text);
        assert_string_equal(text, "no detection");
        runs_close(&r);
    }
    assert_string_equal(digest[0], digest[1]);
    assert_string_equal(digest[0], digest[2]);
    assert_string_not_equal(digest[0], digest[3]);
}

static void opening_fails_cleanly_without_memory(void **state)
{
    (void)state;
    runs_starve("pipeline", "width=60,height=40,tile=16");
}

static void bad_options_are_refused_with_a_sentence(void **state)
{
    (void)state;
    runs_refuse("pipeline", "tile=8", PB_EINVAL, "tile must be 0 or at least 16, not 8");
    runs_refuse("pipeline", "tile=x", PB_EINVAL, "tile must be a whole number");
    runs_refuse("pipeline", "halo=none", PB_EINVAL, "halo must be read or own, not 'none'");
    runs_refuse("pipeline", "blur=9", PB_EINVAL, "blur must be a whole number between 0 and 8, not '9'");
    runs_refuse("pipeline", "window=9", PB_EINVAL, "window must be");
    runs_refuse("pipeline", "threshold=0", PB_EINVAL, "threshold must be");
    runs_refuse("pipeline", "width=0", PB_EINVAL, "width must be");
    runs_refuse("pipeline", "width=8000,height=8000,tile=16", PB_EINVAL,
                "tile=16 gives 250000 tiles, more than 100000");
    runs_refuse("pipeline", "file=/nowhere/image.pgm", PB_EIO, "/nowhere/image.pgm cannot be read");
    FILE *file = fopen("test_workload_pipeline.short", "wb");
    assert_non_null(file);
    fprintf(file, "P5 40 20 255\n%700d", 1);
    fclose(file);
    runs_refuse("pipeline", "file=test_workload_pipeline.short", PB_EFORMAT,
                "the pixels need 800 bytes, but the file has 700");
    remove("test_workload_pipeline.short");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_find_the_same_at_every_cap),
        cmocka_unit_test(an_image_of_more_than_a_megabyte_goes_through_little_memory),
        cmocka_unit_test(an_image_from_a_file_is_gone_through),
        cmocka_unit_test(an_image_of_one_pixel_has_no_detection),
        cmocka_unit_test(what_is_not_detected_is_compared_too),
        cmocka_unit_test(opening_fails_cleanly_without_memory),
        cmocka_unit_test(bad_options_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
