/* sweep_decide.c -- what the cells of a sweep prove about one another.
 *
 * Under a smaller cap there are fewer schedules. So a plan is valid for every cap from its peak on, and a lower
 * bound, or a proof of infeasibility, for every cap below the one at which it was found.
 */
#include "api/study/sweep_state.h"

#include "api/pipeline/clean_plan.h"
#include "api/pipeline/share.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

pb_status pbi_sweep_state_init(pbi_sweep_state *s, pb_arena *scratch)
{
    size_t caps = s->out->cap_count;
    s->out->cells = pb_arena_zero(s->result, s->out->cell_count, sizeof *s->out->cells);
    s->found = pb_arena_zero(scratch, s->out->cell_count, sizeof *s->found);
    s->makespan = pb_arena_zero(scratch, PB_SWEEP_GAMES * caps, sizeof *s->makespan);
    s->cost = pb_arena_zero(scratch, PB_SWEEP_GAMES * caps * s->out->weights_count, sizeof *s->cost);
    for (uint32_t g = 0; g < PB_SWEEP_GAMES; g++)
        s->no_plan[g] = s->out->cap_count;
    return s->out->cells && s->found && s->makespan && s->cost ? PB_OK : PB_ENOMEM;
}

/* Whether minimum cost means minimum makespan. */
static bool counts_work_only(const pb_weights *w) { return !w->alpha && !w->beta && w->gamma; }

static struct pbi_cost_bound *cost_bound(const pbi_sweep_state *s, uint32_t w, uint32_t game, uint32_t k)
{
    return &s->cost[(w * PB_SWEEP_GAMES + game) * s->out->cap_count + k];
}

static void raise_cost(struct pbi_cost_bound *bound, pb_u128 cost)
{
    if (!bound->known || pb_u128_compare(cost, bound->cost) > 0)
        *bound = (struct pbi_cost_bound){true, cost};
}

/* Bounds that one cell has proved. */
static void note_cell(pbi_sweep_state *s, uint32_t cell)
{
    const pb_schedule *f = &s->found[cell].schedule;
    uint32_t w = pb_sweep_weights_of(s->out, cell), k = pb_sweep_cap_of(s->out, cell), game = pbi_game_at(f->game);
    uint64_t *makespan = &s->makespan[game * s->out->cap_count + k];
    if (!s->found[cell].tried)
        return;
    if (f->outcome == PB_INFEASIBLE && k < s->no_plan[game]) {
        s->no_plan[game] = k;
        s->no_plan_at[game] = cell;
    }
    if (f->bound_kind == PB_BOUND_FREE_ORDER && f->lower_bound > *makespan)
        *makespan = f->lower_bound;
    if (f->has_cost_bound)
        raise_cost(cost_bound(s, w, game, k), f->cost_bound);
    if (f->outcome == PB_OPTIMAL)
        raise_cost(cost_bound(s, w, game, k), f->metrics.cost);
}

void pbi_sweep_share(pbi_sweep_state *s)
{
    uint32_t caps = s->out->cap_count;
    for (uint32_t i = 0; i < s->out->cell_count; i++)
        note_cell(s, i);
    for (uint32_t game = 0; game < PB_SWEEP_GAMES; game++)
        for (uint32_t k = 1; k < caps; k++) {
            uint64_t *makespan = &s->makespan[game * caps + k];
            *makespan = makespan[0] > makespan[-1] ? makespan[0] : makespan[-1];
            for (uint32_t w = 0; w < s->out->weights_count; w++) {
                const struct pbi_cost_bound *above = cost_bound(s, w, game, k - 1);
                if (above->known)
                    raise_cost(cost_bound(s, w, game, k), above->cost);
            }
        }
}

/* The game of a cell, but for its cap: enough for costs. */
static pb_game priced_game(const pbi_sweep_state *s, uint32_t cell)
{
    pb_game game = *s->base;
    game.kind = s->out->lines[pb_sweep_line_of(s->out, cell)].game;
    return game;
}

pb_status pbi_sweep_game(const pbi_sweep_state *s, uint32_t cell, pb_arena *arena, pb_game *out)
{
    const pb_sweep *o = s->out;
    pb_game game = priced_game(s, cell);
    game.cap = o->caps[pb_sweep_cap_of(o, cell)];
    game.weights = o->weights[pb_sweep_weights_of(o, cell)];
    *out = game;
    return game.kind == PB_GAME_TIMED ? pb_game_with_cap(arena, out, game.cap) : PB_OK;
}

