/* binary.c -- positions, names and frames of a plan as arrays that the page uses directly (docs/server.md). */
#define _XOPEN_SOURCE 700
#include "handlers.h"
#include "pebble/report.h"

#include <limits.h>
#include <stdlib.h>

typedef struct answer {
    pb_context ctx;
    text_out text;
} answer;

/* False after an answer to the request: out of memory. */
static bool answer_begin(request *r, answer *a)
{
    pb_context_init(&a->ctx);
    a->ctx.memory_limit = RESPONSE_BYTES;
    if (text_begin(&a->text))
        return true;
    respond_no_memory(r);
    return false;
}

static void answer_end(request *r, answer *a, pb_status status)
{
    size_t length = 0;
    char *bytes = text_end(&a->text, &length);
    if (bytes && status == PB_OK) {
        respond_bytes(r, "application/octet-stream", bytes, length);
        return;
    }
    free(bytes);
    if (!bytes || status == PB_ENOMEM || status == PB_ELIMIT)
        respond_no_memory(r);
    else
        respond_status(r, status, &a->ctx.error);
}

/* `open=3,17`: the groups that stay open. False after an answer to the request. */
static bool read_open(request *r, const pb_graph *g, bool *open)
{
    const char *at = request_argument(r, "open");
    while (at && *at) {
        char *end;
        unsigned long group = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : ULONG_MAX;
        if (group >= g->group_count || (*end && *end != ',')) {
            respond_error(r, MHD_HTTP_BAD_REQUEST, "open: expected the numbers of groups, as in 3,17; the graph has %u",
                          (unsigned)g->group_count);
            return false;
        }
        open[group] = true;
        at = end + (*end == ',');
    }
    return true;
}

static void closed_layout(request *r, const pb_graph *g, const pb_layout_options *options)
{
    answer a;
    bool *open = calloc((size_t)g->group_count + 1, sizeof *open);
    if (!open)
        respond_no_memory(r);
    else if (read_open(r, g, open) && answer_begin(r, &a))
        answer_end(r, &a, pb_player_groups_write(&a.ctx, g, options, open, text_sink(&a.text)));
    free(open);
}

void binary_layout(request *r, const pb_graph *g)
{
    size_t lanes = 0, groups = 0, fold = 0; /* the first word is the default */
    answer a;
    if (!arguments_known(r, "lanes groups fold open") || !argument_word(r, "lanes", "auto 0", &lanes) ||
        !argument_word(r, "groups", "open closed", &groups) || !argument_word(r, "fold", "1 0", &fold))
        return;
    pb_layout_options options = {.fold = fold == 0};
    if (lanes == 1)
        options.lanes = PB_LANES_NEVER;
    if (groups == 1)
        closed_layout(r, g, &options);
    else if (answer_begin(r, &a))
        answer_end(r, &a, pb_player_layout_write(&a.ctx, g, &options, text_sink(&a.text)));
}

void binary_names(request *r, const pb_graph *g)
{
    answer a;
    if (answer_begin(r, &a))
        answer_end(r, &a, pb_player_names_write(&a.ctx, g, text_sink(&a.text)));
}

void binary_frames(request *r, const pb_plan_result *plan)
{
    answer a;
    const pb_moves *moves = plan->certificate ? pb_certificate_moves(plan->certificate) : &plan->attempt;
    if (moves->count >= UINT32_MAX) {
        respond_error(r, 413, "the plan has too many moves to play here; download it as a schedule");
        return;
    }
    if (answer_begin(r, &a))
        answer_end(r, &a,
                   plan->certificate ? pb_player_frames_write(&a.ctx, plan->certificate, text_sink(&a.text))
                                     : pb_player_attempt_write(&a.ctx, plan->game, &plan->attempt, plan->failed_need,
                                                               text_sink(&a.text)));
}
