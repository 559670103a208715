/* options.h -- the command line, checked against options.def. */
#ifndef PEBBLE_APP_OPTIONS_H
#define PEBBLE_APP_OPTIONS_H

#include "pebble/full.h"

enum {
    ON_GEN = 1,
    ON_INFO = 2,
    ON_PLAN = 4,
    ON_COMPARE = 8,
    ON_VERIFY = 16,
    ON_EXPLAIN = 32,
    ON_EXPORT = 64,
    ON_HELP = 128,
    ON_SWEEP = 256,
    ON_UI = 512,
    ON_MERKLE = 1024,
    ON_CATALYTIC = 2048,
    ON_PROFILE = 4096,
    ON_RUN = 8192,
    ON_FIT = 16384,
    ON_MACHINE = 32768,
    ON_PRICE = 65536,
    ON_COARSEN = 131072,
    ON_TREE = 262144,
    ON_WORK = 524288,
    ON_STORE = 1048576,
    ON_ALL = 2097151
};

typedef enum option_id {
#define OPTION(id, name, letter, argument, commands, default_text, help) OPT_##id,
#include "options.def"
#undef OPTION
    OPT_COUNT
} option_id;

typedef struct option_spec {
    const char *name;
    char letter;
    const char *argument;
    unsigned commands; /* ON_ bits */
    const char *default_text, *help;
} option_spec;
extern const option_spec option_specs[OPT_COUNT];

enum { MAX_POSITIONALS = 4096, MAX_PARAMS = 64, MAX_WEIGHTS = 32, MAX_DIMS = 64, MAX_SCHEDULES = 32 };

typedef struct options {
    const char *value[OPT_COUNT]; /* NULL: not given; flags: "" */
    const char *positional[MAX_POSITIONALS];
    int positional_count;
    pb_option params[MAX_PARAMS]; /* of gen and fit: --height 5 */
    uint32_t param_count;
    const char *weights[MAX_WEIGHTS]; /* every --weights, for commands that take several */
    uint32_t weights_count;
    const char *dims[MAX_DIMS]; /* every --dim */
    uint32_t dim_count;
    const char *schedules[MAX_SCHEDULES]; /* every --schedule */
    uint32_t schedule_count;
} options;

/* The words that an option takes, separated by blanks; NULL if they are not a fixed list. */
const char *option_words(option_id id);

/* Reads the words after the command's name. `command` is one ON_ bit, 0 when there is no command yet.
 * False with a sentence in `why` (usage errors). The texts of argv are borrowed. */
bool options_read(options *o, unsigned command, int count, char **words, char *why, size_t room);

/* The name nearest to `word` among `names` (NULL entries are skipped), or NULL when none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
