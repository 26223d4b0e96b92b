#include "app/run/analyses/sweep.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "app/run/analyses/vectors.h"
#include "app/run/run_prompt.h"
#include "model/pass/hooks.h"

namespace headscope::app {
namespace {

/// Memory for the values of layers, in floats, at a time.
constexpr std::ptrdiff_t kValuesAtOnce = 1 << 26;

/// Layers [first, end).
struct Layers {
  int first = 0;
  int end = 0;
};

/// Values of a site at a position, of all heads; of patterns the keys.
int width_of(const SweepOf& question, const PromptRun& run) {
  if (model::has_cells(question.site)) return run.run->length();
  return model::column_count(run.run->config, question.site);
}

/// Layers whose values, and what is patched into them, are in memory at a time.
int layers_together(const SweepOf& question, const PromptRun& run) {
  const int parts = model::has_cells(question.site) ? run.run->config.n_head : 1;
  const std::ptrdiff_t values = std::ptrdiff_t{parts} * run.run->length() * width_of(question, run);
  return static_cast<int>(std::clamp<std::ptrdiff_t>(kValuesAtOnce / values, 1, run.run->config.n_layer));
}

/// The masks among a run's edits, which say which keys a query sees.
model::Edits masks_of(const PromptRun& run) {
  model::Edits masks = run.run->plan ? run.run->plan->edits() : model::Edits();
  std::erase_if(masks, [](const auto& edit) { return !std::holds_alternative<model::SetMask>(edit); });
  return masks;
}

/// By how much the edits of some layers change what they replace.
class Changes {
 public:
  Changes(const SweepOf& question, Layers layers, const PromptRun& run, const Resources& with)
      : run_(run),
        site_(question.site),
        layers_(layers),
        length_(run.run->length()),
        columns_(width_of(question, run)) {
    model::Edits edits = masks_of(run);
    const std::size_t masks = edits.size();
    for (int layer = layers.first; layer < layers.end; ++layer)
      for (model::Edit& edit : question.edits(layer, -1)) edits.push_back(std::move(edit));
    if (edits.size() == masks) return;
    plan_ = run.model->transformer->plan(std::move(edits), with.workspace, with.stop, second_of(run));
    if (model::has_cells(site_)) return;
    read_values(with);
    for (int layer = layers.first; layer < layers.end; ++layer) change(layer, 0, rows_[layer - layers.first]);
  }

  /// Row of a layer at a position, of patterns a head's; empty if nothing is edited anywhere. Valid until the
  /// next call.
  std::span<const float> row(int layer, int head, int position) {
    if (plan_ == nullptr) return {};
    const auto& rows = model::has_cells(site_) ? pattern(layer, head) : rows_[layer - layers_.first];
    return model::rows_of(rows, columns_).row(position);
  }

 private:
  /// rows_ = the run's activations, as its edits left them.
  void read_values(const Resources& with) {
    Recording values(run_.run->config, 0, length_);
    for (int layer = layers_.first; layer < layers_.end; ++layer) values.add({site_, layer});
    values.read(run_, with);
    for (int layer = layers_.first; layer < layers_.end; ++layer)
      rows_.push_back(vector_of(values.rows({site_, layer})));
  }

  /// Patterns are computed one head at a time: together they may be larger than all else of a run.
  const std::vector<float>& pattern(int layer, int head) {
    if (std::pair(layer, head) == pattern_of_) return pattern_;
    pattern_.resize(std::ptrdiff_t{length_} * length_);
    run_.model->transformer->pattern(*run_.run, layer, head, pattern_);
    change(layer, head, pattern_);
    pattern_of_ = {layer, head};
    return pattern_;
  }

  /// From values, [T, columns], to by how much the edits change them.
  void change(int layer, int head, std::vector<float>& values) const {
    const std::vector<float> before = values;
    model::Means means = plan_->no_means();
    plan_->apply_to_all(model::piece_of({site_, layer}, model::rows_of(values, columns_), 0, head), means);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= before[i];
  }

