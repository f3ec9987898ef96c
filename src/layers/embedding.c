#include <string.h>

#include "core/context.h"

struct hw_embedding {
  size_t num_embeddings;
  size_t embedding_dim;
  float *weight;
};

hw_status hw_embedding_create(hw_context *context, size_t num_embeddings, size_t embedding_dim, hw_embedding **module) {
  *module = NULL;
  if (num_embeddings == 0 || embedding_dim == 0) {
    return HW_ERROR_SHAPE;
  }
  const size_t count = hw_size_multiply(num_embeddings, embedding_dim);
  hw_embedding *created = hw_allocate(sizeof(hw_embedding));
  float *weight = hw_allocate_zeroed(hw_size_multiply(count, sizeof(float)));
  if (created == NULL || weight == NULL) {
    hw_release(created);
    hw_release(weight);
    return HW_ERROR_MEMORY;
  }
  *created = (hw_embedding){num_embeddings, embedding_dim, weight};
  if (context != NULL) {
    hw_randn(context, weight, count);
  }
  *module = created;
  return HW_OK;
}

void hw_embedding_destroy(hw_embedding *module) {
  if (module != NULL) {
    hw_release(module->weight);
    hw_release(module);
  }
}

float *hw_embedding_weight(hw_embedding *module) { return module->weight; }

hw_status hw_embedding_forward(const hw_embedding *module, const uint32_t *ids, size_t count, float *y) {
  for (size_t i = 0; i < count; i++) {
    if (ids[i] >= module->num_embeddings) {
      return HW_ERROR_VALUE;
    }
  }
  const size_t dim = module->embedding_dim;
  for (size_t i = 0; i < count; i++) {
    memcpy(y + i * dim, module->weight + ids[i] * dim, dim * sizeof(float));
  }
  return HW_OK;
}
