/* known.c -- see known.h. Each schedule is an order of F, B and W on each device; times follow from the simulation.
 *
 * V schedules repeat a block of six steps on each device. The distance in time of a step on one device to that on the
 * next one decides how long values are held: the sum of the four distances is 4, 6 or 12 for a third, a half and all
 * of the memory of 1F1B. Where the model turns around, the least delays are taken that let the blocks interlock.
 */
#include "plan/stages/known.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
    const pbi_stages *s;
    pbi_stages_plan *plan;
    pb_arena *arena;
    uint32_t chunks;
} maker;

static void add(maker *x, uint32_t d, uint32_t part, unsigned kind)
{
    x->plan->step[d][x->plan->count[d]++] = PBI_STEP(part, kind);
}

/* ---- one part on each device ---- */

/* `warm` forward steps, then B and F in turn; a W for each B once more than `late` are pending. */
static void make_turns(maker *x, uint32_t d, uint32_t part, uint32_t warm, uint32_t late)
{
    uint32_t m = x->s->micro, f = 0, w = 0;
    for (; f < m && f < warm; f++)
        add(x, d, part, PBI_STAGE_F);
    for (uint32_t b = 1; b <= m; b++) {
        add(x, d, part, PBI_STAGE_B);
        if (b - w > late) {
            add(x, d, part, PBI_STAGE_W);
            w++;
        }
        if (f < m) {
            add(x, d, part, PBI_STAGE_F);
            f++;
        }
    }
    for (; w < m; w++)
        add(x, d, part, PBI_STAGE_W);
}

static void make_single(maker *x, pbi_known which)
{
    for (uint32_t c = 0; c < x->s->parts; c++) {
        uint32_t d = x->s->part[c].device, left = x->s->parts - c;
        switch (which) {
        case PBI_KNOWN_GPIPE: make_turns(x, d, c, x->s->micro, 0); break;
        case PBI_KNOWN_ZB_H1: make_turns(x, d, c, left, c); break;
        case PBI_KNOWN_ZB_H2: make_turns(x, d, c, 2 * left - 1, 2 * c); break;
        default: make_turns(x, d, c, left, 0); break;
        }
    }
}

/* ---- several parts on each device, in a loop ---- */

static void make_interleaved(maker *x)
{
    uint32_t p = x->s->devices, v = x->chunks, all = x->s->micro * v;
    for (uint32_t d = 0; d < p; d++) {
        uint32_t warm = (p - d - 1) * 2 + (v - 1) * p, f = 0;
        for (; f < all && f < warm; f++)
            add(x, d, f % (p * v) / p * p + d, PBI_STAGE_F);
        for (uint32_t b = 0; b < all; b++) {
            if (f < all) {
                add(x, d, f % (p * v) / p * p + d, PBI_STAGE_F);
                f++;
            }
            uint32_t part = (v - 1 - b % (p * v) / p) * p + d;
            add(x, d, part, PBI_STAGE_B);
            add(x, d, part, PBI_STAGE_W);
        }
    }
}

/* ---- V schedules ---- */

enum { BLOCK = 6, PASSES = 4 };

typedef struct v_shape {
    uint32_t apart[PASSES]; /* of F down, F up, B down, B up, from one device to the next */
} v_shape;

/* The start of a pass on device d, in steps; turns has the delays at the three turns. */
static uint32_t v_start(const maker *x, const v_shape *shape, const uint32_t turn[PASSES - 1], uint32_t d, int pass)
{
    uint32_t p = x->s->devices, at = 0;
    for (int k = 0; k < pass; k++)
        at += shape->apart[k] * (p - 1) + turn[k];
    return at + shape->apart[pass] * (pass % 2 ? p - 1 - d : d);
}

static bool interlocks(const maker *x, const v_shape *shape, const uint32_t turn[PASSES - 1])
{
    for (uint32_t d = 0; d < x->s->devices; d++) {
        unsigned used = 0;
        for (int k = 0; k < PASSES; k++) {
            unsigned bit = 1u << v_start(x, shape, turn, d, k) % BLOCK;
            if (used & bit)
                return false;
            used |= bit;
        }
    }
    return true;
}

/* The delays with the least sum; false if there are none. */
static bool find_turns(const maker *x, const v_shape *shape, uint32_t best[PASSES - 1])
{
    uint32_t least = UINT32_MAX, turn[PASSES - 1];
    for (uint32_t i = 0; i < BLOCK * BLOCK * BLOCK; i++) {
        uint32_t n = i, sum = 0;
        for (int k = 0; k < PASSES - 1; k++, n /= BLOCK)
            sum += turn[k] = 1 + n % BLOCK;
        if (sum >= least || !interlocks(x, shape, turn))
            continue;
        least = sum;
        memcpy(best, turn, sizeof turn);
    }
    return least != UINT32_MAX;
}

