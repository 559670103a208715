/* comparison_view.c -- the lines of a comparison: which rows are shown first, and which share a line. */
#include "pebble/summary.h"

#include "api/pipeline/pipeline.h"
#include "base/context.h"
#include "plan/strategy.h"

#include <string.h>

typedef struct viewer {
    const pb_comparison *c;
    pb_arena *result;
    pb_view_line *lines;
    uint32_t count;
    uint8_t *taken; /* per row: a line shows it */
} viewer;

static const pb_strategy *strategy_of(const pb_plan_result *p) { return p->asked ? pb_strategy_find(p->asked) : NULL; }

static bool has(const pb_plan_result *p, unsigned trait)
{
    const pb_strategy *row = strategy_of(p);
    return row && (row->traits & trait);
}

uint64_t pb_operation_count(const pb_moves *moves)
{
    uint64_t count = 0;
    for (pb_step k = 0; k < moves->count; k++)
        count += moves->move[k].op != PB_FREE && moves->move[k].op != PB_DROP;
    return count;
}

const char *pb_row_title(const pb_plan_result *p)
{
    const pb_strategy *row = strategy_of(p);
    if (row && row->strength == PB_PORTFOLIO)
        return row->traits ? row->name : NULL;
    return row ? pb_strategy_title(row) : NULL;
}

static bool same_game(const pb_schedule *a, const pb_schedule *b)
{
    return a->game == b->game || (!a->metrics.io && !b->metrics.io && a->game != PB_GAME_REVERSIBLE &&
                                  b->game != PB_GAME_REVERSIBLE); /* a remat plan is a tiered one without transfers */
}

static bool same_moves(const pb_moves *a, const pb_moves *b)
{
    return a->count == b->count && a->extra_count == b->extra_count &&
           (!a->count || memcmp(a->move, b->move, (size_t)a->count * sizeof *a->move) == 0) &&
           (!a->extra_count || memcmp(a->extra, b->extra, a->extra_count * sizeof *a->extra) == 0);
}

/* The same plan; or, without plans, one strategy that fails in the same way in both games. */
static bool are_same(const pb_plan_result *a, const pb_plan_result *b)
{
    if (!same_game(&a->schedule, &b->schedule) || !a->certificate != !b->certificate)
        return false;
    if (a->certificate)
        return same_moves(&a->schedule.moves, &b->schedule.moves);
    const char *x = a->schedule.reason, *y = b->schedule.reason;
    return a->failed_step == b->failed_step && a->failed_need == b->failed_need &&
           strcmp(a->schedule.strategy, b->schedule.strategy) == 0 && strcmp(x ? x : "", y ? y : "") == 0;
}

/* A row joins the line with its plan, or starts one. */
static pb_status show(viewer *v, uint32_t row, const char *title)
{
    const pb_plan_result *p = &v->c->rows[row];
    if (v->taken[row])
        return PB_OK;
    v->taken[row] = 1;
    for (uint32_t i = 0; i < v->count; i++) {
        pb_view_line *line = &v->lines[i];
        if (!are_same(p, &v->c->rows[line->rows[0]]))
            continue;
        ((uint32_t *)line->rows)[line->count] = row;
        ((const char **)line->titles)[line->count++] = title;
        return PB_OK;
    }
    uint32_t *rows = pb_arena_alloc(v->result, v->c->row_count, sizeof *rows);
    const char **titles = pb_arena_alloc(v->result, v->c->row_count, sizeof *titles);
    if (!rows || !titles)
        return PB_ENOMEM;
    rows[0] = row;
    titles[0] = title;
    v->lines[v->count++] = (pb_view_line){1, rows, titles};
    return PB_OK;
}

/* Of two rows without plans, the one that comes closer to the cap. */
static bool is_closer(const pb_plan_result *a, const pb_plan_result *b)
{
    return a->failed_need && (!b->failed_need || a->failed_need < b->failed_need);
}

/* The best row of a game among those with fixed intervals or depths; UINT32_MAX: none. */
static uint32_t best_partial(const pb_comparison *c, pb_game_kind kind)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < c->row_count; i++) {
        const pb_plan_result *p = &c->rows[i], *other = &c->rows[best == UINT32_MAX ? i : best];
        if (p->schedule.game != kind || !has(p, PB_TRAIT_INTERVALS))
            continue;
        if (best == UINT32_MAX || pbi_result_better(p, other) ||
            (!p->certificate && !other->certificate && is_closer(p, other)))
            best = i;
    }
    return best;
}

static pb_status show_deciding(viewer *v)
{
    const pb_comparison *c = v->c;
    unsigned done = 0; /* games whose best partial row is shown */
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < c->row_count && status == PB_OK; i++) {
        const pb_plan_result *p = &c->rows[i];
        if (has(p, PB_TRAIT_INTERVALS) && !(done & (unsigned)p->schedule.game)) {
            done |= (unsigned)p->schedule.game;
            status = show(v, best_partial(c, p->schedule.game), "partial");
        } else if (!strategy_of(p) || has(p, PB_TRAIT_COMPARED | PB_TRAIT_FILE) ||
                   strategy_of(p)->strength == PB_PORTFOLIO) {
            status = show(v, i, pb_row_title(p));
        }
    }
    if (status == PB_OK && c->winner != UINT32_MAX)
        status = show(v, c->winner, "best");
    return status;
}

/* By game, then by cost, rows without a plan last. */
static bool comes_before(const pb_comparison *c, uint32_t i, uint32_t k)
{
    const pb_plan_result *a = &c->rows[i], *b = &c->rows[k];
    const pb_metrics *x = &a->schedule.metrics, *y = &b->schedule.metrics;
    if (a->schedule.game != b->schedule.game)
        return a->schedule.game < b->schedule.game;
    if (!a->certificate || !b->certificate)
        return a->certificate && !b->certificate;
    int order = pb_u128_compare(x->cost, y->cost);
    return order ? order < 0 : i == c->winner && k != c->winner;
}

static pb_status show_all(viewer *v)
{
    uint32_t *rank = pb_arena_alloc(v->result, v->c->row_count, sizeof *rank);
    pb_status status = rank || !v->c->row_count ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < v->c->row_count && status == PB_OK; i++) {
        uint32_t at = i;
        for (; at > 0 && comes_before(v->c, i, rank[at - 1]); at--)
            rank[at] = rank[at - 1];
        rank[at] = i;
    }
    for (uint32_t i = 0; i < v->c->row_count && status == PB_OK; i++)
        status = show(v, rank[i], pb_row_title(&v->c->rows[rank[i]]));
    return status;
}

pb_status pb_view_make(pb_context *ctx, const pb_comparison *c, bool all, pb_arena *result, pb_view *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    viewer v = {.c = c, .result = result};
    v.lines = pb_arena_alloc(result, c->row_count, sizeof *v.lines);
    v.taken = pb_arena_zero(&scratch, c->row_count, sizeof *v.taken);
    pb_status status = v.lines && v.taken ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        status = all ? show_all(&v) : show_deciding(&v);
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < c->row_count && status == PB_OK; i++)
        hidden += !v.taken[i];
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = (pb_view){v.lines, v.count, hidden};
    return status;
}
