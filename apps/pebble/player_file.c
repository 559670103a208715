/* player_file.c -- see player_file.h.
 *
 * The page's own player is in the file, and its data in the forms that the server sends. Each part is base64 in an
 * element of its own, because names in JSON could end the element. The policy in the head forbids the page to load
 * anything.
 */
#define _XOPEN_SOURCE 700
#include "player_file.h"

#include "files.h"

#include "common/json_print.h"
#include "common/row_json.h"
#include "server/page_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOVE_BYTES = 46 };
static const uint64_t max_frame_bytes = UINT64_C(48) << 20;

/* ---- base64 ---- */

typedef struct base64 {
    pb_sink to;
    unsigned char group[3];
    size_t held;
} base64;

static pb_status put_group(base64 *b)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = (unsigned)b->group[0] << 16 | (unsigned)b->group[1] << 8 | b->group[2];
    char text[4] = {digits[bits >> 18], digits[bits >> 12 & 63], b->held > 1 ? digits[bits >> 6 & 63] : '=',
                    b->held > 2 ? digits[bits & 63] : '='};
    b->held = 0;
    memset(b->group, 0, sizeof b->group);
    return b->to.write(b->to.state, text, sizeof text);
}

static pb_status write_base64(void *state, const char *bytes, size_t length)
{
    base64 *b = state;
    pb_status status = PB_OK;
    for (size_t i = 0; i < length && status == PB_OK; i++) {
        b->group[b->held++] = (unsigned char)bytes[i];
        if (b->held == 3)
            status = put_group(b);
    }
    return status;
}

/* ---- pieces of HTML ---- */

static pb_status put_text(pb_sink sink, const char *text) { return sink.write(sink.state, text, strlen(text)); }

static pb_status put_escaped(pb_sink sink, const char *text)
{
    pb_status status = PB_OK;
    for (; *text && status == PB_OK; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : NULL;
        status = entity ? put_text(sink, entity) : sink.write(sink.state, text, 1);
    }
    return status;
}

static const page_file *find_page_file(const char *path)
{
    for (size_t i = 0; i < page_file_count; i++)
        if (strcmp(page_files[i].path, path) == 0)
            return &page_files[i];
    return NULL;
}

static pb_status put_page_file(pb_sink sink, const char *before, const char *path, const char *after)
{
    const page_file *file = find_page_file(path);
    pb_status status = put_text(sink, before);
    if (status == PB_OK && file)
        status = sink.write(sink.state, (const char *)file->bytes, file->length);
    return status == PB_OK ? put_text(sink, after) : status;
}

exit_code player_check(app *a)
{
    if (find_page_file("/player.js") && find_page_file("/app.css"))
        return EXIT_DONE;
    return app_fail(a, EXIT_FAILED, "the player is part of the page, which is " PB_NOT_BUILT_IN(PB_PACKAGE_PAGE));
}

/* ---- the parts ---- */

typedef struct part {
    app *a;
    const player_file *p;
    const pb_graph *graph; /* priced as the plans are */
    const pb_certificate *plan;
} part;

typedef pb_status (*part_write)(const part *p, pb_sink sink);

static pb_status write_part(const part *p, const char *name, part_write write, pb_sink sink)
{
    char head[80];
    base64 b = {.to = sink};
    snprintf(head, sizeof head, "<script type=\"text/plain\" id=\"data-%s\">", name);
    pb_status status = put_text(sink, head);
    if (status == PB_OK)
        status = write(p, (pb_sink){write_base64, &b});
    if (status == PB_OK && b.held)
        status = put_group(&b);
    return status == PB_OK ? put_text(sink, "</script>\n") : status;
}

/* What is written to a stream in memory, on its way to a sink. */
typedef struct note {
    FILE *stream;
    char *bytes;
    size_t length;
} note;

static bool note_begin(note *n)
{
    *n = (note){.stream = NULL};
    n->stream = open_memstream(&n->bytes, &n->length);
    return n->stream != NULL;
}

static pb_status note_end(note *n, pb_sink sink)
{
    pb_status status = fclose(n->stream) == 0 ? PB_OK : PB_ENOMEM;
    if (status == PB_OK)
        status = sink.write(sink.state, n->bytes, n->length);
    free(n->bytes);
    return status;
}

static pb_status write_graph(const part *p, pb_sink sink)
{
    const pb_graph *g = p->graph;
    pb_info info;
    note n;
    bool trains = false;
    uint8_t *lane = pb_arena_alloc(&p->a->arena, g->node_count, 1);
    pb_status status = lane ? pb_layout_backward(&p->a->ctx, g, lane, &trains) : PB_ENOMEM;
    if (status == PB_OK)
        status = pb_info_make(&p->a->ctx, g, &info);
    if (status != PB_OK || !note_begin(&n))
        return status == PB_OK ? PB_ENOMEM : status;
    fputc('{', n.stream);
    json_info_fields(n.stream, &info);
    fprintf(n.stream, ",\"id\":\"g\",\"has_groups\":%s,\"training\":%s,\"name\":", g->group_count ? "true" : "false",
            trains ? "true" : "false");
    json_text(n.stream, g->name[0] ? g->name : "graph");
    fputc('}', n.stream);
    return note_end(&n, sink);
}

