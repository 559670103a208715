/* actions.c -- a plan of an adjoint chain as actions of adjoint codes: Forward, Reverse, Copy, Move.
 *
 * State i is x_i, step i computes x_{i+1}, gradient i is the reverse of step i. There are two kinds of chain:
 *   inputs          gradient i reads x_i and runs its step again: a taped Forward and a Reverse
 *   inputs-outputs  gradient i reads x_i and x_{i+1}: a Reverse, and x_{i+1} is what step i wrote for it
 *
 * Adjoint codes have one working state; a plan has values in memory. A value that a move has just computed or
 * loaded is the working state, until the next one is. If it is read after that it must have been kept: the Forward
 * that leaves it then writes restart data. So the remaining reads of each value must be known before it is left: a
 * backward pass over the moves records them, and a forward pass writes the actions.
 */
#include "pebble/report.h"

#include "base/context.h"
#include "base/out.h"
#include "graph/graph_parts.h"
#include "report/walk.h"

#include <inttypes.h>

#define NOTHING UINT32_MAX

/* Why a value is read before it leaves memory. */
enum { FOR_STEP = 1, FOR_ITS_GRADIENT = 2, FOR_GRADIENT_BEFORE = 4, FOR_STORING = 8 };
/* Of a load: the copy in slow memory is loaded again later. */
enum { LOADED_AGAIN = 16 };
enum storage { NO_STORAGE, WORK, RAM, DISK };

typedef struct chain {
    const pb_graph *graph;
    const pb_moves *moves;
    uint32_t steps, states; /* states includes x_0; a gradient has a depth from `states` on */
    bool reads_output;
    uint8_t *later; /* of each move: later reads of the value from which it continues, or which it loads */
    uint8_t *made;  /* later reads of the value it makes */
} chain;

/* A Forward or Reverse that may be extended, or a store that may become part of a Forward. */
typedef struct writer {
    pbi_out out;
    const chain *c;
    uint32_t work;     /* the working state */
    uint8_t work_uses; /* its remaining reads */
    bool *kept;        /* states in RAM other than the working state */
    uint32_t from, to;
    bool restart, reverse, reversing, forward_ended;
    unsigned storage;
    uint32_t stored; /* the working state is written to `tier` by the next Forward, or NOTHING */
    unsigned tier;
} writer;

static bool is_state(const chain *c, pb_node v) { return c->graph->depth[v] < c->states; }
static uint32_t state_of(const chain *c, pb_node v) { return c->graph->depth[v]; }
static uint32_t step_of(const chain *c, pb_node v) { return c->steps - 1 - (c->graph->depth[v] - c->states); }

/* ---- The kind of chain ---- */

static pb_status check_gradient(pb_context *ctx, const chain *c, pb_node v)
{
    const pb_graph *g = c->graph;
    uint32_t step = step_of(c, v), count = 0;
    for (uint32_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
        pb_node u = g->in[k];
        if (!is_state(c, u))
            continue;
        if (state_of(c, u) != step && !(c->reads_output && state_of(c, u) == step + 1))
            return pbi_fail(
                ctx, PB_EINVAL,
                "gradient %s reads %s, which is neither the input nor the output of its step; export the plan as json",
                pb_graph_name(g, v), pb_graph_name(g, u));
        count++;
    }
    if (count != (c->reads_output ? 2u : 1u))
        return pbi_fail(ctx, PB_EINVAL,
                        "gradient %s does not read the same states as the other gradients; export the plan as json",
                        pb_graph_name(g, v));
    return PB_OK;
}

