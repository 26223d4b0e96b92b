#include "app/views/output/sweep_question.h"

#include <numeric>

#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app::sweep {

namespace {

constexpr int kMost = 999;  // layers or heads; those of the model count

bool has_sites(const Options& options) {
  return sites_of(options[kSweptOver]).size() > 1;
}
bool is_over_neurons(const Options& options) {
  return options[kSweptOver] == SweepOver::neurons;
}
bool is_over_senders(const Options& options) {
  return options[kSweptOver] == SweepOver::senders;
}
bool leads_to_head(const Options& options) {
  return is_over_senders(options) && kSweepReceivers[options[kReceiver]].value != model::Site::resid_post;
}

/// The receiver of the options in a model.
SweepReceiver receiver_of(const Options& options, const model::Config& config) {
  const int last = config.n_layer - 1, layer = options[kReceiverLayer], head = options[kReceiverHead];
  const bool of_head = leads_to_head(options);
  SweepReceiver receiver{{{kSweepReceivers[options[kReceiver]].value, last}, {}, {}, {}}, config.n_head};
  if (of_head && layer >= 0) receiver.at.point.layer = std::min(layer, last);
  if (of_head && head >= 0) receiver.at.head = std::min(head, config.n_head - 1);
  return receiver;
}

/// The layer that an edit is about; of a path the sender's. Nothing: it is of no layer.
std::optional<int> layer_of(const model::Edit& edit) {
  if (const model::PatchFrom* path = model::path_patch(edit)) return layer_of(path->edits.front());
  return std::visit(
      [](const auto& one) -> std::optional<int> {
        if constexpr (requires { one.at.point.layer; }) return one.at.point.layer;
        return std::nullopt;
      },
      edit);
}

}  // namespace

const Option<int> kSweptMetric =
    choice_option<int>("sweep-metric", "Metric", "cC", "how the prediction is compared with the run's",
                       choices_of(kSweepMetrics), {.flag = "metric", .default_value = 1});
const Option<SweepOver> kSweptOver =
    choice_option<SweepOver>("sweep-over", "Over", "hH", "what is edited in turn", choices_of(kSweepOver));
const Option<SweepEdit> kSweptEdit = choice_option<SweepEdit>(
    "sweep-change", "Edit", "wW", "the edit applied to each", choices_of(kSweepEdits));
const Option<int> kSweptSite = choice_option<int>(
    "sweep-site", "Site", "xX", "the site that is edited",
    choices_of(kSweepSites, {{"auto", "Auto site", "z of heads, the residual stream of layers"}}),
    {.flag = "site", .applies = has_sites, .advanced = true});
const Option<int> kSweptNeurons = number_option("sweep-neurons", "Neurons", "bB",
                                                "number of neurons, those with the largest estimated effect",
                                                64, 1, 1000, {.applies = is_over_neurons});
const Option<int> kReceiver =
    choice_option<int>("sweep-receiver", "Receiver", "tT", "what the senders' paths lead to",
                       choices_of(kSweepReceivers), {.applies = is_over_senders});
const Option<int> kReceiverLayer =
    number_option("sweep-receiver-layer", "Receiver layer", "oO", "the layer that the paths lead to", -1, -1,
                  kMost, {.default_name = "last", .applies = leads_to_head});
const Option<int> kReceiverHead =
    number_option("sweep-receiver-head", "Receiver head", "eE", "the head that the paths lead to", -1, -1,
                  kMost, {.default_name = "all", .applies = leads_to_head});

