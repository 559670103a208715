/* bench_chain.c -- planning chains of blocks: exactly, and with memory in slots.
 *
 * The chains are like real stacks of layers: a dozen sizes that fall by stages, costs like floating-point
 * operations, one to three ways to keep what a block's backward part reads. The last kind has no two sizes alike.
 */
#include "base/rng.h"
#include "measure.h"
#include "plan/blocks/blocks.h"

#include <inttypes.h>
#include <string.h>

typedef struct stack {
    pbi_blocks b;
    pbi_block *block;
    pbi_block_way *way;
    uint64_t *value, *gradient;
    uint32_t ways;
} stack;

static void stack_open(stack *s, uint32_t count, pb_arena *arena)
{
    s->block = pb_arena_zero(arena, (size_t)count + 1, sizeof *s->block);
    s->way = pb_arena_zero(arena, 3 * (size_t)count, sizeof *s->way);
    s->value = pb_arena_zero(arena, (size_t)count + 1, sizeof *s->value);
    s->gradient = pb_arena_zero(arena, (size_t)count + 1, sizeof *s->gradient);
    s->ways = 0;
    s->b = (pbi_blocks){count, s->block, s->way, s->value, s->gradient};
}

static void stack_value(stack *s, uint32_t k, uint64_t size) { s->value[k] = s->gradient[k] = size; }

static void stack_block(stack *s, uint32_t k, uint64_t cost)
{
    uint64_t in = s->value[k - 1], out = s->value[k];
    s->block[k] = (pbi_block){.cost = cost, .run_keeping = out, .through = in + out, .way = s->ways};
}

/* A way of block k that keeps so much and computes so much again. */
static void stack_way(stack *s, uint32_t k, uint64_t kept, uint64_t extra_work, bool right)
{
    uint64_t in = s->value[k - 1], out = s->value[k];
    s->way[s->ways++] = (pbi_block_way){.kept = kept,
                                        .forward = out + kept,
                                        .backward = in + out + kept + (right ? out : 0),
                                        .extra_work = extra_work,
                                        .reads_left = !right,
                                        .reads_right = right,
                                        .reads_run = kept > 0};
    s->block[k].way_count++;
}

enum { STAGES = 5 };

static unsigned stage_of(uint32_t k, uint32_t count) { return (unsigned)((uint64_t)(k ? k - 1 : 0) * STAGES / count); }

/* Convolution, normalisation, rectifier, over and over: the rectifier's backward part reads its output. */
static void make_layers(stack *s)
{
    static const uint64_t part_of_stage[STAGES] = {16, 8, 4, 2, 1};
    for (uint32_t k = 0; k <= s->b.count; k++)
        stack_value(s, k, UINT64_C(12845056) * part_of_stage[stage_of(k, s->b.count)]);
    for (uint32_t k = 1; k <= s->b.count; k++) {
        uint64_t elements = s->value[k] / 4;
        unsigned kind = (k - 1) % 3;
        stack_block(s, k, elements * (kind == 0 ? 1152u << stage_of(k, s->b.count) : kind == 1 ? 8 : 1));
        stack_way(s, k, kind == 1 ? UINT64_C(512) << stage_of(k, s->b.count) : 0, 0, kind == 2);
    }
}

/* Residual blocks: everything kept, or the convolutions' outputs only. */
static void make_residual(stack *s)
{
    static const uint64_t part_of_stage[STAGES] = {32, 32, 16, 8, 4};
    for (uint32_t k = 0; k <= s->b.count; k++)
        stack_value(s, k, UINT64_C(6422528) * part_of_stage[stage_of(k, s->b.count)]);
    for (uint32_t k = 1; k <= s->b.count; k++) {
        uint64_t out = s->value[k], cost = out / 4 * 2500;
        stack_block(s, k, cost + (k % 3) * out);
        stack_way(s, k, out / 4 * 6 + out * 3 + 4096, 0, false);
        stack_way(s, k, out / 4 * 2 + out + 4096, cost / 100, false);
    }
}

/* Transformer layers: everything, without the attention weights, or the inputs of products only. */
static void make_transformer(stack *s)
{
    uint64_t width = 8192 * UINT64_C(4096), attention = 32 * UINT64_C(1024) * 8192;
    for (uint32_t k = 0; k <= s->b.count; k++)
        stack_value(s, k, k ? 2 * width : 8 * 8192);
    for (uint32_t k = 1; k <= s->b.count; k++) {
        uint64_t cost = 24 * width * 4096 / 1000;
        bool mlp = k % 2 == 0;
        stack_block(s, k, mlp ? 2 * cost : cost);
        stack_way(s, k, mlp ? 18 * width : 11 * width + 5 * attention, 0, false);
        stack_way(s, k, mlp ? 10 * width : 11 * width, cost / 20, false);
        stack_way(s, k, mlp ? 8 * width : 8 * width, cost / 12, false);
    }
}

