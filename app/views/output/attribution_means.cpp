#include "app/views/output/attribution_means.h"

#include <algorithm>

#include "app/views/output/logit_options.h"
#include "app/views/parts/list_means.h"
#include "app/views/parts/prompt_list_words.h"

namespace headscope::app {

AttributionOnList attribution_on_list(const ViewContext& c) {
  const auto choice = [&](const Option<int>& id, const Option<int>& rank) {
    return c.options[id] >= 0 ? TokenChoice::of(c.options[id]) : TokenChoice::best(c.options[rank] - 1);
  };
  AttributionOnList question{over_list(c), choice(kLogitId, kLogitRank)};
  if (subtracts_token(c.options)) question.against = choice(kLogitOtherId, kAgainstRank);
  return question;
}

std::string refuse_mean_list(AttributionList list) {
  if (list == AttributionList::sources) return "sources are of one prompt's tokens: list parts or layers";
  if (list == AttributionList::neurons)
    return "neurons are listed for one prompt: of means, list parts or layers";
  return "";
}

std::shared_ptr<const Attribution> mean_parts(const MeansOnList& means, const model::Config& config) {
  if (means.means.empty()) return nullptr;
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

const SampleMean* mean_of_row(const AttributionNumbers& n, int part, int layer) {
  if (!n.means) return nullptr;
  if (part >= 0) return &n.means->means.mean(static_cast<std::size_t>(part));
  return layer >= 0 ? &n.means->layers.at(static_cast<std::size_t>(layer)) : nullptr;
}

const SampleMean* mean_of_listed(const AttributionNumbers& n, AttributionList list, int row) {
  const int id = n.ids[row];
  if (list == AttributionList::parts) return mean_of_row(n, id, -1);
  if (id >= 0) return mean_of_row(n, -1, id);
  const auto end = std::ranges::find_if(
      n.parts, [&](const Contribution& part) { return part.layer < 0 && part.col == -1 - id; });
  return mean_of_row(n, static_cast<int>(end - n.parts.begin()), -1);
}

std::string mean_attribution_title(const MeansOnList& means) {
  return means.subtracts.value_or(false) ? "Logit difference by part" : "Logit by part";
}

std::string mean_attribution_subtitle(const ViewContext& c, const MeansOnList& means) {
  return means_words(c, means) +
         "; after the prompt's last or named position: what each part of the model adds";
}

}  // namespace headscope::app
