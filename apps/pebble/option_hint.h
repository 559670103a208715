/* option_hint.h -- suggestions for unknown options. */
#ifndef PEBBLE_APP_OPTION_HINT_H
#define PEBBLE_APP_OPTION_HINT_H

#include "options.h"

/* A sentence about the unknown option `name` of a command (`bit`: its ON_ bit), with a suggestion if there is one:
 * a value written as an option, an option of another command or of a workload, or a name with a typing error.
 *   in  first   the first word that is not an option, such as the family of `pebble gen`; NULL if there is none */
void option_hint(const char *name, unsigned bit, const char *first, char *text, size_t room);

#endif
