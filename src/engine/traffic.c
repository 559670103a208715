/* traffic.c -- stores and loads under way beside the computing.
 *
 * A store begins at its move and reads the value's memory until it is done: who frees, overwrites or drops the value waits, and
 * who frees it waits only when its bytes are wanted for something else. A load begins as early as the plan leaves room, and its
 * first reader waits. Bytes of values that are leaving and of loads that are early count as in use.
 */
#include "engine/engine_parts.h"

#include "base/context.h"

#include <string.h>

static pbi_slot *slot_of(pb_engine *e, pb_node v, uint32_t tier)
{
    return &e->slot[(size_t)tier * e->graph->node_count + v];
}

/* The run stands still from here on. */
static void waited(pb_engine *e, uint64_t from)
{
    uint64_t now = pbi_now(e);
    e->m.io_wait_ns += now - from;
    e->m.flux += (double)(now - from) * (double)(e->used + e->leaving_bytes + e->early_bytes);
    e->last_ns = now;
}

/* Ends number i of what is under way. */
static pb_status retire(pb_engine *e, uint32_t i)
{
    pbi_under_way *u = e->under_way[i];
    pbi_transfer *t = &u->transfer;
    if (!pbi_slow_is_done(e->slow, t)) {
        uint64_t from = pbi_now(e);
        pbi_slow_wait(e->slow, t);
        waited(e, from);
    }
    e->m.io_busy_ns += t->busy_ns;
    if (t->store)
        slot_of(e, t->node, t->tier)->sum = t->sum;
    else if (!u->early)
        e->loading[t->node] = 0;
    e->leaving_bytes -= u->leaving ? t->bytes : 0;
    e->under_way_count--;
    for (uint32_t k = i; k < e->under_way_count; k++)
        e->under_way[k] = e->under_way[k + 1];
    e->under_way[e->under_way_count] = u;
    return pbi_slow_judge(e->ctx, e->slow, t, pb_graph_name(e->graph, t->node));
}

static pb_status begin(pb_engine *e, pbi_transfer t, pbi_under_way **out)
{
    pb_status status = e->under_way_count < PBI_MOST_UNDER_WAY ? PB_OK : PB_ELIMIT;
    for (uint32_t i = 0; status == PB_ELIMIT && i < e->under_way_count; i++)
        if (!e->under_way[i]->early) /* early ones end at their move */
            status = retire(e, i) == PB_OK ? PB_OK : PB_EIO;
    if (status != PB_OK)
        return status;
    pbi_under_way *u = e->under_way[e->under_way_count++];
    uint64_t at = (uint64_t)(t.memory - e->block);
    *u = (pbi_under_way){.transfer = t, .offset = at, .room = pbi_room_of(e, t.bytes)};
    pbi_slow_begin(e->slow, &u->transfer);
    *out = u;
    return PB_OK;
}

/* Of the node's copy in this tier. */
static pb_status settle_slot(pb_engine *e, pb_node v, uint32_t tier)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->under_way_count; i-- > 0 && status == PB_OK;)
        if (e->under_way[i]->transfer.node == v && e->under_way[i]->transfer.tier == tier && !e->under_way[i]->early)
            status = retire(e, i);
    return status;
}

/* Whatever reads or writes the bytes of a resident value. */
static pb_status settle_value(pb_engine *e, pb_node v)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->under_way_count; i-- > 0 && status == PB_OK;)
        if (e->under_way[i]->transfer.memory == e->value[v] && e->under_way[i]->transfer.node == v)
            status = retire(e, i);
    return status;
}

static pb_status settle_load(pb_engine *e, pb_node v) { return e->loading[v] ? settle_value(e, v) : PB_OK; }

