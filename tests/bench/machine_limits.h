#pragma once

namespace headscope::bench {

/// What this machine can do at best with some threads, measured now: the yardstick beside which a model's own
/// speed is honest.
struct MachineLimits {
  double flops_per_second = 0;  ///< float32 multiply-adds in registers, two operations each
  double bytes_per_second = 0;  ///< reading memory far larger than the caches
};

/// Takes about a second and 512 MiB. `threads` >= 1.
MachineLimits measure_machine_limits(int threads);

}  // namespace headscope::bench
