#include "ops/trace.h"

#include <string.h>

#include "ops/rows.h"

/* A number of each batch entry, if there are any. */
static void keep_numbers(hw_arena *memory, size_t batch, const uint32_t **numbers) {
  if (*numbers == NULL) {
    return;
  }
  uint32_t *kept = hw_arena_take(memory, batch, sizeof(uint32_t));
  if (!memory->measures) {
    *numbers = memcpy(kept, *numbers, batch * sizeof(uint32_t));
  }
}

/* Lays the trace out in its memory; while that measures, nothing is copied. */
static void take_memory(hw_trace *trace, hw_matrix_type dtype) {
  hw_attention *call = &trace->call;
  hw_arena *memory = &trace->memory;
  const size_t heads = hw_size_multiply(call->batch, call->heads);
  const size_t rows = hw_size_multiply(heads, call->query_tokens);
  hw_attention_record *record = &trace->record;
  trace->query = hw_arena_take_floats(memory, hw_size_multiply(rows, call->key_width));
  *record = hw_attention_take_record(memory, call);
  record->store = hw_key_value_store_of(dtype, call->key_tokens, call->key_width, call->value_width);
  record->batch_key_heads = call->key_heads;
  record->store.memory =
      hw_arena_take(memory, hw_size_multiply(call->batch, call->key_heads), record->store.head_bytes);
  keep_numbers(memory, call->batch, &call->key_lengths);
  keep_numbers(memory, call->batch, &call->offsets);
  if (call->mask.kind != HW_MASK_NONE) {
    const hw_trace_shape scores = {call->batch, call->heads, call->query_tokens, call->key_tokens};
    const size_t bytes = hw_mask_bytes(&call->mask, &scores);
    void *mask = hw_arena_take(memory, bytes, 1);
    if (!memory->measures) {
      memcpy(mask, call->mask.data, bytes);
      call->mask.data = mask;
    }
  }
}

hw_status hw_trace_create(const hw_attention *attention, size_t heads, hw_matrix_type dtype, hw_trace **trace) {
  *trace = NULL;
  hw_trace *created = hw_allocate_zeroed(sizeof(hw_trace));
  if (created == NULL) {
    return HW_ERROR_MEMORY;
  }
  created->call = *attention;
  created->call.heads = heads;
  created->call.key_heads = heads == attention->heads ? attention->key_heads : heads;
  created->call.output = NULL;
  created->call.weights = NULL;
  created->memory.measures = true;
  take_memory(created, dtype);
  const size_t bytes = created->memory.peak;
  created->memory = (hw_arena){0};
  if (hw_arena_reserve(&created->memory, bytes) != HW_OK) {
    hw_release(created);
    return HW_ERROR_MEMORY;
  }
  take_memory(created, dtype);
  created->call.query = created->query;
  created->call.query_strides = hw_head_major(heads, attention->query_tokens, attention->key_width);
  *trace = created;
  return HW_OK;
}

void hw_trace_copy_queries(hw_trace *trace, const hw_attention *attention, size_t first_head) {
  const hw_attention *a = attention;
  const hw_strides *q = &trace->call.query_strides;
  for (size_t b = 0; b < a->batch; b++) {
    for (size_t h = 0; h < a->heads; h++) {
      const float *query = a->query + b * a->query_strides.batch + h * a->query_strides.head;
      hw_rows_copy(&(hw_rows){query, a->query_strides.token, a->query_tokens}, a->key_width,
                   trace->query + b * q->batch + (first_head + h) * q->head, a->key_width);
    }
  }
}

hw_attention_record hw_trace_record(const hw_trace *trace, size_t first_head) {
  const hw_attention *call = &trace->call;
  hw_attention_record record = trace->record;
  const size_t rows = first_head * call->query_tokens;
  record.row_maximum += rows;
  record.row_sum += rows;
  record.store.memory += first_head * record.store.head_bytes;
  if (record.kept != NULL) {
    record.kept += rows * hw_kept_words(call->key_tokens);
  }
  return record;
}

void hw_trace_destroy(hw_trace *trace) {
  if (trace != NULL) {
    hw_arena_release(&trace->memory);
    hw_release(trace);
  }
}

hw_trace_shape hw_trace_get_shape(const hw_trace *trace) {
  if (trace == NULL) {
    return (hw_trace_shape){0};
  }
  const hw_attention *call = &trace->call;
  return (hw_trace_shape){call->batch, call->heads, call->query_tokens, call->key_tokens};
}

size_t hw_trace_bytes(const hw_trace *trace) { return trace == NULL ? 0 : sizeof(hw_trace) + trace->memory.capacity; }

size_t hw_trace_value_width(const hw_trace *trace) { return trace == NULL ? 0 : trace->call.value_width; }
