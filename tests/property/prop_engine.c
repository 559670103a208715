/* prop_engine.c -- certified schedules of all games on real memory: the measured peak is the verifier's to the byte, and every
 * kernel sees the bits that keeping everything gives. */
#include "base/rng.h"
#include "pebble/api.h"
#include "support/engine_case.h"
#include "support/law.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS = 3000, BYTES = 37, LENT = 4096 };

static uint64_t with_io, with_undo, with_lent, with_again; /* runs that had such moves */
static uint64_t with_timed, with_copies;
static uint64_t unfinished; /* random moves that did not end as the game wants */

static uint64_t ticking(void *state)
{
    (void)state;
    return 0;
}

/* Sizes in bytes, so that nothing is aligned by chance. */
static void scale(small_game *s)
{
    for (pb_node v = 0; v < s->node_count; v++) {
        s->size[v] *= BYTES;
        s->workspace[v] *= BYTES;
    }
    s->fixed_size *= BYTES;
    s->cap = s->cap < UINT64_MAX / BYTES ? s->cap * BYTES : s->cap;
    for (uint32_t t = 0; t < s->tier_count; t++)
        s->tiers[t].cap = s->tiers[t].cap < UINT64_MAX / BYTES ? s->tiers[t].cap * BYTES : s->tiers[t].cap;
}

static bool judge(law_bench *b, engine_case *c, pb_engine *e, const pb_certificate *plan)
{
    const pb_totals *totals = pb_certificate_totals(plan);
    pb_measured m;
    for (int again = 0; again < 2; again++) {
        unsigned char *fixed = pb_engine_fixed(e);
        uint64_t bytes = c->g->fixed_size;
        memset(fixed, 0x11 + again, bytes);
        pb_status status = pb_engine_run(e, &m);
        if (status != PB_OK)
            return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
        if (!engine_case_right(c, e))
            return law_broken(b, "%s", c->why);
        if (m.peak != totals->peak || m.borrowed != totals->borrowed || m.computed != totals->compute_count)
            return law_broken(b, "peak %" PRIu64 " and %" PRIu64 " borrowed, planned %" PRIu64 " and %" PRIu64, m.peak,
                              m.borrowed, totals->peak, totals->borrowed);
        for (uint64_t i = 0; i < bytes; i++)
            if (fixed[i] != 0x11 + again)
                return law_broken(b, "byte %" PRIu64 " of fixed memory changed", i);
    }
    with_io += m.loaded_bytes > 0;
    with_undo += m.uncomputed > 0;
    with_lent += m.borrowed > 0;
    with_again += m.recomputed > 0;
    return false;
}

static bool addresses_overlap(law_bench *b, pb_engine *e, const pb_certificate *plan, uint64_t align)
{
    pb_lifetimes lives;
    bool good;
    uint32_t one, other;
    if (pb_lifetimes_make(&b->ctx, pb_certificate_game(plan), pb_certificate_moves(plan), align, &b->arena, &lives) ||
        pb_packing_check(&b->ctx, &lives, pb_engine_packing(e), &good, &one, &other))
        return law_broken(b, "%s", b->ctx.error.message);
    return !good && law_broken(b, "lifetimes %u and %u overlap", one, other);
}

