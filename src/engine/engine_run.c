/* engine_run.c -- plays the moves of a schedule on real memory.
 *
 * Each move costs a few steps beside its kernel: the lifetimes that begin at it are the next ones of a list, and bytes in use are
 * counted as the verifier counts them. What is rare (stores and loads under way, checks, new plans) stands elsewhere.
 */
#include "engine/engine_parts.h"

#include "base/context.h"
#include "engine/checksum.h"

#include <stdio.h>
#include <string.h>

static uint8_t kind_of(const pb_engine *e, pb_node v) { return e->kernels->kinds ? e->kernels->kinds[v] : 0; }

/* Places of what begins at this time. Returns the workspace. */
static void *begin(pb_engine *e, uint64_t time)
{
    const pbi_leg *leg = e->leg;
    void *workspace = NULL;
    for (; e->next < leg->lives.count && leg->lives.life[e->next].from == time; e->next++) {
        pb_node v = leg->lives.life[e->next].node;
        unsigned char *at = e->block + leg->packing.offset[e->next];
        if (v == PB_NO_NODE)
            workspace = at;
        else
            e->value[v] = at;
    }
    return workspace;
}

/* Before a kernel runs: fresh memory as it wants it. */
static void prepare(pb_engine *e, pb_node v, pb_node made, pb_node over)
{
    const pb_graph *g = e->graph;
    if (!e->value[made]) {
        e->value[made] = e->nothing; /* of no size */
        return;
    }
    if (!g->size[made])
        return;
    bool in_place = over != PB_NO_NODE && e->value[over] == e->value[made] && g->size[over];
    if (e->options.check && pbi_in_block(e, e->value[made]))
        pbi_check_fresh(e, e->value[made], in_place ? 0 : g->size[made],
                        in_place && g->size[over] > g->size[made] ? g->size[over] : g->size[made]);
    if ((kind_of(e, v) & PB_KERNEL_XOR) && !in_place && pbi_in_block(e, e->value[made]))
        memset(e->value[made], 0, g->size[made]);
}

static void hide_parts(pb_engine *e, pb_node v)
{
    const pb_graph *g = e->graph;
    e->hidden_part = &g->part[g->part_start[v]];
    e->hidden_count = g->part_start[v + 1] - g->part_start[v];
    for (uint32_t i = g->part_start[v]; i < g->part_start[v + 1]; i++) {
        e->hidden[i - g->part_start[v]] = e->value[g->part[i]];
        e->value[g->part[i]] = NULL;
    }
}

static void show_parts(pb_engine *e, pb_node v)
{
    const pb_graph *g = e->graph;
    for (uint32_t i = g->part_start[v]; i < g->part_start[v + 1]; i++)
        if (e->hidden[i - g->part_start[v]])
            e->value[g->part[i]] = e->hidden[i - g->part_start[v]];
    e->hidden_count = 0;
}

static void lend(pb_engine *e, pb_node v)
{
    uint64_t size = e->graph->size[v];
    e->lent_count++;
    e->lent_used += size;
    e->m.borrowed = e->lent_used > e->m.borrowed ? e->lent_used : e->m.borrowed;
    if (!size) {
        e->lent_sum[v] = UINT64_MAX; /* how a value without a size is known to be there */
        return;
    }
    e->value[v] = e->lent + e->leg->lent_packing.offset[e->next_lent++];
    e->lent_sum[v] = pbi_checksum(e->value[v], size, v);
}

/* Are the lender's bytes there again? */
static bool gave_back(const pb_engine *e, pb_node v)
{
    uint64_t size = e->graph->size[v];
    return !size || pbi_checksum(e->value[v], size, v) == e->lent_sum[v];
}

static void unlend(pb_engine *e, pb_node v)
{
    e->lent_count--;
    e->lent_used -= e->graph->size[v];
    e->lent_sum[v] = 0;
}

static void times_up(pb_engine *e, uint64_t *sum, uint64_t *ns)
{
    *ns = 0;
    if (!e->ctx->clock_ns)
        return;
    uint64_t now = pbi_now(e);
    *ns = now - e->last_ns;
    *sum += *ns;
    e->last_ns = now;
    e->m.flux += (double)*ns * (double)e->during;
}

/* The kernel failed: nothing was made. */
static void take_back(pb_engine *e, pb_step k, bool was_there, const pb_node *part, uint32_t parts)
{
    pb_node v = e->leg->moves->move[k].node;
    for (uint32_t i = 0; i < parts; i++)
        e->value[part[i]] = NULL;
    bool lent = e->leg->moves->move[k].flags & PB_MOVE_BORROW;
    if (lent && gave_back(e, v)) /* else some of it was made there already */
        unlend(e, v);
    if (!was_there)
        e->value[v] = NULL;
    e->times[v]--;
}

