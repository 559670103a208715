/* engine_run.c -- executes the moves of a schedule on real memory.
 *
 * A move costs a few steps in addition to its kernel: the lifetimes that start at it are the next ones of a list, and
 * bytes in use are counted as the verifier counts them. Rare cases (running stores and loads, checks, new plans) are in
 * other files.
 */
#include "engine/engine_parts.h"

#include "base/context.h"
#include "engine/checksum.h"
#include "engine/timed.h"

#include <stdio.h>
#include <string.h>

static uint8_t kind_of(const pb_engine *e, pb_node v) { return e->kernels->kinds ? e->kernels->kinds[v] : 0; }

/* Sets the addresses of values that start at this time. Returns the workspace. */
static void *take_places(pb_engine *e, uint64_t time)
{
    const pbi_phase *phase = e->phase;
    void *workspace = NULL;
    for (; e->next < phase->lives.count && phase->lives.life[e->next].from == time; e->next++) {
        pb_node v = phase->lives.life[e->next].node;
        unsigned char *at = e->block + phase->packing.offset[e->next];
        if (v == PB_NO_NODE)
            workspace = at;
        else
            e->value[v] = at;
    }
    return workspace;
}

/* Sets up the memory of a result before its kernel runs. */
static void set_up_result(pb_engine *e, pb_node v, pb_node made, pb_node over)
{
    const pb_graph *g = e->graph;
    if (!e->value[made]) {
        e->value[made] = e->nothing; /* it has no size */
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
        e->lent_sum[v] = UINT64_MAX; /* marks a value without a size as borrowed */
        return;
    }
    e->value[v] = e->lent + e->phase->lent_packing.offset[e->next_lent++];
    e->lent_sum[v] = pbi_checksum(e->value[v], size, v);
}

/* Whether the lender's bytes are restored. */
static bool is_restored(const pb_engine *e, pb_node v)
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

static void add_kernel_time(pb_engine *e, uint64_t *sum, uint64_t *ns)
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

/* The kernel failed: removes its results. */
static void remove_results(pb_engine *e, pb_step k, bool was_there, const pb_node *part, uint32_t parts)
{
    pb_node v = e->phase->moves->move[k].node;
    for (uint32_t i = 0; i < parts; i++)
        e->value[part[i]] = NULL;
    bool lent = e->phase->moves->move[k].flags & PB_MOVE_BORROW;
    if (lent && is_restored(e, v)) /* else the kernel has written some of it */
        unlend(e, v);
    if (!was_there)
        e->value[v] = NULL;
    e->times[v]--;
}

static pb_call call_of(pb_engine *e, pb_node v, void *workspace)
{
    return (pb_call){.node = v,
                     .value = e->value,
                     .fixed = e->block,
                     .workspace = workspace,
                     .times = e->times[v],
                     .grant = pbi_grant,
                     .owner = e};
}

static void start_kernel_time(pb_engine *e)
{
    if (e->options.timed)
        e->last_ns = pbi_now(e);
    pbi_forget_grants(e);
}

/* Counts a computation that took `ns`. */
static void count_computation(pb_engine *e, const pb_call *call, uint64_t ns)
{
    e->m.computed++;
    if (call->times) {
        e->m.recomputed++;
        e->m.recompute_ns += ns;
    }
    if (e->options.timed)
        e->options.timed(e->options.timed_state, call->node, ns);
}

/* The fast path for most moves: nothing in place, borrowed, running or checked, and no by-products. */
static pb_status compute_plainly(pb_engine *e, pb_step k, pb_node v)
{
    const pb_graph *g = e->graph;
    uint64_t ns;
    pbi_note_peak(e, e->used + g->size[v] + e->phase->game->graph->workspace[v]);
    void *workspace = take_places(e, k + 1);
    if (!e->value[v])
        e->value[v] = e->nothing; /* it has no size */
    pb_call call = call_of(e, v, workspace);
    e->times[v]++;
    start_kernel_time(e);
    pb_status status = e->kernels->of[v](e->kernels->state, e->ctx, &call);
    add_kernel_time(e, &e->m.kernel_ns, &ns);
    if (status != PB_OK) {
        remove_results(e, k, false, NULL, 0);
        return status;
    }
    e->used += g->size[v];
    count_computation(e, &call, ns);
    return PB_OK;
}

