/* pack_tables.c -- which places live at the same time, and which places are equal. */
#include "pack/pack_search.h"

#include "base/arena.h"
#include "base/context.h"

#include <string.h>

enum { MAX_NEIGHBOURS = 4000000 };

static bool overlap_in_time(const pbi_places *p, uint32_t u, uint32_t v)
{
    return u != v && pbi_place_from(p, u) < pbi_place_to(p, v) && pbi_place_from(p, v) < pbi_place_to(p, u);
}

/* The room that each needs below the other. A place has one offset at all times, so the same one of the two is always
 * the lower one. */
static pbi_neighbour measure(const pbi_places *p, uint32_t v, uint32_t other)
{
    pbi_neighbour b = {.place = other};
    uint32_t i = p->piece_start[v], j = p->piece_start[other];
    while (i < p->piece_start[v + 1] && j < p->piece_start[other + 1]) {
        const pbi_piece *x = &p->piece[i], *y = &p->piece[j];
        if (x->from < y->to && y->from < x->to && x->size && y->size) {
            b.over = x->size > b.over ? x->size : b.over;
            b.under = y->size > b.under ? y->size : b.under;
        }
        *(x->to <= y->to ? &i : &j) += 1;
    }
    return b;
}

static pb_status make_neighbours(pb_context *ctx, const pbi_places *p, pb_arena *arena, pbi_pack_tables *t, bool *fit)
{
    size_t room = 0, count = 0;
    t->neighbour_start = pb_arena_alloc(arena, (size_t)p->count + 1, sizeof *t->neighbour_start);
    if (!t->neighbour_start)
        return PB_ENOMEM;
    for (uint32_t v = 0; v < p->count; v++) {
        t->neighbour_start[v] = (uint32_t)count;
        void *items = t->neighbour;
        *fit = count + p->count <= MAX_NEIGHBOURS;
        if (!*fit)
            return PB_OK;
        if (!pbi_arena_reserve(arena, &items, &room, count + p->count, sizeof *t->neighbour))
            return PB_ENOMEM;
        t->neighbour = items;
        for (uint32_t u = 0; u < p->count; u++) {
            if (!overlap_in_time(p, u, v))
                continue;
            t->neighbour[count] = measure(p, v, u);
            count += t->neighbour[count].over > 0;
        }
        if (v % 64 == 0 && pbi_poll(ctx) != PB_OK)
            return PB_ECANCELLED;
    }
    t->neighbour_start[p->count] = (uint32_t)count;
    return PB_OK;
}

static pb_status make_members(const pbi_places *p, pb_arena *arena, pbi_pack_tables *t, bool *fit)
{
    size_t all = 0;
    uint32_t *start = pb_arena_zero(arena, (size_t)p->section_count + 2, sizeof *start);
    if (!start)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < p->piece_start[p->count]; i++)
        all += p->piece[i].to - p->piece[i].from;
    *fit = all <= MAX_NEIGHBOURS;
    t->member = *fit ? pb_arena_alloc(arena, all, sizeof *t->member) : NULL;
    if (!t->member)
        return *fit ? PB_ENOMEM : PB_OK;
    /* Counts two positions ahead, so that filling moves each start to its final value. */
    for (uint32_t i = 0; i < p->piece_start[p->count]; i++)
        for (uint32_t s = p->piece[i].from; s < p->piece[i].to; s++)
            start[s + 2]++;
    for (uint32_t s = 2; s < p->section_count + 2; s++)
        start[s] += start[s - 1];
    for (uint32_t v = 0; v < p->count; v++)
        for (uint32_t i = p->piece_start[v]; i < p->piece_start[v + 1]; i++)
            for (uint32_t s = p->piece[i].from; s < p->piece[i].to; s++)
                t->member[start[s + 1]++] = v;
    t->member_start = start;
    return PB_OK;
}

static bool is_alike(const pbi_places *p, uint32_t u, uint32_t v)
{
    const pbi_piece *x = p->piece + p->piece_start[u], *y = p->piece + p->piece_start[v];
    uint32_t count = p->piece_start[u + 1] - p->piece_start[u];
    if (count != p->piece_start[v + 1] - p->piece_start[v])
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (x[i].from != y[i].from || x[i].to != y[i].to || x[i].size != y[i].size)
            return false;
    return true;
}

/* Equal places are neighbours. */
static void make_kinds(const pbi_places *p, pbi_pack_tables *t)
{
    for (uint32_t v = 0; v < p->count; v++) {
        t->kind[v] = v;
        for (uint32_t k = t->neighbour_start[v]; k < t->neighbour_start[v + 1] && t->neighbour[k].place < v; k++)
            if (is_alike(p, v, t->neighbour[k].place)) {
                t->kind[v] = t->neighbour[k].place;
                break;
            }
    }
}

pb_status pbi_pack_tables_make(pb_context *ctx, const pbi_places *p, pb_arena *arena, pbi_pack_tables *out, bool *fit)
{
    pbi_pack_tables t = {.kind = pb_arena_alloc(arena, p->count, sizeof *t.kind)};
    pb_status status = t.kind ? make_members(p, arena, &t, fit) : PB_ENOMEM;
    if (status == PB_OK && *fit)
        status = make_neighbours(ctx, p, arena, &t, fit);
    if (status != PB_OK || !*fit)
        return status;
    make_kinds(p, &t);
    *out = t;
    return PB_OK;
}
