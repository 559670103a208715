/* out.h -- buffered text and JSON into a sink. Errors are kept: check once, at the end.
 *
 *     pbi_out out;
 *     pbi_out_init(&out, ctx, sink);
 *     pbi_out_text(&out, "{\"name\":");
 *     pbi_out_json_text(&out, name);
 *     ...
 *     return pbi_out_finish(&out);
 */
#ifndef PBI_OUT_H
#define PBI_OUT_H

#include "pebble/base.h"

typedef struct pbi_out {
    pb_context *ctx;
    pb_sink sink;
    pb_status status;
    size_t used;
    char bytes[1 << 14];
} pbi_out;

void pbi_out_init(pbi_out *out, pb_context *ctx, pb_sink sink);
void pbi_out_bytes(pbi_out *out, const char *bytes, size_t length);
void pbi_out_text(pbi_out *out, const char *text);
void pbi_out_plain(pbi_out *out, const char *text); /* as pb_plain_text: for display */
void pbi_out_char(pbi_out *out, char c);
void pbi_out_format(pbi_out *out, const char *format, ...); /* at most 1023 bytes per call */
void pbi_out_u64(pbi_out *out, uint64_t value);             /* decimal digits */
/* JSON: integers above 2^53-1 become strings. */
void pbi_out_json_u64(pbi_out *out, uint64_t value);
void pbi_out_json_u128(pbi_out *out, pb_u128 value);
void pbi_out_json_real(pbi_out *out, double value);     /* shortest text that reads back equal; null when not finite */
void pbi_out_json_text(pbi_out *out, const char *text); /* quoted and escaped */
/* Flushes; returns the first failure of any call. */
pb_status pbi_out_finish(pbi_out *out);

#endif
