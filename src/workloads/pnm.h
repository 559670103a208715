/* pnm.h -- images: portable graymaps and pixmaps (PGM, PPM; plain and raw), and a generated one. */
#ifndef PBI_PNM_H
#define PBI_PNM_H

#include "workloads/workload_parts.h"

enum { PBI_PNM_MAX = 1 << 16 /* pixels in a row or column */ };

typedef struct pbi_image {
    uint32_t width, height;
    uint32_t channels;     /* 1: grey; 3: red, green, blue */
    unsigned char *pixels; /* row by row, channels interleaved, 0 .. 255 */
} pbi_image;

/* Values are scaled to 0 .. 255 if the file has another range.
 *   returns PB_EIO      the file cannot be read
 *           PB_EFORMAT  it is not such an image, or ends too early */
pb_status pbi_pnm_read(pb_context *ctx, const char *path, pb_arena *arena, pbi_image *out);
/* The same from bytes; `name` is for messages. */
pb_status pbi_pnm_parse(pb_context *ctx, const char *name, const unsigned char *bytes, size_t count, pb_arena *arena,
                        pbi_image *out);

/* Noise on several scales, as in clouds and ground, under bright discs with sharp edges. Integers only: the same
 * pixels on every machine. */
pb_status pbi_image_make(pb_arena *arena, uint32_t width, uint32_t height, uint64_t seed, pbi_image *out);

#endif
