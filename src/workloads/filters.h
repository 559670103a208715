/* filters.h -- image filters over one tile of an image whose other tiles are elsewhere in memory.
 *
 * Five stages: load, blur, transform, edges, detect. A tile of a stage reads the tile of the stage before it at the same place, and
 * those around it that its halo touches; or else tiles have halos of their own. Whole numbers only, and each pixel by the same formula wherever it lies in its tile: the
 * result does not depend on the tiles.
 */
#ifndef PBI_FILTERS_H
#define PBI_FILTERS_H

#include "workloads/pnm.h"

typedef enum pbi_stage {
    PBI_LOAD,      /* a tile of the image, from wherever it is: channels x 8 bits a pixel */
    PBI_BLUR,      /* Gaussian, separable: rows, then columns; rows of the halo are made again. As before */
    PBI_TRANSFORM, /* linear light by the inverse of sRGB's curve, then luminance: 16 bits */
    PBI_EDGES,     /* the length of Sobel's gradient: 16 bits */
    PBI_DETECT,    /* local maxima above a threshold: a pbi_found for each tile */
    PBI_STAGES
} pbi_stage;
const char *pbi_stage_name(pbi_stage stage);

enum { PBI_MOST_RADIUS = 8, PBI_FOUND_BEST = 26 };

/* What was found; two of them can be joined in any order. */
typedef struct pbi_found {
    uint64_t count;
    uint64_t x, y, strength; /* sums */
    uint64_t best_count;
    uint64_t
        edges; /* sum over all pixels, each with a weight of its place: what is below the threshold is compared too */
    /* The strongest, falling: strength, then 2^24-1 - y and 2^24-1 - x in 24 bits each. */
    uint64_t best[PBI_FOUND_BEST];
} pbi_found;

/* The caller sets what is above the line. */
typedef struct pbi_filters {
    pbi_image image;
    uint32_t tile;         /* pixels of its side, 0: the whole image; the last ones of a row or column may be smaller */
    bool own_halo;         /* tiles of early stages are larger by what later ones need around them */
    uint32_t blur, window; /* radius of the blur, and of the square in which a maximum is the largest */
    uint32_t threshold;    /* 1 .. 65535 */
    /* ---- */
    uint32_t columns, rows;                   /* of tiles */
    uint32_t margin[PBI_STAGES];              /* by which the tiles of a stage are larger, on each side */
    uint32_t weight[2 * PBI_MOST_RADIUS + 1]; /* of the blur: 2^16 in all */
    uint16_t light[256];
} pbi_filters;

void pbi_filters_init(pbi_filters *f);
uint32_t pbi_filters_radius(const pbi_filters *f, pbi_stage stage); /* of the halo that it reads */

/* Of tile t, counted row by row. */
uint64_t pbi_filters_size(const pbi_filters *f, pbi_stage stage, uint32_t t);
uint64_t pbi_filters_workspace(const pbi_filters *f, pbi_stage stage, uint32_t t);
uint64_t pbi_filters_cost(const pbi_filters *f, pbi_stage stage, uint32_t t);

/* `in` has the tiles of the stage before by their number; those that the halo does not touch are not looked at. */
void pbi_filters_run(const pbi_filters *f, pbi_stage stage, uint32_t t, void *const *in, void *out, void *workspace);

/* `out` may be one of the two. */
void pbi_found_join(const pbi_found *a, const pbi_found *b, pbi_found *out);

#endif
