/* train_data.c -- see train.h: training batches and initial parameters; a function of the seed and the step.
 *
 * Images of a class are coarse patterns of the class plus noise; scenes are discs of several classes on a
 * background, each class with a colour, plus noise; tokens follow one another by a fixed table, usually the first
 * successor.
 */
#include "workloads/train.h"

#include "base/rng.h"

#include <math.h>

enum { COARSE = 4, DISCS = 4 };
enum { ABOUT_CLASS = 1, ABOUT_PATTERN, ABOUT_NOISE, ABOUT_SCENE, ABOUT_COLOUR, ABOUT_TOKEN, ABOUT_TABLE, ABOUT_START };
enum { SIZE, CHANNELS };

/* A separate stream for each purpose and number. */
static pbi_rng stream(const pbi_train *t, uint64_t about, uint64_t a, uint64_t b)
{
    pbi_rng rng = {t->options.seed};
    rng.state = pbi_rng_next(&rng) ^ about;
    rng.state = pbi_rng_next(&rng) ^ a;
    rng.state = pbi_rng_next(&rng) ^ b;
    return rng;
}

/* Uniform in [-1, 1). */
static float noise(pbi_rng *rng) { return (float)(pbi_rng_next(rng) >> 40) * 0x1p-23f - 1.0f; }

/* ---- images ---- */

static uint64_t class_of(const pbi_train *t, uint64_t image)
{
    pbi_rng rng = stream(t, ABOUT_CLASS, t->step, image);
    return pbi_rng_below(&rng, t->options.classes);
}

static void fill_images(const pbi_train *t, const pbi_job *job, void *bytes)
{
    float *x = bytes;
    uint64_t size = job->n[SIZE], channels = job->n[CHANNELS];
    for (uint64_t i = 0; i < t->options.batch; i++) {
        pbi_rng pattern = stream(t, ABOUT_PATTERN, class_of(t, i), 0), more = stream(t, ABOUT_NOISE, t->step, i);
        for (uint64_t c = 0; c < channels; c++) {
            float coarse[COARSE * COARSE];
            for (int k = 0; k < COARSE * COARSE; k++)
                coarse[k] = noise(&pattern);
            for (uint64_t row = 0; row < size; row++)
                for (uint64_t column = 0, part = 0; column < size; column++) {
                    while ((part + 1) * size <= column * COARSE) /* part = column * COARSE / size, without dividing */
                        part++;
                    *x++ = coarse[row * COARSE / size * COARSE + part] + noise(&more);
                }
        }
    }
}

static void fill_classes(const pbi_train *t, const pbi_job *job, void *bytes)
{
    (void)job;
    int32_t *label = bytes;
    for (uint64_t i = 0; i < t->options.batch; i++)
        label[i] = (int32_t)class_of(t, i);
}

pb_node pbi_data_images(pbi_train *t, uint64_t channels)
{
    uint64_t size = t->options.image, batch = t->options.batch;
    const uint64_t n[] = {size, channels};
    t->label_node = pbi_net_given(t, "labels", batch * sizeof(int32_t), fill_classes, n, 2);
    return pbi_net_given(t, "images", batch * channels * size * size * sizeof(float), fill_images, n, 2);
}

/* ---- scenes ---- */

typedef struct disc {
    int64_t y, x, radius;
    uint64_t class_;
} disc;

static void draw_discs(const pbi_train *t, uint64_t image, disc discs[DISCS])
{
    pbi_rng rng = stream(t, ABOUT_SCENE, t->step, image);
    uint64_t size = t->options.image;
    for (int k = 0; k < DISCS; k++)
        discs[k] = (disc){(int64_t)pbi_rng_below(&rng, size), (int64_t)pbi_rng_below(&rng, size),
                          (int64_t)(size / 8 + pbi_rng_below(&rng, size / 8 + 1)),
                          1 + pbi_rng_below(&rng, t->options.classes - 1)};
}

/* The class at a pixel: that of the last disc that covers it, else 0, the background. */
static uint64_t class_at(const disc discs[DISCS], uint64_t pixel, uint64_t size)
{
    int64_t y = (int64_t)(pixel / size), x = (int64_t)(pixel % size);
    uint64_t found = 0;
    for (int k = 0; k < DISCS; k++) {
        int64_t dy = y - discs[k].y, dx = x - discs[k].x;
        found = dy * dy + dx * dx <= discs[k].radius * discs[k].radius ? discs[k].class_ : found;
    }
    return found;
}