SweepOf sweep_question(const ViewContext& c) {
  const int site = has_sites(c.options) ? c.options[kSweptSite] : 0;
  SweepOf question;
  question.over = c.options[kSweptOver];
  question.site = site > 0 ? kSweepSites[site - 1].value : sites_of(question.over).front();
  question.edit = c.options[kSweptEdit];
  // All metrics are read at once, of both tokens.
  question.measured = measured_by(c, Metric::difference).value_or(Measured{.token = {}, .position = 0});
  question.measured.metric = kSweepMetrics[c.options[kSweptMetric]].value;
  if (question.over == SweepOver::neurons) question.neurons = c.options[kSweptNeurons];
  if (!c.run) return question;
  if (question.over == SweepOver::senders) question.receiver = receiver_of(c.options, c.config());
  if (question.edit == SweepEdit::list_mean) question.mean_over = mean_source(c, means_of(c, question));
  if (question.edit == SweepEdit::patch) question.from = patch_prompt_of(*c.run);
  question.positions = acting_positions(*c.run, question.measured.position);
  return question;
}

MeansOverList means_of(const ViewContext& c, const SweepOf& question) {
  return question.means_over(over_list(c), c.config());
}

std::vector<std::size_t> applied_cells(const PromptRun& run, const SweepOf& question, const Sweep& sweep) {
  std::vector<std::size_t> applied;
  for (const model::Edit& edit : run.prompt.edits)
    for (std::size_t cell = 0; cell < sweep.known.size(); ++cell) {
      const SweepPlace place = question.place_of(sweep, cell);
      if (place.layer != layer_of(edit)) continue;  // few of a grid's many cells are compared
      const model::Edits edits = question.edits(place);
      const EditList own{.edits = {{edit, true}}};
      if (!edits.empty() && with_joined_edit(own, edits.front()) == own) applied.push_back(cell);
    }
  return applied;
}

Swept swept_of(const ViewContext& c, const SweepOf& question, std::shared_ptr<const Sweep> sweep) {
  Swept swept{question, std::move(sweep), {}, {}, {}, {}};
  swept.measured = swept.sweep->measured;
  swept.measured.metric = question.measured.metric;
  swept.applied = applied_cells(*c.run, question, *swept.sweep);
  swept.cells.resize(swept.sweep->known.size());
  std::iota(swept.cells.begin(), swept.cells.end(), std::size_t{0});
  if (question.over == SweepOver::neurons && swept.is_complete())
    std::ranges::stable_sort(swept.cells, std::greater(), [&](std::size_t cell) {
      const double difference = std::abs(swept.difference(cell));
      return std::isfinite(difference) ? difference : -1;
    });
  if (question.edit == SweepEdit::patch && token_count(swept.measured.metric) > 0)
    if (const auto next = compared_next(c)) swept.source = source_reading(*swept.sweep, next->logits);
  if (question.over == SweepOver::head_positions) swept.rows_per_layer = c.config().n_head;
  swept.cols = swept.sweep->columns / swept.rows_per_layer;
  return swept;
}

// ---- words ----

std::string title_of(const PromptRun& run, const SweepOf& question) {
  const std::string site(name_of(kSweepSites, question.site));
  const std::string whose = question.site == sites_of(question.over).front() ? "" : "'s " + site;
  std::string words = site;
  if (question.over == SweepOver::heads) words = "Each head" + whose;
  if (question.over == SweepOver::head_positions) words = "Each head" + whose + " at each position";
  if (question.over == SweepOver::mlps) words = "Each MLP";
  if (question.over == SweepOver::neurons) words = "Neurons with the largest estimated effect, each";
  if (const auto& [point, head, positions, units] = question.receiver.at; question.over == SweepOver::senders)
    words = "Paths into " +
            (point.site == model::Site::resid_post
                 ? "the logits"
                 : (head ? head_name(point.layer, *head) : "L" + std::to_string(point.layer)) + " " +
                       std::string(name_of(kSweepReceivers, point.site))) +
            ", each sender";
  if (question.edit == SweepEdit::zero) words += " zeroed";
  if (question.edit == SweepEdit::mean) words += " replaced by its mean";
  if (question.edit == SweepEdit::list_mean) words += " replaced by its mean over a list of prompts";
  if (question.edit == SweepEdit::patch) {
    words += " patched from ";
    if (!run.baseline || !compares_different_inputs(run))
      words += "the unedited run";
    else if (compares_models(run))
      words += (compares_texts(run) ? "the second prompt in " : "") + run.baseline->model->name;
    else
      words += "the " + second_name(run);
  }
  return words + (question.over == SweepOver::positions ? ", by layer and position" : "");
}

