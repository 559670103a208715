/* store_print.h -- how far a store is. */
#ifndef PEBBLE_APP_STORE_PRINT_H
#define PEBBLE_APP_STORE_PRINT_H

#include "app.h"

/* As text, or as JSON with --json. */
exit_code store_print_state(app *a, pb_store *store);

#endif
