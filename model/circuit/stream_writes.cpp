#include "model/circuit/stream_writes.h"

#include <algorithm>
#include <cstddef>

#include "model/kernels/kernels.h"
#include "model/pass/forward.h"

namespace headscope::model {

StreamWrites read_stream_writes(const Weights& weights, const std::shared_ptr<const void>& identity,
                                const Run& run, Workspace::Impl& workspace, const std::stop_token& stop) {
  const Config& config = weights.config;
  const std::vector<float> rows(static_cast<std::size_t>(run.length()) * config.n_embd);
  StreamWrites writes{run.length(), rows, {}, {}};
  writes.z.assign(config.n_layer, rows);
  writes.mlp.assign(config.n_layer, rows);
  Hooks hooks;
  const auto add_to = [&](std::vector<float>& sum, HookPoint point) {
    hooks.watch(point, [&sum, width = config.n_embd](const ConstActivation2d& piece) {
      for (int i = 0; i < piece.rows; ++i)
        add(piece.row(i), std::span(sum).subspan(static_cast<std::size_t>(piece.first_pos + i) * width,
                                                 static_cast<std::size_t>(width)));
    });
  };
  add_to(writes.embedding, {Site::embed});
  add_to(writes.embedding, {Site::pos_embed});
  for (int layer = 0; layer < config.n_layer; ++layer) {
    add_to(writes.z[layer], {Site::z, layer});
    add_to(writes.mlp[layer], {Site::mlp_out, layer});
  }
  ForwardOptions options;
  options.base = &run;
  options.plan = run.plan;
  options.hooks = &hooks;
  options.stop = stop;
  forward_pass(weights, identity, run.tokens, workspace, options);
  return writes;
}

}  // namespace headscope::model
