/* method_chain_uneven.c -- adjoint chains of any costs and sizes: the same recursion, with memory in exact units.
 *
 * For a segment from x_i to x_j let `inside` be the memory that is neither x_i nor held by segments around it; the
 * gradient that comes in is part of it. The least work to reverse the segment is a step function of `inside`, and a
 * split at x_k adds two of them: what lies behind with x_k held, what lies before with x_k still there. So the whole
 * table is exact in bytes and as large as the functions have steps.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/method_chain.h"
#include "plan/method_sequence.h"
#include "plan/method_steps.h"

#include <inttypes.h>

enum { MOST_STEPS = 4000 }; /* the table has a function for every pair of them */

typedef enum kind { BARE, HELD, KINDS } kind; /* is the right end in fast memory? */

typedef struct uneven {
    pb_context *ctx;
    const pb_graph *g;
    const pbi_chain *c;
    uint64_t room;           /* for everything but x_0 and fixed_size */
    pbi_steps *table[KINDS]; /* [i * (n + 1) + j] */
} uneven;

static pbi_steps *entry(const uneven *u, kind k, uint32_t i, uint32_t j)
{
    return &u->table[k][(size_t)i * (u->c->steps + 1) + j];
}

static uint64_t size_of(const uneven *u, uint32_t i) { return u->g->size[u->c->forward[i]]; }
static pb_node gradient_of(const uneven *u, uint32_t i) { return u->c->gradient[u->c->steps - 1 - i]; }

/* Size of the gradient that a segment ending at x_j starts from. */
static uint64_t incoming(const uneven *u, uint32_t j) { return j < u->c->steps ? u->g->size[gradient_of(u, j)] : 0; }

/* Memory inside while step k is run as part of a run that began at x_i, which is held. */
static uint64_t step_need(const uneven *u, uint32_t i, uint32_t k)
{
    uint64_t made = size_of(u, k), before = k == i + 1 ? 0 : size_of(u, k - 1);
    uint64_t both = u->c->step_inplace ? (made > before ? made : before) : made + before;
    return both + u->g->workspace[u->c->forward[k]];
}

/* A single step: run it if its output is wanted and not there, then its gradient. */
static pbi_step single(const uneven *u, kind k, uint32_t i)
{
    pb_node v = gradient_of(u, i);
    uint64_t in = incoming(u, i + 1), own = u->g->size[v], made = own;
    bool run = u->c->reads_output && k == BARE;
    if (u->c->grad_inplace && i + 1 < u->c->steps)
        made = own > in ? own - in : 0;
    uint64_t need = in + made + u->g->workspace[v] + (u->c->reads_output ? size_of(u, i + 1) : 0);
    uint64_t first = run ? in + step_need(u, i, i + 1) : 0;
    return (pbi_step){need > first ? need : first, run ? u->g->cost[u->c->forward[i + 1]] : 0};
}

/* What a run to x_k needs inside, given what the run to x_{k-1} needed. */
static uint64_t run_need(const uneven *u, kind k, uint32_t i, uint32_t to, uint32_t j, uint64_t before)
{
    uint64_t now = step_need(u, i, to) + incoming(u, j) + (k == HELD ? size_of(u, j) : 0);
    return now > before ? now : before;
}

static pb_status fill_entry(uneven *u, uint32_t i, uint32_t j, pbi_steps_sum *sum, pb_arena *arena)
{
    for (kind k = BARE; k < KINDS; k++) {
        uint64_t run = 0, cost = 0;
        pbi_step one;
        pbi_steps alone = {&one, 1};
        pbi_steps_sum_clear(sum);
        if (j == i + 1) {
            one = single(u, k, i);
            if (!pbi_steps_add(sum, 0, 0, &alone, 0, NULL))
                return PB_ENOMEM;
        }
        for (uint32_t m = i + 1; m < j; m++) {
            run = run_need(u, k, i, m, j, run);
            cost += u->g->cost[u->c->forward[m]];
            if (run > u->room)
                break;
            if (!pbi_steps_add(sum, run, cost, entry(u, k, m, j), size_of(u, m), entry(u, HELD, i, m)))
                return PB_ENOMEM;
        }
        if (k == HELD && !pbi_steps_add(sum, 0, 0, entry(u, BARE, i, j), 0, NULL)) /* the right end let go */
            return PB_ENOMEM;
        if (!pbi_steps_copy(sum, arena, entry(u, k, i, j)))
            return PB_ENOMEM;
    }
    return PB_OK;
}

