/* bench_dynamic.c -- what knowing the graph ahead is worth: work of programs that run online under a cap, policy by policy, against a
 * plan of the same trace at the same cap.
 *
 * The programs are trained on one example: forward over a graph that depends on the data (a sequence of some length, a parse tree, a
 * random graph), then backward. A gradient reads the value, its readers and their gradients.
 */
#include "measure.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, MOST_INPUTS = 3, UNIT = 1024, TICKS = 300000 };

typedef struct program {
    const char *name;
    uint32_t count; /* of forward values, in an order to compute them in */
    uint32_t inputs[MOST], input[MOST][MOST_INPUTS];
    uint64_t size[MOST], cost[MOST];
} program;

static uint32_t add(program *p, pbi_rng *rng, uint32_t inputs, const uint32_t *input)
{
    uint32_t v = p->count++;
    p->inputs[v] = inputs;
    memcpy(p->input[v], input, inputs * sizeof *input);
    p->size[v] = UNIT * (1 + pbi_rng_below(rng, 4));
    p->cost[v] = inputs ? 10 + pbi_rng_below(rng, 40) : 0;
    return v;
}

/* A state for each word of a sentence. */
static void make_rnn(program *p, pbi_rng *rng)
{
    uint32_t length = 60 + (uint32_t)pbi_rng_below(rng, 60), none[1] = {0};
    p->name = "rnn";
    uint32_t before = add(p, rng, 0, none);
    for (uint32_t i = 0; i < length; i++)
        before = add(p, rng, 1, &before);
}

/* Two neighbours of a row become one until one is left. */
static void make_tree(program *p, pbi_rng *rng)
{
    uint32_t row[MOST], count = 40 + (uint32_t)pbi_rng_below(rng, 30), none[1] = {0};
    p->name = "tree-lstm";
    for (uint32_t i = 0; i < count; i++)
        row[i] = add(p, rng, 0, none);
    while (count > 1) {
        uint32_t at = (uint32_t)pbi_rng_below(rng, count - 1);
        row[at] = add(p, rng, 2, &row[at]);
        memmove(&row[at + 1], &row[at + 2], (count - at - 2) * sizeof *row);
        count--;
    }
}

static void make_random(program *p, pbi_rng *rng)
{
    uint32_t count = 100 + (uint32_t)pbi_rng_below(rng, 60), none[1] = {0};
    p->name = "random";
    add(p, rng, 0, none);
    while (p->count < count) {
        uint32_t input[MOST_INPUTS], inputs = 1 + (uint32_t)pbi_rng_below(rng, MOST_INPUTS);
        for (uint32_t i = 0; i < inputs; i++) {
            uint32_t reach = pbi_rng_below(rng, 6) ? 8 : p->count;
            uint32_t back = 1 + (uint32_t)pbi_rng_below(rng, reach < p->count ? reach : p->count);
            input[i] = p->count - back;
        }
        add(p, rng, inputs, input);
    }
}

static pb_status sum(void *state, pb_context *ctx, const pb_dynamic_call *call)
{
    uint64_t *out = call->output;
    (void)state;
    (void)ctx;
    for (uint64_t i = 0; i < call->size / sizeof *out; i++)
        out[i] = i;
    for (uint32_t k = 0; k < call->count; k++)
        for (uint64_t i = 0; i < UNIT / sizeof *out; i++)
            out[i] = out[i] * 31 + ((const uint64_t *)call->input[k])[i];
    return PB_OK;
}

typedef struct run {
    pb_context *ctx;
    pb_dynamic *o;
    const program *p;
    pb_value value[MOST], gradient[MOST];
    uint32_t value_uses[MOST], gradient_uses[MOST];
} run;

static pb_status used(run *r, uint32_t v, bool gradient)
{
    uint32_t *left = gradient ? &r->gradient_uses[v] : &r->value_uses[v];
    return --*left ? PB_OK : pb_dynamic_release(r->o, gradient ? r->gradient[v] : r->value[v]);
}

static pb_status forward(run *r, uint32_t v)
{
    const program *p = r->p;
    pb_value inputs[MOST_INPUTS];
    static const uint64_t data[4 * UNIT / sizeof(uint64_t)];
    if (!p->inputs[v])
        return pb_dynamic_input(r->o, data, p->size[v], &r->value[v]);
    for (uint32_t i = 0; i < p->inputs[v]; i++)
        inputs[i] = r->value[p->input[v][i]];
    pb_dynamic_spec spec = {
        .kernel = sum, .inputs = inputs, .count = p->inputs[v], .size = p->size[v], .cost = p->cost[v]};
    return pb_dynamic_compute(r->o, &spec, &r->value[v]);
}

/* Reads its value, its readers and their gradients. */
static pb_status backward(run *r, uint32_t v)
{
    const program *p = r->p;
    pb_value inputs[2 * MOST];
    uint32_t count = 0;
    inputs[count++] = r->value[v];
    for (uint32_t w = v + 1; w < p->count; w++)
        for (uint32_t i = 0; i < p->inputs[w]; i++)
            if (p->input[w][i] == v) {
                inputs[count++] = r->value[w];
                inputs[count++] = r->gradient[w];
            }
    pb_dynamic_spec spec = {
        .kernel = sum, .inputs = inputs, .count = count, .size = p->size[v], .cost = 2 * p->cost[v] + 1};
    pb_status status = pb_dynamic_compute(r->o, &spec, &r->gradient[v]);
    for (uint32_t w = v + 1; w < p->count && status == PB_OK; w++)
        for (uint32_t i = 0; i < p->inputs[w] && status == PB_OK; i++)
            if (p->input[w][i] == v) {
                status = used(r, w, false);
                if (status == PB_OK)
                    status = used(r, w, true);
            }
    return status == PB_OK ? used(r, v, false) : status;
}

