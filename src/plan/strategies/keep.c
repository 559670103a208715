/* keep.c -- the user's own checkpoints.
 *
 * Problem     a list of values was chosen by hand, by layer or by name: what does keeping them cost, and does it fit?
 * Idea        listed values of the forward pass stay until their last use. The others are freed when the backward pass
 *             begins, except the inputs of the first gradient, and are recomputed once, from the kept ones, when the
 *             backward pass first needs them.
 * Invariants  a listed value is computed once (sequence/replay); the plan is not cleaned up.
 * Cost        O(lines * nodes) for the list, then O(nodes and edges).
 * Source      Chen et al. 2016 with given segment ends; torch.utils.checkpoint.
 * Limits      values that are given or may be computed only once stay, listed or not.
 */
#include "base/context.h"
#include "base/list_lines.h"
#include "plan/sequence/replay.h"
#include "plan/sequence/training.h"

#include <string.h>

typedef struct keeper {
    pb_context *ctx;
    const pb_graph *g;
    const pbi_given *given;
    pbi_training t;
    uint8_t *kept; /* by forward place */
    uint32_t line, listed, forward;
} keeper;

/* Matches * and ?, without recursion: on a mismatch the last * takes one more letter. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* What is computed with a by-product is kept with it. */
static void keep_node(keeper *k, pb_node v)
{
    pb_node unit = pb_graph_maker(k->g, v);
    uint32_t place = k->t.place[unit];
    k->listed++;
    if (place == PBI_NO_PLACE || place >= k->t.forward || k->kept[place])
        return;
    k->kept[place] = 1;
    k->forward++;
}

static uint32_t keep_named(keeper *k, const char *name)
{
    uint32_t found = 0;
    for (pb_node v = 0; v < k->g->node_count; v++)
        if (strcmp(pb_graph_name(k->g, v), name) == 0) {
            keep_node(k, v);
            found++;
        }
    return found;
}

/* A pattern is for names of nodes and of groups. */
static uint32_t keep_matching(keeper *k, const char *pattern)
{
    const pb_graph *g = k->g;
    uint32_t found = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        const char *group = g->group && g->group[v] != UINT32_MAX ? g->group_names[g->group[v]] : NULL;
        if (matches(pattern, pb_graph_name(g, v)) || (group && matches(pattern, group))) {
            keep_node(k, v);
            found++;
        }
    }
    return found;
}

static pb_status unknown(const keeper *k, const char *word)
{
    const pb_graph *g = k->g;
    const char *near = NULL;
    pb_arena scratch;
    pb_arena_init(&scratch, k->ctx);
    const char **names = pb_arena_alloc(&scratch, (size_t)g->node_count + g->group_count, sizeof *names);
    for (pb_node v = 0; names && v < g->node_count; v++)
        names[v] = pb_graph_name(g, v);
    for (uint32_t i = 0; names && i < g->group_count; i++)
        names[g->node_count + i] = g->group_names[i];
    if (names)
        near = pb_nearest_name(word, names, (size_t)g->node_count + g->group_count);
    pb_arena_release(&scratch);
    if (strpbrk(word, "*?"))
        return pbi_fail(k->ctx, PB_EFORMAT, "%.200s:%u: no node and no group matches `%.60s`; correct the pattern",
                        k->given->name, (unsigned)k->line, word);
    if (near)
        return pbi_fail(k->ctx, PB_EFORMAT, "%.200s:%u: there is no node or group `%.60s`; did you mean %.60s?",
                        k->given->name, (unsigned)k->line, word, near);
    return pbi_fail(k->ctx, PB_EFORMAT,
                    "%.200s:%u: there is no node or group `%.60s`; `pebble export GRAPH --format csv` lists the names",
                    k->given->name, (unsigned)k->line, word);
}

/* A node's name, else a group's, else a pattern. */
static pb_status keep_line(keeper *k, const char *word)
{
    if (keep_named(k, word) || keep_matching(k, word))
        return PB_OK;
    return unknown(k, word);
}

static pb_status read_list(keeper *k, pb_arena *arena)
{
    pbi_lines lines = {.at = k->given->text, .end = k->given->text + k->given->length};
    pb_status status = PB_OK;
    while (status == PB_OK && pbi_lines_next(&lines)) {
        char *word = pb_arena_text(arena, lines.word, lines.length);
        k->line = lines.number;
        status = word ? keep_line(k, word) : PB_ENOMEM;
        if (status == PB_OK)
            status = pbi_tick(k->ctx, 1 + k->g->node_count / 64);
    }
    return status;
}

/* The inputs of the first gradient are in use anyway when it begins. */
static void keep_first_inputs(const keeper *k, uint8_t *kept)
{
    const pbi_training *t = &k->t;
    if (t->forward == t->count)
        return;
    pb_node first = t->order[t->forward];
    for (uint32_t i = k->g->in_start[first]; i < k->g->in_start[first + 1]; i++) {
        uint32_t place = t->place[k->g->in[i]];
        if (place < t->forward)
            kept[place] = 1;
    }
}

static pb_status make(keeper *k, const pb_game *game, pb_arena *scratch, pbi_plan *plan)
{
    pbi_sequence s;
    pbi_sequence_init(&s, scratch);
    keep_first_inputs(k, k->kept);
    pb_status status = pbi_replay_mirror(k->ctx, &k->t, k->kept, scratch, &s);
    plan->as_asked = true;
    if (status == PB_OK)
        status = pbi_sequence_emit(k->ctx, game, &s, plan, NULL);
    if (status == PB_OK)
        status = pbi_plan_note(plan, "%u of the %u values of the forward pass are listed", (unsigned)k->forward,
                               (unsigned)k->t.forward);
    return status;
}

pb_status pbi_plan_keep(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    keeper k = {.ctx = ctx, .g = game->graph, .given = options->given};
    pb_arena scratch;
    if (!k.given)
        return pbi_plan_give_up(plan, "does not apply: it needs a file, as in keep:file=layers.txt");
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_training_find(game->graph, &scratch, &k.t);
    k.kept = status == PB_OK ? pb_arena_zero(&scratch, k.t.forward, sizeof *k.kept) : NULL;
    if (status == PB_OK && !k.kept)
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_plan_record(plan, "file", k.given->name);
    if (status == PB_OK)
        status = read_list(&k, &scratch);
    if (status == PB_OK)
        status = make(&k, game, &scratch, plan);
    pb_arena_release(&scratch);
    return status;
}
