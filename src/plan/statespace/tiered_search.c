/* tiered_search.c -- the least work and io of a small tiered game, by A*.
 *
 * Without a known plan, the first search accepts any plan: states with the fewest missing steps are expanded first,
 * whatever they cost. It ends with a plan, or when all reachable states have been expanded and there is no plan. The
 * second search looks for the cheapest plan and leaves out states that are not better than the known plan. The bound
 * need not be consistent: a state that is reached by a cheaper path is expanded again.
 */
#include "base/checked.h"
#include "base/context.h"
#include "plan/statespace/set.h"
#include "plan/statespace/tiered_table.h"

enum { BYTES_PER_PATH = 8 /* bytes of the limit for each path that is tried, kept or not */ };

typedef struct search {
    pb_context *ctx;
    const pbi_tier_model *m;
    pbi_tier_table table;
    uint64_t best, bound, limit, paths;
    uint32_t goal, at; /* the last state of the best path; the state being expanded */
    bool any;          /* any plan is accepted */
    bool own, overflow;
    pb_status status; /* PB_ENOMEM, or why it was stopped */
} search;

static bool poll(void *state)
{
    search *s = state;
    if (s->status == PB_OK)
        s->status = pbi_tick(s->ctx, 1);
    return s->status == PB_OK;
}

/* A path to a state. */
static bool add_path(search *s, const pbi_tier_state *to, uint64_t done)
{
    pbi_tier_table *t = &s->table;
    uint32_t at = pbi_tier_table_find(t, to), missing = 0;
    if (at != PBI_TIER_NO_STATE && (s->any || t->met[at].done <= done))
        return true;
    uint64_t rest = pbi_tier_rest(s->m, to, &missing), whole = pbi_add_saturated(done, rest);
    if (rest == PBI_TIER_NEVER)
        return true;
    if (whole >= PBI_TIER_NEVER - 1) {
        s->overflow = true;
        return true;
    }
    if (whole >= s->best)
        return true;
    if (!pbi_tier_table_find_or_add(t, to, &at)) {
        s->status = PB_ENOMEM;
        return false;
    }
    t->met[at] = (pbi_tier_met){.done = done, .parent = s->at};
    if (pbi_tier_is_end(s->m, to)) {
        s->best = done;
        s->goal = at;
        s->own = true;
    }
    if (!(s->any ? pbi_tier_table_push(t, at, missing, done) : pbi_tier_table_push(t, at, whole, missing)))
        s->status = PB_ENOMEM;
    return s->status == PB_OK && !(s->any && s->own);
}

static bool add_step(void *state, const pbi_tier_step *step)
{
    search *s = state;
    s->paths++;
    return add_path(s, &step->next, pbi_add_saturated(s->table.met[s->at].done, step->cost)) && poll(s);
}

/* From the start until it is proved, or stopped. */
static pbi_tier_end run_search(search *s)
{
    const pbi_tier_taker taker = {add_step, poll, s};
    pbi_tier_state now;
    s->at = PBI_TIER_NO_STATE;
    add_path(s, &s->m->start, 0);
    while (s->status == PB_OK && !(s->any && s->own)) {
        uint64_t key = 0;
        s->at = pbi_tier_table_pop(&s->table, &key);
        if (s->at == PBI_TIER_NO_STATE)
            return s->best == PBI_TIER_NEVER ? PBI_TIER_INFEASIBLE : PBI_TIER_PROVED;
        if (!s->any)
            s->bound = key > s->bound ? key : s->bound;
        if (s->best <= s->bound)
            return PBI_TIER_PROVED;
        pbi_tier_table_get(&s->table, s->at, &now);
        pbi_tier_steps(s->m, &now, &taker);
        if (pbi_tier_table_bytes(&s->table) > s->limit || s->paths > s->limit / BYTES_PER_PATH)
            break;
    }
    return PBI_TIER_STOPPED;
}

/* ---- the plan ---- */

/* The cheapest step to a state. */
typedef struct finding {
    const pbi_tier_model *m;
    pbi_tier_state to;
    pbi_tier_step step;
    bool found;
} finding;

static bool is_same(const pbi_tier_model *m, const pbi_tier_state *a, const pbi_tier_state *b)
{
    bool same = a->fast == b->fast && a->ever == b->ever;
    for (unsigned t = 0; t < m->tiers; t++)
        same = same && a->slow[t] == b->slow[t];
    return same;
}

static bool compare(void *state, const pbi_tier_step *step)
{
    finding *f = state;
    if (is_same(f->m, &step->next, &f->to) && (!f->found || step->cost < f->step.cost)) {
        f->step = *step;
        f->found = true;
    }
    return true;
}

static bool poll_search(void *state)
{
    (void)state;
    return true;
}

