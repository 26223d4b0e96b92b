#include "app/run/analyses/saliency.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "app/run/analyses/parameters.h"
#include "app/run/analyses/vectors.h"
#include "app/run/run_prompt.h"
#include "model/files/error.h"

namespace headscope::app {
namespace {

constexpr model::HookPoint kEmbed{model::Site::embed, 0};

/// What the passes of one answer have in common.
struct Passes {
  const PromptRun& run;
  const model::Metric& metric;
  const Computation<Saliency>& computation;
  int length = 0, cols = 0;

  const model::Transformer& transformer() const { return *run.model->transformer; }

  /// The tokens' embeddings as edits left them.
  ParameterRows embeddings() const {
    Recording embeddings(run.run->config, 0, length);
    embeddings.add(kEmbed);
    embeddings.read(run, computation);
    return {vector_of(embeddings.rows(kEmbed)), length, cols};
  }

  /// The metric in a run, and if wanted its derivatives with respect to the embeddings.
  double differentiate(const model::Run& at, ParameterRows* gradient) const {
    Recording slopes(run.run->config, 0, length);
    if (gradient != nullptr) slopes.add(kEmbed);
    const double value = transformer().gradients(at, metric, computation.workspace,
                                                 {.hooks = &slopes.hooks(), .stop = computation.stop});
    if (gradient != nullptr) *gradient = {vector_of(slopes.rows(kEmbed)), length, cols};
    return value;
  }
};

/// The eight nodes of Gauss and Legendre's rule on [0, 1], and their weights, which add up to 1 (Abramowitz &
/// Stegun 1964, table 25.4). It is exact for polynomials of a degree below 16.
constexpr std::pair<double, double> kNodes[]{
    {0.01985507175123188416, 0.05061426814518812958}, {0.10166676129318663021, 0.11119051722668723527},
    {0.23723379504183550709, 0.15685332293894364367}, {0.40828267875217509753, 0.18134189168918099148},
    {0.59171732124782490247, 0.18134189168918099148}, {0.76276620495816449291, 0.15685332293894364367},
    {0.89833323870681336979, 0.11119051722668723527}, {0.98014492824876811584, 0.05061426814518812958}};

/// The vector that replaces every embedding at the start of the path; empty: zeros.
std::vector<float> start_of(SaliencyBaseline baseline, const LoadedModel& model) {
  const model::Transformer& transformer = *model.transformer;
  if (baseline == SaliencyBaseline::zero) return {};
  if (baseline == SaliencyBaseline::end_of_text) {
    const auto id = model.tokenizer ? model.tokenizer->end_of_text() : std::nullopt;
    if (!id || *id >= transformer.config().vocab_size)
      throw model::RunError(
          "the baseline <|endoftext|> needs a token of that name, but the model has none; zero and mean are "
          "possible");
    return parameter_rows(transformer, "wte.weight", *id, 1).values;
  }
  const std::vector<double> mean = mean_of_tokens(transformer, "wte.weight");
  return {mean.begin(), mean.end()};
}

/// The edits that move all embeddings to a part of the way from the start, after the run's own.
model::Edits at_part(const Passes& passes, const std::vector<float>& start, double part) {
  model::Edits edits = passes.run.run->plan ? passes.run.run->plan->edits() : model::Edits{};
  const model::EditSite everywhere{kEmbed, {}, {}, {}};
  const auto factor = static_cast<float>(part);
  edits.emplace_back(model::ScaleValues{everywhere, factor});
  if (!start.empty()) edits.emplace_back(model::AddVector{everywhere, start, 1 - factor});
  return edits;
}

/// The way from the baseline to the embeddings, as [0, 1]. A trained model's metric changes within a few
/// hundredths of it, which gradients at places chosen in advance would miss. But the metric's own values tell
/// how far the gradients of each stretch are off: the worst is halved until all together are good enough.
class Way {
 public:
  Way(const SaliencyOf& question, const Passes& passes)
      : passes_(passes), start_(start_of(question.baseline, *passes.run.model)), way_(passes.embeddings()) {
    for (int i = 0; i < way_.rows && !start_.empty(); ++i)
      std::ranges::transform(way_.row(i), start_, way_.row(i).begin(), std::minus());
  }

