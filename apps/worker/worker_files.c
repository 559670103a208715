/* worker_files.c -- what the sources call for files and standard output, where there is neither. */
#include "common/output.h"
#include "pebble/io.h"

static pb_status write_stream(void *state, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, state) == length ? PB_OK : PB_EIO;
}

pb_sink stream_sink(FILE *stream) { return (pb_sink){write_stream, stream}; }

static pb_status read_nothing(void *state, char *bytes, size_t room, size_t *got)
{
    (void)state, (void)bytes, (void)room;
    *got = 0;
    return PB_OK;
}

pb_source pb_file_source(pb_file_in *in) { return (pb_source){read_nothing, in}; }

pb_status pb_file_open(pb_context *ctx, const char *path, pb_file_in *in)
{
    (void)in;
    ctx->error = (pb_error){.line = 0};
    snprintf(ctx->error.message, sizeof ctx->error.message, "%.200s: the page reads no files; use the command `pebble`",
             path);
    return PB_EIO;
}

pb_status pb_file_close(pb_context *ctx, const char *path, pb_file_in *in, pb_status status)
{
    (void)ctx, (void)path, (void)in;
    return status;
}
