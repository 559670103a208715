/* method_blocks_slots.c -- plans for chains of blocks that are too long for exact functions: memory in slots.
 *
 * Two tables: sizes rounded up, which makes plans that fit, and down, which bounds all plans from below. A plan is read
 * from both. Every part knows its memory exactly, and what it may use in slots is counted anew from that, so that
 * what rounding loses in one part is not lost in the next. Among the choices that are sure to fit by the first
 * table the one that looks cheapest is taken; the second table's view of them is closer to the truth where sizes
 * are few slots, so both views and their mean are tried, and the cheapest plan counts.
 */
#include "plan/method_blocks_slots.h"
#include "base/arena.h"
#include "base/context.h"

#include <string.h>

/* Cells of 32 bits are used up to this many splits times slots, so that small tables are exact in work. */
#define WIDE_WORK 4e9

typedef enum view { SEE_UP, SEE_BOTH, SEE_DOWN, VIEWS } view;

/* ---- the size of a slot ---- */

/* What rounding up to this slot adds to all that can be held. */
static double rounding_loss(const pbi_blocks *b, uint64_t slot)
{
    double loss = 0;
    for (uint32_t k = 1; k <= b->count; k++) {
        uint64_t sizes[2] = {b->value[k - 1], pbi_block_held(b, k - 1, pbi_block_way_of(b, k, 0), PBI_FREE)};
        for (int n = 0; n < 2; n++)
            loss += sizes[n] % slot ? (double)(slot - sizes[n] % slot) : 0;
    }
    return loss;
}

/* A slot that sizes are nearly multiples of, but not twice as large as need be. */
static uint64_t choose_slot(const pbi_blocks *b, uint64_t memory, uint32_t count)
{
    enum { TRIES = 40 };
    uint64_t least = memory / count + (memory % count != 0), best = least;
    double loss = least > 1 ? rounding_loss(b, least) : 0;
    for (uint32_t n = 0; n < TRIES && loss > 0; n++) {
        uint64_t size = b->value[(uint64_t)b->count * n / TRIES], parts = size / least;
        for (uint64_t p = parts; p > 0 && p > parts / 2 && p + 4 > parts; p--) {
            uint64_t slot = size / p + (size % p != 0);
            double other = slot >= least ? rounding_loss(b, slot) : loss;
            if (other < loss) {
                loss = other;
                best = slot;
            }
        }
    }
    return best ? best : 1;
}

/* ---- tables ---- */

static pb_status fill(pbi_block_bounds *s, pbi_block_table *t, bool up, uint64_t quantum, bool wide, pb_arena *arena)
{
    t->ctx = s->ctx;
    t->b = s->b;
    t->up = up;
    t->wide = wide;
    t->quantum = quantum;
    return pbi_block_table_fill(t, arena);
}

static uint32_t root(const pbi_block_table *t)
{
    return pbi_block_table_at(t, PBI_FREE, PBI_BARE, 0, t->b->count, t->slots);
}

/* Does anything fit at all? With all work at 0 the table is only about that, and quick. */
static pb_status can_fit(pbi_block_bounds *s, bool up, bool *out)
{
    pbi_block_table t = {.slot = s->up.slot, .slots = s->up.slots};
    pb_arena scratch;
    pb_arena_init(&scratch, s->ctx);
    pb_status status = fill(s, &t, up, UINT64_MAX, false, &scratch);
    if (status == PB_OK)
        *out = root(&t) < t.never;
    pb_arena_release(&scratch);
    return status;
}

/* Fills the tables, with quanta as small as the extra work at the root allows. `fits`: see can_fit. */
static pb_status fill_tables(pbi_block_bounds *s, bool wide, const bool fits[2], pb_arena *arena)
{
    uint64_t all = pbi_blocks_most_work(s->b), most = wide ? all : s->before[s->b->count];
    for (;; most = most < all / 4 ? 4 * most + 1 : all) {
        uint64_t quantum = 1;
        while (most / quantum >= pbi_block_table_never(wide) - 8)
            quantum *= 2;
        pbi_mark mark = pbi_arena_mark(arena);
        pb_status status = fits[true] ? fill(s, &s->up, true, quantum, wide, arena) : PB_OK;
        if (status == PB_OK && (!fits[true] || root(&s->up) < s->up.never || most >= all))
            return fits[false] ? fill(s, &s->down, false, quantum, wide, arena) : PB_OK;
        if (status != PB_OK)
            return status;
        pbi_arena_rewind(arena, mark);
    }
}

/* ---- the plan ---- */

typedef struct task {
    uint32_t from, to;
    uint64_t memory;
    uint8_t left, right;
    uint16_t way;
    bool back; /* only the backward part of block `to`, in `way` */
} task;

