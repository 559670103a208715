/* run.h -- the simulation of a plan: when each step starts, and what waits for what. */
#ifndef PBI_PLAN_STAGES_RUN_H
#define PBI_PLAN_STAGES_RUN_H

#include "plan/stages/stages.h"

#define PBI_LATER UINT64_MAX /* a time that is not known yet */
#define PBI_NO_STEP UINT32_MAX

/* A move, before all of them are sorted by time. */
typedef struct pbi_stages_event {
    uint64_t at;
    uint32_t number; /* in the order of the simulation: the order of moves at the same time */
    uint32_t place;
    pb_node node;
    pb_op op;
    bool saves;
} pbi_stages_event;

/* By device. */
typedef struct pbi_stages_lane {
    uint32_t at, first_pending, pending_end; /* the next step; the queue of results that are still to leave */
    uint64_t free, use, pending, start, end; /* pending: their sizes; start: of the last step; end: of the device */
    uint64_t first;                          /* start of the first step */
    bool early;                              /* the input of the next step may come during the last one */
} pbi_stages_lane;

struct pbi_stages_run {
    uint64_t *end_f, *end_b;                        /* by cell: part * micro + micro-batch */
    uint64_t *here_f, *here_b;                      /* when they have reached the next part */
    uint32_t *at_f, *at_b;                          /* the step on its device */
    uint32_t *count_f, *count_b, *count_w, *next_r; /* by part */
    uint8_t *saved;                                 /* by cell: what B needs is in memory */
    uint64_t *start;                                /* by step: base[device] + position */
    uint32_t *before;                               /* by step: the step it waits for, PBI_NO_STEP: none */
    uint32_t *base;                                 /* by device */
    uint32_t *queue;                                /* cells, from base[device] on */
    pbi_stages_lane *lane;
    uint64_t *link_free;
    pbi_stages_event *event; /* NULL: moves are not recorded */
    uint32_t events;
};

/* Simulates the plan; false if it does not fit. */
bool pbi_stages_simulate(const pbi_stages_kit *k, const pbi_stages_plan *plan);

#endif
