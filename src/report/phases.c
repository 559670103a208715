/* phases.c -- where the time of a plan goes. */
#include "report/phases.h"

#include "pebble/layout.h"
#include "report/walk.h"

#include <string.h>

const char *pb_phase_name(pb_phase phase)
{
    static const char *const names[] = {"forward", "recomputation", "uncomputing", "stores", "loads", "gradients"};
    return names[phase];
}

static pb_phase phase_of(const pbi_walk *w, const uint8_t *backward, bool *computed)
{
    pb_node v = w->move.node;
    if (w->move.op == PB_STORE)
        return PB_PHASE_STORES;
    if (w->move.op == PB_LOAD)
        return PB_PHASE_LOADS;
    if (w->move.op == PB_UNCOMPUTE)
        return PB_PHASE_UNCOMPUTE;
    if (computed[v])
        return PB_PHASE_RECOMPUTE;
    computed[v] = true;
    return backward[v] ? PB_PHASE_GRADIENTS : PB_PHASE_FORWARD;
}

/* One node does not make a pass: a value that is read twice looks like a gradient. */
static pb_status find_backward(pb_context *ctx, const pb_graph *g, uint8_t *backward, bool *found)
{
    uint32_t count = 0;
    pb_status status = pb_layout_backward(ctx, g, backward, found);
    for (pb_node v = 0; v < g->node_count && status == PB_OK; v++)
        count += backward[v];
    if (status == PB_OK && count < 2) {
        memset(backward, 0, g->node_count);
        *found = false;
    }
    return status;
}

pb_status pb_phases_make(pb_context *ctx, const pb_certificate *c, pb_phases *out)
{
    const pb_graph *g = pb_certificate_game(c)->graph;
    pb_phases phases = {.total = 0};
    pb_arena scratch;
    pbi_walk w;
    pb_arena_init(&scratch, ctx);
    uint8_t *backward = pb_arena_zero(&scratch, (size_t)g->node_count + 1, sizeof *backward);
    bool *computed = pb_arena_zero(&scratch, (size_t)g->node_count + 1, sizeof *computed);
    pb_status status = backward && computed ? pbi_walk_init(&w, c, &scratch) : PB_ENOMEM;
    if (status == PB_OK)
        status = find_backward(ctx, g, backward, &phases.backward);
    while (status == PB_OK && pbi_walk_next(&w)) {
        if (w.move.op == PB_FREE || w.move.op == PB_DROP)
            continue;
        pb_phase phase = phase_of(&w, backward, computed);
        phases.time[phase] += w.cost;
        phases.moves[phase]++;
        phases.total += w.cost;
    }
    pb_arena_release(&scratch);
    if (status == PB_OK)
        *out = phases;
    return status;
}

void pbi_phases_json(pbi_out *out, const pb_phases *p)
{
    pbi_out_text(out, ",\"phases\":{");
    for (int i = 0; i < PB_PHASE_COUNT; i++) {
        pbi_out_format(out, "%s\"%s\":{\"time\":", i ? "," : "", pb_phase_name((pb_phase)i));
        pbi_out_json_u64(out, p->time[i]);
        pbi_out_text(out, ",\"moves\":");
        pbi_out_json_u64(out, p->moves[i]);
        pbi_out_char(out, '}');
    }
    pbi_out_char(out, '}');
}
