/* layout_check.c -- see layout_check.h. */
#include "support/layout_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct spot {
    float x, y;
    pb_node node;
} spot;

static int compare(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

static bool apart(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    spot *spots = malloc((g->node_count + 1) * sizeof *spots);
    bool good = true;
    for (pb_node v = 0; v < g->node_count; v++)
        spots[v] = (spot){l->x[v], l->y[v], v};
    qsort(spots, g->node_count, sizeof *spots, compare);
    for (uint32_t i = 1; i < g->node_count && good; i++)
        if (spots[i].x == spots[i - 1].x && spots[i].y - spots[i - 1].y < 0.999f) {
            good = false;
            snprintf(why, room, "nodes %u and %u are at %g,%g and %g,%g", (unsigned)spots[i - 1].node,
                     (unsigned)spots[i].node, spots[i - 1].x, spots[i - 1].y, spots[i].x, spots[i].y);
        }
    free(spots);
    return good;
}

static bool within(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    float left = INFINITY, top = INFINITY, right = 0, bottom = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        left = fminf(left, l->x[v]);
        top = fminf(top, l->y[v]);
        right = fmaxf(right, l->x[v]);
        bottom = fmaxf(bottom, l->y[v]);
        if (!(l->radius[v] >= 0.199f && l->radius[v] <= 0.461f)) {
            snprintf(why, room, "node %u has radius %g", (unsigned)v, l->radius[v]);
            return false;
        }
    }
    bool good = g->node_count == 0 ||
                (left >= 0.499f && top >= 0.499f && right <= l->width - 0.499f && bottom <= l->height - 0.499f);
    if (!good)
        snprintf(why, room, "nodes from %g,%g to %g,%g in %g x %g", left, top, right, bottom, l->width, l->height);
    return good;
}

static bool along(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    for (pb_node v = 0; v < g->node_count; v++)
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            bool good = l->lane[u] != l->lane[v] ? l->lane[u] < l->lane[v]
                        : l->lane[u]             ? l->x[v] < l->x[u]
                                                 : l->x[v] > l->x[u];
            if (!good) {
                snprintf(why, room, "edge %u to %u goes from %g to %g, lanes %u and %u", (unsigned)u, (unsigned)v,
                         l->x[u], l->x[v], l->lane[u], l->lane[v]);
                return false;
            }
        }
    return true;
}

static bool inside(const pb_layout_box *b, float x, float y)
{
    return x >= b->x + 0.499f && x <= b->x + b->width - 0.499f && y >= b->y + 0.499f && y <= b->y + b->height - 0.499f;
}

static bool boxed(const pb_graph *g, const pb_layout *l, bool collapsed, char *why, size_t room)
{
    for (pb_node v = 0; g->group && v < g->node_count; v++)
        for (uint32_t i = 0; i < l->box_count; i++) {
            bool member = g->group[v] == i;
            if ((member && !inside(&l->boxes[i], l->x[v], l->y[v])) ||
                (!member && collapsed && inside(&l->boxes[i], l->x[v], l->y[v]))) {
                snprintf(why, room, "node %u at %g,%g is %s box %u", (unsigned)v, l->x[v], l->y[v],
                         member ? "outside" : "in foreign", (unsigned)i);
                return false;
            }
        }
    return true;
}

bool layout_places_are_right(const pb_graph *g, const pb_layout *l, bool collapsed, char *why, size_t room)
{
    why[0] = '\0';
    return apart(g, l, why, room) && within(g, l, why, room) && boxed(g, l, collapsed, why, room);
}

bool layout_is_right(const pb_graph *g, const pb_layout *l, bool collapsed, char *why, size_t room)
{
    return layout_places_are_right(g, l, collapsed, why, room) && (collapsed || along(g, l, why, room));
}