typedef struct computation {
    pb_node v, over; /* over: the input that is overwritten, or PB_NO_NODE */
    uint32_t by;     /* the recipe */
    const pb_node *part;
    uint32_t parts;
    bool was_there, lent;
    uint64_t made, gone; /* bytes that it adds and removes */
    uint64_t during;     /* bytes in use while it runs */
} computation;

static computation computation_of(const pb_engine *e, pb_step k)
{
    const pb_graph *g = e->graph;
    const pb_moves *moves = e->phase->moves;
    const pb_move *move = &moves->move[k];
    computation c = {.v = move->node,
                     .by = move->by,
                     .over = move->flags & PB_MOVE_OVER ? pb_moves_over(moves, k) : PB_NO_NODE,
                     .was_there = e->value[move->node] != NULL,
                     .lent = move->flags & PB_MOVE_BORROW};
    if (move->flags & PB_MOVE_ALSO)
        c.part = pb_moves_also(moves, k, &c.parts);
    uint64_t own = c.was_there || c.lent ? 0 : g->size[c.v], saved = 0;
    c.made = own;
    for (uint32_t i = 0; i < c.parts; i++)
        c.made += g->size[c.part[i]];
    if (c.over != PB_NO_NODE) {
        c.gone = g->size[c.over];
        saved = own < c.gone ? own : c.gone;
    }
    c.during = e->used + c.made - saved + pb_graph_way(e->phase->game->graph, c.v, c.by).workspace;
    return c;
}

/* Runs the kernel with memory for its results set up. */
static pb_status run_kernel(pb_engine *e, pb_step k, const computation *c)
{
    uint64_t ns;
    bool has_parts = e->graph->flags[c->v] & PB_NODE_HAS_PARTS;
    if (has_parts)
        hide_parts(e, c->v);
    pb_call call = call_of(e, c->v, take_places(e, k + 1));
    call.parts_only = c->was_there;
    call.by = c->by;
    e->times[c->v]++;
    if (c->lent)
        lend(e, c->v);
    if (!c->was_there)
        set_up_result(e, c->v, c->v, c->over);
    for (uint32_t i = 0; i < c->parts; i++)
        set_up_result(e, c->v, c->part[i], PB_NO_NODE);
    start_kernel_time(e);
    pb_status status = e->options.check ? pbi_check_run(e, &call, c->over, c->part, c->parts, c->was_there)
                                        : pbi_kernel_of(e, c->v, c->by)(e->kernels->state, e->ctx, &call);
    add_kernel_time(e, &e->m.kernel_ns, &ns);
    if (has_parts)
        show_parts(e, c->v);
    if (status != PB_OK)
        remove_results(e, k, c->was_there, c->part, c->parts);
    else
        count_computation(e, &call, ns);
    return status;
}

static pb_status compute(pb_engine *e, pb_step k)
{
    computation c = computation_of(e, k);
    pb_status status = PB_OK;
    if (e->pending_count) {
        status = pbi_wait_for_operands(e, c.v, c.by, c.over);
        if (status == PB_OK)
            status = pbi_make_room(e, c.during, k);
        if (status != PB_OK)
            return status;
    }
    pbi_note_peak(e, c.during);
    status = run_kernel(e, k, &c);
    if (status != PB_OK)
        return status;
    e->used += c.made - c.gone;
    for (uint32_t i = 0; i < c.parts; i++)
        e->part_done[c.part[i]] = 1;
    if (c.over != PB_NO_NODE)
        e->value[c.over] = NULL;
    return PB_OK;
}

