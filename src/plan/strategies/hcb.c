/* hcb.c -- height-compressed backpropagation: blocks of the forward pass under a balanced tree.
 *
 * Problem     reverse-mode differentiation of L steps whose frontier is w wide, in memory of about w times the root
 *             of L.
 * Idea        order the forward part so that its frontier is small; cut it into blocks, of equally many nodes or of
 *             equal sizes and narrow borders; put a balanced binary tree over the blocks. Its upper `levels` are
 *             replayed: a node of the tree runs forward to its middle, leaves a checkpoint of the frontier, processes
 *             its right half and then its left half. Below these levels the borders of all blocks of the interval are
 *             kept at once. A leaf recomputes its block and runs the backward nodes that read it. So the tree is
 *             traversed in post-order, right before left.
 * Invariants  checkpoints form a stack; at a leaf it holds one per level, and the borders of one interval.
 * Cost        O((2 + levels) (nodes and edges)) a plan, some tens of plans.
 * Source      the height-compressed simulation of trees carried over to backpropagation; blocks and tree by its
 *             rules.
 * Limits      costs are ignored. If the frontier is more than a quarter of all forward values, blocks gain nothing:
 *             the plan follows program order, and a note reports this.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/sequence/frontier.h"
#include "plan/sequence/replay.h"
#include "plan/sequence/trials.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Numbers of a choice: how many blocks, how they are cut, how many levels of the tree are replayed. */
enum { BLOCKS, CUT, LEVELS };
enum { EQUAL, ADAPTIVE, CUTS };

enum {
    LARGE = 20000, /* forward places above which fewer numbers of blocks are tried */
    MANY = 100000  /* forward places above which blocks are adaptive only, and about the square root of the places */
};

static const char *const cut_names[CUTS] = {"equal", "adaptive"};

typedef struct hcb {
    pb_context *ctx;
    pbi_training t;
    uint64_t limit;
    uint64_t *crossing; /* per forward place: sizes that cross it */
    uint64_t frontier, largest;
    bool reordered, compresses;
    uint64_t asked[3]; /* UINT64_MAX: auto */
} hcb;

typedef struct task {
    uint32_t from, to; /* blocks */
    uint64_t level;
    size_t mark;       /* of holds, to return to first */
    pbi_snapshot base; /* the border before block `from` */
    bool fresh;        /* none of it has been computed before */
} task;

typedef struct run {
    const hcb *h;
    pbi_replay r;
    uint32_t blocks;
    int64_t *end;    /* per block: its last place */
    uint32_t *start; /* per block, counted from the last: its first in `order` */
    pb_node *order;  /* backward nodes by block, the last first */
    task *task;
    uint32_t tasks;
    pbi_snapshot *border;
} run;

/* ---- blocks ---- */

static void cut_equally(run *u, uint64_t blocks_asked)
{
    uint64_t n = u->h->t.forward;
    for (uint64_t i = 1; i <= blocks_asked; i++)
        u->end[u->blocks++] = (int64_t)(n / blocks_asked * i + n % blocks_asked * i / blocks_asked) - 1;
}

/* Blocks of about equal sizes; the border is where least crosses, in the latter half of the block. */
static void cut_adaptively(run *u, uint64_t blocks_asked)
{
    const hcb *h = u->h;
    uint64_t goal = h->t.all_sizes / blocks_asked + 1, since = 0;
    uint32_t n = h->t.forward, best = PBI_NO_PLACE;
    for (uint32_t p = 0; p < n; p++) {
        since = pbi_add_saturated(since, h->t.size[p]);
        if (since >= (goal + 1) / 2 && (best == PBI_NO_PLACE || h->crossing[p] <= h->crossing[best]))
            best = p;
        if (since >= goal && best != n - 1) {
            u->end[u->blocks++] = best;
            p = best;
            since = 0;
            best = PBI_NO_PLACE;
        }
    }
    u->end[u->blocks++] = (int64_t)n - 1;
}

