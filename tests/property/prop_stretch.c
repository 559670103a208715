/* prop_stretch.c -- solving a stretch of a plan anew keeps the plan legal and makes it cheaper by just as much as is said; solving
 * all of it gives the least work there is. */
#include "plan/sequence/sequence.h"
#include "plan/statespace/stretch.h"

#include "base/rng.h"
#include "pebble/full.h"
#include "support/law.h"

#include <inttypes.h>
#include <string.h>

enum { ROOM = 4000 };

static uint64_t tried, improved, whole;

/* The computations of a plan, in their order. False: there is none, or too many. */
static bool take(const pb_plan_result *p, pbi_stretch_plan *out)
{
    out->count = 0;
    for (pb_step k = 0; p->certificate && k < p->schedule.moves.count; k++) {
        const pb_move *m = &p->schedule.moves.move[k];
        if (m->op == PB_COMPUTE && out->count == out->room / 2)
            return false;
        if (m->op == PB_COMPUTE)
            out->event[out->count++] = m->node;
    }
    return out->count > 0;
}

static bool measure(law_bench *b, const pb_game *game, const pbi_stretch_plan *p, pbi_figures *figures)
{
    pbi_sequence s;
    pbi_sequence_init(&s, &b->arena);
    for (uint32_t i = 0; i < p->count; i++)
        if (pbi_sequence_add(&s, p->event[i]) != PB_OK)
            return false;
    return pbi_sequence_emit(&b->ctx, game, &s, NULL, figures) == PB_OK;
}

static bool try_fails(law_bench *b, pbi_stretches *all, pbi_stretch_plan *p, uint32_t first, uint32_t length)
{
    pbi_figures before, after;
    uint64_t saved;
    if (!measure(b, all->game, p, &before) || !before.fits)
        return false; /* frees of the plan were cleverer than those that follow from its order */
    if (pbi_stretch_try(all, p, first, length, 20000, &saved) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    tried++;
    improved += saved > 0;
    if (!measure(b, all->game, p, &after))
        return law_broken(b, "after %u events from %u on: %s", length, first, b->ctx.error.message);
    return (!after.fits || after.time + saved != before.time) &&
           law_broken(b,
                      "%u events from %u on: work %" PRIu64 " less %" PRIu64 " is said to be spared, now %" PRIu64 "%s",
                      length, first, before.time, saved, after.time, after.fits ? "" : ", over the cap");
}

static bool whole_fails(law_bench *b, pbi_stretches *all, pbi_stretch_plan *p)
{
    bf_answer best;
    pbi_figures figures;
    if (!measure(b, all->game, p, &figures) || !figures.fits)
        return false;
    if (try_fails(b, all, p, 0, p->count))
        return true;
    if (!bf_least_makespan(b->space, &b->problem, &best))
        return law_skip(b);
    whole++;
    return (!measure(b, all->game, p, &figures) || figures.time != best.value) &&
           law_broken(b, "all of it: %" PRIu64 ", but the least is %" PRIu64, figures.time, best.value);
}

static bool law_fails(law_bench *b)
{
    static const char *const spec[] = {"demand", "recompute-all", "last-use"};
    pb_game game = b->game;
    pbi_stretches all;
    pb_plan_result planned;
    pbi_stretch_plan p = {.room = ROOM};
    pbi_rng rng = {.state = b->small->seed};
    game.weights = PB_WEIGHTS_DEFAULT;
    if (!pbi_stretch_apply(&game))
        return false;
    pb_request request = {.strategy = spec[b->small->seed % 3], .seed = 1};
    p.event = pb_arena_alloc(&b->arena, ROOM, sizeof *p.event);
    if (!p.event || pb_plan(&b->ctx, &game, &request, &b->arena, &planned) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (!take(&planned, &p))
        return false;
    pbi_event_space events;
    bool fails = !pbi_event_space_init(&events, &game, &b->arena) ||
                 pbi_stretch_init(&all, &b->ctx, &game, &events, &b->arena) != PB_OK;
    for (int i = 0; i < 6 && !fails; i++)
        fails = try_fails(b, &all, &p, (uint32_t)pbi_rng_below(&rng, p.count), 1 + (uint32_t)pbi_rng_below(&rng, 8));
    fails = fails || whole_fails(b, &all, &p);
    pbi_stretch_close(&all);
    return fails;
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 10000);
    law_run("a stretch solved anew is legal and cheaper", law_fails, PB_GAME_REMAT, cases);
    printf("       stretches %" PRIu64 ", cheaper %" PRIu64 ", whole plans at the least work %" PRIu64 "\n", tried,
           improved, whole);
    bool weak = cases >= 1000 && (improved == 0 || whole == 0);
    if (weak)
        puts("nothing became cheaper: this judges nothing");
    return law_finish() || weak;
}
