/* What a run needs besides its arguments. */
#ifndef HW_CORE_CONTEXT_H
#define HW_CORE_CONTEXT_H

#include "core/memory.h"
#include "core/random.h"

struct hw_context {
  hw_generator generator;
  hw_arena arena;
};

#endif
