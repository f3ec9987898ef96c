/*
 * What all modules share. A module is one file: a struct that begins with hw_module and its config, and the type that says
 * how it is made, which parameters it has and how its forward runs.
 */
#ifndef HW_MODULES_MODULE_H
#define HW_MODULES_MODULE_H

#include "modules/parameter.h"
#include "ops/key_value_cache.h"
#include "ops/linear.h"

typedef struct hw_visit hw_visit;

typedef struct hw_module_type {
  size_t bytes;        /* of the struct */
  size_t config_bytes; /* of its config */
  size_t config_offset;
  /* Checks the config and makes the parts. After an error the parts that were made are released. */
  hw_status (*create)(hw_module *module);
  void (*release)(hw_module *module);
  /* Shows every parameter and child, in the order of torch's state dict. */
  void (*visit)(hw_module *module, hw_visit *visit);
  /* Whether the input fits, apart from what hw_module_forward checks of every module; NULL: it does. */
  hw_status (*check)(const hw_module *module, const hw_input *input, const hw_forward_options *options);
  /* Runs on an input that fits; while the run is measured the pointers may be NULL. */
  void (*forward)(hw_run *run, const hw_module *module, const hw_input *input, float *y);
  /* Adds to the gradients of the parameters, and writes that of the input; of attention, feed-forward and blocks dx may be dy.
   * The input is the forward's; blocks need no x. dx NULL: not wanted, or the run is measured. */
  void (*backward)(hw_run *run, hw_module *module, const hw_input *input, const float *dy, float *dx);
  /* The shape of the module's caches but for the batch; NULL: it has none. */
  hw_cache_shape (*cache_shape)(const hw_module *module);
  /* The projection of a layer's heads [width, heads · head_dim]; NULL: the module has none. */
  const hw_linear *(*out_proj)(const hw_module *module, size_t layer);
  bool takes_ids;
  bool takes_rows; /* or rows of x, from which another of its forwards begins */
  bool has_logits; /* the output is of the tokens that the input says; there may be none */
  bool has_head_mask;
  bool takes_lengths; /* of sequences: what comes after them is padding */
  bool has_residuals; /* a forward can begin at a layer, and give the residual stream */
  bool has_token_types;
  bool has_position_ids;
  bool is_block;      /* of a stack or a model, which may run it again in the backward */
  bool draws_nothing; /* of models: their weights are loaded */
} hw_module_type;

/* A parameter under its whole name. */
typedef struct hw_named_parameter {
  hw_parameter value;
  hw_module *owner; /* whose own it is, of those inside the module */
  char name[HW_NAME_BYTES];
} hw_named_parameter;

struct hw_module {
  const hw_module_type *type;
  bool training;
  bool checkpointing;             /* of a block: see hw_module_checkpoint */
  bool needs_model;               /* whose angles it has: it does not run alone */
  uint64_t changes;               /* of its own parameters, and of its checkpointing */
  uint64_t modes;                 /* switches of its training mode */
  size_t layers;                  /* of attention, which have weights and traces; 0: none */
  size_t heads;                   /* of each layer */
  hw_named_parameter *parameters; /* NULL until the first is asked for by its number */
  size_t parameter_count;
  size_t serial; /* no other module has it, not even one in its place */
};

/* What every type has, of a file's struct with its config under that name, and of its functions under theirs. */
#define HW_MODULE_TYPE(type) HW_MODULE_TYPE_OF(type, config)

/* The same of a struct whose config begins with a smaller one, `base`: of the type whose config that is. The rest is zero. */
#define HW_PLAIN_MODULE_TYPE(type) HW_MODULE_TYPE_OF(type, config.base)

#define HW_MODULE_TYPE_OF(type, field)                                                                          \
  .bytes = sizeof(type), .config_bytes = sizeof(((type *)NULL)->field), .config_offset = offsetof(type, field), \
  .create = create, .release = release, .visit = visit, .forward = forward

/* config: the type's, which is copied. context NULL, or draws_nothing: nothing is drawn. */
hw_status hw_module_create(hw_context *context, const hw_module_type *type, const void *config, hw_module **module);

/* The public function that makes a module of a type under its name, and draws its weights. */
#define HW_MODULE_CREATE(name)                                                                              \
  hw_status hw_##name##_create(hw_context *context, const hw_##name##_config *config, hw_module **module) { \
    return hw_module_create(context, &hw_##name##_type, config, module);                                    \
  }

/* Rows of an input: the tokens of all sequences. SIZE_MAX: too many to count. */
static inline size_t hw_input_rows(const hw_input *input) { return hw_size_multiply(input->batch, input->tokens); }

static inline void hw_module_run(hw_run *run, const hw_module *module, const hw_input *input, float *y) {
  module->type->forward(run, module, input, y);
}

