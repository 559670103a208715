/* pipeline_csv.c -- a plan of a pipeline as torch's schedule: a line for each rank, with its actions in order.
 *
 * torch reads it with _PipelineScheduleRuntime._load_csv, format "compute_only", and adds sends and receives. A stage
 * is a part of the model, 3F1 its forward step of micro-batch 1, 3I1 and 3W1 its two backward steps, and 3B1 both,
 * where the second follows the first. Times cannot be expressed, nor can recomputation: the second forward step is left
 * out.
 */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "game/stages_model.h"

#include <stdio.h>

/* What a node is: PBI_NODE_*, part and micro-batch. */
typedef struct role {
    uint32_t part, m;
    unsigned which;
} role;

typedef struct writer {
    pbi_out out;
    const pb_moves *moves;
    const role *roles;
    bool *done; /* by node */
    uint64_t again;
} writer;

static role *find_roles(const pbi_stages *s, uint32_t nodes, pb_arena *arena)
{
    role *roles = pb_arena_zero(arena, (size_t)nodes + 1, sizeof *roles);
    for (uint32_t c = 0; roles && c < s->parts; c++)
        for (uint32_t m = 0; m < s->micro; m++)
            for (unsigned k = 0; k < PBI_STAGE_NODES; k++)
                roles[pbi_stages_node(s, c, m, k)] = (role){c, m, k};
    return roles;
}

/* The next computation on this device after move k. */
static pb_step next_on(const writer *w, uint32_t device, pb_step k)
{
    for (k++; k < w->moves->count; k++)
        if (w->moves->move[k].op == PB_COMPUTE && w->moves->when[k].place == device)
            break;
    return k;
}

static void write_rank(writer *w, uint32_t device, pb_step first)
{
    bool any = false;
    for (pb_step k = first; k < w->moves->count; k = next_on(w, device, k)) {
        role r = w->roles[w->moves->move[k].node];
        if (w->done[w->moves->move[k].node]) {
            w->again += r.which == PBI_NODE_F;
            continue;
        }
        w->done[w->moves->move[k].node] = true;
        pb_step after = next_on(w, device, k);
        const role *n = after < w->moves->count ? &w->roles[w->moves->move[after].node] : NULL;
        bool both = r.which == PBI_NODE_B && n && n->which == PBI_NODE_W && n->part == r.part && n->m == r.m;
        if (both)
            w->done[w->moves->move[after].node] = true;
        pbi_out_format(&w->out, "%s%u%c%u", any ? "," : "", (unsigned)r.part,
                       both                    ? 'B'
                       : r.which == PBI_NODE_F ? 'F'
                       : r.which == PBI_NODE_B ? 'I'
                                               : 'W',
                       (unsigned)r.m);
        any = true;
    }
    pbi_out_char(&w->out, '\n');
}

pb_status pb_pipeline_csv_write(pb_context *ctx, const pb_certificate *c, pb_sink sink)
{
    const pb_game *game = pb_certificate_game(c);
    pb_arena scratch;
    pbi_stages s;
    const char *why;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_stages_find(ctx, game, &scratch, &s, &why);
    if (status == PB_OK && why)
        status = pbi_fail(ctx, PB_EINVAL, "torch's pipeline schedules are for plans of `pebble gen stages`: %s", why);
    writer w = {.moves = pb_certificate_moves(c)};
    pbi_out_init(&w.out, ctx, sink);
    if (status == PB_OK) {
        w.roles = find_roles(&s, game->graph->node_count, &scratch);
        w.done = pb_arena_zero(&scratch, (size_t)game->graph->node_count + 1, sizeof *w.done);
        status = w.roles && w.done ? PB_OK : PB_ENOMEM;
    }
    for (uint32_t d = 0; d < s.devices && status == PB_OK; d++)
        write_rank(&w, d, next_on(&w, d, UINT64_MAX));
    if (status == PB_OK && w.again && ctx->log) {
        char text[160];
        snprintf(
            text, sizeof text,
            "torch's schedule has no action for recomputation: %llu forward steps that the plan computes again are "
            "left out",
            (unsigned long long)w.again);
        ctx->log(ctx->callback_state, text);
    }
    pb_arena_release(&scratch);
    return status == PB_OK ? pbi_out_finish(&w.out) : status;
}
