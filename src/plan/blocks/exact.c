/* exact.c -- the cheapest plan of a chain of blocks, with memory in exact units.
 *
 * The least work of a segment is a step function of its memory, one for each state of its ends. A split adds two
 * such functions, a way shifts one; the minimum of all of them is the segment's. So the table is exact in bytes and
 * as large as the functions have steps. It stores the extra work: that beyond running blocks i+1 .. j-1 once.
 *
 * The same with memory in slots comes first. It gives a plan, and for every segment a lower bound on what the rest
 * of a plan costs. A step of a function that cannot be part of a cheaper plan is left out; when nothing is left of
 * the whole chain's function, the plan from the slots was the cheapest.
 */
#include "base/context.h"
#include "plan/blocks/curves.h"
#include "plan/blocks/outside.h"
#include "plan/blocks/slots.h"

#include <inttypes.h>

typedef struct exact {
    pb_context *ctx;
    const pbi_blocks *b;
    pbi_block_states states;
    uint64_t memory, limit;
    uint64_t *before; /* work of blocks 1 .. k */
    pbi_block_outsides rests;
    pbi_curve *table[2][2]; /* [left][right]; [i * (count + 1) + j] */
    pbi_curve_maker *maker;
} exact;

/* The segment and the states of its ends. */
typedef struct place {
    uint32_t i, j;
    unsigned left, right;
} place;

static pbi_curve *entry(const exact *e, unsigned left, unsigned right, uint32_t i, uint32_t j)
{
    left = e->states.lefts == 2 ? left : PBI_FREE;
    right = e->states.rights == 2 ? right : PBI_BARE;
    return &e->table[left][right][(size_t)i * (e->b->count + 1) + j];
}

/* What is done with a candidate: announce it, or offer it. */
typedef bool (*use)(pbi_curve_maker *maker, const pbi_candidate *candidate);

static bool expect(pbi_curve_maker *maker, const pbi_candidate *candidate)
{
    pbi_curve_expect(maker, candidate);
    return true;
}

static bool add_single(exact *e, const place *p)
{
    for (uint32_t n = 0; n < e->b->block[p->j].way_count; n++) {
        pbi_block_single one = pbi_block_alone(e->b, p->i, pbi_block_way_of(e->b, p->j, n), p->left, p->right);
        if (!pbi_curve_offer_step(e->maker, one.need, one.cost))
            return false;
    }
    return true;
}

static bool each_way(exact *e, const place *p, use use_it)
{
    for (uint32_t n = 0; n < e->b->block[p->i + 1].way_count; n++) {
        const pbi_block_way *w = pbi_block_way_of(e->b, p->i + 1, n);
        pbi_candidate c = {.a = entry(e, w->reads_right ? PBI_KEEP : PBI_FREE, p->right, p->i + 1, p->j),
                           .held = pbi_block_held(e->b, p->i, w, p->left),
                           .need = pbi_block_way_need(e->b, p->i, w, p->j, p->left, p->right),
                           .fixed = w->extra_work};
        if (!use_it(e->maker, &c))
            return false;
    }
    return true;
}

static bool each_split(exact *e, const place *p, use use_it)
{
    pbi_candidate c = {.held = e->b->value[p->i]};
    for (uint32_t m = p->i + 1; m < p->j; m++) {
        uint64_t need = pbi_block_run_need(e->b, p->i, m, p->j, p->right);
        c.need = need > c.need ? need : c.need;
        c.fixed = e->before[m - 1] - e->before[p->i];
        if (c.need > e->memory)
            break;
        for (unsigned k = 0; k < e->states.rights; k++) { /* value m is kept for the part before, or not */
            c.a = entry(e, k, p->right, m, p->j);
            c.b = entry(e, p->left, k, p->i, m);
            if (!use_it(e->maker, &c))
                return false;
        }
    }
    return true;
}

static bool each_candidate(exact *e, const place *p, use use_it)
{
    pbi_candidate bare = {.a = entry(e, p->left, PBI_BARE, p->i, p->j)}; /* the right value freed */
    return (p->right == PBI_BARE || use_it(e->maker, &bare)) &&
           (p->j == p->i + 1 || (each_way(e, p, use_it) && each_split(e, p, use_it)));
}

