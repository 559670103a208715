/* demand_reversible.c -- demand-driven planning for the reversible game.
 *
 * As in the forward games a stack of frames computes what is missing and pins what it has. Evicting a unit means
 * uncomputing it, so only units whose inputs are all resident can go. First go those that the order does not read
 * again and whose readers are gone or final (they must be uncomputed anyway), then other idle ones, then any; within
 * each kind the policy decides. At the end everything that is not kept is uncomputed, last first; inputs that this
 * needs and that are not resident are recomputed. Each such step only adds units further down the order, so the
 * clean-up ends.
 */
#include "plan/evict/demand.h"

#include "base/context.h"
#include "plan/reversible/units.h"

enum { EXAMINE_MAX = 4096 };

typedef struct frame {
    pb_node node;
    uint32_t next;
} frame;

typedef struct undoer {
    pb_context *ctx;
    const pb_game *game;
    const pb_graph *g;
    const pbi_demand_options *options;
    pbi_plan *plan;
    pb_arena scratch;
    pbi_reversible r;
    pbi_evict e;       /* times and scores; its heap is not used */
    pb_node *resident; /* units that are resident and not kept to the end */
    uint32_t resident_count;
    uint32_t *where; /* per unit: 1 + its index in `resident` */
    uint32_t *pins, *uses;
    uint8_t *held; /* per edge: its reader's frame holds the input */
    frame *stack;
    uint32_t depth;
} undoer;

static void count_reads(undoer *d, pb_node v)
{
    const pb_graph *g = d->g;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1] && (g->flags[v] & PB_NODE_NEEDED); k++)
        d->uses[pb_graph_maker(g, g->in[k])]++;
}

static pb_status allocate_undoer(undoer *d)
{
    const pb_graph *g = d->g;
    size_t n = g->node_count;
    pb_status status = pbi_reversible_init(&d->r, d->ctx, d->game, d->plan, d->options->limit, &d->scratch);
    if (status != PB_OK)
        return status;
    d->resident = pb_arena_alloc(&d->scratch, n, sizeof *d->resident);
    d->where = pb_arena_zero(&d->scratch, n, sizeof *d->where);
    d->pins = pb_arena_zero(&d->scratch, n, sizeof *d->pins);
    d->uses = pb_arena_zero(&d->scratch, n, sizeof *d->uses);
    d->held = pb_arena_zero(&d->scratch, g->edge_count, sizeof *d->held);
    d->stack = pb_arena_alloc(&d->scratch, n + 1, sizeof *d->stack);
    if (!d->held || !d->resident || !d->where || !d->pins || !d->uses || !d->stack)
        return PB_ENOMEM;
    const pb_moves *follow = d->options->follow;
    for (uint32_t i = 0; i < g->order_count && !follow; i++)
        count_reads(d, g->order[i]);
    for (pb_step k = 0; follow && k < follow->count; k++)
        if (follow->move[k].op == PB_COMPUTE)
            count_reads(d, follow->move[k].node);
    return pbi_evict_init(&d->e, g, d->options->policy, d->options->seed, d->r.resident, &d->scratch);
}

/* Adds the unit to the list of resident units or removes it, according to its members. */
static void update_list(undoer *d, pb_node v)
{
    bool listed = d->where[v], resident = pbi_reversible_removable(&d->r, v);
    if (resident && !listed) {
        d->resident[d->resident_count++] = v;
        d->where[v] = d->resident_count;
    } else if (!resident && listed) {
        pb_node last = d->resident[--d->resident_count];
        d->resident[d->where[v] - 1] = last;
        d->where[last] = d->where[v];
        d->where[v] = 0;
    }
}

/* 0: must be uncomputed anyway and nothing will need it before; 1: idle; 2: the order reads it again. */
static unsigned kind_of(const undoer *d, pb_node v)
{
    const pb_graph *g = d->g;
    if (d->uses[v])
        return 2;
    uint32_t count = g->flags[v] & PB_NODE_HAS_PARTS ? g->part_start[v + 1] - g->part_start[v] : 0;
    for (uint32_t i = 0; i <= count; i++) {
        pb_node w = i ? g->part[g->part_start[v] + i - 1] : v;
        for (uint32_t k = g->out_start[w]; k < g->out_start[w + 1]; k++)
            if (pbi_reversible_removable(&d->r, g->out[k]))
                return 1;
    }
    return 0;
}

