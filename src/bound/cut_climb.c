/* cut_climb.c -- see cut_climb.h. */
#include "bound/cut_climb.h"

#include <string.h>

enum { PATIENCE = 8 };   /* steps without an improvement */
#define FRESH 0.2        /* weight of the last slope in the mean */
#define FIRST_AHEAD 0.02 /* target of a step, relative to the best bound; halved when it is too far */
#define LAST_AHEAD 0.00001

bool pbi_climb_init(pbi_climb *c, pbi_moments *m, pb_arena *arena)
{
    size_t n = m->net[0].game->graph->node_count;
    *c = (pbi_climb){.m = m, .best = INT64_MIN};
    for (uint32_t k = 0; k < PBI_MOMENTS; k++) {
        c->link[k] = pb_arena_zero(arena, n, sizeof *c->link[k]);
        c->slope[k] = pb_arena_zero(arena, n, sizeof *c->slope[k]);
        c->mean[k] = pb_arena_zero(arena, n, sizeof *c->mean[k]);
        if (!c->link[k] || !c->slope[k] || !c->mean[k])
            return false;
    }
    return true;
}

static double smaller(double a, double b) { return a < b ? a : b; }

/* The mean size of the values in memory, weighted by size. */
static double typical_size(const pbi_moments *m)
{
    const pb_graph *g = m->net[0].game->graph;
    double sum = 1, squares = 1;
    for (uint32_t k = 1; k < m->count; k++)
        for (uint32_t i = 0; i < m->linked_count[k]; i++) {
            double size = (double)g->size[m->linked[k][i]];
            sum += size;
            squares += size * size;
        }
    return squares / sum;
}

static void guess_links(pbi_climb *c, uint32_t k)
{
    pbi_moments *m = c->m;
    const pb_graph *g = m->net[k].game->graph;
    for (uint32_t i = 0; i < m->linked_count[k]; i++) {
        pb_node x = m->linked[k][i];
        double size = (double)g->size[x], price = m->rate[k - 1] * size;
        if (!(g->flags[x] & PB_NODE_GIVEN))
            price = smaller(price, (double)m->net[k].work[pb_graph_maker(g, x)] - m->rate[k] * size);
        m->link[k][i] = price > 0 ? price : 0;
    }
}

static void keep_best(pbi_climb *c, int64_t value)
{
    pbi_moments *m = c->m;
    c->best = value;
    for (uint32_t k = 0; k < m->count; k++) {
        c->rate[k] = m->rate[k];
        memcpy(c->link[k], m->link[k], m->linked_count[k] * sizeof *c->link[k]);
    }
}

static void go_back(pbi_climb *c)
{
    pbi_moments *m = c->m;
    for (uint32_t k = 0; k < m->count; k++) {
        m->rate[k] = c->rate[k];
        memcpy(m->link[k], c->link[k], m->linked_count[k] * sizeof *c->link[k]);
    }
}

static int64_t evaluate(pbi_climb *c)
{
    int64_t value = pbi_moments_evaluate(c->m);
    c->impossible = c->impossible || value >= PBI_FLOW_INF;
    if (value > c->best)
        keep_best(c, value);
    return value;
}

void pbi_climb_guess(pbi_climb *c, const double *rate)
{
    pbi_moments *m = c->m;
    c->unit = typical_size(m);
    for (uint32_t k = 0; k < m->count; k++) {
        m->rate[k] = rate[k];
        if (k)
            guess_links(c, k);
    }
    if (evaluate(c) == INT64_MIN)
        return;
    for (uint32_t k = 1; k < m->count; k++)
        for (uint32_t i = 0; i < m->linked_count[k]; i++)
            if (!pbi_cut_network_there(&m->net[k], m->linked[k][i]))
                m->link[k][i] = 0;
    evaluate(c);
}

/* Mixes the slopes of the last evaluation into the means; returns the square of their length. */
static double mix(pbi_climb *c, double part)
{
    const pbi_moments *m = c->m;
    uint32_t n = m->net[0].game->graph->node_count;
    double square = 0;
    for (uint32_t k = 0; k < m->count; k++) {
        double slope = ((double)m->size[k] - (double)m->free_size[k]) / c->unit;
        c->rate_slope[k] += part * (slope - c->rate_slope[k]);
        bool stuck = m->rate[k] <= 0 && c->rate_slope[k] < 0;
        square += stuck ? 0 : c->rate_slope[k] * c->rate_slope[k];
        for (uint32_t i = 0; k && i < m->linked_count[k]; i++) {
            double *s = &c->slope[k][i];
            *s += part * ((double)pbi_moments_slope(m, k, i) - *s);
            square += m->link[k][i] <= 0 && *s < 0 ? 0 : *s * *s;
        }
        for (pb_node v = 0; v < n; v++)
            c->mean[k][v] += part * ((double)m->kept[k][v] - c->mean[k][v]);
    }
    return square;
}

static void go(pbi_climb *c, double step)
{
    pbi_moments *m = c->m;
    for (uint32_t k = 0; k < m->count; k++) {
        m->rate[k] += step * c->rate_slope[k] / c->unit;
        m->rate[k] = m->rate[k] > 0 ? m->rate[k] : 0;
        for (uint32_t i = 0; k && i < m->linked_count[k]; i++) {
            m->link[k][i] += step * c->slope[k][i];
            m->link[k][i] = m->link[k][i] > 0 ? m->link[k][i] : 0;
        }
    }
}

void pbi_climb_run(pbi_climb *c, uint32_t steps)
{
    double ahead = FIRST_AHEAD;
    uint32_t stall = 0;
    go_back(c);
    for (uint32_t i = 0; i < steps && !c->m->stopped && !c->impossible; i++) {
        int64_t before = c->best, value = evaluate(c);
        if (value == INT64_MIN || c->impossible)
            return;
        stall = c->best > before ? 0 : stall + 1;
        double length = mix(c, i == 0 ? 1 : FRESH);
        if (stall > PATIENCE) {
            go_back(c);
            ahead /= 2;
            stall = 0;
        }
        if (length <= 0 || ahead < LAST_AHEAD)
            return;
        go(c, ahead * ((double)c->best > 1 ? (double)c->best : 1) / length);
    }
}