static pb_status fill_entry(exact *e, uint32_t i, uint32_t j)
{
    for (unsigned left = 0; left < e->states.lefts; left++)
        for (unsigned right = 0; right < e->states.rights; right++) {
            place p = {i, j, left, right};
            const pbi_block_outside *rest = pbi_block_outside_of(&e->rests, left, right, i, j);
            if (!rest->cell || rest->from >= rest->to)
                continue; /* the segment is in no useful plan */
            pbi_curve_begin(e->maker, &(pbi_curve_frame){rest->from, rest->to, e->rests.limit + 1, rest->cell});
            if (!each_candidate(e, &p, expect) || (j == i + 1 && !add_single(e, &p)) ||
                !each_candidate(e, &p, pbi_curve_offer) || !pbi_curve_end(e->maker, entry(e, left, right, i, j)))
                return PB_ENOMEM;
        }
    return PB_OK;
}

static bool set_up(exact *e, pb_arena *arena)
{
    const pbi_block_table *t = e->rests.table;
    size_t row = (size_t)e->b->count + 1;
    for (unsigned left = 0; left < e->states.lefts; left++)
        for (unsigned right = 0; right < e->states.rights; right++)
            if (!(e->table[left][right] = pb_arena_zero(arena, row * row, sizeof(pbi_curve))))
                return false;
    return (e->maker = pbi_curve_maker_new(arena, e->memory, t->slot, t->quantum)) != NULL;
}