std::string subtitle_of(const ViewContext& c, const Swept& swept) {
  const SweepOf& question = swept.question;
  std::string words =
      metric_words(c, swept.measured) + " after " + token_name(c.run->tokens, swept.measured.position);
  if (swept.measured.metric != Metric::divergence)
    words += "; before " + viz::number(swept.before(), 4) +
             (c.run->prompt.edits.empty() ? "" : " in the edited run");
  if (question.edit == SweepEdit::list_mean) words += "; " + mean_words(c, question.mean_over);
  if (question.edit == SweepEdit::patch && c.compared() && compares_texts(*c.run)) {
    const std::vector<int>& aligned = c.run->aligned;
    const auto count = std::ssize(aligned) - std::ranges::count(aligned, -1);
    words += "; " + grouped(count) + " of " + counted(std::ssize(aligned), "position") + " patched, " +
             (matches_other_positions(*c.run) ? "from equal tokens" : "from the same positions");
  }
  if (!swept.sweep->neurons.empty()) {
    const model::Config& config = c.config();
    words += "; " + grouped(std::ssize(swept.sweep->neurons)) + " of " +
             counted(std::int64_t{config.n_layer} * config.n_inner, "neuron");
  }
  return words;
}

std::string change_name(Metric metric) {
  if (metric == Metric::divergence) return "KL, bits";
  if (metric == Metric::difference) return "Δ logit difference";
  return "Δ " + std::string(name_of(kMetrics, metric));
}

std::string edit_words(const SweepOf& question, const SweepPlace& place) {
  if (question.edit != SweepEdit::list_mean) return app::edit_words(question.edits(place).front());
  // The edit itself has only the numbers.
  SweepOf of_run = question;
  of_run.edit = SweepEdit::mean;
  return app::edit_words(of_run.edits(place).front(), {.means_over = "the list"});
}

std::string state_of(const ViewContext& c, const Swept& swept) {
  double most = 0;
  std::size_t strongest = 0;
  for (std::size_t cell = 0; cell < swept.cells.size(); ++cell) {
    const double difference = swept.is_known(cell) ? swept.difference(cell) : 0;
    if (std::abs(difference) > std::abs(most)) most = difference, strongest = cell;
  }
  std::string words = "no effect";
  if (most != 0) {
    const SweepPlace place = swept.place(strongest);
    words = "strongest: " + part_name(place) +
            (place.position ? " at " + token_name(c.run->tokens, *place.position) : "") + "  " +
            with_sign(most, 4);
  }
  if (!swept.is_complete()) {
    const int known = swept.sweep->known_count();
    words = "computing… " + grouped(known) + " of " + grouped(std::ssize(swept.sweep->known)) +
            (known > 0 ? "; so far " + words : "");
  }
  return words + (swept.applied.empty() ? "" : "   • already edited");
}

std::string words_on_estimates(const ViewContext& c, const Swept& swept) {
  const bool complete = swept.is_complete(), listed = is_listed(swept.question.over);
  const bool shows = listed || !c.printed;
  if (swept.sweep->estimates.empty() || (complete && !(shows && swept.is_estimated()))) return "";
  if (!swept.is_estimated()) return "no estimates: KL's slope is 0 at the run";
  const double correlation = swept.sweep->estimate_correlation(swept.measured.metric);
  const std::string of = listed ? "" : complete ? "all exact; " : "half-height cells: ";
  return of + "first-order estimates" +
         (std::isnan(correlation)
              ? ""
              : ", rank correlation with the exact differences " + viz::fixed_number(correlation, 2));
}

}  // namespace headscope::app::sweep