static double rank_of(undoer *d, pb_node v)
{
    const pbi_evict *e = &d->e;
    switch (e->policy) {
    case PBI_OLDEST: return (double)e->made[v];
    case PBI_LEAST_RECENT: return (double)e->touched[v];
    case PBI_RANDOM: return pbi_rng_real(&d->e.rng);
    case PBI_LARGEST: return -(double)d->g->size[v];
    default:
        return (double)pbi_evict_recompute_cost(e, v) /
               ((double)(d->g->size[v] + 1) * (double)(e->clock - e->touched[v] + 1));
    }
}

static bool may_go(const undoer *d, pb_node v)
{
    return !d->pins[v] && !(d->g->flags[v] & PB_NODE_ONCE) && pbi_reversible_ready(&d->r, v) &&
           d->g->workspace[v] <= d->game->cap - d->r.memory;
}

/* The unit to uncompute next, or PB_NO_NODE. Long lists are searched from a random place on. */
static pb_node pick(undoer *d)
{
    pb_node best = PB_NO_NODE;
    unsigned best_kind = 3;
    double best_rank = 0;
    uint64_t best_priority = 0;
    uint32_t count = d->resident_count, from = 0;
    if (d->e.policy == PBI_ABORT || !count)
        return best;
    if (count > EXAMINE_MAX) {
        from = (uint32_t)pbi_rng_below(&d->e.rng, count);
        count = EXAMINE_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        pb_node v = d->resident[(from + i) % d->resident_count];
        if (!may_go(d, v))
            continue;
        unsigned kind = kind_of(d, v);
        double rank = rank_of(d, v);
        uint64_t priority = d->e.policy == PBI_PRIORITY ? pbi_priority_of(d->g, v) : 0;
        bool same = kind == best_kind && priority == best_priority;
        if (kind < best_kind || (kind == best_kind && priority < best_priority) ||
            (same && (rank < best_rank || (rank == best_rank && v < best)))) {
            best = v;
            best_kind = kind;
            best_priority = priority;
            best_rank = rank;
        }
    }
    return best;
}

/* Room to compute v, or to uncompute it, which needs its workspace again. */
static pb_status make_room(undoer *d, pb_node v, bool undo)
{
    pb_status status = PB_OK;
    while (status == PB_OK && !d->r.stuck &&
           (undo ? d->g->workspace[v] : pbi_reversible_need(&d->r, v)) > d->game->cap - d->r.memory) {
        pb_node victim = pick(d);
        if (victim == PB_NO_NODE)
            return PB_OK; /* then the move itself fails and reports it */
        status = pbi_reversible_uncompute(&d->r, victim);
        update_list(d, victim);
        if (status == PB_OK)
            status = pbi_tick(d->ctx, d->resident_count < EXAMINE_MAX ? d->resident_count : EXAMINE_MAX);
    }
    return status;
}

static pb_status compute(undoer *d, pb_node v)
{
    pb_status status = make_room(d, v, false);
    if (status == PB_OK && !d->r.stuck)
        status = pbi_reversible_compute(&d->r, v);
    pbi_evict_made(&d->e, v);
    return status;
}

static void pin_input(undoer *d, uint32_t edge)
{
    pb_node unit = pb_graph_maker(d->g, d->g->in[edge]);
    d->held[edge] = 1;
    d->pins[unit]++;
    pbi_evict_touched(&d->e, unit);
}

/* A new frame pins all resident inputs at once, so that computing the others cannot evict them. */
static void push_frame(undoer *d, pb_node v)
{
    const pb_graph *g = d->g;
    d->stack[d->depth++] = (frame){v, g->in_start[v]};
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        if (d->r.resident[g->in[k]])
            pin_input(d, k);
}

