/* buhrman.c -- every trade-off between keeping all and keeping nothing, on a chain.
 *
 * Problem     choose a point between most memory and most recomputation with one number.
 * Idea        cut the chain into segments. The ends of segments are kept, as a history; inside a segment no history
 *             is kept and the fewest values are used. Segments of 1 compute everything once and uncompute it once; a
 *             single segment needs the least memory.
 * Invariants  as in reversible/line/line.h; the part behind a segment end is computed while that end is resident.
 * Cost        O(moves): for segments of l out of n, about (2 n / l - 1) F(l), and n / l + log2(l) values at a time.
 * Source      Buhrman, Tromp, Vitanyi, "Time and space bounds for reversible simulation", 2001: Bennett's game over
 *             segments that are each reversed in no extra space. Pebbling has no such segment; the plan with the
 *             fewest pebbles takes its place.
 * Limits      counts steps, not costs or sizes; with equal sizes never better than knill.c.
 */
#include "plan/reversible/line/line.h"
#include "plan/reversible/line/slopes.h"

#include "base/context.h"

#include <inttypes.h>

/* Level of a task that still has segments to process; other levels are numbers of pebbles inside a segment. */
#define OUTSIDE UINT64_MAX

typedef struct segments {
    const pbi_line *line;
    pbi_slopes slopes;
    uint32_t length; /* of a segment */
} segments;

static pbi_cut cut(const void *state, uint32_t from, uint32_t to, uint64_t level)
{
    const segments *s = state;
    uint32_t length = to - from;
    if (level == OUTSIDE && length > s->length)
        return (pbi_cut){from + s->length, pbi_slopes_min_pebbles(s->length), OUTSIDE,
                         pbi_slopes_min_pebbles(s->length)};
    uint64_t max = level == OUTSIDE ? pbi_slopes_min_pebbles(length) : level;
    uint32_t pebbles = max < length ? (uint32_t)max : length;
    uint32_t at = pbi_slopes_cut(&s->slopes, length, pebbles);
    return (pbi_cut){from + at, pebbles, pebbles - 1, pebbles - 1};
}

/* Runs the stops of the chain one after the other. */
static pb_status play_segments(const segments *s, pbi_reversible *r, pb_arena *arena)
{
    pbi_line_player p = {.line = s->line, .r = r, .cut = cut, .state = s, .arena = arena};
    pb_status status = PB_OK;
    uint32_t from = 0;
    for (uint32_t i = 0; i < s->line->stop_count && status == PB_OK && !r->stuck; i++) {
        status = pbi_line_play(&p, from, s->line->stop[i], OUTSIDE);
        from = s->line->stop[i];
    }
    return status;
}

/* Segments of 1, 2, 4, ... and the whole: the cheapest that fits. */
static pb_status search_length(pb_context *ctx, const pb_game *game, segments *s, uint64_t limit, uint32_t *best)
{
    pbi_figures min = {0};
    pb_status status = PB_OK;
    for (uint64_t length = 1; status == PB_OK; length *= 2) {
        pb_arena scratch;
        pb_arena_init(&scratch, ctx);
        pbi_reversible r;
        s->length = length < s->line->count ? (uint32_t)length : s->line->count;
        status = pbi_reversible_init(&r, ctx, game, NULL, limit, &scratch);
        if (status == PB_OK)
            status = play_segments(s, &r, &scratch);
        pb_arena_release(&scratch);
        bool too_long = status == PB_ELIMIT && r.step > limit;
        if (too_long)
            status = PB_OK;
        if (status == PB_OK && !too_long && !r.stuck && r.f.fits && !r.f.overflow &&
            (!*best || pbi_figures_better(game, &r.f, &min))) {
            *best = s->length;
            min = r.f;
        }
        if (s->length == s->line->count)
            break;
    }
    return status;
}

static pb_status plan_segments(pb_context *ctx, const pb_game *game, segments *s, uint64_t limit, pb_arena *scratch,
                               pbi_plan *plan)
{
    pbi_reversible r;
    pb_status status = pbi_reversible_init(&r, ctx, game, plan, limit, scratch);
    if (status == PB_OK)
        status = play_segments(s, &r, scratch);
    if (status == PB_OK && r.f.overflow)
        return pbi_fail(ctx, PB_ERANGE, "the work of the plan exceeds 2^64; use a coarser cost unit");
    if (status == PB_OK)
        pbi_reversible_finish(&r);
    return status == PB_OK ? pbi_plan_record_number(plan, "segment", s->length) : status;
}

static pb_status plan_line(pb_context *ctx, const pb_game *game, segments *s, uint64_t limit, pb_arena *scratch,
                           pbi_plan *plan)
{
    uint32_t count = s->line->count, asked = s->length, chosen = asked < count ? asked : count;
    pb_status status = pbi_slopes_init(ctx, &s->slopes, asked ? chosen : count,
                                       pbi_slopes_min_pebbles(asked ? chosen : count), scratch);
    if (status == PB_OK && !asked)
        status = search_length(ctx, game, s, limit, &chosen);
    if (!chosen)
        return status == PB_OK ? pbi_plan_give_up(plan, "does not fit: no segment length fits the cap") : status;
    if (status != PB_OK && asked)
        return status;
    s->length = chosen;
    if (asked)
        return plan_segments(ctx, game, s, limit, scratch, plan);
    pbi_held held = pbi_hold(ctx); /* also after a stop: write the best plan so far */
    status = plan_segments(ctx, game, s, limit, scratch, plan);
    pbi_resume(ctx, held);
    return status;
}

pb_status pbi_plan_buhrman(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    pbi_line line;
    bool is_line;
    uint64_t limit, length = 0;
    pb_status status = pbi_option_number(ctx, options, "segment", 1, UINT32_MAX, &length);
    if (status == PB_OK)
        status = pbi_option_limit(ctx, options, game->graph, &limit);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    segments s = {.line = &line, .length = (uint32_t)length};
    status = pbi_line_read(game, &scratch, plan, &line, &is_line);
    if (status == PB_OK && is_line) {
        if (line.count)
            status = plan_line(ctx, game, &s, limit, &scratch, plan);
        else
            plan->outcome = PB_FOUND;
    }
    pb_arena_release(&scratch);
    return status == PB_OK && is_line ? pbi_plan_record_number(plan, "limit", limit) : status;
}
