#include "modules/block.h"

#include <string.h>

#include "modules/asked.h"
#include "modules/kept.h"
#include "ops/pointwise.h"

enum { PARTS = 6 };

void hw_block_release(hw_module *module) {
  hw_block *m = (hw_block *)module;
  hw_module *const parts[PARTS] = {m->ln1, m->after1, m->attn, m->ln2, m->after2, m->ffn};
  for (size_t i = 0; i < PARTS; i++) {
    hw_module_destroy(parts[i]);
  }
}

void hw_block_visit(hw_module *module, hw_visit *visit) {
  static const char *const names[PARTS] = {"ln1", "after1", "ln2", "after2", "attn", "ffn"};
  hw_block *m = (hw_block *)module;
  hw_module *const parts[PARTS] = {m->ln1, m->after1, m->ln2, m->after2, m->attn, m->ffn};
  for (size_t i = 0; i < PARTS; i++) {
    if (parts[i] != NULL) {
      hw_visit_child(visit, names[i], parts[i]);
    }
  }
}

const hw_linear *hw_block_out_proj(const hw_module *module, size_t layer) {
  const hw_module *attn = ((const hw_block *)module)->attn;
  return attn->type->out_proj(attn, layer);
}

/* ---- Forward ---- */

/* Attention or feed-forward with its norms, in a call. */
typedef struct sublayer {
  hw_module *norm;
  hw_module *after; /* NULL: none */
  hw_module *part;
  hw_module *before; /* the norm whose output the part is given; NULL: the block's input, which is kept */
  const hw_input *shape;
  size_t tokens; /* that the part is given */
  size_t rows;   /* of the branch: theirs, or those of asked tokens */
  size_t count;  /* of its floats */
} sublayer;

static sublayer sublayer_of(const hw_block *m, const hw_input *shape, size_t tokens, bool is_attention) {
  const size_t rows = hw_size_multiply(shape->batch, tokens);
  const bool is_post = m->norm_place == HW_NORM_POST;
  sublayer s = {m->ln2, m->after2, m->ffn, is_post ? m->ln1 : m->ln2, shape, tokens, rows, rows * m->d_model};
  if (is_attention) {
    s = (sublayer){m->ln1, m->after1, m->attn, is_post ? NULL : m->ln1, shape, tokens, rows, rows * m->d_model};
  }
  return s;
}

/*
 * y = residual + dropout(after(part(norm(x)))), or norm(residual + dropout(part(x))). The part's input is not kept: on the tape,
 * before what the part keeps, lies what it is made from again.
 *
 *   pre, both:  | ln1's rows | attn … | after1's rows | ln2's rows | ffn … | after2's rows |
 *   post:       | x | attn … | ln1's rows | ffn … | ln2's rows |
 */
static void add_part(hw_run *run, const hw_block *m, const sublayer *s, const float *x, const float *residual,
                     float *branch, float *y) {
  hw_input in = *s->shape;
  in.x = x;
  in.tokens = s->tokens;
  if (m->norm_place != HW_NORM_POST) {
    hw_layer_norm_push(run, s->norm, x, in.batch * in.tokens, branch);
    in.x = branch;
  }
  const size_t mark = hw_tape_mark(run);
  hw_module_run(run, s->part, &in, branch);
  if (s->after != NULL) {
    hw_layer_norm_push(run, s->after, branch, s->rows, branch);
  }
  hw_drop(run, &m->base, m->dropout, branch, s->count);
  for (const hw_watch *watch = run->watch; watch != NULL && !hw_run_measures(run); watch = watch->next) {
    const size_t part = 2 * (run->layer - 1) + (s->part == m->ffn ? 1 : 0);
    memcpy(watch->branches + part * m->d_model, branch + watch->row * m->d_model, m->d_model * sizeof(float));
  }
  if (hw_run_records(run)) {
    hw_push_number(run, (double)mark);
  }
  hw_add_forward(run, residual, branch, y, s->count);
  if (m->norm_place == HW_NORM_POST) {
    hw_layer_norm_push(run, s->norm, y, s->rows, y);
  }
}

static void keep_input(const hw_run *run, const hw_input *input, size_t d_model) {
  const size_t rows = hw_input_rows(input);
  float *kept = hw_tape_push_floats(run, rows, d_model);
  if (!hw_run_measures(run)) {
    memcpy(kept, input->x, rows * d_model * sizeof(float));
  }
}

