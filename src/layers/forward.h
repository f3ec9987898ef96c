/* What the forwards of all attention modules take and check. */
#ifndef HW_LAYERS_FORWARD_H
#define HW_LAYERS_FORWARD_H

#include "headwise.h"

typedef struct hw_module_input {
  const float *x; /* [batch, tokens, d_in] */
  size_t batch;
  size_t tokens;
} hw_module_input;

/* Sets the trace to NULL if one is asked for, then checks the sizes (HW_ERROR_SHAPE) and the mask (HW_ERROR_VALUE). With
 * a cache, whether the tokens fit the context is left to hw_key_value_cache_check. */
hw_status hw_forward_check(const hw_forward_options *options, size_t batch, size_t tokens, size_t context_length);

#endif
