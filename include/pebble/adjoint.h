/* adjoint.h -- checkpointing for time-stepping adjoint codes, as a stream of actions.
 *
 *     pb_revolve stream;
 *     if (pb_revolve_init(&ctx, steps, snapshots, &arena, &stream) != PB_OK) ...
 *     pb_action a;
 *     while (pb_revolve_next(&stream, &a))
 *         switch (a.kind) {
 *         case PB_ACTION_FORWARD:      if (a.flags & PB_WRITE_RESTART) save(a.to, a.slot);
 *                                      run steps a.n0 .. a.n1-1, taping them if (a.flags & PB_WRITE_REVERSE); break;
 *         case PB_ACTION_REVERSE:      adjoint of steps a.n1-1 .. a.n0 from the tape; break;
 *         case PB_ACTION_COPY:
 *         case PB_ACTION_MOVE:         load(a.from, a.slot); break;
 *         case PB_ACTION_END_FORWARD:  the final state is known: start the adjoint; break;
 *         case PB_ACTION_END_REVERSE:  the gradient is complete; break;
 *         }
 *
 * Step i computes state i+1 from state i. The working state starts as state 0. docs/adjoint.md has the exact
 * conventions and how they map to other packages. Streams have no global state: any number may run concurrently.
 */
#ifndef PEBBLE_ADJOINT_H
#define PEBBLE_ADJOINT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_action_kind {
    PB_ACTION_FORWARD,     /* run steps n0 .. n1-1 from the working state, which is state n0, to state n1 */
    PB_ACTION_REVERSE,     /* run the adjoint steps n1-1 .. n0 from the tape, which they use up */
    PB_ACTION_COPY,        /* copy state n0 from storage `from` to storage `to`; `from` keeps it */
    PB_ACTION_MOVE,        /* the same, and the slot of `from` is free afterwards */
    PB_ACTION_END_FORWARD, /* the last step has been run for the first time */
    PB_ACTION_END_REVERSE, /* everything is done */
    PB_ACTION_KIND_COUNT
} pb_action_kind;

typedef enum pb_storage {
    PB_STORAGE_NONE,
    PB_STORAGE_WORK, /* the working state, and the tape of the step that is reversed next */
    PB_STORAGE_RAM,
    PB_STORAGE_DISK,
    PB_STORAGE_COUNT = 10 /* PB_STORAGE_DISK + 1 and above: slower levels */
} pb_storage;

/* For Forward: what is written to the storage `to`. */
enum {
    PB_WRITE_RESTART = 1, /* state n0, before the first step: what a later Forward starts from */
    PB_WRITE_REVERSE = 2, /* the tape: what the reverse of the steps needs; `to` is WORK, but for mixed schedules */
};

typedef struct pb_action {
    uint64_t n0, n1;  /* n0 < n1; Copy and Move have n1 == n0, the ends have the number of steps in both */
    uint32_t slot;    /* 0-based place in the storage that is written or read */
    uint8_t kind;     /* pb_action_kind */
    uint8_t flags;    /* PB_WRITE_* */
    uint8_t from, to; /* pb_storage; the storage of Forward is in `to` */
} pb_action;

const char *pb_action_kind_name(pb_action_kind kind); /* Forward, Reverse, Copy, Move, EndForward, EndReverse */
const char *pb_storage_name(pb_storage storage);      /* NONE, WORK, RAM, DISK, DISK2, DISK3... */

/* As in "Forward(0, 5, true, false, RAM)" (restart data, reverse-step data), "Reverse(5, 4)", "Move(0, RAM, WORK)";
 * with NUL. */
#define PB_ACTION_TEXT 80
size_t pb_action_text(const pb_action *action, char text[PB_ACTION_TEXT]);

/* Actions that were produced and not taken yet, so that taking one is a few inlined instructions. The caller's
 * action is not passed to any function: a loop that reads one field does not copy the others. */
#define PB_ACTION_BUFFER 64
typedef struct pb_action_queue {
    uint32_t at, count;
    pb_action action[PB_ACTION_BUFFER];
} pb_action_queue;

/* ---- Binomial checkpointing: the number of steps is known; all steps cost the same, and so do all snapshots ---- */

#define PB_REVOLVE_MAX_STEPS UINT64_C(1000000000000000)

/* Cost of a schedule, in closed form. */
typedef struct pb_revolve_cost {
    pb_u128 forward_steps; /* including taped steps: steps + t(steps, snapshots), the minimum */
    uint64_t writes;       /* snapshots written, including state 0: the minimum among schedules with the fewest steps */
    uint64_t reads;        /* Copy and Move actions */
    uint64_t actions;
    uint64_t repetitions; /* how often a step is run without being taped, at most */
} pb_revolve_cost;

/* Fewest forward steps for `steps` steps with `snapshots` snapshots, of which state 0 takes one. The working state and
 * the tape of one step are not counted.
 *   returns PB_EINVAL  no snapshot for more than one step
 *           PB_ERANGE  more than PB_REVOLVE_MAX_STEPS steps */
