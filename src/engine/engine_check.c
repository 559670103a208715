/* engine_check.c -- the checking mode: finds kernels that write past their values, change their inputs, or read what
 * they must not.
 *
 * Guard bytes behind every value must not change. A kernel sees the addresses of its inputs and results; all others
 * lead to a decoy. It runs a second time with other bytes in the decoy, in the workspace and in its results: if the
 * result differs, it read some of them. A recomputed result must have the same bits as the first time.
 */
#include "engine/engine_parts.h"

#include "base/context.h"
#include "engine/checksum.h"

#include <string.h>

enum { FIRST = 0xa5, SECOND = 0x5a, BEHIND = 0xc3 };

pb_status pbi_check_open(pb_engine *e)
{
    const pb_graph *g = e->graph;
    pbi_check *c = &e->check;
    for (pb_node v = 0; v < g->node_count; v++)
        c->largest = g->size[v] > c->largest ? g->size[v] : c->largest;
    if (c->largest > UINT64_MAX / 2 || e->options.align > UINT64_MAX / 4)
        return pbi_fail(e->ctx, PB_ENOMEM, "out of memory: a value has %llu bytes" PBI_FREE_MEMORY,
                        (unsigned long long)c->largest);
    c->largest += 64;
    c->table = pb_arena_zero(&e->arena, (size_t)g->node_count + 1, sizeof *c->table);
    c->sum = pb_arena_zero(&e->arena, (size_t)g->node_count + 1, sizeof *c->sum);
    unsigned char *decoy = pb_arena_alloc(&e->arena, c->largest + e->options.align, 1);
    c->saved = pb_arena_alloc(&e->arena, c->largest, 1);
    c->stray = pb_arena_zero(&e->arena, (size_t)g->node_count + 1, sizeof *c->stray);
    if (!c->table || !c->sum || !c->stray || !decoy || !c->saved)
        return PB_ENOMEM;
    c->decoy = decoy + (e->options.align - (uintptr_t)decoy % e->options.align) % e->options.align;
    memset(c->decoy, FIRST, c->largest);
    for (pb_node v = 0; v < g->node_count; v++)
        c->table[v] = c->decoy;
    return PB_OK;
}

static bool holds(const unsigned char *at, uint64_t count, unsigned char what)
{
    for (uint64_t i = 0; i < count; i++)
        if (at[i] != what)
            return false;
    return true;
}

void pbi_check_fresh(pb_engine *e, void *at, uint64_t bytes, uint64_t guard_from)
{
    memset(at, FIRST, bytes);
    memset((unsigned char *)at + guard_from, BEHIND, pbi_room_of(e, guard_from) - guard_from);
}

static bool is_guarded(const pb_engine *e, const void *at, uint64_t size)
{
    return !size || !pbi_in_block(e, at) ||
           holds((const unsigned char *)at + size, pbi_room_of(e, size) - size, BEHIND);
}

pb_status pbi_check_guard(pb_engine *e, pb_node v)
{
    if (is_guarded(e, e->value[v], e->graph->size[v]))
        return PB_OK;
    return pbi_fail(e->ctx, PB_EINVAL, "something wrote past the %llu bytes of %.80s; check the kernels",
                    (unsigned long long)e->graph->size[v], pb_graph_name(e->graph, v));
}

pb_status pbi_check_cleared(pb_engine *e, pb_node v)
{
    const pb_graph *g = e->graph;
    bool ran = e->kernels->kinds && (e->kernels->kinds[v] & PB_KERNEL_XOR) && !(g->flags[v] & PB_NODE_BYPRODUCT);
    if (ran && !holds(e->value[v], g->size[v], 0))
        return pbi_fail(e->ctx, PB_EINVAL, "uncomputing %.80s did not remove its value; check its kernel",
                        pb_graph_name(g, v));
    return pbi_check_guard(e, v);
}

/* One computation that is checked. */
typedef struct suspect {
    pb_engine *e;
    pb_call call;
    pb_node over;
    const pb_node *part;
    uint32_t parts;
    bool was_there;
    bool reported; /* this computation */
    uint64_t inputs, workspace;
} suspect;

