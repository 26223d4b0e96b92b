#include "app/views/output/attribution_means.h"

#include <memory>
#include <optional>
#include <string>

#include "app/views/output/attribution_picture.h"
#include "app/views/output/logit_options.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/prompt_list_words.h"

namespace headscope::app {
namespace attribution_means {

using Numbers = AttributionNumbers;

AttributionOnList question_of(const ViewContext& c) {
  const auto choice = [&](const Option<int>& id, const Option<int>& rank) {
    return c.options[id] >= 0 ? TokenChoice::of(c.options[id]) : TokenChoice::best(c.options[rank] - 1);
  };
  AttributionOnList question{over_list(c), choice(kLogitId, kLogitRank)};
  if (subtracts_token(c.options)) question.against = choice(kLogitOtherId, kAgainstRank);
  return question;
}

/// Why means cannot be listed so: sources and neurons are of one prompt. Empty if they can.
std::string list_refusal(const ViewContext& c) {
  const AttributionList list = c.options[kAttributionList];
  if (list == AttributionList::sources) return "sources are of one prompt's tokens: list parts or layers";
  if (list == AttributionList::neurons)
    return "neurons are listed for one prompt: of means, list parts or layers";
  return "";
}

/// The mean of each part, in the order of cells_of.
std::shared_ptr<const Attribution> mean_parts(const MeansOnList& means, const model::Config& config) {
  auto parts = std::make_shared<Attribution>();
  std::size_t next = 0;
  const auto take = [&] { return means.means.mean(next++).mean(); };
  parts->layers = config.n_layer;
  parts->against = means.subtracts.value_or(false) ? 0 : -1;
  parts->token_embedding = take();
  parts->position_embedding = take();
  for (int layer = 0; layer < config.n_layer; ++layer) {
    for (int head = 0; head < config.n_head; ++head) parts->heads.push_back(take());
    parts->attention_bias.push_back(take());
    parts->mlps.push_back(take());
  }
  parts->final_bias = take();
  parts->edits = take();
  parts->logit = take();
  return parts;
}

/// Nothing while no prompt is measured, and if means cannot be listed so.
std::optional<Numbers> numbers_of(const ViewContext& c) {
  if (!c.run || !c.prompts || !list_refusal(c).empty()) return std::nullopt;
  const auto means = c.ask(question_of(c));
  if (!means || means->means.empty()) return std::nullopt;
  Numbers n = attribution_numbers(mean_parts(*means, c.run->run->config), c.options[kAttributionList], {},
                                  c.run->tokens);
  n.means = means;
  return n;
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_list(c)) return *words;
  if (const std::string why = list_refusal(c); !why.empty()) return message(c, why);
  const auto question = question_of(c);
  if (auto words = waiting_for_first_prompt(c, question, c.ask(question).get())) return *words;
  const auto n = numbers_of(c);
  const MeansOnList& means = *n->means;
  const std::string progress = progress_words(c, means);
  return attribution_picture(
      c, *n,
      {means.subtracts.value_or(false) ? "Logit difference by part" : "Logit by part",
       means_words(c, means) +
           "; after the prompt's last or named position: what each part of the model adds",
       (progress.empty() ? "" : progress + "; so far ") + sum_words(*n)});
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  const auto head = n ? head_of_part(*n, attribution_target(c, *n, picture, hit).part) : std::nullopt;
  return head ? ViewActions{*head} : ViewActions{};
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  return list_gesture(kAttributionRows, click, attribution_key, c, picture, hit, gesture);
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  const AttributionTarget at = n ? attribution_target(c, *n, picture, hit) : AttributionTarget{};
  const SampleMean* const mean = n ? mean_of_row(*n, at.part, at.layer) : nullptr;
  if (mean == nullptr) return facts;
  frame_target(facts.overlay, c, *n, picture, at);
  const std::string name = at.part >= 0 ? n->parts[at.part].name : "layer " + std::to_string(at.layer);
  facts.say(name);
  say_mean(facts, std::string("contribution to the ") + (n->of->against < 0 ? "logit" : "difference"), *mean,
           1, false);
  if (const auto head = head_of_part(*n, at.part)) facts.commands.push_back({"Show " + name, {*head}});
  return facts;
}

Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  return n ? table_of(n->means->means) : Table{};
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return list_scrolls(kAttributionRows, c, picture);
}

std::string refuse(const ViewContext& c) {
  if (std::string words = refuse_token_id(c, {&kLogitId, &kLogitOtherId}); !words.empty()) return words;
  const std::string why = list_refusal(c);
  return why.empty() ? why : why + "; see --" + std::string(kAttributionList.flag_name());
}

}  // namespace attribution_means

const MeansForm kAttributionMeans{.build = attribution_means::build,
                                  .facts = attribution_means::facts,
                                  .table = attribution_means::table,
                                  .on = attribution_means::on,
                                  .scrolls = attribution_means::scrolls,
                                  .refuse = attribution_means::refuse,
                                  .figure_size = attribution_size};

}  // namespace headscope::app
