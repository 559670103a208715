/* sweep.c -- caps x strategies x weights, planned in waves.
 *
 * Idea        the largest and the smallest cap first, then the middle of every gap, until there is none. The
 * results of a
 *             wave decide many cells of the next: between two caps of the same proved cost nothing is left to plan. The
 *             cells of one wave do not depend on one another, so any number of threads finds the same. A group is all
 *             strategies at one cap under one triple of weights: they share the bounds, which take time.
 * Invariants  workers have their own contexts and write only to the slots of their groups; the main thread moves their
 *             results into the sweep between waves, and verifies them there again.
 */
#include "api/study/sweep_state.h"

#include "base/arena.h"
#include "base/context.h"
#include "base/workers.h"
#include "plan/strategy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct slot {
    bool used;
    pb_status status;
    pb_plan_result planned;
    pb_arena arena; /* of the worker's context */
    char message[200];
} slot;

typedef struct group {
    uint32_t weights, cap, cells; /* cells to be planned */
} group;

struct worker;
typedef struct crew {
    pbi_sweep_state *s;
    slot *slots; /* [cell] */
    struct worker *workers;
    uint32_t worker_count;
    bool *due;                   /* [cell]: to be planned in this wave */
    bool *reached;               /* [cap]: in this wave or an earlier one */
    group *groups;               /* of this wave */
    uint32_t group_count, later; /* later: groups of later waves */
    atomic_uint next, done;      /* groups taken; cells done */
    atomic_int stopped;          /* pb_stop of the caller */
    uint64_t end_ns;             /* 0: no time limit */
} crew;

typedef struct worker {
    pb_context ctx;
    crew *c;
    bool shows; /* it runs in the caller's thread, which reports progress */
    uint64_t end_ns;
} worker;

static uint64_t now_of(const pb_context *ctx) { return ctx->clock_ns ? ctx->clock_ns(ctx->callback_state) : 0; }

/* ---- what a worker's context calls ---- */

static pb_stop worker_stop(void *state)
{
    worker *h = state;
    const pb_context *caller = h->c->s->ctx;
    int stopped = atomic_load(&h->c->stopped);
    if (stopped == PB_GO_ON && caller->stop) {
        stopped = (int)caller->stop(caller->callback_state);
        if (stopped != PB_GO_ON)
            atomic_store(&h->c->stopped, stopped);
    }
    if (stopped != PB_GO_ON)
        return (pb_stop)stopped;
    return h->end_ns && now_of(caller) >= h->end_ns ? PB_STOP_TIME : PB_GO_ON;
}

static uint64_t worker_clock(void *state)
{
    const worker *h = state;
    return now_of(h->c->s->ctx);
}

static void worker_progress(void *state, const char *what, uint64_t done, uint64_t total)
{
    const worker *h = state;
    (void)done;
    (void)total;
    if (h->shows)
        pbi_progress(h->c->s->ctx, what, atomic_load(&h->c->done), h->c->s->out->cell_count);
}

static void worker_log(void *state, const char *message)
{
    const worker *h = state;
    const pb_context *caller = h->c->s->ctx;
    caller->log(caller->callback_state, message);
}

/* ---- planning ---- */

/* The plan of the next larger cap of an earlier wave: it does less work than is possible here, so a search only has
 * to repair it. */
static const pb_moves *start_of(const pbi_sweep_state *s, uint32_t cell)
{
    for (uint32_t k = pb_sweep_cap_of(s->out, cell), at = cell; k > 0; k--)
        if (s->found[--at].plan)
            return &s->found[at].schedule.moves;
    return NULL;
}

pb_status pbi_sweep_plan(const pbi_sweep_state *s, uint32_t cell, const pbi_cell_help *help, pb_context *ctx,
                         pb_arena *arena, pb_plan_result *out)
{
    const pb_sweep *o = s->out;
    pbi_job job = s->job;
    pb_request request = s->plan;
    pb_game game;
    request.start = help->start;
    if (request.bound_effort) /* the requested effort is for all caps together */
        request.bound_effort = request.bound_effort / o->cap_count + 1;
    job.request = &request;
    job.ctx = ctx;
    job.cache = help->cache;
    job.no_proofs = !request.prove;
    ctx->stopped = PB_GO_ON;
    ctx->error.message[0] = '\0';
    pb_status status = pbi_sweep_game(s, cell, arena, &game);
    return status == PB_OK ? pbi_plan_row(&job, &game, &s->specs[pb_sweep_line_of(o, cell)], arena, out) : status;
}

