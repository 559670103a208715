/* handle_job.c -- requests about jobs and plans. */
#define _XOPEN_SOURCE 700
#include "common/json_print.h"
#include "common/row_json.h"
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The new job, and the costs that its figures refer to: a machine makes them times. */
static void print_job(FILE *out, const job *j, const pb_graph *g)
{
    fprintf(out, "{\"job\":\"j%llu\",\"cost_unit\":", (unsigned long long)j->number);
    json_text(out, g->cost_unit);
    fputs(",\"needed_cost\":", out);
    json_u64(out, g->needed_cost);
    fputs("}\n", out);
}

void handle_new_job(request *r, stored_graph *g)
{
    server *s = r->s;
    text_out text;
    if (!arguments_known(r, ""))
        return;
    job *j = job_new(&s->store, &s->hub, g);
    if (!j) {
        respond_no_memory(r);
        return;
    }
    if (!job_read(j, r->body ? r->body : "", r->length, s->options.machine_text)) {
        respond_status(r, PB_EINVAL, &j->ctx.error);
        job_drop(j);
        return;
    }
    const pb_graph *priced = j->spec->base.graph; /* the spec is its worker's once it is queued */
    store_add_job(&s->store, j);
    if (queue_add(&s->jobs, j)) {
        FILE *out = text_begin(&text);
        if (out)
            print_job(out, j, priced);
        respond_text(r, MHD_HTTP_ACCEPTED, &text);
    } else {
        store_forget_job(&s->store, j);
        respond_error(r, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "too many jobs are waiting; stop some of them, or try again later");
    }
    store_release_job(&s->store, j);
}

static void respond_accepted(request *r)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (out)
        fputs("{}\n", out);
    respond_text(r, MHD_HTTP_ACCEPTED, &text);
}

void handle_job(request *r, job *j, const char *what)
{
    bool post = strcmp(r->method, "POST") == 0;
    text_out text;
    if (!arguments_known(r, ""))
        return;
    if (post && strcmp(what, "stop") == 0) {
        queue_stop_job(&r->s->jobs, j);
        respond_accepted(r);
    } else if (strcmp(r->method, "DELETE") == 0 && what[0] == '\0') {
        queue_stop_job(&r->s->jobs, j);
        store_forget_job(&r->s->store, j);
        respond_accepted(r);
    } else if (strcmp(r->method, "GET") == 0 && what[0] == '\0') {
        FILE *out = text_begin(&text);
        if (out)
            log_print(j->log, out);
        respond_text(r, MHD_HTTP_OK, &text);
    } else {
        respond_error(r, post || what[0] ? MHD_HTTP_NOT_FOUND : MHD_HTTP_METHOD_NOT_ALLOWED,
                      "this address does not exist for %s; docs/server.md lists the addresses", r->method);
    }
}

/* ---- plans ---- */

static void respond_row(request *r, const job *j, const pb_plan_result *p, uint64_t number)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (out) {
        fputc('{', out);
        json_row_fields(out, p, p->game);
        fprintf(out, ",\"plan\":\"p%llu\",\"asked\":", (unsigned long long)number);
        json_text(out, p->spec);
        fprintf(out, ",\"graph\":\"g%llu\"}\n", (unsigned long long)j->graph->number);
    }
    respond_text(r, MHD_HTTP_OK, &text);
}

static pb_status write_metrics(pb_context *ctx, const pb_plan_result *p, pb_sink sink)
{
    return pb_schedule_write_summary(ctx, &p->schedule, p->seconds, sink);
}

static pb_status write_form(pb_context *ctx, const pb_plan_result *p, const char *form, pb_sink sink)
{
    if (strcmp(form, "schedule") == 0)
        return pb_schedule_write(ctx, &p->schedule, PB_FORMAT_JSON, sink);
    if (strcmp(form, "pbs") == 0)
        return pb_schedule_write(ctx, &p->schedule, PB_FORMAT_BINARY, sink);
    if (strcmp(form, "metrics") == 0)
        return write_metrics(ctx, p, sink);
    const pb_plan_form *found;
    pb_status status = pb_plan_form_find(ctx, form, &found);
    return status == PB_OK ? found->write(ctx, p->certificate, &p->schedule, sink) : status;
}

