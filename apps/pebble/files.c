/* files.c -- see files.h. */
#define _XOPEN_SOURCE 700
#include "files.h"

#include "common/output.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file_in {
    FILE *stream;
    int error;
} file_in;

static bool is_standard(const char *path) { return !path || strcmp(path, "-") == 0; }

static pb_status read_bytes(void *state, char *bytes, size_t room, size_t *got)
{
    file_in *in = state;
    errno = 0;
    *got = fread(bytes, 1, room, in->stream);
    if (*got == 0 && ferror(in->stream)) {
        in->error = errno ? errno : EIO;
        return PB_EIO;
    }
    return PB_OK;
}

static exit_code report_input_error(app *a, const char *path, const file_in *in, pb_status status)
{
    const pb_error *e = &a->ctx.error;
    const char *shown = is_standard(path) ? "standard input" : path;
    if (in->error == ENOMEM) {
        app_status(a, PB_ENOMEM);
        return EXIT_FAILED;
    }
    if (in->error)
        return app_fail(a, EXIT_INPUT, "%s: cannot be read: %s; check the %s", shown, strerror(in->error),
                        is_standard(path) ? "pipe" : "path");
    if (status == PB_ENOMEM || status == PB_ECANCELLED || status == PB_EBUG)
        return app_status(a, status);
    if (e->line)
        return app_fail(a, EXIT_INPUT, "%s:%llu:%llu: %s", shown, (unsigned long long)e->line,
                        (unsigned long long)e->column, e->message);
    return app_fail(a, EXIT_INPUT, "%s: %s", shown, e->message[0] ? e->message : pb_status_text(status));
}

static exit_code open_input(app *a, const char *path, file_in *in)
{
    *in = (file_in){.stream = is_standard(path) ? stdin : fopen(path, "rb")};
    if (!in->stream) {
        in->error = errno;
        return report_input_error(a, path, in, PB_EIO);
    }
    return EXIT_DONE;
}

static void close_input(file_in *in)
{
    if (in->stream && in->stream != stdin)
        fclose(in->stream);
}

/* --dim NAME=N; the last equals sign separates name and number. */
static bool dim_options(app *a, pb_read_options *out)
{
    uint32_t count = a->opts.dim_count;
    pb_option *dims = pb_arena_alloc(&a->arena, count + 1, sizeof *dims);
    for (uint32_t i = 0; dims && i < count; i++) {
        const char *text = a->opts.dims[i], *equals = strrchr(text, '=');
        if (!equals || equals == text || !equals[1]) {
            app_usage(a, "--dim: expected NAME=N, as in batch=32, not `%s`", text);
            return false;
        }
        dims[i] = (pb_option){pb_arena_text(&a->arena, text, (size_t)(equals - text)), equals + 1};
        if (!dims[i].key)
            dims = NULL;
    }
    out->dims = dims;
    out->dim_count = count;
    if (!dims)
        app_status(a, PB_ENOMEM);
    return dims != NULL;
}