pb_status pbi_sweep_failed(const pbi_sweep_state *s, uint32_t cell, pb_context *ctx, pb_arena *arena,
                           pb_plan_result *out)
{
    const pbi_spec *spec = &s->specs[pb_sweep_line_of(s->out, cell)];
    pbi_job job = s->job;
    pb_game game;
    job.ctx = ctx;
    job.request = &s->plan;
    pb_status status = pbi_sweep_game(s, cell, arena, &game);
    return status == PB_OK ? pbi_fault(&job, &game, spec, arena, out) : status;
}

static void plan_cell(worker *h, pbi_bound_cache *cache, uint32_t cell)
{
    const pbi_sweep_state *s = h->c->s;
    slot *t = &h->c->slots[cell];
    bool timed = s->out->lines[pb_sweep_line_of(s->out, cell)].game == PB_GAME_TIMED;
    pbi_cell_help help = {.start = timed ? NULL : start_of(s, cell), .cache = cache};
    pb_arena_init(&t->arena, &h->ctx);
    t->used = true;
    t->status = pbi_sweep_plan(s, cell, &help, &h->ctx, &t->arena, &t->planned);
    if (t->status != PB_OK)
        memcpy(t->message, h->ctx.error.message, sizeof t->message - 1);
    atomic_fetch_add(&h->c->done, 1);
}

/* The time for a group: an equal share of what is left for each round of groups to come. */
static uint64_t group_end(const crew *c, uint32_t taken, uint64_t now)
{
    uint64_t left = c->group_count - taken + c->later;
    uint64_t rounds = (left + c->worker_count - 1) / c->worker_count;
    return c->end_ns > now ? now + (c->end_ns - now) / (rounds ? rounds : 1) : now;
}

static void plan_group(worker *h, uint32_t index)
{
    crew *c = h->c;
    const group *g = &c->groups[index];
    const pb_sweep *o = c->s->out;
    pbi_bound_cache cache = {.level = {PBI_BOUNDS_NONE}};
    uint32_t left = g->cells;
    uint64_t end = c->end_ns ? group_end(c, index, now_of(c->s->ctx)) : 0;
    for (uint32_t l = 0; l < o->line_count && atomic_load(&c->stopped) == PB_GO_ON; l++) {
        uint32_t cell = pb_sweep_at(o, g->weights, l, g->cap);
        uint64_t now = end ? now_of(c->s->ctx) : 0;
        if (!c->due[cell])
            continue;
        h->end_ns = !end ? 0 : now < end ? now + (end - now) / left : now;
        plan_cell(h, &cache, cell);
        left--;
    }
}

static void work(void *state, uint32_t index)
{
    crew *c = state;
    for (;;) {
        uint32_t at = atomic_fetch_add(&c->next, 1);
        if (at >= c->group_count || atomic_load(&c->stopped) != PB_GO_ON)
            return;
        plan_group(&c->workers[index], at);
    }
}

/* ---- results ---- */

static pb_status take_slot(pbi_sweep_state *s, const slot *t, uint32_t cell)
{
    pbi_finding *f = &s->found[cell];
    pb_plan_result blank;
    pb_game game = *s->base;
    if (t->status == PB_ECANCELLED)
        return PB_OK;
    if (t->status == PB_EINVAL || t->status == PB_EUNKNOWN)
        return pbi_fail(s->ctx, t->status, "%s", t->message);
    if (t->status == PB_OK) {
        f->schedule = t->planned.schedule;
        f->plan = t->planned.certificate != NULL;
        f->seconds = t->planned.seconds;
    } else { /* a bug in one cell is reported in that cell, and the others continue */
        const pbi_spec *spec = &s->specs[pb_sweep_line_of(s->out, cell)];
        game.kind = s->out->lines[pb_sweep_line_of(s->out, cell)].game;
        pbi_fail(s->ctx, t->status, "%s", t->message[0] ? t->message : pb_status_text(t->status));
        pb_status status = pbi_fault(&s->job, &game, spec, s->result, &blank);
        if (status != PB_OK)
            return status;
        f->schedule = blank.schedule;
    }
    f->tried = true;
    pb_status status = pbi_schedule_copy(s->result, &f->schedule);
    if (s->base->kind == PB_GAME_TIMED) /* it is in the worker's arena */
        f->schedule.machine = NULL;
    return status;
}

