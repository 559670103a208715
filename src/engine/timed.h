/* timed.h -- runs plans of the timed game: one thread computes, one for each lane of links copies.
 *
 * Moves begin in the order of the plan. Each waits until its lane is free, until what it reads is complete, and until
 * what it removes is not in use; so the order of the plan counts, not its clock. Whoever ends a move begins those that
 * can begin then. All that the threads share is guarded by one lock. */
#ifndef PBI_TIMED_H
#define PBI_TIMED_H

#include "engine/engine_parts.h"

/* Whether the engine can run the plan; PB_EINVAL with a sentence if not. */
pb_status pbi_timed_check(pb_context *ctx, const pb_certificate *plan, const pb_engine_options *options);
/* Places of copies in the files of the other memories: memory m is file m. */
pb_status pbi_timed_files(pb_context *ctx, pbi_phase *phase, pb_arena *arena);
/* Tables and files; after the block was allocated. */
pb_status pbi_timed_open(pb_engine *e, const pbi_slow_calls *calls);
pb_status pbi_timed_run(pb_engine *e);

#endif
