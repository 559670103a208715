/* pnm.c -- see pnm.h. */
#include "workloads/pnm.h"

#include "base/context.h"
#include "base/rng.h"

#include <string.h>

enum { MAX_BYTES = 1 << 30 };

typedef struct reader {
    pb_context *ctx;
    const char *name;
    const unsigned char *bytes;
    size_t count, at;
} reader;

static pb_status bad(const reader *r, const char *what)
{
    return pbi_fail(r->ctx, PB_EFORMAT, "%s: %s", r->name, what);
}

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A whole number after spaces and comments; false: there is none, or it is above 65535. */
static bool number(reader *r, uint32_t *out)
{
    uint32_t value = 0;
    while (r->at < r->count && (is_space(r->bytes[r->at]) || r->bytes[r->at] == '#'))
        if (r->bytes[r->at++] == '#')
            while (r->at < r->count && r->bytes[r->at] != '\n')
                r->at++;
    size_t first = r->at;
    for (; r->at < r->count && r->bytes[r->at] >= '0' && r->bytes[r->at] <= '9'; r->at++) {
        value = 10 * value + (r->bytes[r->at] - '0');
        if (value > UINT16_MAX)
            return false;
    }
    *out = value;
    return r->at > first;
}

typedef struct header {
    uint32_t most; /* the largest value */
    bool plain;    /* numbers as text */
} header;

static pb_status read_header(reader *r, header *h, pbi_image *out)
{
    if (r->count < 2 || r->bytes[0] != 'P' || !memchr("2356", r->bytes[1], 4))
        return bad(r, "not a PGM or PPM image: it does not begin with P2, P3, P5 or P6; convert the image");
    out->channels = r->bytes[1] == '3' || r->bytes[1] == '6' ? 3 : 1;
    h->plain = r->bytes[1] <= '3';
    r->at = 2;
    if (!number(r, &out->width) || !number(r, &out->height) || !out->width || !out->height)
        return bad(r, "expected a width and a height from 1 to 65535; convert the image again");
    if (!number(r, &h->most) || !h->most)
        return bad(r, "expected a maximum value from 1 to 65535; convert the image again");
    if (r->at == r->count || !is_space(r->bytes[r->at]))
        return bad(r, "expected a space after the maximum value; convert the image again");
    r->at++;
    return PB_OK;
}

static unsigned char scaled(const header *h, uint32_t value)
{
    return (unsigned char)(h->most == 255 ? value : (value * 255 + h->most / 2) / h->most);
}

static pb_status read_plain(reader *r, const header *h, uint64_t count, unsigned char *out)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t value;
        if (!number(r, &value))
            return pbi_fail(r->ctx, PB_EFORMAT, "%s: it has %llu values instead of %llu; convert the image again",
                            r->name, (unsigned long long)i, (unsigned long long)count);
        if (value > h->most)
            return bad(r, "a value is larger than the stated maximum; convert the image again");
        out[i] = scaled(h, value);
    }
    return PB_OK;
}

static pb_status read_raw(reader *r, const header *h, uint64_t count, unsigned char *out)
{
    uint32_t width = h->most > 255 ? 2 : 1;
    const unsigned char *from = r->bytes + r->at;
    if (r->count - r->at < count * width)
        return pbi_fail(r->ctx, PB_EFORMAT,
                        "%s: the pixels need %llu bytes, but the file has %llu; convert the image again", r->name,
                        (unsigned long long)(count * width), (unsigned long long)(r->count - r->at));
    for (uint64_t i = 0; i < count; i++, from += width) {
        uint32_t value = width == 2 ? (uint32_t)from[0] << 8 | from[1] : from[0];
        if (value > h->most)
            return bad(r, "a value is larger than the stated maximum; convert the image again");
        out[i] = scaled(h, value);
    }
    return PB_OK;
}

pb_status pbi_pnm_parse(pb_context *ctx, const char *name, const unsigned char *bytes, size_t count, pb_arena *arena,
                        pbi_image *out)
{
    reader r = {ctx, name, bytes, count, 0};
    header h = {0};
    pbi_image image = {0};
    pb_status status = read_header(&r, &h, &image);
    if (status != PB_OK)
        return status;
    uint64_t values = (uint64_t)image.width * image.height * image.channels;
    if (values > 2 * (uint64_t)count) /* less than a digit and a space for each: fail without allocating memory */
        return pbi_fail(ctx, PB_EFORMAT,
                        "%s: %u x %u pixels need more than the file's %llu bytes; convert the image again", name,
                        image.width, image.height, (unsigned long long)count);
    image.pixels = pb_arena_alloc(arena, values, 1);
    if (!image.pixels)
        return PB_ENOMEM;
    status = h.plain ? read_plain(&r, &h, values, image.pixels) : read_raw(&r, &h, values, image.pixels);
    if (status == PB_OK)
        *out = image;
    return status;
}

