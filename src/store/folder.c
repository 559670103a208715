/* folder.c -- see folder.h. */
#define _XOPEN_SOURCE 700
#include "store/folder.h"

#include "base/context.h"
#include "base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char seal_word[] = "pebble-sealed/1", store_word[] = "pebble-store/1";

pb_status pbi_folder_fail(pb_context *ctx, const pbi_folder *folder, const char *name, const char *what, int error)
{
    char why[128];
    if (error == ENOMEM)
        return PB_ENOMEM;
    if (strerror_r(error, why, sizeof why) != 0)
        why[0] = '\0';
    const char *next = error == ENOSPC || error == EDQUOT || error == EFBIG
                           ? "free some space and start again: nothing of the store is lost"
                           : "check the path and its permissions";
    return pbi_fail(ctx, PB_EIO, "%.250s%s%.80s: cannot be %s: %s; %s", folder->path, *name ? "/" : "", name, what, why,
                    next);
}

pb_status pbi_folder_add(pb_context *ctx, const pbi_folder *folder, const char *name)
{
    if (mkdirat(folder->file, name, 0777) == 0 || errno == EEXIST)
        return PB_OK;
    return pbi_folder_fail(ctx, folder, name, "made", errno);
}

static pb_status make_parts(pb_context *ctx, const pbi_folder *folder)
{
    static const char *const parts[] = {"cells", "graphs", "sweeps", "workers", "jobs"};
    char name[PBI_PATH_ROOM];
    pb_status status = PB_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == PB_OK; i++)
        status = pbi_folder_add(ctx, folder, parts[i]);
    for (unsigned k = 0; k < PBI_SHARDS && status == PB_OK; k++) {
        snprintf(name, sizeof name, "cells/%02x", k);
        status = pbi_folder_add(ctx, folder, name);
    }
    /* Last, so that a store with this file is complete. */
    pbi_bytes word = {store_word, sizeof store_word - 1};
    return status == PB_OK ? pbi_folder_write(ctx, folder, "store", NULL, word) : status;
}

pb_status pbi_folder_open(pb_context *ctx, const char *path, bool create, pb_arena *arena, pbi_folder *out)
{
    pbi_bytes word;
    *out = (pbi_folder){.path = pb_arena_text(arena, path, strlen(path)), .file = -1};
    if (!out->path)
        return PB_ENOMEM;
    if (create && mkdir(path, 0777) != 0 && errno != EEXIST)
        return pbi_folder_fail(ctx, out, "", "made", errno);
    out->file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->file < 0)
        return pbi_folder_fail(ctx, out, "", "read", errno);
    pb_status status = PB_OK;
    if (create && !pbi_folder_has(out, "store"))
        status = make_parts(ctx, out);
    else if (!pbi_folder_has(out, "store"))
        status = pbi_fail(ctx, PB_EFORMAT, "%.300s is not a store; pebble sweep --store makes one", path);
    if (status == PB_OK)
        status = pbi_folder_read(ctx, out, "store", arena, &word);
    if (status == PB_OK && (word.length != sizeof store_word - 1 || memcmp(word.bytes, store_word, word.length) != 0))
        status = pbi_fail(ctx, PB_EFORMAT, "%.300s is a store of another version of pebble; use that version", path);
    if (status != PB_OK)
        pbi_folder_close(out);
    return status;
}

void pbi_folder_close(pbi_folder *folder)
{
    if (folder->file >= 0)
        close(folder->file);
    folder->file = -1;
}

/* ---- files ---- */

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length) {
        ssize_t count = write(file, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        length -= (size_t)count;
    }
    return true;
}

static pb_status seal_of(pb_context *ctx, pbi_bytes content, char line[128])
{
    unsigned char hash[PBI_SHA256_BYTES];
    char text[PBI_SHA256_TEXT];
    pbi_sha256 sum;
    if (!pbi_sha256_begin(&sum) || !pbi_sha256_add(&sum, content.bytes, content.length) || !pbi_sha256_end(&sum, hash))
        return pbi_sha256_failed(ctx);
    pbi_sha256_text(hash, text);
    snprintf(line, 128, "%s %zu %s\n", seal_word, content.length, text);
    return PB_OK;
}

/* A name lasts once its folder is on the disk; file systems that cannot do that are left alone. */
static bool sync_parent(const pbi_folder *folder, const char *name)
{
    char parent[PBI_PATH_ROOM];
    const char *slash = strrchr(name, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - name) : 1, slash ? name : ".");
    int file = openat(folder->file, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return errno == EACCES;
    bool done = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP;
    int error = errno;
    close(file);
    errno = error;
    return done;
}

