/* What a run needs besides its arguments. */
#ifndef HW_CORE_CONTEXT_H
#define HW_CORE_CONTEXT_H

#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/tile.h"

struct hw_context {
  hw_generator generator;
  hw_arena arena;
  hw_team *team; /* NULL: one thread; not owned */
};

/* The threads for a job of so many multiply-adds: the caller's alone where waking the others takes longer. */
static inline hw_team *hw_context_team(const hw_context *context, double work) {
#ifdef HW_THREADS
  if (work >= (double)HW_PARALLEL_WORK) {
    hw_team_expect(context->team, work);
    return context->team;
  }
#endif
  (void)context;
  (void)work;
  return NULL;
}

#endif
