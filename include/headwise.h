/*
 * Headwise: multi-head attention, head by head.
 *
 * Rules for every function:
 * - Numbers are 32-bit floats, matrices are row-major, sizes and strides count floats (not bytes).
 * - Use a context from one thread at a time. Contexts are independent of each other.
 * - Input and output must not overlap, except where a comment allows it.
 * - HW_ERROR_VALUE: a context, module, trace, cache or required array is NULL. For a required array without elements pass
 *   any pointer but NULL: some functions refuse NULL even then. Given a NULL object, a function without a status returns
 *   NULL or 0, or does nothing, unless its comment says otherwise. Pointers to configs and to results of creation must
 *   not be NULL.
 * - HW_ERROR_MEMORY: any function that takes a context may return it, if there is no scratch memory for the call. Comments
 *   name other causes.
 * - Names that begin with hw_ and HW_ are the library's. A program that links it defines none of them.
 * - The caller passes arrays of the stated sizes. No function can check them.
 * - Functions that take a module or a trace as const may run on several threads at once, each with its own context. The
 *   other functions of a module need it alone.
 * - No function aborts. A function that can fail returns an hw_status. After a failure the context and every module
 *   stay usable, modules keep their weights, and the caller owns no partial result.
 *
 * Names and semantics follow PyTorch (torch.nn.functional.scaled_dot_product_attention, torch.nn.Linear) and chapter 3
 * of "Build a Large Language Model (From Scratch)": CausalAttention, MultiHeadAttentionWrapper, MultiHeadAttention.
 */
#ifndef HEADWISE_H
#define HEADWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks the public functions: a shared library that contains the engine exports these and no other function of it. */
#if defined __GNUC__ && !defined _WIN32
#define HW_API __attribute__((visibility("default")))
#else
#define HW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ------------------------------------------------------------------------------------ */

/* Results of a call. The values are part of the interface and never change. */
typedef enum hw_status {
  HW_OK = 0,
  HW_ERROR_SHAPE = 1,  /* sizes do not fit together, or a width is zero */
  HW_ERROR_VALUE = 2,  /* an argument is out of range or not for this module, or a required pointer is NULL */
  HW_ERROR_MEMORY = 3, /* an allocation failed, or a size exceeds the address space */
} hw_status;

/* Describes a status in one line of English. The text is static and never NULL. */
HW_API const char *hw_status_text(hw_status status);

/* ---- Context ----------------------------------------------------------------------------------- */

/* Holds the scratch memory, the random number generator and the threads. Scratch memory grows before a run, never
 * during it. */
typedef struct hw_context hw_context;

/* Creates a context and seeds its generator with torch's default seed. The caller owns *context and frees it with
 * hw_context_destroy. After HW_ERROR_MEMORY *context is NULL. */
HW_API hw_status hw_context_create(hw_context **context);

/* Frees the context. NULL is allowed. Modules and traces do not belong to a context and stay valid. */
HW_API void hw_context_destroy(hw_context *context);

/* The largest number of threads of a context. */
#define HW_MOST_THREADS 1024

/* Sets the number of threads, including the calling thread. A new context has one. The number does not change any
 * result, to the bit. The other threads sleep between calls and end with the context. HW_ERROR_VALUE: threads is 0 or
 * above HW_MOST_THREADS, or is above 1 and the library is built without threads (WebAssembly). HW_ERROR_MEMORY: the
 * threads cannot be started. After an error the context has one thread.
 *
 * fork copies none of the other threads. In the child, before anything else is computed with a context that had some, set its
 * threads again, or destroy it. */
HW_API hw_status hw_context_set_threads(hw_context *context, size_t threads);

/* Returns the size of the context's scratch memory in bytes. Scratch memory grows to the need of the largest run. It is
 * 0 after a run for which that memory could not be allocated; after another HW_ERROR_MEMORY it is as it was.
 *
 * A run is small if it needs less than a quarter of the scratch memory and the context holds more than a mebibyte. At
 * first, every small run frees the scratch memory before it allocates its own. If a larger run follows, the next
 * release waits for twice as many small runs in a row, up to 16. Runs of alternating sizes therefore keep their
 * memory. */
HW_API size_t hw_context_scratch_bytes(const hw_context *context);

/* ---- Random numbers: the values of torch's CPU generator (x86 build without MKL) ---------------- */

/* torch.manual_seed(seed): seeds the generator and discards the normal value that a small randn cached. */
HW_API hw_status hw_manual_seed(hw_context *context, uint64_t seed);

/* A generator's state: on little-endian machines these words are the 5,056 bytes of torch.get_rng_state(). */
#define HW_RNG_STATE_WORDS 632

/* torch.get_rng_state(): writes the generator's state [HW_RNG_STATE_WORDS]. The generator continues from there, to the bit, after
 * hw_set_rng_state, in torch too. HW_ERROR_VALUE: state is NULL. */
HW_API hw_status hw_get_rng_state(const hw_context *context, uint64_t *state);

/* torch.set_rng_state(state): continues from a state of hw_get_rng_state, or of torch's CPU generator. HW_ERROR_VALUE:
 * state is NULL or no such state; the generator is unchanged. */
HW_API hw_status hw_set_rng_state(hw_context *context, const uint64_t *state);

/* torch.rand: fills out [count] in row-major order, uniform in [0, 1). */
HW_API hw_status hw_rand(hw_context *context, float *out, size_t count);

/* Tensor.uniform_(from, to): fills out [count]. HW_ERROR_VALUE: from is above to, or to - from is not finite. */
HW_API hw_status hw_uniform(hw_context *context, float from, float to, float *out, size_t count);

/* torch.randn: fills out [count] with standard normal values. Fewer than 16 values are drawn one by one in double
 * precision; 16 or more are drawn in blocks in single precision. As in torch, one randn of 20 values differs from two
 * of 10. */
HW_API hw_status hw_randn(hw_context *context, float *out, size_t count);

/* ---- Functions --------------------------------------------------------------------------------- */

/* Batched matrix product: c[i] = a[a_index[i]] · b[b_index[i]] for i < batch. The matrices a [m, k], b [k, n] and c [m,
 * n] are stored one after another. The indices are matrix numbers; repeated indices express broadcasting.
 * An element is summed in single precision, one product after another: it is off by at most about k · 2^-24 times the sum of
 * its products' magnitudes.
 * If k is zero, c is zeros; if another size is zero, nothing is written. HW_ERROR_MEMORY also: a matrix does not fit
 * the address space. */
HW_API hw_status hw_matmul(hw_context *context, const float *a, const float *b, float *c, size_t batch,
                           const uint32_t *a_index, const uint32_t *b_index, size_t m, size_t k, size_t n);

/* Transposes every matrix of a batch: x [batch, rows, columns] → y [batch, columns, rows]. x and y must not overlap. If
 * a size is zero, nothing is written. */
HW_API hw_status hw_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns);

/* Softmax over the last dimension: x [rows, columns] → y [rows, columns]. y may be x. A row of -inf gives zeros. As in
 * torch, a row with NaN or +inf gives NaN. If a size is zero, nothing is written. */
HW_API hw_status hw_softmax(const float *x, float *y, size_t rows, size_t columns);

/* The two forms of GELU (Hendrycks & Gimpel 2016). */
typedef enum hw_gelu_approximation {
  HW_GELU_NONE = 0, /* x·Φ(x); Φ is the distribution function of the standard normal */
  HW_GELU_TANH = 1, /* x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))) */
} hw_gelu_approximation;

/* torch.nn.functional.gelu: x [count] → y [count]. y may be x. -inf gives 0, the limit; torch gives NaN.
 * HW_ERROR_VALUE: unknown approximation. */
HW_API hw_status hw_gelu(hw_context *context, const float *x, float *y, size_t count,
                         hw_gelu_approximation approximate);

/* torch.nn.functional.layer_norm over the last dimension: y = (x - mean)/√(variance + eps)·weight + bias, with the
 * biased variance. x and y are [rows, columns]; y may be x. weight and bias are [columns]; NULL means ones and zeros. A
 * constant row gives exactly the bias, or NaN if eps is 0. HW_ERROR_SHAPE: columns is zero. HW_ERROR_VALUE: eps is
 * negative or, as a float, not finite. */
HW_API hw_status hw_layer_normalization(hw_context *context, const float *x, size_t rows, size_t columns,
                                        const float *weight, const float *bias, double eps, float *y);

/* Largest number of axes of a tensor. */
#define HW_MOST_AXES 64

/* Elementwise operations on two tensors. */
typedef enum hw_binary_operation {
  HW_BINARY_ADD = 0,
  HW_BINARY_SUBTRACT = 1, /* a - b */
  HW_BINARY_MULTIPLY = 2,
} hw_binary_operation;