pb_status pb_revolve_count(pb_context *ctx, uint64_t steps, uint64_t snapshots, pb_revolve_cost *out);

/* A stream of actions. All fields are private to the library. */
typedef struct pb_revolve {
    uint64_t steps;   /* the forward run ends after step `steps` - 1 */
    uint32_t slots;   /* first slot .. first slot + slots - 1 are used */
    uint32_t at_slot; /* slot of the segment's first state */
    uint32_t first_slot;
    uint8_t phase, shape;
    bool stored, ends;
    uint64_t start, length, reps, place;
    struct pb_revolve_level *level;
    pb_action_queue queue;
} pb_revolve;

/* A schedule that reaches the figures of pb_revolve_count. Memory for at most `snapshots` records comes from
 * `arena`. Fails as pb_revolve_count does, with PB_ENOMEM, and with PB_ERANGE if 2^32 or more snapshots would be
 * used. */
pb_status pb_revolve_init(pb_context *ctx, uint64_t steps, uint64_t snapshots, pb_arena *arena, pb_revolve *out);
/* Up to `room` actions; fewer only at the end. Constant time per action. */
size_t pb_revolve_next_many(pb_revolve *stream, pb_action *actions, size_t room);
bool pb_revolve_fill(pb_revolve *stream); /* private to the library: produces the next actions; false at the end */
/* One action; false at the end. */
static inline bool pb_revolve_next(pb_revolve *stream, pb_action *action)
{
    pb_action_queue *q = &stream->queue;
    if (q->at == q->count && !pb_revolve_fill(stream))
        return false;
    *action = q->action[q->at++];
    return true;
}

/* ---- Several storage levels: slots are limited, and writing and reading have a cost ---- */

#define PB_MAX_LEVELS (PB_STORAGE_COUNT - PB_STORAGE_RAM)

typedef struct pb_level {
    uint64_t slots;
    uint64_t write_cost, read_cost; /* of one state */
} pb_level;

/* State 0 starts in the working state and is not stored. A step costs `forward_cost`. Reversing a step runs it once
 * more to tape it, and costs forward_cost + reverse_cost. Levels are RAM, DISK and so on; no level is cheaper to
 * write or to read than the one before it. */
typedef struct pb_multilevel_spec {
    uint64_t steps;
    uint64_t forward_cost, reverse_cost;
    uint32_t level_count;
    pb_level level[PB_MAX_LEVELS];
} pb_multilevel_spec;

/* A stream of minimum cost. All fields except `cost` are private to the library. */
typedef struct pb_multilevel {
    uint64_t cost; /* of all actions */

    uint64_t steps, start, length;
    uint64_t c; /* free slots of the current level */
    uint32_t k; /* the current level; 0: the levels that cost nothing */
    uint8_t phase;
    uint32_t depth;
    const struct pb_level_plans *levels;
    struct pb_waiting *waiting;
    uint64_t pool_slots[PB_MAX_LEVELS];
    pb_revolve pool;
    pb_action_queue queue;
} pb_multilevel;

/* Plans by dynamic programming: O(steps^2 * slots) time for the levels that cost something, O(steps) at most for those
 * that cost nothing. The cost is the minimum over all schedules.
 *   returns PB_EINVAL   no slot for more than one step, or a level that is cheaper than the one before it
 *           PB_ERANGE   too many steps, or costs that could pass 2^60
 *           PB_ENOMEM, PB_ECANCELLED, PB_ELIMIT */
pb_status pb_multilevel_init(pb_context *ctx, const pb_multilevel_spec *spec, pb_arena *arena, pb_multilevel *out);
/* Up to `room` actions; fewer only at the end. */
size_t pb_multilevel_next_many(pb_multilevel *stream, pb_action *actions, size_t room);
/* private to the library: produces the next actions; false at the end */
bool pb_multilevel_fill(pb_multilevel *stream);
/* One action; false at the end. */
static inline bool pb_multilevel_next(pb_multilevel *stream, pb_action *action)
{
    pb_action_queue *q = &stream->queue;
    if (q->at == q->count && !pb_multilevel_fill(stream))
        return false;
    *action = q->action[q->at++];
    return true;
}

/* ---- Online: the number of steps is not known before the last one ----
 *
 *     pb_online stream;
 *     if (pb_online_init(&ctx, snapshots, &arena, &stream) != PB_OK) ...
 *     while (there is another step && pb_online_step(&stream, &a))
 *         carry out a;                                 a Forward of one step, which may store its state in a slot
 *     pb_online_end(&stream);
 *     while (pb_online_next(&stream, &a))
 *         carry out a;                                 EndForward, then the backward pass up to EndReverse
 *
 * Writing to a slot in use overwrites its state. */
