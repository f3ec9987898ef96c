#include "ops/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/attention.h"
#include "kernels/attention_weights.h"
#include "ops/trace.h"

float hw_attention_default_scale(size_t key_width) { return (float)(1.0 / sqrt((double)key_width)); }

/* The mask's elements from one on; NULL for no mask. */
static const void *mask_from(const hw_mask *mask, size_t element) {
  switch (mask->kind) {
    case HW_MASK_BOOL:
      return (const uint8_t *)mask->data + element;
    case HW_MASK_FLOAT:
      return (const float *)mask->data + element;
    default:
      return NULL;
  }
}

hw_mask hw_mask_from_head(const hw_mask *mask, size_t head) {
  hw_mask rest = *mask;
  rest.data = mask_from(mask, head * mask->head_stride);
  return rest;
}

size_t hw_mask_bytes(const hw_mask *mask, const hw_trace_shape *scores) {
  const bool is_empty =
      scores->batch == 0 || scores->heads == 0 || scores->query_tokens == 0 || scores->key_tokens == 0;
  if (mask->kind == HW_MASK_NONE || is_empty) {
    return 0;
  }
  const size_t elements = (scores->batch - 1) * mask->batch_stride + (scores->heads - 1) * mask->head_stride +
                          (scores->query_tokens - 1) * mask->query_stride +
                          (scores->key_tokens - 1) * mask->key_stride + 1;
  return elements * (mask->kind == HW_MASK_BOOL ? 1 : sizeof(float));
}

bool hw_mask_is_valid(const hw_mask *mask) {
  return mask->kind == HW_MASK_NONE ||
         ((mask->kind == HW_MASK_BOOL || mask->kind == HW_MASK_FLOAT) && mask->data != NULL);
}

