/* pack_turns.c -- the search for a packing within a cap: independent parts of the time axis, and orders in turns.
 *
 * The duration of a search depends on the order in which it tries places, and it is not known in advance which order is
 * good: one packs a set in a tenth of a second, another one not in an hour. So each order gets a limit, and many get a
 * turn.
 */
#include "pack/pack_search.h"

#include "base/arena.h"

#include <string.h>

enum { FIRST_LIMIT = 25000 }; /* placements of one order in the first round */

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: short runs often, long ones now and then. */
static uint64_t luby(uint64_t i)
{
    for (;;) {
        uint64_t whole = 1;
        while (2 * whole + 1 <= i)
            whole = 2 * whole + 1;
        if (whole == i)
            return (whole + 1) / 2;
        i -= whole;
    }
}

static bool alloc_state(pbi_pack_finder *f, const pbi_places *p, const pbi_pack_tables *t)
{
    pbi_pack_state *s = &f->s;
    pb_arena *arena = f->arena;
    uint32_t n = p->count, m = p->section_count;
    s->p = p;
    s->t = t;
    s->order = pb_arena_alloc(arena, n, sizeof *s->order);
    s->rank = pb_arena_alloc(arena, n, sizeof *s->rank);
    s->twin = pb_arena_alloc(arena, n, sizeof *s->twin);
    s->placed = pb_arena_alloc(arena, n, 1);
    s->late = pb_arena_alloc(arena, n, 1);
    s->support = pb_arena_alloc(arena, n, sizeof *s->support);
    s->low = pb_arena_alloc(arena, n, sizeof *s->low);
    s->to_come = pb_arena_alloc(arena, m, sizeof *s->to_come);
    s->conflicts = pb_arena_zero(arena, m, sizeof *s->conflicts);
    f->stack = pb_arena_alloc(arena, n, sizeof *f->stack);
    f->log = pb_arena_alloc(arena, (size_t)t->neighbour_start[n] + 1, sizeof *f->log);
    f->crossing = pb_arena_alloc(arena, m, sizeof *f->crossing);
    f->cut = pb_arena_zero(arena, m, sizeof *f->cut);
    f->ranked = pb_arena_alloc(arena, n, sizeof *f->ranked);
    return s->order && s->rank && s->twin && s->placed && s->late && s->support && s->low && s->to_come &&
           s->conflicts && f->stack && f->log && f->crossing && f->cut && f->ranked;
}

/* All orders in turns until one of them has an answer for these sections. */
static pb_status run_orders(pbi_pack_finder *f, const pbi_pack_span *sections, pbi_rng rng, uint64_t effort,
                            pbi_packed *out)
{
    pb_status status = PB_OK;
    *out = PBI_PACK_UNKNOWN;
    for (uint32_t which = 0; status == PB_OK && *out == PBI_PACK_UNKNOWN && f->s.steps < effort; which++) {
        pbi_pack_order(&f->s, which, &rng, f->ranked);
        f->s.steps += f->s.p->count;
        status = pbi_pack_run(f, sections, FIRST_LIMIT * luby(which / PBI_PACK_ORDERS + 1), effort, out);
    }
    return status;
}

/* Sections from which no place continues separate independent parts: each is searched separately. */
static pb_status run_parts(pbi_pack_finder *f, pbi_rng rng, uint64_t effort, pbi_packed *out)
{
    const pbi_places *p = f->s.p;
    pb_status status = PB_OK;
    pbi_pack_span sections = {0};
    *out = PBI_PACKED;
    for (uint32_t v = 0; v < p->count; v++)
        pbi_crossing_add(p, v, f->cut);
    pbi_crossing_sum(f->cut, 0, p->section_count);
    for (uint32_t s = 0; status == PB_OK && *out == PBI_PACKED && s < p->section_count; s++) {
        if (f->cut[s])
            continue;
        sections.last = s + 1;
        status = run_orders(f, &sections, rng, effort, out);
        sections.first = s + 1;
    }
    return status;
}

pb_status pbi_pack_search(pb_context *ctx, const pbi_places *p, pbi_pack_goal *goal, uint64_t *offset, pbi_packed *out)
{
    pb_arena scratch;
    pbi_pack_tables tables;
    bool fit = true;
    *out = p->most_load > goal->cap ? PBI_PACK_NONE : PBI_PACK_UNKNOWN;
    if (*out != PBI_PACK_UNKNOWN)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    pbi_pack_finder f = {.ctx = ctx, .arena = &scratch, .s.cap = goal->cap};
    pb_status status = pbi_pack_tables_make(ctx, p, &scratch, &tables, &fit);
    if (status == PB_OK && !fit)
        goal->effort = 0;
    if (status == PB_OK && fit)
        status = alloc_state(&f, p, &tables) ? run_parts(&f, (pbi_rng){goal->seed}, goal->effort, out) : PB_ENOMEM;
    goal->effort -= f.s.steps < goal->effort ? f.s.steps : goal->effort;
    if (status == PB_OK && *out == PBI_PACKED)
        memcpy(offset, f.s.support, p->count * sizeof *offset);
    pb_arena_release(&scratch);
    return status;
}
