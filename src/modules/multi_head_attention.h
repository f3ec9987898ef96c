/* Attention of models: hw_multi_head_attention with more settings. */
#ifndef HW_MODULES_MULTI_HEAD_ATTENTION_H
#define HW_MODULES_MULTI_HEAD_ATTENTION_H

#include "modules/layer_norm.h"

/* hw_multi_head_attention's config, and what attention of models has besides; all zeros of it: hw_multi_head_attention. */
typedef struct hw_model_attention_config {
  hw_multi_head_attention_config base; /* d_out is num_heads · head_dim */
  size_t out_features;                 /* of out_proj; 0: d_out */
  size_t key_heads;                    /* divides num_heads; 0: num_heads */
  bool is_interleaved;                 /* rows of the packed qkv_proj are [num_heads][q, k, v][head_dim] */
  bool qk_norm;                        /* q_norm and k_norm, of each head */
  hw_norm_config norm;                 /* of these, but for their width */
  size_t rotary;                       /* 1 + its number among the run's angles; 0: none */
  size_t window;                       /* tokens that a token sees, itself the last of them; 0: all */
  double scale;                        /* 0: 1/√head_dim */
  double softcap;                      /* 0: none */
  hw_matrix_type dtype;
  bool by_hand; /* as in hw_causal_attention_config */
} hw_model_attention_config;

extern const hw_module_type hw_model_attention_type;

/* What is made of a token. */
enum { HW_QUERY, HW_KEY, HW_VALUE, HW_PROJECTIONS };

/* A head, as what explains models reads it. */
typedef struct hw_head_parts {
  const hw_linear *qkv_proj;
  hw_matrix_part rows[HW_PROJECTIONS]; /* of qkv_proj: what makes the head's queries, keys and values */
  hw_matrix_part columns;              /* of out_proj: what reads its output */
  const hw_module *norms[HW_VALUE];    /* of queries and keys; NULL: none */
  size_t rotary;                       /* as in the config */
  double scale;
} hw_head_parts;

hw_head_parts hw_attention_head_parts(const hw_module *module, size_t head);

#endif
