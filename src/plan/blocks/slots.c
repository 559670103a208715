/* slots.c -- plans for chains of blocks by tables with memory in slots.
 *
 * A table with sizes rounded down bounds all plans from below. A plan is read from another with sizes rounded up.
 * The memory of every part is known exactly, and only choices whose parts fit, by their exact least needs, are made,
 * so a plan is found whenever there is one. The cost of a part is looked up in the table. Sizes there are too large,
 * so its memory is first enlarged too, by more or less of what rounding adds on average; the cheapest of those plans
 * is returned.
 */
#include "plan/blocks/slots.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/context.h"

/* Cells of 32 bits are used up to this many splits times slots, so that small tables are exact in work. */
#define WIDE_WORK 4e9

/* The bound of longer chains would take several times as long as the plan: it uses larger slots. */
enum { LONG = 300, LONG_COARSE = 4 };

/* ---- the size of a slot ---- */

/* By what factor rounding up to this slot enlarges all that can be held. */
static double rounding_factor(const pbi_blocks *b, uint64_t slot)
{
    double rounded = 0, all = 0;
    for (uint32_t k = 1; k <= b->count; k++) {
        uint64_t sizes[2] = {b->value[k - 1], pbi_block_held(b, k - 1, pbi_block_way_of(b, k, 0), PBI_FREE)};
        for (int n = 0; n < 2; n++) {
            all += (double)sizes[n];
            rounded += (double)sizes[n] + (sizes[n] % slot ? (double)(slot - sizes[n] % slot) : 0);
        }
    }
    return all > 0 ? rounded / all : 1;
}

/* A slot that sizes are nearly multiples of, but not twice as large as necessary. */
static uint64_t choose_slot(const pbi_blocks *b, uint64_t memory, uint32_t count, double *factor)
{
    enum { TRIES = 40 };
    uint64_t min_slot = memory / count + (memory % count != 0), best = min_slot = min_slot ? min_slot : 1;
    *factor = rounding_factor(b, min_slot);
    for (uint32_t n = 0; n<TRIES && * factor> 1; n++) {
        uint64_t size = b->value[(uint64_t)b->count * n / TRIES], parts = size / min_slot;
        for (uint64_t p = parts; p > 0 && p > parts / 2 && p + 4 > parts; p--) {
            uint64_t slot = size / p + (size % p != 0);
            double other = rounding_factor(b, slot);
            if (other < *factor) {
                *factor = other;
                best = slot;
            }
        }
    }
    return best;
}

/* ---- tables ---- */

static uint32_t root(const pbi_block_table *t)
{
    return pbi_block_table_at(t, PBI_FREE, PBI_BARE, 0, t->b->count, t->slots);
}

