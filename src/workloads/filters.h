/* filters.h -- image filters over one tile of an image whose other tiles are elsewhere in memory.
 *
 * Five stages: load, blur, transform, edges, detect. A tile of a stage reads the tile of the previous stage at the same
 * place, and the neighbours that its halo touches; or tiles include their halos. All numbers are integers, and each
 * pixel has the same formula wherever it is in its tile, so the result does not depend on the tiles.
 */
#ifndef PBI_FILTERS_H
#define PBI_FILTERS_H

#include "workloads/pnm.h"

typedef enum pbi_stage {
    PBI_LOAD,      /* a tile of the image: channels x 8 bits per pixel */
    PBI_BLUR,      /* Gaussian, separable: rows, then columns; rows of the halo are recomputed. Format as load */
    PBI_TRANSFORM, /* linear light by the inverse of sRGB's curve, then luminance: 16 bits */
    PBI_EDGES,     /* the length of Sobel's gradient: 16 bits */
    PBI_DETECT,    /* local maxima above a threshold: a pbi_found per tile */
    PBI_STAGES
} pbi_stage;
const char *pbi_stage_name(pbi_stage stage);

enum { PBI_MAX_RADIUS = 8, PBI_FOUND_BEST = 26 };

/* Detections; two of them can be joined in any order. */
typedef struct pbi_found {
    uint64_t count;
    uint64_t x, y, strength; /* sums */
    uint64_t best_count;
    /* Sum over all pixels, each weighted by its place: covers pixels below the threshold too. */
    uint64_t edges;
    /* The strongest, descending: strength, then 2^24-1 - y and 2^24-1 - x in 24 bits each. */
    uint64_t best[PBI_FOUND_BEST];
} pbi_found;

/* The caller sets the fields above the line. */
typedef struct pbi_filters {
    pbi_image image;
    uint32_t tile;         /* side in pixels, 0: the whole image; the last tiles of a row or column may be smaller */
    bool own_halo;         /* tiles of early stages include the halos that later stages need */
    uint32_t blur, window; /* radius of the blur, and of the window of a local maximum */
    uint32_t threshold;    /* 1 .. 65535 */
    /* ---- */
    uint32_t columns, rows;                  /* of tiles */
    uint32_t margin[PBI_STAGES];             /* extra pixels on each side of the tiles of a stage */
    uint32_t weight[2 * PBI_MAX_RADIUS + 1]; /* of the blur: 2^16 in total */
    uint16_t light[256];
} pbi_filters;

void pbi_filters_init(pbi_filters *f);
uint32_t pbi_filters_radius(const pbi_filters *f, pbi_stage stage); /* of the halo that it reads */

/* Of tile t, counted row by row. */
uint64_t pbi_filters_size(const pbi_filters *f, pbi_stage stage, uint32_t t);
uint64_t pbi_filters_workspace(const pbi_filters *f, pbi_stage stage, uint32_t t);
uint64_t pbi_filters_cost(const pbi_filters *f, pbi_stage stage, uint32_t t);
uint64_t pbi_filters_traffic(const pbi_filters *f, pbi_stage stage, uint32_t t); /* bytes that it reads and writes */

/* `in` has the tiles of the previous stage by their number; only those that the halo touches are read. */
void pbi_filters_run(const pbi_filters *f, pbi_stage stage, uint32_t t, void *const *in, void *out, void *workspace);

/* `out` may be one of the two. */
void pbi_found_join(const pbi_found *a, const pbi_found *b, pbi_found *out);

#endif
