/* window.c -- see window.h. */
#include "plan/sequence/window.h"

#include "base/checked.h"
#include "base/context.h"

#include <inttypes.h>
#include <string.h>

typedef struct frame {
    pb_node node;
    uint32_t next; /* next input to visit */
} frame;

typedef struct walker {
    pb_context *ctx;
    const pb_graph *g;
    const pbi_window *window;
    pbi_sequence *s;
    pb_arena scratch;

    pb_node *order; /* needed nodes */
    uint32_t count;
    uint32_t *use_start; /* per node: places in `order` that read it, ascending */
    uint32_t *use;
    uint32_t *use_at; /* per node: the first of them that is not reached yet */

    uint8_t *resident;
    uint32_t *pending; /* reads that remain in the running cone */
    uint8_t *in_cone;
    frame *stack;
    uint32_t *cone; /* events */
    uint32_t cone_count;

    /* Nested windows: */
    uint32_t turn;           /* places between the last kept one and the turn are computed only when they are read */
    uint8_t *made;           /* per node: computed at least once */
    uint8_t *inner;          /* per node: it has a slot */
    uint32_t inner_used;     /* slots in use */
    uint32_t *touched;       /* the latest place that computed or read it, plus 1 */
    pb_node *slot_candidate; /* values of the cone that could use a slot */
} walker;

static pb_status allocate_walker(walker *w)
{
    const pb_graph *g = w->g;
    size_t n = g->node_count;
    w->order = pb_arena_alloc(&w->scratch, g->order_count, sizeof *w->order);
    w->use_start = pb_arena_zero(&w->scratch, n + 1, sizeof *w->use_start);
    w->use = pb_arena_alloc(&w->scratch, g->edge_count, sizeof *w->use);
    w->use_at = pb_arena_alloc(&w->scratch, n + 1, sizeof *w->use_at);
    w->resident = pb_arena_zero(&w->scratch, n, sizeof *w->resident);
    w->pending = pb_arena_zero(&w->scratch, n, sizeof *w->pending);
    w->in_cone = pb_arena_zero(&w->scratch, n, sizeof *w->in_cone);
    w->stack = pb_arena_alloc(&w->scratch, n + 1, sizeof *w->stack);
    w->cone = pb_arena_alloc(&w->scratch, n, sizeof *w->cone);
    if (!w->order || !w->use_start || !w->use || !w->use_at || !w->resident || !w->pending || !w->in_cone ||
        !w->stack || !w->cone)
        return PB_ENOMEM;
    for (uint32_t i = 0; i < g->order_count; i++) {
        pb_node v = g->order[i];
        if (!(g->flags[v] & PB_NODE_NEEDED))
            continue;
        w->order[w->count++] = v;
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
            w->use_start[g->in[k] + 1]++;
    }
    for (size_t v = 0; v < n; v++) {
        w->use_start[v + 1] += w->use_start[v];
        w->resident[v] = (g->flags[v] & PB_NODE_GIVEN) != 0;
    }
    memcpy(w->use_at, w->use_start, (n + 1) * sizeof *w->use_at);
    for (uint32_t p = 0; p < w->count; p++)
        for (uint32_t k = g->in_start[w->order[p]]; k < g->in_start[w->order[p] + 1]; k++)
            w->use[w->use_at[g->in[k]]++] = p;
    memcpy(w->use_at, w->use_start, (n + 1) * sizeof *w->use_at);
    return PB_OK;
}

/* The place behind the one after which program order has most memory in use. */
static uint32_t find_turn(const walker *w)
{
    const pb_graph *g = w->g;
    uint64_t live = 0, max_live = 0;
    uint32_t turn = 0;
    for (uint32_t p = 0; p < w->count; p++) {
        pb_node v = w->order[p];
        if (w->use_start[v] < w->use_start[v + 1])
            live += g->size[v];
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
            pb_node u = g->in[k];
            if (pb_graph_is_computed(g, u) && w->use[w->use_start[u + 1] - 1] == p)
                live -= g->size[u];
        }
        if (live > max_live) {
            max_live = live;
            turn = p + 1;
        }
    }
    return turn;
}

static pb_status allocate_nested(walker *w)
{
    size_t n = w->g->node_count;
    w->made = pb_arena_zero(&w->scratch, n, sizeof *w->made);
    w->inner = pb_arena_zero(&w->scratch, n, sizeof *w->inner);
    w->touched = pb_arena_zero(&w->scratch, n, sizeof *w->touched);
    w->slot_candidate = pb_arena_alloc(&w->scratch, n, sizeof *w->slot_candidate);
    w->turn = find_turn(w);
    return w->made && w->inner && w->touched && w->slot_candidate ? PB_OK : PB_ENOMEM;
}

