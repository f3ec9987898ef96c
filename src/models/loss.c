/* The loss of a model, with its head in chunks of rows: no buffer of tokens by vocabulary. */
#include "models/decoder.h"
#include "models/encoder.h"
#include "models/models.h"
#include "modules/gradients.h"
#include "modules/graph.h"
#include "modules/layer_norm.h"
#include "ops/cross_entropy.h"

/* A loss under way. In a backward the input is what the graph has kept. */
typedef struct loss_call {
  hw_module *module;
  hw_predictor predictor;
  hw_graph *graph; /* NULL: nothing is recorded */
  const hw_loss_input *input;
  float scale; /* of a backward: what the loss's own gradient is */
  double *sum; /* of a forward, over targets that are not ignored */
} loss_call;

static size_t rows_of(const hw_loss_input *input) { return input->batch * input->tokens; }

static hw_input ids_of(const hw_loss_input *input) {
  return (hw_input){.ids = input->ids, .batch = input->batch, .tokens = input->tokens, .lengths = input->lengths};
}

static hw_forward_options options_of(const hw_loss_input *input) {
  return (hw_forward_options){.token_types = input->token_types, .position_ids = input->position_ids};
}

/* Bytes of the logits of a product's item. */
static size_t item_bytes(size_t vocab_size) { return hw_size_multiply(HW_GEMM_ROWS * sizeof(float), vocab_size); }

/* Rows of logits that are there at a time: whole items, as many as stay in the cache. */
static size_t rows_at_a_time(size_t vocab_size, size_t rows) {
  return hw_min(rows, hw_items_within(HW_LOGITS_BYTES, item_bytes(vocab_size)) * HW_GEMM_ROWS);
}

/* Whether a forward that records leaves the gradients of its logits to the backward, which else finds them again. */
static bool keeps_gradients(const loss_call *f) {
  const size_t vocab_size = hw_model_head(f->predictor.parts)->rows;
  return rows_of(f->input) <= HW_LOGITS_BYTES / item_bytes(vocab_size) * HW_GEMM_ROWS;
}

/* ---- Targets ---- */

/* How many tokens of a sequence count. */
static size_t length_of(const hw_loss_input *input, size_t batch) {
  return input->lengths == NULL ? input->tokens : input->lengths[batch];
}

/* As the caller gives them, or each id's is the next one of its row. What is padding has none. */
static void write_targets(const hw_loss_input *input, int32_t *targets) {
  for (size_t b = 0; b < input->batch; b++) {
    const size_t length = length_of(input, b);
    for (size_t t = 0; t < input->tokens; t++) {
      const size_t i = b * input->tokens + t;
      const bool is_given = input->targets != NULL;
      targets[i] = t + (is_given ? 0 : 1) >= length ? input->ignore_index
                   : is_given                       ? input->targets[i]
                                                    : (int32_t)input->ids[i + 1];
    }
  }
}

/* Whether each target that counts is a class. */
static bool targets_fit(const hw_loss_input *input, size_t classes) {
  for (size_t b = 0; input->targets != NULL && b < input->batch; b++) {
    for (size_t t = 0; t < length_of(input, b); t++) {
      if (!hw_target_fits(input->targets[b * input->tokens + t], input->ignore_index, classes)) {
        return false;
      }
    }
  }
  return true;
}

static size_t count_targets(const loss_call *f, const int32_t *targets) {
  size_t count = 0;
  for (size_t i = 0; i < rows_of(f->input); i++) {
    count += targets[i] == f->input->ignore_index ? 0 : 1;
  }
  return count;
}

/* ---- Rows ---- */

/* What is wanted of rows. */
typedef struct rows_wanted {
  const int32_t *targets;
  float *losses;     /* NULL: not wanted */
  bool has_gradient; /* whether it is wanted: while the run is measured its address is NULL */
  float *gradient;   /* of the logits */
  float scale;       /* of the gradient */
} rows_wanted;

/* Of rows of x, which are normed. */
static void predict_rows(hw_run *run, const loss_call *f, const hw_rows *x, const rows_wanted *wanted) {
  const size_t mark = run->arena->used;
  const hw_predictor *p = &f->predictor;
  const size_t vocab_size = hw_model_head(p->parts)->rows;
  const bool in_place = wanted->has_gradient && p->softcap == 0.0F;
  float *logits = in_place ? wanted->gradient : hw_run_take_floats(run, x->count, vocab_size);
  hw_predict(run, p, x, logits);
  const hw_cross_entropy_call call = {
      .logits = logits,
      .targets = wanted->targets,
      .rows = x->count,
      .classes = vocab_size,
      .ignore_index = f->input->ignore_index,
      .losses = wanted->losses,
      .gradient = wanted->gradient,
      .scale = wanted->scale,
  };
  hw_cross_entropy_forward(run, &call);
  if (wanted->has_gradient) {
    hw_predict_uncap(run, p, logits, wanted->gradient, wanted->gradient, x->count * vocab_size);
  }
  run->arena->used = mark;
}

