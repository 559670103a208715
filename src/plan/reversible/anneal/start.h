/* start.h -- reversible plans to start a search from. They need not fit the cap. */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_START_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_START_H

#include "plan/reversible/anneal/anneal.h"

typedef struct pbi_rev_starts {
    const pbi_rev_model *m;
    uint32_t room;        /* max moves of a list */
    uint32_t *order;      /* every unit once: one cone after the other, each depth first */
    uint32_t *cone_start; /* in `order`, one for each cone and one more */
    uint32_t cones;
    pbi_rev_list once;  /* everything computed once, and uncomputed as soon as nothing needs it */
    pbi_rev_list cone;  /* cone by cone, each computed from the kept values and uncomputed; none when it is too long */
    pbi_rev_list given; /* of a known plan; none without one */
    pbi_rev_list tree;  /* of the last plan of a tree; none if the graph is not a tree */

    /* Scratch data: */
    pbi_rng rng;
    bool varied;            /* choices are random */
    uint32_t *stack, *next; /* units being visited, and how many of their inputs were */
    uint8_t *done;
    uint32_t *mark, stamp;
    uint32_t *left, left_count; /* roots that remain */
    uint64_t steps;
} pbi_rev_starts;

pb_status pbi_rev_starts_init(pbi_rev_starts *s, pb_context *ctx, const pbi_rev_model *m, const pb_moves *given,
                              uint32_t room, pb_arena *arena);
/* Makes new lists `once` and `cone`; varied: with another order of cones and inside them. */
void pbi_rev_starts_make(pbi_rev_starts *s, bool varied, uint64_t seed);
/* Makes a new list `tree`, another one for each `turn` and `seed`. */
pb_status pbi_rev_starts_tree(pbi_rev_starts *s, pb_context *ctx, uint32_t turn, uint64_t seed);
/* The peak of the moves of a list, in the model's units. */
int32_t pbi_rev_starts_peak(pbi_rev_starts *s, const pbi_rev_list *list);

#endif
