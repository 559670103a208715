/* prop_timed.c -- tiny timed games against the exhaustive search: no bound above the minimum, no plan below it, and
 * no wrong `optimal` or `infeasible`. */
#include "base/rng.h"
#include "oracle/timed_force.h"
#include "pebble/api.h"
#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    pb_context ctx;
    pb_arena arena;
    tf_problem p;
    pb_machine machine;
    pb_machine_memory memories[2];
    pb_machine_processor processor;
    pb_machine_link links[2];
    pb_game game;
} bench;

static uint32_t below(pbi_rng *r, uint32_t n) { return (uint32_t)pbi_rng_below(r, n); }

/* Turns some nodes into by-products of others, or of nodes in front of them; gives some a recipe. */
static void draw_ways(pbi_rng *r, tf_problem *p)
{
    for (uint32_t v = 1; v < p->node_count; v++) {
        uint32_t maker = below(r, v);
        bool free = !((p->given | p->once) >> v & 1) && !(p->given >> maker & 1) && !p->parts[v];
        for (uint32_t u = 0; u < p->node_count; u++)
            free &= !(p->parts[u] >> maker & 1);
        if (below(r, 4) || !free)
            continue;
        p->parts[maker] |= 1u << v;
        p->reads[v] = p->inplace[v] = p->duration[v] = p->workspace[v] = 0;
        for (uint32_t u = maker; u < v; u++) /* what reads it comes after its maker in any case */
            p->reads[u] &= ~(1u << v);
    }
    for (uint32_t v = 0; v < p->node_count; v++) {
        if (below(r, 5))
            continue;
        p->recipes |= 1u << v;
        p->recipe_duration[v] = below(r, 3);
        p->recipe_workspace[v] = below(r, 5) == 0;
        p->recipe_reads[v] = below(r, 1u << p->node_count) & below(r, 1u << p->node_count) & ~(1u << v);
        p->recipe_inplace[v] = below(r, 2) ? p->recipe_reads[v] & (1u << below(r, TF_MAX)) : 0;
    }
}

static void draw(pbi_rng *r, tf_problem *p)
{
    uint32_t latency = below(r, 2), per_unit = below(r, 3);
    memset(p, 0, sizeof *p);
    p->node_count = 1 + below(r, TF_MAX);
    p->one_lane = below(r, 4) == 0;
    p->fixed = below(r, 3) == 0;
    for (uint32_t v = 0; v < p->node_count; v++) {
        bool given = below(r, 6) == 0;
        p->size[v] = below(r, 4);
        p->duration[v] = given ? 0 : below(r, 5);
        p->workspace[v] = !given && below(r, 5) == 0 ? 1 + below(r, 2) : 0;
        p->out[v] = p->in[v] = latency + per_unit * p->size[v];
        for (uint32_t u = 0; u < v && !given; u++)
            p->reads[v] |= (uint32_t)(below(r, 5) < 3) << u;
        p->inplace[v] = below(r, 4) == 0 ? p->reads[v] & (1u << below(r, TF_MAX)) : 0;
        p->given |= (uint32_t)given << v;
        p->outside |= (uint32_t)(given && below(r, 2)) << v;
        p->once |= (uint32_t)(!given && below(r, 6) == 0) << v;
        p->keep |= (uint32_t)(below(r, 8) == 0) << v;
    }
    if (below(r, 2))
        draw_ways(r, p);
    uint32_t all = 0;
    for (uint32_t v = 0; v < p->node_count; v++)
        all += p->size[v];
    p->cap = p->fixed + 1 + below(r, all + 3);
}

