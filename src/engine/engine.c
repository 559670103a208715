/* engine.c -- see engine.h: one block, addresses ahead, and a walk over the moves. */
#include "pebble/engine.h"

#include "base/checked.h"
#include "base/context.h"

#include <string.h>

enum { ALIGN = 64, PERIOD = 64 /* moves between looks for a stop */ };

struct pb_engine {
    pb_context *ctx;
    pb_arena arena;
    const pb_graph *graph;
    const pb_moves *moves;
    const pb_kernels *kernels;
    pb_engine_options options;
    pb_lifetimes lives;
    pb_packing packing;
    unsigned char *block; /* aligned */
    unsigned char *fixed; /* the first lifetime, where there is fixed memory */
    void **value;         /* by node: where it is, or NULL */
    uint64_t *times;      /* by node: computations in this run */
    uint64_t used;        /* bytes in use now */
    uint32_t next;        /* lifetime that begins next */
};

/* ---- before the run ---- */

static pb_status check_kernels(pb_engine *e)
{
    for (pb_step k = 0; k < e->moves->count; k++) {
        pb_node v = e->moves->move[k].node;
        if (e->moves->move[k].op == PB_COMPUTE && !e->kernels->of[v])
            return pbi_fail(e->ctx, PB_EINVAL, "node %s is computed and has no kernel", pb_graph_name(e->graph, v));
    }
    return PB_OK;
}

static pb_status assign(pb_engine *e, const pb_certificate *plan)
{
    uint64_t most = e->options.most_bytes;
    pb_pack_options how = {.cap = most ? most : pb_certificate_totals(plan)->peak, .seed = 1};
    pb_status status =
        pb_lifetimes_make(e->ctx, pb_certificate_game(plan), e->moves, e->options.align, &e->arena, &e->lives);
    if (status == PB_OK)
        status = pb_pack(e->ctx, &e->lives, &how, &e->arena, &e->packing);
    if (status == PB_OK && most && e->packing.size > most)
        status = pbi_fail(e->ctx, PB_ELIMIT, "the values need %llu bytes of addresses, and there are %llu",
                          (unsigned long long)e->packing.size, (unsigned long long)most);
    return status;
}

static pb_status take_memory(pb_engine *e)
{
    uint32_t nodes = e->graph->node_count;
    e->value = pb_arena_zero(&e->arena, (size_t)nodes + 1, sizeof *e->value);
    e->times = pb_arena_zero(&e->arena, (size_t)nodes + 1, sizeof *e->times);
    unsigned char *block = pb_arena_alloc(&e->arena, e->packing.size + e->options.align, 1);
    if (!e->value || !e->times || !block)
        return PB_ENOMEM;
    e->block = block + (e->options.align - (uintptr_t)block % e->options.align) % e->options.align;
    e->fixed = e->block + (e->graph->fixed_size ? e->packing.offset[0] : 0);
    memset(e->fixed, 0, e->graph->fixed_size);
    return PB_OK;
}

pb_status pb_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                        const pb_engine_options *options, pb_engine **out)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pb_engine *e = pb_arena_zero(&arena, 1, sizeof *e);
    if (!e)
        return PB_ENOMEM;
    *e = (pb_engine){.ctx = ctx,
                     .arena = arena,
                     .graph = pb_certificate_game(plan)->graph,
                     .moves = pb_certificate_moves(plan),
                     .kernels = kernels,
                     .options = *options};
    if (!e->options.align)
        e->options.align = ALIGN;
    pb_status status = check_kernels(e);
    if (status == PB_OK)
        status = assign(e, plan);
    if (status == PB_OK)
        status = take_memory(e);
    if (status == PB_OK)
        *out = e;
    else
        pb_engine_free(e);
    return status;
}

void pb_engine_free(pb_engine *e)
{
    if (!e)
        return;
    pb_arena arena = e->arena;
    pb_arena_release(&arena);
}

/* ---- the run ---- */

static uint64_t now(const pb_engine *e) { return e->ctx->clock_ns ? e->ctx->clock_ns(e->ctx->callback_state) : 0; }

