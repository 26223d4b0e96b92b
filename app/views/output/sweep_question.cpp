#include "app/views/output/sweep_question.h"

#include "app/run/edits/edit_list.h"
#include "app/run/named.h"
#include "app/views/output/logit_options.h"
#include "app/views/output/sweep_words.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

namespace {

std::vector<Choice> site_choices() {
  std::vector<Choice> choices = choices_of(kSweepSites);
  choices.insert(choices.begin(), {"auto", "Auto site", "z of heads, the residual stream of layers"});
  return choices;
}

model::Site site_of(const Options& options) {
  const std::span<const model::Site> sites = sites_of(options[kSweptOver]);
  const int chosen = sites.size() > 1 ? options[kSweptSite] : 0;
  return chosen > 0 ? kSweepSites[chosen - 1].value : sites.front();
}

bool takes_mean(SweepEdit edit) {
  return edit == SweepEdit::mean || edit == SweepEdit::list_mean;
}

/// Whether the metric is the difference of a token and itself, as far as the prediction is known.
bool names_one_twice(const ViewContext& c, const SweepOf& question) {
  using By = TokenChoice::By;
  const TokenChoice &token = question.token, &against = question.against;
  const auto is_known = [](const TokenChoice& choice) {
    return choice.by == By::id || choice.by == By::rank;
  };
  if (c.options[kSweptMetric] != SweepMetric::difference || !is_known(token) || !is_known(against))
    return false;
  if (token.by == against.by) return token == against;
  const auto next = c.run ? current_next(c) : nullptr;  // ranks are of this run: others were resolved
  return next && id_of(token, next->logits) == id_of(against, next->logits);
}

/// "z, q or k"
std::string names_of(std::span<const model::Site> sites) {
  std::string names;
  for (std::size_t i = 0; i < sites.size(); ++i)
    names += std::string(i == 0                  ? ""
                         : i + 1 == sites.size() ? " or "
                                                 : ", ") +
             std::string(name_of(kSweepSites, sites[i]));
  return names;
}

/// Whether an edit of the run includes those of a place.
bool is_applied_by(const model::Edit& edit, const model::Edits& edits) {
  if (edits.empty()) return false;
  const EditList applied{.edits = {{edit, true}}};
  return with_joined_edit(applied, edits.front()) == applied;
}

/// The only places of a grid whose edits an edit can include: an edit is one only of its layer, its head and
/// its positions.
std::vector<SweepPlace> places_of(const model::Edit& edit, const SweepOf& question) {
  const bool of_senders = question.over == SweepOver::senders;
  const model::PatchFrom* path = model::path_patch(edit);
  if (of_senders != (path != nullptr)) return {};
  return std::visit(
      [&](const auto& one) -> std::vector<SweepPlace> {
        if constexpr (requires { one.at.positions; }) {
          const model::EditSite& at = one.at;
          SweepPlace place{.layer = at.point.layer, .head = at.head};
          place.is_mlp = of_senders && !at.head;
          const bool by_head = question.over != SweepOver::positions;
          if (at.head.has_value() != by_head && !place.is_mlp) return {};
          if (question.over != SweepOver::positions && question.over != SweepOver::head_positions)
            return {place};
          std::vector<SweepPlace> places;
          for (const int position : at.positions) {
            if (position >= question.edited_positions()) continue;
            place.position = position;
            places.push_back(place);
          }
          return places;
        } else {
          return {};
        }
      },
      of_senders ? path->edits.front() : edit);
}

constexpr int kMost = 999;  // layers or heads; those of the model count

bool leads_to_head(const Options& options) {
  return over_senders(options) && options[kReceiver] != PathTo::logits;
}

constexpr model::Site kSites[] = {model::Site::resid_post, model::Site::q, model::Site::k, model::Site::v};

PathTo path_to(model::Site site) {
  return static_cast<PathTo>(std::ranges::find(kSites, site) - kSites);
}

std::string name_of(PathTo to) {
  return std::string(app::name_of(kPathTo, to));
}

}  // namespace

const Option<SweepMetric> kSweptMetric = make_option<SweepMetric>(
    "sweep-metric", "Metric", "how the prediction is compared with the run's",
    {.flag = "metric", .default_value = 1, .choices = choices_of(kSweepMetrics), .keys = "cC"});
const Option<SweepEdit> kSweptEdit = choice_option<SweepEdit>(
    "sweep-change", "Edit", "wW", "the edit applied to each", choices_of(kSweepEdits));

const Option<int> kSweptSite = make_option<int>(
    "sweep-site", "Site", "the site that is edited",
    {.flag = "site",
     .default_value = 0,
     .choices = site_choices(),
     .keys = "xX",
     .applies = [](const Options& options) { return sites_of(options[kSweptOver]).size() > 1; }});

const Option<int> kSweptNeurons = make_option<int>(
    "sweep-neurons", "Neurons", "number of neurons, those with the largest estimated effect",
    {.default_value = 64, .low = 1, .high = 1000, .keys = "bB", .applies = [](const Options& options) {
       return options[kSweptOver] == SweepOver::neurons;
     }});

int swept_tokens(const Options& options) {
  return token_count(options[kSweptMetric]);
}

/// The receiver of the options in the run's model.
static SweepReceiver receiver_of(const ViewContext& c) {
  if (!c.run) return {};
  const model::Config& config = c.run->run->config;
  const PathTo to = c.options[kReceiver];
  const int last = config.n_layer - 1, layer = c.options[kReceiverLayer], head = c.options[kReceiverHead];
  const bool is_end = to == PathTo::logits || layer < 0;
  SweepReceiver receiver{{{kSites[static_cast<int>(to)], is_end ? last : std::min(layer, last)}, {}, {}, {}},
                         config.n_head};
  if (to != PathTo::logits && head >= 0) receiver.at.head = std::min(head, config.n_head - 1);
  return receiver;
}