/* Computes y = a (operation) b with broadcasting. y has the given shape [rank]. Each axis of a and b has the same size
 * as in y, or 1. y may be an operand of the same shape. HW_ERROR_SHAPE: a size is zero or does not fit. HW_ERROR_VALUE:
 * unknown operation, or rank is above HW_MOST_AXES. */
HW_API hw_status hw_broadcast(hw_binary_operation operation, size_t rank, const uint32_t *shape, const float *a,
                              const uint32_t *a_shape, const float *b, const uint32_t *b_shape, float *y);

/* Computes y = scale · sum of x over every axis whose size in y_shape is 1. The other axes of x and y have equal sizes;
 * both have rank axes. The sum is computed in double precision and rounded once. x and y must not overlap.
 * HW_ERROR_SHAPE: a size is zero or does not fit. HW_ERROR_VALUE: rank is above HW_MOST_AXES. */
HW_API hw_status hw_sum(size_t rank, const uint32_t *shape, const float *x, const uint32_t *y_shape, double scale,
                        float *y);

/* torch.nn.functional.dropout: x [count] → y [count]. Each element is multiplied by 0 with probability `dropout`, so that,
 * as in torch, one that is not finite becomes NaN. The others are multiplied by 1/(1 - dropout). y may be x. The random
 * numbers are torch's; a dropout of 0 draws none. HW_ERROR_VALUE: dropout is outside [0, 1]. */
HW_API hw_status hw_dropout(hw_context *context, const float *x, size_t count, double dropout, float *y);

/* RMS norm as in Hugging Face's models (Zhang & Sennrich 2019): y = x/√(mean of x² + eps)·weight, without centering.
 * Shapes, aliasing and errors are those of hw_layer_normalization. weight may be NULL: ones. */
HW_API hw_status hw_rms_normalization(hw_context *context, const float *x, size_t rows, size_t columns,
                                      const float *weight, double eps, float *y);

/* Activation functions, applied to each element. */
typedef enum hw_activation {
  HW_ACTIVATION_GELU = 0,
  HW_ACTIVATION_GELU_TANH = 1,
  HW_ACTIVATION_RELU = 2,
  HW_ACTIVATION_SILU = 3, /* x/(1 + exp(-x)); -inf gives 0, as GELU does */
  HW_ACTIVATION_TANH = 4,
} hw_activation;

/* Computes y = f(x): x [count] → y [count]. y may be x. HW_ERROR_VALUE: unknown activation. */
HW_API hw_status hw_activate(hw_context *context, hw_activation activation, const float *x, float *y, size_t count);

/* Embedding lookup: copies row ids[i] of table [rows, columns] to row i of y [count, columns]. HW_ERROR_SHAPE: columns
 * is zero. HW_ERROR_VALUE: an id is not below rows. */
HW_API hw_status hw_embed(const float *table, size_t rows, size_t columns, const uint32_t *ids, size_t count, float *y);

/* ---- Losses ------------------------------------------------------------------------------------ */

/* Arguments of torch.nn.functional.cross_entropy: logits [rows, classes] and targets [rows]. A target is below classes
 * or equal to ignore_index. */
typedef struct hw_cross_entropy_call {
  const float *logits;
  const int32_t *targets;
  size_t rows;
  size_t classes;
  int32_t ignore_index;  /* this target is ignored; torch's default is -100, and 0 ignores the first class */
  float label_smoothing; /* 0 to 1 */
  float *losses;         /* [rows], 0 for an ignored target; NULL: not written */
  /* NULL, or receives the gradient of the sum of scale·losses[i]·row_scales[i]: [rows, classes]; may be the logits. */
  float *gradient;
  float scale;             /* for the mean loss: 1/(number of targets not ignored) */
  const float *row_scales; /* [rows]; NULL: ones */
} hw_cross_entropy_call;

/* Computes the losses and, on request, the gradient. HW_ERROR_SHAPE: classes is zero. HW_ERROR_VALUE: a target is not
 * a class, label_smoothing is outside [0, 1], or a required pointer is NULL. */
HW_API hw_status hw_cross_entropy(hw_context *context, const hw_cross_entropy_call *call);

/* ---- Choosing a token --------------------------------------------------------------------------- */

/* How a token is chosen from its logits. */
typedef struct hw_sampling {
  double temperature; /* 0: the likeliest, the first of equals; above 0: drawn from softmax(logits/temperature) */
  /* Drawn among the top_k likeliest, and those as likely as the last of them (Fan, Lewis & Dauphin 2018); at least 1;
   * SIZE_MAX: all. */
  size_t top_k;
  /* Of these, drawn among the fewest likeliest whose probabilities together reach top_p (Holtzman et al. 2020), the first
   * of equals; 0 (the likeliest alone) to 1 (all). */
  double top_p;
  double uniform; /* the random number that chooses, in [0, 1) */
} hw_sampling;

/* Chooses one of `count` tokens by its logits: *id, and in *log_probability, unless NULL, the logarithm of its softmax
 * over all logits, regardless of temperature, top_k and top_p. A logit of +inf is taken before all others; the logarithm
 * is NaN then, and if all logits are -inf. HW_ERROR_SHAPE: count is zero. HW_ERROR_VALUE: a logit is NaN, a field of
 * sampling is out of range, or a required pointer is NULL. */
HW_API hw_status hw_sample(hw_context *context, const float *logits, size_t count, const hw_sampling *sampling,
                           uint32_t *id, double *log_probability);

/* ---- Gradients of functions ---------------------------------------------------------------------- */

/* Gradient of hw_activate: dx = dy·f'(x), all [count]. dx may be x or dy. */
HW_API hw_status hw_activation_backward(hw_context *context, hw_activation activation, const float *x, const float *dy,
                                        float *dx, size_t count);

/* Gradient of hw_softmax: dx = y·(dy - sum over the row of y·dy), all [rows, columns]. y is the output of hw_softmax.
 * dx may be y or dy. If a size is zero, nothing is written. */
HW_API hw_status hw_softmax_backward(const float *y, const float *dy, float *dx, size_t rows, size_t columns);

/* Gradients of hw_layer_normalization. dx [rows, columns] is overwritten and may be dy. d_weight and d_bias [columns]
 * are added to. Pass NULL to skip a gradient. weight may be NULL: ones. Errors are those of hw_layer_normalization. */
HW_API hw_status hw_layer_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                                 const float *weight, double eps, const float *dy, float *dx,
                                                 float *d_weight, float *d_bias);

/* Gradients of hw_rms_normalization, with the rules and errors of hw_layer_normalization_backward. */
HW_API hw_status hw_rms_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                               const float *weight, double eps, const float *dy, float *dx,
                                               float *d_weight);

/* Gradient of hw_embed: adds row i of dy [count, columns] to row ids[i] of d_table [rows, columns]. Errors are those of
 * hw_embed. */
HW_API hw_status hw_embed_backward(const uint32_t *ids, size_t count, const float *dy, size_t rows, size_t columns,
                                   float *d_table);

/* ---- Scaled dot-product attention -------------------------------------------------------------- */

/* Strides of a tensor with heads. Element (b, h, t, i) is at index b·batch + h·head + t·token + i. With strides, heads
 * are split and merged without a copy. */
typedef struct hw_strides {
  size_t batch;
  size_t head;
  size_t token;
} hw_strides;

/* Element types of a mask. */
typedef enum hw_mask_kind {
  HW_MASK_NONE = 0,
  HW_MASK_BOOL = 1,  /* uint8_t; nonzero: the query attends to the key */
  HW_MASK_FLOAT = 2, /* float; added to the scaled score; -inf hides the key */
} hw_mask_kind;

/* A mask over the scores [batch, heads, query_tokens, key_tokens]. A stride of 0 broadcasts. Strides count elements of
 * the mask's own type. */
typedef struct hw_mask {
  hw_mask_kind kind;
  const void *data;
  size_t batch_stride;
  size_t head_stride;
  size_t query_stride;
  size_t key_stride;
} hw_mask;

/* What a call writes to `weights`: probabilities, or scores at a stage before the softmax. */
typedef enum hw_weights_kind {
  HW_WEIGHTS_PROBABILITIES = 0, /* after softmax and dropout */
  HW_WEIGHTS_SCORES = 1,        /* Q·Kᵀ·scale for all keys, also masked ones */
  HW_WEIGHTS_SOFTCAPPED = 2,    /* the scores after softcap */
  HW_WEIGHTS_MASKED = 3,        /* input of the softmax: -inf where a key is not visible */
} hw_weights_kind;

/* Limits of softcap. Beyond them, a division by softcap in single precision would overflow or underflow. */
#define HW_SMALLEST_SOFTCAP 1e-30F
#define HW_LARGEST_SOFTCAP  1e30F

