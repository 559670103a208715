/* params.h -- the parameters of one call of a generator: read, checked and accessed by key.
 *
 *     pbi_params p;
 *     if (pbi_params_read(ctx, family, options, count, &p) == PB_OK)
 *         height = pbi_param_integer(&p, "height");
 *
 * The family's specs are the only source of defaults, ranges and words.
 */
#ifndef PBI_PARAMS_H
#define PBI_PARAMS_H

#include "pebble/generate.h"

#define PBI_MAX_PARAMS 24

typedef struct pbi_param_value {
    uint64_t integer;
    double real;
    const char *word; /* inside the spec's `words`; not NUL-terminated */
    size_t word_length;
    bool is_default; /* equals the default */
} pbi_param_value;

typedef struct pbi_params {
    const pb_family *family;
    pb_arena *result; /* of the graph, for a machine that it carries */
    pbi_param_value values[PBI_MAX_PARAMS];
} pbi_params;

/* Defaults first, then `options`; each key at most once.
 *   returns PB_EUNKNOWN no such key; PB_EINVAL not a number, not one of the words, given twice;
 *           PB_ERANGE outside the range */
pb_status pbi_params_read(pb_context *ctx, const pb_family *family, const pb_option *options, uint32_t count,
                          pbi_params *out);

/* The key must be one of the family's, of that kind. */
uint64_t pbi_param_integer(const pbi_params *p, const char *key);
double pbi_param_real(const pbi_params *p, const char *key);
const char *pbi_param_list(const pbi_params *p, const char *key);
bool pbi_param_is(const pbi_params *p, const char *key, const char *word);
/* Whether the family has this key. For code that several families share. */
bool pbi_params_has(const pbi_params *p, const char *key);

/* "tree(height=5,seed=3)": the first parameter, and the others if they differ from their defaults; only those that
 * are used with the given words. */
pb_status pbi_params_title(pb_context *ctx, const pbi_params *p, pb_arena *arena, const char **title);

#endif
