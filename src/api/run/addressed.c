/* addressed.c -- plans whose values have addresses; plans again if the addresses do not fit.
 *
 * Problem     a plan keeps to a cap as a sum of sizes; its values need addresses, and gaps between them may exceed
 * the cap.
 * Idea        plan for the cap and pack. If the block is too large, subtract the excess from the cap for the next
 * plan, with
 *             another seed. Once a plan fits, try caps between it and those that did not fit, for plans that recompute
 *             less.
 * Invariants  `high` is the smallest cap whose addresses did not fit, `low` the largest that was too low to plan for or
 *             whose plan fits.
 * Cost        at most PLANS plans, REFINE of them after one that fits, and a packing of each; where plans can be placed
 *             (place.h), at most 15 of them first, and TRIES plans after that.
 * Limits      nothing is proved: fitting is not monotone in the cap, and other plans of the same peak may fit.
 */
#include "api/pipeline/pipeline.h"
#include "api/pipeline/share.h"
#include "api/run/place.h"
#include "base/context.h"
#include "game/untimed.h"
#include "plan/placed/placed.h"

#include <stdio.h>

enum { PLANS = 8, TRIES = 3, REFINE = 2, LONGER = 4 };
#define PACK_EFFORT 400000000u
#define PLACED_PACK_EFFORT 40000000u /* if plans can also be placed */

typedef struct attempt {
    pb_arena arena;
    bool any; /* there is a plan; the arena is in use in any case */
    pb_plan_result planned;
    pb_lifetimes lives; /* empty if it was placed */
    pb_packing packing;
    bool placed; /* made for its addresses (place.h) */
} attempt;

typedef struct maker {
    pb_context *ctx;
    const pb_game *game;
    const pb_request *request;
    uint64_t align;
    uint64_t begin_ns;
    attempt first, best; /* the plan for the cap itself; the best so far if it is another one */
    bool replaced;
    uint32_t plans, placings;
    const pb_moves *start; /* for the next plan, or NULL */
    bool places;           /* plans can be placed */
    bool long_packing;     /* packings get their full effort all the same */
    bool last;             /* the next plan may take all the remaining time */
} maker;

static bool fits(const maker *m, const attempt *a) { return a->packing.size <= m->game->cap; }

/* Quick addresses for a plan, even after a stop. */
static pb_status pack_quickly(maker *m, attempt *a)
{
    pbi_held held = pbi_hold(m->ctx);
    pb_pack_options options = {.cap = m->game->cap, .effort = 1, .seed = m->request->seed};
    pb_status status =
        pb_lifetimes_make(m->ctx, a->planned.game, &a->planned.schedule.moves, m->align, &a->arena, &a->lives);
    if (status == PB_OK)
        status = pb_pack(m->ctx, &a->lives, &options, &a->arena, &a->packing);
    pbi_resume(m->ctx, held);
    return status;
}

/* A smaller packing, if the current one does not fit; without a cap the smallest possible. */
static pb_status pack_better(maker *m, attempt *a, uint64_t effort, uint64_t seed)
{
    pb_packing better;
    bool enough = a->packing.minimal || (fits(m, a) && m->game->cap != PB_UNLIMITED);
    if (enough || m->ctx->stopped != PB_GO_ON)
        return PB_OK;
    pb_pack_options options = {.cap = m->game->cap, .effort = effort, .seed = seed};
    pb_status status = pb_pack(m->ctx, &a->lives, &options, &a->arena, &better);
    if (status == PB_OK && (better.size < a->packing.size || better.minimal))
        a->packing = better;
    return status == PB_ECANCELLED ? PB_OK : status;
}

/* The time for the next plan: a part of what is left, so that others can follow. */
static uint64_t time_share(const maker *m)
{
    enum { PARTS = 3 };
    uint64_t all = m->request->time_ns, parts = m->last ? 1 : PARTS;
    uint64_t spent = m->ctx->clock_ns ? m->ctx->clock_ns(m->ctx->callback_state) - m->begin_ns : 0;
    return !all ? 0 : spent < all ? (all - spent) / parts + 1 : 1;
}

