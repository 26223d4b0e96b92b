#include "app/cli/arguments/measurement.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "app/views/parts/names.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPart =
    ": expected the output of headscope metrics --prompts --json, without --top and --sort; ";

constexpr int kMaxWhole = std::numeric_limits<int>::max() - 1;  // leaves room to add one

/// The whole number in [low, high] at a key.
template <class Whole>
Whole whole(const Json& of, const char* key, Whole low, Whole high = kMaxWhole) {
  const auto& value = of.at(key);
  if (!value.is_number_integer()) throw std::invalid_argument(std::string(key) + " is not a whole number");
  const bool large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (large || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
    throw std::invalid_argument(std::string(key) + " is " + value.dump() + ", not from " +
                                std::to_string(low) + " to " + std::to_string(high));
  return value.get<Whole>();
}

/// The sum of a metric over `count` queries, which cannot exceed the range of its unit.
ExactMean sum_of(const Json& sum) {
  constexpr std::int64_t kMaxUnits = (std::int64_t{1} << 37) - 1;
  const std::int64_t count = whole(sum, "count", std::int64_t{0}, ExactMean::kMaxNumbers);
  return {whole(sum, "units", -count * kMaxUnits, count * kMaxUnits), count,
          whole(sum, "lost", std::int64_t{0}, count)};
}

/// A value for a message: quoted from the file if it is short and plain.
std::string brief(const std::string& text) {
  constexpr std::size_t kMax = 80;
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  return text.size() <= kMax && std::ranges::all_of(text, plain) ? text : model::quote(text);
}

Measurement measurement_of(const Json& part) {
  Measurement measured;
  if (part.contains("repeated")) throw std::invalid_argument("it measures repeated tokens");
  for (const char* key : {"edits", "model", "precision", "start_token", "weights"})
    measured.conditions[key] = part.at("how").at(key).dump();
  measured.conditions["second_model"] = part.at("how").value("second_model", Json()).dump();
  measured.texts = whole(part, "prompts", 0);
  measured.skipped = whole(part, "skipped", 0);
  if (part.contains("shard")) {
    measured.shard.count = whole(part.at("shard"), "count", 1);
    measured.shard.index = whole(part.at("shard"), "index", 0, measured.shard.count - 1);
  }
  const Json& heads = part.at("heads");
  const std::int64_t n_layer = whole(part, "n_layer", 1);
  measured.n_head = whole(part, "n_head", 1);
  if (static_cast<std::int64_t>(heads.size()) != n_layer * measured.n_head)
    throw std::invalid_argument("it has " + std::to_string(heads.size()) + " of the model's " +
                                std::to_string(n_layer * measured.n_head) + " heads");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Json& head = heads.at(i);
    const int layer = whole(head, "layer", 0), number = whole(head, "head", 0);
    if (std::int64_t{layer} * measured.n_head + number != static_cast<std::int64_t>(i) ||
        number >= measured.n_head)
      throw std::invalid_argument("entry " + std::to_string(i) + " of its heads is " +
                                  head_name(layer, number));
    HeadMetrics& metrics = measured.heads.emplace_back();
    for (const HeadMetricKind& metric : head_metrics()) {
      const std::string name(metric.name);
      if (part.at("bits").at(name) != metric.bits)
        throw std::invalid_argument("its sums of " + name + " are in different units");
      metrics.sum(metric.id) = sum_of(head.at("sums").at(name));
    }
  }
  return measured;
}

/// Throws if a part cannot be added to the others.
void check_part(const Measurement& part, const std::string& file, const Measurement& first,
                const std::string& first_file, std::set<int>& shards) {
  for (const auto& [key, value] : first.conditions)
    if (const std::string& found = part.conditions.at(key); found != value)
      throw model::LoadError(file + ": its " + brief(key) + " is " + brief(found) + ", but that of " +
                             first_file + " is " + brief(value));
  if (part.n_head != first.n_head || part.heads.size() != first.heads.size())
    throw model::LoadError(file + ": has " + std::to_string(part.heads.size()) + " heads, but " + first_file +
                           " has " + std::to_string(first.heads.size()));
  if (part.shard.count != first.shard.count)
    throw model::LoadError(file + ": is one of " + std::to_string(part.shard.count) + " shards, but " +
                           first_file + " one of " + std::to_string(first.shard.count));
  if (part.shard.count > 1 && !shards.insert(part.shard.index).second)
    throw model::LoadError(file + ": shard " + std::to_string(part.shard.index) + " was given twice");
}

}  // namespace

Measurement parse_measurement(std::string_view json, const std::string& file) {
  const nlohmann::json part = model::parse_json(json, file);
  try {
    return measurement_of(Json(part));
  } catch (const nlohmann::json::exception& error) {
    const std::string words = error.what();
    throw model::LoadError(file + kPart + brief(words.substr(words.find("] ") + 2)));
  } catch (const std::invalid_argument& error) {
    throw model::LoadError(file + kPart + error.what());
  }
}

Measurement merge(std::span<const MeasurementPart> parts) {
  const std::string& first = parts.front().file;
  std::set<int> shards;
  Measurement all = parts.front().measured;
  check_part(all, first, all, first, shards);
  for (const auto& [file, part] : parts.subspan(1)) {
    check_part(part, file, all, first, shards);
    constexpr int kMax = std::numeric_limits<int>::max();
    if (part.texts > kMax - all.texts || part.skipped > kMax - all.skipped)
      throw model::LoadError(file + ": there are too many prompts to add up");
    all.texts += part.texts;
    all.skipped += part.skipped;
    for (std::size_t i = 0; i < all.heads.size(); ++i) all.heads[i] += part.heads[i];
  }
  if (all.shard.count > 1 && std::ssize(shards) < all.shard.count)
    throw model::LoadError(std::to_string(shards.size()) + " of " + std::to_string(all.shard.count) +
                           " shards were given; all of them are needed");
  all.shard = {};
  return all;
}

Measurement merge(std::span<const std::filesystem::path> files) {
  std::vector<MeasurementPart> parts;
  std::set<std::string> texts;
  for (const std::filesystem::path& file : files) {
    const auto [text, is_new] = texts.insert(model::read_file(file));
    parts.push_back({system::text_of(file), parse_measurement(*text, system::text_of(file))});
    if (!is_new) throw model::LoadError(system::text_of(file) + ": the same part was given twice");
  }
  return merge(parts);
}

}  // namespace headscope::app
