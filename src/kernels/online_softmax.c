#include "kernels/online_softmax.h"

#include <math.h>

#include "kernels/exp2.h"
#include "kernels/softmax.h"

float hw_raise_maximum(const hw_attention_head *head, size_t row, float block_maximum) {
  float *maximum = head->row_maximum + row;
  float *sum = head->row_sum + row;
  float factor = 1.0F;
  if (block_maximum > *maximum) {
    if (*sum != 0.0F) {
      factor = hw_exp2_scalar(*maximum - block_maximum);
      *sum *= factor;
    }
    *maximum = block_maximum;
  }
  return factor;
}

static void apply_keep(const hw_keep *keep, size_t row, size_t key_start, float *weights, size_t count) {
  if (keep->bits == NULL) {
    return;
  }
  const uint32_t *bits = keep->bits + row * keep->words_per_row;
  for (size_t j = 0; j < count; j++) {
    const size_t key = key_start + j;
    const bool kept = (bits[key / 32] >> (key % 32) & 1u) != 0;
    weights[j] = kept ? weights[j] * keep->scale : 0.0F;
  }
}

/* What scores are shifted by. While nothing but -inf (or NaN) was seen it is 0, so that -inf gives 0 and NaN stays. */
static float shift_of(float maximum) { return maximum == -INFINITY ? 0.0F : maximum; }

float hw_weigh_scores(const hw_attention_head *head, size_t row, size_t key, float *scores, size_t scored,
                      size_t count) {
  const float sum = hw_row_exp2_shifted(scores, scored, shift_of(head->row_maximum[row]));
  apply_keep(&head->keep, row, key, scores, count);
  return sum;
}
