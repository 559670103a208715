/* grant.c -- more workspace than a node declared: from the plan's reserve, or from a gap in the block. */
#include "engine/engine_parts.h"

#include "base/context.h"

pb_status pb_call_more(const pb_call *call, uint64_t bytes, void **out) { return call->grant(call, bytes, out); }

/* Memory that the replanned schedule reserves for what the kernel requested before. */
static bool take_spare(pb_engine *e, const pb_call *call, uint64_t bytes, void **out)
{
    uint64_t said = pbi_round_up(e->graph->workspace[call->node], e->options.align);
    uint64_t has = e->phase->game->graph->workspace[call->node];
    if (has <= said + e->spare_used || bytes > has - said - e->spare_used)
        return false;
    *out = (unsigned char *)call->workspace + said + e->spare_used;
    e->spare_used += pbi_round_up(bytes, e->options.align);
    return true;
}

static pb_status refuse(pb_engine *e, pb_node v, uint64_t bytes, const char *why)
{
    uint64_t asked = 0;
    for (uint32_t i = 0; i < e->granted_count; i++)
        asked += e->granted[i].room;
    e->requested = pbi_round_up(e->graph->workspace[v], e->options.align) + e->spare_used + asked + bytes;
    return pbi_fail(e->ctx, PB_ELIMIT, "node %.80s needs %llu bytes of workspace instead of %llu, but %s",
                    pb_graph_name(e->graph, v), (unsigned long long)e->requested,
                    (unsigned long long)e->graph->workspace[v], why);
}

pb_status pbi_grant(const pb_call *call, uint64_t bytes, void **out)
{
    pb_engine *e = call->owner;
    pb_node v = call->node;
    if (!bytes) {
        *out = e->nothing;
        return PB_OK;
    }
    if (bytes > UINT64_MAX / 4)
        return refuse(e, v, UINT64_MAX / 4, "there is not enough memory");
    if (take_spare(e, call, bytes, out))
        return PB_OK;
    if (bytes > e->cap || e->during > e->cap - bytes)
        return refuse(e, v, bytes, "that exceeds the cap");
    uint64_t has = e->phase->game->graph->workspace[v];
    pbi_granted g = {.room = pbi_room_of(e, bytes)};
    if (e->granted_count == PBI_MAX_GRANTED || !pbi_find_gap(e, g.room, call->workspace, has, &g.offset))
        return refuse(e, v, bytes, "no gap of the block has room for it");
    e->granted[e->granted_count++] = g;
    e->granted_bytes += bytes;
    pbi_note_peak(e, e->during - e->leaving_bytes - e->prefetch_bytes + bytes);
    e->m.more_bytes = e->granted_bytes > e->m.more_bytes ? e->granted_bytes : e->m.more_bytes;
    *out = e->block + g.offset;
    return PB_OK;
}