/* PB_ELIMIT when the functions have too many steps. */
static pb_status fill(uneven *u, uint64_t limit, pb_arena *arena)
{
    uint32_t n = u->c->steps;
    pbi_steps_sum sum;
    pbi_steps_sum_init(&sum, arena, u->room);
    pb_status status = PB_OK;
    for (kind k = BARE; k < KINDS; k++)
        if (!(u->table[k] = pb_arena_zero(arena, (size_t)(n + 1) * (n + 1), sizeof **u->table)))
            return PB_ENOMEM;
    for (uint32_t length = 1; length <= n && status == PB_OK; length++) {
        for (uint32_t i = 0; i + length <= n && status == PB_OK; i++) {
            status = fill_entry(u, i, i + length, &sum, arena);
            if (status == PB_OK)
                status = pbi_tick(u->ctx, length);
            if (status == PB_OK && sum.work > limit / 3)
                status = pbi_fail(u->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " steps of its tables", limit / 3);
        }
        pbi_progress(u->ctx, "chain", length, n);
    }
    return status;
}

/* ---- the plan ---- */

typedef struct task {
    uint32_t from, to;
    uint64_t inside;
    kind k;
} task;

/* Finds the split that gives the table's value, emits its run and pushes its two parts. */
static pb_status follow_split(const uneven *u, task now, pbi_sequence *s, task *stack, size_t *depth)
{
    uint64_t wanted = pbi_steps_at(entry(u, now.k, now.from, now.to), now.inside), run = 0, cost = 0;
    for (uint32_t m = now.from + 1; m < now.to; m++) {
        run = run_need(u, now.k, now.from, m, now.to, run);
        cost += u->g->cost[u->c->forward[m]];
        uint64_t held = size_of(u, m);
        if (run > now.inside || held > now.inside)
            continue;
        uint64_t behind = pbi_steps_at(entry(u, now.k, m, now.to), now.inside - held);
        uint64_t before = pbi_steps_at(entry(u, HELD, now.from, m), now.inside);
        if (behind == PBI_STEPS_NEVER || before == PBI_STEPS_NEVER || cost + behind + before != wanted)
            continue;
        stack[(*depth)++] = (task){now.from, m, now.inside, HELD};
        stack[(*depth)++] = (task){m, now.to, now.inside - held, now.k};
        pb_status status = PB_OK;
        for (uint32_t x = now.from + 1; x <= m && status == PB_OK; x++)
            status = pbi_sequence_add(s, u->c->forward[x]);
        return status;
    }
    return pbi_fail(u->ctx, PB_EBUG, "the table of the chain has no split for its own value");
}

static pb_status follow_single(const uneven *u, task now, pbi_sequence *s)
{
    pb_status status = PB_OK;
    if (u->c->reads_output && now.k == BARE)
        status = pbi_sequence_add(s, u->c->forward[now.to]);
    return status == PB_OK ? pbi_sequence_add(s, gradient_of(u, now.from)) : status;
}

static bool is_own(const uneven *u, task now)
{
    uint64_t cost = pbi_steps_at(entry(u, HELD, now.from, now.to), now.inside);
    return cost < pbi_steps_at(entry(u, BARE, now.from, now.to), now.inside);
}

static pb_status follow(const uneven *u, pb_arena *arena, pbi_sequence *s)
{
    task *stack = pb_arena_alloc(arena, 2 * (size_t)u->c->steps + 4, sizeof *stack);
    size_t depth = 0;
    pb_status status = PB_OK;
    if (!stack)
        return PB_ENOMEM;
    stack[depth++] = (task){0, u->c->steps, u->room, BARE};
    while (depth && status == PB_OK) {
        task now = stack[--depth];
        if (now.k == HELD && !is_own(u, now))
            now.k = BARE; /* no dearer with the right end let go */
        status = now.to == now.from + 1 ? follow_single(u, now, s) : follow_split(u, now, s, stack, &depth);
        if (status == PB_OK && (s->count & 0xff) == 0)
            status = pbi_poll(u->ctx);
    }
    return status;
}

pb_status pbi_chain_uneven(pb_context *ctx, const pb_game *game, const pbi_chain *c, uint64_t limit, pbi_plan *plan)
{
    const pb_graph *g = game->graph;
    if (c->steps > MOST_STEPS || (uint64_t)c->steps * c->steps > limit)
        return pbi_plan_give_up(plan, "does not apply: %" PRIu32 " unequal steps pass the limit", c->steps);
    uint64_t cap = game->cap < g->total_size ? game->cap : g->total_size;
    uneven u = {.ctx = ctx, .g = g, .c = c, .room = cap - g->fixed_size - g->size[c->forward[0]]};
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_sequence s;
    pbi_sequence_init(&s, &scratch);
    pb_status status = fill(&u, limit, &scratch);
    if (status == PB_OK && pbi_steps_at(entry(&u, BARE, 0, c->steps), u.room) == PBI_STEPS_NEVER) {
        status = pbi_plan_give_up(plan, "does not fit: no way to reverse %" PRIu32 " steps within the cap", c->steps);
    } else if (status == PB_OK) {
        status = follow(&u, &scratch, &s);
        if (status == PB_OK)
            status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    }
    pb_arena_release(&scratch);
    return status;
}