/*
 * Arguments of one attention call: softmax(softcap(Q·Kᵀ·scale) + mask)·V for every batch entry and head. The call
 * streams over blocks of keys (Dao et al. 2022, FlashAttention; Milakov & Gimelshein 2018, online softmax). The n×n
 * matrix exists only if `weights` is set.
 *
 *   query  [batch, heads, query_tokens, key_width]      by query_strides
 *   key    [batch, key_heads, key_tokens, key_width]    by key_strides
 *   value  [batch, key_heads, key_tokens, value_width]  by value_strides
 *   output [batch, heads, query_tokens, value_width]    by output_strides
 *
 * Equivalent loop:
 *   for each b, h, i:  g = h / (heads / key_heads);  length = key_lengths ? key_lengths[b] : key_tokens
 *                      offset = causal_offset + (offsets ? offsets[b] : 0) + (offset_from_end ? length - query_tokens : 0)
 *                      s[j] = dot(query[b,h,i], key[b,g,j])·scale for the visible j: j < length,
 *                             j <= i + offset if is_causal,
 *                             i + offset - window_left <= j <= i + offset + window_right if is_windowed
 *                      s[j] = softcap·tanh(s[j] / softcap) if softcap != 0
 *                      p = softmax(mask(s)), dropped out;  output[b,h,i] = sum over j of p[j]·value[b,g,j]
 *
 * A key that is masked for a query does not influence that query, even if it holds NaN. The same is true of a key whose
 * weight is exactly 0. If all keys of a query are masked, or there are none, its output is zeros. NaN and +inf in visible
 * scores give NaN.
 */
typedef struct hw_attention {
  size_t batch;
  size_t heads;
  size_t key_heads; /* heads of key and value; divides heads (grouped-query attention, Ainslie et al. 2023) */
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
  float scale;   /* of the scores. torch's is 1/sqrt(key_width); 0 makes all scores 0 */
  float softcap; /* 0: none; else from HW_SMALLEST_SOFTCAP to HW_LARGEST_SOFTCAP (Gemma 2) */
  bool is_causal;
  bool offset_from_end;    /* true: bottom-right alignment, the last query sees the last key */
  const uint32_t *offsets; /* NULL, or [batch]: added to each entry's alignment */
  int32_t causal_offset;   /* added to the alignment; 0 with top-left alignment is torch's is_causal */
  bool is_windowed;
  int32_t window_left;         /* negative: unlimited */
  int32_t window_right;        /* negative: unlimited */
  const uint32_t *key_lengths; /* NULL, or [batch]: number of keys of each entry, 0 to key_tokens */
  hw_mask mask;
  double dropout; /* probability of dropping a weight; 0 draws no random numbers */
  /* NULL, or [batch, heads, query_tokens, key_tokens] */
  float *weights;
  size_t weights_batch_stride; /* floats between the weights of two batch entries; the heads of an entry are dense */
  hw_weights_kind weights_kind;
  /* NULL, or [batch, heads, query_tokens]: natural log of the sum of exp(score); -inf if all keys are masked. */
  float *log_sum_exp;
  size_t log_sum_exp_batch_stride; /* floats between two batch entries */
  /* NULL, or receive what hw_scaled_dot_product_attention_backward needs. row_maximum [batch, heads, query_tokens] is
   * the largest score. row_sum [batch, heads, query_tokens] is the sum of exp(score - largest). kept [batch, heads,
   * query_tokens, (key_tokens + 31) / 32] is needed with dropout only: bit j % 32 of word j / 32 is 1 if weight j is
   * kept. */
  float *row_maximum;
  float *row_sum;
  uint32_t *kept;
} hw_attention;

/* Runs the call. HW_ERROR_SHAPE: a width is zero, or heads is not a multiple of key_heads. HW_ERROR_VALUE: a required
 * pointer is NULL, dropout is outside [0, 1], softcap is out of range, a key length is above key_tokens, or a kind is
 * unknown. */
HW_API hw_status hw_scaled_dot_product_attention(hw_context *context, const hw_attention *attention);

/* Gradients of an attention call. `output` is the given gradient of the output; the others receive gradients in the
 * shapes of their operands, and overlap neither them nor each other. NULL skips a gradient. */
typedef struct hw_attention_gradient {
  const float *output;
  float *query;
  float *key;
  float *value;
  hw_strides output_strides;
  hw_strides query_strides;
  hw_strides key_strides;
  hw_strides value_strides;
  /* Gradient of a float mask, with the mask's strides. The call adds to it. A broadcast element gets a sum. */
  float *mask;
  /* NULL, or the given gradient of the call's weights, with their shape and batch stride. These are then read. */
  const float *weights;
} hw_attention_gradient;

/* Computes the gradients of a call that has run. `attention` has the call's operands, its output, and its row_maximum,
 * row_sum and kept. Its log_sum_exp is not read, nor are its weights, unless their gradient is given. The weights are
 * recomputed in blocks, without an n×n matrix (Dao et al. 2022, FlashAttention). A query that sees no key has a gradient
 * of zeros and adds nothing to other gradients. A key gets no gradient from queries that do not see it.
 *
 * HW_ERROR_SHAPE and HW_ERROR_VALUE: as hw_scaled_dot_product_attention. HW_ERROR_VALUE also: row_maximum or row_sum is
 * NULL, kept is NULL with dropout, `mask` is set for a call without a float mask, or a gradient of weights is given for a
 * call without them or with another kind than HW_WEIGHTS_PROBABILITIES. */
HW_API hw_status hw_scaled_dot_product_attention_backward(hw_context *context, const hw_attention *attention,
                                                          const hw_attention_gradient *gradient);

/* ---- Traces: exact attention weights, recomputed on demand --------------------------------------- */

/* What a forward stores so that its attention weights can be recomputed: Q, K, V, the maximum and the sum of each
 * row of the softmax, and the mask. It takes O(tokens · width) memory, not O(tokens²). Two cases take more: a mask that the
 * caller passed is copied, and a forward in training mode with dropout stores one bit per weight. */
typedef struct hw_trace hw_trace;

/* Shape of a trace's weights: [batch, heads, query_tokens, key_tokens]. */
typedef struct hw_trace_shape {
  size_t batch;
  size_t heads;
  size_t query_tokens;
  size_t key_tokens;
} hw_trace_shape;

/* Frees the trace. NULL is allowed. */
HW_API void hw_trace_destroy(hw_trace *trace);

/* Returns the shape of the weights. */
HW_API hw_trace_shape hw_trace_get_shape(const hw_trace *trace);

/* Returns value_width: the width of a head's values and output. */
HW_API size_t hw_trace_value_width(const hw_trace *trace);

/* Returns the size of the trace in bytes. */
HW_API size_t hw_trace_bytes(const hw_trace *trace);

/* Computes the weights of one head for queries row_start <= i < row_end, none if they are equal: out
 * [row_end - row_start, key_tokens]. HW_ERROR_VALUE: batch, head or rows are out of range. */
HW_API hw_status hw_trace_weights(hw_context *context, const hw_trace *trace, size_t batch, size_t head,
                                  size_t row_start, size_t row_end, float *out);

/* Computes the attention map of one head, pooled by maximum: out [size, size]. With n queries and m keys, cell (r, c)
 * covers queries [r·n/size, (r+1)·n/size) and keys [c·m/size, (c+1)·m/size), at least one of each. Without queries
 * all cells are 0. HW_ERROR_VALUE: batch or head is out of range, or size is zero. */
HW_API hw_status hw_trace_map(hw_context *context, const hw_trace *trace, size_t batch, size_t head, size_t size,
                              float *out);

/* Copies the values of one head: out [key_tokens, value_width]. Keys that no query sees because of the text's length are
 * zeros. HW_ERROR_VALUE: batch or head is out of range. */
HW_API hw_status hw_trace_values(const hw_trace *trace, size_t batch, size_t head, float *out);

/* Computes the output of one head, before the output projection and before a head mask: out [query_tokens, value_width].
 * It is the forward's to the bit. HW_ERROR_VALUE: batch or head is out of range. */
HW_API hw_status hw_trace_output(hw_context *context, const hw_trace *trace, size_t batch, size_t head, float *out);

/* ---- Modules: parameters and a forward ----------------------------------------------------------------- */

/* A module or a model. It does not belong to a context. The caller owns it and frees it with hw_module_destroy. A
 * create function draws the initial weights from the context's generator in torch's order; with a NULL context it draws
 * nothing. hw_decoder_create and hw_encoder_create take no context and draw nothing. If a create function fails,
 * *module is NULL and the generator's state is unchanged. */
typedef struct hw_module hw_module;

/* Frees the module and the modules inside it. NULL is allowed. Its traces and caches stay valid. */
HW_API void hw_module_destroy(hw_module *module);

/* Switches training mode on or off, also for the modules inside. Dropout is active in training mode. As in torch, a new
 * module is in training mode. In a forward of hw_multi_head_attention_wrapper, the wrapper's mode applies to all
 * heads. */
HW_API void hw_module_train(hw_module *module, bool training);

