/*
 * What JavaScript may call. Every argument is checked here or in the function that is called; nothing traps.
 *
 * One context per module instance. Pointers are addresses in the module's memory; a created object's address is left in the
 * result slot. Functions that can fail return an hw_status. Structs that JavaScript fills lie in staging memory; their
 * offsets, and the functions' names and types, are written into web/headwise/engine/abi.js by npm run build, from here.
 */
#ifndef HW_EXPORTS_H
#define HW_EXPORTS_H

#include "headwise.h"

/* The prototype and the head of a function that JavaScript calls by `name`. */
#ifdef __wasm__
#define HW_EXPORT(type, name, parameters)                               \
  __attribute__((export_name(#name))) type hw_export_##name parameters; \
  type hw_export_##name parameters
#else
#define HW_EXPORT(type, name, parameters) \
  type hw_export_##name parameters;       \
  type hw_export_##name parameters
#endif

/* The module instance's context; NULL before engine_start. */
hw_context *hw_export_context(void);

/* Where a created object's address is left. */
void **hw_export_result_slot(void);

/* What JavaScript can create. */
typedef enum hw_module_kind {
  HW_MODULE_LINEAR,
  HW_MODULE_LAYER_NORM,
  HW_MODULE_EMBEDDING,
  HW_MODULE_FEED_FORWARD,
  HW_MODULE_CAUSAL_ATTENTION,
  HW_MODULE_MULTI_HEAD_ATTENTION_WRAPPER,
  HW_MODULE_MULTI_HEAD_ATTENTION,
  HW_MODULE_TRANSFORMER_BLOCK,
  HW_MODULE_TRANSFORMER_STACK,
  HW_MODULE_DECODER,
  HW_MODULE_ENCODER,
  HW_MODULE_KINDS,
} hw_module_kind;

/* Rank-4 tensors, head-major and contiguous, as PyTorch's function takes them. */
typedef struct hw_attention_arguments {
  uint32_t batch;
  uint32_t heads;
  uint32_t key_heads;
  uint32_t query_tokens;
  uint32_t key_tokens;
  uint32_t key_width;
  uint32_t value_width;
  const float *query;
  const float *key;
  const float *value;
  float *output;
  float *weights;
  const uint32_t *key_lengths;
  float scale;
  float softcap;
  hw_weights_kind weights_kind;
  bool is_causal;
  bool offset_from_end;
  int32_t causal_offset;
  int32_t window_left; /* negative: unlimited */
  int32_t window_right;
  hw_mask mask;
  double dropout;
  float *row_maximum; /* as hw_attention's */
  float *row_sum;
  uint32_t *kept;
} hw_attention_arguments;

/* Gradients in the layouts of the operands; NULL: not wanted. */
typedef struct hw_attention_gradient_arguments {
  const float *output;
  float *query;
  float *key;
  float *value;
  float *mask;
  const float *weights; /* given; NULL: none */
} hw_attention_gradient_arguments;

hw_attention hw_export_attention(const hw_attention_arguments *arguments);

#endif
