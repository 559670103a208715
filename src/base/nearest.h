/* nearest.h -- sentences about names that do not exist. */
#ifndef PBI_NEAREST_H
#define PBI_NEAREST_H

#include "pebble/base.h"

/* PB_EUNKNOWN with "there is no WHAT `word`; did you mean NAME?", or with all names when none is close. */
pb_status pbi_unknown_name(pb_context *ctx, const char *what, const char *word, const char *const *names, size_t count);

#endif