static pb_status take_all(crew *c)
{
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < c->s->out->cell_count; i++) {
        slot *t = &c->slots[i];
        if (!t->used)
            continue;
        if (status == PB_OK)
            status = take_slot(c->s, t, i);
        pb_arena_release(&t->arena);
        t->used = false;
    }
    return status;
}

/* ---- waves ---- */

/* The caps of the next wave: the ends, then the middle of each gap. False if there is none. */
static bool next_caps(crew *c, bool *chosen)
{
    uint32_t caps = c->s->out->cap_count;
    bool any = false;
    memset(chosen, 0, caps * sizeof *chosen);
    if (!c->reached[0]) {
        chosen[0] = chosen[caps - 1] = any = true;
    } else {
        for (uint32_t last = 0, k = 1; k < caps; k++) {
            if (!c->reached[k])
                continue;
            if (k - last > 1)
                chosen[last + (k - last) / 2] = any = true;
            last = k;
        }
    }
    for (uint32_t k = 0; k < caps; k++)
        c->reached[k] = c->reached[k] || chosen[k];
    return any;
}

/* Groups of the wave, without the cells that are decided. */
static void form_groups(crew *c, const bool *chosen)
{
    const pb_sweep *o = c->s->out;
    uint32_t decided = 0;
    c->group_count = c->later = 0;
    for (uint32_t k = 0; k < o->cap_count; k++) {
        c->later += c->reached[k] ? 0 : o->weights_count;
        for (uint32_t w = 0; w < o->weights_count && chosen[k]; w++) {
            group g = {w, k, 0};
            for (uint32_t l = 0; l < o->line_count; l++) {
                uint32_t cell = pb_sweep_at(o, w, l, k);
                c->due[cell] = !pbi_sweep_decided(c->s, cell);
                g.cells += c->due[cell];
                decided += !c->due[cell];
            }
            if (g.cells)
                c->groups[c->group_count++] = g;
        }
    }
    atomic_store(&c->next, 0);
    atomic_fetch_add(&c->done, decided);
}

static pb_status all_waves(crew *c, bool *chosen)
{
    pb_status status = PB_OK;
    while (status == PB_OK && atomic_load(&c->stopped) == PB_GO_ON && next_caps(c, chosen)) {
        form_groups(c, chosen);
        if (!c->group_count)
            continue;
        pbi_workers_run(c->worker_count < c->group_count ? c->worker_count : c->group_count, work, c);
        status = take_all(c);
        pbi_sweep_share(c->s);
    }
    return status;
}

static pb_status hire(crew *c, pb_arena *scratch)
{
    const pb_context *ctx = c->s->ctx;
    c->workers = pb_arena_zero(scratch, c->worker_count, sizeof *c->workers);
    for (uint32_t i = 0; c->workers && i < c->worker_count; i++) {
        worker *h = &c->workers[i];
        h->ctx = *ctx;
        h->ctx.memory_used = h->ctx.memory_peak = 0;
        if (ctx->memory_limit) /* what is left, in equal parts; the main thread has one for the result */
            h->ctx.memory_limit = (ctx->memory_limit - ctx->memory_used) / (c->worker_count + 1) + 1;
        h->ctx.stop = worker_stop;
        h->ctx.clock_ns = ctx->clock_ns ? worker_clock : NULL;
        h->ctx.progress = ctx->progress && i == 0 ? worker_progress : NULL;
        h->ctx.log = ctx->log && i == 0 ? worker_log : NULL;
        h->ctx.callback_state = h;
        h->c = c;
        h->shows = i == 0;
    }
    return c->workers ? PB_OK : PB_ENOMEM;
}

