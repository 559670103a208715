/* folder.h -- the folder of a store: its files, written so that nobody ever reads half of one.
 *
 * Only these properties of the file system are used: a rename replaces the new name at once and succeeds for one of
 * several processes that rename the same file; opening a file shows what was in it when its writer closed it.
 */
#ifndef PBI_STORE_FOLDER_H
#define PBI_STORE_FOLDER_H

#include "pebble/base.h"

enum { PBI_SHARDS = 256, PBI_KEY_TEXT = 33, PBI_WORKER_TEXT = 17, PBI_PATH_ROOM = 256 };

typedef struct pbi_folder {
    const char *path; /* as given, for messages; in the arena of the store */
    int file;         /* descriptor of the folder; -1: closed */
} pbi_folder;

/* Opens the folder; with `create` makes it and its parts first.
 *   returns  PB_EIO      it cannot be read or made
 *            PB_EFORMAT  it is not a store, or one of another version */
pb_status pbi_folder_open(pb_context *ctx, const char *path, bool create, pb_arena *arena, pbi_folder *out);
void pbi_folder_close(pbi_folder *folder);

/* PB_EIO for the errno of a call on a file of the folder; `what` as in "written". */
pb_status pbi_folder_fail(pb_context *ctx, const pbi_folder *folder, const char *name, const char *what, int error);

/* Creates a folder below the store, if it is not there. */
pb_status pbi_folder_add(pb_context *ctx, const pbi_folder *folder, const char *name);

typedef struct pbi_bytes {
    const char *bytes;
    size_t length;
} pbi_bytes;

/* Writes a file with a line in front that states length and SHA-256 of the bytes, under the temporary name, and gives
 * it its name when it is on the disk. `temporary` NULL: a name that no other process uses. */
pb_status pbi_folder_write(pb_context *ctx, const pbi_folder *folder, const char *name, const char *temporary,
                           pbi_bytes content);

/* Reads such a file; the bytes are in `arena`.
 *   returns  PB_EFORMAT  it is truncated or changed
 *            PB_EIO      it cannot be read */
pb_status pbi_folder_read(pb_context *ctx, const pbi_folder *folder, const char *name, pb_arena *arena, pbi_bytes *out);

/* Whether there is a file with this name. */
bool pbi_folder_has(const pbi_folder *folder, const char *name);
bool pbi_folder_remove(const pbi_folder *folder, const char *name);

/* Calls `each` with every name in a folder of the store, until one is not PB_OK. A folder that is not there is
 * empty. */
typedef pb_status (*pbi_each_name)(void *state, const char *name);
pb_status pbi_folder_list(pb_context *ctx, const pbi_folder *folder, const char *name, pbi_each_name each, void *state);

/* 16 hexadecimal digits that no other process has. */
pb_status pbi_folder_mark(pb_context *ctx, char mark[PBI_WORKER_TEXT]);
/* The first 32 hexadecimal digits of the SHA-256 of the bytes. */
pb_status pbi_key_of(pb_context *ctx, pbi_bytes content, char key[PBI_KEY_TEXT]);
/* The shard of a key: its first two digits. */
uint32_t pbi_shard_of(const char *key);

#endif
