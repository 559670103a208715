/* families.c -- the table of families, and the call of a generator. */
#include "generate/families.h"

#include <string.h>

#include "base/context.h"

#define FAMILY(id, name, help) static const pb_param_spec id##_specs[] = {
#define MAIN(key, default_text, min, max, help) {key, PB_PARAM_INTEGER, default_text, min, max, NULL, help, true, NULL},
#define INTEGER(key, default_text, min, max, help) \
    {key, PB_PARAM_INTEGER, default_text, min, max, NULL, help, false, NULL},
#define REAL(key, default_text, min, max, help) {key, PB_PARAM_REAL, default_text, min, max, NULL, help, false, NULL},
#define WORD(key, default_text, words, help) {key, PB_PARAM_WORD, default_text, 0, 0, words, help, false, NULL},
#define LIST(key, default_text, help) {key, PB_PARAM_LIST, default_text, 0, 0, NULL, help, false, NULL},
#define MAIN_WITH(key, default_text, min, max, with, help) \
    {key, PB_PARAM_INTEGER, default_text, min, max, NULL, help, true, with},
#define INTEGER_WITH(key, default_text, min, max, with, help) \
    {key, PB_PARAM_INTEGER, default_text, min, max, NULL, help, false, with},
#define REAL_WITH(key, default_text, min, max, with, help) \
    {key, PB_PARAM_REAL, default_text, min, max, NULL, help, false, with},
#define END(id) \
    }           \
    ;           \
    _Static_assert(sizeof id##_specs / sizeof *id##_specs <= PBI_MAX_PARAMS, "raise PBI_MAX_PARAMS");
#include "generate/families.def"
#undef FAMILY
#undef MAIN
#undef INTEGER
#undef REAL
#undef WORD
#undef LIST
#undef MAIN_WITH
#undef INTEGER_WITH
#undef REAL_WITH
#undef END

#define MAIN(key, default_text, min, max, help)
#define INTEGER(key, default_text, min, max, help)
#define REAL(key, default_text, min, max, help)
#define WORD(key, default_text, words, help)
#define LIST(key, default_text, help)
#define MAIN_WITH(key, default_text, min, max, with, help)
#define INTEGER_WITH(key, default_text, min, max, with, help)
#define REAL_WITH(key, default_text, min, max, with, help)
#define END(id)

static const pb_family families[] = {
#define FAMILY(id, name, help) {name, help, id##_specs, sizeof id##_specs / sizeof *id##_specs},
#include "generate/families.def"
#undef FAMILY
};

static pbi_generator *const generators[] = {
#define FAMILY(id, name, help) pbi_generate_##id,
#include "generate/families.def"
#undef FAMILY
};

#define FAMILY_COUNT (sizeof families / sizeof *families)

const pb_family *pb_families(uint32_t *count)
{
    *count = FAMILY_COUNT;
    return families;
}

const pb_family *pb_family_find(const char *name)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

static pb_status refuse_family(pb_context *ctx, const char *name)
{
    char list[360];
    size_t used = 0;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        size_t length = strlen(families[i].name);
        if (used + length + 3 > sizeof list)
            break;
        if (i) {
            memcpy(list + used, ", ", 2);
            used += 2;
        }
        memcpy(list + used, families[i].name, length);
        used += length;
    }
    list[used] = 0;
    return pbi_fail(ctx, PB_EUNKNOWN, "there is no graph family '%.60s'; choose one of %s", name, list);
}

static pb_status build(pb_context *ctx, const pbi_params *params, pb_builder *builder, pb_arena *scratch)
{
    const char *title;
    pb_status status = pbi_params_title(ctx, params, scratch, &title);
    if (status == PB_OK)
        status = pb_builder_set_texts(builder, title, NULL, NULL);
    if (status == PB_OK)
        status = generators[params->family - families](ctx, params, builder);
    return status;
}

pb_status pb_generate(pb_context *ctx, const char *family, const pb_option *params, uint32_t param_count,
                      pb_arena *result, const pb_graph **out)
{
    const pb_family *found = pb_family_find(family);
    if (!found)
        return refuse_family(ctx, family);
    pbi_params values;
    pb_status status = pbi_params_read(ctx, found, params, param_count, &values);
    if (status != PB_OK)
        return status;
    pb_builder *builder;
    status = pb_builder_new(ctx, &builder);
    if (status != PB_OK)
        return status;
    pb_arena scratch;
    pb_arena_init(&scratch, ctx);
    values.result = result;
    status = build(ctx, &values, builder, &scratch);
    pb_arena_release(&scratch);
    if (status == PB_OK)
        status = pb_builder_freeze(builder, result, out);
    pb_builder_free(builder);
    return status;
}
