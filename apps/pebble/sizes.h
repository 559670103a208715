/* sizes.h -- sizes and times as people type them. */
#ifndef PEBBLE_APP_SIZES_H
#define PEBBLE_APP_SIZES_H

#include "pebble/game.h"

/* Reads `4096`, `8GiB`, `1.5GB`, `500MB`, `12.5%`, `none`.
 *   in   size_unit    of the graph; where it is itself a byte unit (KiB, MB...), byte sizes are converted, down
 *        whole        what 100 % is
 *   out  *out         PB_UNLIMITED for none
 * Shares are rounded up, exactly. False with a sentence in `why`. */
bool size_parse(const char *text, const char *size_unit, uint64_t whole, uint64_t *out, char *why, size_t room);
/* Whether the text is a share, so that `whole` is needed. */
bool size_is_share(const char *text);

/* Reads `5s`, `500ms`, `2m`, `1h`, `1.5` (seconds). */
bool time_parse(const char *text, double *seconds);

#endif