pb_status pbi_store(pb_engine *e, pb_node v, uint32_t tier)
{
    uint64_t bytes = e->graph->size[v];
    e->stored[v] |= (uint8_t)(1u << tier);
    if (!bytes)
        return PB_OK;
    if (!pbi_in_block(e, e->value[v]))
        return pbi_fail(e->ctx, PB_EINVAL,
                        "the plan stores %.80s from borrowed memory, where it is combined with other bytes",
                        pb_graph_name(e->graph, v));
    pbi_under_way *u;
    pbi_slot *slot = slot_of(e, v, tier);
    slot->at = e->file_end[tier] + e->leg->filed[tier].offset[e->next_filed[tier]++];
    pb_status status = settle_load(e, v);
    if (status == PB_OK)
        status =
            begin(e,
                  (pbi_transfer){
                      .memory = e->value[v], .bytes = bytes, .at = slot->at, .node = v, .tier = tier, .store = true},
                  &u);
    if (status == PB_OK)
        e->m.stored_bytes += bytes;
    return status == PB_OK && e->options.no_overlap ? pbi_drain(e) : status;
}

/* Begins to load into the block; the value is stored, or is being stored. */
static pb_status fetch(pb_engine *e, pb_node v, uint32_t tier, uint64_t offset, pbi_under_way **out)
{
    pb_status status = settle_slot(e, v, tier);
    if (status != PB_OK)
        return status;
    const pbi_slot *slot = slot_of(e, v, tier);
    e->m.loaded_bytes += e->graph->size[v];
    return begin(e,
                 (pbi_transfer){.memory = e->block + offset,
                                .bytes = e->graph->size[v],
                                .at = slot->at,
                                .sum = slot->sum,
                                .node = v,
                                .tier = tier},
                 out);
}

pb_status pbi_load(pb_engine *e, pb_step k)
{
    const pb_move *move = &e->leg->moves->move[k];
    pb_node v = move->node;
    if (!e->graph->size[v])
        return PB_OK;
    e->loading[v] = 1;
    for (uint32_t i = 0; i < e->under_way_count; i++) {
        pbi_under_way *u = e->under_way[i];
        if (u->early && u->at == k) {
            u->early = false;
            e->early_bytes -= u->transfer.bytes;
            return PB_OK;
        }
    }
    pbi_under_way *u;
    uint64_t offset = (uint64_t)((unsigned char *)e->value[v] - e->block);
    pb_status status = fetch(e, v, move->tier - 1u, offset, &u);
    return status == PB_OK && e->options.no_overlap ? pbi_drain(e) : status;
}

pb_status pbi_drop(pb_engine *e, pb_node v, uint32_t tier)
{
    e->stored[v] &= (uint8_t) ~(1u << tier);
    return settle_slot(e, v, tier);
}

pb_status pbi_leave(pb_engine *e, pb_node v)
{
    pb_status status = settle_load(e, v);
    pbi_under_way *last = NULL;
    for (uint32_t i = e->under_way_count; i-- > 0 && status == PB_OK;) {
        pbi_under_way *u = e->under_way[i];
        if (u->transfer.node != v || u->transfer.memory != e->value[v] || u->leaving)
            continue;
        if (last) /* stores to several tiers: one of them stays under way, so that its bytes are counted once */
            status = retire(e, i);
        else
            last = u;
    }
    if (last && status == PB_OK) {
        last->leaving = true;
        e->leaving_bytes += last->transfer.bytes;
    }
    return status;
}

pb_status pbi_settle(pb_engine *e, pb_node v, pb_node over)
{
    const pb_graph *g = e->graph;
    pb_status status = PB_OK;
    for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1] && status == PB_OK; i++)
        status = settle_load(e, g->in[i]);
    if (over != PB_NO_NODE && status == PB_OK)
        status = settle_value(e, over);
    if (e->value[v] && status == PB_OK) /* computed again for its by-products */
        status = settle_value(e, v);
    return status;
}

static bool is_busy(const pbi_under_way *u, uint64_t offset, uint64_t size)
{
    return u->leaving && u->offset < offset + size && offset < u->offset + u->room;
}

static pb_status settle_place(pb_engine *e, uint64_t offset, uint64_t size)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->under_way_count; i-- > 0 && status == PB_OK;)
        if (is_busy(e->under_way[i], offset, size))
            status = retire(e, i);
    return status;
}

/* What has left is forgotten without waiting. */
static pb_status sweep_done(pb_engine *e)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->under_way_count; i-- > 0 && status == PB_OK;)
        if (e->under_way[i]->leaving && pbi_slow_is_done(e->slow, &e->under_way[i]->transfer))
            status = retire(e, i);
    return status;
}

