/* The fused module of "Build a Large Language Model (From Scratch)", chapter 3, by the C API: prints what the book's
 * PyTorch prints for torch.manual_seed(123). */
#include <headwise.h>
#include <math.h>
#include <stdio.h>

enum { TOKENS = 6, D_IN = 3, D_OUT = 2 };

static const float inputs[TOKENS][D_IN] = {
    {0.43F, 0.15F, 0.89F}, {0.55F, 0.87F, 0.66F}, {0.57F, 0.85F, 0.64F},
    {0.22F, 0.58F, 0.33F}, {0.77F, 0.25F, 0.10F}, {0.05F, 0.80F, 0.55F},
};

static const float expected[TOKENS][D_OUT] = {{0.3190F, 0.4858F}, {0.2943F, 0.3897F}, {0.2856F, 0.3593F},
                                              {0.2693F, 0.3873F}, {0.2639F, 0.3928F}, {0.2575F, 0.4028F}};

static int fail(const char *what, hw_status status) {
  printf("%s: %s\n", what, hw_status_text(status));
  return 1;
}

static int attend(hw_context *context, hw_module *module) {
  float outputs[TOKENS][D_OUT];
  const hw_status status = hw_module_forward(
      context, module, &(hw_input){.x = &inputs[0][0], .batch = 1, .tokens = TOKENS}, &outputs[0][0], NULL);
  if (status != HW_OK) {
    return fail("forward", status);
  }
  int wrong = 0;
  for (int i = 0; i < TOKENS; i++) {
    printf("%7.4f %7.4f\n", (double)outputs[i][0], (double)outputs[i][1]);
    for (int j = 0; j < D_OUT; j++) {
      wrong |= !(fabsf(outputs[i][j] - expected[i][j]) < 5.1e-5F);
    }
  }
  return wrong;
}

int main(void) {
  hw_context *context;
  hw_status status = hw_context_create(&context);
  if (status != HW_OK) {
    return fail("context", status);
  }
  hw_manual_seed(context, 123);
  const hw_multi_head_attention_config config = {
      .d_in = D_IN,
      .d_out = D_OUT,
      .context_length = TOKENS,
      .num_heads = 2,
      .out_proj = true,
      .out_bias = true,
      .is_causal = true,
  };
  hw_module *module;
  status = hw_multi_head_attention_create(context, &config, &module);
  const int wrong = status == HW_OK ? attend(context, module) : fail("module", status);
  hw_module_destroy(module);
  hw_context_destroy(context);
  return wrong;
}
