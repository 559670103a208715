/* placer.h -- plays a script in a block: each value gets an address when it is computed, and is evicted where there is
 * no room.
 *
 *     pbi_placer_init(&r, &script, size, arena);
 *     if (pbi_placer_begin(&r) && pbi_placer_play(&r, &rules, script.count))
 *         ... r.work, r.entry[0 .. r.count-1] ...
 */
#ifndef PBI_PLAN_PLACED_PLACER_H
#define PBI_PLAN_PLACED_PLACER_H

#include "base/arena.h"
#include "plan/placed/script.h"
#include "plan/placed/slabs.h"

/* How a script is played. */
typedef struct pbi_rules {
    uint8_t fit;  /* a pbi_fit, or PBI_FIT_COUNT: one of them for each computation, by `mix` */
    uint8_t far;  /* how much a distant next use makes eviction cheaper: 0 .. PBI_FAR_COUNT-1 */
    bool lazy;    /* what is not read before it is computed again stays until its room is needed */
    bool tidy;    /* a smaller value takes over an input's memory only if there is no gap for it */
    bool hold;    /* all inputs in memory are held while the missing ones are recomputed */
    uint32_t mix; /* a random number */
} pbi_rules;

enum { PBI_FAR_COUNT = 5 };

/* A computation. */
typedef struct pbi_entry {
    pb_node node, over; /* over: PB_NO_NODE, or the input whose memory it takes */
    uint32_t event;     /* of the script, during which it is computed */
    uint32_t part;      /* of r->part: its by-products */
    uint32_t part_count;
    bool again; /* the value is in memory: only by-products are made */
    uint64_t at, workspace_at;
} pbi_entry;

typedef struct pbi_made_part {
    pb_node node;
    uint64_t at;
} pbi_made_part;

typedef struct pbi_frame {
    pb_node node;
    uint32_t next; /* the next input to look at */
} pbi_frame;

typedef struct pbi_placer {
    const pbi_script *script;
    const pb_graph *g;
    pbi_rules rules;
    pbi_slabs block;
    uint64_t *at; /* by node, of values in memory */
    uint8_t *resident, *computed, *requested;
    uint8_t *held;   /* by edge: the frame of its reader pins the input */
    uint32_t *pins;  /* by node */
    uint32_t *touch; /* by node: its first touch that is not over */
    uint32_t now;    /* the event that is being played */
    pbi_frame *stack;
    uint32_t depth;
    double *cost;    /* by slab */
    uint32_t *stamp; /* by node; for estimates */
    uint32_t stamp_now;
    float *guess;         /* by node: its last estimate, */
    uint32_t *guessed_at; /* and when that was, by `clock` */
    pb_node *todo;
    pbi_entry *entry;
    uint32_t count, room;
    pbi_made_part *part;
    uint32_t part_count, part_room;
    uint32_t clock, begun; /* computations so far, in all plans; at the start of this call of pbi_placer_play */
    uint64_t work, steps;  /* steps: effort, about computations and values looked at */
} pbi_placer;

/* For a block of this size. */
pb_status pbi_placer_init(pbi_placer *r, const pbi_script *s, uint64_t size, pb_arena *arena);
/* The start: fixed memory at address 0, then given values. False if they do not fit. */
bool pbi_placer_begin(pbi_placer *r);
/* Plays the script from where it is to this event. False: there was no room, and r must begin again or be restored. */
bool pbi_placer_play(pbi_placer *r, const pbi_rules *rules, uint32_t to);

/* A copy of what is in memory between two events, without the entries. */
typedef struct pbi_placer_state {
    pbi_slab *slab;
    uint64_t *at;
    uint8_t *resident, *computed;
    uint32_t *touch;
    uint32_t slab_count, now;
    uint64_t work;
} pbi_placer_state;

pb_status pbi_placer_state_init(pbi_placer_state *s, const pbi_placer *r, pb_arena *arena);
void pbi_placer_save(pbi_placer_state *s, const pbi_placer *r);
/* From now on r has no entries from before. */
void pbi_placer_restore(pbi_placer *r, const pbi_placer_state *s);

/* ---- for the files of the replay ---- */

/* The next read of a value before it is computed again; false if there is none. */
bool pbi_placer_next_read(pbi_placer *r, pb_node v, uint32_t *event, uint32_t *until);
/* An address in a gap; false if no gap is large enough. */
bool pbi_placer_find_gap(pbi_placer *r, uint64_t size, uint32_t until, uint64_t *at);
/* An address for `size`, after evictions if necessary. False if there is no room. */
bool pbi_placer_allocate(pbi_placer *r, uint64_t size, uint32_t until, uint64_t *at);

#endif
