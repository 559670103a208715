/* completion.c -- completions for bash, zsh and fish, from the same tables as the help. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

static void print_strategies(const char *join)
{
    uint32_t count;
    const pb_strategy *all = pb_strategies(&count);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%s", i ? join : "", all[i].name);
}

static void print_policies(const char *join)
{
    uint32_t count;
    const pb_policy *all = pb_policies(&count);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%s", i ? join : "", all[i].name);
}

static void print_workloads(const char *join)
{
    for (uint32_t i = 0; i < pb_workload_count(); i++) {
        pb_workload_row row;
        pb_workload_row_of(i, &row);
        printf("%s%s", i ? join : "", row.name);
    }
}

static void print_families(const char *join)
{
    uint32_t count;
    const pb_family *all = pb_families(&count);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%s", i ? join : "", all[i].name);
}

/* Words separated by blanks, joined another way. */
static void print_joined(const char *words, const char *join)
{
    for (; *words; words++)
        if (*words == ' ')
            fputs(join, stdout);
        else
            putchar(*words);
}

static void print_machines(const char *join)
{
    for (uint32_t i = 0; i < pb_machine_builtin_count(); i++)
        printf("%s%s", i ? join : "", pb_machine_builtin_at(i).name);
}

static bool is_named(option_id id)
{
    return id == OPT_STRATEGY || id == OPT_STRATEGIES || id == OPT_POLICY || id == OPT_MACHINE;
}

static bool has_words(option_id id) { return is_named(id) || option_words(id) != NULL; }

/* The words an option takes, joined; false when it takes a file or anything. */
static bool print_words(option_id id, const char *join)
{
    if (id == OPT_STRATEGY || id == OPT_STRATEGIES)
        print_strategies(join);
    else if (id == OPT_POLICY)
        print_policies(join);
    else if (id == OPT_MACHINE)
        print_machines(join);
    else if (option_words(id))
        print_joined(option_words(id), join);
    return has_words(id);
}

static bool takes_file(option_id id)
{
    return id == OPT_OUTPUT || id == OPT_LIKE || id == OPT_CSV || id == OPT_SVG || id == OPT_HTML || id == OPT_PLANS ||
           id == OPT_PROFILE || id == OPT_SCHEDULE || id == OPT_FAILED || id == OPT_START || id == OPT_PLAN ||
           id == OPT_SLOW;
}

static void print_command_options(const command *c)
{
    const char *join = "";
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_specs[id].commands & c->bit) {
            printf("%s--%s", join, option_specs[id].name);
            join = " ";
        }
    }
}

/* "    tree) words='--height ...' ;;" for each family. */
static void print_family_options(void)
{
    uint32_t count;
    const pb_family *families = pb_families(&count);
    for (uint32_t f = 0; f < count; f++) {
        printf("            %s) words=\"$words", families[f].name);
        for (uint32_t p = 0; p < families[f].param_count; p++)
            printf(" --%s", families[f].params[p].key);
        puts("\" ;;");
    }
}

void help_complete_bash(void)
{
    puts("# bash completion for pebble; made by `pebble help --as bash`\n"
         "_pebble() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} "
         "words\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        words='", stdout);
    for (int i = 0; i < command_count; i++)
        printf("%s ", commands[i].name);
    puts("--help --version'\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "        return\n"
         "    fi\n"
         "    case $previous in");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!option_specs[id].argument)
            continue;
        printf("    --%s)", option_specs[id].name);
        if (takes_file((option_id)id)) {
            puts(" COMPREPLY=($(compgen -f -- \"$current\")); return ;;");
        } else if (has_words((option_id)id)) {
            fputs(" COMPREPLY=($(compgen -W '", stdout);
            print_words((option_id)id, " ");
            puts("' -- \"$current\")); return ;;");
        } else {
            puts(" return ;;");
        }
    }
    puts("    -o) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n    esac\n    case $command in");
    for (int i = 0; i < command_count; i++) {
        printf("    %s) words='", commands[i].name);
        print_command_options(&commands[i]);
        puts("' ;;");
    }
    puts("    *) return ;;\n    esac\n    if [ \"$command\" = gen ]; then\n        case ${COMP_WORDS[2]} in");
    print_family_options();
    puts("        esac\n    fi\n    case $command:$current in\n"
         "    *:-*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;");
    fputs("    gen:*) [ \"$COMP_CWORD\" -eq 2 ] && COMPREPLY=($(compgen -W '", stdout);
    print_families(" ");
    fputs("' -- \"$current\")) ;;\n    profile:* | run:* | fit:*) COMPREPLY=($(compgen -W '", stdout);
    print_workloads(" ");
    fputs("' -- \"$current\")) ;;\n    help:*) COMPREPLY=($(compgen -W '", stdout);
    for (int i = 0; i < command_count; i++)
        printf("%s%s", i ? " " : "", commands[i].name);
    fputs("' -- \"$current\")) ;;\n    machine:*) COMPREPLY=($(compgen -W 'list show ", stdout);
    print_machines(" ");
    puts("' -- \"$current\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
         "    esac\n"
         "}\n"
         "complete -o filenames -o bashdefault -F _pebble pebble");
}