/* True if the option is one of the words, or was not given. */
static bool word_option(app *a, option_id id, const char *const *words, const char *expected, const char **out)
{
    const char *text = app_option(a, id);
    *out = text;
    for (; text && *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    if (text)
        app_usage(a, "--%s: expected %s, not `%s`", option_specs[id].name, expected, text);
    return !text;
}

bool read_options(app *a, pb_read_options *out)
{
    static const char *const inputs[] = {"free", "given", "computed", NULL};
    static const char *const optimizers[] = {"none", "sgd", "momentum", "adam", NULL};
    static const char *const grads[] = {"accumulate", "keep", "update", NULL};
    const char *how;
    static const pb_dim_words words = {"", "--dim ", "=1", " ", ""};
    *out = (pb_read_options){.inputs = PB_INPUTS_AUTO, .train = app_option(a, OPT_TRAIN) != NULL, .dim_words = &words};
    if (!word_option(a, OPT_INPUTS, inputs, "free, given or computed", &how) || !dim_options(a, out) ||
        !app_number(a, OPT_BATCH, 0, &out->batch) ||
        !word_option(a, OPT_OPTIMIZER, optimizers, "none, sgd, momentum or adam", &out->optimizer) ||
        !word_option(a, OPT_GRADS, grads, "accumulate, keep or update", &out->grads))
        return false;
    if (how)
        pb_inputs_parse(how, &out->inputs);
    if (app_option(a, OPT_BATCH) && !out->batch) {
        app_usage(a, "--batch: expected a number of at least 1");
        return false;
    }
    if ((out->optimizer || out->grads) && !out->train) {
        app_usage(a, "--%s needs --train; add it", out->optimizer ? "optimizer" : "grads");
        return false;
    }
    return true;
}

exit_code read_graph(app *a, const char *path, const pb_graph **out)
{
    file_in in;
    pb_read_options how;
    if (!read_options(a, &how))
        return EXIT_USAGE;
    exit_code code = open_input(a, path, &in);
    if (code != EXIT_DONE)
        return code;
    void (*log)(void *, const char *) = a->ctx.log;
    if (app_option(a, OPT_QUIET)) /* no notes of the reader */
        a->ctx.log = NULL;
    pb_status status = pb_graph_read_with(&a->ctx, (pb_source){read_bytes, &in}, PB_FORMAT_AUTO,
                                          is_standard(path) ? NULL : path, &how, &a->arena, out);
    a->ctx.log = log;
    close_input(&in);
    if (status != PB_OK)
        return report_input_error(a, path, &in, status);
    if ((*out)->cost_digits)
        app_note(a, "the costs have decimals; they are shown in units of %.60s", (*out)->cost_unit);
    return EXIT_DONE;
}

exit_code read_schedule(app *a, const char *path, const pb_graph *g, pb_schedule *out)
{
    file_in in;
    exit_code code = open_input(a, path, &in);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_schedule_read(&a->ctx, (pb_source){read_bytes, &in}, PB_FORMAT_AUTO, g, &a->arena, out);
    close_input(&in);
    return status == PB_OK ? EXIT_DONE : report_input_error(a, path, &in, status);
}

bool read_schedule_alone(app *a, const char *path, pb_schedule *out)
{
    file_in in;
    if (open_input(a, path, &in) != EXIT_DONE)
        return false;
    pb_status status = pb_schedule_read(&a->ctx, (pb_source){read_bytes, &in}, PB_FORMAT_AUTO, NULL, &a->arena, out);
    close_input(&in);
    return status == PB_OK;
}

static pb_status write_file(void *state, const char *bytes, size_t length)
{
    file_out *out = state;
    errno = 0;
    if (fwrite(bytes, 1, length, out->stream) == length)
        return PB_OK;
    if (!out->error)
        out->error = errno ? errno : EIO;
    return PB_EIO;
}

pb_sink file_sink(file_out *out) { return out->stream == stdout ? stream_sink(stdout) : (pb_sink){write_file, out}; }

static bool report_output_error(app *a, const char *path, int error)
{
    app_fail(a, EXIT_FAILED, "%s: cannot be written: %s; check the path, its permissions and the free space", path,
             strerror(error));
    return false;
}

/* Creates a temporary file next to the file, with the permissions that the file has or would get. */
static int create_temporary(app *a, file_out *out, const struct stat *old)
{
    size_t length = strlen(out->real_path);
    out->temporary = pb_arena_alloc(&a->arena, length + sizeof ".XXXXXX", 1);
    if (!out->temporary) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(out->temporary, out->real_path, length);
    memcpy(out->temporary + length, ".XXXXXX", sizeof ".XXXXXX");
    progress_guard_file(out->temporary); /* before the file exists: mkstemp writes its name there */
    int file = mkstemp(out->temporary);
    if (file < 0) {
        progress_guard_file(NULL);
        out->temporary = NULL;
        return -1;
    }
    mode_t mask = umask(0);
    umask(mask);
    fchmod(file, old ? old->st_mode & 0777 : 0666 & ~mask);
    return file;
}

bool file_create(app *a, const char *path, file_out *out)
{
    struct stat old;
    *out = (file_out){.path = is_standard(path) ? "standard output" : path, .real_path = path};
    if (is_standard(path)) {
        out->stream = stdout;
        return true;
    }
    bool exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        return report_output_error(a, path, EISDIR);
    if (exists && !S_ISREG(old.st_mode)) {
        out->stream = fopen(path, "wb");
        return out->stream || report_output_error(a, path, errno);
    }
    char *followed = exists ? realpath(path, NULL) : NULL;
    if (followed) {
        out->real_path = pb_arena_text(&a->arena, followed, strlen(followed));
        free(followed);
        if (!out->real_path)
            return report_output_error(a, path, ENOMEM);
    }
    int file = create_temporary(a, out, exists ? &old : NULL);
    out->stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (out->stream)
        return true;
    int error = errno;
    if (file >= 0) {
        close(file);
        unlink(out->temporary);
        progress_guard_file(NULL);
    }
    return report_output_error(a, path, error);
}

/* A new name survives a crash once its folder is written to disk. Some file systems cannot do that, and a folder
 * without read permission cannot be opened for it; these two are not errors. */
static bool sync_folder(app *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    const char *folder = pb_arena_text(&a->arena, slash ? path : ".", length);
    if (!folder) {
        errno = ENOMEM;
        return false;
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY);
    if (file < 0)
        return errno == EACCES;
    int error = fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    close(file);
    errno = error;
    return error == 0;
}

exit_code file_finish(app *a, file_out *out, pb_status status)
{
    if (out->stream == stdout)
        return status == PB_OK || status == PB_EIO ? app_finish_output(a, EXIT_DONE) : app_status(a, status);
    errno = 0;
    bool written = status == PB_OK && fflush(out->stream) == 0 && (!out->temporary || fsync(fileno(out->stream)) == 0);
    if (!written && !out->error)
        out->error = errno;
    if (fclose(out->stream) != 0 && written) {
        out->error = errno;
        written = false;
    }
    if (written && out->temporary && rename(out->temporary, out->real_path) != 0) {
        out->error = errno;
        written = false;
    }
    if (!written && out->temporary)
        unlink(out->temporary);
    progress_guard_file(NULL);
    if (written && out->temporary && !sync_folder(a, out->real_path)) {
        out->error = errno;
        written = false;
    }
    if (written)
        return EXIT_DONE;
    if (status != PB_OK && status != PB_EIO)
        return app_status(a, status);
    report_output_error(a, out->path, out->error ? out->error : EIO);
    return EXIT_FAILED;
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