/* By-products have no kernel: they are forgotten, as values of kernels without flags are. */
static pb_status run_backwards(pb_engine *e, pb_node v, void *workspace)
{
    const pb_graph *g = e->graph;
    bool has_parts = g->flags[v] & PB_NODE_HAS_PARTS;
    pb_call call = call_of(e, v, workspace);
    call.undo = true;
    uint64_t ns;
    if (has_parts)
        hide_parts(e, v);
    start_kernel_time(e);
    pb_status status = e->kernels->of[v](e->kernels->state, e->ctx, &call);
    add_kernel_time(e, &e->m.uncompute_ns, &ns);
    if (has_parts)
        show_parts(e, v);
    return status;
}

static pb_status uncompute(pb_engine *e, pb_step k)
{
    const pb_graph *g = e->graph;
    pb_node v = e->phase->moves->move[k].node;
    uint64_t size = g->size[v];
    bool lent = size ? !pbi_in_block(e, e->value[v]) : e->lent_count && e->lent_sum[v] == UINT64_MAX;
    pb_status status = e->pending_count ? pbi_wait_for_operands(e, v, 0, PB_NO_NODE) : PB_OK;
    if (status != PB_OK)
        return status;
    uint64_t during = e->used + e->phase->game->graph->workspace[v];
    if (e->pending_count)
        status = pbi_make_room(e, during, k);
    pbi_note_peak(e, during);
    void *workspace = take_places(e, k + 1);
    if (status == PB_OK && (kind_of(e, v) & PB_KERNEL_XOR) && !(g->flags[v] & PB_NODE_BYPRODUCT))
        status = run_backwards(e, v, workspace);
    if (status != PB_OK)
        return status;
    if (lent) {
        if (!is_restored(e, v))
            return pbi_fail(e->ctx, PB_EINVAL, "uncomputing %.80s did not restore the borrowed bytes; fix its kernel",
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
    pb_status status = e->pending_count ? pbi_leave(e, v) : PB_OK;
    if (e->options.check && status == PB_OK)
        status = pbi_check_guard(e, v);
    e->value[v] = NULL;
    e->used -= e->graph->size[v];
    return status;
}

static pb_status load(pb_engine *e, pb_step k)
{
    pb_node v = e->phase->moves->move[k].node;
    uint64_t size = e->graph->size[v], during = e->used + size;
    bool prefetch = false;
    for (uint32_t i = 0; i < e->pending_count && !prefetch; i++)
        prefetch = e->pending[i]->prefetch && e->pending[i]->at == k;
    pb_status status = e->pending_count && !prefetch ? pbi_make_room(e, during, k) : PB_OK;
    if (status != PB_OK)
        return status;
    take_places(e, k + 1);
    if (!e->value[v])
        e->value[v] = e->nothing;
    else if (e->options.check && size) /* guard bytes only: a running load writes the value itself */
        pbi_check_fresh(e, e->value[v], 0, size);
    status = pbi_load(e, k);
    e->used = during;
    pbi_note_peak(e, during);
    return status;
}

static pb_status play(pb_engine *e, pb_step k)
{
    const pb_move *move = &e->phase->moves->move[k];
    pb_node v = move->node;
    pb_status status = PB_OK;
    if (move->op == PB_FREE)
        status = release(e, v);
    if (e->next_prefetch < e->phase->prefetch_count && status == PB_OK)
        status = pbi_start_prefetches(e, k);
    if (status != PB_OK)
        return status;
    switch (move->op) {
    case PB_COMPUTE:
        if (!move->flags && !move->by && !e->special && !e->pending_count && !(e->graph->flags[v] & PB_NODE_HAS_PARTS))
            return compute_plainly(e, k, v);
        return compute(e, k);
    case PB_FREE: return PB_OK;
    case PB_UNCOMPUTE: return uncompute(e, k);
    case PB_STORE: return pbi_store(e, v, move->tier - 1u);
    case PB_LOAD: return load(e, k);
    case PB_DROP: return pbi_drop(e, v, move->tier - 1u);
    default:
        return pbi_fail(e->ctx, PB_EINVAL, "the engine does not support the move %s; plan without it",
                        pb_op_name((pb_op)move->op));
    }
}

void pbi_engine_begin_phase(pb_engine *e, const pbi_phase *phase)
{
    e->phase = phase;
    e->next = e->next_lent = e->next_prefetch = 0;
    memset(e->next_filed, 0, sizeof e->next_filed);
    e->limit = phase->peak;
}

static pb_status start(pb_engine *e)
{
    const pb_graph *g = e->graph;
    pbi_engine_begin_phase(e, &e->whole);
    memset(e->value, 0, g->node_count * sizeof *e->value);
    memset(e->times, 0, g->node_count * sizeof *e->times);
    memset(e->file_end, 0, sizeof e->file_end);
    if (e->check.sum)
        memset(e->check.sum, 0, g->node_count * sizeof *e->check.sum);
    if (e->stored) { /* from a run that failed */
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
    e->lent_used = e->lent_count = e->requested = 0;
    e->leaving_bytes = e->prefetch_bytes = 0;
    e->used = g->fixed_size;
    pb_status status = e->slow ? pbi_fill_slow(e) : PB_OK;
    take_places(e, 0);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN) || (g->flags[v] & PB_NODE_GIVEN_SLOW))
            continue;
        e->used += g->size[v];
        set_up_result(e, v, v, PB_NO_NODE);
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, e->value[v]) : PB_OK;
    }
    if (e->options.check && g->fixed_size && status == PB_OK)
        pbi_check_fresh(e, e->block, 0, g->fixed_size);
    pbi_note_peak(e, e->used);
    return status;
}

