/* What a head writes for each token that it looks at: the OV circuit W_E·W_V·W_O·W_U, by its eigenvalues. */
#include <math.h>
#include <string.h>

#include "kernels/eigenvalues.h"
#include "models/decoder.h"
#include "models/models.h"

/* Tokens that are projected at a time, and added up in single precision. */
enum { TOKENS = 256 };

typedef struct head_circuit {
  const hw_decoder *decoder;
  size_t layer;
  size_t head;
  double *copying;
  double *eigenvalues;
} head_circuit;

/* The head's W_V [head_dim, d_model] and W_O [head_dim, d_model]. */
typedef struct projections {
  hw_matrix value;
  hw_matrix out;
} projections;

static projections take_projections(const hw_run *run, const head_circuit *c) {
  const hw_head_parts head = hw_decoder_head_parts(c->decoder, c->layer, c->head);
  const hw_matrix value = hw_matrix_copy(run, &head.qkv_proj->weight, &head.rows[HW_VALUE]);
  const hw_matrix part =
      hw_matrix_copy(run, &hw_modules_out_proj(&c->decoder->parts.blocks, c->layer)->weight, &head.columns);
  return (projections){value, hw_matrix_transpose(run, &part)};
}

/* Rows of a matrix of the vocabulary, projected: y [count, head_dim]. */
static void project(const hw_run *run, const hw_matrix *vocabulary, size_t first, size_t count,
                    const hw_matrix *projection, float *rows, float *y) {
  const size_t columns = vocabulary->columns;
  for (size_t i = 0; !hw_run_measures(run) && i < count; i++) {
    hw_matrix_row(vocabulary, first + i, false, rows + i * columns);
  }
  hw_matrix_multiply(run, projection, &(hw_rows){rows, columns, count}, NULL, y);
}

static void add_sums(const hw_run *run, hw_matrix *sums, double *circuit) {
  for (size_t i = 0; !hw_run_measures(run) && i < sums->rows * sums->columns; i++) {
    const hw_matrix_part one = {i / sums->columns, 1, i % sums->columns, 1};
    float sum = 0.0F;
    hw_matrix_store(sums, &one, &sum, 1, 1);
    circuit[i] += (double)sum;
  }
}

/* circuit [head_dim, head_dim] = W_O·W_U·W_E·W_V, summed over the vocabulary: it has the eigenvalues other than 0 of the large
 * product [vocab_size, vocab_size]. */
static void add_up(hw_run *run, const head_circuit *c, double *circuit) {
  const hw_model_config *model = &c->decoder->config.model;
  const size_t width = model->head_dim;
  const projections p = take_projections(run, c);
  const size_t panels = hw_matrix_bytes(HW_MATRIX_FLOAT32, width, width);
  float *rows = hw_run_take_floats(run, TOKENS, model->d_model);
  float *read = hw_run_take_floats(run, TOKENS, width);
  float *written = hw_run_take_floats(run, TOKENS, width);
  hw_matrix sums = hw_matrix_of_floats(width, width, hw_arena_take(run->arena, panels, 1));
  for (size_t first = 0; first < model->vocab_size; first += TOKENS) {
    const size_t count = hw_min(model->vocab_size - first, TOKENS);
    project(run, &c->decoder->parts.embedding, first, count, &p.value, rows, read);
    project(run, hw_model_head(&c->decoder->parts), first, count, &p.out, rows, written);
    if (!hw_run_measures(run)) {
      memset(sums.panels, 0, panels);
    }
    hw_matrix_add_gradient(run, &sums, &(hw_rows){read, width, count}, &(hw_rows){written, width, count}, NULL);
    add_sums(run, &sums, circuit);
  }
}

static void forward(hw_run *run, const void *call) {
  const head_circuit *c = call;
  const size_t width = c->decoder->config.model.head_dim;
  const size_t count = hw_size_multiply(width, width);
  double *circuit = hw_arena_take(run->arena, count, sizeof(double));
  if (!hw_run_measures(run)) {
    memset(circuit, 0, count * sizeof(double));
  }
  add_up(run, c, circuit);
  if (hw_run_measures(run)) {
    return;
  }
  hw_eigenvalues(circuit, width, c->eigenvalues);
  double sum = 0.0;
  double sizes = 0.0;
  for (size_t i = 0; i < width; i++) {
    const double re = c->eigenvalues[2 * i];
    const double im = c->eigenvalues[2 * i + 1];
    sum += re;
    sizes += sqrt(re * re + im * im);
  }
  *c->copying = sizes == 0.0 ? 0.0 : sum / sizes;
}

hw_status hw_decoder_head_circuit(hw_context *context, const hw_module *decoder, size_t layer, size_t head,
                                  double *copying, double *eigenvalues) {
  if (decoder == NULL || decoder->type != &hw_decoder_type || layer >= decoder->layers || head >= decoder->heads ||
      copying == NULL || eigenvalues == NULL) {
    return HW_ERROR_VALUE;
  }
  const head_circuit circuit = {(const hw_decoder *)decoder, layer, head, copying, eigenvalues};
  return hw_run_forward(context, NULL, NULL, forward, &circuit);
}
