/* emit.c -- see emit.h.
 *
 * Backwards through the entries: a value is needed from its last read back to its computation, and a computation of
 * which nothing is needed is left out. So lifetimes are parts of those in the block, and addresses remain valid.
 */
#include "plan/placed/emit.h"

#include "base/context.h"

#include <string.h>

pb_status pbi_emitter_init(pbi_emitter *m, const pbi_placer *r, pb_arena *arena)
{
    uint32_t n = r->g->node_count;
    *m = (pbi_emitter){.needed = pb_arena_alloc(arena, n, 1),
                       .entry_use = pb_arena_alloc(arena, r->room, 1),
                       .part_use = pb_arena_alloc(arena, r->part_room, 1),
                       .first = pb_arena_alloc(arena, n, sizeof *m->first)};
    return m->needed && m->entry_use && m->part_use && m->first ? PB_OK : PB_ENOMEM;
}

static void find_first(pbi_emitter *m, const pbi_placer *r)
{
    for (uint32_t i = r->count; i-- > 0;) {
        const pbi_entry *e = &r->entry[i];
        m->first[e->node] = i;
        for (uint32_t k = 0; k < e->part_count; k++)
            m->first[r->part[e->part + k].node] = i;
    }
}

/* Whether entry i must make this value: it is read, or a target that was not made before. */
static uint8_t use_of(const pbi_emitter *m, const pbi_placer *r, uint32_t i, pb_node v)
{
    bool first = r->g->flags[v] & PB_NODE_TARGET && m->first[v] == i;
    return m->needed[v] ? PBI_USED : first ? PBI_USED | PBI_UNREAD : 0;
}

static bool mark_parts(pbi_emitter *m, const pbi_placer *r, uint32_t i)
{
    const pbi_entry *e = &r->entry[i];
    bool any = false;
    for (uint32_t k = e->part; k < e->part + e->part_count; k++) {
        m->part_use[k] = use_of(m, r, i, r->part[k].node);
        m->needed[r->part[k].node] = 0;
        any = any || m->part_use[k];
    }
    return any;
}

static void mark_inputs(pbi_emitter *m, const pb_graph *g, pb_node v)
{
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        if (m->last_read)
            m->last_read[m->reads] = !m->needed[g->in[k]];
        m->reads++;
        m->needed[g->in[k]] = 1;
    }
}

static void mark(pbi_emitter *m, const pbi_placer *r)
{
    const pb_graph *g = r->g;
    m->work = 0;
    m->reads = 0;
    for (pb_node v = 0; v < g->node_count; v++)
        m->needed[v] = (g->flags[v] & PB_NODE_KEEP) != 0;
    find_first(m, r);
    for (uint32_t i = r->count; i-- > 0;) {
        const pbi_entry *e = &r->entry[i];
        uint8_t use = e->again ? 0 : use_of(m, r, i, e->node);
        bool parts = mark_parts(m, r, i);
        m->entry_use[i] = use || !parts ? use : e->again ? PBI_USED : PBI_USED | PBI_UNREAD;
        if (!m->entry_use[i])
            continue;
        m->work += g->cost[e->node];
        m->needed[e->node] = e->again; /* by-products are added to a value that must still be in memory */
        mark_inputs(m, g, e->node);
    }
}

/* ---- moves ---- */

typedef struct writer {
    const pbi_emitter *m;
    const pbi_placer *r;
    pbi_placed *out;
    size_t room, read;
    pb_node *also;
} writer;

static void place(writer *w, uint64_t at, uint64_t size)
{
    if (!size)
        return;
    w->out->offset[w->out->count++] = at;
    w->out->size = at + size > w->out->size ? at + size : w->out->size;
}

static pb_status write_start(writer *w)
{
    const pbi_script *s = w->r->script;
    pb_status status = PB_OK;
    place(w, 0, s->fixed);
    uint64_t at = s->fixed;
    for (pb_node v = 0; v < s->g->node_count; v++) {
        if (!(s->g->flags[v] & PB_NODE_GIVEN))
            continue;
        place(w, at, s->size[v]);
        at += s->size[v];
        if (!w->m->needed[v] && status == PB_OK)
            status = pb_moves_add(&w->out->moves, PB_FREE, v, 0);
    }
    return status;
}

/* Frees what entry i reads or makes for the last time. */
static pb_status write_frees(writer *w, uint32_t i)
{
    const pbi_placer *r = w->r;
    const pbi_entry *e = &r->entry[i];
    const pb_graph *g = r->g;
    pb_status status = PB_OK;
    size_t inputs = g->in_start[e->node + 1] - g->in_start[e->node];
    w->read -= inputs; /* they were marked from the end */
    for (uint32_t k = 0; k < inputs && status == PB_OK; k++) {
        pb_node u = g->in[g->in_start[e->node] + k];
        if (w->m->last_read[w->read + k] && u != e->over)
            status = pb_moves_add(&w->out->moves, PB_FREE, u, 0);
    }
    if (status == PB_OK && w->m->entry_use[i] & PBI_UNREAD)
        status = pb_moves_add(&w->out->moves, PB_FREE, e->node, 0);
    for (uint32_t k = e->part; k < e->part + e->part_count && status == PB_OK; k++)
        if (w->m->part_use[k] & PBI_UNREAD)
            status = pb_moves_add(&w->out->moves, PB_FREE, r->part[k].node, 0);
    return status;
}

static pb_status write_entry(writer *w, uint32_t i)
{
    const pbi_placer *r = w->r;
    const pbi_script *s = r->script;
    const pbi_entry *e = &r->entry[i];
    uint32_t also = 0;
    if (!e->again)
        place(w, e->at, s->size[e->node]);
    for (uint32_t k = e->part; k < e->part + e->part_count; k++)
        if (w->m->part_use[k]) {
            w->also[also++] = r->part[k].node;
            place(w, r->part[k].at, s->size[r->part[k].node]);
        }
    place(w, e->workspace_at, s->workspace[e->node]);
    pb_status status = pb_moves_add_compute(&w->out->moves, e->node, e->over, w->also, also);
    return status == PB_OK ? write_frees(w, i) : status;
}

pb_status pbi_emitter_write(pb_context *ctx, pbi_emitter *m, const pbi_placer *r, pb_arena *result, pbi_placed *out)
{
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    m->last_read = NULL;
    mark(m, r);
    m->last_read = pb_arena_alloc(&scratch, m->reads, 1);
    size_t room = 1 + (size_t)r->g->node_count + 2 * (size_t)r->count + r->part_count;
    *out = (pbi_placed){.any = true, .offset = pb_arena_alloc(result, room, sizeof *out->offset), .work = m->work};
    pb_moves_init(&out->moves, result);
    writer w = {.m = m, .r = r, .out = out, .also = pb_arena_alloc(&scratch, r->part_count, sizeof *w.also)};
    pb_status status = m->last_read && out->offset && w.also ? PB_OK : PB_ENOMEM;
    if (status == PB_OK) {
        mark(m, r);
        w.read = m->reads;
        status = write_start(&w);
    }
    for (uint32_t i = 0; i < r->count && status == PB_OK; i++)
        if (m->entry_use[i])
            status = write_entry(&w, i);
    m->last_read = NULL;
    pb_arena_release(&scratch);
    return status;
}
