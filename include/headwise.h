/*
 * Headwise: multi-head attention, head by head.
 *
 * Restrictions that hold for every function:
 * - Numbers are 32-bit floats, matrices are row-major, sizes and strides count floats (not bytes).
 * - A context serves one thread at a time; two contexts are independent.
 * - Input and output must not overlap unless a function says so.
 * - NULL for a context, a module, a trace, a cache or data that is needed is HW_ERROR_VALUE. A function without a status
 *   returns NULL or 0 for a NULL object, or does nothing. Pointers to configs and to results of creation are never NULL.
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

/* Scratch memory (grown before a run, never during it), the random number generator and threads. */
typedef struct hw_context hw_context;

/* Creates a context whose generator is seeded with torch's default seed. The caller owns *context and
 * ends it with hw_context_destroy. HW_ERROR_MEMORY leaves *context NULL. */
hw_status hw_context_create(hw_context **context);

/* Frees the context; NULL is allowed. Modules and traces do not belong to it and stay valid. */
void hw_context_destroy(hw_context *context);

/* Computes on so many threads from now on, the calling one among them, with the same results to the bit. The others sleep
 * between calls and end with the context. A new context has one. HW_ERROR_VALUE: no threads, or more than one where the
 * library has none (WebAssembly). HW_ERROR_MEMORY: they cannot be started. After an error there is one thread. */
hw_status hw_context_set_threads(hw_context *context, size_t threads);

/* Bytes of scratch that the context holds: what the largest run has needed, 0 after one failed for memory. Of more than a
 * mebibyte, what a run leaves unused is given back before it, if it needs less than a quarter. Where a larger run follows
 * such a release, the next one takes twice as many small runs in a row, up to 16, so that sizes that alternate keep
 * their memory. */
size_t hw_context_scratch_bytes(const hw_context *context);

/* ---- Random numbers: the values of torch's CPU generator (x86 build without MKL) ---------------- */

/* torch.manual_seed(seed): also forgets the normal that a previous small randn cached. */
hw_status hw_manual_seed(hw_context *context, uint64_t seed);

/* torch.rand: out [count], uniform in [0, 1), in row-major order. */
hw_status hw_rand(hw_context *context, float *out, size_t count);

/* Tensor.uniform_(from, to): out [count]. */
hw_status hw_uniform(hw_context *context, float from, float to, float *out, size_t count);

/* torch.randn: out [count]. Fewer than 16 values are drawn one by one in double precision, 16 and more
 * in blocks in single precision: as in torch, randn of 20 is not randn of 10 twice. */
hw_status hw_randn(hw_context *context, float *out, size_t count);

/* ---- Functions --------------------------------------------------------------------------------- */

/* c[i] = a[a_index[i]] · b[b_index[i]] for i < batch, matrices a [m, k], b [k, n], c [m, n] stored one
 * after another. The indices are matrix numbers and so express broadcasting.
 * HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY: no scratch for the packed b. */
hw_status hw_matmul(hw_context *context, const float *a, const float *b, float *c, size_t batch,
                    const uint32_t *a_index, const uint32_t *b_index, size_t m, size_t k, size_t n);

/* y[i] = transpose of x[i]: x [batch, rows, columns], y [batch, columns, rows], which must not overlap. A size of zero
 * writes nothing. */
hw_status hw_transpose(const float *x, float *y, size_t batch, size_t rows, size_t columns);

/* Softmax over the last dimension, x and y [rows, columns]; y may be x. A row of -inf gives zeros; a row
 * with NaN or +inf is NaN, as in torch. A size of zero writes nothing. */
hw_status hw_softmax(const float *x, float *y, size_t rows, size_t columns);

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

/* The most axes a tensor may have. */
#define HW_MOST_AXES 64

/* Operations on two tensors, element by element. */
typedef enum hw_binary_operation {
  HW_BINARY_ADD = 0,
  HW_BINARY_SUBTRACT = 1, /* a - b */
  HW_BINARY_MULTIPLY = 2,
} hw_binary_operation;

/* y = a (operation) b with broadcasting: y of shape [rank], a and b of shapes that have the same size for every axis, or 1.
 * y may be an operand of its own shape. HW_ERROR_SHAPE: a size is zero or does not fit. HW_ERROR_VALUE: no such operation, or
 * more than HW_MOST_AXES axes. */
hw_status hw_broadcast(hw_binary_operation operation, size_t rank, const uint32_t *shape, const float *a,
                       const uint32_t *a_shape, const float *b, const uint32_t *b_shape, float *y);

