#include "core/threads.h"

#include "core/memory.h"

#if defined(HW_THREADS) && !defined(__wasm__)

#include <pthread.h>

typedef struct worker {
  hw_team *team;
  size_t number;
  pthread_t thread;
} worker;

struct hw_threads {
  hw_team *team;
  size_t started;
  worker workers[];
};

/* Threads of this process cannot vanish, so no item is ever given up. */
static const uint64_t patience = UINT64_MAX / 2;

static void *work(void *argument) {
  const worker *self = argument;
  hw_team_work(self->team, self->number);
  return NULL;
}

hw_status hw_threads_start(size_t threads, hw_threads **started) {
  *started = NULL;
  const size_t workers = hw_size_multiply(threads - 1, sizeof(worker));
  hw_threads *created = hw_allocate_zeroed(hw_size_add(sizeof(hw_threads), workers));
  if (created == NULL || hw_team_create(threads, patience, &created->team) != HW_OK) {
    hw_release(created);
    return HW_ERROR_MEMORY;
  }
  for (size_t i = 0; i + 1 < threads; i++) {
    worker *each = &created->workers[i];
    *each = (worker){.team = created->team, .number = i + 1};
    if (pthread_create(&each->thread, NULL, work, each) != 0) {
      hw_threads_stop(created);
      return HW_ERROR_MEMORY;
    }
    created->started++;
  }
  *started = created;
  return HW_OK;
}

void hw_threads_stop(hw_threads *threads) {
  if (threads == NULL) {
    return;
  }
  hw_team_stop(threads->team);
  for (size_t i = 0; i < threads->started; i++) {
    pthread_join(threads->workers[i].thread, NULL);
  }
  hw_team_destroy(threads->team);
  hw_release(threads);
}

hw_team *hw_threads_team(const hw_threads *threads) { return threads->team; }

#else

hw_status hw_threads_start(size_t threads, hw_threads **started) {
  (void)threads;
  *started = NULL;
  return HW_ERROR_VALUE;
}

void hw_threads_stop(hw_threads *threads) { (void)threads; }

hw_team *hw_threads_team(const hw_threads *threads) {
  (void)threads;
  return NULL;
}

#endif
