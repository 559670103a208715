/* live_search.c -- A* over what is in memory.
 *
 * Values are freed only when room is needed, and then by a minimal set that suffices; in-place moves only if they
 * make room. A search considers plans of at most `max_work` work. It drops values that no such plan reads again. If
 * a computation is needed anyway and leaves no more in memory than before, it tries nothing else. Searches with a
 * rising `max_work` follow each other; what was left out because of its work bounds what is still possible.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/statespace/live.h"
#include "plan/statespace/live_table.h"

#include <string.h>

enum {
    GREED = 4,             /* the weight of the missing work in a greedy search */
    FIRST_PATIENCE = 20000 /* states expanded in the first turn */
};

typedef enum found { FOUND, EXHAUSTED, SPENT, HALTED } found;

/* A state that is to be added to the table. */
typedef struct offer {
    pbi_set set;
    uint64_t done, rest; /* rest: a lower bound on the remaining work */
} offer;

struct pbi_live {
    pb_context *ctx;
    pb_arena *arena;
    pbi_live_model model;
    pbi_live_table table;
    pbi_live_sums sums;
    pbi_live_view here, next_view; /* of the state being expanded, and of a successor */
    offer fits[PBI_LIVE_BITS];     /* computations that need nothing freed */
    uint8_t fit_node[PBI_LIVE_BITS];
    uint32_t fit_count;

    uint64_t first_bound;
    uint64_t max_work; /* limit on the work of the plans that are searched for */
    uint64_t beyond;   /* the least work of what was left out because of its work */
    uint64_t bytes;
    uint64_t expanded, counted; /* states expanded, and how many of them were counted as effort */
    uint64_t patience;          /* states after which the search gives up */
    bool greedy, overflow;
    pb_status status; /* PB_ENOMEM, or why it was stopped */

    uint64_t best;
    bool own; /* the plan was found here; else only its work is known */
    pbi_live_step *plan;
    size_t plan_count, plan_room;
};

/* Is this much work within the limit of the search? */
static bool within(pbi_live *s, uint64_t work)
{
    if (work <= s->max_work)
        return true;
    if (work == UINT64_MAX)
        s->overflow = true;
    s->beyond = work < s->beyond ? work : s->beyond;
    return false;
}

/* Will no plan within the limit read v after the state evaluated last? */
static bool is_useless(pbi_live *s, uint64_t known, unsigned v)
{
    uint64_t use = s->next_view.useful[v];
    return use == PBI_LIVE_NEVER || (use && !within(s, pbi_add_saturated(known, use)));
}

/* Counts expanded states as effort. False: it is time to stop. */
static bool may_continue(pbi_live *s)
{
    uint64_t fresh = s->expanded - s->counted;
    s->counted = s->expanded;
    if (s->status == PB_OK && fresh)
        s->status = pbi_tick(s->ctx, fresh);
    return s->status == PB_OK && s->expanded <= s->patience;
}

/* Is the state in the table already, at most as expensive? */
static bool is_known(const pbi_live *s, const offer *o)
{
    uint32_t at = pbi_live_table_find(&s->table, o->set);
    return at != PBI_LIVE_NONE && s->table.state[at].done <= o->done;
}

/* Evaluates a state; drops what no plan reads again. False: no plan leads through it. */
static bool evaluate(pbi_live *s, offer *o)
{
    const pbi_live_model *m = &s->model;
    s->expanded++;
    if (!pbi_live_find_missing(m, o->set, &s->next_view))
        return false;
    uint64_t known = pbi_add_saturated(o->done, s->next_view.work);
    if (!within(s, known))
        return false;
    pbi_live_find_useful(m, o->set, &s->next_view);
    for (pbi_set left = pbi_set_and(o->set, m->values); pbi_set_any(left);) {
        unsigned v = pbi_set_pop(&left);
        if (is_useless(s, known, v))
            pbi_set_remove(&o->set, v);
    }
    uint64_t extra = pbi_live_extra(m, o->set, &s->next_view, s->max_work - known, &s->sums);
    o->rest = pbi_add_saturated(s->next_view.work, extra);
    return extra != PBI_LIVE_NEVER && within(s, pbi_add_saturated(known, extra));
}

