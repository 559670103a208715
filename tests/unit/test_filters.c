/* test_filters.c -- filters in tiles against plain loops over the whole image. */
#include "workloads/filters.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 80 };

static unsigned char pixels[MOST * MOST * 3];
static double blurred[MOST][MOST][3];
static int edge[MOST][MOST];

static int clamp(int v, int count) { return v < 0 ? 0 : v >= count ? count - 1 : v; }

static int pixel(const pbi_image *m, int x, int y, int c)
{
    x = clamp(x, (int)m->width);
    y = clamp(y, (int)m->height);
    return m->pixels[(y * (int)m->width + x) * (int)m->channels + c];
}

/* Rows, rounded to 1/256, then columns, rounded: as filters.h says, with whole numbers in doubles. */
static void plain_blur(const pbi_filters *f)
{
    int radius = (int)f->blur;
    for (int y = 0; y < (int)f->image.height; y++)
        for (int x = 0; x < (int)f->image.width; x++)
            for (int c = 0; c < (int)f->image.channels; c++) {
                double sum = 0;
                for (int dy = -radius; dy <= radius; dy++) {
                    double row = 0;
                    for (int dx = -radius; dx <= radius; dx++)
                        row += (double)f->weight[dx + radius] * pixel(&f->image, x + dx, y + dy, c);
                    sum += f->weight[dy + radius] * floor((row + 128) / 256);
                }
                blurred[y][x][c] = floor((sum + 8388608) / 16777216);
            }
}

static int plain_light(const pbi_filters *f, int x, int y)
{
    const double *v = blurred[clamp(y, (int)f->image.height)][clamp(x, (int)f->image.width)];
    if (f->image.channels == 1)
        return f->light[(int)v[0]];
    double sum = 13933.0 * f->light[(int)v[0]] + 46871.0 * f->light[(int)v[1]] + 4732.0 * f->light[(int)v[2]];
    return (int)floor(sum / 65536);
}

static void plain_edges(const pbi_filters *f)
{
    static const int across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    for (int y = 0; y < (int)f->image.height; y++)
        for (int x = 0; x < (int)f->image.width; x++) {
            double gx = 0, gy = 0;
            for (int i = 0; i < 9; i++) {
                double v = plain_light(f, x + i % 3 - 1, y + i / 3 - 1);
                gx += across[i / 3][i % 3] * v;
                gy += across[i % 3][i / 3] * v;
            }
            double length = floor(sqrt(gx * gx + gy * gy));
            edge[y][x] = length > 65535 ? 65535 : (int)length;
        }
}

static bool plain_peak(const pbi_filters *f, int x, int y)
{
    for (int v = 0; v < (int)f->image.height; v++)
        for (int u = 0; u < (int)f->image.width; u++) {
            if (abs(u - x) > (int)f->window || abs(v - y) > (int)f->window || (u == x && v == y))
                continue;
            if (edge[v][u] > edge[y][x] || (edge[v][u] == edge[y][x] && (v < y || (v == y && u < x))))
                return false;
        }
    return edge[y][x] >= (int)f->threshold;
}

static void plain_found(const pbi_filters *f, pbi_found *found)
{
    memset(found, 0, sizeof *found);
    plain_blur(f);
    plain_edges(f);
    for (int y = 0; y < (int)f->image.height; y++)
        for (int x = 0; x < (int)f->image.width; x++)
            if (plain_peak(f, x, y)) {
                found->count++;
                found->x += (uint64_t)x;
                found->y += (uint64_t)y;
                found->strength += (uint64_t)edge[y][x];
                if (!found->best_count || (found->best[0] >> 48) < (uint64_t)edge[y][x])
                    found->best[0] =
                        (uint64_t)edge[y][x] << 48 | (uint64_t)(0xffffff - y) << 24 | (uint64_t)(0xffffff - x);
                found->best_count = 1;
            }
}