static bool meets_bound(const pbi_sweep_state *s, uint32_t cell, const pb_metrics *m, pb_u128 cost)
{
    const pb_sweep *o = s->out;
    uint32_t w = pb_sweep_weights_of(o, cell), k = pb_sweep_cap_of(o, cell);
    uint32_t game = pbi_game_at(o->lines[pb_sweep_line_of(o, cell)].game);
    const struct pbi_cost_bound *bound = cost_bound(s, w, game, k);
    pb_game played = priced_game(s, cell);
    uint64_t value = pb_metrics_objective(&played, m);
    if (counts_work_only(&o->weights[w]) && value <= s->makespan[game * o->cap_count + k])
        return true;
    return bound->known && pb_u128_compare(cost, bound->cost) <= 0;
}

static const pb_schedule *source_schedule(const pbi_sweep_state *s, uint32_t source)
{
    if (source >= s->out->cell_count)
        return &s->request->known[source - s->out->cell_count].schedule;
    return &s->found[source].schedule;
}

/* The best source so far. */
typedef struct choice {
    uint32_t source;
    pb_u128 cost;
    uint64_t makespan, peak;
} choice;

/* Takes a source that costs less; the cell's own plan, considered first, is kept if the costs are equal. */
static void consider(const pbi_sweep_state *s, uint32_t cell, uint32_t source, choice *best)
{
    const pb_sweep *o = s->out;
    const pb_metrics *m = &source_schedule(s, source)->metrics;
    pb_game game = priced_game(s, cell);
    pb_u128 cost;
    if (pb_metrics_capped(m) > o->caps[pb_sweep_cap_of(o, cell)] ||
        !pb_metrics_cost_in(&game, m, &o->weights[pb_sweep_weights_of(o, cell)], &cost))
        return;
    int order = best->source == PB_NO_CELL ? -1 : pb_u128_compare(cost, best->cost);
    if (order == 0)
        order = (m->makespan > best->makespan) - (m->makespan < best->makespan);
    if (order == 0 && best->source != cell)
        order = (m->peak > best->peak) - (m->peak < best->peak);
    if (order < 0)
        *best = (choice){source, cost, m->makespan, m->peak};
}

/* A strategy's line has plans of that strategy; a portfolio uses those of every line of its game. */
static choice choose(const pbi_sweep_state *s, uint32_t cell)
{
    const pb_sweep *o = s->out;
    uint32_t l = pb_sweep_line_of(o, cell);
    choice best = {.source = PB_NO_CELL};
    if (s->found[cell].plan)
        consider(s, cell, cell, &best);
    for (uint32_t other = 0; other < o->cell_count; other++) {
        uint32_t line = pb_sweep_line_of(o, other);
        bool serves = line == l || (o->lines[l].portfolio && o->lines[line].game == o->lines[l].game);
        if (serves && s->found[other].plan && other != cell)
            consider(s, cell, other, &best);
    }
    for (uint32_t i = 0; i < s->request->known_count && o->lines[l].portfolio; i++) {
        const pb_plan_result *known = &s->request->known[i];
        if (known->certificate && known->schedule.game == o->lines[l].game)
            consider(s, cell, o->cell_count + i, &best);
    }
    return best;
}

bool pbi_sweep_decided(const pbi_sweep_state *s, uint32_t cell)
{
    const pb_sweep *o = s->out;
    if (pb_sweep_cap_of(o, cell) >= s->no_plan[pbi_game_at(o->lines[pb_sweep_line_of(o, cell)].game)])
        return true;
    choice best = choose(s, cell);
    return best.source != PB_NO_CELL && meets_bound(s, cell, &source_schedule(s, best.source)->metrics, best.cost);
}

/* ---- the result ---- */

static void copy_answer(pb_schedule *to, const pb_schedule *from)
{
    to->strategy = from->strategy;
    to->policy = from->policy;
    to->seed = from->seed;
    to->ticks = from->ticks;
    to->options = from->options;
    to->option_count = from->option_count;
    to->note = from->note;
}

