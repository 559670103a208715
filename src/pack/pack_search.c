/* pack_search.c -- branch and bound over offsets: is there a packing within the cap?
 *
 * Problem     offsets for places whose pieces have lifetimes, so that nothing overlaps and everything is below the cap.
 * Idea        search for the packing within the cap with the minimum sum of offsets. Taken in the order of offsets,
 * and at
 *             one offset in a fixed order, each place lies on those before it: its offset is known when its turn
 * comes, and
 *             only the order is searched. A place is a candidate only below the top that any other one would reach,
 * which
 *             could otherwise be lowered to there. Of equal places the first in the fixed order is the lower one.
 *             pack_infer.c detects dead ends. Unplaced places that no longer overlap in time form independent
 * parts: each
 *             is solved separately, and if one is infeasible, the others need not be tried. The fixed order decides how
 *             long it takes; therefore many orders take turns, with limits (pack_order.c).
 * Invariants  `support` is the offset at which a place would lie on those placed; the unplaced places of a part
 * come after
 *             the place before the part, by offset and order.
 * Cost        a placement takes time proportional to the part: its places, their neighbours, and what lives in its
 *             sections.
 * Source      canonical packings, bounds of sections, the ceiling and parts: Moffitt, MiniMalloc (ASPLOS 2023). The
 *             treatment of late places, of equal places and orders by conflicts are ours, as is the code.
 * Limits      exponential: with a limit on effort there may be no answer.
 */
#include "pack/pack_search.h"

#include "base/arena.h"
#include "base/context.h"

#include <string.h>

enum { POLL = 256 };
#define NO_PART UINT32_MAX

/* ---- placing and undoing ---- */

static void count_in(pbi_pack_state *s, uint32_t v, bool comes)
{
    const pbi_places *p = s->p;
    for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++)
        for (uint32_t k = p->piece[i].from; k < p->piece[i].to; k++)
            s->to_come[k] += comes ? p->piece[i].size : (uint64_t)0 - p->piece[i].size;
    s->placed[v] = !comes;
}

static void place(pbi_pack_finder *f, uint32_t v)
{
    pbi_pack_state *s = &f->s;
    const pbi_pack_tables *t = s->t;
    count_in(s, v, false);
    for (uint32_t k = t->neighbour_start[v]; k < t->neighbour_start[v + 1]; k++) {
        const pbi_neighbour *b = &t->neighbour[k];
        uint64_t support = s->support[v] + b->over;
        if (s->placed[b->place] || s->support[b->place] >= support)
            continue;
        f->log[f->log_count++] = (pbi_pack_change){b->place, s->support[b->place]};
        s->support[b->place] = support;
    }
}

/* Undoes the placement of a frame, and everything that was done for its parts. */
static void undo_placement(pbi_pack_finder *f, uint32_t index)
{
    pbi_pack_frame *top = &f->stack[index];
    while (f->log_count > top->change_at) {
        pbi_pack_change *c = &f->log[--f->log_count];
        f->s.support[c->place] = c->support;
    }
    for (uint32_t k = index; k < f->depth; k++)
        if (f->s.placed[f->stack[k].chosen])
            count_in(&f->s, f->stack[k].chosen, true);
    f->depth = index + 1;
    f->pool_count = top->pool_at;
    f->children_count = top->children_at;
}

/* ---- parts ---- */

static void push_part(pbi_pack_finder *f, uint32_t parent, pbi_pack_span part, uint64_t floor, uint32_t after)
{
    pbi_pack_state *s = &f->s;
    pbi_pack_frame *top = &f->stack[f->depth++];
    *top = (pbi_pack_frame){.parent = parent,
                            .part = part,
                            .chosen = f->pool[part.from],
                            .tried_at = floor,
                            .tried_rank = after,
                            .ceiling = UINT64_MAX,
                            .pool_at = f->pool_count,
                            .children_at = f->children_count,
                            .change_at = f->log_count};
    for (uint32_t k = part.from; k < part.to; k++) {
        uint64_t reach = s->support[f->pool[k]] + s->p->size[f->pool[k]];
        top->ceiling = reach < top->ceiling ? reach : top->ceiling;
    }
}

/* The next candidate after the last one tried: the lowest first, then the first in the order. */
static bool next_candidate(pbi_pack_finder *f, pbi_pack_frame *top)
{
    const pbi_pack_state *s = &f->s;
    uint32_t best = PBI_NO_PLACE;
    for (uint32_t k = top->part.from; k < top->part.to; k++) {
        uint32_t v = f->pool[k];
        uint64_t at = s->support[v];
        if (at < top->tried_at || (at == top->tried_at && s->rank[v] < top->tried_rank) || at >= top->ceiling)
            continue;
        if (s->twin[v] != PBI_NO_PLACE && !s->placed[s->twin[v]])
            continue;
        if (best == PBI_NO_PLACE || at < s->support[best])
            best = v;
    }
    f->s.steps += top->part.to - top->part.from;
    if (best == PBI_NO_PLACE)
        return false;
    top->chosen = best;
    top->tried_at = s->support[best];
    top->tried_rank = s->rank[best] + 1;
    return true;
}

/* How many of the places from `from` on continue from each section to the next. */
static void count_crossings(pbi_pack_finder *f, const pbi_pack_frame *top, uint32_t from)
{
    const pbi_pack_span *part = &top->part;
    memset(f->crossing + part->first, 0, (part->last - part->first) * sizeof *f->crossing);
    for (uint32_t k = from; k < f->pool_count; k++)
        pbi_crossing_add(f->s.p, f->pool[k], f->crossing);
    pbi_crossing_sum(f->crossing, part->first, part->last);
}

