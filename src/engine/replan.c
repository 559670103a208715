/* replan.c -- continues a run with another plan: see remainder.c for the game of the remaining moves. */
#include "engine/engine_parts.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

static const pb_moves no_moves;

pb_status pbi_remaining_peak(pb_engine *e, pb_step k, uint64_t *out)
{
    const pb_graph *g = e->phase->game->graph;
    pb_arena scratch;
    pb_arena_init(&scratch, e->ctx);
    uint8_t *there = pb_arena_zero(&scratch, (size_t)g->node_count + 1, 1);
    if (!there)
        return PB_ENOMEM;
    uint64_t used = e->used, peak = e->used;
    for (pb_node v = 0; v < g->node_count; v++)
        there[v] = e->value[v] != NULL;
    for (; k < e->phase->moves->count; k++) {
        pbi_effect effect = pbi_move_effect(g, e->phase->moves, k, there);
        peak = used + effect.during > peak ? used + effect.during : peak;
        used = used + effect.made - effect.gone;
    }
    pb_arena_release(&scratch);
    *out = peak;
    return PB_OK;
}

/* Appends why it cannot continue to the reason for replanning. */
static pb_status stop(pb_engine *e, const char *why, const char *but)
{
    return pbi_fail(e->ctx, PB_ELIMIT, "%s; %s", why, but);
}

static pb_status describe(pb_engine *e, pb_node wide, pb_arena *scratch, pbi_state *out)
{
    const pb_graph *g = e->graph;
    size_t nodes = (size_t)g->node_count + 1;
    if (!e->workspace) {
        e->workspace = pb_arena_alloc(&e->arena, nodes, sizeof *e->workspace);
        if (!e->workspace)
            return PB_ENOMEM;
        memcpy(e->workspace, g->workspace, g->node_count * sizeof *e->workspace);
    }
    uint8_t *resident = pb_arena_zero(scratch, nodes, 1), *done = pb_arena_zero(scratch, nodes, 1);
    if (!resident || !done)
        return PB_ENOMEM;
    if (wide != PB_NO_NODE)
        e->workspace[wide] = e->requested;
    for (pb_node v = 0; v < g->node_count; v++) {
        resident[v] = e->value[v] != NULL;
        done[v] = (g->flags[v] & PB_NODE_GIVEN) || e->times[v] || (e->part_done && e->part_done[v]);
    }
    *out = (pbi_state){.game = e->whole.game,
                       .resident = resident,
                       .done = done,
                       .stored = e->slow ? e->stored : NULL,
                       .workspace = e->workspace,
                       .cap = e->cap};
    return PB_OK;
}

typedef struct choice {
    pbi_remainder *remainder;
    pbi_phase phase;
    uint64_t work;
    bool found, done;
} choice;

/* Tries one way to continue: keeps it if it is the cheapest so far. */
static pb_status try_use(pb_engine *e, const pbi_state *state, pbi_remainder_use use, pb_arena *arena, choice *best)
{
    const pb_certificate *plan = NULL;
    pbi_remainder *remainder = pb_arena_zero(arena, 1, sizeof *remainder);
    if (!remainder)
        return PB_ENOMEM;
    pb_status status = pbi_remainder_make(e->ctx, state, use, arena, remainder);
    if (status != PB_OK)
        return status == PB_ELIMIT ? PB_OK : status;
    if (remainder->game.kind == PB_GAME_TIERED && !e->slow) { /* there is no file: the first plan did not need one */
        remainder->game.kind = PB_GAME_REMAT;
        remainder->game.tier_count = 0;
    }
    if (remainder->done) {
        uint64_t stays = e->graph->fixed_size;
        for (pb_node v = 0; v < e->graph->node_count; v++)
            stays += remainder->kept[v] ? e->graph->size[v] : 0;
        if (stays <= e->cap)
            *best = (choice){.remainder = remainder, .found = true, .done = true};
        return PB_OK;
    }
    status = e->options.replan(e->options.replan_state, e->ctx, &remainder->game, arena, &plan);
    if (status != PB_OK || !plan)
        return status;
    const pb_totals *totals = pb_certificate_totals(plan);
    if (pb_certificate_game(plan)->graph != remainder->game.graph ||
        pb_certificate_game(plan)->kind != remainder->game.kind)
        return pbi_fail(e->ctx, PB_EINVAL,
                        "the replan callback returned a plan for another game; plan the game that it gets");
    uint64_t work = pbi_add_saturated(totals->compute_work, totals->io);
    if (totals->peak > e->cap || totals->borrowed || (best->found && work >= best->work))
        return PB_OK;
    pbi_phase phase;
    status = pbi_phase_make(plan, &e->options, false, e->block_bytes, arena, &phase);
    if (status == PB_OK && phase.packing.size <= e->block_bytes)
        *best = (choice){.remainder = remainder, .phase = phase, .work = work, .found = true};
    return status;
}