static bool run_plan(law_bench *b, const pb_certificate *plan, uint64_t seed)
{
    static const uint64_t aligns[] = {1, 8, 64};
    unsigned char lent[LENT + 64], before[LENT + 64];
    pbi_rng rng = {seed};
    engine_case c;
    pb_engine *e;
    for (size_t i = 0; i < sizeof lent; i++)
        lent[i] = before[i] = (unsigned char)pbi_rng_next(&rng);
    const pb_game *game = pb_certificate_game(plan);
    engine_case_open(&c, game->graph, game->borrow || pbi_rng_below(&rng, 2));
    c.lent = lent;
    c.before = before;
    c.lent_bytes = sizeof lent;
    pb_engine_options o = {.align = aligns[pbi_rng_below(&rng, 3)],
                           .check = pbi_rng_below(&rng, 3) == 0,
                           .slow_path = {"."},
                           .no_direct = pbi_rng_below(&rng, 2),
                           .no_overlap = pbi_rng_below(&rng, 4) == 0,
                           .io_threads = 1 + (uint32_t)pbi_rng_below(&rng, 3),
                           .borrowed = lent,
                           .borrowed_bytes = sizeof lent};
    b->ctx.clock_ns = ticking;
    pb_status status = pb_engine_new(&b->ctx, plan, &c.kernels, &o, &e);
    bool broken = true;
    if (status != PB_OK) {
        law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    } else {
        broken = judge(b, &c, e, plan) || (!o.check && addresses_overlap(b, e, plan, o.align));
        if (!broken && memcmp(lent, before, sizeof lent) != 0)
            broken = law_broken(b, "borrowed memory did not come back");
        pb_engine_free(e);
    }
    b->ctx.clock_ns = NULL;
    engine_case_close(&c);
    return broken;
}

static bool plans_fail(law_bench *b)
{
    small_game s = *b->small;
    pb_game game;
    pb_plan_result p;
    scale(&s);
    if (s.kind != PB_GAME_TIERED && s.seed % 3 == 0)
        s.borrow = BYTES * (1 + s.seed % 5);
    if (!small_game_build(&b->ctx, &s, &b->arena, &game))
        return false;
    b->ctx.tick_limit = TICKS;
    pb_status status = pb_plan(&b->ctx, &game, &(pb_request){.seed = s.seed}, &b->arena, &p);
    b->ctx.tick_limit = 0;
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    return p.certificate && run_plan(b, p.certificate, s.seed);
}

static bool random_moves_fail(law_bench *b)
{
    small_game s = *b->small;
    pb_game game;
    pb_moves moves;
    pb_verdict verdict;
    scale(&s);
    s.cap = PB_UNLIMITED;
    s.borrow = s.seed % 3 ? 0 : LENT / 64;
    if (s.kind == PB_GAME_TIERED && s.tier_count < 2 && s.seed % 4 == 0)
        s.tiers[s.tier_count++] = (pb_tier){.store_cost = 1, .cap = PB_UNLIMITED};
    for (pb_node v = 0; v < s.node_count; v++)
        if (s.kind != PB_GAME_TIERED || !s.tier_count)
            s.flags[v] &= (uint16_t)~PB_NODE_GIVEN_SLOW;
    if (s.tier_count)
        s.tiers[0].cap = PB_UNLIMITED;
    if (!small_game_build(&b->ctx, &s, &b->arena, &game))
        return false;
    pb_moves_init(&moves, &b->arena);
    random_schedule(&game, s.seed, &moves);
    if (pb_verify(&b->ctx, &game, &moves, &b->arena, &verdict) != PB_OK)
        return law_broken(b, "%s", b->ctx.error.message);
    if (!verdict.certificate)
        return unfinished++, false; /* a once node in the way, or borrowed memory that cannot be given back */
    return run_plan(b, verdict.certificate, s.seed);
}

/* A machine with a processor, a second memory and links to and from it, on one lane or on two. */
static void make_machine(pb_machine *m, pb_machine_memory memories[2], pb_machine_processor *p,
                         pb_machine_link links[2], const small_game *s)
{
    bool second = s->seed % 8 == 0 && !s->fixed_size; /* the processor's memory is the second one */
    memories[second] = (pb_machine_memory){.name = "fast", .cap = s->cap};
    memories[!second] = (pb_machine_memory){.name = "far", .cap = PB_UNLIMITED};
    *p = (pb_machine_processor){.name = "gpu", .memory = second};
    links[0] = (pb_machine_link){.name = "out", .from = second, .to = !second, .bandwidth = 20000000000};
    links[1] = (pb_machine_link){.name = "in", .from = !second, .to = second, .bandwidth = 20000000000, .latency = 1};
    if (s->seed % 5 == 0)
        links[0].lane = links[1].lane = "bus";
    *m = (pb_machine){.name = "m",
                      .time_unit = "ns",
                      .per_second = 1000000000,
                      .memories = memories,
                      .processors = p,
                      .links = links,
                      .memory_count = 2,
                      .processor_count = 1,
                      .link_count = 2};
}