static pb_status fill_table(exact *e, pb_arena *arena)
{
    uint32_t count = e->b->count;
    pb_status status = set_up(e, arena) ? PB_OK : PB_ENOMEM;
    for (uint32_t length = 1; length <= count && status == PB_OK; length++) {
        for (uint32_t i = 0; i + length <= count && status == PB_OK; i++) {
            status = fill_entry(e, i, i + length);
            if (status == PB_OK)
                status = pbi_tick(e->ctx, length);
            if (status == PB_OK && pbi_curve_work(e->maker) > e->limit)
                status =
                    pbi_fail(e->ctx, PB_ELIMIT,
                             "limit hit: more than %" PRIu64 " steps on its tables; raise its option limit", e->limit);
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

static uint64_t extra_at(const exact *e, unsigned left, unsigned right, uint32_t i, uint32_t j, uint64_t memory)
{
    return pbi_curve_at(entry(e, left, right, i, j), memory);
}

static bool adds_up(uint64_t target, uint64_t fixed, uint64_t a, uint64_t b)
{
    return a != UINT64_MAX && b != UINT64_MAX && fixed + a + b <= target;
}

static bool follow_single(walk *w, const task *t, uint64_t target, pb_status *status)
{
    const pbi_blocks *b = w->e->b;
    for (uint32_t n = 0; n < b->block[t->to].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(b, t->to, n);
        pbi_block_single one = pbi_block_alone(b, t->from, way, t->left, t->right);
        if (one.need > t->memory || one.cost > target)
            continue;
        if (pbi_block_runs(way, t->right))
            *status = pbi_block_list_way(w->list, t->to, n);
        if (*status == PB_OK)
            *status = pbi_block_list_back(w->list, t->to, n);
        return true;
    }
    return false;
}

static bool follow_way(walk *w, const task *t, uint64_t target, pb_status *status)
{
    const exact *e = w->e;
    uint32_t i = t->from, j = t->to;
    for (uint32_t n = 0; n < e->b->block[i + 1].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(e->b, i + 1, n);
        uint64_t held = pbi_block_held(e->b, i, way, t->left);
        unsigned inner = way->reads_right ? PBI_KEEP : PBI_FREE;
        if (held > t->memory || pbi_block_way_need(e->b, i, way, j, t->left, t->right) > t->memory ||
            !adds_up(target, way->extra_work, extra_at(e, inner, t->right, i + 1, j, t->memory - held), 0))
            continue;
        w->stack[w->depth++] = (task){.from = i, .to = i + 1, .way = (uint16_t)n, .back = true};
        w->stack[w->depth++] =
            (task){.from = i + 1, .to = j, .memory = t->memory - held, .left = (uint8_t)inner, .right = t->right};
        *status = pbi_block_list_way(w->list, i + 1, n);
        return true;
    }
    return false;
}

static bool follow_split(walk *w, const task *t, uint64_t target, pb_status *status)
{
    const exact *e = w->e;
    uint32_t i = t->from, j = t->to;
    uint64_t held = e->b->value[i];
    for (uint32_t m = i + 1; m < j && held <= t->memory; m++) {
        uint64_t run = e->before[m - 1] - e->before[i];
        if (pbi_block_run_need(e->b, i, m, j, t->right) > t->memory)
            break;
        for (unsigned k = 0; k < e->states.rights; k++) {
            if (!adds_up(target, run, extra_at(e, k, t->right, m, j, t->memory - held),
                         extra_at(e, t->left, k, i, m, t->memory)))
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
    uint64_t target = extra_at(e, t.left, t.right, t.from, t.to, t.memory);
    if (t.right == PBI_HELD && target == extra_at(e, t.left, PBI_BARE, t.from, t.to, t.memory))
        t.right = PBI_BARE; /* not more expensive with the right value freed */
    bool found = t.to == t.from + 1 ? follow_single(w, &t, target, &status)
                                    : follow_way(w, &t, target, &status) || follow_split(w, &t, target, &status);
    return found ? status : pbi_fail(e->ctx, PB_EBUG, "the table of the blocks has no plan for its own value");
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

/* As many slots as a table of some hundred megabytes has room for. */
static uint32_t count_slots(const pbi_blocks *b)
{
    enum { CELLS = 1 << 26, MAX_PROPOSALS = 1000 };
    pbi_block_states states = pbi_blocks_states(b);
    uint64_t functions = (uint64_t)b->count * (b->count + 1) / 2 * states.lefts * states.rights;
    uint64_t slots = CELLS / (functions + 1), some = 8 * (uint64_t)b->count + 8;
    slots = slots < some ? slots : some;
    return (uint32_t)(slots < MAX_PROPOSALS ? slots : MAX_PROPOSALS);
}

/* Searches for a plan cheaper than the bounds' one; *out is that plan, or unchanged. */
static pb_status improve_plan(pb_context *ctx, const pbi_block_bounds *s, uint64_t limit, pb_arena *scratch,
                              pb_arena *arena, pbi_blocks_plan *out)
{
    const pbi_blocks *b = s->b;
    exact e = {.ctx = ctx, .b = b, .states = s->down.states, .memory = s->memory, .limit = limit, .before = s->before};
    uint64_t once = s->before[b->count - 1];
    e.rests = (pbi_block_outsides){.table = &s->down, .limit = s->down.never - 8};
    if (out->fits)
        e.rests.limit = (uint32_t)((out->work - once - 1) / s->down.quantum);
    pb_status status = pbi_block_outsides_fill(&e.rests, scratch);
    if (status == PB_OK)
        status = fill_table(&e, scratch);
    uint64_t extra = status == PB_OK ? extra_at(&e, PBI_FREE, PBI_BARE, 0, b->count, e.memory) : UINT64_MAX;
    if (status != PB_OK || extra == UINT64_MAX || (out->fits && once + extra >= out->work))
        return status;
    pbi_block_list list = {.b = b, .arena = arena};
    status = follow(&e, &list, scratch);
    if (status == PB_OK && list.work != once + extra)
        status = pbi_fail(ctx, PB_EBUG, "the plan of the blocks does not cost what the table says");
    *out = (pbi_blocks_plan){true, list.work, list.action, list.count};
    return status;
}

pb_status pbi_blocks_exact(pb_context *ctx, const pbi_blocks *b, const pbi_block_budget *budget, pb_arena *arena,
                           pbi_blocks_plan *out)
{
    uint64_t memory = budget->memory;
    pb_status status = pbi_blocks_check(ctx, b);
    if (status != PB_OK)
        return status;
    /* A need that does not fit 64 bits is UINT64_MAX: never met. */
    pbi_block_bounds s = {.ctx = ctx, .b = b, .memory = memory < UINT64_MAX ? memory : UINT64_MAX - 1, .bound = true};
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_block_bounds_find(&s, count_slots(b), true, &scratch, arena);
    pbi_blocks_plan plan = s.plan;
    if (status == PB_OK && s.min_work != UINT64_MAX && !(plan.fits && plan.work == s.min_work))
        status = improve_plan(ctx, &s, budget->limit, &scratch, arena, &plan);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = plan;
    return status;
}
