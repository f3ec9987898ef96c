/* A decoder's loss, with its head in chunks of rows: no buffer of tokens by vocabulary. */
#include <string.h>

#include "models/decoder.h"
#include "models/models.h"
#include "modules/gradients.h"
#include "modules/graph.h"
#include "modules/layer_norm.h"
#include "ops/cross_entropy.h"

/* A loss under way. ids and targets are the caller's, or those that the tape has kept. */
typedef struct loss_call {
  hw_decoder *decoder;
  hw_graph *graph; /* NULL: nothing is recorded */
  const hw_loss_input *input;
  float scale; /* of a backward: what the loss's own gradient is */
  double *sum; /* of a forward, over targets that are not ignored */
} loss_call;

static hw_input ids_of(const hw_loss_input *input) {
  return (hw_input){.ids = input->ids, .batch = input->batch, .tokens = input->tokens};
}

/* Rows of logits that are there at a time: whole items of a product. */
static size_t rows_at_a_time(size_t vocab_size, size_t rows) {
  const size_t items = HW_LOGITS_BYTES / hw_size_multiply(HW_GEMM_ROWS * sizeof(float), vocab_size);
  return hw_min(rows, (items > 0 ? items : 1) * HW_GEMM_ROWS);
}

/* ---- Targets ---- */

/* As the caller gives them, or each id's is the next one of its row. */
static void write_targets(const hw_loss_input *input, int32_t *targets) {
  for (size_t i = 0; i < input->batch * input->tokens; i++) {
    const bool is_last = i % input->tokens + 1 == input->tokens;
    targets[i] = input->targets != NULL ? input->targets[i]
                 : is_last              ? input->ignore_index
                                        : (int32_t)input->ids[i + 1];
  }
}

static size_t count_targets(const int32_t *targets, size_t rows, int32_t ignore_index) {
  size_t count = 0;
  for (size_t i = 0; i < rows; i++) {
    count += targets[i] == ignore_index ? 0 : 1;
  }
  return count;
}

/* ---- Forward ---- */

/* The sum of the losses of x's rows, which are normed. */
static double sum_losses(hw_run *run, const loss_call *f, const float *x, const int32_t *targets) {
  const size_t mark = run->arena->used;
  const hw_decoder *m = f->decoder;
  const size_t d_model = m->config.model.d_model;
  const size_t vocab_size = m->config.model.vocab_size;
  const size_t rows = f->input->batch * f->input->tokens;
  const size_t step = rows_at_a_time(vocab_size, rows);
  float *logits = hw_run_take_floats(run, step, vocab_size);
  float *losses = hw_run_take_floats(run, step, 1);
  double sum = 0.0;
  for (size_t row = 0; row < (hw_run_measures(run) ? step : rows); row += step) {
    const size_t some = hw_min(rows - row, step);
    const hw_rows part = {hw_const_floats_from(x, row * d_model), d_model, some};
    hw_decoder_predict(run, m, &part, logits);
    const hw_cross_entropy_call call = {
        .logits = logits,
        .targets = targets == NULL ? NULL : targets + row,
        .rows = some,
        .classes = vocab_size,
        .ignore_index = f->input->ignore_index,
        .losses = losses,
    };
    hw_cross_entropy_forward(run, &call);
    for (size_t i = 0; !hw_run_measures(run) && i < some; i++) {
      sum += (double)losses[i];
    }
  }
  run->arena->used = mark;
  return sum;
}

static int32_t *take_targets(const hw_run *run, const loss_call *f) {
  const size_t rows = f->input->batch * f->input->tokens;
  const bool records = hw_run_records(run);
  uint32_t *ids = records ? hw_tape_push(run, rows, sizeof(uint32_t)) : NULL;
  int32_t *targets =
      records ? hw_tape_push(run, rows, sizeof(int32_t)) : hw_arena_take(run->arena, rows, sizeof(int32_t));
  if (!hw_run_measures(run)) {
    write_targets(f->input, targets);
    if (records) {
      memcpy(ids, f->input->ids, rows * sizeof(uint32_t));
    }
  }
  return targets;
}

static void forward(hw_run *run, const void *call) {
  const loss_call *f = call;
  const hw_decoder *m = f->decoder;
  const hw_input input = ids_of(f->input);
  const size_t rows = input.batch * input.tokens;
  const int32_t *targets = take_targets(run, f);
  float *x = hw_run_take_floats(run, rows, m->config.model.d_model);
  hw_decoder_run_blocks(run, m, &input, x);
  hw_layer_norm_push(run, m->parts.norm, x, rows, x);
  const double sum = sum_losses(run, f, x, targets);
  if (!hw_run_measures(run)) {
    *f->sum = sum / (double)count_targets(targets, rows, f->input->ignore_index);
  }
}

/* ---- Backward ---- */

/* d [rows, d_model], the gradient of x, whose rows are normed: logits again, their gradient in their place if they are not capped, then the gradients of
 * x and of the head. */
