/* cells.h -- fills a table of table.h; included once for each width of a cell (CELL, FILL).
 *
 * A split at m costs extra(m, j)(s - held) + extra(i, m)(s) + the work of blocks i+1 .. m-1, for every number of
 * slots s: sums of arrays and their minimum, which compilers turn into vector code. There are n^3/6 splits, so
 * values m are processed in chunks. Each chunk keeps the minimum of its functions, for both kinds of part; their sum
 * bounds every split in the chunk, and only if it beats the best so far are the splits themselves tried. The work of
 * the run counts with the right part: what a longer run costs in that part, it saves in the part behind, so the
 * functions of a chunk are similar and the bound is tight.
 *
 * Columns j are processed a few at a time, and for these all i downwards, so that the functions of row i stay in
 * cache.
 */
#include "base/context.h"
#include "plan/blocks/lanes.h"
#include "plan/blocks/table.h"

#include <string.h>

enum { CHUNK = 16, TILE = 4 };

/* ---- functions ---- */

/* The minimum of a chunk's functions; cells by number of slots, of lo .. hi - 1. */
typedef struct chunk {
    CELL *cell;
    uint32_t lo, hi;
    CELL tail;
} chunk;

typedef struct filler {
    pbi_block_table *t;
    pb_arena *arena;
    lanes lanes;
    CELL never;
    uint32_t chunks; /* in a row */
    CELL *best;      /* the function being computed, [0 .. slots] */
    CELL *room;      /* buffer for the next function */
    size_t room_left;
    chunk *row[2][2];    /* [left][k]: parts (i, m) by i and chunk of m */
    chunk *column[2][2]; /* [k][right]: parts (m, j) by place of j in the tile and chunk of m, run included */
} filler;

static view view_of(const pbi_block_cells *f, uint32_t shift)
{
    /* The cells of lo .. hi - 1, moved up by `shift`; the pointer is only used inside them. */
    return (view){(const CELL *)f->cell, f->lo + shift, f->hi + shift, (CELL)f->tail};
}

static view chunk_view(const chunk *c, uint32_t shift)
{
    return (view){c->cell + c->lo, c->lo + shift, c->hi + shift, c->tail};
}

/* The chunk becomes the minimum of itself and the function. */
static void chunk_add(const filler *f, chunk *c, const pbi_block_cells *g, CELL offset)
{
    if (g->lo > f->t->slots)
        return;
    if (c->lo > c->hi) { /* empty */
        c->lo = c->hi = g->lo;
        c->tail = f->never;
    }
    for (; c->hi < g->hi; c->hi++)
        c->cell[c->hi] = c->tail;
    while (c->lo > g->lo)
        c->cell[--c->lo] = f->never;
    f->lanes.relax1(c->cell + g->lo, g->cell, offset, g->hi - g->lo);
    CELL tail = (CELL)(g->tail + offset);
    if (g->hi < c->hi)
        relax_flat(c->cell + g->hi, tail, c->hi - g->hi);
    c->tail = lower(c->tail, tail);
}

/* ---- one entry ---- */

typedef struct place {
    uint32_t i, j, column; /* column: place of j in its tile */
    unsigned left, right;
} place;

static uint64_t quanta(const filler *f, uint64_t work)
{
    work /= f->t->quantum;
    return work < f->never ? work : f->never;
}

static void add_single(filler *f, const place *p)
{
    const pbi_blocks *b = f->t->b;
    for (uint32_t n = 0; n < b->block[p->j].way_count; n++) {
        const pbi_block_way *w = pbi_block_way_of(b, p->j, n);
        pbi_block_single one = pbi_block_alone(b, p->i, w, p->left, p->right);
        uint32_t need = pbi_block_slots(f->t, one.need);
        uint64_t work = quanta(f, w->extra_work);
        if (one.cost != w->extra_work)
            work += quanta(f, b->block[p->j].cost);
        if (need <= f->t->slots && work < f->never)
            relax_flat(f->best + need, (CELL)work, f->t->slots + 1 - need);
    }
}

static void add_ways(filler *f, const place *p)
{
    const pbi_blocks *b = f->t->b;
    for (uint32_t n = 0; n < b->block[p->i + 1].way_count; n++) {
        const pbi_block_way *w = pbi_block_way_of(b, p->i + 1, n);
        uint32_t need = pbi_block_slots(f->t, pbi_block_way_need(b, p->i, w, p->j, p->left, p->right));
        uint32_t held = pbi_block_slots(f->t, pbi_block_held(b, p->i, w, p->left));
        uint64_t extra_work = quanta(f, w->extra_work);
        if (need > f->t->slots || held > f->t->slots || extra_work >= f->never)
            continue;
        const pbi_block_cells *inner =
            pbi_block_table_cells(f->t, w->reads_right ? PBI_KEEP : PBI_FREE, p->right, p->i + 1, p->j);
        if (inner->lo > f->t->slots)
            continue;
        view v = view_of(inner, held);
        relax_one(&f->lanes, f->best, &v, (CELL)extra_work, (span){need, f->t->slots + 1});
    }
}

