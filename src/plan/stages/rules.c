/* rules.c -- rules for building plans: the usual ones of pipelines, and hill-climbing on their numbers. */
#include "plan/stages/search.h"

#include "base/context.h"

#include <string.h>

enum { MUCH = 1 << 20, WAYS = 5 };

static uint32_t *numbers(pb_arena *arena, uint32_t count) { return pb_arena_zero(arena, count, sizeof(uint32_t)); }

static pb_status new_rule(const pbi_stages_kit *k, pb_arena *arena, pbi_stages_rule *out)
{
    uint32_t parts = k->s->parts;
    *out = (pbi_stages_rule){numbers(arena, parts), numbers(arena, parts), numbers(arena, parts), numbers(arena, parts),
                             numbers(arena, k->s->devices)};
    return out->limit && out->ahead && out->keep && out->wait && out->fill ? PB_OK : PB_ENOMEM;
}

void pbi_stages_copy_rule(const pbi_stages_kit *k, pbi_stages_rule *to, const pbi_stages_rule *from)
{
    size_t bytes = k->s->parts * sizeof *to->limit;
    memcpy(to->limit, from->limit, bytes);
    memcpy(to->ahead, from->ahead, bytes);
    memcpy(to->keep, from->keep, bytes);
    memcpy(to->wait, from->wait, bytes);
    memcpy(to->fill, from->fill, k->s->devices * sizeof *to->fill);
}

pb_status pbi_stages_search_new(pb_context *ctx, const pbi_stages_kit *k, pb_arena *arena, pbi_stages_search *out)
{
    pb_status status = PB_OK;
    pbi_stages_plan *plans[] = {&out->best, &out->now, &out->trial, &out->spare};
    out->ctx = ctx;
    out->k = k;
    for (size_t i = 0; i < sizeof plans / sizeof *plans && status == PB_OK; i++)
        status = pbi_stages_plan_new(k, arena, plans[i]);
    if (status == PB_OK)
        status = new_rule(k, arena, &out->rule);
    return status == PB_OK ? new_rule(k, arena, &out->next) : status;
}

bool pbi_stages_offer(pbi_stages_search *x)
{
    if (x->trial.value >= x->best.value)
        return false;
    pbi_stages_copy(x->k, &x->best, &x->trial);
    if (x->options->better)
        x->options->better(x->options->better_state, x->k->s->game->cap, x->best.value);
    return true;
}

/* ---- the usual rules ---- */

/* From F of a part to its B if nothing waits. */
static uint64_t round_trip(const pbi_stages *s, uint32_t c)
{
    uint64_t sum = s->part[c].f;
    for (uint32_t e = c + 1; e < s->parts; e++)
        sum += s->part[e].f + s->part[e].b + s->part[e - 1].down.time + s->part[e].up.time;
    return sum;
}

/* Micro-batches in flight: as memory allows (0), those of 1F1B (1), twice as many (2), by the round trip (3, 4). */
static uint32_t in_flight(const pbi_stages *s, uint32_t c, int way)
{
    const pbi_stage_part *p = &s->part[c];
    uint64_t step = p->f + p->b + p->w, left = s->parts - c, most = 0;
    switch (way) {
    case 0: most = MUCH; break;
    case 1: most = left; break;
    case 2: most = 2 * left - 1; break;
    case 3: most = step ? (round_trip(s, c) + p->b + step - 1) / step : MUCH; break;
    default: most = p->f ? (round_trip(s, c) + p->f - 1) / p->f : MUCH; break;
    }
    return (uint32_t)(most < 1 ? 1 : most < MUCH ? most : MUCH);
}

typedef struct usual {
    int way;
    uint32_t wait, fill, keep;
    bool forward_first;
} usual;

static void set_rule(const pbi_stages *s, const usual *u, pbi_stages_rule *rule)
{
    for (uint32_t c = 0; c < s->parts; c++) {
        uint64_t each = s->part[c].saved_b + s->part[c].saved_w, room = s->room[s->part[c].device];
        uint64_t fit = each ? room / each : MUCH;
        rule->limit[c] = in_flight(s, c, u->way);
        rule->ahead[c] = u->forward_first ? rule->limit[c] : 0;
        rule->wait[c] = u->wait;
        rule->keep[c] = u->keep == 1 ? (uint32_t)(fit > 1 ? (fit < MUCH ? fit - 1 : MUCH) : 1) : u->keep;
    }
    for (uint32_t d = 0; d < s->devices; d++)
        rule->fill[d] = u->fill;
}