static void head_backward(hw_run *run, const loss_call *f, const float *x, const int32_t *targets, size_t count,
                          float *d) {
  const size_t mark = run->arena->used;
  hw_decoder *m = f->decoder;
  const size_t d_model = m->config.model.d_model;
  const size_t vocab_size = m->config.model.vocab_size;
  const size_t rows = f->input->batch * f->input->tokens;
  const size_t step = rows_at_a_time(vocab_size, rows);
  hw_matrix gradient = hw_model_head_gradient(&m->parts);
  const hw_matrix transposed = hw_matrix_transpose(run, hw_model_head(&m->parts));
  float *logits = hw_run_take_floats(run, step, vocab_size);
  float *d_logits = m->config.logit_softcap == 0.0 ? logits : hw_run_take_floats(run, step, vocab_size);
  for (size_t row = 0; row < (hw_run_measures(run) ? step : rows); row += step) {
    const hw_rows part = {hw_const_floats_from(x, row * d_model), d_model, hw_min(rows - row, step)};
    const hw_rows d_part = {d_logits, vocab_size, part.count};
    hw_decoder_predict(run, m, &part, logits);
    const hw_cross_entropy_call call = {
        .logits = logits,
        .targets = targets + row,
        .rows = part.count,
        .classes = vocab_size,
        .ignore_index = f->input->ignore_index,
        .gradient = d_logits,
        .scale = count == 0 ? 0.0F : (float)((double)f->scale / (double)count),
    };
    hw_cross_entropy_forward(run, &call);
    hw_decoder_uncap(run, m, logits, d_logits, part.count * vocab_size);
    hw_matrix_multiply(run, &transposed, &d_part, NULL, hw_floats_from(d, row * d_model), d_model);
    hw_matrix_add_gradient(run, &gradient, &part, &d_part);
  }
  run->arena->used = mark;
}

static void backward(hw_run *run, const void *call) {
  const loss_call *f = call;
  hw_decoder *m = f->decoder;
  hw_arena *tape = run->tape.kept;
  const size_t d_model = m->config.model.d_model;
  const size_t rows = f->input->batch * f->input->tokens;
  const hw_normalized normalized = hw_layer_norm_pop(run, m->parts.norm, rows);
  const size_t blocks_end = tape->used;
  /* ids and targets lie at the bottom. */
  tape->used = hw_arena_size(rows, sizeof(uint32_t)) + hw_arena_size(rows, sizeof(int32_t));
  const int32_t *targets = hw_tape_pop(run, rows, sizeof(int32_t));
  hw_input input = ids_of(f->input);
  input.ids = hw_tape_pop(run, rows, sizeof(uint32_t));
  tape->used = blocks_end;
  run->layer = m->base.layers;
  float *x = hw_run_take_floats(run, rows, d_model);
  float *d = hw_run_take_floats(run, rows, d_model);
  hw_layer_norm_restore(run, m->parts.norm, &normalized, rows, x);
  head_backward(run, f, x, targets, count_targets(targets, rows, f->input->ignore_index), d);
  hw_layer_norm_pull(run, m->parts.norm, &normalized, d, rows, false, d);
  hw_decoder_run_blocks_backward(run, m, &input, d);
  tape->used = 0;
}

/* ---- Calls ---- */

static hw_status check(hw_module *module, const hw_loss_input *input, const float *loss) {
  if (module == NULL || module->type != &hw_decoder_type || input == NULL || loss == NULL) {
    return HW_ERROR_VALUE;
  }
  const hw_input ids = ids_of(input);
  HW_TRY(hw_module_check(module, &ids, NULL, &(hw_forward_options){0}));
  const size_t vocab_size = ((const hw_decoder *)module)->config.model.vocab_size;
  for (size_t i = 0; input->targets != NULL && i < input->batch * input->tokens; i++) {
    const int32_t target = input->targets[i];
    if (target != input->ignore_index && (target < 0 || (size_t)target >= vocab_size)) {
      return HW_ERROR_VALUE;
    }
  }
  return HW_OK;
}

hw_status hw_decoder_loss(hw_context *context, hw_module *decoder, const hw_loss_input *input, float *loss,
                          hw_graph **graph) {
  double mean = 0.0;
  if (graph != NULL) {
    *graph = NULL;
  }
  HW_TRY(check(decoder, input, loss));
  loss_call call = {.decoder = (hw_decoder *)decoder, .input = input, .sum = &mean};
  if (graph == NULL) {
    HW_TRY(hw_run_forward(context, NULL, NULL, forward, &call));
  } else {
    HW_TRY(hw_graph_create(decoder, &call.graph));
    call.graph->loss = *input;
    call.graph->loss.ids = NULL;
    call.graph->loss.targets = NULL;
    call.graph->is_loss = true;
    const hw_status status = hw_run_recorded(context, NULL, &call.graph->kept, forward, &call);
    if (status != HW_OK) {
      hw_graph_destroy(call.graph);
      return status;
    }
    *graph = call.graph;
  }
  *loss = (float)mean;
  return HW_OK;
}

hw_status hw_decoder_loss_backward(hw_context *context, hw_module *decoder, const hw_graph *graph, float scale) {
  if (!hw_graph_is_current(graph, decoder) || !graph->is_loss) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_gradients_prepare(decoder));
  hw_arena kept = graph->kept;
  const loss_call call = {.decoder = (hw_decoder *)decoder, .input = &graph->loss, .scale = scale};
  HW_TRY(hw_run_backward(context, NULL, &kept, backward, &call));
  hw_gradients_finish(decoder);
  return HW_OK;
}
