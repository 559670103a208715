/* borrow.c -- plans with borrowed memory.
 *
 * A value in borrowed memory must be uncomputed. The reversible game uncomputes everything. So a plan of that game
 * within cap + borrow only needs a place for each value: own memory or borrowed memory. We walk the plan backwards in
 * time. When the walk reaches the move that removes a value, the value gets a place in memory that has room at that
 * point. Values that are kept to the end are in own memory from the start of the walk, and leave it on the way. So if
 * all sizes are equal, there is always room. If sizes differ, this can fail. Then we move values to their other place,
 * one after the other. If that fails too, we try a plan for less memory, and finally a plan for own memory alone.
 *
 * In the remat game the same plan frees values in own memory instead of uncomputing them. It drops computations that
 * only served to uncompute them. A plan without borrowed memory is another candidate. A plan within cap and borrow is
 * also a plan within their sum, so bounds for the sum hold here.
 */
#include "api/pipeline/borrow.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

enum {
    TRIES = 6,
    PASSES = 100,
    A_LOOK = 5000000, /* ticks for the candidate without borrowed memory */
    A_MOVE = 20,      /* limit on the steps of the second walk: A_MOVE per move, */
    AT_LEAST = 20000, /* and AT_LEAST in addition */
    PERIOD = 4096     /* steps between checks of the clock */
};

typedef struct placing {
    const pb_game *game;
    const pb_moves *from;
    uint8_t *borrowed;  /* per move: the value that it computes or removes is in borrowed memory */
    pb_step *end;       /* per node: the move that removes its current value, walking backwards; count: no move does */
    uint64_t own, lent; /* in use */
    uint64_t missing;   /* memory that a value needed and that was not free */
} placing;

/* Walking backwards: chooses a place for the value that move k removes. */
static void place(placing *p, pb_step k, pb_node v)
{
    uint64_t size = p->game->graph->size[v], cap = p->game->cap, room = cap - p->own;
    uint64_t lendable = p->game->borrow - p->lent;
    p->end[v] = k;
    p->borrowed[k] = size > room;
    if (!p->borrowed[k])
        p->own += size;
    else if (size <= lendable)
        p->lent += size;
    else
        p->missing = size - (room > lendable ? room : lendable);
}

/* False: some value has no place. `missing` is then how much less memory the next plan should use. */
static bool place_all(placing *p, uint64_t workspace)
{
    const pb_graph *g = p->game->graph;
    p->own = g->fixed_size + workspace;
    for (pb_node v = 0; v < g->node_count; v++) {
        bool stays = g->flags[v] & (PB_NODE_GIVEN | PB_NODE_TARGET | PB_NODE_KEEP);
        p->end[v] = p->from->count;
        p->own += stays ? g->size[v] : 0;
    }
    p->missing = p->own > p->game->cap ? p->own - p->game->cap : 0;
    for (pb_step k = p->from->count; k-- > 0 && !p->missing;) {
        const pb_move *m = &p->from->move[k];
        if (m->op == PB_UNCOMPUTE) {
            place(p, k, m->node);
            continue;
        }
        pb_step end = p->end[m->node];
        p->borrowed[k] = end < p->from->count && p->borrowed[end];
        *(p->borrowed[k] ? &p->lent : &p->own) -= g->size[m->node];
        p->end[m->node] = p->from->count;
    }
    return !p->missing;
}

/* ---- values in their other place ----
 *
 * The same walk with backtracking. If a value has no place, or a workspace has no room, the walk goes back to the last
 * value that fits in its other place, and puts it there. */

typedef struct second_walk {
    placing *p;
    uint8_t *second; /* per move that removes a value: its other place has been tried */
    pb_step at;      /* moves from here on are placed */
} second_walk;

static bool has_room(const placing *p, pb_node v, bool lent)
{
    uint64_t size = p->game->graph->size[v];
    return lent ? size <= p->game->borrow - p->lent : size <= p->game->cap - p->own;
}

static uint64_t *use_of(placing *p, pb_step k) { return p->borrowed[k] ? &p->lent : &p->own; }

static bool has_workspace(const placing *p, pb_node v) { return p->game->graph->workspace[v] <= p->game->cap - p->own; }

/* Puts the value that move k removes into own or borrowed memory. False: there is no room for it or its workspace. */
static bool put(second_walk *w, pb_step k, bool lent)
{
    placing *p = w->p;
    pb_node v = p->from->move[k].node;
    if (!has_room(p, v, lent))
        return false;
    p->borrowed[k] = lent;
    *use_of(p, k) += p->game->graph->size[v];
    p->end[v] = k;
    if (has_workspace(p, v))
        return true;
    *use_of(p, k) -= p->game->graph->size[v];
    p->end[v] = p->from->count;
    return false;
}