static void add_offer(pbi_live *s, const offer *o, uint32_t parent, unsigned node)
{
    uint32_t at = pbi_live_table_find(&s->table, o->set);
    if (at == PBI_LIVE_NONE) {
        if (!pbi_live_table_add(&s->table, o->set, &at)) {
            s->status = PB_ENOMEM;
            return;
        }
    } else if (s->table.state[at].done <= o->done) {
        return;
    }
    pbi_live_state *state = &s->table.state[at];
    state->done = o->done;
    state->parent = parent;
    state->node = (uint8_t)node;
    state->closed = false;
    uint64_t scaled = o->rest;
    if (s->greedy)
        for (int i = 1; i < GREED; i++)
            scaled = pbi_add_saturated(scaled, o->rest);
    state->key = pbi_add_saturated(o->done, scaled);
    if (!pbi_live_table_push(&s->table, at, o->rest))
        s->status = PB_ENOMEM;
}

static void propose(pbi_live *s, offer o, uint32_t parent, unsigned node)
{
    if (!is_known(s, &o) && evaluate(s, &o))
        add_offer(s, &o, parent, node);
}

/* The state after computing `node` with all its results, except for `without`. */
static pbi_set state_after(const pbi_live_model *m, pbi_set state, unsigned node, pbi_set without)
{
    pbi_set made = pbi_set_less(pbi_set_less(m->outs[node], state), without);
    pbi_set next = pbi_set_or(pbi_set_less(state, without), pbi_set_or(pbi_set_one(node), made));
    for (pbi_set left = pbi_set_or(made, pbi_set_one(node)); pbi_set_any(left);)
        next = pbi_set_or(next, m->marks[pbi_set_pop(&left)]);
    return next;
}

/* Does this computation come first in some best plan? It is needed anyway, and nothing that would be kept in memory
 * until then takes less than what it leaves: inputs that nothing reads afterwards and that cannot be recomputed
 * meanwhile. */
static bool is_forced(pbi_live *s, pbi_set state, const offer *o, unsigned node, pbi_set over, uint64_t known)
{
    const pbi_live_model *m = &s->model;
    pbi_set spent = pbi_live_spent(m, state);
    uint64_t more = pbi_live_size(m, pbi_set_and(o->set, m->outs[node])),
             less = 0; /* what is resident now may be freed and come back */
    uint64_t then = pbi_add_saturated(o->done, s->next_view.work);
    for (; pbi_set_any(over);)
        if (!is_useless(s, then, pbi_set_pop(&over)))
            return false;
    for (pbi_set left = pbi_set_less(m->in[node], o->set); pbi_set_any(left) && less < more;) {
        unsigned v = pbi_set_pop(&left), maker = m->maker[v];
        bool lasts = pbi_set_has(spent, maker) ||
                     (!pbi_set_has(s->here.missing, maker) && !within(s, pbi_add_saturated(known, m->cost[maker])));
        if (lasts && is_useless(s, then, v))
            less += m->size[v];
    }
    return less >= more;
}

/* The state that is expanded. */
typedef struct expansion {
    uint32_t at;
    pbi_set set;
    uint64_t done, known, memory; /* known: with the missing work */
} expansion;

/* ---- making room ---- */

typedef struct room {
    uint8_t value[PBI_LIVE_BITS];     /* candidates to free, the largest first */
    uint64_t rest[PBI_LIVE_BITS + 1]; /* size of these and all later ones */
    uint32_t count;
} room;

/* The values of a state that some plan within the limit frees before the next computation. */
static pbi_set list_loose(pbi_live *s, pbi_set state, uint64_t done)
{
    const pbi_live_model *m = &s->model;
    pbi_set loose = {{0, 0}};
    for (pbi_set left = pbi_set_and(state, m->values); pbi_set_any(left);) {
        unsigned v = pbi_set_pop(&left);
        if (s->here.useful[v] || (pbi_live_find_missing(m, pbi_set_less(state, pbi_set_one(v)), &s->next_view) &&
                                  within(s, pbi_add_saturated(done, s->next_view.work))))
            pbi_set_add(&loose, v);
    }
    s->expanded++;
    return loose;
}

static void list_room(const pbi_live_model *m, pbi_set state, pbi_set loose, unsigned node, room *r)
{
    pbi_set parts = pbi_set_less(m->outs[node], state);
    pbi_set may = pbi_set_or(pbi_set_less(loose, m->in[node]), parts);
    pbi_set_remove(&may, node);
    r->count = 0;
    for (uint32_t k = 0; k < m->count; k++)
        if (pbi_set_has(may, m->large_first[k]) && m->size[m->large_first[k]])
            r->value[r->count++] = m->large_first[k];
    r->rest[r->count] = 0;
    for (uint32_t k = r->count; k-- > 0;)
        r->rest[k] = r->rest[k + 1] + m->size[r->value[k]];
}