/* A backward node runs with the last block that it reads, but not before the backward nodes that it reads. */
static pb_status sort_backward(run *u, pb_arena *arena)
{
    const pbi_training *t = &u->h->t;
    uint32_t count = t->count - t->forward, *block = pb_arena_alloc(arena, t->count, sizeof *block);
    u->start = pb_arena_zero(arena, (size_t)u->blocks + 2, sizeof *u->start);
    u->order = pb_arena_alloc(arena, count, sizeof *u->order);
    if (!block || !u->start || !u->order)
        return PB_ENOMEM;
    for (uint32_t p = 0, b = 0; p < t->forward; p++) {
        b += (int64_t)p > u->end[b];
        block[p] = b;
    }
    for (uint32_t p = t->forward; p < t->count; p++) {
        uint32_t max = u->blocks - 1, read = PBI_NO_PLACE;
        for (uint32_t k = t->g->in_start[t->order[p]]; k < t->g->in_start[t->order[p] + 1]; k++) {
            uint32_t q = t->place[t->g->in[k]];
            if (q == PBI_NO_PLACE)
                continue;
            if (q >= t->forward)
                max = block[q] < max ? block[q] : max;
            else if (read == PBI_NO_PLACE || block[q] > read)
                read = block[q];
        }
        block[p] = read < max ? read : max;
        u->start[u->blocks - 1 - block[p] + 2]++;
    }
    for (uint32_t b = 0; b < u->blocks; b++)
        u->start[b + 2] += u->start[b + 1];
    for (uint32_t p = t->forward; p < t->count; p++)
        u->order[u->start[u->blocks - 1 - block[p] + 1]++] = t->order[p];
    return PB_OK;
}

/* ---- the tree ---- */

static pb_status reverse_block(run *u, const task *k)
{
    const pbi_training *t = &u->h->t;
    uint32_t b = u->blocks - 1 - k->from;
    pb_status status = PB_OK;
    for (int64_t p = k->base.position + 1; k->fresh && p <= u->end[k->from] && status == PB_OK; p++)
        status = pbi_replay_make(&u->r, t->order[p]);
    for (uint32_t i = u->start[b]; i < u->start[b + 1] && status == PB_OK; i++)
        status = pbi_replay_make(&u->r, u->order[i]);
    return status;
}

/* Replayed: to the middle, then the right half and the left. */
static pb_status split_interval(run *u, const task *k)
{
    uint32_t middle = k->from + (k->to - k->from) / 2;
    pbi_snapshot middle_snapshot;
    pb_status status = pbi_replay_advance(&u->r, &k->base, &u->end[middle - 1], 1, k->fresh, &middle_snapshot);
    u->task[u->tasks++] = (task){k->from, middle, k->level + 1, k->mark, k->base, false};
    u->task[u->tasks++] = (task){middle, k->to, k->level + 1, middle_snapshot.to, middle_snapshot, k->fresh};
    return status;
}

/* Keeps all borders at once, then reverses the blocks from the last to the first. The border behind a block stays
 * resident while the block is reversed: its values need not be recomputed. */
static pb_status keep_borders(run *u, const task *k)
{
    uint32_t count = k->to - k->from - 1;
    pb_status status = pbi_replay_advance(&u->r, &k->base, &u->end[k->from], count, k->fresh, u->border);
    for (uint32_t i = 0; i <= count; i++) {
        const pbi_snapshot *base = i ? &u->border[i - 1] : &k->base;
        size_t mark = i < count ? u->border[i].to : base->to;
        u->task[u->tasks++] = (task){k->from + i, k->from + i + 1, k->level, mark, *base, k->fresh && i == count};
    }
    return status;
}

static pb_status reverse_tree(run *u, uint64_t levels)
{
    pb_status status = PB_OK;
    u->task[u->tasks++] = (task){0, u->blocks, 0, 0, {.position = -1}, true};
    while (u->tasks && status == PB_OK) {
        task k = u->task[--u->tasks];
        pbi_replay_release(&u->r, k.mark);
        if (k.to - k.from == 1)
            status = reverse_block(u, &k);
        else
            status = k.level < levels ? split_interval(u, &k) : keep_borders(u, &k);
    }
    return status;
}