/* All inputs of the top frame are pinned: makes its move and unpins them. */
static pb_status finish_frame(undoer *d, bool undo)
{
    const pb_graph *g = d->g;
    pb_node v = d->stack[d->depth - 1].node;
    bool root = d->depth-- == 1;
    pb_status status = root && undo ? make_room(d, v, true) : compute(d, v);
    if (root && undo && status == PB_OK && !d->r.stuck)
        status = pbi_reversible_uncompute(&d->r, v);
    update_list(d, v);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node unit = pb_graph_maker(g, g->in[k]);
        d->held[k] = 0;
        d->pins[unit]--;
        d->uses[unit] -= root && !undo;
    }
    return status;
}

/* Makes every input of root resident, then computes or uncomputes root. */
static pb_status move_root(undoer *d, pb_node root, bool undo)
{
    const pb_graph *g = d->g;
    pb_status status = PB_OK;
    d->depth = 0;
    push_frame(d, root);
    while (d->depth && status == PB_OK && !d->r.stuck) {
        frame *f = &d->stack[d->depth - 1];
        if (f->next == g->in_start[f->node + 1]) {
            status = finish_frame(d, undo);
        } else if (d->held[f->next]) {
            f->next++;
        } else if (d->r.resident[g->in[f->next]]) {
            pin_input(d, f->next++);
        } else {
            push_frame(d, pb_graph_maker(g, g->in[f->next]));
        }
    }
    return status;
}

/* Uncomputes v; it must not be evicted while its inputs are recomputed. */
static pb_status undo_root(undoer *d, pb_node v)
{
    d->pins[v]++;
    pb_status status = move_root(d, v, true);
    d->pins[v]--;
    return status;
}

/* Is v resident, with all by-products that are needed? */
static bool is_whole(const undoer *d, pb_node v)
{
    const pb_graph *g = d->g;
    bool whole = d->r.resident[v];
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++)
            whole &= d->r.resident[g->part[k]] || !(g->flags[g->part[k]] & PB_NODE_NEEDED);
    return whole;
}

/* A move of the plan that is followed. What was evicted before need not be uncomputed, what was not evicted need not be
 * recomputed. */
static pb_status follow_move(undoer *d, const pb_move *m)
{
    const pb_graph *g = d->g;
    pb_node v = m->node;
    if (pb_graph_maker(g, v) != v || !(g->flags[v] & PB_NODE_NEEDED))
        return PB_OK; /* by-products come and go with their node */
    if (m->op == PB_UNCOMPUTE)
        return pbi_reversible_removable(&d->r, v) && !(g->flags[v] & PB_NODE_ONCE) ? undo_root(d, v) : PB_OK;
    if (!is_whole(d, v))
        return move_root(d, v, false);
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        d->uses[pb_graph_maker(g, g->in[k])]--;
    return PB_OK;
}

static pb_status follow_order(undoer *d)
{
    const pb_graph *g = d->g;
    const pb_moves *follow = d->options->follow;
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < g->order_count && status == PB_OK && !d->r.stuck && !follow; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            status = move_root(d, g->order[i], false);
    for (pb_step k = 0; follow && k < follow->count && status == PB_OK && !d->r.stuck; k++) {
        status = follow_move(d, &follow->move[k]);
        if ((k & 0xff) == 0 && status == PB_OK)
            status = pbi_tick(d->ctx, 0x100);
    }
    for (uint32_t i = g->order_count; i-- > 0 && status == PB_OK && !d->r.stuck;)
        if (pbi_reversible_removable(&d->r, g->order[i]))
            status = undo_root(d, g->order[i]);
    return status;
}

pb_status pbi_demand_reversible(pb_context *ctx, const pb_game *game, const pbi_demand_options *options, pbi_plan *plan)
{
    undoer d = {.ctx = ctx, .game = game, .g = game->graph, .options = options, .plan = plan};
    pb_arena_init(&d.scratch, ctx);
    pb_status status = allocate_undoer(&d);
    if (status == PB_OK)
        status = follow_order(&d);
    if (status == PB_OK)
        pbi_reversible_finish(&d.r);
    pb_arena_release(&d.scratch);
    return status;
}
