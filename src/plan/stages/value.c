/* value.c -- working memory, the value of a plan, its critical path and its moves. */
#include "plan/stages/run.h"

#include "base/arena.h"
#include "base/context.h"

#include <stdlib.h>
#include <string.h>

/* A device can begin later than it could, which shortens its span; more rounds than these settle few more plans. */
enum { ROUNDS = 8 };

pb_status pbi_stages_kit_new(const pbi_stages *s, pb_arena *arena, pbi_stages_kit *out)
{
    size_t cells = (size_t)s->parts * s->micro;
    pbi_stages_run *r = pb_arena_zero(arena, 1, sizeof *r);
    *out = (pbi_stages_kit){.s = s, .arena = arena, .span = s->game->objective == PB_OBJECTIVE_SPAN, .run = r};
    out->device_most = pb_arena_zero(arena, s->devices, sizeof *out->device_most);
    if (!r || !out->device_most)
        return PB_ENOMEM;
    for (uint32_t c = 0; c < s->parts; c++)
        out->device_most[s->part[c].device] += (3 + s->recompute) * s->micro;
    r->base = pb_arena_zero(arena, s->devices, sizeof *r->base);
    for (uint32_t d = 0; d < s->devices; d++) {
        if (r->base)
            r->base[d] = out->most;
        out->most += out->device_most[d];
    }
    r->end_f = pb_arena_alloc(arena, cells, sizeof *r->end_f);
    r->end_b = pb_arena_alloc(arena, cells, sizeof *r->end_b);
    r->here_f = pb_arena_alloc(arena, cells, sizeof *r->here_f);
    r->here_b = pb_arena_alloc(arena, cells, sizeof *r->here_b);
    r->at_f = pb_arena_alloc(arena, cells, sizeof *r->at_f);
    r->at_b = pb_arena_alloc(arena, cells, sizeof *r->at_b);
    r->count_f = pb_arena_alloc(arena, s->parts, sizeof *r->count_f);
    r->count_b = pb_arena_alloc(arena, s->parts, sizeof *r->count_b);
    r->count_w = pb_arena_alloc(arena, s->parts, sizeof *r->count_w);
    r->next_r = pb_arena_alloc(arena, s->parts, sizeof *r->next_r);
    r->saved = pb_arena_alloc(arena, cells, 1);
    r->start = pb_arena_alloc(arena, out->most, sizeof *r->start);
    r->before = pb_arena_alloc(arena, out->most, sizeof *r->before);
    r->queue = pb_arena_alloc(arena, out->most, sizeof *r->queue);
    r->lane = pb_arena_alloc(arena, s->devices, sizeof *r->lane);
    r->link_free = pb_arena_alloc(arena, s->game->timing->machine->link_count + 1u, sizeof *r->link_free);
    bool ok = r->base && r->end_f && r->end_b && r->here_f && r->here_b && r->at_f && r->at_b && r->count_f &&
              r->count_b && r->count_w && r->next_r && r->saved && r->start && r->before && r->queue && r->lane &&
              r->link_free;
    return ok ? PB_OK : PB_ENOMEM;
}

pb_status pbi_stages_plan_new(const pbi_stages_kit *k, pb_arena *arena, pbi_stages_plan *out)
{
    const pbi_stages *s = k->s;
    *out = (pbi_stages_plan){.value = UINT64_MAX};
    out->step = pb_arena_zero(arena, s->devices, sizeof *out->step);
    out->count = pb_arena_zero(arena, s->devices, sizeof *out->count);
    out->dropped = pb_arena_zero(arena, (size_t)s->parts * s->micro, 1);
    out->release = pb_arena_zero(arena, s->devices, sizeof *out->release);
    if (!out->step || !out->count || !out->dropped || !out->release)
        return PB_ENOMEM;
    for (uint32_t d = 0; d < s->devices; d++)
        if (!(out->step[d] = pb_arena_alloc(arena, k->device_most[d] + 1u, sizeof **out->step)))
            return PB_ENOMEM;
    return PB_OK;
}

void pbi_stages_copy(const pbi_stages_kit *k, pbi_stages_plan *to, const pbi_stages_plan *from)
{
    const pbi_stages *s = k->s;
    for (uint32_t d = 0; d < s->devices; d++)
        memcpy(to->step[d], from->step[d], from->count[d] * sizeof **to->step);
    memcpy(to->count, from->count, s->devices * sizeof *to->count);
    memcpy(to->dropped, from->dropped, (size_t)s->parts * s->micro);
    memcpy(to->release, from->release, s->devices * sizeof *to->release);
    to->value = from->value;
}

static uint64_t last_end(const pbi_stages_kit *k)
{
    uint64_t end = 0;
    for (uint32_t d = 0; d < k->s->devices; d++)
        end = k->run->lane[d].end > end ? k->run->lane[d].end : end;
    return end;
}

static uint64_t longest(const pbi_stages_kit *k)
{
    uint64_t span = 0;
    for (uint32_t d = 0; d < k->s->devices; d++) {
        uint64_t here = k->run->lane[d].end - k->run->lane[d].first;
        span = here > span ? here : span;
    }
    return span;
}

