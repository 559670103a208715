/* replay.c -- see replay.h. */
#include "plan/sequence/replay.h"

#include "base/arena.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

pb_status pbi_replay_init(pbi_replay *r, pb_context *ctx, const pbi_training *t, uint64_t limit, pb_arena *arena,
                          pbi_sequence *s)
{
    const pb_graph *g = t->g;
    *r = (pbi_replay){.ctx = ctx, .t = t, .arena = arena, .s = s, .limit = limit};
    r->holds = pb_arena_zero(arena, g->node_count, sizeof *r->holds);
    r->stack = pb_arena_alloc(arena, (size_t)t->count + 1, sizeof *r->stack);
    r->frontier = pb_arena_alloc(arena, t->forward, sizeof *r->frontier);
    if (!r->holds || !r->stack || !r->frontier)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        r->holds[v] = (g->flags[v] & PB_NODE_GIVEN) != 0;
    return PB_OK;
}

static pb_status hold_unit(pbi_replay *r, pb_node unit)
{
    void *items = r->held;
    if (!pbi_arena_reserve(r->arena, &items, &r->held_room, r->held_count + 1, sizeof *r->held))
        return PB_ENOMEM;
    r->held = items;
    r->held[r->held_count++] = unit;
    r->holds[unit]++;
    return PB_OK;
}

void pbi_replay_release(pbi_replay *r, size_t mark)
{
    while (r->held_count > mark)
        r->holds[r->held[--r->held_count]]--;
}

/* Releases what was held between two marks; what was held later is kept and moves down. */
static void release_between(pbi_replay *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        r->holds[r->held[i]]--;
    memmove(r->held + from, r->held + to, (r->held_count - to) * sizeof *r->held);
    r->held_count -= to - from;
}

static pb_status compute(pbi_replay *r, pb_node v)
{
    if (r->s->count >= r->limit)
        return pbi_fail(r->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " computations; raise its option limit",
                        r->limit);
    bool first = !r->holds[v];
    pb_status status = pbi_sequence_add(r->s, v);
    if (status == PB_OK)
        status = hold_unit(r, v);
    if (first && (r->t->place[v] >= r->t->forward || pbi_unit_stays(r->t->g, v)))
        pbi_replay_pin(r, v);
    r->spent += 1 + r->t->g->in_start[v + 1] - r->t->g->in_start[v];
    if (status == PB_OK && r->spent >= 1024) {
        status = pbi_tick(r->ctx, r->spent);
        r->spent = 0;
    }
    return status;
}

pb_status pbi_replay_make(pbi_replay *r, pb_node root)
{
    const pb_graph *g = r->t->g;
    pb_status status = PB_OK;
    uint32_t depth = 0;
    r->stack[depth++] = (pbi_replay_frame){root, g->in_start[root]};
    while (depth && status == PB_OK) {
        pbi_replay_frame *f = &r->stack[depth - 1];
        if (f->next == g->in_start[f->node + 1]) {
            status = compute(r, f->node);
            depth--;
            continue;
        }
        pb_node unit = pb_graph_maker(g, g->in[f->next++]);
        /* the graph is acyclic: the unit is not on the stack, except as a second input of the same unit */
        if (!r->holds[unit])
            r->stack[depth++] = (pbi_replay_frame){unit, g->in_start[unit]};
    }
    return status;
}

/* The frontier of `position`, from that of the base and the places between. */
static size_t find_frontier(pbi_replay *r, const pbi_snapshot *base, int64_t position)
{
    const pbi_training *t = r->t;
    size_t found = 0;
    for (size_t i = base->from; i < base->to; i++)
        if (t->read[t->place[r->held[i]]] > position)
            r->frontier[found++] = r->held[i];
    for (int64_t p = base->position + 1; p <= position; p++)
        if (t->read[p] > position)
            r->frontier[found++] = t->order[p];
    r->spent += found + (uint64_t)(position - base->position);
    return found;
}

static pb_status leave_one(pbi_replay *r, const pbi_snapshot *base, int64_t position, bool fresh, pbi_snapshot *out)
{
    size_t made = pbi_replay_mark(r);
    pb_status status = PB_OK;
    for (int64_t p = base->position + 1; fresh && p <= position && status == PB_OK; p++)
        status = pbi_replay_make(r, r->t->order[p]);
    size_t found = find_frontier(r, base, position);
    for (size_t k = 0; k < found && status == PB_OK; k++)
        if (!pbi_replay_has(r, r->frontier[k]))
            status = pbi_replay_make(r, r->frontier[k]);
    size_t kept = pbi_replay_mark(r);
    for (size_t k = 0; k < found && status == PB_OK; k++)
        status = hold_unit(r, r->frontier[k]);
    release_between(r, made, kept);
    *out = (pbi_snapshot){position, made, pbi_replay_mark(r)};
    return status;
}

pb_status pbi_replay_advance(pbi_replay *r, const pbi_snapshot *base, const int64_t *position, uint32_t count,
                             bool fresh, pbi_snapshot *out)
{
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        status = leave_one(r, i ? &out[i - 1] : base, position[i], fresh, &out[i]);
    return status;
}

pb_status pbi_replay_mirror(pb_context *ctx, const pbi_training *t, const uint8_t *kept, pb_arena *arena,
                            pbi_sequence *s)
{
    pbi_replay r;
    pb_status status = pbi_replay_init(&r, ctx, t, UINT32_MAX, arena, s);
    for (uint32_t p = 0; p < t->count && status == PB_OK; p++) {
        if (p == t->forward)
            pbi_replay_release(&r, 0);
        status = pbi_replay_make(&r, t->order[p]);
        if (p < t->forward && kept[p])
            pbi_replay_pin(&r, t->order[p]);
    }
    return status;
}
