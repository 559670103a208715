/* layout_lanes.c -- finds the backward pass of a training step, and the layers of both passes.
 *
 * A node belongs to the backward pass if its name indicates it, or if it reads a node of the backward pass. The
 * names are those of the generators (x.dx, x.dw, x.dsum, x.update, g_3) and of common frameworks (grad, backward).
 * If names do not help, the order is used: a training step turns where most values wait to be read, and the values
 * that waited longest are read last. A graph counts as a training step only if much of it waits for the backward
 * pass, in about the opposite order, and half of that pass reads it: with fewer, these are skip connections of a
 * forward network. Nothing is guessed if the graph is known to have no gradients.
 */
#include "base/context.h"
#include "graph/graph_parts.h"
#include "graph/graph_turn.h"
#include "graph/layout_parts.h"

#include <math.h>
#include <string.h>

enum { MIN_SOURCES = 6 };

pb_node *pbi_layout_by_depth(const pb_graph *g, pb_arena *scratch)
{
    uint32_t *next = pb_arena_zero(scratch, (size_t)g->max_depth + 2, sizeof *next);
    pb_node *list = pb_arena_alloc(scratch, g->node_count, sizeof *list);
    if (!next || !list)
        return NULL;
    for (pb_node v = 0; v < g->node_count; v++)
        next[g->depth[v] + 1]++;
    for (uint32_t d = 0; d <= g->max_depth; d++)
        next[d + 1] += next[d];
    /* By-products have their maker's depth, and come after all makers of that depth. */
    for (int parts = 0; parts < 2; parts++)
        for (pb_node v = 0; v < g->node_count; v++)
            if (((g->flags[v] & PB_NODE_BYPRODUCT) != 0) == parts)
                list[next[g->depth[v]]++] = v;
    return list;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whether `text` contains the lower-case `word`, ignoring case. */
static bool holds(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] && (text[i] | 0x20) == word[i])
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

static bool names_backward(const char *name)
{
    static const char *const endings[] = {"dw", "dsum", "update", "db", "dy"};
    const char *dot = strrchr(name, '.');
    if (name[0] == 'g' && name[1] == '_' && is_digit(name[2]))
        return true;
    if (dot && dot[1] == 'd' && dot[2] == 'x' && (!dot[3] || is_digit(dot[3])))
        return true;
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return true;
    return holds(name, "grad") || holds(name, "backward");
}

/* Marks everything that reads a node of the backward pass. Returns how many nodes belong to it. */
static uint32_t close_lane(const pb_graph *g, const pb_node *by_depth, uint8_t *lane)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        pb_node v = by_depth[i];
        if (g->flags[v] & PB_NODE_BYPRODUCT)
            lane[v] = lane[g->owner[v]];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && !lane[v]; k++)
            lane[v] = lane[g->in[k]];
        count += lane[v];
    }
    return count;
}

static bool by_names(const pb_graph *g, const pb_node *by_depth, uint8_t *lane)
{
    uint32_t marked = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        lane[v] = !(g->flags[v] & PB_NODE_GIVEN) && names_backward(pb_graph_name(g, v));
        marked += lane[v];
    }
    uint32_t all = marked ? close_lane(g, by_depth, lane) : 0;
    /* Both passes exist. Names that match by accident would mark many nodes that do not match. */
    return marked >= 2 && all - marked <= marked / 2 && all >= g->node_count / 10 && g->node_count - all >= 2 &&
           all <= g->node_count - g->node_count / 10;
}

/* ---- by the order ---- */

/* Nodes after the turn that read something from before it. */
static uint32_t count_readers(const pb_graph *g, const uint32_t *place, uint32_t turn)
{
    uint32_t count = 0;
    for (uint32_t p = turn + 1; p < g->order_count; p++) {
        pb_node v = g->order[p];
        bool reads = false;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && !reads; k++)
            reads = place[pb_graph_maker(g, g->in[k])] <= turn;
        count += reads;
    }
    return count;
}

/* Whether many of the computed values wait at the turn, and are read in the opposite order. */
static bool turns_back(const pb_graph *g, const uint32_t *last, uint32_t turn)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (uint32_t p = 0; p <= turn && p < g->order_count; p++) {
        if (last[p] <= turn)
            continue;
        double x = p, y = last[p];
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    double spread = sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
    return n >= MIN_SOURCES && n >= 0.3 * (turn + 1) && spread > 0 && n * sxy - sx * sy <= -0.7 * spread;
}