static void make_machine(bench *b, const pb_machine_link *link)
{
    b->memories[0] = (pb_machine_memory){.name = "fast", .cap = b->p.cap};
    b->memories[1] = (pb_machine_memory){.name = "far", .cap = PB_UNLIMITED};
    b->processor = (pb_machine_processor){.name = "gpu"};
    b->links[0] = b->links[1] = *link;
    b->links[0].name = "out";
    b->links[1].name = "in";
    b->links[0].from = b->links[1].to = 0;
    b->links[0].to = b->links[1].from = 1;
    b->machine = (pb_machine){.name = "m",
                              .time_unit = "tick",
                              .memories = b->memories,
                              .processors = &b->processor,
                              .links = b->links,
                              .memory_count = 2,
                              .processor_count = 1,
                              .link_count = 2};
}

/* By-products and recipes. */
static bool add_ways(pb_builder *builder, const tf_problem *p)
{
    bool good = true;
    for (uint32_t v = 0; v < p->node_count; v++) {
        pb_recipe_spec spec = {.cost = p->recipe_duration[v], .workspace = p->recipe_workspace[v]};
        uint32_t number;
        for (uint32_t w = 0; w < p->node_count && good; w++)
            good = !(p->parts[v] >> w & 1) || pb_builder_set_byproduct(builder, w, v) == PB_OK;
        if (!(p->recipes >> v & 1) || !good)
            continue;
        good = pb_builder_add_recipe(builder, v, &spec, &number) == PB_OK;
        for (uint32_t u = 0; u < p->node_count && good; u++) {
            good = !(p->recipe_reads[v] >> u & 1) || pb_builder_add_recipe_input(builder, number, u) == PB_OK;
            if (good && (p->recipe_inplace[v] >> u & 1))
                good = pb_builder_add_recipe_inplace(builder, number, u) == PB_OK;
        }
    }
    return good;
}

/* The library's game; targets are what nothing reads. */
static bool build(bench *b, const pb_machine_link *link)
{
    tf_problem *p = &b->p;
    pb_builder *builder;
    const pb_graph *g;
    bool good = pb_builder_new(&b->ctx, &builder) == PB_OK;
    for (uint32_t v = 0; v < p->node_count && good; v++) {
        uint16_t flags =
            (uint16_t)((p->given >> v & 1 ? PB_NODE_GIVEN : 0) | (p->once >> v & 1 ? PB_NODE_ONCE : 0) |
                       (p->outside >> v & 1 ? PB_NODE_GIVEN_SLOW : 0) | (p->keep >> v & 1 ? PB_NODE_KEEP : 0));
        pb_node_spec spec = {.cost = p->duration[v], .size = p->size[v], .workspace = p->workspace[v], .flags = flags};
        pb_node out;
        good = pb_builder_add_node(builder, &spec, &out) == PB_OK;
        for (uint32_t u = 0; u < v && good; u++)
            good = !(p->reads[v] >> u & 1) || pb_builder_add_edge(builder, u, v) == PB_OK;
        for (uint32_t u = 0; u < v && good; u++)
            good = !(p->inplace[v] >> u & 1) || pb_builder_add_inplace(builder, v, u) == PB_OK;
    }
    good = good && add_ways(builder, p);
    if (good)
        pb_builder_set_fixed_size(builder, p->fixed);
    good = good && pb_builder_freeze(builder, &b->arena, &g) == PB_OK;
    pb_builder_free(builder);
    if (!good)
        return false;
    for (uint32_t i = 0; i < g->target_count; i++)
        p->targets |= 1u << g->targets[i];
    make_machine(b, link);
    b->game = (pb_game){.kind = PB_GAME_TIMED, .cap = p->cap, .weights = PB_WEIGHTS_DEFAULT};
    return pb_timing_make(&b->ctx, g, &b->machine, &b->arena, &b->game.timing) == PB_OK &&
           pb_timing_graph(&b->ctx, b->game.timing, &b->arena, &b->game.graph) == PB_OK;
}