/* Every minimal set of values that frees `lack`: the largest come first, so a set is minimal if it is not enough
 * without its last member. `gone` is freed in any case. */
static void make_room(pbi_live *s, const expansion *l, unsigned node, const room *r, uint64_t lack, pbi_set gone)
{
    const pbi_live_model *m = &s->model;
    uint64_t done = pbi_add_saturated(l->done, m->cost[node]);
    uint8_t picked[PBI_LIVE_BITS];
    uint32_t depth = 0, at = 0;
    uint64_t freed = 0;
    for (;;) {
        if (s->expanded - s->counted >= 256 && !may_continue(s))
            return;
        if (at >= r->count || freed + r->rest[at] < lack) {
            if (depth == 0)
                return;
            at = picked[--depth];
            pbi_set_remove(&gone, r->value[at]);
            freed -= m->size[r->value[at]];
            at++;
            continue;
        }
        unsigned v = r->value[at];
        pbi_set_add(&gone, v);
        offer o = {.set = state_after(m, l->set, node, gone), .done = done};
        bool deeper = false;
        if (freed + m->size[v] >= lack) {
            propose(s, o, l->at, node);
        } else {
            s->expanded++;
            deeper =
                pbi_live_find_missing(m, o.set, &s->next_view) && within(s, pbi_add_saturated(done, s->next_view.work));
        }
        if (deeper) {
            picked[depth++] = (uint8_t)at;
            freed += m->size[v];
        } else {
            pbi_set_remove(&gone, v);
        }
        at++;
    }
}

/* ---- looking at one state ---- */

static uint64_t need_of(const pbi_live_model *m, const expansion *l, unsigned node)
{
    return pbi_add_saturated(l->memory + pbi_live_size(m, pbi_set_less(m->outs[node], l->set)), m->workspace[node]);
}

/* Nodes whose inputs are resident, that compute something, and whose use is not too expensive. */
static pbi_set list_computable(pbi_live *s, const expansion *l)
{
    const pbi_live_model *m = &s->model;
    pbi_set out = {{0, 0}};
    for (pbi_set left = pbi_set_less(m->makers, pbi_live_spent(m, l->set)); pbi_set_any(left);) {
        unsigned node = pbi_set_pop(&left);
        pbi_set made = pbi_set_less(m->outs[node], l->set);
        if (!pbi_set_within(m->in[node], l->set) || !pbi_set_any(made))
            continue;
        if (!pbi_set_has(s->here.missing, node)) {
            uint64_t use = PBI_LIVE_NEVER;
            while (pbi_set_any(made)) {
                unsigned v = pbi_set_pop(&made);
                use = s->here.useful[v] < use ? s->here.useful[v] : use;
            }
            if (use == PBI_LIVE_NEVER || !within(s, pbi_add_saturated(pbi_add_saturated(l->known, m->cost[node]), use)))
                continue;
        }
        pbi_set_add(&out, node);
    }
    return out;
}

/* Successors that need nothing freed; true when one of them is the only one to consider. */
static bool try_fitting(pbi_live *s, const expansion *l, unsigned node, pbi_set over)
{
    const pbi_live_model *m = &s->model;
    offer *o = &s->fits[s->fit_count];
    *o = (offer){.set = state_after(m, l->set, node, over), .done = pbi_add_saturated(l->done, m->cost[node])};
    bool must = pbi_set_has(s->here.missing, node);
    if (!must && is_known(s, o))
        return false;
    bool good = evaluate(s, o);
    if (good && must && is_forced(s, l->set, o, node, over, l->known)) {
        add_offer(s, o, l->at, node);
        return true;
    }
    if (good && s->fit_count < PBI_LIVE_BITS - 1)
        s->fit_node[s->fit_count++] = (uint8_t)node;
    else if (good)
        add_offer(s, o, l->at, node);
    return false;
}

static bool try_in_place(pbi_live *s, const expansion *l, unsigned node, uint64_t need)
{
    const pbi_live_model *m = &s->model;
    for (pbi_set left = m->inplace[node]; pbi_set_any(left);) {
        unsigned u = pbi_set_pop(&left);
        uint64_t saved = m->size[u] < m->size[node] ? m->size[u] : m->size[node];
        if (need - saved <= m->room && try_fitting(s, l, node, pbi_set_one(u)))
            return true;
    }
    return false;
}