/* The first device to begin does so at time 0. */
static void settle(const pbi_stages_kit *k, pbi_stages_plan *plan)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t d = 0; d < k->s->devices; d++) {
        plan->release[d] = k->run->lane[d].first;
        first = plan->release[d] < first ? plan->release[d] : first;
    }
    for (uint32_t d = 0; d < k->s->devices; d++)
        plan->release[d] -= first;
}

/* Delays devices until each ends at most `limit` after it began. */
static bool shorten(const pbi_stages_kit *k, pbi_stages_plan *plan, uint64_t limit)
{
    uint64_t before = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool later = false;
        if (!pbi_stages_simulate(k, plan))
            return false;
        uint64_t now = longest(k);
        if (round == ROUNDS / 2 && now >= before && now > limit)
            return false;
        before = now;
        for (uint32_t d = 0; d < k->s->devices; d++) {
            const pbi_stages_lane *l = &k->run->lane[d];
            if (plan->count[d] && l->end - l->first > limit) {
                plan->release[d] = l->end - limit;
                later = true;
            }
        }
        if (!later) {
            plan->value = longest(k);
            settle(k, plan);
            return true;
        }
    }
    return false;
}

bool pbi_stages_value(const pbi_stages_kit *k, pbi_stages_plan *plan, uint64_t limit)
{
    if (k->span && limit != UINT64_MAX)
        return shorten(k, plan, limit);
    memset(plan->release, 0, k->s->devices * sizeof *plan->release);
    if (!pbi_stages_simulate(k, plan))
        return false;
    plan->value = k->span ? longest(k) : last_end(k);
    return plan->value <= limit;
}

uint64_t pbi_stages_tighten(const pbi_stages_kit *k, pbi_stages_plan *plan, uint64_t least, pbi_stages_plan *spare)
{
    uint64_t runs = 0;
    while (k->span && plan->value > least) {
        uint64_t middle = least + (plan->value - least) / 2;
        pbi_stages_copy(k, spare, plan);
        if (pbi_stages_value(k, spare, middle))
            pbi_stages_copy(k, plan, spare);
        else
            least = middle + 1;
        runs += ROUNDS / 2;
    }
    return runs;
}

/* ---- the critical path ---- */

static void set_critical(const pbi_stages_kit *k, uint32_t step, pbi_critical *out)
{
    const pbi_stages_run *r = k->run;
    uint32_t d = 0;
    while (d + 1 < k->s->devices && (r->base[d + 1] <= step))
        d++;
    out->device = d;
    out->at = step - r->base[d];
    out->waits = out->at && r->before[step] == step - 1;
}

void pbi_stages_critical_last(const pbi_stages_kit *k, const pbi_stages_plan *plan, pbi_critical *out)
{
    uint32_t worst = 0;
    uint64_t most = 0;
    for (uint32_t d = 0; d < k->s->devices; d++) {
        const pbi_stages_lane *l = &k->run->lane[d];
        uint64_t value = k->span ? l->end - l->first : l->end;
        if (plan->count[d] && value > most) {
            most = value;
            worst = d;
        }
    }
    set_critical(k, k->run->base[worst] + plan->count[worst] - 1, out);
}

bool pbi_stages_critical_before(const pbi_stages_kit *k, pbi_critical *at)
{
    uint32_t before = k->run->before[k->run->base[at->device] + at->at];
    if (before == PBI_NO_STEP)
        return false;
    set_critical(k, before, at);
    return true;
}

/* ---- moves ---- */

static int by_time(const void *x, const void *y)
{
    const pbi_stages_event *a = x, *b = y;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static pb_status add_move(const pbi_stages *s, const pbi_stages_event *e, pb_moves *out)
{
    const pb_graph *g = s->game->graph;
    pb_status status = e->op != PB_COMPUTE ? pb_moves_add(out, e->op, e->node, 0)
                       : e->saves ? pb_moves_add_compute(out, e->node, PB_NO_NODE, &g->part[g->part_start[e->node]], 2)
                                  : pb_moves_add_compute(out, e->node, PB_NO_NODE, NULL, 0);
    return status == PB_OK ? pb_moves_set_when(out, e->place, e->at) : status;
}

pb_status pbi_stages_emit(pb_context *ctx, const pbi_stages_kit *k, pbi_stages_plan *plan, pb_moves *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_stages_run *r = k->run;
    size_t most = (size_t)k->most * 4 + 8;
    r->event = pb_arena_alloc(&scratch, most, sizeof *r->event);
    pb_status status = r->event ? PB_OK : PB_ENOMEM;
    if (status == PB_OK && !pbi_stages_simulate(k, plan))
        status = pbi_fail(ctx, PB_EBUG, "a plan of stages that fitted does not fit any more");
    if (status == PB_OK)
        qsort(r->event, r->events, sizeof *r->event, by_time);
    for (uint32_t i = 0; i < r->events && status == PB_OK; i++)
        status = add_move(k->s, &r->event[i], out);
    r->event = NULL;
    pb_arena_release(&scratch);
    return status;
}
