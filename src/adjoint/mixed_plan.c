/* mixed_plan.c -- what to store, states or tapes, if they have different sizes and there are several levels.
 *
 * Problem. Minimum total cost of steps, writes and reads to reverse all steps, within the room of each level.
 *
 * Idea. Let P(l, m) be the minimum cost for l steps whose first state is in the working state only, with free room m in
 * the levels, and D(k, l, m) the same if that state has just been read from level k, where it takes a part of m:
 *     P(1, m)    = forward + reverse
 *     P(l, m)    = min( forward + write + P(l-1, m - tape) + read + reverse,    over the levels with room for a tape
 *                       write + Q(k, l, m) )                                    over those with room for a state
 *     Q(k, l, m) = min over j of  j*forward + P(l-j, m - state) + read + D(k, j, m)
 *     D(k, l, m) = min(P(l, m), Q(k, l, m)):  the state is given up, or stays.
 * A tape that is stored ends the use of its step; a state that is given up leaves its room to tapes. A search of every
 * schedule of small cases, without this structure, finds no cheaper one (tests/unit/test_mixed.c).
 *
 * Source. Maddison, Step-based checkpointing with high-level algorithmic differentiation, J. Comput. Sci. 82 (2024),
 * for one level and equal sizes; his minimum is the special case with sizes 1 and no costs of transfers.
 *
 * Limits. O(steps^2) for each combination of free room.
 */
#include "adjoint/mixed.h"
#include "adjoint/split.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

#define MAX_COST (UINT64_C(1) << 60)
#define MAX_ENTRIES (UINT64_C(1) << 31)
#define MAX_WORK (UINT64_C(1) << 43)

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool costs_are_small(const pb_mixed_spec *spec)
{
    uint64_t n = spec->steps, sum, part;
    if (!pbi_mul(n, n, &sum) || !pbi_mul(sum, spec->forward_cost, &sum) || !pbi_mul(n, spec->reverse_cost, &part) ||
        !pbi_add(sum, part, &sum))
        return false;
    for (uint32_t k = 0; k < spec->level_count; k++) {
        const pb_mixed_level *level = &spec->level[k];
        const uint64_t each[] = {level->state_write, level->state_read, level->tape_write, level->tape_read};
        for (int i = 0; i < 4; i++)
            if (!pbi_mul(n, each[i], &part) || !pbi_mul(n, part, &part) || !pbi_add(sum, part, &sum))
                return false;
    }
    return sum <= MAX_COST;
}

pb_status pbi_mixed_check(pb_context *ctx, const pb_mixed_spec *spec)
{
    if (spec->level_count > PB_MAX_MIXED_LEVELS)
        return pbi_fail(ctx, PB_EINVAL, "%" PRIu32 " storage levels are too many for a mixed schedule; use at most %d",
                        spec->level_count, PB_MAX_MIXED_LEVELS);
    if (!spec->state_size || !spec->tape_size)
        return pbi_fail(ctx, PB_EINVAL, "a state or a tape has no size; sizes are at least 1");
    return PB_OK;
}

/* Rows and strides; the first levels vary slowest. */
static pb_status choose_rows(pb_context *ctx, uint64_t n, pbi_mixed_plans *p)
{
    const pb_mixed_spec *spec = &p->spec;
    uint64_t unit = divisor_of(spec->state_size, spec->tape_size), entries, work, largest;
    p->state = spec->state_size / unit;
    p->tape = spec->tape_size / unit;
    p->rows = 1;
    p->top = 0;
    largest = p->state > p->tape ? p->state : p->tape;
    for (uint32_t k = 0; k < spec->level_count; k++) {
        uint64_t size = spec->level[k].size, useful;
        p->stride[k] = 0;
        p->room[k] = UINT64_MAX;
        if (size == UINT64_MAX)
            continue;
        p->room[k] = size / unit;
        if (pbi_mul(n, largest, &useful) && p->room[k] > useful)
            p->room[k] = useful;
        p->stride[k] = p->rows;
        p->top += p->room[k] * p->rows;
        if (!pbi_mul(p->rows, p->room[k] + 1, &p->rows))
            p->rows = MAX_ENTRIES;
    }
    if (!pbi_mul(p->rows, n + 1, &entries) || entries > MAX_ENTRIES || !pbi_mul(entries, n + 1, &work) ||
        work > MAX_WORK)
        return pbi_fail(ctx, PB_ERANGE,
                        "%" PRIu64 " steps with this much room are too many for a mixed schedule; use fewer steps, "
                        "larger units of size, or one level fewer",
                        n);
    return PB_OK;
}

typedef struct row_solver {
    pb_context *ctx;
    pbi_mixed_plans *p;
    uint64_t *lead[PB_MAX_MIXED_LEVELS]; /* j*forward + read + D(k, j) */
} row_solver;