  const PromptRun& run_;
  model::Site site_;
  Layers layers_;
  int length_, columns_;
  std::shared_ptr<const model::Plan> plan_;  // null: no edits
  std::vector<std::vector<float>> rows_;     // [layers][T, columns], row-major; not of patterns
  std::vector<float> pattern_;               // [T, T], of one head
  std::pair<int, int> pattern_of_{-1, -1};   // its layer and head
};

/// The column of a value; -1: none.
int column_of(const SweepOf& question, int head, int position, int unit) {
  if (question.over == SweepOver::heads) return head;
  if (question.over == SweepOver::neurons) return unit;
  if (question.over == SweepOver::mlps || question.over == SweepOver::senders) return 0;
  const int positions = question.edited_positions();
  if (position >= positions) return -1;
  return question.over == SweepOver::positions ? position : head * positions + position;
}

/// Adds the products of a row of derivatives and a row of changes to the cells of a layer. `head`: of a
/// pattern.
void add_row(const SweepOf& question, std::span<const float> slope, std::span<const float> change, int head,
             int position, int d_head, std::span<double> cells_of_layer) {
  for (std::size_t j = 0; j < slope.size(); ++j) {
    const auto unit = static_cast<int>(j);
    const int column =
        column_of(question, model::has_cells(question.site) ? head : unit / d_head, position, unit);
    if (column < 0) return;
    cells_of_layer[column] += static_cast<double>(slope[j]) * static_cast<double>(change[j]);
  }
}

/// Adds the metric's derivative along each cell's change to `cells`, [layers, columns].
void add_slopes(const model::Metric& metric, const SweepOf& question, const Sweep& sweep, Layers layers,
                Changes& changes, const PromptRun& run, const Resources& with, std::vector<double>& cells) {
  const int d_head = run.run->config.d_head();
  model::Hooks hooks;
  for (int layer = layers.first; layer < layers.end; ++layer)
    hooks.watch({question.site, layer}, [&, layer](const model::ConstActivation2d& gradient) {
      const auto of_layer = std::span(cells).subspan(layer * sweep.columns, sweep.columns);
      for (int i = 0; i < gradient.rows; ++i) {
        const int position = gradient.first_pos + i;
        const std::span<const float> change = changes.row(layer, gradient.head, position);
        if (!change.empty())
          add_row(question, gradient.row(i), change, gradient.head, position, d_head, of_layer);
      }
    });
  run.model->transformer->gradients(*run.run, metric, with.workspace, {.hooks = &hooks, .stop = with.stop});
}

}  // namespace

std::vector<SweepReading> estimate_cells(const SweepOf& question, const Sweep& sweep, const PromptRun& run,
                                         const Resources& with) {
  const std::size_t count = sweep.layers * sweep.columns;
  std::vector<double> logits(count), others(count), logs(count);
  const int together = layers_together(question, run);
  for (int first = 0; first < sweep.layers; first += together) {
    const Layers layers{first, std::min(first + together, sweep.layers)};
    Changes changes(question, layers, run, with);
    const auto add = [&](const model::Metric& metric, std::vector<double>& cells) {
      add_slopes(metric, question, sweep, layers, changes, run, with, cells);
    };
    const int token = sweep.measured.token.id(), other = sweep.measured.other.id();
    add(model::TokenLogit{token, sweep.measured.position}, logits);
    if (other >= 0) add(model::TokenLogit{other, sweep.measured.position}, others);
    add(model::LogProbability{token, sweep.measured.position}, logs);
  }
  std::vector<SweepReading> estimates(count, kNoReading);
  for (std::size_t cell = 0; cell < count; ++cell) {
    if (!question.has_edits(question.place_of(sweep, cell))) continue;
    // The derivative of a probability is the probability times that of its logarithm.
    estimates[cell] = {logits[cell], others[cell], sweep.before.probability * logs[cell], NAN};
  }
  return estimates;
}

}  // namespace headscope::app
