/* whole.h -- whole numbers in texts that come from outside. */
#ifndef PEBBLE_SERVER_WHOLE_H
#define PEBBLE_SERVER_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/* Digits and nothing else, `most` at most. *out stays as it is where that is not so. */
bool whole_read(const char *text, uint64_t most, uint64_t *out);

/* "g17" or "g17/layout": the letter, a number as the server writes it (no zeros in front), and what follows the slash
 * ("" for nothing). */
bool whole_id(const char *text, char letter, uint64_t *number, const char **rest);

#endif
