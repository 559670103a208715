/* start.c -- see start.h. */
#include "plan/reversible/anneal/start.h"

#include "base/arena.h"
#include "plan/reversible/anneal/tree_starts.h"

#include <string.h>

/* Max steps for choosing the order of cones. */
#define MAX_STEPS UINT64_C(40000000)

/* How many units a root needs that are not done. */
static uint32_t count_new(pbi_rev_starts *s, uint32_t root)
{
    const pbi_rev_model *m = s->m;
    uint32_t depth = 0, count = 0;
    s->stamp++;
    s->mark[root] = s->stamp;
    s->stack[depth++] = root;
    while (depth) {
        uint32_t u = s->stack[--depth];
        count++;
        s->steps += 1 + m->in_start[u + 1] - m->in_start[u];
        for (uint32_t i = m->in_start[u]; i < m->in_start[u + 1]; i++) {
            uint32_t x = m->in[i];
            if (!s->done[x] && s->mark[x] != s->stamp) {
                s->mark[x] = s->stamp;
                s->stack[depth++] = x;
            }
        }
    }
    return count;
}

/* The root with the fewest new units; if searching takes too long, the next one. */
static uint32_t pick_root(pbi_rev_starts *s)
{
    uint32_t best = 0, min = UINT32_MAX;
    for (uint32_t i = 0; i < s->left_count && s->steps < MAX_STEPS; i++) {
        uint32_t count = count_new(s, s->left[i]);
        if (s->varied)
            count += (uint32_t)pbi_rng_below(&s->rng, (uint64_t)count + 1);
        if (count < min) {
            min = count;
            best = i;
        }
    }
    uint32_t root = s->left[best];
    memmove(s->left + best, s->left + best + 1, (s->left_count - best - 1) * sizeof *s->left);
    s->left_count--;
    return root;
}

/* The unit's inputs, one after the other, from either end. */
static uint32_t next_input(pbi_rev_starts *s, uint32_t depth)
{
    const pbi_rev_model *m = s->m;
    uint32_t u = s->stack[depth - 1], count = m->in_start[u + 1] - m->in_start[u], n = s->next[depth - 1]++;
    if (n >= count)
        return PBI_REV_NONE;
    bool back = s->varied && (s->rng.state >> u % 61 & 1);
    return m->in[back ? m->in_start[u + 1] - 1 - n : m->in_start[u] + n];
}

/* Appends what the root needs and is not done, depth first. */
static void add_cone(pbi_rev_starts *s, uint32_t root)
{
    uint32_t depth = 0, count = s->cone_start[s->cones];
    s->done[root] = 1;
    s->next[depth] = 0;
    s->stack[depth++] = root;
    while (depth) {
        uint32_t u = s->stack[depth - 1];
        uint32_t x = next_input(s, depth);
        if (x == PBI_REV_NONE) {
            s->order[count++] = u;
            depth--;
            continue;
        }
        if (s->done[x])
            continue;
        s->done[x] = 1;
        s->next[depth] = 0;
        s->stack[depth++] = x;
    }
    s->cone_start[++s->cones] = count;
}

static void make_order(pbi_rev_starts *s)
{
    const pbi_rev_model *m = s->m;
    memset(s->mark, 0, m->count * sizeof *s->mark);
    s->stamp = 0;
    for (uint32_t u = 0; u < m->count; u++)
        if (m->stays[u])
            s->left[s->left_count++] = u;
    while (s->left_count) {
        uint32_t root = pick_root(s);
        if (!s->done[root])
            add_cone(s, root);
    }
}

/* Everything once, in that order. */
static void make_once(pbi_rev_starts *s)
{
    const pbi_rev_model *m = s->m;
    uint32_t *open = s->mark; /* readers that are neither final nor uncomputed */
    pbi_rev_list *list = &s->once;
    memset(s->done, 0, m->count);
    for (uint32_t u = 0; u < m->count; u++)
        open[u] = m->out_start[u + 1] - m->out_start[u];
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t waiting = 0;
        list->unit[list->count++] = s->order[i];
        s->done[s->order[i]] = 1;
        if (!open[s->order[i]])
            s->stack[waiting++] = s->order[i];
        while (waiting) { /* final or uncomputed: nothing will need it any more */
            uint32_t u = s->stack[--waiting];
            if (!m->stays[u])
                list->unit[list->count++] = u;
            for (uint32_t j = m->in_start[u]; j < m->in_start[u + 1]; j++)
                if (--open[m->in[j]] == 0 && s->done[m->in[j]])
                    s->stack[waiting++] = m->in[j];
        }
    }
}

/* Computes a cone from the kept values, and uncomputes all but its root. False when the list gets too long. */
static bool add_alone(pbi_rev_starts *s, uint32_t root)
{
    const pbi_rev_model *m = s->m;
    pbi_rev_list *list = &s->cone;
    uint32_t depth = 0, begin = list->count;
    s->stamp++;
    s->mark[root] = s->stamp;
    s->next[depth] = 0;
    s->stack[depth++] = root;
    while (depth) {
        uint32_t u = s->stack[depth - 1];
        uint32_t x = next_input(s, depth);
        if (x == PBI_REV_NONE) {
            if (list->count >= s->room)
                return false;
            list->unit[list->count++] = u;
            depth--;
            continue;
        }
        if (s->done[x] || s->mark[x] == s->stamp)
            continue;
        s->mark[x] = s->stamp;
        s->next[depth] = 0;
        s->stack[depth++] = x;
    }
    for (uint32_t i = list->count - 1; i-- > begin;) {
        uint32_t u = list->unit[i];
        if (list->count >= s->room)
            return false;
        if (m->stays[u])
            s->done[u] = 1;
        else
            list->unit[list->count++] = u;
    }
    s->done[root] = 1;
    return true;
}

