#include "model/kernels/panels_loops.h"

namespace headscope::model {

/// Compiled once for each set of instructions, under a name for each (CMakeLists.txt).
PanelKernels HEADSCOPE_KERNELS() {
  return {
      kInstructions,
      kFused,
      kRowKernels,
      [](const PanelProduct& p) {
        with_elements(p.w, p.precision, [&]<class T>(const T*) { panel_elements<T>(p); });
      },
      multiply_floats,
      transpose_floats,
      [](const void* w, Precision precision, int n, float* out) {
        with_elements(w, precision, [&](const auto* elements) { widen_elements(elements, n, out); });
      },
  };
}

}  // namespace headscope::model
