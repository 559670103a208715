/* campaign.c -- reads a sweep from its document in the store; see campaign.h.
 *
 *     pebble-sweep-cells/1
 *     version 0.1.0
 *     graph HASH
 *     known 1            plans made while the caps were chosen, in files of their own
 *     cap 8192           one line for each
 *     set strategy auto  settings, as given
 */
#include "api/campaign/campaign.h"

#include "base/context.h"
#include "base/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pb_setting pbi_kept_settings[PBI_KEPT_SETTINGS] = {
    PB_SET_game,          PB_SET_objective, PB_SET_machine,  PB_SET_weights, PB_SET_tiers,
    PB_SET_store_cost,    PB_SET_load_cost, PB_SET_slow_cap, PB_SET_policy,  PB_SET_store_per_unit,
    PB_SET_load_per_unit, PB_SET_seed,      PB_SET_ticks,    PB_SET_memory,
};

void pbi_graph_file(const char *hash, char name[PBI_PATH_ROOM])
{
    snprintf(name, PBI_PATH_ROOM, "graphs/%.2s/%s.json", hash, hash);
}

void pbi_campaign_file(const char *id, const char *part, char name[PBI_PATH_ROOM])
{
    snprintf(name, PBI_PATH_ROOM, "sweeps/%.2s/%s.%s", id, id, part);
}

bool pbi_campaign_there(const pb_store *store, const char *id)
{
    char name[PBI_PATH_ROOM];
    pbi_campaign_file(id, "sweep", name);
    return pbi_folder_has(&store->folder, name);
}

/* ---- the document ---- */

typedef struct document {
    char graph[PB_HASH_TEXT];
    uint64_t *caps;
    uint32_t cap_count, known;
    const char *strategies;
    pb_settings settings;
} document;

static pb_status damaged(pb_context *ctx, const char *id)
{
    return pbi_fail(ctx, PB_EFORMAT, "the sweep %s in the store has a line that does not belong there; remove its file",
                    id);
}

static bool take_line(document *d, char *line)
{
    char *value = strchr(line, ' ');
    if (!value)
        return false;
    *value++ = '\0';
    if (strcmp(line, "graph") == 0)
        return snprintf(d->graph, sizeof d->graph, "%s", value) == PB_HASH_TEXT - 1;
    if (strcmp(line, "cap") == 0)
        d->caps[d->cap_count++] = strtoull(value, NULL, 10);
    else if (strcmp(line, "known") == 0)
        d->known = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(line, "strategies") == 0)
        d->strategies = value;
    else if (strcmp(line, "set") != 0)
        return false;
    if (strcmp(line, "set") != 0)
        return true;
    char *text = strchr(value, ' ');
    if (!text)
        return false;
    *text++ = '\0';
    for (int i = 0; i < PBI_KEPT_SETTINGS; i++)
        if (strcmp(pb_setting_name(pbi_kept_settings[i]), value) == 0)
            d->settings.text[pbi_kept_settings[i]] = text;
    return true;
}

static pb_status read_document(pb_context *ctx, const pb_store *store, const char *id, pb_arena *arena, document *d)
{
    char name[PBI_PATH_ROOM];
    pbi_bytes bytes;
    pbi_campaign_file(id, "sweep", name);
    *d = (document){.settings.wrong = PB_SETTING_COUNT};
    pb_status status = pbi_folder_read(ctx, &store->folder, name, arena, &bytes);
    if (status != PB_OK)
        return status;
    char *text = pb_arena_text(arena, bytes.bytes, bytes.length);
    size_t lines = 0;
    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    d->caps = pb_arena_alloc(arena, lines + 1, sizeof *d->caps);
    if (!text || !d->caps)
        return PB_ENOMEM;
    uint32_t number = 0;
    for (char *at = text; *at; number++) {
        char *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;
        *end = '\0';
        if (number == 0 && strcmp(at, "pebble-sweep-cells/1") != 0)
            return damaged(ctx, id);
        if (number == 1 && strcmp(at, "version " PB_VERSION) != 0)
            return pbi_fail(ctx, PB_EFORMAT, "a sweep of the store is of pebble %.40s, this is %s; use that one",
                            at + 8, PB_VERSION);
        if (number > 1 && !take_line(d, at))
            return damaged(ctx, id);
        at = next;
    }
    return d->graph[0] && d->cap_count ? PB_OK : damaged(ctx, id);
}

/* ---- the sweep ---- */

static pb_status read_graph(pb_context *ctx, const pb_store *store, const char *hash, pb_arena *arena,
                            const pb_graph **out)
{
    char name[PBI_PATH_ROOM], found[PB_HASH_TEXT];
    pbi_bytes bytes;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    pbi_graph_file(hash, name);
    pb_status status = pbi_folder_read(ctx, &store->folder, name, &scratch, &bytes);
    if (status == PB_OK) {
        pb_memory memory = {.bytes = bytes.bytes, .length = bytes.length};
        status = pb_graph_read(ctx, pb_source_memory(&memory), PB_FORMAT_JSON, NULL, arena, out);
    }
    pb_arena_release(&scratch);
    if (status == PB_OK)
        status = pb_graph_hash(ctx, *out, found);
    if (status == PB_OK && strcmp(found, hash) != 0)
        status = pbi_fail(ctx, PB_EFORMAT,
                          "the graph %.12s in the store is another one; remove its file, and sweep again", hash);
    return status;
}

