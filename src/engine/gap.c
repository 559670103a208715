/* gap.c -- finds a gap in the block. It is rarely needed, so it may examine every node. */
#include "engine/engine_parts.h"

typedef struct asked {
    uint64_t at, room, next; /* next: the end of what overlaps */
} asked;

static bool stands_in(asked *a, uint64_t offset, uint64_t room)
{
    if (!room || offset >= a->at + a->room || a->at >= offset + room)
        return false;
    a->next = offset + room;
    return true;
}

static bool is_free(const pb_engine *e, asked *a, uint64_t workspace, uint64_t workspace_room)
{
    const pb_graph *g = e->graph;
    if (stands_in(a, workspace, workspace_room))
        return false;
    for (uint32_t i = 0; i < e->granted_count; i++)
        if (stands_in(a, e->granted[i].offset, e->granted[i].room))
            return false;
    for (uint32_t i = 0; i < e->pending_count; i++)
        if (stands_in(a, e->pending[i]->offset, e->pending[i]->room))
            return false;
    for (pb_node v = 0; v < g->node_count; v++)
        if (e->value[v] && pbi_in_block(e, e->value[v]) &&
            stands_in(a, (uint64_t)((unsigned char *)e->value[v] - e->block), pbi_room_of(e, g->size[v])))
            return false;
    if (g->part_start) /* by-products that are hidden from the kernel */
        for (uint32_t i = 0; i < e->hidden_count; i++)
            if (e->hidden[i] && pbi_in_block(e, e->hidden[i]) &&
                stands_in(a, (uint64_t)((unsigned char *)e->hidden[i] - e->block),
                          pbi_room_of(e, g->size[e->hidden_part[i]])))
                return false;
    return true;
}

bool pbi_find_gap(const pb_engine *e, uint64_t room, const void *workspace, uint64_t workspace_bytes, uint64_t *out)
{
    asked a = {.at = pbi_room_of(e, e->graph->fixed_size), .room = room};
    uint64_t from = workspace_bytes ? (uint64_t)((const unsigned char *)workspace - e->block) : 0;
    for (; room <= e->block_bytes && a.at <= e->block_bytes - room; a.at = a.next)
        if (is_free(e, &a, from, pbi_room_of(e, workspace_bytes))) {
            *out = a.at;
            return true;
        }
    return false;
}
