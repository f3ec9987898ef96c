/* Traces: exact weights on demand; and what heads of models do. */
#include "exports/exports.h"

HW_EXPORT(void, trace_destroy, (hw_trace * trace)) { hw_trace_destroy(trace); }

HW_EXPORT(size_t, trace_bytes, (const hw_trace *trace)) { return hw_trace_bytes(trace); }

HW_EXPORT(hw_status, trace_weights,
          (const hw_trace *trace, size_t batch, size_t head, size_t row_start, size_t row_end, float *out)) {
  return hw_trace_weights(hw_export_context(), trace, batch, head, row_start, row_end, out);
}

HW_EXPORT(size_t, trace_value_width, (const hw_trace *trace)) { return hw_trace_value_width(trace); }

HW_EXPORT(hw_status, trace_values, (const hw_trace *trace, size_t batch, size_t head, float *out)) {
  return hw_trace_values(trace, batch, head, out);
}

HW_EXPORT(hw_status, trace_output, (const hw_trace *trace, size_t batch, size_t head, float *out)) {
  return hw_trace_output(hw_export_context(), trace, batch, head, out);
}

HW_EXPORT(hw_status, trace_norms,
          (const hw_module *module, size_t layer, const hw_trace *trace, size_t batch, size_t head, size_t row_start,
           size_t row_end, float *out)) {
  return hw_module_value_norms(hw_export_context(), module, layer, trace, batch, head, row_start, row_end, out);
}

HW_EXPORT(hw_status, trace_map, (const hw_trace *trace, size_t batch, size_t head, size_t size, float *out)) {
  return hw_trace_map(hw_export_context(), trace, batch, head, size, out);
}

HW_EXPORT(hw_status, decoder_attribution, (const hw_module *decoder, const hw_attribution *call)) {
  return hw_decoder_attribution(hw_export_context(), decoder, call);
}

HW_EXPORT(hw_status, decoder_head_circuit,
          (const hw_module *decoder, size_t layer, size_t head, double *copying, double *eigenvalues)) {
  return hw_decoder_head_circuit(hw_export_context(), decoder, layer, head, copying, eigenvalues);
}

HW_EXPORT(hw_status, decoder_qk_attribution, (const hw_module *decoder, const hw_qk_attribution *call)) {
  return hw_decoder_qk_attribution(hw_export_context(), decoder, call);
}

HW_EXPORT(hw_status, decoder_head_weights,
          (const hw_module *decoder, size_t layer, size_t head, bool with_gains, float *out)) {
  return hw_decoder_head_weights(decoder, layer, head, with_gains, out);
}
