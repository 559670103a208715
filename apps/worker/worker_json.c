/* worker_json.c -- see shim/jansson.h: a reader and a writer of JSON documents as trees. */
#define _XOPEN_SOURCE 700
#include <jansson.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 };

typedef struct reader {
    const char *at, *end, *begin;
    int depth;
    bool reject_duplicates;
    const char *wrong; /* the first error; NULL: none */
} reader;

static json_t *value_new(json_kind kind)
{
    json_t *value = calloc(1, sizeof *value);
    if (value)
        value->kind = kind;
    return value;
}

void json_decref(json_t *value)
{
    while (value) {
        json_t *next = value->next;
        json_decref(value->child);
        free(value->key);
        free(value->text);
        free(value);
        value = next;
    }
}

static void *fail(reader *r, const char *why)
{
    if (!r->wrong)
        r->wrong = why;
    return NULL;
}

static char next_char(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

/* ---- strings ---- */

static bool read_unit(reader *r, uint32_t *unit)
{
    *unit = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = *r->at;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *unit = *unit << 4 | digit;
    }
    return true;
}

/* After \u: the character, of one unit or of two. */
static bool read_escape(reader *r, uint32_t *code)
{
    uint32_t low;
    if (!read_unit(r, code) || *code == 0 || (*code >= 0xDC00 && *code < 0xE000))
        return false;
    if (*code < 0xD800 || *code >= 0xE000)
        return true;
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
        return false;
    r->at += 2;
    if (!read_unit(r, &low) || low < 0xDC00 || low >= 0xE000)
        return false;
    *code = 0x10000 + ((*code - 0xD800) << 10 | (low - 0xDC00));
    return true;
}

static char *put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

static char *read_escaped(reader *r, char *to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    char c = r->at < r->end ? *r->at++ : '\0';
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        *to++ = into[found - from];
    else if (c == 'u' && read_escape(r, &code))
        to = put_code(to, code);
    else
        return fail(r, "invalid escape");
    return to;
}

