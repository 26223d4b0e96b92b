#include "app/views/output/sweep_words.h"

#include <numeric>

#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

/// The source of patches, with the second model's name.
std::string source_words(const PromptRun& run) {
  if (!compares_models(run)) return "the " + second_name(run);
  return (compares_texts(run) ? "the second prompt in " : "") + run.baseline->model->name;
}

/// "logit of “·the” − “·a”".
std::string metric_name(const ViewContext& c, const Swept& swept) {
  if (swept.metric == SweepMetric::divergence) return "KL(run ‖ edited), bits";
  const bool is_difference = swept.metric == SweepMetric::difference;
  return (swept.metric == SweepMetric::probability ? "probability of " : "logit of ") +
         logit_words(c, swept.sweep->token, is_difference ? swept.sweep->against : -1);
}

/// "; 11 of 27 positions patched, each from the equal token": which ones a patch reaches.
std::string patched_words(const ViewContext& c, const SweepOf& question) {
  if (question.edit != SweepEdit::patch || !c.compared() || !compares_texts(*c.run)) return "";
  const std::vector<int>& aligned = c.run->aligned;
  const auto count = std::ssize(aligned) - std::ranges::count(aligned, -1);
  return "; " + grouped(count) + " of " + counted(std::ssize(aligned), "position") + " patched, " +
         (matches_other_positions(*c.run) ? "from equal tokens" : "from the same positions");
}

/// What is said of the values that the edits set, from another run or from a list.
std::string source_words(const ViewContext& c, const SweepOf& question) {
  if (question.edit == SweepEdit::list_mean) return "; " + mean_words(c, question.mean_over);
  return patched_words(c, question);
}

/// "; 64 of 12,288 neurons"
std::string chosen_words(const ViewContext& c, const Sweep& sweep) {
  if (sweep.neurons.empty()) return "";
  const model::Config& config = c.run->run->config;
  return "; " + grouped(std::ssize(sweep.neurons)) + " of " +
         counted(std::int64_t{config.n_layer} * config.n_inner, "neuron");
}

/// "L4 at 8 “·it”: +0.1234", the strongest difference so far.
std::string strongest_words(const ViewContext& c, const Swept& swept) {
  double most = 0;
  std::size_t strongest = 0;
  for (std::size_t cell = 0; cell < swept.sweep->known.size(); ++cell) {
    const double difference = swept.is_known(cell) ? swept.difference(cell) : 0;
    if (std::abs(difference) > std::abs(most)) most = difference, strongest = cell;
  }
  if (most == 0) return "no effect";
  const SweepPlace place = swept.place(strongest);
  return "strongest: " + part_name(place) +
         (place.position ? " at " + token_name(c.run->tokens, *place.position) : "") + "  " +
         (most > 0 ? "+" : "") + viz::number(most, 4);
}

/// What is edited in each cell: "Each head".
std::string sweep_subject(const SweepOf& question) {
  const std::string site(name_of(kSweepSites, question.site));
  const bool is_default = question.site == sites_of(question.over).front();
  switch (question.over) {
    case SweepOver::heads:
      return is_default ? "Each head" : "Each head's " + site;
    case SweepOver::senders:
      return "Paths into " + receiver_name(question.receiver) + ", each sender";
    case SweepOver::head_positions:
      return is_default ? "Each head at each position" : "Each head's " + site + " at each position";
    case SweepOver::mlps:
      return "Each MLP";
    case SweepOver::neurons:
      return "Neurons with the largest estimated effect, each";
    case SweepOver::positions:
      break;
  }
  return site;
}

}  // namespace

double Swept::estimate(std::size_t cell) const {
  return is_estimated() ? sweep->estimates[cell].of(metric) : std::numeric_limits<double>::quiet_NaN();
}

Swept swept_of(const ViewContext& c, const SweepOf& question, std::shared_ptr<const Sweep> sweep) {
  Swept swept{question, std::move(sweep), c.options[kSweptMetric], {}, {}};
  swept.cells.resize(swept.sweep->known.size());
  std::iota(swept.cells.begin(), swept.cells.end(), std::size_t{0});
  if (question.over == SweepOver::neurons && swept.is_complete())
    std::ranges::stable_sort(swept.cells, std::greater(), [&](std::size_t cell) {
      const double difference = std::abs(swept.difference(cell));
      return std::isfinite(difference) ? difference : -1;
    });
  if (question.edit == SweepEdit::patch && token_count(swept.metric) > 0)
    if (const auto next = compared_next(c)) swept.source = source_reading(*swept.sweep, next->logits);
  return swept;
}

bool is_listed(SweepOver over) {
  return over == SweepOver::mlps || over == SweepOver::neurons;
}
bool is_by_position(SweepOver over) {
  return over == SweepOver::positions || over == SweepOver::head_positions;
}

std::string sweep_title(const PromptRun& run, const SweepOf& question) {
  const bool from_other = run.baseline && compares_different_inputs(run);
  const std::string patched_from = from_other ? source_words(run) : "the unedited run";
  const std::string how = question.edit == SweepEdit::zero   ? " zeroed"
                          : question.edit == SweepEdit::mean ? " replaced by its mean"
                          : question.edit == SweepEdit::list_mean
                              ? " replaced by its mean over a list of prompts"
                              : " patched from " + patched_from;
  return sweep_subject(question) + how +
         (question.over == SweepOver::positions ? ", by layer and position" : "");
}

std::string sweep_subtitle(const ViewContext& c, const Swept& swept) {
  const std::string after = " after " + token_name(c.run->tokens, swept.sweep->position);
  const std::string from = swept.metric == SweepMetric::divergence
                               ? ""
                               : "; before " + viz::number(swept.before(), 4) +
                                     (c.run->prompt.edits.empty() ? "" : " in the edited run");
  return metric_name(c, swept) + after + from + source_words(c, swept.question) +
         chosen_words(c, *swept.sweep);
}

std::string change_name(SweepMetric metric) {
  if (metric == SweepMetric::divergence) return "KL, bits";
  if (metric == SweepMetric::difference) return "Δ logit difference";
  return "Δ " + std::string(name_of(kSweepMetrics, metric));
}

std::string edit_words(const SweepOf& question, const SweepPlace& place) {
  if (question.edit != SweepEdit::list_mean) return edit_words(question.edits(place).front());
  // The edit itself has only the numbers.
  SweepOf of_run = question;
  of_run.edit = SweepEdit::mean;
  return edit_words(of_run.edits(place).front(), "the list");
}

std::string sweep_state(const ViewContext& c, const Swept& swept) {
  const std::string words = strongest_words(c, swept);
  if (swept.is_complete()) return words;
  const int known = swept.sweep->known_count();
  return "computing… " + grouped(known) + " of " + grouped(std::ssize(swept.sweep->known)) +
         (known > 0 ? "; so far " + words : "");
}

std::string words_on_estimates(const Swept& swept) {
  const bool complete = swept.is_complete();
  if (swept.sweep->estimates.empty() || (complete && !swept.is_estimated())) return "";
  if (!swept.is_estimated()) return "no estimates: KL's slope is 0 at the run";
  const double correlation = swept.sweep->estimate_correlation(swept.metric);
  if (complete && std::isnan(correlation)) return "";
  return std::string(complete || is_listed(swept.question.over) ? "" : "half-height cells: ") +
         "first-order estimates" +
         (std::isnan(correlation)
              ? ""
              : "; rank correlation with the exact differences " + viz::fixed_number(correlation, 2));
}

}  // namespace headscope::app
