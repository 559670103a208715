/* staged_plan.c -- plans in stages: from the program's solution, from its relaxation, from other plans. */
#include "plan/milp/staged.h"

#include "base/context.h"

#include <inttypes.h>
#include <string.h>

/* The values that a slot computes: its node's, then the by-products; UINT32_MAX for one that is not needed. */
static uint32_t made_by(const pbi_staged *m, uint32_t i, uint32_t at)
{
    const pb_graph *g = m->game->graph;
    pb_node v = m->node[i];
    if (at == 0)
        return m->value_of[v];
    return m->value_of[g->part[g->part_start[v] + at - 1]];
}

static bool is_needed(const pb_graph *g, pb_node v) { return g->flags[v] & PB_NODE_NEEDED; }

static uint32_t made_count(const pbi_staged *m, uint32_t i)
{
    const pb_graph *g = m->game->graph;
    return 1 + (g->part_start ? g->part_start[m->node[i] + 1] - g->part_start[m->node[i]] : 0);
}

/* Backwards over all slots: keeps a computation if something behind it reads its result. Then writes the sequence. */
static pb_status write_sequence(const pbi_staged *m, uint8_t *computed, uint8_t *need, pbi_sequence *s)
{
    const pb_graph *g = m->game->graph;
    for (uint32_t j = 0; j < m->values; j++)
        need[j] = (g->flags[m->value[j]] & PB_NODE_KEEP) != 0;
    for (uint32_t t = m->stages; t-- > 0;)
        for (uint32_t i = t + 1; i-- > 0;) {
            uint8_t *here = &computed[(size_t)t * m->stages + i];
            bool useful = i == t;
            for (uint32_t k = 0; *here && k < made_count(m, i); k++)
                useful = useful || (made_by(m, i, k) != UINT32_MAX && need[made_by(m, i, k)]);
            *here = *here && useful;
            if (!*here)
                continue;
            for (uint32_t k = 0; k < made_count(m, i); k++)
                if (made_by(m, i, k) != UINT32_MAX)
                    need[made_by(m, i, k)] = 0;
            for (uint32_t k = g->in_start[m->node[i]]; k < g->in_start[m->node[i] + 1]; k++)
                need[m->value_of[g->in[k]]] = 1;
        }
    pb_status status = PB_OK;
    s->count = 0;
    for (uint32_t t = 0; t < m->stages; t++)
        for (uint32_t i = 0; i <= t && status == PB_OK; i++)
            if (computed[(size_t)t * m->stages + i])
                status = pbi_sequence_add(s, m->node[i]);
    return status;
}

static bool room(const pbi_staged *m, pb_arena *arena, uint8_t **computed, uint8_t **need)
{
    *computed = pb_arena_zero(arena, (size_t)m->stages * m->stages, 1);
    *need = pb_arena_zero(arena, m->values, 1);
    return *computed && *need;
}

static double figure(const double *x, int c) { return c >= 0 ? x[c] : c == PBI_STAGED_ONE; }

pb_status pbi_staged_sequence(const pbi_staged *m, const double *x, pbi_sequence *s)
{
    uint8_t *computed, *need;
    pb_arena scratch;
    pb_arena_init(&scratch, m->arena->ctx);
    pb_status status = PB_ENOMEM;
    if (room(m, &scratch, &computed, &need)) {
        for (uint32_t t = 0; t < m->stages; t++)
            for (uint32_t i = 0; i <= t; i++)
                computed[(size_t)t * m->stages + i] = figure(x, pbi_staged_r(m, t, i)) > 0.5;
        status = write_sequence(m, computed, need, s);
    }
    pb_arena_release(&scratch);
    return status;
}

/* Stage t, backwards: node i is computed if it must be resident at the next stage, or is read here, and is not
 * resident. */
static void complete_stage(const pbi_staged *m, const uint8_t *kept, uint32_t t, uint8_t *computed, uint8_t *need)
{
    const pb_graph *g = m->game->graph;
    const uint8_t *now = kept + (size_t)t * m->values;
    memcpy(need, now + m->values, m->values);
    for (uint32_t i = t + 1; i-- > 0;) {
        bool missed = i == t;
        for (uint32_t k = 0; k < made_count(m, i); k++) {
            uint32_t j = made_by(m, i, k);
            missed = missed || (j != UINT32_MAX && need[j] && !now[j]);
        }
        /* values that cannot be recomputed are always resident */
        if (!missed || pbi_staged_r(m, t, i) == PBI_STAGED_ZERO)
            continue;
        computed[(size_t)t * m->stages + i] = 1;
        for (uint32_t k = g->in_start[m->node[i]]; k < g->in_start[m->node[i] + 1]; k++)
            need[m->value_of[g->in[k]]] = 1;
    }
}