static const char *judge_bounds(bench *b, bool feasible, uint32_t best)
{
    pb_timed_bounds bounds;
    if (pb_timed_bounds_make(&b->ctx, &b->game, 0, &bounds) != PB_OK)
        return b->ctx.error.message;
    if (bounds.infeasible && feasible)
        return "the bounds say infeasible";
    return feasible && !bounds.infeasible && bounds.makespan > best ? "a bound is above the minimum" : NULL;
}

static const char *judge_plan(bench *b, const char *strategy, bool feasible, uint32_t best)
{
    pb_request request = {.strategy = strategy, .seed = 1, .threads = 1};
    pb_plan_result plan;
    b->ctx.tick_limit = 3000;
    pb_status status = pb_plan(&b->ctx, &b->game, &request, &b->arena, &plan);
    b->ctx.tick_limit = 0;
    if (status != PB_OK)
        return b->ctx.error.message;
    const pb_schedule *s = &plan.schedule;
    if (s->outcome == PB_INFEASIBLE)
        return feasible ? "a wrong infeasible" : NULL;
    if (s->outcome == PB_GAVE_UP)
        return NULL;
    if (!feasible || s->metrics.makespan < best)
        return "a plan is better than the minimum";
    return s->outcome == PB_OPTIMAL && s->metrics.makespan != best ? "a wrong optimal" : NULL;
}

/* 0: the search was too large; 1: fine; 2: a law is broken. */
static int judge(uint64_t seed, uint64_t *found, uint64_t *rich)
{
    static const char *const strategies[] = {"overlap", "offload-all", "back-to-back"};
    bench b;
    pbi_rng r = {seed};
    bool feasible;
    uint32_t best;
    memset(&b, 0, sizeof b);
    pb_context_init(&b.ctx);
    pb_arena_init(&b.arena, &b.ctx);
    draw(&r, &b.p);
    pb_machine_link link = {.lane = b.p.one_lane ? "bus" : NULL};
    for (uint32_t v = 0; v < b.p.node_count; v++) /* the times that `draw` chose: a latency and a time per unit */
        link.latency = b.p.size[v] == 0 ? b.p.out[v] : link.latency;
    uint32_t one = UINT32_MAX, two = UINT32_MAX;
    for (uint32_t v = 0; v < b.p.node_count; v++)
        for (uint32_t u = 0; u < b.p.node_count; u++)
            if (b.p.size[u] > b.p.size[v]) {
                one = u;
                two = v;
            }
    if (one != UINT32_MAX) {
        link.per_unit = (b.p.out[one] - b.p.out[two]) / (b.p.size[one] - b.p.size[two]);
        link.latency = b.p.out[two] - link.per_unit * b.p.size[two];
    } else {
        link.latency = b.p.out[0];
    }
    const char *why = NULL;
    bool known = build(&b, &link) && tf_solve(&b.p, &feasible, &best);
    if (known)
        why = judge_bounds(&b, feasible, best);
    for (int i = 0; i < 3 && known && !why; i++)
        why = judge_plan(&b, strategies[i], feasible, best);
    *found += known && feasible;
    for (uint32_t v = 0; v < b.p.node_count && known && feasible; v++)
        *rich += b.p.parts[v] || (b.p.recipes >> v & 1);
    if (why)
        printf("seed %llu: %s (minimum %u)\n", (unsigned long long)seed, why, feasible ? best : 0);
    pb_arena_release(&b.arena);
    return why ? 2 : known;
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : test_cases(1000), judged = 0, found = 0, rich = 0,
             broken = 0;
    for (uint64_t seed = 1; seed <= cases && broken < 3; seed++) {
        int answer = judge(seed, &found, &rich);
        judged += answer > 0;
        broken += answer == 2;
    }
    printf("timed games: %llu judged, %llu feasible, with %llu nodes that have by-products or a recipe, %llu broken\n",
           (unsigned long long)judged, (unsigned long long)found, (unsigned long long)rich, (unsigned long long)broken);
    return broken || judged < cases / 2 || found < cases / 4 || rich < cases / 8;
}