typedef struct choice {
    uint64_t cost; /* extra, as it looks */
    uint32_t m;    /* 0: a way */
    uint32_t way;
    unsigned k;
} choice;

typedef struct walk {
    const pbi_block_bounds *s;
    pbi_block_list *list;
    view view;
    task *stack;
    size_t depth;
} walk;

/* The extra work of a segment as it looks; UINT64_MAX when it is not sure to fit. */
static uint64_t looks(const walk *w, unsigned left, unsigned right, uint32_t i, uint32_t j, uint64_t memory)
{
    const pbi_block_bounds *s = w->s;
    uint64_t whole = memory / s->up.slot;
    uint32_t count = whole < s->up.slots ? (uint32_t)whole : s->up.slots;
    uint32_t up = pbi_block_table_at(&s->up, left, right, i, j, count);
    if (up >= s->up.never)
        return UINT64_MAX;
    if (w->view == SEE_UP)
        return up * s->up.quantum;
    uint32_t down = pbi_block_table_at(&s->down, left, right, i, j, count);
    return w->view == SEE_DOWN ? down * s->down.quantum : ((uint64_t)up + down) * s->down.quantum / 2;
}

static void consider(choice *best, uint64_t cost, uint32_t m, uint32_t way, unsigned k)
{
    if (cost < best->cost)
        *best = (choice){cost, m, way, k};
}

static void consider_ways(const walk *w, const task *t, choice *best)
{
    const pbi_blocks *b = w->s->b;
    uint32_t i = t->from, j = t->to;
    for (uint32_t n = 0; n < b->block[i + 1].way_count; n++) {
        const pbi_block_way *way = pbi_block_way_of(b, i + 1, n);
        uint64_t held = pbi_block_held(b, i, way, t->left);
        if (held > t->memory || pbi_block_way_need(b, i, way, j, t->left, t->right) > t->memory)
            continue;
        uint64_t inner = looks(w, way->reads_right ? PBI_KEEP : PBI_FREE, t->right, i + 1, j, t->memory - held);
        if (inner != UINT64_MAX)
            consider(best, way->again + inner, 0, n, 0);
    }
}

static void consider_splits(const walk *w, const task *t, choice *best)
{
    const pbi_block_bounds *s = w->s;
    uint32_t i = t->from, j = t->to;
    if (s->b->value[i] > t->memory)
        return;
    for (uint32_t m = i + 1; m < j; m++) {
        uint64_t run = s->before[m - 1] - s->before[i];
        if (pbi_block_run_need(s->b, i, m, j, t->right) > t->memory || run >= best->cost)
            return;
        for (unsigned k = 0; k < s->up.states.rights; k++) {
            uint64_t behind = looks(w, k, t->right, m, j, t->memory - s->b->value[i]);
            uint64_t before = looks(w, t->left, k, i, m, t->memory);
            if (behind != UINT64_MAX && before != UINT64_MAX)
                consider(best, run + behind + before, m, 0, k);
        }
    }
}

static pb_status do_single(walk *w, const task *t)
{
    const pbi_blocks *b = w->s->b;
    choice best = {.cost = UINT64_MAX};
    for (uint32_t n = 0; n < b->block[t->to].way_count; n++) {
        pbi_block_single one = pbi_block_alone(b, t->from, pbi_block_way_of(b, t->to, n), t->left, t->right);
        if (one.need <= t->memory)
            consider(&best, one.cost, 0, n, 0);
    }
    pb_status status = PB_OK;
    if (best.cost == UINT64_MAX)
        return pbi_fail(w->s->ctx, PB_EBUG, "the table of the blocks is wrong about a block");
    if (pbi_block_runs(pbi_block_way_of(b, t->to, best.way), t->right))
        status = pbi_block_list_way(w->list, t->to, best.way);
    return status == PB_OK ? pbi_block_list_back(w->list, t->to, best.way) : status;
}