/* The first place after p that reads u, or UINT32_MAX. */
static uint32_t next_use(walker *w, pb_node u, uint32_t p)
{
    while (w->use_at[u] < w->use_start[u + 1] && w->use[w->use_at[u]] <= p)
        w->use_at[u]++;
    return w->use_at[u] == w->use_start[u + 1] ? UINT32_MAX : w->use[w->use_at[u]];
}

/* A value that was rebuilt only for others must have a closer reader than one that place p itself computed or read:
 * with `near` 1 a rebuilt value is kept in a slot or not at all, as in binomial checkpointing. */
static bool is_near(const walker *w, pb_node u, uint32_t distance, uint32_t p)
{
    return distance + (w->touched[u] != p + 1) <= w->window->near;
}

/* Is u kept after place p? */
static bool is_kept_after(walker *w, pb_node u, uint32_t p)
{
    const pbi_window *window = w->window;
    bool kept = window->kept && window->kept[u];
    if ((w->g->flags[u] & (PB_NODE_GIVEN | PB_NODE_KEEP)) || (w->g->flags[pb_graph_maker(w->g, u)] & PB_NODE_ONCE) ||
        (kept && !(window->slow && window->slow[u])))
        return true;
    uint32_t next = next_use(w, u, p);
    if (next == UINT32_MAX)
        return false;
    if (window->nested && !kept && !w->inner[u])
        return is_near(w, u, next - p, p);
    const uint32_t *c = window->coordinate;
    if (!c)
        return next - p <= window->reach;
    uint32_t here = c[w->order[p]], target = c[w->order[next]];
    return target <= here || target - here <= window->reach;
}

/* Collects what must be recomputed before v, inputs first. */
static void collect_cone(walker *w, pb_node v)
{
    const pb_graph *g = w->g;
    uint32_t depth = 0;
    w->cone_count = 0;
    w->stack[depth++] = (frame){v, g->in_start[v]};
    while (depth) {
        frame *f = &w->stack[depth - 1];
        if (f->next == g->in_start[f->node + 1]) {
            w->cone[w->cone_count++] = f->node;
            depth--;
            continue;
        }
        pb_node u = g->in[f->next++], maker = pb_graph_maker(g, u);
        if (w->resident[u] || w->in_cone[maker])
            continue;
        w->in_cone[maker] = 1;
        if (w->window->slow && w->window->slow[u] && w->made[u])
            w->cone[w->cone_count++] = u | PBI_LOAD_EVENT;
        else
            w->stack[depth++] = (frame){maker, g->in_start[maker]};
    }
}

/* A value that nothing keeps is freed, and so is its slot. */
static void free_value(walker *w, pb_node v)
{
    w->resident[v] = 0;
    if (w->window->nested && w->inner[v]) {
        w->inner[v] = 0;
        w->inner_used--;
    }
}

static void compute_node(walker *w, pb_node v, uint32_t p)
{
    const pb_graph *g = w->g;
    w->resident[v] = 1;
    if (w->window->nested)
        w->made[v] = 1;
    if (!w->pending[v] && !is_kept_after(w, v, p))
        free_value(w, v);
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++) {
            pb_node part = g->part[k];
            w->resident[part] = w->resident[part] || w->pending[part] || is_kept_after(w, part, p);
            if (!w->resident[part])
                free_value(w, part);
        }
}

/* ---- nested windows ---- */

static void give_slot(walker *w, pb_node v)
{
    const pb_graph *g = w->g;
    w->inner_used += !w->inner[v];
    w->inner[v] = 1;
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++) {
            w->inner_used += !w->inner[g->part[k]];
            w->inner[g->part[k]] = 1;
        }
}

/* Could it use a slot: read again within reach, but not so soon that it is kept anyway? */
static bool could_use_slot(walker *w, pb_node v, uint32_t p)
{
    uint32_t next = next_use(w, v, p);
    return next != UINT32_MAX && next - p <= w->window->reach && !w->inner[v] && !is_kept_after(w, v, p);
}

/* How far to go before the next snapshot, for the least work on `length` steps with s snapshots, the one at their
 * start included (Griewank and Walther; the longest of the best). */
static uint64_t binomial_advance(uint64_t length, uint32_t s)
{
    int64_t r = 1;
    while (pbi_beta(s, r) < length)
        r++;
    uint64_t longest = pbi_beta(s, r - 1), rest = pbi_beta((int64_t)s - 1, r - 1);
    return longest < length - rest ? longest : length - rest;
}

/* Gives the free slots to values of the cone of place p. On an adjoint chain there is a step to reverse before each
 * value that could use one, one behind the last and one that place p reverses. */
