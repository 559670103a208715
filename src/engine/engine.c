/* engine.c -- see engine.h: addresses and memory before a run. engine_run.c executes the moves. */
#include "pebble/engine.h"

#include "base/checked.h"
#include "base/context.h"
#include "engine/engine_parts.h"
#include "engine/timed.h"

#include <string.h>

enum { IO_THREADS = 2 };

static uint8_t kind_of(const pb_engine *e, pb_node v) { return e->kernels->kinds ? e->kernels->kinds[v] : 0; }

/* A value in borrowed memory is combined with unknown bytes: the kernels that compute and read it must support that. */
static pb_status check_lent(pb_engine *e, pb_node v)
{
    const pb_graph *g = e->graph;
    if (!(kind_of(e, v) & PB_KERNEL_XOR))
        return pbi_fail(e->ctx, PB_EINVAL,
                        "node %.80s is computed in borrowed memory, but its kernel does not add its result by "
                        "exclusive or; plan without borrowing",
                        pb_graph_name(g, v));
    for (uint32_t i = g->out_start[v]; i < g->out_start[v + 1]; i++)
        if (!(kind_of(e, g->out[i]) & PB_KERNEL_READS_BORROWED))
            return pbi_fail(
                e->ctx, PB_EINVAL,
                "node %.80s reads %.80s, which is in borrowed memory, but its kernel cannot; plan without borrowing",
                pb_graph_name(g, g->out[i]), pb_graph_name(g, v));
    return PB_OK;
}

static pb_status check_kernels(pb_engine *e, const pb_moves *moves)
{
    pb_status status = PB_OK;
    for (pb_step k = 0; k < moves->count && status == PB_OK; k++) {
        const pb_move *move = &moves->move[k];
        if (move->op != PB_COMPUTE)
            continue;
        if (!pbi_kernel_of(e, move->node, move->by))
            return pbi_fail(e->ctx, PB_EINVAL,
                            move->by ? "node %.80s is computed by a recipe that has no kernel; set one"
                                     : "node %.80s is computed but has no kernel; set one",
                            pb_graph_name(e->graph, move->node));
        if (move->flags & PB_MOVE_BORROW) {
            e->lends = true;
            status = check_lent(e, move->node);
        }
    }
    return status;
}

static pb_status assign(pb_engine *e, const pb_certificate *plan)
{
    uint64_t most = e->options.max_bytes;
    pb_status status = pbi_phase_make(plan, &e->options, true, most, &e->arena, &e->whole);
    if (status != PB_OK)
        return status;
    if (most && e->whole.packing.size > most)
        return pbi_fail(e->ctx, PB_ELIMIT,
                        "the values need a block of %llu bytes, but at most %llu are allowed; allow more, or plan with "
                        "a smaller cap",
                        (unsigned long long)e->whole.packing.size, (unsigned long long)most);
    e->block_bytes = e->whole.packing.size;
    /* If plans may change, the block has room for any plan within the cap, and an eighth more for gaps between
     * addresses. Memory that is not used is never touched. */
    uint64_t cap = e->whole.game->cap, room;
    if (e->options.replan && cap < UINT64_MAX / 4) {
        room = pbi_round_up(cap + cap / 8 + 64 * e->options.align, e->options.align);
        room = most && room > most ? most / e->options.align * e->options.align : room;
        e->block_bytes = room > e->block_bytes ? room : e->block_bytes;
    }
    return PB_OK;
}

static pb_status take_lent(pb_engine *e)
{
    uint64_t need = e->whole.lent_packing.size, align = e->options.align;
    if (!e->whole.lent.count)
        return PB_OK;
    uint64_t skip = (align - (uintptr_t)e->options.borrowed % align) % align;
    if (!e->options.borrowed || e->options.borrowed_bytes < skip || e->options.borrowed_bytes - skip < need)
        return pbi_fail(e->ctx, PB_ELIMIT, "the plan borrows %llu bytes, but only %llu were lent; lend more",
                        (unsigned long long)(need + skip),
                        (unsigned long long)(e->options.borrowed ? e->options.borrowed_bytes : 0));
    e->lent = (unsigned char *)e->options.borrowed + skip;
    return PB_OK;
}