/* y = scale · the sum of x along the axes whose size in y_shape is 1: x of shape [rank], y [rank] with the same sizes for the
 * other axes. Added up in double precision, rounded once. x and y must not overlap. HW_ERROR_SHAPE: a size is zero or does
 * not fit. HW_ERROR_VALUE: more than HW_MOST_AXES axes. */
hw_status hw_sum(size_t rank, const uint32_t *shape, const float *x, const uint32_t *y_shape, double scale, float *y);

/* torch.nn.functional.dropout: every element is dropped with this probability, the others are multiplied by 1/(1 - dropout); y
 * may be x [count]. Draws as torch does; 0 draws nothing. HW_ERROR_VALUE: dropout outside [0, 1]. */
hw_status hw_dropout(hw_context *context, const float *x, size_t count, double dropout, float *y);

/* The same without centering, as HF's RMS norms (Zhang & Sennrich 2019): y = x/√(mean of x² + eps)·weight. weight may be NULL.
 * Errors as above. */
hw_status hw_rms_normalization(hw_context *context, const float *x, size_t rows, size_t columns, const float *weight,
                               double eps, float *y);

/* Functions of every element alone. */
typedef enum hw_activation {
  HW_ACTIVATION_GELU = 0,
  HW_ACTIVATION_GELU_TANH = 1,
  HW_ACTIVATION_RELU = 2,
  HW_ACTIVATION_SILU = 3, /* x/(1 + exp(-x)); -inf gives 0, as GELU does */
  HW_ACTIVATION_TANH = 4,
} hw_activation;

/* y = f(x), both [count]; y may be x. HW_ERROR_VALUE: no such activation. */
hw_status hw_activate(hw_context *context, hw_activation activation, const float *x, float *y, size_t count);

/* y [count, columns]: rows ids[i] of the table [rows, columns]. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: an id is not below
 * rows. */
hw_status hw_embed(const float *table, size_t rows, size_t columns, const uint32_t *ids, size_t count, float *y);

/* ---- Losses ------------------------------------------------------------------------------------ */

/* torch.nn.functional.cross_entropy of logits [rows, classes] and targets [rows], each below classes, or ignore_index. */
typedef struct hw_cross_entropy_call {
  const float *logits;
  const int32_t *targets;
  size_t rows;
  size_t classes;
  int32_t ignore_index;
  float label_smoothing; /* 0 to 1 */
  float *losses;         /* [rows], 0 for a target that is ignored; NULL: not wanted */
  /* NULL, or [rows, classes]; may be the logits: the gradient of the sum of scale·losses[i]·row_scales[i]. */
  float *gradient;
  float scale;             /* 1/(targets that are not ignored): of the mean */
  const float *row_scales; /* [rows]; NULL: ones */
} hw_cross_entropy_call;

/* HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: a target is no class, label_smoothing is outside [0, 1], or NULL. */
hw_status hw_cross_entropy(hw_context *context, const hw_cross_entropy_call *call);

/* ---- Gradients of functions ---------------------------------------------------------------------- */

/* dx [count] = dy·f'(x); dx may be x or dy. */
hw_status hw_activation_backward(hw_context *context, hw_activation activation, const float *x, const float *dy,
                                 float *dx, size_t count);

/* dx = y·(dy - sum over the row of y·dy), all [rows, columns], y being what hw_softmax gave; dx may be y or dy. A size of zero
 * writes nothing. */
hw_status hw_softmax_backward(const float *y, const float *dy, float *dx, size_t rows, size_t columns);

/* Of hw_layer_normalization: dx [rows, columns], which may be dy, and the gradients of weight and bias [columns], which are
 * added. NULL for each that is not wanted; weight NULL: ones. Errors as of the forward. */
hw_status hw_layer_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                          const float *weight, double eps, const float *dy, float *dx, float *d_weight,
                                          float *d_bias);

/* The same of hw_rms_normalization. */
hw_status hw_rms_normalization_backward(hw_context *context, const float *x, size_t rows, size_t columns,
                                        const float *weight, double eps, const float *dy, float *dx, float *d_weight);