  /// Fills in the shares, the metric at the start, and the number of gradients.
  void integrate(Saliency& result) {
    result.start = metric_at(0);
    const double tolerance = std::max(kTolerance * std::abs(result.value - result.start), kLeastTolerance);
    std::vector<Stretch> stretches{stretch(result, 0, 1, result.start, result.value)};
    const auto miss = [](const Stretch& one) { return one.miss(); };
    while (result.gradients + 2 * static_cast<int>(std::size(kNodes)) <= kMostGradients) {
      double all = 0;
      for (const Stretch& one : stretches) all += one.miss();
      if (all <= tolerance) break;
      const auto worst = std::ranges::max_element(stretches, {}, miss);
      const Stretch halved = std::move(*worst);
      const double middle = (halved.from + halved.to) / 2, value = metric_at(middle);
      *worst = stretch(result, halved.from, middle, halved.before, value);
      stretches.push_back(stretch(result, middle, halved.to, value, halved.after));
    }
    for (const Stretch& one : stretches)
      for (std::size_t i = 0; i < one.parts.size(); ++i) result.parts[i] += one.parts[i];
  }

 private:
  static constexpr int kMostGradients = 256;
  /// How far the parts of all stretches may be off: a part of the metric's difference from the baseline, or
  /// what the metric's float32 can tell.
  static constexpr double kTolerance = 2e-4, kLeastTolerance = 1e-5;

  /// Part of the way.
  struct Stretch {
    double from = 0, to = 1;
    double before = 0, after = 0;  ///< the metric at its ends
    std::vector<double> parts;     ///< [T], the tokens' shares in the metric's difference along it
    double miss() const {
      const double off = std::accumulate(parts.begin(), parts.end(), 0.0) - (after - before);
      return std::isfinite(off) ? std::abs(off) : 0;  // more gradients would not help
    }
  };

  Stretch stretch(Saliency& result, double from, double to, double before, double after) {
    Stretch made{from, to, before, after, std::vector<double>(passes_.length)};
    for (const auto& [at, weight] : kNodes) {
      passes_.computation.progress(static_cast<double>(result.gradients) / kMostGradients);
      ++result.gradients;
      passes_.differentiate(*run_at(from + at * (to - from)), &gradient_);
      for (int position = 0; position < passes_.length; ++position)
        made.parts[position] += weight * (to - from) * dot(gradient_.row(position), way_.row(position));
    }
    return made;
  }

  std::shared_ptr<const model::Run> run_at(double part) const {
    const Computation<Saliency>& computation = passes_.computation;
    const auto plan = passes_.transformer().plan(at_part(passes_, start_, part), computation.workspace,
                                                 computation.stop, second_of(passes_.run));
    return passes_.transformer().forward(passes_.run.run->tokens, computation.workspace,
                                         {.plan = plan, .stop = computation.stop});
  }

  double metric_at(double part) const { return passes_.differentiate(*run_at(part), nullptr); }

  const Passes& passes_;
  std::vector<float> start_;
  ParameterRows way_;  // from the start to each token's embedding
  ParameterRows gradient_;
};

}  // namespace

int Saliency::reach() const {
  auto count = static_cast<int>(parts.size());
  if (measured.position < 0) return count;
  while (count > measured.position + 1 && parts[count - 1] == 0) --count;
  return count;
}

Saliency SaliencyOf::compute(const PromptRun& run, const Computation<Saliency>& computation) const {
  Saliency result;
  result.measured = resolved(measured, run, computation);
  const model::Metric metric = gradient_metric(result.measured, run, computation);
  result.method = method;
  result.gradients = method == SaliencyMethod::integrated ? 0 : 1;
  const Passes passes{run, metric, computation, run.run->length(), run.run->config.n_embd};
  result.parts.resize(passes.length);
  if (method == SaliencyMethod::integrated) {
    result.value = passes.differentiate(*run.run, nullptr);
    Way(*this, passes).integrate(result);
  } else {
    ParameterRows gradient;
    result.value = passes.differentiate(*run.run, &gradient);
    const bool by_input = method == SaliencyMethod::gradient_input;
    const ParameterRows embeddings = by_input ? passes.embeddings() : ParameterRows();
    for (int i = 0; i < passes.length; ++i)
      result.parts[i] = by_input ? dot(gradient.row(i), embeddings.row(i)) : norm_of(gradient.row(i));
  }
  const double unit = unit_of(measured.metric);
  for (double* number : {&result.value, &result.start}) *number *= unit;
  for (double& part : result.parts) part *= unit;
  return result;
}

Saliency Saliency::minus(const Saliency& before, const PromptRun& run) const {
  Saliency result = *this;
  result.value -= before.value;
  result.start -= before.start;
  result.unmatched = subtract_counterparts(result.parts, before.parts, run);
  return result;
}

}  // namespace headscope::app
