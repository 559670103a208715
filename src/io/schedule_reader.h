/* schedule_reader.h -- shared by the parts of the schedule reader. */
#ifndef PBI_SCHEDULE_READER_H
#define PBI_SCHEDULE_READER_H

#include "base/name_index.h"
#include "base/out.h"
#include "io/json_read.h"
#include "pebble/schedule.h"

/* The name of a processor, link or memory in the moves, and where it is first read. */
typedef struct pbi_word {
    const char *text;
    uint8_t op; /* pb_op of the move: what it names */
    pbi_place place;
} pbi_word;

/* What a file states about one memory. */
typedef struct pbi_peak {
    const char *memory;
    uint64_t amount;
} pbi_peak;

typedef struct pbi_schedule_reader {
    pb_context *ctx;
    pb_arena *scratch, *result;
    const pb_graph *graph; /* NULL: nodes by index only */
    pb_schedule *s;
    pbi_json json;
    bool with_moves;
    pbi_place tier_place[PB_MAX_TIERS];
    bool tier_priced[PB_MAX_TIERS]; /* prices are stated */
    uint32_t seen, stated;          /* fields that were read; those that were not null */
    const char *cost_text, *bound_text;
    pbi_place cost_place, bound_place;
    pb_option *options;
    size_t option_count, option_room;
    pb_buffer option_names;
    pbi_keys option_keys;
    pbi_name_index names; /* of the graph, built for the first name */
    pb_node *also;
    size_t also_count, also_room;
    /* Of the timed game: the moves name the parts of a machine that may be read later. */
    pbi_word *words;
    size_t word_count, word_room;
    pbi_place first_timed, first_untimed; /* moves; what both have in common is checked at the end */
    bool any_timed, any_untimed;
    pbi_peak *peaks;
    size_t peak_count, peak_room;
    pbi_place cap_place, peaks_place, objective_place;
} pbi_schedule_reader;

/* The metrics in the order of the PB_STATED bits. */
enum { PBI_METRICS = 16 };
extern const pbi_slice pbi_metric_names[PBI_METRICS];

pb_status pbi_schedule_read_addresses(pbi_schedule_reader *r, pbi_field field);
void pbi_schedule_write_addresses(pbi_out *out, const pb_addresses *a, bool offsets);
pb_status pbi_schedule_read_tiers(pbi_schedule_reader *r, pbi_field field);
/* The name of a machine that only has the decimal prices of the tiers, as links. */
#define PBI_PRICES_MACHINE "prices of the tiers"
/* The document is complete: prices the tiers that name links of the machine. */
pb_status pbi_schedule_link_tiers(pbi_schedule_reader *r);
/* A decimal, as a number or as a string: its text as a C string in scratch. */
pb_status pbi_schedule_decimal(pbi_schedule_reader *r, pbi_field field, const char **out);
pb_status pbi_schedule_read_moves(pbi_schedule_reader *r, pbi_field field);

/* A move of the timed game: what the object after the node says. */
typedef struct pbi_timed_move {
    uint64_t at;
    uint32_t word; /* index into reader.words */
    bool has_at, has_word;
} pbi_timed_move;
enum { PBI_TIMED_AT, PBI_TIMED_PLACE };
/* Reads the value of the key "at", or of the key that names where the move happens. */
pb_status pbi_schedule_read_when(pbi_schedule_reader *r, pbi_field field, int which, pb_op op, pbi_timed_move *out);
/* The move that was added last is of the timed game; `t` NULL: of another game. `place`: of the move. */
pb_status pbi_schedule_add_when(pbi_schedule_reader *r, pbi_field field, const pbi_timed_move *t, pbi_place place);
pb_status pbi_schedule_read_peaks(pbi_schedule_reader *r, pbi_field field);
void pbi_schedule_write_peaks(pbi_out *out, const pb_schedule *s);
/* `"at":120` and what follows `"on":"gpu",` in the object of move k. */
void pbi_schedule_write_when(pbi_out *out, const pb_schedule *s, pb_step k);
/* The document is complete: the moves of a timed schedule get the places that they name. */
pb_status pbi_schedule_settle_lanes(pbi_schedule_reader *r, pbi_place start);

#endif
