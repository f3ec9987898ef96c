/* State that is kept between runs: the generator, scratch memory and threads. */
#ifndef HW_CORE_CONTEXT_H
#define HW_CORE_CONTEXT_H

#include "core/arena.h"
#include "core/parallel.h"
#include "core/random.h"
#include "core/threads.h"

/* Two runs with equal keys need the same scratch. */
typedef struct hw_scratch_key {
  const void *module; /* NULL: the run must be measured */
  uint64_t version;   /* of the module, and of whatever was where it is */
  size_t batch;
  size_t tokens;
  size_t logits;
  bool is_head; /* of the head alone */
} hw_scratch_key;

struct hw_context {
  hw_generator generator;
  hw_arena arena;
  hw_team *team;       /* NULL: one thread; else the team of `threads`, or of JavaScript */
  hw_threads *threads; /* NULL, or the threads that the context has started */
  size_t small_runs;   /* successive runs that needed much less than the arena holds */
  size_t patience;     /* number of small runs after which the arena is released */
  bool has_been_more;  /* the arena was released and has not grown since */
  hw_scratch_key last; /* the run that was measured last */
  size_t last_bytes;
};

/* Sets the team that shares the work of runs. NULL: one thread. */
void hw_context_join(hw_context *context, hw_team *team);

/* Prepares a run: empties the arena, reserves `bytes`, and releases excess memory as hw_context_scratch_bytes
 * describes. After HW_ERROR_MEMORY the arena is empty and usable. */
hw_status hw_context_reserve(hw_context *context, size_t bytes);

#endif
