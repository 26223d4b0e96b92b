#include "app/run/analyses/sweep_estimates.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "app/run/recompute.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

/// What each layer's edits replace, and by how much they change it: [layer][T, columns], row-major.
class Changes {
 public:
  Changes(const SweepOf& question, const Sweep& sweep, const PromptRun& run, model::Workspace& workspace,
          const std::stop_token& stop)
      : site_(question.site),
        length_(run.run->length()),
        columns_(run.run->config.n_embd),
        rows_(static_cast<std::size_t>(sweep.layers)) {
    model::Edits whole_layers;
    for (int layer = 0; layer < sweep.layers; ++layer)
      for (model::Edit& edit : question.edits(layer, -1)) whole_layers.push_back(std::move(edit));
    if (whole_layers.empty()) return;
    read_values(run, workspace, stop);
    const auto plan = run.model->transformer->plan(std::move(whole_layers), workspace, stop, second_of(run));
    model::Means means = plan->no_means();
    for (int layer = 0; layer < sweep.layers; ++layer) {
      std::vector<float>& values = rows_[layer];
      const std::vector<float> before = values;
      if (plan->edits({site_, layer}))
        plan->apply_to_all({{site_, layer}, 0, 0, 0, length_, columns_, columns_, values.data()}, means);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] -= before[i];
    }
  }

  /// Row of a layer at a position; empty if nothing is edited anywhere.
  std::span<const float> row(int layer, int position) const {
    const std::vector<float>& rows = rows_[layer];
    if (rows.empty()) return {};
    return std::span(rows).subspan(static_cast<std::size_t>(position) * columns_,
                                   static_cast<std::size_t>(columns_));
  }

 private:
  /// rows_ = the run's activations, as its edits left them.
  void read_values(const PromptRun& run, model::Workspace& workspace, const std::stop_token& stop) {
    model::Hooks hooks;
    for (int layer = 0; layer < std::ssize(rows_); ++layer) {
      rows_[layer].resize(static_cast<std::size_t>(length_) * columns_);
      copy_activation(hooks, {site_, layer}, rows_[layer], columns_);
    }
    recompute(run, 0, length_, hooks, workspace, stop);
  }

  model::Site site_;
  int length_, columns_;
  std::vector<std::vector<float>> rows_;
};

/// The metric's derivative along each cell's change, [layers, columns].
std::vector<double> slopes(const model::Metric& metric, const SweepOf& question, const Sweep& sweep,
                           const Changes& changes, const PromptRun& run, model::Workspace& workspace,
                           const std::stop_token& stop) {
  std::vector<double> cells(sweep.readings.size());
  const int d_head = run.run->config.d_head();
  model::Hooks hooks;
  for (int layer = 0; layer < sweep.layers; ++layer)
    hooks.watch({question.site, layer}, [&, layer](const model::ConstActivation2d& gradient) {
      double* const of_layer = cells.data() + std::ptrdiff_t{layer} * sweep.columns;
      for (int i = 0; i < gradient.rows; ++i) {
        const int position = gradient.first_pos + i;
        const std::span<const float> change = changes.row(layer, position), slope = gradient.row(i);
        if (change.empty() || (question.over == SweepOver::positions && position >= sweep.columns)) continue;
        for (std::size_t j = 0; j < slope.size(); ++j) {
          const auto unit = static_cast<int>(j);
          const int column = question.over == SweepOver::heads ? unit / d_head : position;
          of_layer[column] += static_cast<double>(slope[j]) * static_cast<double>(change[j]);
        }
      }
    });
  model::GradientOptions options;
  options.hooks = &hooks;
  options.stop = stop;
  run.model->transformer->gradients(*run.run, metric, workspace, options);
  return cells;
}

}  // namespace

std::vector<SweepEstimate> estimate_cells(const SweepOf& question, const Sweep& sweep, const PromptRun& run,
                                          model::Workspace& workspace, const std::stop_token& stop) {
  const Changes changes(question, sweep, run, workspace, stop);
  const auto slopes_of = [&](const model::Metric& metric) {
    return slopes(metric, question, sweep, changes, run, workspace, stop);
  };
  const std::vector<double> logits = slopes_of(model::TokenLogit{sweep.token, sweep.position});
  const std::vector<double> others = sweep.against < 0
                                         ? std::vector<double>(logits.size())
                                         : slopes_of(model::TokenLogit{sweep.against, sweep.position});
  const std::vector<double> logs = slopes_of(model::LogProbability{sweep.token, sweep.position});
  std::vector<SweepEstimate> estimates(logits.size());
  for (std::size_t cell = 0; cell < estimates.size(); ++cell) {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    // The derivative of a probability is the probability times that of its logarithm.
    estimates[cell] = question.edits_of_cell(sweep, cell).empty()
                          ? SweepEstimate{kNothing, kNothing, kNothing}
                          : SweepEstimate{logits[cell], others[cell], sweep.before.probability * logs[cell]};
  }
  return estimates;
}

}  // namespace headscope::app
