/* handle_graph.c -- requests about graphs. */
#define _XOPEN_SOURCE 700
#include "common/json_print.h"
#include "common/row_json.h"
#include "control.h"
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_NEIGHBOURS = 200, BOUND_TICKS = 300000 };

/* ---- new graphs ---- */

static pb_status find_bounds(stored_graph *g)
{
    pb_status status = PB_OK;
    g->ctx.tick_limit = BOUND_TICKS; /* the user waits for it */
    for (unsigned kind = PB_GAME_REMAT; kind <= PB_GAME_TIERED && status == PB_OK; kind *= 2) {
        pb_least_fact *l = &g->facts.games[g->facts.game_count++];
        pb_game game = {.graph = g->g, .kind = (pb_game_kind)kind, .cap = PB_UNLIMITED, .weights = PB_WEIGHTS_DEFAULT};
        game.tier_count = kind == PB_GAME_TIERED;
        game.tiers[0].cap = PB_UNLIMITED;
        l->kind = game.kind;
        status = pb_least_bound(&g->ctx, &game, &l->bounds);
    }
    g->ctx.tick_limit = 0;
    return status;
}

pb_status graph_complete(stored_graph *g, const char *name)
{
    pb_status status = pb_info_make(&g->ctx, g->g, &g->facts);
    if (status == PB_OK)
        status = pb_graph_hash(&g->ctx, g->g, g->hash);
    if (status == PB_OK)
        status = find_bounds(g);
    uint8_t *lane = malloc((size_t)g->g->node_count + 1);
    g->name = strdup(name && name[0] ? name : g->g->name[0] ? g->g->name : "graph");
    if (status == PB_OK && (!lane || !g->name))
        status = PB_ENOMEM;
    if (status == PB_OK)
        status = pb_layout_backward(&g->ctx, g->g, lane, &g->training);
    free(lane);
    return status;
}

/* How a request wants its file to be read: its arguments take the place of the options of `pebble ui`. */
static const struct {
    const char *argument;
    pb_setting setting;
} reading_arguments[] = {{"dims", PB_SET_dims},           {"batch", PB_SET_batch}, {"train", PB_SET_train},
                         {"optimizer", PB_SET_optimizer}, {"grads", PB_SET_grads}, {"inputs", PB_SET_inputs}};
enum { READING_ARGUMENTS = sizeof reading_arguments / sizeof *reading_arguments };

static pb_status read_arguments(const request *r, stored_graph *g, pb_read_options *reading)
{
    static const pb_dim_words words = {"dims={", "\"", "\": 1", ", ", "}"}; /* JSON, so that a page can ask for them */
    pb_settings s = {.wrong = PB_SETTING_COUNT};
    bool any = false;
    if (r)
        reading->dim_words = &words;
    for (int i = 0; r && i < READING_ARGUMENTS; i++) {
        s.text[reading_arguments[i].setting] = request_argument(r, reading_arguments[i].argument);
        any |= s.text[reading_arguments[i].setting] != NULL;
    }
    if (!any)
        return PB_OK;
    *reading = (pb_read_options){.dim_words = &words};
    pb_status status = pb_settings_reading(&g->ctx, &s, &g->arena, reading);
    if (status != PB_OK && s.wrong < PB_SETTING_COUNT)
        pb_error_name(&g->ctx, pb_setting_name(s.wrong));
    return status;
}

stored_graph *graph_from_bytes(const server *s, const request *r, const char *name, pb_memory bytes, pb_status *status,
                               pb_error *error)
{
    stored_graph *g = graph_new((size_t)s->options.max_kept);
    pb_read_options reading = s->options.reading;
    *status = PB_ENOMEM;
    if (!g)
        return NULL;
    *status = read_arguments(r, g, &reading);
    reading.path = name;
    if (*status == PB_OK)
        *status = pb_graph_read_with(&g->ctx, pb_source_memory(&bytes), &reading, &g->arena, &g->g);
    if (*status == PB_OK)
        *status = graph_complete(g, name);
    if (*status == PB_OK)
        return g;
    *error = g->ctx.error;
    graph_free(g);
    return NULL;
}

pb_status graph_make(stored_graph *g, const char *family, const pb_option *params, uint32_t count)
{
    pb_status status = pb_generate(&g->ctx, family, params, count, &g->arena, &g->g);
    return status == PB_OK ? graph_complete(g, NULL) : status;
}

static void u64_field(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\"%s\":", key);
    json_u64(out, value);
}

