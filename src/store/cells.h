/* cells.h -- the state of every cell, in the name of one file.
 *
 *     cells/ab/KEY.todo.SWEEP.INDEX.TRIES          to be planned; empty
 *     cells/ab/KEY.lease.SWEEP.INDEX.TRIES.WORKER  a worker plans it; empty
 *     cells/ab/KEY.fail.SWEEP.INDEX.TRIES          given up: workers died each time; empty
 *     cells/ab/KEY.row.OUTCOME                     done: the row and the plan
 *
 * A state changes by rename, so that of several workers one gets the cell. A row counts, whatever else is there: so a
 * worker that was taken for dead, and finishes, does no harm. Its bytes are those of any other worker.
 */
#ifndef PBI_STORE_CELLS_H
#define PBI_STORE_CELLS_H

#include "store/folder.h"

typedef enum pbi_cell_state {
    PBI_CELL_ROW,
    PBI_CELL_LEASE,
    PBI_CELL_TODO,
    PBI_CELL_FAIL,
    PBI_CELL_OTHER
} pbi_cell_state;

enum { PBI_OUTCOME_TEXT = 16, PBI_MAX_TRIES = 20 };

typedef struct pbi_cell {
    char key[PBI_KEY_TEXT];
    pbi_cell_state state;
    char sweep[PBI_KEY_TEXT]; /* unless it is a row */
    uint32_t index;           /* in that sweep */
    uint32_t tries;           /* workers that died with it */
    char worker[PBI_WORKER_TEXT];
    char outcome[PBI_OUTCOME_TEXT]; /* of a row: letter of the outcome, and of a failure what its reason is */
} pbi_cell;

void pbi_cell_name(const pbi_cell *cell, char name[PBI_PATH_ROOM]);
/* False for a name that is none. */
bool pbi_cell_parse(const char *name, pbi_cell *out);

/* The cells of one shard by key, each once. Temporary files of dead workers are not listed. */
pb_status pbi_cells_list(pb_context *ctx, const pbi_folder *folder, uint32_t shard, pb_arena *arena, pbi_cell **out,
                         uint32_t *count);
/* Removes what a row has made superfluous: leases of workers that died between its name and the end of the lease. */
pb_status pbi_cells_prune(pb_context *ctx, const pbi_folder *folder, uint32_t shard, uint64_t *removed);
/* The cell with this key; NULL if it is not listed. */
const pbi_cell *pbi_cells_find(const pbi_cell *list, uint32_t count, const char *key);

/* Creates a cell that is to be planned. */
pb_status pbi_cell_add(pb_context *ctx, const pbi_folder *folder, const pbi_cell *cell);
/* Renames a cell from one state to the other; false if another process did first, or the disk refuses. */
bool pbi_cell_move(const pbi_folder *folder, const pbi_cell *from, const pbi_cell *to);
/* Writes the row of a leased cell, and ends the lease. */
pb_status pbi_cell_finish(pb_context *ctx, const pbi_folder *folder, const pbi_cell *lease, const char *outcome,
                          pbi_bytes row);

#endif
