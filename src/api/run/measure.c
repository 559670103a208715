/* measure.c -- see run.h: this computer as a machine.
 *
 * The kernels are timed inside steps of small networks rather than alone: then their inputs are in caches as often as
 * in other steps, and the engine's own overhead is included. Two rounds, some seconds apart, take turns with the
 * reference, so that load from other programs is noticed less in the medians.
 */
#include "pebble/run.h"

#include "base/arena.h"
#include "base/context.h"
#include "game/machine_price.h"

#include <string.h>

enum { ROUNDS = 2, MAX_OPTIONS = 16 };
static const uint64_t probe_ns = 150000000, reference_ns = 300000000;

static const struct {
    bool quick;
    const char *text;
} probes[] = {
#define PROBE(quick, text) {quick, text},
#include "api/run/probes.def"
#undef PROBE
};
enum { PROBES = sizeof probes / sizeof *probes };

/* Convolutions, normalization and matrix products; without oneDNN, arithmetic on buffers. */
static const char *const references[] = {"train:model=resnet,batch=8,width=16,depth=1,image=32",
                                         "synthetic:steps=20,bytes=65536"};

typedef struct sampling {
    pb_context *ctx;
    pb_arena *result;
    pb_machine_sample *samples;
    uint32_t count;
} sampling;

static pb_status begin_step(void *state, uint64_t step, pb_engine *e) { return pb_workload_begin(state, step, e); }
static pb_status end_step(void *state, uint64_t step, pb_engine *e) { return pb_workload_end(state, step, e); }

/* "train:model=mlp,batch=8" */
static pb_status open_text(pb_context *ctx, const char *text, pb_arena *scratch, pb_workload **out)
{
    char *name = pb_arena_text(scratch, text, strlen(text));
    pb_option options[MAX_OPTIONS];
    uint32_t count = 0;
    if (!name)
        return PB_ENOMEM;
    char *at = name + strcspn(name, ":");
    while (*at && count < MAX_OPTIONS) {
        *at++ = '\0';
        char *end = at + strcspn(at, ","), *value = at + strcspn(at, "=,");
        options[count++] = (pb_option){at, *value == '=' ? value + 1 : value};
        if (*value == '=')
            *value = '\0';
        at = end;
    }
    return pb_workload_open(ctx, name, options, count, out);
}

/* Runs the workload for about `enough_ns`: *time is the median of a step; `take` may be NULL. */
static pb_status time_workload(pb_context *ctx, const char *text, uint64_t enough_ns, sampling *take, uint64_t *time)
{
    pb_arena scratch;
    pb_workload *w = NULL;
    pb_profiled profiled;
    pb_arena_init(&scratch, ctx);
    pb_status status = open_text(ctx, text, &scratch, &w);
    pb_profile_options options = {.enough_ns = enough_ns, .begin = begin_step, .end = end_step, .state = w};
    if (status == PB_OK)
        status = pb_profile_run(ctx, pb_workload_graph(w), pb_workload_kernels(w), &options, &scratch, &profiled);
    if (status == PB_OK)
        *time = profiled.run.median;
    if (status == PB_OK && take)
        status = pb_machine_samples(ctx, profiled.graph, "", take->result, &take->samples, &take->count);
    pb_workload_close(w);
    pb_arena_release(&scratch);
    return status;
}

/* ---- samples ---- */

static const char *own_word(const pb_graph *g, uint32_t word, pb_arena *result)
{
    return pb_arena_text(result, g->words[word], strlen(g->words[word]));
}

static bool time_of(const pb_graph *g, pb_node v, const char *processor, uint64_t *out)
{
    if (pbi_measured_time(g, v, processor, out))
        return *out > 0;
    *out = g->cost[v];
    return *out > 0 && strcmp(g->cost_unit, "ns") == 0;
}

pb_status pb_machine_samples(pb_context *ctx, const pb_graph *g, const char *processor, pb_arena *result,
                             pb_machine_sample **samples, uint32_t *count)
{
    (void)ctx;
    const char **words = pb_arena_zero(result, (size_t)g->word_count + 1, sizeof *words);
    pb_machine_sample *all = pb_arena_alloc(result, (size_t)*count + g->node_count + 1, sizeof *all);
    if (!words || !all)
        return PB_ENOMEM;
    if (*count)
        memcpy(all, *samples, *count * sizeof *all);
    for (uint32_t i = 0; i < g->word_count; i++)
        if (!(words[i] = own_word(g, i, result)))
            return PB_ENOMEM;
    uint32_t made = *count;
    uint64_t time;
    for (pb_node v = 0; g->work && v < g->node_count; v++) {
        const pb_node_work *w = &g->work[v];
        if (!pb_graph_is_computed(g, v) || w->op == PB_NO_WORD || !(w->flops || w->bytes) ||
            !time_of(g, v, processor, &time))
            continue;
        all[made++] = (pb_machine_sample){
            words[w->op], w->dtype == PB_NO_WORD ? NULL : words[w->dtype], {w->flops, w->bytes, time}};
    }
    *samples = all;
    *count = made;
    return PB_OK;
}

/* ---- probes ---- */

static const char *missing_library(void)
{
    pb_workload_row row;
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row_of(i, &row);
        if (row.needs)
            return row.needs;
    }
    return NULL;
}

