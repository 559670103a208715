/* plain_text.c -- makes texts from files and from the command line safe for a terminal. */
#include "pebble/base.h"

#include <stdio.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence that starts here, and its character; 0 if there is none. */
static size_t sequence(const unsigned char *t, uint32_t *character)
{
    size_t length = t[0] < 0x80 ? 1 : t[0] < 0xe0 ? 2 : t[0] < 0xf0 ? 3 : 4;
    bool overlong = (t[0] >= 0x80 && t[0] < 0xc2) || (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xf0 && t[1] < 0x90);
    bool beyond = t[0] > 0xf4 || (t[0] == 0xf4 && t[1] > 0x8f) || (t[0] == 0xed && t[1] > 0x9f);
    if (overlong || beyond)
        return 0;
    *character = length == 1 ? t[0] : t[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((t[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (t[i] & 0x3fu);
    }
    return length;
}

/* Controls (C0, DEL, C1), separators of lines and paragraphs, and characters that change the text direction. */
static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

size_t pb_plain_char(const char *text, char shown[PB_PLAIN_CHAR])
{
    uint32_t c = 0;
    if (!*text) {
        *shown = '\0';
        return 0;
    }
    size_t length = sequence((const unsigned char *)text, &c);
    if (length && !is_unsafe(c)) {
        memcpy(shown, text, length);
        shown[length] = '\0';
    } else if (length == 1 && (c == '\n' || c == '\t' || c == '\r')) {
        snprintf(shown, PB_PLAIN_CHAR, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (length > 1) {
        snprintf(shown, PB_PLAIN_CHAR, "\\u%04x", (unsigned)(c & 0xffff));
    } else {
        snprintf(shown, PB_PLAIN_CHAR, "\\x%02x", (unsigned)(unsigned char)*text);
    }
    return length ? length : 1;
}

size_t pb_plain_text(const char *text, char *plain, size_t room)
{
    char shown[PB_PLAIN_CHAR];
    size_t used, whole = 0, kept = 0;
    while ((used = pb_plain_char(text, shown)) > 0) {
        size_t length = strlen(shown);
        if (kept == whole && whole + length < room) {
            memcpy(plain + whole, shown, length);
            kept += length;
        }
        whole += length;
        text += used;
    }
    if (room)
        plain[kept] = '\0';
    return whole;
}