/* Text inside '...[here]...' of a zsh specification. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(option_id id)
{
    const option_spec *spec = &option_specs[id];
    if (spec->letter)
        printf(" \\\n            '(-%c --%s)'{-%c,--%s}'[", spec->letter, spec->name, spec->letter, spec->name);
    else
        printf(" \\\n            '--%s[", spec->name);
    zsh_text(spec->help);
    fputs("]", stdout);
    if (spec->argument) {
        fputs(":", stdout);
        zsh_text(spec->argument);
        fputs(":", stdout);
        if (takes_file(id)) {
            fputs("_files", stdout);
        } else if (has_words(id)) {
            fputs("(", stdout);
            print_words(id, " ");
            fputs(")", stdout);
        }
    }
    putchar('\'');
}

void help_complete_zsh(void)
{
    puts("#compdef pebble\n# zsh completion for pebble; made by `pebble help --as zsh`\n_pebble() {\n    local -a "
         "commands\n"
         "    commands=(");
    for (int i = 0; i < command_count; i++) {
        printf("        '%s:", commands[i].name);
        zsh_text(commands[i].summary);
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
         "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in");
    for (int i = 0; i < command_count; i++) {
        printf("    %s)\n        _arguments -s", commands[i].name);
        for (int id = 0; id < OPT_COUNT; id++)
            if (option_specs[id].commands & commands[i].bit)
                zsh_option((option_id)id);
        if (commands[i].bit == ON_GEN) {
            fputs(" \\\n            '1:family:(", stdout);
            print_families(" ");
            puts(")' '*:number: ' ;;");
        } else if (commands[i].bit & (ON_PROFILE | ON_RUN | ON_FIT)) {
            fputs(" \\\n            '1:workload:(", stdout);
            print_workloads(" ");
            puts(")' ;;");
        } else if (commands[i].bit == ON_MACHINE) {
            fputs(" \\\n            '1:what:(list show measure rescale fit)' '2:machine:(", stdout);
            print_machines(" ");
            puts(")' ;;");
        } else if (commands[i].bit == ON_HELP) {
            puts(" \\\n            '1:command:(gen info plan compare verify explain export)' ;;");
        } else {
            puts(" \\\n            '*:file:_files' ;;");
        }
    }
    puts("    esac\n}\n_pebble \"$@\"");
}

static void fish_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

void help_complete_fish(void)
{
    puts("# fish completion for pebble; made by `pebble help --as fish`");
    for (int i = 0; i < command_count; i++) {
        printf("complete -c pebble -n __fish_use_subcommand -f -a %s -d ", commands[i].name);
        fish_quoted(commands[i].summary);
        putchar('\n');
    }
    for (int i = 0; i < command_count; i++) {
        for (int id = 0; id < OPT_COUNT; id++) {
            const option_spec *spec = &option_specs[id];
            if (!(spec->commands & commands[i].bit))
                continue;
            printf("complete -c pebble -n '__fish_seen_subcommand_from %s' -l %s", commands[i].name, spec->name);
            if (spec->letter)
                printf(" -s %c", spec->letter);
            if (spec->argument)
                fputs(takes_file((option_id)id) ? " -r" : " -x", stdout);
            if (has_words((option_id)id)) {
                fputs(" -a '", stdout);
                print_words((option_id)id, " ");
                putchar('\'');
            }
            fputs(" -d ", stdout);
            fish_quoted(spec->help);
            putchar('\n');
        }
    }
    fputs("complete -c pebble -n '__fish_seen_subcommand_from gen' -f -a '", stdout);
    print_families(" ");
    fputs("'\ncomplete -c pebble -n '__fish_seen_subcommand_from profile run fit' -f -a '", stdout);
    print_workloads(" ");
    fputs("'\ncomplete -c pebble -n '__fish_seen_subcommand_from machine' -f -a 'list show ", stdout);
    print_machines(" ");
    puts("'");
}
