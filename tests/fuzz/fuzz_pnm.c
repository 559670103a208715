/* fuzz_pnm.c -- any bytes as an image: no crash, a sentence for what is refused, and filters run over what is accepted. */
#include "workloads/filters.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    pb_context ctx;
    pb_arena arena;
    pbi_filters f = {.blur = 1, .window = 1, .threshold = 1};
    pb_context_init(&ctx);
    pb_arena_init(&arena, &ctx);
    pb_status status = pbi_pnm_parse(&ctx, "bytes", bytes, length, &arena, &f.image);
    if (status != PB_OK && (status != PB_EFORMAT || !*ctx.error.message))
        abort();
    if (status == PB_OK)
        pbi_filters_init(&f);
    void *in = NULL;
    for (int stage = 0; stage < PBI_STAGES && status == PB_OK; stage++) {
        void *out = pb_arena_alloc(&arena, pbi_filters_size(&f, (pbi_stage)stage, 0), 1);
        void *workspace = pb_arena_alloc(&arena, pbi_filters_workspace(&f, (pbi_stage)stage, 0) + 1, 1);
        if (!out || !workspace)
            abort();
        pbi_filters_run(&f, (pbi_stage)stage, 0, &in, out, workspace);
        in = out;
    }
    pb_arena_release(&arena);
    if (ctx.memory_used)
        abort();
    return 0;
}
