/* filters.c -- see filters.h.
 *
 * Stencils read their input through rows with a halo, assembled from tiles: a ring of as many rows as the stencil
 * is high, in which each step down replaces the oldest one. So a filter needs a few rows of workspace for tiles of
 * any size.
 */
#include "workloads/filters.h"

#include <math.h>
#include <string.h>

const char *pbi_stage_name(pbi_stage stage)
{
    static const char *const names[] = {"load", "blur", "transform", "edges", "detect"};
    return names[stage];
}

/* ---- set-up ---- */

/* exp(-2 x^2 / r^2), scaled so that the sum is 2^16; the middle takes the rounding error. */
static void set_weights(pbi_filters *f)
{
    int32_t radius = (int32_t)f->blur;
    double sum = 0, weight[2 * PBI_MAX_RADIUS + 1];
    uint32_t rest = 65536;
    for (int32_t i = -radius; i <= radius; i++)
        sum += weight[i + radius] = radius ? exp(-2.0 * i * i / ((double)radius * radius)) : 1;
    for (int32_t i = -radius; i <= radius; i++)
        rest -= f->weight[i + radius] = (uint32_t)(65536 * weight[i + radius] / sum);
    f->weight[radius] += rest;
}

/* The inverse of the sRGB curve. */
static void set_light(pbi_filters *f)
{
    for (int i = 0; i < 256; i++) {
        double v = i / 255.0, linear = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
        f->light[i] = (uint16_t)(65535 * linear + 0.5);
    }
}

uint32_t pbi_filters_radius(const pbi_filters *f, pbi_stage stage)
{
    return stage == PBI_BLUR ? f->blur : stage == PBI_EDGES ? 1 : stage == PBI_DETECT ? f->window : 0;
}

void pbi_filters_init(pbi_filters *f)
{
    uint32_t width = f->image.width, height = f->image.height, longer = width > height ? width : height;
    f->tile = f->tile && f->tile < longer ? f->tile : longer;
    f->columns = (width + f->tile - 1) / f->tile;
    f->rows = (height + f->tile - 1) / f->tile;
    for (int stage = PBI_STAGES - 1; stage-- > 0 && f->own_halo;)
        f->margin[stage] = f->margin[stage + 1] + pbi_filters_radius(f, (pbi_stage)(stage + 1));
    set_weights(f);
    set_light(f);
}

/* ---- tiles ---- */

typedef struct area {
    uint32_t x, y, width, height;
} area;

static area area_of(const pbi_filters *f, pbi_stage stage, uint32_t t)
{
    uint32_t x = t % f->columns * f->tile, y = t / f->columns * f->tile, margin = f->margin[stage];
    uint32_t left = x < margin ? 0 : x - margin, top = y < margin ? 0 : y - margin;
    uint32_t right = x + f->tile + margin, below = y + f->tile + margin;
    right = right < f->image.width ? right : f->image.width;
    below = below < f->image.height ? below : f->image.height;
    return (area){left, top, right - left, below - top};
}

/* Bytes of a pixel. */
static uint32_t depth(const pbi_filters *f, pbi_stage stage) { return stage <= PBI_BLUR ? f->image.channels : 2; }

static uint64_t used_bytes(const pbi_filters *f, pbi_stage stage, const area *a)
{
    return stage == PBI_DETECT ? sizeof(pbi_found) : (uint64_t)a->width * a->height * depth(f, stage);
}

uint64_t pbi_filters_size(const pbi_filters *f, pbi_stage stage, uint32_t t)
{
    area a = area_of(f, stage, t);
    return pbi_round64(used_bytes(f, stage, &a));
}

/* Bytes of the ring of rows with a halo. */
static uint64_t ring_bytes(const pbi_filters *f, pbi_stage stage, const area *a)
{
    uint64_t radius = pbi_filters_radius(f, stage);
    return (2 * radius + 1) * (a->width + 2 * radius) * depth(f, stage - 1);
}

