/*
 * What JavaScript calls in the modules with shared memory only: the life of the team, and what Emscripten's standalone
 * modules have of their own. All threads instantiate the module over one memory; the data segments are laid by the first
 * (lld's start function counts), and everything but team_work and team_fail is for the main thread alone, as the
 * allocator is.
 */
#include "core/context.h"
#include "core/parallel.h"
#include "exports/exports.h"

#ifdef __wasm__
void __wasm_call_ctors(void);

HW_EXPORT(void, _initialize, (void)) { __wasm_call_ctors(); }
#endif

/* ---- Team ---- */

static hw_team *team;
static unsigned char *stacks;

/* Makes room for threads - 1 workers, each with a stack as large as the main thread's, which runs the same tasks deeper in
 * its own. CMakeLists.txt bounds the frames. patience: of hw_team_create, in units of 2^20 looks. */
HW_EXPORT(hw_status, team_start, (size_t threads, uint32_t patience)) {
  if (threads < 2 || team != NULL || hw_export_context() == NULL) {
    return HW_ERROR_VALUE;
  }
  stacks = hw_allocate(hw_size_multiply(threads - 1, HW_STACK_BYTES));
  if (stacks == NULL) {
    return HW_ERROR_MEMORY;
  }
  const hw_status status = hw_team_create(threads, (uint64_t)patience << 20, &team);
  if (status != HW_OK) {
    hw_release(stacks);
    return status;
  }
  hw_context_join(hw_export_context(), team);
  return HW_OK;
}

/* Where the stack pointer of worker `thread` begins: stacks grow downwards. NULL if there is no such worker. */
HW_EXPORT(unsigned char *, team_stack, (size_t thread)) {
  return thread >= 1 && thread < hw_team_threads(team) ? stacks + thread * HW_STACK_BYTES : NULL;
}

HW_EXPORT(void, team_work, (size_t thread)) {
  if (hw_export_team_stack(thread) != NULL) {
    hw_team_work(team, thread);
  }
}

HW_EXPORT(void, team_fail, (void)) {
  if (team != NULL) {
    hw_team_fail(team);
  }
}

HW_EXPORT(void, team_stop, (void)) {
  if (team != NULL) {
    hw_team_stop(team);
  }
}