/* No two sizes or costs alike. */
static void make_uneven(stack *s)
{
    pbi_rng rng = {7};
    for (uint32_t k = 0; k <= s->b.count; k++)
        stack_value(s, k, 1000000 + pbi_rng_below(&rng, 20000000));
    for (uint32_t k = 1; k <= s->b.count; k++) {
        stack_block(s, k, 1000000 + pbi_rng_below(&rng, 20000000));
        stack_way(s, k, 1000000 + pbi_rng_below(&rng, 20000000), 0, false);
    }
}

typedef struct kind {
    const char *name;
    void (*make)(stack *s);
} kind;

static const kind kinds[] = {
    {"layers", make_layers}, {"residual", make_residual}, {"transformer", make_transformer}, {"uneven", make_uneven}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* What the first ways of all blocks need together, about: nothing is run again. */
static uint64_t all_kept(const stack *s)
{
    uint64_t sum = 0, most = 0;
    for (uint32_t k = 1; k <= s->b.count; k++) {
        const pbi_block_way *w = &s->way[s->block[k].way];
        sum += w->kept + s->value[k - 1];
        most = w->backward > most ? w->backward : most;
    }
    return sum + most;
}

static uint64_t work_once(const stack *s)
{
    uint64_t sum = 0;
    for (uint32_t k = 1; k <= s->b.count; k++)
        sum += s->block[k].cost;
    return sum;
}

typedef struct outcome {
    pb_status status;
    pbi_blocks_plan plan;
    uint64_t least;
    double seconds;
    size_t memory_peak;
} outcome;

/* slots 0: exactly. */
static outcome plan_stack(const bench *b, const kind *k, uint32_t count, unsigned percent, uint32_t slots, double *once)
{
    outcome best = {.seconds = 1e300};
    for (unsigned n = 0; n < b->repeat; n++) {
        pb_context ctx;
        pb_arena arena;
        stack s;
        outcome o = {0};
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        stack_open(&s, count, &arena);
        k->make(&s);
        uint64_t memory = percent_of(all_kept(&s), percent);
        double t0 = now_seconds();
        uint64_t *least = b->full || b->smoke ? &o.least : NULL; /* the bound takes most of the time */
        pbi_block_budget budget = {.memory = memory, .slots = slots, .limit = UINT64_C(1) << 32};
        o.status = slots ? pbi_blocks_slots(&ctx, &s.b, &budget, &arena, &o.plan, least)
                         : pbi_blocks_exact(&ctx, &s.b, &budget, &arena, &o.plan);
        o.seconds = now_seconds() - t0;
        o.memory_peak = ctx.memory_peak;
        if (o.status != PB_OK && o.status != PB_ELIMIT)
            must(&ctx, o.status, "chain");
        *once = (double)work_once(&s);
        best = o.seconds < best.seconds ? o : best;
        pb_arena_release(&arena);
    }
    return best;
}

static void chain_row(const bench *b, table *t, const kind *k, uint32_t count, unsigned percent, uint32_t slots)
{
    double once;
    outcome o = plan_stack(b, k, count, percent, slots, &once);
    char over[24] = "-", least[24] = "-", how[24] = "exact";
    if (o.status == PB_OK && o.plan.fits)
        snprintf(over, sizeof over, "%.3f", 100 * ((double)o.plan.work / once - 1));
    if (o.status == PB_OK && slots && o.least && o.least != UINT64_MAX)
        snprintf(least, sizeof least, "%.3f", 100 * ((double)o.least / once - 1));
    if (slots)
        snprintf(how, sizeof how, "%" PRIu32, slots);
    table_row(t, "%s|%" PRIu32 "|%u|%s|%s|%s|%.3f|%.0f", k->name, count, percent, how,
              o.status == PB_OK ? over : "limit", least, o.seconds, (double)o.memory_peak * 1e-6);
}

void bench_chain(const bench *b)
{
    static const unsigned percents[] = {10, 30, 50, 90};
    table t;
    table_open(&t, b, "chain", "blocks of:12|blocks:6|cap %:5|slots:6|over %:9|least %:9|seconds:8|MB:6");
    for (int k = 0; k < KINDS; k++)
        for (int p = 0; p < 4 && instance_wanted(b, kinds[k].name); p++)
            chain_row(b, &t, &kinds[k], b->size ? (uint32_t)b->size : b->smoke ? 20 : 200, percents[p], 0);
    for (int k = 0; k < KINDS; k++)
        for (int p = 0; p < 4 && instance_wanted(b, kinds[k].name); p++)
            if (kinds[k].make != make_layers || b->full || b->smoke) /* four states: some six times the time */
                chain_row(b, &t, &kinds[k],
                          b->size    ? (uint32_t)b->size
                          : b->smoke ? 30
                                     : 1000,
                          percents[p], b->smoke ? 50 : 500);
    table_close(&t);
}