static void try_making_room(pbi_live *s, const expansion *l, unsigned node, pbi_set loose, uint64_t need)
{
    const pbi_live_model *m = &s->model;
    room r;
    list_room(m, l->set, loose, node, &r);
    make_room(s, l, node, &r, need - m->room, (pbi_set){{0, 0}});
    for (pbi_set left = m->inplace[node]; pbi_set_any(left);) {
        unsigned u = pbi_set_pop(&left);
        uint64_t saved = m->size[u] < m->size[node] ? m->size[u] : m->size[node];
        if (saved && need - saved > m->room)
            make_room(s, l, node, &r, need - saved - m->room, pbi_set_one(u));
    }
}

/* Expands a state. True when it is an end. */
static bool expand(pbi_live *s, uint32_t at)
{
    const pbi_live_model *m = &s->model;
    const pbi_live_state *state = &s->table.state[at];
    expansion l = {.at = at, .set = state->set, .done = state->done};
    pbi_live_find_missing(m, l.set, &s->here);
    if (s->here.listed == 0)
        return true;
    pbi_live_find_useful(m, l.set, &s->here);
    l.known = pbi_add_saturated(l.done, s->here.work);
    l.memory = pbi_live_size(m, l.set);
    s->fit_count = 0;
    pbi_set computable = list_computable(s, &l);
    for (pbi_set left = computable; pbi_set_any(left);) {
        unsigned node = pbi_set_pop(&left);
        uint64_t need = need_of(m, &l, node);
        if (need <= m->room ? try_fitting(s, &l, node, (pbi_set){{0, 0}}) : try_in_place(s, &l, node, need))
            return false;
    }
    for (uint32_t i = 0; i < s->fit_count; i++)
        add_offer(s, &s->fits[i], at, s->fit_node[i]);
    pbi_set loose = {{0, 0}};
    bool listed = false;
    for (pbi_set left = computable; pbi_set_any(left) && s->status == PB_OK;) {
        unsigned node = pbi_set_pop(&left);
        uint64_t need = need_of(m, &l, node);
        if (need <= m->room)
            continue;
        if (!listed)
            loose = list_loose(s, l.set, l.done);
        listed = true;
        try_making_room(s, &l, node, loose, need);
    }
    return false;
}

/* ---- searches ---- */

static void keep_plan(pbi_live *s, uint32_t end)
{
    const pbi_live_state *state = s->table.state;
    size_t count = 0;
    for (uint32_t at = end; state[at].parent != PBI_LIVE_NONE; at = state[at].parent)
        count++;
    void *plan = s->plan;
    if (!pbi_arena_reserve(s->arena, &plan, &s->plan_room, count, sizeof *s->plan)) {
        s->status = PB_ENOMEM;
        return;
    }
    s->plan = plan;
    s->plan_count = count;
    s->own = true;
    s->best = state[end].done;
    for (uint32_t at = end; state[at].parent != PBI_LIVE_NONE; at = state[at].parent)
        s->plan[--count] = (pbi_live_step){state[at].node, state[at].set};
}

/* A plan of at most `max_work` work: the best, unless greedy. */
static found search(pbi_live *s, uint64_t max_work, bool greedy)
{
    offer first = {.set = s->model.start};
    s->max_work = max_work;
    s->beyond = PBI_LIVE_NEVER;
    s->greedy = greedy;
    pbi_live_table_clear(&s->table);
    if (evaluate(s, &first))
        add_offer(s, &first, PBI_LIVE_NONE, 0);
    while (s->status == PB_OK) {
        uint32_t at = pbi_live_table_pop(&s->table);
        if (at == PBI_LIVE_NONE)
            return EXHAUSTED;
        if (expand(s, at)) {
            keep_plan(s, at);
            return s->status == PB_OK ? FOUND : HALTED;
        }
        s->expanded++;
        if ((!may_continue(s) && s->status == PB_OK) || pbi_live_table_bytes(&s->table) > s->bytes)
            return SPENT;
    }
    return HALTED;
}

/* The next limit on work. If a plan is known: halfway to it, then its work. */
static uint64_t next_limit(const pbi_live *s, uint64_t bound, uint64_t root)
{
    if (s->best != PBI_LIVE_NEVER) {
        uint64_t half = bound + (s->best - bound) / 2;
        return s->max_work < half - half / 64 && half < s->best ? half : s->best - 1;
    }
    uint64_t grown = pbi_add_saturated(s->max_work, (s->max_work - root) / 3);
    return grown > bound ? grown : bound;
}