/* A plan for this cap, packed. a->any is false if there is none. */
static pb_status plan_and_pack(maker *m, uint64_t cap, attempt *a)
{
    pb_game game = *m->game;
    pb_request request = *m->request;
    *a = (attempt){.any = false};
    pb_arena_init(&a->arena, m->ctx);
    if (game.kind == PB_GAME_TIMED && cap != game.cap && pb_game_with_cap(&a->arena, &game, cap) != PB_OK)
        return PB_ENOMEM;
    game.cap = cap;
    request.seed += m->plans;
    if (m->start)
        request.start = m->start;
    request.time_ns = m->game->cap == PB_UNLIMITED ? m->request->time_ns : time_share(m);
    pbi_share share;
    pbi_share_begin(&share, m->ctx, request.time_ns);
    pb_status status = pb_plan(m->ctx, &game, &request, &a->arena, &a->planned);
    pbi_share_end(&share);
    m->plans++;
    a->any = status == PB_OK && a->planned.certificate;
    if (a->any)
        status = pack_quickly(m, a);
    uint64_t effort = m->places && a != &m->first && !m->long_packing ? PLACED_PACK_EFFORT : PACK_EFFORT;
    return a->any && status == PB_OK ? pack_better(m, a, effort, request.seed) : status;
}

/* Places the plan of `base` in a block of the cap. */
static pb_status place(maker *m, const attempt *base, attempt *a)
{
    pbi_placed_plan placed;
    pbi_share share;
    pbi_place_options options = {m->game, m->align, m->request->seed + m->placings, &m->first.planned.schedule};
    *a = (attempt){.placed = true};
    pb_arena_init(&a->arena, m->ctx);
    m->placings++;
    pbi_share_begin(&share, m->ctx, m->request->time_ns ? time_share(m) : 0);
    pb_status status = pbi_place_plan(m->ctx, &base->planned, &options, &a->arena, &placed);
    pbi_share_end(&share);
    if (status == PB_OK && placed.any) {
        a->any = true;
        a->planned = placed.planned;
        a->packing = placed.packing;
        a->lives.count = placed.count;
    }
    return status == PB_ENOMEM ? PB_OK : status; /* other plans take less memory */
}

/* Plans that fit come first, then the cheaper ones; of those that do not fit, the smaller block. */
static bool is_better(const maker *m, const attempt *a, const attempt *b)
{
    if (fits(m, a) != fits(m, b))
        return fits(m, a);
    return fits(m, a) ? pbi_result_better(&a->planned, &b->planned) : a->packing.size < b->packing.size;
}

static const attempt *best_of(const maker *m) { return m->replaced ? &m->best : &m->first; }

/* Keeps the attempt, or releases its memory. */
static void keep_or_release(maker *m, attempt *a)
{
    if (!a->any || !is_better(m, a, best_of(m))) {
        pb_arena_release(&a->arena);
        return;
    }
    if (m->replaced)
        pb_arena_release(&m->best.arena);
    m->best = *a;
    m->replaced = true;
}

/* The best so far costs no more than the plan for the cap as a sum of sizes. */
static bool is_as_cheap(const maker *m)
{
    return fits(m, best_of(m)) && !pbi_result_better(&m->first.planned, &best_of(m)->planned);
}

/* Nothing fits yet, or only what costs a quarter more than the plan for the cap as a sum of sizes. */
static bool is_expensive(const maker *m)
{
    uint64_t sums = m->first.planned.schedule.metrics.makespan, now = best_of(m)->planned.schedule.metrics.makespan;
    return !fits(m, best_of(m)) || (now > sums && now - sums > sums / 4);
}

/* Plans for this cap, places the plan, and keeps what is better than the best so far. */
static pb_status plan_and_place(maker *m, uint64_t cap)
{
    attempt now, placed;
    pb_status status = plan_and_pack(m, cap, &now);
    if (status == PB_OK && now.any) {
        status = place(m, &now, &placed);
        keep_or_release(m, &placed);
    }
    now.any = now.any && status == PB_OK;
    keep_or_release(m, &now);
    return status;
}

/* Places plans for the cap and for a little less: the more room a plan leaves, the less has to be evicted because of
 * gaps. The last ones start from the best so far. */