static pb_status make_sequence(void *state, const pbi_choice *choice, pb_arena *arena, pbi_sequence *s)
{
    const hcb *h = state;
    run u = {.h = h};
    uint64_t blocks_asked = choice->number[BLOCKS] < h->t.forward ? choice->number[BLOCKS] : h->t.forward;
    if (!blocks_asked)
        return PB_OK; /* nothing to compute */
    size_t max = choice->number[CUT] == EQUAL ? blocks_asked : 2 * blocks_asked + 2;
    u.end = pb_arena_alloc(arena, max, sizeof *u.end);
    u.border = pb_arena_alloc(arena, max, sizeof *u.border);
    u.task = pb_arena_alloc(arena, max + 64, sizeof *u.task);
    if (!u.end || !u.border || !u.task)
        return PB_ENOMEM;
    if (choice->number[CUT] == EQUAL)
        cut_equally(&u, blocks_asked);
    else
        cut_adaptively(&u, blocks_asked);
    pb_status status = sort_backward(&u, arena);
    if (status == PB_OK)
        status = pbi_replay_init(&u.r, h->ctx, &h->t, h->limit, arena, s);
    return status == PB_OK ? reverse_tree(&u, choice->number[LEVELS]) : status;
}

/* ---- choices ---- */

/* More levels keep less and compute more: the first that fits is the right one for this cut. */
static pb_status try_levels(pbi_trials *trials, const hcb *h, uint64_t blocks, uint64_t cut)
{
    pbi_trial result = PBI_TRIAL_TOO_LARGE;
    pb_status status = PB_OK;
    uint64_t asked = h->asked[LEVELS], min = UINT64_MAX;
    for (uint64_t level = asked == UINT64_MAX ? 0 : asked; status == PB_OK; level++) {
        uint64_t peak = UINT64_MAX;
        status = pbi_trials_try(trials, (pbi_choice){{blocks, cut, level}}, &result, &peak);
        bool worse = peak > min - min / 64 && level > 2; /* the borders no longer decide the peak */
        min = peak < min ? peak : min;
        if (asked != UINT64_MAX || result != PBI_TRIAL_TOO_LARGE || worse || blocks >> level <= 1)
            break;
    }
    return status;
}

static pb_status try_cuts(pbi_trials *trials, const hcb *h, uint64_t blocks)
{
    pb_status status = PB_OK;
    for (uint64_t cut = 0; cut < CUTS && status == PB_OK && !pbi_trials_done(trials); cut++)
        if (h->asked[CUT] == cut || (h->asked[CUT] == UINT64_MAX && (cut == ADAPTIVE || h->t.forward <= MANY)))
            status = try_levels(trials, h, blocks, cut);
    return status;
}

static pb_status try_all(pbi_trials *trials, const hcb *h)
{
    pbi_trial result;
    pb_status status = PB_OK;
    if (!h->compresses || h->asked[BLOCKS] == UINT64_MAX) /* one block: nothing is dropped */
        status = pbi_trials_try(trials, (pbi_choice){{1, EQUAL, 0}}, &result, NULL);
    if (!h->compresses || pbi_trials_done(trials) || status != PB_OK)
        return status;
    if (h->asked[BLOCKS] != UINT64_MAX)
        return try_cuts(trials, h, h->asked[BLOCKS]);
    uint64_t root = (uint64_t)sqrt((double)h->t.forward) + 1, max = h->t.forward > MANY ? root : 4 * root;
    for (uint64_t blocks = h->t.forward > MANY ? root : 2; blocks <= max && status == PB_OK;) {
        status = try_cuts(trials, h, blocks);
        uint64_t more = blocks / 3 > 5 ? blocks / 3 : 1;
        blocks += h->t.forward > LARGE ? blocks / 2 + 1 : more;
    }
    return status;
}

/* ---- the order ---- */

static pb_status choose_order(hcb *h, pb_arena *arena)
{
    pbi_training *t = &h->t;
    pb_node *small = pb_arena_alloc(arena, t->forward, sizeof *small),
            *saved_order = pb_arena_alloc(arena, t->forward, sizeof *saved_order);
    if (!small || !saved_order)
        return PB_ENOMEM;
    uint64_t before = pbi_training_frontier(t);
    pb_status status = pbi_frontier_order(h->ctx, t, arena, small);
    if (status != PB_OK)
        return status;
    memcpy(saved_order, t->order, t->forward * sizeof *saved_order);
    pbi_training_reorder(t, small);
    h->frontier = pbi_training_frontier(t);
    h->reordered = h->frontier < before;
    if (!h->reordered) {
        pbi_training_reorder(t, saved_order);
        h->frontier = before;
    }
    return PB_OK;
}

