/* method_window.c -- see method_window.h. */
#include "plan/method_window.h"

#include "base/context.h"

#include <inttypes.h>
#include <string.h>

typedef struct frame {
    pb_node node;
    uint32_t next; /* input to look at */
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
    uint32_t *use_at; /* per node: the first of them that is still to come */

    uint8_t *resident;
    uint32_t *pending; /* reads that the running cone still has to make */
    uint8_t *in_cone;
    frame *stack;
    pb_node *cone;
    uint32_t cone_count;
} walker;

static pb_status prepare(walker *w)
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

/* Does u stay after place p? */
static bool stays(walker *w, pb_node u, uint32_t p)
{
    if ((w->g->flags[u] & (PB_NODE_GIVEN | PB_NODE_KEEP)) || (w->g->flags[pb_graph_maker(w->g, u)] & PB_NODE_ONCE) ||
        (w->window->kept && w->window->kept[u]))
        return true;
    while (w->use_at[u] < w->use_start[u + 1] && w->use[w->use_at[u]] <= p)
        w->use_at[u]++;
    if (w->use_at[u] == w->use_start[u + 1])
        return false;
    uint32_t next = w->use[w->use_at[u]];
    const uint32_t *c = w->window->coordinate;
    if (!c)
        return next - p <= w->window->reach;
    uint32_t here = c[w->order[p]], there = c[w->order[next]];
    return there <= here || there - here <= w->window->reach;
}

/* Collects what must be computed again before v, inputs first. */
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
        if (!w->resident[u] && !w->in_cone[maker]) {
            w->in_cone[maker] = 1;
            w->stack[depth++] = (frame){maker, g->in_start[maker]};
        }
    }
}

static void make(walker *w, pb_node v, uint32_t p)
{
    const pb_graph *g = w->g;
    w->resident[v] = w->pending[v] || stays(w, v, p);
    if (g->flags[v] & PB_NODE_HAS_PARTS)
        for (uint32_t k = g->part_start[v]; k < g->part_start[v + 1]; k++) {
            pb_node part = g->part[k];
            w->resident[part] = w->resident[part] || w->pending[part] || stays(w, part, p);
        }
}

/* Computes the cone of place p, dropping what is neither read again in it nor stays. */
static pb_status run_cone(walker *w, uint32_t p)
{
    const pb_graph *g = w->g;
    pb_status status = PB_OK;
    uint64_t reads = 0;
    for (uint32_t i = 0; i < w->cone_count; i++)
        for (uint32_t k = g->in_start[w->cone[i]]; k < g->in_start[w->cone[i] + 1]; k++)
            w->pending[g->in[k]]++;
    for (uint32_t i = 0; i < w->cone_count && status == PB_OK; i++) {
        pb_node v = w->cone[i];
        w->in_cone[v] = 0;
        status = pbi_sequence_add(w->s, v);
        for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++, reads++) {
            pb_node u = g->in[k];
            if (--w->pending[u] == 0 && !stays(w, u, p))
                w->resident[u] = 0;
        }
        make(w, v, p);
    }
    return status == PB_OK ? pbi_tick(w->ctx, w->cone_count + reads) : status;
}

static pb_status walk(walker *w)
{
    pb_status status = prepare(w);
    for (uint32_t p = 0; p < w->count && status == PB_OK; p++) {
        collect_cone(w, w->order[p]);
        if (w->s->count + w->cone_count > w->window->limit)
            return pbi_fail(w->ctx, PB_ELIMIT, "limit hit: more than %" PRIu64 " computations", w->window->limit);
        status = run_cone(w, p);
        if ((p & 0xfff) == 0)
            pbi_progress(w->ctx, "planning", p, w->count);
    }
    return status;
}

pb_status pbi_window_plan(pb_context *ctx, const pb_game *game, const pbi_window *window, pbi_sequence *s)
{
    walker w = {.ctx = ctx, .g = game->graph, .window = window, .s = s};
    pb_arena_init(&w.scratch, ctx);
    pb_status status = walk(&w);
    pb_arena_release(&w.scratch);
    return status;
}

/* One k: its sequence in `arena` and its figures. */
static pb_status try_k(pb_context *ctx, const pb_game *game, pbi_window_maker maker, uint64_t k, uint64_t limit,
                       pb_arena *arena, pbi_sequence *s, pbi_figures *f)
{
    pbi_window window = {.limit = limit};
    pbi_sequence_init(s, arena);
    pb_status status = maker(game, k, arena, &window);
    if (status == PB_OK)
        status = pbi_window_plan(ctx, game, &window, s);
    return status == PB_OK ? pbi_sequence_emit(ctx, game, s, NULL, f) : status;
}

static uint64_t next_k(uint64_t k) { return k < 4 ? k + 1 : k + k / 3; }

typedef struct trial {
    pb_arena arena;
    pbi_sequence s;
    pbi_figures f;
    uint64_t k; /* 0: none yet */
} trial;

/* Tries k = 1, 2, 3, 4, 5, 6, 8, ... and keeps the best; a stop or the tick limit ends the search. */
static pb_status search_k(pb_context *ctx, const pb_game *game, pbi_window_maker maker, uint64_t most, uint64_t limit,
                          trial *best, bool *cut)
{
    pb_status status = PB_OK;
    for (uint64_t k = 1; k <= most && status == PB_OK; k = next_k(k)) {
        trial now = {.k = k};
        pb_arena_init(&now.arena, ctx);
        status = try_k(ctx, game, maker, k, limit, &now.arena, &now.s, &now.f);
        if (status == PB_ELIMIT && (!ctx->tick_limit || ctx->ticks <= ctx->tick_limit)) {
            status = PB_OK; /* too many computations with this k: another may do */
            now.f.fits = false;
            *cut = true;
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
        bool least =
            best->k && game->weights.alpha == 0 && game->weights.beta == 0 && best->f.time == game->graph->needed_cost;
        if (least) /* nothing is computed twice: no other k is cheaper */
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
                          uint64_t most, pbi_plan *plan)
{
    uint64_t k, limit;
    pb_status status = pbi_option_number(ctx, options, "k", 1, UINT32_MAX, 0, &k);
    if (status == PB_OK)
        status = pbi_option_limit(ctx, options, game->graph, &limit);
    if (status != PB_OK)
        return status;
    trial best = {.k = 0};
    bool cut = false; /* some k passed the limit */
    if (!k) {
        status = search_k(ctx, game, maker, most ? most : 1, limit, &best, &cut);
        if (best.k) { /* finish the best also when the search was stopped */
            pbi_held held = pbi_hold(ctx);
            status = pbi_sequence_emit(ctx, game, &best.s, plan, NULL);
            pbi_resume(ctx, held);
            pb_arena_release(&best.arena);
        } else if (status == PB_OK) {
            if (cut)
                return pbi_plan_give_up(
                    plan, "limit hit: no k tried from 1 to %" PRIu64 " fits in %" PRIu64 " computations", most, limit);
            return pbi_plan_give_up(plan, "does not fit: no k tried from 1 to %" PRIu64 " stays within the cap", most);
        }
        k = best.k;
    } else {
        status = pbi_window_one(ctx, game, maker, k, limit, plan);
    }
    if (status == PB_OK && k)
        status = pbi_plan_record_number(plan, "k", k);
    return status == PB_OK ? pbi_plan_record_number(plan, "limit", limit) : status;
}
