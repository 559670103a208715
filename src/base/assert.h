/* assert.h -- PB_ASSERT for our own bugs, in debug, sanitizer and fuzz builds only. */
#ifndef PBI_ASSERT_H
#define PBI_ASSERT_H

#ifdef PB_DEBUG
#include <assert.h>
#define PB_ASSERT(fact) assert(fact)
#else
#define PB_ASSERT(fact) ((void)0)
#endif

#endif
