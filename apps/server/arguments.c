/* arguments.c -- what follows the question mark of an address: each argument once, known where it is sent, and of a value
 * that is taken there. */
#define _XOPEN_SOURCE 700
#include "request.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *request_argument(const request *r, const char *key)
{
    for (int i = 0; i < r->argument_count; i++)
        if (strcmp(r->arguments[i].key, key) == 0)
            return r->arguments[i].value;
    return NULL;
}

static enum MHD_Result take_argument(void *state, enum MHD_ValueKind kind, const char *key, const char *value)
{
    request *r = state;
    (void)kind;
    if (r->trouble != ARGUMENTS_FINE)
        return MHD_YES;
    snprintf(r->troubled, sizeof r->troubled, "%s", key);
    if (strlen(key) >= KEY_ROOM) {
        r->trouble = ARGUMENT_UNKNOWN;
        return MHD_YES;
    }
    if (request_argument(r, key) || r->argument_count == MOST_ARGUMENTS) {
        r->trouble = request_argument(r, key) ? ARGUMENT_TWICE : ARGUMENT_UNKNOWN; /* nothing takes that many */
        return MHD_YES;
    }
    argument *a = &r->arguments[r->argument_count];
    snprintf(a->key, sizeof a->key, "%s", key);
    a->value = strdup(value ? value : "");
    if (a->value)
        r->argument_count++;
    else
        r->trouble = ARGUMENT_LOST;
    return MHD_YES;
}

void request_arguments(request *r)
{
    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, take_argument, r);
}

/* Is the key among the words of `names`? */
static bool is_among(const char *key, const char *names)
{
    size_t length = strlen(key);
    for (const char *at = names; *at;) {
        size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, key, length) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

static void refuse_unknown(request *r, const char *key, const char *names)
{
    if (names[0])
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "there is no argument `%.60s` here; there is: %s", key, names);
    else
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "there is no argument `%.60s` here; this address takes none", key);
}

bool arguments_once(request *r)
{
    if (r->trouble == ARGUMENT_LOST)
        answer_no_memory(r);
    else if (r->trouble == ARGUMENT_TWICE)
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "the argument `%.60s` was sent twice", r->troubled);
    else
        return true;
    return false;
}

bool arguments_known(request *r, const char *names)
{
    if (r->trouble == ARGUMENT_UNKNOWN) {
        refuse_unknown(r, r->troubled, names);
        return false;
    }
    for (int i = 0; i < r->argument_count; i++)
        if (strcmp(r->arguments[i].key, "token") != 0 && !is_among(r->arguments[i].key, names)) {
            refuse_unknown(r, r->arguments[i].key, names);
            return false;
        }
    return true;
}

bool argument_word(request *r, const char *key, const char *words, size_t *place)
{
    const char *text = request_argument(r, key);
    size_t at = 0;
    if (!text)
        return true;
    for (const char *word = words; *word; at++) {
        size_t length = strcspn(word, " ");
        if (strlen(text) == length && memcmp(word, text, length) == 0) {
            *place = at;
            return true;
        }
        word += length + (word[length] == ' ');
    }
    answer_fail(r, MHD_HTTP_BAD_REQUEST, "%s: one of these is expected: %s", key, words);
    return false;
}

bool argument_node(request *r, const pb_graph *g, pb_node *node)
{
    const char *text = request_argument(r, "node");
    uint64_t number;
    if (text && g->node_count && whole_read(text, g->node_count - 1, &number)) {
        *node = (pb_node)number;
        return true;
    }
    if (g->node_count)
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "node: a number from 0 to %llu is expected",
                    (unsigned long long)g->node_count - 1);
    else
        answer_fail(r, MHD_HTTP_BAD_REQUEST, "node: the graph has no nodes");
    return false;
}
