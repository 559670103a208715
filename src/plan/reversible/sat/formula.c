/* formula.c -- see formula.h. */
#include "plan/reversible/sat/formula.h"

#include "base/checked.h"
#include "base/context.h"

enum {
    MAX_RECOMPUTATIONS = 6, /* how often a node may be recomputed, if its price does not limit it further */
    LITERALS_A_TICK = 8
};

static bool is_final(const pb_graph *g, pb_node v) { return g->flags[v] & (PB_NODE_TARGET | PB_NODE_KEEP); }

/* ---- the game ---- */

/* Steps that every plan needs: to the end of the longest path, and back to uncompute what is not kept. */
static uint32_t count_steps(const pbi_rev_game *r, const uint32_t *up, const uint32_t *back)
{
    const pb_graph *g = r->game->graph;
    uint32_t max_steps = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        pb_node v = r->node[i];
        uint32_t after = 0;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t u = r->index[g->in[k]];
            after = u != UINT32_MAX && back[u] > after ? back[u] : after;
        }
        max_steps = up[i] + after > max_steps ? up[i] + after : max_steps;
    }
    return max_steps;
}

static bool find_steps(pbi_rev_game *r, pb_arena *arena)
{
    const pb_graph *g = r->game->graph;
    uint32_t *up = pb_arena_zero(arena, (size_t)r->count + 1, sizeof *up); /* steps until it can be resident */
    /* steps from it on until it is removed */
    uint32_t *back = pb_arena_zero(arena, (size_t)r->count + 1, sizeof *back);
    if (!up || !back)
        return false;
    for (uint32_t i = 0; i < r->count; i++) {
        pb_node v = r->node[i];
        bool stays = is_final(g, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            uint32_t u = r->index[g->in[k]];
            if (u == UINT32_MAX)
                continue;
            up[i] = up[u] > up[i] ? up[u] : up[i];
            back[i] = !stays && back[u] > back[i] ? back[u] : back[i];
        }
        up[i]++;
        back[i] += !stays;
    }
    r->min_steps = count_steps(r, up, back);
    return true;
}

static uint32_t count_computed(const pb_graph *g, pb_node v)
{
    uint32_t count = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        count += !(g->flags[g->in[k]] & PB_NODE_GIVEN);
    return count;
}

static void read_node(pbi_rev_game *r, pb_node v)
{
    const pb_graph *g = r->game->graph;
    r->index[v] = r->count;
    r->node[r->count++] = v;
    r->step_literals += 6 + 4 * (uint64_t)count_computed(g, v);
    r->all += g->size[v];
    r->max_space = g->workspace[v] > r->max_space ? g->workspace[v] : r->max_space;
    r->min_cost = g->cost[v] < r->min_cost ? g->cost[v] : r->min_cost;
    r->min_work = pbi_add_saturated(r->min_work, g->cost[v]);
    if (!is_final(g, v))
        r->min_work = pbi_add_saturated(r->min_work, g->cost[v]);
}

bool pbi_rev_game_init(pbi_rev_game *r, const pb_game *game, pb_arena *arena)
{
    const pb_graph *g = game->graph;
    uint64_t always = g->fixed_size;
    *r = (pbi_rev_game){.game = game, .min_cost = UINT64_MAX};
    r->node = pb_arena_alloc(arena, (size_t)g->needed_count + 1, sizeof *r->node);
    r->index = pb_arena_alloc(arena, g->node_count, sizeof *r->index);
    if (!r->node || !r->index)
        return false;
    for (pb_node v = 0; v < g->node_count; v++) {
        r->index[v] = UINT32_MAX;
        always += g->flags[v] & PB_NODE_GIVEN ? g->size[v] : 0;
    }
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            read_node(r, g->order[i]);
    r->room = game->cap - always;
    return find_steps(r, arena);
}

/* ---- the formula ---- */

static int resident(const pbi_rev_formula *f, uint32_t t, uint32_t i)
{
    return f->resident[(size_t)t * f->r->count + i];
}

static int other(pbi_rev_formula *f) { return pbi_sat_new(&f->sat); }

