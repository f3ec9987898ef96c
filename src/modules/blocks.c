/*
 * Blocks one after another. With gradient checkpointing (Chen et al. 2016, arXiv:1604.06174) a recorded forward keeps only
 * what a block begins with, and the backward runs the block again:
 *
 *   | input | state |   and after all of the tape, while the block goes back: what it keeps
 */
#include <string.h>

#include "modules/block.h"
#include "modules/kept.h"

/* What a block's dropout depends on. */
typedef struct state {
  hw_generator generator;
  bool is_read;
} state;

/* The head of an encoder looks into what the last block kept. */
static bool runs_again(const hw_modules *blocks, size_t index) {
  const hw_block *block = (const hw_block *)blocks->all[index];
  return block->base.checkpointing && (index + 1 < blocks->count || block->norm_place != HW_NORM_POST);
}

static void store(const hw_run *run, state *stored) {
  stored->generator = run->context->generator;
  stored->is_read = run->is_read;
}

static void restore(hw_run *run, const state *stored) {
  run->context->generator = stored->generator;
  run->is_read = stored->is_read;
}

/* ---- Forward ---- */

static void push_beginning(const hw_run *run, const hw_block *block, const hw_input *input) {
  const size_t rows = hw_input_rows(input);
  float *x = hw_tape_push_floats(run, rows, block->d_model);
  state *begun = hw_tape_push(run, 1, sizeof(state));
  if (!hw_run_measures(run)) {
    memcpy(x, input->x, rows * block->d_model * sizeof(float));
    store(run, begun);
  }
}

static void run_block(hw_run *run, const hw_modules *blocks, size_t index, const hw_input *input, float *y) {
  hw_module *block = blocks->all[index];
  if (!hw_run_records(run) || !runs_again(blocks, index)) {
    hw_module_run(run, block, input, y);
    return;
  }
  push_beginning(run, (const hw_block *)block, input);
  const size_t mark = hw_tape_mark(run);
  hw_module_run(run, block, input, y);
  run->tape.recomputed_bytes = hw_max(run->tape.recomputed_bytes, hw_tape_mark(run) - mark);
  run->tape.kept->used = mark;
}

void hw_blocks_run(hw_run *run, const hw_modules *blocks, const hw_input *input, float *y) {
  const bool narrow = run->only_asked;
  const size_t first = run->options->start_layer;
  const size_t count = hw_size_multiply(hw_input_rows(input), ((const hw_block *)blocks->all[0])->d_model);
  float *residuals = hw_run_measures(run) ? NULL : run->options->residuals;
  hw_input each = *input;
  run->layer = first;
  run->only_asked = false;
  for (size_t i = first; i <= blocks->count; i++) {
    if (residuals != NULL) {
      memcpy(residuals + (i - first) * count, each.x, count * sizeof(float));
    }
    if (i < blocks->count) {
      run->only_asked = narrow && i == blocks->count - 1;
      run_block(run, blocks, i, &each, y);
      each.x = y;
    }
  }
}

/* ---- Backward ---- */

/* Leaves on the tape what the block keeps. Returns how far the tape reaches below the block's beginning. */
static size_t run_again(hw_run *run, const hw_block *block, const hw_input *input) {
  const size_t mark = run->arena->used;
  const size_t rows = hw_input_rows(input);
  float *y = hw_run_take_floats(run, rows, block->d_model);
  const state *begun = hw_tape_pop(run, 1, sizeof(state));
  state now;
  hw_input in = *input;
  in.x = hw_tape_pop_floats(run, rows, block->d_model);
  const size_t below = run->tape.kept->used;
  run->tape.kept->used = run->tape.recomputed_start;
  run->layer -= block->base.layers;
  store(run, &now);
  restore(run, begun);
  hw_module_run(run, &block->base, &in, y);
  restore(run, &now);
  run->arena->used = mark;
  return below;
}

void hw_blocks_run_backward(hw_run *run, const hw_modules *blocks, const hw_input *input, const float *dy, float *dx) {
  for (size_t i = blocks->count; i > 0; i--) {
    hw_module *block = blocks->all[i - 1];
    const bool again = runs_again(blocks, i - 1);
    const size_t below = again ? run_again(run, (const hw_block *)block, input) : 0;
    hw_module_run_backward(run, block, input, i == blocks->count ? dy : dx, dx);
    if (again) {
      run->tape.kept->used = below;
    }
  }
}