static bool by_order(const pb_graph *g, const pb_node *by_depth, pb_arena *scratch, uint8_t *lane, pb_status *status)
{
    uint32_t *place = pb_arena_alloc(scratch, g->node_count, sizeof *place);
    uint32_t *last = pb_arena_alloc(scratch, g->order_count, sizeof *last);
    uint32_t *ends = pb_arena_zero(scratch, g->order_count, sizeof *ends);
    memset(lane, 0, g->node_count);
    if (!place || !last || !ends) {
        *status = PB_ENOMEM;
        return false;
    }
    memset(place, 0xff, g->node_count * sizeof *place);
    for (uint32_t p = 0; p < g->order_count; p++) {
        place[g->order[p]] = p;
        last[p] = p;
    }
    for (uint32_t p = 0; p < g->order_count; p++) {
        pb_node v = g->order[p];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t q = place[pb_graph_maker(g, g->in[k])];
            if (q != UINT32_MAX)
                last[q] = p;
        }
    }
    uint32_t turn = pbi_find_turn(last, g->order_count, ends);
    if (!turns_back(g, last, turn) || count_readers(g, place, turn) < (g->order_count - turn - 1) / 2)
        return false;
    for (uint32_t p = turn + 1; p < g->order_count; p++)
        lane[g->order[p]] = 1;
    close_lane(g, by_depth, lane);
    return true;
}

pb_status pb_layout_backward(pb_context *ctx, const pb_graph *g, uint8_t *lane, bool *found)
{
    pb_arena scratch;
    pb_status status = PB_OK;
    pbi_adjoint parts;
    pb_arena_init(&scratch, ctx);
    pb_node *by_depth = pbi_layout_by_depth(g, &scratch);
    bool there = false;
    if (!by_depth) {
        status = PB_ENOMEM;
    } else if (g->forward_only) {
        there = false;
    } else if (g->shape == PB_SHAPE_ADJOINT_CHAIN && pbi_graph_adjoint(g, &scratch, &parts, &status)) {
        memset(lane, 0, g->node_count);
        for (uint32_t i = 0; i < parts.gradient_count; i++)
            lane[parts.gradient[i]] = 1;
        there = true;
    } else if (status == PB_OK && g->shape == PB_SHAPE_GENERAL) {
        there = by_names(g, by_depth, lane) || by_order(g, by_depth, &scratch, lane, &status);
    }
    if (!there && g->node_count)
        memset(lane, 0, g->node_count);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *found = there;
    return status;
}

/* ---- layers ---- */

/* Sources are placed just before their readers, not all at the beginning. */
static void pull_sources(const pb_graph *g, const uint8_t *lane, const uint32_t count[2], uint32_t *layer)
{
    for (pb_node v = 0; v < g->node_count; v++) {
        uint32_t near = UINT32_MAX, far = UINT32_MAX;
        if (g->in_start[v] != g->in_start[v + 1] || (g->flags[v] & PB_NODE_BYPRODUCT))
            continue;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
            pb_node w = g->out[k];
            uint32_t *least = lane[w] == lane[v] ? &near : &far;
            *least = layer[w] < *least ? layer[w] : *least;
        }
        if (near != UINT32_MAX && near > 0)
            layer[v] = near - 1;
        else if (near == UINT32_MAX && far != UINT32_MAX && !lane[v] && count[1] > 1) /* above its first reader */
            layer[v] = (uint32_t)((double)(count[1] - 1 - far) / (count[1] - 1) * (count[0] - 1));
    }
}

pb_status pbi_layout_layers(const pb_graph *g, const uint8_t *lane, pb_arena *scratch, uint32_t *layer,
                            uint32_t count[2])
{
    pb_node *by_depth = pbi_layout_by_depth(g, scratch);
    if (!by_depth)
        return PB_ENOMEM;
    count[0] = count[1] = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        pb_node v = by_depth[i], maker = pb_graph_maker(g, v);
        uint32_t at = maker == v ? 0 : layer[maker];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (lane[u] == lane[v] && layer[u] + 1 > at)
                at = layer[u] + 1;
        }
        layer[v] = at;
        count[lane[v]] = at + 1 > count[lane[v]] ? at + 1 : count[lane[v]];
    }
    pull_sources(g, lane, count, layer);
    return PB_OK;
}