static pb_status try_rule(pbi_stages_search *x, const pbi_stages_rule *rule, bool *better)
{
    bool fits = pbi_stages_build(x->k, rule, &x->trial) && pbi_stages_value(x->k, &x->trial, UINT64_MAX);
    uint64_t runs = 2;
    if (fits && x->k->span && x->trial.value - x->trial.value / 8 < x->best.value)
        runs += pbi_stages_tighten(x->k, &x->trial, x->bound, &x->spare);
    *better = fits && x->trial.value <= x->best.value;
    if (fits)
        pbi_stages_offer(x);
    return pbi_tick(x->ctx, 1 + runs * x->k->most / 64);
}

static pb_status try_usual(pbi_stages_search *x)
{
    static const uint32_t waits[] = {MUCH, 1, 2}, fills[] = {100, 0, 50}, keeps[] = {MUCH, 1, 0, 2};
    pb_status status = PB_OK;
    uint32_t keep_count = x->k->s->recompute ? 4 : 1;
    for (uint32_t i = 0; i < WAYS * 3 * 3 * 2 * keep_count && status == PB_OK && x->best.value > x->bound; i++) {
        uint32_t n = i;
        usual u = {.way = (int)(n % WAYS)};
        n /= WAYS;
        u.forward_first = n % 2;
        n /= 2;
        u.wait = waits[n % 3];
        n /= 3;
        u.fill = fills[n % 3];
        n /= 3;
        u.keep = keeps[n % 4];
        bool better;
        set_rule(x->k->s, &u, &x->next);
        uint64_t before = x->best.value;
        status = try_rule(x, &x->next, &better);
        if (x->best.value < before)
            pbi_stages_copy_rule(x->k, &x->rule, &x->next);
    }
    return status;
}

/* ---- changes ---- */

static uint32_t moved(pbi_rng *rng, uint32_t value, uint32_t least)
{
    uint32_t by = 1 + (uint32_t)pbi_rng_below(rng, 2);
    if (pbi_rng_below(rng, 2))
        return value + by;
    return value > least + by ? value - by : least;
}

/* Changes one number of one part, or of a range of parts. */
static void change_rule(pbi_stages_search *x, pbi_stages_rule *rule)
{
    static const uint32_t fills[] = {0, 25, 50, 75, 100, 150};
    const pbi_stages *s = x->k->s;
    uint32_t first = (uint32_t)pbi_rng_below(&x->rng, s->parts), last = first;
    if (pbi_rng_below(&x->rng, 3) == 0)
        last = first + (uint32_t)pbi_rng_below(&x->rng, s->parts - first);
    uint64_t what = pbi_rng_below(&x->rng, s->recompute ? 5 : 4);
    uint32_t *list[] = {rule->limit, rule->ahead, rule->wait, NULL, rule->keep};
    if (what == 3) {
        rule->fill[pbi_rng_below(&x->rng, s->devices)] = fills[pbi_rng_below(&x->rng, 6)];
        return;
    }
    uint32_t least = what == 0 || what == 2, start = list[what][first];
    uint32_t value = moved(&x->rng, start > s->micro ? s->micro : start, least);
    bool same = pbi_rng_below(&x->rng, 2);
    for (uint32_t c = first; c <= last; c++) {
        uint32_t old = list[what][c] > s->micro ? s->micro : list[what][c];
        uint32_t next = value > start && old + value > start ? old + value - start : old;
        if (value < start && start <= s->micro)
            next = old > start - value + least ? old - (start - value) : least;
        list[what][c] = same ? value : next;
    }
}

pb_status pbi_stages_try_rules(pbi_stages_search *x, uint64_t trials)
{
    pb_status status = PB_OK;
    if (x->best.value == UINT64_MAX || !trials)
        status = try_usual(x);
    for (uint64_t i = 0; i < trials && status == PB_OK && x->best.value > x->bound; i++) {
        bool better;
        pbi_stages_copy_rule(x->k, &x->next, &x->rule);
        uint64_t changes = 1 + pbi_rng_below(&x->rng, 3);
        for (uint64_t k = 0; k < changes; k++)
            change_rule(x, &x->next);
        status = try_rule(x, &x->next, &better);
        if (better)
            pbi_stages_copy_rule(x->k, &x->rule, &x->next);
    }
    return status;
}
