/* spec.c -- strategy specs as users write them: NAME[:key=value,...]. */
#include "api/pipeline/pipeline.h"

#include "base/context.h"
#include "base/nearest.h"
#include "plan/evict/evict.h"

#include <stdio.h>
#include <string.h>

/* Is `key` one of the strategy's options? They are listed as "key=default|text" lines. */
static bool has_option(const pb_strategy *row, const char *key, size_t length)
{
    for (const char *line = row->options; *line;) {
        if (strncmp(line, key, length) == 0 && line[length] == '=')
            return true;
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : line + strlen(line);
    }
    return false;
}

static void list_options(const pb_strategy *row, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *line = row->options; *line && used + 32 < room;) {
        int key = (int)(strchr(line, '=') - line);
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? ", " : "", key, line);
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : line + strlen(line);
    }
    if (!used)
        snprintf(text, room, "none");
}

enum { MAX_NAMES = 64 };

static pb_status unknown_strategy(pb_context *ctx, const char *name)
{
    const char *names[MAX_NAMES];
    uint32_t count;
    const pb_strategy *all = pb_strategies(&count);
    count = count < MAX_NAMES ? count : MAX_NAMES;
    for (uint32_t i = 0; i < count; i++)
        names[i] = all[i].name;
    return pbi_unknown_name(ctx, "strategy", name, names, count);
}

static pb_status check_policy(pb_context *ctx, const char *name)
{
    const char *names[MAX_NAMES];
    uint32_t count;
    pbi_policy policy;
    const pb_policy *all = pb_policies(&count);
    if (pbi_policy_parse(name, &policy))
        return PB_OK;
    count = count < MAX_NAMES ? count : MAX_NAMES;
    for (uint32_t i = 0; i < count; i++)
        names[i] = all[i].name;
    return pbi_unknown_name(ctx, "policy", name, names, count);
}

static pb_status parse_option(pb_context *ctx, const char *text, size_t length, pb_arena *arena, pbi_spec *out)
{
    const char *sign = memchr(text, '=', length);
    if (!sign || sign == text)
        return pbi_fail(ctx, PB_EINVAL, "expected an option key=value of the strategy, not \"%.*s\"", (int)length,
                        text);
    size_t key_length = (size_t)(sign - text);
    char *key = pb_arena_text(arena, text, key_length);
    char *value = pb_arena_text(arena, sign + 1, length - key_length - 1);
    if (!key || !value)
        return PB_ENOMEM;
    if (strcmp(key, "policy") == 0) {
        out->policy = value;
        return check_policy(ctx, value);
    }
    if (!has_option(out->row, key, key_length)) {
        char known[200];
        list_options(out->row, known, sizeof known);
        return pbi_fail(ctx, PB_EUNKNOWN, "strategy %s has no option \"%.40s\"; its options: %s", out->row->name, key,
                        known);
    }
    if (out->option_count == PBI_SPEC_OPTIONS)
        return pbi_fail(ctx, PB_EINVAL, "strategy %s has too many options; leave some out", out->row->name);
    out->options[out->option_count++] = (pb_option){key, value};
    return PB_OK;
}

pb_status pbi_spec_parse(pb_context *ctx, const char *text, size_t length, pb_arena *arena, pbi_spec *out)
{
    const char *colon = memchr(text, ':', length), *end = text + length;
    char *name = pb_arena_text(arena, text, colon ? (size_t)(colon - text) : length);
    if (!name)
        return PB_ENOMEM;
    *out = (pbi_spec){.row = pb_strategy_find(name), .text = colon ? pb_arena_text(arena, text, length) : name};
    if (!out->text)
        return PB_ENOMEM;
    if (!out->row)
        return unknown_strategy(ctx, name);
    pb_status status = PB_OK;
    for (const char *at = colon ? colon + 1 : end; at < end && status == PB_OK;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        status = parse_option(ctx, at, (size_t)(stop - at), arena, out);
        at = stop + 1;
    }
    return status;
}

const char *pbi_spec_end(const char *text)
{
    const char *end = text;
    bool colon = false;
    for (;; end++) {
        if (*end == ':')
            colon = true;
        if (*end == '\0')
            return end;
        if (*end != ',')
            continue;
        size_t word = strcspn(end + 1, ",:=");
        if (!colon || end[1 + word] != '=')
            return end;
    }
}

const char *pbi_policy_constant(const char *name)
{
    pbi_policy policy;
    return name && pbi_policy_parse(name, &policy) ? pbi_policy_name(policy) : NULL;
}

pb_status pbi_names_check(pb_context *ctx, const char *list, const char *policy)
{
    pb_arena arena;
    pbi_spec spec;
    pb_status status = PB_OK;
    pb_arena_init(&arena, ctx);
    for (const char *at = list; at && status == PB_OK;) {
        const char *end = pbi_spec_end(at);
        size_t length = (size_t)(end - at);
        if (length != 3 || strncmp(at, "all", 3) != 0)
            status = pbi_spec_parse(ctx, at, length, &arena, &spec);
        at = *end && end[1] ? end + 1 : NULL;
    }
    pb_arena_release(&arena);
    return status == PB_OK && policy ? check_policy(ctx, policy) : status;
}

pb_status pb_spec_check(pb_context *ctx, const char *text)
{
    pb_arena arena;
    pbi_spec spec;
    const char *end = pbi_spec_end(text);
    if (*end)
        return pbi_fail(ctx, PB_EINVAL, "expected one strategy, not the list \"%.60s\"", text);
    if (strcmp(text, "all") == 0)
        return PB_OK;
    pb_arena_init(&arena, ctx);
    pb_status status = pbi_spec_parse(ctx, text, (size_t)(end - text), &arena, &spec);
    pb_arena_release(&arena);
    return status;
}