/* The lifetimes that begin at this time: values get their addresses, and the workspace is returned. */
static void *begin(pb_engine *e, uint64_t time, pb_measured *m)
{
    void *workspace = NULL;
    for (; e->next < e->lives.count && e->lives.life[e->next].from == time; e->next++) {
        const pb_lifetime *life = &e->lives.life[e->next];
        void *at = e->block + e->packing.offset[e->next];
        if (life->node == PB_NO_NODE)
            workspace = at;
        else
            e->value[life->node] = at;
    }
    (void)m;
    return workspace;
}

static pb_status start(pb_engine *e, pb_measured *m)
{
    const pb_graph *g = e->graph;
    memset(e->value, 0, g->node_count * sizeof *e->value);
    memset(e->times, 0, g->node_count * sizeof *e->times);
    e->next = 0;
    begin(e, 0, m);
    e->used = g->fixed_size;
    pb_status status = PB_OK;
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++) {
        if (!(g->flags[v] & PB_NODE_GIVEN))
            continue;
        e->used += g->size[v];
        if (!e->value[v])
            e->value[v] = e->block; /* of no size */
        status = e->kernels->fill ? e->kernels->fill(e->kernels->state, e->ctx, v, e->value[v]) : PB_OK;
    }
    m->peak = e->used;
    return status;
}

static pb_status compute(pb_engine *e, pb_step k, pb_measured *m)
{
    const pb_graph *g = e->graph;
    pb_node v = e->moves->move[k].node, over = pb_moves_over(e->moves, k);
    uint32_t parts;
    const pb_node *part = pb_moves_also(e->moves, k, &parts);
    bool was_there = e->value[v] != NULL;
    pb_call call = {.node = v, .value = e->value, .fixed = e->fixed, .times = e->times[v]++};
    call.workspace = begin(e, k + 1, m);
    uint64_t during = e->used + g->workspace[v], made = was_there ? 0 : g->size[v];
    for (uint32_t i = 0; i < parts; i++)
        made += g->size[part[i]];
    uint64_t gone = over == PB_NO_NODE ? 0 : g->size[over];
    during += over != PB_NO_NODE && gone > made ? 0 : made - gone;
    m->peak = during > m->peak ? during : m->peak;
    if (!e->value[v])
        e->value[v] = e->block;
    uint64_t from = now(e);
    pb_status status = e->kernels->of[v](e->kernels->state, e->ctx, &call);
    uint64_t ns = now(e) - from;
    e->used += made - gone;
    if (over != PB_NO_NODE)
        e->value[over] = NULL;
    m->computed++;
    m->kernel_ns += ns;
    m->recomputed += call.times > 0;
    m->recompute_ns += call.times ? ns : 0;
    if (e->options.timed)
        e->options.timed(e->options.timed_state, v, ns);
    return status;
}

static pb_status play(pb_engine *e, pb_step k, pb_measured *m)
{
    const pb_move *move = &e->moves->move[k];
    switch (move->op) {
    case PB_COMPUTE: return compute(e, k, m);
    case PB_FREE:
        e->value[move->node] = NULL;
        e->used -= e->graph->size[move->node];
        return PB_OK;
    default: return pbi_fail(e->ctx, PB_EINVAL, "the engine does not know the move %s", pb_op_name((pb_op)move->op));
    }
}

pb_status pb_engine_run(pb_engine *e, pb_measured *out)
{
    pb_measured m = {.block = e->packing.size};
    uint64_t from = now(e);
    pb_status status = start(e, &m);
    for (pb_step k = 0; k < e->moves->count && status == PB_OK; k++) {
        status = k % PERIOD ? PB_OK : pbi_poll(e->ctx);
        if (status == PB_OK)
            status = play(e, k, &m);
    }
    m.total_ns = now(e) - from;
    if (status == PB_OK)
        *out = m;
    return status;
}

void *pb_engine_fixed(pb_engine *e) { return e->fixed; }
void *pb_engine_value(pb_engine *e, pb_node v) { return e->value[v]; }
const pb_packing *pb_engine_packing(const pb_engine *e) { return &e->packing; }
