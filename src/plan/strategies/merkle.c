/* merkle.c -- all authentication paths of a hash tree, by the algorithms that signature schemes use.
 *
 * Problem     output every authentication path of a hash tree in the order of its leaves, with fewer hashes stored
 *             than the tree has, at the least work.
 * Idea        the streams of hashtree/: direct recomputation, Merkle's stacks, Szydlo's, BDS with k, fractal with
 *             k. Each is run without hashing to measure what it stores and computes; the one with the least work of
 *             those that fit becomes the sequence of computations.
 * Invariants  the graph is that of `pebble gen merkle-traversal`, node by node; only its sizes and costs are free,
 *             equal on leaves and on inner nodes.
 * Cost        O(2^H H) for each algorithm that is tried, as the graph itself.
 * Source      Merkle (1979); Szydlo (2004); Buchmann, Dahmen and Schneider (2008); docs/hash-trees.md.
 * Limits      the algorithms bound the work of every single output, which costs more in total than a plan needs; the
 *             search may find less.
 */
#include "base/context.h"
#include "pebble/hashtree.h"
#include "plan/sequence/sequence.h"

#include <stdio.h>
#include <string.h>

static pb_node place(uint64_t leaves, uint64_t level, uint64_t index)
{
    return (pb_node)(2 * leaves - (2 * leaves >> level) + index);
}

static uint32_t reads(const pb_graph *g, pb_node v) { return g->in_start[v + 1] - g->in_start[v]; }

static bool reads_node(const pb_graph *g, pb_node v, pb_node u)
{
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (g->in[k] == u)
            return true;
    return false;
}

/* Are nodes first .. last - 1 plain ones of the size and cost of the first? */
static bool are_alike(const pb_graph *g, pb_node first, pb_node last)
{
    for (pb_node v = first; v < last; v++)
        if (g->size[v] != g->size[first] || g->cost[v] != g->cost[first] || g->workspace[v] ||
            (g->flags[v] & (PB_NODE_GIVEN | PB_NODE_ONCE | PB_NODE_KEEP | PB_NODE_BYPRODUCT)))
            return false;
    return true;
}

static bool is_tree(const pb_graph *g, uint64_t leaves, uint32_t height)
{
    for (pb_node v = 0; v < leaves; v++)
        if (reads(g, v))
            return false;
    for (uint32_t h = 1; h <= height; h++)
        for (uint64_t i = 0; i < leaves >> h; i++) {
            pb_node v = place(leaves, h, i), left = place(leaves, h - 1, 2 * i);
            if (reads(g, v) != 2 || !reads_node(g, v, left) || !reads_node(g, v, left + 1))
                return false;
        }
    return are_alike(g, 0, (pb_node)leaves) && are_alike(g, (pb_node)leaves, (pb_node)(2 * leaves - 1)) &&
           (!height || g->size[0] == g->size[leaves]);
}

/* `publish` reads the root; each path reads its hashes and the path before. */
static bool are_paths(const pb_graph *g, uint64_t leaves, uint32_t height)
{
    pb_node publish = (pb_node)(2 * leaves - 1);
    bool fits = reads(g, publish) == 1 && reads_node(g, publish, publish - 1) && are_alike(g, publish, g->node_count) &&
                g->size[publish] == 0;
    for (uint64_t i = 0; i < leaves && fits; i++) {
        pb_node v = (pb_node)(publish + 1 + i);
        fits = reads(g, v) == height + 1 && reads_node(g, v, v - 1);
        for (uint32_t h = 0; h < height && fits; h++)
            fits = reads_node(g, v, place(leaves, h, i >> h ^ 1));
    }
    return fits;
}

static bool is_traversal(const pb_graph *g, uint32_t *height)
{
    uint32_t h = 0;
    while (h < PB_TRAVERSAL_MAX_HEIGHT && UINT64_C(3) << h < g->node_count)
        h++;
    *height = h;
    uint64_t leaves = UINT64_C(1) << h;
    return g->node_count == 3 * leaves && g->needed_count == g->node_count && is_tree(g, leaves, h) &&
           are_paths(g, leaves, h);
}

