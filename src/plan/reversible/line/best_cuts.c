/* best_cuts.c -- see best_cuts.h. */
#include "plan/reversible/line/best_cuts.h"

#include "base/checked.h"

/* Places before stop s: where it is played from. */
static uint32_t begin_of(const pbi_line *line, uint32_t s) { return s ? line->stop[s - 1] : 0; }

static uint64_t size_of_stop(const pbi_line *line, uint32_t s) { return line->g->size[line->node[line->stop[s] - 1]]; }

/* Pebbles that `memory` holds if every step counts as the largest, at most `length`. */
static uint32_t pebbles_in(const pbi_line *line, uint64_t memory, uint32_t length)
{
    if (memory < line->workspace)
        return 0;
    uint64_t count = line->size ? (memory - line->workspace) / line->size : length;
    return count < length ? (uint32_t)count : length;
}

/* Does the room for the largest workspace cost a pebble? */
static bool workspace_matters(const pbi_line *line)
{
    return line->size && line->workspace > line->budget % line->size &&
           pebbles_in(line, line->budget, line->count) < line->count;
}

static pb_status init_slopes(pb_context *ctx, pbi_best_cuts *k, pb_arena *arena)
{
    const pbi_line *line = k->line;
    uint32_t longest = 0;
    for (uint32_t s = 0; s < line->stop_count; s++)
        if (line->stop[s] - begin_of(line, s) > longest)
            longest = line->stop[s] - begin_of(line, s);
    k->intervals = NULL;
    return pbi_slopes_init(ctx, &k->slopes, longest, pebbles_in(line, line->budget, longest), arena);
}

/* False in *complete when the effort ran out. */
static pb_status init_intervals(pb_context *ctx, pbi_best_cuts *k, uint64_t effort, pb_arena *arena, bool *complete)
{
    const pbi_line *line = k->line;
    uint64_t budget = line->budget;
    pb_status status = PB_OK;
    k->intervals = pb_arena_zero(arena, line->stop_count, sizeof *k->intervals);
    if (!k->intervals)
        return PB_ENOMEM;
    *complete = true;
    for (uint32_t s = 0; s < line->stop_count && status == PB_OK && *complete; s++) {
        pbi_intervals *part = &k->intervals[s];
        uint32_t from = begin_of(line, s);
        *part = (pbi_intervals){.line = line,
                                .from = from,
                                .length = line->stop[s] - from,
                                .budget = budget,
                                .effort = effort,
                                .thin = !k->exact};
        status = pbi_intervals_init(ctx, part, arena);
        effort = part->effort;
        *complete = part->complete;
        k->overflow = k->overflow || part->overflow;
        budget -= size_of_stop(line, s) < budget ? size_of_stop(line, s) : budget;
    }
    return status;
}

pb_status pbi_best_cuts_init(pb_context *ctx, pbi_best_cuts *k, const pbi_line *line, uint64_t effort, pb_arena *arena)
{
    bool complete = false;
    *k = (pbi_best_cuts){.line = line};
    bool alike = line->equal_sizes && line->equal_costs && !workspace_matters(line);
    k->exact = line->stop_count == 1 && line->equal_sizes && !line->overwrites;
    k->proved = k->exact && alike;
    k->counts = k->exact && !workspace_matters(line);
    if (!alike) {
        pb_status status = init_intervals(ctx, k, effort, arena, &complete);
        if (status != PB_OK || complete)
            return status;
        k->exact = k->counts = k->overflow = false;
    }
    return init_slopes(ctx, k, arena);
}

/* The least memory for stop s in addition to the stops before it. */
static uint64_t min_of_stop(const pbi_best_cuts *k, uint32_t s)
{
    const pbi_line *line = k->line;
    uint32_t from = begin_of(line, s), to = line->stop[s];
    uint64_t memory;
    if (k->intervals) {
        const pbi_front *front = pbi_intervals_front(&k->intervals[s], from, to);
        return front->count ? front->point[0].memory : UINT64_MAX;
    }
    uint32_t pebbles = pbi_slopes_min_pebbles(to - from);
    return pbi_mul(line->size, pebbles, &memory) ? pbi_add_saturated(memory, line->workspace) : UINT64_MAX;
}

uint64_t pbi_best_cuts_min_memory(const pbi_best_cuts *k)
{
    uint64_t min = 0, before = 0;
    for (uint32_t s = 0; s < k->line->stop_count; s++) {
        uint64_t need = pbi_add_saturated(before, min_of_stop(k, s));
        min = need > min ? need : min;
        before = pbi_add_saturated(before, size_of_stop(k->line, s));
    }
    return min <= k->line->budget ? min : UINT64_MAX;
}

uint64_t pbi_best_cuts_moves(const pbi_best_cuts *k, uint64_t memory)
{
    uint64_t moves = 0;
    if (k->intervals)
        return UINT64_MAX;
    for (uint32_t s = 0; s < k->line->stop_count; s++) {
        uint32_t length = k->line->stop[s] - begin_of(k->line, s);
        moves = pbi_add_saturated(moves, pbi_slopes_moves(&k->slopes, length, pebbles_in(k->line, memory, length)));
        memory -= size_of_stop(k->line, s);
    }
    return moves;
}

uint64_t pbi_best_cuts_next_memory(const pbi_best_cuts *k, uint64_t memory)
{
    const pbi_line *line = k->line;
    uint64_t next = UINT64_MAX;
    if (line->stop_count > 1) /* several fronts at once: go to the end of the budget */
        return memory < line->budget ? line->budget : UINT64_MAX;
    if (k->intervals) {
        const pbi_front *front = pbi_intervals_front(k->intervals, 0, line->count);
        for (uint32_t i = front->count; i-- > 0 && front->point[i].memory > memory;)
            next = front->point[i].memory;
        return next;
    }
    if (pebbles_in(line, memory, line->count) == line->count || !pbi_add(memory, line->size, &next))
        return UINT64_MAX;
    return next <= line->budget ? next : UINT64_MAX;
}

static pbi_cut cut_by_slopes(const void *state, uint32_t from, uint32_t to, uint64_t level)
{
    uint32_t pebbles = (uint32_t)level < to - from ? (uint32_t)level : to - from;
    uint32_t at = pbi_slopes_cut(state, to - from, pebbles);
    return (pbi_cut){from + at, pebbles, pebbles - 1, pebbles - 1};
}

static pbi_cut cut_by_intervals(const void *state, uint32_t from, uint32_t to, uint64_t level)
{
    const pbi_intervals *s = state;
    const pb_graph *g = s->line->g;
    uint32_t at = pbi_intervals_point(s, from, to, level)->cut;
    return (pbi_cut){at, level, level - g->size[s->line->node[at - 1]], level - g->size[s->line->node[to - 1]]};
}

pb_status pbi_best_cuts_play(const pbi_best_cuts *k, pbi_reversible *r, uint64_t memory, pb_arena *arena)
{
    const pbi_line *line = k->line;
    pbi_line_player p = {.line = line, .r = r, .arena = arena};
    pb_status status = PB_OK;
    for (uint32_t s = 0; s < line->stop_count && status == PB_OK && !r->stuck; s++) {
        uint32_t from = begin_of(line, s), to = line->stop[s];
        p.cut = k->intervals ? cut_by_intervals : cut_by_slopes;
        p.state = k->intervals ? (const void *)&k->intervals[s] : &k->slopes;
        status = pbi_line_play(&p, from, to, k->intervals ? memory : pebbles_in(line, memory, to - from));
        memory -= size_of_stop(line, s);
    }
    return status;
}