/*
 * Switches gradient checkpointing of the module's blocks on or off (Chen et al. 2016, arXiv:1604.06174); a new module has it
 * off. While it is on, a recorded forward keeps of each block only its input, and the backward runs the block again: less
 * memory, for the time of one more forward. The gradients are the same to the bit, with dropout too. It is for the blocks of
 * hw_transformer_stack_create and of models; elsewhere it changes nothing. A graph that was recorded before a switch is no
 * longer current; while checkpointing is on, a switch of training mode has the same effect. NULL is allowed.
 */
HW_API void hw_module_checkpoint(hw_module *module, bool checkpointing);

/* Finds a module inside this one by its name, such as attn or blocks.1. The empty name gives this module. Returns NULL if
 * there is none. This module owns the result. The blocks of a decoder have the names of its parameters (transformer.h.0, or
 * h.0 where is_bare; model.layers.0); their parts have the names of a block's parts: ln1, attn, ln2, ffn, and with HW_NORM_BOTH
 * after1 and after2. Those of an encoder are named likewise (bert.encoder.layer.0). A block with rotary positions, and its attn,
 * run only inside the decoder. Linear layers inside another module, such as attn.out_proj, are not modules themselves. */
HW_API hw_module *hw_module_child(hw_module *module, const char *name);

/* A cache of the keys and values of past tokens. With it, a forward computes only the new tokens. */
typedef struct hw_key_value_cache hw_key_value_cache;

/* Input of a forward: ids for hw_embedding, hw_decoder and hw_encoder, x for the other modules and for an encoder's head. A
 * module that processes each row alone takes batch · tokens rows. */
typedef struct hw_input {
  const float *x;      /* [batch, tokens, width]; NULL where an encoder takes ids */
  const uint32_t *ids; /* [batch, tokens] */
  size_t batch;
  size_t tokens;
  size_t logits_start; /* hw_decoder computes logits of tokens [logits_start, logits_end) of each sequence */
  size_t logits_end;   /* neither is read if logits_last is set */
  /* NULL, or [batch], of models: how many tokens of each sequence count, 0 to tokens; the others are padding after them.
   * Padding is not appended to a cache, so the sequences in it may differ in length. */
  const uint32_t *lengths;
  /* hw_decoder computes only the logits of each sequence's last token that is no padding: y [batch, 1, vocab_size]. Of a
   * sequence without tokens it computes those of its first padding. */
  bool logits_last;
} hw_input;

/* Another output for one head: zeros, a mean or that of another text, for ablation and patching. */
typedef struct hw_head_output {
  size_t layer;
  size_t head;
  const float *output; /* [rows, head_dim], before the output projection */
  size_t rows;         /* batch · tokens, or tokens: the same for each sequence */
} hw_head_output;

/* Selects whether a forward hides later keys. This is in addition to the keys that a mask hides. */
typedef enum hw_causality {
  HW_CAUSALITY_DEFAULT = 0, /* is_causal of the module's config; off if there is a mask */
  HW_CAUSALITY_OFF = 1,
  HW_CAUSALITY_ON = 2,
  HW_CAUSALITY_OWN = 3, /* is_causal of the module's config, also with a mask */
} hw_causality;

/* Options of a forward of attention. A zeroed struct requests nothing. For a module with several layers, mask and cache
 * are given once; every other array holds the entries of all layers, one layer after another. */
typedef struct hw_forward_options {
  hw_mask mask; /* with `causality`, selects the visible keys */
  /* NULL, or receives the attention weights, after softmax and dropout: [batch, heads, tokens, tokens]; with a cache
   * [batch, heads, tokens, keys]: length + tokens, at most context_length. Asking a model for them turns its dropout
   * off (see hw_decoder_create). */
  float *weights;
  /* NULL, or receives one trace for each layer that runs. The caller owns the traces. After an error the first num_layers -
   * start_layer are NULL, whether or not there is a start. */
  hw_trace **trace;
  /* NULL, or a cache from hw_module_create_cache for this module. */
  hw_key_value_cache *cache;
  /* NULL, or [num_heads], a factor for each head's output: 0 mutes it. Not for hw_causal_attention and the wrapper. */
  const float *head_mask;
  hw_causality causality;
  /* NULL, or [replace_count]: what takes the place of heads' outputs, after head_mask; the last of one head counts. Traces and
   * weights are those of the layer's own heads. Not for hw_causal_attention, the wrapper and recorded forwards. */
  const hw_head_output *replace;
  size_t replace_count;
  const uint32_t *token_types; /* NULL: zeros; or [batch, tokens], of hw_encoder; other modules do not read them */
  /* Of hw_decoder; other modules do not read them. NULL: the tokens' places, after those of a cache; or [batch, tokens],
   * each token's position, below context_length: it chooses learned positions and angles, and not what a token attends
   * to. */
  const uint32_t *position_ids;
  /* Of hw_decoder, in a forward that is not recorded. NULL, or the residual stream before layer start_layer
   * (num_layers: after the last) [batch, tokens, d_model]: the forward begins there, and its other results for layers
   * begin with that layer. Only the shape of ids is used, but each must be a valid id. Not with a cache, and not with a
   * replacement in an earlier layer. */
  const float *start;
  size_t start_layer; /* 0 without start */
  /* Of hw_decoder, in a forward that is not recorded. NULL, or receives the residual stream before every layer that runs and
   * after the last: [num_layers - start_layer + 1, batch, tokens, d_model]. */
  float *residuals;
} hw_forward_options;

/* Runs the module on the input and writes its output to y. The create functions give the shapes. options may be NULL.
 * batch and tokens may be zero, but not for decoders and encoders; required pointers may not be NULL then either.
 *
 * HW_ERROR_SHAPE: batch or tokens of a model is zero, tokens is above the module's context_length, or the cache
 * has another shape than the module's, or another batch size than the input. HW_ERROR_VALUE: a required pointer is NULL, an id is
 * not in the vocabulary, a position or token type is not in its table, a length is above tokens or the module takes none,
 * logits_start and logits_end are out of order, start_layer is not of the model, a replacement is not of the layers that run, a
 * mask has no data, a kind of mask or causality is unknown, the module does not support an option, the module runs only inside its
 * decoder, or the cache has too little room for a sequence's tokens. HW_ERROR_MEMORY also: no memory for a trace or for the
 * cache's new tokens. After an error the cache's tokens are unchanged. */
HW_API hw_status hw_module_forward(hw_context *context, const hw_module *module, const hw_input *input, float *y,
                                   const hw_forward_options *options);

/* Computes the norms of what one head writes to its output for each query and key, ‖weight · (x_j·W_V + b_V)·W_O‖
 * (Kobayashi et al. 2020, "Attention is Not Only a Weight"): out [row_end - row_start, key_tokens] for queries
 * row_start <= i < row_end. W_O is the head's part of the layer's output projection, or 1 without one. trace comes from
 * a forward of the module. HW_ERROR_VALUE: layer, batch, head or rows are out of range, or the trace has other heads
 * than the module. */
HW_API hw_status hw_module_value_norms(hw_context *context, const hw_module *module, size_t layer,
                                       const hw_trace *trace, size_t batch, size_t head, size_t row_start,
                                       size_t row_end, float *out);

/* ---- Parameters ---------------------------------------------------------------------------------------- */

/* Size of a buffer for any parameter's name and its terminating zero. */
#define HW_NAME_BYTES 96

/* Name and shape of a parameter in torch's state dict. */
typedef struct hw_parameter_info {
  char name[HW_NAME_BYTES]; /* such as blocks.0.attn.qkv_proj.weight */
  size_t rank;              /* 1 or 2 */
  size_t shape[2];          /* shape[1] is 1 if rank is 1 */
  bool loads_whole;         /* all rows have to be loaded at once */
} hw_parameter_info;

/* Types of the elements of weights, in modules and in files. Norms and biases of modules are always float32. */
typedef enum hw_matrix_type {
  HW_MATRIX_FLOAT32 = 0,
  HW_MATRIX_BFLOAT16 = 1,
  /* Of modules: 16 bits times a power of two of its row, of GPT-2's linear weights of its column. All of it is NaN if one of
   * its elements is not finite or is too large for such a power (above about 1e26). */
  HW_MATRIX_FLOAT16 = 2,
  /* Of modules: a byte in -127…127 times a float32 scale of its row, or column as above, which is NaN if an element is not
   * finite. */
  HW_MATRIX_INT8 = 3,
} hw_matrix_type;

/* Returns the number of a module's parameters, which are in the order of torch's state dict. The list of parameters is
 * built when it is first needed and then reused. If there is no memory for the list, functions with a status return
 * HW_ERROR_MEMORY and hw_module_find_parameter returns SIZE_MAX. */
HW_API size_t hw_module_parameter_count(hw_module *module);

/* Writes the name and shape of a parameter to *info. HW_ERROR_VALUE: index is out of range. */
HW_API hw_status hw_module_parameter(hw_module *module, size_t index, hw_parameter_info *info);

