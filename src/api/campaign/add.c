/* add.c -- puts a sweep into a store: its graph, its document, and its cells. */
#include "api/campaign/campaign.h"

#include "base/context.h"
#include "base/out.h"

#include <stdio.h>
#include <string.h>

pb_status pb_store_open(pb_context *ctx, const char *path, bool create, pb_arena *arena, pb_store **out)
{
    pb_store *store = pb_arena_zero(arena, 1, sizeof *store);
    if (!store)
        return PB_ENOMEM;
    store->arena = arena;
    pb_status status = pbi_folder_open(ctx, path, create, arena, &store->folder);
    if (status == PB_OK)
        *out = store;
    return status;
}

void pb_store_close(pb_store *store) { pbi_folder_close(&store->folder); }

const char *pb_store_path(const pb_store *store) { return store->folder.path; }

/* ---- what may be in a store ---- */

static pb_status check_settings(pb_context *ctx, pb_settings *s)
{
    const char *time = s->text[PB_SET_time];
    s->wrong = PB_SET_time;
    if (time)
        return pbi_fail(
            ctx, PB_EINVAL,
            "plans that a time limit ends differ from one computer to the next, so they cannot be in a store; "
            "limit the effort of each plan with ticks");
    s->wrong = PB_SETTING_COUNT;
    return PB_OK;
}

static pb_status check_lines(pb_context *ctx, pb_settings *s, const pbi_sweep_state *state)
{
    for (uint32_t i = 0; i < state->out->line_count; i++)
        if (state->specs[i].row->traits & PB_TRAIT_FILE) {
            s->wrong = PB_SET_strategy;
            return pbi_fail(ctx, PB_EINVAL,
                            "%.60s plans what a file says, and files are not part of a store; sweep it without a store",
                            state->specs[i].row->name);
        }
    return PB_OK;
}

/* ---- texts ---- */

/* A machine as one line of JSON, so that the document needs no other file. */
static pb_status machine_line(pb_context *ctx, pb_settings *s, const pb_graph *g, pb_arena *arena)
{
    const pb_machine *m = NULL;
    pb_buffer buffer;
    const char *asked = s->text[PB_SET_machine];
    if (!asked || strcmp(asked, "none") == 0)
        return PB_OK;
    pb_buffer_init(&buffer, arena);
    pb_status status = pb_settings_machine(ctx, s, g, arena, &m);
    if (status == PB_OK && m)
        status = pb_machine_write(ctx, m, pb_sink_buffer(&buffer));
    if (status != PB_OK || !m)
        return status;
    for (char *c = buffer.bytes; *c; c++)
        if (*c == '\n')
            *c = ' ';
    s->text[PB_SET_machine] = buffer.bytes;
    return PB_OK;
}

static void put_settings(pbi_out *out, const pb_settings *s)
{
    for (int i = 0; i < PBI_KEPT_SETTINGS; i++) {
        const char *text = s->text[pbi_kept_settings[i]];
        if (!text)
            continue;
        pbi_out_text(out, "set ");
        pbi_out_text(out, pb_setting_name(pbi_kept_settings[i]));
        pbi_out_char(out, ' ');
        for (; *text; text++)
            pbi_out_char(out, *text == '\n' ? ' ' : *text);
        pbi_out_char(out, '\n');
    }
}

