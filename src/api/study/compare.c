/* compare.c -- compares strategies. */
#include "api/pipeline/pipeline.h"

#include "api/pipeline/game_bounds.h"
#include "api/pipeline/infeasible.h"
#include "api/pipeline/share.h"
#include "base/arena.h"
#include "base/context.h"
#include "plan/strategy.h"

#include <string.h>

typedef struct comparer {
    pbi_job job;
    const pb_game *base;
    pb_arena *result;
    pb_plan_result *rows;
    size_t count, room;
    uint32_t total;
    uint64_t end_ns; /* 0: no limit */
} comparer;

/* An equal share of the remaining time for each row to come: what quick rows leave is for later ones; the searches
 * come last. */
static uint64_t time_share(const comparer *c)
{
    const pb_context *ctx = c->job.ctx;
    uint64_t now = c->end_ns ? ctx->clock_ns(ctx->callback_state) : 0, rows = c->total - c->count;
    if (c->job.request->time_each)
        return c->job.request->time_ns;
    return now < c->end_ns ? (c->end_ns - now) / (rows ? rows : 1) + 1 : 0;
}

static pb_status plan_row(comparer *c, const pb_game *game, const pbi_spec *spec)
{
    pbi_share share;
    pbi_job job = c->job;
    pb_request request = *job.request;
    request.time_ns = time_share(c);
    job.request = &request;
    pbi_share_begin(&share, job.ctx, request.time_ns);
    pb_status status = pbi_plan_row(&job, game, spec, c->result, &c->rows[c->count]);
    if (status == PB_OK && request.attempts && game->kind != PB_GAME_TIMED && !c->rows[c->count].certificate)
        status = pbi_attempt(&job, game, spec, c->result, &c->rows[c->count]);
    pbi_share_end(&share);
    if (status == PB_EBUG) /* a bug in one row is reported in that row, and the others continue */
        status = pbi_fault(&c->job, game, spec, c->result, &c->rows[c->count]);
    return status;
}

static pb_status add_row(comparer *c, pb_game_kind kind, const pbi_spec *spec)
{
    void *rows = c->rows;
    if (!pbi_arena_reserve(c->result, &rows, &c->room, c->count + 1, sizeof *c->rows))
        return PB_ENOMEM;
    c->rows = rows;
    pb_game game = *c->base;
    game.kind = kind;
    pbi_progress(c->job.ctx, spec->row->name, c->count, c->total);
    pbi_emit(c->job.request, &(pb_event){.kind = PB_EVENT_BEGIN, .game = &game, .strategy = spec->row->name});
    pb_status status = plan_row(c, &game, spec);
    if (status != PB_OK)
        return status;
    const pb_plan_result *planned = &c->rows[c->count++];
    pbi_emit(c->job.request,
             &(pb_event){.kind = PB_EVENT_ROW, .game = planned->game, .strategy = spec->row->name, .planned = planned});
    return PB_OK;
}

/* Those that "all" means: not portfolios, and not those that need a file. */
static bool is_any(const pb_strategy *row) { return row->strength != PB_PORTFOLIO && !(row->traits & PB_TRAIT_FILE); }

/* Every strategy that plays the game. */
static pb_status add_all(comparer *c, pb_game_kind kind)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        if ((rows[i].games & (unsigned)kind) && is_any(&rows[i]))
            status = add_row(c, kind, &(pbi_spec){.row = &rows[i]});
    return status;
}

/* A schedule has one game: it must be one of those that are played. */
static pb_status check_game(const comparer *c, const pbi_spec *spec, unsigned games)
{
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED; kind *= 2)
        if ((games & kind) && pbi_spec_plays(spec, (pb_game_kind)kind))
            return PB_OK;
    return pbi_fail(c->job.ctx, PB_EINVAL, "%.200s is a plan of the %s game; add that game, or leave the file out",
                    spec->given->name, pb_game_kind_name(spec->given->game));
}