static pb_status analyse_forward(hcb *h, const pb_graph *g, pb_arena *arena)
{
    pb_status status = pbi_training_find(g, arena, &h->t);
    if (status == PB_OK)
        status = choose_order(h, arena);
    h->crossing = status == PB_OK ? pb_arena_alloc(arena, h->t.forward, sizeof *h->crossing) : NULL;
    if (!h->crossing)
        return status == PB_OK ? PB_ENOMEM : status;
    uint64_t now = 0;
    for (uint32_t p = 0; p < h->t.forward; p++) {
        now += h->t.read[p] != p ? h->t.size[p] : 0;
        now -= h->t.leaving[p];
        h->crossing[p] = now;
        h->largest = h->t.size[p] > h->largest ? h->t.size[p] : h->largest;
    }
    h->compresses = h->frontier <= h->t.all_sizes / 4;
    return PB_OK;
}

static pb_status write_note(const hcb *h, const pb_game *game, const pbi_trials *trials, pbi_plan *plan)
{
    const char *unit = game->graph->size_unit;
    char frontier[40], largest[40], all[40];
    pb_quantity_text(h->frontier, unit, frontier, sizeof frontier);
    pb_quantity_text(h->largest, unit, largest, sizeof largest);
    pb_quantity_text(h->t.all_sizes, unit, all, sizeof all);
    if (!h->compresses)
        return pbi_plan_note(plan,
                             "the graph does not compress: %s of its %s forward values are in memory at the same time",
                             frontier, all);
    uint64_t always = game->graph->fixed_size;
    for (pb_node v = 0; v < game->graph->node_count; v++)
        if (game->graph->flags[v] & PB_NODE_GIVEN)
            always = pbi_add_saturated(always, game->graph->size[v]);
    uint64_t min = h->frontier > h->largest ? h->frontier : h->largest;
    double gap = min && trials->f.peak > always ? (double)(trials->f.peak - always) / (double)min : 1;
    return pbi_plan_note(
        plan,
        "the forward pass%s has a frontier of %s and a largest value of %s; the peak is %.1f times the larger of them",
        h->reordered ? ", reordered," : "", frontier, largest, gap);
}

static pb_status read_options(hcb *h, const pbi_plan_options *options, const pb_graph *g)
{
    const char *cut = pbi_option_find(options, "cut");
    h->asked[BLOCKS] = h->asked[CUT] = h->asked[LEVELS] = UINT64_MAX;
    for (uint64_t i = 0; i < CUTS; i++)
        if (cut && strcmp(cut, cut_names[i]) == 0)
            h->asked[CUT] = i;
    if (cut && h->asked[CUT] == UINT64_MAX && strcmp(cut, "auto") != 0)
        return pbi_fail(h->ctx, PB_EINVAL, "cut must be auto, equal or adaptive, not \"%.40s\"", cut);
    pb_status status = pbi_option_number(h->ctx, options, "blocks", 1, UINT32_MAX, &h->asked[BLOCKS]);
    if (status == PB_OK)
        status = pbi_option_number(h->ctx, options, "levels", 0, 64, &h->asked[LEVELS]);
    return status == PB_OK ? pbi_option_computations(h->ctx, options, g, &h->limit) : status;
}

pb_status pbi_plan_hcb(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    hcb h = {.ctx = ctx};
    pbi_trials trials;
    pb_arena scratch;
    pb_status status = read_options(&h, options, game->graph);
    if (status != PB_OK)
        return status;
    pb_arena_init(&scratch, ctx);
    pbi_trials_init(&trials, ctx, game, make_sequence, &h);
    status = analyse_forward(&h, game->graph, &scratch);
    if (status == PB_OK)
        status = try_all(&trials, &h);
    status = pbi_trials_finish(&trials, status, plan);
    if (status == PB_OK && trials.fits && h.t.count)
        status = write_note(&h, game, &trials, plan);
    if (status == PB_OK && trials.fits)
        status = pbi_plan_record_number(plan, "blocks", trials.best.number[BLOCKS]);
    if (status == PB_OK && trials.fits && trials.best.number[BLOCKS] > 1)
        status = pbi_plan_record(plan, "cut", cut_names[trials.best.number[CUT]]);
    if (status == PB_OK && trials.fits && trials.best.number[BLOCKS] > 1)
        status = pbi_plan_record_number(plan, "levels", trials.best.number[LEVELS]);
    if (status == PB_OK)
        status = pbi_plan_record_number(plan, "limit", h.limit);
    pb_arena_release(&scratch);
    return status;
}