static void fill_scenes(const pbi_train *t, const pbi_job *job, void *bytes)
{
    float *x = bytes;
    uint64_t size = job->n[SIZE], channels = job->n[CHANNELS];
    for (uint64_t i = 0; i < t->options.batch; i++) {
        disc discs[DISCS];
        pbi_rng more = stream(t, ABOUT_NOISE, t->step, i);
        draw_discs(t, i, discs);
        for (uint64_t c = 0; c < channels; c++)
            for (uint64_t p = 0; p < size * size; p++) {
                pbi_rng colour = stream(t, ABOUT_COLOUR, class_at(discs, p, size), c);
                *x++ = 2 * noise(&colour) + noise(&more);
            }
    }
}

static void fill_pixel_classes(const pbi_train *t, const pbi_job *job, void *bytes)
{
    int32_t *label = bytes;
    uint64_t size = job->n[SIZE];
    for (uint64_t i = 0; i < t->options.batch; i++) {
        disc discs[DISCS];
        draw_discs(t, i, discs);
        for (uint64_t p = 0; p < size * size; p++)
            *label++ = (int32_t)class_at(discs, p, size);
    }
}

pb_node pbi_data_scenes(pbi_train *t, uint64_t channels)
{
    uint64_t size = t->options.image, pixels = t->options.batch * size * size;
    const uint64_t n[] = {size, channels};
    t->label_node = pbi_net_given(t, "labels", pixels * sizeof(int32_t), fill_pixel_classes, n, 2);
    return pbi_net_given(t, "images", pixels * channels * sizeof(float), fill_scenes, n, 2);
}

/* ---- tokens ---- */

static uint64_t follower(const pbi_train *t, uint64_t token, pbi_rng *rng)
{
    uint64_t chance = pbi_rng_below(rng, 8); /* 5 : 1 : 1 : 1 */
    pbi_rng table = stream(t, ABOUT_TABLE, token, chance < 5 ? 0 : chance - 4);
    return pbi_rng_below(&table, t->options.classes);
}

/* Tokens `ahead` places later than the sequence's first. */
static void write_tokens(const pbi_train *t, int32_t *out, uint64_t ahead)
{
    uint64_t length = t->options.sequence;
    for (uint64_t i = 0; i < t->options.batch; i++) {
        pbi_rng rng = stream(t, ABOUT_TOKEN, t->step, i);
        uint64_t token = pbi_rng_below(&rng, t->options.classes);
        for (uint64_t k = 0; k < length + ahead; k++) {
            if (k >= ahead)
                *out++ = (int32_t)token;
            token = follower(t, token, &rng);
        }
    }
}

static void fill_tokens(const pbi_train *t, const pbi_job *job, void *bytes)
{
    (void)job;
    write_tokens(t, bytes, 0);
}

static void fill_next_tokens(const pbi_train *t, const pbi_job *job, void *bytes)
{
    (void)job;
    write_tokens(t, bytes, 1);
}

pb_node pbi_data_tokens(pbi_train *t)
{
    uint64_t bytes = t->options.batch * t->options.sequence * sizeof(int32_t);
    const uint64_t none[1] = {0};
    t->label_node = pbi_net_given(t, "labels", bytes, fill_next_tokens, none, 0);
    return pbi_net_given(t, "tokens", bytes, fill_tokens, none, 0);
}

/* ---- dropout's seed, and initial parameters ---- */

static void fill_seed(const pbi_train *t, const pbi_job *job, void *bytes)
{
    (void)job;
    uint64_t *seed = bytes;
    seed[0] = t->options.seed;
    seed[1] = t->step;
}

pb_node pbi_data_seed(pbi_train *t)
{
    const uint64_t none[1] = {0};
    return t->seed_node = pbi_net_given(t, "seed", 2 * sizeof(uint64_t), fill_seed, none, 0);
}

void pbi_data_start(const pbi_train *t, const pbi_param *p, float *w, uint32_t number)
{
    pbi_rng rng = stream(t, ABOUT_START, number, 0);
    for (uint64_t i = 0; i < p->lead; i++)
        w[i] = p->deviation > 0 ? p->deviation * 1.7320508f * noise(&rng) : 1.0f;
}