/* Fills a table, with quanta as small as the extra work at the root allows. */
static pb_status fill_table(const pbi_block_bounds *s, pbi_block_table *t, pb_arena *arena)
{
    uint64_t all = pbi_blocks_max_work(s->b), max = t->wide ? all : s->before[s->b->count];
    for (;; max = max < all / 4 ? 4 * max + 1 : all) {
        t->quantum = 1;
        while (max / t->quantum >= pbi_block_table_never(t->wide) - 8)
            t->quantum *= 2;
        pbi_mark mark = pbi_arena_mark(arena);
        pb_status status = pbi_block_table_fill(t, arena);
        if (status != PB_OK || root(t) < t->never || max >= all)
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
    uint64_t cost; /* estimated extra work */
    uint32_t m;    /* 0: a way */
    uint32_t way;
    unsigned k;
} choice;

typedef struct walk {
    const pbi_block_bounds *s;
    pbi_block_list *list;
    const pbi_block_table *table;
    double factor; /* of memory, before it is looked up */
    task *stack;
    size_t depth;
} walk;

/* The estimated extra work of a segment; UINT64_MAX when it does not fit. */
static uint64_t estimate_extra(const walk *w, unsigned left, unsigned right, uint32_t i, uint32_t j, uint64_t memory)
{
    const pbi_block_table *t = w->table;
    if (pbi_block_need_of(&w->s->needs, left, right, i, j) > memory)
        return UINT64_MAX;
    double whole = (double)memory / (double)t->slot * w->factor * (1 + 1e-12);
    uint32_t count = whole < (double)t->slots ? (uint32_t)whole : t->slots;
    return pbi_block_table_at(t, left, right, i, j, count) * t->quantum;
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
        uint64_t inner =
            estimate_extra(w, way->reads_right ? PBI_KEEP : PBI_FREE, t->right, i + 1, j, t->memory - held);
        if (inner != UINT64_MAX)
            consider(best, way->extra_work + inner, 0, n, 0);
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
        for (unsigned k = 0; k < w->table->states.rights; k++) {
            uint64_t behind = estimate_extra(w, k, t->right, m, j, t->memory - s->b->value[i]);
            uint64_t before = estimate_extra(w, t->left, k, i, m, t->memory);
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
    if (without.cost <= best.cost) { /* the right value freed */
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

static pb_status follow(const pbi_block_bounds *s, const pbi_block_table *t, double factor, pbi_block_list *list)
{
    pb_arena scratch;
    pb_arena_init(&scratch, s->ctx);
    walk w = {s, list, t, factor, pb_arena_alloc(&scratch, 2 * (size_t)s->b->count + 4, sizeof *w.stack), 0};
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

/* The cheapest of some plans. */
static pb_status read_plan(pbi_block_bounds *s, double factor, pb_arena *arena)
{
    const double factors[] = {1, (1 + factor) / 2, factor};
    pb_arena scratch;
    pb_arena_init(&scratch, s->ctx);
    pbi_block_table up = {.ctx = s->ctx, .b = s->b, .slot = s->slot, .up = true, .wide = s->down.wide};
    up.slots = (uint32_t)((double)(s->memory / s->slot) * factor);
    up.stride = s->b->count / 125; /* long segments need not end exactly at every block */
    up.near = 8 * up.stride;
    pb_status status = fill_table(s, &up, &scratch);
    for (int n = 0; n < (factor > 1 ? 3 : 1) && status == PB_OK; n++) {
        pbi_block_list list = {.b = s->b, .arena = arena};
        status = follow(s, &up, factors[n], &list);
        if (status == PB_OK && (!s->plan.fits || list.work < s->plan.work))
            s->plan = (pbi_blocks_plan){true, list.work, list.action, list.count};
    }
    pb_arena_release(&scratch);
    return status;
}

static pb_status solve(pbi_block_bounds *s, double factor, pb_arena *scratch, pb_arena *arena)
{
    const pbi_blocks *b = s->b;
    s->before = pb_arena_alloc(scratch, (size_t)b->count + 1, sizeof *s->before);
    if (!s->before)
        return PB_ENOMEM;
    s->before[0] = 0;
    for (uint32_t k = 1; k <= b->count; k++)
        s->before[k] = s->before[k - 1] + b->block[k].cost;
    pb_status status = pbi_block_needs_fill(s->ctx, b, scratch, &s->needs);
    if (status != PB_OK)
        return status;
    s->min_work = UINT64_MAX;
    if (pbi_block_need_of(&s->needs, PBI_FREE, PBI_BARE, 0, b->count) > s->memory)
        return PB_OK;
    s->min_work = s->before[b->count - 1];
    if (s->bound) {
        status = fill_table(s, &s->down, scratch);
        if (status != PB_OK)
            return status;
        s->min_work += root(&s->down) * s->down.quantum;
    }
    return read_plan(s, factor, arena);
}

pb_status pbi_block_bounds_find(pbi_block_bounds *s, uint32_t slots, bool wide, pb_arena *scratch, pb_arena *arena)
{
    double factor;
    s->down = (pbi_block_table){.ctx = s->ctx, .b = s->b, .wide = wide};
    s->slot = choose_slot(s->b, s->memory, slots ? slots : 1, &factor);
    if (!pbi_mul(s->slot, s->coarse ? s->coarse : 1, &s->down.slot))
        s->down.slot = s->slot;
    s->down.slots = (uint32_t)(s->memory / s->down.slot);
    s->plan = (pbi_blocks_plan){.fits = !s->b->count};
    s->min_work = 0;
    return s->b->count ? solve(s, factor < 2 ? factor : 2, scratch, arena) : PB_OK;
}

pb_status pbi_blocks_slots(pb_context *ctx, const pbi_blocks *b, const pbi_block_budget *budget, pb_arena *arena,
                           pbi_blocks_plan *out, uint64_t *min_work)
{
    uint64_t memory = budget->memory;
    uint32_t slots = (uint32_t)budget->slots;
    pb_status status = pbi_blocks_check(ctx, b);
    if (status != PB_OK)
        return status;
    /* A need that does not fit 64 bits is never met. */
    pbi_block_bounds s = {
        .ctx = ctx, .b = b, .memory = memory < UINT64_MAX ? memory : UINT64_MAX - 1, .bound = min_work};
    s.coarse = b->count > LONG ? LONG_COARSE : 1;
    double n = (double)b->count;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    status = pbi_block_bounds_find(&s, slots, n * n * n / 6 * (double)slots < WIDE_WORK, &scratch, arena);
    pb_arena_release(&scratch);
    if (status == PB_OK) {
        *out = s.plan;
        if (min_work)
            *min_work = s.min_work;
    }
    return status;
}