static void make_cones(pbi_rev_starts *s)
{
    const pbi_rev_model *m = s->m;
    bool fits = true;
    memset(s->done, 0, m->count);
    memset(s->mark, 0, m->count * sizeof *s->mark);
    s->stamp = 0;
    for (uint32_t u = 0; u < m->count; u++)
        fits = fits && !m->once[u];
    for (uint32_t c = 0; c < s->cones && fits; c++)
        fits = add_alone(s, s->order[s->cone_start[c + 1] - 1]);
    if (!fits)
        s->cone.count = 0;
}

/* The moves of a plan; none when it has moves that intervals cannot express. */
static void read_moves(pbi_rev_starts *s, const pb_moves *moves, const uint32_t *unit_of, pbi_rev_list *out)
{
    out->count = 0;
    for (uint64_t i = 0; i < moves->count; i++) {
        const pb_move *move = &moves->move[i];
        uint32_t u = unit_of[move->node];
        bool plain = (move->op == PB_COMPUTE || move->op == PB_UNCOMPUTE) && !move->flags;
        if (!plain || out->count >= s->room) {
            out->count = 0;
            return;
        }
        if (u != PBI_REV_NONE)
            out->unit[out->count++] = u;
    }
}

static void make_both(pbi_rev_starts *s)
{
    s->cones = s->left_count = s->once.count = s->cone.count = 0;
    s->steps = 0;
    memset(s->done, 0, s->m->count);
    make_order(s);
    make_once(s);
    make_cones(s);
}

void pbi_rev_starts_make(pbi_rev_starts *s, bool varied, uint64_t seed)
{
    s->rng.state = seed;
    pbi_rng_next(&s->rng);
    s->varied = varied;
    make_both(s);
}

int32_t pbi_rev_starts_peak(pbi_rev_starts *s, const pbi_rev_list *list)
{
    const pbi_rev_model *m = s->m;
    int32_t memory = 0, peak = 0;
    uint8_t *resident = s->done;
    memset(resident, 0, m->count);
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t u = list->unit[i];
        int32_t during = memory + (resident[u] ? 0 : m->size[u]) + m->space[u];
        peak = during > peak ? during : peak;
        memory += resident[u] ? -m->size[u] : m->size[u];
        resident[u] = !resident[u];
    }
    return peak;
}

static pb_status read_plan(pbi_rev_starts *s, pb_context *ctx, const pb_moves *given, pbi_rev_list *out)
{
    const pb_graph *g = s->m->game->graph;
    pb_arena scratch;
    if (!given || g->owner)
        return PB_OK;
    pb_arena_init(&scratch, ctx);
    uint32_t *unit_of = pb_arena_alloc(&scratch, g->node_count, sizeof *unit_of);
    for (pb_node v = 0; unit_of && v < g->node_count; v++)
        unit_of[v] = PBI_REV_NONE;
    for (uint32_t u = 0; unit_of && u < s->m->count; u++)
        unit_of[s->m->node[u]] = u;
    if (unit_of)
        read_moves(s, given, unit_of, out);
    pb_arena_release(&scratch);
    return unit_of ? PB_OK : PB_ENOMEM;
}

pb_status pbi_rev_starts_tree(pbi_rev_starts *s, pb_context *ctx, uint32_t turn, uint64_t seed)
{
    static const uint64_t effort[] = {20000000, 5000000}; /* cheaper plans, and more varied ones */
    pbi_rev_tree way = {.effort = effort[turn % 2], .seed = seed + turn};
    pb_moves moves;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_rev_tree_plan(ctx, s->m->game, &way, &scratch, &moves);
    s->tree.count = 0;
    if (status == PB_OK && moves.count)
        status = read_plan(s, ctx, &moves, &s->tree);
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_rev_starts_init(pbi_rev_starts *s, pb_context *ctx, const pbi_rev_model *m, const pb_moves *given,
                              uint32_t room, pb_arena *arena)
{
    size_t n = m->count, roots = (size_t)m->final_count + 1;
    *s = (pbi_rev_starts){.m = m, .room = room};
    s->order = pb_arena_alloc(arena, n, sizeof *s->order);
    s->cone_start = pb_arena_zero(arena, roots, sizeof *s->cone_start);
    s->once.unit = pb_arena_alloc(arena, 2 * n, sizeof *s->once.unit);
    s->cone.unit = pb_arena_alloc(arena, room, sizeof *s->cone.unit);
    s->given.unit = pb_arena_alloc(arena, room, sizeof *s->given.unit);
    s->tree.unit = pb_arena_alloc(arena, room, sizeof *s->tree.unit);
    s->stack = pb_arena_alloc(arena, n + 1, sizeof *s->stack);
    s->next = pb_arena_alloc(arena, n + 1, sizeof *s->next);
    s->done = pb_arena_zero(arena, n, sizeof *s->done);
    s->mark = pb_arena_zero(arena, n, sizeof *s->mark);
    s->left = pb_arena_alloc(arena, roots, sizeof *s->left);
    if (!s->order || !s->cone_start || !s->once.unit || !s->cone.unit || !s->given.unit || !s->tree.unit || !s->stack ||
        !s->next || !s->done || !s->mark || !s->left)
        return PB_ENOMEM;
    make_both(s);
    return read_plan(s, ctx, given, &s->given);
}
