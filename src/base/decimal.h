/* decimal.h -- decimals as people and other programs write them ("0.04", "1e-11", "2.50"), kept exactly. */
#ifndef PBI_DECIMAL_H
#define PBI_DECIMAL_H

#include "pebble/base.h"

/* 10^19 is the largest power of ten in 64 bits; one less leaves room for a digit before the point. */
#define PBI_MOST_DECIMALS 18

/* number / 10^digits, with the fewest digits that write it. */
typedef struct pbi_decimal {
    uint64_t number;
    uint32_t digits; /* at most PBI_MOST_DECIMALS */
} pbi_decimal;

typedef enum pbi_decimal_verdict {
    PBI_DECIMAL_FINE,
    PBI_DECIMAL_WRONG,  /* not a decimal of 0 or more */
    PBI_DECIMAL_TOO_FAR /* a decimal, but too large or too fine for 64 bits and PBI_MOST_DECIMALS */
} pbi_decimal_verdict;

/* Digits with a point somewhere, then perhaps e and a power of ten. *out is set only when it is fine. */
pbi_decimal_verdict pbi_decimal_parse(const char *text, size_t length, pbi_decimal *out);

/* 10^digits; digits is at most PBI_MOST_DECIMALS. */
uint64_t pbi_decimal_unit(uint32_t digits);

/* Writes number / 10^digits in its shortest form, without an exponent, with NUL. */
#define PBI_DECIMAL_TEXT 32
void pbi_decimal_text(pbi_decimal value, char text[PBI_DECIMAL_TEXT]);

#endif