static pb_status write_rows(const part *p, pb_sink sink)
{
    uint64_t peak;
    pb_status status = pb_graph_program_peak(&p->a->ctx, p->graph, &peak);
    return status == PB_OK ? pb_comparison_json_write(&p->a->ctx, p->p->base, peak, p->p->rows, NULL, sink) : status;
}

static pb_status write_names_of_rows(const part *p, pb_sink sink)
{
    note n;
    if (!note_begin(&n))
        return PB_ENOMEM;
    for (uint32_t i = 0; i < p->p->rows->row_count; i++) {
        const pb_plan_result *row = &p->p->rows->rows[i];
        fputc(i ? ',' : '[', n.stream);
        json_text(n.stream, p->p->names ? p->p->names[i] : row->spec ? row->spec : row->schedule.strategy);
    }
    fputs(p->p->rows->row_count ? "]" : "[]", n.stream);
    return note_end(&n, sink);
}

static pb_status write_sweep(const part *p, pb_sink sink)
{
    return pb_sweep_json_write(&p->a->ctx, &p->p->sweep, 1, sink);
}

static pb_status write_layout(const part *p, pb_sink sink)
{
    return pb_player_layout_write(&p->a->ctx, p->graph, &(pb_layout_options){.fold = true}, sink);
}

static pb_status write_names(const part *p, pb_sink sink) { return pb_player_names_write(&p->a->ctx, p->graph, sink); }

static pb_status write_frames(const part *p, pb_sink sink) { return pb_player_frames_write(&p->a->ctx, p->plan, sink); }

/* ---- the file ---- */

/* The plans, the winner's in any case; *left_out counts those for which the file has no room. */
static pb_status write_plans(part *p, uint32_t *left_out, pb_sink sink)
{
    const pb_comparison *rows = p->p->rows;
    uint64_t used = 0;
    pb_status status = PB_OK;
    *left_out = 0;
    if (rows->winner != UINT32_MAX && rows->rows[rows->winner].certificate)
        used = MOVE_BYTES * pb_certificate_moves(rows->rows[rows->winner].certificate)->count;
    for (uint32_t i = 0; i < rows->row_count && status == PB_OK; i++) {
        char name[32];
        p->plan = rows->rows[i].certificate;
        if (!p->plan)
            continue;
        uint64_t bytes = i == rows->winner ? 0 : MOVE_BYTES * pb_certificate_moves(p->plan)->count;
        if (bytes > max_frame_bytes - (used < max_frame_bytes ? used : max_frame_bytes)) {
            ++*left_out;
            continue;
        }
        used += bytes;
        snprintf(name, sizeof name, "frames-%u", (unsigned)i);
        status = write_part(p, name, write_frames, sink);
    }
    return status;
}

static pb_status write_head(const part *p, pb_sink sink)
{
    pb_status status = put_text(
        sink, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<meta name=\"generator\" content=\"Pebble-Bridge " PB_VERSION "\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
              "style-src 'unsafe-inline'; img-src data: blob:\">\n<title>");
    if (status == PB_OK)
        status = put_escaped(sink, p->graph->name[0] ? p->graph->name : "graph");
    if (status == PB_OK)
        status = put_page_file(sink, " · Pebble-Bridge</title>\n<style>\n", "/app.css", "</style>\n</head>\n<body>\n");
    return status == PB_OK
               ? put_text(sink,
                          "<div id=\"app\"></div>\n<noscript>JavaScript is needed to play this plan.</noscript>\n")
               : status;
}

static pb_status write_all(part *p, uint32_t *left_out, pb_sink sink)
{
    static const struct {
        const char *name;
        part_write write;
    } parts[] = {{"graph", write_graph},   {"rows", write_rows},   {"labels", write_names_of_rows},
                 {"layout", write_layout}, {"names", write_names}, {"sweep", write_sweep}};
    pb_status status = write_head(p, sink);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == PB_OK; i++)
        if (parts[i].write != write_sweep || p->p->sweep)
            status = write_part(p, parts[i].name, parts[i].write, sink);
    if (status == PB_OK)
        status = write_plans(p, left_out, sink);
    if (status == PB_OK)
        status = put_page_file(sink, "<script type=\"module\">\n", "/player.js", "</script>\n</body>\n</html>\n");
    return status;
}

exit_code player_write(app *a, const char *path, const player_file *p)
{
    part whole = {.a = a, .p = p, .graph = p->base->graph};
    uint32_t left_out = 0;
    file_out out;
    for (uint32_t i = 0; i < p->rows->row_count; i++)
        if (p->rows->rows[i].certificate)
            whole.graph = pb_certificate_game(p->rows->rows[i].certificate)->graph;
    if (player_check(a) != EXIT_DONE)
        return EXIT_FAILED;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    exit_code code = file_finish(a, &out, write_all(&whole, &left_out, file_sink(&out)));
    if (code == EXIT_DONE && left_out)
        app_note(a,
                 "%u plans are listed in %s without their moves, which would make it too large; choose fewer "
                 "--strategies",
                 (unsigned)left_out, path ? path : "the file");
    return code;
}
