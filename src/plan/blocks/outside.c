/* outside.c -- see outside.h.
 *
 * Longer segments come first: the bound outside a segment is passed on to the parts of each of its choices, plus
 * what the other part costs. A choice whose parts and outside bound exceed the limit together, at every number of
 * slots, is not passed on.
 */
#include "plan/blocks/outside.h"

#include "base/context.h"

#define CELL uint32_t
#include "plan/blocks/lanes.h"

typedef struct spread {
    pbi_block_outsides *r;
    const pbi_block_table *t;
    pb_arena *arena;
    lanes lanes;
    CELL *left_over; /* [slots]: what the parts may cost there, plus 1 */
} spread;

typedef struct place {
    uint32_t i, j;
    unsigned left, right;
} place;

static view view_of(const pbi_block_cells *f, uint32_t shift)
{
    return (view){(const CELL *)f->cell, f->lo + shift, f->hi + shift, (CELL)f->tail};
}

/* Shifted down by `shift`, as far as slots remain. */
static view moved_down(view v, uint32_t shift)
{
    uint32_t cut = v.lo < shift && v.hi > v.lo ? min(shift - v.lo, v.hi - v.lo) : 0;
    return (view){v.cell + cut, v.lo > shift ? v.lo - shift : 0, v.hi > shift ? v.hi - shift : 0, v.tail};
}

/* The outside bound of a part, to be lowered; NULL when memory is exhausted. */
static CELL *part(spread *w, unsigned left, unsigned right, uint32_t i, uint32_t j)
{
    pbi_block_outside *rest = (pbi_block_outside *)pbi_block_outside_of(w->r, left, right, i, j);
    if (!rest->cell) {
        rest->cell = pb_arena_alloc(w->arena, (size_t)w->t->slots + 1, sizeof(CELL));
        for (uint32_t s = 0; rest->cell && s <= w->t->slots; s++)
            rest->cell[s] = w->t->never;
    }
    return rest->cell;
}

/* Makes the bound monotone, and finds where the segment is useful. */
static void finish_bound(spread *w, const place *p, pbi_block_outside *rest)
{
    const pbi_block_table *t = w->t;
    const pbi_block_cells *f = pbi_block_table_cells(t, p->left, p->right, p->i, p->j);
    rest->from = t->slots + 1;
    rest->to = 0;
    for (uint32_t s = t->slots + 1; s-- > 0;) {
        if (s < t->slots)
            rest->cell[s] = lower(rest->cell[s], rest->cell[s + 1]);
        CELL own = s < f->lo ? t->never : s < f->hi ? ((const CELL *)f->cell)[s - f->lo] : (CELL)f->tail;
        CELL over = rest->cell[s] <= w->r->limit ? w->r->limit + 1 - rest->cell[s] : 0;
        w->left_over[s] = over;
        if (own < over) {
            rest->from = s;
            rest->to = rest->to ? rest->to : s + 1;
        }
    }
}

static bool hand_to_ways(spread *w, const place *p, const pbi_block_outside *rest)
{
    const pbi_block_table *t = w->t;
    const pbi_blocks *b = t->b;
    for (uint32_t n = 0; n < b->block[p->i + 1].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(b, p->i + 1, n);
        uint32_t need = pbi_block_slots(t, pbi_block_way_need(b, p->i, way, p->j, p->left, p->right));
        uint32_t held = pbi_block_slots(t, pbi_block_held(b, p->i, way, p->left));
        uint64_t extra_work = way->extra_work / t->quantum;
        uint32_t from = need == UINT32_MAX ? rest->to : max(max(rest->from, need), held);
        if (held == UINT32_MAX || extra_work > w->r->limit || from >= rest->to)
            continue;
        CELL *inner = part(w, way->reads_right ? PBI_KEEP : PBI_FREE, p->right, p->i + 1, p->j);
        if (!inner)
            return false;
        w->lanes.relax1(inner + (from - held), rest->cell + from, (CELL)extra_work, rest->to - from);
    }
    return true;
}