/* Of hw_embed: adds row i of dy [count, columns] to row ids[i] of d_table [rows, columns]. Errors as of the forward. */
hw_status hw_embed_backward(const uint32_t *ids, size_t count, const float *dy, size_t rows, size_t columns,
                            float *d_table);

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
  /* NULL, or what the call leaves for hw_scaled_dot_product_attention_backward: [batch, heads, query_tokens] each, the largest
   * score and the sum of exp(score - largest), and with dropout kept [batch, heads, query_tokens, (key_tokens + 31) / 32]: bit
   * j % 32 of word j / 32 says whether weight j is kept. */
  float *row_maximum;
  float *row_sum;
  uint32_t *kept;
} hw_attention;

/* HW_ERROR_SHAPE: a size is zero, or heads is no multiple of key_heads. HW_ERROR_VALUE: a NULL pointer, dropout outside
 * [0, 1], softcap out of its range, a length above key_tokens, or a kind that does not exist. HW_ERROR_MEMORY: no
 * scratch. */
hw_status hw_scaled_dot_product_attention(hw_context *context, const hw_attention *attention);

/* Gradients of a call: that of its output, and where those of its operands are written, of their shapes. NULL: not wanted. */
typedef struct hw_attention_gradient {
  const float *output;
  float *query;
  float *key;
  float *value;
  hw_strides output_strides;
  hw_strides query_strides;
  hw_strides key_strides;
  hw_strides value_strides;
  float *
      mask; /* where a mask of floats has its elements, this has their gradients, which are added; broadcast ones add up */
} hw_attention_gradient;

/* From a call that has run, with its operands, its output and what it left in row_maximum, row_sum and kept. Weights are
 * recomputed in blocks (Dao et al. 2022, FlashAttention); there is no n×n matrix. A query that sees no key has a gradient of
 * zeros and gives none, and neither does a key to queries that do not see it. weights and log_sum_exp are not looked
 * at. HW_ERROR_SHAPE and HW_ERROR_VALUE as of the call; HW_ERROR_VALUE: no row_maximum, row_sum or, with dropout, kept, or a
 * gradient of a mask that has none. HW_ERROR_MEMORY: no scratch. */
hw_status hw_scaled_dot_product_attention_backward(hw_context *context, const hw_attention *attention,
                                                   const hw_attention_gradient *gradient);

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

/* ---- Modules: parameters and a forward ----------------------------------------------------------------- */

/* A module or a model. It belongs to no context; its creator owns it and ends it with hw_module_destroy. A create function
 * draws the initial weights from the context's generator, in torch's order; a NULL context draws nothing. After an error
 * of a create function *module is NULL and the generator is where it was. */
typedef struct hw_module hw_module;

/* Frees the module with all that is in it; NULL is allowed. Its traces and caches stay valid. */
void hw_module_destroy(hw_module *module);

/* In training mode dropout is active; a new module is in training mode, as in torch. Sets the modules inside, too. In a forward of
 * a wrapper its own mode holds for all heads. */
void hw_module_train(hw_module *module, bool training);

/* A module inside this one by its name, such as attn or blocks.1; NULL if there is none. The parts of a decoder's blocks, h.0 and
 * so on, have a block's names (h.0.ln1). Owned by this module. */
hw_module *hw_module_child(hw_module *module, const char *name);

/* Keys and values of past tokens, so that a forward computes only what is new. */
typedef struct hw_key_value_cache hw_key_value_cache;

/* What a forward is of: x of most modules, ids of hw_embedding and hw_decoder. A module that treats every row alone takes
 * batch · tokens rows. */
typedef struct hw_input {
  const float *x;      /* [batch, tokens, width] */
  const uint32_t *ids; /* [batch, tokens] */
  size_t batch;
  size_t tokens;
  size_t logits_start; /* of hw_decoder: logits of tokens [logits_start, logits_end) of every sequence; none if equal */
  size_t logits_end;
} hw_input;

/* Whether a forward hides later keys. A mask hides keys besides. */
typedef enum hw_causality {
  HW_CAUSALITY_DEFAULT = 0, /* as the module's config says; with a mask: off, the mask replaces it */
  HW_CAUSALITY_OFF = 1,
  HW_CAUSALITY_ON = 2,
  HW_CAUSALITY_OWN = 3, /* as the module's config says, with a mask too */
} hw_causality;

/* What a forward of attention may be asked for besides its output; a zeroed struct asks for nothing. Of a module with
 * several layers, every option but mask and cache is about each of them, one after another. */