static inline void hw_module_run_backward(hw_run *run, hw_module *module, const hw_input *input, const float *dy,
                                          float *dx) {
  module->type->backward(run, module, input, dy, dx);
}

/* Modules one after another. */
typedef struct hw_modules {
  hw_module **all;
  size_t count;
} hw_modules;

/* Modules of one config. weight_bytes: what one has at least. HW_ERROR_SHAPE: a count of zero. HW_ERROR_MEMORY, at once if the
 * weights cannot fit. hw_modules_release frees what was made. */
hw_status hw_modules_create(size_t count, size_t weight_bytes, const hw_module_type *type, const void *config,
                            hw_modules *modules);

/* The same in steps, for modules of several configs: room for all, then one after another. */
hw_status hw_modules_reserve(size_t count, size_t weight_bytes, hw_modules *modules);
hw_status hw_modules_add(hw_modules *modules, const hw_module_type *type, const void *config);

void hw_modules_release(hw_modules *modules);

/* The projection of the heads of one of the modules, each a layer; NULL: there is none. */
const hw_linear *hw_modules_out_proj(const hw_modules *modules, size_t layer);

/* What hw_module_forward checks of its arguments; makes the places for traces NULL. */
hw_status hw_module_check(const hw_module *module, const hw_input *input, const float *y,
                          const hw_forward_options *options);

/* What the module's own type checks. */
static inline hw_status hw_module_type_check(const hw_module *module, const hw_input *input,
                                             const hw_forward_options *options) {
  return module->type->check == NULL ? HW_OK : module->type->check(module, input, options);
}

/* Whether later keys are hidden, in a module that is causal by itself or not. */
bool hw_forward_is_causal(const hw_forward_options *options, bool module_is_causal);

/* HW_ERROR_VALUE: lengths of a module that takes none, or one above the tokens. */
hw_status hw_lengths_check(const hw_module *module, const hw_input *input);

/* Whether it is ids that the module is given. */
static inline bool hw_module_takes_ids(const hw_module *module, const hw_input *input) {
  return module->type->takes_ids && !(module->type->takes_rows && input->x != NULL);
}

/* Whether every id is below the limit. */
bool hw_ids_fit(const uint32_t *ids, const hw_input *input, size_t limit);

/* ---- Visits ---- */

/* Another name for a part of a module, as other libraries call it. */
typedef struct hw_alias {
  const char *name;  /* attn.qkv_proj */
  const char *alias; /* attn.c_attn */
  bool is_transposed;
} hw_alias;

struct hw_visit {
  void (*parameter)(hw_visit *visit, const hw_parameter *parameter);
  void (*module)(hw_visit *visit, hw_module *module);
  hw_module *owner;         /* of what is shown */
  char name[HW_NAME_BYTES]; /* of what is shown */
  size_t length;
  hw_reach reach;        /* of the parameters that come next; a module that sets it leaves HW_REACHED_BY_BOTH */
  const hw_alias *alias; /* NULL, or which part alone is shown: its name begins after the first alias_start bytes */
  size_t alias_start;
};

/* A walk over a module and all below it. */
void hw_visit_module(hw_visit *visit, hw_module *module);

/* What a module's visit calls. */
void hw_visit_child(hw_visit *visit, const char *name, hw_module *child);

/* Modules by their numbers. With aliases, which end with a NULL name, each is shown part by part in their order; NULL: whole. */
void hw_visit_modules(hw_visit *visit, const char *name, const hw_modules *modules, const hw_alias *aliases);
void hw_visit_parameter(hw_visit *visit, const char *name, const hw_parameter *parameter);

/* Weight and bias, drawn as torch.nn.Linear draws them. */
void hw_visit_linear(hw_visit *visit, const char *name, hw_linear *linear);

/* Those of rows [first_row, first_row + rows), drawn as torch.nn.Linear(in_features, rows) draws them; part: their bit of the
 * gradients. */
void hw_visit_linear_part(hw_visit *visit, const char *name, hw_linear *linear, size_t first_row, size_t rows,
                          uint32_t part);

/* All of a matrix. */
void hw_visit_matrix(hw_visit *visit, const char *name, hw_matrix *matrix, hw_gradient *gradient, hw_drawn drawn);

/* ---- Parameters by their number ---- */

/* Errors are those of hw_module_parameter. The module owns *parameter. */
hw_status hw_module_named_parameter(hw_module *module, size_t index, const hw_named_parameter **parameter);

/* Errors are those of hw_module_load, whose data may not be NULL. */
hw_status hw_module_parameter_rows(hw_module *module, size_t index, size_t first_row, size_t rows, const void *data,
                                   const hw_named_parameter **parameter);

#endif
