/* lanes.h -- functions of memory as arrays, their sums and minima; included once for each width of cells (CELL). The
 * loops are simple so that compilers can vectorize them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIECE = 64 };

/* Vector code for processors that support it, without requiring it. */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAS_WIDE_LANES 1
#define WIDE_LANES __attribute__((target("avx2")))
#define INLINE inline __attribute__((always_inline))
#else
#define HAS_WIDE_LANES 0
#define INLINE inline
#endif

static INLINE CELL lower(CELL a, CELL b) { return a < b ? a : b; }

/* ---- loops over arrays: each body is compiled twice ---- */

static INLINE void relax2_body(CELL *restrict best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        best[k] = lower(best[k], (CELL)(a[k] + b[k] + c));
}

static INLINE void relax1_body(CELL *restrict best, const CELL *a, CELL c, size_t n)
{
    for (size_t k = 0; k < n; k++)
        best[k] = lower(best[k], (CELL)(a[k] + c));
}

static INLINE bool beats2_body(const CELL *best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    CELL any = 0;
    for (size_t k = 0; k < n; k++)
        any |= (CELL)(best[k] ^ lower(best[k], (CELL)(a[k] + b[k] + c)));
    return any != 0;
}

static INLINE bool beats1_body(const CELL *best, const CELL *a, CELL c, size_t n)
{
    CELL any = 0;
    for (size_t k = 0; k < n; k++)
        any |= (CELL)(best[k] ^ lower(best[k], (CELL)(a[k] + c)));
    return any != 0;
}

typedef struct lanes {
    void (*relax2)(CELL *restrict best, const CELL *a, const CELL *b, CELL c, size_t n);
    void (*relax1)(CELL *restrict best, const CELL *a, CELL c, size_t n);
    bool (*beats2)(const CELL *best, const CELL *a, const CELL *b, CELL c, size_t n);
    bool (*beats1)(const CELL *best, const CELL *a, CELL c, size_t n);
} lanes;

static void relax2(CELL *restrict best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    relax2_body(best, a, b, c, n);
}
static void relax1(CELL *restrict best, const CELL *a, CELL c, size_t n) { relax1_body(best, a, c, n); }
static bool beats2(const CELL *best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    return beats2_body(best, a, b, c, n);
}
static bool beats1(const CELL *best, const CELL *a, CELL c, size_t n) { return beats1_body(best, a, c, n); }

#if HAS_WIDE_LANES
WIDE_LANES static void relax2_wide(CELL *restrict best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    relax2_body(best, a, b, c, n);
}
WIDE_LANES static void relax1_wide(CELL *restrict best, const CELL *a, CELL c, size_t n) { relax1_body(best, a, c, n); }
WIDE_LANES static bool beats2_wide(const CELL *best, const CELL *a, const CELL *b, CELL c, size_t n)
{
    return beats2_body(best, a, b, c, n);
}
WIDE_LANES static bool beats1_wide(const CELL *best, const CELL *a, CELL c, size_t n)
{
    return beats1_body(best, a, c, n);
}
#endif

static inline lanes choose_lanes(void)
{
#if HAS_WIDE_LANES
    if (__builtin_cpu_supports("avx2"))
        return (lanes){relax2_wide, relax1_wide, beats2_wide, beats1_wide};
#endif
    return (lanes){relax2, relax1, beats2, beats1};
}

/* ---- functions ---- */

/* A function that is read: cell[s] for lo <= s < hi, the tail from hi on. */
typedef struct view {
    const CELL *cell;
    uint32_t lo, hi;
    CELL tail;
} view;

static inline void relax_flat(CELL *best, CELL c, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        best[k] = lower(best[k], c);
}

static inline const CELL *cell_at(const view *v, uint32_t s) { return v->cell + (s - v->lo); }

static inline uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The places from .. to-1. */
typedef struct span {
    uint32_t from, to;
} span;

/* best = min(best, a + b + c) on the span. */
static inline void relax_sum(const lanes *l, CELL *best, const view *a, const view *b, CELL c, span on)
{
    uint32_t from = max(on.from, max(a->lo, b->lo)), to = on.to;
    uint32_t both = min(to, min(a->hi, b->hi)), one = min(to, max(a->hi, b->hi));
    if (from < both) {
        l->relax2(best + from, cell_at(a, from), cell_at(b, from), c, both - from);
        from = both;
    }
    if (from < one) {
        const view *longer = a->hi > b->hi ? a : b, *shorter = a->hi > b->hi ? b : a;
        l->relax1(best + from, cell_at(longer, from), (CELL)(c + shorter->tail), one - from);
        from = one;
    }
    if (from < to && (CELL)(a->tail + b->tail + c) < best[from]) /* best falls: if not here, then nowhere */
        relax_flat(best + from, (CELL)(a->tail + b->tail + c), to - from);
}

static inline void relax_one(const lanes *l, CELL *best, const view *a, CELL c, span on)
{
    uint32_t from = max(on.from, a->lo), to = on.to, end = min(to, a->hi);
    if (from < end) {
        l->relax1(best + from, cell_at(a, from), c, end - from);
        from = end;
    }
    if (from < to)
        relax_flat(best + from, (CELL)(a->tail + c), to - from);
}

/* A range of whole pieces that contains all places of the span where a + b + c may be below best. */
static inline span beaten(const lanes *l, const CELL *best, const view *a, const view *b, CELL c, span on)
{
    span found = {on.to, on.from};
    uint32_t from = max(on.from, max(a->lo, b->lo)), to = on.to;
    const view *longer = a->hi > b->hi ? a : b, *shorter = a->hi > b->hi ? b : a;
    while (from < to) {
        uint32_t end;
        bool any;
        if (from < shorter->hi) {
            end = min(min(to, shorter->hi), from + PIECE);
            any = l->beats2(best + from, cell_at(a, from), cell_at(b, from), c, end - from);
        } else if (from < longer->hi) {
            end = min(min(to, longer->hi), from + PIECE);
            any = l->beats1(best + from, cell_at(longer, from), (CELL)(c + shorter->tail), end - from);
        } else {
            end = to;
            any = (CELL)(a->tail + b->tail + c) < best[from]; /* best falls: if not here, then nowhere */
        }
        if (any) {
            found.from = min(found.from, from);
            found.to = end;
        }
        from = end;
    }
    return found;
}
