#pragma once

namespace headscope::bench {

/// The best that this machine can do with a number of threads, measured now: the yardstick for a model's
/// speed.
struct MachineLimits {
  double flops_per_second = 0;  ///< float32 multiply-adds in registers, two operations each
  double bytes_per_second = 0;  ///< reading memory far larger than the caches
};

/// Takes about a second and 512 MiB. `threads` must be at least 1.
MachineLimits measure_machine_limits(int threads);

}  // namespace headscope::bench