/* What was asked for, before the caps are chosen: the same question has the same id. */
static pb_status ask_id(pb_context *ctx, const pb_settings *s, const char *hash, pb_arena *arena, char id[PBI_KEY_TEXT])
{
    pb_buffer buffer;
    pbi_out out;
    pb_buffer_init(&buffer, arena);
    pbi_out_init(&out, ctx, pb_sink_buffer(&buffer));
    pbi_out_text(&out, "pebble-sweep-cells/1\nversion " PB_VERSION "\ngraph ");
    pbi_out_text(&out, hash);
    pbi_out_text(&out, "\ncaps ");
    pbi_out_text(&out, s->text[PB_SET_caps] ? s->text[PB_SET_caps] : "");
    pbi_out_text(&out, "\npoints ");
    pbi_out_text(&out, s->text[PB_SET_points] ? s->text[PB_SET_points] : "");
    pbi_out_text(&out, "\nstrategies ");
    pbi_out_text(&out, s->text[PB_SET_strategy] ? s->text[PB_SET_strategy] : "auto");
    pbi_out_char(&out, '\n');
    put_settings(&out, s);
    pb_status status = pbi_out_finish(&out);
    return status == PB_OK ? pbi_key_of(ctx, (pbi_bytes){buffer.bytes, buffer.length}, id) : status;
}

/* ---- files ---- */

static pb_status write_sealed(pb_context *ctx, const pb_store *store, const char *name, pbi_bytes content)
{
    char folder[PBI_PATH_ROOM];
    const char *slash = strrchr(name, '/');
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
    pb_status status = pbi_folder_add(ctx, &store->folder, folder);
    return status == PB_OK ? pbi_folder_write(ctx, &store->folder, name, NULL, content) : status;
}

static pb_status write_graph(pb_context *ctx, const pb_store *store, const pb_graph *g, const char *hash,
                             pb_arena *arena)
{
    char name[PBI_PATH_ROOM];
    pb_buffer buffer;
    pbi_graph_file(hash, name);
    if (pbi_folder_has(&store->folder, name))
        return PB_OK;
    pb_buffer_init(&buffer, arena);
    pb_status status = pb_graph_write(ctx, g, PB_FORMAT_JSON, pb_sink_buffer(&buffer));
    return status == PB_OK ? write_sealed(ctx, store, name, (pbi_bytes){buffer.bytes, buffer.length}) : status;
}

static pb_status write_known(pb_context *ctx, const pb_store *store, const char *id, const pb_sweep_request *request,
                             pb_arena *arena)
{
    pb_status status = PB_OK;
    for (uint32_t i = 0; i < request->known_count && status == PB_OK; i++) {
        char name[PBI_PATH_ROOM], part[16];
        pbi_bytes row;
        snprintf(part, sizeof part, "known%u", (unsigned)i);
        pbi_campaign_file(id, part, name);
        status = pbi_row_write(ctx, &request->known[i].schedule, arena, &row);
        if (status == PB_OK)
            status = write_sealed(ctx, store, name, row);
    }
    return status;
}

typedef struct document {
    const char *id, *hash; /* hash: of the graph */
    const pb_settings *settings;
    const pb_sweep_request *request;
} document;

static pb_status write_document(pb_context *ctx, const pb_store *store, const document *d, pb_arena *arena)
{
    const pb_sweep_request *request = d->request;
    char name[PBI_PATH_ROOM];
    pb_buffer buffer;
    pbi_out out;
    pb_buffer_init(&buffer, arena);
    pbi_out_init(&out, ctx, pb_sink_buffer(&buffer));
    pbi_out_text(&out, "pebble-sweep-cells/1\nversion " PB_VERSION "\ngraph ");
    pbi_out_text(&out, d->hash);
    pbi_out_text(&out, "\nstrategies ");
    pbi_out_text(&out, request->strategies ? request->strategies : "auto");
    pbi_out_format(&out, "\nknown %u\n", (unsigned)request->known_count);
    for (uint32_t i = 0; i < request->cap_count; i++) {
        pbi_out_text(&out, "cap ");
        pbi_out_u64(&out, request->caps[i]);
        pbi_out_char(&out, '\n');
    }
    put_settings(&out, d->settings);
    pb_status status = pbi_out_finish(&out);
    pbi_campaign_file(d->id, "sweep", name);
    return status == PB_OK ? write_sealed(ctx, store, name, (pbi_bytes){buffer.bytes, buffer.length}) : status;
}

/* ---- the caps ---- */

