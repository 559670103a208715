/* io.h -- reads and writes graphs, machines and schedules, as streams.
 *
 * Readers stop at the first error: PB_EFORMAT, PB_EGRAPH or PB_ERANGE with line, column and a sentence in ctx->error.
 * docs/formats.md has the formats.
 */
#ifndef PEBBLE_IO_H
#define PEBBLE_IO_H

#include "schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_format {
    PB_FORMAT_AUTO,
    PB_FORMAT_JSON,
    PB_FORMAT_DOT,
    PB_FORMAT_CSV,
    PB_FORMAT_BINARY,
    PB_FORMAT_BENCH, /* this and the next two are circuits, and read only */
    PB_FORMAT_BLIF,
    PB_FORMAT_AIGER,
    PB_FORMAT_ONNX /* a model of a network, read only */
} pb_format;
const char *pb_format_name(pb_format format); /* auto, json, dot, csv, binary, bench, blif, aiger, onnx */
bool pb_format_parse(const char *name, pb_format *out);
/* The format by the file name (.json .dot .gv .csv .pbs .bench .blif .aag .aig .onnx); PB_FORMAT_AUTO if it is none
 * of these. */
pb_format pb_format_of_path(const char *path);

/* How the inputs of a circuit, or the given values of any other graph, are treated. */
typedef enum pb_inputs {
    PB_INPUTS_AUTO,    /* a circuit's are free, others are unchanged */
    PB_INPUTS_FREE,    /* they take no memory: not nodes in a circuit, of size 0 elsewhere */
    PB_INPUTS_GIVEN,   /* in memory from the start to the end, and their sizes count */
    PB_INPUTS_COMPUTED /* ordinary nodes: each costs its move and its memory */
} pb_inputs;
const char *pb_inputs_name(pb_inputs inputs); /* auto, free, given, computed */
bool pb_inputs_parse(const char *name, pb_inputs *out);

/* PB_FORMAT_AUTO tests the content first; `path` (may be NULL) decides if the content does not. */
pb_status pb_graph_read(pb_context *ctx, pb_source source, pb_format format, const char *path, pb_arena *result,
                        const pb_graph **out);

/* The syntax for sizes of dimensions, for the message about a model that leaves some open: "--dim a=1 --dim b=1" has
 * the parts "", "--dim ", "=1", " ", "". */
typedef struct pb_dim_words {
    const char *begin, *before, *after, *join, *end;
} pb_dim_words;

/* Options for reading; all zero are the defaults. Texts and arrays are borrowed for the call. */
typedef struct pb_read_options {
    pb_format format; /* and path: as in pb_graph_read */
    const char *path;
    pb_inputs inputs;
    /* For models (docs/onnx.md); other formats ignore them. */
    const pb_option *dims; /* sizes of dimensions that the model leaves open: {"sequence", "128"} */
    uint32_t dim_count;
    const pb_dim_words *dim_words; /* NULL: open dimensions are listed by name */
    uint64_t batch;        /* size of the first dimension of the first input, and of others like it; 0: unchanged */
    bool train;            /* a training step: loss over the first output, gradients of all parameters */
    const char *optimizer; /* of a training step: none (NULL), sgd, momentum or adam */
    const char *grads;     /* of a training step: accumulate (NULL), keep or update */
    const char *attention; /* of a model: fused (NULL), one kernel, or separate, as in the file */
} pb_read_options;
/* ctx->log reports what a reader leaves out or cuts, and a graph without inputs. PB_EINVAL if
 * an option does not fit the file. */
pb_status pb_graph_read_with(pb_context *ctx, pb_source source, const pb_read_options *options, pb_arena *result,
                             const pb_graph **out);
/* json, dot or csv. A graph that a machine priced is written as it was before. */
pb_status pb_graph_write(pb_context *ctx, const pb_graph *g, pb_format format, pb_sink sink);

/* A machine, pebble-machine/1; its texts are in `result`. The error names the part. */
pb_status pb_machine_read(pb_context *ctx, pb_source source, pb_arena *result, const pb_machine **out);
pb_status pb_machine_read_file(pb_context *ctx, const char *path, pb_arena *result, const pb_machine **out);
pb_status pb_machine_write(pb_context *ctx, const pb_machine *m, pb_sink sink);
/* Measurements as lines op,dtype,flops,bytes,ns, with or without this header, appended to *samples in `result`; *count
 * is how many there are now. */
pb_status pb_machine_samples_read(pb_context *ctx, pb_source source, pb_arena *result, pb_machine_sample **samples,
                                  uint32_t *count);

/* An instance of a pipeline as parameters of the family `stages`: JSON, with one instance or several in `instances`, or
 * a table of measured values with a line for each part of the model (docs/stages.md).
 *   in       name     of the instance; NULL: the file has only one
 *   out      out      texts are in `result`; the family checks the values
 *   returns  PB_EUNKNOWN there is no instance of that name, with all names */
#define PB_STAGES_OPTIONS 16
pb_status pb_stages_read(pb_context *ctx, pb_source source, const char *name, pb_arena *result,
                         pb_option out[PB_STAGES_OPTIONS], uint32_t *count);

/* json or binary; node references by name need the graph. Checks syntax and ranges, not the rules. */
pb_status pb_schedule_read(pb_context *ctx, pb_source source, pb_format format, const pb_graph *g, pb_arena *result,
                           pb_schedule *out);
pb_status pb_schedule_write(pb_context *ctx, const pb_schedule *s, pb_format format, pb_sink sink);
/* The fields of the file without `moves`, plus "seconds" when it is not negative: `pebble plan --json`. */
pb_status pb_schedule_write_summary(pb_context *ctx, const pb_schedule *s, double seconds, pb_sink sink);

/* A file that is read. The caller may set `file` itself, to 0 for standard input, in place of pb_file_open. */
typedef struct pb_file_in {
    int file;  /* descriptor */
    int error; /* errno of the first failure, else 0 */
} pb_file_in;
/* PB_EIO with "path: cannot be read: why". */
pb_status pb_file_open(pb_context *ctx, const char *path, pb_file_in *in);
pb_source pb_file_source(pb_file_in *in);
/* Returns `status`, the reader's, or PB_EIO with a sentence if the file itself failed. Standard input stays open. */
pb_status pb_file_close(pb_context *ctx, const char *path, pb_file_in *in, pb_status status);

/* A file that is written. The bytes go to a temporary file in the same folder that takes the name at the end, so that
 * whoever reads the name finds the old file or the new one, complete. Devices and pipes are written directly. */
typedef struct pb_file_out {
    int file;              /* descriptor; -1: none */
    const char *path;      /* as given; borrowed */
    const char *real_path; /* links followed */
    const char *folder;    /* of real_path */
    char *temporary;       /* NULL when written directly */
    /* NULL, or called with the temporary name while that exists and then with NULL, so that a signal handler can remove
     * it. */
    void (*guard)(const char *);
    int error; /* errno of the first failure */
} pb_file_out;
/* Paths are kept in `arena`. PB_EIO with "path: cannot be written: why". */
pb_status pb_file_create(pb_context *ctx, const char *path, pb_arena *arena, void (*guard)(const char *),
                         pb_file_out *out);
pb_sink pb_file_sink(pb_file_out *out);
/* Syncs the file and gives it its name, or removes it if `status`, the writer's, or anything else is a failure. */
pb_status pb_file_finish(pb_context *ctx, pb_file_out *out, pb_status status);

#ifdef __cplusplus
}
#endif
#endif
