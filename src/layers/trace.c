#include "layers/trace.h"

#include <string.h>

#include "core/tile.h"
#include "kernels/attention_map.h"
#include "kernels/attention_weights.h"

struct hw_trace {
  hw_arena memory;
  hw_attention call; /* query, key and mask point into memory; value and output are unused */
  hw_attention_record record;
  float *query;
};

static size_t mask_elements(const hw_attention *a, size_t heads) {
  const hw_mask *m = &a->mask;
  if (m->kind == HW_MASK_NONE) {
    return 0;
  }
  return (a->batch - 1) * m->batch_stride + (heads - 1) * m->head_stride + (a->query_tokens - 1) * m->query_stride +
         (a->key_tokens - 1) * m->key_stride + 1;
}

static size_t mask_element_bytes(const hw_mask *mask) { return mask->kind == HW_MASK_BOOL ? 1 : sizeof(float); }

static size_t keys_bytes(const hw_attention *a, size_t heads) {
  return hw_key_value_store_bytes(hw_size_multiply(a->batch, heads), a->key_tokens, a->key_width, 0);
}

static size_t trace_bytes(const hw_attention *a, size_t heads) {
  const size_t batch_heads = hw_size_multiply(a->batch, heads);
  const size_t rows = hw_size_multiply(batch_heads, a->query_tokens);
  size_t bytes = hw_arena_size(hw_size_multiply(rows, a->key_width), sizeof(float));
  bytes = hw_size_add(bytes, hw_arena_size(keys_bytes(a, heads), 1));
  bytes = hw_size_add(bytes, hw_size_multiply(2, hw_arena_size(rows, sizeof(float))));
  bytes = hw_size_add(bytes, hw_arena_size(mask_elements(a, heads), mask_element_bytes(&a->mask)));
  if (a->dropout > 0.0) {
    const size_t words = hw_size_multiply(rows, hw_keep_words(a->key_tokens));
    bytes = hw_size_add(bytes, hw_arena_size(words, sizeof(uint32_t)));
  }
  return bytes;
}

static void take_memory(hw_trace *trace) {
  hw_attention *call = &trace->call;
  const size_t rows = call->batch * call->heads * call->query_tokens;
  trace->query = hw_arena_take_floats(&trace->memory, rows * call->key_width);
  trace->record = (hw_attention_record){
      .row_maximum = hw_arena_take_floats(&trace->memory, rows),
      .row_sum = hw_arena_take_floats(&trace->memory, rows),
      .keys = {.memory = hw_arena_take(&trace->memory, keys_bytes(call, call->heads), 1),
               .tokens = call->key_tokens,
               .key_width = call->key_width},
      .batch_heads = call->heads,
  };
  if (call->mask.kind != HW_MASK_NONE) {
    const size_t elements = mask_elements(call, call->heads);
    const size_t element_bytes = mask_element_bytes(&call->mask);
    void *mask = hw_arena_take(&trace->memory, elements, element_bytes);
    memcpy(mask, call->mask.data, elements * element_bytes);
    call->mask.data = mask;
  }
  if (call->dropout > 0.0) {
    trace->record.keep = hw_arena_take(&trace->memory, rows * hw_keep_words(call->key_tokens), sizeof(uint32_t));
  }
}

static hw_strides head_major(size_t heads, size_t tokens, size_t width) {
  return (hw_strides){.batch = heads * tokens * width, .head = tokens * width, .token = width};
}

hw_status hw_trace_create(const hw_attention *attention, size_t heads, hw_trace **trace) {
  *trace = NULL;
  hw_trace *created = hw_allocate_zeroed(sizeof(hw_trace));
  if (created == NULL || hw_arena_reserve(&created->memory, trace_bytes(attention, heads)) != HW_OK) {
    hw_release(created);
    return HW_ERROR_MEMORY;
  }
  created->call = *attention;
  created->call.heads = heads;
  created->call.key_heads = heads;
  take_memory(created);
  created->call.query = created->query;
  created->call.query_strides = head_major(heads, attention->query_tokens, attention->key_width);
  *trace = created;
  return HW_OK;
}

static void copy_rows(float *target, const float *source, size_t stride, size_t rows, size_t width) {
  for (size_t r = 0; r < rows; r++) {
    memcpy(target + r * width, source + r * stride, width * sizeof(float));
  }
}