static void respond_info(request *r, const stored_graph *g)
{
    text_out text;
    FILE *out = text_begin(&text);
    if (!out) {
        respond_no_memory(r);
        return;
    }
    fputc('{', out);
    json_info_fields(out, &g->facts);
    fprintf(out, ",\"id\":\"g%llu\",\"name\":", (unsigned long long)g->number);
    json_text(out, g->name);
    fputs(",\"hash\":", out);
    json_text(out, g->hash);
    fprintf(out, ",\"has_groups\":%s,\"training\":%s", g->g->group_count ? "true" : "false",
            g->training ? "true" : "false");
    u64_field(out, "groups", g->g->group_count);
    u64_field(out, "pinned", g->facts.keep);
    u64_field(out, "once", g->facts.once);
    u64_field(out, "byproducts", g->facts.byproducts);
    const server_options *o = &r->s->options;
    const pb_machine *m = o->machine_text ? o->machine : g->g->machine;
    fputs(",\"machine\":", out);
    if (m)
        json_machine(out, m, "");
    else
        fputs("null", out);
    fputs("}\n", out);
    respond_text(r, MHD_HTTP_OK, &text);
}

/* Stores the graph and responds with its facts, or with the error. */
static void store_and_respond(request *r, stored_graph *g, pb_status status)
{
    if (status != PB_OK) {
        respond_status(r, status, g ? &g->ctx.error : NULL);
        if (g)
            graph_free(g);
        return;
    }
    g = store_add_graph(&r->s->store, g);
    respond_info(r, g);
    store_release_graph(&r->s->store, g);
}

static void from_gallery(request *r, const char *id)
{
    pb_option params[MAX_PARAMETERS];
    const gallery_item *item = gallery;
    while (item < gallery + gallery_count && strcmp(item->id, id) != 0)
        item++;
    if (item == gallery + gallery_count) {
        respond_error(r, MHD_HTTP_BAD_REQUEST, "the gallery has no `%.60s`; GET /api/about lists its items", id);
        return;
    }
    stored_graph *g = graph_new((size_t)r->s->options.max_kept);
    int count = g ? gallery_parameters(item, &g->arena, params) : -1;
    pb_status status = count < 0 ? PB_ENOMEM : graph_make(g, item->family, params, (uint32_t)count);
    if (status == PB_OK) { /* named after the gallery item */
        char *name = strdup(item->title);
        if (name) {
            free(g->name);
            g->name = name;
        }
    }
    store_and_respond(r, g, status);
}

static void from_family(request *r, json_t *document)
{
    pb_option params[MAX_PARAMETERS];
    uint32_t count = 0;
    const char *family = json_string_value(json_object_get(document, "family")), *key;
    json_t *value, *list = json_object_get(document, "parameters");
    char numbers[MAX_PARAMETERS][CONTROL_TEXT];
    if (!family || (list && !json_is_object(list))) {
        respond_error(r, MHD_HTTP_BAD_REQUEST, "expected `gallery`, or `family` with `parameters`");
        return;
    }
    json_object_foreach(list, key, value)
    {
        const char *text = count < MAX_PARAMETERS ? control_text(value, numbers[count]) : NULL;
        if (!text) {
            respond_error(r, MHD_HTTP_BAD_REQUEST,
                          "parameters: expected an object of strings or numbers, at most %d of them",
                          (int)MAX_PARAMETERS);
            return;
        }
        params[count++] = (pb_option){key, text};
    }
    stored_graph *g = graph_new((size_t)r->s->options.max_kept);
    store_and_respond(r, g, g ? graph_make(g, family, params, count) : PB_ENOMEM);
}

static void from_file(request *r)
{
    pb_status status;
    pb_error error = {.message = ""};
    pb_memory bytes = {.bytes = r->body ? r->body : "", .length = r->length};
    stored_graph *g = graph_from_bytes(r->s, r, request_argument(r, "name"), bytes, &status, &error);
    if (g)
        store_and_respond(r, g, PB_OK);
    else
        respond_status(r, status, &error);
}

/* {"gallery"} or {"family", "parameters"}. */
static void from_control(request *r, json_t *document)
{
    const char *id = json_string_value(json_object_get(document, "gallery"));
    const char *unknown =
        control_unknown(document, json_object_get(document, "gallery") ? "gallery" : "family parameters");
    if (unknown)
        respond_error(r, MHD_HTTP_BAD_REQUEST,
                      "unknown field `%.60s`; expected `gallery`, or `family` with `parameters`", unknown);
    else if (id)
        from_gallery(r, id);
    else
        from_family(r, document);
}

void handle_new_graph(request *r)
{
    pb_error error;
    bool control = strncasecmp(r->type, "application/json", 16) == 0;
    if (!arguments_known(r, control ? "" : "name dims batch train optimizer grads inputs"))
        return;
    if (!control) {
        from_file(r);
        return;
    }
    json_t *document = control_load(r->body, r->length, &error);
    if (document)
        from_control(r, document);
    else
        respond_status(r, PB_EFORMAT, &error);
    json_decref(document);
}

/* ---- responses about a graph ---- */