pb_status pbi_make_room(pb_engine *e, uint64_t during, pb_step k)
{
    const pbi_leg *leg = e->leg;
    pb_status status = e->leaving_bytes ? sweep_done(e) : PB_OK;
    for (uint32_t i = 0;
         i < e->under_way_count && status == PB_OK && during + e->leaving_bytes + e->early_bytes > e->limit;)
        if (e->under_way[i]->leaving)
            status = retire(e, i);
        else
            i++;
    for (uint32_t i = e->next; e->leaving_bytes && i < leg->lives.count && leg->lives.life[i].from == k + 1; i++)
        if (status == PB_OK)
            status = settle_place(e, leg->packing.offset[i], leg->lives.life[i].size);
    return status;
}

static bool can_begin(pb_engine *e, const pbi_early *early)
{
    const pbi_leg *leg = e->leg;
    const pb_move *move = &leg->moves->move[early->at];
    uint64_t size = e->graph->size[move->node], offset = leg->packing.offset[early->life];
    if (e->under_way_count >= PBI_MOST_UNDER_WAY / 2 || e->used + e->leaving_bytes + e->early_bytes + size > e->limit)
        return false;
    for (uint32_t i = 0; i < e->under_way_count; i++) {
        const pbi_under_way *u = e->under_way[i];
        if (is_busy(u, offset, leg->lives.life[early->life].size))
            return false;
        if (u->transfer.node == move->node && u->transfer.tier == move->tier - 1u && u->transfer.store &&
            !pbi_slow_is_done(e->slow, &u->transfer))
            return false;
    }
    return true;
}

/* The first that has to wait holds up the others: they follow soon. One that is late is begun by its move. */
pb_status pbi_load_early(pb_engine *e, pb_step k)
{
    const pbi_leg *leg = e->leg;
    pb_status status = PB_OK;
    for (; e->next_early < leg->early_count && leg->early[e->next_early].issue <= k && status == PB_OK;
         e->next_early++) {
        const pbi_early *early = &leg->early[e->next_early];
        if (early->at <= k)
            continue;
        if (!can_begin(e, early))
            break;
        const pb_move *move = &leg->moves->move[early->at];
        pbi_under_way *u;
        status = fetch(e, move->node, move->tier - 1u, leg->packing.offset[early->life], &u);
        if (status == PB_OK) {
            u->early = true;
            u->at = early->at;
            e->early_bytes += u->transfer.bytes;
        }
    }
    return status;
}

pb_status pbi_drain(pb_engine *e)
{
    pb_status status = PB_OK;
    while (e->under_way_count) {
        pb_status one = retire(e, e->under_way_count - 1);
        status = status == PB_OK ? one : status;
    }
    e->early_bytes = 0;
    return status;
}

pb_status pbi_fill_slow(pb_engine *e)
{
    const pb_graph *g = e->graph;
    const pbi_leg *leg = e->leg;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            e->stored[v] |= 1;
    /* Each passes through the place that it is going to be loaded to first: nothing but fixed memory is there yet. Files have their
     * places in the order of nodes. */
    for (pb_node v = 0, filed = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN_SLOW) || !g->size[v])
            continue;
        slot_of(e, v, 0)->at = leg->filed[0].offset[filed++];
        e->next_filed[0] = filed;
    }
    for (uint32_t i = 0; i < leg->lives.count && status == PB_OK; i++) {
        pb_node v = leg->lives.life[i].node;
        if (v == PB_NO_NODE || !(g->flags[v] & PB_NODE_GIVEN_SLOW) || e->loading[v])
            continue;
        pbi_under_way *u;
        unsigned char *at = e->block + leg->packing.offset[i];
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, at) : PB_OK;
        if (status == PB_OK)
            status = begin(
                e,
                (pbi_transfer){.memory = at, .bytes = g->size[v], .at = slot_of(e, v, 0)->at, .node = v, .store = true},
                &u);
        if (status == PB_OK)
            status = pbi_drain(e);
        e->loading[v] = 1; /* has been */
    }
    memset(e->loading, 0, g->node_count);
    return status;
}
