/* Forwards that are recorded, and their backwards. */
#include "modules/graph.h"

#include <string.h>

#include "modules/gradients.h"
#include "ops/attention.h"

/* ---- Changes ---- */

/* A visit that adds up what has changed. */
typedef struct change_count {
  hw_visit visit;
  hw_module_changes sum;
} change_count;

static void count_changes(hw_visit *visit, hw_module *module) {
  hw_module_changes *sum = &((change_count *)visit)->sum;
  sum->own += module->changes;
  sum->modes += module->modes;
  sum->runs_again = sum->runs_again || module->checkpointing;
}

static hw_module_changes changes_of(hw_module *module) {
  change_count count = {.visit.module = count_changes};
  hw_visit_module(&count.visit, module);
  return count.sum;
}

bool hw_graph_is_current(const hw_graph *graph, hw_module *module) {
  if (graph == NULL || module == NULL || graph->serial != module->serial) {
    return false;
  }
  const hw_module_changes now = changes_of(module);
  return graph->changes.own == now.own && (!graph->changes.runs_again || graph->changes.modes == now.modes);
}

size_t hw_graph_bytes(const hw_graph *graph) { return graph == NULL ? 0 : sizeof(hw_graph) + graph->kept.capacity; }

void hw_graph_destroy(hw_graph *graph) {
  if (graph != NULL) {
    hw_arena_release(&graph->kept);
    hw_release(graph);
  }
}

/* ---- Lengths, masks and token types, which the caller may change after the forward ---- */

void hw_graph_keep(const hw_run *run, const void *data, size_t bytes, const void **kept) {
  void *copy = hw_tape_push(run, bytes, 1);
  if (bytes > 0 && !hw_run_measures(run)) {
    memcpy(copy, data, bytes);
    *kept = copy;
  }
}

static size_t mask_bytes(const hw_graph *graph) {
  const hw_input *input = &graph->shape;
  const hw_trace_shape scores = {input->batch, graph->module->heads, input->tokens, input->tokens};
  return hw_mask_bytes(&graph->options.mask, &scores);
}

static size_t head_mask_bytes(const hw_graph *graph) {
  const bool is_there = graph->options.head_mask != NULL;
  return is_there ? graph->module->layers * graph->module->heads * sizeof(float) : 0;
}

static size_t lengths_bytes(const hw_graph *graph) {
  return graph->shape.lengths != NULL ? graph->shape.batch * sizeof(uint32_t) : 0;
}

static size_t ids_bytes(const hw_graph *graph, const uint32_t *ids) {
  return ids != NULL ? graph->shape.batch * graph->shape.tokens * sizeof(uint32_t) : 0;
}

void hw_graph_set_options(hw_graph *graph, const hw_forward_options *options) {
  const hw_module_type *type = graph->module->type;
  graph->options = (hw_forward_options){
      .mask = options->mask,
      .head_mask = options->head_mask,
      .causality = options->causality,
      .token_types = type->has_token_types ? options->token_types : NULL,
      .position_ids = type->has_position_ids ? options->position_ids : NULL,
  };
}

void hw_graph_keep_options(const hw_run *run, hw_graph *graph) {
  hw_forward_options *options = &graph->options;
  hw_graph_keep(run, options->mask.data, mask_bytes(graph), &options->mask.data);
  hw_graph_keep(run, options->head_mask, head_mask_bytes(graph), (const void **)&options->head_mask);
  hw_graph_keep(run, options->token_types, ids_bytes(graph, options->token_types),
                (const void **)&options->token_types);
  hw_graph_keep(run, options->position_ids, ids_bytes(graph, options->position_ids),
                (const void **)&options->position_ids);
}

static void pop_options(const hw_run *run, const hw_graph *graph) {
  hw_tape_pop(run, ids_bytes(graph, graph->options.position_ids), 1);
  hw_tape_pop(run, ids_bytes(graph, graph->options.token_types), 1);
  hw_tape_pop(run, head_mask_bytes(graph), 1);
  hw_tape_pop(run, mask_bytes(graph), 1);
}

/* ---- Forward and backward ---- */

typedef struct recorded_call {
  hw_graph *graph;
  const hw_input *input;
  float *y;
} recorded_call;

static void forward(hw_run *run, const void *call) {
  const recorded_call *f = call;
  hw_input *shape = &f->graph->shape;
  hw_graph_keep_options(run, f->graph);
  hw_graph_keep(run, shape->lengths, lengths_bytes(f->graph), (const void **)&shape->lengths);
  hw_module_run(run, f->graph->module, f->input, f->y);
}

