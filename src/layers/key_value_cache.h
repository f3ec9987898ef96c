/* The cache of a hw_multi_head_attention, as its forward uses it. */
#ifndef HW_LAYERS_KEY_VALUE_CACHE_H
#define HW_LAYERS_KEY_VALUE_CACHE_H

#include "kernels/key_value_panels.h"

struct hw_key_value_cache {
  size_t batch;
  size_t heads;
  size_t length;            /* tokens that are there */
  hw_key_value_store store; /* of batch · heads heads, for as many tokens as the cache can hold */
};

/* What a cache and its module must agree on. */
typedef struct hw_cache_shape {
  size_t batch;
  size_t heads;
  size_t head_dim;
  size_t capacity;
} hw_cache_shape;

/* Empty. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: *cache is NULL. */
hw_status hw_key_value_cache_create(const hw_cache_shape *shape, hw_key_value_cache **cache);

/* Copies [batch, heads, tokens, head_dim] into an empty cache. HW_ERROR_VALUE: more than it holds, or NULL. */
hw_status hw_key_value_cache_fill(hw_key_value_cache *cache, const float *key, const float *value, size_t tokens);

/* Whether `tokens` more of a forward fit: HW_ERROR_SHAPE if the cache has another shape, HW_ERROR_VALUE if it has no
 * room for them. */
hw_status hw_key_value_cache_check(const hw_key_value_cache *cache, const hw_cache_shape *shape, size_t tokens);

#endif
