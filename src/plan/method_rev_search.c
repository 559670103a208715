/* method_rev_search.c -- see method_rev_search.h.
 *
 * Rounds of annealing (method_rev_anneal) from everything computed once, from one cone after the other, from a plan that is
 * at hand and from the best so far, short ones first: some hot at the cap that is wanted, on different courses of
 * temperature and price, others at an even temperature while the cap falls. Many rounds are better than a long one: where
 * they end varies. Threads run rounds side by side and share the best after each.
 */
#include "plan/method_rev_search.h"

#include "base/checked.h"
#include "base/context.h"
#include "base/workers.h"
#include "plan/method_rev_start.h"

#include <math.h>
#include <string.h>

enum {
    MOST_THREADS = 64,
    MOST_SLOTS = 1 << 28,
    A_NODE = 5000, /* proposals for each unit in the first round, */
    LEAST = 100000,
    MOST = 1500000, /* within these */
    LONGEST = 8,    /* times that in the longest */
    POOR = 3,       /* poor rounds after which they get longer */
    TURNS = 4,      /* one round in so many goes on from the best plan */
    STALE = 6       /* rounds without a better plan, after which it stops */
};

/* Kinds of rounds: from everything once or by cones, at the cap or with a falling one; and others. */
enum { BY_CONES = 1, FALLING = 2, OTHER = 4, KINDS };

typedef struct course {
    const pbi_rev_list *from;
    pbi_rev_course c;
} course;

typedef struct worker {
    pb_context ctx;
    pb_arena arena;
    pbi_rev_anneal *a;
    pbi_rev_list near;  /* the end of the last round, if it had no plan */
    double near_work;   /* with a price for its excess */
    bool continued;     /* the last round went on from such an end */
    pbi_rev_list start; /* of its round, when that is a fresh one */
    uint32_t kind;      /* of its round */
    int32_t cap;
    const course *todo; /* NULL when it is done */
    pb_status status;
    bool ready;
} worker;

typedef struct search {
    pb_context *ctx;
    const pb_game *game;
    pb_arena *arena;
    pbi_rev_model m;
    pbi_rev_starts starts;
    worker *worker;
    uint32_t threads, room;
    uint64_t proposals;
    int32_t cap;
    double enough;
    bool patient;
    uint64_t seed, times; /* times: how much longer rounds are than the first */
    uint32_t begun, poor; /* rounds from scratch; poor ones since they got longer */
    pbi_rev_list best;
    double best_work, reached[KINDS]; /* of all; by rounds of each kind */
} search;

static void copy_list(pbi_rev_list *to, const pbi_rev_list *from)
{
    memcpy(to->unit, from->unit, from->count * sizeof *to->unit);
    to->count = from->count;
}

/* ---- one round ---- */

/* Where a round ended without a plan, but with so little work that one from there may be the best. */
static void note_near(worker *w)
{
    const pbi_rev_line *l = &w->a->l;
    double price = 2 * w->a->base_price;
    w->near.count = 0;
    w->near_work = l->work + price * (double)l->profile.excess;
    if (w->a->best_work < INFINITY || !l->profile.excess)
        return;
    pbi_rev_line_read(l, w->near.unit);
    w->near.count = l->filled;
}

static void run_round(worker *w)
{
    const course *todo = w->todo;
    pbi_rev_anneal_start(w->a, todo->from, w->cap);
    w->status = pbi_rev_anneal_run(w->a, &todo->c);
    note_near(w);
    w->todo = NULL;
}

static void work(void *state, uint32_t k)
{
    search *s = state;
    run_round(&s->worker[k]);
}

/* The best of the rounds in the order of the threads, so that it does not matter which was first. */
static pb_status gather(search *s, uint32_t count)
{
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < count; k++) {
        worker *w = &s->worker[k];
        s->reached[w->kind] = fmin(s->reached[w->kind], w->a->best_work);
        if (w->a->best_work < s->best_work) {
            copy_list(&s->best, &w->a->best);
            s->best_work = w->a->best_work;
        }
        if (w->status != PB_OK && status == PB_OK) {
            status = w->status;
            s->ctx->error = w->ctx.error;
        }
        if (w->ctx.stopped != PB_GO_ON)
            s->ctx->stopped = w->ctx.stopped;
        s->ctx->ticks = w->ctx.ticks > s->ctx->ticks ? w->ctx.ticks : s->ctx->ticks;
    }
    return status;
}

