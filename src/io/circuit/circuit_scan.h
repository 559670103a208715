/* circuit_scan.h -- words, signs and line ends, for circuits written as text.
 *
 * Comments run from '#' to the end of the line, except in AIGER. Words are separated by blanks, signs and line ends.
 */
#ifndef PBI_IO_CIRCUIT_CIRCUIT_SCAN_H
#define PBI_IO_CIRCUIT_CIRCUIT_SCAN_H

#include "io/text_source.h"

typedef enum pbi_word_kind { PBI_WORD, PBI_WORD_SIGN, PBI_WORD_LINE, PBI_WORD_END } pbi_word_kind;

typedef struct pbi_words {
    pbi_text *text;
    const char *signs; /* bytes that are separate tokens */
    bool joined;       /* a backslash at the end of a line joins it to the next */
    bool comments;
    bool plain[256]; /* bytes that are copied into words unchanged */
    pbi_word_kind kind;
    char sign;      /* '\0' unless kind is PBI_WORD_SIGN */
    pb_buffer word; /* NUL-terminated; the length counts the NUL */
    pbi_place place;
} pbi_words;

void pbi_words_init(pbi_words *w, pbi_text *text, pb_arena *arena, const char *signs, bool joined, bool comments);
pb_status pbi_words_next(pbi_words *w);
/* The remainder of the line, including blanks, as a word; ends at the line's end. */
pb_status pbi_words_rest(pbi_words *w);
/* Skips tokens up to the end of the line, which is then the token. */
pb_status pbi_words_skip_line(pbi_words *w);

static inline pbi_slice pbi_words_text(const pbi_words *w) { return (pbi_slice){w->word.bytes, w->word.length - 1}; }
/* Whether the token is this word, ignoring case. `word` is lower case. */
bool pbi_words_is(const pbi_words *w, const char *word);
/* PB_EFORMAT: "expected X, not Y" at the token. */
pb_status pbi_words_unexpected(pbi_words *w, const char *expected);

#endif
