/* pnm.h -- images: portable graymaps and pixmaps (PGM, PPM; plain and raw), and one that is made by a formula. */
#ifndef PBI_PNM_H
#define PBI_PNM_H

#include "workloads/workload_parts.h"

enum { PBI_PNM_MOST = 1 << 16 /* pixels in a row or column */ };

typedef struct pbi_image {
    uint32_t width, height;
    uint32_t channels;     /* 1: grey; 3: red, green, blue */
    unsigned char *pixels; /* row after row, channels beside each other, 0 .. 255 */
} pbi_image;

/* Values are scaled to 0 .. 255 where the file has another range.
 *   returns PB_EIO      the file cannot be read
 *           PB_EFORMAT  it is no such image, or ends too early */
pb_status pbi_pnm_read(pb_context *ctx, const char *path, pb_arena *arena, pbi_image *out);
/* The same from bytes; `name` stands in messages. */
pb_status pbi_pnm_parse(pb_context *ctx, const char *name, const unsigned char *bytes, size_t count, pb_arena *arena,
                        pbi_image *out);

/* Hills of noise on several scales, as clouds and ground have, under bright discs with sharp edges. Whole numbers only: the same
 * pixels everywhere. */
pb_status pbi_image_make(pb_arena *arena, uint32_t width, uint32_t height, uint64_t seed, pbi_image *out);

#endif