static hw_status check(const hw_module *module, const hw_input *input, const float *y,
                       const hw_forward_options *options) {
  HW_TRY(hw_module_check(module, input, y, options));
  const bool fits = module->type->backward != NULL && options->cache == NULL && options->replace_count == 0 &&
                    options->start == NULL && options->residuals == NULL;
  return fits ? HW_OK : HW_ERROR_VALUE;
}

static hw_status record(hw_context *context, hw_graph *graph, const hw_input *input, float *y,
                        const hw_forward_options *options) {
  graph->shape = *input;
  hw_graph_set_options(graph, options);
  return hw_run_recorded(context, options, &graph->kept, forward, &(recorded_call){graph, input, y});
}

hw_status hw_graph_create(hw_module *module, hw_graph **graph) {
  *graph = NULL;
  HW_TRY(hw_gradients_check(module));
  *graph = hw_allocate_zeroed(sizeof(hw_graph));
  if (*graph == NULL) {
    return HW_ERROR_MEMORY;
  }
  (*graph)->module = module;
  (*graph)->serial = module->serial;
  (*graph)->changes = changes_of(module);
  return HW_OK;
}

hw_status hw_module_forward_recorded(hw_context *context, hw_module *module, const hw_input *input, float *y,
                                     const hw_forward_options *options, hw_graph **graph) {
  static const hw_forward_options nothing;
  const hw_forward_options *asked = options == NULL ? &nothing : options;
  *graph = NULL;
  HW_TRY(check(module, input, y, asked));
  hw_graph *created;
  HW_TRY(hw_graph_create(module, &created));
  const hw_status status = record(context, created, input, y, asked);
  if (status != HW_OK) {
    hw_graph_destroy(created);
    return status;
  }
  *graph = created;
  return HW_OK;
}

typedef struct backward_call {
  const hw_graph *graph;
  hw_module *module;
  const hw_input *input;
  const float *dy;
  float *dx;
  hw_option_gradients asked;
} backward_call;

static void backward(hw_run *run, const void *call) {
  const backward_call *f = call;
  run->layer = f->module->layers;
  run->gradients = f->asked;
  hw_module_run_backward(run, f->module, f->input, f->dy, f->dx);
  hw_tape_pop(run, lengths_bytes(f->graph), 1);
  pop_options(run, f->graph);
}

static bool had_options(const hw_graph *graph, const hw_option_gradients *asked) {
  return (asked->weights == NULL) == (asked->weights_gradient == NULL) &&
         (asked->weights == NULL || graph->module->layers > 0) &&
         (asked->mask == NULL || graph->options.mask.kind == HW_MASK_FLOAT) &&
         (asked->head_mask == NULL || graph->options.head_mask != NULL);
}

static bool has_shape(const hw_graph *graph, const hw_input *input) {
  const hw_input *shape = &graph->shape;
  const bool is_range =
      shape->logits_last || (input->logits_start == shape->logits_start && input->logits_end == shape->logits_end);
  const bool has_size = input->batch == shape->batch && input->tokens == shape->tokens;
  if (!has_size || !is_range || input->logits_last != shape->logits_last ||
      (input->lengths == NULL) != (shape->lengths == NULL)) {
    return false;
  }
  return shape->lengths == NULL || memcmp(input->lengths, shape->lengths, lengths_bytes(graph)) == 0;
}

hw_status hw_module_backward(hw_context *context, hw_module *module, const hw_input *input, const hw_graph *graph,
                             const float *dy, float *dx, const hw_option_gradients *asked) {
  static const hw_option_gradients none;
  const hw_option_gradients gradients = asked == NULL ? none : *asked;
  if (module == NULL || input == NULL || dy == NULL || !hw_graph_is_current(graph, module) || graph->is_loss ||
      (hw_module_takes_ids(module, input) ? input->ids == NULL || dx != NULL : input->x == NULL)) {
    return HW_ERROR_VALUE;
  }
  if (hw_module_takes_ids(module, input) != hw_module_takes_ids(module, &graph->shape) ||
      !had_options(graph, &gradients)) {
    return HW_ERROR_VALUE;
  }
  if (!has_shape(graph, input)) {
    return HW_ERROR_SHAPE;
  }
  HW_TRY(hw_lengths_check(module, input));
  HW_TRY(hw_module_type_check(module, input, &graph->options));
  HW_TRY(hw_gradients_prepare(module, input));
  hw_arena kept = graph->kept;
  const backward_call call = {graph, module, input, dy, dx, gradients};
  HW_TRY(hw_run_backward(context, &graph->options, &kept, backward, &call));
  hw_gradients_finish(module, input);
  return HW_OK;
}