static pb_status run_rounds(search *s, const course *todo, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        s->worker[k].todo = &todo[k];
    pbi_workers_run(count, work, s);
    for (uint32_t k = 0; k < count; k++)
        if (s->worker[k].todo) /* its thread could not be had */
            run_round(&s->worker[k]);
    return gather(s, count);
}

/* ---- which rounds ---- */

/* Courses that lead to different places; which one does best depends on the graph and the cap. */
static const pbi_rev_course fresh[] = {
    {.hot = 0.8, .cold = 0.25, .price_from = 0.5, .price = 5},
    {.hot = 1.2, .cold = 0.25, .price_from = 0.4, .price = 5},
    {.hot = 1.5, .cold = 0.25, .price_from = 0.2, .price = 5},
    {.hot = 1.2, .cold = 0.35, .price_from = 0.5, .price = 3},
};
enum { FRESH = sizeof fresh / sizeof *fresh };

/* Does it pay to go on from where this worker's last round ended without a plan? Once. */
static bool is_promising(const search *s, const worker *w)
{
    return w->near.count && w->near_work < s->best_work && !w->continued;
}

/* While the cap falls. */
static const struct {
    double loose, hot;
} falling[] = {{8, 0.35}, {3, 0.35}, {8, 0.4}, {8, 0.3}};
#define FREE 1.5 /* times its peak, a start is free to move at first */
enum { FALLINGS = sizeof falling / sizeof *falling };

/* All kinds by turns; one in three is of the kind that has led to the best plan. */
static uint32_t kind_of(const search *s, uint32_t turn)
{
    static const uint32_t turns[] = {FALLING, 0, FALLING, FALLING + BY_CONES, BY_CONES, FALLING + BY_CONES};
    uint32_t best = 0, n = turn - turn / 3;
    for (uint32_t k = 1; k < OTHER; k++)
        best = s->reached[k] < s->reached[best] ? k : best;
    uint32_t kind = turn % 3 == 2 ? best : turns[n % 6];
    return s->starts.cone.count ? kind : kind & ~(uint32_t)BY_CONES;
}

/* From scratch, in two ways that vary. */
static void choose_fresh(search *s, uint32_t turn, worker *w, pbi_rev_course *c)
{
    pbi_rev_starts *st = &s->starts;
    if (turn > 1)
        pbi_rev_starts_make(st, turn % 4 != 3, s->seed + turn);
    w->kind = kind_of(s, turn);
    w->continued = false;
    copy_list(&w->start, w->kind & BY_CONES ? &st->cone : &st->once);
    *c = fresh[(turn + turn / FRESH) % FRESH];
    if (!(w->kind & FALLING))
        return;
    uint32_t way = (turn + turn / FALLINGS) % FALLINGS;
    double peak = pbi_rev_starts_peak(st, &w->start), loosest = falling[way].loose * (w->cap + 1.0);
    *c = (pbi_rev_course){.loosest = (int32_t)fmin(FREE * peak, loosest),
                          .hot = falling[way].hot,
                          .cold = 0.25,
                          .price_from = 3,
                          .price = 8};
}

/* From scratch; after a round that ended a little above the cap, from there; and at times from the best. */
static void choose(search *s, uint32_t n, worker *w, course *out)
{
    *out = (course){.from = &w->start};
    if (is_promising(s, w) || (s->best.count && n % TURNS == TURNS - 1)) {
        w->continued = is_promising(s, w);
        w->kind = w->continued ? w->kind : OTHER;
        out->from = w->continued ? &w->near : &s->best;
        out->c = (pbi_rev_course){.hot = n % 2 ? 0.7 : 0.5, .cold = 0.25, .price_from = 2, .price = 8};
    } else {
        choose_fresh(s, s->begun++, w, &out->c);
    }
    out->c.proposals = s->proposals * s->times;
    out->c.enough = s->enough;
}

