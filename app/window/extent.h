#pragma once
#include "app/run/worker.h"

namespace headscope::app {

/// Layers, heads and positions there are; one of each while nothing has run.
struct Extent {
  int layers = 1, heads = 1, length = 1, keys = 1;
};

inline Extent extent(const Snapshot& snapshot) {
  Extent e;
  if (snapshot.run) {
    const auto& run = *snapshot.run->run;
    e = {run.config.n_layer, run.config.n_head, run.length(), key_count(*snapshot.run)};
  }
  if (snapshot.model) {  // a run of it may still be to come
    const model::Config config = snapshot.model->config();
    e.layers = config.n_layer, e.heads = config.n_head;
  }
  return e;
}

}  // namespace headscope::app