static pb_status write_gone(const pbi_tier_model *m, const pbi_tier_step *step, pb_moves *moves)
{
    pb_status status = PB_OK;
    for (unsigned t = 0; t < m->tiers; t++)
        for (uint64_t left = step->stored[t]; left && status == PB_OK; left &= left - 1)
            status = pb_moves_add(moves, PB_STORE, m->node[pbi_lowest(left)], (uint8_t)(t + 1));
    for (uint64_t left = step->gone; left && status == PB_OK; left &= left - 1)
        status = pb_moves_add(moves, PB_FREE, m->node[pbi_lowest(left)], 0);
    return status;
}

static pb_status write_step(const pbi_tier_model *m, const pbi_tier_step *step, pb_moves *moves)
{
    pb_node also[PBI_TIER_BITS], node = m->node[step->node];
    uint32_t count = 0;
    pb_status status = write_gone(m, step, moves);
    if (status != PB_OK)
        return status;
    if (step->op != PB_COMPUTE)
        return pb_moves_add(moves, step->op, node, (uint8_t)(step->tier + 1));
    pb_node over = step->over == PBI_TIER_NONE ? PB_NO_NODE : m->node[step->over];
    if (step->by)
        return pb_moves_add_recipe(moves, node, step->by, over);
    for (uint64_t left = step->also; left; left &= left - 1)
        also[count++] = m->node[pbi_lowest(left)];
    return pb_moves_add_compute(moves, node, over, also, count);
}

/* Is the node part of the model? Few are not needed, but read by recipes. */
static bool has_bit(const pbi_tier_model *m, pb_node v)
{
    bool has = false;
    for (unsigned b = 0; b < m->bits && !has; b++)
        has = m->node[b] == v;
    return has;
}

/* Given values that are not needed are freed at once; from slow memory only if that may become full. */
static pb_status write_start(const pbi_tier_model *m, pb_moves *moves)
{
    const pb_graph *g = m->game->graph;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN) || has_bit(m, v))
            continue;
        bool slow = g->flags[v] & PB_NODE_GIVEN_SLOW, stays = !m->tiers || m->game->tiers[0].cap == PB_UNLIMITED;
        if (!slow || !stays)
            status = pb_moves_add(moves, slow ? PB_DROP : PB_FREE, v, slow);
    }
    return status;
}

static pb_status write_plan(const search *s, pb_arena *scratch, pb_moves *moves)
{
    const pbi_tier_table *t = &s->table;
    uint32_t length = 0, k = 0;
    for (uint32_t i = s->goal; i != PBI_TIER_NO_STATE; i = t->met[i].parent)
        length++;
    uint32_t *path = pb_arena_alloc(scratch, length, sizeof *path);
    if (!path)
        return PB_ENOMEM;
    for (uint32_t i = s->goal; i != PBI_TIER_NO_STATE; i = t->met[i].parent)
        path[length - ++k] = i;
    pb_status status = write_start(s->m, moves);
    for (k = 1; k < length && status == PB_OK; k++) {
        finding f = {.m = s->m};
        pbi_tier_state from;
        pbi_tier_table_get(t, path[k - 1], &from);
        pbi_tier_table_get(t, path[k], &f.to);
        pbi_tier_steps(s->m, &from, &(pbi_tier_taker){compare, poll_search, &f});
        status = f.found
                     ? write_step(s->m, &f.step, moves)
                     : pbi_fail(s->ctx, PB_EBUG, "exact cannot reconstruct the plan that it found for the tiered game");
    }
    return status;
}

/* One of the two searches, in memory of its own. PB_OK, or PB_ENOMEM. */
static pb_status search_once(search *s, pb_moves *moves, pbi_tier_answer *a)
{
    pb_arena scratch;
    pb_arena_init(&scratch, s->ctx);
    s->own = false;
    s->paths = 0;
    if (!pbi_tier_table_init(&s->table, s->m->tiers, &scratch))
        s->status = PB_ENOMEM;
    a->end = s->status == PB_OK ? run_search(s) : PBI_TIER_STOPPED;
    pb_status status = s->status == PB_ENOMEM ? PB_ENOMEM : PB_OK;
    if (status == PB_OK && s->own) {
        moves->count = moves->extra_count = 0;
        status = write_plan(s, &scratch, moves);
        a->own = true;
    }
    a->status = s->status;
    a->states += s->table.count;
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_tier_solve(pb_context *ctx, const pbi_tier_model *m, const pbi_search_limits *limits, pb_moves *moves,
                         pbi_tier_answer *out)
{
    pbi_tier_answer a = {.end = PBI_TIER_STOPPED};
    search s = {.ctx = ctx, .m = m, .best = limits->known, .bound = limits->bound, .limit = limits->bytes};
    s.any = s.best == PBI_TIER_NEVER;
    pb_status status = PB_OK;
    if (s.any)
        status = search_once(&s, moves, &a);
    s.any = false;
    if (status == PB_OK && s.status == PB_OK && s.best != PBI_TIER_NEVER)
        status = search_once(&s, moves, &a);
    a.overflow = s.overflow;
    a.cost = s.best;
    a.bound = a.end == PBI_TIER_PROVED ? s.best : s.bound;
    if (status == PB_OK)
        *out = a;
    return status;
}