pb_status pbi_folder_write(pb_context *ctx, const pbi_folder *folder, const char *name, const char *temporary,
                           pbi_bytes content)
{
    char line[128], own[PBI_PATH_ROOM], mark[PBI_WORKER_TEXT];
    pb_status status = seal_of(ctx, content, line);
    if (status == PB_OK && !temporary)
        status = pbi_folder_mark(ctx, mark);
    if (status != PB_OK)
        return status;
    if (!temporary) {
        snprintf(own, sizeof own, "%.200s.%s.new", name, mark);
        temporary = own;
    }
    int file = openat(folder->file, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return pbi_folder_fail(ctx, folder, name, "written", errno);
    bool done =
        write_all(file, line, strlen(line)) && write_all(file, content.bytes, content.length) && fsync(file) == 0;
    int error = errno;
    if (close(file) != 0 && done) {
        error = errno;
        done = false;
    }
    if (done) {
        done = renameat(folder->file, temporary, folder->file, name) == 0 && sync_parent(folder, name);
        error = errno;
    }
    if (done)
        return PB_OK;
    unlinkat(folder->file, temporary, 0);
    return pbi_folder_fail(ctx, folder, name, "written", error);
}

static pb_status read_all(pb_context *ctx, const pbi_folder *folder, const char *name, pb_arena *arena, pbi_bytes *out)
{
    struct stat about;
    int file = openat(folder->file, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return pbi_folder_fail(ctx, folder, name, "read", errno);
    char *bytes = fstat(file, &about) == 0 ? pb_arena_alloc(arena, (size_t)about.st_size + 1, 1) : NULL;
    size_t length = 0;
    ssize_t count = bytes ? 1 : -1;
    while (bytes && length < (size_t)about.st_size && count > 0) {
        count = read(file, bytes + length, (size_t)about.st_size - length);
        if (count < 0 && errno == EINTR)
            count = 1;
        else if (count > 0)
            length += (size_t)count;
    }
    int error = errno;
    close(file);
    if (!bytes)
        return PB_ENOMEM;
    if (count < 0)
        return pbi_folder_fail(ctx, folder, name, "read", error);
    bytes[length] = '\0';
    *out = (pbi_bytes){bytes, length};
    return PB_OK;
}

pb_status pbi_folder_read(pb_context *ctx, const pbi_folder *folder, const char *name, pb_arena *arena, pbi_bytes *out)
{
    char line[128];
    pbi_bytes all = {"", 0};
    pb_status status = read_all(ctx, folder, name, arena, &all);
    if (status != PB_OK)
        return status;
    const char *end = memchr(all.bytes, '\n', all.length);
    size_t head = end ? (size_t)(end - all.bytes) + 1 : 0;
    pbi_bytes content = {all.bytes + head, all.length - head};
    status = seal_of(ctx, content, line);
    if (status == PB_OK && (!end || strlen(line) != head || memcmp(line, all.bytes, head) != 0))
        status = pbi_fail(ctx, PB_EFORMAT, "%.250s/%.100s is truncated or was changed; `pebble store gc` removes it",
                          folder->path, name);
    *out = content;
    return status;
}

bool pbi_folder_has(const pbi_folder *folder, const char *name) { return faccessat(folder->file, name, F_OK, 0) == 0; }

bool pbi_folder_remove(const pbi_folder *folder, const char *name) { return unlinkat(folder->file, name, 0) == 0; }

pb_status pbi_folder_list(pb_context *ctx, const pbi_folder *folder, const char *name, pbi_each_name each, void *state)
{
    int file = openat(folder->file, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? PB_OK : pbi_folder_fail(ctx, folder, name, "read", errno);
    DIR *dir = fdopendir(file);
    if (!dir) {
        int error = errno;
        close(file);
        return pbi_folder_fail(ctx, folder, name, "read", error);
    }
    pb_status status = PB_OK;
    for (struct dirent *entry; status == PB_OK && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            status = each(state, entry->d_name);
    closedir(dir);
    return status;
}

/* ---- keys ---- */

pb_status pbi_folder_mark(pb_context *ctx, char mark[PBI_WORKER_TEXT])
{
    unsigned char bytes[PBI_WORKER_TEXT / 2];
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, bytes, sizeof bytes);
    int error = errno;
    if (file >= 0)
        close(file);
    if (count != (ssize_t)sizeof bytes)
        return pbi_folder_fail(ctx, &(pbi_folder){.path = "/dev/urandom"}, "", "read", count < 0 ? error : EIO);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(mark + 2 * i, 3, "%02x", bytes[i]);
    return PB_OK;
}

pb_status pbi_key_of(pb_context *ctx, pbi_bytes content, char key[PBI_KEY_TEXT])
{
    unsigned char hash[PBI_SHA256_BYTES];
    char text[PBI_SHA256_TEXT];
    pbi_sha256 sum;
    if (!pbi_sha256_begin(&sum) || !pbi_sha256_add(&sum, content.bytes, content.length) || !pbi_sha256_end(&sum, hash))
        return pbi_sha256_failed(ctx);
    pbi_sha256_text(hash, text);
    memcpy(key, text, PBI_KEY_TEXT - 1);
    key[PBI_KEY_TEXT - 1] = '\0';
    return PB_OK;
}

static uint32_t digit(char c) { return c >= 'a' ? (uint32_t)(c - 'a') + 10 : (uint32_t)(c - '0'); }

uint32_t pbi_shard_of(const char *key) { return digit(key[0]) * 16 + digit(key[1]); }
