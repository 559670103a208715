/* explain_story.c -- collects the lives of one value: what made it, what it waited for, what removed it. */
#include "report/explain.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <string.h>

enum { MAX_OTHERS = 5, MAX_VISITS = 50000000, DETAILED_LIVES = 64, POLL_MOVES = 1 << 14 };

typedef struct collector {
    pb_arena *scratch;
    pbi_story *story;
    pbi_walk walk;
    pbi_rework rework;
    bool *reader; /* nodes whose computation reads the value */
    size_t life_room, gap_room, other_room;
    bool alive;
    pb_step last;      /* the last use, or the computation */
    uint64_t last_end; /* time after it */
    pb_step full_step; /* while it is absent: the move with the most memory so far */
    uint64_t full;
} collector;

static pbi_life *life_begin(collector *t, pb_step made)
{
    pbi_story *s = t->story;
    void *items = s->lives;
    if (!pbi_arena_reserve(t->scratch, &items, &t->life_room, s->life_count + 1, sizeof *s->lives))
        return NULL;
    s->lives = items;
    pbi_life *life = &s->lives[s->life_count++];
    *life = (pbi_life){.made = made,
                       .removed = PBI_NO_STEP,
                       .first_use = PBI_NO_STEP,
                       .last_use = PBI_NO_STEP,
                       .again = PBI_NO_STEP,
                       .first_gap = s->gap_count,
                       .full_step = t->full_step,
                       .full = t->full,
                       .first_other = s->other_count};
    if (s->life_count > 1)
        life[-1].again = made;
    t->alive = true;
    t->last = made;
    t->last_end = t->walk.end;
    return life;
}

/* The move at `step` reads the value, or it must be resident at the end: ends the gap before that. */
static pb_status gap_end(collector *t, pb_step step, bool to_end)
{
    pbi_story *s = t->story;
    pb_step since = t->last == PBI_NO_STEP ? 0 : t->last + 1;
    uint64_t time = t->walk.end - t->last_end;
    if (step <= since || time == 0)
        return PB_OK; /* nothing happened in between: there was no choice */
    void *items = s->gaps;
    if (!pbi_arena_reserve(t->scratch, &items, &t->gap_room, s->gap_count + 1, sizeof *s->gaps))
        return PB_ENOMEM;
    s->gaps = items;
    pbi_gap *gap = &s->gaps[s->gap_count++];
    *gap = (pbi_gap){.from = t->last, .to = step, .time = time, .to_end = to_end};
    gap->held = pbi_u128_product(time, s->game->graph->size[s->node]);
    gap->saves = pbi_rework_of(&t->rework, t->walk.resident, s->node);
    s->lives[s->life_count - 1].gap_count++;
    pbi_u128_add(&s->held, gap->held);
    return PB_OK;
}

static pb_status use(collector *t, pb_step step)
{
    pbi_life *life = &t->story->lives[t->story->life_count - 1];
    pb_status status = gap_end(t, step, false);
    if (life->first_use == PBI_NO_STEP)
        life->first_use = step;
    life->last_use = step;
    life->uses++;
    return status;
}

static bool makes_it(const pbi_walk *w, pb_node v)
{
    if (w->makes && w->move.node == v)
        return true;
    for (uint32_t i = 0; i < w->also_count; i++)
        if (w->also[i] == v)
            return true;
    return false;
}

static pb_status follow(collector *t)
{
    pbi_story *s = t->story;
    pbi_walk *w = &t->walk;
    if (w->move.op == PB_COMPUTE && w->move.node == s->node) {
        if (s->computed++)
            s->spent_again = pbi_add_saturated(s->spent_again, w->cost);
    } else if (w->move.node == s->node) {
        s->loaded += w->move.op == PB_LOAD;
        s->uncomputed += w->move.op == PB_UNCOMPUTE;
    }
    if (makes_it(w, s->node)) {
        if (!life_begin(t, w->step))
            return PB_ENOMEM;
    } else if (w->removes == s->node) {
        s->lives[s->life_count - 1].removed = w->step;
        t->alive = false;
        t->full = 0;
        t->full_step = PBI_NO_STEP;
    } else if (!t->alive && s->life_count && (t->full_step == PBI_NO_STEP || w->during > t->full)) {
        t->full = w->during;
        t->full_step = w->step;
    }
    return PB_OK;
}

