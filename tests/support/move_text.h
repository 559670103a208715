/* move_text.h -- schedules as short texts, for tests that people read.
 *
 * Moves are separated by blanks: c3 compute, u3 uncompute, f3 free, s3:1 store to tier 1, l3:1 load, d3:1 drop; c3/1
 * computes over input 1, c3+4+5 makes by-products 4 and 5 too, b3 computes in borrowed memory.
 */
#ifndef MOVE_TEXT_H
#define MOVE_TEXT_H

#include "pebble/schedule.h"

/* Appends the moves of `text`; anything malformed ends the test program. */
void moves_from_text(const char *text, pb_moves *out);
/* The moves of a schedule in the same form, shortened with "..." where `room` is not enough. */
void moves_to_text(const pb_moves *moves, char *text, size_t room);

#endif
