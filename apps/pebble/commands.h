/* commands.h -- the table of commands, with their help texts. */
#ifndef PEBBLE_APP_COMMANDS_H
#define PEBBLE_APP_COMMANDS_H

#include "app.h"

typedef struct command {
    const char *name;
    unsigned bit; /* ON_ */
    const char *summary;
    const char *usage;
    const char *examples; /* lines "command\twhat it does" */
    const char *details;  /* a paragraph, or NULL */
    const char *codes;    /* the exit codes it uses in addition to 0, 1 and 2, as digits: "345" */
    exit_code (*run)(app *a);
} command;

extern const command commands[];
extern const int command_count;
const command *command_find(const char *name);
/* Reports that there is no such command, with the nearest name. */
exit_code unknown_command(app *a, const char *name);

/* What an exit code means. */
typedef struct exit_text {
    exit_code code;
    const char *text;
} exit_text;
extern const exit_text exit_texts[];
extern const int exit_text_count;

exit_code cmd_gen(app *a);
exit_code cmd_info(app *a);
exit_code cmd_plan(app *a);
exit_code cmd_compare(app *a);
exit_code cmd_sweep(app *a);
exit_code cmd_verify(app *a);
exit_code cmd_explain(app *a);
exit_code cmd_export(app *a);
exit_code cmd_merkle(app *a);
exit_code cmd_catalytic(app *a);
exit_code cmd_profile(app *a);
exit_code cmd_run(app *a);
exit_code cmd_fit(app *a);
exit_code cmd_machine(app *a);
exit_code cmd_price(app *a);
exit_code cmd_coarsen(app *a);
exit_code cmd_work(app *a);
exit_code cmd_store(app *a);
exit_code cmd_tree(app *a);
exit_code cmd_ui(app *a);
exit_code cmd_help(app *a);

/* Prints the help of one command; NULL: of `pebble` itself. `pebble gen FAMILY --help` finds the family in a->opts. */
void help_command(app *a, const command *c);
void help_manual(void);
void help_complete_bash(void);
void help_complete_zsh(void);
void help_complete_fish(void);

#endif
