/* pack_places.c -- lifetimes on a time axis that has only the moments at which something starts or ends. */
#include "pack/pack_parts.h"

#include "base/checked.h"
#include "base/context.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The moments, each once. */
static uint32_t find_moments(const pb_lifetimes *lives, uint64_t *moment)
{
    size_t count = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lives->count; i++) {
        moment[count++] = lives->life[i].from;
        moment[count++] = lives->life[i].to;
    }
    qsort(moment, count, sizeof *moment, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || moment[i] != moment[i - 1])
            moment[kept++] = moment[i];
    return kept;
}

static uint32_t moment_at(const uint64_t *moment, uint32_t count, uint64_t time)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(moment[middle] <= time ? &low : &high) = middle;
    }
    return low;
}

static pb_status count_pieces(pb_context *ctx, const pb_lifetimes *lives, pbi_places *p)
{
    for (uint32_t i = 0; i < lives->count; i++) {
        const pb_lifetime *l = &lives->life[i];
        if (l->place >= p->count)
            return pbi_fail(ctx, PB_EINVAL,
                            "lifetime %u names a place that does not exist; raise place_count, or change it",
                            (unsigned)i);
        if (l->from >= l->to)
            return pbi_fail(ctx, PB_EINVAL, "lifetime %u must end after it begins; change one of the two", (unsigned)i);
        if (lives->align && l->size % lives->align)
            return pbi_fail(ctx, PB_EINVAL, "the size of lifetime %u is not a multiple of the alignment; round it up",
                            (unsigned)i);
        p->piece_start[l->place + 1]++;
    }
    for (uint32_t v = 0; v < p->count; v++) {
        if (!p->piece_start[v + 1])
            return pbi_fail(ctx, PB_EINVAL, "place %u has no lifetime; number the places without gaps", (unsigned)v);
        p->piece_start[v + 1] += p->piece_start[v];
    }
    return PB_OK;
}

/* Adds a piece to a place that has those from `first` to *end. While two overlap in time the larger one counts.
 * False: it starts or ends before the last one does. */
static bool add_piece(pbi_piece *first, pbi_piece **end, pbi_piece piece)
{
    while (*end > first && (*end)[-1].to > piece.from) {
        pbi_piece *last = *end - 1;
        if (last->from > piece.from || last->to > piece.to)
            return false;
        if (last->size >= piece.size) {
            piece.from = last->to;
            break;
        }
        last->to = piece.from;
        if (last->from == last->to)
            --*end;
    }
    if (piece.from < piece.to)
        *(*end)++ = piece;
    return true;
}

/* Removes the holes of unused pieces. */
static void close_up(pbi_places *p, pbi_piece *const *end)
{
    uint32_t kept = 0;
    for (uint32_t v = 0; v < p->count; v++) {
        const pbi_piece *piece = p->piece + p->piece_start[v];
        p->piece_start[v] = kept;
        while (piece < end[v])
            p->piece[kept++] = *piece++;
    }
    p->piece_start[p->count] = kept;
}

static pb_status add_pieces(pb_context *ctx, const pb_lifetimes *lives, const uint64_t *moment, uint32_t moments,
                            pb_arena *arena, pbi_places *p)
{
    pbi_piece **end = pb_arena_alloc(arena, p->count, sizeof *end);
    pb_status status = end ? count_pieces(ctx, lives, p) : PB_ENOMEM;
    if (status != PB_OK)
        return status;
    for (uint32_t v = 0; v < p->count; v++)
        end[v] = p->piece + p->piece_start[v];
    for (uint32_t i = 0; i < lives->count; i++) { /* in the order of time */
        const pb_lifetime *l = &lives->life[i];
        pbi_piece piece = {moment_at(moment, moments, l->from), moment_at(moment, moments, l->to), l->size};
        if (!add_piece(p->piece + p->piece_start[l->place], &end[l->place], piece))
            return pbi_fail(ctx, PB_EINVAL,
                            "lifetime %u begins or ends before the previous one in its place; sort them by time",
                            (unsigned)i);
        p->size[l->place] = l->size > p->size[l->place] ? l->size : p->size[l->place];
    }
    close_up(p, end);
    return PB_OK;
}

/* Sums of sizes from what starts and ends in each section. */
static pb_status add_loads(pb_context *ctx, pbi_places *p)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->piece_start[p->count]; i++)
        if (!pbi_add(all, p->piece[i].size, &all) || all > UINT64_MAX / 2)
            return pbi_fail(ctx, PB_ERANGE, "the sum of all sizes exceeds 2^63; use coarser units");
    for (uint32_t i = 0; i < p->piece_start[p->count]; i++) { /* differences wrap around, their sums do not */
        p->load[p->piece[i].from] += p->piece[i].size;
        p->load[p->piece[i].to] -= p->piece[i].size;
    }
    for (uint32_t s = 0; s < p->section_count; s++) {
        p->load[s] += s ? p->load[s - 1] : 0;
        p->most_load = p->load[s] > p->most_load ? p->load[s] : p->most_load;
    }
    return PB_OK;
}

pb_status pbi_places_make(pb_context *ctx, const pb_lifetimes *lives, pb_arena *arena, pbi_places *out)
{
    pbi_places p = {.count = lives->place_count};
    uint64_t *moment = pb_arena_alloc(arena, 2 * (size_t)lives->count, sizeof *moment);
    p.piece = pb_arena_alloc(arena, lives->count, sizeof *p.piece);
    p.piece_start = pb_arena_zero(arena, (size_t)p.count + 1, sizeof *p.piece_start);
    p.size = pb_arena_zero(arena, p.count, sizeof *p.size);
    if (!moment || !p.piece || !p.piece_start || !p.size)
        return PB_ENOMEM;
    uint32_t moments = find_moments(lives, moment);
    p.section_count = moments ? moments - 1 : 0;
    p.load = pb_arena_zero(arena, (size_t)moments + 1, sizeof *p.load);
    p.length = pb_arena_zero(arena, (size_t)moments + 1, sizeof *p.length);
    for (uint32_t s = 0; p.length && s < p.section_count; s++)
        p.length[s] = moment[s + 1] - moment[s];
    pb_status status = p.load && p.length ? add_pieces(ctx, lives, moment, moments, arena, &p) : PB_ENOMEM;
    if (status == PB_OK)
        status = add_loads(ctx, &p);
    if (status == PB_OK)
        *out = p;
    return status;
}
