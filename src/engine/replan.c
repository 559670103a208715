/* replan.c -- a run goes on with another plan from the middle: see rest.c for the game that is left. */
#include "engine/engine_parts.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

static const pb_moves no_moves;

pb_status pbi_rest_peak(pb_engine *e, pb_step k, uint64_t *out)
{
    const pb_graph *g = e->leg->game->graph;
    pb_arena scratch;
    pb_arena_init(&scratch, e->ctx);
    uint8_t *there = pb_arena_zero(&scratch, (size_t)g->node_count + 1, 1);
    if (!there)
        return PB_ENOMEM;
    uint64_t used = e->used, peak = e->used;
    for (pb_node v = 0; v < g->node_count; v++)
        there[v] = e->value[v] != NULL;
    for (; k < e->leg->moves->count; k++) {
        pbi_effect effect = pbi_move_effect(g, e->leg->moves, k, there);
        peak = used + effect.during > peak ? used + effect.during : peak;
        used = used + effect.made - effect.gone;
    }
    pb_arena_release(&scratch);
    *out = peak;
    return PB_OK;
}

/* Why there is no going on, behind why it was asked for. */
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
        e->workspace[wide] = e->wanted;
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
    pbi_rest *rest;
    pbi_leg leg;
    uint64_t work;
    bool found, done;
} choice;

/* One way to go on: kept if it is the cheapest so far. */
static pb_status try_use(pb_engine *e, const pbi_state *state, pbi_rest_use use, pb_arena *arena, choice *best)
{
    const pb_certificate *plan = NULL;
    pbi_rest *rest = pb_arena_zero(arena, 1, sizeof *rest);
    if (!rest)
        return PB_ENOMEM;
    pb_status status = pbi_rest_make(e->ctx, state, use, arena, rest);
    if (status != PB_OK)
        return status == PB_ELIMIT ? PB_OK : status;
    if (rest->game.kind == PB_GAME_TIERED && !e->slow) { /* there is no file: the first plan did without */
        rest->game.kind = PB_GAME_REMAT;
        rest->game.tier_count = 0;
    }
    if (rest->done) {
        uint64_t stays = e->graph->fixed_size;
        for (pb_node v = 0; v < e->graph->node_count; v++)
            stays += rest->kept[v] ? e->graph->size[v] : 0;
        if (stays <= e->cap)
            *best = (choice){.rest = rest, .found = true, .done = true};
        return PB_OK;
    }
    status = e->options.replan(e->options.replan_state, e->ctx, &rest->game, arena, &plan);
    if (status != PB_OK || !plan)
        return status;
    const pb_totals *totals = pb_certificate_totals(plan);
    if (pb_certificate_game(plan)->graph != rest->game.graph || pb_certificate_game(plan)->kind != rest->game.kind)
        return pbi_fail(e->ctx, PB_EINVAL, "the new plan is for another game");
    uint64_t work = pbi_add_saturated(totals->compute_work, totals->io);
    if (totals->peak > e->cap || totals->borrowed || (best->found && work >= best->work))
        return PB_OK;
    pbi_leg leg;
    status = pbi_leg_make(e->ctx, plan, &e->options, false, e->block_bytes, arena, &leg);
    if (status == PB_OK && leg.packing.size <= e->block_bytes)
        *best = (choice){.rest = rest, .leg = leg, .work = work, .found = true};
    return status;
}

/* Frees what is not kept and brings the others to their new places. */
static pb_status move_values(pb_engine *e, const choice *c, pb_arena *scratch)
{
    const pb_graph *g = e->graph;
    uint32_t count = 0;
    pbi_piece_move *piece = pb_arena_alloc(scratch, (size_t)c->leg.lives.count + 1, sizeof *piece);
    if (!piece)
        return PB_ENOMEM;
    for (pb_node v = 0; v < g->node_count; v++) {
        if (e->value[v] && !c->rest->kept[v]) {
            e->used -= g->size[v];
            e->value[v] = NULL;
        }
        if (e->stored && !c->rest->slow[v])
            e->stored[v] = 0;
    }
    for (uint32_t i = 0; i < c->leg.lives.count && c->leg.lives.life[i].from == 0; i++) {
        pb_node v = c->leg.lives.life[i].node;
        if (v == PB_NO_NODE)
            continue;
        piece[count++] = (pbi_piece_move){(uint64_t)((unsigned char *)e->value[v] - e->block), c->leg.packing.offset[i],
                                          pbi_round_up(g->size[v], e->options.align)};
        e->value[v] = e->block + c->leg.packing.offset[i];
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
        e->file_end[t] += e->leg->filed[t].size;
    e->rest = c->leg;
    pbi_engine_begin_leg(e, &e->rest);
    while (e->next < e->rest.lives.count && e->rest.lives.life[e->next].from == 0)
        e->next++;
    e->m.block = e->rest.packing.size > e->m.block ? e->rest.packing.size : e->m.block;
    e->m.replanned++;
    e->wanted = 0;
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
    for (pbi_rest_use use = PBI_REST_ALL; use < PBI_REST_USES && status == PB_OK && !best.done; use++)
        status = try_use(e, &state, use, &arena, &best);
    if (status == PB_OK && best.done)
        best.leg = (pbi_leg){.game = e->whole.game, .moves = &no_moves, .peak = e->used};
    if (status == PB_OK && !best.found)
        status = stop(e, why, "no plan for the rest of the run was found; raise the cap");
    if (status == PB_OK)
        status = move_values(e, &best, &scratch);
    if (status == PB_OK) {
        go_on(e, &best);
        pb_arena_release(&e->rest_arena);
        e->rest_arena = arena;
    } else {
        pb_arena_release(&arena);
    }
    pb_arena_release(&scratch);
    return status;
}
