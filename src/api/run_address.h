/* run_address.h -- how many bytes the addresses of a plan take. */
#ifndef PBI_RUN_ADDRESS_H
#define PBI_RUN_ADDRESS_H

#include "pebble/pack.h"
#include "pebble/verify.h"

/* The least that is found, or the first within `cap`. */
pb_status pbi_address_need(pb_context *ctx, const pb_certificate *plan, uint64_t cap, uint64_t *need);

#endif