hw_attention_record hw_trace_record(hw_trace *trace, const hw_attention *attention, size_t first_head) {
  const hw_attention *a = attention;
  const hw_strides *q = &trace->call.query_strides;
  for (size_t b = 0; b < a->batch; b++) {
    for (size_t h = 0; h < a->heads; h++) {
      copy_rows(trace->query + b * q->batch + (first_head + h) * q->head,
                a->query + b * a->query_strides.batch + h * a->query_strides.head, a->query_strides.token,
                a->query_tokens, a->key_width);
    }
  }
  hw_attention_record record = trace->record;
  const size_t rows = first_head * a->query_tokens;
  record.row_maximum += rows;
  record.row_sum += rows;
  record.keys.memory += hw_key_value_store_bytes(first_head, a->key_tokens, a->key_width, 0);
  if (record.keep != NULL) {
    record.keep += rows * hw_keep_words(a->key_tokens);
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
  const hw_attention *call = &trace->call;
  return (hw_trace_shape){call->batch, call->heads, call->query_tokens, call->key_tokens};
}

size_t hw_trace_bytes(const hw_trace *trace) { return sizeof(hw_trace) + trace->memory.capacity; }

/* The traced head, without the parts that only a run needs. */
static hw_attention_head traced_head(const hw_trace *trace, size_t batch, size_t head) {
  return hw_attention_head_of(&trace->call, &trace->record, &trace->record.keys, batch, head);
}

/* Rows of one head, shared among threads. */
typedef struct trace_rows {
  hw_attention_head head;
  size_t row_start;
  size_t row_end;
  size_t block; /* rows of an item */
  size_t size;  /* of a map */
  float *out;
  unsigned char *scratch;
  size_t thread_bytes;
} trace_rows;

static bool has_head(const hw_trace *trace, size_t batch, size_t head) {
  return batch < trace->call.batch && head < trace->call.heads;
}

/* Runs the task for each block of rows, with scratch for each thread. */
static hw_status run_rows(hw_context *context, trace_rows *rows, hw_task task) {
  const hw_attention_head *head = &rows->head;
  const double scores = (double)head->query_tokens * (double)head->key_tokens;
  hw_team *team = hw_context_team(context, scores * (double)head->panels.key_width);
  rows->thread_bytes = hw_arena_size(rows->thread_bytes, 1);
  const size_t bytes = hw_size_multiply(hw_team_threads(team), rows->thread_bytes);
  HW_TRY(hw_arena_reserve(&context->arena, bytes));
  rows->scratch = hw_arena_take(&context->arena, bytes, 1);
  hw_parallel_for(team, hw_ceil_divide(rows->row_end - rows->row_start, rows->block), task, rows);
  return HW_OK;
}

static void weights_item(const void *job, size_t item, size_t thread) {
  const trace_rows *rows = job;
  const size_t first = rows->row_start + item * rows->block;
  const size_t end = hw_min(first + rows->block, rows->row_end);
  unsigned char *scratch = rows->scratch + thread * rows->thread_bytes;
  for (size_t row = first; row < end; row += HW_TILE_ROWS) {
    float *out = rows->out + (row - rows->row_start) * rows->head.key_tokens;
    hw_attention_weights(&rows->head, row, hw_min(end - row, HW_TILE_ROWS), out, scratch);
  }
}

hw_status hw_trace_weights(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t row_start,
                           size_t row_end, float *out) {
  if (!has_head(trace, batch, head) || row_start >= row_end || row_end > trace->call.query_tokens || out == NULL) {
    return HW_ERROR_VALUE;
  }
  return run_rows(context,
                  &(trace_rows){
                      .head = traced_head(trace, batch, head),
                      .row_start = row_start,
                      .row_end = row_end,
                      .block = HW_QUERY_BLOCK,
                      .out = out,
                      .thread_bytes = hw_attention_weights_scratch_bytes(trace->call.key_width),
                  },
                  weights_item);
}

static void map_item(const void *job, size_t item, size_t thread) {
  const trace_rows *rows = job;
  const size_t first = item * rows->block;
  hw_attention_map_rows(&rows->head, rows->size, first, hw_min(first + rows->block, rows->row_end), rows->out,
                        rows->scratch + thread * rows->thread_bytes);
}

hw_status hw_trace_map(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t size, float *out) {
  if (!has_head(trace, batch, head) || size == 0 || out == NULL) {
    return HW_ERROR_VALUE;
  }
  return run_rows(context,
                  &(trace_rows){
                      .head = traced_head(trace, batch, head),
                      .row_end = size,
                      .block = HW_MAP_ROWS,
                      .size = size,
                      .out = out,
                      .thread_bytes = hw_attention_map_scratch_bytes(trace->call.key_width, size),
                  },
                  map_item);
}
