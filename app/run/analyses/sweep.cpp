#include "app/run/analyses/sweep.h"

#include <chrono>
#include <functional>
#include <ranges>
#include <utility>

#include "app/run/analyses/predictions.h"
#include "app/run/run_prompt.h"
#include "model/files/error.h"
#include "model/maths/best.h"
#include "model/pass/statistics.h"

namespace headscope::app {
namespace {

/// Cells whose plans are in memory at a time.
constexpr std::size_t kAtOnce = 512;

/// Cells computed at a time in the order of their estimates: enough for one product with each weight of short
/// prompts, few enough that the largest come first in fact.
constexpr std::size_t kRankedTogether = 32;

/// Memory for what is copied into cells' runs, in floats, at a time.
constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 24;

/// Minimum time between two parts that are shown.
constexpr std::chrono::milliseconds kPause{40};

/// A sweep's metrics by logits, of which `total` is the log-sum-exp; without a divergence.
SweepReading reading_of(const Sweep& sweep, std::span<const float> logits, double total) {
  const auto logit = [&](const TokenRef& token) { return static_cast<double>(logits[token.id()]); };
  SweepReading reading = kNoReading;
  reading.logit = logit(sweep.measured.token);
  reading.against = sweep.measured.other.id() < 0 ? 0 : logit(sweep.measured.other);
  reading.probability = std::exp(reading.logit - total);
  return reading;
}

/// Reads all of a sweep's metrics from a row of logits.
class Meter {
 public:
  Meter(const Sweep& sweep, std::span<const float> run) : sweep_(sweep) {
    const double total = model::log_sum_exp(run);
    for (const float logit : run) {
      logs_.push_back(static_cast<double>(logit) - total);
      probabilities_.push_back(std::exp(logs_.back()));
    }
  }

  SweepReading operator()(std::span<const float> logits) const {
    const double total = model::log_sum_exp(logits);
    SweepReading reading = reading_of(sweep_, logits, total);
    double sum = 0;
    for (std::size_t i = 0; i < logits.size(); ++i)
      if (probabilities_[i] != 0)
        sum += probabilities_[i] * (logs_[i] - (static_cast<double>(logits[i]) - total));
    reading.divergence = bits(sum < 0 ? 0 : sum);  // rounding must not make it negative
    return reading;
  }

