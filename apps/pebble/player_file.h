/* player_file.h -- one HTML file with plans and the page's player: it plays in a browser without the command. */
#ifndef PEBBLE_APP_PLAYER_FILE_H
#define PEBBLE_APP_PLAYER_FILE_H

#include "app.h"

#include "pebble/full.h"

typedef struct player_file {
    const pb_game *base; /* its graph; its cap is shown */
    const pb_comparison *rows;
    const char *const *names; /* of the rows; NULL: as requested */
    const pb_sweep *sweep;    /* shown behind the rows, or NULL */
} player_file;

/* EXIT_DONE, or the exit code after printing why: this command has no page. */
exit_code player_check(app *a);
/* Writes to `path`; NULL or "-": standard output. */
exit_code player_write(app *a, const char *path, const player_file *p);

#endif