static pb_status read_options(pb_context *ctx, const pbi_plan_options *options, uint32_t height,
                              pb_traversal_spec *only, bool *named)
{
    const char *name = pbi_option_find(options, "algorithm"), *k = pbi_option_find(options, "k");
    char text[80];
    *named = name && strcmp(name, "auto") != 0;
    if (k && strcmp(k, "auto") == 0)
        k = NULL;
    if (!*named && k)
        return pbi_fail(ctx, PB_EINVAL, "k is an option of algorithm=lazy, bds and fractal only; leave it out");
    if (!*named)
        return PB_OK;
    snprintf(text, sizeof text, "%.40s%s%.20s", name, k ? ":k=" : "", k ? k : "");
    return pb_traversal_parse(ctx, text, height, only);
}

/* Hashes that fit the cap. */
static uint64_t room_for(const pb_game *game)
{
    const pb_graph *g = game->graph;
    if (game->cap == PB_UNLIMITED || !g->size[0])
        return UINT64_MAX;
    return game->cap < g->fixed_size ? 0 : (game->cap - g->fixed_size) / g->size[0];
}

static pb_status write_plan(pb_context *ctx, const pb_game *game, const pb_traversal_spec *spec, pb_arena *scratch,
                            pbi_plan *plan)
{
    pb_traversal t;
    pb_hash_action a;
    pbi_sequence s;
    uint64_t leaves = UINT64_C(1) << spec->height;
    pbi_sequence_init(&s, scratch);
    pb_status status = pb_traversal_init(ctx, spec, scratch, &t);
    while (status == PB_OK && pb_traversal_next(&t, &a)) {
        if (a.kind == PB_HASH_LEAF || a.kind == PB_HASH_NODE)
            status = pbi_sequence_add(&s, place(leaves, a.level, a.index));
        else if (a.kind == PB_HASH_ROOT)
            status = pbi_sequence_add(&s, (uint32_t)(2 * leaves - 1));
        else if (a.kind == PB_HASH_PATH)
            status = pbi_sequence_add(&s, (uint32_t)(2 * leaves + a.index));
        if (status == PB_OK && a.kind == PB_HASH_PATH)
            status = pbi_tick(ctx, 1);
    }
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    if (status == PB_OK)
        status = pbi_plan_record(plan, "algorithm", pb_traversal_name(spec->kind));
    return status == PB_OK && pb_traversal_takes_k(spec->kind) ? pbi_plan_record_number(plan, "k", spec->k) : status;
}

static pb_status plan_traversal(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint32_t height,
                                pb_arena *scratch, pbi_plan *plan)
{
    const pb_graph *g = game->graph;
    pb_traversal_spec only;
    pb_traversal_choice choice;
    bool named;
    pb_traversal_request request = {.height = height,
                                    .cap = room_for(game),
                                    .prices = {g->cost[0], height ? g->cost[UINT32_C(1) << height] : 0},
                                    .by_average = true};
    pb_status status = read_options(ctx, options, height, &only, &named);
    if (status != PB_OK)
        return status;
    request.only = named ? &only : NULL;
    status = pb_traversal_choose(ctx, &request, scratch, &choice);
    if (status != PB_OK)
        return status;
    if (choice.winner == UINT32_MAX) /* direct comes first, and nothing stores less */
        return pbi_plan_give_up(plan, "does not fit: %s stores %llu hashes, and the cap has room for %llu",
                                pb_traversal_name(choice.row[0].spec.kind),
                                (unsigned long long)choice.row[0].figures.slots, (unsigned long long)request.cap);
    return write_plan(ctx, game, &choice.row[choice.winner].spec, scratch, plan);
}

pb_status pbi_plan_merkle(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint32_t height;
    if (!is_traversal(game->graph, &height))
        return pbi_plan_give_up(plan, "does not apply: the graph is not the traversal of a hash tree");
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pb_status status = plan_traversal(ctx, game, options, height, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
