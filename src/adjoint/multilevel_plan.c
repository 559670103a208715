/* multilevel_plan.c -- where to store states if storage levels have limited slots and prices.
 *
 * Problem. Minimum total cost of steps, writes and reads to reverse all steps.
 *
 * Idea. Let O(k, l, c) be the minimum cost for l steps whose first state is in the working state and not stored, if
 * levels up to k may be used and c slots of level k and all slots of the faster ones are free; D(k, l, c) the same
 * if that state is also in one of those c slots. With F(k, l) = O(k-1, l, all):
 *     O(k, l, c) = min(F(k, l), write + D(k, l, c))
 *     D(k, l, c) = min(F(k, l), min over j of  j*forward + O(k, l-j, c-1) + read + D(k, j, c))
 *     O(k, 1, c) = D(k, 1, c) = forward + reverse.
 * Nothing is lost if a slower level only stores states left of those in faster ones: exchange two in the
 * opposite order, read the left one once when the right one is used up, and put it into the slot that has become
 * free. This requires that no level is cheaper to write or read than a faster one (the tests search all schedules
 * of small cases).
 *
 * Unlimited slots. With enough slots, c drops out of the recursion and one pass over l is the whole program. It is
 * tried first; if its plan needs no more slots than there are, it is the answer. Otherwise rows c = 1, 2.. are
 * computed until one more slot changes nothing.
 *
 * Source. Herrmann and Pallez, H-Revolve, ACM TOMS 46 (2020), whose recursion this is; Aupy et al., SIAM J. Sci.
 * Comput. 38 (2016) for unlimited slots.
 *
 * Limits. O(steps^2) for each row.
 */
#include "adjoint/multilevel.h"

#include "adjoint/binomial.h"
#include "adjoint/split.h"
#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

#define IMPOSSIBLE (UINT64_C(1) << 61)
#define MAX_COST (UINT64_C(1) << 60)
#define MAX_STEPS (PBI_STORE_HERE - 1)

typedef struct solver {
    pb_context *ctx;
    pb_arena *arena, *scratch;
    const pb_multilevel_spec *spec;
    uint64_t n;
    uint64_t *faster;          /* F */
    uint64_t *before, *after;  /* O with c - 1 and with c slots */
    uint64_t *lead;            /* j*forward + read + D(j) */
    uint32_t *deep_o, *deep_d; /* slots that the plan with unlimited slots uses */
} solver;

/* Reversing one step. */
static uint64_t one_step(const pb_multilevel_spec *spec) { return spec->forward_cost + spec->reverse_cost; }

