/* checksum.c -- see checksum.h. */
#include "engine/checksum.h"

#include <string.h>

static const uint64_t P1 = 0x9e3779b185ebca87u, P2 = 0xc2b2ae3d27d4eb4fu, P3 = 0x165667b19e3779f9u,
                      P4 = 0x85ebca77c2b2ae63u, P5 = 0x27d4eb2f165667c5u;

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

/* Little-endian on every machine. */
static uint64_t word(const unsigned char *at)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--)
        x = x << 8 | at[i];
    return x;
}

static uint64_t half_word(const unsigned char *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t step(uint64_t lane, uint64_t x) { return rotate(lane + x * P2, 31) * P1; }

void pbi_sum_begin(pbi_sum *s, uint64_t seed)
{
    *s = (pbi_sum){.lane = {seed + P1 + P2, seed + P2, seed, seed - P1}, .seed = seed};
}

void pbi_sum_add(pbi_sum *s, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t a = s->lane[0], b = s->lane[1], c = s->lane[2], d = s->lane[3];
    for (size_t i = 0; i + 32 <= count; i += 32) {
        a = step(a, word(at + i));
        b = step(b, word(at + i + 8));
        c = step(c, word(at + i + 16));
        d = step(d, word(at + i + 24));
    }
    s->lane[0] = a;
    s->lane[1] = b;
    s->lane[2] = c;
    s->lane[3] = d;
    s->total += count;
}

uint64_t pbi_sum_end(pbi_sum *s, const void *last, size_t count)
{
    const unsigned char *at = last;
    size_t whole = count / 32 * 32, i = whole;
    if (whole)
        pbi_sum_add(s, at, whole);
    uint64_t h = s->seed + P5;
    if (s->total) {
        h = rotate(s->lane[0], 1) + rotate(s->lane[1], 7) + rotate(s->lane[2], 12) + rotate(s->lane[3], 18);
        for (int k = 0; k < 4; k++)
            h = (h ^ step(0, s->lane[k])) * P1 + P4;
    }
    h += s->total + (count - whole);
    for (; i + 8 <= count; i += 8)
        h = rotate(h ^ step(0, word(at + i)), 27) * P1 + P4;
    for (; i + 4 <= count; i += 4)
        h = rotate(h ^ half_word(at + i) * P1, 23) * P2 + P3;
    for (; i < count; i++)
        h = rotate(h ^ at[i] * P5, 11) * P1;
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

uint64_t pbi_checksum(const void *bytes, size_t count, uint64_t seed)
{
    pbi_sum s;
    pbi_sum_begin(&s, seed);
    return pbi_sum_end(&s, bytes, count);
}