 private:
  const Sweep& sweep_;
  std::vector<double> logs_, probabilities_;  // [vocabulary], in the run
};

/// A patched row of a pattern has the keys of the other prompt's row.
void check_keys(const SweepOf& question) {
  if (!model::has_cells(question.site)) return;
  const std::vector<int>& aligned = question.from.aligned;
  for (int here = 0; here < std::ssize(aligned); ++here)
    if (aligned[here] >= 0 && aligned[here] != here)
      throw model::RunError(
          "a pattern is patched from equal positions only, because its keys have positions, too; position " +
          std::to_string(here) + " corresponds to position " + std::to_string(aligned[here]) +
          " of the other prompt");
}

/// The columns of a sweep; of neurons as long as none are chosen.
int columns_of(const SweepOf& question, const model::Config& config) {
  const int positions = question.edited_positions();
  if (question.over == SweepOver::heads) return config.n_head;
  if (question.over == SweepOver::positions) return positions;
  if (question.over == SweepOver::senders) return config.n_head + 1;
  if (question.over == SweepOver::head_positions) return config.n_head * positions;
  return question.over == SweepOver::mlps ? 1 : config.n_inner;
}

void make_cells(Sweep& sweep) {
  const auto cells = std::ptrdiff_t{sweep.layers} * sweep.columns;
  sweep.readings.resize(cells);
  sweep.known.resize(cells);
}

/// A sweep without any reading yet; of neurons, without any cell.
Sweep begin(const SweepOf& question, const PromptRun& run, std::span<const float> logits) {
  Sweep sweep;
  sweep.measured = question.measured;
  sweep.measured.token = by_id(question.measured.token, logits);
  sweep.measured.other = by_id(question.measured.other, logits, sweep.measured.token);
  if (question.measured.metric == Metric::difference && sweep.measured.other == sweep.measured.token)
    throw model::RunError(kOneTwice);
  sweep.layers = run.run->config.n_layer;
  sweep.columns = columns_of(question, run.run->config);
  if (question.over != SweepOver::neurons) make_cells(sweep);
  return sweep;
}

/// The size of an estimate; -1: there is none.
double size_of(const SweepReading& estimate, Metric metric) {
  const double size = std::abs(estimate.of(metric));
  return std::isfinite(size) ? size : -1;
}

/// Replaces the sweep's estimates, of all neurons, by the largest ones, whose neurons become its cells.
void choose_neurons(const SweepOf& question, Sweep& sweep) {
  const std::vector<SweepReading> all = std::exchange(sweep.estimates, {});
  model::Best<std::pair<double, std::size_t>, std::identity{}> largest(std::max(question.neurons, 1));
  for (std::size_t i = 0; i < all.size(); ++i) largest.add({-size_of(all[i], question.measured.metric), i});
  const auto units = static_cast<std::size_t>(sweep.columns);
  for (const auto& [size, i] : largest.sorted()) {
    sweep.neurons.push_back({static_cast<int>(i / units), static_cast<int>(i % units)});
    sweep.estimates.push_back(all[i]);
  }
  sweep.layers = 1;
  sweep.columns = static_cast<int>(sweep.neurons.size());
  make_cells(sweep);
}

/// Cells whose plans are in memory at a time: no more than `kCopiedAtOnce` allows if each copies values of
/// its own.
std::size_t cells_at_once(const SweepOf& question, const PromptRun& run) {
  const model::Config& config = run.run->config;
  const std::size_t length = run.run->tokens.size();
  std::size_t copied = 1;
  if (question.over == SweepOver::senders) copied = length * config.n_embd;
  if (question.edit == SweepEdit::patch && model::has_cells(question.site))
    copied = length * length * config.n_head;
  if (question.edit == SweepEdit::patch && question.over == SweepOver::neurons)
    copied = length * config.n_inner;
  return std::clamp<std::size_t>(kCopiedAtOnce / copied, 1, kAtOnce);
}

/// The run of the same tokens without edits: this one, one that was made, or a new one.
std::shared_ptr<const model::Run> unedited_run(const PromptRun& run, const Resources& with) {
  if (run.run->plan == nullptr) return run.run;
  if (run.unedited) return run.unedited;
  return run.model->transformer->forward(run.run->tokens, with.workspace, {.stop = with.stop});
}

/// The rank of each value, from 0; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end()), ranks;
  std::ranges::sort(sorted);
  for (const double value : values) {
    const auto [first, end] = std::ranges::equal_range(sorted, value);
    ranks.push_back(static_cast<double>(first - sorted.begin() + (end - sorted.begin()) - 1) / 2);
  }
  return ranks;
}

}  // namespace

SweepReading source_reading(const Sweep& sweep, std::span<const float> logits) {
  return reading_of(sweep, logits, model::log_sum_exp(logits));
}

double restored(const Sweep& sweep, const SweepReading& source, Metric metric, double change) {
  const double whole = source.of(metric) - sweep.before.of(metric);
  return whole == 0 ? NAN : change / whole;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  std::vector<double> first, second;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    first.push_back(a[i]);
    second.push_back(b[i]);
  }
  if (first.size() < 2) return NAN;
  const std::vector<double> x = ranks_of(first), y = ranks_of(second);
  const double mean = static_cast<double>(x.size() - 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : NAN;
}

std::string part_name(const SweepPlace& place) {
  if (place.head) return head_name(place.layer, *place.head);
  if (place.neuron) return neuron_name(place.layer, *place.neuron);
  return "L" + std::to_string(place.layer) + (place.is_mlp ? " MLP" : "");
}

std::span<const model::Site> sites_of(SweepOver over) {
  using model::Site;
  static constexpr Site kHeads[] = {Site::z, Site::q, Site::k, Site::v, Site::pattern};
  static constexpr Site kMlps[] = {Site::mlp_out}, kNeurons[] = {Site::mlp_post};
  static constexpr Site kPositions[] = {Site::resid_pre, Site::attn_out, Site::mlp_out, Site::z,
                                        Site::q,         Site::k,        Site::v};
  if (over == SweepOver::positions) return kPositions;
  if (over == SweepOver::mlps) return kMlps;
  if (over == SweepOver::neurons) return kNeurons;
  // A position of a pattern would be a query's row; senders are what heads write.
  return std::span(kHeads).first(over == SweepOver::heads ? 5 : over == SweepOver::head_positions ? 4 : 1);
}

PatchPrompt patch_prompt_of(const PromptRun& run) {
  if (!run.baseline) return {};
  const bool second_model = compares_models(run);
  return {run.baseline->run->tokens, run.aligned, second_model, second_model && !compares_texts(run)};
}

