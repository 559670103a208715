/* row_json.c -- see row_json.h. */
#include "row_json.h"

#include "output.h"

void json_row_fields(FILE *out, const pb_plan_result *p, const pb_game *base)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_row_json_write(&ctx, p, base, stream_sink(out));
}

void json_info_fields(FILE *out, const pb_info *f)
{
    pb_context ctx;
    pb_context_init(&ctx);
    pb_info_json_write(&ctx, f, stream_sink(out));
}
