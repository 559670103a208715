/* search.c -- see search.h.
 *
 * Rounds of annealing (reversible/anneal/anneal) start from everything computed once, from one cone after the other,
 * from a known plan and from the best so far, short ones first: some hot at the target cap, with different courses
 * of temperature and price, others at a constant temperature while the cap falls. Many rounds are better than a long
 * one: their results vary. Threads run rounds in parallel and share the best after each.
 */
#include "plan/reversible/anneal/search.h"

#include "base/context.h"
#include "base/workers.h"
#include "plan/reversible/anneal/start.h"
#include "plan/reversible/anneal/write.h"

#include <math.h>
#include <string.h>

enum {
    MAX_THREADS = 64,
    MAX_SLOTS = 1 << 28,
    A_NODE = 5000,  /* proposals for each unit in the first round, */
    LEAST = 100000, /* at least and at most in all: */
    MAX_PROPOSALS = 1500000,
    LONGEST = 8,      /* how many times longer than the first the longest round is */
    POOR = 3,         /* poor rounds after which rounds get longer */
    TURNS = 4,        /* one round in this many starts from the best plan */
    DEEP = 4,         /* the cap is deep if computing everything once needs this many times as much */
    STALE = 6,        /* it stops after this many rounds without a better plan, */
    SOONEST = 400000, /* but not before this many ticks: rounds of small graphs are short */
    SMALL = 400,      /* units up to which rounds are short, */
    TRIES = 8,        /* and this many start from a known plan */
    PART = 8,         /* a round from a plan of a tree is this many times shorter than others */
    MANY = 1000,      /* plans of trees for one seed: all of them differ */
    AN_IDLE = 256     /* ticks charged for a round that had nothing to do: as many as annealing counts at a time */
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
    pbi_rev_list near;  /* the result of the last round, if it had no plan */
    double near_cost;   /* its cost, with a price for what exceeds the cap */
    bool continued;     /* the last round started from `near` */
    pbi_rev_list start; /* what its round starts from, if that is a start from scratch */
    uint32_t kind;      /* of its round: BY_CONES and so on */
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
    int32_t cap, min_peak; /* the game's; no plan has a smaller peak */
    double enough;
    bool patient, deep;   /* deep: the cap is far below what everything once needs */
    uint64_t seed, times; /* times: how much longer rounds are than the first */
    uint32_t begun, poor; /* rounds from scratch; poor ones since they got longer */
    uint32_t ways[2];     /* rounds from scratch at the cap, and with a falling cap */
    pbi_rev_list best;
    double best_cost, reached[KINDS]; /* the best of all rounds, and of each kind */
    int32_t best_peak;
} search;

static void copy_list(pbi_rev_list *to, const pbi_rev_list *from)
{
    memcpy(to->unit, from->unit, from->count * sizeof *to->unit);
    to->count = from->count;
}

/* ---- one round ---- */

/* Remembers a result without a plan that is so cheap that a round from it may give the best plan. */
static void note_near(worker *w)
{
    const pbi_rev_spans *l = &w->a->l;
    double price = 2 * w->a->base_price;
    w->near.count = 0;
    w->near_cost = pbi_rev_value(l) + price * (double)l->profile.excess;
    if (w->a->best_cost < INFINITY || !l->profile.excess)
        return;
    pbi_rev_spans_read(l, w->near.unit);
    w->near.count = l->filled;
}

static void run_round(worker *w)
{
    const course *todo = w->todo;
    uint64_t before = w->ctx.ticks;
    pbi_rev_anneal_start(w->a, todo->from, w->cap);
    w->status = pbi_rev_anneal_run(w->a, &todo->c);
    if (w->status == PB_OK && w->ctx.ticks == before) /* else a search would never end and could not be stopped */
        w->status = pbi_tick(&w->ctx, AN_IDLE);
    note_near(w);
    w->todo = NULL;
}

static void run_worker(void *state, uint32_t k)
{
    search *s = state;
    run_round(&s->worker[k]);
}

