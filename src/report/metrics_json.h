/* metrics_json.h -- parts of JSON that several documents share. */
#ifndef PBI_METRICS_JSON_H
#define PBI_METRICS_JSON_H

#include "base/out.h"
#include "pebble/verify.h"

/* A key in its written form (with comma and colon), then the value; null for NULL. */
void pbi_put_text(pbi_out *out, const char *key, const char *text);
void pbi_put_u64(pbi_out *out, const char *key, uint64_t value);
void pbi_put_cap(pbi_out *out, const char *key, uint64_t cap);   /* null for PB_UNLIMITED */
void pbi_put_share(pbi_out *out, const char *key, double value); /* null if it is negative */
void pbi_put_weights(pbi_out *out, const char *key, const pb_weights *weights);
/* {...} */
void pbi_put_metrics(pbi_out *out, const pb_metrics *m, const pb_weights *weights);
/* Of a timed plan ,"peaks":{...},"stalls":{...},"lanes":[...]; of another one, or without one (NULL), nothing. */
void pbi_put_lanes(pbi_out *out, const pb_certificate *c);

#endif
