/* prop_machine.c -- random machines and graphs for them: written in every format and read back, they have the same hash
 * and the same times; a schedule that carries the machine prices the graph like the machine itself. */
#include "base/rng.h"
#include "pebble/api.h"
#include "support/io_case.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 4, MAX_NODES = 12 };

static unsigned good, bad;

static const char *const names[] = {"gpu", "c p=u", "h\"b\\m", "host", "\xc3\xa9", "true story", "a,b", "x\ny"};
static const char *const ops[] = {"conv", "matmul", "a b", "norm"};
static const char *const types[] = {"float32", "bf\"16", "int8"};

static uint64_t below(pbi_rng *r, uint64_t bound) { return pbi_rng_below(r, bound); }

/* Numbers of every length. */
static uint64_t number(pbi_rng *r, uint64_t most)
{
    uint64_t value = pbi_rng_next(r) >> below(r, 64);
    return value > most ? value % (most + 1) : value;
}

typedef struct any_machine {
    pb_machine m;
    pb_machine_memory memory[MAX_PARTS];
    pb_machine_processor processor[MAX_PARTS];
    pb_machine_link link[MAX_PARTS];
    pb_machine_rate rate[MAX_PARTS], bandwidth[2];
} any_machine;

static void random_machine(pbi_rng *r, any_machine *a)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "step"};
    static const char *const keys[] = {"conv/float32", "float32", "a b/int8", "other"};
    const char *unit = units[below(r, 5)];
    memset(a, 0, sizeof *a);
    a->m = (pb_machine){.name = below(r, 3) ? names[below(r, 8)] : "",
                        .time_unit = unit,
                        .per_second = pb_time_unit_per_second(unit),
                        .memories = a->memory,
                        .processors = a->processor,
                        .links = a->link,
                        .memory_count = 2 + (uint32_t)below(r, MAX_PARTS - 1),
                        .processor_count = 1 + (uint32_t)below(r, MAX_PARTS),
                        .link_count = (uint32_t)below(r, MAX_PARTS + 1)};
    uint64_t first = below(r, 8);
    for (uint32_t i = 0; i < a->m.memory_count; i++) {
        uint64_t reserve = number(r, 1000);
        a->memory[i] = (pb_machine_memory){.name = names[(first + i) % 8], .cap = PB_UNLIMITED, .reserve = reserve};
        if (below(r, 2))
            a->memory[i].cap = reserve + number(r, UINT64_MAX / 2);
    }
    for (uint32_t i = 0; i < 4; i++)
        a->rate[i] = (pb_machine_rate){keys[i], 1 + number(r, PB_MACHINE_MAX_RATE - 1)};
    for (uint32_t i = 0; i < 2; i++)
        a->bandwidth[i] = (pb_machine_rate){ops[i], 1 + number(r, PB_MACHINE_MAX_RATE - 1)};
    for (uint32_t i = 0; i < a->m.processor_count; i++)
        a->processor[i] = (pb_machine_processor){.name = names[(first + 3 + i) % 8],
                                                 .memory = (uint32_t)below(r, a->m.memory_count),
                                                 .overhead = number(r, 1000000),
                                                 .bandwidth = below(r, 3) ? 1 + number(r, UINT64_C(1) << 40) : 0,
                                                 .rates = a->rate,
                                                 .rate_count = below(r, 4) ? 4 : 0,
                                                 .bandwidths = a->bandwidth,
                                                 .bandwidth_count = (uint32_t)below(r, 3)};
    for (uint32_t i = 0; i < a->m.link_count; i++) {
        uint32_t from = (uint32_t)below(r, a->m.memory_count);
        a->link[i] = (pb_machine_link){.name = names[(first + 5 + i) % 8],
                                       .lane = below(r, 2) ? "bus" : NULL,
                                       .from = from,
                                       .to = (from + 1) % a->m.memory_count,
                                       .bandwidth = below(r, 2) ? 1 + number(r, PB_MACHINE_MAX_RATE - 1) : 0,
                                       .latency = number(r, 1000000),
                                       .per_unit = number(r, 1000)};
    }
}

