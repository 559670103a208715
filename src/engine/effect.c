/* effect.c -- how a legal move changes memory. */
#include "engine/engine_parts.h"

static pbi_effect computing(const pb_graph *g, const pb_moves *moves, pb_step k, uint8_t *there)
{
    const pb_move *move = &moves->move[k];
    pb_node v = move->node, over = pb_moves_over(moves, k);
    bool lent = move->flags & PB_MOVE_BORROW;
    uint32_t parts;
    const pb_node *part = pb_moves_also(moves, k, &parts);
    uint64_t own = there[v] || lent ? 0 : g->size[v], saved = 0;
    pbi_effect e = {.made = own};
    for (uint32_t i = 0; i < parts; i++) {
        e.made += g->size[part[i]];
        there[part[i]] = 1;
    }
    if (over != PB_NO_NODE) {
        e.gone = g->size[over];
        saved = own < e.gone ? own : e.gone;
        there[over] = 0;
    }
    if (!there[v])
        there[v] = lent ? 2 : 1;
    e.during = e.made - saved + pb_moves_way(moves, g, k).workspace;
    return e;
}

pbi_effect pbi_move_effect(const pb_graph *g, const pb_moves *moves, pb_step k, uint8_t *there)
{
    pb_node v = moves->move[k].node;
    pbi_effect e = {0};
    switch (moves->move[k].op) {
    case PB_COMPUTE: return computing(g, moves, k, there);
    case PB_UNCOMPUTE:
        e.during = g->workspace[v];
        e.gone = there[v] == 2 ? 0 : g->size[v];
        there[v] = 0;
        return e;
    case PB_FREE:
        e.gone = g->size[v];
        there[v] = 0;
        return e;
    case PB_LOAD:
        e.during = e.made = g->size[v];
        there[v] = 1;
        return e;
    default: return e;
    }
}
