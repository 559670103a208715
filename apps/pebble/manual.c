/* manual.c -- the manual page in roff, from the same tables as the help. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

/* Prints the text with the characters that mean something to roff escaped. */
static void roff(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '\\')
            fputs("\\e", stdout);
        else if (c == '-')
            fputs("\\-", stdout);
        else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n'))
            printf("\\&%c", c);
        else if (c == '`')
            fputs("\\(oq", stdout);
        else
            putchar(c);
    }
}

static void line(const char *text)
{
    roff(text, strlen(text));
    putchar('\n');
}

static void option_entry(const option_spec *spec)
{
    fputs(".TP\n", stdout);
    if (spec->letter)
        printf("\\fB\\-%c\\fR, ", spec->letter);
    fputs("\\fB\\-\\-", stdout);
    roff(spec->name, strlen(spec->name));
    fputs("\\fR", stdout);
    if (spec->argument)
        printf(" \\fI%s\\fR", spec->argument);
    putchar('\n');
    line(spec->help);
    if (spec->default_text) {
        fputs("Default: ", stdout);
        roff(spec->default_text, strlen(spec->default_text));
        fputs(".\n", stdout);
    }
}

static void command_entry(const command *c)
{
    printf(".SS pebble %s\n", c->name);
    line(c->summary);
    fputs(".PP\n.nf\n", stdout);
    line(c->usage);
    fputs(".fi\n", stdout);
    if (c->details) {
        fputs(".PP\n", stdout);
        line(c->details);
    }
    fputs(".PP\nOptions:", stdout);
    const char *join = " ";
    for (int id = 0; id < OPT_COUNT; id++) {
        if ((option_specs[id].commands & c->bit) && option_specs[id].commands != ON_ALL) {
            printf("%s\\fB\\-\\-", join);
            roff(option_specs[id].name, strlen(option_specs[id].name));
            fputs("\\fR", stdout);
            join = ", ";
        }
    }
    puts(join[0] == ' ' ? " only those of every command." : ".");
    for (const char *text = c->examples; *text;) {
        size_t left = strcspn(text, "\t"), end = strcspn(text, "\n");
        fputs(".TP\n\\fB", stdout);
        roff(text, left);
        fputs("\\fR\n", stdout);
        roff(text + left + 1, end - left - 1);
        putchar('\n');
        text += end + 1;
    }
}

static void named_entry(const char *name, const char *text)
{
    fputs(".TP\n\\fB", stdout);
    roff(name, strlen(name));
    fputs("\\fR\n", stdout);
    line(text);
}

void help_manual(void)
{
    uint32_t count;
    printf(".TH PEBBLE 1 \"\" \"pebble %s\" \"User Commands\"\n", PB_VERSION);
    puts(".SH NAME\npebble \\- plans what to keep, recompute, uncompute and offload under a memory cap");
    puts(".SH SYNOPSIS\n.B pebble\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]");
    puts(
        ".SH DESCRIPTION\nA computation is a graph: each node has a cost and a size, and reads other nodes. "
        "\\fBpebble\\fR "
        "plans which values to\nkeep, to free and recompute, to uncompute or to move to slow memory, so that the "
        "computation fits\na memory cap and the extra work is small. An independent verifier replays every plan.\n.PP\n"
        "\\fB\\-\\fR is standard input or output. Pebble reads graphs as JSON, DOT or CSV, circuits as .bench, BLIF "
        "or AIGER, and neural networks as ONNX; it recognizes the format by the content.");
    puts(".SH COMMANDS");
    for (int i = 0; i < command_count; i++)
        command_entry(&commands[i]);
    puts(".SH OPTIONS");
    for (int id = 0; id < OPT_COUNT; id++)
        option_entry(&option_specs[id]);
    puts(".SH STRATEGIES");
    const pb_strategy *strategies = pb_strategies(&count);
    for (uint32_t i = 0; i < count; i++)
        named_entry(strategies[i].name, strategies[i].summary);
    puts(".SH POLICIES");
    const pb_policy *policies = pb_policies(&count);
    for (uint32_t i = 0; i < count; i++)
        named_entry(policies[i].name, policies[i].summary);
    puts(".SH GRAPH FAMILIES");
    const pb_family *families = pb_families(&count);
    for (uint32_t i = 0; i < count; i++)
        named_entry(families[i].name, families[i].help);
    puts(".SH EXIT STATUS");
    for (int i = 0; i < exit_text_count; i++) {
        char code[8];
        snprintf(code, sizeof code, "%d", (int)exit_texts[i].code);
        named_entry(code, exit_texts[i].text);
    }
    puts(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nNo colors, if it is set and not empty.\n.TP\n\\fBCOLUMNS\\fR\n"
         "The width of tables and plots, if the output is not a terminal.");
}
