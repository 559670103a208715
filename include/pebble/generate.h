/* generate.h -- graph families, each a function of a few named parameters.
 *
 *     pb_option params[] = {{"height", "5"}};
 *     pb_generate(&ctx, "tree", params, 1, &arena, &graph);
 */
#ifndef PEBBLE_GENERATE_H
#define PEBBLE_GENERATE_H

#include "graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pb_param_kind { PB_PARAM_INTEGER, PB_PARAM_REAL, PB_PARAM_WORD, PB_PARAM_LIST } pb_param_kind;

typedef struct pb_param_spec {
    const char *key; /* also the command's option: --key */
    pb_param_kind kind;
    const char *default_text;
    double min, max;   /* of numbers, inclusive */
    const char *words; /* of words: "a|b|c"; lists, which have none, are numbers joined by commas, or a word */
    const char *help;
    bool positional; /* may be given without its key, as in `chain 100` */
    /* NULL, or "shape=skewed|random": the parameter is used only if that one has one of these words */
    const char *with;
} pb_param_spec;

typedef struct pb_family {
    const char *name, *help;
    const pb_param_spec *params;
    uint32_t param_count;
} pb_family;

/* All families, in the order that help lists them. */
const pb_family *pb_families(uint32_t *count);
const pb_family *pb_family_find(const char *name);

/* Whether `param` is used, with these parameters given. */
bool pb_param_counts(const pb_family *family, const pb_param_spec *param, const pb_option *given, uint32_t count);

/* Parameters that are not named have their defaults.
 *   returns PB_EUNKNOWN no such family or parameter; PB_EINVAL, PB_ERANGE a bad value; ctx->error names it */
pb_status pb_generate(pb_context *ctx, const char *family, const pb_option *params, uint32_t param_count,
                      pb_arena *result, const pb_graph **out);

#ifdef __cplusplus
}
#endif
#endif
