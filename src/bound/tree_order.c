/* tree_order.c -- see tree_order.h.
 *
 * Every subtree has a list of jobs in the order of tree_parts.h. The lists of a node's inputs are merged, and the
 * node's own computation is appended: while the last job of the list does not belong before it, the two are joined,
 * since in some best order nothing comes between them. At the end all jobs of all trees are sorted. Lists are
 * pairing heaps with the last job on top: merging takes constant time, and each job is removed at most once.
 *
 * This is Liu's algorithm (1987), whose hills and valleys are the jobs, in the form that Monma and Sidney (1979) and
 * Abdel-Wahab and Kameda (1978) gave to the minimum of the maximum of sums over series-parallel orders. The latter also
 * covers subtrees that end with less memory than they started with, which happens if large values are given.
 */
#include "bound/tree_parts.h"

#include "base/context.h"

static bool starts_fast(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & (PB_NODE_GIVEN | PB_NODE_GIVEN_SLOW)) == PB_NODE_GIVEN;
}

/* Given and always resident, or without a size: it may have any number of readers. */
static bool is_neutral(const pb_graph *g, pb_node v)
{
    return (g->flags[v] & PB_NODE_GIVEN) && (g->size[v] == 0 || (starts_fast(g, v) && (g->flags[v] & PB_NODE_KEEP)));
}

static bool stays(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_KEEP; }

static bool refuse(pbi_tree_found *found, const char *why, pb_node at)
{
    found->is_forest = false;
    found->why = why;
    found->why_at = at;
    return false;
}

/* The reader of each value; false if the graph is not a forest. */
static bool find_readers(pbi_tree *t, pbi_tree_found *found)
{
    const pb_graph *g = t->g;
    for (pb_node v = 0; v < g->node_count; v++) {
        pb_node reader = PB_NO_NODE;
        for (uint32_t k = g->out_start[v]; k < g->out_start[v + 1]; k++) {
            if (!(g->flags[g->out[k]] & PB_NODE_NEEDED))
                continue;
            if (reader != PB_NO_NODE && !is_neutral(g, v))
                return refuse(found, "has several readers", v);
            reader = g->out[k];
        }
        t->reader[v] = reader;
        if (!(g->flags[v] & PB_NODE_NEEDED) || (g->flags[v] & PB_NODE_GIVEN))
            continue;
        bool part = g->flags[v] & PB_NODE_BYPRODUCT;
        if (part && (reader != PB_NO_NODE || stays(g, v)))
            return refuse(found, "is a by-product that is used", v);
        found->recomputing_helps = found->recomputing_helps || part || (stays(g, v) && reader != PB_NO_NODE);
    }
    return true;
}

/* The size of the largest input that v may overwrite; inputs that must be kept do not count. */
static uint64_t largest_overwritten(const pb_graph *g, pb_node v)
{
    uint64_t most = 0;
    if (g->inplace_start)
        for (uint32_t k = g->inplace_start[v]; k < g->inplace_start[v + 1]; k++)
            if (g->size[g->inplace[k]] > most && !stays(g, g->inplace[k]))
                most = g->size[g->inplace[k]];
    return most;
}

/* How the computation of v alone changes memory. */
static pbi_job_steps step_of(const pbi_tree *t, pb_node v)
{
    const pb_graph *g = t->g;
    uint64_t loaded = 0, freed = 0, over = largest_overwritten(g, v), made = g->size[v];
    uint64_t left = t->reader[v] != PB_NO_NODE || stays(g, v) ? made : 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        if (g->flags[u] & PB_NODE_GIVEN_SLOW)
            loaded += g->size[u];
        freed += stays(g, u) ? 0 : g->size[u];
    }
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            made += g->flags[g->part[k]] & PB_NODE_TARGET ? g->size[g->part[k]] : 0;
    uint64_t saved = over < g->size[v] ? over : g->size[v], grown = made - saved + g->workspace[v];
    return (pbi_job_steps){loaded + grown, grown + freed - left};
}

static void weigh_start(pbi_tree *t)
{
    const pb_graph *g = t->g;
    t->start = t->base = g->fixed_size;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (!starts_fast(g, v))
            continue;
        t->start += g->size[v];
        t->base += t->reader[v] != PB_NO_NODE || stays(g, v) ? g->size[v] : 0;
    }
}

/* The lists of jobs. A job is named by its last node. */
typedef struct lists {
    pbi_tree *t;
    pb_node *first;         /* by job: its first node */
    pb_node *next;          /* by node: the next one in its job */
    pb_node *child, *other; /* by job: heap links */
    pb_node *sorted;        /* all jobs, at the end */
    pb_node *top;           /* by node: the last job of the list of its subtree */
} lists;

static pb_node merge(lists *l, pb_node a, pb_node b)
{
    if (a == PB_NO_NODE || b == PB_NO_NODE)
        return a == PB_NO_NODE ? b : a;
    if (pbi_job_compare(l->t->job[a], l->t->job[b]) < 0) {
        pb_node swap = a;
        a = b;
        b = swap;
    }
    l->other[b] = l->child[a];
    l->child[a] = b;
    return a;
}