/* The plan of another cell, or its own, replayed under this cell's cap and weights. With more memory than it was
 * made for, some of its recomputations may be removed; cells of larger caps choose from the result. */
static pb_status certify_cell(pbi_sweep_state *s, uint32_t cell, const choice *best)
{
    pb_sweep_cell *c = &s->out->cells[cell];
    const pb_schedule *from = source_schedule(s, best->source);
    pb_moves *moves = pb_arena_alloc(s->result, 1, sizeof *moves);
    pbi_certified made;
    if (!moves)
        return PB_ENOMEM;
    *moves = from->moves;
    const pb_strategy *row = pb_strategy_find(from->strategy);
    /* The user's own plan is shown as it is; clean-up knows no times. */
    bool as_asked = (row && (row->traits & PB_TRAIT_FILE)) || c->game->kind == PB_GAME_TIMED;
    pb_status status = as_asked ? pbi_certify_as_made(s->ctx, c->game, moves, s->result, &made)
                                : pbi_certify(s->ctx, c->game, false, moves, s->result, &made);
    if (status == PB_OK && !made.verdict.certificate)
        status = pbi_fail(s->ctx, PB_EBUG, "a plan of strategy %s does not hold under a larger cap", from->strategy);
    if (status != PB_OK)
        return status;
    copy_answer(&c->schedule, from);
    c->certificate = made.verdict.certificate;
    c->schedule.moves = *moves;
    c->schedule.metrics = made.metrics;
    c->schedule.has_metrics = true;
    c->from = best->source < s->out->cell_count ? best->source : PB_NO_CELL;
    bool own = best->source == cell && from->outcome == PB_OPTIMAL;
    bool proved = own || meets_bound(s, cell, &c->schedule.metrics, c->schedule.metrics.cost);
    c->schedule.outcome = proved ? PB_OPTIMAL : PB_FOUND;
    if (pb_u128_compare(c->schedule.metrics.cost, best->cost) < 0) {
        s->found[cell].plan = true;
        s->found[cell].schedule = c->schedule;
    }
    return PB_OK;
}

static pb_status put_bounds(pbi_sweep_state *s, uint32_t cell)
{
    const pb_sweep *o = s->out;
    pb_schedule *f = &o->cells[cell].schedule;
    uint32_t w = pb_sweep_weights_of(o, cell), k = pb_sweep_cap_of(o, cell), game = pbi_game_at(f->game);
    const struct pbi_cost_bound *bound = cost_bound(s, w, game, k);
    f->lower_bound = s->makespan[game * o->cap_count + k];
    f->bound_kind = f->lower_bound || s->found[cell].tried ? PB_BOUND_FREE_ORDER : PB_BOUND_NONE;
    f->has_cost_bound = bound->known && (o->weights[w].alpha || o->weights[w].beta);
    f->cost_bound = bound->cost;
    if (!f->has_metrics)
        return PB_OK;
    pb_game game_played = priced_game(s, cell);
    uint64_t value = pb_metrics_objective(&game_played, &f->metrics);
    if (value < f->lower_bound || (bound->known && pb_u128_compare(f->metrics.cost, bound->cost) < 0))
        return pbi_fail(s->ctx, PB_EBUG,
                        "strategy %s has a plan of %" PRIu64 " under the cap %" PRIu64 ", below the bound %" PRIu64,
                        f->strategy, value, f->cap, f->lower_bound);
    f->metrics.gap = f->bound_kind == PB_BOUND_NONE ? -1 : pb_metrics_gap(value, f->lower_bound);
    return PB_OK;
}

