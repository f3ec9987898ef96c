/* Work shared between threads: items of one job, handed out as threads become free. */
#ifndef HW_CORE_PARALLEL_H
#define HW_CORE_PARALLEL_H

#include <stddef.h>

/* The threads of an engine; NULL: the caller's alone. */
typedef struct hw_team hw_team;

/* One item of a job. `thread` is unique among the threads that run at the same time. */
typedef void (*hw_task)(const void *job, size_t item, size_t thread);

static inline size_t hw_team_threads(const hw_team *team) {
  (void)team;
  return 1;
}

/*
 * Runs task(job, item, thread) once for every item < items and returns when all are done; thread < hw_team_threads(team).
 * Items are handed out in their order, so heavy ones come first. Equivalent loop:
 *   for (item = 0; item < items; item++) task(job, item, 0);
 */
static inline void hw_parallel_for(hw_team *team, size_t items, hw_task task, const void *job) {
  (void)team;
  for (size_t item = 0; item < items; item++) {
    task(job, item, 0);
  }
}

#endif