/* Returns the index of the parameter with this name, or SIZE_MAX if there is none, or a pointer is NULL. */
HW_API size_t hw_module_find_parameter(hw_module *module, const char *name);

/* hw_module_load copies source [rows, shape[1]] to rows [first_row, first_row + rows) of a parameter; hw_module_store
 * copies those rows to target. A column of a float16 weight of GPT-2 has one power of two for all loads: if a later load has
 * much larger elements, those before are rounded again, the smallest to 0; and a column that is NaN stays so. Load it whole to
 * replace it. HW_ERROR_SHAPE: rows beyond shape[0]. HW_ERROR_VALUE: index is out of range, a
 * pointer is NULL, or only some rows are loaded of a parameter that loads_whole. */
HW_API hw_status hw_module_load(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source);
HW_API hw_status hw_module_store(hw_module *module, size_t index, size_t first_row, size_t rows, float *target);

/* hw_module_load from elements of a type: float32, bfloat16 or float16, aligned to their size. They are converted and packed in
 * one pass, on the threads of the context (NULL: one). HW_ERROR_VALUE also: another type. */
HW_API hw_status hw_module_load_as(hw_context *context, hw_module *module, size_t index, size_t first_row, size_t rows,
                                   hw_matrix_type type, const void *source);

/* ---- Gradients ------------------------------------------------------------------------------------------ */

/* What a forward stores for its backward: the activations of every layer (normalized inputs, queries, keys, values, outputs
 * of attention, hidden activations), ids, and copies of the masks that the caller passed. It takes O(layers · tokens · width)
 * memory and holds no matrix of tokens by tokens, but for such a copy; dropout in training mode stores one bit per weight. */
typedef struct hw_graph hw_graph;

/* Runs hw_module_forward and stores in *graph what hw_module_backward needs. The caller owns *graph. Output, traces and
 * weights are the same as those of hw_module_forward, to the bit. Errors are those of hw_module_forward. HW_ERROR_VALUE
 * also: options has a cache, replacements, a start or residuals, or a parameter does not consist of 32-bit floats.
 * HW_ERROR_MEMORY also: no memory for the graph. After an error *graph is NULL. */
HW_API hw_status hw_module_forward_recorded(hw_context *context, hw_module *module, const hw_input *input, float *y,
                                            const hw_forward_options *options, hw_graph **graph);

/* What else a backward computes and is given. NULL: nothing. It adds to the gradients of the forward's options. */
typedef struct hw_option_gradients {
  float *mask;      /* of a float mask, with the mask's strides; a broadcast element gets a sum */
  float *head_mask; /* [layers, heads] */
  /* What the forward wrote to its options' weights, and the given gradient of that; both or neither. */
  float *weights;
  const float *weights_gradient;
} hw_option_gradients;

/*
 * Backpropagation through a recorded forward. Adds to the gradient of every parameter of the module. Of an encoder, a
 * backward from ids reaches no parameter of the head, and a backward from hidden states reaches only the head's
 * (a tied embedding is one of them). Writes the gradient of input->x to dx if dx is not NULL.
 *
 *   input  the input of the forward, with the same contents
 *   dy     [as y], the gradient of y
 *   dx     [as input->x], or NULL; NULL for an input of ids. It must not overlap dy or x.
 *   asked  gradients of the forward's options and of its weights, or NULL for none
 *
 * The graph is unchanged; a second backward adds the same gradients. HW_ERROR_VALUE: a required pointer is NULL, dx is
 * set for an input of ids, the graph belongs to another module, parameters have changed since the forward
 * (hw_graph_is_current), the graph is of hw_model_loss, an id is unknown, a gradient is asked for of an option that the
 * forward did not have, or a gradient of weights is given without the weights, or for a module without attention.
 * HW_ERROR_SHAPE: batch, tokens, lengths or the range of logits of the input differ from the forward's. HW_ERROR_MEMORY also: no
 * memory for the gradients. After an error no gradient has changed. */
HW_API hw_status hw_module_backward(hw_context *context, hw_module *module, const hw_input *input,
                                    const hw_graph *graph, const float *dy, float *dx,
                                    const hw_option_gradients *asked);

/* Frees the graph. NULL is allowed. A graph may outlive its module. */
HW_API void hw_graph_destroy(hw_graph *graph);

/* Returns whether the graph belongs to this module, and since the forward no parameter has been loaded or updated and
 * checkpointing has not been switched (with it on, nor training mode). */
HW_API bool hw_graph_is_current(const hw_graph *graph, hw_module *module);

/* Returns the size of the graph in bytes. */
HW_API size_t hw_graph_bytes(const hw_graph *graph);

/* Returns whether a parameter has a gradient. hw_module_backward and hw_module_load_gradient create it;
 * hw_module_clear_gradient removes it. */
HW_API bool hw_module_has_gradient(hw_module *module, size_t index);

/* Copy rows of a gradient, as hw_module_load and hw_module_store copy rows of a value. If there is no gradient, loading
 * creates one and sets its other rows to zeros, and storing returns HW_ERROR_VALUE. HW_ERROR_VALUE also: the parameter does
 * not consist of 32-bit floats. HW_ERROR_MEMORY: no memory for a new gradient. */
HW_API hw_status hw_module_load_gradient(hw_module *module, size_t index, size_t first_row, size_t rows,
                                         const float *source);
HW_API hw_status hw_module_store_gradient(hw_module *module, size_t index, size_t first_row, size_t rows,
                                          float *target);

/* Removes the gradient of a parameter. Its memory is kept for the next gradient. HW_ERROR_VALUE: index is out of
 * range. */
HW_API hw_status hw_module_clear_gradient(hw_module *module, size_t index);

/* ---- Optimizers ------------------------------------------------------------------------------------------ */

/* State of AdamW or SGD for a module's parameters. The first step of a parameter allocates its state. Some functions
 * take a list of parameter indices. An index must not occur twice in the list. A NULL list means all parameters.
 * Parameters without a gradient are skipped. */
typedef struct hw_optimizer hw_optimizer;

/* State of each element of a parameter. */
typedef enum hw_moment {
  HW_MOMENT_FIRST = 0,  /* AdamW's exp_avg, SGD's momentum_buffer */
  HW_MOMENT_SECOND = 1, /* AdamW's exp_avg_sq */
} hw_moment;

/* Creates an optimizer without state. The caller owns *optimizer. After the module is freed, the optimizer may only
 * be freed. HW_ERROR_VALUE: module is NULL. HW_ERROR_MEMORY: no memory. After an error *optimizer is NULL. */
HW_API hw_status hw_optimizer_create(hw_module *module, hw_optimizer **optimizer);

/* Frees the optimizer. NULL is allowed. */
HW_API void hw_optimizer_destroy(hw_optimizer *optimizer);

/* Settings of torch.optim.AdamW. torch's defaults are 1e-3, 0.9, 0.999, 1e-8 and 1e-2, in the order of the fields. */
typedef struct hw_adamw_config {
  double lr;
  double beta1; /* at least 0, below 1 */
  double beta2; /* likewise */
  double eps;
  double weight_decay;
} hw_adamw_config;

/* Settings of torch.optim.SGD. 0 turns a setting off. */
typedef struct hw_sgd_config {
  double lr;
  double momentum;
  double weight_decay;
  bool nesterov; /* needs a momentum above 0 */
} hw_sgd_config;

/* Make one optimizer step with the current gradients. The gradients are kept. HW_ERROR_VALUE: a required pointer is
 * NULL, a setting is negative, not finite as a float or out of range, or a parameter does not exist. HW_ERROR_MEMORY: no memory
 * for the state. After an error no parameter has changed. */
HW_API hw_status hw_adamw_step(hw_context *context, hw_optimizer *optimizer, const hw_adamw_config *config,
                               const uint32_t *parameters, size_t count);
HW_API hw_status hw_sgd_step(hw_context *context, hw_optimizer *optimizer, const hw_sgd_config *config,
                             const uint32_t *parameters, size_t count);

/* Get and set the number of steps of a parameter. It is 0 for a parameter that does not exist. To load a state dict,
 * set its `step` before or after the moments. HW_ERROR_VALUE: index is out of range, or steps is SIZE_MAX. */
HW_API size_t hw_optimizer_steps(const hw_optimizer *optimizer, size_t index);
HW_API hw_status hw_optimizer_set_steps(hw_optimizer *optimizer, size_t index, size_t steps);

/* Returns whether a parameter has this moment. A step or hw_optimizer_load_moment creates it. */
HW_API bool hw_optimizer_has_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment);

/* Copy rows of a moment, as hw_module_load and hw_module_store copy rows of a value. If there is no moment, loading
 * creates one and sets its other rows to zeros, and storing returns HW_ERROR_VALUE. HW_ERROR_MEMORY: no memory for a
 * new moment. */
