/* file.c -- files by their path: read as a source, and written so that nobody sees half of one. */
#define _XOPEN_SOURCE 700
#include "pebble/io.h"

#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

enum { MARK_LENGTH = 7, MAX_TRIES = 100 };

static pb_status fail_file(pb_context *ctx, const char *path, const char *what, int error)
{
    char why[128];
    if (error == ENOMEM)
        return PB_ENOMEM;
    if (strerror_r(error, why, sizeof why) != 0)
        why[0] = '\0';
    return pbi_fail(ctx, PB_EIO, "%.300s: cannot be %s: %s; check %s", path, what, why,
                    strcmp(path, "standard input") == 0 ? "the pipe"
                    : strcmp(what, "read") == 0         ? "the path"
                                                        : "the path, its permissions and the free space");
}

/* ---- in ---- */

static pb_status read_bytes(void *state, char *bytes, size_t room, size_t *got)
{
    pb_file_in *in = state;
    ssize_t count;
    do
        count = read(in->file, bytes, room);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        in->error = errno;
        return PB_EIO;
    }
    *got = (size_t)count;
    return PB_OK;
}

pb_status pb_file_open(pb_context *ctx, const char *path, pb_file_in *in)
{
    *in = (pb_file_in){.file = open(path, O_RDONLY | O_CLOEXEC)};
    return in->file >= 0 ? PB_OK : fail_file(ctx, path, "read", in->error = errno);
}

pb_source pb_file_source(pb_file_in *in) { return (pb_source){read_bytes, in}; }

pb_status pb_file_close(pb_context *ctx, const char *path, pb_file_in *in, pb_status status)
{
    if (in->file > STDIN_FILENO)
        close(in->file);
    in->file = -1;
    return in->error ? fail_file(ctx, path, "read", in->error) : status;
}

/* ---- out ---- */

static pb_status write_bytes(void *state, const char *bytes, size_t length)
{
    pb_file_out *out = state;
    while (length) {
        ssize_t count = write(out->file, bytes, length);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            out->error = out->error ? out->error : count < 0 ? errno : EIO;
            return PB_EIO;
        }
    }
    return PB_OK;
}

pb_sink pb_file_sink(pb_file_out *out) { return (pb_sink){write_bytes, out}; }

static void guard(const pb_file_out *out, const char *temporary)
{
    if (out->guard)
        out->guard(temporary);
}

/* Fills the mark at the end of the temporary name with letters that differ from one file to the next. */
static void mark_name(char *mark, const pb_file_out *out, unsigned attempt)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t number = (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)getpid() * 40503u + (uint64_t)(uintptr_t)out +
                      attempt * UINT64_C(0x9e3779b97f4a7c15);
    mark[0] = '.';
    for (int i = 1; i < MARK_LENGTH; i++, number /= 36)
        mark[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[number % 36];
    mark[MARK_LENGTH] = '\0';
}

/* A file in the same folder, with the permissions that the file has, or that the process gives to new files. */
static int create_temporary(pb_arena *arena, pb_file_out *out, const struct stat *old)
{
    size_t length = strlen(out->real_path);
    int file = -1;
    out->temporary = pb_arena_alloc(arena, length + MARK_LENGTH + 1, 1);
    if (!out->temporary) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(out->temporary, out->real_path, length);
    for (unsigned attempt = 0; file < 0 && attempt < MAX_TRIES; attempt++) {
        mark_name(out->temporary + length, out, attempt);
        guard(out, out->temporary); /* before the file exists, so that no moment is missed */
        file = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            break;
    }
    int error = errno;
    if (file < 0) {
        guard(out, NULL);
        out->temporary = NULL;
    } else if (old) {
        (void)!fchmod(file, old->st_mode & 0777);
    }
    errno = error;
    return file;
}

static const char *folder_of(const char *path, pb_arena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash ? pb_arena_text(arena, path, (size_t)(slash - path) + (slash == path)) : ".";
}

pb_status pb_file_create(pb_context *ctx, const char *path, pb_arena *arena, void (*guard_file)(const char *),
                         pb_file_out *out)
{
    struct stat old;
    *out = (pb_file_out){.file = -1, .path = path, .real_path = path, .guard = guard_file};
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return fail_file(ctx, path, "written", EISDIR);
    if (exists && !S_ISREG(old.st_mode)) {
        out->file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        return out->file >= 0 ? PB_OK : fail_file(ctx, path, "written", errno);
    }
    char *followed = exists ? pb_arena_alloc(arena, PATH_MAX, 1) : NULL;
    if (exists && !followed)
        return PB_ENOMEM;
    if (followed && realpath(path, followed))
        out->real_path = followed;
    if (!(out->folder = folder_of(out->real_path, arena)))
        return PB_ENOMEM;
    out->file = create_temporary(arena, out, exists ? &old : NULL);
    return out->file >= 0 ? PB_OK : fail_file(ctx, path, "written", errno);
}

/* A new name lasts once its folder is on the disk. Some file systems cannot do that, and a folder without read
 * permission cannot be opened for it; these two are not failures. */
static int sync_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return errno == EACCES ? 0 : errno;
    int error = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    close(file);
    return error;
}

pb_status pb_file_finish(pb_context *ctx, pb_file_out *out, pb_status status)
{
    errno = 0;
    bool written = status == PB_OK && (!out->temporary || fsync(out->file) == 0);
    if (!written && !out->error)
        out->error = errno;
    if (close(out->file) != 0 && written) {
        out->error = errno;
        written = false;
    }
    if (written && out->temporary && rename(out->temporary, out->real_path) != 0) {
        out->error = errno;
        written = false;
    }
    if (!written && out->temporary)
        unlink(out->temporary);
    guard(out, NULL);
    if (written && out->temporary) {
        out->error = sync_folder(out->folder);
        written = out->error == 0;
    }
    if (written || (status != PB_OK && status != PB_EIO))
        return status;
    return fail_file(ctx, out->path, "written", out->error ? out->error : EIO);
}
