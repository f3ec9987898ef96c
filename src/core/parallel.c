/*
 * The protocol. `unclaimed` counts the open job's items that nobody has taken; 0 between jobs. The main thread describes
 * the job, stores its item count there and takes items like everybody else. Whoever takes one keeps the job open until it
 * has added it to `finished`, so the description needs no atomics, and a worker that is late, asleep or gone holds
 * nothing up: only items in hand are waited for.
 *
 * The main thread spins for those, because the main thread of a page may not sleep. Workers sleep on `unclaimed`, natively until
 * they are woken.
 */
#include "core/parallel.h"

#ifdef HW_THREADS

#include <stdatomic.h>

#include "core/memory.h"
#include "core/tile.h"

#ifndef __wasm__
#include <pthread.h>
#endif

/* Looks at `unclaimed` before a worker sleeps, 0.4 ns each in V8: together about as long as waking it takes. */
enum { looks_before_sleep = 100000 };

/* Looks that an item may take for each of its multiply-adds, which take less time than one: what is known of an item is
 * the average, and what else it does is not counted. */
static const double looks_of_work = 8.0;

/* A value of `unclaimed`: workers return. */
static const uint32_t stopped = UINT32_MAX;

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): what threads look at has cache lines of its own */
struct hw_team {
  _Alignas(HW_ALIGNMENT) _Atomic uint32_t unclaimed;
  _Alignas(HW_ALIGNMENT) _Atomic uint32_t finished;
  _Atomic uint32_t sleepers;
  _Atomic uint32_t failed;
  /* The open job */
  _Alignas(HW_ALIGNMENT) hw_task task;
  const void *job;
  uint32_t items;
  double work;
  uint64_t patience;
  size_t threads;
#ifndef __wasm__
  pthread_mutex_t mutex; /* of those that sleep */
  pthread_cond_t is_awake;
#endif
};

#ifdef __wasm__

static void sleep_while_idle(hw_team *team) { __builtin_wasm_memory_atomic_wait32((int32_t *)&team->unclaimed, 0, -1); }

static void wake_all(hw_team *team) { __builtin_wasm_memory_atomic_notify((int32_t *)&team->unclaimed, UINT32_MAX); }

#else

static void sleep_while_idle(hw_team *team) {
  pthread_mutex_lock(&team->mutex);
  while (atomic_load(&team->unclaimed) == 0) {
    pthread_cond_wait(&team->is_awake, &team->mutex);
  }
  pthread_mutex_unlock(&team->mutex);
}

static void wake_all(hw_team *team) {
  pthread_mutex_lock(&team->mutex);
  pthread_cond_broadcast(&team->is_awake);
  pthread_mutex_unlock(&team->mutex);
}

#endif

hw_status hw_team_create(size_t threads, uint64_t patience, hw_team **team) {
  *team = hw_allocate_zeroed(sizeof(hw_team));
  if (*team == NULL) {
    return HW_ERROR_MEMORY;
  }
  (*team)->threads = threads;
  (*team)->patience = patience;
#ifndef __wasm__
  pthread_mutex_init(&(*team)->mutex, NULL);
  pthread_cond_init(&(*team)->is_awake, NULL);
#endif
  return HW_OK;
}

void hw_team_destroy(hw_team *team) {
#ifndef __wasm__
  if (team != NULL) {
    pthread_mutex_destroy(&team->mutex);
    pthread_cond_destroy(&team->is_awake);
  }
#endif
  hw_release(team);
}

size_t hw_team_threads(const hw_team *team) { return team == NULL ? 1 : team->threads; }

static void run_item(hw_task task, const void *job, size_t item, size_t thread) {
#ifdef HW_WATCHES_TASKS
  hw_in_task = true;
#endif
  task(job, item, thread);
#ifdef HW_WATCHES_TASKS
  hw_in_task = false;
#endif
}

/* Takes items until none is left. */
static void take_items(hw_team *team, size_t thread) {
  uint32_t done = 0;
  uint32_t left = atomic_load(&team->unclaimed);
  while (left != 0 && left != stopped) {
    if (atomic_compare_exchange_weak(&team->unclaimed, &left, left - 1)) {
      run_item(team->task, team->job, team->items - left, thread);
      done++;
      left = atomic_load(&team->unclaimed);
    }
  }
  if (done > 0) {
    atomic_fetch_add(&team->finished, done);
  }
}

static uint32_t wait_for_items(hw_team *team) {
  for (size_t look = 0; look < looks_before_sleep; look++) {
    const uint32_t left = atomic_load(&team->unclaimed);
    if (left != 0) {
      return left;
    }
  }
  atomic_fetch_add(&team->sleepers, 1);
  sleep_while_idle(team);
  atomic_fetch_sub(&team->sleepers, 1);
  return atomic_load(&team->unclaimed);
}

void hw_team_work(hw_team *team, size_t thread) {
  while (wait_for_items(team) != stopped) {
    take_items(team, thread);
  }
}

/* A worker about to sleep has either been counted here or finds the new value and does not sleep. */
static void announce(hw_team *team, uint32_t unclaimed) {
  atomic_store(&team->unclaimed, unclaimed);
  if (atomic_load(&team->sleepers) != 0) {
    wake_all(team);
  }
}

void hw_team_stop(hw_team *team) { announce(team, stopped); }

void hw_team_fail(hw_team *team) { atomic_store(&team->failed, 1); }

/*
 * A worker that its host has ended leaves the item in its hand unfinished for ever, and nobody can say so: a thread that
 * waits here takes no events. It gives up after so many looks without an item's end that the slowest item would be done.
 * Looks are not seconds: a process that sleeps does not look, and where others want the processors this thread gets as
 * little of them as the worker.
 */
static void wait_for_finish(hw_team *team) {
  const uint64_t most_looks = team->patience + (uint64_t)(looks_of_work * team->work / team->items);
  uint64_t looks = 0;
  uint32_t before = 0;
  for (uint32_t now; (now = atomic_load(&team->finished)) != team->items; looks++) {
    looks = now == before ? looks : 0;
    before = now;
    if (looks == most_looks || atomic_load(&team->failed) != 0) {
      __builtin_trap();
    }
  }
}

/* Whether it would be done before those that sleep have woken up. */
static bool is_too_small(hw_team *team, double work) {
  return work < (double)HW_PARALLEL_WORK && atomic_load(&team->sleepers) != 0;
}

void hw_parallel_for(hw_team *team, double work, size_t items, hw_task task, const void *job) {
  assert(!HW_IN_TASK);
  if (team == NULL || items <= 1 || items >= stopped || is_too_small(team, work)) {
    for (size_t item = 0; item < items; item++) {
      run_item(task, job, item, 0);
    }
    return;
  }
  team->task = task;
  team->job = job;
  team->work = work;
  team->items = (uint32_t)items;
  atomic_store(&team->finished, 0);
  announce(team, (uint32_t)items);
  take_items(team, 0);
  wait_for_finish(team);
}

#endif
