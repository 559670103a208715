/* stages_model.h -- a timed game seen as a pipeline: parts of a model on devices, and micro-batches that pass through.
 *
 *     pbi_stages s;
 *     const char *why;
 *     pbi_stages_find(ctx, game, &arena, &s, &why);     why NULL: the game has this form
 *
 * Part c of micro-batch j has three computations on one device: F, which reads F of part c-1 and saves two by-products;
 * B, which reads the first one and B of part c+1; W, which reads the second one and B. All micro-batches take the same
 * times and sizes. Results of neighboring parts on different devices are copied over links.
 */
#ifndef PBI_GAME_STAGES_MODEL_H
#define PBI_GAME_STAGES_MODEL_H

#include "pebble/game.h"

typedef enum pbi_stage_kind { PBI_STAGE_F, PBI_STAGE_B, PBI_STAGE_W, PBI_STAGE_R } pbi_stage_kind;
/* The nodes of a part and micro-batch, in this order. */
enum { PBI_NODE_F, PBI_NODE_SAVED_B, PBI_NODE_SAVED_W, PBI_NODE_B, PBI_NODE_W, PBI_STAGE_NODES };

/* Links from one part to the next, all with the same time; NULL: the parts are on one device. */
typedef struct pbi_stage_links {
    const uint32_t *link;
    uint32_t count;
    uint64_t time;
} pbi_stage_links;

typedef struct pbi_stage_part {
    uint32_t device; /* a processor */
    uint64_t f, b, w;
    uint64_t saved_b, saved_w;       /* sizes of the by-products */
    uint64_t out;                    /* size of the value of F */
    uint64_t work_f, work_b, work_w; /* workspaces */
    pbi_stage_links down, up;        /* to the next part, and of B to the part before */
} pbi_stage_part;

typedef struct pbi_stages {
    const pb_game *game;
    uint32_t devices, parts, micro;
    pbi_stage_part *part;
    uint64_t *room;      /* by device: the cap without what is always in use; UINT64_MAX: unlimited */
    const pb_node *node; /* [(part * micro + micro-batch) * PBI_STAGE_NODES + which] */
    bool recompute;      /* F may be computed again */
} pbi_stages;

/* out      *why    NULL, or what does not fit the form: a sentence that begins with "does not apply" */
pb_status pbi_stages_find(pb_context *ctx, const pb_game *game, pb_arena *arena, pbi_stages *out, const char **why);

static inline pb_node pbi_stages_node(const pbi_stages *s, uint32_t part, uint32_t m, unsigned which)
{
    return s->node[((size_t)part * s->micro + m) * PBI_STAGE_NODES + which];
}

#endif