static pb_status collect_lives(pb_context *ctx, collector *t)
{
    pbi_story *s = t->story;
    pb_status status = PB_OK;
    if (t->walk.resident[s->node] && !life_begin(t, PBI_NO_STEP))
        return PB_ENOMEM;
    for (pb_step k = 0; k < s->moves->count && status == PB_OK; k++) {
        const pb_move *m = &s->moves->move[k];
        bool reads = (m->op == PB_COMPUTE || m->op == PB_UNCOMPUTE) && t->reader[m->node];
        if (k % POLL_MOVES == 0)
            status = pbi_poll(ctx);
        if (status == PB_OK && t->alive && reads)
            status = use(t, k);
        pbi_walk_next(&t->walk);
        if (reads && t->alive) {
            t->last = k;
            t->last_end = t->walk.end;
        }
        pbi_rework_note(&t->rework, m);
        if (status == PB_OK)
            status = follow(t);
    }
    bool stays = t->alive && (s->game->graph->flags[s->node] & (PB_NODE_KEEP | PB_NODE_TARGET));
    return status == PB_OK && stays ? gap_end(t, s->moves->count, true) : status;
}

/* Keeps the largest resident values, largest first. */
static pb_status list_others(collector *t, pbi_life *life, const bool *resident)
{
    const pb_graph *g = t->story->game->graph;
    pb_node best[MAX_OTHERS];
    size_t count = 0, all = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!resident[v] || g->size[v] == 0)
            continue;
        all++;
        size_t at = count < MAX_OTHERS ? count++ : count;
        while (at > 0 && g->size[best[at - 1]] < g->size[v]) {
            if (at < MAX_OTHERS)
                best[at] = best[at - 1];
            at--;
        }
        if (at < MAX_OTHERS)
            best[at] = v;
    }
    pbi_story *s = t->story;
    void *items = s->others;
    if (!pbi_arena_reserve(t->scratch, &items, &t->other_room, s->other_count + count, sizeof *s->others))
        return PB_ENOMEM;
    s->others = items;
    life->first_other = s->other_count;
    life->other_count = count;
    life->others_left = all - count;
    if (count)
        memcpy(s->others + s->other_count, best, count * sizeof *best);
    s->other_count += count;
    return PB_OK;
}

/* A second walk, for the resident values at the tightest moment of each absence. */
static pb_status collect_others(collector *t, const pb_certificate *c)
{
    pbi_story *s = t->story;
    pb_status status = pbi_walk_init(&t->walk, c, t->scratch);
    size_t next = 1, limit = s->life_count < DETAILED_LIVES ? s->life_count : DETAILED_LIVES;
    while (status == PB_OK && next < limit && pbi_walk_next(&t->walk))
        while (status == PB_OK && next < limit && s->lives[next].full_step <= t->walk.step) {
            status = list_others(t, &s->lives[next], t->walk.resident);
            next++;
        }
    return status;
}

/* What keeping the value over each absence would have needed. Each ends where a life starts. */
static pb_status collect_needs(pb_context *ctx, collector *t, const pb_certificate *c)
{
    pbi_absences absences;
    pb_status status = pbi_absences_make(ctx, c, t->story->node, t->scratch, &absences);
    for (size_t i = 0, k = 0; status == PB_OK && i < t->story->life_count && k < absences.count; i++)
        if (t->story->lives[i].made == absences.item[k].made) {
            t->story->lives[i].need = absences.item[k].need;
            t->story->lives[i].saves = absences.item[k].saves;
            t->story->lives[i].together = absences.item[k].values;
            k++;
        }
    return status;
}

pb_status pbi_story_make(pb_context *ctx, const pb_certificate *c, pb_node node, pb_arena *scratch, pbi_story *out)
{
    collector t = {.scratch = scratch, .story = out, .full_step = PBI_NO_STEP};
    *out = (pbi_story){.game = pb_certificate_game(c), .moves = pb_certificate_moves(c), .node = node};
    const pb_graph *g = out->game->graph;
    pb_status status = pbi_walk_init(&t.walk, c, scratch);
    if (status == PB_OK)
        status = pbi_rework_init(&t.rework, out->game, MAX_VISITS, scratch);
    t.reader = status == PB_OK ? pb_arena_zero(scratch, g->node_count, sizeof *t.reader) : NULL;
    if (!t.reader)
        return PB_ENOMEM;
    for (uint32_t i = g->out_start[node]; i < g->out_start[node + 1]; i++)
        t.reader[g->out[i]] = true;
    status = collect_lives(ctx, &t);
    if (status == PB_OK)
        status = collect_others(&t, c);
    return status == PB_OK ? collect_needs(ctx, &t, c) : status;
}
