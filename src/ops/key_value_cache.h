/* Keys and values of past tokens, layer after layer. Memory grows with the tokens: models may have contexts of a hundred
 * thousand. */
#ifndef HW_OPS_KEY_VALUE_CACHE_H
#define HW_OPS_KEY_VALUE_CACHE_H

#include "kernels/key_value_panels.h"

/* Sizes that a cache and its module must have in common. */
typedef struct hw_cache_shape {
  size_t batch;
  size_t layers;
  size_t heads; /* of keys and values, of each layer */
  size_t head_dim;
  size_t capacity;      /* tokens */
  hw_matrix_type dtype; /* of keys and values: a module takes any */
} hw_cache_shape;

struct hw_key_value_cache {
  hw_cache_shape shape;
  size_t length;              /* tokens in the cache: the most of a sequence */
  uint32_t *lengths;          /* [batch] */
  uint32_t *next;             /* [batch]: lengths after the forward that runs; once it has ended, those before it */
  bool is_ragged;             /* whether sequences may differ in length, before that forward or after it */
  hw_key_value_store *stores; /* [layers], each of batch · heads heads, with memory of its own */
};

/* Empty. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: dtype is none of floats. HW_ERROR_MEMORY: *cache is NULL. */
hw_status hw_key_value_cache_create(const hw_cache_shape *shape, hw_key_value_cache **cache);

/* Makes room for so many more tokens of each sequence, or for as many as fit its capacity. HW_ERROR_MEMORY: its tokens are
 * unchanged. */
hw_status hw_key_value_cache_reserve(hw_key_value_cache *cache, size_t tokens);

/* Copies past tokens into an empty cache. HW_ERROR_VALUE: more than it holds, or NULL.
 * HW_ERROR_MEMORY. */
hw_status hw_key_value_cache_fill(hw_key_value_cache *cache, const hw_past *past);

/* Before a forward of so many new tokens of each sequence; lengths [batch]: of each as many, or NULL. HW_ERROR_VALUE: a sequence
 * has too little room. */
hw_status hw_key_value_cache_begin(hw_key_value_cache *cache, const uint32_t *lengths, size_t tokens);

/* After that forward. */
void hw_key_value_cache_end(hw_key_value_cache *cache);

/* Takes the tokens of the forward that has ended out again: goes back to the lengths in `next`. */
void hw_key_value_cache_undo(hw_key_value_cache *cache);

/* HW_ERROR_SHAPE: the cache has another shape. */
hw_status hw_key_value_cache_check(const hw_key_value_cache *cache, const hw_cache_shape *shape);

#endif
