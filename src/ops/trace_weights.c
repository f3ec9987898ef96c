#include <string.h>

#include "kernels/attention.h"
#include "kernels/attention_map.h"
#include "kernels/attention_weights.h"
#include "ops/run.h"
#include "ops/trace.h"

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
  if (!has_head(trace, batch, head) || size == 0 || out == NULL) {
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
