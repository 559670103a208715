/* traversal_choose.c -- published limits of each algorithm, and the cheapest one within a cap, by measured streams. */
#include "pebble/hashtree.h"

#include "base/context.h"

#include "hashtree/traversal_state.h"

#include <math.h>

enum { HIGHEST = 24, USUAL_SHARE = 8, MAX_ROWS = PB_TRAVERSAL_COUNT * (PB_TRAVERSAL_MAX_K + 1) };

void pb_traversal_published(const pb_traversal_spec *spec, pb_traversal_promise *out)
{
    double h = spec->height, k = spec->k;
    *out = (pb_traversal_promise){0, 0, 0, 0, NULL};
    if (spec->kind == PB_TRAVERSAL_CLASSIC)
        *out = (pb_traversal_promise){0, 0, 2 * h, h * h / 2, "Merkle 1979, as described by Szydlo"};
    else if (spec->kind == PB_TRAVERSAL_SZYDLO)
        *out = (pb_traversal_promise){0, 0, 2 * h, 3 * h, "Szydlo 2004"};
    else if (spec->kind == PB_TRAVERSAL_BDS && spec->k >= 2 && spec->k < spec->height &&
             (spec->height - spec->k) % 2 == 0)
        *out = (pb_traversal_promise){(h - k) / 2 + 1, 3 * (h - k - 1) / 2 + 1, 0,
                                      3 * h + spec->height / 2 - 3 * k - 2 + (double)(UINT64_C(1) << spec->k),
                                      "Buchmann, Dahmen, Schneider 2008"};
    else if (spec->kind == PB_TRAVERSAL_FRACTAL && spec->height > 2 && spec->k == pbi_fractal_usual_k(spec->height))
        *out = (pb_traversal_promise){0, 0, 2 * h / log2(h), 1.5 * h * h / log2(h),
                                      "Jakobsson, Leighton, Micali, Szydlo 2003"};
}

/* Min number of stored hashes: a path, and the right nodes that are always kept. */
static uint64_t least_stored(const pb_traversal_spec *spec)
{
    if (spec->kind == PB_TRAVERSAL_FRACTAL) {
        pbi_bands bands;
        pbi_fractal_divide(spec->height, spec->k, &bands);
        return bands.stored / 2 - bands.count;
    }
    return spec->height + (pb_traversal_takes_k(spec->kind) ? (UINT64_C(1) << spec->k) - spec->k - 1 : 0);
}

/* Without a cap, tables of the size of the tree would win: the limit is then a few paths. */
static uint64_t most_stored(const pb_traversal_request *r)
{
    uint64_t usual = USUAL_SHARE * (uint64_t)r->height;
    return r->cap == UINT64_MAX ? usual : r->cap > usual ? r->cap : usual;
}

/* Are the bands of a fractal traversal those of a smaller k? */
static bool is_repeated(const pb_traversal_spec *spec)
{
    pbi_bands own, smaller;
    pbi_fractal_divide(spec->height, spec->k, &own);
    pbi_fractal_divide(spec->height, spec->k ? spec->k - 1 : 0, &smaller);
    return spec->k < 2 || own.count == smaller.count;
}

/* With k = 1 nothing is retained: it equals k = 0 except for the rounding of bds. Without a cap, every second k is
 * enough. */
static bool is_worth_a_row(const pb_traversal_request *r, const pb_traversal_spec *spec)
{
    bool odd = spec->kind != PB_TRAVERSAL_FRACTAL && (spec->height - spec->k) % 2;
    if (!pb_traversal_takes_k(spec->kind))
        return true;
    if (spec->kind == PB_TRAVERSAL_FRACTAL && is_repeated(spec))
        return false;
    if (spec->k == 1 && (odd || spec->kind == PB_TRAVERSAL_LAZY))
        return false;
    return spec->k < 2 || (least_stored(spec) <= most_stored(r) && !(r->cap == UINT64_MAX && odd));
}

static uint32_t list_rows(const pb_traversal_request *r, pb_traversal_row *row)
{
    uint32_t count = 0;
    if (r->only) {
        row[0].spec = *r->only;
        return 1;
    }
    for (int kind = 0; kind < PB_TRAVERSAL_COUNT; kind++) {
        uint32_t most = pb_traversal_takes_k((pb_traversal_kind)kind) ? r->height : 0;
        for (uint32_t k = 0; k <= most && k <= PB_TRAVERSAL_MAX_K; k++) {
            pb_traversal_spec spec = {(pb_traversal_kind)kind, r->height, k};
            if (is_worth_a_row(r, &spec))
                row[count++].spec = spec;
        }
    }
    return count;
}

static uint64_t storage_of(const pb_traversal_request *r, const pb_traversal_figures *f)
{
    return !r->setup_apart && f->setup_storage > f->storage ? f->setup_storage : f->storage;
}

static bool is_better(const pb_traversal_request *r, const pb_traversal_figures *a, const pb_traversal_figures *b)
{
    uint64_t first_a = r->by_average ? a->work : a->work_max, first_b = r->by_average ? b->work : b->work_max;
    uint64_t then_a = r->by_average ? a->work_max : a->work, then_b = r->by_average ? b->work_max : b->work;
    if (first_a != first_b)
        return first_a < first_b;
    return then_a != then_b ? then_a < then_b : storage_of(r, a) < storage_of(r, b);
}

pb_status pb_traversal_choose(pb_context *ctx, const pb_traversal_request *request, pb_arena *arena,
                              pb_traversal_choice *out)
{
    pb_traversal_choice c = {.winner = UINT32_MAX};
    pb_traversal_row *row = pb_arena_zero(arena, MAX_ROWS + 1, sizeof *row);
    pb_status status = row ? PB_OK : PB_ENOMEM;
    if (request->height > HIGHEST)
        return pbi_fail(ctx, PB_ELIMIT, "a tree of height %u is too large to simulate; use at most %d",
                        (unsigned)request->height, HIGHEST);
    uint32_t count = row ? list_rows(request, row) : 0;
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        pbi_progress(ctx, pb_traversal_name(row[i].spec.kind), i, count);
        status = pb_traversal_measure(ctx, &row[i].spec, request->prices, &row[i].figures);
        row[i].fits = storage_of(request, &row[i].figures) <= request->cap;
        bool best =
            row[i].fits && (c.winner == UINT32_MAX || is_better(request, &row[i].figures, &row[c.winner].figures));
        c.winner = best ? i : c.winner;
    }
    if (status != PB_OK)
        return status;
    c.row = row;
    c.row_count = count;
    c.infeasible = request->cap < (uint64_t)request->height + !request->setup_apart;
    *out = c;
    return PB_OK;
}
