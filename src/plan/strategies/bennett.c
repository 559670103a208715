/* bennett.c -- Bennett's recursion, k-ary, on any graph.
 *
 * Problem     compute the targets reversibly with few values resident at a time.
 * Idea        cut the order into k parts; do each part, then undo all but the last in reverse order, keeping what is
 *             read after the whole; recursively inside each part. Doing a part leaves exactly the values of the part
 *             that are read behind it.
 * Invariants  a unit read at or behind `bound` is already resident (doing) or kept (undoing), and is skipped; undoing
 *             a part is doing it backwards, so every input is resident when it is needed.
 * Cost        O(moves): a factor of 2 - 1/k for each of the log_k(n) levels; peak grows with k, moves fall.
 * Source      Bennett, "Time/space trade-offs for reversible computation", 1989.
 * Limits      on a graph that is not a chain, a part leaves as many values as are read behind it.
 */
#include "plan/reversible/units.h"

#include "base/arena.h"
#include "base/context.h"

#include <inttypes.h>

/* A part of the order still to be done or undone. */
typedef struct task {
    uint32_t from, to;
    uint32_t bound; /* units read at or behind it are skipped */
    bool undo;
} task;

typedef struct bennett {
    const pb_graph *g;
    pb_node *order; /* needed units */
    uint32_t count;
    uint32_t *last; /* per place in `order`: the last place that reads the unit, itself when none does */
    task *stack;
    size_t depth, room;
    pb_arena *scratch;
} bennett;

static pb_status find_last_reads(bennett *b)
{
    const pb_graph *g = b->g;
    uint32_t *place = pb_arena_alloc(b->scratch, g->node_count, sizeof *place);
    b->order = pb_arena_alloc(b->scratch, g->order_count, sizeof *b->order);
    b->last = pb_arena_alloc(b->scratch, g->order_count, sizeof *b->last);
    if (!place || !b->order || !b->last)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        place[v] = b->last[b->count] = b->count;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            if (!(g->flags[g->in[k]] & PB_NODE_GIVEN))
                b->last[place[pb_graph_maker(g, g->in[k])]] = b->count;
        b->order[b->count++] = v;
    }
    return PB_OK;
}

static pb_status push_task(bennett *b, uint32_t from, uint32_t to, uint32_t bound, bool undo)
{
    void *items = b->stack;
    if (!pbi_arena_reserve(b->scratch, &items, &b->room, b->depth + 1, sizeof *b->stack))
        return PB_ENOMEM;
    b->stack = items;
    b->stack[b->depth++] = (task){from, to, bound, undo};
    return PB_OK;
}

/* Where part i of k of [from, to) begins. */
static uint32_t cut(const task *t, uint64_t k, uint64_t i)
{
    return t->from + (uint32_t)((uint64_t)(t->to - t->from) * i / k);
}

/* Doing: the parts forwards, then all but the last backwards. Undoing is the reverse. The stack runs the task that
 * was pushed last first. */
static pb_status expand(bennett *b, task t, uint64_t k)
{
    uint64_t parts = t.to - t.from < k ? t.to - t.from : k;
    pb_status status = PB_OK;
    if (!t.undo)
        for (uint64_t i = 0; i + 1 < parts && status == PB_OK; i++)
            status = push_task(b, cut(&t, parts, i), cut(&t, parts, i + 1), t.to, true);
    for (uint64_t i = 0; i < parts && status == PB_OK; i++) {
        uint64_t part = t.undo ? i : parts - 1 - i;
        status = push_task(b, cut(&t, parts, part), cut(&t, parts, part + 1), t.bound, t.undo);
    }
    if (t.undo)
        for (uint64_t i = parts - 1; i-- > 0 && status == PB_OK;)
            status = push_task(b, cut(&t, parts, i), cut(&t, parts, i + 1), t.to, false);
    return status;
}