static pb_status compare_list(comparer *c, unsigned games, const char *list)
{
    pb_status status = PB_OK;
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED && status == PB_OK; kind *= 2)
        for (const char *at = list; (games & kind) && *at && status == PB_OK;) {
            const char *end = pbi_spec_end(at);
            pbi_spec spec;
            if (end - at == 3 && memcmp(at, "all", 3) == 0) {
                status = add_all(c, (pb_game_kind)kind);
            } else {
                status = pbi_spec_parse(c->job.ctx, at, (size_t)(end - at), c->result, &spec);
                if (status == PB_OK)
                    status = pbi_given_read(c->job.ctx, c->base, c->job.request, c->result, &spec);
                if (status == PB_OK && spec.given)
                    status = check_game(c, &spec, games);
                if (status == PB_OK && pbi_spec_plays(&spec, (pb_game_kind)kind))
                    status = add_row(c, (pb_game_kind)kind, &spec);
            }
            at = *end ? end + 1 : end;
        }
    return status;
}

/* Max number of rows. */
static uint32_t count_list(unsigned games, const char *list)
{
    uint32_t count, total = 0;
    const pb_strategy *rows = pb_strategies(&count);
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIMED; kind *= 2)
        for (const char *at = list; (games & kind) && *at;) {
            const char *end = pbi_spec_end(at);
            bool all = end - at == 3 && memcmp(at, "all", 3) == 0;
            for (uint32_t i = 0; i < count && all; i++)
                total += (kind & rows[i].games) && is_any(&rows[i]);
            total += !all;
            at = *end ? end + 1 : end;
        }
    return total;
}

/* ---- proofs about a game apply to every row of it ---- */

static bool counts_work(const pb_weights *w) { return !w->alpha && !w->beta && w->gamma; }

typedef struct proofs {
    pb_game_kind kind;
    bool played, optimal, found;
    const char *infeasible; /* why */
    uint64_t makespan;
    bool has_cost;
    pb_u128 cost;
} proofs;

static proofs gather(const comparer *c, pb_game_kind kind)
{
    proofs p = {.kind = kind};
    for (size_t i = 0; i < c->count; i++) {
        const pb_schedule *s = &c->rows[i].schedule;
        if (s->game != kind)
            continue;
        p.played = true;
        p.found = p.found || c->rows[i].certificate;
        p.optimal = p.optimal || (s->outcome == PB_OPTIMAL && counts_work(&c->base->weights));
        if (s->outcome == PB_INFEASIBLE && !p.infeasible)
            p.infeasible = s->reason;
        p.makespan = s->bound_kind == PB_BOUND_FREE_ORDER && s->lower_bound > p.makespan ? s->lower_bound : p.makespan;
        if (s->has_cost_bound && (!p.has_cost || pb_u128_compare(s->cost_bound, p.cost) > 0)) {
            p.has_cost = true;
            p.cost = s->cost_bound;
        }
    }
    return p;
}

/* Runs exact strategies, if no compared one has decided the game. */
static pb_status prove_more(comparer *c, proofs *p)
{
    char text[300];
    pb_game game = *c->base;
    pb_bounds *bounds;
    pb_schedule s = {.lower_bound = 0};
    game.kind = p->kind;
    if (!p->played || p->optimal || p->infeasible || game.borrow || !c->job.request->prove || p->kind == PB_GAME_TIMED)
        return PB_OK;
    pb_status status = pbi_bounds_raise(&c->job, &game, PBI_BOUNDS_PROOF, c->job.cache, &bounds);
    if (status != PB_OK)
        return status == PB_ECANCELLED ? PB_OK : status;
    pbi_bounds_state(&game, bounds, &s);
    p->makespan = s.lower_bound > p->makespan ? s.lower_bound : p->makespan;
    if (s.has_cost_bound && (!p->has_cost || pb_u128_compare(s.cost_bound, p->cost) > 0))
        p->cost = s.cost_bound;
    if (!p->found && pbi_infeasible_text(&game, bounds, text, sizeof text)) {
        p->infeasible = pb_arena_text(c->result, text, strlen(text));
        return p->infeasible ? PB_OK : PB_ENOMEM;
    }
    return PB_OK;
}

static void share_proofs(comparer *c, const proofs *p)
{
    for (size_t i = 0; i < c->count; i++) {
        pb_schedule *s = &c->rows[i].schedule;
        if (s->game != p->kind || s->bound_kind != PB_BOUND_FREE_ORDER)
            continue;
        s->lower_bound = p->makespan;
        s->cost_bound = s->has_cost_bound ? p->cost : s->cost_bound;
        if (!s->has_metrics && p->infeasible && !p->found && s->outcome == PB_GAVE_UP) {
            s->outcome = PB_INFEASIBLE;
            s->reason = p->infeasible;
        }
        if (!s->has_metrics)
            continue;
        uint64_t value = pb_metrics_objective(c->rows[i].game, &s->metrics);
        s->metrics.gap = pb_metrics_gap(value, s->lower_bound);
        if (counts_work(&c->base->weights) && value == s->lower_bound)
            s->outcome = PB_OPTIMAL;
    }
}

