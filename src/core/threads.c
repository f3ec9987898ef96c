#if defined(HW_THREADS) && !defined(__wasm__)
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* pthread_sigmask, getpid */
#endif
#endif

#include "core/threads.h"

#include "core/memory.h"

#if defined(HW_THREADS) && !defined(__wasm__)

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

typedef struct worker {
  hw_team *team;
  size_t number;
  pthread_t thread;
} worker;

struct hw_threads {
  hw_team *team;
  pid_t process; /* that has them: fork copies no threads */
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

/* The signals that a program waits for are for its own threads. A worker takes those of its own faults, so that handlers of
 * crashes run, and those of a profiler that measures it. */
static sigset_t signals_of_program(void) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
  sigset_t signals;
  sigfillset(&signals);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    sigdelset(&signals, own[i]);
  }
  return signals;
}

/* Starts workers, up to the first that cannot be started. */
static void start_workers(hw_threads *created, size_t workers) {
  const sigset_t signals = signals_of_program();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  for (size_t i = 0; i < workers; i++) {
    worker *each = &created->workers[i];
    *each = (worker){.team = created->team, .number = i + 1};
    if (pthread_create(&each->thread, NULL, work, each) != 0) {
      break;
    }
    created->started++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

hw_status hw_threads_start(size_t threads, hw_threads **started) {
  *started = NULL;
  const size_t workers = threads - 1;
  hw_threads *created = hw_allocate_zeroed(sizeof(hw_threads) + workers * sizeof(worker));
  if (created == NULL || hw_team_create(threads, patience, &created->team) != HW_OK) {
    hw_release(created);
    return HW_ERROR_MEMORY;
  }
  created->process = getpid();
  start_workers(created, workers);
  if (created->started < workers) {
    hw_threads_stop(created);
    return HW_ERROR_MEMORY;
  }
  *started = created;
  return HW_OK;
}

static void end_workers(const hw_threads *threads) {
  hw_team_stop(threads->team);
  for (size_t i = 0; i < threads->started; i++) {
    pthread_join(threads->workers[i].thread, NULL);
  }
  hw_team_destroy(threads->team);
}

void hw_threads_stop(hw_threads *threads) {
  if (threads == NULL) {
    return;
  }
  if (threads->process == getpid()) {
    end_workers(threads);
  } else {
    hw_release(threads->team); /* its mutex may be held by a thread that is not there */
  }
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
