/* prop_sweep.c -- under fifty caps from all that is needed in program order down to the least that is known to work, on graphs of
 * ten families, the work never rises with the cap, and every cap has a plan. */
#include "pebble/full.h"
#include "support/cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct subject {
    const char *family;
    pb_option params[3];
    uint32_t param_count;
} subject;

static const subject subjects[] = {
    {"layered", {{"nodes", "60"}, {"seed", "1"}}, 2},
    {"layered", {{"nodes", "150"}, {"seed", "2"}}, 2},
    {"layered", {{"nodes", "100"}, {"seed", "7"}}, 2},
    {"adjoint-chain", {{"steps", "120"}}, 1},
    {"mlp", {{"depth", "12"}}, 1},
    {"resnet", {{"depth", "18"}}, 1},
    {"unet", {{"depth", "3"}}, 1},
    {"transformer", {{"blocks", "2"}}, 1},
    {"transformer", {{"blocks", "3"}, {"attention", "flash"}}, 2},
    {"pipeline", {{NULL, NULL}}, 0},
};

/* 0, or what is wrong with the sweep. */
static const char *fault_of(const pb_sweep *s, uint32_t caps)
{
    if (s->cap_count != caps)
        return "some caps are missing";
    for (uint32_t k = 0; k < s->cap_count; k++) {
        const pb_schedule *f = &s->cells[k].schedule;
        if (!s->cells[k].certificate)
            return "a cap above the least has no plan";
        if (f->metrics.peak > s->caps[k])
            return "a plan does not fit";
        if (k && f->metrics.makespan < s->cells[k - 1].schedule.metrics.makespan)
            return "the work rises with the cap";
        if (f->lower_bound > f->metrics.makespan)
            return "a plan is below its bound";
    }
    return NULL;
}

static bool run(const subject *j, uint32_t points)
{
    pb_context ctx;
    pb_arena arena;
    pb_game game = {.kind = PB_GAME_REMAT, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
    pb_sweep_request request = {.plan = PB_REQUEST_DEFAULT};
    pb_plan_result least;
    pb_sweep sweep;
    uint64_t written, *caps = NULL;
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_status status = pb_generate(&ctx, j->family, j->params, j->param_count, &arena, &game.graph);
    if (status == PB_OK)
        status = pb_graph_program_peak(&ctx, game.graph, &written);
    ctx.tick_limit = 3000;
    if (status == PB_OK)
        status = pb_least_cap(&ctx, &game, &request.plan, &arena, &least);
    if (status == PB_OK)
        status = pb_sweep_caps(&arena, written, least.schedule.metrics.peak, points, &caps, &request.cap_count);
    request.caps = caps;
    request.known = &least;
    request.known_count = 1;
    if (status == PB_OK)
        status = pb_sweep_make(&ctx, &game, &request, &arena, &sweep);
    const char *fault = status != PB_OK ? ctx.error.message : fault_of(&sweep, points);
    if (fault)
        printf("%s %s: %s\n", j->family, j->param_count ? j->params[0].value : "", fault);
    pb_arena_release(&arena);
    return !fault;
}

int main(void)
{
    uint64_t points = test_cases(50);
    unsigned failed = 0, count = sizeof subjects / sizeof *subjects;
    for (unsigned i = 0; i < count; i++)
        failed += !run(&subjects[i], points < 3 ? 3 : points > 50 ? 50 : (uint32_t)points);
    printf("%u of %u graphs, %" PRIu64 " caps each\n", count - failed, count, points);
    return failed != 0;
}