/* The smallest cap of a game without a plan; it may prove that there is none. */
static pb_status add_least(comparer *c, proofs *p, pb_comparison *out)
{
    char text[300];
    pb_game game = *c->base;
    const pb_least_fact *fact;
    game.kind = p->kind;
    if (!p->played || p->found || !c->job.request->find_least || p->kind == PB_GAME_TIMED)
        return PB_OK;
    pb_status status = pbi_least_after(c->job.ctx, &game, p->infeasible != NULL, c->job.request, c->result, &fact);
    if (status != PB_OK || !fact)
        return status;
    out->least[out->least_count++] = fact;
    if (p->infeasible || !pbi_infeasible_text(&game, &fact->bounds, text, sizeof text))
        return PB_OK;
    p->infeasible = pb_arena_text(c->result, text, strlen(text));
    return p->infeasible ? PB_OK : PB_ENOMEM;
}

static bool begins_in_slow_memory(const pb_graph *g)
{
    for (pb_node v = 0; v < g->node_count; v++)
        if (g->flags[v] & PB_NODE_GIVEN_SLOW)
            return true;
    return false;
}

/* A remat plan is a tiered one without transfers, of the same makespan and cost: what bounds the tiered game bounds
 * the remat game as well. */
static void inherit(const comparer *c, proofs *remat, const proofs *tiered)
{
    if (!remat->found || !tiered->played || begins_in_slow_memory(c->base->graph))
        return;
    if (tiered->makespan > remat->makespan)
        remat->makespan = tiered->makespan;
    if (remat->has_cost && tiered->has_cost && pb_u128_compare(tiered->cost, remat->cost) > 0)
        remat->cost = tiered->cost;
}

static pb_status apply_proofs(comparer *c, pb_comparison *out)
{
    enum { REMAT, REVERSIBLE, TIERED, TIMED, GAMES };
    proofs p[GAMES];
    pb_status status = PB_OK;
    for (int i = REMAT; i < GAMES; i++) {
        p[i] = gather(c, (pb_game_kind)(PB_GAME_REMAT << i));
        if (status == PB_OK && !out->interrupted)
            status = prove_more(c, &p[i]);
        if (status == PB_OK && !out->interrupted)
            status = add_least(c, &p[i], out);
    }
    inherit(c, &p[REMAT], &p[TIERED]);
    for (int i = REMAT; i < GAMES; i++)
        share_proofs(c, &p[i]);
    return status;
}

pb_status pb_compare(pb_context *ctx, const pb_game *base, const pb_compare_request *request, pb_arena *result,
                     pb_comparison *out)
{
    const pb_request *plan = &request->plan;
    const char *list = request->strategies ? request->strategies : "all";
    comparer c = {.base = base, .result = result, .total = count_list(request->games, list)};
    ctx->stopped = PB_GO_ON;
    if (plan->time_ns && ctx->clock_ns && !plan->time_each)
        c.end_ns = ctx->clock_ns(ctx->callback_state) + plan->time_ns;
    pbi_bound_cache cache = {.level = {PBI_BOUNDS_NONE}};
    pb_status status = pbi_job_init(&c.job, ctx, base->graph, plan);
    c.job.cache = &cache;
    c.job.no_proofs = true; /* they come after the rows, some of which may be exact */
    c.job.others = plan->time_ns && (!request->strategies || *pbi_spec_end(list)); /* ticks are for each row */
    if (status == PB_OK)
        status = compare_list(&c, request->games, list);
    bool interrupted = status == PB_ECANCELLED;
    if (status != PB_OK && !interrupted)
        return status;
    *out = (pb_comparison){.rows = c.rows,
                           .row_count = (uint32_t)c.count,
                           .winner = UINT32_MAX,
                           .interrupted = interrupted,
                           .listed = request->strategies && strncmp(request->strategies, "all", 3) != 0,
                           .policy = pbi_policy_constant(plan->policy)};
    status = apply_proofs(&c, out);
    for (uint32_t i = 0; i < c.count; i++)
        if (c.rows[i].certificate && (out->winner == UINT32_MAX || pbi_result_better(&c.rows[i], &c.rows[out->winner])))
            out->winner = i;
    return status;
}