/* A file name from the graph's name: other characters than letters, digits, - and _ become _. */
static void plain_name(const char *name, char *text, size_t room)
{
    size_t used = 0;
    for (; *name && used + 1 < room; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                     (*name >= '0' && *name <= '9') || *name == '-' || *name == '_';
        text[used++] = plain ? *name : '_';
    }
    text[used] = '\0';
}

static void respond_file(request *r, const job *j, const pb_plan_result *p)
{
    enum { FORMS = 7 };
    static const char *const forms[FORMS][3] = {{"schedule", "json", "application/json"},
                                                {"pbs", "pbs", "application/octet-stream"},
                                                {"metrics", "json", "application/json"},
                                                {"trace", "json", "application/json"},
                                                {"csv", "csv", "text/csv"},
                                                {"dot", "dot", "text/vnd.graphviz"},
                                                {"decisions", "txt", "text/plain; charset=utf-8"}};
    size_t at = FORMS, length = 0;
    char name[60];
    text_out text;
    pb_context ctx;
    if (!arguments_known(r, "as") || !argument_word(r, "as", "schedule pbs metrics trace csv dot decisions", &at))
        return;
    if (at == FORMS) {
        respond_error(r, MHD_HTTP_BAD_REQUEST,
                      "as: expected one of schedule, pbs, metrics, trace, csv, dot or decisions");
        return;
    }
    pb_context_init(&ctx);
    ctx.memory_limit = RESPONSE_BYTES;
    FILE *out = text_begin(&text);
    pb_status status = out ? write_form(&ctx, p, forms[at][0], text_sink(&text)) : PB_ENOMEM;
    char *bytes = text_end(&text, &length);
    if (status != PB_OK || !bytes) {
        free(bytes);
        respond_status(r, status == PB_OK ? PB_ENOMEM : status, &ctx.error);
        return;
    }
    respond_bytes(r, forms[at][2], bytes, length);
    plain_name(j->graph->name, name, sizeof name);
    snprintf(r->response.disposition, sizeof r->response.disposition, "attachment; filename=\"%s-%s%s%s.%s\"", name,
             p->schedule.strategy, at ? "-" : "", at ? forms[at][0] : "", forms[at][1]);
}

static void respond_explain(request *r, const pb_plan_result *p)
{
    pb_node node = PB_NO_NODE;
    text_out reply;
    pb_context ctx;
    if (!arguments_known(r, "node") || (request_argument(r, "node") && !argument_node(r, p->game->graph, &node)))
        return;
    pb_context_init(&ctx);
    ctx.memory_limit = RESPONSE_BYTES;
    FILE *out = text_begin(&reply);
    pb_status status = out ? pb_explain_json(&ctx, p->certificate, node, text_sink(&reply)) : PB_ENOMEM;
    if (status == PB_OK) {
        respond_text(r, MHD_HTTP_OK, &reply);
        return;
    }
    free(text_end(&reply, NULL));
    respond_status(r, status, &ctx.error);
}

void handle_plan(request *r, job *j, const pb_plan_result *p, uint64_t number, const char *what)
{
    if (!p->certificate && (strcmp(what, "file") == 0 || strcmp(what, "explain") == 0))
        respond_error(
            r, MHD_HTTP_NOT_FOUND,
            "%.60s has no plan under this cap, only the moves up to the one that does not fit; GET its frames",
            p->schedule.strategy);
    else if (strcmp(what, "file") == 0)
        respond_file(r, j, p);
    else if (strcmp(what, "explain") == 0)
        respond_explain(r, p);
    else if (!arguments_known(r, ""))
        return; /* the others take no arguments */
    else if (what[0] == '\0')
        respond_row(r, j, p, number);
    else if (strcmp(what, "frames") == 0)
        binary_frames(r, p);
    else
        respond_error(r, MHD_HTTP_NOT_FOUND, "this address does not exist; docs/server.md lists the addresses");
}
