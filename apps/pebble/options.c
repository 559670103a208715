/* options.c -- see options.h. */
#include "options.h"

#include "option_hint.h"

#include <stdio.h>
#include <string.h>

const option_spec option_specs[OPT_COUNT] = {
#define OPTION(id, name, letter, argument, commands, default_text, help) \
    [OPT_##id] = {name, letter, argument, commands, default_text, help},
#include "options.def"
#undef OPTION
};

enum { LONGEST_NAME = 63 };

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    return pb_nearest_name(word, names, count);
}

/* True if any family has this parameter: the family itself may come later on the command line. */
static bool is_family_param(const char *name, size_t length)
{
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t p = 0; p < families[f].param_count; p++)
            if (strlen(families[f].params[p].key) == length && strncmp(families[f].params[p].key, name, length) == 0)
                return true;
    return false;
}

static int find_long(const char *name, size_t length, unsigned command)
{
    for (int id = 0; id < OPT_COUNT; id++)
        if ((option_specs[id].commands & command) && strlen(option_specs[id].name) == length &&
            strncmp(option_specs[id].name, name, length) == 0)
            return id;
    return -1;
}

static int find_letter(char letter, unsigned command)
{
    for (int id = 0; id < OPT_COUNT; id++)
        if ((option_specs[id].commands & command) && option_specs[id].letter == letter)
            return id;
    return -1;
}

const char *option_words(option_id id)
{
    static const struct {
        option_id id;
        const char *words;
    } fixed[] = {
        {OPT_GAME, "remat reversible tiered"},
        {OPT_FORMAT, "json dot csv"},
        {OPT_COLOR, "auto always never"},
        {OPT_AS, "decisions csv json dot svg html trace actions torch-pipeline explain mps lp man bash zsh fish"},
        {OPT_CAP, "100% 80% 60% 40% none"},
        {OPT_CAPS, "100%..least 100%..50% 100%..30%"},
        {OPT_GROUP, "paper baseline partial checkpoint reversible usual exact search solver"},
        {OPT_CLOCK, "wall cpu"},
        {OPT_INPUTS, "free given computed"},
        {OPT_OPTIMIZER, "none sgd momentum adam"},
        {OPT_GRADS, "accumulate keep update"},
        {OPT_ATTENTION, "fused separate"},
        {OPT_RING, "words bits"},
        {OPT_BY, "worst average"},
        {OPT_TREE_BY, "duplicate spanning"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].id == id)
            return fixed[i].words;
    return NULL;
}

typedef struct reader {
    options *o;
    unsigned command;
    int count, at;
    char **words;
    char *why;
    size_t room;
} reader;

static bool unknown_option(const reader *r, const char *word, size_t length)
{
    char name[LONGEST_NAME + 1];
    const char *first = r->o->positional_count ? r->o->positional[0] : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(length > LONGEST_NAME ? LONGEST_NAME : length), word);
    option_hint(name, r->command ? r->command : ON_HELP, first, r->why, r->room);
    return false;
}

static bool take_next(reader *r, const char *dashes, const char *name, const char **value)
{
    if (r->at >= r->count) {
        snprintf(r->why, r->room, "%s%s needs a value after it", dashes, name);
        return false;
    }
    *value = r->words[r->at++];
    return true;
}

static bool read_param(reader *r, const char *name, size_t length, const char *value)
{
    options *o = r->o;
    static const char *const too_many = "too many parameters; leave some out";
    /* The key must end with NUL: use the copy in the family table. */
    uint32_t count;
    const pb_family *families = pb_families(&count);
    const char *key = NULL;
    for (uint32_t f = 0; f < count && !key; f++)
        for (uint32_t p = 0; p < families[f].param_count; p++)
            if (strlen(families[f].params[p].key) == length && strncmp(families[f].params[p].key, name, length) == 0)
                key = families[f].params[p].key;
    if (!value && !take_next(r, "--", key, &value))
        return false;
    uint32_t at = 0; /* the last one wins */
    while (at < o->param_count && strcmp(o->params[at].key, key) != 0)
        at++;
    if (at == MAX_PARAMS) {
        snprintf(r->why, r->room, "%s", too_many);
        return false;
    }
    o->params[at] = (pb_option){key, value};
    if (at == o->param_count)
        o->param_count++;
    return true;
}

static bool read_long(reader *r, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const char *value = equals ? equals + 1 : NULL;
    int id = find_long(word, length, r->command ? r->command : ON_HELP);
    if (id < 0 && (r->command & (ON_GEN | ON_FIT)) && is_family_param(word, length))
        return read_param(r, word, length, value);
    if (id < 0)
        return unknown_option(r, word, length);
    const option_spec *spec = &option_specs[id];
    if (!spec->argument) {
        if (value) {
            snprintf(r->why, r->room, "--%s takes no value; leave out what follows the =", spec->name);
            return false;
        }
        value = "";
    } else if (!value && !take_next(r, "--", spec->name, &value)) {
        return false;
    }
    r->o->value[id] = value;
    if (id == OPT_WEIGHTS && r->o->weights_count < MAX_WEIGHTS)
        r->o->weights[r->o->weights_count++] = value;
    if (id == OPT_SCHEDULE && r->o->schedule_count < MAX_SCHEDULES)
        r->o->schedules[r->o->schedule_count++] = value;
    if (id == OPT_DIM && r->o->dim_count < MAX_DIMS)
        r->o->dims[r->o->dim_count++] = value;
    return true;
}

/* -o FILE, -oFILE, -qh */
static bool read_short(reader *r, const char *word)
{
    for (; *word; word++) {
        int id = find_letter(*word, r->command ? r->command : ON_HELP);
        if (id < 0) {
            snprintf(r->why, r->room, "there is no option -%c; use the long name, with --", *word);
            return false;
        }
        if (!option_specs[id].argument) {
            r->o->value[id] = "";
            continue;
        }
        char name[2] = {*word, '\0'};
        const char *value = word[1] ? word + 1 : NULL;
        if (!value && !take_next(r, "-", name, &value))
            return false;
        r->o->value[id] = value;
        return true;
    }
    return true;
}

bool options_read(options *o, unsigned command, int count, char **words, char *why, size_t room)
{
    reader r = {.o = o, .command = command, .count = count, .words = words, .why = why, .room = room};
    bool only_positionals = false;
    memset(o, 0, sizeof *o);
    while (r.at < count) {
        const char *word = words[r.at++];
        bool ok = true;
        if (!only_positionals && strcmp(word, "--") == 0)
            only_positionals = true;
        else if (!only_positionals && strncmp(word, "--", 2) == 0)
            ok = read_long(&r, word + 2);
        else if (!only_positionals && word[0] == '-' && word[1])
            ok = read_short(&r, word + 1);
        else if (o->positional_count < MAX_POSITIONALS)
            o->positional[o->positional_count++] = word;
        else {
            snprintf(why, room, "too many arguments; leave out `%s` and what follows", word);
            ok = false;
        }
        if (!ok)
            return false;
    }
    return true;
}
