/* files.h -- files in and out: `-` for the standard streams, and no half-written files. */
#ifndef PEBBLE_APP_FILES_H
#define PEBBLE_APP_FILES_H

#include "app.h"

#include <stdio.h>

/* A file that is written, or standard output: see pebble/io.h. */
typedef pb_file_out file_out;

/* NULL or "-": standard output. False after printing why. */
bool file_create(app *a, const char *path, file_out *out);
pb_sink file_sink(file_out *out);
/* Renames the file to its name, or removes it if anything failed, after printing why. */
exit_code file_finish(app *a, file_out *out, pb_status status);

/* --inputs and the options of models. False after printing what is wrong with them. */
bool read_options(app *a, pb_read_options *out);

/* Reads with any format. EXIT_DONE, or the exit code after printing "path:line:column: sentence". */
/* The whole text of a file, or of standard input for "-". */
exit_code read_text_file(app *a, const char *path, pb_file_text *out);
exit_code read_graph(app *a, const char *path, const pb_graph **out);
/* Measurements as CSV, appended to *samples; *count is how many there are now. */
exit_code read_samples(app *a, const char *path, pb_machine_sample **samples, uint32_t *count);
/* An instance of a pipeline, at most PB_STAGES_OPTIONS parameters; `name` may be NULL. */
exit_code read_instance(app *a, const char *path, const char *name, pb_option *out, uint32_t *count);
/* Without a graph; prints nothing if it cannot be read. */
bool read_schedule_alone(app *a, const char *path, pb_schedule *out);
exit_code read_schedule(app *a, const char *path, const pb_graph *g, pb_schedule *out);

/* JSON, or binary if the path ends in .pbs. */
exit_code write_schedule(app *a, const pb_schedule *s, const char *path);

/* The moves of a result without a plan up to the one that exceeds the cap, as a schedule. */
exit_code write_attempt(app *a, const pb_plan_result *p, const char *path);

/* The format of a graph to write: `name` if given, else what the path suggests, else json. False after printing an
 * error. */
bool graph_format(app *a, const char *name, const char *path, pb_format *out);

#endif
