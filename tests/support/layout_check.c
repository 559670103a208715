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

static bool boxed(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    for (pb_node v = 0; g->group && v < g->node_count; v++)
        for (uint32_t i = 0; i < l->box_count; i++)
            if (g->group[v] == i && !inside(&l->boxes[i], l->x[v], l->y[v])) {
                snprintf(why, room, "node %u at %g,%g is outside box %u", (unsigned)v, l->x[v], l->y[v], (unsigned)i);
                return false;
            }
    return true;
}

bool layout_places_are_right(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    why[0] = '\0';
    return apart(g, l, why, room) && within(g, l, why, room) && boxed(g, l, why, room);
}

bool layout_is_right(const pb_graph *g, const pb_layout *l, char *why, size_t room)
{
    return layout_places_are_right(g, l, why, room) && along(g, l, why, room);
}

static bool has_edge(const pb_graph *g, pb_node u, pb_node v)
{
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (g->in[k] == u)
            return true;
    return false;
}

static bool wrong(char *why, size_t room, const char *what, uint32_t at)
{
    snprintf(why, room, "%s %u", what, (unsigned)at);
    return false;
}

bool layout_groups_are_right(const pb_graph *g, const pb_layout_groups *c, const bool *open, char *why, size_t room)
{
    const pb_graph *h = c->graph;
    uint64_t size = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t of = c->of[c->item[v]], group = g->group ? g->group[v] : UINT32_MAX;
        if (c->item[v] >= h->node_count || (of != v && of != g->node_count + (uint64_t)group))
            return wrong(why, room, "something else stands for node", v);
        if (of != v && open && open[group])
            return wrong(why, room, "closed, but asked to be open: the group of node", v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t a = c->item[g->in[k]], b = c->item[v];
            if (a != b && !has_edge(h, a, b) && !has_edge(h, b, a))
                return wrong(why, room, "an edge is missing into node", v);
        }
        size += g->size[v];
    }
    for (uint32_t i = 0; i < h->node_count; i++)
        size -= h->size[i];
    return size == 0 || wrong(why, room, "sizes differ, nodes:", h->node_count);
}