/* Frees values that are not kept and moves the others to their new places. */
static pb_status move_values(pb_engine *e, const choice *c, pb_arena *scratch)
{
    const pb_graph *g = e->graph;
    uint32_t count = 0;
    pbi_piece_move *piece = pb_arena_alloc(scratch, (size_t)c->phase.lives.count + 1, sizeof *piece);
    if (!piece)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (e->value[v] && !c->remainder->kept[v]) {
            e->used -= g->size[v];
            e->value[v] = NULL;
        }
        if (e->stored && !c->remainder->slow[v])
            e->stored[v] = 0;
    }
    for (uint32_t i = 0; i < c->phase.lives.count && c->phase.lives.life[i].from == 0; i++) {
        pb_node v = c->phase.lives.life[i].node;
        if (v == PB_NO_NODE)
            continue;
        piece[count++] = (pbi_piece_move){(uint64_t)((unsigned char *)e->value[v] - e->block),
                                          c->phase.packing.offset[i], pbi_round_up(g->size[v], e->options.align)};
        e->value[v] = e->block + c->phase.packing.offset[i];
    }
    pbi_rearrange(e->block, pbi_room_of(e, g->fixed_size), piece, count);
    for (pb_node v = 0; v < g->node_count && e->options.check; v++)
        if (e->value[v] && g->size[v])
            pbi_check_fresh(e, e->value[v], 0, g->size[v]);
    return PB_OK;
}

static void go_on(pb_engine *e, const choice *c)
{
    for (uint32_t t = 0; t < PB_MAX_TIERS; t++)
        e->file_end[t] += e->phase->filed[t].size;
    e->remainder = c->phase;
    pbi_engine_begin_phase(e, &e->remainder);
    while (e->next < e->remainder.lives.count && e->remainder.lives.life[e->next].from == 0)
        e->next++;
    e->m.block = e->remainder.packing.size > e->m.block ? e->remainder.packing.size : e->m.block;
    e->m.replanned++;
    e->requested = 0;
}

pb_status pbi_replan(pb_engine *e, pb_node wide, const char *why)
{
    if (!e->options.replan)
        return stop(e, why, "there is no other plan; raise the cap");
    if (e->whole.game->kind == PB_GAME_REVERSIBLE)
        return stop(e, why, "a reversible run cannot be planned again from the middle; raise the cap");
    if (e->lent_count)
        return stop(e, why, "borrowed memory must be restored by the plan that borrowed it; raise the cap");
    pb_arena scratch, arena;
    pbi_state state;
    choice best = {0};
    pb_arena_init(&scratch, e->ctx);
    pb_arena_init(&arena, e->ctx);
    pb_status status = e->slow ? pbi_drain(e) : PB_OK;
    if (status == PB_OK)
        status = describe(e, wide, &scratch, &state);
    for (pbi_remainder_use use = PBI_REMAINDER_ALL; use < PBI_REMAINDER_USES && status == PB_OK && !best.done; use++)
        status = try_use(e, &state, use, &arena, &best);
    if (status == PB_OK && best.done)
        best.phase = (pbi_phase){.game = e->whole.game, .moves = &no_moves, .peak = e->used};
    if (status == PB_OK && !best.found)
        status = stop(e, why, "no plan for the rest of the run was found; raise the cap");
    if (status == PB_OK)
        status = move_values(e, &best, &scratch);
    if (status == PB_OK) {
        go_on(e, &best);
        pb_arena_release(&e->remainder_arena);
        e->remainder_arena = arena;
    } else {
        pb_arena_release(&arena);
    }
    pb_arena_release(&scratch);
    return status;
}
