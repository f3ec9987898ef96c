/*
 * What JavaScript calls in the modules with shared memory only: the life of the team, and what Emscripten's standalone
 * modules have of their own. All threads instantiate the module over one memory; the data segments are laid by the first
 * (lld's start function counts), and everything but team_work and team_fail is for the main thread alone, as the
 * allocator is.
 */
#include "core/context.h"
#include "core/parallel.h"
#include "exports.h"

/* How often memory has grown, for JavaScript: the views of a shared memory are not detached by growth. */
static uint32_t growths;

HW_EXPORT(growths_address) uint32_t *hw_export_growths_address(void);
uint32_t *hw_export_growths_address(void) { return &growths; }

#ifdef __wasm__
/* Called by the allocator; Emscripten's own would be an import. The last page stays out: the size must fit a size_t. */
int emscripten_resize_heap(size_t bytes);
int emscripten_resize_heap(size_t bytes) {
  static const size_t page = 65536;
  const size_t wanted = hw_ceil_divide(bytes, page);
  const size_t pages = __builtin_wasm_memory_size(0);
  if (wanted >= page || (wanted > pages && __builtin_wasm_memory_grow(0, wanted - pages) == SIZE_MAX)) {
    return 0;
  }
  growths++;
  return 1;
}

void __wasm_call_ctors(void);

HW_EXPORT(_initialize) void hw_export_initialize(void);
void hw_export_initialize(void) { __wasm_call_ctors(); }
#endif

/* ---- Team ---- */

static hw_team *team;
static unsigned char *stacks;

/* Makes room for threads - 1 workers, each with a stack as large as the main thread's, which runs the same tasks deeper in
 * its own. CMakeLists.txt bounds the frames. patience: of hw_team_create, in units of 2^20 looks. */
HW_EXPORT(team_start) hw_status hw_export_team_start(size_t threads, uint32_t patience);
hw_status hw_export_team_start(size_t threads, uint32_t patience) {
  if (threads < 2 || team != NULL) {
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
  hw_export_context()->team = team;
  return HW_OK;
}

/* Where the stack pointer of worker `thread` begins: stacks grow downwards. */
HW_EXPORT(team_stack) unsigned char *hw_export_team_stack(size_t thread);
unsigned char *hw_export_team_stack(size_t thread) { return stacks + thread * HW_STACK_BYTES; }

HW_EXPORT(team_work) void hw_export_team_work(size_t thread);
void hw_export_team_work(size_t thread) { hw_team_work(team, thread); }

HW_EXPORT(team_fail) void hw_export_team_fail(void);
void hw_export_team_fail(void) { hw_team_fail(team); }

HW_EXPORT(team_stop) void hw_export_team_stop(void);
void hw_export_team_stop(void) { hw_team_stop(team); }