/* What most moves are: nothing in place, borrowed, under way or checked, and no by-products. */
static pb_status compute_plainly(pb_engine *e, pb_step k, pb_node v)
{
    const pb_graph *g = e->graph;
    uint64_t ns;
    pbi_note_peak(e, e->used + g->size[v] + e->leg->game->graph->workspace[v]);
    void *workspace = begin(e, k + 1);
    if (!e->value[v])
        e->value[v] = e->nothing; /* of no size */
    pb_call call = {.node = v,
                    .value = e->value,
                    .fixed = e->block,
                    .workspace = workspace,
                    .times = e->times[v]++,
                    .grant = pbi_grant,
                    .owner = e};
    if (e->options.timed)
        e->last_ns = pbi_now(e);
    pbi_forget_grants(e);
    pb_status status = e->kernels->of[v](e->kernels->state, e->ctx, &call);
    times_up(e, &e->m.kernel_ns, &ns);
    if (status != PB_OK) {
        take_back(e, k, false, NULL, 0);
        return status;
    }
    e->used += g->size[v];
    e->m.computed++;
    if (call.times) {
        e->m.recomputed++;
        e->m.recompute_ns += ns;
    }
    if (e->options.timed)
        e->options.timed(e->options.timed_state, v, ns);
    return PB_OK;
}

static pb_status compute(pb_engine *e, pb_step k)
{
    const pb_graph *g = e->graph;
    const pb_moves *moves = e->leg->moves;
    const pb_move *move = &moves->move[k];
    pb_node v = move->node, over = move->flags & PB_MOVE_OVER ? pb_moves_over(moves, k) : PB_NO_NODE;
    uint32_t parts = 0;
    const pb_node *part = move->flags & PB_MOVE_ALSO ? pb_moves_also(moves, k, &parts) : NULL;
    bool was_there = e->value[v] != NULL, lent = move->flags & PB_MOVE_BORROW,
         has_parts = g->flags[v] & PB_NODE_HAS_PARTS;
    uint64_t own = was_there || lent ? 0 : g->size[v], made = own, gone = 0, saved = 0, ns;
    for (uint32_t i = 0; i < parts; i++)
        made += g->size[part[i]];
    if (over != PB_NO_NODE) {
        gone = g->size[over];
        saved = own < gone ? own : gone;
    }
    uint64_t during = e->used + made - saved + e->leg->game->graph->workspace[v];
    if (e->under_way_count) {
        pb_status status = pbi_settle(e, v, over);
        if (status == PB_OK)
            status = pbi_make_room(e, during, k);
        if (status != PB_OK)
            return status;
    }
    pbi_note_peak(e, during);
    if (has_parts)
        hide_parts(e, v);
    pb_call call = {.node = v,
                    .value = e->value,
                    .fixed = e->block,
                    .workspace = begin(e, k + 1),
                    .times = e->times[v]++,
                    .parts_only = was_there,
                    .grant = pbi_grant,
                    .owner = e};
    if (lent)
        lend(e, v);
    if (!was_there)
        prepare(e, v, v, over);
    for (uint32_t i = 0; i < parts; i++)
        prepare(e, v, part[i], PB_NO_NODE);
    if (e->options.timed)
        e->last_ns = pbi_now(e);
    pbi_forget_grants(e);
    pb_status status = e->options.check ? pbi_check_run(e, &call, over, part, parts, was_there)
                                        : e->kernels->of[v](e->kernels->state, e->ctx, &call);
    times_up(e, &e->m.kernel_ns, &ns);
    if (has_parts)
        show_parts(e, v);
    if (status != PB_OK) {
        take_back(e, k, was_there, part, parts);
        return status;
    }
    e->used += made - gone;
    for (uint32_t i = 0; i < parts; i++)
        e->part_done[part[i]] = 1;
    if (over != PB_NO_NODE)
        e->value[over] = NULL;
    e->m.computed++;
    if (call.times) {
        e->m.recomputed++;
        e->m.recompute_ns += ns;
    }
    if (e->options.timed)
        e->options.timed(e->options.timed_state, v, ns);
    return PB_OK;
}

/* By-products have no kernel of their own: they are forgotten, as plain values are. */
static pb_status run_backwards(pb_engine *e, pb_node v, void *workspace)
{
    const pb_graph *g = e->graph;
    bool has_parts = g->flags[v] & PB_NODE_HAS_PARTS;
    pb_call call = {.node = v,
                    .value = e->value,
                    .fixed = e->block,
                    .workspace = workspace,
                    .times = e->times[v],
                    .undo = true,
                    .grant = pbi_grant,
                    .owner = e};
    uint64_t ns;
    if (has_parts)
        hide_parts(e, v);
    if (e->options.timed)
        e->last_ns = pbi_now(e);
    pbi_forget_grants(e);
    pb_status status = e->kernels->of[v](e->kernels->state, e->ctx, &call);
    times_up(e, &e->m.uncompute_ns, &ns);
    if (has_parts)
        show_parts(e, v);
    return status;
}

