#include "app/cli/arguments/measurement.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

/// The sum of a metric over `count` queries, which cannot exceed the range of its unit.
ExactMean sum_of(const Json& sum) {
  constexpr std::int64_t kMaxUnits = (std::int64_t{1} << 37) - 1;
  const std::int64_t count = whole_at(sum, "count", 0, ExactMean::kMaxNumbers);
  return {whole_at(sum, "units", -count * kMaxUnits, count * kMaxUnits), count,
          whole_at(sum, "lost", 0, count)};
}

Measurement measurement_of(const Json& part) {
  Measurement measured;
  if (part.contains("repeated")) throw std::invalid_argument("it measures repeated tokens");
  static_cast<ListPart&>(measured) = list_part_of(part);
  const Json& heads = part.at("heads");
  const std::int64_t n_layer = whole_at(part, "n_layer", 1);
  measured.n_head = static_cast<int>(whole_at(part, "n_head", 1));
  if (static_cast<std::int64_t>(heads.size()) != n_layer * measured.n_head)
    throw std::invalid_argument("it has " + std::to_string(heads.size()) + " of the model's " +
                                std::to_string(n_layer * measured.n_head) + " heads");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Json& head = heads.at(i);
    const std::int64_t layer = whole_at(head, "layer", 0), number = whole_at(head, "head", 0);
    if (layer * measured.n_head + number != static_cast<std::int64_t>(i) || number >= measured.n_head)
      throw std::invalid_argument("entry " + std::to_string(i) + " of its heads is " +
                                  head_name(static_cast<int>(layer), static_cast<int>(number)));
    HeadMetrics& metrics = measured.heads.emplace_back();
    metrics.set_left_out(whole_at(head, "queries_left_out", 0, ExactMean::kMaxNumbers));
    for (const HeadMetricKind& metric : head_metrics()) {
      const std::string name(metric.name);
      if (part.at("bits").at(name) != metric.bits)
        throw std::invalid_argument("its sums of " + name + " are in different units");
      metrics.sum(metric.id) = sum_of(head.at("sums").at(name));
    }
    auto& means = measured.over_prompts.emplace_back();
    const bool is_one_prompt = !head.contains("over_prompts") && measured.prompts <= 1;
    for (const HeadMetricKind& metric : head_metrics()) {
      SampleMean& mean = means[static_cast<std::size_t>(metric.id)];
      if (!is_one_prompt)
        mean = mean_of_members(head.at("over_prompts").at(std::string(metric.name)), measured.prompts);
      else if (measured.prompts == 1)
        mean.add(metrics[metric.id]);
    }
  }
  return measured;
}

}  // namespace

Measurement parse_measurement(std::string_view json, const std::string& file) {
  Measurement measured;
  read_part(json, file, "the output of headscope metrics --prompts --json, without --top and --sort",
            [&](const Json& part) { measured = measurement_of(part); });
  return measured;
}

void Measurement::add(const std::vector<HeadMetrics>& prompt) {
  over_prompts.resize(heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    heads[i] += prompt[i];
    for (const HeadMetricKind& metric : head_metrics())
      over_prompts[i][static_cast<std::size_t>(metric.id)].add(prompt[i][metric.id]);
  }
  ++prompts;
}

Measurement merge(std::span<const std::filesystem::path> files) {
  std::optional<Measurement> all;
  ListParts sum;
  for_each_part(files, [&](const std::string& text, const std::string& file) {
    Measurement part = parse_measurement(text, file);
    if (all && (part.n_head != all->n_head || part.heads.size() != all->heads.size()))
      throw model::LoadError(file + ": has " + std::to_string(part.heads.size()) + " heads, but " +
                             system::text_of(files.front()) + " has " + std::to_string(all->heads.size()));
    sum.add(part, file);
    if (!all) {
      all = std::move(part);
      return;
    }
    for (std::size_t i = 0; i < all->heads.size(); ++i) {
      all->heads[i] += part.heads[i];
      for (std::size_t metric = 0; metric < kHeadMetrics; ++metric)
        all->over_prompts[i][metric] += part.over_prompts[i][metric];
    }
  });
  static_cast<ListPart&>(*all) = sum.whole();
  return *std::move(all);
}

}  // namespace headscope::app
