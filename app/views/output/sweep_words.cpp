#include "app/views/output/sweep_words.h"

#include <numeric>

#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/output/sweep_question.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace {

std::string quoted(const ViewContext& c, int id) {
  return "“" + label_of(c, id) + "”";
}

/// The source of patches, with the second model's name.
std::string source_words(const PromptRun& run) {
  if (!compares_models(run)) return "the " + second_name(run);
  return (compares_texts(run) ? "the second prompt in " : "") + run.baseline->model->name;
}

/// "logit of “·the” − “·a”".
std::string metric_name(const ViewContext& c, const Sweep& sweep) {
  const SweepMetric metric = c.options[kSweptMetric];
  if (metric == SweepMetric::divergence) return "KL(run ‖ edited), bits";
  return (metric == SweepMetric::probability ? "probability of " : "logit of ") + quoted(c, sweep.token) +
         (metric == SweepMetric::difference ? " − " + quoted(c, sweep.against) : "");
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

/// The strongest difference so far.
std::string strongest_words(const ViewContext& c, const SweepOf& question, const Sweep& sweep) {
  double most = 0;
  std::size_t strongest = 0;
  for (std::size_t cell = 0; cell < sweep.known.size(); ++cell) {
    const double difference = sweep.known[cell] ? shown_difference(c, sweep, cell) : 0;
    if (std::abs(difference) > std::abs(most)) most = difference, strongest = cell;
  }
  if (most == 0) return "no effect";
  return "strongest: " + place_name(c, question.place_of(sweep, strongest)) + "  " + (most > 0 ? "+" : "") +
         viz::number(most, 4);
}

}  // namespace

double shown_difference(const ViewContext& c, const Sweep& sweep, std::size_t cell) {
  const SweepMetric metric = c.options[kSweptMetric];
  return sweep.readings[cell].of(metric) - sweep.before.of(metric);
}

double shown_estimate(const ViewContext& c, const Sweep& sweep, std::size_t cell) {
  const SweepMetric metric = c.options[kSweptMetric];
  return sweep.estimates_metric(metric) ? sweep.estimates[cell].of(metric)
                                        : std::numeric_limits<double>::quiet_NaN();
}

std::vector<float> shown_values(const ViewContext& c, const Sweep& sweep) {
  std::vector<float> values;
  for (std::size_t cell = 0; cell < sweep.known.size(); ++cell)
    values.push_back(static_cast<float>(sweep.known[cell] ? shown_difference(c, sweep, cell)
                                                          : shown_estimate(c, sweep, cell)));
  return values;
}

/// What is edited in each cell: "Each head".
static std::string sweep_subject(const SweepOf& question) {
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

std::string sweep_subtitle(const ViewContext& c, const SweepOf& question, const Sweep& sweep) {
  const std::string after = " after " + token_name(c.run->tokens, sweep.position),
                    patched = source_words(c, question);
  const SweepMetric metric = c.options[kSweptMetric];
  if (metric == SweepMetric::divergence) return metric_name(c, sweep) + "," + after + patched;
  const char* changes =
      is_listed(question.over) ? ": what each edit changes, from " : ": what each cell changes, from ";
  return metric_name(c, sweep) + after + changes + viz::number(sweep.before.of(metric), 4) +
         (c.run->prompt.edits.empty() ? " in this run" : " in the edited run") + patched +
         chosen_words(c, sweep) +
         (question.over == SweepOver::senders ? "; direct paths, past other heads and MLPs" : "");
}

std::string sweep_scale_title(const ViewContext& c) {
  const SweepMetric metric = c.options[kSweptMetric];
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

std::string place_name(const ViewContext& c, const SweepPlace& place) {
  return part_name(place) + (place.position ? " at " + token_name(c.run->tokens, *place.position) : "");
}

std::string sweep_state(const ViewContext& c, const SweepOf& question, const Sweep& sweep) {
  const std::string words = strongest_words(c, question, sweep);
  if (is_complete(sweep)) return words;
  const int known = sweep.known_count();
  return "computing… " + grouped(known) + " of " + grouped(std::ssize(sweep.known)) +
         (known > 0 ? "; so far " + words : "");
}

std::pair<std::string, std::string> words_on_estimates(const ViewContext& c, const SweepOf& question,
                                                       const Sweep& sweep) {
  const SweepMetric metric = c.options[kSweptMetric];
  const bool complete = is_complete(sweep);
  // In print, where room is for the plot, nothing hints at estimates once the cells are exact.
  if (sweep.estimates.empty() || (complete && c.printed)) return {};
  if (!sweep.estimates_metric(metric)) {
    if (complete) return {};
    return {"no estimates: KL is smallest at the run itself, so its slope is 0 there",
            "no estimates: KL's slope is 0 at the run"};
  }
  const bool plain = complete || is_listed(question.over);
  std::string words = plain ? "first-order estimates" : "half-height cells are first-order estimates",
              narrow = plain ? "estimates" : "half height: estimates";
  const double correlation = sweep.estimate_correlation(metric);
  if (std::isnan(correlation))
    return complete ? std::pair<std::string, std::string>() : std::pair(words, narrow);
  const std::string number = viz::fixed_number(correlation, 2);
  words += (complete ? ": rank correlation with the exact differences "
                     : "; rank correlation with the exact differences so far ") +
           number;
  narrow += (complete ? ": rank correlation " : "; rank correlation ") + number;
  return {words, narrow};
}

bool is_complete(const Sweep& sweep) {
  return sweep.known_count() == std::ssize(sweep.known);
}

bool is_listed(SweepOver over) {
  return over == SweepOver::mlps || over == SweepOver::neurons;
}

std::vector<std::size_t> listed_cells(const SweepOf& question, const Sweep& sweep, SweepMetric metric) {
  std::vector<std::size_t> cells(sweep.known.size());
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  if (question.over != SweepOver::neurons || !is_complete(sweep)) return cells;
  std::ranges::stable_sort(cells, std::greater(), [&](std::size_t cell) {
    const double difference = std::abs(sweep.readings[cell].of(metric) - sweep.before.of(metric));
    return std::isfinite(difference) ? difference : -1;
  });
  return cells;
}

}  // namespace headscope::app
