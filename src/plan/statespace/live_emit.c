/* live_emit.c -- the path of states as moves.
 *
 * The order of computations determines almost everything: sequence/sequence frees every value after its last use,
 * which takes no more memory than the path. The exception is by-products that are targets and come from different
 * computations of one node; then the path is followed move by move.
 */
#include "plan/statespace/live.h"

typedef struct writer {
    const pbi_live_model *m;
    pb_moves *moves;
    pbi_set now;
    uint64_t memory; /* of what is resident now */
} writer;

static pb_status free_all(writer *w, pbi_set values)
{
    pb_status status = PB_OK;
    for (values = pbi_set_and(values, w->m->values); pbi_set_any(values) && status == PB_OK;) {
        unsigned v = pbi_set_pop(&values);
        pbi_set_remove(&w->now, v);
        w->memory -= w->m->size[v];
        status = pb_moves_add(w->moves, PB_FREE, w->m->node[v], 0);
    }
    return status;
}

/* The by-products that a step computes: those that are resident afterwards, and targets that are freed at once. */
static pbi_set made_by(const writer *w, const pbi_live_step *step, pbi_set before)
{
    const pbi_live_model *m = w->m;
    pbi_set parts = pbi_set_less(m->outs[step->node], before), made = {{0, 0}};
    pbi_set_remove(&parts, step->node);
    while (pbi_set_any(parts)) {
        unsigned v = pbi_set_pop(&parts);
        pbi_set marked = pbi_set_less(pbi_set_and(m->marks[v], step->set), before);
        if (pbi_set_has(step->set, v) || pbi_set_any(marked))
            pbi_set_add(&made, v);
    }
    return made;
}

/* The input to overwrite: of those freed by this step, the one that saves most. */
static unsigned choose_over(const writer *w, const pbi_live_step *step)
{
    const pbi_live_model *m = w->m;
    unsigned over = PBI_LIVE_BITS;
    for (pbi_set left = pbi_set_less(m->inplace[step->node], step->set); pbi_set_any(left);) {
        unsigned u = pbi_set_pop(&left);
        if (over == PBI_LIVE_BITS || m->size[u] > m->size[over])
            over = u;
    }
    return over;
}

static pb_status write_compute(writer *w, unsigned node, unsigned over, pbi_set made)
{
    const pbi_live_model *m = w->m;
    pb_node also[PBI_LIVE_BITS];
    uint32_t count = 0;
    for (pbi_set left = made; pbi_set_any(left);) {
        unsigned v = pbi_set_pop(&left);
        also[count++] = m->node[v];
        w->memory += m->size[v];
    }
    w->memory += pbi_set_has(w->now, node) ? 0 : m->size[node];
    w->now = pbi_set_or(w->now, pbi_set_or(made, pbi_set_one(node)));
    if (over != PBI_LIVE_BITS) {
        pbi_set_remove(&w->now, over);
        w->memory -= m->size[over];
    }
    return pb_moves_add_compute(w->moves, m->node[node], over == PBI_LIVE_BITS ? PB_NO_NODE : m->node[over], also,
                                count);
}

static pb_status write_step(writer *w, const pbi_live_step *step, pbi_set before)
{
    const pbi_live_model *m = w->m;
    unsigned node = step->node, over = PBI_LIVE_BITS;
    pbi_set made = made_by(w, step, before), own = pbi_set_one(node);
    pb_status status = free_all(w, pbi_set_less(w->now, pbi_set_or(step->set, pbi_set_or(m->in[node], own))));
    uint64_t need = w->memory + m->workspace[node] + (pbi_set_has(w->now, node) ? 0 : m->size[node]);
    for (pbi_set left = made; pbi_set_any(left);)
        need += m->size[pbi_set_pop(&left)];
    if (need > m->room)
        over = choose_over(w, step);
    if (status == PB_OK && pbi_set_has(w->now, node) && (over != PBI_LIVE_BITS || !pbi_set_any(made)))
        status = free_all(w, own); /* it is computed again: only computing by-products alone leaves it in place */
    if (status == PB_OK)
        status = write_compute(w, node, over, made);
    return status == PB_OK ? free_all(w, pbi_set_less(w->now, step->set)) : status;
}

static pb_status write_path(const pb_game *game, const pbi_live *live, pbi_plan *plan)
{
    const pb_graph *g = game->graph;
    writer w = {.m = pbi_live_model_of(live), .moves = &plan->moves};
    size_t count;
    const pbi_live_step *step = pbi_live_plan(live, &count);
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) /* given, but not useful */
        if ((g->flags[v] & PB_NODE_GIVEN) && !(g->flags[v] & (PB_NODE_NEEDED | PB_NODE_GIVEN_SLOW)))
            status = pb_moves_add(w.moves, PB_FREE, v, 0);
    w.now = w.m->start;
    for (pbi_set left = w.now; pbi_set_any(left);)
        w.memory += w.m->size[pbi_set_pop(&left)];
    for (size_t k = 0; k < count && status == PB_OK; k++)
        status = write_step(&w, &step[k], k ? step[k - 1].set : w.m->start);
    plan->outcome = PB_FOUND;
    return status;
}

/* The first reader of what computation k produces, or the end. */
static size_t first_reader(const pb_graph *g, const pbi_sequence *s, size_t k)
{
    for (size_t j = k + 1; j < s->count; j++)
        for (uint32_t i = g->in_start[s->event[j]]; i < g->in_start[s->event[j] + 1]; i++)
            if (pb_graph_maker(g, g->in[i]) == s->event[k])
                return j;
    return s->count;
}

static void shift(pbi_sequence *s, size_t from, size_t to)
{
    pb_node v = s->event[from];
    for (; from < to; from++)
        s->event[from] = s->event[from + 1];
    for (; from > to; from--)
        s->event[from] = s->event[from - 1];
    s->event[to] = v;
}

/* The search computes early if there is room; a plan is easier to read when a computation comes right before its
 * first reader, if that lowers the flux. */
static pb_status delay_computations(pb_context *ctx, const pb_game *game, pbi_sequence *s, pb_u128 flux)
{
    pbi_figures figures;
    pb_status status = PB_OK;
    for (size_t k = s->count; k-- > 0 && status == PB_OK;) {
        size_t reader = first_reader(game->graph, s, k);
        if (reader == s->count || reader == k + 1)
            continue;
        shift(s, k, reader - 1);
        status = pbi_sequence_emit(ctx, game, s, NULL, &figures);
        if (status == PB_OK && figures.fits && pb_u128_compare(figures.flux, flux) < 0)
            flux = figures.flux;
        else
            shift(s, reader - 1, k);
    }
    return status;
}

pb_status pbi_live_emit(pb_context *ctx, const pb_game *game, const pbi_live *live, pb_arena *scratch, pbi_plan *plan)
{
    size_t count;
    const pbi_live_step *step = pbi_live_plan(live, &count);
    const pbi_live_model *m = pbi_live_model_of(live);
    pbi_sequence sequence;
    pbi_figures figures;
    pb_status status = PB_OK;
    pbi_sequence_init(&sequence, scratch);
    for (size_t k = 0; k < count && status == PB_OK; k++)
        status = pbi_sequence_add(&sequence, m->node[step[k].node]);
    if (status == PB_OK)
        status = pbi_sequence_emit(ctx, game, &sequence, NULL, &figures);
    if (status != PB_OK)
        return status;
    if (!figures.fits)
        return write_path(game, live, plan);
    status = delay_computations(ctx, game, &sequence, figures.flux);
    return status == PB_OK ? pbi_sequence_emit(ctx, game, &sequence, plan, &figures) : status;
}