static pb_status take_settings(pb_context *ctx, pbi_campaign *c, pb_arena *arena)
{
    pb_weights *weights = NULL;
    pb_limits limits = {.ticks = 0};
    c->base = PB_GAME_DEFAULT(c->graph);
    c->request.plan = PB_REQUEST_DEFAULT;
    pb_status status = pb_settings_game(ctx, &c->settings, arena, &c->base);
    c->request.game = c->settings.text[PB_SET_game] ? (unsigned)c->base.kind : 0;
    if (status == PB_OK)
        status = pb_settings_weights(ctx, &c->settings, c->base.graph, arena, &weights, &c->request.weights_count);
    if (status == PB_OK)
        status = pb_settings_request(ctx, &c->settings, &c->request.plan);
    if (status == PB_OK)
        status = pb_settings_limits(ctx, &c->settings, &limits);
    c->request.weights = weights;
    c->request.plan.prove = true;
    c->ticks = limits.ticks;
    c->memory = limits.memory;
    return status;
}

pb_status pbi_campaign_read(pb_context *ctx, const pb_store *store, const char *id, pb_arena *arena, pbi_campaign **out)
{
    document d;
    pbi_campaign *c = pb_arena_zero(arena, 1, sizeof *c);
    if (!c)
        return PB_ENOMEM;
    pb_status status = read_document(ctx, store, id, arena, &d);
    if (status != PB_OK)
        return status;
    snprintf(c->id, sizeof c->id, "%s", id);
    c->settings = d.settings;
    c->request = (pb_sweep_request){.caps = d.caps, .cap_count = d.cap_count, .strategies = d.strategies};
    c->request.known_count = d.known; /* pbi_campaign_known reads them */
    status = read_graph(ctx, store, d.graph, arena, &c->graph);
    if (status == PB_OK)
        status = take_settings(ctx, c, arena);
    if (status != PB_OK)
        return status;
    uint64_t limit = ctx->tick_limit;
    c->sweep.graph = c->base.graph;
    c->state =
        (pbi_sweep_state){.ctx = ctx, .base = &c->base, .request = &c->request, .result = arena, .out = &c->sweep};
    ctx->tick_limit = c->ticks;
    status = pbi_sweep_begin(&c->state);
    ctx->tick_limit = limit;
    *out = c;
    return status;
}

pb_status pbi_campaign_known(pb_context *ctx, const pb_store *store, pbi_campaign *c, pb_arena *arena)
{
    pb_plan_result *known = pb_arena_zero(arena, c->request.known_count, sizeof *known);
    pb_status status = known ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < c->request.known_count && status == PB_OK; i++) {
        char name[PBI_PATH_ROOM], part[16];
        pbi_bytes row;
        pb_verdict verdict;
        snprintf(part, sizeof part, "known%u", (unsigned)i);
        pbi_campaign_file(c->id, part, name);
        status = pbi_folder_read(ctx, &store->folder, name, arena, &row);
        if (status == PB_OK)
            status = pbi_row_read(ctx, row, c->base.graph, arena, &known[i].schedule);
        if (status != PB_OK || !known[i].schedule.has_metrics)
            continue;
        pb_game *game = pb_arena_alloc(arena, 1, sizeof *game);
        pb_moves *moves = pb_arena_alloc(arena, 1, sizeof *moves); /* the certificate refers to both */
        if (!game || !moves)
            return PB_ENOMEM;
        *game = c->base;
        game->kind = known[i].schedule.game;
        game->cap = known[i].schedule.cap;
        *moves = known[i].schedule.moves;
        status = pb_verify(ctx, game, moves, arena, &verdict);
        known[i].game = game;
        known[i].certificate = status == PB_OK ? verdict.certificate : NULL;
    }
    c->request.known = known;
    return status;
}

/* ---- keys ---- */

/* Everything that the plan of a cell depends on. */
static pb_status key_text(pb_context *ctx, const pbi_campaign *c, uint32_t cell, pb_arena *scratch, pb_buffer *text)
{
    pb_game game;
    pb_plan_result blank;
    const pbi_spec *spec = &c->state.specs[pb_sweep_line_of(&c->sweep, cell)];
    pbi_job job = c->state.job;
    job.ctx = ctx;
    job.request = &c->state.plan;
    pb_buffer_init(text, scratch);
    pb_sink sink = pb_sink_buffer(text);
    pb_status status = pbi_sweep_game(&c->state, cell, scratch, &game);
    if (status == PB_OK)
        status = pbi_provenance(&job, &game, spec, scratch, &blank);
    if (status == PB_OK)
        status = pb_schedule_write_summary(ctx, &blank.schedule, -1, sink);
    if (status != PB_OK)
        return status;
    char rest[160];
    const char *line = c->sweep.lines[pb_sweep_line_of(&c->sweep, cell)].spec;
    int length = snprintf(rest, sizeof rest, "\npatient %d memory %" PRIu64 " prove %d\n", c->state.plan.patient,
                          c->memory, c->state.plan.prove);
    status = sink.write(sink.state, line, strlen(line));
    return status == PB_OK ? sink.write(sink.state, rest, (size_t)length) : status;
}