static pb_status do_task(walk *w, task t)
{
    const pbi_blocks *b = w->s->b;
    choice best = {.cost = UINT64_MAX};
    if (t.back)
        return pbi_block_list_back(w->list, t.to, t.way);
    if (t.to == t.from + 1)
        return do_single(w, &t);
    task bare = t;
    bare.right = PBI_BARE;
    choice without = best;
    consider_ways(w, &bare, &without);
    consider_splits(w, &bare, &without);
    if (t.right == PBI_HELD) {
        consider_ways(w, &t, &best);
        consider_splits(w, &t, &best);
    }
    if (without.cost <= best.cost) { /* the right value let go */
        best = without;
        t = bare;
    }
    if (best.cost == UINT64_MAX)
        return pbi_fail(w->s->ctx, PB_EBUG, "the table of the blocks is wrong about a segment");
    if (best.m) {
        w->stack[w->depth++] =
            (task){.from = t.from, .to = best.m, .memory = t.memory, .left = t.left, .right = (uint8_t)best.k};
        w->stack[w->depth++] = (task){.from = best.m,
                                      .to = t.to,
                                      .memory = t.memory - b->value[t.from],
                                      .left = (uint8_t)best.k,
                                      .right = t.right};
        return pbi_block_list_run(w->list, t.from, best.m);
    }
    const pbi_block_way *way = pbi_block_way_of(b, t.from + 1, best.way);
    w->stack[w->depth++] = (task){.from = t.from, .to = t.from + 1, .way = (uint16_t)best.way, .back = true};
    w->stack[w->depth++] = (task){.from = t.from + 1,
                                  .to = t.to,
                                  .memory = t.memory - pbi_block_held(b, t.from, way, t.left),
                                  .left = way->reads_right ? PBI_KEEP : PBI_FREE,
                                  .right = t.right};
    return pbi_block_list_way(w->list, t.from + 1, best.way);
}

static pb_status follow(const pbi_block_bounds *s, view v, pbi_block_list *list)
{
    pb_arena scratch;
    pb_arena_init(&scratch, s->ctx);
    walk w = {s, list, v, pb_arena_alloc(&scratch, 2 * (size_t)s->b->count + 4, sizeof *w.stack), 0};
    pb_status status = w.stack ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        w.stack[w.depth++] = (task){.from = 0, .to = s->b->count, .memory = s->memory};
    for (size_t n = 0; w.depth && status == PB_OK; n++) {
        status = do_task(&w, w.stack[--w.depth]);
        if (status == PB_OK && (n & 0xf) == 0)
            status = pbi_poll(s->ctx);
    }
    pb_arena_release(&scratch);
    return status;
}

/* The cheapest of the plans by all views. */
static pb_status read_plan(const pbi_block_bounds *s, pb_arena *arena, pbi_blocks_plan *plan)
{
    pb_status status = PB_OK;
    for (view v = 0; v < VIEWS && status == PB_OK; v++) {
        pbi_block_list list = {.b = s->b, .arena = arena};
        status = follow(s, v, &list);
        if (status == PB_OK && (!plan->fits || list.work < plan->work))
            *plan = (pbi_blocks_plan){true, list.work, list.action, list.count};
    }
    return status;
}

static pb_status solve(pbi_block_bounds *s, bool wide, pb_arena *scratch, pb_arena *arena)
{
    const pbi_blocks *b = s->b;
    bool fits[2] = {false, false}; /* rounded down, rounded up */
    s->before = pb_arena_alloc(scratch, (size_t)b->count + 1, sizeof *s->before);
    if (!s->before)
        return PB_ENOMEM;
    s->before[0] = 0;
    for (uint32_t k = 1; k <= b->count; k++)
        s->before[k] = s->before[k - 1] + b->block[k].cost;
    pb_status status = can_fit(s, false, &fits[false]);
    if (status == PB_OK && fits[false])
        status = can_fit(s, true, &fits[true]);
    if (status == PB_OK && fits[false])
        status = fill_tables(s, wide, fits, scratch);
    if (status == PB_OK)
        s->least = fits[false] ? s->before[b->count - 1] + root(&s->down) * s->down.quantum : UINT64_MAX;
    return status == PB_OK && fits[true] ? read_plan(s, arena, &s->plan) : status;
}

pb_status pbi_block_bounds_find(pbi_block_bounds *s, uint32_t slots, bool wide, pb_arena *scratch, pb_arena *arena)
{
    s->up.slot = s->down.slot = choose_slot(s->b, s->memory, slots ? slots : 1);
    s->up.slots = s->down.slots = (uint32_t)(s->memory / s->up.slot);
    s->plan = (pbi_blocks_plan){.fits = !s->b->count};
    s->least = 0;
    return s->b->count ? solve(s, wide, scratch, arena) : PB_OK;
}

pb_status pbi_blocks_slots(pb_context *ctx, const pbi_blocks *b, uint64_t memory, uint32_t slots, pb_arena *arena,
                           pbi_blocks_plan *out, uint64_t *least)
{
    pb_status status = pbi_blocks_check(ctx, b);
    if (status != PB_OK)
        return status;
    /* A need that does not fit 64 bits is never met. */
    pbi_block_bounds s = {.ctx = ctx, .b = b, .memory = memory < UINT64_MAX ? memory : UINT64_MAX - 1};
    double n = (double)b->count;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_block_bounds_find(&s, slots, n * n * n / 6 * (double)slots < WIDE_WORK, &scratch, arena);
    pb_arena_release(&scratch);
    if (status == PB_OK) {
        *out = s.plan;
        *least = s.least;
    }
    return status;
}
