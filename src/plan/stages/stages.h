/* stages.h -- plans of pipelines: the order of steps on each device, and what is recomputed.
 *
 *     pbi_stages_room(&s, &arena, &k);                   working memory for all that follows
 *     pbi_stages_build(k, &rule, &plan);                 a plan by the rules of a policy
 *     pbi_stages_value(k, &plan, limit, &value);         its makespan or span, if it is at most `limit`
 *     pbi_stages_emit(ctx, k, &plan, out);               its moves
 *
 * A step is a part of the model and what is done: F, B, W, or R, which computes F again before B. On each device and
 * for each part the k-th F, B and W are those of micro-batch k: with equal micro-batches nothing is lost by this
 * (docs/bounds.md). F of a dropped micro-batch saves nothing, and R must come before its B.
 */
#ifndef PBI_PLAN_STAGES_H
#define PBI_PLAN_STAGES_H

#include "base/rng.h"
#include "game/stages_model.h"
#include "plan/strategy.h"

typedef uint32_t pbi_step_code; /* part * 4 + pbi_stage_kind */
#define PBI_STEP(part, kind) ((pbi_step_code)((part)*4 + (uint32_t)(kind)))
static inline uint32_t pbi_step_part(pbi_step_code code) { return code >> 2; }
static inline unsigned pbi_step_kind(pbi_step_code code) { return code & 3; }

typedef struct pbi_stages_plan {
    pbi_step_code **step; /* by device */
    uint32_t *count;
    uint8_t *dropped;  /* [part * micro + micro-batch] */
    uint64_t *release; /* by device: no step starts before; from the last value that was computed */
    uint64_t value;
} pbi_stages_plan;

/* The policy that builds plans: the same rules on each device, with these limits. */
typedef struct pbi_stages_rule {
    uint32_t *limit; /* by part: micro-batches whose F has run and whose B has not */
    uint32_t *ahead; /* by part: below this many of them F comes before B */
    uint32_t *keep;  /* by part: saved values of this many micro-batches are kept, others dropped */
    uint32_t *wait;  /* by part: W is delayed until this many are pending, or it fills a gap */
    uint32_t *fill;  /* by device: W fills a gap of at least this many percent of its time */
} pbi_stages_rule;

typedef struct pbi_stages_run pbi_stages_run;
typedef struct pbi_stages_kit {
    const pbi_stages *s;
    pb_arena *arena;
    bool span;     /* the objective */
    uint32_t most; /* steps of all devices at most */
    uint32_t *device_most;
    pbi_stages_run *run; /* of the last simulation */
} pbi_stages_kit;

pb_status pbi_stages_kit_new(const pbi_stages *s, pb_arena *arena, pbi_stages_kit *out);
pb_status pbi_stages_plan_new(const pbi_stages_kit *k, pb_arena *arena, pbi_stages_plan *out);
void pbi_stages_copy(const pbi_stages_kit *k, pbi_stages_plan *to, const pbi_stages_plan *from);

/* False if the rules lead nowhere: memory is full and nothing can be freed. */
bool pbi_stages_build(const pbi_stages_kit *k, const pbi_stages_rule *rule, pbi_stages_plan *out);

/* Sets plan->value and plan->release. False if the plan does not fit, or its value is above `limit`. */
bool pbi_stages_value(const pbi_stages_kit *k, pbi_stages_plan *plan, uint64_t limit);

/* The smallest span of these orders, at least `least`, to which devices can be delayed; returns the effort. */
uint64_t pbi_stages_tighten(const pbi_stages_kit *k, pbi_stages_plan *plan, uint64_t least, pbi_stages_plan *spare);

/* After a call of pbi_stages_value that returned true: a step on the critical path, going back from the end that gives
 * the value. Starts at the last one; returns false at the first. */
typedef struct pbi_critical {
    uint32_t device, at;
    bool waits; /* for the step before it on its device; else for another device, or for memory */
} pbi_critical;
void pbi_stages_critical_last(const pbi_stages_kit *k, const pbi_stages_plan *plan, pbi_critical *out);
bool pbi_stages_critical_before(const pbi_stages_kit *k, pbi_critical *at);

pb_status pbi_stages_emit(pb_context *ctx, const pbi_stages_kit *k, pbi_stages_plan *plan, pb_moves *out);

#endif