/* Is the segment one of those that the table omits? */
static bool is_left_out(const pbi_block_table *t, uint32_t i, uint32_t j)
{
    uint32_t length = j - i, stride = t->stride;
    if (stride <= 1 || length <= t->near || j == t->b->count)
        return false;
    for (uint32_t n = 2 * t->near; n < length && stride < 4 * t->stride; n *= 2)
        stride *= 2;
    return j % stride != 0;
}

/* The splits from `m` to `end` - 1 that may beat the current best. */
static void try_splits(filler *f, const place *p, unsigned k, uint32_t m, uint32_t end, span where)
{
    const pbi_block_table *t = f->t;
    const uint64_t *run = t->run + (size_t)p->i * (t->b->count + 1);
    uint64_t ends = pbi_add_saturated(t->b->value[p->i], pbi_block_right(t->b, p->j, p->right));
    for (; m < end; m++) {
        if (is_left_out(t, p->i, m))
            continue;
        uint32_t need = pbi_block_slots(t, pbi_add_saturated(run[m], ends));
        uint32_t work = t->before[m - 1] - t->before[p->i];
        const pbi_block_cells *right = pbi_block_table_cells(t, k, p->right, m, p->j);
        const pbi_block_cells *left = pbi_block_table_cells(t, p->left, k, p->i, m);
        if (need >= where.to || work >= f->never) /* later ones need and cost at least as much */
            return;
        if (right->lo > t->slots || left->lo > t->slots)
            continue;
        view a = view_of(right, t->held[p->i]), b = view_of(left, 0);
        relax_sum(&f->lanes, f->best, &a, &b, (CELL)work, (span){max(need, where.from), where.to});
    }
}

static void add_splits(filler *f, const place *p, unsigned k)
{
    const pbi_block_table *t = f->t;
    span all = {0, t->slots + 1};
    if (t->held[p->i] > t->slots)
        return;
    for (uint32_t c = (p->i + 1) / CHUNK; c <= (p->j - 1) / CHUNK; c++) {
        uint32_t first = c * CHUNK, end = min(first + CHUNK, p->j);
        if (first <= p->i) {
            try_splits(f, p, k, p->i + 1, end, all);
            continue;
        }
        uint32_t work = t->before[first - 1] - t->before[p->i];
        if (work >= f->never)
            return;
        const chunk *right = &f->column[k][p->right][p->column * f->chunks + c];
        const chunk *left = &f->row[p->left][k][p->i * f->chunks + c];
        if (right->lo > right->hi || left->lo > left->hi)
            continue;
        view a = chunk_view(right, t->held[p->i]), b = chunk_view(left, 0);
        span where = beaten(&f->lanes, f->best, &a, &b, (CELL)work, (span){0, t->slots + 1});
        if (where.from < where.to)
            try_splits(f, p, k, first, end, where);
    }
}

static CELL *take_room(filler *f, size_t count)
{
    enum { SLAB = 1 << 19 };
    if (f->room_left < count) {
        f->room = pb_arena_alloc(f->arena, count > SLAB ? count : SLAB, sizeof(CELL));
        f->room_left = f->room ? count > SLAB ? count : SLAB : 0;
        if (!f->room)
            return NULL;
    }
    CELL *taken = f->room;
    f->room += count;
    f->room_left -= count;
    return taken;
}

/* Stores the function without its ends, which are `never` and the tail. */
static bool keep_best(filler *f, pbi_block_cells *g)
{
    uint32_t lo = 0, hi = f->t->slots;
    CELL tail = f->best[hi];
    while (lo <= f->t->slots && f->best[lo] >= f->never)
        lo++;
    while (hi > lo && f->best[hi - 1] == tail)
        hi--;
    *g = (pbi_block_cells){NULL, lo, max(hi, lo), tail};
    if (!(g->cell = take_room(f, g->hi - g->lo)))
        return false;
    memcpy(g->cell, f->best + lo, (g->hi - g->lo) * sizeof(CELL));
    return true;
}

static bool chunk_room(filler *f, chunk *c)
{
    if (!c->cell)
        *c = (chunk){take_room(f, (size_t)f->t->slots + 1), 1, 0, f->never};
    return c->cell != NULL;
}