/* Of the gradient of a mean over `count` targets. 0: there is none. */
static float share_of(size_t count) { return count == 0 ? 0.0F : (float)(1.0 / (double)count); }

/* ---- Forward ---- */

/* The sum of the losses of x's rows, which are normed; `count` targets are not ignored. */
static double sum_losses(hw_run *run, const loss_call *f, const float *x, const int32_t *targets, size_t count) {
  const size_t mark = run->arena->used;
  const hw_matrix *head = hw_model_head(f->predictor.parts);
  const size_t rows = rows_of(f->input);
  const size_t step = rows_at_a_time(head->rows, rows);
  const bool keeps = f->graph != NULL && keeps_gradients(f);
  float *gradient = keeps ? hw_tape_push_floats(run, step, head->rows) : NULL;
  float *losses = hw_run_take_floats(run, step, 1);
  double sum = 0.0;
  for (size_t row = 0; row < (hw_run_measures(run) ? step : rows); row += step) {
    const size_t some = hw_min(rows - row, step);
    const hw_rows part = {hw_const_floats_from(x, row * head->columns), head->columns, some};
    const rows_wanted wanted = {targets == NULL ? NULL : targets + row, losses, keeps, gradient, share_of(count)};
    predict_rows(run, f, &part, &wanted);
    for (size_t i = 0; !hw_run_measures(run) && i < some; i++) {
      sum += (double)losses[i];
    }
  }
  run->arena->used = mark;
  return sum;
}

static int32_t *take_targets(const hw_run *run, const loss_call *f) {
  const size_t rows = rows_of(f->input);
  const bool records = hw_run_records(run);
  int32_t *targets =
      records ? hw_tape_push(run, rows, sizeof(int32_t)) : hw_arena_take(run->arena, rows, sizeof(int32_t));
  if (!hw_run_measures(run)) {
    write_targets(f->input, targets);
  }
  return targets;
}

/* The caller's arrays, which may change until the backward. */
static void keep_input(const hw_run *run, const loss_call *f) {
  const hw_loss_input *input = f->input;
  hw_loss_input *kept = &f->graph->loss;
  const size_t lengths = input->lengths == NULL ? 0 : input->batch;
  hw_graph_keep_options(run, f->graph);
  hw_graph_keep(run, input->ids, rows_of(input) * sizeof(uint32_t), (const void **)&kept->ids);
  hw_graph_keep(run, input->lengths, lengths * sizeof(uint32_t), (const void **)&kept->lengths);
}

static void forward(hw_run *run, const void *call) {
  const loss_call *f = call;
  const hw_predictor *p = &f->predictor;
  const hw_input input = ids_of(f->input);
  const size_t rows = rows_of(f->input);
  if (f->graph != NULL) {
    keep_input(run, f);
  }
  int32_t *targets = take_targets(run, f);
  if (f->graph != NULL) {
    f->graph->loss.targets = targets;
  }
  float *x = hw_run_take_floats(run, rows, hw_model_head(p->parts)->columns);
  p->run(run, f->module, &input, x);
  hw_layer_norm_push(run, p->norm, x, rows, x);
  const size_t count = hw_run_measures(run) ? 0 : count_targets(f, targets);
  *f->sum = sum_losses(run, f, x, targets, count) / (double)count;
}

/* ---- Backward ---- */

/* d [rows, d_model], the gradient of x, whose rows are normed, and the head's, from the logits' gradients: those that the
 * forward has kept, or those of some rows at a time. */
static void head_backward(hw_run *run, const loss_call *f, const float *kept, const float *x, float *d) {
  const size_t mark = run->arena->used;
  const hw_predictor *p = &f->predictor;
  const hw_matrix transposed = hw_matrix_transpose(run, hw_model_head(p->parts));
  const size_t d_model = transposed.rows;
  const size_t vocab_size = transposed.columns;
  const size_t rows = rows_of(f->input);
  const size_t step = rows_at_a_time(vocab_size, rows);
  const int32_t *targets = f->input->targets;
  const float scale = f->scale * share_of(count_targets(f, targets));
  float *d_logits = hw_run_take_floats(run, step, vocab_size);
  for (size_t row = 0; row < (hw_run_measures(run) ? step : rows); row += step) {
    const hw_rows part = {hw_const_floats_from(x, row * d_model), d_model, hw_min(rows - row, step)};
    const hw_rows d_part = {d_logits, vocab_size, part.count};
    if (keeps_gradients(f)) {
      /* All rows are one part. */
      hw_predict_scale(run, kept, f->scale, d_logits, rows * vocab_size);
    } else {
      predict_rows(run, f, &part, &(rows_wanted){targets + row, NULL, true, d_logits, scale});
    }
    hw_matrix_multiply(run, &transposed, &d_part, NULL, hw_floats_from(d, row * d_model));
    hw_predict_gradients(run, p, &part, &d_part);
  }
  run->arena->used = mark;
}