/* The best of the rounds in the order of the threads, so that it does not matter which one ends first. */
static pb_status gather_best(search *s, uint32_t count)
{
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < count; k++) {
        worker *w = &s->worker[k];
        s->reached[w->kind] = fmin(s->reached[w->kind], w->a->best_cost);
        if (w->a->best_cost < s->best_cost) {
            copy_list(&s->best, &w->a->best);
            s->best_cost = w->a->best_cost;
            s->best_peak = w->a->best_peak;
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
    pbi_workers_run(count, run_worker, s);
    for (uint32_t k = 0; k < count; k++)
        if (s->worker[k].todo) /* its thread could not be started */
            run_round(&s->worker[k]);
    return gather_best(s, count);
}

/* ---- which rounds ---- */

/* Courses that lead to different results; which one is best depends on the graph and the cap. */
static const pbi_rev_course fresh[] = {
    {.hot = 0.8, .cold = 0.25, .price_from = 0.5, .price = 5},
    {.hot = 1.2, .cold = 0.25, .price_from = 0.4, .price = 5},
    {.hot = 1.5, .cold = 0.25, .price_from = 0.2, .price = 5},
    {.hot = 1.2, .cold = 0.35, .price_from = 0.5, .price = 3},
};
enum { FRESH = sizeof fresh / sizeof *fresh };

static bool weighs_peak(const search *s) { return s->m.alpha > 0; }

/* If the peak has a weight, caps below the game's are tried: what rounds find while the cap falls counts as well. */
static int32_t other_cap(const search *s, bool from_best, uint32_t turn)
{
    static const int32_t part[] = {0, 32, 8, 128, 4, 16}; /* fractions of the best peak by which the cap is lowered */
    enum { PARTS = sizeof part / sizeof *part };
    int32_t peak = s->best_peak, p = part[turn % PARTS], less = p ? peak / p + (peak < p) : 0;
    if (!weighs_peak(s) || !s->best.count)
        return s->cap;
    if (!from_best)
        less = turn % 3 ? (peak - s->min_peak) / (int32_t)(turn % 3) : 0; /* none, all, half */
    return peak - less > s->min_peak ? peak - less : s->min_peak;
}

/* Is it worth continuing, once, from where this worker's last round ended without a plan? */
static bool is_promising(const search *s, const worker *w)
{
    if (weighs_peak(s) && s->best.count)
        return false; /* the next round has another cap */
    return w->near.count && w->near_cost < s->best_cost && !w->continued;
}

/* Courses of rounds in which the cap falls: how far above the target it starts, and the temperature. */
static const struct {
    double loose, hot;
} falling[] = {{8, 0.35}, {8, 0.4}, {3, 0.35}, {8, 0.3}};
#define FINER 0.1 /* factor on the last temperature if flux has a weight */
#define FREE 1.5  /* a falling cap starts at most this factor above the peak of the start */
enum { FALLINGS = sizeof falling / sizeof *falling };

/* All kinds by turns, with a falling cap more often if the target is deep; the kind that has led to the best plan
 * has one turn in three, and every other turn of those kinds that have led to much less. */
static uint32_t kind_of(const search *s, uint32_t turn)
{
    static const uint32_t turns[2][6] = {{0, FALLING, BY_CONES, 0, FALLING + BY_CONES, BY_CONES},
                                         {FALLING, 0, FALLING, FALLING + BY_CONES, BY_CONES, FALLING + BY_CONES}};
    uint32_t best = 0, n = turn - turn / 3;
    for (uint32_t k = 1; k < OTHER; k++)
        best = s->reached[k] < s->reached[best] ? k : best;
    uint32_t kind = turns[s->deep][n % 6];
    if (turn % 3 == 2 || (turn / 6 % 2 && s->reached[kind] > 1.01 * s->reached[best]))
        kind = best;
    return s->starts.cone.count ? kind : kind & ~(uint32_t)BY_CONES;
}

/* From scratch: everything computed once, or one cone after the other, in an order that varies. */
static void choose_fresh(search *s, uint32_t turn, worker *w, pbi_rev_course *c)
{
    pbi_rev_starts *st = &s->starts;
    if (turn > 1)
        pbi_rev_starts_make(st, turn % 4 != 3, s->seed + turn);
    w->kind = kind_of(s, turn);
    w->continued = false;
    w->cap = other_cap(s, false, turn);
    copy_list(&w->start, w->kind & BY_CONES ? &st->cone : &st->once);
    bool falls = w->kind & FALLING;
    uint32_t way = s->ways[falls]++;
    *c = fresh[(way + way / FRESH) % FRESH];
    if (!falls)
        return;
    way = (way + way / FALLINGS) % FALLINGS;
    double peak = pbi_rev_starts_peak(st, &w->start), loosest = falling[way].loose * (w->cap + 1.0);
    *c = (pbi_rev_course){.loosest = (int32_t)fmin(FREE * peak, loosest),
                          .hot = falling[way].hot,
                          .cold = 0.25,
                          .price_from = 3,
                          .price = 8};
}

/* Many changes alter the flux by less than the work of a move: with a weight on flux the last temperature is lower. */
static void finish_course(const search *s, pbi_rev_course *c, uint64_t proposals)
{
    c->proposals = proposals;
    c->enough = s->enough;
    if (s->m.beta > 0)
        c->cold *= FINER;
}

/* Small trees under a deep cap: rounds that start with everything computed once do not reach the cap, and the result of
 * a round from a plan depends on the plan. So there are short rounds from many different plans. */
static bool has_trees(const search *s) { return s->deep && s->m.count <= SMALL && s->starts.tree.count; }

static pb_status choose_tree(search *s, worker *w, course *out)
{
    uint32_t turn = s->begun++;
    pb_status status = pbi_rev_starts_tree(&s->starts, s->ctx, turn, s->seed + (uint64_t)s->starts.given.count * MANY);
    copy_list(&w->start, &s->starts.tree);
    w->kind = OTHER;
    w->continued = false;
    w->cap = other_cap(s, false, turn);
    out->c = (pbi_rev_course){.hot = turn / 2 % 2 ? 0.8 : 0.4, .cold = 0.25, .price_from = 5, .price = 5};
    finish_course(s, &out->c, s->proposals / PART);
    return status;
}

/* From scratch; after a round that ended slightly above the cap, from its result; and at times from the best. */
static pb_status choose_round(search *s, uint32_t n, worker *w, course *out)
{
    uint32_t turns = weighs_peak(s) ? 2 : has_trees(s) ? 2 * TURNS : TURNS;
    *out = (course){.from = &w->start};
    if (is_promising(s, w) || (s->best.count && n % turns == turns - 1)) {
        w->continued = is_promising(s, w);
        w->kind = w->continued ? w->kind : OTHER;
        w->cap = w->continued ? w->cap : other_cap(s, true, n / turns);
        out->from = w->continued ? &w->near : &s->best;
        out->c = (pbi_rev_course){.hot = n % 2 ? 0.7 : 0.5, .cold = 0.25, .price_from = 2, .price = 8};
    } else if (has_trees(s)) {
        return choose_tree(s, w, out);
    } else {
        choose_fresh(s, s->begun++, w, &out->c);
    }
    finish_course(s, &out->c, s->proposals * s->times);
    return PB_OK;
}

/* Rounds get longer while those from scratch end above the cap, or well above the best. */
static void lengthen(search *s, uint32_t count)
{
    bool poor = false;
    for (uint32_t k = 0; k < count; k++)
        poor = poor || s->worker[k].a->best_cost > 1.01 * s->best_cost;
    s->poor += poor;
    if (s->poor < POOR)
        return;
    s->poor = 0;
    if (2 * s->times <= (s->patient ? LONGEST : 2))
        s->times *= 2;
}

static bool is_enough(const search *s) { return s->best_cost <= s->enough; }

/* The results of rounds from a known plan vary, and under a deep cap they may be the only ones: on small graphs
 * there are several short ones. */
static pb_status from_given(search *s)
{
    bool small = s->m.count <= SMALL;
    pb_status status = PB_OK;
    for (uint32_t k = 0; k < (small ? TRIES : 1) && s->starts.given.count && status == PB_OK && !is_enough(s); k++) {
        course todo = {.from = &s->starts.given, .c = {.hot = 0.4, .cold = 0.25, .price_from = 5, .price = 5}};
        finish_course(s, &todo.c, small ? s->proposals / 4 : s->proposals);
        s->worker[0].kind = OTHER;
        status = run_rounds(s, &todo, 1);
    }
    return status;
}

static pb_status all_rounds(search *s)
{
    pb_status status = from_given(s);
    uint32_t stale = 0, max_stale = weighs_peak(s) ? 3 * STALE : STALE; /* more to try with a weight on the peak */
    if (has_trees(s))
        max_stale *= PART / 2; /* rounds are shorter */
    uint64_t begun = s->ctx->ticks;
    for (uint32_t n = 0; status == PB_OK && !is_enough(s); n += s->threads) {
        if (!s->patient && stale >= max_stale && s->ctx->ticks - begun >= SOONEST)
            break;
        course todo[MAX_THREADS];
        double before = s->best_cost;
        for (uint32_t k = 0; k < s->threads && status == PB_OK; k++)
            status = choose_round(s, n + k, &s->worker[k], &todo[k]);
        if (status == PB_OK)
            status = run_rounds(s, todo, s->threads);
        lengthen(s, s->threads);
        stale = s->best_cost < before ? 0 : stale + s->threads;
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
    if (w->a && pbi_rev_anneal_init(w->a, &s->m, seed, s->room, s->cap, &w->arena)) {
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
    s->proposals = each < LEAST ? LEAST : each < MAX_PROPOSALS ? each : MAX_PROPOSALS;
    if (weighs_peak(s)) /* more of them, at different caps */
        s->proposals /= 4;
    /* Slots: many for each unit on graphs that are small enough for deep caps. */
    uint64_t many = 40 * (uint64_t)s->m.count + 4096, fewer = 12 * (uint64_t)s->m.count + 120000;
    s->room = (uint32_t)(many < fewer ? many : fewer < MAX_SLOTS ? fewer : MAX_SLOTS);
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
    pb_status status = pbi_rev_starts_init(&s->starts, s->ctx, &s->m, options->start, s->room / 2, s->arena);
    s->deep = status == PB_OK && pbi_rev_starts_peak(&s->starts, &s->starts.once) > (int64_t)DEEP * s->cap;
    if (s->deep && s->m.count <= SMALL && pbi_rev_starts_tree(&s->starts, s->ctx, 0, s->seed) == PB_ENOMEM)
        status = PB_ENOMEM; /* after a stop the known plan is still worth keeping */
    return status;
}

/* Sizes are rounded in the model: the given plan may still be better. */
static const pbi_rev_list *better_of(const search *s)
{
    const pbi_rev_list *given = &s->starts.given;
    uint8_t *resident = s->starts.done; /* no longer in use */
    bool same = s->m.unit == 1 || !given->count || (!weighs_peak(s) && !(s->m.beta > 0));
    return same || pbi_rev_cost(&s->m, &s->best, resident) <= pbi_rev_cost(&s->m, given, resident) ? &s->best : given;
}

static pb_status search_all(search *s, const pbi_plan_options *options, pbi_plan *plan)
{
    pb_status status = open_all(s, options);
    if (status == PB_OK)
        status = all_rounds(s);
    if (s->best.count && (status == PB_OK || status == PB_ECANCELLED || status == PB_ELIMIT)) {
        pbi_held held = pbi_hold(s->ctx);
        status = pbi_rev_write(&s->m, better_of(s), s->arena, plan);
        pbi_resume(s->ctx, held);
    } else if (status == PB_OK) {
        status = pbi_plan_give_up(plan, "limit hit: no plan that fits the cap was found; allow more time or ticks");
    }
    for (uint32_t k = 0; s->worker && k < s->threads; k++)
        if (s->worker[k].ready)
            pb_arena_release(&s->worker[k].arena);
    return status;
}

pb_status pbi_rev_search(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_plan *plan)
{
    if (game->graph->needed_cost > UINT64_MAX / 64)
        return pbi_plan_give_up(plan, "does not apply: its work is too close to 2^64; use a coarser cost unit");
    if (game->graph->needed_count > MAX_SLOTS / 8)
        return pbi_plan_give_up(plan, "does not apply: more than %d nodes", MAX_SLOTS / 8);
    if (!game->graph->needed_count) { /* what is resident at the start is what must be resident at the end */
        plan->outcome = PB_FOUND;
        return PB_OK;
    }
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    uint32_t threads = options->threads < MAX_THREADS ? options->threads : MAX_THREADS;
    search s = {.ctx = ctx,
                .game = game,
                .arena = &scratch,
                .threads = threads ? threads : 1,
                .patient = options->patient,
                .seed = options->seed,
                .times = 1,
                .best_cost = INFINITY};
    for (int k = 0; k < KINDS; k++)
        s.reached[k] = INFINITY;
    const char *misfit = NULL;
    pb_status status = pbi_rev_model_init(&s.m, ctx, game, &scratch, &misfit);
    s.cap = status == PB_OK ? pbi_rev_model_cap(&s.m, game->cap) : 0;
    s.min_peak = status == PB_OK ? pbi_rev_model_cap(&s.m, options->bounds->least_cap) : 0;
    s.enough = pbi_rev_model_bound(&s.m, options->bounds);
    if (status == PB_OK)
        status = misfit ? pbi_plan_give_up(plan, "%s", misfit) : search_all(&s, options, plan);
    pb_arena_release(&scratch);
    return status;
}
