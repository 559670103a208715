/* method_rev_start.c -- see method_rev_start.h. */
#include "plan/method_rev_start.h"

#include "base/arena.h"

#include <string.h>

/* Steps that choosing the order of cones may take. */
#define MOST_LOOKS UINT64_C(40000000)

typedef struct maker {
    pbi_rev_starts *s;
    const pbi_rev_model *m;
    uint32_t *stack, *next; /* units being looked at, and which input comes next */
    uint8_t *done;
    uint32_t *mark, stamp;
    uint32_t *left; /* of roots that remain: the root; and how many new units it needed last */
    uint32_t left_count;
    uint64_t looks;
} maker;

/* How many units a root needs that are not done. */
static uint32_t count_new(maker *k, uint32_t root)
{
    const pbi_rev_model *m = k->m;
    uint32_t depth = 0, count = 0;
    k->stamp++;
    k->mark[root] = k->stamp;
    k->stack[depth++] = root;
    while (depth) {
        uint32_t u = k->stack[--depth];
        count++;
        k->looks += 1 + m->in_start[u + 1] - m->in_start[u];
        for (uint32_t i = m->in_start[u]; i < m->in_start[u + 1]; i++) {
            uint32_t x = m->in[i];
            if (!k->done[x] && k->mark[x] != k->stamp) {
                k->mark[x] = k->stamp;
                k->stack[depth++] = x;
            }
        }
    }
    return count;
}

/* The root with the fewest new units; when looking takes too long, the next one. */
static uint32_t pick_root(maker *k)
{
    uint32_t best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < k->left_count && k->looks < MOST_LOOKS; i++) {
        uint32_t count = count_new(k, k->left[i]);
        if (count < least) {
            least = count;
            best = i;
        }
    }
    uint32_t root = k->left[best];
    memmove(k->left + best, k->left + best + 1, (k->left_count - best - 1) * sizeof *k->left);
    k->left_count--;
    return root;
}

/* Appends what the root needs and is not done, depth first. */
static void add_cone(maker *k, uint32_t root)
{
    const pbi_rev_model *m = k->m;
    pbi_rev_starts *s = k->s;
    uint32_t depth = 0, count = s->cone_start[s->cones];
    k->done[root] = 1;
    k->next[depth] = m->in_start[root];
    k->stack[depth++] = root;
    while (depth) {
        uint32_t u = k->stack[depth - 1];
        if (k->next[depth - 1] == m->in_start[u + 1]) {
            s->order[count++] = u;
            depth--;
            continue;
        }
        uint32_t x = m->in[k->next[depth - 1]++];
        if (k->done[x])
            continue;
        k->done[x] = 1;
        k->next[depth] = m->in_start[x];
        k->stack[depth++] = x;
    }
    s->cone_start[++s->cones] = count;
}

static void make_order(maker *k)
{
    const pbi_rev_model *m = k->m;
    for (uint32_t u = 0; u < m->count; u++)
        if (m->stays[u])
            k->left[k->left_count++] = u;
    while (k->left_count) {
        uint32_t root = pick_root(k);
        if (!k->done[root])
            add_cone(k, root);
    }
}

/* Everything once, in that order. */
static void make_once(maker *k)
{
    const pbi_rev_model *m = k->m;
    pbi_rev_starts *s = k->s;
    uint32_t *open = k->mark; /* readers that are not settled */
    pbi_rev_list *list = &s->once;
    memset(k->done, 0, m->count);
    for (uint32_t u = 0; u < m->count; u++)
        open[u] = m->out_start[u + 1] - m->out_start[u];
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t waiting = 0;
        list->unit[list->count++] = s->order[i];
        k->done[s->order[i]] = 1;
        if (!open[s->order[i]])
            k->stack[waiting++] = s->order[i];
        while (waiting) { /* settled: nothing will need it any longer */
            uint32_t u = k->stack[--waiting];
            if (!m->stays[u])
                list->unit[list->count++] = u;
            for (uint32_t j = m->in_start[u]; j < m->in_start[u + 1]; j++)
                if (--open[m->in[j]] == 0 && k->done[m->in[j]])
                    k->stack[waiting++] = m->in[j];
        }
    }
}