typedef struct hw_forward_options {
  hw_mask mask;   /* which keys are visible, together with `causality` */
  float *weights; /* NULL, or [batch, heads, tokens, tokens], with a cache [batch, heads, tokens, length + tokens] */
  /* NULL, or receives a trace that the caller owns, one for each layer; after an error all are NULL. */
  hw_trace **trace;
  /* NULL, or a cache that hw_module_create_cache made for this module. */
  hw_key_value_cache *cache;
  /* NULL, or a factor for every head's output, [num_heads]: 0 mutes a head. Not for hw_causal_attention and the wrapper. */
  const float *head_mask;
  hw_causality causality;
} hw_forward_options;

/* Runs the module on the input, and writes its output y; the shapes stand with the create functions. options may be NULL.
 * HW_ERROR_SHAPE: a size is zero, more tokens than the module's context_length, or a cache of another module or batch.
 * HW_ERROR_VALUE: a NULL where data is needed, an id beyond the last, logits_start and logits_end out of order, a mask
 * without data, an unknown kind of mask or causality, an option that the module does not have, or more tokens than the cache has room for.
 * HW_ERROR_MEMORY: no scratch, or no memory for a trace. After any error the cache is as it was. */
hw_status hw_module_forward(hw_context *context, const hw_module *module, const hw_input *input, float *y,
                            const hw_forward_options *options);

/* ---- Parameters ---------------------------------------------------------------------------------------- */

/* Longer than any parameter's name with its end. */
#define HW_NAME_BYTES 96

/* A parameter as torch's state dict has it. */
typedef struct hw_parameter_info {
  char name[HW_NAME_BYTES]; /* such as blocks.0.attn.qkv_proj.weight */
  size_t rank;              /* 1 or 2 */
  size_t shape[2];          /* shape[1] is 1 if the rank is */
} hw_parameter_info;

/* Parameters of a module, in the order of torch's state dict. The first of the functions below that a module meets lists them
 * for all that come later: HW_ERROR_MEMORY, SIZE_MAX of hw_module_find_parameter: there is no room for the list. */
size_t hw_module_parameter_count(hw_module *module);

/* HW_ERROR_VALUE: there are fewer parameters. */
hw_status hw_module_parameter(hw_module *module, size_t index, hw_parameter_info *info);

/* The index of a parameter; SIZE_MAX if no parameter has this name. */
size_t hw_module_find_parameter(hw_module *module, const char *name);

/* Copies rows [first_row, first_row + rows) of a parameter in or out, [rows, shape[1]]. HW_ERROR_SHAPE: rows beyond
 * shape[0]. HW_ERROR_VALUE: there are fewer parameters, or a NULL. */
hw_status hw_module_load(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source);
hw_status hw_module_store(hw_module *module, size_t index, size_t first_row, size_t rows, float *target);

/* ---- Gradients ------------------------------------------------------------------------------------------ */

/* What one forward kept for its backward: activations, and copies of the masks; a few floats for each token and layer, no
 * matrix of tokens by tokens. */
typedef struct hw_graph hw_graph;

/* hw_module_forward, and *graph for hw_module_backward, which the caller owns. The output is the same to the bit, and traces
 * and weights come as without it. Errors are those of hw_module_forward; HW_ERROR_VALUE besides: options has a cache, or a
 * parameter is not of 32-bit floats.
 * HW_ERROR_MEMORY: also no room for the graph. After an error *graph is NULL. */
hw_status hw_module_forward_recorded(hw_context *context, hw_module *module, const hw_input *input, float *y,
                                     const hw_forward_options *options, hw_graph **graph);

/*
 * Backpropagation through that forward: adds to the gradient of every parameter of the module, and writes the gradient of
 * the input's x to dx, unless it is NULL.
 *
 *   input  the forward's, with the same contents
 *   dy     [as y], the gradient of the output
 *   dx     [as input->x], or NULL; of a module that takes ids it is NULL. It must not overlap dy or x.
 *
 * The graph stays as it is: a second backward adds the same again. HW_ERROR_VALUE: a NULL, a dx where there is none, or the
 * graph is of another module or of parameters that have changed since (hw_graph_is_current). HW_ERROR_SHAPE: the input has
 * another batch, or other tokens. HW_ERROR_MEMORY: no scratch, or no room for the gradients. After an error no gradient has
 * changed. */
hw_status hw_module_backward(hw_context *context, hw_module *module, const hw_input *input, const hw_graph *graph,
                             const float *dy, float *dx);

/* Frees the graph; NULL is allowed. It may outlive its module. */
void hw_graph_destroy(hw_graph *graph);

/* Whether the graph is of this module, and no parameter has been loaded or stepped since. */
bool hw_graph_is_current(const hw_graph *graph, hw_module *module);

