/* address.h -- the addresses of a plan. */
#ifndef PBI_API_RUN_ADDRESS_H
#define PBI_API_RUN_ADDRESS_H

#include "pebble/pack.h"
#include "pebble/verify.h"

/* The smallest packing that is found, or the first within `cap`; also after a stop. */
pb_status pbi_address_plan(pb_context *ctx, const pb_certificate *plan, uint64_t cap, pb_arena *result,
                           pb_packing *out);

#endif