/* A variable that is true if a is, or b. */
static int either(pbi_rev_formula *f, int a, int b)
{
    int x = other(f);
    pbi_sat_two(&f->sat, -a, x);
    pbi_sat_two(&f->sat, -b, x);
    return x;
}

/* Node i changes only if its inputs are resident before and after step t. Returns the variable of the change. */
static int add_change(pbi_rev_formula *f, uint32_t t, uint32_t i)
{
    const pbi_rev_game *r = f->r;
    const pb_graph *g = r->game->graph;
    pb_node v = r->node[i];
    int change = other(f), before = resident(f, t, i), after = resident(f, t + 1, i);
    pbi_sat_three(&f->sat, -before, after, change);
    pbi_sat_three(&f->sat, before, -after, change);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        uint32_t u = r->index[g->in[k]];
        if (u == UINT32_MAX)
            continue;
        pbi_sat_two(&f->sat, -change, resident(f, t, u));
        pbi_sat_two(&f->sat, -change, resident(f, t + 1, u));
    }
    return change;
}

/* What is resident before or after step t fits, with the workspace of what changes. */
static bool add_memory(pbi_rev_formula *f, uint32_t t, const int *change, pbi_sums *part)
{
    const pbi_rev_game *r = f->r;
    const pb_graph *g = r->game->graph;
    uint32_t parts = 0;
    pbi_sums sum;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t size = g->size[r->node[i]];
        int x = size ? either(f, resident(f, t, i), resident(f, t + 1, i)) : 0;
        if (!size)
            continue;
        if (size > r->room) {
            pbi_sat_one(&f->sat, -x);
            continue;
        }
        if (!pbi_sums_room(f->arena, 1, &part[parts]))
            return false;
        part[parts].sum[0] = size;
        part[parts].literal[0] = x;
        part[parts++].count = 1;
    }
    if (!pbi_sums_add_up(&f->sat, f->arena, part, parts, r->room, &sum))
        return false;
    for (uint32_t i = 0; i < r->count && !pbi_sat_full(&f->sat); i++) {
        uint64_t space = g->workspace[r->node[i]];
        if (space > r->room)
            pbi_sat_one(&f->sat, -change[i]);
        else if (space)
            for (uint32_t k = pbi_sums_place(&sum, r->room - space + 1); k < sum.count; k++)
                pbi_sat_two(&f->sat, -change[i], -sum.literal[k]);
    }
    return true;
}

static bool add_steps(pbi_rev_formula *f)
{
    const pbi_rev_game *r = f->r;
    bool tight = r->all > r->room || r->max_space > r->room - r->all;
    int *change = pb_arena_alloc(f->arena, (size_t)r->count + 1, sizeof *change);
    pbi_sums *part = pb_arena_alloc(f->arena, (size_t)r->count + 1, sizeof *part);
    if (!change || !part)
        return false;
    for (uint32_t t = 0; t < f->steps && !pbi_sat_full(&f->sat); t++) {
        uint64_t before = f->sat.literals, max_literals = f->sat.max_literals;
        f->sat.max_literals = t ? max_literals : before + max_literals / f->steps; /* all steps are alike */
        for (uint32_t i = 0; i < r->count; i++)
            change[i] = add_change(f, t, i);
        if (tight && !add_memory(f, t, change, part))
            return false;
        if (pbi_sat_full(&f->sat))
            break;
        f->sat.max_literals = max_literals;
        f->halted = pbi_tick(f->sat.ctx, (f->sat.literals - before) / LITERALS_A_TICK);
        if (f->halted != PB_OK)
            break;
    }
    return true;
}

static void fix_state(pbi_rev_formula *f, uint32_t t, bool end)
{
    for (uint32_t i = 0; i < f->r->count; i++) {
        bool is_resident = end && is_final(f->r->game->graph, f->r->node[i]);
        pbi_sat_one(&f->sat, is_resident ? resident(f, t, i) : -resident(f, t, i));
    }
}