HW_API hw_status hw_optimizer_load_moment(hw_optimizer *optimizer, size_t index, hw_moment moment, size_t first_row,
                                          size_t rows, const float *source);
HW_API hw_status hw_optimizer_store_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment,
                                           size_t first_row, size_t rows, float *target);

/* torch.nn.utils.clip_grad_norm_ over all gradients of a module. Writes their norm before clipping to *norm. As in torch,
 * squares are floats: a gradient above about 1.8e19 makes the norm infinite, and several gradients with such a norm may do so
 * too; finite gradients then become zeros. Multiplies the gradients by max_norm / (norm + 1e-6) if that is below 1. If the
 * norm is NaN, all gradients become NaN. HW_ERROR_VALUE: a required pointer is NULL, or max_norm is negative or NaN. After
 * an error the gradients are unchanged. */
HW_API hw_status hw_clip_grad_norm(hw_context *context, hw_module *module, double max_norm, double *norm);

/* The two steps of hw_clip_grad_norm, for a norm over several modules. The first adds the sum of the squared gradients
 * to *sum. The second multiplies the gradients by factor. HW_ERROR_VALUE: a required pointer is NULL, or a parameter does
 * not exist. After an error nothing has changed. */
HW_API hw_status hw_module_sum_gradient_squares(hw_context *context, hw_module *module, const uint32_t *parameters,
                                                size_t count, double *sum);
HW_API hw_status hw_module_scale_gradients(hw_context *context, hw_module *module, const uint32_t *parameters,
                                           size_t count, float factor);

/* The optimizer steps for plain arrays of count floats. steps includes this step: it is 1 for the first, whose moments
 * are zeros. momentum_buffer may be NULL if momentum is 0. Errors are those of the steps. HW_ERROR_VALUE also: steps is 0. */
HW_API hw_status hw_adamw_step_array(hw_context *context, const hw_adamw_config *config, size_t steps, size_t count,
                                     float *value, const float *gradient, float *exp_avg, float *exp_avg_sq);
HW_API hw_status hw_sgd_step_array(hw_context *context, const hw_sgd_config *config, size_t count, float *value,
                                   const float *gradient, float *momentum_buffer);

/* ---- Linear: torch.nn.Linear ---------------------------------------------------------------------- */

/* Sizes of a linear layer. */
typedef struct hw_linear_config {
  size_t in_features;
  size_t out_features;
  bool bias;
} hw_linear_config;

/* Linear layer: y = x·Wᵀ + b, x [rows, in_features] → y [rows, out_features]. Parameters: weight [out_features,
 * in_features], bias [out_features]. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_linear_create(hw_context *context, const hw_linear_config *config, hw_module **module);

/* ---- LayerNorm: torch.nn.LayerNorm over the last dimension ------------------------------------------ */

/* torch's default eps. */
#define HW_LAYER_NORM_EPS 1e-5

/* Width of a layer norm, and the eps that is added to the variance. */
typedef struct hw_layer_norm_config {
  size_t dim;
  double eps;
} hw_layer_norm_config;

/* hw_layer_normalization of x [rows, dim]. y may be x. Parameters: weight [dim], initially ones, and bias [dim],
 * initially zeros. No random numbers are drawn. HW_ERROR_SHAPE: dim is zero. HW_ERROR_VALUE: eps is negative or, as a
 * float, not finite. HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_layer_norm_create(hw_context *context, const hw_layer_norm_config *config, hw_module **module);

/* ---- Embedding: torch.nn.Embedding ------------------------------------------------------------------ */

/* Sizes of a table with one vector for each token id. */
typedef struct hw_embedding_config {
  size_t num_embeddings;
  size_t embedding_dim;
} hw_embedding_config;

/* Embedding: ids [batch, tokens] → y [batch, tokens, embedding_dim], the rows of the weight with these ids. Parameter:
 * weight [num_embeddings, embedding_dim], drawn by one randn. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: no
 * memory. */
HW_API hw_status hw_embedding_create(hw_context *context, const hw_embedding_config *config, hw_module **module);

/* ---- FeedForward: fc2(dropout(gelu(fc1(x)))) ---------------------------------------------------------- */

/* Sizes and dropout of a feed-forward network. */
typedef struct hw_feed_forward_config {
  size_t d_model;
  size_t d_ff;
  double dropout;                    /* of the hidden activations, in training mode */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
} hw_feed_forward_config;

/* Feed-forward network: x [rows, d_model] → y [rows, d_model]. y may be x. Parameters: fc1.weight [d_ff, d_model],
 * fc1.bias, fc2.weight [d_model, d_ff], fc2.bias. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: dropout is outside
 * [0, 1], or the approximation is unknown. HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_module **module);

/* ---- Attention modules ---------------------------------------------------------------------------------- */

/* Sizes and options of one attention head. d_out is the width of its output. */
typedef struct hw_causal_attention_config {
  size_t d_in;
  size_t d_out;
  size_t context_length; /* the most tokens of a forward; SIZE_MAX: no limit */
  double dropout;        /* of the weights, in training mode */
  bool qkv_bias;
  bool is_causal;
  bool by_hand; /* SelfAttention_v1 of chapter 3.4: W_query is a parameter [d_in, d_out], drawn by rand; no bias */
} hw_causal_attention_config;

/* CausalAttention of chapter 3.5, one head: x [batch, tokens, d_in] → y [batch, tokens, d_out]. Parameters:
 * W_query.weight [d_out, d_in], W_query.bias, W_key.*, W_value.*. With by_hand they are W_query [d_in, d_out], W_key
 * and W_value. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: dropout is outside [0, 1], or by_hand has a bias.
 * HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config,
                                            hw_module **module);

/* Settings of several heads, each a module of its own. */
typedef struct hw_multi_head_attention_wrapper_config {
  hw_causal_attention_config head;
  size_t num_heads;
} hw_multi_head_attention_wrapper_config;

/* MultiHeadAttentionWrapper of listing 3.4. It runs the heads one after another and concatenates their outputs: x
 * [batch, tokens, d_in] → y [batch, tokens, num_heads · d_out]. Parameters: heads.0.W_query.weight and so on. Errors
 * are those of hw_causal_attention_create. HW_ERROR_SHAPE also: num_heads is zero. */
HW_API hw_status hw_multi_head_attention_wrapper_create(hw_context *context,
                                                        const hw_multi_head_attention_wrapper_config *config,
                                                        hw_module **module);

/* Sizes and options of a multi-head attention module. */
typedef struct hw_multi_head_attention_config {
  size_t d_in;
  size_t d_out;          /* all heads together; a multiple of num_heads */
  size_t context_length; /* the most tokens of a forward, or of a cache; SIZE_MAX: no limit */
  size_t num_heads;
  double dropout; /* of the weights, in training mode */
  bool qkv_bias;
  bool out_proj;
  bool out_bias;
  bool is_causal;
  bool packed_qkv; /* one qkv_proj, drawn as Linear(d_in, 3·d_out), instead of W_query, W_key, W_value */
} hw_multi_head_attention_config;

/* MultiHeadAttention of listing 3.5. One projection serves all heads; strides split it. x [batch, tokens, d_in] → y
 * [batch, tokens, d_out]. Parameters: W_query.weight [d_out, d_in], W_query.bias, W_key.*, W_value.* (with packed_qkv:
 * qkv_proj.weight [3·d_out, d_in], qkv_proj.bias), out_proj.weight [d_out, d_out], out_proj.bias. HW_ERROR_SHAPE: a
 * size is zero, or d_out is not a multiple of num_heads. Other errors are those of hw_causal_attention_create.
 *
 * With a cache of `length` tokens, x holds the tokens of each sequence from position length on. Their keys and values
 * are appended to the cache. Then each token attends to the whole cache, or up to itself if the module is causal. A
 * mask covers [batch, heads, tokens, length + tokens]. */
HW_API hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                                hw_module **module);

/* ---- Caches of hw_multi_head_attention and hw_decoder ---------------------------------------------------- */

/* Initial content of a cache, and its type. A zeroed struct means an empty cache of float32.
 *
 * With 16 bits a cache takes half the memory. Keys and values are rounded as they come, to nearest, ties to even; what is
 * beyond 65,504 is infinite as float16. Attention, its weights and its traces are of the rounded ones: they are exact for
 * what is stored. */
typedef struct hw_past {
  const float *key;   /* [layers, batch, heads of keys, tokens, head_dim]; a decoder has num_key_value_heads of these */
  const float *value; /* the same */
  size_t tokens;
  hw_matrix_type dtype; /* of keys and values in the cache: float32, bfloat16 or float16 */
} hw_past;

/* Creates a cache for `batch` sequences of up to context_length tokens in each layer. It starts with a copy of past
 * (NULL: empty). Its memory grows with its tokens. The caller owns *cache. HW_ERROR_SHAPE: batch is zero.
 * HW_ERROR_VALUE: the module does not support caches, past has more than context_length tokens, past has tokens and a NULL
 * pointer, or its dtype is int8 or unknown. HW_ERROR_MEMORY: no memory, or context_length is above INT32_MAX. After an
 * error *cache is NULL. */