static pb_status plan_all(pbi_sweep_state *s, pb_arena *scratch)
{
    const pb_sweep *o = s->out;
    uint32_t threads = s->request->plan.threads ? s->request->plan.threads : 1;
    uint64_t now = now_of(s->ctx), time = s->request->time_ns;
    crew c = {.s = s, .worker_count = threads < PBI_MAX_WORKERS ? threads : PBI_MAX_WORKERS};
    if (time && s->ctx->clock_ns)
        c.end_ns = now > UINT64_MAX - time ? UINT64_MAX : now + time;
    c.slots = pb_arena_zero(scratch, o->cell_count, sizeof *c.slots);
    c.due = pb_arena_zero(scratch, o->cell_count, sizeof *c.due);
    c.reached = pb_arena_zero(scratch, o->cap_count, sizeof *c.reached);
    c.groups = pb_arena_alloc(scratch, (size_t)o->cap_count * o->weights_count, sizeof *c.groups);
    bool *chosen = pb_arena_alloc(scratch, o->cap_count, sizeof *chosen);
    pb_status status = pbi_sweep_state_init(s, scratch);
    if (status == PB_OK)
        status = pbi_sweep_prove_least(s);
    atomic_store(&c.stopped, (int)s->ctx->stopped); /* a stop during the proof ends the sweep */
    if (status == PB_OK)
        status = hire(&c, scratch);
    if (!c.slots || !c.due || !c.reached || !c.groups || !chosen)
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = all_waves(&c, chosen);
    s->out->stopped = (pb_stop)atomic_load(&c.stopped);
    return status;
}

/* ---- the request ---- */

static int falling(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a > *b ? -1 : *a < *b;
}

static pb_status take_caps(pbi_sweep_state *s)
{
    const pb_sweep_request *r = s->request;
    pb_sweep *o = s->out;
    o->caps = pb_arena_alloc(s->result, r->cap_count, sizeof *o->caps);
    if (!o->caps)
        return PB_ENOMEM;
    if (!r->cap_count)
        return pbi_fail(s->ctx, PB_EINVAL, "a sweep needs at least one cap; add one");
    memcpy(o->caps, r->caps, r->cap_count * sizeof *o->caps);
    qsort(o->caps, r->cap_count, sizeof *o->caps, falling);
    for (uint32_t i = 0; i < r->cap_count; i++)
        if (i == 0 || o->caps[i] != o->caps[o->cap_count - 1])
            o->caps[o->cap_count++] = o->caps[i];
    o->weights_count = r->weights_count ? r->weights_count : 1;
    o->weights = pb_arena_alloc(s->result, o->weights_count, sizeof *o->weights);
    if (!o->weights)
        return PB_ENOMEM;
    memcpy(o->weights, r->weights_count ? r->weights : &s->base->weights, o->weights_count * sizeof *o->weights);
    return PB_OK;
}

static pb_game_kind game_of(const pbi_sweep_state *s, const pbi_spec *spec)
{
    const pb_strategy *row = spec->row;
    if (s->request->game)
        return (pb_game_kind)s->request->game;
    if (s->base->kind == PB_GAME_TIMED)
        return PB_GAME_TIMED;
    if (spec->given && (row->traits & PB_TRAIT_MOVES))
        return spec->given->game;
    if (s->base->tier_count && (row->games & PB_GAME_TIERED))
        return PB_GAME_TIERED;
    return row->games & PB_GAME_REMAT        ? PB_GAME_REMAT
           : row->games & PB_GAME_REVERSIBLE ? PB_GAME_REVERSIBLE
                                             : PB_GAME_TIERED;
}

typedef struct line_list {
    void *specs, *lines;
    size_t spec_room, line_room, count;
} line_list;

static pb_status add_line(pbi_sweep_state *s, line_list *list, const pbi_spec *spec, const char *text, size_t length)
{
    if (!pbi_arena_reserve(s->result, &list->specs, &list->spec_room, list->count + 1, sizeof *s->specs) ||
        !pbi_arena_reserve(s->result, &list->lines, &list->line_room, list->count + 1, sizeof *s->out->lines))
        return PB_ENOMEM;
    char *copy = pb_arena_text(s->result, text, length);
    if (!copy)
        return PB_ENOMEM;
    pb_game_kind kind = game_of(s, spec);
    ((pbi_spec *)list->specs)[list->count] = *spec;
    ((pb_sweep_line *)list->lines)[list->count++] =
        (pb_sweep_line){.spec = copy, .game = kind, .portfolio = pbi_tries_all(spec->row)};
    s->out->games |= (unsigned)kind;
    return PB_OK;
}

/* Every strategy except portfolios; if a game is named, only those that play it. */
static pb_status add_all(pbi_sweep_state *s, line_list *list)
{
    uint32_t count;
    const pb_strategy *rows = pb_strategies(&count);
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < count && status == PB_OK; i++)
        if (rows[i].strength != PB_PORTFOLIO && !(rows[i].traits & PB_TRAIT_FILE) &&
            (!s->request->game || (rows[i].games & s->request->game)))
            status = add_line(s, list, &(pbi_spec){.row = &rows[i]}, rows[i].name, strlen(rows[i].name));
    return status;
}

