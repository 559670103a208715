/* transfers.c -- stores and loads that run while the engine computes.
 *
 * A store starts at its move and reads the value's memory until it ends. Freeing, overwriting or dropping the value
 * waits for it; freeing waits only when the bytes are needed for something else. A load starts as early as the plan
 * leaves room, and its first reader waits. Bytes of freed values that are still being stored and of prefetched
 * values count as in use.
 */
#include "engine/engine_parts.h"

#include "base/context.h"

#include <string.h>

static pbi_slot *slot_of(pb_engine *e, pb_node v, uint32_t tier)
{
    return &e->slot[(size_t)tier * e->graph->node_count + v];
}

/* Accounts for the time since `from`, in which the run waited. */
static void add_wait_time(pb_engine *e, uint64_t from)
{
    uint64_t now = pbi_now(e);
    e->m.io_wait_ns += now - from;
    e->m.flux += (double)(now - from) * (double)(e->used + e->leaving_bytes + e->prefetch_bytes);
    e->last_ns = now;
}

/* Waits for transfer number i and removes it from the list. */
static pb_status finish_transfer(pb_engine *e, uint32_t i)
{
    pbi_pending *u = e->pending[i];
    pbi_transfer *t = &u->transfer;
    if (!pbi_slow_is_done(e->slow, t)) {
        uint64_t from = pbi_now(e);
        pbi_slow_wait(e->slow, t);
        add_wait_time(e, from);
    }
    e->m.io_busy_ns += t->busy_ns;
    if (t->store)
        slot_of(e, t->node, t->tier)->sum = t->sum;
    else if (!u->prefetch)
        e->loading[t->node] = 0;
    e->leaving_bytes -= u->leaving ? t->bytes : 0;
    e->pending_count--;
    for (uint32_t k = i; k < e->pending_count; k++)
        e->pending[k] = e->pending[k + 1];
    e->pending[e->pending_count] = u;
    return pbi_slow_judge(e->ctx, e->slow, t, pb_graph_name(e->graph, t->node));
}

static pb_status begin_transfer(pb_engine *e, pbi_transfer t, pbi_pending **out)
{
    pb_status status = e->pending_count < PBI_MAX_PENDING ? PB_OK : PB_ELIMIT;
    for (uint32_t i = 0; status == PB_ELIMIT && i < e->pending_count; i++)
        if (!e->pending[i]->prefetch) /* prefetches end at their move */
            status = finish_transfer(e, i) == PB_OK ? PB_OK : PB_EIO;
    if (status != PB_OK)
        return status;
    pbi_pending *u = e->pending[e->pending_count++];
    uint64_t at = (uint64_t)(t.memory - e->block);
    *u = (pbi_pending){.transfer = t, .offset = at, .room = pbi_room_of(e, t.bytes)};
    pbi_slow_begin(e->slow, &u->transfer);
    *out = u;
    return PB_OK;
}

/* Waits for transfers of the node's copy in this tier. */
static pb_status wait_for_slot(pb_engine *e, pb_node v, uint32_t tier)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->pending_count; i-- > 0 && status == PB_OK;)
        if (e->pending[i]->transfer.node == v && e->pending[i]->transfer.tier == tier && !e->pending[i]->prefetch)
            status = finish_transfer(e, i);
    return status;
}

/* Waits for transfers that read or write the bytes of a resident value. */
static pb_status wait_for_value(pb_engine *e, pb_node v)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->pending_count; i-- > 0 && status == PB_OK;)
        if (e->pending[i]->transfer.memory == e->value[v] && e->pending[i]->transfer.node == v)
            status = finish_transfer(e, i);
    return status;
}

static pb_status wait_for_load(pb_engine *e, pb_node v) { return e->loading[v] ? wait_for_value(e, v) : PB_OK; }