/* Parallel parts are both given x, which may be where y is. If only asked tokens come out, attention is still given all. */
void hw_block_forward(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  const hw_block *m = (const hw_block *)module;
  const size_t mark = run->arena->used;
  sublayer attn = sublayer_of(m, input, input->tokens, true);
  const sublayer ffn = sublayer_of(m, input, run->only_asked ? hw_asked_tokens(input) : input->tokens, false);
  const float *x = input->x;
  attn.rows = ffn.rows;
  attn.count = ffn.count;
  if (run->only_asked) {
    float *asked = hw_run_take_floats(run, ffn.rows, m->d_model);
    hw_copy_asked(run, input, x, m->d_model, m->d_model, asked);
    x = asked;
  }
  float *branch = hw_run_take_floats(run, input->batch * input->tokens, m->d_model);
  float *sum = m->is_parallel ? hw_run_take_floats(run, ffn.rows, m->d_model) : y;
  if (hw_run_records(run) && m->norm_place == HW_NORM_POST) {
    keep_input(run, input, m->d_model);
  }
  add_part(run, m, &attn, input->x, x, branch, sum);
  if (m->ffn != NULL) {
    add_part(run, m, &ffn, m->is_parallel ? x : sum, sum, branch, y);
  }
  run->arena->used = mark;
}

/* ---- Backward ---- */

/* The part's input again. Returns how far the tape reaches below what it was made from. */
static size_t restore_input(const hw_run *run, const sublayer *s, size_t d_model, size_t mark,
                            hw_normalized *normalized, float *again) {
  hw_arena *tape = run->tape.kept;
  const size_t used = tape->used;
  tape->used = mark;
  if (s->before != NULL) {
    *normalized = hw_layer_norm_pop(run, s->before, s->rows);
    hw_layer_norm_restore(run, s->before, normalized, s->rows, again);
  } else {
    const float *x = hw_tape_pop_floats(run, s->rows, d_model);
    if (!hw_run_measures(run)) {
      memcpy(again, x, s->count * sizeof(float));
    }
  }
  const size_t below = tape->used;
  tape->used = used;
  return below;
}

void hw_block_restore_output(const hw_run *run, const hw_module *module, size_t rows, float *y) {
  const hw_block *m = (const hw_block *)module;
  const hw_module *norm = m->ffn == NULL ? m->ln1 : m->ln2;
  const size_t used = run->tape.kept->used;
  const hw_normalized normalized = hw_layer_norm_pop(run, norm, rows);
  hw_layer_norm_restore(run, norm, &normalized, rows, y);
  run->tape.kept->used = used;
}

/* d_output is the gradient of the part's output and residual. d, that of its input, is added to; where both are one, the gradient
 * of the output becomes that of the input. */
static void backward_sublayer(hw_run *run, const hw_block *m, const sublayer *s, const float *d_output, float *d) {
  const size_t mark = run->arena->used;
  const bool is_post = m->norm_place == HW_NORM_POST;
  float *again = hw_run_take_floats(run, s->rows, m->d_model);
  float *d_part = hw_run_take_floats(run, s->rows, m->d_model);
  const float *d_branch = d_output;
  hw_normalized normalized;
  if (is_post) {
    normalized = hw_layer_norm_pop(run, s->norm, s->rows);
    hw_layer_norm_pull(run, s->norm, &normalized, d, s->rows, false, d);
  }
  const size_t input_end = (size_t)hw_pop_number(run);
  const hw_dropped dropped = hw_dropped_pop(run, hw_kept_words(s->count));
  if (dropped.dropout > 0.0) {
    hw_dropped_apply(run, &dropped, d_branch, d_part, s->count);
    d_branch = d_part;
  }
  if (s->after != NULL) {
    const hw_normalized after = hw_layer_norm_pop(run, s->after, s->rows);
    hw_layer_norm_pull(run, s->after, &after, d_branch, s->rows, false, d_part);
    d_branch = d_part;
  }
  const size_t below = restore_input(run, s, m->d_model, input_end, &normalized, again);
  hw_input in = *s->shape;
  in.x = again;
  hw_module_run_backward(run, s->part, &in, d_branch, d_part);
  if (is_post) {
    hw_add_forward(run, d, d_part, d, s->count);
    run->tape.kept->used = s->before == NULL ? below : input_end;
  } else {
    hw_layer_norm_pull(run, s->norm, &normalized, d_part, s->rows, true, d);
    run->tape.kept->used = below;
  }
  run->arena->used = mark;
}

/* dx may be dy. */
void hw_block_backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx) {
  const hw_block *m = (const hw_block *)module;
  const size_t mark = run->arena->used;
  const sublayer attn = sublayer_of(m, input, input->tokens, true);
  const sublayer ffn = sublayer_of(m, input, input->tokens, false);
  float *d = dx == NULL ? hw_run_take_floats(run, attn.rows, m->d_model) : dx;
  /* Parallel parts have one output. */
  float *copy = m->is_parallel ? hw_run_take_floats(run, attn.rows, m->d_model) : d;
  if (d != dy && !hw_run_measures(run)) {
    memcpy(d, dy, attn.count * sizeof(float));
  }
  if (m->is_parallel && !hw_run_measures(run)) {
    memcpy(copy, d, attn.count * sizeof(float));
  }
  if (m->ffn != NULL) {
    backward_sublayer(run, m, &ffn, copy, d);
  }
  backward_sublayer(run, m, &attn, copy, d);
  run->arena->used = mark;
}
