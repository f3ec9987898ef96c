/*
 * Headwise: multi-head attention, head by head.
 *
 * Restrictions that hold for every function:
 * - Numbers are 32-bit floats, matrices are row-major, sizes and strides count floats (not bytes).
 * - A context serves one thread at a time; two contexts are independent.
 * - Input and output must not overlap unless a function says so.
 * - Nothing aborts. A function that can fail returns an hw_status; after any failure the context and
 *   every module stay usable and keep their weights, and no output is half-owned.
 *
 * Names and semantics are PyTorch's (torch.nn.functional.scaled_dot_product_attention, torch.nn.Linear)
 * and those of "Build a Large Language Model (From Scratch)", chapter 3: CausalAttention,
 * MultiHeadAttentionWrapper, MultiHeadAttention.
 */
#ifndef HEADWISE_H
#define HEADWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------ */

/* The values are stable: they are part of the interface. */
typedef enum hw_status {
  HW_OK = 0,
  HW_ERROR_SHAPE = 1,  /* sizes that do not fit together, or a size of zero */
  HW_ERROR_VALUE = 2,  /* an argument outside its range, or NULL where data is needed */
  HW_ERROR_MEMORY = 3, /* an allocation failed, or a size does not fit the address space */
} hw_status;

/* A one-line English text for a status; static storage, never NULL. */
const char *hw_status_text(hw_status status);

/* ---- Context ----------------------------------------------------------------------------------- */

/* Scratch memory (grown before a run, never during it) and the random number generator. */
typedef struct hw_context hw_context;

/* Creates a context whose generator is seeded with torch's default seed. The caller owns *context and
 * ends it with hw_context_destroy. HW_ERROR_MEMORY leaves *context NULL. */
hw_status hw_context_create(hw_context **context);

/* Frees the context; NULL is allowed. Modules and traces do not belong to it and stay valid. */
void hw_context_destroy(hw_context *context);

/* Bytes of scratch that the context holds: what the largest run so far has needed, 0 after one failed for memory. */
size_t hw_context_scratch_bytes(const hw_context *context);

/* ---- Random numbers: the values of torch's CPU generator (x86 build without MKL) ---------------- */

/* torch.manual_seed(seed): also forgets the normal that a previous small randn cached. */
void hw_manual_seed(hw_context *context, uint64_t seed);

/* torch.rand: out [count], uniform in [0, 1), in row-major order. */
void hw_rand(hw_context *context, float *out, size_t count);

/* Tensor.uniform_(from, to): out [count]. */
void hw_uniform(hw_context *context, float from, float to, float *out, size_t count);

/* torch.randn: out [count]. Fewer than 16 values are drawn one by one in double precision, 16 and more
 * in blocks in single precision: as in torch, randn of 20 is not randn of 10 twice. */
void hw_randn(hw_context *context, float *out, size_t count);

/* ---- Functions --------------------------------------------------------------------------------- */

/* c[i] = a[a_index[i]] · b[b_index[i]] for i < batch, matrices a [m, k], b [k, n], c [m, n] stored one
 * after another. The indices are matrix numbers and so express broadcasting.
 * HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: no scratch for the packed b. */
hw_status hw_matmul(hw_context *context, const float *a, const float *b, float *c, size_t batch,
                    const uint32_t *a_index, const uint32_t *b_index, size_t m, size_t k, size_t n);

/* y[i] = transpose of x[i]: x [batch, rows, columns], y [batch, columns, rows], which must not overlap. A size of zero
 * writes nothing. */
void hw_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns);

/* Softmax over the last dimension, x and y [rows, columns]; y may be x. A row of -inf gives zeros; a row
 * with NaN or +inf is NaN, as in torch. A size of zero writes nothing. */
void hw_softmax(const float *x, float *y, size_t rows, size_t columns);

/* The two forms of GELU (Hendrycks & Gimpel 2016). */
typedef enum hw_gelu_approximation {
  HW_GELU_NONE = 0, /* x·Φ(x), Φ the standard normal's distribution function */
  HW_GELU_TANH = 1, /* x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) */
} hw_gelu_approximation;

