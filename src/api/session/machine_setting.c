/* machine_setting.c -- the machine that a request names; see pebble/settings.h. */
#include "base/context.h"
#include "pebble/settings.h"

#include <string.h>

pb_status pb_machine_find(pb_context *ctx, const char *text, bool no_files, pb_arena *arena, const pb_machine **out)
{
    (void)no_files;
    return pb_machine_builtin(ctx, text, arena, out);
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
