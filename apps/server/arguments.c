/* arguments.c -- query arguments: each at most once, known to the handler, and with a valid value. */
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

void request_add_argument(request *r, const char *key, const char *value)
{
    if (r->argument_error != ARGUMENTS_OK)
        return;
    snprintf(r->bad_argument, sizeof r->bad_argument, "%s", key);
    if (strlen(key) >= KEY_ROOM) {
        r->argument_error = ARGUMENT_UNKNOWN;
        return;
    }
    if (request_argument(r, key) || r->argument_count == MAX_ARGUMENTS) {
        r->argument_error =
            request_argument(r, key) ? ARGUMENT_TWICE : ARGUMENT_UNKNOWN; /* no handler takes that many */
        return;
    }
    argument *a = &r->arguments[r->argument_count];
    snprintf(a->key, sizeof a->key, "%s", key);
    a->value = strdup(value ? value : "");
    if (a->value)
        r->argument_count++;
    else
        r->argument_error = ARGUMENT_NO_MEMORY;
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
        respond_error(r, MHD_HTTP_BAD_REQUEST, "unknown argument `%.60s`; expected: %s", key, names);
    else
        respond_error(r, MHD_HTTP_BAD_REQUEST, "unknown argument `%.60s`; this address takes none", key);
}

bool arguments_once(request *r)
{
    if (r->argument_error == ARGUMENT_NO_MEMORY)
        respond_no_memory(r);
    else if (r->argument_error == ARGUMENT_TWICE)
        respond_error(r, MHD_HTTP_BAD_REQUEST, "the argument `%.60s` was sent twice; send it once", r->bad_argument);
    else
        return true;
    return false;
}

bool arguments_known(request *r, const char *names)
{
    if (r->argument_error == ARGUMENT_UNKNOWN) {
        refuse_unknown(r, r->bad_argument, names);
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
    respond_error(r, MHD_HTTP_BAD_REQUEST, "%s: expected one of: %s", key, words);
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
        respond_error(r, MHD_HTTP_BAD_REQUEST, "node: expected a number from 0 to %llu",
                      (unsigned long long)g->node_count - 1);
    else
        respond_error(r, MHD_HTTP_BAD_REQUEST, "node: the graph has no nodes; use a graph with nodes");
    return false;
}
