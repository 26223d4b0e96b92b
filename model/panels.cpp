#include "model/panels.h"

namespace headscope::model {

// Each in a file of its own, compiled for its processor.
PanelKernels plain_kernels();
#ifdef HEADSCOPE_X86_KERNELS
PanelKernels avx2_kernels();
PanelKernels avx512_kernels();
#endif

std::vector<PanelKernels> runnable_kernels() {
  std::vector<PanelKernels> kernels;
#ifdef HEADSCOPE_X86_KERNELS
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) kernels.push_back(avx512_kernels());
  if (avx2) kernels.push_back(avx2_kernels());
#endif
  kernels.push_back(plain_kernels());
  return kernels;
}

PanelKernels fastest_kernels() {
  return runnable_kernels().front();
}

}  // namespace headscope::model