/* Appends the places that start in the sections, from those listed at from .. to-1, to the pool. */
static void gather(pbi_pack_finder *f, pbi_pack_span *part, uint32_t from, uint32_t to)
{
    part->from = f->pool_count;
    for (uint32_t k = from; k < to; k++) {
        uint32_t begin = pbi_place_from(f->s.p, f->pool[k]);
        if (begin >= part->first && begin < part->last)
            f->pool[f->pool_count++] = f->pool[k];
    }
    part->to = f->pool_count;
    f->s.steps += to - from;
}

/* Adds the remaining places of a part to the pool; false: out of memory. */
static bool list_remaining(pbi_pack_finder *f, const pbi_pack_frame *top)
{
    uint32_t most = top->part.to - top->part.from;
    void *pool = f->pool, *children = f->children;
    if (!pbi_arena_reserve(f->arena, &pool, &f->pool_room, f->pool_count + 2 * (size_t)most, sizeof *f->pool))
        return false;
    f->pool = pool;
    if (!pbi_arena_reserve(f->arena, &children, &f->children_room, f->children_count + (size_t)most,
                           sizeof *f->children))
        return false;
    f->children = children;
    for (uint32_t k = top->part.from; k < top->part.to; k++)
        if (!f->s.placed[f->pool[k]])
            f->pool[f->pool_count++] = f->pool[k];
    return true;
}

/* Splits the remaining places, listed from `from` on, where none continues. */
static void split(pbi_pack_finder *f, pbi_pack_frame *top, uint32_t from)
{
    uint32_t to = f->pool_count;
    pbi_pack_span part = {.first = top->part.first};
    top->children = f->children_count;
    top->child = 0;
    count_crossings(f, top, from);
    for (uint32_t s = top->part.first; s < top->part.last; s++) {
        if (f->crossing[s])
            continue;
        part.last = s + 1;
        gather(f, &part, from, to);
        if (part.from < part.to)
            f->children[f->children_count++] = part;
        part.first = s + 1;
    }
    top->child_count = f->children_count - top->children;
}

/* ---- the search ---- */

/* The places of some sections, none of them placed. */
static pb_status begin(pbi_pack_finder *f, uint32_t first, uint32_t last)
{
    pbi_pack_state *s = &f->s;
    pbi_pack_span part = {.first = first, .last = last};
    void *pool = f->pool;
    if (!pbi_arena_reserve(f->arena, &pool, &f->pool_room, s->p->count, sizeof *f->pool))
        return PB_ENOMEM;
    f->pool = pool;
    f->pool_count = f->children_count = f->log_count = f->depth = 0;
    memcpy(s->to_come + first, s->p->load + first, (last - first) * sizeof *s->to_come);
    for (uint32_t i = 0; i < s->p->count; i++) {
        uint32_t v = s->order[i];
        if (pbi_place_from(s->p, v) < first || pbi_place_from(s->p, v) >= last)
            continue;
        s->support[v] = 0;
        s->placed[v] = s->p->size[v] == 0; /* fits everywhere */
        if (!s->placed[v])
            f->pool[f->pool_count++] = v;
    }
    part.to = f->pool_count;
    if (f->pool_count)
        push_part(f, NO_PART, part, 0, 0);
    return PB_OK;
}

/* The next part to solve after this one: a sibling, or one of an ancestor; false: there is none, everything is
 * placed. */
static bool go_on(pbi_pack_finder *f, uint32_t index)
{
    for (; index != NO_PART; index = f->stack[index].parent) {
        pbi_pack_frame *top = &f->stack[index];
        if (top->child == top->child_count)
            continue;
        push_part(f, index, f->children[top->children + top->child++], top->tried_at, top->tried_rank);
        return true;
    }
    return false;
}

/* Places the candidate of the part on top of the stack. *good: the remaining ones may fit, and are split into parts. */
static pb_status try_candidate(pbi_pack_finder *f, uint32_t index, bool *good)
{
    pbi_pack_frame *top = &f->stack[index];
    uint32_t from = f->pool_count;
    place(f, top->chosen);
    if (!list_remaining(f, top))
        return PB_ENOMEM;
    pbi_pack_part left = {f->pool + from, f->pool_count - from, top->part.first,
                          top->part.last, top->tried_at,        top->tried_rank};
    *good = pbi_pack_can_fit(&f->s, &left);
    if (*good)
        split(f, top, from);
    return PB_OK;
}

pb_status pbi_pack_run(pbi_pack_finder *f, const pbi_pack_span *sections, uint64_t limit, uint64_t most_steps,
                       pbi_packed *out)
{
    pb_status status = begin(f, sections->first, sections->last);
    *out = status == PB_OK && !f->depth ? PBI_PACKED : PBI_PACK_UNKNOWN;
    if (*out == PBI_PACKED)
        return PB_OK;
    for (uint64_t tried = 0; status == PB_OK && tried < limit && f->s.steps < most_steps;) {
        uint32_t index = f->depth - 1;
        bool good;
        if (!next_candidate(f, &f->stack[index])) {
            index = f->stack[index].parent;
            if (index == NO_PART) {
                *out = PBI_PACK_NONE;
                return PB_OK;
            }
            undo_placement(f, index); /* one infeasible part is enough */
            continue;
        }
        if (++tried % POLL == 0 && pbi_poll(f->ctx) != PB_OK)
            return PB_ECANCELLED;
        status = try_candidate(f, index, &good);
        if (status == PB_OK && !good) {
            undo_placement(f, index);
        } else if (status == PB_OK && !go_on(f, index)) {
            *out = PBI_PACKED;
            return PB_OK;
        }
    }
    return status;
}
