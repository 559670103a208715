/* timed_game.c -- the timed game of a workload that was profiled: its computations take what was measured here, its
 * copies what the links of a machine take. */
#include "pebble/run.h"

#include "base/context.h"

#include <string.h>

/* The graph whose nodes take their costs, whatever else they state. */
static const pb_graph *by_costs(const pb_graph *g, pb_arena *result)
{
    pb_graph *own = pb_arena_alloc(result, 1, sizeof *own);
    if (!own)
        return NULL;
    *own = *g;
    own->work = NULL;
    own->note = NULL;
    own->note_start = NULL;
    return own;
}

/* The machine with its first processor alone, which has no rates, and with this cap. */
static const pb_machine *with_cap(const pb_machine *m, uint64_t cap, pb_arena *result)
{
    pb_machine *own = pb_arena_alloc(result, 1, sizeof *own);
    pb_machine_memory *memories = pb_arena_alloc(result, m->memory_count, sizeof *memories);
    pb_machine_processor *processor = pb_arena_alloc(result, 1, sizeof *processor);
    if (!own || !memories || !processor)
        return NULL;
    memcpy(memories, m->memories, m->memory_count * sizeof *memories);
    memories[0].cap = cap;
    memories[0].reserve = 0; /* the engine's block has only what the plan needs */
    *processor = (pb_machine_processor){.name = m->processors[0].name, .memory = m->processors[0].memory};
    *own = *m;
    own->memories = memories;
    own->processors = processor;
    own->processor_count = 1;
    return own;
}

pb_status pb_run_links(pb_context *ctx, const char *path, pb_arena *result, const pb_machine **out)
{
    pb_price_link store, load;
    pb_machine *m = pb_arena_alloc(result, 1, sizeof *m);
    pb_machine_memory *memories = pb_arena_alloc(result, 2, sizeof *memories);
    pb_machine_processor *processor = pb_arena_alloc(result, 1, sizeof *processor);
    pb_machine_link *links = pb_arena_alloc(result, 2, sizeof *links);
    if (!m || !memories || !processor || !links)
        return PB_ENOMEM;
    pb_status status = pb_slow_measure_links(ctx, path, 0, &store, &load);
    if (status != PB_OK)
        return status;
    memories[0] = (pb_machine_memory){.name = "memory", .cap = PB_UNLIMITED};
    memories[1] = (pb_machine_memory){.name = "disk", .cap = PB_UNLIMITED};
    *processor = (pb_machine_processor){.name = "cpu"};
    links[0] = (pb_machine_link){.name = "store", .to = 1, .bandwidth = store.bandwidth, .latency = store.latency};
    links[1] = (pb_machine_link){.name = "load", .from = 1, .bandwidth = load.bandwidth, .latency = load.latency};
    links[0].lane = links[1].lane = "disk"; /* both were measured alone */
    *m = (pb_machine){.name = "this-computer",
                      .time_unit = "ns",
                      .per_second = 1000000000,
                      .memories = memories,
                      .processors = processor,
                      .links = links,
                      .memory_count = 2,
                      .processor_count = 1,
                      .link_count = 2};
    *out = m;
    return PB_OK;
}

pb_status pb_run_timed_game(pb_context *ctx, const pb_machine *m, pb_arena *result, pb_game *game)
{
    const pb_graph *g = by_costs(game->graph, result);
    const pb_machine *own = with_cap(m, game->cap, result);
    if (!g || !own)
        return PB_ENOMEM;
    game->kind = PB_GAME_TIMED;
    pb_status status = pb_timing_make(ctx, g, own, result, &game->timing);
    return status == PB_OK ? pb_timing_graph(ctx, game->timing, result, &game->graph) : status;
}
