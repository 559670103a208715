/* formats.h -- one reader and one writer per format; format.c chooses among them.
 *
 * Readers take a text whose first bytes are already in its buffer, and `scratch` for temporary memory.
 */
#ifndef PBI_FORMATS_H
#define PBI_FORMATS_H

#include "base/out.h"
#include "io/json_scan.h"
#include "pebble/io.h"

pb_status pbi_graph_json_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out);
pb_status pbi_graph_json_write(pb_context *ctx, const pb_graph *g, pb_sink sink);
pb_status pbi_graph_dot_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out);
pb_status pbi_graph_dot_write(pb_context *ctx, const pb_graph *g, pb_sink sink);
pb_status pbi_graph_csv_read(pbi_text *text, pb_arena *scratch, pb_arena *result, const pb_graph **out);
pb_status pbi_graph_csv_write(pb_context *ctx, const pb_graph *g, pb_sink sink);

/* A machine as the next value of a document; the field `format` may be left out there. */
pb_status pbi_machine_json_read(pbi_json *json, pb_arena *scratch, pb_arena *result, const pb_machine **out);

/* Circuits: see io/circuit/circuit.h. */
pb_status pbi_graph_bench_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                               const pb_graph **out);
pb_status pbi_graph_blif_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                              const pb_graph **out);
pb_status pbi_graph_aiger_read(pbi_text *text, pb_inputs inputs, pb_arena *scratch, pb_arena *result,
                               const pb_graph **out);

/* Models: see io/onnx/model.h. */
pb_status pbi_graph_onnx_read(pbi_text *text, const pb_read_options *options, pb_arena *scratch, pb_arena *result,
                              const pb_graph **out);

/* A graph like `g` with its given values changed as `inputs` requires; g itself if it has none. */
pb_status pbi_graph_turn_inputs(pb_context *ctx, const pb_graph *g, pb_inputs inputs, pb_arena *result,
                                const pb_graph **out);

/* `moves`: the document must have them (a header of the binary form has none). */
pb_status pbi_schedule_json_read(pbi_text *text, pb_arena *scratch, const pb_graph *g, bool moves, pb_arena *result,
                                 pb_schedule *out);
pb_status pbi_schedule_json_write(pb_context *ctx, const pb_schedule *s, pb_sink sink);
pb_status pbi_schedule_binary_read(pbi_text *text, pb_arena *scratch, const pb_graph *g, pb_arena *result,
                                   pb_schedule *out);
pb_status pbi_schedule_binary_write(pb_context *ctx, const pb_schedule *s, pb_sink sink);

/* The members of a schedule's document except `moves`, with the opening brace and without the closing one. */
void pbi_schedule_json_members(pbi_out *out, const pb_schedule *s, bool offsets);

/* A schedule with links: writes the machine they belong to, after the tiers. */
void pbi_schedule_write_machine(pbi_out *out, const pb_schedule *s);

/* The first bytes of the binary form; no text starts with them. */
#define PBI_BINARY_MAGIC "\x89PBS\r\n\x1a\n"
enum { PBI_BINARY_MAGIC_BYTES = 8 };

#endif
