#include "model/kernels/panels.h"

namespace headscope::model {

// Each is defined in its own file, compiled for its processor.
PanelKernels plain_kernels();
#ifdef HEADSCOPE_X86_KERNELS
PanelKernels avx2_kernels();
PanelKernels avx512_kernels();

#elif defined(HEADSCOPE_ARM_KERNELS)
PanelKernels neon_kernels();
#endif

std::vector<PanelKernels> runnable_kernels() {
  std::vector<PanelKernels> kernels;
#ifdef HEADSCOPE_X86_KERNELS
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    kernels.push_back(avx512_kernels());
  if (avx2) kernels.push_back(avx2_kernels());
#elif defined(HEADSCOPE_ARM_KERNELS)
  kernels.push_back(neon_kernels());
#endif
  kernels.push_back(plain_kernels());
  return kernels;
}

PanelKernels fastest_kernels() {
  static const PanelKernels fastest = runnable_kernels().front();
  return fastest;
}

}  // namespace headscope::model
