/* timed_phase.c -- which timed plans the engine can run, and where their copies are in files. */
#include "base/context.h"
#include "engine/timed.h"

#include <string.h>

pb_status pbi_timed_check(pb_context *ctx, const pb_certificate *plan, const pb_engine_options *options)
{
    const pb_game *game = pb_certificate_game(plan);
    const pb_moves *moves = pb_certificate_moves(plan);
    const pb_machine *m = game->timing->machine;
    uint32_t memory = m->processors[0].memory;
    if (m->processor_count > 1)
        return pbi_fail(ctx, PB_EINVAL, "a run has one processor, but machine %.60s has %u; use a machine with one",
                        m->name, (unsigned)m->processor_count);
    if (game->timing->fixed[memory] < game->graph->fixed_size)
        return pbi_fail(ctx, PB_EINVAL,
                        "fixed memory is in the first memory of machine %.60s, but its processor computes in another; "
                        "list that one first",
                        m->name);
    if (m->memory_count > PB_MAX_TIERS)
        return pbi_fail(ctx, PB_EINVAL, "a run has at most %d memories; use a machine with fewer", PB_MAX_TIERS);
    if (options->check)
        return pbi_fail(ctx, PB_EINVAL,
                        "kernels cannot be checked while copies run; check them with a plan of the remat game");
    if (options->throttle && !m->per_second)
        return pbi_fail(ctx, PB_EINVAL, "links cannot be throttled: the clock of machine %.60s is abstract", m->name);
    for (pb_step k = 0; k < moves->count; k++) {
        const pb_machine_link *link = moves->move[k].op == PB_COPY ? &m->links[moves->when[k].place] : NULL;
        if (link && link->from != memory && link->to != memory)
            return pbi_fail(ctx, PB_EINVAL,
                            "link %.60s does not lead from or to the processor's memory; a run needs that", link->name);
    }
    return PB_OK;
}

/* Copies in memory t, each until it is freed there; those that start there first. */
static pb_status file_lives(const pbi_phase *phase, uint32_t t, pb_arena *scratch, pb_lifetimes *out)
{
    const pb_graph *g = phase->game->graph;
    const pb_timing *timing = phase->game->timing;
    const pb_moves *moves = phase->moves;
    uint32_t count = 0, *open = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *open);
    pb_lifetime *life = pb_arena_alloc(scratch, (size_t)moves->count + g->node_count + 1, sizeof *life);
    if (!open || !life)
        return PB_ENOMEM;
    memset(open, 0xff, g->node_count * sizeof *open);
    for (pb_node v = 0; v < g->node_count; v++)
        if ((g->flags[v] & PB_NODE_GIVEN) && timing->start[v] == t && g->size[v]) {
            open[v] = count;
            life[count++] = (pb_lifetime){.from = 0, .node = v};
        }
    for (pb_step k = 0; k < moves->count; k++) {
        pb_node v = moves->move[k].node;
        uint32_t place = moves->when[k].place;
        if (!g->size[v])
            continue;
        if (moves->move[k].op == PB_COPY && timing->machine->links[place].to == t) {
            open[v] = count;
            life[count++] = (pb_lifetime){.from = k + 1, .node = v};
        } else if (moves->move[k].op == PB_FREE && place == t && open[v] != UINT32_MAX) {
            life[open[v]].to = k + 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        life[i].to = life[i].to ? life[i].to : moves->count + 2;
        life[i].to += life[i].to == life[i].from;
        life[i].size = pbi_round_up(g->size[life[i].node], PBI_SLOW_UNIT);
        life[i].place = i;
    }
    *out = (pb_lifetimes){.life = life, .count = count, .place_count = count, .align = PBI_SLOW_UNIT};
    return PB_OK;
}

pb_status pbi_timed_files(pb_context *ctx, pbi_phase *phase, pb_arena *arena)
{
    const pb_machine *m = phase->game->timing->machine;
    pb_status status = PB_OK;
    for (uint32_t t = 0; t < m->memory_count && status == PB_OK; t++) {
        pb_arena scratch;
        pb_lifetimes lives;
        if (t == m->processors[0].memory)
            continue;
        pb_arena_init(&scratch, ctx);
        status = file_lives(phase, t, &scratch, &lives);
        if (status == PB_OK) /* the first packing is good enough */
            status = pb_pack(ctx, &lives, &(pb_pack_options){.cap = UINT64_MAX - 1}, arena, &phase->filed[t]);
        pb_arena_release(&scratch);
    }
    return status;
}