/* torch.nn.functional.gelu: x and y [count]; y may be x. -inf gives 0, the limit (torch: NaN). HW_ERROR_VALUE: no such
 * approximation. */
hw_status hw_gelu(hw_context *context, const float *x, float *y, size_t count, hw_gelu_approximation approximate);

/* torch.nn.functional.layer_norm over the last dimension: y = (x - mean)/√(variance + eps)·weight + bias, with the biased
 * variance. x and y [rows, columns], y may be x; weight and bias [columns], or NULL for ones and zeros. A constant row
 * gives exactly the bias, with an eps of 0 NaN. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: eps is negative or not
 * finite. */
hw_status hw_layer_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                                 const float *bias, double eps, float *y);

/* ---- Scaled dot-product attention -------------------------------------------------------------- */

/* Where a head finds its rows: element (b, h, t, i) is at b·batch + h·head + t·token + i. Splitting and
 * merging heads is a choice of strides. */
typedef struct hw_strides {
  size_t batch;
  size_t head;
  size_t token;
} hw_strides;

/* What a mask is made of. */
typedef enum hw_mask_kind {
  HW_MASK_NONE = 0,
  HW_MASK_BOOL = 1,  /* uint8_t; nonzero: the query may attend to the key */
  HW_MASK_FLOAT = 2, /* float; added to the scaled score, -inf forbids */
} hw_mask_kind;

/* A mask over the scores [batch, heads, query_tokens, key_tokens]; a stride of 0 broadcasts. Strides count
 * elements of the mask's own type. */
typedef struct hw_mask {
  hw_mask_kind kind;
  const void *data;
  size_t batch_stride;
  size_t head_stride;
  size_t query_stride;
  size_t key_stride;
} hw_mask;

/* What `weights` receives: probabilities, or scores at a stage on their way. */
typedef enum hw_weights_kind {
  HW_WEIGHTS_PROBABILITIES = 0, /* after softmax and dropout */
  HW_WEIGHTS_SCORES = 1,        /* Q·Kᵀ·scale of all keys, masked or not */
  HW_WEIGHTS_SOFTCAPPED = 2,    /* the same after softcap */
  HW_WEIGHTS_MASKED = 3,        /* what the softmax is of: -inf where a key is not visible */
} hw_weights_kind;

/* Beyond these a single-precision quotient by softcap would over- or underflow. */
#define HW_SMALLEST_SOFTCAP 1e-30F
#define HW_LARGEST_SOFTCAP  1e30F

/*
 * One call of softmax(softcap(Q·Kᵀ·scale) + mask)·V for every batch entry and head, streamed over blocks of keys
 * (Dao et al. 2022, FlashAttention; Milakov & Gimelshein 2018, online softmax): the n×n matrix exists
 * only when `weights` asks for it.
 *
 *   query  [batch, heads, query_tokens, key_width]      by query_strides
 *   key    [batch, key_heads, key_tokens, key_width]    by key_strides
 *   value  [batch, key_heads, key_tokens, value_width]  by value_strides
 *   output [batch, heads, query_tokens, value_width]    by output_strides
 *
 * Equivalent loop:
 *   for each b, h, i:  g = h / (heads / key_heads);  length = key_lengths ? key_lengths[b] : key_tokens
 *                      offset = causal_offset + (offset_from_end ? length - query_tokens : 0)
 *                      s[j] = dot(query[b,h,i], key[b,g,j])·scale for the visible j: j < length,
 *                             j <= i + offset if is_causal,
 *                             i + offset - window_left <= j <= i + offset + window_right if is_windowed
 *                      s[j] = softcap·tanh(s[j] / softcap) if softcap != 0
 *                      p = softmax(mask(s)), dropped out;  output[b,h,i] = sum over j of p[j]·value[b,g,j]
 *
 * A key that is masked for a query has no influence on it, whatever it holds (NaN included), and neither has one whose
 * weight is exactly 0. A query for which every key is masked gives zeros. NaN and +inf in visible scores give NaN.
 */
