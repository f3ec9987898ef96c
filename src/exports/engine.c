/* The life of an engine, and the memory in which JavaScript lays inputs and finds outputs. */
#include "core/memory.h"
#include "core/simd.h"
#include "exports/exports.h"

static hw_context *context;
static void *result_slot;
static void *staging;
static size_t staging_bytes;

hw_context *hw_export_context(void) { return context; }

void **hw_export_result_slot(void) { return &result_slot; }

HW_EXPORT(hw_status, engine_start, (void)) { return context != NULL ? HW_OK : hw_context_create(&context); }

HW_EXPORT(void *, result_address, (void)) { return (void *)&result_slot; }

/* NULL if the memory cannot be had. Keeps no contents when it grows, and is empty after it could not. */
HW_EXPORT(void *, staging_reserve, (size_t bytes)) {
  if (bytes <= staging_bytes) {
    return staging;
  }
  hw_release(staging);
  staging = hw_allocate(bytes);
  staging_bytes = staging == NULL ? 0 : bytes;
  return staging;
}

/* Gives it back, so that what comes after a call that ran out of memory has room. */
HW_EXPORT(void, staging_release, (void)) {
  hw_release(staging);
  staging = NULL;
  staging_bytes = 0;
}

HW_EXPORT(size_t, staging_capacity, (void)) { return staging_bytes; }

/* Nonzero in the module built with relaxed SIMD. */
HW_EXPORT(uint32_t, has_relaxed_simd, (void)) { return HW_FUSED; }