static pb_status run_unit(bennett *b, pbi_reversible *r, task t)
{
    if (b->last[t.from] >= t.bound)
        return PB_OK;
    pb_node v = b->order[t.from];
    if (t.undo)
        return pbi_reversible_uncompute(r, v);
    bool unread = b->last[t.from] == t.from; /* a target, or one of its by-products is: computed and never undone */
    if (unread && r->computed[v])
        return PB_OK;
    pb_status status = pbi_reversible_compute(r, v);
    if (status == PB_OK && !r->stuck && unread)
        status = pbi_reversible_uncompute(r, v);
    return status;
}

static pb_status play_tasks(bennett *b, pbi_reversible *r, uint64_t k)
{
    b->depth = 0;
    pb_status status = b->count ? push_task(b, 0, b->count, UINT32_MAX, false) : PB_OK;
    for (uint64_t tasks = 1; b->depth && status == PB_OK && !r->stuck; tasks++) {
        task t = b->stack[--b->depth];
        /* some tasks make no move, so count tasks as well */
        if ((tasks & 0xfff) == 0 && (status = pbi_tick(r->ctx, 0x1000)) != PB_OK)
            break;
        status = t.to - t.from == 1 ? run_unit(b, r, t) : expand(b, t, k);
    }
    return status;
}

/* k = 2, 3, 5, 8, 12, ... up to all nodes at once: the cheapest that fits. */
static pb_status search_k(pb_context *ctx, const pb_game *game, bennett *b, uint64_t limit, uint64_t *best, bool *cut)
{
    pbi_figures min = {0};
    pb_status status = PB_OK;
    for (uint64_t k = 2; status == PB_OK; k = k + (k + 1) / 2) {
        if (k > b->count)
            k = b->count > 2 ? b->count : 2;
        pb_arena scratch;
        pb_arena_init(&scratch, ctx);
        pbi_reversible r;
        status = pbi_reversible_init(&r, ctx, game, NULL, limit, &scratch);
        if (status == PB_OK)
            status = play_tasks(b, &r, k);
        pb_arena_release(&scratch);
        bool too_long = status == PB_ELIMIT && r.step > limit;
        if (too_long) {
            status = PB_OK;
            *cut = true;
        }
        if (status == PB_OK && !too_long && !r.stuck && r.f.fits && !r.f.overflow &&
            (!*best || pbi_figures_better(game, &r.f, &min))) {
            *best = k;
            min = r.f;
        }
        if (k >= b->count)
            break;
    }
    return status;
}

static pb_status plan_k(pb_context *ctx, const pb_game *game, bennett *b, uint64_t k, uint64_t limit, pbi_plan *plan)
{
    pbi_reversible r;
    pb_status status = pbi_reversible_init(&r, ctx, game, plan, limit, b->scratch);
    if (status == PB_OK)
        status = play_tasks(b, &r, k);
    if (status == PB_OK)
        pbi_reversible_finish(&r);
    return status;
}

pb_status pbi_plan_bennett(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    uint64_t k = 0, limit, chosen;
    pb_status status = pbi_option_number(ctx, options, "k", 2, UINT32_MAX, &k);
    if (status == PB_OK)
        status = pbi_option_limit(ctx, options, game->graph, &limit);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    bennett b = {.g = game->graph, .scratch = &scratch};
    bool cut = false; /* some k exceeded the limit */
    chosen = k;
    status = find_last_reads(&b);
    if (status == PB_OK && !k)
        status = search_k(ctx, game, &b, limit, &chosen, &cut);
    if (chosen) { /* also after a stop: write the plan of the best k so far */
        pbi_held held = pbi_hold(ctx);
        if (k)
            pbi_resume(ctx, held);
        status = plan_k(ctx, game, &b, chosen, limit, plan);
        if (!k)
            pbi_resume(ctx, held);
        if (status == PB_OK)
            status = pbi_plan_record_number(plan, "k", chosen);
    } else if (status == PB_OK) {
        status = cut ? pbi_plan_give_up(plan,
                                        "limit hit: no k tried from 2 to %" PRIu32 " needs at most %" PRIu64
                                        " moves; raise its option limit",
                                        b.count, limit)
                     : pbi_plan_give_up(plan, "does not fit: no k tried from 2 to %" PRIu32 " fits the cap", b.count);
    }
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