typedef struct hw_attention {
  size_t batch;
  size_t heads;
  size_t key_heads; /* of keys and values: a divisor of heads (grouped-query attention, Ainslie et al. 2023) */
  size_t query_tokens;
  size_t key_tokens;
  size_t key_width;
  size_t value_width;
  const float *query;
  const float *key;
  const float *value;
  float *output;
  hw_strides query_strides;
  hw_strides key_strides;
  hw_strides value_strides;
  hw_strides output_strides;
  float scale;
  float softcap; /* 0: none (Gemma 2); else from HW_SMALLEST_SOFTCAP to HW_LARGEST_SOFTCAP */
  bool is_causal;
  bool offset_from_end;  /* causal_offset counts from bottom-right alignment: the last query sees the last key */
  int32_t causal_offset; /* 0: top-left aligned, as torch, unless offset_from_end */
  bool is_windowed;
  int32_t window_left;         /* negative: unlimited */
  int32_t window_right;        /* negative: unlimited */
  const uint32_t *key_lengths; /* NULL, or [batch]: how many keys there are of each entry, 0 to key_tokens */
  hw_mask mask;
  double dropout; /* probability of dropping a weight; 0 draws nothing */
  /* NULL, or [batch, heads, query_tokens, key_tokens] */
  float *weights;
  size_t weights_batch_stride; /* floats from one entry's weights to the next's; within one its heads are dense */
  hw_weights_kind weights_kind;
  /* NULL, or [batch, heads, query_tokens]: natural log of the sum of exp of the scores; -inf if masked. */
  float *log_sum_exp;
  size_t log_sum_exp_batch_stride; /* floats, likewise */
} hw_attention;

/* HW_ERROR_SHAPE: a size is zero, or heads is no multiple of key_heads. HW_ERROR_VALUE: a NULL pointer, dropout outside
 * [0, 1], softcap out of its range, a length above key_tokens, or a kind that does not exist. HW_ERROR_MEMORY: no
 * scratch. */
hw_status hw_scaled_dot_product_attention(hw_context *context, const hw_attention *attention);

/* ---- Traces: exact attention weights, recomputed on demand --------------------------------------- */

/* Keeps Q, K, the log-sum-exp rows and what masked them: O(tokens · width) memory, not O(tokens²). (A mask
 * that was passed in is copied; a forward in training mode with dropout also keeps one bit per weight.) */
typedef struct hw_trace hw_trace;

/* Sizes of a trace's weights, [batch, heads, query_tokens, key_tokens]. */
typedef struct hw_trace_shape {
  size_t batch;
  size_t heads;
  size_t query_tokens;
  size_t key_tokens;
} hw_trace_shape;

/* Frees the trace; NULL is allowed. */
void hw_trace_destroy(hw_trace *trace);

/* Of the weights that can be asked for. */
hw_trace_shape hw_trace_get_shape(const hw_trace *trace);

/* Bytes that the trace holds. */
size_t hw_trace_bytes(const hw_trace *trace);

/* Weights of the queries row_start <= i < row_end of one head: out [row_end - row_start, key_tokens].
 * HW_ERROR_VALUE: batch, head or rows out of range. HW_ERROR_MEMORY: no scratch. */
hw_status hw_trace_weights(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t row_start,
                           size_t row_end, float *out);

/* The head's whole map, pooled: out [size, size], each cell the maximum of the weights it covers. Cell (r, c)
 * covers queries [r·n/size, (r+1)·n/size) and keys likewise, at least one of each. Errors as above. */
hw_status hw_trace_map(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t size, float *out);

/* ---- Linear: torch.nn.Linear ---------------------------------------------------------------------- */

/* A linear layer, its weight packed for the kernels. It belongs to no context and is used through these functions only. */
typedef struct hw_linear hw_linear;

