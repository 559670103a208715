/* unroll.c -- plans for many micro-batches from plans for few: a stretch of the orders that repeats is inserted again.
 *
 * On each device the stretch goes from one F to the F q micro-batches later. If it has q Fs, Bs and Ws of each part
 * on every device, it can be repeated: memory after it is what it was before.
 */
#include "plan/stages/search.h"

#include "base/arena.h"
#include "base/context.h"

#include <string.h>

/* A stretch on one device. */
typedef struct stretch {
    uint32_t first, end;
} stretch;

typedef struct unroller {
    const pbi_stages *s;
    const pbi_stages_plan *small;
    uint32_t few, period, from; /* micro-batches of the small plan; of the stretch; the first one of it */
    stretch *on;                /* by device */
} unroller;

static uint32_t place_of(const pbi_stages_plan *plan, uint32_t d, pbi_step_code code, uint32_t number)
{
    for (uint32_t i = 0; i < plan->count[d]; i++)
        if (plan->step[d][i] == code && number-- == 0)
            return i;
    return plan->count[d];
}

static bool is_even(const unroller *u, uint32_t d, const stretch *t)
{
    for (uint32_t c = 0; c < u->s->parts; c++) {
        uint32_t count[4] = {0}, drops = 0;
        if (u->s->part[c].device != d)
            continue;
        for (uint32_t i = t->first; i < t->end; i++)
            if (pbi_step_part(u->small->step[d][i]) == c)
                count[pbi_step_kind(u->small->step[d][i])]++;
        for (uint32_t m = u->from; m < u->from + u->period; m++)
            drops += u->small->dropped[(size_t)c * u->few + m];
        if (count[PBI_STAGE_F] != u->period || count[PBI_STAGE_B] != u->period || count[PBI_STAGE_W] != u->period ||
            count[PBI_STAGE_R] != drops)
            return false;
    }
    return true;
}

static bool find_stretches(unroller *u)
{
    for (uint32_t d = 0; d < u->s->devices; d++) {
        uint32_t first = UINT32_MAX;
        for (uint32_t c = 0; c < u->s->parts && first == UINT32_MAX; c++)
            first = u->s->part[c].device == d ? c : first;
        if (first == UINT32_MAX)
            continue;
        pbi_step_code code = PBI_STEP(first, PBI_STAGE_F);
        u->on[d] = (stretch){place_of(u->small, d, code, u->from), place_of(u->small, d, code, u->from + u->period)};
        if (u->on[d].end == u->small->count[d] || !is_even(u, d, &u->on[d]))
            return false;
    }
    return true;
}

static void insert(const unroller *u, uint32_t times, pbi_stages_plan *out)
{
    const pbi_stages *s = u->s;
    for (uint32_t d = 0; d < s->devices; d++) {
        const pbi_step_code *from = u->small->step[d];
        pbi_step_code *to = out->step[d];
        uint32_t end = u->on[d].end, length = end - u->on[d].first, at = end;
        memcpy(to, from, end * sizeof *to);
        for (uint32_t i = 0; i < times; i++, at += length)
            memcpy(to + at, from + u->on[d].first, length * sizeof *to);
        memcpy(to + at, from + end, (u->small->count[d] - end) * sizeof *to);
        out->count[d] = at + u->small->count[d] - end;
    }
    for (uint32_t c = 0; c < s->parts; c++) {
        const uint8_t *from = u->small->dropped + (size_t)c * u->few;
        uint8_t *to = out->dropped + (size_t)c * s->micro;
        uint32_t end = u->from + u->period, at = end;
        memcpy(to, from, end);
        for (uint32_t i = 0; i < times; i++, at += u->period)
            memcpy(to + at, from + u->from, u->period);
        memcpy(to + at, from + end, u->few - end);
    }
}

/* Offers every way to repeat a stretch of the small plan. */
static pb_status unroll(pbi_stages_search *x, const pbi_stages_plan *small, uint32_t few, stretch *room)
{
    pb_status status = PB_OK;
    uint32_t missing = x->k->s->micro - few;
    for (uint32_t period = 1; period <= few / 2 && status == PB_OK; period++) {
        if (missing % period)
            continue;
        for (uint32_t from = 0; from + period < few && status == PB_OK; from++) {
            unroller u = {x->k->s, small, few, period, from, room};
            if (!find_stretches(&u))
                continue;
            insert(&u, missing / period, &x->trial);
            if (pbi_stages_value(x->k, &x->trial, UINT64_MAX)) {
                if (x->k->span)
                    pbi_stages_tighten(x->k, &x->trial, x->bound, &x->spare);
                pbi_stages_offer(x);
            }
            status = pbi_tick(x->ctx, 1 + x->k->most / 64);
        }
    }
    return status;
}

pb_status pbi_stages_try_few(pbi_stages_search *x, uint32_t few, uint64_t trials)
{
    static const double warmth[] = {0, 4e-3, 1e-2};
    pbi_mark mark = pbi_arena_mark(x->k->arena);
    pbi_stages s = *x->k->s;
    pbi_stages_kit kit;
    pbi_stages_search y = {.options = &(pbi_plan_options){.seed = x->options->seed}, .rng = {pbi_rng_next(&x->rng)}};
    if (few + 1 >= s.micro)
        return PB_OK;
    s.micro = few;
    pb_status status = pbi_stages_kit_new(&s, x->k->arena, &kit);
    kit.span = false; /* the rate is what counts */
    stretch *room = pb_arena_zero(x->k->arena, s.devices, sizeof *room);
    if (status == PB_OK)
        status = room ? pbi_stages_search_new(x->ctx, &kit, x->k->arena, &y) : PB_ENOMEM;
    if (status == PB_OK)
        status = pbi_stages_try_rules(&y, trials / 8);
    for (int i = 0; i < 3 && status == PB_OK && y.best.value != UINT64_MAX; i++) {
        status = pbi_stages_try_orders(&y, trials / 3, warmth[i]);
        if (status == PB_OK)
            status = unroll(x, &y.best, few, room);
    }
    pbi_arena_rewind(x->k->arena, mark);
    return status;
}
