#include "ops/key_value_cache.h"

#include "core/tile.h"

/* Tokens that there is memory for at first. */
enum { FIRST_TOKENS = 256 };

/* Of one layer. */
static size_t heads_of(const hw_cache_shape *shape) { return hw_size_multiply(shape->batch, shape->heads); }

hw_status hw_key_value_cache_create(const hw_cache_shape *shape, hw_key_value_cache **cache) {
  const hw_cache_shape *s = shape;
  *cache = NULL;
  if (s->batch == 0 || s->layers == 0 || s->heads == 0 || s->head_dim == 0 || s->capacity == 0) {
    return HW_ERROR_SHAPE;
  }
  if (s->dtype < HW_MATRIX_FLOAT32 || s->dtype > HW_MATRIX_FLOAT16) {
    return HW_ERROR_VALUE;
  }
  const size_t stores_bytes = hw_size_multiply(s->layers, sizeof(hw_key_value_store));
  const size_t lengths_bytes = hw_size_multiply(s->batch, 2 * sizeof(uint32_t));
  const size_t bytes = hw_size_add(sizeof(hw_key_value_cache), hw_size_add(stores_bytes, lengths_bytes));
  /* A causal offset has 31 bits. */
  hw_key_value_cache *created = s->capacity > INT32_MAX ? NULL : hw_allocate_zeroed(bytes);
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->shape = *s;
  created->stores = (hw_key_value_store *)(created + 1);
  created->lengths = (uint32_t *)(created->stores + s->layers);
  created->next = created->lengths + s->batch;
  const hw_status status = hw_key_value_cache_reserve(created, hw_min(s->capacity, FIRST_TOKENS));
  if (status != HW_OK) {
    hw_key_value_cache_destroy(created);
    return status;
  }
  *cache = created;
  return HW_OK;
}

/* Moves a layer to memory for so many tokens. */
static hw_status grow(const hw_cache_shape *shape, size_t tokens, hw_key_value_store *store) {
  hw_key_value_store larger = hw_key_value_store_of(shape->dtype, tokens, shape->head_dim, shape->head_dim);
  /* Zeros, so that a panel's columns without a token are numbers. */
  larger.memory = hw_allocate_zeroed(hw_size_multiply(heads_of(shape), larger.head_bytes));
  if (larger.memory == NULL) {
    return HW_ERROR_MEMORY;
  }
  for (size_t head = 0; store->memory != NULL && head < heads_of(shape); head++) {
    const hw_key_value_panels from = hw_key_value_store_head(store, head);
    const hw_key_value_panels to = hw_key_value_store_head(&larger, head);
    hw_copy_panels(&from, &to);
  }
  hw_release(store->memory);
  *store = larger;
  return HW_OK;
}

/* Doubles a layer's room; where there is not so much memory, adds a little. */
static hw_status make_room(const hw_cache_shape *shape, size_t needed, hw_key_value_store *store) {
  const size_t most = hw_min(hw_max(needed, 2 * store->capacity), shape->capacity);
  const size_t least = hw_min(needed + FIRST_TOKENS, most);
  const hw_status status = grow(shape, most, store);
  return status == HW_ERROR_MEMORY && least < most ? grow(shape, least, store) : status;
}

hw_status hw_key_value_cache_reserve(hw_key_value_cache *cache, size_t tokens) {
  const size_t needed = hw_min(cache->length + tokens, cache->shape.capacity);
  for (size_t layer = 0; layer < cache->shape.layers; layer++) {
    hw_key_value_store *store = &cache->stores[layer];
    HW_TRY(needed > store->capacity ? make_room(&cache->shape, needed, store) : HW_OK);
  }
  return HW_OK;
}

void hw_key_value_cache_destroy(hw_key_value_cache *cache) {
  for (size_t layer = 0; cache != NULL && layer < cache->shape.layers; layer++) {
    hw_release(cache->stores[layer].memory);
  }
  hw_release(cache);
}

hw_status hw_key_value_cache_begin(hw_key_value_cache *cache, const uint32_t *lengths, size_t tokens) {
  bool fits = true;
  cache->is_ragged = lengths != NULL;
  for (size_t b = 0; b < cache->shape.batch; b++) {
    const size_t more = lengths == NULL ? tokens : lengths[b];
    fits = fits && more <= cache->shape.capacity - cache->lengths[b];
    cache->next[b] = cache->lengths[b] + (uint32_t)more;
    cache->is_ragged = cache->is_ragged || cache->lengths[b] != cache->length;
  }
  return fits ? HW_OK : HW_ERROR_VALUE;
}

void hw_key_value_cache_end(hw_key_value_cache *cache) {
  cache->length = 0;
  for (size_t b = 0; b < cache->shape.batch; b++) {
    const uint32_t length = cache->next[b];
    cache->next[b] = cache->lengths[b];
    cache->lengths[b] = length;
    cache->length = hw_max(length, cache->length);
  }
}

void hw_key_value_cache_undo(hw_key_value_cache *cache) {
  hw_key_value_cache_end(cache);
  const size_t heads = heads_of(&cache->shape);
  for (size_t i = 0; i < cache->shape.layers * heads; i++) {
    const hw_key_value_panels panels = hw_key_value_store_head(&cache->stores[i / heads], i % heads);
    hw_forget_values(&panels, cache->lengths[i % heads / cache->shape.heads]);
  }
}

hw_status hw_key_value_cache_fill(hw_key_value_cache *cache, const hw_past *past) {
  const hw_cache_shape *shape = &cache->shape;
  const size_t tokens = past->tokens;
  if (tokens > shape->capacity || (tokens > 0 && (past->key == NULL || past->value == NULL))) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_key_value_cache_reserve(cache, tokens));
  const size_t head_dim = shape->head_dim;
  for (size_t i = 0; tokens > 0 && i < shape->layers * heads_of(shape); i++) {
    const hw_key_value_store *store = &cache->stores[i / heads_of(shape)];
    const hw_key_value_panels panels = hw_key_value_store_head(store, i % heads_of(shape));
    hw_pack_keys(&panels, 0, tokens, past->key + i * tokens * head_dim, head_dim);
    hw_pack_values(&panels, 0, tokens, past->value + i * tokens * head_dim, head_dim);
  }
  for (size_t b = 0; b < shape->batch; b++) {
    cache->lengths[b] = (uint32_t)tokens;
  }
  cache->length = tokens;
  return HW_OK;
}

size_t hw_key_value_cache_length(const hw_key_value_cache *cache) { return cache == NULL ? 0 : cache->length; }

const uint32_t *hw_key_value_cache_lengths(const hw_key_value_cache *cache) {
  return cache == NULL ? NULL : cache->lengths;
}

hw_status hw_key_value_cache_truncate(hw_key_value_cache *cache, size_t length) {
  if (cache == NULL || length > cache->length) {
    return HW_ERROR_VALUE;
  }
  for (size_t b = 0; b < cache->shape.batch; b++) {
    cache->next[b] = (uint32_t)hw_min(cache->lengths[b], length);
  }
  hw_key_value_cache_undo(cache);
  return HW_OK;
}

hw_status hw_key_value_cache_check(const hw_key_value_cache *cache, const hw_cache_shape *shape) {
  const hw_cache_shape *own = &cache->shape;
  const bool is_same = own->batch == shape->batch && own->layers == shape->layers && own->heads == shape->heads &&
                       own->head_dim == shape->head_dim && own->capacity == shape->capacity;
  return is_same ? HW_OK : HW_ERROR_SHAPE;
}
