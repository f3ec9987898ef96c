/* The threads that a native context starts. The wasm modules' are started by JavaScript (src/exports/threads.c). */
#ifndef HW_CORE_THREADS_H
#define HW_CORE_THREADS_H

#include "core/parallel.h"

typedef struct hw_threads hw_threads;

/* Starts threads - 1 workers, which sleep between jobs; 2 <= threads <= HW_MOST_THREADS. HW_ERROR_VALUE: this build has no
 * threads of its own. HW_ERROR_MEMORY: no memory, or a thread cannot be started; then none is left, and *started is NULL. */
hw_status hw_threads_start(size_t threads, hw_threads **started);

/* Ends all threads; after a fork it only frees the child's copy. NULL is allowed. */
void hw_threads_stop(hw_threads *threads);

/* The team of the workers and the calling thread. */
hw_team *hw_threads_team(const hw_threads *threads);

#endif