/* y = x·Wᵀ + b. Weight [out_features, in_features] and bias [out_features] are drawn as torch draws them
 * (weight first) from the context's generator; a NULL context draws nothing and leaves zeros.
 * The caller owns *linear. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: *linear is NULL. */
hw_status hw_linear_create(hw_context *context, size_t in_features, size_t out_features, bool bias, hw_linear **linear);

/* Frees the module; NULL is allowed. */
void hw_linear_destroy(hw_linear *linear);

/* Copies rows [first_row, first_row + rows) in or out: weight [rows, in_features], bias [rows]; either may be
 * NULL. HW_ERROR_SHAPE: rows beyond out_features. HW_ERROR_VALUE: a bias where the layer has none. */
hw_status hw_linear_load(hw_linear *linear, size_t first_row, size_t rows, const float *weight, const float *bias);
hw_status hw_linear_store(const hw_linear *linear, size_t first_row, size_t rows, float *weight, float *bias);

/* x [rows, in_features] → y [rows, out_features]. HW_ERROR_SHAPE: rows is zero. HW_ERROR_MEMORY: no scratch. */
hw_status hw_linear_forward(hw_context *context, const hw_linear *linear, const float *x, size_t rows, float *y);

/* ---- LayerNorm: torch.nn.LayerNorm over the last dimension ------------------------------------------ */

/* A layer norm with a weight and a bias. */
typedef struct hw_layer_norm hw_layer_norm;

/* torch's default eps. */
#define HW_LAYER_NORM_EPS 1e-5

/* Weights of 1, biases of 0; nothing is drawn. The caller owns *module. HW_ERROR_SHAPE: dim is zero. HW_ERROR_VALUE: eps
 * is negative or not finite. HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_layer_norm_create(size_t dim, double eps, hw_layer_norm **module);

/* Frees the module; NULL is allowed. */
void hw_layer_norm_destroy(hw_layer_norm *module);

/* [dim] each, owned by the module; they may be written. */
float *hw_layer_norm_weight(hw_layer_norm *module);
float *hw_layer_norm_bias(hw_layer_norm *module);

/* hw_layer_normalization of x [rows, dim]; y may be x. HW_ERROR_SHAPE: rows is zero. */
hw_status hw_layer_norm_forward(hw_context *context, const hw_layer_norm *module, const float *x, size_t rows,
                                float *y);

/* ---- Embedding: torch.nn.Embedding ------------------------------------------------------------------ */

/* A table of vectors, one for each token id. */
typedef struct hw_embedding hw_embedding;

/* The weight [num_embeddings, embedding_dim] is drawn as torch draws it, by one randn (NULL context: zeros). The caller
 * owns *module. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_embedding_create(hw_context *context, size_t num_embeddings, size_t embedding_dim, hw_embedding **module);

/* Frees the module; NULL is allowed. */
void hw_embedding_destroy(hw_embedding *module);

/* Owned by the module; it may be written. */
float *hw_embedding_weight(hw_embedding *module);

/* y [count, embedding_dim]: row ids[i] of the weight for every i < count. HW_ERROR_VALUE: an id is not below
 * num_embeddings; y is as it was. */
hw_status hw_embedding_forward(const hw_embedding *module, const uint32_t *ids, size_t count, float *y);

/* ---- FeedForward: fc2(dropout(gelu(fc1(x)))) ---------------------------------------------------------- */

/* Two linear layers with a GELU between them. */
typedef struct hw_feed_forward hw_feed_forward;

/* Sizes of a feed-forward and its dropout. */
typedef struct hw_feed_forward_config {
  size_t d_model;
  size_t d_ff;
  double dropout;                    /* of the hidden activations, in training mode */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
} hw_feed_forward_config;

/* Draws fc1, then fc2, both with biases (NULL context: zeros). The caller owns *module. HW_ERROR_SHAPE: a size is zero.
 * HW_ERROR_VALUE: dropout outside [0, 1] or no such approximation. HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_feed_forward **module);

/* Frees the module; NULL is allowed. */
void hw_feed_forward_destroy(hw_feed_forward *module);