static pb_status uncompute(pb_engine *e, pb_step k)
{
    const pb_graph *g = e->graph;
    pb_node v = e->leg->moves->move[k].node;
    uint64_t size = g->size[v];
    bool lent = size ? !pbi_in_block(e, e->value[v]) : e->lent_count && e->lent_sum[v] == UINT64_MAX;
    pb_status status = e->under_way_count ? pbi_settle(e, v, PB_NO_NODE) : PB_OK;
    if (status != PB_OK)
        return status;
    uint64_t during = e->used + e->leg->game->graph->workspace[v];
    if (e->under_way_count)
        status = pbi_make_room(e, during, k);
    pbi_note_peak(e, during);
    void *workspace = begin(e, k + 1);
    if (status == PB_OK && (kind_of(e, v) & PB_KERNEL_XOR) && !(g->flags[v] & PB_NODE_BYPRODUCT))
        status = run_backwards(e, v, workspace);
    if (status != PB_OK)
        return status;
    if (lent) {
        if (!gave_back(e, v))
            return pbi_fail(e->ctx, PB_EINVAL, "uncomputing %.80s did not restore the borrowed bytes",
                            pb_graph_name(g, v));
        unlend(e, v);
    } else {
        if (e->options.check && size)
            status = pbi_check_cleared(e, v);
        e->used -= size;
    }
    e->m.uncomputed++;
    e->value[v] = NULL;
    return status;
}

static pb_status release(pb_engine *e, pb_node v)
{
    pb_status status = e->under_way_count ? pbi_leave(e, v) : PB_OK;
    if (e->options.check && status == PB_OK)
        status = pbi_check_guard(e, v);
    e->value[v] = NULL;
    e->used -= e->graph->size[v];
    return status;
}

static pb_status load(pb_engine *e, pb_step k)
{
    pb_node v = e->leg->moves->move[k].node;
    uint64_t size = e->graph->size[v], during = e->used + size;
    bool early = false;
    for (uint32_t i = 0; i < e->under_way_count && !early; i++)
        early = e->under_way[i]->early && e->under_way[i]->at == k;
    pb_status status = e->under_way_count && !early ? pbi_make_room(e, during, k) : PB_OK;
    if (status != PB_OK)
        return status;
    begin(e, k + 1);
    if (!e->value[v])
        e->value[v] = e->nothing;
    else if (e->options.check && size) /* the bytes behind it; a load under way writes the value itself */
        pbi_check_fresh(e, e->value[v], 0, size);
    status = pbi_load(e, k);
    e->used = during;
    pbi_note_peak(e, during);
    return status;
}

static pb_status play(pb_engine *e, pb_step k)
{
    const pb_move *move = &e->leg->moves->move[k];
    pb_node v = move->node;
    pb_status status = PB_OK;
    if (move->op == PB_FREE)
        status = release(e, v);
    if (e->next_early < e->leg->early_count && status == PB_OK)
        status = pbi_load_early(e, k);
    if (status != PB_OK)
        return status;
    switch (move->op) {
    case PB_COMPUTE:
        if (!move->flags && !e->special && !e->under_way_count && !(e->graph->flags[v] & PB_NODE_HAS_PARTS))
            return compute_plainly(e, k, v);
        return compute(e, k);
    case PB_FREE: return PB_OK;
    case PB_UNCOMPUTE: return uncompute(e, k);
    case PB_STORE: return pbi_store(e, v, move->tier - 1u);
    case PB_LOAD: return load(e, k);
    case PB_DROP: return pbi_drop(e, v, move->tier - 1u);
    default: return pbi_fail(e->ctx, PB_EINVAL, "the engine does not know the move %s", pb_op_name((pb_op)move->op));
    }
}

void pbi_engine_begin_leg(pb_engine *e, const pbi_leg *leg)
{
    e->leg = leg;
    e->next = e->next_lent = e->next_early = 0;
    memset(e->next_filed, 0, sizeof e->next_filed);
    e->limit = leg->peak;
}