hw_status hw_attention_check(const hw_attention *attention) {
  const hw_attention *a = attention;
  const bool shares = a->heads == a->key_heads || (a->key_heads > 0 && a->heads % a->key_heads == 0);
  if (!shares || a->key_width == 0 || a->value_width == 0) {
    return HW_ERROR_SHAPE;
  }
  const bool pointers = a->query != NULL && a->key != NULL && a->value != NULL && a->output != NULL;
  const bool kind = a->weights_kind >= HW_WEIGHTS_PROBABILITIES && a->weights_kind <= HW_WEIGHTS_MASKED;
  if (!pointers || !hw_dropout_is_valid(a->dropout) || !hw_softcap_is_valid(a->softcap) || !kind ||
      !hw_mask_is_valid(&a->mask)) {
    return HW_ERROR_VALUE;
  }
  for (size_t b = 0; a->key_lengths != NULL && b < a->batch; b++) {
    if (a->key_lengths[b] > a->key_tokens) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

/* The keys of a batch entry. */
static size_t key_length(const hw_attention *a, size_t batch) {
  return a->key_lengths == NULL ? a->key_tokens : a->key_lengths[batch];
}

/* What the items of a run share. */
typedef struct attention_job {
  const hw_attention *call;
  hw_attention_record record;
  hw_key_value_store store;
  size_t stored_tokens;
  const uint32_t *stored; /* NULL, or of each batch entry */
  size_t pack_block;      /* tokens that one item packs */
  size_t pack_blocks;     /* of each head */
  size_t query_blocks;    /* of each head */
  size_t first_head;      /* of the wave: of keys and values, counted over the batch */
  hw_attention_scratch scratch;
  unsigned char *memory; /* of the scratch of each thread */
} attention_job;

/* Heads that share a head of keys and values. */
static size_t sharing_heads(const hw_attention *a) { return a->heads == a->key_heads ? 1 : a->heads / a->key_heads; }

static double work_of(const hw_attention *a) {
  const double rows = (double)a->batch * (double)a->heads * (double)a->query_tokens;
  return rows * (double)a->key_tokens * (double)a->key_width;
}

hw_attention_record hw_attention_take_record(hw_arena *arena, const hw_attention *attention) {
  const hw_attention *a = attention;
  const size_t rows = hw_size_multiply(hw_size_multiply(a->batch, a->heads), a->query_tokens);
  const size_t words = a->dropout > 0.0 ? hw_size_multiply(rows, hw_kept_words(a->key_tokens)) : 0;
  return (hw_attention_record){
      .row_maximum = a->row_maximum != NULL ? a->row_maximum : hw_arena_take_floats(arena, rows),
      .row_sum = a->row_sum != NULL ? a->row_sum : hw_arena_take_floats(arena, rows),
      .kept = words == 0        ? NULL
              : a->kept != NULL ? a->kept
                                : hw_arena_take(arena, words, sizeof(uint32_t)),
      .batch_heads = a->heads,
  };
}

/* Heads whose keys and values are packed at a time: at least one for each thread. */
static size_t wave_heads(const hw_team *team, size_t head_bytes) {
  return hw_max(hw_items_within(HW_WAVE_BYTES, head_bytes), hw_team_threads(team));
}

static void draw_kept(hw_generator *generator, const hw_attention *a, const hw_attention_record *record) {
  if (record->kept == NULL) {
    return;
  }
  const size_t head_words = a->query_tokens * hw_kept_words(a->key_tokens);
  for (size_t b = 0; b < a->batch; b++) {
    for (size_t h = 0; h < a->heads; h++) {
      uint32_t *bits = record->kept + (b * record->batch_heads + h) * head_words;
      hw_generator_draw_kept(generator, a->dropout, bits, a->query_tokens, a->key_tokens);
    }
  }
}

static hw_visibility visibility_of(const hw_attention *a, size_t batch, size_t head) {
  hw_visibility visible = {
      .start_shift = -HW_UNLIMITED,
      .end_shift = HW_UNLIMITED,
      .key_tokens = key_length(a, batch),
      .mask_kind = a->mask.kind,
      .mask = mask_from(&a->mask, batch * a->mask.batch_stride + head * a->mask.head_stride),
      .query_stride = a->mask.query_stride,
      .key_stride = a->mask.key_stride,
  };
  int64_t offset = a->causal_offset + (a->offsets == NULL ? 0 : (int64_t)a->offsets[batch]);
  if (a->offset_from_end) {
    offset += (int64_t)visible.key_tokens - (int64_t)a->query_tokens;
  }
  if (a->is_windowed && a->window_left >= 0) {
    visible.start_shift = offset - a->window_left;
  }
  if (a->is_windowed && a->window_right >= 0) {
    visible.end_shift = offset + a->window_right + 1;
  }
  if (a->is_causal && visible.end_shift > offset + 1) {
    visible.end_shift = offset + 1;
  }
  return visible;
}

/* The number of the head whose keys and values a head reads. */
static size_t key_head_of(const hw_attention *a, size_t batch, size_t head) {
  return batch * a->key_heads + hw_quotient(head, sharing_heads(a));
}

/* The wave's, counted over the batch. */
static size_t first_query_head(const attention_job *all) { return all->first_head * sharing_heads(all->call); }

hw_attention_head hw_attention_head_of(const hw_attention *attention, const hw_attention_record *record,
                                       const hw_key_value_store *store, size_t batch, size_t head) {
  const hw_attention *a = attention;
  const size_t first_row = (batch * record->batch_heads + head) * a->query_tokens;
  const size_t words = hw_kept_words(a->key_tokens);
  const size_t output_start = batch * a->output_strides.batch + head * a->output_strides.head;
  return (hw_attention_head){
      .query_tokens = a->query_tokens,
      .query = a->query + batch * a->query_strides.batch + head * a->query_strides.head,
      .output = a->output == NULL ? NULL : a->output + output_start, /* a trace has none */
      .query_stride = a->query_strides.token,
      .output_stride = a->output_strides.token,
      .scale = a->scale,
      .softcap = a->softcap,
      .key_tokens = a->key_tokens,
      .panels = hw_key_value_store_head(store, key_head_of(a, batch, head)),
      .visible = visibility_of(a, batch, head),
      .kept = {record->kept == NULL ? NULL : record->kept + first_row * words, words, hw_kept_scale(a->dropout)},
      .row_maximum = record->row_maximum + first_row,
      .row_sum = record->row_sum + first_row,
  };
}

/* Whether scores of keys are asked for that no query sees. */
static bool wants_all_scores(const hw_attention *a) {
  return a->weights != NULL && (a->weights_kind == HW_WEIGHTS_SCORES || a->weights_kind == HW_WEIGHTS_SOFTCAPPED);
}

/* Some tokens of one head. */
static void pack_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const attention_job *all = job;
  const hw_attention *a = all->call;
  const size_t head_of_wave = hw_quotient(item, all->pack_blocks);
  const size_t head = all->first_head + head_of_wave;
  const size_t batch = hw_quotient(head, a->key_heads);
  const size_t head_of_batch = head - batch * a->key_heads;
  const hw_key_value_panels panels = hw_key_value_store_head(&all->store, head);
  const size_t row = (item - head_of_wave * all->pack_blocks) * all->pack_block;
  const size_t first = (all->stored == NULL ? all->stored_tokens : all->stored[batch]) + row;
  const size_t end = wants_all_scores(a) ? a->key_tokens : key_length(a, batch);
  if (first >= end) {
    return;
  }
  const size_t tokens = hw_min(end - first, all->pack_block);
  const float *key = a->key + batch * a->key_strides.batch + head_of_batch * a->key_strides.head;
  const float *value = a->value + batch * a->value_strides.batch + head_of_batch * a->value_strides.head;
  hw_pack_keys(&panels, first, tokens, key + row * a->key_strides.token, a->key_strides.token);
  hw_pack_values(&panels, first, tokens, value + row * a->value_strides.token, a->value_strides.token);
}

/* One head's keys and values, out of the panels: of those that were stored before the run nothing else is left. */
static void record_panels_item(const void *job, size_t item, size_t thread) {
  (void)thread;
  const attention_job *all = job;
  const size_t key_heads = all->call->key_heads;
  const size_t head = all->first_head + item;
  const size_t recorded = head / key_heads * all->record.batch_key_heads + head % key_heads;
  const hw_key_value_panels from = hw_key_value_store_head(&all->store, head);
  const hw_key_value_panels to = hw_key_value_store_head(&all->record.store, recorded);
  hw_copy_panels(&from, &to);
}

static void store_weights(const hw_attention *a, const hw_attention_head *head, size_t row, size_t rows, float *out,
                          unsigned char *scratch) {
  for (size_t r = 0; r < rows; r += HW_TILE_ROWS) {
    const size_t count = hw_min(rows - r, HW_TILE_ROWS);
    float *target = out + (row + r) * a->key_tokens;
    if (a->weights_kind == HW_WEIGHTS_PROBABILITIES) {
      hw_attention_weights(head, row + r, count, target, scratch);
    } else {
      hw_attention_scores(head, a->weights_kind, row + r, count, target, scratch);
    }
  }
}

static void store_log_sum_exp(const hw_attention_head *head, size_t row, size_t rows, float *out) {
  for (size_t i = row; i < row + rows; i++) {
    /* log1p and no log2, whose table is 2 KB; random_normal.c needs log1p anyway. */
    out[i] = (float)((double)head->row_maximum[i] + log1p((double)head->row_sum[i] - 1.0));
  }
}

/* One query block of one head, the last block first: under a causal mask it is the heaviest. */
static void attention_item(const void *job, size_t item, size_t thread) {
  const attention_job *all = job;
  const hw_attention *a = all->call;
  const size_t head_of_wave = hw_quotient(item, all->query_blocks);
  const size_t head_of_all = first_query_head(all) + head_of_wave;
  const size_t b = hw_quotient(head_of_all, a->heads);
  const size_t h = head_of_all - b * a->heads;
  const size_t block = all->query_blocks - 1 - (item - head_of_wave * all->query_blocks);
  const size_t row = block * HW_QUERY_BLOCK;
  const size_t rows = hw_min(a->query_tokens - row, HW_QUERY_BLOCK);
  const hw_attention_head head = hw_attention_head_of(a, &all->record, &all->store, b, h);
  unsigned char *memory = all->memory + thread * all->scratch.bytes;
  hw_attention_block(&head, row, rows, &all->scratch, memory);
  if (a->weights != NULL) {
    float *weights = a->weights + b * a->weights_batch_stride + h * a->query_tokens * a->key_tokens;
    store_weights(a, &head, row, rows, weights, memory);
  }
  if (a->log_sum_exp != NULL) {
    store_log_sum_exp(&head, row, rows, a->log_sum_exp + b * a->log_sum_exp_batch_stride + h * a->query_tokens);
  }
}

/* Packs keys and values of some heads, then attends to them while they are in the cache. */
static void attend_wave(hw_team *team, const attention_job *all, size_t heads) {
  const double work = work_of(all->call);
  const size_t query_heads = heads * sharing_heads(all->call);
  hw_parallel_for(team, work, heads * all->pack_blocks, pack_item, all);
  if (all->record.store.memory != NULL) {
    hw_parallel_for(team, work, heads, record_panels_item, all);
  }
  hw_parallel_for(team, work, query_heads * all->query_blocks, attention_item, all);
}

/* Where the call wants it, if it went into a trace. */
static void copy_record(const hw_attention *a, const hw_attention_record *record) {
  const size_t rows = a->heads * a->query_tokens;
  const size_t words = hw_kept_words(a->key_tokens);
  for (size_t b = 0; a->row_maximum != NULL && b < a->batch; b++) {
    const size_t from = b * record->batch_heads * a->query_tokens;
    memcpy(a->row_maximum + b * rows, record->row_maximum + from, rows * sizeof(float));
    memcpy(a->row_sum + b * rows, record->row_sum + from, rows * sizeof(float));
    if (a->kept != NULL && record->kept != NULL) {
      memcpy(a->kept + b * rows * words, record->kept + from * words, rows * words * sizeof *a->kept);
    }
  }
}

void hw_attention_forward(hw_run *run, const hw_attention *attention, const hw_attention_state *state) {
  const hw_attention *a = attention;
  hw_arena *arena = run->arena;
  const size_t mark = arena->used;
  hw_trace *trace = hw_trace_on_tape(run, a, state);
  hw_team *team = hw_run_team(run, work_of(a));
  const bool is_stored = state->store != NULL;
  const size_t heads = hw_size_multiply(a->batch, a->key_heads);
  hw_key_value_store store =
      is_stored ? *state->store : hw_key_value_store_of(HW_MATRIX_FLOAT32, a->key_tokens, a->key_width, a->value_width);
  const size_t wave = is_stored ? heads : hw_min(heads, wave_heads(team, store.head_bytes));
  /* Blocks that do not start where the store's do would share panels. */
  const bool in_blocks = state->stored_tokens == 0; /* then all of `stored` is 0 */
  attention_job job = {
      .call = a,
      .record = trace == NULL ? hw_attention_take_record(arena, a) : hw_trace_record(trace, state->first_head),
      .store = store,
      .stored_tokens = state->stored_tokens,
      .stored = state->stored,
      .pack_block = in_blocks ? HW_KEY_BLOCK : a->key_tokens,
      .pack_blocks = in_blocks ? hw_ceil_divide(a->key_tokens, HW_KEY_BLOCK) : 1,
      .query_blocks = hw_ceil_divide(a->query_tokens, HW_QUERY_BLOCK),
      .scratch = hw_attention_scratch_of(store.dtype, a->key_width, a->value_width),
  };
  if (!is_stored) {
    job.store.memory = hw_arena_take(arena, wave, store.head_bytes);
  }
  job.memory = hw_arena_take(arena, hw_team_threads(team), job.scratch.bytes);
  arena->used = mark;
  /* Without queries there is work only for a store's trace; elsewhere heads may then be more than any loop. */
  if (hw_run_measures(run) || (a->query_tokens == 0 && !is_stored)) {
    return;
  }
  if (trace != NULL) {
    hw_trace_copy_queries(trace, a, state->first_head);
  }
  draw_kept(&run->context->generator, a, &job.record);
  for (; job.first_head < heads; job.first_head += wave) {
    job.store.first_head = is_stored ? 0 : job.first_head;
    attend_wave(team, &job, hw_min(heads - job.first_head, wave));
  }
  if (trace != NULL) {
    copy_record(a, &job.record);
  }
}

static void forward(hw_run *run, const void *call) { hw_attention_forward(run, call, &(hw_attention_state){0}); }

hw_status hw_scaled_dot_product_attention(hw_context *context, const hw_attention *attention) {
  if (attention == NULL) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_attention_check(attention));
  return hw_run_forward(context, NULL, NULL, forward, attention);
}