/* [d_ff, d_model] and [d_model, d_ff]; owned by the module. */
hw_linear *hw_feed_forward_fc1(hw_feed_forward *module);
hw_linear *hw_feed_forward_fc2(hw_feed_forward *module);

/* As hw_causal_attention_train. */
void hw_feed_forward_train(hw_feed_forward *module, bool training);

/* x [rows, d_model] → y [rows, d_model]; y may be x. The hidden activations exist some megabytes at a time.
 * HW_ERROR_SHAPE: rows is zero. HW_ERROR_MEMORY: no scratch. */
hw_status hw_feed_forward_forward(hw_context *context, hw_feed_forward *module, const float *x, size_t rows, float *y);

/* ---- Attention modules ----------------------------------------------------------------------------- */

/* Keys and values of the tokens that a hw_multi_head_attention has seen, so that a forward computes only what is new. */
typedef struct hw_key_value_cache hw_key_value_cache;

/* What a forward may be asked for besides its output; a zeroed struct asks for nothing. */
typedef struct hw_forward_options {
  hw_mask mask;     /* replaces the module's causal mask unless kind is HW_MASK_NONE */
  float *weights;   /* NULL, or [batch, heads, tokens, tokens], with a cache [batch, heads, tokens, length + tokens] */
  hw_trace **trace; /* NULL, or receives a trace that the caller owns (of a stack: one for each layer) */
  /* NULL, or a cache of this module; only hw_multi_head_attention and hw_gpt2 have caches. */
  hw_key_value_cache *cache;
  /* NULL, or a factor for every head's output, [num_heads], of a stack [num_layers, num_heads]: 0 mutes a head. Not for
   * hw_causal_attention and the wrapper. */
  const float *head_mask;
} hw_forward_options;

/* Chapter 3.5's CausalAttention: one head with its own W_query, W_key, W_value. */
typedef struct hw_causal_attention hw_causal_attention;

/* Sizes of one head, d_out of its output, and what it does. */
typedef struct hw_causal_attention_config {
  size_t d_in;
  size_t d_out;
  size_t context_length; /* more tokens than this are refused; SIZE_MAX: no limit */
  double dropout;        /* of the weights, in training mode */
  bool qkv_bias;
  bool is_causal;
} hw_causal_attention_config;

/* Draws W_query, W_key, W_value in this order (NULL context: zeros). The caller owns *module. HW_ERROR_SHAPE: a size is
 * zero. HW_ERROR_VALUE: dropout outside [0, 1]. HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config,
                                     hw_causal_attention **module);

/* Frees the module; NULL is allowed. */
void hw_causal_attention_destroy(hw_causal_attention *module);

/* 0: W_query, 1: W_key, 2: W_value; NULL beyond. Owned by the module. */
hw_linear *hw_causal_attention_linear(hw_causal_attention *module, size_t index);

/* In training mode dropout is active; a new module is in training mode, as in torch. */
void hw_causal_attention_train(hw_causal_attention *module, bool training);

/* x [batch, tokens, d_in] → y [batch, tokens, d_out]. HW_ERROR_SHAPE: a size is zero or tokens exceed
 * context_length. HW_ERROR_VALUE: a mask without data or of an unknown kind, a cache or a head_mask. HW_ERROR_MEMORY: no
 * scratch, or no memory for the trace. After an error the trace is NULL. options may be NULL. */
hw_status hw_causal_attention_forward(hw_context *context, hw_causal_attention *module, const float *x, size_t batch,
                                      size_t tokens, float *y, const hw_forward_options *options);

/* Listing 3.4's MultiHeadAttentionWrapper: heads run one after another, outputs side by side. */
typedef struct hw_multi_head_attention_wrapper hw_multi_head_attention_wrapper;

/* d_out is per head. Draws head after head. The caller owns *module. Errors as hw_causal_attention_create; num_heads of
 * zero is HW_ERROR_SHAPE. */