/* Rounds get longer while those from scratch end above the cap, or well above the best. */
static void lengthen(search *s, uint32_t count)
{
    bool poor = false;
    for (uint32_t k = 0; k < count; k++)
        poor = poor || s->worker[k].a->best_work > 1.01 * s->best_work;
    s->poor += poor;
    if (s->poor < POOR)
        return;
    s->poor = 0;
    if (2 * s->times <= (s->patient ? LONGEST : 2))
        s->times *= 2;
}

static bool is_enough(const search *s) { return s->best_work <= s->enough; }

static pb_status from_given(search *s)
{
    course todo = {
        .from = &s->starts.given,
        .c = {.proposals = s->proposals, .hot = 0.4, .cold = 0.25, .price_from = 5, .price = 5, .enough = s->enough}};
    s->worker[0].kind = OTHER;
    return todo.from->count ? run_rounds(s, &todo, 1) : PB_OK;
}

static pb_status all_rounds(search *s)
{
    pb_status status = from_given(s);
    uint32_t stale = 0;
    for (uint32_t n = 0; (s->patient || stale < STALE) && status == PB_OK && !is_enough(s); n += s->threads) {
        course todo[MOST_THREADS];
        double before = s->best_work;
        for (uint32_t k = 0; k < s->threads; k++)
            choose(s, n + k, &s->worker[k], &todo[k]);
        status = run_rounds(s, todo, s->threads);
        lengthen(s, s->threads);
        stale = s->best_work < before ? 0 : stale + s->threads;
        pbi_progress(s->ctx, "search", n + s->threads, 0);
    }
    return status;
}

/* ---- from beginning to end ---- */

static pb_status open_worker(search *s, worker *w, uint64_t seed)
{
    w->ctx = *s->ctx;
    w->ctx.memory_used = w->ctx.memory_peak = 0;
    if (s->ctx->memory_limit) {
        size_t limit = s->ctx->memory_limit, used = s->ctx->memory_used;
        w->ctx.memory_limit = (limit > used ? limit - used : 0) / s->threads + 1;
    }
    pb_arena_init(&w->arena, &w->ctx);
    w->ready = true;
    w->cap = s->cap;
    w->a = pb_arena_alloc(&w->arena, 1, sizeof *w->a);
    if (w->a && pbi_rev_anneal_init(w->a, &w->ctx, &s->m, seed, s->room, &w->arena)) {
        w->near.unit = pb_arena_alloc(&w->arena, w->a->l.room, sizeof *w->near.unit);
        w->start.unit = pb_arena_alloc(&w->arena, w->a->l.room, sizeof *w->start.unit);
        if (w->near.unit && w->start.unit)
            return PB_OK;
    }
    s->ctx->error = w->ctx.error;
    return PB_ENOMEM;
}

static pb_status open_all(search *s, const pbi_plan_options *options)
{
    uint64_t each = (uint64_t)A_NODE * s->m.count;
    s->proposals = each < LEAST ? LEAST : each < MOST ? each : MOST;
    /* Slots: many for each unit on graphs that are small enough for deep caps. */
    uint64_t many = 40 * (uint64_t)s->m.count + 4096, fewer = 12 * (uint64_t)s->m.count + 120000;
    s->room = (uint32_t)(many < fewer ? many : fewer < MOST_SLOTS ? fewer : MOST_SLOTS);
    s->worker = pb_arena_zero(s->arena, s->threads, sizeof *s->worker);
    s->best.unit = pb_arena_alloc(s->arena, (size_t)s->room + 4096, sizeof *s->best.unit);
    if (!s->worker || !s->best.unit)
        return PB_ENOMEM;
    for (uint32_t k = 0; k < s->threads; k++)
        if (open_worker(s, &s->worker[k], options->seed + k) != PB_OK)
            return PB_ENOMEM;
    pbi_rev_anneal *first = s->worker[0].a; /* the calling thread's */
    first->better = options->better;
    first->better_state = options->better_state;
    first->better_cap = s->cap;
    return pbi_rev_starts_init(&s->starts, s->ctx, &s->m, options->start, s->room / 2, s->arena);
}