/* ---- when predictions are wrong ---- */

/* After the cap was lowered: checks that the remaining moves fit, or replans them. `k` is the next move. */
static pb_status apply_lowered_cap(pb_engine *e, pb_step k, bool *changed)
{
    uint64_t asked = atomic_load_explicit(&e->lowered, memory_order_relaxed), peak;
    *changed = false;
    if (asked >= e->cap || e->lent_count)
        return PB_OK;
    e->cap = asked;
    pb_status status = pbi_remaining_peak(e, k, &peak);
    if (status != PB_OK)
        return status;
    if (peak + e->prefetch_bytes + e->leaving_bytes <= asked) {
        e->limit = peak + e->prefetch_bytes;
        e->next_prefetch = e->phase->prefetch_count; /* they were planned for more memory */
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

/* The lender needs this information. */
static void report_left_borrowed(pb_engine *e)
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
            status = apply_lowered_cap(e, k, &changed);
            if (status != PB_OK)
                break;
            k = changed ? 0 : k;
        }
        if (k >= e->phase->moves->count)
            break;
        /* While memory is borrowed, a stop has to wait: it is returned first. */
        if (!e->lent_count && (e->ctx->stop || e->ctx->stopped != PB_GO_ON))
            status = pbi_poll(e->ctx);
        if (status == PB_OK)
            status = play(e, k);
        if (status == PB_ELIMIT && e->requested) {
            char why[400];
            memcpy(why, e->ctx->error.message, sizeof why - 1);
            why[sizeof why - 1] = '\0';
            status = pbi_replan(e, e->phase->moves->move[k].node, why);
            k = (pb_step)-1;
        }
    }
    pb_error error = e->ctx->error;
    pb_status drained = e->slow ? pbi_drain(e) : PB_OK;
    if (status != PB_OK) {
        e->ctx->error = error;
        report_left_borrowed(e);
    }
    if (status == PB_OK && drained == PB_OK && e->options.check)
        for (pb_node v = 0; v < e->graph->node_count && status == PB_OK; v++)
            status = e->value[v] ? pbi_check_guard(e, v) : PB_OK;
    return status == PB_OK ? drained : status;
}

pb_status pb_engine_run(pb_engine *e, pb_measured *out)
{
    uint64_t from = pbi_now(e);
    pb_arena_release(&e->remainder_arena);
    pb_status status = e->timed ? pbi_timed_run(e) : run(e);
    e->m.total_ns = pbi_now(e) - from;
    atomic_store(&e->lowered, UINT64_MAX);
    if (status == PB_OK)
        *out = e->m;
    return status;
}