/* An escape is never shorter than what it stands for, so the length of the source is room enough. */
static char *read_string(reader *r)
{
    const char *close = ++r->at;
    while (close < r->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    char *text = close < r->end ? malloc((size_t)(close - r->at) + 1) : NULL, *to = text;
    if (!text)
        return fail(r, close < r->end ? "out of memory" : "unexpected end of a string");
    while (to && *r->at != '"') {
        unsigned char c = (unsigned char)*r->at++;
        if (c == '\\')
            to = read_escaped(r, to);
        else if (c < 0x20)
            to = fail(r, "control character in a string");
        else
            *to++ = (char)c;
    }
    if (!to) {
        free(text);
        return NULL;
    }
    r->at++;
    *to = '\0';
    return text;
}

/* ---- values ---- */

static json_t *read_value(reader *r);

static const char *digits_end(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static json_t *read_number(reader *r)
{
    const char *at = r->at + (*r->at == '-'), *whole = at;
    at = digits_end(at, r->end);
    bool good = at > whole && (*whole != '0' || at == whole + 1);
    if (good && at < r->end && *at == '.') {
        const char *from = at + 1;
        at = digits_end(from, r->end);
        good = at > from;
    }
    if (good && at < r->end && (*at == 'e' || *at == 'E')) {
        const char *from = at + 1;
        from += from < r->end && (*from == '+' || *from == '-');
        at = digits_end(from, r->end);
        good = at > from;
    }
    if (!good)
        return fail(r, "invalid token");
    json_t *value = value_new(JSON_NUMBER);
    if (value)
        value->text = strndup(r->at, (size_t)(at - r->at));
    if (!value || !value->text) {
        json_decref(value);
        return fail(r, "out of memory");
    }
    r->at = at;
    errno = 0;
    if (json_is_integer(value) && (strtoll(value->text, NULL, 10), errno == ERANGE)) {
        json_decref(value);
        return fail(r, "too big integer");
    }
    return value;
}

static json_t *read_word(reader *r)
{
    static const struct {
        const char *word;
        json_kind kind;
    } words[] = {{"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= length && memcmp(r->at, words[i].word, length) == 0) {
            json_t *value = value_new(words[i].kind);
            r->at += length;
            return value ? value : fail(r, "out of memory");
        }
    }
    return fail(r, "invalid token");
}

static json_t *read_member(reader *r, const json_t *parent)
{
    char *key = NULL;
    if (parent->kind == JSON_OBJECT) {
        if (next_char(r) != '"')
            return fail(r, "string or '}' expected");
        key = read_string(r);
        if (key && next_char(r) != ':')
            fail(r, "':' expected");
        r->at++;
        if (key && !r->wrong && r->reject_duplicates && json_object_get(parent, key))
            fail(r, "duplicate object key");
    }
    json_t *value = r->wrong ? NULL : read_value(r);
    if (value)
        value->key = key;
    else
        free(key);
    return value;
}

static json_t *read_list(reader *r, json_kind kind, char close)
{
    json_t *list = value_new(kind), **last = list ? &list->child : NULL;
    if (!list || ++r->depth > MAX_DEPTH) {
        json_decref(list);
        return fail(r, list ? "nested too deeply" : "out of memory");
    }
    r->at++;
    if (next_char(r) != close)
        do {
            *last = read_member(r, list);
            if (*last)
                last = &(*last)->next;
        } while (!r->wrong && next_char(r) == ',' && r->at++);
    if (!r->wrong && next_char(r) != close)
        fail(r, "',' or the end of the list expected");
    r->at++;
    r->depth--;
    if (!r->wrong)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *read_value(reader *r)
{
    char c = next_char(r);
    if (c == '{')
        return read_list(r, JSON_OBJECT, '}');
    if (c == '[')
        return read_list(r, JSON_ARRAY, ']');
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(r);
    if (c != '"')
        return read_word(r);
    json_t *value = value_new(JSON_STRING);
    if (value)
        value->text = read_string(r);
    if (value && value->text)
        return value;
    json_decref(value);
    return fail(r, "out of memory");
}

json_t *json_loadb(const char *text, size_t length, size_t flags, json_error_t *error)
{
    reader r = {.at = text, .begin = text, .end = text + length};
    r.reject_duplicates = (flags & JSON_REJECT_DUPLICATES) != 0;
    json_t *value = read_value(&r);
    if (value && next_char(&r) && !r.wrong)
        fail(&r, "end of file expected");
    if (!r.wrong)
        return value;
    json_decref(value);
    if (error) {
        *error = (json_error_t){.line = 1, .column = 1};
        for (const char *at = text; at < r.at && at < r.end; at++, error->column++)
            if (*at == '\n') {
                error->line++;
                error->column = 0;
            }
        snprintf(error->text, sizeof error->text, "%s", r.wrong);
    }
    return NULL;
}

/* ---- looking ---- */

json_t *json_object_get(const json_t *object, const char *key)
{
    if (!json_is_object(object))
        return NULL;
    for (json_t *at = object->child; at; at = at->next)
        if (at->key && strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    json_t *at = json_is_array(array) ? array->child : NULL;
    while (at && index--)
        at = at->next;
    return at;
}

size_t json_array_size(const json_t *array)
{
    size_t count = 0;
    for (const json_t *at = json_is_array(array) ? array->child : NULL; at; at = at->next)
        count++;
    return count;
}

const char *json_string_value(const json_t *value) { return json_is_string(value) ? value->text : NULL; }

bool json_is_real(const json_t *value) { return value && value->kind == JSON_NUMBER && strpbrk(value->text, ".eE"); }

bool json_is_integer(const json_t *value) { return value && value->kind == JSON_NUMBER && !json_is_real(value); }

long long json_integer_value(const json_t *value)
{
    return json_is_integer(value) ? strtoll(value->text, NULL, 10) : 0;
}

double json_real_value(const json_t *value) { return json_is_real(value) ? strtod(value->text, NULL) : 0; }

/* ---- changing and writing ---- */

json_t *json_null(void) { return value_new(JSON_NULL); }

json_t *json_string(const char *text)
{
    json_t *value = value_new(JSON_STRING);
    if (value)
        value->text = strdup(text);
    if (!value || value->text)
        return value;
    json_decref(value);
    return NULL;
}

/* The key is new. */
int json_object_set_new(json_t *object, const char *key, json_t *value)
{
    char *name = strdup(key);
    if (!name || !value || !json_is_object(object)) {
        free(name);
        json_decref(value);
        return -1;
    }
    json_t **last = &object->child;
    while (*last)
        last = &(*last)->next;
    value->key = name;
    *last = value;
    return 0;
}

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_value(FILE *out, const json_t *value)
{
    static const char *const words[] = {"null", "true", "false"};
    bool object = value->kind == JSON_OBJECT;
    if (value->kind <= JSON_FALSE) {
        fputs(words[value->kind], out);
    } else if (value->kind == JSON_NUMBER) {
        fputs(value->text, out);
    } else if (value->kind == JSON_STRING) {
        print_text(out, value->text);
    } else {
        fputc(object ? '{' : '[', out);
        for (const json_t *at = value->child; at; at = at->next) {
            if (at != value->child)
                fputc(',', out);
            if (object) {
                print_text(out, at->key);
                fputc(':', out);
            }
            print_value(out, at);
        }
        fputc(object ? '}' : ']', out);
    }
}

char *json_dumps(const json_t *value, size_t flags)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *out = value ? open_memstream(&bytes, &length) : NULL;
    (void)flags;
    if (!out)
        return NULL;
    print_value(out, value);
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return bytes;
    free(bytes);
    return NULL;
}
