/* json_print.h -- pieces of JSON on a stream. Integers above 2^53-1 are written as strings. */
#ifndef PEBBLE_COMMON_JSON_PRINT_H
#define PEBBLE_COMMON_JSON_PRINT_H

#include "pebble/report.h"

#include <stdio.h>

void json_text(FILE *out, const char *text); /* null for NULL */
void json_u64(FILE *out, uint64_t value);
void json_u128(FILE *out, pb_u128 value);
void json_double(FILE *out, double value); /* shortest that reads back equal */
/* Caps: null for PB_UNLIMITED. */
void json_cap(FILE *out, uint64_t cap);
/* [a,b,c] */
void json_weights(FILE *out, const pb_weights *weights);
/* What a list of machines shows: names, the clock, memories and links as in a machine file, without processors. */
void json_machine(FILE *out, const pb_machine *m, const char *text);
/* The metrics of a schedule, as its file has them. */
void json_metrics(FILE *out, const pb_metrics *m, const pb_weights *weights);

#endif