/* Chooses the caps, which may make plans, and writes all that the store needs of the sweep. */
static pb_status write_sweep(pb_context *ctx, const pb_store *store, const pb_graph *g, pb_settings *s, const char *id,
                             pb_arena *arena)
{
    enum { DEFAULT_POINTS = 20 };
    char hash[PB_HASH_TEXT];
    pb_game base = PB_GAME_DEFAULT(g);
    pb_sweep_request request = {.plan = PB_REQUEST_DEFAULT};
    pb_sweep probe = {.graph = g};
    pbi_sweep_state state = {.ctx = ctx, .base = &base, .request = &request, .result = arena, .out = &probe};
    uint64_t points = DEFAULT_POINTS;
    pb_status status = pb_graph_hash(ctx, g, hash);
    if (status == PB_OK)
        status = pb_settings_game(ctx, s, arena, &base);
    if (status == PB_OK)
        status = pb_settings_request(ctx, s, &request.plan);
    if (status == PB_OK)
        status = pb_settings_number(ctx, s, PB_SET_points, PB_SWEEP_MAX_CAPS, &points);
    if (status != PB_OK)
        return status;
    request.game = s->text[PB_SET_game] ? (unsigned)base.kind : 0;
    request.strategies = request.plan.strategy;
    request.plan.strategy = NULL;
    request.plan.threads = 1;
    s->wrong = PB_SET_caps;
    status = pb_sweep_choose_caps(ctx, &base, s->text[PB_SET_caps], (uint32_t)points, arena, &request);
    if (status == PB_OK && ctx->stopped != PB_GO_ON)
        status = pbi_fail(ctx, PB_ECANCELLED, "interrupted while the caps were chosen; start again");
    if (status != PB_OK)
        return status;
    s->wrong = PB_SETTING_COUNT;
    status = pbi_sweep_begin(&state);
    if (status == PB_OK)
        status = check_lines(ctx, s, &state);
    if (status == PB_OK)
        status = write_graph(ctx, store, g, hash, arena);
    if (status == PB_OK)
        status = write_known(ctx, store, id, &request, arena);
    const document d = {id, hash, s, &request};
    return status == PB_OK ? write_document(ctx, store, &d, arena) : status;
}

pb_status pb_store_add(pb_context *ctx, pb_store *store, const pb_graph *g, pb_settings *settings, pb_store_sweep *out)
{
    pb_arena scratch;
    pbi_campaign *c = NULL;
    pb_settings s = *settings;
    pb_limits limits = {.ticks = 0};
    char hash[PB_HASH_TEXT];
    uint64_t added = 0, limit = ctx->tick_limit;
    ctx->stopped = PB_GO_ON;
    pb_arena_init(&scratch, ctx);
    s.wrong = PB_SETTING_COUNT;
    const pb_graph *own = g->priced_by ? g->unpriced : g;
    pb_status status = check_settings(ctx, &s);
    if (status == PB_OK)
        status = pb_settings_limits(ctx, &s, &limits);
    if (status == PB_OK)
        status = machine_line(ctx, &s, own, &scratch);
    if (status == PB_OK)
        status = pb_graph_hash(ctx, own, hash);
    if (status == PB_OK)
        status = ask_id(ctx, &s, hash, &scratch, out->id);
    ctx->tick_limit = limits.ticks;
    if (status == PB_OK && !pbi_campaign_there(store, out->id))
        status = write_sweep(ctx, store, own, &s, out->id, &scratch);
    ctx->tick_limit = limit;
    if (status == PB_OK)
        status = pbi_campaign_read(ctx, store, out->id, &scratch, &c);
    if (status == PB_OK)
        status = pbi_campaign_fill(ctx, store, c, &added);
    if (status == PB_OK) {
        out->cells = c->sweep.cell_count;
        out->added = (uint32_t)added;
    }
    pb_arena_release(&scratch);
    settings->wrong = s.wrong;
    return status;
}