pb_status pbi_store(pb_engine *e, pb_node v, uint32_t tier)
{
    uint64_t bytes = e->graph->size[v];
    e->stored[v] |= (uint8_t)(1u << tier);
    if (!bytes)
        return PB_OK;
    if (!pbi_in_block(e, e->value[v]))
        return pbi_fail(
            e->ctx, PB_EINVAL,
            "the plan stores %.80s from borrowed memory, which would store other bytes too; plan without borrowing",
            pb_graph_name(e->graph, v));
    pbi_pending *u;
    pbi_slot *slot = slot_of(e, v, tier);
    slot->at = e->file_end[tier] + e->phase->filed[tier].offset[e->next_filed[tier]++];
    pb_status status = wait_for_load(e, v);
    if (status == PB_OK)
        status = begin_transfer(
            e,
            (pbi_transfer){
                .memory = e->value[v], .bytes = bytes, .at = slot->at, .node = v, .tier = tier, .store = true},
            &u);
    if (status == PB_OK)
        e->m.stored_bytes += bytes;
    return status == PB_OK && e->options.no_overlap ? pbi_drain(e) : status;
}

/* Starts a load into the block; the value is stored, or is being stored. */
static pb_status fetch(pb_engine *e, pb_node v, uint32_t tier, uint64_t offset, pbi_pending **out)
{
    pb_status status = wait_for_slot(e, v, tier);
    if (status != PB_OK)
        return status;
    const pbi_slot *slot = slot_of(e, v, tier);
    e->m.loaded_bytes += e->graph->size[v];
    return begin_transfer(e,
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
    const pb_move *move = &e->phase->moves->move[k];
    pb_node v = move->node;
    if (!e->graph->size[v])
        return PB_OK;
    e->loading[v] = 1;
    for (uint32_t i = 0; i < e->pending_count; i++) {
        pbi_pending *u = e->pending[i];
        if (u->prefetch && u->at == k) {
            u->prefetch = false;
            e->prefetch_bytes -= u->transfer.bytes;
            return PB_OK;
        }
    }
    pbi_pending *u;
    uint64_t offset = (uint64_t)((unsigned char *)e->value[v] - e->block);
    pb_status status = fetch(e, v, move->tier - 1u, offset, &u);
    return status == PB_OK && e->options.no_overlap ? pbi_drain(e) : status;
}

pb_status pbi_drop(pb_engine *e, pb_node v, uint32_t tier)
{
    e->stored[v] &= (uint8_t) ~(1u << tier);
    return wait_for_slot(e, v, tier);
}

pb_status pbi_leave(pb_engine *e, pb_node v)
{
    pb_status status = wait_for_load(e, v);
    pbi_pending *last = NULL;
    for (uint32_t i = e->pending_count; i-- > 0 && status == PB_OK;) {
        pbi_pending *u = e->pending[i];
        if (u->transfer.node != v || u->transfer.memory != e->value[v] || u->leaving)
            continue;
        if (last) /* stores to several tiers: one of them keeps running, so that the bytes are counted once */
            status = finish_transfer(e, i);
        else
            last = u;
    }
    if (last && status == PB_OK) {
        last->leaving = true;
        e->leaving_bytes += last->transfer.bytes;
    }
    return status;
}

pb_status pbi_wait_for_operands(pb_engine *e, pb_node v, uint32_t by, pb_node over)
{
    pb_way way = pb_graph_way(e->graph, v, by);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < way.in_count && status == PB_OK; i++)
        status = wait_for_load(e, way.in[i]);
    if (over != PB_NO_NODE && status == PB_OK)
        status = wait_for_value(e, over);
    if (e->value[v] && status == PB_OK) /* recomputed for its by-products */
        status = wait_for_value(e, v);
    return status;
}

static bool is_busy(const pbi_pending *u, uint64_t offset, uint64_t size)
{
    return u->leaving && u->offset < offset + size && offset < u->offset + u->room;
}

static pb_status wait_for_place(pb_engine *e, uint64_t offset, uint64_t size)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->pending_count; i-- > 0 && status == PB_OK;)
        if (is_busy(e->pending[i], offset, size))
            status = finish_transfer(e, i);
    return status;
}

/* Removes finished stores of freed values without waiting. */
static pb_status remove_finished(pb_engine *e)
{
    pb_status status = PB_OK;
    for (uint32_t i = e->pending_count; i-- > 0 && status == PB_OK;)
        if (e->pending[i]->leaving && pbi_slow_is_done(e->slow, &e->pending[i]->transfer))
            status = finish_transfer(e, i);
    return status;
}