static void backward(hw_run *run, const void *call) {
  const loss_call *f = call;
  const hw_predictor *p = &f->predictor;
  const hw_input input = ids_of(f->input);
  const size_t rows = rows_of(f->input);
  const hw_matrix *head = hw_model_head(p->parts);
  const size_t d_model = head->columns;
  const float *kept = keeps_gradients(f) ? hw_tape_pop_floats(run, rows, head->rows) : NULL;
  const hw_normalized normalized = hw_layer_norm_pop(run, p->norm, rows);
  run->layer = f->module->layers;
  float *x = hw_run_take_floats(run, rows, d_model);
  float *d = hw_run_take_floats(run, rows, d_model);
  hw_layer_norm_restore(run, p->norm, &normalized, rows, x);
  head_backward(run, f, kept, x, d);
  hw_layer_norm_pull(run, p->norm, &normalized, d, rows, false, d);
  p->run_backward(run, f->module, &input, d);
  /* The input lies at the bottom. */
  run->tape.kept->used = 0;
}

/* ---- Calls ---- */

/* False: the module is no model that predicts tokens. */
static bool find_predictor(const hw_module *module, hw_predictor *predictor) {
  if (module == NULL || module->type != &hw_decoder_type) {
    return module != NULL && hw_encoder_predictor(module, predictor);
  }
  *predictor = hw_decoder_predictor((const hw_decoder *)module);
  return true;
}

static hw_status check(const hw_module *module, const hw_loss_input *input, float *loss, hw_predictor *predictor) {
  if (input == NULL || loss == NULL || !find_predictor(module, predictor)) {
    return HW_ERROR_VALUE;
  }
  const hw_input ids = ids_of(input);
  const hw_forward_options options = options_of(input);
  HW_TRY(hw_module_check(module, &ids, loss, &options));
  const bool has_targets = input->targets != NULL || !predictor->needs_targets;
  return has_targets && targets_fit(input, hw_model_head(predictor->parts)->rows) ? HW_OK : HW_ERROR_VALUE;
}

static hw_status record(hw_context *context, loss_call *call, hw_graph **graph) {
  HW_TRY(hw_graph_create(call->module, graph));
  call->graph = *graph;
  call->graph->is_loss = true;
  call->graph->loss = *call->input;
  call->graph->shape = ids_of(call->input);
  const hw_forward_options options = options_of(call->input);
  hw_graph_set_options(call->graph, &options);
  const hw_status status = hw_run_recorded(context, &options, &call->graph->kept, forward, call);
  if (status != HW_OK) {
    hw_graph_destroy(call->graph);
    *graph = NULL;
  }
  return status;
}

hw_status hw_model_loss(hw_context *context, hw_module *model, const hw_loss_input *input, float *loss,
                        hw_graph **graph) {
  double mean = 0.0;
  if (graph != NULL) {
    *graph = NULL;
  }
  loss_call call = {.module = model, .input = input, .sum = &mean};
  HW_TRY(check(model, input, loss, &call.predictor));
  if (graph == NULL) {
    const hw_forward_options options = options_of(input);
    HW_TRY(hw_run_forward(context, &options, NULL, forward, &call));
  } else {
    HW_TRY(record(context, &call, graph));
  }
  *loss = (float)mean;
  return HW_OK;
}

hw_status hw_model_loss_backward(hw_context *context, hw_module *model, const hw_graph *graph, float scale) {
  if (!hw_graph_is_current(graph, model) || !graph->is_loss) {
    return HW_ERROR_VALUE;
  }
  HW_TRY(hw_gradients_prepare(model, NULL));
  loss_call call = {.module = model, .input = &graph->loss, .scale = scale};
  find_predictor(model, &call.predictor);
  hw_arena kept = graph->kept;
  HW_TRY(hw_run_backward(context, &graph->options, &kept, backward, &call));
  hw_gradients_finish(model, NULL);
  return HW_OK;
}
