/* prop_addressed.c -- plans with addresses: honest, apart, within the cap where they say so, and read back from files. */
#include "pebble/api.h"
#include "support/io_case.h"
#include "support/law.h"
#include "support/plan_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TICKS = 5000 };

static unsigned long plans, replanned, rescued, missed;

static bool judged(law_bench *b, const pb_plan_result *p, const pb_addresses *a, char *why, size_t room)
{
    bool good = false;
    return pb_judge_addresses(&b->ctx, p->certificate, a, &good, why, room) == PB_OK && good;
}

/* Damage must be seen: a block that is too small, an address too few, two values at one address. */
static bool damage_passes(law_bench *b, const pb_plan_result *p)
{
    char why[PLAN_WHY];
    pb_addresses a = p->schedule.addresses;
    if (!a.count)
        return false;
    a.size--;
    if (judged(b, p, &a, why, sizeof why))
        return true;
    a.size++;
    a.count--;
    if (judged(b, p, &a, why, sizeof why))
        return true;
    a.count++;
    uint64_t *offset = pb_arena_zero(&b->arena, a.count, sizeof *offset);
    bool all_low = true;
    for (uint32_t i = 0; i < a.count; i++)
        all_low = all_low && !a.offset[i];
    a.offset = offset;
    return offset && !all_low && judged(b, p, &a, why, sizeof why);
}

/* The same bytes again, with all offsets. */
static bool file_differs(law_bench *b, const pb_plan_result *p)
{
    pb_buffer bytes;
    pb_schedule back;
    const pb_addresses *a = &p->schedule.addresses, *c = &back.addresses;
    for (int binary = 0; binary < 2; binary++) {
        pb_format format = binary ? PB_FORMAT_BINARY : PB_FORMAT_JSON;
        if (schedule_bytes(&b->ctx, &p->schedule, format, &b->arena, &bytes) != PB_OK ||
            schedule_from(&b->ctx, bytes.bytes, bytes.length, 7, format, p->game->graph, &b->arena, &back) != PB_OK)
            return true;
        if (a->align != c->align || a->size != c->size || a->minimal != c->minimal || a->count != c->count ||
            (a->count && memcmp(a->offset, c->offset, a->count * sizeof *a->offset) != 0))
            return true;
    }
    return schedule_round_trips(&b->ctx, &p->schedule, p->game->graph) != NULL;
}

static bool addresses_fail(law_bench *b)
{
    char why[PLAN_WHY];
    pb_addressed out, again;
    uint64_t align = UINT64_C(1) << b->small->seed % 3;
    pb_request request = {.seed = b->small->seed};
    b->ctx.tick_limit = TICKS;
    if (pb_plan_addressed(&b->ctx, &b->game, &request, align, &b->arena, &out) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    const pb_plan_result *p = &out.planned;
    if (!plan_is_honest(&b->game, p, why))
        return law_broken(b, "%s", why);
    if (!p->certificate)
        return p->schedule.addresses.align ? law_broken(b, "addresses without a plan") : false;
    const pb_addresses *a = &p->schedule.addresses;
    plans++;
    replanned += out.plans > 1;
    rescued += out.plans > 1 && out.fits;
    missed += !out.fits;
    if (!judged(b, p, a, why, sizeof why))
        return law_broken(b, "%s", why);
    if (out.fits != (a->size <= b->game.cap) || out.lost != a->size - p->schedule.metrics.peak)
        return law_broken(b, "fits %d, lost %" PRIu64 ", size %" PRIu64, out.fits, out.lost, a->size);
    if (p->schedule.outcome == PB_OPTIMAL && out.planned_cap != b->game.cap)
        return law_broken(b, "optimal, but planned for %" PRIu64, out.planned_cap);
    if (damage_passes(b, p))
        return law_broken(b, "damaged addresses pass");
    if (file_differs(b, p))
        return law_broken(b, "the file has other addresses");
    if (pb_plan_addressed(&b->ctx, &b->game, &request, align, &b->arena, &again) != PB_OK ||
        !plans_are_equal(p, &again.planned, why) || again.packing.size != out.packing.size)
        return law_broken(b, "not the same again");
    return false;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 1500);
    law_run("plans with addresses are what they say", addresses_fail, PB_GAME_ALL, cases);
    law_run_large("plans with addresses are what they say, on larger games", addresses_fail, PB_GAME_ALL, cases / 3);
    printf("%lu plans; %lu planned again, of which %lu then fit; %lu do not fit\n", plans, replanned, rescued, missed);
    return law_finish();
}
