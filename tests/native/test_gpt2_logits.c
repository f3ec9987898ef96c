/* A batch's logits are one product with the vocabulary's matrix. CMakeLists.txt has the linker send the engine's calls of
 * hw_matmul_forward here, where they are counted. */
#include "ops/matmul.h"
#include "reference_gpt2.h"

enum { VOCAB = 29, BATCH = 8, TOKENS = 7, D_MODEL = 12 };

static size_t products; /* with the vocabulary's matrix */

void __real_hw_matmul_forward(const hw_run *run, const hw_gemm_product *product);
void __wrap_hw_matmul_forward(const hw_run *run, const hw_gemm_product *product);

void __wrap_hw_matmul_forward(const hw_run *run, const hw_gemm_product *product) {
  products += product->columns == VOCAB && !hw_run_measures(run) ? 1 : 0;
  __real_hw_matmul_forward(run, product);
}

static void forward(hw_context *context, hw_module *module, const hw_input *input, float *logits) {
  products = 0;
  CHECK_STATUS(hw_module_forward(context, module, input, logits, NULL), HW_OK);
  const size_t expected = input->logits_end > input->logits_start ? 1 : 0;
  CHECK(products == expected, "batch=%zu, logits of [%zu, %zu): %zu products, expected %zu", input->batch,
        input->logits_start, input->logits_end, products, expected);
}

/* Every range of tokens, of the batch and of each sequence alone. */
static void test_batch(void) {
  const hw_decoder_config config = gpt2_config(VOCAB, TOKENS, 1, D_MODEL, 2, 20);
  hw_module *module = reference_create_gpt2(&config);
  hw_context *context = NULL;
  CHECK(hw_context_create(&context) == HW_OK, "create");
  uint32_t ids[BATCH * TOKENS];
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    ids[i] = (uint32_t)(check_random() % VOCAB);
  }
  float together[BATCH * TOKENS * VOCAB];
  float alone[TOKENS * VOCAB];
  for (size_t range = 0; range < (size_t)(TOKENS + 1) * (TOKENS + 1); range++) {
    const size_t start = range % (TOKENS + 1);
    const size_t end = range / (TOKENS + 1);
    if (start > end) {
      continue;
    }
    const size_t floats = (end - start) * VOCAB;
    forward(context, module, &(hw_input){NULL, ids, BATCH, TOKENS, start, end, NULL, false}, together);
    for (size_t b = 0; b < BATCH; b++) {
      forward(context, module, &(hw_input){NULL, ids + b * TOKENS, 1, TOKENS, start, end, NULL, false}, alone);
      CHECK(memcmp(together + b * floats, alone, floats * sizeof(float)) == 0,
            "sequence %zu, logits of [%zu, %zu) differ in the batch", b, start, end);
    }
  }
  hw_context_destroy(context);
  hw_module_destroy(module);
}

int main(void) {
  check_seed(12);
  check_run("a batch's logits are one product, and to the bit those of its sequences alone", test_batch);
  return check_result();
}
