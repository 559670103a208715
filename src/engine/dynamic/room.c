/* room.c -- makes room in the block: which values are evicted, and how fragmented memory is handled. */
#include "engine/dynamic/parts.h"

#include "base/context.h"

#include <string.h>

bool pbi_dynamic_may_go(const pb_dynamic *o, pb_value v)
{
    const pbi_record *r = &o->record[v];
    return r->piece != PBI_NO_PIECE && !r->pins && !(r->flags & (PBI_OUTSIDE | PBI_ONCE));
}

pb_status pbi_dynamic_evict(pb_dynamic *o, pb_value v)
{
    pbi_record *r = &o->record[v];
    pbi_pool_give(&o->pool, r->piece);
    r->piece = PBI_NO_PIECE;
    o->counts.evicted++;
    o->counts.evicted_bytes += r->size;
    return pbi_dynamic_left(o, v);
}

static bool piece_may_go(const pb_dynamic *o, uint32_t i)
{
    pb_value v = o->pool.piece[i].value;
    return v != PBI_FREE && v != PBI_WORK && pbi_dynamic_may_go(o, v);
}

/* Evicts the value with the lowest score; false: none may be evicted. */
static pb_status evict_one(pb_dynamic *o, bool *found)
{
    pb_value best = 0;
    double least = 0;
    *found = false;
    for (uint32_t i = o->pool.first; i != PBI_NO_PIECE; i = o->pool.piece[i].after) {
        if (!piece_may_go(o, i))
            continue;
        double score = pbi_dynamic_score(o, o->pool.piece[i].value);
        if (*found && score >= least)
            continue;
        *found = true;
        least = score;
        best = o->pool.piece[i].value;
    }
    return *found ? pbi_dynamic_evict(o, best) : PB_OK;
}

static double piece_score(pb_dynamic *o, uint32_t i)
{
    return o->pool.piece[i].value == PBI_FREE ? 0 : pbi_dynamic_score(o, o->pool.piece[i].value);
}

/* Evicts neighbours that have `size` bytes together and the lowest sum of scores: a window moves along the block. */
static pb_status evict_window(pb_dynamic *o, uint64_t size, bool *found)
{
    const pbi_pool *p = &o->pool;
    uint32_t from = p->first, best_from = PBI_NO_PIECE, best_to = PBI_NO_PIECE;
    uint64_t bytes = 0;
    double sum = 0, least = 0;
    for (uint32_t to = p->first; to != PBI_NO_PIECE; to = p->piece[to].after) {
        if (p->piece[to].value != PBI_FREE && !piece_may_go(o, to)) {
            from = p->piece[to].after;
            bytes = 0;
            sum = 0;
            continue;
        }
        bytes += p->piece[to].size;
        sum += piece_score(o, to);
        while (from != to && bytes - p->piece[from].size >= size) {
            bytes -= p->piece[from].size;
            sum -= piece_score(o, from);
            from = p->piece[from].after;
        }
        if (bytes >= size && (best_from == PBI_NO_PIECE || sum < least)) {
            least = sum;
            best_from = from;
            best_to = to;
        }
    }
    *found = best_from != PBI_NO_PIECE;
    if (!*found)
        return PB_OK;
    o->counts.windows++;
    /* Evicting merges pieces: the values are found by their addresses. */
    uint64_t at = p->piece[best_from].at, end = p->piece[best_to].at + p->piece[best_to].size;
    for (uint32_t i = p->first; i != PBI_NO_PIECE;) {
        const pbi_block_piece *b = &p->piece[i];
        if (b->at >= at && b->at < end && b->value != PBI_FREE) {
            pb_status status = pbi_dynamic_evict(o, b->value);
            if (status != PB_OK)
                return status;
            i = p->first;
        } else {
            i = b->after;
        }
    }
    return PB_OK;
}

/* Moves values that are not pinned by the program down over free pieces. */
static bool push_together(pb_dynamic *o)
{
    pbi_pool *p = &o->pool;
    bool moved = false;
    for (uint32_t i = p->first; i != PBI_NO_PIECE; i = p->piece[i].after) {
        uint32_t next = p->piece[i].after;
        if (p->piece[i].value != PBI_FREE || next == PBI_NO_PIECE || p->piece[next].value == PBI_WORK ||
            o->record[p->piece[next].value].user_pins)
            continue;
        pbi_block_piece *gap = &p->piece[i], *b = &p->piece[next];
        memmove(o->block + gap->at, o->block + b->at, b->size);
        uint64_t room = gap->size;
        gap->value = b->value; /* the two change places in the list */
        gap->size = b->size;
        b->at = gap->at + gap->size;
        b->size = room;
        b->value = PBI_FREE;
        o->record[gap->value].piece = i;
        uint32_t after = b->after;
        if (after != PBI_NO_PIECE && p->piece[after].value == PBI_FREE) {
            p->used += b->size; /* counted again: giving it back merges it with what is behind it */
            pbi_pool_give(p, next);
        }
        o->counts.moved++;
        moved = true;
    }
    return moved;
}

pb_status pbi_dynamic_make_room(pb_dynamic *o, uint64_t size, pb_value value, uint32_t *out)
{
    pb_status status = PB_OK;
    for (;;) {
        bool found = false;
        status = pbi_pool_take(&o->pool, size, value, out);
        if (status != PB_OK || *out != PBI_NO_PIECE)
            break;
        if (o->pool.size - o->pool.used >= size) { /* enough, but fragmented */
            status = evict_window(o, size, &found);
            if (!found)
                found = push_together(o);
        }
        if (status == PB_OK && !found)
            status = evict_one(o, &found);
        if (status != PB_OK)
            break;
        if (!found)
            return pbi_fail(o->ctx, PB_ELIMIT,
                            "%llu bytes are needed, but of the %llu bytes of the cap %llu are in use by values that "
                            "must be kept; raise the cap",
                            (unsigned long long)size, (unsigned long long)o->pool.size,
                            (unsigned long long)o->pool.used);
    }
    if (status == PB_OK && o->pool.used > o->counts.peak)
        o->counts.peak = o->pool.used;
    return status;
}