static pb_status understand(pb_context *ctx, const pb_certificate *certificate, pb_arena *scratch, chain *c)
{
    const pb_game *game = pb_certificate_game(certificate);
    pbi_adjoint parts;
    pb_status status;
    *c = (chain){.graph = game->graph, .moves = pb_certificate_moves(certificate)};
    if (game->kind == PB_GAME_REVERSIBLE)
        return pbi_fail(ctx, PB_EINVAL, "actions cannot express uncomputing; plan in the remat or tiered game");
    if (!pbi_graph_adjoint(c->graph, scratch, &parts, &status))
        return status != PB_OK ? status
                               : pbi_fail(ctx, PB_EINVAL,
                                          "actions are for adjoint chains (see `pebble gen adjoint-chain`), but the "
                                          "shape of this graph is %s; export the plan as json",
                                          pb_shape_name(c->graph->shape));
    /* The last gradient of a chain of inputs reads one value, as a step does, and is counted as one. */
    c->reads_output = parts.forward_count == parts.gradient_count + 1;
    c->states = c->reads_output ? parts.forward_count : parts.forward_count - 1;
    c->steps = c->reads_output ? parts.gradient_count : parts.gradient_count + 1;
    if (!c->reads_output && c->states != c->steps)
        return pbi_fail(ctx, PB_EINVAL,
                        "actions need one gradient for each step, but this chain has %" PRIu32 " steps and %" PRIu32
                        " gradients; export the plan as json",
                        parts.forward_count, parts.gradient_count);
    if (!(c->graph->flags[parts.forward[0]] & PB_NODE_GIVEN))
        return pbi_fail(ctx, PB_EINVAL, "actions start from a given state, but %s is computed; mark it as given",
                        pb_graph_name(c->graph, parts.forward[0]));
    for (uint32_t k = 0; k < parts.gradient_count; k++)
        if ((status = check_gradient(ctx, c, parts.gradient[k])) != PB_OK)
            return status;
    return PB_OK;
}

/* ---- Backward pass: remaining reads of each value ---- */

static void note_reads(const chain *c, pb_step k, pb_node v, uint8_t *uses)
{
    if (is_state(c, v)) {
        uint32_t from = state_of(c, v) - 1;
        c->made[k] = uses[from + 1];
        uses[from + 1] = 0;
        pb_node over = pb_moves_over(c->moves, k);
        if (over != PB_NO_NODE)
            uses[from] = 0; /* nothing reads it later */
        c->later[k] = uses[from];
        uses[from] |= FOR_STEP;
        return;
    }
    uint32_t step = step_of(c, v);
    c->later[k] = uses[step];
    uses[step] |= FOR_ITS_GRADIENT;
    if (c->reads_output)
        uses[step + 1] |= FOR_GRADIENT_BEFORE;
}

static pb_status look_ahead(pb_context *ctx, chain *c, pb_arena *scratch)
{
    uint8_t *uses = pb_arena_zero(scratch, c->states, sizeof *uses);
    uint8_t *loads = pb_arena_zero(scratch, c->states, sizeof *loads); /* one bit per tier */
    c->later = pb_arena_zero(scratch, c->moves->count, sizeof *c->later);
    c->made = pb_arena_zero(scratch, c->moves->count, sizeof *c->made);
    if (!uses || !loads || (c->moves->count && (!c->later || !c->made)))
        return PB_ENOMEM;
    for (pb_step k = c->moves->count; k-- > 0;) {
        const pb_move *move = &c->moves->move[k];
        uint8_t tier = (uint8_t)(move->tier ? 1u << (move->tier - 1) : 0);
        if (move->op == PB_COMPUTE) {
            note_reads(c, k, move->node, uses);
            continue;
        }
        if (!is_state(c, move->node)) {
            if (move->op != PB_FREE)
                return pbi_fail(ctx, PB_EINVAL,
                                "actions cannot express a gradient in slow memory, such as %s; plan in the remat game",
                                pb_graph_name(c->graph, move->node));
            continue;
        }
        uint32_t i = state_of(c, move->node);
        if (move->op == PB_LOAD) {
            c->made[k] = uses[i];
            c->later[k] = loads[i] & tier ? LOADED_AGAIN : 0;
            loads[i] |= tier;
            uses[i] = 0;
        } else if (move->op == PB_FREE) {
            uses[i] = 0;
        } else {
            loads[i] &= (uint8_t)~tier; /* before a store, and after a drop, there is nothing to load */
            c->later[k] = uses[i];
            uses[i] |= move->op == PB_STORE ? FOR_STORING : 0;
        }
    }
    return PB_OK;
}

/* ---- Forward pass: the actions ---- */

static const char *storage_name(unsigned storage)
{
    static const char *const names[] = {"NONE", "WORK", "RAM", "DISK"};
    return names[storage < DISK ? storage : DISK];
}

