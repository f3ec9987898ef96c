/* What the files of exports share. */
#ifndef HW_EXPORTS_H
#define HW_EXPORTS_H

#include "headwise.h"

#ifdef __wasm__
#define HW_EXPORT(name) __attribute__((export_name(#name)))
#else
#define HW_EXPORT(name)
#endif

/* The module instance's context; NULL before engine_start. */
hw_context *hw_export_context(void);

/* Where a created object's address is left. */
void **hw_export_result_slot(void);

#endif
