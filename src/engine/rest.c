/* rest.c -- stub */
#include "engine/engine_parts.h"

#include "base/context.h"

pb_status pbi_rest_peak(pb_engine *e, pb_step k, uint64_t *out)
{
    (void)e;
    (void)k;
    *out = UINT64_MAX / 4;
    return PB_OK;
}

pb_status pbi_replan(pb_engine *e, pb_node wide, const char *why)
{
    (void)wide;
    return pbi_fail(e->ctx, PB_ELIMIT, "%s", why);
}