std::optional<model::PatchFrom> PatchPrompt::at(model::EditSite place) const {
  if (own) return model::PatchFrom{place, {}, {}, true};
  const bool same_positions =
      std::ranges::equal(aligned, std::views::iota(0, static_cast<int>(tokens.size())));
  if (same_positions) return model::PatchFrom{place, tokens, place.positions, second_model};
  const std::vector<int> wanted = std::exchange(place.positions, {});
  std::vector<int> sources;
  for (int here = 0; here < std::ssize(aligned); ++here) {
    const int source = aligned[here];
    if (source < 0 || (!wanted.empty() && std::ranges::find(wanted, here) == wanted.end())) continue;
    place.positions.push_back(here);
    sources.push_back(source);
  }
  if (sources.empty()) return std::nullopt;
  return model::PatchFrom{std::move(place), tokens, std::move(sources), second_model};
}

bool PatchPrompt::reaches(std::optional<int> position) const {
  const auto has = [](int source) { return source >= 0; };
  return position ? *position < std::ssize(aligned) && has(aligned[*position])
                  : std::ranges::any_of(aligned, has);
}

double Sweep::estimate_correlation(Metric metric) const {
  std::vector<double> estimated, exact;
  for (std::size_t cell = 0; estimates_metric(metric) && cell < known.size(); ++cell) {
    if (!known[cell]) continue;
    estimated.push_back(estimates[cell].of(metric));
    exact.push_back(readings[cell].of(metric) - before.of(metric));
  }
  return rank_correlation(estimated, exact);
}

void SweepOf::check() const {
  const std::span<const model::Site> sites = sites_of(over);
  if (std::ranges::find(sites, site) == sites.end())
    throw model::RunError("a sweep does not edit " + model::hook_name({site, 0}) +
                          " of each of these places: choose another site");
  const bool sets_mean = edit == SweepEdit::mean || edit == SweepEdit::list_mean;
  if (sets_mean && model::has_cells(site))
    throw model::RunError("patterns have no mean over positions: zero or patch them");
  if (over == SweepOver::neurons && measured.metric == Metric::divergence)
    throw model::RunError(
        "neurons are chosen by estimates, which KL does not have: it is smallest at the run itself, so its "
        "slope is 0 there");
  if (over == SweepOver::senders && !receiver.is_after(0))
    throw model::RunError("nothing sends to layer 0: choose a receiver in a later layer");
  if (edit == SweepEdit::list_mean && mean_over.means == nullptr)
    throw model::RunError("there are no means of a list of prompts to set");
  if (edit != SweepEdit::patch) return;
  if (from.tokens.empty())
    throw model::RunError(
        "there is nothing to patch this run from: set a second prompt or model, or edit it");
  check_keys(*this);
}

SweepPlace SweepOf::place_of(int layer, int column) const {
  if (column < 0) return {.layer = layer};
  if (over == SweepOver::mlps || (over == SweepOver::senders && column == receiver.heads))
    return {.layer = layer, .is_mlp = true};
  if (over == SweepOver::heads || over == SweepOver::senders) return {.layer = layer, .head = column};
  if (over == SweepOver::neurons) return {.layer = layer, .neuron = column};
  if (over == SweepOver::positions) return {.layer = layer, .position = column};
  const int of_head = edited_positions();
  return {.layer = layer, .head = column / of_head, .position = column % of_head};
}

SweepPlace SweepOf::place_of(const Sweep& sweep, std::size_t cell) const {
  if (!sweep.neurons.empty()) return place_of(sweep.neurons[cell].layer, sweep.neurons[cell].neuron);
  const auto index = static_cast<int>(cell);
  return place_of(index / sweep.columns, index % sweep.columns);
}

MeansOverList SweepOf::means_over(const OverPrompts& list, const model::Config& config) const {
  MeansOverList means{list, {}};
  for (int layer = 0; layer < config.n_layer; ++layer) {
    means.points.push_back({over == SweepOver::mlps ? model::Site::mlp_out : site, layer});
    if (over == SweepOver::senders) means.points.push_back({model::Site::mlp_out, layer});
  }
  return means;
}

bool SweepOf::has_edits(const SweepPlace& place) const {
  if (edit == SweepEdit::list_mean && mean_over.means == nullptr) return false;
  if (over == SweepOver::senders && !receiver.is_after(place.layer)) return false;
  return edit != SweepEdit::patch || from.reaches(place.position);
}

