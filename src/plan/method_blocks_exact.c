/* method_blocks_exact.c -- the cheapest plan of a chain of blocks, with memory in exact units.
 *
 * The least work of a segment is a step function of its memory, one for each state of its ends. A split adds two such
 * functions, a way moves one; the least of all of them is the segment's. So the table is exact in bytes and as large
 * as the functions have steps.
 */
#include "base/context.h"
#include "plan/method_blocks_parts.h"
#include "plan/method_steps.h"

#include <inttypes.h>

typedef struct exact {
    pb_context *ctx;
    const pbi_blocks *b;
    pbi_block_states states;
    uint64_t memory, limit;
    pbi_steps *table[2][2]; /* [left][right]; [i * (count + 1) + j] */
    pbi_steps_sum sum;
} exact;

static pbi_steps *entry(const exact *e, unsigned left, unsigned right, uint32_t i, uint32_t j)
{
    left = e->states.lefts == 2 ? left : PBI_FREE;
    right = e->states.rights == 2 ? right : PBI_BARE;
    return &e->table[left][right][(size_t)i * (e->b->count + 1) + j];
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool add_single(exact *e, uint32_t i, unsigned left, unsigned right)
{
    for (uint32_t n = 0; n < e->b->block[i + 1].way_count; n++) {
        pbi_block_single one = pbi_block_alone(e->b, i, pbi_block_way_of(e->b, i + 1, n), left, right);
        pbi_step step = {one.need, one.cost};
        if (!pbi_steps_add(&e->sum, 0, 0, &(pbi_steps){&step, 1}, 0, NULL))
            return false;
    }
    return true;
}

static bool add_ways(exact *e, uint32_t i, uint32_t j, unsigned left, unsigned right)
{
    for (uint32_t n = 0; n < e->b->block[i + 1].way_count; n++) {
        const pbi_block_way *w = pbi_block_way_of(e->b, i + 1, n);
        const pbi_steps *inner = entry(e, w->reads_right ? PBI_KEEP : PBI_FREE, right, i + 1, j);
        if (!pbi_steps_add(&e->sum, pbi_block_way_need(e->b, i, w, j, left, right), e->b->block[i + 1].cost + w->again,
                           inner, pbi_block_held(e->b, i, w, left), NULL))
            return false;
    }
    return true;
}

static bool add_splits(exact *e, uint32_t i, uint32_t j, unsigned left, unsigned right)
{
    uint64_t run = 0, cost = 0, held = e->b->value[i];
    for (uint32_t m = i + 1; m < j; m++) {
        run = most(run, pbi_block_run_need(e->b, i, m, j, right));
        cost += e->b->block[m].cost;
        if (run > e->memory)
            break;
        for (unsigned k = 0; k < e->states.rights; k++) /* value m is kept for the part before, or not */
            if (!pbi_steps_add(&e->sum, run, cost, entry(e, k, right, m, j), held, entry(e, left, k, i, m)))
                return false;
    }
    return true;
}

static pb_status fill_entry(exact *e, uint32_t i, uint32_t j, pb_arena *arena)
{
    for (unsigned left = 0; left < e->states.lefts; left++)
        for (unsigned right = 0; right < e->states.rights; right++) {
            pbi_steps_sum_clear(&e->sum);
            bool ok = j == i + 1 ? add_single(e, i, left, right)
                                 : add_ways(e, i, j, left, right) && add_splits(e, i, j, left, right);
            if (ok && right == PBI_HELD) /* the right value let go */
                ok = pbi_steps_add(&e->sum, 0, 0, entry(e, left, PBI_BARE, i, j), 0, NULL);
            if (!ok || !pbi_steps_copy(&e->sum, arena, entry(e, left, right, i, j)))
                return PB_ENOMEM;
        }
    return PB_OK;
}

static pb_status fill(exact *e, pb_arena *arena)
{
    uint32_t count = e->b->count;
    pb_status status = PB_OK;
    pbi_steps_sum_init(&e->sum, arena, e->memory);
    for (unsigned left = 0; left < e->states.lefts; left++)
        for (unsigned right = 0; right < e->states.rights; right++)
            if (!(e->table[left][right] = pb_arena_zero(arena, (size_t)(count + 1) * (count + 1), sizeof(pbi_steps))))
                return PB_ENOMEM;
    for (uint32_t length = 1; length <= count && status == PB_OK; length++) {
        for (uint32_t i = 0; i + length <= count && status == PB_OK; i++) {
            status = fill_entry(e, i, i + length, arena);
            if (status == PB_OK)
                status = pbi_tick(e->ctx, length);
            if (status == PB_OK && e->sum.work > e->limit)
                status = pbi_fail(e->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " steps of its tables", e->limit);
        }
        pbi_progress(e->ctx, "chain", length, count);
    }
    return status;
}

/* ---- the plan ---- */

typedef struct task {
    uint32_t from, to;
    uint64_t memory;
    uint8_t left, right;
    uint16_t way;
    bool back; /* only the backward part of block `to`, in `way` */
} task;

typedef struct walk {
    const exact *e;
    pbi_block_list *list;
    task *stack;
    size_t depth;
} walk;

static uint64_t cost_at(const exact *e, unsigned left, unsigned right, uint32_t i, uint32_t j, uint64_t memory)
{
    return pbi_steps_at(entry(e, left, right, i, j), memory);
}

static bool adds_up(uint64_t wanted, uint64_t fixed, uint64_t a, uint64_t b)
{
    return a != PBI_STEPS_NEVER && b != PBI_STEPS_NEVER && fixed + a + b == wanted;
}

static bool follow_single(walk *w, const task *t, uint64_t wanted, pb_status *status)
{
    const pbi_blocks *b = w->e->b;
    for (uint32_t n = 0; n < b->block[t->to].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(b, t->to, n);
        pbi_block_single one = pbi_block_alone(b, t->from, way, t->left, t->right);
        if (one.need > t->memory || one.cost != wanted)
            continue;
        if (pbi_block_runs(way, t->right))
            *status = pbi_block_list_way(w->list, t->to, n);
        if (*status == PB_OK)
            *status = pbi_block_list_back(w->list, t->to, n);
        return true;
    }
    return false;
}

static bool follow_way(walk *w, const task *t, uint64_t wanted, pb_status *status)
{
    const exact *e = w->e;
    uint32_t i = t->from, j = t->to;
    for (uint32_t n = 0; n < e->b->block[i + 1].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(e->b, i + 1, n);
        uint64_t held = pbi_block_held(e->b, i, way, t->left);
        unsigned inner = way->reads_right ? PBI_KEEP : PBI_FREE;
        if (held > t->memory || pbi_block_way_need(e->b, i, way, j, t->left, t->right) > t->memory ||
            !adds_up(wanted, e->b->block[i + 1].cost + way->again,
                     cost_at(e, inner, t->right, i + 1, j, t->memory - held), 0))
            continue;
        w->stack[w->depth++] = (task){.from = i, .to = i + 1, .way = (uint16_t)n, .back = true};
        w->stack[w->depth++] =
            (task){.from = i + 1, .to = j, .memory = t->memory - held, .left = (uint8_t)inner, .right = t->right};
        *status = pbi_block_list_way(w->list, i + 1, n);
        return true;
    }
    return false;
}

static bool follow_split(walk *w, const task *t, uint64_t wanted, pb_status *status)
{
    const exact *e = w->e;
    uint32_t i = t->from, j = t->to;
    uint64_t cost = 0, held = e->b->value[i];
    for (uint32_t m = i + 1; m < j && held <= t->memory; m++) {
        cost += e->b->block[m].cost;
        if (pbi_block_run_need(e->b, i, m, j, t->right) > t->memory)
            break;
        for (unsigned k = 0; k < e->states.rights; k++) {
            if (!adds_up(wanted, cost, cost_at(e, k, t->right, m, j, t->memory - held),
                         cost_at(e, t->left, k, i, m, t->memory)))
                continue;
            w->stack[w->depth++] =
                (task){.from = i, .to = m, .memory = t->memory, .left = t->left, .right = (uint8_t)k};
            w->stack[w->depth++] =
                (task){.from = m, .to = j, .memory = t->memory - held, .left = (uint8_t)k, .right = t->right};
            *status = pbi_block_list_run(w->list, i, m);
            return true;
        }
    }
    return false;
}

static pb_status follow_task(walk *w, task t)
{
    const exact *e = w->e;
    pb_status status = PB_OK;
    if (t.back)
        return pbi_block_list_back(w->list, t.to, t.way);
    uint64_t wanted = cost_at(e, t.left, t.right, t.from, t.to, t.memory);
    if (t.right == PBI_HELD && wanted == cost_at(e, t.left, PBI_BARE, t.from, t.to, t.memory))
        t.right = PBI_BARE; /* no dearer with the right value let go */
    bool found = t.to == t.from + 1 ? follow_single(w, &t, wanted, &status)
                                    : follow_way(w, &t, wanted, &status) || follow_split(w, &t, wanted, &status);
    return found ? status : pbi_fail(e->ctx, PB_EBUG, "the table of the blocks has nothing for its own value");
}

static pb_status follow(const exact *e, pbi_block_list *list, pb_arena *arena)
{
    walk w = {e, list, pb_arena_alloc(arena, 2 * (size_t)e->b->count + 4, sizeof *w.stack), 0};
    pb_status status = w.stack ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && e->b->count)
        w.stack[w.depth++] = (task){.from = 0, .to = e->b->count, .memory = e->memory};
    for (size_t n = 0; w.depth && status == PB_OK; n++) {
        status = follow_task(&w, w.stack[--w.depth]);
        if (status == PB_OK && (n & 0xff) == 0)
            status = pbi_poll(e->ctx);
    }
    return status;
}

