/* files.c -- see files.h. */
#include "files.h"

#include "common/output.h"
#include "progress.h"
#include "settings.h"

#include <string.h>

static bool is_standard(const char *path) { return !path || strcmp(path, "-") == 0; }

static exit_code tell_input(app *a, const char *path, pb_status status)
{
    const pb_error *e = &a->ctx.error;
    const char *shown = is_standard(path) ? "standard input" : path;
    if (status == PB_ENOMEM || status == PB_ECANCELLED || status == PB_EBUG)
        return app_status(a, status);
    if (status == PB_EIO && e->message[0])
        return app_fail(a, EXIT_INPUT, "%s", e->message);
    if (e->line)
        return app_fail(a, EXIT_INPUT, "%s:%llu:%llu: %s", shown, (unsigned long long)e->line,
                        (unsigned long long)e->column, e->message);
    return app_fail(a, EXIT_INPUT, "%s: %s", shown, e->message[0] ? e->message : pb_status_text(status));
}

static pb_status open_input(app *a, const char *path, pb_file_in *in)
{
    *in = (pb_file_in){.file = 0};
    return is_standard(path) ? PB_OK : pb_file_open(&a->ctx, path, in);
}

static pb_status close_input(app *a, const char *path, pb_file_in *in, pb_status status)
{
    return pb_file_close(&a->ctx, is_standard(path) ? "standard input" : path, in, status);
}

bool read_options(app *a, pb_read_options *out)
{
    static const pb_dim_words words = {"", "--dim ", "=1", " ", ""};
    pb_settings s = settings_of(a);
    *out = (pb_read_options){.dim_words = &words};
    return setting_done(a, &s, pb_settings_reading(&a->ctx, &s, &a->arena, out));
}

exit_code read_graph(app *a, const char *path, const pb_graph **out)
{
    pb_file_in in;
    pb_read_options how;
    if (!read_options(a, &how))
        return EXIT_USAGE;
    pb_status status = open_input(a, path, &in);
    if (status != PB_OK)
        return tell_input(a, path, status);
    void (*log)(void *, const char *) = a->ctx.log;
    if (app_option(a, OPT_QUIET)) /* no notes of the reader */
        a->ctx.log = NULL;
    how.path = is_standard(path) ? NULL : path;
    status = pb_graph_read_with(&a->ctx, pb_file_source(&in), &how, &a->arena, out);
    a->ctx.log = log;
    status = close_input(a, path, &in, status);
    if (status != PB_OK)
        return tell_input(a, path, status);
    if ((*out)->cost_digits)
        app_note(a, "the costs have decimals; they are shown in units of %.60s", (*out)->cost_unit);
    return EXIT_DONE;
}

exit_code read_schedule(app *a, const char *path, const pb_graph *g, pb_schedule *out)
{
    pb_file_in in;
    pb_status status = open_input(a, path, &in);
    if (status != PB_OK)
        return tell_input(a, path, status);
    status = pb_schedule_read(&a->ctx, pb_file_source(&in), PB_FORMAT_AUTO, g, &a->arena, out);
    status = close_input(a, path, &in, status);
    return status == PB_OK ? EXIT_DONE : tell_input(a, path, status);
}

exit_code read_samples(app *a, const char *path, pb_machine_sample **samples, uint32_t *count)
{
    pb_file_in in;
    pb_status status = open_input(a, path, &in);
    if (status == PB_OK)
        status =
            close_input(a, path, &in, pb_machine_samples_read(&a->ctx, pb_file_source(&in), &a->arena, samples, count));
    return status == PB_OK ? EXIT_DONE : tell_input(a, path, status);
}