pb_status pbi_make_room(pb_engine *e, uint64_t during, pb_step k)
{
    const pbi_phase *phase = e->phase;
    pb_status status = e->leaving_bytes ? remove_finished(e) : PB_OK;
    for (uint32_t i = 0;
         i < e->pending_count && status == PB_OK && during + e->leaving_bytes + e->prefetch_bytes > e->limit;)
        if (e->pending[i]->leaving)
            status = finish_transfer(e, i);
        else
            i++;
    for (uint32_t i = e->next; e->leaving_bytes && i < phase->lives.count && phase->lives.life[i].from == k + 1; i++)
        if (status == PB_OK)
            status = wait_for_place(e, phase->packing.offset[i], phase->lives.life[i].size);
    return status;
}

static bool can_begin(pb_engine *e, const pbi_prefetch *prefetch)
{
    const pbi_phase *phase = e->phase;
    const pb_move *move = &phase->moves->move[prefetch->at];
    uint64_t size = e->graph->size[move->node], offset = phase->packing.offset[prefetch->life];
    if (e->pending_count >= PBI_MAX_PENDING / 2 || e->used + e->leaving_bytes + e->prefetch_bytes + size > e->limit)
        return false;
    for (uint32_t i = 0; i < e->pending_count; i++) {
        const pbi_pending *u = e->pending[i];
        if (is_busy(u, offset, phase->lives.life[prefetch->life].size))
            return false;
        if (u->transfer.node == move->node && u->transfer.tier == move->tier - 1u && u->transfer.store &&
            !pbi_slow_is_done(e->slow, &u->transfer))
            return false;
    }
    return true;
}

/* The first one that has to wait delays the others. One that is late is started by its move. */
pb_status pbi_start_prefetches(pb_engine *e, pb_step k)
{
    const pbi_phase *phase = e->phase;
    pb_status status = PB_OK;
    for (; e->next_prefetch < phase->prefetch_count && phase->prefetch[e->next_prefetch].issue <= k && status == PB_OK;
         e->next_prefetch++) {
        const pbi_prefetch *prefetch = &phase->prefetch[e->next_prefetch];
        if (prefetch->at <= k)
            continue;
        if (!can_begin(e, prefetch))
            break;
        const pb_move *move = &phase->moves->move[prefetch->at];
        pbi_pending *u;
        status = fetch(e, move->node, move->tier - 1u, phase->packing.offset[prefetch->life], &u);
        if (status == PB_OK) {
            u->prefetch = true;
            u->at = prefetch->at;
            e->prefetch_bytes += u->transfer.bytes;
        }
    }
    return status;
}

pb_status pbi_drain(pb_engine *e)
{
    pb_status status = PB_OK;
    while (e->pending_count) {
        pb_status one = finish_transfer(e, e->pending_count - 1);
        status = status == PB_OK ? one : status;
    }
    e->prefetch_bytes = 0;
    return status;
}

pb_status pbi_fill_slow(pb_engine *e)
{
    const pb_graph *g = e->graph;
    const pbi_phase *phase = e->phase;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            e->stored[v] |= 1;
    /* Each value passes through the place into which it is loaded first: only fixed memory is in use yet. Offsets in
     * the file are in the order of nodes. */
    for (pb_node v = 0, filed = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN_SLOW) || !g->size[v])
            continue;
        slot_of(e, v, 0)->at = phase->filed[0].offset[filed++];
        e->next_filed[0] = filed;
    }
    for (uint32_t i = 0; i < phase->lives.count && status == PB_OK; i++) {
        pb_node v = phase->lives.life[i].node;
        if (v == PB_NO_NODE || !(g->flags[v] & PB_NODE_GIVEN_SLOW) || e->loading[v])
            continue;
        pbi_pending *u;
        unsigned char *at = e->block + phase->packing.offset[i];
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, at) : PB_OK;
        if (status == PB_OK)
            status = begin_transfer(
                e,
                (pbi_transfer){.memory = at, .bytes = g->size[v], .at = slot_of(e, v, 0)->at, .node = v, .store = true},
                &u);
        if (status == PB_OK)
            status = pbi_drain(e);
        e->loading[v] = 1; /* here it means: stored */
    }
    memset(e->loading, 0, g->node_count);
    return status;
}