/* Makes a cone from what stays, and removes all but its root. False when the list gets too long. */
static bool add_alone(maker *k, uint32_t root)
{
    const pbi_rev_model *m = k->m;
    pbi_rev_list *list = &k->s->cone;
    uint32_t depth = 0, begin = list->count;
    k->stamp++;
    k->mark[root] = k->stamp;
    k->next[depth] = m->in_start[root];
    k->stack[depth++] = root;
    while (depth) {
        uint32_t u = k->stack[depth - 1];
        if (k->next[depth - 1] == m->in_start[u + 1]) {
            if (list->count >= k->s->room)
                return false;
            list->unit[list->count++] = u;
            depth--;
            continue;
        }
        uint32_t x = m->in[k->next[depth - 1]++];
        if (k->done[x] || k->mark[x] == k->stamp)
            continue;
        k->mark[x] = k->stamp;
        k->next[depth] = m->in_start[x];
        k->stack[depth++] = x;
    }
    for (uint32_t i = list->count - 1; i-- > begin;) {
        uint32_t u = list->unit[i];
        if (list->count >= k->s->room)
            return false;
        if (m->stays[u])
            k->done[u] = 1;
        else
            list->unit[list->count++] = u;
    }
    k->done[root] = 1;
    return true;
}

static void make_cones(maker *k)
{
    const pbi_rev_model *m = k->m;
    pbi_rev_starts *s = k->s;
    bool fits = true;
    memset(k->done, 0, m->count);
    memset(k->mark, 0, m->count * sizeof *k->mark);
    k->stamp = 0;
    for (uint32_t u = 0; u < m->count; u++)
        fits = fits && !m->once[u];
    for (uint32_t c = 0; c < s->cones && fits; c++)
        fits = add_alone(k, s->order[s->cone_start[c + 1] - 1]);
    if (!fits)
        s->cone.count = 0;
}

/* The moves of a plan; none when it has any that intervals do not know. */
static void take_given(pbi_rev_starts *s, const pb_moves *moves, const uint32_t *unit_of)
{
    for (uint64_t i = 0; i < moves->count; i++) {
        const pb_move *move = &moves->move[i];
        uint32_t u = unit_of[move->node];
        bool plain = (move->op == PB_COMPUTE || move->op == PB_UNCOMPUTE) && !move->flags;
        if (!plain || s->given.count >= s->room) {
            s->given.count = 0;
            return;
        }
        if (u != PBI_REV_NONE)
            s->given.unit[s->given.count++] = u;
    }
}

static pb_status make_all(maker *k, const pb_moves *given, pb_arena *scratch)
{
    const pbi_rev_model *m = k->m;
    const pb_graph *g = m->game->graph;
    make_order(k);
    make_once(k);
    make_cones(k);
    if (!given || g->owner)
        return PB_OK;
    uint32_t *unit_of = pb_arena_alloc(scratch, g->node_count, sizeof *unit_of);
    if (!unit_of)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++)
        unit_of[v] = PBI_REV_NONE;
    for (uint32_t u = 0; u < m->count; u++)
        unit_of[m->node[u]] = u;
    take_given(k->s, given, unit_of);
    return PB_OK;
}

pb_status pbi_rev_starts_init(pbi_rev_starts *s, pb_context *ctx, const pbi_rev_model *m, const pb_moves *given,
                              uint32_t room, pb_arena *arena)
{
    size_t n = m->count;
    *s = (pbi_rev_starts){.m = m, .room = room};
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    s->order = pb_arena_alloc(arena, n, sizeof *s->order);
    s->cone_start = pb_arena_zero(arena, (size_t)m->final_count + 1, sizeof *s->cone_start);
    s->once.unit = pb_arena_alloc(arena, 2 * n, sizeof *s->once.unit);
    s->cone.unit = pb_arena_alloc(arena, room, sizeof *s->cone.unit);
    s->given.unit = pb_arena_alloc(arena, room, sizeof *s->given.unit);
    maker k = {.s = s, .m = m};
    k.stack = pb_arena_alloc(&scratch, n + 1, sizeof *k.stack);
    k.next = pb_arena_alloc(&scratch, n + 1, sizeof *k.next);
    k.done = pb_arena_zero(&scratch, n, sizeof *k.done);
    k.mark = pb_arena_zero(&scratch, n, sizeof *k.mark);
    k.left = pb_arena_alloc(&scratch, (size_t)m->final_count + 1, sizeof *k.left);
    pb_status status = s->order && s->cone_start && s->once.unit && s->cone.unit && s->given.unit && k.stack &&
                               k.next && k.done && k.mark && k.left
                           ? PB_OK
                           : PB_ENOMEM;
    if (status == PB_OK)
        status = make_all(&k, given, &scratch);
    pb_arena_release(&scratch);
    return status;
}