/* Bytes that the graph holds. */
size_t hw_graph_bytes(const hw_graph *graph);

/* Whether a parameter has a gradient: since a backward or hw_module_load_gradient, until it is cleared. */
bool hw_module_has_gradient(hw_module *module, size_t index);

/* Copies rows of a gradient in or out, as hw_module_load and hw_module_store do of the value. Where there was no gradient,
 * loading makes one, whose other rows are zeros: HW_ERROR_MEMORY; storing is HW_ERROR_VALUE. */
hw_status hw_module_load_gradient(hw_module *module, size_t index, size_t first_row, size_t rows, const float *source);
hw_status hw_module_store_gradient(hw_module *module, size_t index, size_t first_row, size_t rows, float *target);

/* The parameter has no gradient from now on; its memory stays for the next. HW_ERROR_VALUE: there are fewer parameters. */
hw_status hw_module_clear_gradient(hw_module *module, size_t index);

/* ---- Optimizers ------------------------------------------------------------------------------------------ */

/* What AdamW or SGD remembers of a module's parameters, in memory that is made at a parameter's first step. Where a function
 * takes a list of parameters' numbers, each stands there at most once; NULL: all. Parameters without a gradient are passed
 * over. */
typedef struct hw_optimizer hw_optimizer;

/* What is remembered of every element. */
typedef enum hw_moment {
  HW_MOMENT_FIRST = 0,  /* AdamW's exp_avg, SGD's momentum_buffer */
  HW_MOMENT_SECOND = 1, /* AdamW's exp_avg_sq */
} hw_moment;

/* Nothing is remembered yet. The optimizer is the caller's, and is not used after the module's end. HW_ERROR_VALUE: no module.
 * HW_ERROR_MEMORY. After an error *optimizer is NULL. */
hw_status hw_optimizer_create(hw_module *module, hw_optimizer **optimizer);

/* Frees the optimizer; NULL is allowed. */
void hw_optimizer_destroy(hw_optimizer *optimizer);

/* Settings of torch.optim.AdamW, whose defaults are 1e-3, 0.9, 0.999, 1e-8 and 1e-2. */
typedef struct hw_adamw_config {
  double lr;
  double beta1; /* from 0 on, below 1 */
  double beta2;
  double eps;
  double weight_decay;
} hw_adamw_config;

/* Settings of torch.optim.SGD; 0 for what is not wanted. */
typedef struct hw_sgd_config {
  double lr;
  double momentum;
  double weight_decay;
  bool nesterov; /* with a momentum */
} hw_sgd_config;

/* One step by the gradients that are there, which stay. HW_ERROR_VALUE: a NULL, a setting that is negative, not finite or outside
 * its range, or a parameter that does not exist. HW_ERROR_MEMORY: no room for what is remembered. After an error no parameter has
 * changed. */
hw_status hw_adamw_step(hw_context *context, hw_optimizer *optimizer, const hw_adamw_config *config,
                        const uint32_t *parameters, size_t count);
hw_status hw_sgd_step(hw_context *context, hw_optimizer *optimizer, const hw_sgd_config *config,
                      const uint32_t *parameters, size_t count);

/* How many steps a parameter has made; 0 if it does not exist. A state dict's `step` is set before or after the moments.
 * HW_ERROR_VALUE: there are fewer parameters. */
size_t hw_optimizer_steps(const hw_optimizer *optimizer, size_t index);
hw_status hw_optimizer_set_steps(hw_optimizer *optimizer, size_t index, size_t steps);

/* Whether a moment of a parameter is there: since a step that has it, or since it was loaded. */
bool hw_optimizer_has_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment);

/* Copies rows of a moment in or out, as hw_module_load and hw_module_store do of the value. Where there was none, loading makes
 * one, whose other rows are zeros: HW_ERROR_MEMORY; storing is HW_ERROR_VALUE. */
hw_status hw_optimizer_load_moment(hw_optimizer *optimizer, size_t index, hw_moment moment, size_t first_row,
                                   size_t rows, const float *source);
hw_status hw_optimizer_store_moment(const hw_optimizer *optimizer, size_t index, hw_moment moment, size_t first_row,
                                    size_t rows, float *target);

/* torch.nn.utils.clip_grad_norm_ over all gradients of a module: *norm is their norm before, and where it is above max_norm they
 * are multiplied by max_norm / (norm + 1e-6). HW_ERROR_VALUE: a NULL, or max_norm is negative or NaN. HW_ERROR_MEMORY: no
 * scratch; then they are as before. */