static void print_nodes(FILE *out, const pb_graph *g, const pb_node *list, uint32_t count)
{
    fputc('[', out);
    for (uint32_t i = 0; i < count && i < MAX_NEIGHBOURS; i++) {
        fprintf(out, "%s{\"node\":%lu,\"name\":", i ? "," : "", (unsigned long)list[i]);
        json_text(out, pb_graph_name(g, list[i]));
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_flags(FILE *out, uint16_t flags)
{
    static const struct {
        uint16_t bit;
        const char *name;
    } names[] = {{PB_NODE_GIVEN, "given"},        {PB_NODE_GIVEN_SLOW, "slow"}, {PB_NODE_ONCE, "once"},
                 {PB_NODE_KEEP, "keep"},          {PB_NODE_TARGET, "target"},   {PB_NODE_NEEDED, "needed"},
                 {PB_NODE_BYPRODUCT, "byproduct"}};
    const char *join = "";
    fputc('[', out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & names[i].bit) {
            fprintf(out, "%s\"%s\"", join, names[i].name);
            join = ",";
        }
    fputc(']', out);
}

static void print_node(FILE *out, const pb_graph *g, pb_node v)
{
    fprintf(out, "{\"node\":%lu,\"name\":", (unsigned long)v);
    json_text(out, pb_graph_name(g, v));
    const char *dot = strrchr(pb_graph_name(g, v), '.');
    fputs(",\"op\":", out);
    json_text(out, dot ? dot + 1 : NULL);
    fputs(",\"group\":", out);
    json_text(out, g->group && g->group[v] != UINT32_MAX ? g->group_names[g->group[v]] : NULL);
    u64_field(out, "cost", g->cost[v]);
    u64_field(out, "size", g->size[v]);
    u64_field(out, "work", g->workspace[v]);
    u64_field(out, "depth", g->depth[v]);
    u64_field(out, "input_count", g->in_start[v + 1] - g->in_start[v]);
    fputs(",\"inputs\":", out);
    print_nodes(out, g, g->in + g->in_start[v], g->in_start[v + 1] - g->in_start[v]);
    u64_field(out, "reader_count", g->out_start[v + 1] - g->out_start[v]);
    fputs(",\"readers\":", out);
    print_nodes(out, g, g->out + g->out_start[v], g->out_start[v + 1] - g->out_start[v]);
    fputs(",\"flags\":", out);
    print_flags(out, g->flags[v]);
    fputs(",\"also\":", out);
    if (g->part)
        print_nodes(out, g, g->part + g->part_start[v], g->part_start[v + 1] - g->part_start[v]);
    else
        fputs("[]", out);
    fputs(",\"over\":", out);
    if (g->inplace)
        print_nodes(out, g, g->inplace + g->inplace_start[v], g->inplace_start[v + 1] - g->inplace_start[v]);
    else
        fputs("[]", out);
    fputs(",\"owner\":", out);
    if (g->flags[v] & PB_NODE_BYPRODUCT)
        fprintf(out, "%lu", (unsigned long)g->owner[v]);
    else
        fputs("null", out);
    fputs("}\n", out);
}

static void respond_node(request *r, const pb_graph *g)
{
    pb_node v;
    text_out reply;
    if (!arguments_known(r, "node") || !argument_node(r, g, &v))
        return;
    FILE *out = text_begin(&reply);
    if (out)
        print_node(out, g, v);
    respond_text(r, MHD_HTTP_OK, &reply);
}

static void respond_file(request *r, const pb_graph *g)
{
    pb_context ctx;
    text_out text;
    pb_context_init(&ctx);
    ctx.memory_limit = RESPONSE_BYTES;
    FILE *out = text_begin(&text);
    pb_status status = out ? pb_graph_write(&ctx, g, PB_FORMAT_JSON, text_sink(&text)) : PB_ENOMEM;
    if (status != PB_OK) {
        free(text_end(&text, NULL));
        respond_status(r, status, &ctx.error);
        return;
    }
    respond_text(r, MHD_HTTP_OK, &text);
    snprintf(r->response.disposition, sizeof r->response.disposition, "attachment; filename=\"graph.json\"");
}

void handle_graph(request *r, stored_graph *g, const char *what)
{
    if (strcmp(what, "layout") == 0)
        binary_layout(r, g->g);
    else if (strcmp(what, "node") == 0)
        respond_node(r, g->g);
    else if (!arguments_known(r, ""))
        return; /* the others take no arguments */
    else if (what[0] == '\0')
        respond_info(r, g);
    else if (strcmp(what, "names") == 0)
        binary_names(r, g->g);
    else if (strcmp(what, "file") == 0)
        respond_file(r, g->g);
    else
        respond_error(r, MHD_HTTP_NOT_FOUND, "this address does not exist; docs/server.md lists the addresses");
}