pb_status pbi_pnm_read(pb_context *ctx, const char *path, pb_arena *arena, pbi_image *out)
{
    pbi_file file;
    pb_arena scratch;
    pb_status status = pbi_file_open(ctx, path, &file);
    if (status != PB_OK)
        return status;
    pb_arena_init(&scratch, ctx);
    unsigned char *bytes = NULL;
    if (file.size > MAX_BYTES)
        status = pbi_fail(ctx, PB_EFORMAT, "%s: the image is larger than 1 GiB; use a smaller one", path);
    else if (!(bytes = pb_arena_alloc(&scratch, file.size + 1, 1)))
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_file_read(&file, ctx, 0, bytes, file.size);
    if (status == PB_OK)
        status = pbi_pnm_parse(ctx, path, bytes, file.size, arena, out);
    pb_arena_release(&scratch);
    pbi_file_close(&file);
    return status;
}

/* ---- a generated image ---- */

/* 0 .. 255 for a point of a lattice. */
static uint32_t lattice(uint64_t seed, uint32_t x, uint32_t y)
{
    pbi_rng rng = {seed ^ ((uint64_t)y << 32 | x) * 0xd6e8feb86659fd93u};
    return (uint32_t)(pbi_rng_next(&rng) >> 56);
}

/* Between four points of a lattice of 2^shift pixels: 0 .. 255. */
static uint32_t noise(uint64_t seed, uint32_t x, uint32_t y, uint32_t shift)
{
    uint32_t side = 1u << shift, fx = x & (side - 1), fy = y & (side - 1);
    uint64_t layer = seed + shift;
    x >>= shift;
    y >>= shift;
    uint32_t top = lattice(layer, x, y) * (side - fx) + lattice(layer, x + 1, y) * fx;
    uint32_t bottom = lattice(layer, x, y + 1) * (side - fx) + lattice(layer, x + 1, y + 1) * fx;
    return (uint32_t)(((uint64_t)top * (side - fy) + (uint64_t)bottom * fy) >> 2 * shift);
}

/* One disc in most squares of 32 x 32: its brightness if it covers the pixel, else 0. */
static uint32_t disc(uint64_t seed, uint32_t x, uint32_t y)
{
    uint32_t word = lattice(seed + 100, x >> 5, y >> 5) << 8 | lattice(seed + 101, x >> 5, y >> 5);
    if (word % 4 == 0)
        return 0;
    int32_t dx = (int32_t)(x & 31) - (int32_t)(10 + (word >> 2) % 12),
            dy = (int32_t)(y & 31) - (int32_t)(10 + word / 64 % 12);
    uint32_t radius = 3 + word / 1024 % 6;
    return dx * dx + dy * dy <= (int32_t)(radius * radius) ? 120 + (word >> 4) % 100 : 0;
}

static void make_pixel(uint64_t seed, uint32_t x, uint32_t y, unsigned char rgb[3])
{
    uint32_t ground = 0, light = disc(seed, x, y);
    for (uint32_t shift = 7; shift >= 3; shift--) /* each scale half as strong as the one above */
        ground += noise(seed, x, y, shift) << (shift - 3);
    ground /= 31;
    uint32_t tint = noise(seed + 50, x, y, 7);
    rgb[0] = (unsigned char)(ground * (160 + tint / 4) / 320 + (255 - ground) * light / 400);
    rgb[1] = (unsigned char)(ground * 200 / 320 + (255 - ground) * light / 380);
    rgb[2] = (unsigned char)(ground * (256 - tint / 3) / 320 + (255 - ground) * light / 500);
}

pb_status pbi_image_make(pb_arena *arena, uint32_t width, uint32_t height, uint64_t seed, pbi_image *out)
{
    unsigned char *pixels = pb_arena_alloc(arena, (size_t)width * height, 3);
    if (!pixels)
        return PB_ENOMEM;
    *out = (pbi_image){width, height, 3, pixels};
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, pixels += 3)
            make_pixel(seed, x, y, pixels);
    return PB_OK;
}