model::Edits SweepOf::edits(const SweepPlace& place) const {
  if (!has_edits(place)) return {};
  model::EditSite at{{place.is_mlp ? model::Site::mlp_out : site, place.layer}, place.head, {}, {}};
  if (place.position) at.positions = {*place.position};
  if (place.neuron) at.units = {*place.neuron};
  model::Edits edits;
  if (edit == SweepEdit::zero) edits.emplace_back(model::SetValues{at, {0}});
  if (edit == SweepEdit::mean) edits.emplace_back(model::SetMean{at});
  if (edit == SweepEdit::list_mean) edits.emplace_back(mean_over.means->edit(at));
  if (edit == SweepEdit::patch)
    if (const auto patch = from.at(at)) edits.emplace_back(*patch);
  if (over != SweepOver::senders || edits.empty()) return edits;
  return {model::PatchFrom{receiver.at, {}, {}, false, std::move(edits), true}};
}

/// The cells that are still missing, in order. Cells without edits are marked as known.
static std::vector<std::size_t> cells_to_compute(const SweepOf& question, Sweep& sweep) {
  std::vector<std::size_t> cells;
  for (std::size_t cell = 0; cell < sweep.readings.size(); ++cell) {
    if (sweep.known[cell]) continue;
    if (question.has_edits(question.place_of(sweep, cell))) {
      cells.push_back(cell);
      continue;
    }
    sweep.readings[cell] = kNoReading;
    sweep.known[cell] = true;
  }
  return cells;
}

/// Takes up to `count` from the end of a list.
static std::vector<std::size_t> take_last(std::vector<std::size_t>& list, std::size_t count) {
  const auto first = list.end() - static_cast<std::ptrdiff_t>(std::min(list.size(), count));
  std::vector<std::size_t> taken(first, list.end());
  list.erase(first, list.end());
  return taken;
}

Sweep SweepOf::compute(const PromptRun& run, const Computation<Sweep>& computation) const {
  const model::Transformer& transformer = *run.model->transformer;
  check();
  const std::vector<float> logits = logits_after(run, measured.position, computation);
  Sweep sweep = computation.partial != nullptr ? *computation.partial : begin(*this, run, logits);
  const Meter meter(sweep, logits);
  sweep.before = meter(logits);
  sweep.before.divergence = 0;
  const auto show = [&] {
    computation.show(sweep,
                     static_cast<double>(sweep.known_count()) / static_cast<double>(sweep.known.size()));
  };
  if (over != SweepOver::senders && sweep.estimates.empty()) {
    sweep.estimates = estimate_cells(*this, sweep, run, computation);
    if (over == SweepOver::neurons) choose_neurons(*this, sweep);
    show();
  }

  const model::Edits base = run.run->plan ? run.run->plan->edits() : model::Edits{};
  const auto clean = unedited_run(run, computation);
  auto shown = std::chrono::steady_clock::now() - kPause;
  // Without estimates late layers first: their passes start late, so half of the grid is done after a quarter
  // of the work. The results are the same in every order.
  std::vector<std::size_t> unknown = cells_to_compute(*this, sweep);
  const bool ranked = sweep.estimates_metric(measured.metric);
  if (ranked)  // the cells with the largest estimates come last, from where they are taken
    std::ranges::stable_sort(
        unknown, {}, [&](std::size_t cell) { return size_of(sweep.estimates[cell], measured.metric); });
  const std::size_t together = ranked ? kRankedTogether : kAtOnce;
  const std::size_t at_once = cells_at_once(*this, run);
  while (!unknown.empty()) {
    std::vector<std::size_t> planned = take_last(unknown, at_once);
    std::vector<model::Edits> lists;
    for (const std::size_t cell : planned) {
      const model::Edits own = edits(place_of(sweep, cell));
      lists.push_back(base);
      lists.back().insert(lists.back().end(), own.begin(), own.end());
    }
    const auto plans =
        transformer.plans(std::move(lists), computation.workspace, computation.stop, second_of(run));
    while (!planned.empty()) {
      const std::vector<std::size_t> cells = take_last(planned, together);
      transformer.variants(
          *clean, std::span(plans).subspan(planned.size(), cells.size()), measured.position, 1,
          computation.workspace,
          [&](std::size_t i, model::ConstFloatRows edited) {
            sweep.readings[cells[i]] = meter(edited.row(0));
            sweep.known[cells[i]] = true;
            const auto now = std::chrono::steady_clock::now();
            if (now - shown < kPause) return;
            shown = now;
            show();
          },
          computation.stop);
    }
  }
  return sweep;
}

}  // namespace headscope::app
