/* adjoint_sim.h -- carries out adjoint actions on numbers instead of states, and refuses what a solver could not do. */
#ifndef SUPPORT_ADJOINT_SIM_H
#define SUPPORT_ADJOINT_SIM_H

#include "pebble/adjoint.h"

#define SIM_NONE UINT64_MAX
enum { SIM_LEVELS = PB_STORAGE_COUNT - PB_STORAGE_RAM };

typedef struct adjoint_sim {
    uint64_t steps;
    uint64_t work;   /* the state at hand, or SIM_NONE */
    uint64_t tape;   /* the step on the tape, or SIM_NONE */
    uint64_t undone; /* the steps below this one are still to be reversed */
    bool forward_ended, ended;
    bool may_overwrite; /* a slot may be written while it holds a state (online streams) */

    uint32_t room[SIM_LEVELS]; /* slots by level: RAM, DISK... */
    uint64_t *slot[SIM_LEVELS];
    uint32_t *runs; /* how often each step was run without being taped; NULL: not counted */

    uint64_t actions, forward_steps;
    uint64_t writes[SIM_LEVELS], reads[SIM_LEVELS];
    char complaint[160]; /* the first rule that was broken, or "" */
} adjoint_sim;

/* `room` has `levels` entries; `count_runs` takes 4 bytes a step. Memory is calloc'ed: call sim_release. */
void sim_init(adjoint_sim *sim, uint64_t steps, const uint32_t *room, unsigned levels, bool count_runs);
void sim_release(adjoint_sim *sim);
/* False, with a complaint, when the action cannot be carried out. */
bool sim_do(adjoint_sim *sim, const pb_action *action);
/* Is everything reversed and every slot given back? */
bool sim_done(adjoint_sim *sim);
uint32_t sim_most_runs(const adjoint_sim *sim);

#endif