HW_API hw_status hw_module_create_cache(const hw_module *module, size_t batch, const hw_past *past,
                                        hw_key_value_cache **cache);

/* Frees the cache. NULL is allowed. */
HW_API void hw_key_value_cache_destroy(hw_key_value_cache *cache);

/* Returns the number of tokens of each sequence in the cache; of sequences that differ, the largest. */
HW_API size_t hw_key_value_cache_length(const hw_key_value_cache *cache);

/* Returns those of all sequences [batch]. The cache owns them. */
HW_API const uint32_t *hw_key_value_cache_lengths(const hw_key_value_cache *cache);

/* Removes all tokens after the first `length` of each sequence; a shorter sequence stays as it is. HW_ERROR_VALUE: the
 * longest sequence has fewer tokens. */
HW_API hw_status hw_key_value_cache_truncate(hw_key_value_cache *cache, size_t length);

/* ---- Transformer blocks ------------------------------------------------------------------------------- */

/* Sizes and options of a transformer block. */
typedef struct hw_transformer_block_config {
  size_t d_model; /* a multiple of num_heads */
  size_t num_heads;
  size_t d_ff;
  double dropout;  /* of the weights, the hidden activations and both branches, in training mode */
  bool norm_first; /* pre-norm (GPT-2); else post-norm (Vaswani et al. 2017) */
  bool is_causal;
  bool attention_bias;               /* of qkv_proj and out_proj */
  bool attention_only;               /* no feed-forward and no ln2; d_ff and approximate are ignored */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
  double eps;                        /* of the layer norms; 0: HW_LAYER_NORM_EPS */
} hw_transformer_block_config;

/* Attention and feed-forward, each with a layer norm and a residual connection: x [batch, tokens, d_model] → y of the
 * same shape. y may be x. Only memory limits the number of tokens.
 *
 *   norm_first:  h = x + dropout(attn(ln1(x)));   y = h + dropout(ffn(ln2(h)))
 *   else:        h = ln1(x + dropout(attn(x)));   y = ln2(h + dropout(ffn(h)))
 *
 * In training mode dropout draws in this order: attention weights, attention branch, hidden activations, feed-forward
 * branch. Parameters, in the order in which they are drawn: ln1.*, ln2.*, attn.qkv_proj.*, attn.out_proj.*, ffn.fc1.*,
 * ffn.fc2.*. HW_ERROR_SHAPE: a size is zero, or d_model is not a multiple of num_heads. HW_ERROR_VALUE: dropout is
 * outside [0, 1], the approximation is unknown, or eps is negative or, as a float, not finite. HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                             hw_module **module);

/* Settings of several equal blocks, one after another. */
typedef struct hw_transformer_stack_config {
  hw_transformer_block_config block;
  size_t num_layers;
} hw_transformer_stack_config;

/* Creates a stack of blocks. Parameters: blocks.0.ln1.weight and so on. Errors are those of
 * hw_transformer_block_create. HW_ERROR_SHAPE also: num_layers is zero. */
HW_API hw_status hw_transformer_stack_create(hw_context *context, const hw_transformer_stack_config *config,
                                             hw_module **module);

/* ---- Models: what decoders and encoders have in common ------------------------------------------------------ */

/* Whose names a model's parameters have in state dicts. */
typedef enum hw_names {
  HW_NAMES_GPT2 = 0, /* transformer.h.0.attn.c_attn.weight; weights of linear layers are [in_features, out_features] */
  HW_NAMES_GPT_NEOX = 1,   /* gpt_neox.layers.0.attention.query_key_value.weight: rows [num_heads][q, k, v][head_dim] */
  HW_NAMES_LLAMA = 2,      /* model.layers.0.self_attn.q_proj.weight: Llama, Mistral, Qwen 2 and 3, SmolLM3 */
  HW_NAMES_GEMMA3 = 3,     /* Llama's, with four norms a layer */
  HW_NAMES_BERT = 4,       /* bert.encoder.layer.0.attention.self.query.weight */
  HW_NAMES_ROBERTA = 5,    /* roberta. instead */
  HW_NAMES_DISTILBERT = 6, /* distilbert.transformer.layer.0.attention.q_lin.weight */
} hw_names;

/* Where norms are: before attention and feed-forward (GPT-2), after the residual connection of each (BERT), or before and
 * after each (Gemma 2; only with HW_NAMES_GEMMA3). */
typedef enum hw_norm_place {
  HW_NORM_PRE = 0,
  HW_NORM_POST = 1, /* of encoders alone */
  HW_NORM_BOTH = 2,
} hw_norm_place;

/* Rotary positions (Su et al. 2021), in Hugging Face's layout. Of the first 2 · pairs dimensions of a query or key, i and i +
 * pairs are rotated together by position · frequencies[i]. Cosine and sine are multiplied by factor: 1, but in
 * YaRN (Peng et al. 2023); not 0. */
typedef struct hw_rotary_config {
  const double *frequencies; /* [pairs], radians a token */
  size_t pairs;
  double factor;
} hw_rotary_config;

/* What differs between the layers of a model. */
typedef struct hw_layer_config {
  /* A token sees itself and the window - 1 tokens before it (0: all), and those after it as the causality says. */
  size_t window;
  int32_t rotary; /* which of the model's rotaries; -1: none */
} hw_layer_config;

/* The largest number of rotary configs of a model. */
#define HW_MOST_ROTARIES 8

/* Sizes and options of a model: an architecture is such a config. What pointers point to is copied on creation. */
typedef struct hw_model_config {
  hw_names names;
  bool is_bare;         /* names have no prefix such as transformer. */
  hw_matrix_type dtype; /* of matrices, embeddings included; norms and biases are float32 */
  size_t vocab_size;
  size_t context_length;
  size_t d_model;
  size_t num_layers;
  size_t num_heads;
  size_t num_key_value_heads; /* divides num_heads; equal to it with HW_NAMES_GPT2 and HW_NAMES_GPT_NEOX */
  size_t head_dim;
  size_t d_ff;        /* 0: blocks are attention only */
  double dropout;     /* of the embeddings and both branches, in training mode: see below */
  bool is_rms;        /* norms are RMS norms without bias (Zhang & Sennrich 2019); else layer norms */
  double eps;         /* of all norms; it is used as it is */
  double gain_offset; /* added to the weights of norms: 1 in Gemma */
  hw_norm_place norm_place;
  bool is_parallel; /* x + attention(norm1(x)) + feed_forward(norm2(x)) (GPT-J, GPT-NeoX); only with HW_NORM_PRE */
  /* RMS norms of each head's queries and keys, before rotary positions (Qwen 3, Gemma 3; only with their names). */
  bool qk_norm;
  bool qkv_bias;
  bool out_bias;
  bool mlp_bias;
  hw_activation activation;
  /* down(activation(gate(x)) · up(x)) (Shazeer 2020); else down(activation(up(x))). Only for models with Llama's or
   * Gemma's parameter names. */
  bool is_gated;
  double attention_scale;         /* 0: 1/√head_dim */
  double attention_softcap;       /* 0: none */
  double embedding_scale;         /* embeddings are multiplied by it: 1, or √d_model in Gemma; not 0 */
  size_t positions;               /* rows of learned positions; 0: none */
  size_t rotary_count;            /* at most HW_MOST_ROTARIES */
  const hw_rotary_config *rotary; /* [rotary_count] */
  const hw_layer_config *layers;  /* [num_layers]; NULL: no windows, and there are no rotaries */
} hw_model_config;

/* ---- Decoder: a language model ---------------------------------------------------------------------------- */

/* A model with causal attention, and what its output head is. */
typedef struct hw_decoder_config {
  hw_model_config model;
  bool ties_head;       /* the token embedding is the output head; else a matrix of its own, without a bias */
  double logit_softcap; /* 0: none; else logits are softcap·tanh(logits / softcap) (Gemma 2) */
} hw_decoder_config;

/* Decoder: ids [batch, tokens] → y [batch, logits_end - logits_start, vocab_size]. y is NULL if the range of logits is
 * empty. Attention is causal; with a mask the causality of the options says whether it is. With a cache of `length`
 * tokens, ids holds the tokens from position length on; keys are cached as attention reads them, normed and rotated.
 *
 * Dropout is of the sum of embeddings and of both branches of each block, drawn in that order (embd_pdrop and
 * resid_pdrop of GPT-2). It is active in training mode, but not in hw_decoder_attribution and its like, nor with
 * a cache or with options that read or change heads: weights, trace, head_mask, replace, start, residuals.
 *
 * Parameters have Hugging Face's names. Norms start as ones in effect (their weights as 1 - gain_offset), all else as zeros.
 * Only a decoder whose dtype is float32 can be recorded.
 *
 * HW_ERROR_SHAPE: a size is zero, num_heads is not a multiple of num_key_value_heads, a rotary has more pairs than a
 * head, or there are fewer learned positions than context_length. HW_ERROR_VALUE: an enumerator is unknown, eps is
 * negative, dropout is outside [0, 1], a softcap, as a float, is neither 0 nor from HW_SMALLEST_SOFTCAP to
 * HW_LARGEST_SOFTCAP, another number, as a float, is not finite, embedding_scale or a rotary's factor is 0, there are
 * rotaries without layers, a frequency is negative or too large for context_length tokens, a layer's rotary is not
 * there, options do not go together, or names or the place of norms are an encoder's. HW_ERROR_MEMORY: no memory. */