static pb_status add_notes(pbi_rng *r, pb_builder *b, pb_node v, bool given)
{
    pb_status status = PB_OK;
    uint64_t first = below(r, 8);
    for (uint64_t i = below(r, 3); i > 0 && !given && status == PB_OK; i--)
        status = pb_builder_add_note(b, v, PB_NOTE_TIME, names[(first + i) % 8], number(r, UINT64_C(1) << 58));
    for (uint64_t i = below(r, 3); i > 0 && !given && status == PB_OK; i--)
        status = pb_builder_add_note(b, v, PB_NOTE_ON, names[(first + i) % 8], 0);
    if (status == PB_OK && given && below(r, 2))
        status = pb_builder_add_note(b, v, PB_NOTE_IN, names[first], 0);
    if (status == PB_OK && !below(r, 4))
        status = pb_builder_add_note(b, v, PB_NOTE_KEEP, names[first], 0);
    return status;
}

static pb_status random_graph(pbi_rng *r, pb_builder *b, const pb_machine *m)
{
    pb_status status = PB_OK;
    uint32_t count = 1 + (uint32_t)below(r, MAX_NODES);
    for (pb_node v = 0; v < count && status == PB_OK; v++) {
        bool given = v == 0 && below(r, 2);
        pb_node_spec spec = {.cost = number(r, UINT64_C(1) << 58), .size = number(r, 1000)};
        spec.flags = given ? PB_NODE_GIVEN : 0;
        spec.work.has_flops = below(r, 2);
        spec.work.has_bytes = below(r, 2);
        spec.work.flops = spec.work.has_flops ? number(r, UINT64_MAX) : 0;
        spec.work.bytes = spec.work.has_bytes ? number(r, UINT64_MAX) : 0;
        spec.work.op = below(r, 2) ? ops[below(r, 4)] : NULL;
        spec.work.dtype = below(r, 2) ? types[below(r, 3)] : NULL;
        status = pb_builder_add_node(b, &spec, NULL);
        if (status == PB_OK && v)
            status = pb_builder_add_edge(b, (pb_node)below(r, v), v);
        if (status == PB_OK)
            status = add_notes(r, b, v, given);
    }
    for (uint64_t i = below(r, 3), first = below(r, 8); i > 0 && status == PB_OK; i--)
        status = pb_builder_add_note(b, PB_NO_NODE, PB_NOTE_TIME, names[(first + i) % 8], number(r, 1000));
    if (below(r, 2))
        pb_builder_set_machine(b, m);
    return status;
}

/* The outcome of pricing, as a status and a hash of the times. */
typedef struct times {
    pb_status status;
    uint64_t hash;
} times;

static times price(pb_context *ctx, const pb_graph *g, const pb_machine *m, pb_arena *arena)
{
    const pb_graph *priced;
    times t = {.status = pb_graph_price(ctx, g, m, arena, &priced), .hash = 0};
    for (pb_node v = 0; t.status == PB_OK && v < g->node_count; v++)
        t.hash = (t.hash ^ priced->cost[v]) * UINT64_C(0x100000001b3);
    return t;
}

static bool alike(times a, times b) { return a.status == b.status && a.hash == b.hash; }

/* The machine, written as a file and read again. */
static const char *machine_trip(pb_context *ctx, const pb_machine *m, pb_arena *arena, const pb_machine **out)
{
    pb_buffer bytes, again;
    pb_buffer_init(&bytes, arena);
    pb_buffer_init(&again, arena);
    if (pb_machine_write(ctx, m, pb_sink_buffer(&bytes)) != PB_OK)
        return "a machine cannot be written";
    pb_memory memory = {bytes.bytes, bytes.length, 0};
    if (pb_machine_read(ctx, pb_source_memory(&memory), arena, out) != PB_OK)
        return ctx->error.message;
    if (pb_machine_write(ctx, *out, pb_sink_buffer(&again)) != PB_OK || strcmp(bytes.bytes, again.bytes) != 0)
        return "a machine is written differently after it was read";
    return NULL;
}