/* The heap without its top: merges its children in pairs from the left, then the pairs from the right. */
static pb_node without_top(lists *l, pb_node top)
{
    pb_node pairs = PB_NO_NODE, left = l->child[top], all = PB_NO_NODE;
    while (left != PB_NO_NODE) {
        pb_node a = left, b = l->other[a];
        left = b == PB_NO_NODE ? b : l->other[b];
        l->other[a] = PB_NO_NODE;
        if (b != PB_NO_NODE)
            l->other[b] = PB_NO_NODE;
        pb_node pair = merge(l, a, b);
        l->other[pair] = pairs;
        pairs = pair;
    }
    while (pairs != PB_NO_NODE) {
        pb_node rest = l->other[pairs];
        l->other[pairs] = PB_NO_NODE;
        all = merge(l, all, pairs);
        pairs = rest;
    }
    return all;
}

static void add_node(lists *l, pb_node v)
{
    pbi_tree *t = l->t;
    const pb_graph *g = t->g;
    pb_node top = PB_NO_NODE;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (pb_graph_is_computed(g, g->in[k]))
            top = merge(l, top, l->top[g->in[k]]);
    t->job[v] = step_of(t, v);
    l->first[v] = v;
    l->child[v] = l->other[v] = PB_NO_NODE;
    while (top != PB_NO_NODE && pbi_job_compare(t->job[top], t->job[v]) >= 0) {
        pb_node rest = without_top(l, top);
        l->next[top] = l->first[v];
        l->first[v] = l->first[top];
        t->job[v] = pbi_job_join(t->job[top], t->job[v]);
        top = rest;
    }
    l->top[v] = merge(l, top, v);
}

/* Empties a heap, the last job first. */
static void write_order(lists *l, pb_node top, pb_node *order, pbi_job_steps *all)
{
    uint32_t jobs = l->t->g->node_count, end = jobs;
    while (top != PB_NO_NODE) {
        l->sorted[--jobs] = top;
        top = without_top(l, top);
    }
    uint32_t count = 0;
    for (uint32_t i = jobs; i < end; i++) {
        pb_node job = l->sorted[i];
        *all = pbi_job_join(*all, l->t->job[job]);
        for (pb_node v = l->first[job]; order; v = l->next[v]) {
            order[count++] = v;
            if (v == job)
                break;
        }
    }
}

static pb_status least_order(pbi_tree *t, pb_node *order, pbi_job_steps *all)
{
    const pb_graph *g = t->g;
    pb_node *room = pb_arena_alloc(t->arena, (size_t)g->node_count * 6, sizeof *room);
    if (!room)
        return PB_ENOMEM;
    size_t n = g->node_count;
    lists l = {t, room, room + n, room + 2 * n, room + 3 * n, room + 4 * n, room + 5 * n};
    pb_node top = PB_NO_NODE;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if ((i & 0xffff) == 0 && pbi_poll(t->ctx) != PB_OK)
            return PB_ECANCELLED;
        if (!pbi_tree_is_planned(g, v))
            continue;
        add_node(&l, v);
        if (t->reader[v] == PB_NO_NODE)
            top = merge(&l, top, l.top[v]);
    }
    write_order(&l, top, order, all);
    return PB_OK;
}

static pb_status find(pbi_tree *t, pbi_tree_kind kind, pb_node *order, pbi_tree_found *found)
{
    const pb_graph *g = t->g;
    t->reader = pb_arena_alloc(t->arena, g->node_count, sizeof *t->reader);
    if (!t->reader)
        return PB_ENOMEM;
    if (!find_readers(t, found))
        return PB_OK;
    t->job = pb_arena_alloc(t->arena, g->node_count, sizeof *t->job);
    if (!t->job)
        return PB_ENOMEM;
    weigh_start(t);
    pbi_job_steps all = {0, 0};
    if (kind == PBI_TREE_POSTORDER)
        for (uint32_t i = 0; i < g->order_count; i++)
            t->job[g->order[i]] = step_of(t, g->order[i]);
    pb_status status = kind == PBI_TREE_LEAST ? least_order(t, order, &all) : pbi_tree_postorder(t, order, &all);
    found->peak = t->start > t->base + all.rise ? t->start : t->base + all.rise;
    return status;
}

pb_status pbi_tree_order(pb_context *ctx, const pb_game *game, pbi_tree_kind kind, pb_node *order,
                         pbi_tree_found *found)
{
    pb_arena scratch;
    pbi_tree_found answer = {.is_forest = true, .why_at = PB_NO_NODE};
    pb_arena_init(&scratch, ctx);
    pbi_tree t = {.ctx = ctx, .game = game, .g = game->graph, .arena = &scratch};
    pb_status status = find(&t, kind, order, &answer);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *found = answer;
    return status;
}