hw_status hw_multi_head_attention_wrapper_create(hw_context *context, const hw_causal_attention_config *config,
                                                 size_t num_heads, hw_multi_head_attention_wrapper **module);

/* Frees the module; NULL is allowed. */
void hw_multi_head_attention_wrapper_destroy(hw_multi_head_attention_wrapper *module);

/* The head's own module; NULL beyond the last. Owned by the wrapper. */
hw_causal_attention *hw_multi_head_attention_wrapper_head(hw_multi_head_attention_wrapper *module, size_t head);

/* As hw_causal_attention_train. */
void hw_multi_head_attention_wrapper_train(hw_multi_head_attention_wrapper *module, bool training);

/* x [batch, tokens, d_in] → y [batch, tokens, num_heads · d_out]; otherwise as hw_causal_attention_forward. */
hw_status hw_multi_head_attention_wrapper_forward(hw_context *context, hw_multi_head_attention_wrapper *module,
                                                  const float *x, size_t batch, size_t tokens, float *y,
                                                  const hw_forward_options *options);

/* Listing 3.5's MultiHeadAttention: one projection for all heads, split by strides. */
typedef struct hw_multi_head_attention hw_multi_head_attention;

/* Sizes of all heads together, and what the module does. */
typedef struct hw_multi_head_attention_config {
  size_t d_in;
  size_t d_out; /* all heads together; a multiple of num_heads */
  size_t context_length;
  size_t num_heads;
  double dropout;
  bool qkv_bias;
  bool out_proj;
  bool out_bias;
  bool is_causal;
  bool packed_qkv; /* initial weights drawn as one Linear(d_in, 3·d_out), not as three */
} hw_multi_head_attention_config;

/* Draws W_query, W_key, W_value (or qkv_proj), out_proj in this order. The caller owns *module. HW_ERROR_SHAPE: a size is zero
 * or d_out is not a multiple of num_heads. Otherwise as hw_causal_attention_create. */
hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                         hw_multi_head_attention **module);

/* Frees the module; NULL is allowed. */
void hw_multi_head_attention_destroy(hw_multi_head_attention *module);

/* The packed projection: rows [0, d_out) are W_query, [d_out, 2·d_out) W_key, the rest W_value. Owned by the module. */
hw_linear *hw_multi_head_attention_qkv_proj(hw_multi_head_attention *module);

/* The output projection; NULL if the module has none. Owned by the module. */
hw_linear *hw_multi_head_attention_out_proj(hw_multi_head_attention *module);

/* As hw_causal_attention_train. */
void hw_multi_head_attention_train(hw_multi_head_attention *module, bool training);

/* x [batch, tokens, d_in] → y [batch, tokens, d_out]; otherwise as hw_causal_attention_forward.
 *
 * With a cache of `length` tokens, x's are tokens length and up of their sequences: their keys and values are appended
 * to the cache, and they attend over all that is in it then, each up to itself if the module is causal. A mask is one
 * over [batch, heads, tokens, length + tokens]. HW_ERROR_SHAPE: the cache is of another batch, or of a module of other
 * sizes. HW_ERROR_VALUE: length + tokens exceeds context_length. After any error the cache is as it was. */
hw_status hw_multi_head_attention_forward(hw_context *context, hw_multi_head_attention *module, const float *x,
                                          size_t batch, size_t tokens, float *y, const hw_forward_options *options);

/* A cache for `batch` sequences of up to context_length tokens. It starts with a copy of past_key and past_value
 * [batch, num_heads, past_tokens, head_dim], one head's matrix after another; empty if past_tokens is 0. All its memory
 * is taken here. The caller owns *cache; it does not need the module to be destroyed. HW_ERROR_SHAPE: batch is zero.
 * HW_ERROR_VALUE: more past_tokens than context_length, or a NULL where there are some. HW_ERROR_MEMORY: no memory, or
 * context_length is beyond INT32_MAX. After an error *cache is NULL. */
