/* result_copy.c -- copies of plans, which outlive the arena of the original. */
#include "api/pipeline/pipeline.h"

#include "base/context.h"

#include <stdio.h>
#include <string.h>

static pb_status copy_text(pb_arena *arena, const char **text)
{
    if (!*text)
        return PB_OK;
    *text = pb_arena_text(arena, *text, strlen(*text));
    return *text ? PB_OK : PB_ENOMEM;
}

static pb_status copy_moves(pb_arena *arena, pb_moves *moves)
{
    pb_moves copy = *moves;
    copy.arena = arena;
    copy.move = pb_arena_alloc(arena, (size_t)moves->count, sizeof *copy.move);
    copy.extra = pb_arena_alloc(arena, moves->extra_count, sizeof *copy.extra);
    if (!copy.move || !copy.extra)
        return PB_ENOMEM;
    if (moves->count)
        memcpy(copy.move, moves->move, (size_t)moves->count * sizeof *copy.move);
    if (moves->extra_count)
        memcpy(copy.extra, moves->extra, moves->extra_count * sizeof *copy.extra);
    if (moves->when_count) {
        copy.when = pb_arena_alloc(arena, (size_t)moves->when_count, sizeof *copy.when);
        if (!copy.when)
            return PB_ENOMEM;
        memcpy(copy.when, moves->when, (size_t)moves->when_count * sizeof *copy.when);
    }
    copy.when_room = copy.when_count;
    copy.room = copy.count;
    copy.extra_room = copy.extra_count;
    *moves = copy;
    return PB_OK;
}

static pb_status copy_offsets(pb_arena *arena, pb_addresses *a)
{
    uint64_t *offset = pb_arena_alloc(arena, a->count, sizeof *offset);
    if (!offset)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < a->count; i++)
        offset[i] = a->offset[i];
    a->offset = offset;
    return PB_OK;
}

static pb_status copy_peaks(pb_arena *arena, const pb_schedule *s, const uint64_t **out)
{
    uint64_t *peaks = pb_arena_alloc(arena, s->machine->memory_count, sizeof *peaks);
    if (!peaks)
        return PB_ENOMEM;
    memcpy(peaks, *out, s->machine->memory_count * sizeof *peaks);
    *out = peaks;
    return PB_OK;
}

pb_status pbi_schedule_copy(pb_arena *arena, pb_schedule *s)
{
    pb_option *options = pb_arena_alloc(arena, s->option_count, sizeof *options);
    pb_status status = options ? copy_moves(arena, &s->moves) : PB_ENOMEM;
    for (uint32_t i = 0; i < s->option_count && status == PB_OK; i++) {
        options[i] = s->options[i];
        status = copy_text(arena, &options[i].value);
    }
    s->options = options;
    if (status == PB_OK && s->addresses.align)
        status = copy_offsets(arena, &s->addresses);
    if (status == PB_OK && s->metrics.peaks && s->machine)
        status = copy_peaks(arena, s, &s->metrics.peaks);
    if (status == PB_OK)
        status = copy_text(arena, &s->reason);
    return status == PB_OK ? copy_text(arena, &s->note) : status;
}

pb_status pbi_result_copy(pb_context *ctx, const pb_plan_result *from, pb_arena *result, pb_plan_result *out)
{
    pb_plan_result copy = *from;
    pb_verdict verdict;
    pb_game *game = pb_arena_alloc(result, 1, sizeof *game);
    pb_moves *moves = pb_arena_alloc(result, 1, sizeof *moves);
    pb_status status = game && moves ? pbi_schedule_copy(result, &copy.schedule) : PB_ENOMEM;
    if (status == PB_OK)
        status = copy_text(result, &copy.spec);
    if (status == PB_OK && from->attempt.count)
        status = copy_moves(result, &copy.attempt);
    if (status != PB_OK)
        return status;
    *game = *from->game;
    *moves = copy.schedule.moves;
    copy.game = game;
    if (from->certificate) {
        status = pb_verify(ctx, game, moves, result, &verdict);
        if (status == PB_OK && !verdict.certificate)
            status = pbi_fail(ctx, PB_EBUG, "a copy of a legal plan is illegal");
        if (status != PB_OK)
            return status;
        copy.certificate = verdict.certificate;
    }
    *out = copy;
    return PB_OK;
}

void pbi_result_restate(pb_plan_result *p, const pb_game *whole, const pb_schedule *first, pb_game *game, char *note,
                        size_t room)
{
    pb_schedule *s = &p->schedule;
    uint64_t cap = whole->cap;
    snprintf(note, room, "planned for %llu of %llu, to leave room for gaps between addresses%s%s",
             (unsigned long long)s->cap, (unsigned long long)cap, s->note ? "; " : "", s->note ? s->note : "");
    *game = *p->game;
    game->cap = s->cap = cap;
    if (whole->kind == PB_GAME_TIMED) { /* its machine and timing have the cap, too */
        game->timing = whole->timing;
        game->graph = whole->graph;
        s->machine = first->machine;
    }
    p->game = game;
    s->note = note;
    s->outcome = PB_FOUND;
    s->bound_kind = first->bound_kind;
    s->lower_bound = first->lower_bound;
    s->has_cost_bound = first->has_cost_bound;
    s->cost_bound = first->cost_bound;
    s->metrics.gap = s->bound_kind == PB_BOUND_NONE ? -1 : pb_metrics_gap(s->metrics.makespan, s->lower_bound);
}