/* A blur has one row with a halo, and a ring of horizontally blurred rows: 16 bits. */
static uint64_t blur_row_bytes(const pbi_filters *f, const area *a)
{
    return pbi_round64((a->width + 2 * (uint64_t)f->blur) * f->image.channels);
}

uint64_t pbi_filters_workspace(const pbi_filters *f, pbi_stage stage, uint32_t t)
{
    area a = area_of(f, stage, t);
    if (stage == PBI_BLUR)
        return blur_row_bytes(f, &a) + pbi_round64((2 * (uint64_t)f->blur + 1) * a.width * f->image.channels * 2);
    return stage == PBI_EDGES || stage == PBI_DETECT ? pbi_round64(ring_bytes(f, stage, &a)) : 0;
}

uint64_t pbi_filters_cost(const pbi_filters *f, pbi_stage stage, uint32_t t)
{
    area a = area_of(f, stage, t);
    uint64_t pixels = (uint64_t)a.width * a.height, channels = f->image.channels, side = 2 * (uint64_t)f->blur + 1;
    switch (stage) {
    case PBI_LOAD: return pixels * channels;
    case PBI_BLUR: return 2 * side * channels * (2 * pixels + (side - 1) * a.width);
    case PBI_TRANSFORM: return 3 * pixels * channels;
    case PBI_EDGES: return 24 * pixels;
    default: return 8 * pixels;
    }
}

/* A tile with its halo, each row of which passes through the workspace, and the result. */
uint64_t pbi_filters_traffic(const pbi_filters *f, pbi_stage stage, uint32_t t)
{
    area a = area_of(f, stage, t);
    uint64_t halo = 2 * (uint64_t)pbi_filters_radius(f, stage), made = used_bytes(f, stage, &a);
    uint64_t read = (a.width + halo) * (a.height + halo) * depth(f, stage == PBI_LOAD ? stage : stage - 1);
    return (halo ? 3 : 1) * read + made;
}

/* The input of a tile of a stage: tiles of the previous stage, by their number. */
typedef struct source {
    const pbi_filters *f;
    pbi_stage stage; /* the previous one */
    uint32_t t;
    void *const *tile;
} source;

/* Row y, columns x .. x + count - 1; both may be outside the image, where the pixels at its edge are repeated. */
static void gather(const source *s, int64_t y, int64_t x, int64_t count, unsigned char *out)
{
    const pbi_filters *f = s->f;
    int64_t width = f->image.width, last = f->image.height - 1, bytes = depth(f, s->stage);
    y = y < 0 ? 0 : y > last ? last : y;
    while (count > 0) {
        int64_t at = x < 0 ? 0 : x >= width ? width - 1 : x;
        uint32_t t = f->own_halo ? s->t : (uint32_t)(y / f->tile * f->columns + at / f->tile);
        area a = area_of(f, s->stage, t);
        const unsigned char *from = s->tile[t];
        int64_t run = at == x ? a.x + a.width - at : 1;
        run = run < count ? run : count;
        memcpy(out, from + ((y - a.y) * a.width + at - a.x) * bytes, (size_t)(run * bytes));
        out += run * bytes;
        x += run;
        count -= run;
    }
}

/* ---- stages ---- */

static void load(const pbi_filters *f, const area *a, unsigned char *out)
{
    size_t pixel = f->image.channels, row = a->width * pixel;
    for (uint32_t y = 0; y < a->height; y++, out += row)
        memcpy(out, f->image.pixels + ((size_t)(a->y + y) * f->image.width + a->x) * pixel, row);
}

/* One row horizontally: 8 bits and 8 after the point. */
static void blur_row(const pbi_filters *f, const unsigned char *row, uint32_t count, uint16_t *out)
{
    uint32_t pixel = f->image.channels, side = 2 * f->blur + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sum = 128;
        for (uint32_t k = 0; k < side; k++)
            sum += f->weight[k] * row[i + k * pixel];
        out[i] = (uint16_t)(sum >> 8);
    }
}