hw_status hw_multi_head_attention_create_cache(const hw_multi_head_attention *module, size_t batch,
                                               const float *past_key, const float *past_value, size_t past_tokens,
                                               hw_key_value_cache **cache);

/* Frees the cache; NULL is allowed. */
void hw_key_value_cache_destroy(hw_key_value_cache *cache);

/* Tokens of each sequence that are in the cache. */
size_t hw_key_value_cache_length(const hw_key_value_cache *cache);

/* Forgets all tokens but the first `length`. HW_ERROR_VALUE: there are fewer. */
hw_status hw_key_value_cache_truncate(hw_key_value_cache *cache, size_t length);

/* ---- Transformer blocks ------------------------------------------------------------------------------- */

/* Attention and feed-forward, each with a layer norm and a residual connection. */
typedef struct hw_transformer_block hw_transformer_block;

/* Sizes of a block, and what it does. */
typedef struct hw_transformer_block_config {
  size_t d_model; /* a multiple of num_heads */
  size_t num_heads;
  size_t d_ff;
  double dropout;  /* of the weights, the hidden activations and both branches, in training mode */
  bool norm_first; /* pre-norm (GPT-2); else post-norm (Vaswani et al. 2017) */
  bool is_causal;
  bool attention_bias;               /* of qkv_proj and out_proj */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
  double eps;                        /* of the layer norms; 0: HW_LAYER_NORM_EPS */
} hw_transformer_block_config;

/* Draws the attention's qkv_proj and out_proj, then fc1 and fc2 (NULL context: zeros). The caller owns *module.
 * HW_ERROR_SHAPE: a size is zero, or d_model is not a multiple of num_heads. HW_ERROR_VALUE: dropout outside [0, 1],
 * no such approximation, or eps negative or not finite. HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                      hw_transformer_block **module);

/* Frees the module; NULL is allowed. */
void hw_transformer_block_destroy(hw_transformer_block *module);

/* Owned by the block. */
hw_layer_norm *hw_transformer_block_ln1(hw_transformer_block *module);
hw_layer_norm *hw_transformer_block_ln2(hw_transformer_block *module);
hw_multi_head_attention *hw_transformer_block_attn(hw_transformer_block *module);
hw_feed_forward *hw_transformer_block_ffn(hw_transformer_block *module);

/* As hw_causal_attention_train. */
void hw_transformer_block_train(hw_transformer_block *module, bool training);

/* x [batch, tokens, d_model] → y [batch, tokens, d_model], as many tokens as memory holds; y may be x.
 *
 *   norm_first:  h = x + dropout(attn(ln1(x)));   y = h + dropout(ffn(ln2(h)))
 *   else:        h = ln1(x + dropout(attn(x)));   y = ln2(h + dropout(ffn(h)))
 *
 * In training mode dropout draws for the attention's weights, its branch, the hidden activations and their branch, in
 * this order. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: a mask without data or of an unknown kind, or a cache.
 * HW_ERROR_MEMORY: no scratch, or no memory for the trace. After an error the trace is NULL. options may be NULL. */
hw_status hw_transformer_block_forward(hw_context *context, hw_transformer_block *module, const float *x, size_t batch,
                                       size_t tokens, float *y, const hw_forward_options *options);

/* Blocks of one kind, one after another. */
typedef struct hw_transformer_stack hw_transformer_stack;

/* Draws block after block. Errors as hw_transformer_block_create; num_layers of zero is HW_ERROR_SHAPE. */
hw_status hw_transformer_stack_create(hw_context *context, const hw_transformer_block_config *config, size_t num_layers,
                                      hw_transformer_stack **module);

/* Frees the module; NULL is allowed. */
void hw_transformer_stack_destroy(hw_transformer_stack *module);

/* Owned by the stack; NULL beyond the last. */
hw_transformer_block *hw_transformer_stack_block(hw_transformer_stack *module, size_t index);

/* As hw_causal_attention_train. */
void hw_transformer_stack_train(hw_transformer_stack *module, bool training);