/* Places one more move, backwards in time. False: its value has no place, or its workspace has no room. */
static bool settle_next(second_walk *w)
{
    placing *p = w->p;
    pb_step k = w->at - 1, end;
    pb_node v = p->from->move[k].node;
    if (p->from->move[k].op == PB_UNCOMPUTE) {
        w->second[k] = false;
        if (!put(w, k, false)) {
            w->second[k] = true;
            if (!put(w, k, true))
                return false;
        }
    } else {
        if (!has_workspace(p, v))
            return false;
        end = p->end[v];
        p->borrowed[k] = end < p->from->count && p->borrowed[end];
        *use_of(p, k) -= p->game->graph->size[v];
        p->end[v] = p->from->count;
    }
    w->at = k;
    return true;
}

/* Goes back (forwards in time) to the last value that fits in its other place, and puts it there. False: there is none.
 * `removed`: for each move that computes a value, the move that removes it. */
static bool think_again(second_walk *w, const pb_step *removed)
{
    placing *p = w->p;
    for (; w->at < p->from->count; w->at++) {
        pb_step k = w->at;
        pb_node v = p->from->move[k].node;
        if (p->from->move[k].op != PB_UNCOMPUTE) {
            *use_of(p, k) += p->game->graph->size[v];
            p->end[v] = removed[k];
            continue;
        }
        *use_of(p, k) -= p->game->graph->size[v];
        p->end[v] = p->from->count;
        if (w->second[k])
            continue;
        w->second[k] = true;
        if (put(w, k, true))
            return true;
    }
    return false;
}

/* For each move that computes a value: the move that removes it. */
static void find_removals(const placing *p, pb_step *removed)
{
    for (pb_node v = 0; v < p->game->graph->node_count; v++)
        p->end[v] = p->from->count;
    for (pb_step k = p->from->count; k-- > 0;) {
        pb_node v = p->from->move[k].node;
        bool removes = p->from->move[k].op == PB_UNCOMPUTE;
        removed[k] = p->end[v];
        p->end[v] = removes ? k : p->from->count;
    }
}

static pb_status place_otherwise(pb_context *ctx, placing *p, pb_arena *scratch, bool *placed)
{
    const pb_graph *g = p->game->graph;
    second_walk w = {.p = p, .at = p->from->count};
    pb_step *removed = pb_arena_alloc(scratch, (size_t)p->from->count, sizeof *removed);
    w.second = pb_arena_zero(scratch, (size_t)p->from->count, 1);
    if (!removed || !w.second)
        return PB_ENOMEM;
    find_removals(p, removed);
    p->own = g->fixed_size;
    p->lent = 0;
    for (pb_node v = 0; v < g->node_count; v++) {
        p->end[v] = p->from->count;
        p->own += g->flags[v] & (PB_NODE_GIVEN | PB_NODE_TARGET | PB_NODE_KEEP) ? g->size[v] : 0;
    }
    pb_status status = PB_OK;
    bool more = p->own <= p->game->cap;
    uint64_t most = AT_LEAST + A_MOVE * p->from->count;
    for (uint64_t n = 0; more && w.at && n < most && status == PB_OK; n++) {
        if (n % PERIOD == PERIOD - 1)
            status = pbi_poll(ctx);
        more = settle_next(&w) || think_again(&w, removed);
    }
    *placed = status == PB_OK && more && w.at == 0;
    return status;
}

/* Writes the plan with its places. In the remat game, values in own memory are freed, not uncomputed. */
static pb_status emit(const placing *p, pb_moves *out)
{
    bool frees = p->game->kind != PB_GAME_REVERSIBLE;
    pb_status status = PB_OK;
    for (pb_step k = 0; k < p->from->count && status == PB_OK; k++) {
        const pb_move *m = &p->from->move[k];
        if (m->op == PB_COMPUTE && p->borrowed[k])
            status = pb_moves_add_borrowed(out, m->node);
        else if (m->op == PB_UNCOMPUTE && frees && !p->borrowed[k])
            status = pb_moves_add(out, PB_FREE, m->node, 0);
        else
            status = pb_moves_add(out, (pb_op)m->op, m->node, 0);
    }
    return status;
}

