/*
 * A loop spread over threads.
 *
 * Only builds with HW_THREADS have more than one: the modules with shared memory, and the native library.
 * Elsewhere a team does not exist and hw_parallel_for is the plain loop.
 */
#ifndef HW_CORE_PARALLEL_H
#define HW_CORE_PARALLEL_H

#include "headwise.h"

/* Threads that share work: the one that calls hw_parallel_for is thread 0, the others are workers. NULL: one thread. */
typedef struct hw_team hw_team;

typedef void (*hw_task)(const void *job, size_t item, size_t thread);

#ifdef HW_THREADS

/* Creates a team of `threads` >= 2. Workers join with hw_team_work when they are ready. Work never waits for a worker
 * that has not joined. A worker may end while it sleeps. `patience`: how often hw_parallel_for looks for progress,
 * about a nanosecond each, before it takes a worker with an item in hand for dead; large items are given more. The
 * caller owns *team; HW_ERROR_MEMORY leaves it NULL. */
hw_status hw_team_create(size_t threads, uint64_t patience, hw_team **team);

/* Frees the team. NULL is allowed. All workers must have left hw_team_work. */
void hw_team_destroy(hw_team *team);

/* Runs worker `thread`, 1 <= thread < threads: it works and sleeps until hw_team_stop. */
void hw_team_work(hw_team *team, size_t thread);

/* Makes every worker return from hw_team_work. The team must not be used afterwards. */
void hw_team_stop(hw_team *team);

/* The host of a worker calls this after a trap has ended the worker. The call that waits for its item then traps,
 * too. */
void hw_team_fail(hw_team *team);

/* 1 for NULL */
size_t hw_team_threads(const hw_team *team);

/*
 * Runs task(job, item, thread) once for every item < items, handed out in order, on the threads of the team; returns
 * when all are done. thread < hw_team_threads(team) differs among tasks that run at the same time. Equivalent loop:
 *
 *   for (item = 0; item < items; item++) task(job, item, 0);
 *
 * work: approximate number of multiply-adds of all items. It serves to tell a dead worker from a slow one. One item, no
 * team, or less than HW_PARALLEL_WORK while a worker sleeps: that loop itself, on the calling thread. Tasks allocate nothing
 * and have no loops of this kind inside. Traps if a worker has died during an item. The team and the output of the tasks are
 * then unusable.
 */
void hw_parallel_for(hw_team *team, double work, size_t items, hw_task task, const void *job);

#else

static inline size_t hw_team_threads(const hw_team *team) {
  (void)team;
  return 1;
}

static inline void hw_parallel_for(hw_team *team, double work, size_t items, hw_task task, const void *job) {
  (void)team;
  (void)work;
  for (size_t item = 0; item < items; item++) {
    task(job, item, 0);
  }
}

#endif

#endif