static pb_status take_tables(pb_engine *e)
{
    const pb_graph *g = e->graph;
    size_t nodes = (size_t)g->node_count + 1, parts = 1;
    for (pb_node v = 0; v < g->node_count && g->part_start; v++)
        if (g->part_start[v + 1] - g->part_start[v] > parts)
            parts = g->part_start[v + 1] - g->part_start[v];
    bool tiers = e->whole.game->kind == PB_GAME_TIERED && e->whole.game->tier_count;
    e->value = pb_arena_zero(&e->arena, nodes, sizeof *e->value);
    e->times = pb_arena_zero(&e->arena, nodes, sizeof *e->times);
    e->hidden = pb_arena_zero(&e->arena, parts, sizeof *e->hidden);
    e->lent_sum = e->lends ? pb_arena_zero(&e->arena, nodes, sizeof *e->lent_sum) : NULL;
    e->part_done = g->part_start ? pb_arena_zero(&e->arena, nodes, 1) : NULL;
    if (tiers) {
        e->slot = pb_arena_zero(&e->arena, nodes * e->whole.game->tier_count, sizeof *e->slot);
        e->stored = pb_arena_zero(&e->arena, nodes, 1);
        e->loading = pb_arena_zero(&e->arena, nodes, 1);
    }
    for (uint32_t i = 0; i < PBI_MAX_PENDING; i++)
        e->pending[i] = &e->room[i];
    if (!e->value || !e->times || !e->hidden || (e->lends && !e->lent_sum) || (g->part_start && !e->part_done) ||
        (tiers && (!e->slot || !e->stored || !e->loading)))
        return PB_ENOMEM;
    return PB_OK;
}

static pb_status take_block(pb_engine *e)
{
    uint64_t bytes, align = e->options.align;
    unsigned char *block = NULL;
    if (pbi_add(e->block_bytes, align, &bytes) && bytes <= SIZE_MAX)
        block = pb_arena_alloc(&e->arena, (size_t)bytes, 1);
    if (!block && e->block_bytes > e->whole.packing.size) { /* not enough for other plans: take what this one needs */
        e->block_bytes = e->whole.packing.size;
        return take_block(e);
    }
    if (!block)
        return pbi_fail(e->ctx, PB_ENOMEM, "out of memory: cannot allocate %llu bytes" PBI_FREE_MEMORY,
                        (unsigned long long)e->block_bytes);
    e->block = block + (align - (uintptr_t)block % align) % align;
    memset(e->block, 0, e->graph->fixed_size);
    return PB_OK;
}

static pb_status open_slow(pb_engine *e, const pbi_slow_calls *calls)
{
    bool io = false;
    if (e->whole.game->kind == PB_GAME_TIMED)
        return pbi_timed_open(e, calls);
    for (pb_step k = 0; k < e->whole.moves->count && e->slot; k++)
        io |= e->whole.moves->move[k].op == PB_STORE || e->whole.moves->move[k].op == PB_LOAD;
    if (!io && !(e->slot && e->options.replan && e->options.slow_path[0]))
        return PB_OK;
    return pbi_slow_open(e->ctx, &e->arena,
                         &(pbi_slow_options){.path = e->options.slow_path,
                                             .tier_count = e->whole.game->tier_count,
                                             .threads = e->options.io_threads ? e->options.io_threads : IO_THREADS,
                                             .no_direct = e->options.no_direct,
                                             .calls = calls},
                         &e->slow);
}

pb_status pbi_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                         const pb_engine_options *options, const pbi_slow_calls *calls, pb_engine **out)
{
    pb_arena arena;
    pb_arena_init(&arena, ctx);
    pb_engine *e = pb_arena_zero(&arena, 1, sizeof *e);
    if (!e)
        return PB_ENOMEM;
    e->ctx = ctx;
    e->arena = arena;
    e->graph = pb_certificate_game(plan)->graph;
    e->kernels = kernels;
    e->options = *options;
    e->options.align = options->align ? options->align : PB_ALIGN_DEFAULT;
    e->special = options->check || kernels->kinds;
    atomic_init(&e->lowered, UINT64_MAX);
    pb_arena_init(&e->remainder_arena, ctx);
    pb_status status = check_kernels(e, pb_certificate_moves(plan));
    if (status == PB_OK && pb_certificate_game(plan)->kind == PB_GAME_TIMED)
        status = pbi_timed_check(ctx, plan, options);
    if (status == PB_OK)
        status = assign(e, plan);
    if (status == PB_OK)
        status = take_lent(e);
    if (status == PB_OK)
        status = take_tables(e);
    if (status == PB_OK)
        status = take_block(e);
    if (status == PB_OK && options->check)
        status = pbi_check_open(e);
    if (status == PB_OK)
        status = open_slow(e, calls);
    if (status == PB_OK)
        *out = e;
    else
        pb_engine_free(e);
    return status;
}

pb_status pb_engine_new(pb_context *ctx, const pb_certificate *plan, const pb_kernels *kernels,
                        const pb_engine_options *options, pb_engine **out)
{
    return pbi_engine_new(ctx, plan, kernels, options, NULL, out);
}

void pb_engine_free(pb_engine *e)
{
    if (!e)
        return;
    pbi_slow_close(e->slow);
    pb_arena_release(&e->remainder_arena);
    pb_arena arena = e->arena;
    pb_arena_release(&arena);
}

void pb_engine_lower_cap(pb_engine *e, uint64_t bytes) { atomic_store(&e->lowered, bytes); }

void *pb_engine_fixed(pb_engine *e) { return e->block; }
void *pb_engine_value(pb_engine *e, pb_node v) { return e->value[v]; }
const pb_packing *pb_engine_packing(const pb_engine *e) { return &e->whole.packing; }
