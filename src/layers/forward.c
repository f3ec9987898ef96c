#include "layers/forward.h"

#include "layers/scaled_dot_product_attention.h"

hw_status hw_forward_check(const hw_forward_options *options, size_t batch, size_t tokens, size_t context_length) {
  if (options->trace != NULL) {
    *options->trace = NULL;
  }
  if (batch == 0 || tokens == 0 || (tokens > context_length && options->cache == NULL)) {
    return HW_ERROR_SHAPE;
  }
  return hw_mask_is_valid(&options->mask) ? HW_OK : HW_ERROR_VALUE;
}
