#include "kernels/online_softmax.h"

#include "kernels/softmax.h"

static void apply_keep(const hw_kept *kept, size_t row, const hw_scored_keys *keys, float *weights) {
  for (size_t j = 0; j < keys->count; j++) {
    weights[j] = hw_is_kept(kept, row, keys->key + j) ? weights[j] * kept->scale : 0.0F;
  }
}

void hw_weigh_scores(const hw_attention_head *head, size_t row, size_t rows, const hw_scored_keys *keys, float *scores,
                     float *sums) {
  hw_rows_exp(scores, HW_STRIP_STRIDE, rows, keys->scored, head->row_maximum + row, sums);
  for (size_t r = 0; head->kept.bits != NULL && r < rows; r++) {
    apply_keep(&head->kept, row + r, keys, scores + r * HW_STRIP_STRIDE);
  }
}
