/* cut_flow.c -- see cut_flow.h. */
#include "bound/cut_flow.h"

#include "base/context.h"

#define DEAD (PBI_FLOW_SHUT - 1) /* level of a vertex with no way forward in this phase */

bool pbi_flow_alloc(pbi_flow *f, pb_arena *arena, uint32_t vertex_count, uint32_t arc_count, uint32_t root_room)
{
    *f = (pbi_flow){.vertex_count = vertex_count, .arc_count = arc_count};
    f->start = pb_arena_zero(arena, (size_t)vertex_count + 1, sizeof *f->start);
    f->head = pb_arena_zero(arena, arc_count, sizeof *f->head);
    f->twin = pb_arena_zero(arena, arc_count, sizeof *f->twin);
    f->room = pb_arena_zero(arena, arc_count, sizeof *f->room);
    f->drain = pb_arena_zero(arena, vertex_count, sizeof *f->drain);
    f->root = pb_arena_zero(arena, root_room, sizeof *f->root);
    f->level = pb_arena_zero(arena, vertex_count, sizeof *f->level);
    f->queue = pb_arena_zero(arena, vertex_count, sizeof *f->queue);
    f->next = pb_arena_zero(arena, vertex_count, sizeof *f->next);
    f->path = pb_arena_zero(arena, vertex_count, sizeof *f->path);
    return f->start && f->head && f->twin && f->room && f->drain && f->root && f->level && f->queue && f->next &&
           f->path;
}

void pbi_flow_forget(pbi_flow *f)
{
    for (uint32_t i = 0; i < f->queue_count; i++)
        f->level[f->queue[i]] = 0;
    f->queue_count = 0;
}

/* Levels from the roots, up to the first level with a vertex that can drain. */
static bool search_levels(pbi_flow *f)
{
    uint32_t last = DEAD, count = 0;
    pbi_flow_forget(f);
    for (uint32_t i = 0; i < f->root_count; i++) {
        uint32_t r = f->root[i];
        if (f->level[r])
            continue;
        f->level[r] = 1;
        f->next[r] = f->start[r];
        f->queue[count++] = r;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t u = f->queue[i];
        if (f->level[u] > last)
            break;
        if (f->drain[u] > 0)
            last = f->level[u];
        if (f->level[u] >= last)
            continue;
        for (uint32_t e = f->start[u]; e < f->start[u + 1]; e++)
            if (f->room[e] > 0 && !f->level[f->head[e]]) {
                f->level[f->head[e]] = f->level[u] + 1;
                f->next[f->head[e]] = f->start[f->head[e]];
                f->queue[count++] = f->head[e];
            }
        f->work += f->start[u + 1] - f->start[u];
    }
    f->queue_count = count;
    f->work += count;
    return last != DEAD;
}

/* Sends what the path and the drain of u, its end, allow. *length: the prefix of the path that still has room. */
static int64_t send(pbi_flow *f, uint32_t u, uint32_t *length)
{
    int64_t least = f->drain[u];
    for (uint32_t i = 0; i < *length; i++)
        least = f->room[f->path[i]] < least ? f->room[f->path[i]] : least;
    if (least >= PBI_FLOW_INF)
        return least;
    uint32_t left = *length;
    f->work += left;
    for (uint32_t i = *length; i-- > 0;) {
        uint32_t e = f->path[i];
        if (f->room[e] < PBI_FLOW_INF)
            f->room[e] -= least;
        if (f->room[f->twin[e]] < PBI_FLOW_INF)
            f->room[f->twin[e]] += least;
        if (f->room[e] == 0)
            left = i;
    }
    if (f->drain[u] < PBI_FLOW_INF)
        f->drain[u] -= least;
    *length = left;
    return least;
}

/* Everything that one root can send along rising levels. */
static pbi_flow_end send_from(pbi_flow *f, uint32_t root, uint64_t most, int64_t *total)
{
    uint32_t u = root, length = 0;
    for (;;) {
        if (f->drain[u] > 0) {
            int64_t sent = send(f, u, &length);
            if (sent >= PBI_FLOW_INF)
                return PBI_FLOW_UNLIMITED;
            *total += sent;
            if (*total >= PBI_FLOW_INF)
                return PBI_FLOW_HUGE;
            if (f->work > most)
                return PBI_FLOW_STOPPED;
            u = length ? f->head[f->path[length - 1]] : root;
            continue;
        }
        uint32_t e = f->next[u], end = f->start[u + 1];
        f->work += end - e;
        while (e < end && !(f->room[e] > 0 && f->level[f->head[e]] == f->level[u] + 1))
            e++;
        f->work -= end - e;
        f->next[u] = e;
        if (e < end) {
            f->path[length++] = e;
            u = f->head[e];
            continue;
        }
        f->level[u] = DEAD;
        if (length == 0)
            return PBI_FLOW_FULL;
        u = f->head[f->twin[f->path[--length]]];
    }
}

uint32_t pbi_flow_join(pbi_flow *f, uint32_t *fill, uint32_t u, uint32_t v)
{
    if (!fill) {
        f->start[u + 1]++;
        f->start[v + 1]++;
        return 0;
    }
    uint32_t e = fill[u]++, t = fill[v]++;
    f->head[e] = v;
    f->head[t] = u;
    f->twin[e] = t;
    f->twin[t] = e;
    return e;
}

pbi_flow_end pbi_flow_run(pb_context *ctx, pbi_flow *f, uint64_t most, int64_t *total)
{
    while (search_levels(f)) {
        for (uint32_t i = 0; i < f->root_count; i++) {
            pbi_flow_end end = PBI_FLOW_FULL;
            if (f->level[f->root[i]] == 1)
                end = send_from(f, f->root[i], most, total);
            if (end != PBI_FLOW_FULL)
                return end;
            if (f->work > most || ((i & 0xff) == 0 && pbi_poll(ctx) != PB_OK))
                return PBI_FLOW_STOPPED;
        }
    }
    return PBI_FLOW_FULL;
}