typedef struct pb_online {
    uint64_t steps; /* so far; private to the library, as all fields are */
    uint32_t slots, used;
    uint32_t newest;      /* the snapshot of the latest state */
    uint32_t dispensable; /* number of snapshots before `climber` that may be overwritten */
    uint32_t climber;
    uint64_t level; /* of the working state */
    uint8_t phase;
    uint64_t end; /* steps from this one on have been reversed */
    struct pb_snapshot *snapshot;
    uint32_t *slot; /* slots in the order of their states, then the free slots */
    pb_revolve gap;
    pb_action_queue queue;
} pb_online;

/* Needs at least one slot, which state 0 takes. */
pb_status pb_online_init(pb_context *ctx, uint32_t snapshots, pb_arena *arena, pb_online *out);
/* One more step; constant time on average. False after pb_online_end and after PB_REVOLVE_MAX_STEPS steps. */
bool pb_online_step(pb_online *stream, pb_action *action);
/* There are no more steps: the working state is the final state. */
void pb_online_end(pb_online *stream);
/* Up to `room` actions of the backward pass; fewer only at the end, none before pb_online_end. No step is run more
 * than r times without being taped, the first time included, with the smallest r such that steps + 1 <= C(snapshots
 * + r, r). This is optimal among schedules that do not tape the last step on its first run. */
size_t pb_online_next_many(pb_online *stream, pb_action *actions, size_t room);
bool pb_online_fill(pb_online *stream); /* private to the library: produces the next actions; false at the end */
/* One action of the backward pass; false at the end. */
static inline bool pb_online_next(pb_online *stream, pb_action *action)
{
    pb_action_queue *q = &stream->queue;
    if (q->at == q->count && !pb_online_fill(stream))
        return false;
    *action = q->action[q->at++];
    return true;
}

/* ---- Mixed: states and tapes of different sizes in several storage levels ----
 *
 * A tape that was stored needs no forward step when its step is reversed; a state allows to run any number of steps
 * again. Forward with PB_WRITE_REVERSE and a level as `to` runs one step and stores its tape there; Move reads it back
 * to WORK, after which the step is reversed, and the working state is gone. */
enum { PB_MAX_MIXED_LEVELS = 3 };

typedef struct pb_mixed_level {
    uint64_t size;                                           /* of all states and tapes in it; UINT64_MAX: no limit */
    uint64_t state_write, state_read, tape_write, tape_read; /* costs */
} pb_mixed_level;

typedef struct pb_mixed_spec {
    uint64_t steps; /* not used online */
    uint64_t state_size, tape_size;
    uint64_t forward_cost, reverse_cost; /* of a step; a step that writes its tape costs as much */
    uint32_t level_count;
    pb_mixed_level level[PB_MAX_MIXED_LEVELS];
} pb_mixed_spec;

typedef struct pb_mixed {
    uint64_t cost; /* of all actions; online: of those after the end */
    /* private to the library */
    uint64_t steps, start, length, row;
    uint8_t phase;
    bool ended; /* the forward pass was over before */
    uint32_t depth, used[PB_MAX_MIXED_LEVELS];
    const struct pb_mixed_plans *plans;
    struct pb_mixed_waiting *waiting;
    pb_action_queue queue;
} pb_mixed;

/* Plans by dynamic programming in O(steps^2 * rows) time, where a row is a combination of free room in the levels in
 * units of the sizes' greatest common divisor. The cost is the minimum over all schedules that transfer states and
 * tapes only between a level and the working memory.
 *   returns PB_EINVAL   no room for one state, more than PB_MAX_MIXED_LEVELS levels
 *           PB_ERANGE   too many steps or rows, or costs that could pass 2^60
 *           PB_ENOMEM, PB_ECANCELLED, PB_ELIMIT */
pb_status pb_mixed_init(pb_context *ctx, const pb_mixed_spec *spec, pb_arena *arena, pb_mixed *out);
/* Up to `room` actions; fewer only at the end. */
size_t pb_mixed_next_many(pb_mixed *stream, pb_action *actions, size_t room);

/* The number of steps is not known: states are stored as pb_online does, in as many slots as there is room for; after
 * the last step the backward pass is planned at minimum cost from what is stored then. */
typedef struct pb_mixed_online {
    pb_mixed_spec spec;
    pb_online forward;
    uint64_t steps;
    uint64_t *held; /* by slot: its state */
    uint32_t slots[PB_MAX_MIXED_LEVELS];
    bool ended;
    pb_mixed back;
} pb_mixed_online;

/* Levels must have limits. */
pb_status pb_mixed_online_init(pb_context *ctx, const pb_mixed_spec *spec, pb_arena *arena, pb_mixed_online *out);
/* One more step; writing to a slot in use overwrites its state. False after the end. */
bool pb_mixed_online_step(pb_mixed_online *stream, pb_action *action);
/* There are no more steps; plans the backward pass, whose actions are then in stream->back. States that it does not
 * need are moved to PB_STORAGE_NONE. */
pb_status pb_mixed_online_end(pb_context *ctx, pb_arena *arena, pb_mixed_online *stream);

#ifdef __cplusplus
}
#endif
#endif