pb_status pbi_blocks_exact(pb_context *ctx, const pbi_blocks *b, uint64_t memory, uint64_t limit, pb_arena *arena,
                           pbi_blocks_plan *out)
{
    pb_status status = pbi_blocks_check(ctx, b);
    if (status != PB_OK)
        return status;
    /* A need that does not fit 64 bits is UINT64_MAX: never met. */
    exact e = {.ctx = ctx, .b = b, .states = pbi_blocks_states(b), .memory = memory, .limit = limit};
    e.memory = memory < UINT64_MAX ? memory : UINT64_MAX - 1;
    pbi_blocks_plan plan = {0};
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = fill(&e, &scratch);
    uint64_t work = 0;
    if (status == PB_OK && b->count)
        work = cost_at(&e, PBI_FREE, PBI_BARE, 0, b->count, e.memory);
    if (status == PB_OK && work != PBI_STEPS_NEVER) {
        pbi_block_list list = {.b = b, .arena = arena};
        status = follow(&e, &list, &scratch);
        if (status == PB_OK && list.work != work)
            status = pbi_fail(ctx, PB_EBUG, "the plan of the blocks does not cost what the table says");
        plan = (pbi_blocks_plan){true, list.work, list.action, list.count};
    }
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = plan;
    return status;
}
