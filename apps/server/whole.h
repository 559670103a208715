/* whole.h -- parses whole numbers from untrusted text. */
#ifndef PEBBLE_SERVER_WHOLE_H
#define PEBBLE_SERVER_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a number of digits only, at most `max`. On failure *out is unchanged. */
bool whole_read(const char *text, uint64_t max, uint64_t *out);

/* Reads "g17" or "g17/layout": the letter, a number without leading zeros, and the part after the slash ("" for
 * none). */
bool whole_id(const char *text, char letter, uint64_t *number, const char **rest);

#endif