typedef struct v_step {
    uint64_t at;
    pbi_step_code code;
} v_step;

static int by_time(const void *a, const void *b)
{
    const v_step *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->code < y->code ? -1 : x->code > y->code;
}

/* The block of a device, repeated for each micro-batch. W takes the first free place of the block after its B. */
static void make_v_device(maker *x, uint32_t d, const v_shape *shape, const uint32_t turn[PASSES - 1], v_step *list)
{
    uint32_t p = x->s->devices, start[PASSES + 2], count = 0;
    const uint32_t part[] = {d, 2 * p - 1 - d, 2 * p - 1 - d, d, 2 * p - 1 - d, d};
    static const unsigned kind[] = {PBI_STAGE_F, PBI_STAGE_F, PBI_STAGE_B, PBI_STAGE_B, PBI_STAGE_W, PBI_STAGE_W};
    unsigned used = 0;
    for (int k = 0; k < PASSES; k++) {
        start[k] = v_start(x, shape, turn, d, k);
        used |= 1u << start[k] % BLOCK;
    }
    for (int k = PASSES; k < PASSES + 2; k++) {
        start[k] = start[k - 2] + 1;
        while (used & 1u << start[k] % BLOCK)
            start[k]++;
        used |= 1u << start[k] % BLOCK;
    }
    for (uint64_t m = 0; m < x->s->micro; m++)
        for (int k = 0; k < PASSES + 2; k++)
            list[count++] = (v_step){start[k] + BLOCK * m, PBI_STEP(part[k], kind[k])};
    qsort(list, count, sizeof *list, by_time);
    for (uint32_t i = 0; i < count; i++)
        x->plan->step[d][x->plan->count[d]++] = list[i].code;
}

static pb_status make_v(maker *x, pbi_known which, bool *made)
{
    static const v_shape all = {{4, 2, 4, 2}}, half = {{1, 2, 1, 2}}, least = {{1, 1, 1, 1}};
    const v_shape *shape = which == PBI_KNOWN_ZB_V ? &all : which == PBI_KNOWN_V_HALF ? &half : &least;
    uint32_t turn[PASSES - 1];
    v_step *list = pb_arena_alloc(x->arena, (size_t)x->s->micro * BLOCK + 1, sizeof *list);
    if (!list)
        return PB_ENOMEM;
    *made = find_turns(x, shape, turn);
    for (uint32_t d = 0; d < x->s->devices && *made; d++)
        make_v_device(x, d, shape, turn, list);
    return PB_OK;
}

/* ---- recomputation ---- */

/* Each micro-batch of the part is dropped, and recomputed right before its B. */
static void drop_part(maker *x, uint32_t c)
{
    uint32_t d = x->s->part[c].device, count = x->plan->count[d], at = count + x->s->micro;
    pbi_step_code *step = x->plan->step[d];
    memset(x->plan->dropped + (size_t)c * x->s->micro, 1, x->s->micro);
    x->plan->count[d] = at;
    while (count) {
        step[--at] = step[--count];
        if (step[at] == PBI_STEP(c, PBI_STAGE_B))
            step[--at] = PBI_STEP(c, PBI_STAGE_R);
    }
}

/* What a device needs, if results leave at once. */
static uint64_t device_peak(const maker *x, uint32_t d)
{
    const pbi_stages *s = x->s;
    uint64_t use = 0, peak = 0;
    for (uint32_t i = 0; i < x->plan->count[d]; i++) {
        uint32_t c = pbi_step_part(x->plan->step[d][i]);
        const pbi_stage_part *p = &s->part[c];
        bool dropped = x->plan->dropped[(size_t)c * s->micro];
        uint64_t in = c ? p[-1].out : 0, saved = p->saved_b + p->saved_w, need = use;
        switch (pbi_step_kind(x->plan->step[d][i])) {
        case PBI_STAGE_F:
            need += in + p->out + p->work_f + (dropped ? 0 : saved);
            use += dropped ? in : saved;
            break;
        case PBI_STAGE_R:
            need += p->out + p->work_f + saved;
            use += saved - in;
            break;
        case PBI_STAGE_B:
            need += p->work_b;
            use -= p->saved_b;
            break;
        default:
            need += p->work_w;
            use -= p->saved_w;
            break;
        }
        peak = need > peak ? need : peak;
    }
    return peak;
}

/* Drops parts, the first ones first, on each device until it fits. */
static void drop_where_needed(maker *x)
{
    for (uint32_t c = 0; c < x->s->parts; c++) {
        uint32_t d = x->s->part[c].device;
        if (device_peak(x, d) > x->s->room[d])
            drop_part(x, c);
    }
}