static uint64_t sum_of(const pb_engine *e, pb_node v)
{
    uint64_t sum = pbi_checksum(e->value[v], e->graph->size[v], v);
    return sum ? sum : 1;
}

static uint64_t sum_of_inputs(const suspect *s)
{
    pb_way way = pb_graph_way(s->e->graph, s->call.node, s->call.by);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < way.in_count; i++)
        sum ^= way.in[i] == s->over ? 0 : sum_of(s->e, way.in[i]);
    return sum;
}

static void show(const suspect *s, bool shown)
{
    const pb_engine *e = s->e;
    const pb_graph *g = e->graph;
    pb_node v = s->call.node;
    pb_way way = pb_graph_way(g, v, s->call.by);
    for (uint32_t i = 0; i < way.in_count; i++)
        e->check.table[way.in[i]] = shown ? e->value[way.in[i]] : e->check.decoy;
    for (uint32_t i = g->part_start ? g->part_start[v] : 0; g->part_start && i < g->part_start[v + 1]; i++)
        e->check.table[g->part[i]] = shown ? e->value[g->part[i]] : e->check.decoy;
    e->check.table[v] = shown ? e->value[v] : e->check.decoy;
}

static pb_status run_with_decoy(const suspect *s, unsigned char decoy)
{
    pb_engine *e = s->e;
    const pb_graph *g = e->graph;
    pb_node v = s->call.node;
    const char *name = pb_graph_name(g, v);
    bool wide = s->over != PB_NO_NODE && e->value[v] == e->value[s->over] && g->size[s->over] > g->size[v];
    bool good = is_guarded(e, e->value[v], wide ? g->size[s->over] : g->size[v]) &&
                is_guarded(e, s->call.workspace, s->workspace) && is_guarded(e, e->block, g->fixed_size);
    for (uint32_t i = 0; i < s->parts; i++)
        good = good && is_guarded(e, e->value[s->part[i]], g->size[s->part[i]]);
    if (!good)
        return pbi_fail(e->ctx, PB_EINVAL, "the kernel of %.80s wrote outside of its memory; fix the kernel", name);
    if (sum_of_inputs(s) != s->inputs)
        return pbi_fail(e->ctx, PB_EINVAL, "the kernel of %.80s changed one of its inputs; fix the kernel", name);
    if (!holds(e->check.decoy, e->check.largest, decoy))
        return pbi_fail(e->ctx, PB_EINVAL,
                        "the kernel of %.80s wrote to a value that is neither its input nor its own; fix the kernel",
                        name);
    return PB_OK;
}

static pb_status run(suspect *s, unsigned char decoy)
{
    pb_engine *e = s->e;
    e->during -= e->granted_bytes; /* granted to the previous run of the same kernel, which returned them */
    pbi_forget_grants(e);
    pb_status status = pbi_kernel_of(e, s->call.node, s->call.by)(e->kernels->state, e->ctx, &s->call);
    return status == PB_OK ? run_with_decoy(s, decoy) : status;
}

/* Once for each computation. What was computed from other bits than before is not to blame. */
static void report(suspect *s, pb_node made, bool now)
{
    pb_engine *e = s->e;
    pb_way way = pb_graph_way(e->graph, s->call.node, s->call.by);
    bool from_others = false;
    for (uint32_t i = 0; i < way.in_count; i++)
        from_others = from_others || e->check.stray[way.in[i]];
    e->check.stray[made] = 1;
    if ((now || !from_others) && !s->reported) {
        e->options.differs(e->options.differs_state, s->call.node);
        s->reported = true;
    }
}

/* Results must be equal in both runs of the kernel, and to those of earlier computations. */
static pb_status compare(suspect *s, pb_node made, bool now)
{
    pb_engine *e = s->e;
    uint64_t sum = sum_of(e, made), *known = &e->check.sum[made];
    bool differs = *known && *known != sum && !(e->graph->flags[s->call.node] & PB_NODE_ONCE);
    if (differs && e->options.differs)
        report(s, made, now);
    else if (differs)
        return pbi_fail(
            e->ctx, PB_EINVAL,
            now ? "the result of the kernel of %.80s depends on memory that it must not read; fix the kernel"
                : "recomputing %.80s gave another result; make its kernel deterministic",
            pb_graph_name(e->graph, s->call.node));
    *known = sum;
    return PB_OK;
}