/* Every tile of every stage in memory of exactly its size, and workspace with guards behind it. */
static void tiled_found(const pbi_filters *f, pbi_found *found)
{
    uint32_t tiles = f->columns * f->rows;
    void **before = NULL;
    memset(found, 0, sizeof *found);
    for (int stage = 0; stage < PBI_STAGES; stage++) {
        void **now = calloc(tiles, sizeof *now);
        for (uint32_t t = 0; t < tiles; t++) {
            size_t space = pbi_filters_workspace(f, stage, t);
            unsigned char *workspace = malloc(space + 64);
            now[t] = malloc(pbi_filters_size(f, stage, t));
            memset(workspace, 0x5a, space + 64);
            pbi_filters_run(f, stage, t, before, now[t], workspace);
            for (int i = 0; i < 64; i++)
                assert_int_equal(workspace[space + (size_t)i], 0x5a);
            free(workspace);
            if (stage == PBI_DETECT)
                pbi_found_join(now[t], found, found);
        }
        for (uint32_t t = 0; before && t < tiles; t++)
            free(before[t]);
        free(before);
        before = now;
    }
    for (uint32_t t = 0; t < tiles; t++)
        free(before[t]);
    free(before);
}

static void make_image(pbi_image *image, uint32_t width, uint32_t height, uint32_t channels, uint64_t seed)
{
    pbi_rng rng = {seed};
    *image = (pbi_image){width, height, channels, pixels};
    for (size_t i = 0; i < (size_t)width * height * channels; i++)
        pixels[i] = (unsigned char)(pbi_rng_next(&rng) >> 60 ? pixels[i ? i - 1 : 0] : pbi_rng_next(&rng) >> 56);
}

static void tiles_find_what_plain_loops_find(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {16, 16}, {33, 17}, {70, 49}, {17, 66}};
    uint64_t seed = 1, all = 0;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned kind = 0; kind < 8; kind++) {
            pbi_found plain, found;
            pbi_filters f = {.tile = kind & 1 ? 16 : 0, .own_halo = kind & 2, .threshold = 3000};
            make_image(&f.image, sizes[i][0], sizes[i][1], kind & 4 ? 1 : 3, seed++);
            f.blur = (uint32_t)(seed % 4);
            f.window = (uint32_t)(seed % 3);
            pbi_filters_init(&f);
            plain_found(&f, &plain);
            tiled_found(&f, &found);
            assert_int_equal(found.count, plain.count);
            assert_int_equal(found.x, plain.x);
            assert_int_equal(found.y, plain.y);
            assert_int_equal(found.strength, plain.strength);
            assert_int_equal(found.best[0], plain.best[0]);
            all += found.count;
        }
    assert_true(all > 300);
}

/* Of equal strengths the first in reading order is found, once; the strongest are listed from the top, however they are joined. */
static void the_strongest_are_the_same_in_any_order(void **state)
{
    (void)state;
    pbi_found one = {0}, many[60], forwards = {0}, backwards = {0};
    for (uint64_t i = 0; i < 60; i++) {
        many[i] = (pbi_found){.count = 1, .strength = i * 37 % 61, .best_count = 1};
        many[i].best[0] = many[i].strength << 48;
    }
    for (int i = 0; i < 60; i++) {
        pbi_found_join(&forwards, &many[i], &forwards);
        pbi_found_join(&many[59 - i], &backwards, &backwards);
    }
    assert_memory_equal(&forwards, &backwards, sizeof forwards);
    assert_int_equal(forwards.count, 60);
    assert_int_equal(forwards.best_count, PBI_FOUND_BEST);
    assert_int_equal(forwards.best[0] >> 48, 60);
    for (int i = 1; i < PBI_FOUND_BEST; i++)
        assert_true(forwards.best[i] < forwards.best[i - 1]);
    pbi_found_join(&one, &many[3], &one);
    assert_memory_equal(&one, &many[3], sizeof one);
}

static void a_transform_may_take_the_place_of_its_input(void **state)
{
    (void)state;
    pbi_filters f = {.threshold = 1};
    make_image(&f.image, 40, 32, 3, 9);
    pbi_filters_init(&f);
    static uint16_t apart[40 * 32], over[40 * 32 * 2];
    void *in = pixels, *same = over;
    memcpy(over, pixels, 40 * 32 * 3);
    pbi_filters_run(&f, PBI_TRANSFORM, 0, &in, apart, NULL);
    pbi_filters_run(&f, PBI_TRANSFORM, 0, &same, over, NULL);
    assert_memory_equal(apart, over, sizeof apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_find_what_plain_loops_find),
        cmocka_unit_test(the_strongest_are_the_same_in_any_order),
        cmocka_unit_test(a_transform_may_take_the_place_of_its_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
