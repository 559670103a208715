/* option_hint.c -- see option_hint.h. */
#include "option_hint.h"

#include "commands.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NAMES = 512 };

/* True if `name` is one of the words of "a|b c". */
static bool is_listed(const char *words, const char *name)
{
    for (size_t length; words && *words; words += length + (words[length] != '\0')) {
        length = strcspn(words, "| ");
        if (strlen(name) == length && strncmp(words, name, length) == 0)
            return true;
    }
    return false;
}

static bool is_policy(const char *name)
{
    uint32_t count;
    const pb_policy *all = pb_policies(&count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return true;
    return false;
}

/* The option of this command that takes `name` as its value, or NULL. */
static const char *option_taking(const char *name, unsigned bit)
{
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!(option_specs[id].commands & bit))
            continue;
        bool takes = is_listed(option_words((option_id)id), name) ||
                     (id == OPT_STRATEGY && pb_strategy_find(name) != NULL) || (id == OPT_POLICY && is_policy(name));
        if (takes)
            return option_specs[id].name;
    }
    return NULL;
}

/* The parameter of the family (of any family if it is NULL) that takes `name` as its value, or NULL. */
static const char *param_taking(const char *name, const pb_family *family)
{
    uint32_t count;
    const pb_family *all = pb_families(&count);
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t p = 0; p < all[f].param_count && (!family || family == &all[f]); p++)
            if (is_listed(all[f].params[p].words, name))
                return all[f].params[p].key;
    return NULL;
}

/* A workload with an option of this name, preferably the given one, or NULL. */
static const char *workload_with(const char *name, const char *first)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row row;
        pb_workload_row_of(i, &row);
        size_t length = first ? strcspn(first, ":") : 0;
        bool named = first && strlen(row.name) == length && strncmp(first, row.name, length) == 0;
        for (uint32_t k = 0; k < row.option_count; k++)
            if (strcmp(row.options[k].key, name) == 0 && (!found || named))
                found = row.name;
    }
    return found;
}

static const char *command_with(const char *name)
{
    for (int id = 0; id < OPT_COUNT; id++)
        for (int i = 0; strcmp(option_specs[id].name, name) == 0 && i < command_count; i++)
            if (option_specs[id].commands & commands[i].bit)
                return commands[i].name;
    return NULL;
}

static const char *nearest_option(const char *name, unsigned bit, const pb_family *family)
{
    const char *names[OPT_COUNT + MAX_NAMES];
    size_t count = 0;
    uint32_t family_count = 0;
    const pb_family *all = bit == ON_GEN ? pb_families(&family_count) : NULL;
    for (int id = 0; id < OPT_COUNT; id++)
        if (option_specs[id].commands & bit)
            names[count++] = option_specs[id].name;
    for (uint32_t f = 0; f < family_count; f++)
        for (uint32_t p = 0; p < all[f].param_count && count < OPT_COUNT + MAX_NAMES; p++)
            if (!family || family == &all[f])
                names[count++] = all[f].params[p].key;
    return nearest_name(name, names, count);
}

void option_hint(const char *name, unsigned bit, const char *first, char *text, size_t room)
{
    const pb_family *family = bit == ON_GEN && first ? pb_family_find(first) : NULL;
    const char *taking = option_taking(name, bit), *found;
    bool runs = (bit & (ON_RUN | ON_PROFILE | ON_FIT)) != 0;
    int used = snprintf(text, room, "there is no option --%s", name);
    if (used < 0 || (size_t)used >= room)
        return;
    text += used;
    room -= (size_t)used;
    if (!taking && bit == ON_GEN)
        taking = param_taking(name, family);
    if (taking)
        snprintf(text, room, "; did you mean --%s %s?", taking, name);
    else if (runs && (found = workload_with(name, first)) != NULL)
        snprintf(text, room, "; options of a workload follow a colon, as in %s:%s=VALUE", found, name);
    else if ((found = nearest_option(name, bit, family)) != NULL)
        snprintf(text, room, "; did you mean --%s?", found);
    else if ((found = command_with(name)) != NULL)
        snprintf(text, room, " here; it is an option of `pebble %s`", found);
}