/* Marks in `idle` the computations whose value is removed before any move reads it, and the moves that remove it. */
static bool find_idle(const pb_graph *g, const pb_moves *moves, uint8_t *idle, uint8_t *read, pb_step *end)
{
    bool any = false;
    memset(idle, 0, (size_t)moves->count);
    for (pb_node v = 0; v < g->node_count; v++) {
        read[v] = (g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP)) != 0;
        end[v] = moves->count;
    }
    for (pb_step k = moves->count; k-- > 0;) {
        pb_node v = moves->move[k].node;
        pb_op op = (pb_op)moves->move[k].op;
        if (op == PB_COMPUTE && !read[v]) {
            any = true;
            idle[k] = true;
            if (end[v] < moves->count)
                idle[end[v]] = true;
        }
        for (uint32_t i = g->in_start[v]; i < g->in_start[v + 1] && op != PB_FREE && !idle[k]; i++)
            read[g->in[i]] = true;
        if (op == PB_COMPUTE)
            continue;
        read[v] = false;
        end[v] = k;
    }
    return any;
}

/* Freeing a value needs no inputs. So this drops computations that only served to uncompute it, and repeats while that
 * leaves others idle. */
static pb_status drop_idle(const pb_graph *g, pb_moves *moves, pb_arena *scratch)
{
    uint8_t *idle = pb_arena_alloc(scratch, (size_t)moves->count, 1), *read = pb_arena_alloc(scratch, g->node_count, 1);
    pb_step *end = pb_arena_alloc(scratch, g->node_count, sizeof *end);
    if (!idle || !read || !end)
        return PB_ENOMEM;
    for (int pass = 0; pass < PASSES && find_idle(g, moves, idle, read, end); pass++) {
        pb_step kept = 0;
        for (pb_step k = 0; k < moves->count; k++)
            if (!idle[k])
                moves->move[kept++] = moves->move[k];
        moves->count = kept;
    }
    return PB_OK;
}

static uint64_t most_workspace(const pb_graph *g)
{
    uint64_t most = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        most = g->workspace[v] > most ? g->workspace[v] : most;
    return most;
}

/* In-place moves and by-products have no place of their own. */
static bool is_plain(const pb_moves *moves)
{
    for (pb_step k = 0; k < moves->count; k++)
        if (moves->move[k].flags)
            return false;
    return true;
}

/* Finds places for the plan of the reversible game. */
static pb_status find_places(pb_context *ctx, const pb_game *game, const pb_moves *from, pb_moves *out, bool *placed,
                             uint64_t *missing)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    placing p = {.game = game, .from = from};
    p.borrowed = pb_arena_zero(&scratch, (size_t)from->count, 1);
    p.end = pb_arena_alloc(&scratch, game->graph->node_count, sizeof *p.end);
    pb_status status = p.borrowed && p.end ? PB_OK : PB_ENOMEM;
    *placed = status == PB_OK && is_plain(from) && place_all(&p, most_workspace(game->graph));
    *missing = p.missing ? p.missing : 1;
    if (status == PB_OK && !*placed && is_plain(from))
        status = place_otherwise(ctx, &p, &scratch, placed);
    if (*placed)
        status = emit(&p, out);
    if (*placed && status == PB_OK && game->kind == PB_GAME_REMAT)
        status = drop_idle(game->graph, out, &scratch);
    pb_arena_release(&scratch);
    return status;
}

static uint64_t both(const pb_game *game)
{
    uint64_t sum;
    return pbi_add(game->cap, game->borrow, &sum) ? sum : PB_UNLIMITED;
}

static bool has_plan(const pb_plan_result *p) { return p->certificate != NULL; }

/* Records the strategy of the plan, its policy and its options. */
static pb_status note_maker(pbi_plan *plan, const pb_schedule *s)
{
    pb_status status = PB_OK;
    plan->strategy = s->strategy;
    plan->policy = s->policy;
    plan->option_count = 0;
    for (uint32_t i = 0; i < s->option_count && status == PB_OK; i++)
        status = pbi_plan_record(plan, s->options[i].key, s->options[i].value);
    return status;
}

/* Plans the reversible game within the sum of cap and borrow. If there is no plan, `plan` stays empty and has the
 * reason. */
