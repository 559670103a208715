/* layout_check.h -- is a layout as layout.h promises? */
#ifndef LAYOUT_CHECK_H
#define LAYOUT_CHECK_H

#include "pebble/layout.h"

/* No two nodes at one place or nearer than a unit in their column, all within the extent, edges along the depth (to the
 * right in the forward pass, to the left in the backward pass), boxes around their members. False with a sentence. */
bool layout_is_right(const pb_graph *g, const pb_layout *l, char *why, size_t room);
/* The same without the edges: of layouts in rows. */
bool layout_places_are_right(const pb_graph *g, const pb_layout *l, char *why, size_t room);
/* Closed groups: every node is stood for once, every edge and all sizes are there, and open groups are open. */
bool layout_groups_are_right(const pb_graph *g, const pb_layout_groups *c, const bool *open, char *why, size_t room);

#endif