/* The values of a unit beside the node itself. */
static uint32_t parts_of(const pb_graph *g, pb_node v, pb_node *part)
{
    uint32_t count = 0;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            if (g->flags[g->part[k]] & PB_NODE_NEEDED)
                part[count++] = g->part[k];
    return count;
}

/* Values that stay may be removed and made again on the way, so this is for units as a whole. */
static pb_status write_move(search *s, pb_node v, bool there, pb_node *part, pb_moves *moves)
{
    uint32_t parts = parts_of(s->game->graph, v, part);
    if (!there)
        return pb_moves_add_compute(moves, v, PB_NO_NODE, part, parts);
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < parts && status == PB_OK; k++)
        status = pb_moves_add(moves, PB_UNCOMPUTE, part[k], 0);
    return status == PB_OK ? pb_moves_add(moves, PB_UNCOMPUTE, v, 0) : status;
}

static pb_status write_plan(search *s, pbi_plan *plan)
{
    const pb_graph *g = s->game->graph;
    uint64_t work = 0;
    uint8_t *there = pb_arena_zero(s->arena, s->m.count, sizeof *there);
    pb_node *part = pb_arena_alloc(s->arena, (size_t)g->node_count + 1, sizeof *part);
    pb_status status = there && part ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < s->best.count && status == PB_OK; i++) {
        uint32_t u = s->best.unit[i];
        if (!pbi_add(work, g->cost[s->m.node[u]], &work))
            return pbi_plan_give_up(plan, "does not apply: its work passes 2^64");
        status = write_move(s, s->m.node[u], there[u], part, &plan->moves);
        there[u] = !there[u];
    }
    if (status == PB_OK)
        plan->outcome = PB_FOUND;
    return status;
}

static pb_status search_all(search *s, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_status status = open_all(s, options);
    if (status == PB_OK)
        status = all_rounds(s);
    if (s->best.count && (status == PB_OK || status == PB_ECANCELLED || status == PB_ELIMIT)) {
        pbi_held held = pbi_hold(s->ctx);
        status = write_plan(s, plan);
        pbi_resume(s->ctx, held);
    } else if (status == PB_OK) {
        status = pbi_plan_give_up(plan, "limit hit: no plan within the cap was found");
    }
    for (uint32_t k = 0; s->worker && k < s->threads; k++)
        if (s->worker[k].ready)
            pb_arena_release(&s->worker[k].arena);
    return status;
}

pb_status pbi_rev_search(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    if (game->graph->needed_cost > UINT64_MAX / 64)
        return pbi_plan_give_up(plan, "does not apply: its work is too near to 2^64");
    if (game->graph->needed_count > MOST_SLOTS / 8)
        return pbi_plan_give_up(plan, "does not apply: more than %d nodes", MOST_SLOTS / 8);
    if (!game->graph->needed_count) { /* what is there at the start is what has to be there at the end */
        plan->outcome = PB_FOUND;
        return PB_OK;
    }
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t threads = options->threads < MOST_THREADS ? options->threads : MOST_THREADS;
    search s = {.ctx = ctx,
                .game = game,
                .arena = &scratch,
                .threads = threads ? threads : 1,
                .enough = (double)options->bounds->makespan,
                .patient = options->patient,
                .seed = options->seed,
                .times = 1,
                .best_work = INFINITY};
    for (int k = 0; k < KINDS; k++)
        s.reached[k] = INFINITY;
    const char *fault = NULL;
    pb_status status = pbi_rev_model_init(&s.m, ctx, game, &scratch, &fault);
    s.cap = status == PB_OK ? pbi_rev_model_cap(&s.m, game->cap) : 0;
    if (status == PB_OK)
        status = fault ? pbi_plan_give_up(plan, "%s", fault) : search_all(&s, options, plan);
    pb_arena_release(&scratch);
    return status;
}
