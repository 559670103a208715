/* workload_parts.c -- see workload_parts.h. */
#define _POSIX_C_SOURCE 200809L
#include "workloads/workload_parts.h"

#include "base/checked.h"
#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pb_status pbi_workload_number(pb_context *ctx, const char *name, const char *text, uint64_t least, uint64_t most,
                              uint64_t *out)
{
    uint64_t value;
    if (!pbi_u64_parse(text, strlen(text), &value) || value < least || value > most)
        return pbi_fail(ctx, PB_EINVAL, "%s must be a whole number between %llu and %llu, not '%s'", name,
                        (unsigned long long)least, (unsigned long long)most, text);
    *out = value;
    return PB_OK;
}

pb_status pbi_file_open(pb_context *ctx, const char *path, pbi_file *out)
{
    int handle = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* refuses a pipe instead of waiting for it */
    if (handle < 0)
        return pbi_fail(ctx, PB_EIO, "%s cannot be read: %s; check the path", path, strerror(errno));
    struct stat about;
    if (fstat(handle, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(handle);
        return pbi_fail(ctx, PB_EIO, "%s is not a regular file; give the path of one", path);
    }
    *out = (pbi_file){handle, (uint64_t)about.st_size};
    return PB_OK;
}

pb_status pbi_file_scratch(pb_context *ctx, const char *path, pbi_file *out)
{
    int handle = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (handle < 0)
        return pbi_fail(ctx, PB_EIO, "%s cannot be created: %s; check the path and its permissions", path,
                        strerror(errno));
    unlink(path);
    *out = (pbi_file){.handle = handle};
    return PB_OK;
}

void pbi_file_close(pbi_file *file)
{
    if (file->handle >= 0)
        close(file->handle);
    *file = PBI_NO_FILE;
}

pb_status pbi_file_read(const pbi_file *file, pb_context *ctx, uint64_t offset, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    while (count) {
        ssize_t got = pread(file->handle, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pbi_fail(ctx, PB_EIO, "reading the data failed: %s; check the file", strerror(errno));
        if (got == 0)
            return pbi_fail(
                ctx, PB_EIO,
                "the data ended at byte %llu, because the file became shorter; do not change it during a run",
                (unsigned long long)offset);
        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return PB_OK;
}

pb_status pbi_file_write(const pbi_file *file, pb_context *ctx, uint64_t offset, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count) {
        ssize_t put = pwrite(file->handle, at, count, (off_t)offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return pbi_fail(ctx, PB_EIO, "writing failed: %s; check the free space", strerror(put ? errno : ENOSPC));
        at += put;
        offset += (uint64_t)put;
        count -= (size_t)put;
    }
    return PB_OK;
}

pb_status pbi_draft_begin(pbi_draft *draft, pb_workload *w, const char *name, const char *cost_unit)
{
    *draft = (pbi_draft){.e = {.ctx = w->ctx, .maker = name}};
    pb_status status = pb_builder_new(w->ctx, &draft->e.builder);
    if (status == PB_OK)
        status = pb_builder_set_texts(draft->e.builder, name, cost_unit, "byte");
    return draft->e.status = status;
}

pb_status pbi_draft_end(pbi_draft *draft, pb_workload *w)
{
    pb_status status = draft->e.status;
    if (status == PB_OK)
        status = pb_builder_freeze(draft->e.builder, &w->arena, &w->graph);
    if (draft->e.builder)
        pb_builder_free(draft->e.builder);
    return status;
}