/* DISK, and DISK2 and so on for the slower tiers. */
static void write_storage(pbi_out *out, unsigned storage)
{
    pbi_out_text(out, storage_name(storage));
    if (storage > DISK)
        pbi_out_u64(out, storage - DISK + 1);
}

static void write_transfer(writer *w, const char *verb, uint32_t state, unsigned from, unsigned to)
{
    pbi_out_format(&w->out, "%s(%" PRIu32 ", ", verb, state);
    write_storage(&w->out, from);
    pbi_out_text(&w->out, ", ");
    write_storage(&w->out, to);
    pbi_out_text(&w->out, ")\n");
}

/* Writes the pending action. */
static void flush(writer *w)
{
    if (w->stored != NOTHING)
        write_transfer(w, "Copy", w->stored, WORK, w->tier + DISK - 1);
    w->stored = NOTHING;
    if (w->from == w->to)
        return;
    if (w->reversing) {
        pbi_out_format(&w->out, "Reverse(%" PRIu32 ", %" PRIu32 ")\n", w->to, w->from);
    } else {
        pbi_out_format(&w->out, "Forward(%" PRIu32 ", %" PRIu32 ", %s, %s, ", w->from, w->to,
                       w->restart ? "true" : "false", w->reverse ? "true" : "false");
        write_storage(&w->out, w->storage);
        pbi_out_text(&w->out, ")\n");
    }
    bool last = !w->reversing && w->to == w->c->steps && !w->forward_ended;
    w->from = w->to = 0;
    if (last) {
        w->forward_ended = true;
        pbi_out_text(&w->out, "EndForward()\n");
    }
}

/* Another state is about to replace the working state, which may still be read. */
static void save_work(writer *w)
{
    flush(w);
    if (w->work == NOTHING || w->kept[w->work] || !w->work_uses)
        return;
    write_transfer(w, "Copy", w->work, WORK, RAM);
    w->kept[w->work] = true;
}

/* Makes state i the working state; `later` are its remaining reads. */
static void bring(writer *w, uint32_t i, uint8_t later)
{
    if (w->work == i)
        return;
    save_work(w);
    write_transfer(w, later ? "Copy" : "Move", i, RAM, WORK);
    w->kept[i] = later != 0;
    w->work = i;
}

static void forward(writer *w, uint32_t i, bool restart, bool reverse, unsigned reverse_storage)
{
    unsigned storage = restart ? RAM : reverse ? reverse_storage : NO_STORAGE;
    if (restart)
        w->kept[i] = true;
    if (w->stored == i && !restart && !reverse) {
        restart = true;
        storage = w->tier + DISK - 1;
        w->stored = NOTHING;
    }
    bool grows = !w->reversing && w->from != w->to && w->to == i && !restart && w->reverse == reverse &&
                 (!reverse || w->storage == storage) && w->stored == NOTHING;
    if (!grows) {
        flush(w);
        w->reversing = false;
        w->from = i;
        w->restart = restart;
        w->reverse = reverse;
        w->storage = storage;
    }
    w->to = i + 1;
    w->work = i + 1;
}

static void reverse(writer *w, uint32_t step)
{
    if (w->reversing && w->from != w->to && w->from == step + 1 && w->stored == NOTHING) {
        w->from = step;
        return;
    }
    flush(w);
    w->reversing = true;
    w->from = step;
    w->to = step + 1;
}

/* Whether gradient `step` is the next computation after move k. */
static bool reversed_at_once(const chain *c, pb_step k, uint32_t step)
{
    for (pb_step next = k + 1; next < c->moves->count; next++)
        if (c->moves->move[next].op == PB_COMPUTE) {
            pb_node v = c->moves->move[next].node;
            return !is_state(c, v) && step_of(c, v) == step;
        }
    return false;
}