/* ---- the strategies ---- */

/* Whether the parts are placed as the schedule needs. */
static bool suits(const pbi_stages *s, pbi_known which, uint32_t *chunks)
{
    bool v = which == PBI_KNOWN_ZB_V || which == PBI_KNOWN_V_HALF || which == PBI_KNOWN_V_MIN;
    *chunks = s->parts / s->devices;
    for (uint32_t c = 0; c < s->parts; c++) {
        uint32_t at = c % s->devices;
        if (s->part[c].device != (v && c / s->devices % 2 ? s->devices - 1 - at : at))
            return false;
    }
    bool whole = s->parts % s->devices == 0;
    if (which == PBI_KNOWN_INTERLEAVED)
        return whole && *chunks > 1 && s->micro % s->devices == 0;
    return whole && *chunks == (v ? 2 : 1);
}

static pb_status make(maker *x, pbi_known which, bool *made)
{
    const pbi_stages *s = x->s;
    memset(x->plan->count, 0, s->devices * sizeof *x->plan->count);
    memset(x->plan->dropped, 0, (size_t)s->parts * s->micro);
    *made = true;
    if (which == PBI_KNOWN_INTERLEAVED)
        make_interleaved(x);
    else if (x->chunks == 1)
        make_single(x, which);
    else
        return make_v(x, which, made);
    return PB_OK;
}

/* 0: nothing is recomputed, 1: where it does not fit, 2: everything. */
static pb_status try_level(maker *x, const pbi_stages_kit *k, pbi_known which, int level, pbi_stages_plan *best)
{
    bool made;
    pb_status status = make(x, which, &made);
    if (status != PB_OK || !made)
        return status;
    if (level == 1)
        drop_where_needed(x);
    for (uint32_t c = 0; level == 2 && c < x->s->parts; c++)
        drop_part(x, c);
    if (!pbi_stages_value(k, x->plan, UINT64_MAX))
        return PB_OK;
    pbi_stages_plan *spare = pb_arena_alloc(x->arena, 1, sizeof *spare);
    status = spare ? pbi_stages_plan_new(k, x->arena, spare) : PB_ENOMEM;
    if (status == PB_OK && k->span)
        pbi_stages_tighten(k, x->plan, 0, spare);
    if (status == PB_OK && x->plan->value < best->value)
        pbi_stages_copy(k, best, x->plan);
    return status;
}

static pb_status plan_known(pb_context *ctx, const pbi_stages *s, const pbi_plan_options *options, pbi_known which,
                            pbi_plan *plan, pb_arena *arena)
{
    pbi_stages_kit k;
    pbi_stages_plan best, trial;
    maker x = {.s = s, .plan = &trial, .arena = arena};
    const char *word = pbi_option_find(options, "recompute");
    static const char *const words[] = {"none", "per-stage", "full"};
    int only = -1;
    for (int i = 0; word && i < 3; i++)
        only = strcmp(word, words[i]) == 0 ? i : only;
    if (word && only < 0 && strcmp(word, "auto") != 0)
        return pbi_fail(ctx, PB_EINVAL, "recompute must be auto, none, per-stage or full, not '%.40s'", word);
    if (!suits(s, which, &x.chunks))
        return pbi_plan_give_up(plan, "does not apply: the stages are placed in another way than this schedule needs");
    if (only > 0 && !s->recompute)
        return pbi_plan_give_up(plan, "does not apply: the forward steps may be computed only once");
    pb_status status = pbi_stages_kit_new(s, arena, &k);
    if (status == PB_OK)
        status = pbi_stages_plan_new(&k, arena, &best);
    if (status == PB_OK)
        status = pbi_stages_plan_new(&k, arena, &trial);
    for (int level = 0; level < (s->recompute ? 3 : 1) && status == PB_OK; level++)
        if (only < 0 || only == level)
            status = try_level(&x, &k, which, level, &best);
    if (status == PB_OK && best.value == UINT64_MAX)
        return pbi_plan_give_up(plan, "the schedule does not fit the memory of every device; raise the cap");
    if (status == PB_OK)
        status = pbi_stages_emit(ctx, &k, &best, &plan->moves);
    if (status == PB_OK)
        plan->outcome = PB_FOUND;
    return status;
}

pb_status pbi_stages_plan_known(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_known which,
                                pbi_plan *plan)
{
    pb_arena scratch;
    pbi_stages s;
    const char *why;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_stages_find(ctx, game, &scratch, &s, &why);
    if (status == PB_OK)
        status = why ? pbi_plan_give_up(plan, "%s", why) : plan_known(ctx, &s, options, which, plan, &scratch);
    pb_arena_release(&scratch);
    return status;
}
