#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run/analyses/sweep.h"
#include "app/views/view.h"

// The numbers of a sweep that a picture shows, and their words. Cells are counted layer by layer.
namespace headscope::app {

struct Swept {
  SweepOf question;
  std::shared_ptr<const Sweep> sweep;
  SweepMetric metric = SweepMetric::difference;
  /// The cells in the order of a list: layer by layer; neurons by their differences, the strongest first, or
  /// as long as some are not known by their estimates.
  std::vector<std::size_t> cells;
  std::optional<SweepReading> source;  ///< what is patched from, where that has the metric

  SweepPlace place(std::size_t cell) const { return question.place_of(*sweep, cell); }
  bool is_known(std::size_t cell) const { return sweep->known[cell]; }
  bool is_complete() const { return sweep->known_count() == std::ssize(sweep->known); }
  bool is_estimated() const { return sweep->estimates_metric(metric); }
  double before() const { return sweep->before.of(metric); }
  double with_edit(std::size_t cell) const { return sweep->readings[cell].of(metric); }
  double difference(std::size_t cell) const { return with_edit(cell) - before(); }
  /// NaN: there is none.
  double estimate(std::size_t cell) const;
  /// The difference, or where it is not known its estimate.
  float shown(std::size_t cell) const {
    return static_cast<float>(is_known(cell) ? difference(cell) : estimate(cell));
  }
};

Swept swept_of(const ViewContext& context, const SweepOf& question, std::shared_ptr<const Sweep> sweep);

/// Whether a sweep is a list of bars, because its places have no second axis.
bool is_listed(SweepOver over);
bool is_by_position(SweepOver over);

/// "Each head zeroed", "mlp_out replaced by its mean, by layer and position", "Paths into L9 H6 q, each
/// sender zeroed".
std::string sweep_title(const PromptRun& run, const SweepOf& question);
std::string sweep_subtitle(const ViewContext& context, const Swept& swept);
/// "Δ logit difference"
std::string change_name(SweepMetric metric);

/// A place's edit: "L4 H3 off", "L4 H3 = mean over the list". There must be one.
std::string edit_words(const SweepOf& question, const SweepPlace& place);

/// The strongest difference, and how much is computed.
std::string sweep_state(const ViewContext& context, const Swept& swept);
/// What is said of estimates; empty: nothing.
std::string words_on_estimates(const Swept& swept);

}  // namespace headscope::app