static void write_compute(writer *w, pb_step k, pb_node v)
{
    const chain *c = w->c;
    uint8_t later = c->later[k] & (FOR_STEP | FOR_STORING | (c->reads_output ? 0 : FOR_ITS_GRADIENT));
    if (is_state(c, v)) {
        uint32_t i = state_of(c, v) - 1;
        bool for_reverse = c->reads_output && c->made[k] & FOR_GRADIENT_BEFORE;
        bring(w, i, c->later[k]);
        forward(w, i, later && !w->kept[i], for_reverse, for_reverse && reversed_at_once(c, k, i) ? WORK : RAM);
        w->work_uses = c->made[k] & (FOR_STEP | FOR_STORING | (c->reads_output ? 0 : FOR_ITS_GRADIENT));
        return;
    }
    uint32_t step = step_of(c, v);
    if (!c->reads_output) {
        bring(w, step, c->later[k]);
        forward(w, step, later && !w->kept[step], true, WORK);
        flush(w);
        w->work = NOTHING; /* the reverse step consumes it */
    }
    reverse(w, step);
}

/* A loaded value becomes the working state if the next computation reads it, unless it is reverse data of a step. */
static bool goes_to_work(const chain *c, pb_step k, uint32_t i)
{
    if (c->made[k] & FOR_GRADIENT_BEFORE)
        return false;
    for (pb_step next = k + 1; next < c->moves->count; next++) {
        const pb_move *move = &c->moves->move[next];
        if (move->op == PB_LOAD)
            return false;
        if (move->op == PB_COMPUTE)
            return is_state(c, move->node) ? state_of(c, move->node) == i + 1
                                           : !c->reads_output && step_of(c, move->node) == i;
    }
    return false;
}

static void write_transfer_move(writer *w, pb_step k, const pb_move *move)
{
    uint32_t i = state_of(w->c, move->node);
    if (move->op == PB_STORE && w->work == i)
        w->work_uses = w->c->later[k];
    unsigned slow = (move->tier ? move->tier : 1u) + DISK - 1;
    if (move->op == PB_STORE) {
        bool leaves_work = w->work == i && !w->kept[i];
        if (leaves_work && w->stored == NOTHING) {
            flush(w);
            w->stored = i;
            w->tier = slow - DISK + 1;
        } else {
            bool work = w->work == i;
            flush(w);
            write_transfer(w, work || w->c->later[k] ? "Copy" : "Move", i, work ? WORK : RAM, slow);
            w->kept[i] = w->kept[i] && w->c->later[k];
        }
    } else if (move->op == PB_LOAD) {
        bool work = goes_to_work(w->c, k, i);
        if (work)
            save_work(w);
        flush(w);
        write_transfer(w, w->c->later[k] & LOADED_AGAIN ? "Copy" : "Move", i, slow, work ? WORK : RAM);
        w->kept[i] = !work;
        if (work) {
            w->work = i;
            w->work_uses = w->c->made[k];
        }
    }
}

static void write_actions(writer *w)
{
    const chain *c = w->c;
    for (pb_step k = 0; k < c->moves->count; k++) {
        const pb_move *move = &c->moves->move[k];
        if (move->op == PB_COMPUTE) {
            pb_node over = pb_moves_over(c->moves, k);
            write_compute(w, k, move->node);
            if (over != PB_NO_NODE && is_state(c, over))
                w->kept[state_of(c, over)] = false;
        } else if (move->op == PB_FREE && is_state(c, move->node)) {
            uint32_t i = state_of(c, move->node);
            if (w->stored == i)
                flush(w);
            if (w->work == i)
                w->work = NOTHING;
            w->kept[i] = false;
        } else if (move->op != PB_FREE) {
            write_transfer_move(w, k, move);
        }
    }
    flush(w);
    pbi_out_text(&w->out, "EndReverse()\n");
}

pb_status pb_actions_write(pb_context *ctx, const pb_certificate *certificate, pb_sink sink)
{
    pb_arena scratch;
    chain c;
    pb_arena_init(&scratch, ctx);
    pb_status status = understand(ctx, certificate, &scratch, &c);
    if (status == PB_OK)
        status = look_ahead(ctx, &c, &scratch);
    writer w = {.c = &c, .stored = NOTHING};
    if (status == PB_OK && !(w.kept = pb_arena_zero(&scratch, c.states, sizeof *w.kept)))
        status = PB_ENOMEM;
    if (status == PB_OK) {
        pbi_out_init(&w.out, ctx, sink);
        write_actions(&w);
        status = pbi_out_finish(&w.out);
    }
    pb_arena_release(&scratch);
    return status;
}