hw_status hw_clip_grad_norm(hw_context *context, hw_module *module, double max_norm, double *norm);

/* Its parts, for norms over several modules: *sum += the squares of the gradients; the gradients times a factor. */
hw_status hw_module_sum_gradient_squares(hw_context *context, hw_module *module, const uint32_t *parameters,
                                         size_t count, double *sum);
hw_status hw_module_scale_gradients(hw_context *context, hw_module *module, const uint32_t *parameters, size_t count,
                                    float factor);

/* The same steps of plain arrays of `count` floats; steps counts this one: 1 for the first, whose moments are zeros.
 * momentum_buffer may be NULL if momentum is 0. */
hw_status hw_adamw_step_array(hw_context *context, const hw_adamw_config *config, size_t steps, size_t count,
                              float *value, const float *gradient, float *exp_avg, float *exp_avg_sq);
hw_status hw_sgd_step_array(hw_context *context, const hw_sgd_config *config, size_t count, float *value,
                            const float *gradient, float *momentum_buffer);

/* ---- Linear: torch.nn.Linear ---------------------------------------------------------------------- */

/* Sizes of a linear layer. */
typedef struct hw_linear_config {
  size_t in_features;
  size_t out_features;
  bool bias;
} hw_linear_config;

/* y = x·Wᵀ + b: x [rows, in_features] → y [rows, out_features]. Parameters: weight [out_features, in_features], bias
 * [out_features]. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY. */
hw_status hw_linear_create(hw_context *context, const hw_linear_config *config, hw_module **module);

/* ---- LayerNorm: torch.nn.LayerNorm over the last dimension ------------------------------------------ */

/* torch's default eps. */
#define HW_LAYER_NORM_EPS 1e-5

/* Width of a layer norm, and what is added to the variance. */
typedef struct hw_layer_norm_config {
  size_t dim;
  double eps;
} hw_layer_norm_config;

/* hw_layer_normalization of x [rows, dim]; y may be x. Parameters: weight [dim], ones at first, bias [dim], zeros. Nothing is
 * drawn. HW_ERROR_SHAPE: dim is zero. HW_ERROR_VALUE: eps is negative or not finite. HW_ERROR_MEMORY. */
hw_status hw_layer_norm_create(hw_context *context, const hw_layer_norm_config *config, hw_module **module);

/* ---- Embedding: torch.nn.Embedding ------------------------------------------------------------------ */

/* Sizes of a table of vectors, one for each token id. */
typedef struct hw_embedding_config {
  size_t num_embeddings;
  size_t embedding_dim;
} hw_embedding_config;

/* y [batch, tokens, embedding_dim]: row ids[i] of the weight for every id. Parameter: weight [num_embeddings,
 * embedding_dim], drawn by one randn. HW_ERROR_SHAPE: a size is zero. HW_ERROR_MEMORY. */
hw_status hw_embedding_create(hw_context *context, const hw_embedding_config *config, hw_module **module);

/* ---- FeedForward: fc2(dropout(gelu(fc1(x)))) ---------------------------------------------------------- */

/* Sizes of a feed-forward and its dropout. */
typedef struct hw_feed_forward_config {
  size_t d_model;
  size_t d_ff;
  double dropout;                    /* of the hidden activations, in training mode */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
} hw_feed_forward_config;

/* x [rows, d_model] → y [rows, d_model]; y may be x. Parameters: fc1.weight [d_ff, d_model], fc1.bias, fc2.weight [d_model,
 * d_ff], fc2.bias. HW_ERROR_SHAPE: a size is zero. HW_ERROR_VALUE: dropout outside [0, 1], or no such approximation.
 * HW_ERROR_MEMORY. */
hw_status hw_feed_forward_create(hw_context *context, const hw_feed_forward_config *config, hw_module **module);

/* ---- Attention modules ---------------------------------------------------------------------------------- */

/* Sizes of one head, d_out of its output, and what it does. */
typedef struct hw_causal_attention_config {
  size_t d_in;
  size_t d_out;
  size_t context_length; /* more tokens than this are refused; SIZE_MAX: no limit */
  double dropout;        /* of the weights, in training mode */
  bool qkv_bias;
  bool is_causal;
  bool by_hand; /* chapter 3.4's SelfAttention_v1: W_query is a parameter [d_in, d_out], drawn by rand; no bias */
} hw_causal_attention_config;