static pb_status plan_reversible(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                                 pbi_plan *plan)
{
    pb_game inner = *game;
    pb_plan_result now;
    pb_status status = PB_OK;
    bool placed = false;
    inner.kind = PB_GAME_REVERSIBLE;
    inner.cap = both(game);
    inner.borrow = 0;
    for (int try = 0; try < TRIES && status == PB_OK && !placed; try++) {
        uint64_t missing;
        status = pbi_plan_row(job, &inner, spec, result, &now);
        if (status != PB_OK)
            return status;
        if (!has_plan(&now) && try > 0)
            break; /* no plan found for less than the sum */
        if (!has_plan(&now)) {
            pbi_plan_give_up(plan, "with the cap and the borrowed memory together: %s", now.schedule.reason);
            if (now.schedule.outcome == PB_INFEASIBLE && game->kind == PB_GAME_REVERSIBLE)
                plan->outcome = PB_INFEASIBLE; /* even within the sum of both */
            return PB_OK;
        }
        /* A bound for the sum holds here; one for less memory does not. */
        if (try == 0 && game->kind == PB_GAME_REVERSIBLE)
            plan->lower_bound = now.schedule.lower_bound;
        status = find_places(job->ctx, game, &now.schedule.moves, &plan->moves, &placed, &missing);
        if (status == PB_OK && placed && now.schedule.outcome == PB_OPTIMAL && try == 0)
            plan->outcome = PB_OPTIMAL;
        inner.cap = now.schedule.metrics.peak > missing ? now.schedule.metrics.peak - missing : 0;
    }
    if (!placed)
        return pbi_plan_give_up(
            plan,
            "does not fit: a plan for the cap and the borrowed memory together cannot be split into the two: values of "
            "different sizes do not fit side by side, or values that must be kept cannot be borrowed");
    plan->outcome = plan->outcome == PB_OPTIMAL ? PB_OPTIMAL : PB_FOUND;
    return status == PB_OK ? note_maker(plan, &now.schedule) : status;
}

/* Plans without borrowed memory. */
static pb_status plan_own(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                          pb_plan_result *own)
{
    pb_game inner = *game;
    pb_request request = *job->request;
    pbi_job quick = *job;
    uint64_t limit = job->ctx->tick_limit;
    inner.borrow = 0;
    request.patient = false;
    quick.request = &request;
    job->ctx->tick_limit = limit && limit < A_LOOK ? limit : A_LOOK;
    pb_status status = pbi_plan_row(&quick, &inner, spec, result, own);
    job->ctx->tick_limit = limit;
    return status;
}

/* Takes the cheaper of the two plans; both are legal here. */
static pb_status choose(pb_context *ctx, const pb_game *game, const pb_plan_result *own, pb_arena *result,
                        pbi_plan *plan)
{
    pb_verdict verdict;
    pb_plan_result lent = {.certificate = NULL};
    pb_status status = PB_OK;
    if (!has_plan(own))
        return PB_OK;
    if (plan->outcome == PB_FOUND || plan->outcome == PB_OPTIMAL) {
        status = pb_verify(ctx, game, &plan->moves, result, &verdict);
        if (status == PB_OK && (lent.certificate = verdict.certificate))
            status = pb_metrics_measure(ctx, verdict.certificate, &lent.schedule.metrics);
    }
    if (status != PB_OK || pbi_result_better(&lent, own))
        return status;
    plan->moves = own->schedule.moves;
    plan->outcome = PB_FOUND;
    return note_maker(plan, &own->schedule);
}

pb_status pbi_plan_borrowed(const pbi_job *job, const pb_game *game, const pbi_spec *spec, pb_arena *result,
                            pb_bounds *bounds, pbi_plan *plan)
{
    const pb_weights *w = &game->weights;
    unsigned games = spec->row->games;
    pb_plan_result own = {.certificate = NULL};
    pbi_job inner = *job;
    pbi_bound_cache cache = {.level = {PBI_BOUNDS_NONE}};
    inner.cache = &cache; /* its bounds are for other games than the caller's */
    pb_status status = pb_bounds_make(job->ctx, game, bounds);
    if (status != PB_OK)
        return status;
    if (game->kind == PB_GAME_TIERED)
        return pbi_plan_give_up(plan, "does not apply: only the remat and reversible games can borrow memory");
    if (game->kind == PB_GAME_REMAT && (games & PB_GAME_REMAT))
        status = plan_own(&inner, game, spec, result, &own);
    if (own.schedule.outcome == PB_GAVE_UP || own.schedule.outcome == PB_INFEASIBLE)
        plan->reason = own.schedule.reason;
    cache.level[0] = PBI_BOUNDS_NONE;
    if (status == PB_OK && (games & PB_GAME_REVERSIBLE))
        status = plan_reversible(&inner, game, spec, result, plan);
    if (status == PB_OK && game->kind == PB_GAME_REVERSIBLE && plan->outcome == PB_GAVE_UP) {
        cache.level[1] = PBI_BOUNDS_NONE;
        status = plan_own(&inner, game, spec, result, &own);
    }
    if (status == PB_OK)
        status = choose(job->ctx, game, &own, result, plan);
    if (plan->outcome == PB_OPTIMAL && (game->kind != PB_GAME_REVERSIBLE || w->alpha || w->beta))
        plan->outcome = PB_FOUND; /* the proof is for another game, or for another cost */
    return status;
}