static bool open_steps(pbi_rev_formula *f, pb_context *ctx, const pbi_rev_game *r, uint32_t steps,
                       uint64_t max_literals, pb_arena *arena)
{
    size_t states = (size_t)steps + 1;
    *f = (pbi_rev_formula){.r = r, .arena = arena, .steps = steps};
    if (!pbi_sat_open(&f->sat, ctx, max_literals))
        return false;
    bool large = states > f->sat.max_literals / (r->step_literals + 1);
    f->resident = large ? NULL : pb_arena_alloc(arena, states * r->count + 1, sizeof *f->resident);
    if (large)
        f->sat.literals = UINT64_MAX;
    for (size_t i = 0; f->resident && i < states * r->count; i++)
        f->resident[i] = other(f);
    return large || f->resident;
}

/* Counts the computations of node i; out: literals for one recomputation, two recomputations, and so on. */
static bool count_recomputations(pbi_rev_formula *f, uint32_t i, uint32_t levels, pbi_sums *out)
{
    int *count = pb_arena_alloc(f->arena, (size_t)levels + 2, sizeof *count);
    if (!count || !pbi_sums_room(f->arena, levels, out))
        return false;
    for (uint32_t j = 0; j <= levels + 1; j++)
        count[j] = 0; /* never yet */
    for (uint32_t t = 0; t < f->steps && !pbi_sat_full(&f->sat); t++)
        for (uint32_t j = levels + 1; j-- > 0;) { /* count[j]: computed at least j + 1 times by now */
            if (j > 0 && !count[j - 1])
                continue;
            int next = other(f), clause[4] = {resident(f, t, i), -resident(f, t + 1, i), next, 0};
            if (j > 0)
                clause[3] = -count[j - 1];
            pbi_sat_clause(&f->sat, clause, j > 0 ? 4 : 3);
            if (count[j])
                pbi_sat_two(&f->sat, -count[j], next);
            count[j] = next;
        }
    for (uint32_t j = 1; j <= levels; j++)
        if (count[j]) {
            out->sum[out->count] = j;
            out->literal[out->count++] = count[j];
        }
    return true;
}

/* Adds the work of recomputing node i: `levels` recomputations are within max_work, and one more is excluded. */
static bool add_node_work(pbi_rev_formula *f, uint32_t i, uint64_t max_work, pbi_sums *out)
{
    const pb_graph *g = f->r->game->graph;
    pb_node v = f->r->node[i];
    uint64_t cost = g->cost[v], price = pbi_add_saturated(cost, cost);
    uint64_t levels = price ? max_work / price : 0;
    out->count = 0;
    if (!price || (g->flags[v] & PB_NODE_ONCE)) /* it costs nothing, or is excluded already */
        return true;
    if (levels > MAX_RECOMPUTATIONS) {
        levels = MAX_RECOMPUTATIONS;
        f->restricted = f->restricted || f->steps / 2 > MAX_RECOMPUTATIONS;
    }
    if (!count_recomputations(f, i, (uint32_t)levels + 1, out))
        return false;
    if (out->count > levels) /* the literal for levels + 1 recomputations */
        pbi_sat_one(&f->sat, -out->literal[--out->count]);
    for (uint32_t j = 0; j < out->count; j++)
        out->sum[j] = price * (j + 1);
    return true;
}

static bool add_work(pbi_rev_formula *f, uint64_t max_work)
{
    uint32_t parts = 0;
    pbi_sums *part = pb_arena_alloc(f->arena, (size_t)f->r->count + 1, sizeof *part);
    if (!part)
        return false;
    for (uint32_t i = 0; i < f->r->count && !pbi_sat_full(&f->sat); i++) {
        if (!add_node_work(f, i, max_work, &part[parts]))
            return false;
        parts += part[parts].count > 0;
    }
    f->has_extra = true;
    return pbi_sums_add_up(&f->sat, f->arena, part, parts, max_work, &f->extra);
}

/* Without a limit on the work: nodes that are computed once only. */
static bool add_once(pbi_rev_formula *f)
{
    for (uint32_t i = 0; i < f->r->count; i++) {
        pbi_sums recomputed;
        if (!(f->r->game->graph->flags[f->r->node[i]] & PB_NODE_ONCE))
            continue;
        if (!count_recomputations(f, i, 1, &recomputed))
            return false;
        if (recomputed.count)
            pbi_sat_one(&f->sat, -recomputed.literal[0]);
    }
    return true;
}