static pb_status place_all(maker *m)
{
    static const uint8_t shares[] = {95, 98, 91, 97}; /* percent of the cap */
    enum { ALL = sizeof shares };
    attempt placed;
    pb_status status = place(m, &m->first, &placed);
    keep_or_release(m, &placed);
    for (uint32_t i = 0; i < ALL && status == PB_OK && m->ctx->stopped == PB_GO_ON && !is_as_cheap(m); i++) {
        if (i == ALL - 1 && best_of(m)->placed)
            m->start = &best_of(m)->planned.schedule.moves;
        status = plan_and_place(m, m->game->cap / 100 * shares[i]);
        m->start = NULL;
    }
    return status == PB_ECANCELLED ? PB_OK : status;
}

/* Which of several plans can be placed cheaply is a matter of luck: other seeds, while the best one is expensive.
 * Every second one starts from it. */
static pb_status place_more(maker *m)
{
    static const uint8_t shares[] = {96, 93, 99, 90, 94, 87, 97, 92, 84, 95}; /* percent of the cap */
    pb_status status = PB_OK;
    enum { ALL = sizeof shares };
    for (uint32_t i = 0; i < ALL && status == PB_OK && m->ctx->stopped == PB_GO_ON && is_expensive(m); i++) {
        if (i % 2 && fits(m, best_of(m)))
            m->start = &best_of(m)->planned.schedule.moves;
        status = plan_and_place(m, m->game->cap / 100 * shares[i]);
        m->start = NULL;
    }
    return status == PB_ECANCELLED ? PB_OK : status;
}

/* The cap to plan for after a plan whose addresses did not fit. */
static uint64_t lowered(const maker *m, const attempt *a, uint64_t cap)
{
    uint64_t missing = a->packing.size - m->game->cap, peak = a->planned.schedule.metrics.peak;
    uint64_t from = peak < cap ? peak : cap;
    return missing < from ? from - missing : 0;
}

/* Tries other plans until one fits and no cap between it and those that do not fit is worth a try. */
static pb_status try_others(maker *m)
{
    uint64_t low = 0, high = m->game->cap, cap = lowered(m, &m->first, high);
    uint32_t most = m->plans + TRIES < PLANS ? PLANS : m->plans + TRIES;
    pb_status status = PB_OK;
    while (status == PB_OK && m->plans < most && high - low > 1 && m->ctx->stopped == PB_GO_ON) {
        attempt a;
        if (cap <= low || cap >= high)
            cap = low + (high - low) / 2;
        status = plan_and_pack(m, cap, &a);
        bool misses = a.any && status == PB_OK && !fits(m, &a);
        *(misses ? &high : &low) = cap;
        cap = misses ? lowered(m, &a, cap) : 0;
        if (a.any && !misses && !fits(m, best_of(m)) && m->plans + REFINE < most)
            most = m->plans + REFINE;
        a.any = a.any && status == PB_OK;
        keep_or_release(m, &a);
        if (is_as_cheap(m))
            break;
    }
    return status == PB_ECANCELLED ? PB_OK : status;
}

/* The same with plans that are placed, in several steps. */
static pb_status improve_placed(maker *m)
{
    enum { STEPS = 4 };
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < STEPS && status == PB_OK && m->ctx->stopped == PB_GO_ON && !is_as_cheap(m); i++) {
        status = plan_and_place(m, m->game->cap / 100 * (99 - 2 * i));
        m->start = &best_of(m)->planned.schedule.moves;
    }
    return status == PB_ECANCELLED ? PB_OK : status;
}

/* There is a plan that fits, and time left: improves the plan from it. */
static pb_status improve_in_time_left(maker *m)
{
    const pb_plan_result *best = &best_of(m)->planned;
    attempt a;
    if (!m->request->time_ns || best->schedule.outcome == PB_OPTIMAL || m->ctx->stopped != PB_GO_ON)
        return PB_OK;
    m->start = &best->schedule.moves;
    if (best_of(m)->placed)
        return improve_placed(m);
    m->last = true;
    pb_status status = plan_and_pack(m, best->schedule.cap, &a);
    a.any = a.any && status == PB_OK;
    keep_or_release(m, &a);
    return status == PB_ECANCELLED ? PB_OK : status;
}