static void choose_inner(walker *w, uint32_t p)
{
    const pb_graph *g = w->g;
    pb_node root = w->order[p];
    uint32_t count = 0;
    w->touched[root] = p + 1;
    for (uint32_t k = g->in_start[root]; k < g->in_start[root + 1]; k++)
        w->touched[g->in[k]] = p + 1;
    for (uint32_t i = 0; i < w->cone_count; i++)
        if (!(w->cone[i] & PBI_LOAD_EVENT) && could_use_slot(w, w->cone[i], p))
            w->slot_candidate[count++] = w->cone[i];
    uint64_t length = (uint64_t)count + 2, at = 0;
    while (w->inner_used < w->window->slots && length > 1) {
        uint64_t advance = binomial_advance(length, w->window->slots - w->inner_used + 1);
        at += advance;
        length -= advance;
        if (at > count)
            return;
        give_slot(w, w->slot_candidate[at - 1]);
    }
}

/* The places from the last kept value to the turn are skipped and computed when they are read: then they are rebuilt
 * like any other window, with the slots placed for the backward pass. Returns the first of them. A kept value right
 * at the turn does not start a window. */
static uint32_t first_passed(const walker *w)
{
    uint32_t p = w->turn ? w->turn - 1 : 0;
    while (p > 0 && !(w->window->kept && w->window->kept[w->order[p - 1]]))
        p--;
    return p;
}

static bool is_passed(const walker *w, uint32_t p, uint32_t first)
{
    uint16_t flags = w->g->flags[w->order[p]];
    return p >= first && p < w->turn && !(flags & (PB_NODE_TARGET | PB_NODE_KEEP | PB_NODE_ONCE | PB_NODE_HAS_PARTS));
}

/* Computes the cone of place p; frees what is neither read again in it nor kept. */
static pb_status run_cone(walker *w, uint32_t p)
{
    const pb_graph *g = w->g;
    pb_status status = PB_OK;
    uint64_t reads = 0;
    for (uint32_t i = 0; i < w->cone_count; i++) {
        if (w->cone[i] & PBI_LOAD_EVENT)
            continue;
        for (uint32_t k = g->in_start[w->cone[i]]; k < g->in_start[w->cone[i] + 1]; k++)
            w->pending[g->in[k]]++;
    }
    for (uint32_t i = 0; i < w->cone_count && status == PB_OK; i++) {
        pb_node v = w->cone[i] & ~PBI_LOAD_EVENT;
        w->in_cone[v] = 0;
        status = pbi_sequence_add(w->s, w->cone[i]);
        if (w->cone[i] & PBI_LOAD_EVENT) {
            w->resident[v] = 1;
            continue;
        }
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++, reads++) {
            pb_node u = g->in[k];
            if (--w->pending[u] == 0 && !is_kept_after(w, u, p))
                free_value(w, u);
        }
        compute_node(w, v, p);
    }
    return status == PB_OK ? pbi_tick(w->ctx, w->cone_count + reads) : status;
}

static pb_status follow_order(walker *w)
{
    pb_status status = allocate_walker(w);
    if (status == PB_OK && w->window->nested)
        status = allocate_nested(w);
    uint32_t first = status == PB_OK && w->window->nested ? first_passed(w) : 0;
    for (uint32_t p = 0; p < w->count && status == PB_OK; p++) {
        if (is_passed(w, p, first))
            continue;
        collect_cone(w, w->order[p]);
        if (w->s->count + w->cone_count > w->window->limit)
            return pbi_fail(w->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " computations; raise its option limit",
                            w->window->limit);
        if (w->window->nested)
            choose_inner(w, p);
        status = run_cone(w, p);
        if ((p & 0xfff) == 0)
            pbi_progress(w->ctx, "planning", p, w->count);
    }
    return status;
}

pb_status pbi_window_turn(pb_context *ctx, const pb_graph *g, uint32_t *turn)
{
    walker w = {.ctx = ctx, .g = g};
    pb_arena_init(&w.scratch, ctx);
    pb_status status = allocate_walker(&w);
    if (status == PB_OK)
        *turn = find_turn(&w);
    pb_arena_release(&w.scratch);
    return status;
}

pb_status pbi_window_plan(pb_context *ctx, const pb_game *game, const pbi_window *window, pbi_sequence *s)
{
    walker w = {.ctx = ctx, .g = game->graph, .window = window, .s = s};
    pb_arena_init(&w.scratch, ctx);
    pb_status status = follow_order(&w);
    pb_arena_release(&w.scratch);
    return status;
}

typedef struct trial {
    pb_arena arena;
    pbi_sequence s; /* in `arena` */
    pbi_figures f;
    uint64_t k; /* 0: none yet */
} trial;