static pb_status conclude_cell(pbi_sweep_state *s, uint32_t cell)
{
    const pb_sweep *o = s->out;
    const pbi_finding *own = &s->found[cell];
    uint32_t l = pb_sweep_line_of(o, cell), k = pb_sweep_cap_of(o, cell);
    uint32_t game = pbi_game_at(o->lines[l].game);
    pb_sweep_cell *c = &o->cells[cell];
    pb_plan_result blank;
    pb_game played;
    pb_status status = pbi_sweep_game(s, cell, s->result, &played);
    if (status == PB_OK)
        status = pbi_provenance(&s->job, &played, &s->specs[l], s->result, &blank);
    if (status != PB_OK)
        return status;
    *c = (pb_sweep_cell){.schedule = blank.schedule, .game = blank.game, .from = PB_NO_CELL, .planned = own->tried};
    c->seconds = own->seconds;
    choice best = choose(s, cell);
    c->present = true;
    if (best.source != PB_NO_CELL) {
        status = certify_cell(s, cell, &best);
    } else if (k >= s->no_plan[game]) {
        c->schedule.outcome = PB_INFEASIBLE;
        c->schedule.reason =
            s->found[own->tried && own->schedule.outcome == PB_INFEASIBLE ? cell : s->no_plan_at[game]].schedule.reason;
    } else if (own->tried) {
        copy_answer(&c->schedule, &own->schedule);
        c->schedule.outcome = own->schedule.outcome;
        c->schedule.reason = own->schedule.reason;
    } else {
        c->present = false;
        c->schedule.reason = s->out->stopped == PB_STOP_INTERRUPT ? "not reached" : "not reached: the time was up";
    }
    return status == PB_OK ? put_bounds(s, cell) : status;
}

pb_status pbi_sweep_prove_least(pbi_sweep_state *s)
{
    enum { SHARES = 5 };
    uint64_t limit = s->ctx->tick_limit;
    pb_status status = PB_OK;
    s->ctx->tick_limit = 0; /* that is the limit of each plan */
    for (unsigned kind = PB_GAME_REMAT, at = 0; kind <= PB_GAME_TIMED && status == PB_OK; kind *= 2, at++) {
        pb_game game = *s->base;
        pbi_share share;
        if (!(s->out->games & kind) || kind == PB_GAME_TIMED) /* its bounds do not know the smallest cap */
            continue;
        game.kind = (pb_game_kind)kind;
        pbi_share_begin(&share, s->ctx, s->request->time_ns / SHARES);
        status = pb_least_bound(s->ctx, &game, &s->least[at]);
        pbi_share_end(&share);
    }
    s->ctx->tick_limit = limit;
    return status;
}

static void note_least(pbi_sweep_state *s)
{
    pb_sweep *o = s->out;
    for (unsigned kind = PB_GAME_REMAT, at = 0; kind <= PB_GAME_TIMED; kind *= 2, at++) {
        const pb_bounds *bounds = &s->least[at];
        o->least_peak[at] = UINT64_MAX;
        o->proved_least[at] = 0;
        if (!(o->games & kind))
            continue;
        o->proved_least[at] = bounds->impossible ? PB_UNLIMITED : bounds->least_cap;
        if (s->no_plan[at] < o->cap_count && o->caps[s->no_plan[at]] >= o->proved_least[at])
            o->proved_least[at] = o->caps[s->no_plan[at]] + 1;
    }
    for (uint32_t i = 0; i < s->request->known_count; i++) {
        const pb_plan_result *known = &s->request->known[i];
        uint64_t *least = &o->least_peak[pbi_game_at(known->schedule.game)];
        if (known->certificate && (o->games & known->schedule.game) &&
            pb_metrics_capped(&known->schedule.metrics) < *least)
            *least = pb_metrics_capped(&known->schedule.metrics);
    }
    for (uint32_t i = 0; i < o->cell_count; i++) {
        const pb_schedule *f = &o->cells[i].schedule;
        uint64_t *least = &o->least_peak[pbi_game_at(f->game)];
        if (o->cells[i].certificate && pb_metrics_capped(&f->metrics) < *least)
            *least = pb_metrics_capped(&f->metrics);
    }
}

pb_status pbi_sweep_conclude(pbi_sweep_state *s)
{
    pb_status status = PB_OK;
    pbi_sweep_share(s);
    /* The smallest cap first; portfolios after the lines they choose from. */
    for (uint32_t k = s->out->cap_count; k-- > 0;)
        for (uint32_t i = 0; i < 2 * s->out->cell_count && status == PB_OK; i++) {
            uint32_t cell = i % s->out->cell_count;
            bool portfolio = s->out->lines[pb_sweep_line_of(s->out, cell)].portfolio;
            if (pb_sweep_cap_of(s->out, cell) == k && portfolio == (i >= s->out->cell_count))
                status = conclude_cell(s, cell);
        }
    if (status == PB_OK)
        note_least(s);
    return status;
}