static pb_status hand_over(maker *m, pb_arena *result, pb_addressed *out)
{
    const attempt *a = best_of(m);
    pb_plan_result planned = a->planned;
    pb_game game;
    char note[600];
    uint64_t cap = planned.schedule.cap;
    if (a->any) {
        planned.schedule.addresses =
            (pb_addresses){m->align, a->packing.size, a->packing.minimal, a->packing.offset, a->lives.count};
        if (cap != m->game->cap)
            pbi_result_restate(&planned, m->game, &m->first.planned.schedule, &game, note, sizeof note);
    }
    pbi_held held = pbi_hold(m->ctx);
    pb_addressed answer = {.packing = a->packing, .planned_cap = cap, .plans = m->plans};
    pb_status status = pbi_result_copy(m->ctx, &planned, result, &answer.planned);
    pbi_resume(m->ctx, held);
    if (status != PB_OK)
        return status;
    if (a->any) {
        answer.packing.offset = (uint64_t *)answer.planned.schedule.addresses.offset;
        answer.fits = fits(m, a);
        answer.lost = a->packing.size - planned.schedule.metrics.peak;
    }
    *out = answer;
    return PB_OK;
}

pb_status pb_plan_addressed(pb_context *ctx, const pb_game *game, const pb_request *request, uint64_t align,
                            pb_arena *result, pb_addressed *out)
{
    maker m = {.ctx = ctx, .game = game, .request = request, .align = align};
    bool several = game->kind == PB_GAME_TIMED && game->timing->machine->processor_count > 1;
    pb_status untimed = several ? pbi_untimed(ctx, game, "addresses on several processors") : PB_OK;
    if (untimed != PB_OK)
        return untimed;
    if (!align || (align & (align - 1)))
        return pbi_fail(ctx, PB_EINVAL, "the alignment must be a power of two, such as 64");
    m.begin_ns = ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0;
    m.places = pbi_placed_applies(game);
    pb_status status = plan_and_pack(&m, game->cap, &m.first);
    if (status == PB_OK && m.first.any && m.places && !fits(&m, &m.first))
        status = place_all(&m);
    if (status == PB_OK && m.first.any && m.places)
        status = place_more(&m);
    m.long_packing = true;
    if (status == PB_OK && m.first.any && is_expensive(&m))
        status = try_others(&m);
    if (status == PB_OK && best_of(&m)->any && fits(&m, best_of(&m)))
        status = improve_in_time_left(&m);
    attempt *best = m.replaced ? &m.best : &m.first;
    if (status == PB_OK && best->any && !fits(&m, best)) /* the closest one, once more */
        status = pack_better(&m, best, LONGER * (uint64_t)PACK_EFFORT, request->seed + 1);
    if (status == PB_OK)
        status = hand_over(&m, result, out);
    pb_arena_release(&m.first.arena);
    if (m.replaced)
        pb_arena_release(&m.best.arena);
    return status;
}

static void name_fault(const pb_graph *g, const pb_lifetimes *lives, uint32_t a, uint32_t b, char *text, size_t room)
{
    const char *name[2];
    uint32_t which[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        pb_node v = lives->life[which[i]].node;
        bool always = lives->life[which[i]].from == 0;
        name[i] = v != PB_NO_NODE ? pb_graph_name(g, v) : always ? "fixed memory" : "workspace";
    }
    if (a == b)
        snprintf(text, room, "address %u (%.80s) is not aligned, or exceeds the size", (unsigned)a, name[0]);
    else
        snprintf(text, room, "addresses %u (%.80s) and %u (%.80s) overlap", (unsigned)a, name[0], (unsigned)b, name[1]);
}

pb_status pb_judge_addresses(pb_context *ctx, const pb_certificate *c, const pb_addresses *a, bool *good, char *text,
                             size_t room)
{
    pb_arena scratch;
    pb_lifetimes lives;
    uint32_t x, y;
    *good = true;
    if (!a->align)
        return PB_OK;
    const pb_game *game = pb_certificate_game(c);
    pb_arena_init(&scratch, ctx);
    pb_packing packing = {(uint64_t *)a->offset, a->size, 0, false};
    pb_status status = pb_lifetimes_make(ctx, game, pb_certificate_moves(c), a->align, &scratch, &lives);
    if (status == PB_OK && lives.count != a->count) {
        *good = false;
        snprintf(text, room, "there are %u addresses, and %u lifetimes", (unsigned)a->count, (unsigned)lives.count);
    } else if (status == PB_OK) {
        status = pb_packing_check(ctx, &lives, &packing, good, &x, &y);
        if (status == PB_OK && !*good)
            name_fault(game->graph, &lives, x, y, text, room);
    }
    pb_arena_release(&scratch);
    return status;
}