typedef struct k_search {
    pb_context *ctx;
    const pb_game *game;
    pbi_window_maker maker;
    uint64_t limit; /* of computations */
    bool cut;       /* some k exceeded it */
    trial best;
} k_search;

static pb_status try_k(const k_search *x, trial *now)
{
    pbi_window window = {.limit = x->limit};
    pbi_sequence_init(&now->s, &now->arena);
    pb_status status = x->maker(x->game, now->k, &now->arena, &window);
    if (status == PB_OK)
        status = pbi_window_plan(x->ctx, x->game, &window, &now->s);
    return status == PB_OK ? pbi_sequence_emit(x->ctx, x->game, &now->s, NULL, &now->f) : status;
}

static uint64_t next_k(uint64_t k) { return k < 4 ? k + 1 : k + k / 3; }

/* Tries k = 1, 2, 3, 4, 5, 6, 8, ... and keeps the best; a stop or the tick limit ends the search. */
static pb_status search_k(k_search *x, uint64_t max_k)
{
    pb_context *ctx = x->ctx;
    const pb_game *game = x->game;
    trial *best = &x->best;
    pb_status status = PB_OK;
    for (uint64_t k = 1; k <= max_k && status == PB_OK; k = next_k(k)) {
        trial now = {.k = k};
        pb_arena_init(&now.arena, ctx);
        status = try_k(x, &now);
        if (status == PB_ELIMIT && (!ctx->tick_limit || ctx->ticks <= ctx->tick_limit)) {
            status = PB_OK; /* too many computations with this k: try another */
            now.f.fits = false;
            x->cut = true;
        }
        bool better = status == PB_OK && now.f.fits && !now.f.overflow &&
                      (!best->k || pbi_figures_better(game, &now.f, &best->f));
        if (better) {
            trial old = *best;
            *best = now;
            now = old;
        }
        if (now.arena.ctx)
            pb_arena_release(&now.arena);
        bool min =
            best->k && game->weights.alpha == 0 && game->weights.beta == 0 && best->f.time == game->graph->needed_cost;
        if (min) /* nothing is computed twice: no other k is cheaper */
            break;
    }
    return status;
}

pb_status pbi_window_periodic(const pb_game *game, uint64_t k, pb_arena *arena, pbi_window *out)
{
    const pb_graph *g = game->graph;
    uint8_t *kept = pb_arena_zero(arena, g->node_count, sizeof *kept);
    if (!kept)
        return PB_ENOMEM;
    uint64_t place = 0;
    for (uint32_t i = 0; i < g->order_count; i++)
        if (g->flags[g->order[i]] & PB_NODE_NEEDED)
            kept[g->order[i]] = ++place % k == 0;
    out->kept = kept;
    out->reach = (uint32_t)k;
    return PB_OK;
}

pb_status pbi_window_one(pb_context *ctx, const pb_game *game, pbi_window_maker maker, uint64_t k, uint64_t limit,
                         pbi_plan *plan)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_window window = {.limit = limit};
    pbi_sequence s;
    pbi_sequence_init(&s, &scratch);
    pb_status status = maker(game, k, &scratch, &window);
    if (status == PB_OK)
        status = pbi_window_plan(ctx, game, &window, &s);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &s, plan, NULL);
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_window_best(pb_context *ctx, const pb_game *game, const pbi_plan_options *options, pbi_window_maker maker,
                          uint64_t max_k, pbi_plan *plan)
{
    uint64_t k = 0, limit;
    pb_status status = pbi_option_number(ctx, options, "k", 1, UINT32_MAX, &k);
    if (status == PB_OK)
        status = pbi_option_computations(ctx, options, game->graph, &limit);
    if (status != PB_OK)
        return status;
    if (!k) {
        k_search x = {.ctx = ctx, .game = game, .maker = maker, .limit = limit};
        status = search_k(&x, max_k ? max_k : 1);
        if (x.best.k) { /* also after a stop: write the best plan so far */
            pbi_held held = pbi_hold(ctx);
            status = pbi_sequence_emit(ctx, game, &x.best.s, plan, NULL);
            pbi_resume(ctx, held);
            pb_arena_release(&x.best.arena);
        } else if (status == PB_OK) {
            if (x.cut)
                return pbi_plan_give_up(plan,
                                        "limit hit: no k tried from 1 to %" PRIu64 " needs at most %" PRIu64
                                        " computations; raise its option limit",
                                        max_k, limit);
            return pbi_plan_give_up(plan, "does not fit: no k tried from 1 to %" PRIu64 " fits the cap", max_k);
        }
        k = x.best.k;
    } else {
        status = pbi_window_one(ctx, game, maker, k, limit, plan);
    }
    if (status == PB_OK && k)
        status = pbi_plan_record_number(plan, "k", k);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
