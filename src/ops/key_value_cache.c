#include "ops/key_value_cache.h"

#include "core/tile.h"

static size_t heads_of(const hw_cache_shape *shape) {
  return hw_size_multiply(hw_size_multiply(shape->batch, shape->layers), shape->heads);
}

hw_status hw_key_value_cache_create(const hw_cache_shape *shape, hw_key_value_cache **cache) {
  const hw_cache_shape *s = shape;
  *cache = NULL;
  if (s->batch == 0 || s->layers == 0 || s->heads == 0 || s->head_dim == 0 || s->capacity == 0) {
    return HW_ERROR_SHAPE;
  }
  /* Zeros, so that a panel's columns without a token are numbers; and a causal offset has 31 bits. */
  hw_key_value_store store = hw_key_value_store_of(s->capacity, s->head_dim, s->head_dim);
  const size_t bytes = hw_size_multiply(heads_of(s), store.head_bytes);
  store.memory = s->capacity > INT32_MAX ? NULL : hw_allocate_zeroed(bytes);
  const size_t lengths_bytes = hw_size_multiply(s->batch, 2 * sizeof(uint32_t));
  hw_key_value_cache *created = hw_allocate_zeroed(hw_size_add(sizeof(hw_key_value_cache), lengths_bytes));
  if (created == NULL || store.memory == NULL) {
    hw_release(created);
    hw_release(store.memory);
    return HW_ERROR_MEMORY;
  }
  created->shape = *s;
  created->store = store;
  created->lengths = (uint32_t *)(created + 1);
  created->next = created->lengths + s->batch;
  *cache = created;
  return HW_OK;
}

hw_key_value_store hw_key_value_cache_layer(const hw_key_value_cache *cache, size_t layer) {
  hw_key_value_store store = cache->store;
  store.memory += layer * cache->shape.batch * cache->shape.heads * store.head_bytes;
  return store;
}

void hw_key_value_cache_destroy(hw_key_value_cache *cache) {
  if (cache != NULL) {
    hw_release(cache->store.memory);
    hw_release(cache);
  }
}

void hw_key_value_cache_begin(hw_key_value_cache *cache, const uint32_t *lengths, size_t tokens) {
  cache->is_ragged = lengths != NULL;
  for (size_t b = 0; b < cache->shape.batch; b++) {
    cache->next[b] = cache->lengths[b] + (lengths == NULL ? (uint32_t)tokens : lengths[b]);
    cache->is_ragged = cache->is_ragged || cache->lengths[b] != cache->length;
  }
}

void hw_key_value_cache_end(hw_key_value_cache *cache) {
  cache->length = 0;
  for (size_t b = 0; b < cache->shape.batch; b++) {
    cache->lengths[b] = cache->next[b];
    cache->length = cache->next[b] > cache->length ? cache->next[b] : cache->length;
  }
}

hw_status hw_key_value_cache_fill(hw_key_value_cache *cache, const hw_past *past) {
  const hw_cache_shape *shape = &cache->shape;
  const size_t tokens = past->tokens;
  if (tokens > shape->capacity || (tokens > 0 && (past->key == NULL || past->value == NULL))) {
    return HW_ERROR_VALUE;
  }
  const size_t head_dim = shape->head_dim;
  for (size_t head = 0; tokens > 0 && head < heads_of(shape); head++) {
    const hw_key_value_panels panels = hw_key_value_store_head(&cache->store, head);
    hw_pack_keys(&panels, 0, tokens, past->key + head * tokens * head_dim, head_dim);
    hw_pack_values(&panels, 0, tokens, past->value + head * tokens * head_dim, head_dim);
  }
  for (size_t b = 0; b < shape->batch; b++) {
    cache->lengths[b] = (uint32_t)tokens;
  }
  cache->length = tokens;
  return HW_OK;
}

size_t hw_key_value_cache_length(const hw_key_value_cache *cache) { return cache == NULL ? 0 : cache->length; }

hw_status hw_key_value_cache_truncate(hw_key_value_cache *cache, size_t length) {
  if (cache == NULL || length > cache->length) {
    return HW_ERROR_VALUE;
  }
  for (size_t head = 0; head < heads_of(&cache->shape); head++) {
    const hw_key_value_panels panels = hw_key_value_store_head(&cache->store, head);
    hw_forget_values(&panels, length);
  }
  for (size_t b = 0; b < cache->shape.batch; b++) {
    cache->lengths[b] = (uint32_t)hw_min(cache->lengths[b], length);
  }
  cache->length = length;
  return HW_OK;
}

hw_status hw_key_value_cache_check(const hw_key_value_cache *cache, const hw_cache_shape *shape, size_t tokens) {
  const hw_cache_shape *own = &cache->shape;
  if (own->batch != shape->batch || own->layers != shape->layers || own->heads != shape->heads ||
      own->head_dim != shape->head_dim || own->capacity != shape->capacity) {
    return HW_ERROR_SHAPE;
  }
  return tokens > own->capacity - cache->length ? HW_ERROR_VALUE : HW_OK;
}