/* Chapter 3.5's CausalAttention: one head. x [batch, tokens, d_in] → y [batch, tokens, d_out]. Parameters: W_query.weight
 * [d_out, d_in], W_query.bias, W_key.*, W_value.*; by hand W_query [d_in, d_out], W_key, W_value. HW_ERROR_SHAPE: a size is
 * zero. HW_ERROR_VALUE: dropout outside [0, 1], or a bias by hand. HW_ERROR_MEMORY. */
hw_status hw_causal_attention_create(hw_context *context, const hw_causal_attention_config *config, hw_module **module);

/* Heads that are modules of their own. */
typedef struct hw_multi_head_attention_wrapper_config {
  hw_causal_attention_config head;
  size_t num_heads;
} hw_multi_head_attention_wrapper_config;

/* Listing 3.4's MultiHeadAttentionWrapper: heads run one after another, outputs side by side: x [batch, tokens, d_in] → y
 * [batch, tokens, num_heads · d_out]. Parameters: heads.0.W_query.weight and so on. Errors as hw_causal_attention_create;
 * num_heads of zero is HW_ERROR_SHAPE. */
hw_status hw_multi_head_attention_wrapper_create(hw_context *context,
                                                 const hw_multi_head_attention_wrapper_config *config,
                                                 hw_module **module);

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
  bool packed_qkv; /* one qkv_proj, drawn as one Linear(d_in, 3·d_out), instead of W_query, W_key, W_value */
} hw_multi_head_attention_config;

/* Listing 3.5's MultiHeadAttention: one projection for all heads, split by strides: x [batch, tokens, d_in] → y [batch, tokens,
 * d_out]. Parameters: W_query.weight [d_out, d_in], W_query.bias, W_key.*, W_value.* (or qkv_proj.weight [3·d_out, d_in],
 * qkv_proj.bias), out_proj.weight [d_out, d_out], out_proj.bias. HW_ERROR_SHAPE: a size is zero or d_out is not a multiple of
 * num_heads. Otherwise as hw_causal_attention_create.
 *
 * With a cache of `length` tokens, x's are tokens length and up of their sequences: their keys and values are appended to
 * the cache, and they attend over all that is in it then, each up to itself if the module is causal. A mask is one over
 * [batch, heads, tokens, length + tokens]. */
hw_status hw_multi_head_attention_create(hw_context *context, const hw_multi_head_attention_config *config,
                                         hw_module **module);

/* ---- Caches of hw_multi_head_attention and hw_decoder ---------------------------------------------------- */

/* Where a cache starts; a zeroed struct is nothing. */
typedef struct hw_past {
  const float *key; /* [batch, heads, tokens, head_dim], one head's matrix after another, layer after layer */
  const float *value;
  size_t tokens;
} hw_past;

/* A cache for `batch` sequences of up to context_length tokens of each layer. It starts with a copy of past (NULL: empty).
 * All its memory is taken here. The caller owns *cache. HW_ERROR_SHAPE: batch is zero. HW_ERROR_VALUE: the module has no
 * caches, more past tokens than context_length, or a NULL where there are some. HW_ERROR_MEMORY: no memory, or
 * context_length is beyond INT32_MAX. After an error *cache is NULL. */
hw_status hw_module_create_cache(const hw_module *module, size_t batch, const hw_past *past,
                                 hw_key_value_cache **cache);

/* Frees the cache; NULL is allowed. */
void hw_key_value_cache_destroy(hw_key_value_cache *cache);

/* Tokens of each sequence that are in the cache. */
size_t hw_key_value_cache_length(const hw_key_value_cache *cache);

/* Forgets all tokens but the first `length`. HW_ERROR_VALUE: there are fewer. */
hw_status hw_key_value_cache_truncate(hw_key_value_cache *cache, size_t length);

/* ---- Transformer blocks ------------------------------------------------------------------------------- */

/* Sizes of a block, and what it does. */
typedef struct hw_transformer_block_config {
  size_t d_model; /* a multiple of num_heads */
  size_t num_heads;
  size_t d_ff;
  double dropout;  /* of the weights, the hidden activations and both branches, in training mode */
  bool norm_first; /* pre-norm (GPT-2); else post-norm (Vaswani et al. 2017) */
  bool is_causal;
  bool attention_bias;               /* of qkv_proj and out_proj */
  bool attention_only;               /* neither feed-forward nor ln2; d_ff does not count */
  hw_gelu_approximation approximate; /* HW_GELU_NONE, 0: the exact GELU */
  double eps;                        /* of the layer norms; 0: HW_LAYER_NORM_EPS */
} hw_transformer_block_config;