static bool has_room(const pbi_mixed_plans *p, uint32_t k, uint64_t row, uint64_t size)
{
    return !p->stride[k] || row / p->stride[k] % (p->room[k] + 1) >= size;
}

/* D, and what follows from it. */
static void enter(row_solver *v, uint32_t k, uint64_t row, uint64_t l, uint64_t kept)
{
    pbi_mixed_plans *p = v->p;
    uint64_t at = pbi_mixed_at(p, row, l), again = p->cost[at];
    if (kept < again) {
        again = kept;
        p->split[k][at] |= PBI_KEEP_STATE;
    }
    v->lead[k][l] = again + l * p->spec.forward_cost + p->spec.level[k].state_read;
}

static pb_status solve_row(row_solver *v, uint64_t row)
{
    pbi_mixed_plans *p = v->p;
    const pb_mixed_spec *spec = &p->spec;
    for (uint64_t l = 1; l <= p->n; l++) {
        uint64_t at = pbi_mixed_at(p, row, l), kept[PB_MAX_MIXED_LEVELS];
        pb_status status = pbi_tick(v->ctx, 1 + l / 64);
        if (status != PB_OK)
            return status;
        uint64_t best = l == 1 ? spec->forward_cost + spec->reverse_cost : PBI_MIXED_IMPOSSIBLE;
        for (uint32_t k = 0; k < spec->level_count; k++) {
            const pb_mixed_level *level = &spec->level[k];
            uint64_t sum;
            kept[k] = PBI_MIXED_IMPOSSIBLE;
            if (l == 1)
                continue;
            if (has_room(p, k, row, p->tape)) {
                sum = p->cost[pbi_mixed_at(p, row - p->tape * p->stride[k], l - 1)] + spec->forward_cost +
                      level->tape_write + level->tape_read + spec->reverse_cost;
                if (sum < best) {
                    best = sum;
                    p->first[at] = (uint8_t)(PBI_MIXED_TAPE + 4 * k);
                }
            }
            if (!has_room(p, k, row, p->state))
                continue;
            const uint64_t *right = &p->cost[pbi_mixed_at(p, row - p->state * p->stride[k], 0)];
            p->split[k][at] = pbi_best_split(v->lead[k], right, l, &kept[k]);
            sum = kept[k] + level->state_write;
            if (p->split[k][at] && sum < best) {
                best = sum;
                p->first[at] = (uint8_t)(PBI_MIXED_STATE + 4 * k);
            }
        }
        p->cost[at] = best;
        for (uint32_t k = 0; k < spec->level_count; k++)
            enter(v, k, row, l, kept[k]);
    }
    return PB_OK;
}

uint64_t pbi_mixed_again(const pbi_mixed_plans *p, uint32_t k, uint64_t row, uint64_t length)
{
    uint64_t sum = 0, at = pbi_mixed_at(p, row, length);
    for (; p->split[k][at] & PBI_KEEP_STATE; at = pbi_mixed_at(p, row, length)) {
        uint64_t j = p->split[k][at] & ~PBI_KEEP_STATE;
        sum += j * p->spec.forward_cost + p->spec.level[k].state_read +
               p->cost[pbi_mixed_at(p, row - p->state * p->stride[k], length - j)];
        length = j;
    }
    return sum + p->cost[at];
}

pb_status pbi_mixed_solve(pb_context *ctx, const pb_mixed_spec *spec, uint64_t n, pb_arena *arena, pbi_mixed_plans *out)
{
    pb_mixed_spec limited = *spec;
    limited.steps = n;
    *out = (pbi_mixed_plans){.spec = limited, .n = n};
    if (n >= PBI_KEEP_STATE || !costs_are_small(&limited))
        return pbi_fail(ctx, PB_ERANGE,
                        "%" PRIu64 " steps at these costs could exceed 2^60; use fewer steps or a coarser cost unit",
                        n);
    pb_status status = choose_rows(ctx, n, out);
    if (status != PB_OK)
        return status;
    size_t entries = (size_t)(out->rows * (n + 1));
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    row_solver v = {.ctx = ctx, .p = out};
    out->cost = pb_arena_zero(arena, entries, sizeof *out->cost);
    out->first = pb_arena_zero(arena, entries, sizeof *out->first);
    status = out->cost && out->first ? PB_OK : PB_ENOMEM;
    for (uint32_t k = 0; k < spec->level_count && status == PB_OK; k++) {
        out->split[k] = pb_arena_zero(arena, entries, sizeof *out->split[k]);
        v.lead[k] = pb_arena_zero(&scratch, (size_t)n + 1, sizeof *v.lead[k]);
        status = out->split[k] && v.lead[k] ? PB_OK : PB_ENOMEM;
    }
    for (uint64_t row = 0; row < out->rows && status == PB_OK; row++)
        status = solve_row(&v, row);
    pb_arena_release(&scratch);
    return status;
}
