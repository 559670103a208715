/* explain.h -- the story of one value, or of a whole plan, as records that the text and JSON writers share. */
#ifndef PBI_EXPLAIN_H
#define PBI_EXPLAIN_H

#include "base/out.h"
#include "report/rework.h"

/* A stretch in which a value waits for its next use while other moves are made. */
typedef struct pbi_gap {
    pb_step from, to; /* the use (or the making) before, the use after; to is the move count for the end */
    uint64_t time;    /* work and io that pass */
    pb_u128 held;     /* its size times that */
    bool to_end;      /* it waits for the end, where it must be resident */
    pbi_rework_cost saves;
} pbi_gap;

/* A stretch in which values that one move makes again were away. Keeping them leaves all else in the plan as it is. */
typedef struct pbi_absence {
    pb_node node;          /* whose computation or load ended it */
    size_t values;         /* that move makes so many values, which are taken together */
    pb_step removed, made; /* the move that removed the first of them, the one that made them again */
    pb_step full_step;     /* the fullest move in between, PBI_NO_STEP: there was none */
    uint64_t full;         /* memory then */
    uint64_t need;         /* the cap that keeping them all the while would take */
    uint64_t saves;        /* work and io that this would spare */
    bool stuck;            /* no larger cap would do: borrowed memory, or what the move overwrites, is in the way */
    bool needless;         /* they would have fitted all the while, and the plan would cost no more */
} pbi_absence;

typedef struct pbi_absences {
    pbi_absence *item; /* in the order in which they end */
    size_t count;
} pbi_absences;

/* Of one value, or of all for PB_NO_NODE. O(moves * log(moves)). */
pb_status pbi_absences_make(pb_context *ctx, const pb_certificate *c, pb_node only, pb_arena *scratch,
                            pbi_absences *out);

/* From being made to being removed. Given values begin at PBI_NO_STEP; what stays ends there. */
typedef struct pbi_life {
    pb_step made, removed;
    pb_step first_use, last_use; /* PBI_NO_STEP: never read */
    pb_step again;               /* the move that makes it again after that, or PBI_NO_STEP */
    uint64_t uses;
    size_t first_gap, gap_count;
    /* While it was away before this life: the fullest moment, and the largest values then. */
    pb_step full_step;
    uint64_t full;
    size_t first_other, other_count, others_left;
    uint64_t need, saves; /* the cap that keeping it then would have taken, and what that would have spared */
    size_t together;      /* values that would have to be kept for it, this one counted */
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
    uint64_t spent_again;                  /* work of every computation but the first */
    pb_u128 held;
} pbi_story;

pb_status pbi_story_make(pb_context *ctx, const pb_certificate *c, pb_node node, pb_arena *scratch, pbi_story *out);

/* A move at which memory was tightest for values that were away over it. */
typedef struct pbi_moment {
    pb_step step;
    uint64_t memory;
    uint64_t absences, work; /* how many, and what making them again takes */
} pbi_moment;

/* What the cap costs. */
typedef struct pbi_pressure {
    pbi_absence *absences; /* most work first */
    size_t absence_count;
    pbi_moment *moments; /* most work first */
    size_t moment_count;
    uint64_t spare;    /* needless absences; plans of the pipeline have none under the default weights */
    bool raised;       /* some absence would end with a larger cap: */
    pbi_absence raise; /* the one that the smallest does away with */
} pbi_pressure;

/* Lists have at most `longest` entries. */
pb_status pbi_pressure_make(pb_context *ctx, const pb_certificate *c, size_t longest, pb_arena *scratch,
                            pbi_pressure *out);

/* One value in a list of the whole plan. */
typedef struct pbi_share {
    pb_node node;
    uint64_t times; /* computed */
    uint64_t work;  /* spent on making it again */
    pb_u128 held;   /* memory times time in all its gaps */
    uint64_t gaps;  /* how many of them */
    uint64_t saves; /* work that keeping it over the gaps saves */
    bool complete;  /* false: saves is a lower bound */
    bool possible;  /* false: it could not be made again at all */
} pbi_share;

typedef struct pbi_overview {
    const pb_game *game;
    const pb_totals *totals;
    const pb_moves *list;
    pb_step moves;
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

/* How an explanation is told: as text or as JSON. */
typedef struct pbi_teller {
    uint32_t shares; /* longest list of an overview */
    void (*overview)(pbi_out *out, const pbi_overview *o);
    void (*story)(pbi_out *out, const pbi_story *s);
} pbi_teller;

/* The whole plan for PB_NO_NODE, else the story of one node. */
pb_status pbi_explain(pb_context *ctx, const pb_certificate *c, pb_node node, const pbi_teller *teller, pb_sink sink);

#endif