pb_status pbi_staged_round(const pbi_staged *m, const double *x, double threshold, pbi_rng *rng, pbi_sequence *s)
{
    uint8_t *computed, *need, *kept;
    size_t count = ((size_t)m->stages + 1) * m->values;
    pb_arena scratch;
    pb_arena_init(&scratch, m->arena->ctx);
    pb_status status = PB_ENOMEM;
    kept = pb_arena_alloc(&scratch, count, 1);
    if (kept && room(m, &scratch, &computed, &need)) {
        for (size_t k = 0; k < count; k++)
            kept[k] = figure(x, m->kept[k]) > (rng ? pbi_rng_real(rng) : threshold);
        for (uint32_t t = 0; t < m->stages; t++)
            complete_stage(m, kept, t, computed, need);
        status = write_sequence(m, computed, need, s);
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_staged_adopt(const pbi_staged *m, const pb_moves *moves, pbi_sequence *s, bool *fits)
{
    uint8_t *computed, *need;
    uint32_t t = 0;
    pb_arena scratch;
    pb_arena_init(&scratch, m->arena->ctx);
    pb_status status = room(m, &scratch, &computed, &need) ? PB_OK : PB_ENOMEM;
    *fits = status == PB_OK;
    for (pb_step k = 0; k < moves->count && *fits; k++) {
        if (moves->move[k].op != PB_COMPUTE)
            continue;
        uint32_t i = m->place[moves->move[k].node];
        uint32_t at = t < m->stages ? t : m->stages - 1;
        *fits = i <= t && i < m->stages;
        if (*fits)
            computed[(size_t)at * m->stages + i] = 1;
        t += i == t;
    }
    *fits = *fits && t == m->stages;
    if (*fits)
        status = write_sequence(m, computed, need, s);
    pb_arena_release(&scratch);
    return status;
}

/* ---- what the strategies over the program share ---- */

void pbi_staged_best_init(pbi_staged_best *best, const pb_game *game, pb_arena *arena)
{
    *best = (pbi_staged_best){.game = game, .work = UINT64_MAX};
    pbi_sequence_init(&best->sequence, arena);
}

pb_status pbi_staged_consider(pbi_staged_best *best, const pbi_sequence *s, bool *fits)
{
    pb_context *ctx = best->sequence.arena->ctx;
    pbi_figures f;
    pbi_held held = pbi_hold(ctx); /* the result is kept even after a stop */
    pb_status status = pbi_sequence_emit(ctx, best->game, s, NULL, &f);
    pbi_resume(ctx, held);
    *fits = status == PB_OK && f.fits && !f.overflow;
    if (!*fits || f.time >= best->work)
        return status;
    best->work = f.time;
    best->sequence.count = 0;
    for (size_t i = 0; i < s->count && status == PB_OK; i++)
        status = pbi_sequence_add(&best->sequence, s->event[i]);
    return status;
}

pb_status pbi_staged_program(pbi_staged_best *best, pb_arena *arena)
{
    const pb_graph *g = best->game->graph;
    pbi_sequence s;
    pb_status status = PB_OK;
    bool fits;
    pbi_sequence_init(&s, arena);
    for (uint32_t i = 0; i < g->order_count && status == PB_OK; i++)
        if (is_needed(g, g->order[i]))
            status = pbi_sequence_add(&s, g->order[i]);
    return status == PB_OK ? pbi_staged_consider(best, &s, &fits) : status;
}

pb_status pbi_staged_gate(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, uint64_t max_entries,
                          pbi_plan *plan, bool *open)
{
    uint64_t entries = pbi_staged_entries(game->graph);
    const char *misfit = pbi_staged_misfit(game);
    *open = false;
    pb_status status = pbi_option_number(ctx, options, "size", 1, INT32_MAX / 2, &max_entries);
    if (status != PB_OK)
        return status;
    if (misfit)
        return pbi_plan_give_up(plan, "does not apply: %s", misfit);
    if (entries > max_entries)
        return pbi_plan_give_up(plan,
                                "limit hit: the integer program would have about %" PRIu64
                                " matrix entries, more than %" PRIu64 "; raise its option size",
                                entries, max_entries);
    *open = true;
    return PB_OK;
}

pb_status pbi_staged_memory(pb_context *ctx, const pbi_staged *m)
{
    uint64_t need = pbi_program_bytes(&m->program);
    if (!ctx->memory_limit || need <= ctx->memory_limit - ctx->memory_used)
        return PB_OK;
    return pbi_fail(ctx, PB_ENOMEM,
                    "Cbc would probably need %" PRIu64
                    " bytes, more than the memory limit allows; raise the limit or use another strategy",
                    need);
}