SweepOf sweep_question(const ViewContext& c) {
  SweepOf question;
  question.over = c.options[kSweptOver];
  question.site = site_of(c.options);
  if (question.over == SweepOver::senders) question.receiver = receiver_of(c);
  question.edit = c.options[kSweptEdit];
  if (question.edit == SweepEdit::list_mean && c.run)
    question.mean_over = mean_source(c, means_of(c, question));
  if (question.edit == SweepEdit::patch && c.run) question.from = patch_prompt_of(*c.run);
  const auto token = token_choice(c, kMeasuredToken);
  question.token = token.value_or(TokenChoice{});  // By::none until it is known
  question.against = other_token_choice(c, token).value_or(TokenChoice{});
  question.position = std::max(0, c.selection.query);
  if (c.run) question.positions = acting_positions(*c.run, question.position);
  if (question.over == SweepOver::neurons) question.neurons = c.options[kSweptNeurons];
  question.estimates = question.has_estimates();
  question.largest_of = c.options[kSweptMetric];
  return question;
}

MeansOverList means_of(const ViewContext& c, const SweepOf& question) {
  return question.means_over(over_list(c), c.run->run->config);
}

bool knows_tokens(const SweepOf& question) {
  return question.token.by != TokenChoice::By::none && question.against.by != TokenChoice::By::none;
}

std::vector<SweepPlace> applied_places(const ViewContext& c, const SweepOf& question) {
  std::vector<SweepPlace> applied;
  for (const model::Edit& edit : c.run->prompt.edits)
    for (const SweepPlace& place : places_of(edit, question))
      if (is_applied_by(edit, question.edits(place))) applied.push_back(place);
  return applied;
}

bool is_applied(const ViewContext& c, const SweepOf& question, const SweepPlace& place) {
  if (c.run->prompt.edits.empty()) return false;
  const model::Edits edits = question.edits(place);
  return std::ranges::any_of(c.run->prompt.edits,
                             [&](const model::Edit& edit) { return is_applied_by(edit, edits); });
}

SweepRefusal refuse_sweep(const ViewContext& c, const SweepOf& question) {
  const SweepOver over = question.over;
  const std::span<const model::Site> sites = sites_of(over);
  if (over == SweepOver::senders && !question.receiver.has_senders())
    return {"nothing sends to layer 0: choose a receiver in a later layer", &kReceiverLayer};
  if (std::ranges::find(sites, question.site) == sites.end())
    return {std::string(name_of(kSweepOver, over)) + " has no site " +
                std::string(name_of(kSweepSites, question.site)) + " to edit: choose " + names_of(sites),
            &kSweptSite};
  if (takes_mean(question.edit) && model::has_cells(question.site))
    return {"patterns have no mean over positions: zero or patch them", &kSweptEdit};
  if (over == SweepOver::neurons && question.largest_of == SweepMetric::divergence)
    return {kNoNeuronsByDivergence, &kSweptMetric};
  if (question.edit == SweepEdit::list_mean && question.mean_over.means == nullptr)
    return {"there are no means of a list of prompts", &kSweptEdit};
  if (question.edit == SweepEdit::patch && question.from.tokens.empty())
    return {"there is nothing to patch this run from: set a second prompt or model, or edit it", &kSweptEdit};
  if (names_one_twice(c, question)) return {kOneTwice, nullptr};
  return {};
}

std::string refuse_sweep_options(const ViewContext& c, SweepRefusal refusal) {
  if (c.run && c.max_rows > 0 && !is_listed(c.options[kSweptOver]))
    return "--rows applies only to lists, --sweep-over mlps and neurons";
  return refusal.option == nullptr ? refusal.why
                                   : refusal.why + "; see --" + std::string(refusal.option->flag_name());
}

const Option<SweepOver> kSweptOver =
    choice_option<SweepOver>("sweep-over", "Over", "hH", "what is edited in turn", choices_of(kSweepOver));
const Option<PathTo> kReceiver =
    choice_option<PathTo>("sweep-receiver", "Receiver", "tT", "what the senders' paths lead to",
                          choices_of(kPathTo), {.applies = over_senders});
const Option<int> kReceiverLayer =
    make_option<int>("sweep-receiver-layer", "Receiver layer", "the layer that the paths lead to",
                     {.default_value = -1,
                      .default_name = "last",
                      .low = -1,
                      .high = kMost,
                      .keys = "oO",
                      .applies = leads_to_head});
const Option<int> kReceiverHead =
    make_option<int>("sweep-receiver-head", "Receiver head", "the head that the paths lead to",
                     {.default_value = -1,
                      .default_name = "all",
                      .low = -1,
                      .high = kMost,
                      .keys = "eE",
                      .applies = leads_to_head});

bool over_senders(const Options& options) {
  return options[kSweptOver] == SweepOver::senders;
}

std::string receiver_name(const SweepReceiver& receiver) {
  const auto& [point, head, positions, units] = receiver.at;
  if (point.site == model::Site::resid_post) return "the logits";
  const std::string where = head ? head_name(point.layer, *head) : "L" + std::to_string(point.layer);
  return where + " " + name_of(path_to(point.site));
}

MenuLine show_paths(const Options& options, int layer, int head) {
  const PathTo to = options[kReceiver] == PathTo::logits ? PathTo::q : options[kReceiver];
  return {"Show paths into " + head_name(layer, head) + " " + name_of(to),
          {SetOption{&kSweptOver, static_cast<int>(SweepOver::senders)},
           SetOption{&kReceiver, static_cast<int>(to)}, SetOption{&kReceiverLayer, layer},
           SetOption{&kReceiverHead, head}}};
}

}  // namespace headscope::app
