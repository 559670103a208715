/* adjoint_sim.c -- see adjoint_sim.h. */
#include "support/adjoint_sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_init(adjoint_sim *sim, uint64_t steps, const uint32_t *room, unsigned levels, bool count_runs)
{
    memset(sim, 0, sizeof *sim);
    sim->steps = sim->undone = steps;
    sim->tape = SIM_NONE;
    for (unsigned k = 0; k < levels; k++) {
        sim->room[k] = room[k];
        sim->slot[k] = malloc((room[k] + (size_t)1) * sizeof *sim->slot[k]);
        memset(sim->slot[k], 0xff, (room[k] + (size_t)1) * sizeof *sim->slot[k]);
    }
    if (count_runs)
        sim->runs = calloc(steps + 1, sizeof *sim->runs);
}

void sim_release(adjoint_sim *sim)
{
    for (unsigned k = 0; k < SIM_LEVELS; k++)
        free(sim->slot[k]);
    free(sim->runs);
}

static bool refuse(adjoint_sim *sim, const pb_action *a, const char *why)
{
    char text[PB_ACTION_TEXT];
    pb_action_text(a, text);
    snprintf(sim->complaint, sizeof sim->complaint, "action %" PRIu64 ", %s: %s", sim->actions, text, why);
    return false;
}

static uint64_t *slot_of(adjoint_sim *sim, uint8_t storage, uint32_t slot)
{
    if (storage < PB_STORAGE_RAM || storage >= PB_STORAGE_COUNT || slot >= sim->room[storage - PB_STORAGE_RAM])
        return NULL;
    return &sim->slot[storage - PB_STORAGE_RAM][slot];
}

static bool do_forward(adjoint_sim *sim, const pb_action *a)
{
    bool restart = a->flags & PB_WRITE_RESTART, tape = a->flags & PB_WRITE_REVERSE;
    if (a->n0 >= a->n1 || a->n1 > sim->steps)
        return refuse(sim, a, "no such steps");
    if (sim->work != a->n0)
        return refuse(sim, a, "the working state is another one");
    if (restart) {
        uint64_t *slot = slot_of(sim, a->to, a->slot);
        if (!slot)
            return refuse(sim, a, "no such slot");
        if (*slot != SIM_NONE && !sim->may_overwrite)
            return refuse(sim, a, "the slot is taken");
        *slot = a->n0;
        sim->writes[a->to - PB_STORAGE_RAM]++;
    }
    if (tape && (a->n1 != a->n0 + 1 || a->to != PB_STORAGE_WORK || sim->tape != SIM_NONE))
        return refuse(sim, a, "the tape holds one step");
    if (!tape && !restart && a->to != PB_STORAGE_NONE)
        return refuse(sim, a, "a storage, and nothing to put there");
    if (tape)
        sim->tape = a->n0;
    for (uint64_t n = a->n0; n < a->n1 && sim->runs && !tape; n++)
        sim->runs[n]++;
    sim->forward_steps += a->n1 - a->n0;
    sim->work = a->n1;
    return true;
}

static bool do_load(adjoint_sim *sim, const pb_action *a)
{
    uint64_t *slot = slot_of(sim, a->from, a->slot);
    if (!slot || *slot != a->n0 || a->n1 != a->n0)
        return refuse(sim, a, "the slot does not hold this state");
    if (a->to != PB_STORAGE_WORK)
        return refuse(sim, a, "states are read into the working state");
    sim->reads[a->from - PB_STORAGE_RAM]++;
    sim->work = a->n0;
    if (a->kind == PB_ACTION_MOVE)
        *slot = SIM_NONE;
    return true;
}

static bool do_reverse(adjoint_sim *sim, const pb_action *a)
{
    if (!sim->forward_ended)
        return refuse(sim, a, "the forward run has not ended");
    if (a->n1 != sim->undone || a->n0 + 1 != a->n1)
        return refuse(sim, a, "another step is to be reversed next");
    if (sim->tape != a->n0)
        return refuse(sim, a, "the step is not on the tape");
    sim->undone = a->n0;
    sim->tape = sim->work = SIM_NONE;
    return true;
}

bool sim_do(adjoint_sim *sim, const pb_action *a)
{
    sim->actions++;
    if (sim->ended)
        return refuse(sim, a, "after the end");
    switch (a->kind) {
    case PB_ACTION_FORWARD: return do_forward(sim, a);
    case PB_ACTION_COPY:
    case PB_ACTION_MOVE: return do_load(sim, a);
    case PB_ACTION_REVERSE: return do_reverse(sim, a);
    case PB_ACTION_END_FORWARD:
        if (sim->forward_ended || sim->work != sim->steps)
            return refuse(sim, a, "the final state is not at hand, or it ended before");
        return sim->forward_ended = true;
    case PB_ACTION_END_REVERSE:
        if (sim->undone || !sim->forward_ended)
            return refuse(sim, a, "steps are left to be reversed");
        return sim->ended = true;
    default: return refuse(sim, a, "no such action");
    }
}

bool sim_done(adjoint_sim *sim)
{
    for (unsigned k = 0; k < SIM_LEVELS; k++)
        for (uint32_t i = 0; i < sim->room[k]; i++)
            if (sim->slot[k][i] != SIM_NONE)
                snprintf(sim->complaint, sizeof sim->complaint, "slot %" PRIu32 " of level %u was never given back", i,
                         k);
    if (!sim->ended && !sim->complaint[0])
        snprintf(sim->complaint, sizeof sim->complaint, "the stream ended without EndReverse");
    return !sim->complaint[0];
}

uint32_t sim_most_runs(const adjoint_sim *sim)
{
    uint32_t most = 0;
    for (uint64_t n = 0; n < sim->steps; n++)
        most = sim->runs[n] > most ? sim->runs[n] : most;
    return most;
}