exit_code read_instance(app *a, const char *path, const char *name, pb_option *out, uint32_t *count)
{
    pb_file_in in;
    pb_status status = open_input(a, path, &in);
    if (status == PB_OK)
        status = close_input(a, path, &in, pb_stages_read(&a->ctx, pb_file_source(&in), name, &a->arena, out, count));
    if (status == PB_EUNKNOWN)
        return app_usage(a, "%s: %s", path, a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : tell_input(a, path, status);
}

bool read_schedule_alone(app *a, const char *path, pb_schedule *out)
{
    pb_file_in in;
    pb_status status = open_input(a, path, &in);
    if (status != PB_OK)
        return tell_input(a, path, status) == EXIT_DONE;
    status = pb_schedule_read(&a->ctx, pb_file_source(&in), PB_FORMAT_AUTO, NULL, &a->arena, out);
    return close_input(a, path, &in, status) == PB_OK;
}

pb_sink file_sink(file_out *out) { return out->file < 0 ? stream_sink(stdout) : pb_file_sink(out); }

bool file_create(app *a, const char *path, file_out *out)
{
    *out = (file_out){.file = -1};
    pb_status status = is_standard(path) ? PB_OK : pb_file_create(&a->ctx, path, &a->arena, progress_guard_file, out);
    if (status == PB_EIO)
        app_fail(a, EXIT_FAILED, "%s", a->ctx.error.message);
    else if (status != PB_OK)
        app_status(a, status);
    return status == PB_OK;
}

exit_code file_finish(app *a, file_out *out, pb_status status)
{
    if (out->file < 0)
        return status == PB_OK || status == PB_EIO ? app_finish_output(a, EXIT_DONE) : app_status(a, status);
    status = pb_file_finish(&a->ctx, out, status);
    if (status == PB_EIO)
        return app_fail(a, EXIT_FAILED, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}

static bool is_written(pb_format format)
{
    return format == PB_FORMAT_JSON || format == PB_FORMAT_DOT || format == PB_FORMAT_CSV;
}

bool graph_format(app *a, const char *name, const char *path, pb_format *out)
{
    pb_format suggested = is_standard(path) ? PB_FORMAT_AUTO : pb_format_of_path(path);
    *out = is_written(suggested) ? suggested : PB_FORMAT_JSON;
    if (!name)
        return true;
    if (pb_format_parse(name, out) && is_written(*out))
        return true;
    app_usage(a, "--format: expected json, dot or csv, not `%s`", name);
    return false;
}

exit_code write_schedule(app *a, const pb_schedule *s, const char *path)
{
    pb_format format = strcmp(path, "-") == 0 ? PB_FORMAT_JSON : pb_format_of_path(path);
    file_out out;
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    if (format != PB_FORMAT_BINARY)
        format = PB_FORMAT_JSON;
    return file_finish(a, &out, pb_schedule_write(&a->ctx, s, format, file_sink(&out)));
}

exit_code write_attempt(app *a, const pb_plan_result *p, const char *path)
{
    pb_schedule s = p->schedule;
    s.moves = p->attempt;
    s.has_metrics = false;
    return write_schedule(a, &s, path);
}

exit_code read_text_file(app *a, const char *path, pb_file_text *out)
{
    enum { PIECE = 1 << 16 };
    pb_file_in in;
    pb_buffer text;
    size_t got = 1;
    char *piece = pb_arena_alloc(&a->arena, PIECE, 1);
    pb_buffer_init(&text, &a->arena);
    pb_sink sink = pb_sink_buffer(&text);
    pb_status status = piece ? open_input(a, path, &in) : PB_ENOMEM;
    if (status == PB_OK) {
        pb_source source = pb_file_source(&in);
        while (status == PB_OK && got) {
            status = source.read(source.state, piece, PIECE, &got);
            if (status == PB_OK && got)
                status = sink.write(sink.state, piece, got);
        }
        status = close_input(a, path, &in, status);
    }
    *out = (pb_file_text){path, text.bytes ? text.bytes : "", text.length};
    if (status == PB_EIO)
        return app_fail(a, EXIT_INPUT, "%s", a->ctx.error.message);
    return status == PB_OK ? EXIT_DONE : app_status(a, status);
}