static void blur(const pbi_filters *f, const area *a, const source *in, unsigned char *out, unsigned char *workspace)
{
    uint32_t pixel = f->image.channels, count = a->width * pixel, radius = f->blur, side = 2 * radius + 1;
    uint16_t *ring = (void *)(workspace + blur_row_bytes(f, a));
    for (uint32_t i = 0; i < a->height + 2 * radius; i++) {
        gather(in, (int64_t)a->y + i - radius, (int64_t)a->x - radius, a->width + 2 * (int64_t)radius, workspace);
        blur_row(f, workspace, count, ring + (size_t)(i % side) * count);
        if (i + 1 < side)
            continue;
        const uint16_t *row[2 * PBI_MAX_RADIUS + 1];
        for (uint32_t k = 0; k < side; k++)
            row[k] = ring + (size_t)((i + 1 + k) % side) * count;
        for (uint32_t x = 0; x < count; x++) {
            uint32_t sum = 1u << 23;
            for (uint32_t k = 0; k < side; k++)
                sum += f->weight[k] * row[k][x];
            *out++ = (unsigned char)(sum >> 24);
        }
    }
}

/* May overwrite an input with three channels: pixels are read before they are written. */
static void transform(const pbi_filters *f, const area *a, const unsigned char *in, uint16_t *out)
{
    size_t pixels = (size_t)a->width * a->height;
    if (f->image.channels == 1) {
        for (size_t i = 0; i < pixels; i++)
            out[i] = f->light[in[i]];
        return;
    }
    for (size_t i = 0; i < pixels; i++, in += 3) {
        uint32_t r = f->light[in[0]], g = f->light[in[1]], b = f->light[in[2]];
        uint16_t luminance = (uint16_t)((r * 13933 + g * 46871 + b * 4732) >> 16);
        memcpy(&out[i], &luminance, sizeof luminance);
    }
}

/* The rows around row `y` of the tile, in a ring of 2 radius + 1, each with a halo of `radius`; before y = 0 the
 * ring has radius rows. */
typedef struct ring {
    const pbi_filters *f;
    const area *a;
    const source *in;
    uint16_t *rows;
    uint32_t radius, width;
} ring;

static void ring_add(const ring *r, int64_t y)
{
    uint32_t side = 2 * r->radius + 1, at = (uint32_t)(y + side) % side;
    gather(r->in, r->a->y + y, (int64_t)r->a->x - r->radius, r->width,
           (unsigned char *)(r->rows + (size_t)at * r->width));
}

static ring ring_begin(const pbi_filters *f, pbi_stage stage, const area *a, const source *in, void *workspace)
{
    uint32_t radius = pbi_filters_radius(f, stage);
    ring r = {f, a, in, workspace, radius, a->width + 2 * radius};
    for (int64_t y = -(int64_t)radius; y < radius; y++)
        ring_add(&r, y);
    return r;
}

/* Row y + dy; column 0 of the tile is at [radius]. */
static const uint16_t *ring_row(const ring *r, uint32_t y, int32_t dy)
{
    uint32_t side = 2 * r->radius + 1;
    return r->rows + (size_t)((y + side + (uint32_t)dy) % side) * r->width;
}

static void edges(const pbi_filters *f, const area *a, const source *in, uint16_t *out, void *workspace)
{
    ring r = ring_begin(f, PBI_EDGES, a, in, workspace);
    for (uint32_t y = 0; y < a->height; y++, out += a->width) {
        ring_add(&r, (int64_t)y + 1);
        const uint16_t *up = ring_row(&r, y, -1), *mid = ring_row(&r, y, 0), *down = ring_row(&r, y, 1);
        for (uint32_t x = 0; x < a->width; x++) {
            int32_t gx = up[x + 2] - up[x] + 2 * (mid[x + 2] - mid[x]) + down[x + 2] - down[x];
            int32_t gy = down[x] - up[x] + 2 * (down[x + 1] - up[x + 1]) + down[x + 2] - up[x + 2];
            double length = sqrt((double)gx * gx + (double)gy * gy);
            out[x] = length < 65535 ? (uint16_t)length : 65535;
        }
    }
}