static pb_status start(pb_engine *e)
{
    const pb_graph *g = e->graph;
    pbi_engine_begin_leg(e, &e->whole);
    memset(e->value, 0, g->node_count * sizeof *e->value);
    memset(e->times, 0, g->node_count * sizeof *e->times);
    memset(e->file_end, 0, sizeof e->file_end);
    if (e->check.sum)
        memset(e->check.sum, 0, g->node_count * sizeof *e->check.sum);
    if (e->stored) { /* nor is anything left of a run that failed */
        memset(e->stored, 0, g->node_count);
        memset(e->loading, 0, g->node_count);
    }
    if (e->lent_sum)
        memset(e->lent_sum, 0, g->node_count * sizeof *e->lent_sum);
    if (e->part_done)
        memset(e->part_done, 0, g->node_count);
    if (e->workspace)
        memcpy(e->workspace, g->workspace, g->node_count * sizeof *e->workspace);
    e->m = (pb_measured){.block = e->whole.packing.size};
    e->cap = e->whole.game->cap;
    e->lent_used = e->lent_count = e->wanted = 0;
    e->leaving_bytes = e->early_bytes = 0;
    e->used = g->fixed_size;
    pb_status status = e->slow ? pbi_fill_slow(e) : PB_OK;
    begin(e, 0);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN) || (g->flags[v] & PB_NODE_GIVEN_SLOW))
            continue;
        e->used += g->size[v];
        prepare(e, v, v, PB_NO_NODE);
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, e->value[v]) : PB_OK;
    }
    if (e->options.check && g->fixed_size && status == PB_OK)
        pbi_check_fresh(e, e->block, 0, g->fixed_size);
    pbi_note_peak(e, e->used);
    return status;
}

/* ---- when predictions are wrong ---- */

/* A lowered cap: does what is left fit, or is it planned anew? `k` is the next move. */
static pb_status look_at_cap(pb_engine *e, pb_step k, bool *changed)
{
    uint64_t asked = atomic_load_explicit(&e->lowered, memory_order_relaxed), peak;
    *changed = false;
    if (asked >= e->cap || e->lent_count)
        return PB_OK;
    e->cap = asked;
    pb_status status = pbi_rest_peak(e, k, &peak);
    if (status != PB_OK)
        return status;
    if (peak + e->early_bytes + e->leaving_bytes <= asked) {
        e->limit = peak + e->early_bytes;
        e->next_early = e->leg->early_count; /* they were planned for more memory */
        return PB_OK;
    }
    char why[160];
    pbi_fail(e->ctx, PB_ELIMIT, "the cap was lowered to %llu bytes, but the rest of the plan needs %llu",
             (unsigned long long)asked, (unsigned long long)peak);
    memcpy(why, e->ctx->error.message, sizeof why - 1);
    why[sizeof why - 1] = '\0';
    *changed = true;
    return pbi_replan(e, PB_NO_NODE, why);
}

/* The lender has to know. */
static void say_what_is_left(pb_engine *e)
{
    char *text = e->ctx->error.message;
    size_t length = strlen(text), room = sizeof e->ctx->error.message - length;
    if (e->lent_count)
        snprintf(text + length, room, "; %u value%s left in borrowed memory, whose bytes are not restored",
                 (unsigned)e->lent_count, e->lent_count == 1 ? " is" : "s are");
}

static pb_status run(pb_engine *e)
{
    pb_status status = start(e);
    e->last_ns = pbi_now(e);
    for (pb_step k = 0; status == PB_OK; k++) {
        if (atomic_load_explicit(&e->lowered, memory_order_relaxed) < e->cap) {
            bool changed;
            status = look_at_cap(e, k, &changed);
            if (status != PB_OK)
                break;
            k = changed ? 0 : k;
        }
        if (k >= e->leg->moves->count)
            break;
        if (!e->lent_count &&
            (e->ctx->stop || e->ctx->stopped != PB_GO_ON)) /* else what was borrowed is given back first */
            status = pbi_poll(e->ctx);
        if (status == PB_OK)
            status = play(e, k);
        if (status == PB_ELIMIT && e->wanted) {
            char why[400];
            memcpy(why, e->ctx->error.message, sizeof why - 1);
            why[sizeof why - 1] = '\0';
            status = pbi_replan(e, e->leg->moves->move[k].node, why);
            k = (pb_step)-1;
        }
    }
    pb_error error = e->ctx->error;
    pb_status drained = e->slow ? pbi_drain(e) : PB_OK;
    if (status != PB_OK) {
        e->ctx->error = error;
        say_what_is_left(e);
    }
    if (status == PB_OK && drained == PB_OK && e->options.check)
        for (pb_node v = 0; v < e->graph->node_count && status == PB_OK; v++)
            status = e->value[v] ? pbi_check_guard(e, v) : PB_OK;
    return status == PB_OK ? drained : status;
}

pb_status pb_engine_run(pb_engine *e, pb_measured *out)
{
    uint64_t from = pbi_now(e);
    pb_arena_release(&e->rest_arena);
    pb_status status = run(e);
    e->m.total_ns = pbi_now(e) - from;
    atomic_store(&e->lowered, UINT64_MAX);
    if (status == PB_OK)
        *out = e->m;
    return status;
}
