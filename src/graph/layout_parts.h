/* layout_parts.h -- shared by the files of the layout. */
#ifndef PBI_LAYOUT_PARTS_H
#define PBI_LAYOUT_PARTS_H

#include "pebble/layout.h"

/* Items in layers, with edges between them: nodes, or groups as single items. */
typedef struct pbi_layers {
    uint32_t count, layer_count;
    const uint32_t *layer;                /* of each item */
    const uint32_t *in_start, *out_start; /* neighbours in rows, as in pb_graph */
    const uint32_t *in, *out;
    const uint8_t *band; /* only neighbours of the same band attract one another; NULL: one band */
    const float *height; /* NULL: 1 each */
    float *y;            /* out: the middle of each item, about 0 */
} pbi_layers;

/* Orders the items of each layer by the barycentres of their neighbours, and places them near those, without
 * overlap. The caller releases `scratch`. */
pb_status pbi_layers_place(pb_context *ctx, const pbi_layers *l, pb_arena *scratch);

/* Nodes by depth, lowest first, by index within a depth: a topological order of all nodes. */
pb_node *pbi_layout_by_depth(const pb_graph *g, pb_arena *scratch);

/* Forward and backward pass by lane; layer[v] counts from 0 in each lane, and edges within a lane go to a higher
 * layer. count[0], count[1]: layers of each lane. */
pb_status pbi_layout_layers(const pb_graph *g, const uint8_t *lane, pb_arena *scratch, uint32_t *layer,
                            uint32_t count[2]);

/* Each node centred on the nodes it reads; in-trees only. Fills x, y and the extent. */
pb_status pbi_layout_tree(const pb_graph *g, pb_arena *scratch, pb_layout *out);
/* Cuts a long layout into rows; moves x and y, and changes the extent. */
pb_status pbi_layout_fold(const pb_graph *g, pb_arena *scratch, pb_layout *l);
/* Lowers the layers of a lane between skip connections that contain one another, so that a U-Net looks like a U: adds
 * to y, which is about 0 in each layer. */
pb_status pbi_layout_skips(const pb_graph *g, const uint32_t *layer, const uint32_t count[2], pb_arena *scratch,
                           pb_layout *l);

#endif