static void keep_best(pbi_found *found, uint64_t key)
{
    uint64_t at = found->best_count;
    if (at < PBI_FOUND_BEST)
        found->best_count++;
    else if (found->best[--at] > key)
        return;
    for (; at && found->best[at - 1] < key; at--)
        found->best[at] = found->best[at - 1];
    found->best[at] = key;
}

/* Whether it is the maximum of its window, and of equal ones the first. Pixels outside the image do not count. */
static bool is_peak(const ring *r, uint32_t x, uint32_t y, uint32_t value)
{
    int32_t radius = (int32_t)r->radius;
    int64_t left = r->a->x + (int64_t)x, right = r->f->image.width - 1 - left;
    int64_t top = r->a->y + (int64_t)y, below = r->f->image.height - 1 - top;
    for (int32_t dy = -radius; dy <= radius; dy++) {
        if (dy < -top || dy > below)
            continue;
        const uint16_t *row = ring_row(r, y, dy) + x + radius;
        for (int32_t dx = -radius; dx <= radius; dx++) {
            bool before = dy < 0 || (dy == 0 && dx < 0);
            if (dx >= -left && dx <= right && (row[dx] > value || (before && row[dx] == value)))
                return false;
        }
    }
    return true;
}

/* Weights are odd, so that a change of a single pixel changes the sum; they do not depend on tiles. */
static uint64_t weighed(const uint16_t *row, uint32_t count, uint32_t x, uint32_t y)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (uint64_t)row[i] * ((x + i) * 0x9e3779b1u | 1);
    return sum * (y * 0x9e3779b97f4a7c15u | 1);
}

static void detect(const pbi_filters *f, const area *a, const source *in, pbi_found *out, void *workspace)
{
    ring r = ring_begin(f, PBI_DETECT, a, in, workspace);
    memset(out, 0, sizeof *out);
    for (uint32_t y = 0; y < a->height; y++) {
        ring_add(&r, (int64_t)y + r.radius);
        const uint16_t *row = ring_row(&r, y, 0) + r.radius;
        out->edges += weighed(row, a->width, a->x, a->y + y);
        for (uint32_t x = 0; x < a->width; x++) {
            uint64_t value = row[x], at_x = a->x + x, at_y = a->y + y;
            if (value < f->threshold || !is_peak(&r, x, y, row[x]))
                continue;
            out->count++;
            out->x += at_x;
            out->y += at_y;
            out->strength += value;
            keep_best(out, value << 48 | (0xffffff - at_y) << 24 | (0xffffff - at_x));
        }
    }
}

void pbi_filters_run(const pbi_filters *f, pbi_stage stage, uint32_t t, void *const *in, void *out, void *workspace)
{
    area a = area_of(f, stage, t);
    source from = {f, stage ? stage - 1 : stage, t, in};
    switch (stage) {
    case PBI_LOAD: load(f, &a, out); break;
    case PBI_BLUR: blur(f, &a, &from, out, workspace); break;
    case PBI_TRANSFORM: transform(f, &a, in[t], out); break;
    case PBI_EDGES: edges(f, &a, &from, out, workspace); break;
    default: detect(f, &a, &from, out, workspace);
    }
    uint64_t used = used_bytes(f, stage, &a);
    memset((unsigned char *)out + used, 0, pbi_round64(used) - used); /* all bytes of a value are defined */
}

void pbi_found_join(const pbi_found *a, const pbi_found *b, pbi_found *out)
{
    pbi_found sum = *a;
    sum.count += b->count;
    sum.x += b->x;
    sum.y += b->y;
    sum.strength += b->strength;
    sum.edges += b->edges;
    for (uint64_t i = 0; i < b->best_count; i++)
        keep_best(&sum, b->best[i]);
    *out = sum;
}
