/* machine_setting.c -- the machine that a request names; see pebble/settings.h. */
#include "base/context.h"
#include "pebble/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Puts the file's name and the place of the error in front of the sentence, which may be shown next to other files. */
static void name_place(pb_context *ctx, const char *path)
{
    char place[256];
    if (ctx->error.line)
        snprintf(place, sizeof place, "%.200s:%" PRIu64 ":%" PRIu64, path, ctx->error.line, ctx->error.column);
    else
        snprintf(place, sizeof place, "%.200s", path);
    pb_error_name(ctx, place);
    ctx->error.line = ctx->error.column = 0;
}

static pb_status read_document(pb_context *ctx, const char *text, pb_arena *arena, const pb_machine **out)
{
    pb_memory memory = {.bytes = text, .length = strlen(text)};
    pb_status status = pb_machine_read(ctx, pb_source_memory(&memory), arena, out);
    if (status == PB_EFORMAT || status == PB_ERANGE)
        name_place(ctx, "machine file");
    return status;
}

pb_status pb_machine_find(pb_context *ctx, const char *text, bool no_files, pb_arena *arena, const pb_machine **out)
{
    if (*text == '{')
        return read_document(ctx, text, arena, out);
    pb_status status = pb_machine_builtin(ctx, text, arena, out);
    if (status != PB_EUNKNOWN || no_files)
        return status;
    pb_error unknown = ctx->error;
    pb_status read = pb_machine_read_file(ctx, text, arena, out);
    if (read == PB_EIO && !strpbrk(text, "/.")) { /* the name of a machine, not of a file */
        ctx->error = unknown;
        return status;
    }
    if (read == PB_EFORMAT || read == PB_ERANGE)
        name_place(ctx, text);
    return read;
}

pb_status pb_settings_machine(pb_context *ctx, pb_settings *s, const pb_graph *g, pb_arena *arena,
                              const pb_machine **out)
{
    const char *text = s->text[PB_SET_machine];
    pb_status status = PB_OK;
    *out = text ? NULL : g->machine;
    if (text && strcmp(text, "none") != 0)
        status = pb_machine_find(ctx, text, s->no_files, arena, out);
    s->wrong = status == PB_OK || status == PB_ENOMEM || status == PB_ECANCELLED ? PB_SETTING_COUNT : PB_SET_machine;
    return status;
}