static bool is_available(const char *text)
{
    pb_workload_row row;
    size_t length = strcspn(text, ":");
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row_of(i, &row);
        if (strlen(row.name) == length && memcmp(row.name, text, length) == 0)
            return !row.needs;
    }
    return false;
}

/* Every probe once; `reference` gets one more time. */
static pb_status run_round(sampling *s, bool quick, uint32_t round, const char *reference, uint64_t *reference_time)
{
    pb_status status = time_workload(s->ctx, reference, reference_ns, NULL, reference_time);
    for (uint32_t i = 0; i < PROBES && status == PB_OK; i++) {
        uint64_t time;
        if ((quick && !probes[i].quick) || !is_available(probes[i].text))
            continue;
        pbi_progress(s->ctx, "measuring", (uint64_t)round * PROBES + i, (uint64_t)(quick ? 1 : ROUNDS) * PROBES);
        status = time_workload(s->ctx, probes[i].text, probe_ns, s, &time);
    }
    return status;
}

static pb_status measure_links(pb_context *ctx, const pb_measure_options *o, pb_machine_link links[2])
{
    uint64_t (*clock)(void *) = ctx->clock_ns;
    pb_price_link store, load;
    ctx->clock_ns = o->wall_ns ? o->wall_ns : clock;
    pb_status status = pb_slow_measure_links(ctx, o->slow_path, 0, &store, &load);
    ctx->clock_ns = clock;
    if (status != PB_OK)
        return status;
    links[0] =
        (pb_machine_link){.name = "out", .from = 0, .to = 1, .bandwidth = store.bandwidth, .latency = store.latency};
    links[1] =
        (pb_machine_link){.name = "in", .from = 1, .to = 0, .bandwidth = load.bandwidth, .latency = load.latency};
    return PB_OK;
}

static pb_status assemble(pb_context *ctx, const pb_measure_options *o, const pb_machine_reference *reference,
                          pb_machine_processor *cpu, pb_arena *result, const pb_machine **out)
{
    pb_machine *m = pb_arena_zero(result, 1, sizeof *m);
    pb_machine_memory *memories = pb_arena_zero(result, 2, sizeof *memories);
    pb_machine_link *links = pb_arena_zero(result, 2, sizeof *links);
    const char *name = pb_arena_text(result, o->name, strlen(o->name));
    if (!m || !memories || !links || !name)
        return PB_ENOMEM;
    memories[0] = (pb_machine_memory){.name = "host", .cap = o->memory};
    memories[1] = (pb_machine_memory){.name = "disk", .cap = PB_UNLIMITED};
    pb_status status = o->slow_path ? measure_links(ctx, o, links) : PB_OK;
    *m = (pb_machine){.name = name,
                      .time_unit = "ns",
                      .per_second = 1000000000,
                      .memories = memories,
                      .memory_count = o->slow_path ? 2 : 1,
                      .processors = cpu,
                      .processor_count = 1,
                      .links = links,
                      .link_count = o->slow_path ? 2 : 0,
                      .reference = *reference,
                      .extra = ""};
    *out = m;
    return status == PB_OK ? pb_machine_check(ctx, m) : status;
}

pb_status pb_machine_measure(pb_context *ctx, const pb_measure_options *options, pb_arena *result,
                             pb_machine_measured *out)
{
    pb_machine_measured found = {.missing = missing_library()};
    pb_machine_reference reference = {.what = references[is_available(references[0]) ? 0 : 1]};
    pb_machine_processor *cpu = pb_arena_zero(result, 1, sizeof *cpu);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    sampling s = {.ctx = ctx, .result = &scratch};
    pb_status status = cpu ? PB_OK : PB_ENOMEM;
    for (uint32_t round = 0; round < (options->quick ? 1 : ROUNDS) && status == PB_OK; round++) {
        uint64_t time = 0;
        status = run_round(&s, options->quick, round, reference.what, &time);
        if (time && (!reference.time || time < reference.time))
            reference.time = time;
    }
    if (status == PB_ECANCELLED && s.count)
        status = PB_OK;
    if (status == PB_OK) {
        *cpu = (pb_machine_processor){.name = "cpu", .memory = 0};
        status = pb_machine_fit(ctx, s.samples, s.count, result, cpu, &found.fitted);
    }
    found.samples = s.count;
    pb_arena_release(&scratch);
    if (status == PB_OK)
        status = assemble(ctx, options, &reference, cpu, result, &found.machine);
    if (status == PB_OK)
        *out = found;
    return status;
}

pb_status pb_machine_reference_ratio(pb_context *ctx, const pb_machine *m, double *out)
{
    uint64_t time = 0;
    if (!m->reference.what || !m->reference.time || m->per_second != 1000000000)
        return pbi_fail(ctx, PB_EINVAL,
                        "machine \"%.60s\" has no reference in ns, so it cannot be rescaled; measure it "
                        "with pebble machine measure",
                        m->name);
    if (!is_available(m->reference.what))
        return pbi_fail(
            ctx, PB_EINVAL,
            "the reference of machine \"%.60s\" is %.100s, which is not a workload of this build; rescale it "
            "with the program that measured it",
            m->name, m->reference.what);
    pb_status status = time_workload(ctx, m->reference.what, 2 * reference_ns, NULL, &time);
    if (status == PB_OK)
        *out = (double)time / (double)m->reference.time;
    return status;
}