static int by_key(const void *left, const void *right)
{
    const pbi_cell_key *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

pb_status pbi_campaign_keys(pb_context *ctx, const pbi_campaign *c, pb_arena *arena, pbi_cell_key **out)
{
    pbi_cell_key *keys = pb_arena_alloc(arena, c->sweep.cell_count, sizeof *keys);
    pb_status status = keys ? PB_OK : PB_ENOMEM;
    for (uint32_t i = 0; i < c->sweep.cell_count && status == PB_OK; i++) {
        pb_arena scratch;
        pb_buffer text;
        pb_arena_init(&scratch, ctx);
        status = key_text(ctx, c, i, &scratch, &text);
        if (status == PB_OK)
            status = pbi_key_of(ctx, (pbi_bytes){text.bytes, text.length}, keys[i].key);
        keys[i].index = i;
        pb_arena_release(&scratch);
    }
    if (status == PB_OK && c->sweep.cell_count)
        qsort(keys, c->sweep.cell_count, sizeof *keys, by_key);
    *out = keys;
    return status;
}

static pb_status fill_shard(pb_context *ctx, const pb_store *store, const pbi_campaign *c, const pbi_cell_key *keys,
                            uint32_t count, uint64_t *added)
{
    pb_arena scratch;
    pbi_cell *list = NULL;
    uint32_t there = 0;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_cells_list(ctx, &store->folder, pbi_shard_of(keys[0].key), &scratch, &list, &there);
    for (uint32_t i = 0; i < count && status == PB_OK; i++) {
        pbi_cell cell = {.state = PBI_CELL_TODO, .index = keys[i].index};
        if ((i && strcmp(keys[i - 1].key, keys[i].key) == 0) || pbi_cells_find(list, there, keys[i].key))
            continue;
        memcpy(cell.key, keys[i].key, sizeof cell.key);
        memcpy(cell.sweep, c->id, sizeof cell.sweep);
        status = pbi_cell_add(ctx, &store->folder, &cell);
        *added += status == PB_OK;
    }
    pb_arena_release(&scratch);
    return status;
}

pb_status pbi_campaign_fill(pb_context *ctx, const pb_store *store, const pbi_campaign *c, uint64_t *added)
{
    pb_arena scratch;
    pbi_cell_key *keys = NULL;
    pb_arena_init(&scratch, ctx);
    pb_status status = pbi_campaign_keys(ctx, c, &scratch, &keys);
    *added = 0;
    for (uint32_t i = 0, end; i < c->sweep.cell_count && status == PB_OK; i = end) {
        for (end = i + 1; end < c->sweep.cell_count; end++)
            if (pbi_shard_of(keys[end].key) != pbi_shard_of(keys[i].key))
                break;
        status = fill_shard(ctx, store, c, &keys[i], end - i, added);
    }
    pb_arena_release(&scratch);
    return status;
}

/* ---- rows ---- */

pb_status pbi_row_write(pb_context *ctx, const pb_schedule *s, pb_arena *arena, pbi_bytes *out)
{
    pb_buffer buffer;
    pb_buffer_init(&buffer, arena);
    pb_status status =
        pb_schedule_write(ctx, s, s->has_metrics ? PB_FORMAT_BINARY : PB_FORMAT_JSON, pb_sink_buffer(&buffer));
    *out = (pbi_bytes){buffer.bytes, buffer.length};
    return status;
}

pb_status pbi_row_read(pb_context *ctx, pbi_bytes row, const pb_graph *g, pb_arena *arena, pb_schedule *out)
{
    pb_memory memory = {.bytes = row.bytes, .length = row.length};
    return pb_schedule_read(ctx, pb_source_memory(&memory), PB_FORMAT_AUTO, g, arena, out);
}

pb_status pbi_row_outcome(pb_context *ctx, const pb_schedule *s, char text[PBI_OUTCOME_TEXT])
{
    char key[PBI_KEY_TEXT];
    snprintf(text, PBI_OUTCOME_TEXT, "%s", pb_outcome_name(s->outcome));
    if (s->outcome != PB_GAVE_UP || !s->reason)
        return PB_OK;
    /* Up to the figures: "does not fit: move 12 ..." is one reason at every cap. */
    pb_status status = pbi_key_of(ctx, (pbi_bytes){s->reason, strcspn(s->reason, ":")}, key);
    if (status == PB_OK)
        snprintf(text, PBI_OUTCOME_TEXT, "%s-%.4s", pb_outcome_name(s->outcome), key);
    return status;
}
