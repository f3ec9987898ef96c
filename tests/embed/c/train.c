/*
 * Trains a decoder of two layers of attention on sequences that repeat, by the C API: after some hundred steps a head of the first
 * layer looks at the previous token, and heads of the second at what came after the same token before (Olsson et al. 2022, "In-context
 * Learning and Induction Heads").
 *
 *   train [steps]
 */
#include <headwise.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, D_MODEL = 32, HEADS = 2, VOCAB = 32, TOKENS = 32, BATCH = 32, SHORTEST = 4, LONGEST = TOKENS / 2 };
enum { IGNORED = -100, WARM_UP = 50, REPORT = 100, MOST_FLOATS = VOCAB * 3 * D_MODEL };

typedef struct training {
  hw_context *context;
  hw_module *decoder;
  hw_optimizer *optimizer;
  uint32_t ids[BATCH * TOKENS];
  int32_t targets[BATCH * TOKENS];
} training;

static int fail(const char *what, hw_status status) {
  fprintf(stderr, "%s: %s\n", what, hw_status_text(status));
  return 1;
}

/* ---- Weights ---- */

/* Sinusoids of amplitude 1/2. */
static void draw_positions(float *values) {
  for (int t = 0; t < TOKENS; t++) {
    for (int i = 0; i < D_MODEL / 2; i++) {
      const double angle = 2.0 * t * pow(1000.0, -2.0 * i / D_MODEL);
      values[t * D_MODEL + i] = (float)(0.5 * sin(angle));
      values[t * D_MODEL + D_MODEL / 2 + i] = (float)(0.5 * cos(angle));
    }
  }
}

/* Normals with a deviation that suits the parameter; a decoder starts as zeros. */
static hw_status draw(training *t, size_t index, const hw_parameter_info *info) {
  static float values[MOST_FLOATS];
  const size_t count = info->shape[0] * info->shape[1];
  const double deviation = strcmp(info->name, "wte.weight") == 0         ? 0.125
                           : strstr(info->name, "c_proj.weight") != NULL ? 1.0 / sqrt(2.0 * LAYERS * D_MODEL)
                                                                         : 1.0 / sqrt(D_MODEL);
  hw_randn(t->context, values, count);
  for (size_t i = 0; i < count; i++) {
    values[i] *= (float)deviation;
  }
  if (strcmp(info->name, "wpe.weight") == 0) {
    draw_positions(values);
  }
  return hw_module_load(t->decoder, index, 0, info->shape[0], values);
}

static hw_status draw_all(training *t) {
  for (size_t i = 0; i < hw_module_parameter_count(t->decoder); i++) {
    hw_parameter_info info;
    hw_status status = hw_module_parameter(t->decoder, i, &info);
    if (status == HW_OK && info.rank == 2) {
      status = draw(t, i, &info);
    }
    if (status != HW_OK) {
      return status;
    }
  }
  return HW_OK;
}

/* ---- Data ---- */

static uint32_t below(training *t, uint32_t limit) {
  float uniform;
  hw_rand(t->context, &uniform, 1);
  return (uint32_t)(uniform * (float)limit);
}

/* Rows of random ids that come again after a period. The next id is asked for where it can be known. */
static void make_batch(training *t) {
  for (int row = 0; row < BATCH; row++) {
    uint32_t *ids = t->ids + row * TOKENS;
    const int period = SHORTEST + (int)below(t, LONGEST - SHORTEST + 1);
    for (int i = 0; i < TOKENS; i++) {
      ids[i] = i < period ? below(t, VOCAB) : ids[i - period];
      t->targets[row * TOKENS + i] = i < period ? IGNORED : (int32_t)ids[i + 1 - period];
    }
  }
}

/* ---- Steps ---- */

static hw_status step(training *t, int number, float *loss) {
  const hw_loss_input input = {t->ids, t->targets, BATCH, TOKENS, IGNORED, NULL, NULL, NULL};
  const hw_adamw_config adamw = {
      .lr = 3e-3 * fmin(1.0, (number + 1.0) / WARM_UP), .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-8, .weight_decay = 0.01};
  hw_graph *graph;
  double norm;
  make_batch(t);
  hw_status status = hw_model_loss(t->context, t->decoder, &input, loss, &graph);
  if (status != HW_OK) {
    return status;
  }
  status = hw_model_loss_backward(t->context, t->decoder, graph, 1.0F);
  hw_graph_destroy(graph);
  if (status == HW_OK) {
    status = hw_clip_grad_norm(t->context, t->decoder, 1.0, &norm);
  }
  if (status == HW_OK) {
    status = hw_adamw_step(t->context, t->optimizer, &adamw, NULL, 0);
  }
  for (size_t i = 0; i < hw_module_parameter_count(t->decoder); i++) {
    hw_module_clear_gradient(t->decoder, i);
  }
  return status;
}

/* 1 unless the loss falls. */
static int train(training *t, int steps) {
  float first = 0.0F;
  float loss = 0.0F;
  for (int number = 0; number < steps; number++) {
    const hw_status status = step(t, number, &loss);
    if (status != HW_OK) {
      return fail("step", status);
    }
    first = number == 0 ? loss : first;
    if (number % REPORT == 0 || number + 1 == steps) {
      printf("step %4d: loss %.3f\n", number, (double)loss);
    }
  }
  return loss < first ? 0 : 1;
}

static hw_status make(training *t) {
  const hw_decoder_config config = {
      .model =
          {
              .is_bare = true,
              .vocab_size = VOCAB,
              .context_length = TOKENS,
              .d_model = D_MODEL,
              .num_layers = LAYERS,
              .num_heads = HEADS,
              .num_key_value_heads = HEADS,
              .head_dim = D_MODEL / HEADS,
              .d_ff = 0, /* attention only */
              .eps = HW_LAYER_NORM_EPS,
              .qkv_bias = true,
              .out_bias = true,
              .embedding_scale = 1.0,
              .positions = TOKENS,
          },
      .ties_head = true,
  };
  hw_status status = hw_context_create(&t->context);
  if (status == HW_OK) {
    hw_manual_seed(t->context, 2);
    status = hw_decoder_create(&config, &t->decoder);
  }
  if (status == HW_OK) {
    status = draw_all(t);
  }
  return status == HW_OK ? hw_optimizer_create(t->decoder, &t->optimizer) : status;
}

int main(int count, char **arguments) {
  static training t;
  const int steps = count > 1 ? atoi(arguments[1]) : 1000;
  const hw_status status = make(&t);
  const int result = status == HW_OK ? train(&t, steps) : fail("model", status);
  hw_optimizer_destroy(t.optimizer);
  hw_module_destroy(t.decoder);
  hw_context_destroy(t.context);
  return result;
}
