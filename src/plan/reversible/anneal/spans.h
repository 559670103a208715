/* spans.h -- a reversible pebbling as intervals of time.
 *
 * A unit (a node with its by-products) is in memory on intervals. Each end of an interval is one move and has a slot
 * of its own in a row of slots, most of them empty, so that moves fit in between. An interval from `from` to `to`
 * counts in both slots; the last one of a unit that is kept to the end is open. A pebbling is legal if every input
 * of a unit is in memory at both ends of each of its intervals: the callers ensure that. Memory over time is a
 * profile (anneal/memory_slots).
 *
 * Changes are logged and can be undone, the last one first.
 */
#ifndef PBI_PLAN_REVERSIBLE_ANNEAL_SPANS_H
#define PBI_PLAN_REVERSIBLE_ANNEAL_SPANS_H

#include "plan/anneal/memory_slots.h"
#include "plan/strategy.h"

#define PBI_REV_NONE UINT32_MAX

/* The game as the search sees it: needed units in program order, without given values. */
typedef struct pbi_rev_model {
    const pb_game *game;
    uint32_t count;
    pb_node *node;
    uint32_t *in_start, *in, *out_start, *out;
    int32_t *size, *space; /* in units of memory, rounded up; space: the workspace */
    double *cost;
    uint8_t *stays, *once;
    uint64_t unit;  /* of memory */
    uint64_t base;  /* memory that is always in use */
    double average; /* cost of a move */
    /* The game's weights of peak, flux and work, in terms of work: a move counts about its work. Without weights of
     * peak and flux they are 0, 0, 1. */
    double alpha, beta, gamma;
    double scale; /* what 1 is in the game's cost */
    uint32_t final_count;
} pbi_rev_model;

/* PB_OK with *misfit set when the search cannot play the game. */
pb_status pbi_rev_model_init(pbi_rev_model *m, pb_context *ctx, const pb_game *game, pb_arena *arena,
                             const char **misfit);
/* A cap in the model's units, rounded down. */
int32_t pbi_rev_model_cap(const pbi_rev_model *m, uint64_t cap);
/* The proved bound on the objective: weighted peak, flux and work together, in terms of work. */
double pbi_rev_model_bound(const pbi_rev_model *m, const pb_bounds *bounds);

typedef struct pbi_rev_interval {
    uint32_t unit, from, to; /* to: PBI_REV_NONE when open */
    uint32_t prev, next;     /* of the unit */
} pbi_rev_interval;

typedef enum pbi_rev_change {
    PBI_REV_FROM,
    PBI_REV_TO,
    PBI_REV_ADDED,
    PBI_REV_REMOVED,
    PBI_REV_SPLIT,
    PBI_REV_MERGED
} pbi_rev_change;

typedef struct pbi_rev_log {
    pbi_rev_change change;
    uint32_t interval, a, b; /* a, b: the slots that undoing it needs */
    uint32_t unit;           /* of a removed interval */
} pbi_rev_log;

enum { PBI_REV_LOG = 512 };

typedef struct pbi_rev_spans {
    const pbi_rev_model *m;
    pbi_memory_slots profile;
    uint32_t *event; /* per slot: interval * 2 + (0 its start, 1 its end), or PBI_REV_NONE */
    uint32_t filled, room;
    pbi_rev_interval *at;
    uint32_t *first, *last; /* per unit */
    uint32_t *spare, spare_count;
    double work;
    pbi_rev_log log[PBI_REV_LOG];
    uint32_t log_count;
} pbi_rev_spans;

bool pbi_rev_spans_init(pbi_rev_spans *l, const pbi_rev_model *m, uint32_t room, pb_arena *arena);
/* Lays out a list of units: each mention computes the unit if it is not resident, and uncomputes it if it is. */
void pbi_rev_spans_load(pbi_rev_spans *l, const uint32_t *list, uint32_t count);
/* Writes `filled` units. */
void pbi_rev_spans_read(const pbi_rev_spans *l, uint32_t *list);

/* The interval of a unit that contains the slot, ends excluded. */
static inline uint32_t pbi_rev_cover(const pbi_rev_spans *l, uint32_t unit, uint32_t slot)
{
    uint32_t i = l->first[unit];
    while (i != PBI_REV_NONE && l->at[i].to <= slot)
        i = l->at[i].next;
    return i != PBI_REV_NONE && l->at[i].from < slot ? i : PBI_REV_NONE;
}

/* Work and flux as they count in the game; the peak is limited by the cap. */
static inline double pbi_rev_value(const pbi_rev_spans *l)
{
    return l->m->beta > 0 ? l->m->gamma * l->work + l->m->beta * l->profile.flux : l->work;
}

/* The first slot after `from`, the last before `to`, both between the two, at which the unit is read; PBI_REV_NONE. */
uint32_t pbi_rev_first_use(const pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to);
uint32_t pbi_rev_last_use(const pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to);
/* The empty slot nearest to one end of a range, both included; PBI_REV_NONE when there is none near. */
uint32_t pbi_rev_empty_up(const pbi_rev_spans *l, uint32_t from, uint32_t to);
uint32_t pbi_rev_empty_down(const pbi_rev_spans *l, uint32_t from, uint32_t to);

/* Where an interval's memory ends: its last slot. */
static inline uint32_t pbi_rev_end(const pbi_rev_spans *l, uint32_t i)
{
    return l->at[i].to == PBI_REV_NONE ? l->profile.slots : l->at[i].to;
}

/* Is there room in the log, and for more intervals? Must be checked before each change. */
bool pbi_rev_can_change(const pbi_rev_spans *l);
void pbi_rev_move_from(pbi_rev_spans *l, uint32_t i, uint32_t slot);
void pbi_rev_move_to(pbi_rev_spans *l, uint32_t i, uint32_t slot);
uint32_t pbi_rev_add(pbi_rev_spans *l, uint32_t unit, uint32_t from, uint32_t to);
void pbi_rev_remove(pbi_rev_spans *l, uint32_t i);
/* i ends at a, and a new interval from b on takes what followed. */
uint32_t pbi_rev_split(pbi_rev_spans *l, uint32_t i, uint32_t a, uint32_t b);
/* Joins i with its next. */
void pbi_rev_merge(pbi_rev_spans *l, uint32_t i);

/* Undoes changes until this many are left in the log. */
void pbi_rev_undo(pbi_rev_spans *l, uint32_t left);

/* Checks every invariant of the structure and of the rules, from scratch. For tests. */
bool pbi_rev_spans_check(const pbi_rev_spans *l);

#endif
