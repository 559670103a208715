/* leg.c -- a certified schedule gets its addresses: in the block, in borrowed memory, in the files. */
#include "engine/engine_parts.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

/* Fixed memory is there all the time: it can as well be the first. What was below it moves up. */
static void fixed_first(pbi_leg *leg)
{
    if (!leg->game->graph->fixed_size)
        return;
    uint64_t at = leg->packing.offset[0];
    for (uint32_t i = 1; i < leg->lives.count; i++)
        leg->packing.offset[i] += leg->packing.offset[i] < at ? leg->lives.life[0].size : 0;
    leg->packing.offset[0] = 0;
}

/* Stores of tier t + 1, each until it is dropped. */
static pb_status file_lives(const pbi_leg *leg, uint32_t t, bool first, pb_arena *scratch, pb_lifetimes *out)
{
    const pb_graph *g = leg->game->graph;
    uint32_t count = 0, *open = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *open);
    size_t most = 1;
    for (pb_step k = 0; k < leg->moves->count; k++)
        most += leg->moves->move[k].op == PB_STORE && leg->moves->move[k].tier == t + 1;
    for (pb_node v = 0; v < g->node_count; v++)
        most += t == 0 && (g->flags[v] & PB_NODE_GIVEN_SLOW);
    pb_lifetime *life = pb_arena_alloc(scratch, most, sizeof *life);
    if (!open || !life)
        return PB_ENOMEM;
    memset(open, 0xff, g->node_count * sizeof *open);
    for (pb_node v = 0; v < g->node_count && first && t == 0; v++)
        if ((g->flags[v] & PB_NODE_GIVEN_SLOW) && g->size[v]) {
            open[v] = count;
            life[count++] = (pb_lifetime){.from = 0, .node = v};
        }
    for (pb_step k = 0; k < leg->moves->count; k++) {
        const pb_move *move = &leg->moves->move[k];
        if (move->tier != t + 1 || !g->size[move->node])
            continue;
        if (move->op == PB_STORE) {
            open[move->node] = count;
            life[count++] = (pb_lifetime){.from = k + 1, .node = move->node};
        } else if (move->op == PB_DROP && open[move->node] != UINT32_MAX) {
            life[open[move->node]].to = k + 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        life[i].to = life[i].to ? life[i].to : leg->moves->count + 2;
        life[i].size = pbi_round_up(g->size[life[i].node], PBI_SLOW_UNIT);
        life[i].place = i;
    }
    *out = (pb_lifetimes){.life = life, .count = count, .place_count = count, .align = PBI_SLOW_UNIT};
    return PB_OK;
}

static pb_status assign_files(pb_context *ctx, pbi_leg *leg, bool first, pb_arena *arena)
{
    pb_status status = PB_OK;
    for (uint32_t t = 0; t < leg->game->tier_count && leg->game->kind == PB_GAME_TIERED && status == PB_OK; t++) {
        pb_arena scratch;
        pb_lifetimes lives;
        pb_arena_init(&scratch, ctx);
        status = file_lives(leg, t, first, &scratch, &lives);
        if (status == PB_OK) /* disks are large: the first packing will do */
            status = pb_pack(ctx, &lives, &(pb_pack_options){.cap = UINT64_MAX - 1}, arena, &leg->filed[t]);
        pb_arena_release(&scratch);
    }
    return status;
}

/* Addresses that came with the plan, in memory of our own: fixed_first moves them. */
static pb_status take_packing(pb_context *ctx, pbi_leg *leg, const pb_packing *given, pb_arena *arena)
{
    bool good = false;
    uint32_t a, b;
    pb_status status = pb_packing_check(ctx, &leg->lives, given, &good, &a, &b);
    if (status == PB_OK && !good)
        status = pbi_fail(ctx, PB_EINVAL, "the addresses of the plan overlap");
    if (status != PB_OK)
        return status;
    leg->packing = *given;
    leg->packing.offset = pb_arena_alloc(arena, (size_t)leg->lives.count + 1, sizeof *given->offset);
    if (!leg->packing.offset)
        return PB_ENOMEM;
    memcpy(leg->packing.offset, given->offset, leg->lives.count * sizeof *given->offset);
    return PB_OK;
}

pb_status pbi_leg_make(pb_context *ctx, const pb_certificate *plan, const pb_engine_options *o, bool first,
                       uint64_t most_bytes, pb_arena *arena, pbi_leg *out)
{
    pbi_leg leg = {.game = pb_certificate_game(plan),
                   .moves = pb_certificate_moves(plan),
                   .peak = pb_certificate_totals(plan)->peak};
    uint64_t guard = pbi_guard(o), goal = most_bytes ? most_bytes : leg.peak;
    pb_status status = pb_lifetimes_make(ctx, leg.game, leg.moves, o->align, arena, &leg.lives);
    if (status == PB_OK)
        status = pb_lifetimes_borrowed(ctx, leg.game, leg.moves, o->align, arena, &leg.lent);
    for (uint32_t i = 0; guard && i < leg.lives.count && status == PB_OK; i++)
        if (!pbi_add(leg.lives.life[i].size, guard, &leg.lives.life[i].size))
            status = pbi_fail(ctx, PB_ERANGE, "a value and its guard bytes do not fit into the address space");
    bool given = first && o->packing && !guard && !leg.lent.count;
    if (status == PB_OK && given)
        status = take_packing(ctx, &leg, o->packing, arena);
    else if (status == PB_OK)
        status = pb_pack(ctx, &leg.lives, &(pb_pack_options){.cap = goal, .seed = 1}, arena, &leg.packing);
    if (status == PB_OK)
        fixed_first(&leg);
    if (status == PB_OK && leg.lent.count)
        status =
            pb_pack(ctx, &leg.lent, &(pb_pack_options){.cap = leg.game->borrow, .seed = 1}, arena, &leg.lent_packing);
    if (status == PB_OK)
        status = assign_files(ctx, &leg, first, arena);
    if (status == PB_OK && leg.game->kind == PB_GAME_TIERED && !o->no_overlap)
        status = pbi_leg_early(ctx, arena, &leg);
    if (status == PB_OK)
        *out = leg;
    return status;
}
