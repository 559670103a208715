/* cut_rate.c -- see cut_rate.h. */
#include "bound/cut_rate.h"

#include "base/checked.h"
#include "bound/cut_flow.h"

#include <math.h>

pbi_rate pbi_rate_of(double value)
{
    int exponent;
    if (!(value > 0))
        return (pbi_rate){0, 0};
    double part = frexp(value, &exponent);
    if (exponent > 62)
        return (pbi_rate){UINT64_C(1) << 62, 0};
    if (exponent < -70)
        return (pbi_rate){0, 0};
    uint64_t mantissa = (uint64_t)ldexp(part, 53);
    return exponent > 53 ? (pbi_rate){mantissa << (exponent - 53), 0} : (pbi_rate){mantissa, (unsigned)(53 - exponent)};
}

double pbi_rate_double(pbi_rate rate) { return ldexp((double)rate.mantissa, -(int)rate.shift); }

int64_t pbi_rate_times(pbi_rate rate, uint64_t size, bool up)
{
    pb_u128 p = pbi_u128_product(rate.mantissa, size);
    uint64_t whole, rest;
    if (rate.shift >= 64) {
        unsigned s = rate.shift - 64;
        whole = p.high >> s;
        rest = p.low | (s ? p.high << (64 - s) : 0);
    } else if (rate.shift) {
        if (p.high >> rate.shift)
            return PBI_FLOW_INF;
        whole = p.high << (64 - rate.shift) | p.low >> rate.shift;
        rest = p.low << (64 - rate.shift);
    } else {
        if (p.high)
            return PBI_FLOW_INF;
        whole = p.low;
        rest = 0;
    }
    if (whole >= (uint64_t)PBI_FLOW_INF)
        return PBI_FLOW_INF;
    return (int64_t)whole + (up && rest);
}
