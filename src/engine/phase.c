/* phase.c -- assigns addresses to a certified schedule: in the block, in borrowed memory, in the files. */
#include "engine/engine_parts.h"
#include "engine/timed.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

/* Fixed memory is in use all the time, so it can have offset 0. Values below it move up. */
static void fixed_first(pbi_phase *phase)
{
    bool fixed = phase->lives.count && phase->lives.life[0].node == PB_NO_NODE && phase->lives.life[0].from == 0;
    if (!fixed)
        return;
    uint64_t at = phase->packing.offset[0];
    for (uint32_t i = 1; i < phase->lives.count; i++)
        phase->packing.offset[i] += phase->packing.offset[i] < at ? phase->lives.life[0].size : 0;
    phase->packing.offset[0] = 0;
}

/* Stores of tier t + 1, each until it is dropped. */
static pb_status file_lives(const pbi_phase *phase, uint32_t t, bool first, pb_arena *scratch, pb_lifetimes *out)
{
    const pb_graph *g = phase->game->graph;
    uint32_t count = 0, *open = pb_arena_alloc(scratch, (size_t)g->node_count + 1, sizeof *open);
    size_t most = 1;
    for (pb_step k = 0; k < phase->moves->count; k++)
        most += phase->moves->move[k].op == PB_STORE && phase->moves->move[k].tier == t + 1;
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
    for (pb_step k = 0; k < phase->moves->count; k++) {
        const pb_move *move = &phase->moves->move[k];
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
        life[i].to = life[i].to ? life[i].to : phase->moves->count + 2;
        life[i].size = pbi_round_up(g->size[life[i].node], PBI_SLOW_UNIT);
        life[i].place = i;
    }
    *out = (pb_lifetimes){.life = life, .count = count, .place_count = count, .align = PBI_SLOW_UNIT};
    return PB_OK;
}

static pb_status assign_files(pb_context *ctx, pbi_phase *phase, bool first, pb_arena *arena)
{
    pb_status status = PB_OK;
    for (uint32_t t = 0; t < phase->game->tier_count && phase->game->kind == PB_GAME_TIERED && status == PB_OK; t++) {
        pb_arena scratch;
        pb_lifetimes lives;
        pb_arena_init(&scratch, ctx);
        status = file_lives(phase, t, first, &scratch, &lives);
        if (status == PB_OK) /* disks are large: the first packing is good enough */
            status = pb_pack(ctx, &lives, &(pb_pack_options){.cap = UINT64_MAX - 1}, arena, &phase->filed[t]);
        pb_arena_release(&scratch);
    }
    return status;
}

/* A copy of the addresses that came with the plan: fixed_first changes them. */
static pb_status take_packing(pb_context *ctx, pbi_phase *phase, const pb_packing *given, pb_arena *arena)
{
    bool good = false;
    uint32_t a, b;
    pb_status status = pb_packing_check(ctx, &phase->lives, given, &good, &a, &b);
    if (status == PB_OK && !good)
        status = pbi_fail(ctx, PB_EINVAL, "the addresses of the plan overlap; plan again with addresses");
    if (status != PB_OK)
        return status;
    phase->packing = *given;
    phase->packing.offset = pb_arena_alloc(arena, (size_t)phase->lives.count + 1, sizeof *given->offset);
    if (!phase->packing.offset)
        return PB_ENOMEM;
    memcpy(phase->packing.offset, given->offset, phase->lives.count * sizeof *given->offset);
    return PB_OK;
}

pb_status pbi_phase_make(const pb_certificate *plan, const pb_engine_options *o, bool first, uint64_t max_bytes,
                         pb_arena *arena, pbi_phase *out)
{
    pb_context *ctx = arena->ctx;
    pbi_phase phase = {.game = pb_certificate_game(plan),
                       .moves = pb_certificate_moves(plan),
                       .peak = pb_certificate_totals(plan)->peak};
    uint64_t guard = pbi_guard(o), goal = max_bytes ? max_bytes : phase.peak;
    pb_status status = pb_lifetimes_make(ctx, phase.game, phase.moves, o->align, arena, &phase.lives);
    if (status == PB_OK)
        status = pb_lifetimes_borrowed(ctx, phase.game, phase.moves, o->align, arena, &phase.lent);
    for (uint32_t i = 0; guard && i < phase.lives.count && status == PB_OK; i++)
        if (!pbi_add(phase.lives.life[i].size, guard, &phase.lives.life[i].size))
            status = pbi_fail(ctx, PB_ERANGE,
                              "a value and its guard bytes do not fit into the address space; use smaller values");
    bool given = first && o->packing && !guard && !phase.lent.count;
    if (status == PB_OK && given)
        status = take_packing(ctx, &phase, o->packing, arena);
    else if (status == PB_OK)
        status = pb_pack(ctx, &phase.lives, &(pb_pack_options){.cap = goal, .seed = 1}, arena, &phase.packing);
    if (status == PB_OK)
        fixed_first(&phase);
    if (status == PB_OK && phase.lent.count)
        status = pb_pack(ctx, &phase.lent, &(pb_pack_options){.cap = phase.game->borrow, .seed = 1}, arena,
                         &phase.lent_packing);
    if (status == PB_OK && phase.game->kind == PB_GAME_TIMED)
        status = pbi_timed_files(ctx, &phase, arena);
    else if (status == PB_OK)
        status = assign_files(ctx, &phase, first, arena);
    if (status == PB_OK && phase.game->kind == PB_GAME_TIERED && !o->no_overlap)
        status = pbi_phase_find_prefetches(ctx, arena, &phase);
    if (status == PB_OK)
        *out = phase;
    return status;
}
