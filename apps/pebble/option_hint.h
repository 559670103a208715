/* option_hint.h -- what somebody meant who wrote an option that there is not. */
#ifndef PEBBLE_APP_OPTION_HINT_H
#define PEBBLE_APP_OPTION_HINT_H

#include "options.h"

/* A sentence about the unknown option `name` of a command (`bit`: its ON_ bit), with a suggestion where one is near: a value
 * written as an option, an option of another command, a setting of a workload, or a name with a slip of the keyboard.
 *   in  first   the first word that is not an option, such as the family of `pebble gen`; NULL when there was none */
void option_hint(const char *name, unsigned bit, const char *first, char *text, size_t room);

#endif
