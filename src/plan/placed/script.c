/* script.c -- see script.h. */
#include "plan/placed/script.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

#include <stdlib.h>

/* Calls add(v, event, read) for everything that the script touches, in order; `touch` NULL: only counts. */
typedef struct filler {
    const pb_graph *g;
    uint32_t *next; /* by value: the next index into `touch`, or how many so far */
    pbi_touch *touch;
} filler;

static void add(filler *f, pb_node v, uint32_t event, bool read)
{
    if (f->touch)
        f->touch[f->next[v]] = (pbi_touch){event, event, read};
    f->next[v]++;
}

static void touch_all(filler *f, const pbi_script *s)
{
    const pb_graph *g = f->g;
    for (uint32_t k = 0; k < s->count; k++) {
        pb_node v = s->event[k];
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
            add(f, g->in[i], k, true);
        add(f, v, k, false);
        for (uint32_t i = g->owner ? g->part_start[v] : 0; g->owner && i < g->part_start[v + 1]; i++)
            add(f, g->part[i], k, false);
    }
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_KEEP)
            add(f, v, s->count, true);
}

/* How far each run of reads extends. */
static void extend(pbi_script *s)
{
    for (pb_node v = 0; v < s->g->node_count; v++)
        for (uint32_t i = s->touch_start[v + 1]; i-- > s->touch_start[v];)
            if (i + 1 < s->touch_start[v + 1] && s->touch[i].read && s->touch[i + 1].read)
                s->touch[i].until = s->touch[i + 1].until;
}

static pb_status list_touches(pbi_script *s, pb_arena *arena)
{
    uint32_t nodes = s->g->node_count;
    filler f = {s->g, pb_arena_zero(arena, (size_t)nodes + 1, sizeof *f.next), NULL};
    s->touch_start = pb_arena_zero(arena, (size_t)nodes + 1, sizeof *s->touch_start);
    if (!f.next || !s->touch_start)
        return PB_ENOMEM;
    touch_all(&f, s);
    for (pb_node v = 0; v < nodes; v++) {
        s->touch_start[v + 1] = s->touch_start[v] + f.next[v];
        f.next[v] = s->touch_start[v];
    }
    f.touch = s->touch = pb_arena_alloc(arena, s->touch_start[nodes], sizeof *s->touch);
    if (!s->touch)
        return PB_ENOMEM;
    touch_all(&f, s);
    extend(s);
    return PB_OK;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static pb_status find_median(pbi_script *s, pb_arena *arena)
{
    uint64_t *all = pb_arena_alloc(arena, s->count, sizeof *all);
    if (!all)
        return PB_ENOMEM;
    for (uint32_t k = 0; k < s->count; k++)
        all[k] = s->size[s->event[k]];
    qsort(all, s->count, sizeof *all, by_value);
    s->median = s->count ? all[s->count / 2] : 0;
    return PB_OK;
}

static bool round_up(uint64_t *size, uint64_t align)
{
    if (!pbi_add(*size, align - 1, size))
        return false;
    *size &= ~(align - 1);
    return *size < UINT64_C(1) << 62;
}

static pb_status round_sizes(pb_context *ctx, pbi_script *s, uint64_t align, pb_arena *arena)
{
    const pb_graph *g = s->g;
    s->size = pb_arena_alloc(arena, g->node_count, sizeof *s->size);
    s->workspace = pb_arena_alloc(arena, g->node_count, sizeof *s->workspace);
    if (!s->size || !s->workspace)
        return PB_ENOMEM;
    s->fixed = g->fixed_size;
    bool fine = round_up(&s->fixed, align);
    for (pb_node v = 0; v < g->node_count; v++) {
        s->size[v] = g->size[v];
        s->workspace[v] = g->workspace[v];
        fine = fine && round_up(&s->size[v], align) && round_up(&s->workspace[v], align);
    }
    return fine ? PB_OK : pbi_fail(ctx, PB_ERANGE, "a size is too large for addresses; use a coarser size unit");
}

pb_status pbi_script_make(pb_context *ctx, const pb_graph *g, const pb_moves *moves, uint64_t align, pb_arena *arena,
                          pbi_script *out)
{
    pbi_script s = {.g = g, .event = pb_arena_alloc(arena, (size_t)moves->count, sizeof *s.event)};
    if (!s.event || moves->count > UINT32_MAX / 2)
        return PB_ENOMEM;
    for (pb_step k = 0; k < moves->count; k++)
        if (moves->move[k].op == PB_COMPUTE)
            s.event[s.count++] = moves->move[k].node;
    pb_status status = round_sizes(ctx, &s, align, arena);
    if (status == PB_OK)
        status = find_median(&s, arena);
    if (status == PB_OK)
        status = list_touches(&s, arena);
    *out = s;
    return status;
}