/* Searches with rising limits, until there is a plan, or none is possible. */
static found raise_limit(pbi_live *s, uint64_t root, pbi_live_answer *out)
{
    uint64_t max_work = s->best == PBI_LIVE_NEVER ? out->bound : next_limit(s, out->bound, root);
    while (out->bound < s->best) {
        found what = search(s, max_work, false);
        if (what == SPENT || what == HALTED)
            return what;
        if (what == EXHAUSTED && s->beyond == PBI_LIVE_NEVER && s->best == PBI_LIVE_NEVER)
            return EXHAUSTED;
        out->bound = what == FOUND || s->beyond > s->best ? s->best : s->beyond;
        max_work = next_limit(s, out->bound, root);
    }
    return FOUND;
}

static uint64_t root_bound(pbi_live *s)
{
    offer first = {.set = s->model.start};
    s->max_work = UINT64_MAX - 1;
    return evaluate(s, &first) ? first.rest : 0;
}

void pbi_live_set_start(pbi_live *s, const bool *resident)
{
    pbi_live_model *m = &s->model;
    for (unsigned at = 0; at < m->count; at++)
        if (resident[m->node[at]])
            pbi_set_add(&m->start, at);
        else
            pbi_set_remove(&m->start, at);
}

void pbi_live_set_known(pbi_live *s, uint64_t work)
{
    if (work < s->best) {
        s->best = work;
        s->own = false;
    }
}

uint64_t pbi_live_known(const pbi_live *s, bool *own)
{
    *own = s->own;
    return s->best;
}

/* Climbing proves, greedy search finds a plan or that there is none: by turns, each with more and more states. */
pb_status pbi_live_solve(pbi_live *s, uint64_t bytes, uint64_t expanded, pbi_live_answer *out)
{
    uint64_t root = root_bound(s), patience = FIRST_PATIENCE,
             end = expanded ? pbi_add_saturated(s->expanded, expanded) : UINT64_MAX;
    *out = (pbi_live_answer){.end = PBI_LIVE_STOPPED, .bound = s->first_bound > root ? s->first_bound : root};
    s->bytes = bytes;
    found what = SPENT;
    bool full = false;
    while (what == SPENT && !full) {
        s->patience = pbi_add_saturated(s->expanded, patience);
        s->patience = s->patience < end ? s->patience : end;
        what = raise_limit(s, root, out);
        full = pbi_live_table_bytes(&s->table) > bytes || s->expanded > end;
        if (what == SPENT && s->best == PBI_LIVE_NEVER && !full) {
            s->patience = pbi_add_saturated(s->expanded, patience);
            what = search(s, UINT64_MAX - 1, true);
            what = what == FOUND ? SPENT : what; /* found, but not proved */
        }
        patience = s->best == PBI_LIVE_NEVER ? patience * 4 : UINT64_MAX;
    }
    s->first_bound = out->bound;
    out->end = what == FOUND ? PBI_LIVE_PROVED : what == EXHAUSTED ? PBI_LIVE_INFEASIBLE : PBI_LIVE_STOPPED;
    out->status = s->status;
    out->work = s->best;
    out->own = s->own;
    out->states = s->expanded;
    out->overflow = s->overflow;
    return s->status == PB_ENOMEM ? PB_ENOMEM : PB_OK;
}

pb_status pbi_live_new(pb_context *ctx, const pb_game *game, uint64_t bound, pb_arena *arena, pbi_live **out)
{
    pbi_live *s = pb_arena_zero(arena, 1, sizeof *s);
    if (!s)
        return PB_ENOMEM;
    s->ctx = ctx;
    s->arena = arena;
    s->first_bound = bound;
    s->best = PBI_LIVE_NEVER;
    *out = NULL;
    if (!pbi_live_model_make(game, &s->model))
        return PB_OK;
    *out = s;
    return pbi_live_table_init(&s->table, arena) ? PB_OK : PB_ENOMEM;
}

const pbi_live_step *pbi_live_plan(const pbi_live *s, size_t *count)
{
    *count = s->plan_count;
    return s->plan;
}

const pbi_live_model *pbi_live_model_of(const pbi_live *s) { return &s->model; }
