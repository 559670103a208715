/* timed_walk.c -- see timed_walk.h. */
#include "report/timed_walk.h"

static bool *place_of(pbi_timed_walk *w, pb_node v, uint32_t memory)
{
    return &w->there[(size_t)v * w->machine->memory_count + memory];
}

static void put(pbi_timed_walk *w, pb_node v, uint32_t memory)
{
    if (*place_of(w, v, memory))
        return;
    *place_of(w, v, memory) = true;
    w->held[memory] += w->graph->size[v];
}

static void take(pbi_timed_walk *w, pb_node v, uint32_t memory)
{
    *place_of(w, v, memory) = false;
    w->held[memory] -= w->graph->size[v];
}

pb_status pbi_timed_walk_init(pbi_timed_walk *w, const pb_certificate *c, pb_arena *scratch)
{
    *w = (pbi_timed_walk){.game = pb_certificate_game(c), .moves = pb_certificate_moves(c)};
    w->graph = w->game->graph;
    w->machine = w->game->timing->machine;
    size_t n = (size_t)w->graph->node_count + 1, memories = w->machine->memory_count;
    w->held = pb_arena_zero(scratch, memories, sizeof *w->held);
    w->there = pb_arena_zero(scratch, n * memories, sizeof *w->there);
    w->computed = pb_arena_zero(scratch, n, sizeof *w->computed);
    w->releases = pb_arena_zero(scratch, w->machine->processor_count, sizeof *w->releases);
    if (!w->held || !w->there || !w->computed || !w->releases)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < memories; i++)
        w->held[i] = w->game->timing->fixed[i];
    for (pb_node v = 0; v < w->graph->node_count; v++)
        if (w->game->timing->start[v] != UINT32_MAX)
            put(w, v, w->game->timing->start[v]);
    return PB_OK;
}

/* The end of a computation by `until` that gives memory back, the first one first. */
static bool next_release(pbi_timed_walk *w, uint64_t until)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t p = 0; p < w->machine->processor_count; p++)
        if (w->releases[p].amount && w->releases[p].end <= until &&
            (first == UINT32_MAX || w->releases[p].end < w->releases[first].end))
            first = p;
    if (first == UINT32_MAX)
        return false;
    w->move = NULL;
    w->at = w->end = w->releases[first].end;
    w->memory = w->machine->processors[first].memory;
    w->held[w->memory] -= w->releases[first].amount;
    w->releases[first].amount = 0;
    return true;
}

static void walk_compute(pbi_timed_walk *w, uint32_t p)
{
    const pb_timing *t = w->game->timing;
    pb_node v = w->move->node, over = pb_moves_over(w->moves, w->step);
    uint32_t by = w->move->by, count;
    const pb_node *also = pb_moves_also(w->moves, w->step, &count);
    uint64_t rest = pb_graph_way(w->graph, v, by).workspace;
    w->end = w->at + (by ? t->recipe[(size_t)p * t->recipe_count + w->graph->recipe_start[v] + by - 1]
                         : t->duration[(size_t)p * w->graph->node_count + v]);
    w->lane = p;
    w->memory = w->machine->processors[p].memory;
    w->place = w->machine->processors[p].name;
    if (over != PB_NO_NODE) {
        take(w, over, w->memory);
        rest += w->graph->size[over] > w->graph->size[v] ? w->graph->size[over] - w->graph->size[v] : 0;
    }
    put(w, v, w->memory);
    for (uint32_t i = 0; i < count; i++)
        put(w, also[i], w->memory);
    w->held[w->memory] += rest;
    w->releases[p] = (pbi_timed_release){w->end, rest};
    w->again = w->computed[v] || by;
    w->computed[v] = true;
}

bool pbi_timed_walk_next(pbi_timed_walk *w)
{
    bool more = w->next < w->moves->count;
    if (next_release(w, more ? w->moves->when[w->next].at : UINT64_MAX))
        return true;
    if (!more)
        return false;
    const pb_when *when = &w->moves->when[w->next];
    w->step = w->next++;
    w->move = &w->moves->move[w->step];
    w->at = w->end = when->at;
    w->again = false;
    if (w->move->op == PB_COMPUTE) {
        walk_compute(w, when->place);
    } else if (w->move->op == PB_COPY) {
        const pb_machine_link *link = &w->machine->links[when->place];
        w->end = w->at + pb_machine_copy_time(w->machine, link, w->graph->size[w->move->node]);
        w->lane = w->machine->processor_count + w->game->timing->lane[when->place];
        w->memory = link->to;
        w->place = link->name;
        put(w, w->move->node, w->memory);
    } else {
        w->memory = when->place;
        w->place = w->machine->memories[when->place].name;
        take(w, w->move->node, w->memory);
    }
    return true;
}
