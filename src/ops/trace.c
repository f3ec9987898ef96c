#include "ops/trace.h"

#include <string.h>

#include "kernels/attention.h"
#include "kernels/attention_map.h"
#include "kernels/attention_weights.h"
#include "ops/matrix.h"

struct hw_trace {
  hw_arena memory;
  hw_attention call; /* query and mask point into memory; key, value and output are unused */
  hw_attention_record record;
  float *query;
};

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

static hw_status create(const hw_attention *attention, size_t heads, hw_matrix_type dtype, hw_trace **trace) {
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

hw_trace *hw_trace_on_tape(hw_run *run, const hw_attention *attention, const hw_attention_state *state) {
  hw_tape *tape = &run->tape;
  if (tape->traces == NULL || run->status != HW_OK) {
    return NULL;
  }
  tape->count += state->first_head == 0 ? 1 : 0;
  hw_trace **entry = tape->traces + tape->count - 1;
  if (hw_run_measures(run) && state->first_head == 0) {
    const hw_matrix_type dtype = state->store == NULL ? HW_MATRIX_FLOAT32 : state->store->dtype;
    run->status = create(attention, state->heads == 0 ? attention->heads : state->heads, dtype, entry);
  }
  return *entry;
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

/* Rows of one head, shared among threads. */
typedef struct trace_rows {
  hw_attention_head head;
  size_t row_start;
  size_t row_end;
  size_t block; /* rows of an item */
  size_t size;  /* of a map */
  float *out;
  hw_task task;
  unsigned char *scratch;
  size_t thread_bytes;
  hw_attention_scratch of_block; /* of hw_trace_output */
} trace_rows;

static bool has_head(const hw_trace *trace, size_t batch, size_t head) {
  return trace != NULL && batch < trace->call.batch && head < trace->call.heads;
}

/* Runs the task for each block of rows, with scratch for each thread. */
static void rows_forward(hw_run *run, const void *call) {
  trace_rows rows = *(const trace_rows *)call;
  const double scores = (double)rows.head.query_tokens * (double)rows.head.key_tokens;
  const double work = scores * (double)rows.head.panels.key_width;
  hw_team *team = hw_run_team(run, work);
  if (rows.head.output != NULL) {
    /* The rows of the softmax come out again; the trace's are only read. */
    rows.head.row_maximum = hw_run_take_floats(run, rows.row_end, 1);
    rows.head.row_sum = hw_run_take_floats(run, rows.row_end, 1);
  }
  rows.thread_bytes = hw_arena_size(rows.thread_bytes, 1);
  rows.scratch = hw_arena_take(run->arena, hw_size_multiply(hw_team_threads(team), rows.thread_bytes), 1);
  if (!hw_run_measures(run)) {
    hw_parallel_for(team, work, hw_ceil_divide(rows.row_end - rows.row_start, rows.block), rows.task, &rows);
  }
}

static hw_attention_head head_of(const hw_trace *trace, size_t batch, size_t head) {
  return hw_attention_head_of(&trace->call, &trace->record, &trace->record.store, batch, head);
}

/* Runs the task on one head, without the parts of it that only a forward needs. */
static hw_status recompute(hw_context *context, const hw_trace *trace, size_t batch, size_t head, hw_task task,
                           trace_rows *rows) {
  rows->task = task;
  rows->head = head_of(trace, batch, head);
  return hw_run_forward(context, NULL, NULL, rows_forward, rows);
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
  if (!has_head(trace, batch, head) || row_start > row_end || row_end > trace->call.query_tokens || out == NULL) {
    return HW_ERROR_VALUE;
  }
  trace_rows rows = {.row_start = row_start, .row_end = row_end, .block = HW_QUERY_BLOCK, .out = out};
  rows.thread_bytes = hw_attention_weights_scratch_bytes(trace->record.store.dtype, trace->call.key_width);
  return recompute(context, trace, batch, head, weights_item, &rows);
}

static void map_item(const void *job, size_t item, size_t thread) {
  const trace_rows *rows = job;
  const size_t first = item * rows->block;
  hw_attention_map_rows(&rows->head, rows->size, first, hw_min(first + rows->block, rows->row_end), rows->out,
                        rows->scratch + thread * rows->thread_bytes);
}

hw_status hw_trace_map(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t size, float *out) {
  if (!has_head(trace, batch, head) || size == 0 || trace->call.query_tokens == 0 || out == NULL) {
    return HW_ERROR_VALUE;
  }
  trace_rows rows = {.row_end = size, .block = HW_MAP_ROWS, .size = size, .out = out};
  rows.thread_bytes = hw_attention_map_scratch_bytes(trace->record.store.dtype, trace->call.key_width, size);
  return recompute(context, trace, batch, head, map_item, &rows);
}

hw_status hw_trace_values(const hw_trace *trace, size_t batch, size_t head, float *out) {
  if (!has_head(trace, batch, head) || out == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_attention_head of = head_of(trace, batch, head);
  const size_t width = trace->call.value_width;
  const size_t tokens = of.visible.key_tokens;
  hw_unpack_values(&of.panels, tokens, out);
  memset(out + tokens * width, 0, (trace->call.key_tokens - tokens) * width * sizeof(float));
  return HW_OK;
}

static void output_item(const void *job, size_t item, size_t thread) {
  const trace_rows *rows = job;
  const size_t row = item * rows->block;
  hw_attention_block(&rows->head, row, hw_min(rows->row_end - row, rows->block), &rows->of_block,
                     rows->scratch + thread * rows->thread_bytes);
}

hw_status hw_trace_output(hw_context *context, const hw_trace *trace, size_t batch, size_t head, float *out) {
  if (!has_head(trace, batch, head) || out == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_attention *call = &trace->call;
  trace_rows rows = {.row_end = call->query_tokens, .block = HW_QUERY_BLOCK, .task = output_item};
  rows.head = head_of(trace, batch, head);
  rows.head.output = out;
  rows.head.output_stride = call->value_width;
  rows.of_block = hw_attention_scratch_of(trace->record.store.dtype, call->key_width, call->value_width);
  rows.thread_bytes = rows.of_block.bytes;
  return hw_run_forward(context, NULL, NULL, rows_forward, &rows);
}

size_t hw_trace_value_width(const hw_trace *trace) { return trace == NULL ? 0 : trace->call.value_width; }
