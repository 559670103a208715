/* cmd_gen.c -- pebble gen: graphs of known families. */
#include "commands.h"
#include "files.h"

#include <string.h>

static exit_code unknown_family(app *a, const char *name)
{
    const char *names[128];
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count && i < 128; i++)
        names[i] = families[i].name;
    const char *near = nearest_name(name, names, count < 128 ? count : 128);
    if (near)
        return app_usage(a, "there is no family `%s`; did you mean %s?", name, near);
    return app_usage(a, "there is no family `%s`; `pebble gen --help` lists them", name);
}

/* Arguments without a name are the positional parameters, in order. */
static bool add_positionals(app *a, const pb_family *family)
{
    options *o = &a->opts;
    uint32_t next = 0;
    for (int i = 1; i < o->positional_count; i++) {
        while (next < family->param_count && !family->params[next].positional)
            next++;
        if (next == family->param_count || o->param_count == MAX_PARAMS) {
            app_usage(a, "`%s`: too many arguments for %s; give parameters by name, as in --height 5", o->positional[i],
                      family->name);
            return false;
        }
        o->params[o->param_count++] = (pb_option){family->params[next++].key, o->positional[i]};
    }
    return true;
}

static bool check_params(app *a, const pb_family *family)
{
    const char *names[MAX_PARAMS];
    uint32_t count = family->param_count < MAX_PARAMS ? family->param_count : MAX_PARAMS;
    for (uint32_t i = 0; i < count; i++)
        names[i] = family->params[i].key;
    for (uint32_t i = 0; i < a->opts.param_count; i++) {
        const char *key = a->opts.params[i].key;
        bool known = false;
        for (uint32_t k = 0; k < family->param_count; k++)
            known |= strcmp(family->params[k].key, key) == 0;
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(a->opts.params[k].key, key) == 0) {
                app_usage(a, "--%s is given twice; leave one out", key);
                return false;
            }
        if (known)
            continue;
        const char *near = nearest_name(key, names, count);
        if (near)
            app_usage(a, "%s has no parameter --%s; did you mean --%s?", family->name, key, near);
        else
            app_usage(a, "%s has no parameter --%s; `pebble gen %s --help` lists them", family->name, key,
                      family->name);
        return false;
    }
    return true;
}

/* A parameter of another shape has no effect: print a note. */
static void note_unused(app *a, const pb_family *family)
{
    const options *o = &a->opts;
    for (uint32_t i = 0; i < o->param_count; i++)
        for (uint32_t k = 0; k < family->param_count; k++) {
            const pb_param_spec *spec = &family->params[k];
            if (strcmp(spec->key, o->params[i].key) == 0 && !pb_param_counts(family, spec, o->params, o->param_count))
                app_note(a, "--%s has no effect here: it needs --%.*s %s", spec->key, (int)strcspn(spec->with, "="),
                         spec->with, strchr(spec->with, '=') + 1);
        }
}

/* Adds what the instance says to the parameters, unless the command line says it. */
static exit_code add_instance(app *a, const pb_family *family)
{
    const char *path = app_option(a, OPT_INSTANCE), *name = app_option(a, OPT_INSTANCE_NAME);
    pb_option read[PB_STAGES_OPTIONS];
    uint32_t count;
    options *o = &a->opts;
    if (!path && !name)
        return EXIT_DONE;
    if (!path)
        return app_usage(a, "--name needs --instance FILE, the file that has it");
    if (strcmp(family->name, "stages") != 0)
        return app_usage(a, "--instance is for pebble gen stages; leave it out");
    exit_code code = read_instance(a, path, name, read, &count);
    if (code != EXIT_DONE)
        return code;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < o->param_count && strcmp(o->params[k].key, read[i].key) != 0)
            k++;
        if (k == o->param_count && k < MAX_PARAMS)
            o->params[o->param_count++] = read[i];
    }
    return EXIT_DONE;
}

exit_code cmd_gen(app *a)
{
    const char *path = app_option(a, OPT_OUTPUT), *format_name = app_option(a, OPT_FORMAT);
    pb_format format = PB_FORMAT_JSON;
    const pb_graph *g;
    file_out out;
    if (a->opts.positional_count == 0)
        return app_usage(a, "expected a graph family, as in pebble gen chain 100");
    const pb_family *family = pb_family_find(a->opts.positional[0]);
    if (!family)
        return unknown_family(a, a->opts.positional[0]);
    if (!add_positionals(a, family) || !check_params(a, family) || !graph_format(a, format_name, path, &format))
        return EXIT_USAGE;
    exit_code code = add_instance(a, family);
    if (code != EXIT_DONE)
        return code;
    pb_status status = pb_generate(&a->ctx, family->name, a->opts.params, a->opts.param_count, &a->arena, &g);
    if (status == PB_ERANGE || status == PB_EINVAL)
        return app_usage(a, "%s", a->ctx.error.message);
    if (status != PB_OK)
        return app_status(a, status);
    note_unused(a, family);
    if (!file_create(a, path, &out))
        return EXIT_FAILED;
    return file_finish(a, &out, pb_graph_write(&a->ctx, g, format, file_sink(&out)));
}
