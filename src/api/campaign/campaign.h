/* campaign.h -- a sweep in a store: its document, and its cells. */
#ifndef PBI_API_CAMPAIGN_CAMPAIGN_H
#define PBI_API_CAMPAIGN_CAMPAIGN_H

#include "api/study/sweep_state.h"
#include "pebble/store.h"
#include "store/cells.h"

struct pb_store {
    pb_arena *arena;
    pbi_folder folder;
};

/* A sweep as it was read from the store. Everything is in the arena of the call. */
typedef struct pbi_campaign {
    char id[PBI_KEY_TEXT];
    const pb_graph *graph; /* as in its file */
    pb_settings settings;
    pb_game base;
    pb_sweep_request request;
    uint64_t ticks, memory; /* of each cell; 0: no limit */
    pb_sweep sweep;
    pbi_sweep_state state;
} pbi_campaign;

/* The settings that a document keeps. */
enum { PBI_KEPT_SETTINGS = 14 };
extern const pb_setting pbi_kept_settings[PBI_KEPT_SETTINGS];

/* Names of files. */
void pbi_graph_file(const char *hash, char name[PBI_PATH_ROOM]);
void pbi_campaign_file(const char *id, const char *part, char name[PBI_PATH_ROOM]);
bool pbi_campaign_there(const pb_store *store, const char *id);

/* Reads a sweep. ctx->tick_limit is unchanged afterwards. PB_EFORMAT if the sweep or its graph is damaged, or of
 * another version of the library. */
pb_status pbi_campaign_read(pb_context *ctx, const pb_store *store, const char *id, pb_arena *arena,
                            pbi_campaign **out);
/* The plans that were made while the caps were chosen, for the last pass. */
pb_status pbi_campaign_known(pb_context *ctx, const pb_store *store, pbi_campaign *c, pb_arena *arena);

typedef struct pbi_cell_key {
    char key[PBI_KEY_TEXT];
    uint32_t index;
} pbi_cell_key;
/* The keys of all cells, sorted. */
pb_status pbi_campaign_keys(pb_context *ctx, const pbi_campaign *c, pb_arena *arena, pbi_cell_key **out);

/* Creates the cells of a sweep that are not in the store. */
pb_status pbi_campaign_fill(pb_context *ctx, const pb_store *store, const pbi_campaign *c, uint64_t *added);

/* A row: the schedule of a cell, in the binary form if it has moves. */
pb_status pbi_row_write(pb_context *ctx, const pb_schedule *s, pb_arena *arena, pbi_bytes *out);
pb_status pbi_row_read(pb_context *ctx, pbi_bytes row, const pb_graph *g, pb_arena *arena, pb_schedule *out);
/* The last part of a row's name. */
pb_status pbi_row_outcome(pb_context *ctx, const pb_schedule *s, char text[PBI_OUTCOME_TEXT]);

#endif