HW_API hw_status hw_decoder_create(const hw_decoder_config *config, hw_module **module);

/* How much each part of a decoder adds to a token's logit, or to the difference of two logits, at one position of one text: direct
 * logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). The scales of the final norm, of
 * norms after attention and feed-forward, and of a capped logit are held fixed, so that the parts add up to the logit
 * (difference). A head's part is its output times its rows of the output projection. Biases of output projections and of the
 * final norm are rest's biases, with what the rounding of int8 adds; those of feed-forwards belong to mlps. */
typedef struct hw_attribution {
  const uint32_t *ids; /* [tokens] */
  size_t tokens;
  size_t position;  /* of the token whose logits are explained: they are of what follows it */
  uint32_t target;  /* the id whose logit this is */
  uint32_t against; /* with has_against: the id whose logit is subtracted */
  bool has_against;
  float *heads; /* [num_layers, num_heads] */
  float *mlps;  /* [num_layers] */
  float *rest;  /* [3]: embedding (with position), biases, total: the logit or the difference */
  /* [num_layers, num_heads, head_dim] or NULL: the gradient of the total by each head's output, before the output projection.
   * Its dot product with that output is the head's part. */
  float *directions;
  const float *head_mask; /* [num_layers, num_heads] or NULL: as in hw_forward_options; outputs are those after it */
} hw_attribution;

/* Runs the text and writes the parts. Errors are those of hw_module_forward. HW_ERROR_VALUE also: the module is not a decoder,
 * or position or a token is out of range. */
HW_API hw_status hw_decoder_attribution(hw_context *context, const hw_module *decoder, const hw_attribution *call);

/* Writes the eigenvalues [head_dim, 2] (real and imaginary parts, the largest absolute value first) of a head's OV circuit
 * W_E·W_V·W_O·W_U, and their copying score Σλ / Σ|λ| (0 if all are 0; Elhage et al. 2021). The matrices are raw: without gains
 * of norms, biases and embedding_scale. The large product [vocab_size, vocab_size] has the same eigenvalues and zeros besides.
 * The products of the four matrices are float32: of weights so large that these overflow, the results mean nothing.
 * HW_ERROR_VALUE: the module is not a decoder, layer or head is out of range, or a pointer is NULL. */
HW_API hw_status hw_decoder_head_circuit(hw_context *context, const hw_module *decoder, size_t layer, size_t head,
                                         double *copying, double *eigenvalues);

/* What the parts of a decoder make of a head's score, the scaled product of a query and a key before softcap, mask and softmax:
 * the score is linear in the residual stream at the query (with the key held fixed) and at the key (with the query held fixed), if
 * the scales of norms are held fixed. Parts below the layer, `count` of them: heads [layer, num_heads], feed-forwards with their
 * biases [layer], the embedding with its position, and biases: of output projections, norms, queries and keys, with what
 * the rounding of int8 adds. count is layer · (num_heads + 1) + 2. Positions rotate the parts as they rotate the whole. */
typedef struct hw_qk_attribution {
  const uint32_t *ids; /* [tokens] */
  size_t tokens;
  size_t layer;
  size_t head;
  size_t query;       /* position of the token that attends */
  size_t key;         /* position of the token that is attended to */
  float *query_parts; /* [count]: they add up to the score */
  float *key_parts;   /* [count]: they add up to the score */
  /* NULL, or [count, count]: of each part of the query with each of the key. Rows add up to query_parts, columns to key_parts. */
  float *pairs;
  float *score;           /* [1] */
  const float *head_mask; /* [num_layers, num_heads] or NULL: as in hw_forward_options */
} hw_qk_attribution;

/* Runs the text up to the layer and writes the parts. Errors are those of hw_module_forward. HW_ERROR_VALUE also: the module is not
 * a decoder, or layer, head or a position is out of range. */
HW_API hw_status hw_decoder_qk_attribution(hw_context *context, const hw_module *decoder,
                                           const hw_qk_attribution *call);

/* Copies a head's matrices to out [4, head_dim, d_model]: W_Q, W_K, W_V and the transpose of W_O. They are raw, or with_gains: the
 * weights of the norm before attention, of norms of queries and keys, and of a norm after attention are multiplied in.
 * HW_ERROR_VALUE: the module is not a decoder, layer or head is out of range, or out is NULL. */
HW_API hw_status hw_decoder_head_weights(const hw_module *decoder, size_t layer, size_t head, bool with_gains,
                                         float *out);

/* Training input of a decoder, or of an encoder with a head for masked tokens. */
typedef struct hw_loss_input {
  const uint32_t *ids; /* [batch, tokens] */
  const int32_t
      *targets; /* [batch, tokens]; NULL, of a decoder: the next id of the row; the last token has no target */
  size_t batch;
  size_t tokens;
  int32_t ignore_index;         /* this target is ignored; torch's default is -100, and 0 ignores the first id */
  const uint32_t *token_types;  /* NULL: zeros; or [batch, tokens], of an encoder */
  const uint32_t *lengths;      /* NULL, or [batch], as in hw_input: the targets of padding are ignored */
  const uint32_t *position_ids; /* NULL, or [batch, tokens], of a decoder, as in hw_forward_options */
} hw_loss_input;

/* Writes the mean cross-entropy of a model's logits to *loss. Ignored targets do not count; if all are ignored, the
 * loss is NaN. The logits are computed for some rows at a time. graph is NULL, or receives what
 * hw_model_loss_backward needs; the caller owns *graph. The graph copies the arrays of the input.
 *
 * HW_ERROR_SHAPE: a size is zero, or tokens is above context_length. HW_ERROR_VALUE: a required pointer is NULL, the
 * module is neither a decoder nor an encoder with a head, an id or a target that is not ignored is outside [0, vocab_size), or a
 * token type, a position or a length is out of range. HW_ERROR_MEMORY: no memory. After an error *graph is NULL. */
HW_API hw_status hw_model_loss(hw_context *context, hw_module *model, const hw_loss_input *input, float *loss,
                               hw_graph **graph);

/* Adds scale times the loss's gradients to the gradients of the parameters. For a micro-batch, scale is its share of
 * the targets. Errors are those of hw_module_backward. */
HW_API hw_status hw_model_loss_backward(hw_context *context, hw_module *model, const hw_graph *graph, float scale);

/* ---- Encoder ------------------------------------------------------------------------------------------------ */

/* A model whose tokens attend to all tokens, and its head for masked tokens. */
typedef struct hw_encoder_config {
  /* Of an encoder's names, HW_NORM_POST, learned positions, embedding_scale 1; without rotaries and layers. */
  hw_model_config model;
  size_t first_position; /* of a row's first token: 0, or pad_token_id + 1 in RoBERTa */
  size_t token_types;    /* 0: none */
  bool has_head;
  bool ties_head;                /* the head's matrix is the token embedding */
  hw_activation head_activation; /* logits = norm(head_activation(dense(hidden)))·Wᵀ + bias */
} hw_encoder_config;

/* Encoder: ids [batch, tokens], with token_types of the options → y [batch, tokens, d_model]: each token's hidden state. lengths of the
 * input, or a mask of the options, hide padding. The sum of a token's embeddings has a norm of its own. Dropout is as in
 * hw_decoder_create: options that read or change heads turn it off, in training mode too.
 *
 * Its head, if it has one: x [batch, tokens, d_model] instead of ids, hidden states → y [batch, tokens, vocab_size]: logits. Such a
 * forward takes no options and no lengths, any number of tokens, and its graph gives dx. A backward from ids does not reach the
 * head's own parameters: they get no gradient from it.
 *
 * Parameters have Hugging Face's names. Norms start as ones, all else as zeros. Only an encoder whose dtype is float32 can be
 * recorded.
 *
 * HW_ERROR_SHAPE, HW_ERROR_VALUE and HW_ERROR_MEMORY as hw_decoder_create; HW_ERROR_SHAPE also: fewer positions than
 * first_position + context_length. HW_ERROR_VALUE also: model has names, a place of norms, rotaries or layers that are not an encoder's. */
HW_API hw_status hw_encoder_create(const hw_encoder_config *config, hw_module **module);

#ifdef __cplusplus
}
#endif

#endif