static bool run_timed(law_bench *b, const pb_certificate *plan, uint64_t seed)
{
    engine_case c;
    pb_engine *e;
    engine_case_open(&c, pb_certificate_game(plan)->graph, false);
    pb_engine_options o = {
        .align = seed % 2 ? 1 : 64, .slow_path = {seed % 4 == 0 ? "." : NULL}, .throttle = seed % 3 == 0};
    pb_status status = pb_engine_new(&b->ctx, plan, &c.kernels, &o, &e);
    bool broken = status != PB_OK && law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    if (status == PB_OK) {
        broken = judge(b, &c, e, plan) || addresses_overlap(b, e, plan, o.align);
        pb_engine_free(e);
    }
    engine_case_close(&c);
    return broken;
}

static bool timed_plans_fail(law_bench *b)
{
    small_game s = *b->small;
    pb_game game;
    pb_plan_result p;
    pb_machine m;
    pb_machine_memory memories[2];
    pb_machine_processor processor;
    pb_machine_link links[2];
    scale(&s);
    s.kind = PB_GAME_REMAT;
    s.cap = s.cap / 16 * (9 + s.seed % 8);
    for (pb_node v = 0; v < s.node_count; v++) {
        s.cost[v] *= 1000; /* copies are fast, so that plans use them */
        if (!(s.flags[v] & PB_NODE_GIVEN))
            s.flags[v] &= (uint16_t)~PB_NODE_GIVEN_SLOW;
    }
    if (!small_game_build(&b->ctx, &s, &b->arena, &game))
        return false;
    make_machine(&m, memories, &processor, links, &s);
    game.kind = PB_GAME_TIMED;
    game.cap = memories[0].cap;
    if (pb_timing_make(&b->ctx, game.graph, &m, &b->arena, &game.timing) != PB_OK ||
        pb_timing_graph(&b->ctx, game.timing, &b->arena, &game.graph) != PB_OK)
        return false;
    b->ctx.tick_limit = TICKS;
    pb_status status = pb_plan(&b->ctx, &game, &(pb_request){.seed = s.seed}, &b->arena, &p);
    b->ctx.tick_limit = 0;
    if (status != PB_OK)
        return law_broken(b, "%s: %s", pb_status_text(status), b->ctx.error.message);
    with_timed += p.certificate != NULL;
    with_copies += p.certificate && p.schedule.metrics.io;
    return p.certificate && run_timed(b, p.certificate, s.seed);
}

int main(int argc, char **argv)
{
    uint64_t cases = law_cases(argc, argv, 3000);
    law_run("plans run in their peak and give the right bits", plans_fail, PB_GAME_ALL, cases);
    law_run_large("and so do those of larger games", plans_fail, PB_GAME_ALL, cases / 4 + 1);
    law_run_large("whatever moves are made", random_moves_fail, PB_GAME_ALL, cases);
    law_run_large("and plans of the timed game, whose copies overlap computation", timed_plans_fail, PB_GAME_REMAT,
                  cases / 4 + 1);
    int code = law_finish();
    printf("%" PRIu64 " with loads, %" PRIu64 " with uncomputations, %" PRIu64 " with borrowed memory, %" PRIu64
           " with recomputation\n",
           with_io, with_undo, with_lent, with_again);
    printf("%" PRIu64 " timed plans, %" PRIu64 " with copies\n", with_timed, with_copies);
    bool all = with_io > cases / 50 && with_undo > cases / 50 && with_lent > cases / 100 && with_again > cases / 50;
    all = all && with_timed > cases / 10 && with_copies > cases / 200;
    return all && unfinished < cases / 2 ? code : 1;
}