/* F for the pool: t(l, s) grows by r with each step. */
static void pool_costs(solver *v, uint64_t slots)
{
    uint64_t r = 0, top = 1, each = one_step(v->spec), sum = 0;
    for (uint64_t l = 1; l <= v->n; l++) {
        if (slots == 0 && l > 1) {
            v->faster[l] = IMPOSSIBLE;
            continue;
        }
        while (l > top)
            top = pbi_beta((int64_t)slots, (int64_t)++r);
        sum += each + r * v->spec->forward_cost;
        v->faster[l] = sum;
    }
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* One row: after[] from before[]; the same array for both means unlimited slots. */
static pb_status solve_row(solver *v, const pb_level *level, const uint64_t *before, uint64_t *after, uint32_t *row)
{
    uint64_t each = one_step(v->spec), forward = v->spec->forward_cost;
    bool endless = before == after;
    for (uint64_t l = 1; l <= v->n; l++) {
        pb_status status = pbi_tick(v->ctx, 1 + l / 64);
        if (status != PB_OK)
            return status;
        uint64_t stored = l == 1 ? each : v->faster[l];
        uint32_t j = pbi_best_split(v->lead, before, l, &stored);
        v->lead[l] = stored + l * forward + level->read_cost;
        bool here = level->write_cost + stored < v->faster[l];
        after[l] = here ? level->write_cost + stored : v->faster[l];
        row[l] = j | (here ? PBI_STORE_HERE : 0);
        if (endless) {
            v->deep_d[l] = j ? larger(1 + v->deep_o[l - j], v->deep_d[j]) : 0;
            v->deep_o[l] = here ? v->deep_d[l] : 0;
        }
    }
    return PB_OK;
}

static uint32_t *new_row(solver *v) { return pb_arena_alloc(v->arena, v->n + 1, sizeof(uint32_t)); }

/* All rows of one level; v->faster becomes that of the next one. */
static pb_status solve_level(solver *v, const pb_level *level, pbi_level_plan *plan)
{
    uint64_t slots = level->slots < v->n - 1 ? level->slots : v->n - 1;
    size_t bytes = (v->n + 1) * sizeof *v->before;
    plan->rows = pb_arena_zero(v->arena, slots, sizeof *plan->rows);
    if (!plan->rows || !(plan->rows[0] = new_row(v)))
        return PB_ENOMEM;
    pb_status status = solve_row(v, level, v->after, v->after, plan->rows[0]);
    if (status != PB_OK)
        return status;
    plan->endless = v->deep_o[v->n] <= slots;
    plan->slots = slots;
    if (plan->endless && level == &v->spec->level[v->spec->level_count - 1])
        return PB_OK;
    /* A slower level needs every length, not only the plan of all steps. */
    for (uint64_t l = 1; l <= v->n; l++)
        plan->endless = plan->endless && v->deep_o[l] <= slots;
    if (!plan->endless) {
        memcpy(v->before, v->faster, bytes);
        plan->slots = 0;
        for (uint64_t c = 1; c <= slots; c++) {
            if (!plan->rows[c - 1] && !(plan->rows[c - 1] = new_row(v)))
                return PB_ENOMEM;
            status = solve_row(v, level, v->before, v->after, plan->rows[c - 1]);
            if (status != PB_OK)
                return status;
            plan->slots = c;
            if (memcmp(v->before + 1, v->after + 1, bytes - sizeof *v->before) == 0)
                break;
            memcpy(v->before, v->after, bytes);
        }
    }
    memcpy(v->faster, v->after, bytes);
    return PB_OK;
}

static pb_status solve(solver *v, pbi_levels *out)
{
    size_t count = v->n + 1;
    v->faster = pb_arena_zero(v->scratch, count, sizeof *v->faster);
    v->before = pb_arena_zero(v->scratch, count, sizeof *v->before);
    v->after = pb_arena_zero(v->scratch, count, sizeof *v->after);
    v->lead = pb_arena_zero(v->scratch, count, sizeof *v->lead);
    v->deep_o = pb_arena_zero(v->scratch, count, sizeof *v->deep_o);
    v->deep_d = pb_arena_zero(v->scratch, count, sizeof *v->deep_d);
    if (!v->faster || !v->before || !v->after || !v->lead || !v->deep_o || !v->deep_d)
        return PB_ENOMEM;
    pool_costs(v, out->pool_slots);
    for (uint32_t i = out->pool_levels; i < v->spec->level_count; i++) {
        if (v->spec->level[i].slots == 0)
            continue;
        pbi_level_plan *plan = &out->plan[++out->count];
        plan->storage = (uint8_t)(PB_STORAGE_RAM + i);
        pb_status status = solve_level(v, &v->spec->level[i], plan);
        if (status != PB_OK)
            return status;
    }
    out->cost = v->after[v->n];
    return PB_OK;
}

/* If this is true, no sum of the program can pass 2^63. */
static bool costs_are_small(const pb_multilevel_spec *spec)
{
    uint64_t n = spec->steps, sum, part;
    if (!pbi_mul(n, n, &sum) || !pbi_mul(sum, spec->forward_cost, &sum) || !pbi_mul(n, spec->reverse_cost, &part) ||
        !pbi_add(sum, part, &sum))
        return false;
    for (uint32_t i = 0; i < spec->level_count; i++)
        if (!pbi_mul(n, spec->level[i].read_cost, &part) || !pbi_add(sum, part, &sum) ||
            !pbi_add(sum, spec->level[i].write_cost, &sum))
            return false;
    return sum <= MAX_COST;
}

/* Only steps have a cost: no dynamic program is needed. */
static pb_status pool_only(pb_context *ctx, const pb_multilevel_spec *spec, pbi_levels *out)
{
    pb_revolve_cost cost;
    pb_u128 sum;
    pb_status status = pb_revolve_count(ctx, spec->steps, out->pool_slots, &cost);
    if (status != PB_OK)
        return status;
    if (!pbi_u128_scale(cost.forward_steps, spec->forward_cost, &sum) ||
        !pbi_u128_add(&sum, pbi_u128_product(spec->steps, spec->reverse_cost)) || sum.high || sum.low > MAX_COST)
        return pbi_fail(ctx, PB_ERANGE,
                        "the cost of %" PRIu64 " steps exceeds 2^60; use fewer steps or a coarser cost unit",
                        spec->steps);
    out->cost = sum.low;
    return PB_OK;
}

static pb_status check(pb_context *ctx, const pb_multilevel_spec *spec)
{
    uint64_t slots = 0;
    if (spec->level_count > PB_MAX_LEVELS)
        return pbi_fail(ctx, PB_EINVAL, "%" PRIu32 " storage levels are too many; use at most %d", spec->level_count,
                        PB_MAX_LEVELS);
    for (uint32_t i = 0; i < spec->level_count; i++) {
        const pb_level *level = &spec->level[i];
        slots = pbi_add_saturated(slots, level->slots);
        if (i && (level->write_cost < level[-1].write_cost || level->read_cost < level[-1].read_cost))
            return pbi_fail(
                ctx, PB_EINVAL,
                "%s is cheaper to write or read than %s; order the levels from the cheapest to the most expensive",
                pb_storage_name((pb_storage)(PB_STORAGE_RAM + i)),
                pb_storage_name((pb_storage)(PB_STORAGE_RAM + i - 1)));
    }
    if (spec->steps > 1 && slots == 0)
        return pbi_fail(ctx, PB_EINVAL, "reversing %" PRIu64 " steps needs at least one slot, for state 0; add one",
                        spec->steps);
    return PB_OK;
}

pb_status pbi_levels_plan(pb_context *ctx, const pb_multilevel_spec *spec, pb_arena *arena, pbi_levels *out)
{
    pb_status status = check(ctx, spec);
    if (status != PB_OK)
        return status;
    memset(out, 0, sizeof *out);
    uint64_t useful = spec->steps > 1 ? spec->steps - 1 : 1, paid = 0;
    for (uint32_t i = 0; i < spec->level_count; i++) {
        const pb_level *level = &spec->level[i];
        if (level->write_cost || level->read_cost)
            paid = pbi_add_saturated(paid, level->slots);
        else
            out->pool_slots = pbi_add_saturated(out->pool_slots, level->slots);
        out->pool_levels += !level->write_cost && !level->read_cost; /* the first ones: prices never decrease */
    }
    out->pool_slots = out->pool_slots < useful ? out->pool_slots : useful;
    if (paid == 0 || spec->steps <= 1 || out->pool_slots == useful)
        return pool_only(ctx, spec, out);
    if (spec->steps > MAX_STEPS || !costs_are_small(spec))
        return pbi_fail(ctx, PB_ERANGE,
                        "%" PRIu64 " steps at these costs could exceed 2^60; use fewer steps or a coarser cost unit",
                        spec->steps);
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    solver v = {.ctx = ctx, .arena = arena, .scratch = &scratch, .spec = spec, .n = spec->steps};
    status = solve(&v, out);
    pb_arena_release(&scratch);
    return status;
}
