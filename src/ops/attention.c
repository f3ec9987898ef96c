#include "ops/attention.h"

#include <math.h>
#include <string.h>

#include "kernels/attention.h"
#include "kernels/attention_weights.h"
#include "ops/trace.h"

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

static double work_of(const hw_attention *a) {
  const double rows = (double)a->batch * (double)a->heads * (double)a->query_tokens;
  return rows * (double)a->key_tokens * (double)a->key_width;
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

/* The wave's, counted over the batch. */
static size_t first_query_head(const attention_job *all) { return all->first_head * hw_sharing_heads(all->call); }

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
  const size_t end = wants_all_scores(a) ? a->key_tokens : hw_key_length(a, batch);
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
  const size_t query_heads = heads * hw_sharing_heads(all->call);
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

/* The tape's trace of the call: a new one if the call has the first of the heads that share it, else the last. NULL without
 * a tape. A run that is measured allocates it. */
static hw_trace *trace_on_tape(hw_run *run, const hw_attention *a, const hw_attention_state *state) {
  hw_tape *tape = &run->tape;
  if (tape->traces == NULL || run->status != HW_OK) {
    return NULL;
  }
  tape->count += state->first_head == 0 ? 1 : 0;
  hw_trace **entry = tape->traces + tape->count - 1;
  if (hw_run_measures(run) && state->first_head == 0) {
    const hw_matrix_type dtype = state->store == NULL ? HW_MATRIX_FLOAT32 : state->store->dtype;
    run->status = hw_trace_create(a, state->heads == 0 ? a->heads : state->heads, dtype, entry);
  }
  return *entry;
}

void hw_attention_forward(hw_run *run, const hw_attention *attention, const hw_attention_state *state) {
  const hw_attention *a = attention;
  hw_arena *arena = run->arena;
  const size_t mark = arena->used;
  hw_trace *trace = trace_on_tape(run, a, state);
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
