/* schedule_reader.h -- shared by the parts of the schedule reader. */
#ifndef PBI_SCHEDULE_READER_H
#define PBI_SCHEDULE_READER_H

#include "base/name_index.h"
#include "base/out.h"
#include "io/json_read.h"
#include "pebble/schedule.h"

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
} pbi_schedule_reader;

/* The metrics in the order of the PB_STATED bits. */
enum { PBI_METRICS = 14 };
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

#endif