/* As hw_transformer_block_forward, but options ask for every layer: weights is [num_layers, batch, heads, tokens, tokens]
 * and trace points to room for num_layers traces, all of which exist afterwards or none. The mask is for all layers. */
hw_status hw_transformer_stack_forward(hw_context *context, hw_transformer_stack *module, const float *x, size_t batch,
                                       size_t tokens, float *y, const hw_forward_options *options);

/* ---- GPT-2 ----------------------------------------------------------------------------------------------- */

/* Radford et al. 2019: embeddings of tokens and positions, pre-norm blocks with biases, a last layer norm, and the token
 * embedding as output head. For inference: it has no dropout. */
typedef struct hw_gpt2 hw_gpt2;

/* Sizes of a GPT-2, and what it does. */
typedef struct hw_gpt2_config {
  size_t vocab_size;
  size_t context_length;
  size_t d_model; /* a multiple of num_heads */
  size_t num_heads;
  size_t num_layers;
  size_t d_ff;
  double eps; /* of the layer norms; 0: HW_LAYER_NORM_EPS */
  hw_gelu_approximation approximate;
} hw_gpt2_config;

/* Layer norms start as ones and zeros, all else as zeros. The caller owns *module. HW_ERROR_SHAPE: a size is zero, or
 * d_model is not a multiple of num_heads. HW_ERROR_VALUE: eps is negative or not finite, or no such approximation.
 * HW_ERROR_MEMORY. After an error *module is NULL. */
hw_status hw_gpt2_create(const hw_gpt2_config *config, hw_gpt2 **module);

/* Frees the module; NULL is allowed. */
void hw_gpt2_destroy(hw_gpt2 *module);

/* Owned by the module. wte [vocab_size, d_model] has no bias and is the output head too; wpe [context_length, d_model]. The
 * blocks' qkv_proj is Hugging Face's attn.c_attn transposed, out_proj attn.c_proj, fc1 mlp.c_fc, fc2 mlp.c_proj. */
hw_linear *hw_gpt2_wte(hw_gpt2 *module);
hw_embedding *hw_gpt2_wpe(hw_gpt2 *module);
hw_transformer_stack *hw_gpt2_h(hw_gpt2 *module);
hw_layer_norm *hw_gpt2_ln_f(hw_gpt2 *module);

/* Which tokens go in, and of which of them logits come out. */
typedef struct hw_gpt2_input {
  const uint32_t *ids; /* [batch, tokens] */
  size_t batch;
  size_t tokens;
  size_t logits_start; /* logits are computed for tokens [logits_start, logits_end) of every sequence; none if equal */
  size_t logits_end;
} hw_gpt2_input;

/* logits [batch, logits_end - logits_start, vocab_size]; NULL if there are none. Options ask for every layer, as a stack's;
 * weights is [num_layers, batch, num_heads, tokens, length + tokens]. With a cache of `length` tokens, the ids are those of
 * tokens length and up. HW_ERROR_SHAPE: a size is zero, more tokens than context_length, or the cache is of another batch
 * or of a model of other sizes. HW_ERROR_VALUE: an id is not below vocab_size, logits_start or logits_end is out of
 * order, a mask is unusable, or length + tokens exceeds context_length. HW_ERROR_MEMORY: no scratch, or no memory for the
 * traces. After an error all traces are NULL and the cache is as it was. options may be NULL. */
hw_status hw_gpt2_forward(hw_context *context, hw_gpt2 *module, const hw_gpt2_input *input, float *logits,
                          const hw_forward_options *options);

/* An empty cache for `batch` sequences of up to context_length tokens, with the keys and values of all layers. All its
 * memory is taken here. The caller owns *cache. HW_ERROR_SHAPE: batch is zero. HW_ERROR_MEMORY: no memory, or
 * context_length is beyond INT32_MAX. After an error *cache is NULL. */
hw_status hw_gpt2_create_cache(const hw_gpt2 *module, size_t batch, hw_key_value_cache **cache);

#ifdef __cplusplus
}
#endif

#endif