static pb_status take_lines(pbi_sweep_state *s)
{
    line_list list = {.count = 0};
    pb_status status = PB_OK;
    for (const char *at = s->request->strategies ? s->request->strategies : "auto"; *at && status == PB_OK;) {
        const char *end = pbi_spec_end(at);
        pbi_spec spec;
        if (end - at == 3 && memcmp(at, "all", 3) == 0) {
            status = add_all(s, &list);
        } else {
            status = pbi_spec_parse(s->ctx, at, (size_t)(end - at), s->result, &spec);
            if (status == PB_OK)
                status = pbi_given_read(s->ctx, s->base, &s->plan, s->result, &spec);
            if (status == PB_OK)
                status = add_line(s, &list, &spec, at, (size_t)(end - at));
        }
        at = *end ? end + 1 : end;
    }
    if (status == PB_OK && !list.count)
        status = pbi_fail(s->ctx, PB_EINVAL, "a sweep needs at least one strategy; add one");
    s->specs = list.specs;
    s->out->lines = list.lines;
    s->out->line_count = (uint32_t)list.count;
    return status;
}

pb_status pbi_sweep_begin(pbi_sweep_state *s)
{
    pb_sweep *o = s->out;
    s->plan = s->request->plan;
    s->plan.strategy = NULL;
    s->plan.threads = 1; /* one thread per cell, so that the plans do not depend on the number of threads */
    pb_status status = pbi_job_init(&s->job, s->ctx, s->base->graph, &s->plan);
    if (status == PB_OK)
        status = take_caps(s);
    if (status == PB_OK)
        status = take_lines(s);
    o->policy = pbi_policy_constant(s->plan.policy);
    if (status == PB_OK)
        status = pb_graph_program_peak(s->ctx, s->base->graph, &o->program_peak);
    if (status != PB_OK)
        return status;
    uint64_t cells = (uint64_t)o->cap_count * o->line_count;
    if (cells > 1000000 || cells * o->weights_count > 1000000)
        return pbi_fail(s->ctx, PB_EINVAL,
                        "the sweep has more than a million cells; use fewer caps, strategies or weights");
    o->cell_count = (uint32_t)(cells * o->weights_count);
    return PB_OK;
}

pb_status pbi_sweep_end(pbi_sweep_state *s)
{
    pb_context *ctx = s->ctx;
    uint64_t limit = ctx->tick_limit;
    ctx->tick_limit = 0; /* it was the limit of each plan */
    pb_status status = pbi_sweep_conclude(s);
    if (status == PB_OK)
        status = pb_sweep_mark(s->out, s->result);
    ctx->tick_limit = limit;
    s->out->stopped = s->out->stopped == PB_GO_ON ? ctx->stopped : s->out->stopped;
    ctx->stopped = s->out->stopped;
    return status;
}

pb_status pb_sweep_make(pb_context *ctx, const pb_game *base, const pb_sweep_request *request, pb_arena *result,
                        pb_sweep *out)
{
    pb_sweep sweep = {.graph = base->graph, .borrow = base->borrow};
    pbi_sweep_state s = {.ctx = ctx, .base = base, .request = request, .result = result, .out = &sweep};
    pb_arena scratch;
    ctx->stopped = PB_GO_ON;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_sweep_begin(&s);
    if (status == PB_OK)
        status = plan_all(&s, &scratch);
    if (status == PB_OK)
        status = pbi_sweep_end(&s);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = sweep;
    return status;
}

pb_status pb_sweep_caps(pb_arena *result, uint64_t high, uint64_t low, uint32_t points, uint64_t **caps,
                        uint32_t *count)
{
    uint64_t wide = high - low, gaps = points > 1 ? points - 1 : 1;
    if (high < low)
        return pbi_fail(result->ctx, PB_EINVAL, "caps must go from the largest to the smallest; sort them");
    uint64_t *list = pb_arena_alloc(result, points + 1, sizeof *list);
    if (!list)
        return PB_ENOMEM;
    *count = 0;
    for (uint64_t i = 0; i < points || i == 0; i++) {
        uint64_t down = wide / gaps * i + wide % gaps * i / gaps;
        if (!*count || list[*count - 1] != high - down)
            list[(*count)++] = high - down;
    }
    *caps = list;
    return PB_OK;
}