static const char *graph_trip(pb_context *ctx, const pb_graph *g, const pb_machine *m, times expected, pb_arena *arena)
{
    const char *fault = graph_round_trips(ctx, g);
    for (pb_format format = PB_FORMAT_JSON; format <= PB_FORMAT_CSV && !fault; format++) {
        pb_buffer bytes;
        const pb_graph *again;
        if (graph_bytes(ctx, g, format, arena, &bytes) != PB_OK ||
            graph_from(ctx, bytes.bytes, bytes.length, SIZE_MAX, format, arena, &again) != PB_OK)
            return ctx->error.message;
        if (!alike(price(ctx, again, m, arena), expected))
            return "a graph that was written and read has other times";
    }
    return fault;
}

/* A schedule of no moves: the replay prices the graph before it finds that they do not suffice. */
static const char *schedule_trip(pb_context *ctx, const pb_graph *g, const pb_machine *m, times expected,
                                 pb_arena *arena)
{
    pb_schedule s = {.graph_name = "", .strategy = "", .version = "", .game = PB_GAME_TIERED, .cap = PB_UNLIMITED};
    pb_schedule again;
    pb_judgement j;
    pb_buffer bytes;
    s.machine = m;
    pb_moves_init(&s.moves, arena);
    pb_machine_tiers(m, s.tiers, &s.tier_count);
    for (int i = 0; i < 2; i++) {
        pb_format format = i ? PB_FORMAT_BINARY : PB_FORMAT_JSON;
        if (schedule_bytes(ctx, &s, format, arena, &bytes) != PB_OK ||
            schedule_from(ctx, bytes.bytes, bytes.length, SIZE_MAX, format, g, arena, &again) != PB_OK)
            return ctx->error.message;
        for (uint32_t t = 0; t < s.tier_count; t++)
            for (uint64_t size = 0; size < 5000; size += 313)
                if (pb_tier_store_price(&s.tiers[t], size) != pb_tier_store_price(&again.tiers[t], size) ||
                    pb_tier_load_price(&s.tiers[t], size) != pb_tier_load_price(&again.tiers[t], size))
                    return "a schedule that was written and read has tiers of other prices";
        pb_status status = pb_judge_all(ctx, g, &again, true, arena, &j);
        if (expected.status == PB_EINVAL ? status != PB_EFORMAT : status != PB_OK)
            return "judging a schedule does not price like its machine";
        if (expected.status == PB_OK &&
            (!j.game.graph->priced_by || !alike(price(ctx, g, again.machine, arena), expected)))
            return "a schedule that was written and read has other times";
    }
    return NULL;
}

static void check_seed(uint64_t seed)
{
    pbi_rng r = {seed};
    pb_context ctx;
    pb_arena arena;
    any_machine a;
    pb_builder *b;
    const pb_machine *m = NULL;
    const pb_graph *g = NULL;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    random_machine(&r, &a);
    const char *fault = machine_trip(&ctx, &a.m, &arena, &m);
    if (!fault && pb_builder_new(&ctx, &b) == PB_OK) {
        if (random_graph(&r, b, &a.m) != PB_OK || pb_builder_freeze(b, &arena, &g) != PB_OK)
            fault = ctx.error.message;
        times expected = fault ? (times){0} : price(&ctx, g, &a.m, &arena);
        if (!fault)
            fault = graph_trip(&ctx, g, m, expected, &arena);
        if (!fault)
            fault = schedule_trip(&ctx, g, m, expected, &arena);
        pb_builder_free(b);
    }
    if (fault)
        printf("FAILED seed %" PRIu64 ": %s\n", seed, fault);
    *(fault ? &bad : &good) += 1;
    pb_arena_release(&arena);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 3000);
    for (uint64_t seed = 1; seed <= cases && bad < 3; seed++)
        check_seed(seed);
    printf("%u passed, %u failed\n", good, bad);
    return bad != 0;
}
