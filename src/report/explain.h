/* explain.h -- explanations of one value, or of a whole plan, as records that the text and JSON writers share. */
#ifndef PBI_EXPLAIN_H
#define PBI_EXPLAIN_H

#include "base/out.h"
#include "pebble/report.h"
#include "report/rework.h"

/* An interval in which a value waits for its next use while other moves are made. */
typedef struct pbi_gap {
    pb_step from, to; /* the use (or the computation) before, the use after; to is the move count for the end */
    uint64_t time;    /* work and io in the interval */
    pb_u128 held;     /* its size times `time` */
    bool to_end;      /* it waits for the end, at which it must be resident */
    pbi_rework_cost saves;
} pbi_gap;

/* An interval between the removal of values and the move that recomputes them. Keeping them changes nothing else in
 * the plan. */
typedef struct pbi_absence {
    pb_node node;          /* whose computation or load ended it */
    size_t values;         /* number of values that the move makes; they are treated together */
    pb_step removed, made; /* the move that removed the first of them, the one that made them again */
    pb_step full_step;     /* the move with the most memory in between, PBI_NO_STEP: there is none */
    uint64_t full;         /* memory at that move */
    uint64_t need;         /* the cap that keeping them would need */
    uint64_t saves;        /* work and io that this would save */
    bool stuck;            /* no larger cap would help: borrowed memory, or what the move overwrites, prevents it */
    bool needless;         /* they would have fit, and the plan would cost no more */
} pbi_absence;

typedef struct pbi_absences {
    pbi_absence *item; /* in the order in which they end */
    size_t count;
} pbi_absences;

/* Of one value, or of all for PB_NO_NODE. O(moves * log(moves)). */
pb_status pbi_absences_make(pb_context *ctx, const pb_certificate *c, pb_node only, pb_arena *scratch,
                            pbi_absences *out);

/* From its computation or load to its removal. Given values start at PBI_NO_STEP; values resident at the end end
 * there. */
typedef struct pbi_life {
    pb_step made, removed;
    pb_step first_use, last_use; /* PBI_NO_STEP: never read */
    pb_step again;               /* the next move that makes it, or PBI_NO_STEP */
    uint64_t uses;
    size_t first_gap, gap_count;
    /* While it was absent before this life: the move with the most memory, and the largest values then. */
    pb_step full_step;
    uint64_t full;
    size_t first_other, other_count, others_left;
    uint64_t need, saves; /* the cap that keeping it would have needed, and what that would have saved */
    size_t together;      /* values that would have to be kept for it, including this one */
} pbi_life;

typedef struct pbi_story {
    const pb_game *game;
    const pb_moves *moves;
    pb_node node;
    pbi_life *lives;
    size_t life_count;
    pbi_gap *gaps;
    size_t gap_count;
    pb_node *others;
    size_t other_count;
    uint64_t computed, loaded, uncomputed; /* how often */
    uint64_t spent_again;                  /* work of every computation except the first */
    pb_u128 held;
} pbi_story;

pb_status pbi_story_make(pb_context *ctx, const pb_certificate *c, pb_node node, pb_arena *scratch, pbi_story *out);

/* A move at which memory was tightest for absent values. */
typedef struct pbi_moment {
    pb_step step;
    uint64_t memory;
    uint64_t absences, work; /* absences for which it was the tightest move, and the work that they cost */
} pbi_moment;

/* What the cap costs. */
typedef struct pbi_pressure {
    pbi_absence *absences; /* most work first */
    size_t absence_count;
    pbi_moment *moments; /* most work first */
    size_t moment_count;
    uint64_t spare;    /* needless absences; plans of the pipeline have none under the default weights */
    bool raised;       /* some absence would end with a larger cap: */
    pbi_absence raise; /* the one that the smallest such cap removes */
} pbi_pressure;

/* Lists have at most `longest` entries. */
pb_status pbi_pressure_make(pb_context *ctx, const pb_certificate *c, size_t longest, pb_arena *scratch,
                            pbi_pressure *out);

/* One value in a list of the whole plan. */
typedef struct pbi_share {
    pb_node node;
    uint64_t times; /* how often it was computed */
    uint64_t work;  /* spent on recomputing it */
    pb_u128 held;   /* memory times time in all its gaps */
    uint64_t gaps;  /* how many of them */
    uint64_t saves; /* work that keeping it over the gaps saves */
    bool complete;  /* false: saves is a lower bound */
    bool possible;  /* false: it could not be recomputed at all */
} pbi_share;

typedef struct pbi_overview {
    const pb_game *game;
    const pb_totals *totals;
    const pb_moves *list;
    pb_step moves;
    pb_phases phases;
    uint64_t once_work, again_work, again_count; /* of computations */
    uint64_t values, kept_values,
        again_values; /* computed at all, holding memory over a gap, computed more than once */
    pb_u128 held;     /* of all gaps */
    pbi_share *again; /* most work first */
    size_t again_length;
    pbi_share *kept; /* most memory times time first */
    size_t kept_length;
    pbi_pressure pressure;
} pbi_overview;

/* Lists have at most `longest` entries. */
pb_status pbi_overview_make(pb_context *ctx, const pb_certificate *c, size_t longest, pb_arena *scratch,
                            pbi_overview *out);

/* How an explanation is written: as text or as JSON. */
typedef struct pbi_explain_writer {
    uint32_t shares; /* max length of a list in an overview */
    void (*overview)(pbi_out *out, const pbi_overview *o);
    void (*story)(pbi_out *out, const pbi_story *s);
} pbi_explain_writer;

/* The whole plan for PB_NO_NODE, else one node. */
pb_status pbi_explain(pb_context *ctx, const pb_certificate *c, pb_node node, const pbi_explain_writer *writer,
                      pb_sink sink);

#endif