bool pbi_rev_formula_open(pbi_rev_formula *f, pb_context *ctx, const pbi_rev_game *r, uint32_t steps,
                          uint64_t max_literals, pb_arena *arena)
{
    if (!open_steps(f, ctx, r, steps, max_literals, arena))
        return false;
    if (pbi_sat_full(&f->sat))
        return true;
    fix_state(f, 0, false);
    fix_state(f, steps, true);
    return add_steps(f) && add_once(f);
}

void pbi_rev_formula_close(pbi_rev_formula *f) { pbi_sat_close(&f->sat); }

bool pbi_rev_formula_less_work(pbi_rev_formula *f, uint64_t work)
{
    const pbi_rev_game *r = f->r;
    if (work <= r->min_work) { /* no plan has less work: makes the formula unsatisfiable */
        int x = other(f);
        pbi_sat_one(&f->sat, x);
        pbi_sat_one(&f->sat, -x);
        return true;
    }
    uint64_t max_work = work - r->min_work - 1;
    if (max_work > UINT64_MAX / 2) { /* so that two sums can be added */
        max_work = UINT64_MAX / 2;
        f->restricted = true;
    }
    if (!f->has_extra)
        return add_work(f, max_work);
    uint32_t at = pbi_sums_place(&f->extra, max_work + 1);
    if (at < f->extra.count)
        pbi_sat_one(&f->sat, -f->extra.literal[at]);
    return true;
}

bool pbi_rev_formula_open_path(pbi_rev_formula *f, pb_context *ctx, const pbi_rev_game *r, uint32_t steps,
                               uint64_t max_literals, pb_arena *arena)
{
    if (!open_steps(f, ctx, r, steps, max_literals, arena))
        return false;
    if (pbi_sat_full(&f->sat))
        return true;
    fix_state(f, steps, true);
    int *differ = pb_arena_alloc(arena, (size_t)r->count + 1, sizeof *differ);
    if (!differ || !add_steps(f))
        return false;
    for (uint32_t s = 0; s <= steps; s++)
        for (uint32_t t = s + 1; t <= steps && !pbi_sat_full(&f->sat); t++) {
            for (uint32_t i = 0; i < r->count; i++) {
                differ[i] = other(f);
                pbi_sat_three(&f->sat, -differ[i], resident(f, s, i), resident(f, t, i));
                pbi_sat_three(&f->sat, -differ[i], -resident(f, s, i), -resident(f, t, i));
            }
            pbi_sat_clause(&f->sat, differ, r->count);
        }
    return true;
}

/* ---- the plan ---- */

typedef struct player {
    const pbi_rev_formula *f;
    pb_moves *moves;
    uint64_t memory, peak, work;
} player;

/* The changes of step t: removals first, which leaves more room for computations. */
static pb_status play_step(player *p, uint32_t t, bool removes)
{
    const pbi_rev_game *r = p->f->r;
    const pb_graph *g = r->game->graph;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < r->count && status == PB_OK; i++) {
        bool before = pbi_sat_value(&p->f->sat, resident(p->f, t, i));
        bool after = pbi_sat_value(&p->f->sat, resident(p->f, t + 1, i));
        pb_node v = r->node[i];
        if (before == after || before != removes)
            continue;
        uint64_t during = p->memory + g->workspace[v] + (removes ? 0 : g->size[v]);
        p->peak = during > p->peak ? during : p->peak;
        p->memory = removes ? p->memory - g->size[v] : p->memory + g->size[v];
        p->work = pbi_add_saturated(p->work, g->cost[v]);
        status = removes ? pb_moves_add(p->moves, PB_UNCOMPUTE, v, 0)
                         : pb_moves_add_compute(p->moves, v, PB_NO_NODE, NULL, 0);
    }
    return status;
}

pb_status pbi_rev_formula_plan(const pbi_rev_formula *f, pb_moves *moves, uint64_t *work, uint64_t *peak)
{
    uint64_t always = f->r->game->cap - f->r->room;
    player p = {.f = f, .moves = moves, .memory = always, .peak = always};
    pb_status status = PB_OK;
    for (uint32_t t = 0; t < f->steps && status == PB_OK; t++) {
        status = play_step(&p, t, true);
        if (status == PB_OK)
            status = play_step(&p, t, false);
    }
    *work = p.work;
    *peak = p.peak;
    return status;
}