static bool hand_to_split(spread *w, const place *p, const pbi_block_outside *rest, unsigned k, uint32_t m,
                          uint32_t need)
{
    const pbi_block_table *t = w->t;
    const pbi_block_cells *behind = pbi_block_table_cells(t, k, p->right, m, p->j);
    const pbi_block_cells *before = pbi_block_table_cells(t, p->left, k, p->i, m);
    uint32_t held = t->held[p->i], work = t->before[m - 1] - t->before[p->i];
    if (behind->lo > t->slots || before->lo > t->slots)
        return true;
    view a = view_of(behind, held), b = view_of(before, 0), all = {rest->cell, 0, t->slots + 1, t->never};
    span where = beaten(&w->lanes, w->left_over, &a, &b, (CELL)work, (span){max(rest->from, need), rest->to});
    where.from = max(where.from, held);
    if (where.from >= where.to)
        return true;
    CELL *left = part(w, p->left, k, p->i, m), *right = part(w, k, p->right, m, p->j);
    if (!left || !right)
        return false;
    relax_sum(&w->lanes, left, &all, &a, (CELL)work, where);
    all = moved_down(all, held);
    b = moved_down(b, held);
    relax_sum(&w->lanes, right, &all, &b, (CELL)work, (span){where.from - held, where.to - held});
    return true;
}

static bool hand_to_splits(spread *w, const place *p, const pbi_block_outside *rest)
{
    const pbi_block_table *t = w->t;
    const uint64_t *run = t->run + (size_t)p->i * (t->b->count + 1);
    uint64_t ends = pbi_add_saturated(t->b->value[p->i], pbi_block_right(t->b, p->j, p->right));
    if (t->held[p->i] == UINT32_MAX)
        return true;
    for (uint32_t m = p->i + 1; m < p->j; m++) {
        uint32_t need = pbi_block_slots(t, pbi_add_saturated(run[m], ends));
        if (need >= rest->to || t->before[m - 1] - t->before[p->i] > w->r->limit)
            break; /* later ones need and cost at least as much */
        for (unsigned k = 0; k < t->states.rights; k++)
            if (!hand_to_split(w, p, rest, k, m, need))
                return false;
    }
    return true;
}

static bool hand_on(spread *w, uint32_t i, uint32_t j)
{
    const pbi_block_table *t = w->t;
    for (unsigned left = 0; left < t->states.lefts; left++)
        /* a resident right value can be freed, so this state comes first */
        for (unsigned right = t->states.rights; right-- > 0;) {
            place p = {i, j, left, right};
            pbi_block_outside *rest = (pbi_block_outside *)pbi_block_outside_of(w->r, left, right, i, j);
            if (!rest->cell)
                continue;
            finish_bound(w, &p, rest);
            if (rest->from >= rest->to)
                continue;
            if (right == PBI_HELD) {
                CELL *bare = part(w, left, PBI_BARE, i, j);
                if (!bare)
                    return false;
                w->lanes.relax1(bare + rest->from, rest->cell + rest->from, 0, rest->to - rest->from);
            }
            if (j > i + 1 && (!hand_to_ways(w, &p, rest) || !hand_to_splits(w, &p, rest)))
                return false;
        }
    return true;
}

pb_status pbi_block_outsides_fill(pbi_block_outsides *r, pb_arena *arena)
{
    const pbi_block_table *t = r->table;
    size_t row = (size_t)t->b->count + 1;
    spread w = {.r = r, .t = t, .arena = arena, .lanes = choose_lanes()};
    w.left_over = pb_arena_alloc(arena, (size_t)t->slots + 1, sizeof(CELL));
    if (!w.left_over)
        return PB_ENOMEM;
    for (unsigned left = 0; left < t->states.lefts; left++)
        for (unsigned right = 0; right < t->states.rights; right++)
            if (!(r->rest[left][right] = pb_arena_zero(arena, row * row, sizeof(pbi_block_outside))))
                return PB_ENOMEM;
    CELL *root = part(&w, PBI_FREE, PBI_BARE, 0, t->b->count);
    if (!root)
        return PB_ENOMEM;
    root[t->slots] = 0;
    for (uint32_t length = t->b->count; length > 0; length--) {
        for (uint32_t i = 0; i + length <= t->b->count; i++)
            if (!hand_on(&w, i, i + length))
                return PB_ENOMEM;
        pb_status status = pbi_tick(t->ctx, t->b->count - length + 1);
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}