/* Attention and feed-forward, each with a layer norm and a residual connection: x [batch, tokens, d_model] → y of the same
 * shape, as many tokens as memory holds; y may be x.
 *
 *   norm_first:  h = x + dropout(attn(ln1(x)));   y = h + dropout(ffn(ln2(h)))
 *   else:        h = ln1(x + dropout(attn(x)));   y = ln2(h + dropout(ffn(h)))
 *
 * In training mode dropout draws for the attention's weights, its branch, the hidden activations and their branch, in
 * this order. Parameters: ln1.*, ln2.*, attn.qkv_proj.*, attn.out_proj.*, ffn.fc1.*, ffn.fc2.*, drawn in this order.
 * HW_ERROR_SHAPE: a size is zero, or d_model is not a multiple of num_heads. HW_ERROR_VALUE: dropout outside [0, 1], no such
 * approximation, or eps negative or not finite. HW_ERROR_MEMORY. */
hw_status hw_transformer_block_create(hw_context *context, const hw_transformer_block_config *config,
                                      hw_module **module);

/* Blocks of one kind, one after another. */
typedef struct hw_transformer_stack_config {
  hw_transformer_block_config block;
  size_t num_layers;
} hw_transformer_stack_config;

/* Parameters: blocks.0.ln1.weight and so on. Errors as hw_transformer_block_create; num_layers of zero is HW_ERROR_SHAPE. */
hw_status hw_transformer_stack_create(hw_context *context, const hw_transformer_stack_config *config,
                                      hw_module **module);

/* ---- Decoder: a language model ---------------------------------------------------------------------------- */

/* Sizes of a decoder, and what its blocks do: embeddings of tokens and positions, blocks, a last layer norm, and the token
 * embedding as output head. GPT-2 (Radford et al. 2019) has blocks that are norm_first and causal, with attention_bias. */
typedef struct hw_decoder_config {
  size_t vocab_size;
  size_t context_length;
  size_t num_layers;
  hw_transformer_block_config block; /* its eps is the last norm's, too */
} hw_decoder_config;

/* ids → y [batch, logits_end - logits_start, vocab_size]; NULL if there are none. With a cache of `length` tokens, the ids
 * are those of tokens length and up.
 *
 * Parameters are Hugging Face's, whose linear layers are Conv1D, [in_features, out_features]: wte.weight [vocab_size, d_model],
 * wpe.weight, h.0.ln_1.*, h.0.attn.c_attn.*, h.0.attn.c_proj.*, h.0.ln_2.*, h.0.mlp.c_fc.*, h.0.mlp.c_proj.*, ln_f.*. Layer
 * norms start as ones and zeros, all else as zeros. HW_ERROR_SHAPE: a size is zero, or d_model is not a multiple of
 * num_heads. HW_ERROR_VALUE: eps is negative or not finite, or no such approximation. HW_ERROR_MEMORY. */
hw_status hw_decoder_create(const hw_decoder_config *config, hw_module **module);

/* What a language model is trained on. */
typedef struct hw_loss_input {
  const uint32_t *ids;    /* [batch, tokens] */
  const int32_t *targets; /* [batch, tokens]; NULL: the next id of the row, the last one's is ignored */
  size_t batch;
  size_t tokens;
  int32_t ignore_index; /* a target that does not count; torch's default is -100 */
} hw_loss_input;

/* *loss = the mean cross-entropy of a decoder's logits and the targets that are not ignored; NaN if there are none. Logits exist for some
 * rows at a time only. graph: NULL, or receives what hw_decoder_loss_backward needs, which the caller owns; ids and targets are
 * copied. HW_ERROR_SHAPE: a size is zero, or more tokens than context_length. HW_ERROR_VALUE: a NULL, another module, or an id
 * or target beyond vocab_size. HW_ERROR_MEMORY. After an error *graph is NULL. */
hw_status hw_decoder_loss(hw_context *context, hw_module *decoder, const hw_loss_input *input, float *loss,
                          hw_graph **graph);

/* Adds scale times the loss's gradients to those of the parameters: of a micro-batch, scale is its share of the targets. Errors
 * are those of hw_module_backward. */
hw_status hw_decoder_loss_backward(hw_context *context, hw_module *decoder, const hw_graph *graph, float scale);

#ifdef __cplusplus
}
#endif

#endif