static pb_status compare_all(suspect *s, bool now)
{
    pb_status status = pbi_in_block(s->e, s->e->value[s->call.node]) ? compare(s, s->call.node, now) : PB_OK;
    for (uint32_t i = 0; i < s->parts && status == PB_OK; i++)
        status = compare(s, s->part[i], now);
    return status;
}

static void refill(const suspect *s, unsigned char what)
{
    const pb_engine *e = s->e;
    const pb_graph *g = e->graph;
    pb_node v = s->call.node;
    if (s->over != PB_NO_NODE)
        memcpy(e->value[s->over], e->check.saved, g->size[s->over]);
    if (!s->was_there && (s->over == PB_NO_NODE || e->value[v] != e->value[s->over]))
        memset(e->value[v], what, g->size[v]);
    for (uint32_t i = 0; i < s->parts; i++)
        memset(e->value[s->part[i]], what, g->size[s->part[i]]);
    if (s->workspace)
        memset(s->call.workspace, what, s->workspace);
    memset(e->check.decoy, what, e->check.largest);
}

/* An exclusive-or kernel removes its result when it runs again, and restores it when it runs a third time. */
static pb_status run_thrice(suspect *s)
{
    pb_engine *e = s->e;
    pb_node v = s->call.node;
    pb_status status = run(s, FIRST);
    if (status == PB_OK && pbi_in_block(e, e->value[v]) && !holds(e->value[v], e->graph->size[v], 0))
        status =
            pbi_fail(e->ctx, PB_EINVAL, "running the kernel of %.80s twice does not remove its result; fix the kernel",
                     pb_graph_name(e->graph, v));
    return status == PB_OK ? run(s, FIRST) : status;
}

static pb_status run_again(suspect *s)
{
    pb_engine *e = s->e;
    pb_node v = s->call.node;
    bool exclusive = e->kernels->kinds && (e->kernels->kinds[v] & PB_KERNEL_XOR);
    if ((e->graph->flags[v] & PB_NODE_ONCE) && !s->call.by)
        return PB_OK;
    s->call.times = s->call.times ? s->call.times : 1;
    if (exclusive && (s->was_there || s->parts || s->over != PB_NO_NODE))
        return PB_OK;
    pb_status status;
    if (exclusive) {
        status = run_thrice(s);
    } else {
        refill(s, SECOND);
        status = run(s, SECOND);
        memset(e->check.decoy, FIRST, e->check.largest);
    }
    return status == PB_OK ? compare_all(s, true) : status;
}

pb_status pbi_check_run(pb_engine *e, const pb_call *call, pb_node over, const pb_node *part, uint32_t parts,
                        bool was_there)
{
    const pb_graph *g = e->graph;
    pb_node v = call->node;
    suspect s = {.e = e, .call = *call, .over = over, .part = part, .parts = parts, .was_there = was_there};
    s.call.value = e->check.table;
    s.workspace = pb_graph_way(e->phase->game->graph, v, call->by).workspace;
    if (call->by) /* what it recovers may have other bits, and so has what is recomputed from it */
        memset(e->check.sum, 0, g->node_count * sizeof *e->check.sum);
    s.inputs = sum_of_inputs(&s);
    if (s.workspace)
        pbi_check_fresh(e, call->workspace, s.workspace, s.workspace);
    if (over != PB_NO_NODE)
        memcpy(e->check.saved, e->value[over], g->size[over]);
    show(&s, true);
    pb_status status = run(&s, FIRST);
    if (status == PB_OK)
        status = compare_all(&s, false);
    if (status == PB_OK)
        status = run_again(&s);
    show(&s, false);
    if (status == PB_OK && over != PB_NO_NODE && g->size[v] && e->value[v] == e->value[over])
        pbi_check_fresh(e, e->value[v], 0, g->size[v]); /* it is smaller than the value that it overwrote */
    return status;
}