static pb_status play(run *r)
{
    const program *p = r->p;
    pb_status status = PB_OK;
    for (uint32_t v = 0; v < p->count && status == PB_OK; v++) {
        r->value_uses[v] = 1 + p->inputs[v];
        r->gradient_uses[v] = p->inputs[v] ? p->inputs[v] : 1;
        status = forward(r, v);
    }
    for (uint32_t v = p->count; v-- > 0 && status == PB_OK;) {
        status = backward(r, v);
        if (status == PB_OK && !p->inputs[v]) { /* the result: the gradient of an input */
            void *address;
            status = pb_dynamic_pin(r->o, r->gradient[v], &address);
            if (status == PB_OK)
                status = pb_dynamic_unpin(r->o, r->gradient[v]);
            if (status == PB_OK)
                status = used(r, v, true);
        }
    }
    return status;
}

static pb_status play_with(pb_context *ctx, const program *p, uint64_t cap, pb_dynamic_policy policy, pb_arena *arena,
                           pb_dynamic_counts *counts, const pb_graph **trace)
{
    run *r = pb_arena_zero(arena, 1, sizeof *r);
    must(ctx, r ? PB_OK : PB_ENOMEM, "dynamic");
    r->ctx = ctx;
    r->p = p;
    must(ctx, pb_dynamic_new(ctx, &(pb_dynamic_options){.cap = cap, .policy = policy, .record = trace}, &r->o),
         "dynamic");
    pb_status status = play(r);
    pb_dynamic_count(r->o, counts);
    if (status == PB_OK && trace)
        must(ctx, pb_dynamic_trace(r->o, arena, trace), "trace");
    pb_dynamic_free(r->o);
    return status;
}

static void cap_rows(table *t, pb_context *ctx, pb_arena *arena, const program *p, const pb_graph *g, unsigned percent)
{
    uint64_t cap = (percent_cap(ctx, g, percent) + 63) / 64 * 64;
    pb_game game = {.graph = g, .kind = PB_GAME_REMAT, .cap = cap, .weights = PB_WEIGHTS_DEFAULT};
    pb_plan_result planned;
    ctx->tick_limit = TICKS;
    must(ctx, pb_plan(ctx, &game, &PB_REQUEST_DEFAULT, arena, &planned), "plan");
    ctx->tick_limit = 0;
    if (planned.certificate)
        table_row(t, "%s|%" PRIu32 "|%u|%s|%" PRIu64 "|%.1f|", p->name, g->node_count, percent, "planned ahead",
                  planned.schedule.metrics.work, 100 * planned.schedule.metrics.overhead);
    else
        table_row(t, "%s|%" PRIu32 "|%u|%s|-|-|", p->name, g->node_count, percent, "planned ahead");
    for (pb_dynamic_policy policy = 0; policy < PB_DYNAMIC_POLICIES; policy++) {
        pb_dynamic_counts counts;
        pb_status status = play_with(ctx, p, cap, policy, arena, &counts, NULL);
        if (status == PB_OK)
            table_row(t, "%s|%" PRIu32 "|%u|%s|%" PRIu64 "|%.1f|%" PRIu64, p->name, g->node_count, percent,
                      pb_dynamic_policy_name(policy), counts.work,
                      100.0 * (double)counts.rework / (double)(counts.work - counts.rework), counts.evicted);
        else
            table_row(t, "%s|%" PRIu32 "|%u|%s|-|-|%" PRIu64, p->name, g->node_count, percent,
                      pb_dynamic_policy_name(policy), counts.evicted);
    }
}

void bench_dynamic(const bench *b)
{
    static void (*const makers[])(program *, pbi_rng *) = {make_rnn, make_tree, make_random};
    static const unsigned percents[] = {80, 60, 40, 25};
    table t;
    table_open(&t, b, "dynamic", "program:10|nodes:6|cap %:6|policy:14|work:9|overhead %:11|evicted:8");
    for (unsigned i = 0; i < 3; i++) {
        pb_context ctx;
        pb_arena arena;
        pb_dynamic_counts counts;
        const pb_graph *g;
        pb_context_init(&ctx);
        pb_arena_init(&arena, &ctx);
        program *p = pb_arena_zero(&arena, 1, sizeof *p);
        must(&ctx, p ? PB_OK : PB_ENOMEM, "dynamic");
        makers[i](p, &(pbi_rng){7 + i});
        must(&ctx, play_with(&ctx, p, (uint64_t)1 << 28, PB_DYNAMIC_DTR, &arena, &counts, &g), "dynamic");
        for (unsigned k = 0; k < sizeof percents / sizeof *percents && (!b->smoke || k < 1); k++)
            if (instance_wanted(b, p->name))
                cap_rows(&t, &ctx, &arena, p, g, percents[k]);
        pb_arena_release(&arena);
    }
    table_close(&t);
}