/* Updates the minimum of the entry's row chunk and column chunk. */
static bool join_chunks(filler *f, const place *p, const pbi_block_cells *g)
{
    const pbi_block_table *t = f->t;
    if (p->right < t->states.rights) { /* as a left part (i, m = j): its right end is k */
        chunk *row = &f->row[p->left][p->right][p->i * f->chunks + p->j / CHUNK];
        if (!chunk_room(f, row))
            return false;
        chunk_add(f, row, g, 0);
    }
    if (p->i > 0 && (p->left < t->states.rights)) { /* as a right part (m = i, j): its left end is k */
        uint32_t first = p->i / CHUNK * CHUNK;
        uint32_t offset = t->before[p->i - 1] - t->before[first ? first - 1 : 0];
        chunk *column = &f->column[p->left][p->right][p->column * f->chunks + p->i / CHUNK];
        if (offset < f->never)
            chunk_add(f, column, g, (CELL)offset);
    }
    return true;
}

static void leave_out(const pbi_block_table *t, uint32_t i, uint32_t j)
{
    for (unsigned left = 0; left < t->states.lefts; left++)
        for (unsigned right = 0; right < t->states.rights; right++) {
            pbi_block_cells *g = &t->cells[left][right][(size_t)j * (t->b->count + 1) + i];
            *g = (pbi_block_cells){NULL, t->slots + 1, t->slots + 1, t->never};
        }
}

static bool fill_entry(filler *f, place *p)
{
    const pbi_block_table *t = f->t;
    for (p->left = 0; p->left < t->states.lefts; p->left++)
        for (p->right = 0; p->right < t->states.rights; p->right++) {
            pbi_block_cells *g = &t->cells[p->left][p->right][(size_t)p->j * (t->b->count + 1) + p->i];
            for (uint32_t s = 0; s <= t->slots; s++)
                f->best[s] = f->never;
            if (p->right == PBI_HELD) { /* the right value freed */
                const pbi_block_cells *bare = pbi_block_table_cells(t, p->left, PBI_BARE, p->i, p->j);
                view v = view_of(bare, 0);
                if (bare->lo <= t->slots)
                    relax_one(&f->lanes, f->best, &v, 0, (span){0, t->slots + 1});
            }
            if (p->j == p->i + 1) {
                add_single(f, p);
            } else {
                add_ways(f, p);
                for (unsigned k = 0; k < t->states.rights; k++)
                    add_splits(f, p, k);
            }
            if (!keep_best(f, g) || !join_chunks(f, p, g))
                return false;
        }
    return true;
}

/* ---- all of them ---- */

static bool filler_init(filler *f)
{
    const pbi_block_table *t = f->t;
    f->chunks = t->b->count / CHUNK + 1;
    f->best = pb_arena_alloc(f->arena, (size_t)t->slots + 1, sizeof(CELL));
    if (!f->best)
        return false;
    for (unsigned left = 0; left < 2; left++)
        for (unsigned right = 0; right < 2; right++) {
            chunk **row = &f->row[left][right], **column = &f->column[left][right];
            *row = pb_arena_zero(f->arena, ((size_t)t->b->count + 1) * f->chunks, sizeof **row);
            *column = pb_arena_zero(f->arena, (size_t)TILE * f->chunks, sizeof **column);
            if (!*row || !*column)
                return false;
            for (size_t n = 0; n < (size_t)TILE * f->chunks; n++)
                if (!chunk_room(f, &(*column)[n]))
                    return false;
        }
    return true;
}

static void clear_columns(filler *f)
{
    for (unsigned left = 0; left < 2; left++)
        for (unsigned right = 0; right < 2; right++)
            for (size_t n = 0; n < (size_t)TILE * f->chunks; n++) {
                f->column[left][right][n].lo = 1;
                f->column[left][right][n].hi = 0;
            }
}

static pb_status fill_tile(filler *f, uint32_t first)
{
    uint32_t last = min(first + TILE - 1, f->t->b->count);
    clear_columns(f);
    for (uint32_t i = last; i-- > 0;) {
        for (uint32_t j = max(first, i + 1); j <= last; j++) {
            if (is_left_out(f->t, i, j))
                leave_out(f->t, i, j);
            else if (!fill_entry(f, &(place){.i = i, .j = j, .column = j - first}))
                return PB_ENOMEM;
        }
        pb_status status = pbi_tick(f->t->ctx, last - i);
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}

pb_status FILL(pbi_block_table *t, pb_arena *arena)
{
    filler f = {.t = t, .arena = arena, .lanes = choose_lanes(), .never = (CELL)t->never};
    pb_status status = filler_init(&f) ? PB_OK : PB_ENOMEM;
    for (uint32_t j = 1; j <= t->b->count && status == PB_OK; j += TILE) {
        status = fill_tile(&f, j);
        pbi_progress(t->ctx, "chain", min(j + TILE - 1, t->b->count), t->b->count);
    }
    return status;
}
