#include "app/cli/arguments/list_part.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "app/text/json_text.h"
#include "app/text/terminal_text.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/hash.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

/// A value for a message: quoted from the file if it is short and plain.
std::string brief(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  const auto plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  return text.size() <= kLongest && std::ranges::all_of(text, plain) ? text : model::quote(text);
}

/// Limits of a part: GPT-2 XL's heads at 1,024 positions are 1.2 million cells, with some 15 values each.
constexpr std::size_t kMaxPartBytes = std::size_t{1} << 29, kMaxPartValues = std::size_t{1} << 25;

/// More numbers than an exact sum of any count of numbers has.
constexpr std::size_t kMostParts = 64;

/// `largest`: that there can be of one number.
ExactSum sum_at(const Json& object, const char* key, double largest) {
  largest *= kMostCounted;
  const Json& parts = object.at(key);
  if (!parts.is_array() || parts.size() > kMostParts)
    throw std::invalid_argument(std::string(key) + " is not a list of at most " + std::to_string(kMostParts) +
                                " numbers");
  ExactSum sum;
  for (const Json& part : parts) {
    if (!part.is_number() || !(std::abs(part.get<double>()) <= largest))
      throw std::invalid_argument(std::string(key) + " has " + part.dump().substr(0, 60));
    sum.add(part.get<double>());
  }
  return sum;
}

}  // namespace

std::int64_t whole_at(const Json& of, const char* key, std::int64_t low, std::int64_t high) {
  const auto& value = of.at(key);
  if (!value.is_number_integer()) throw std::invalid_argument(std::string(key) + " is not a whole number");
  const bool large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (large || value.get<std::int64_t>() < low || value.get<std::int64_t>() > high)
    throw std::invalid_argument(std::string(key) + " is " + value.dump() + ", not from " +
                                std::to_string(low) + " to " + std::to_string(high));
  return value.get<std::int64_t>();
}

std::map<std::string, std::string> conditions_of(const Json& how) {
  std::map<std::string, std::string> conditions;
  for (const auto& [key, value] : how.items())
    if (key != "program") conditions[key] = value.dump();
  return conditions;
}

Json list_json(const ListFile& list) {
  return {{"file", utf8_or_replacement(list.name)}, {"sha256", list.sha256}, {"prompts", list.prompts}};
}

Json how_of(const ListPart& part, const std::string& program) {
  Json how = {{"program", program}};
  for (const auto& [key, value] : part.conditions)
    if (key != "mean_over" || value != "null") how[key] = Json::parse(value);
  if (part.list) how["list"] = list_json(*part.list);
  return how;
}

void add_part_members(const ListPart& part, Json& answer) {
  if (part.shard.count > 1) answer["shard"] = {{"index", part.shard.index}, {"count", part.shard.count}};
  answer["prompts"] = part.prompts;
  answer["skipped"] = part.skipped;
}

ListPart list_part_of(const Json& part) {
  ListPart read;
  for (const char* key : {"edits", "model", "precision", "start_token", "weights"})
    read.conditions[key] = part.at("how").at(key).dump();
  for (const char* key : {"mean_over", "second_model"})
    read.conditions[key] = part.at("how").value(key, Json()).dump();
  if (const Json list = part.at("how").value("list", Json()); !list.is_null())
    read.list = ListFile{list.at("file").get<std::string>(), list.at("sha256").get<std::string>(),
                         whole_at(list, "prompts", 0)};
  read.prompts = static_cast<int>(whole_at(part, "prompts", 0));
  read.skipped = static_cast<int>(whole_at(part, "skipped", 0));
  if (part.contains("shard")) {
    read.shard.count = static_cast<int>(whole_at(part.at("shard"), "count", 1));
    read.shard.index = static_cast<int>(whole_at(part.at("shard"), "index", 0, read.shard.count - 1));
  }
  return read;
}

void add_mean_members(const SampleMean& mean, Json& object) {
  object["mean"] = mean.mean();  // NaN is written as null
  object["standard_error"] = mean.standard_error();
  object["count"] = mean.count();
  object["sum"] = mean.sum().parts();
  object["sum_of_squares"] = mean.squares().parts();
}

SampleMean mean_of_members(const Json& object, int prompts) {
  const std::int64_t count = whole_at(object, "count", 0, prompts);
  return {count, sum_at(object, "sum", ExactSum::kLargest),
          sum_at(object, "sum_of_squares", ExactSum::kLargest * ExactSum::kLargest)};
}

void read_part(std::string_view json, const std::string& file, const std::string& expected,
               const std::function<void(const Json&)>& read) {
  const Json part = model::parse_json<Json>(json, file, {.values = kMaxPartValues, .stop = {}});
  const auto fail = [&](const std::string& found) {
    throw model::LoadError(file + ": expected " + expected + "; " + terminal_safe(found));
  };
  try {
    read(part);
  } catch (const nlohmann::json::exception& error) {
    const std::string words = error.what();
    fail(brief(words.substr(words.find("] ") + 2)));
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
}

void ListParts::add(const ListPart& part, const std::string& file) {
  if (first_file_.empty()) {
    all_ = part;
    all_.prompts = all_.skipped = 0;
    first_file_ = file;
  }
  for (const auto& [key, found] : part.conditions)
    if (const std::string& value = all_.conditions.emplace(key, found).first->second; found != value)
      throw model::LoadError(file + ": its " + brief(key) + " is " + brief(found) + ", but that of " +
                             first_file_ + " is " + brief(value));
  if (part.shard.count != all_.shard.count)
    throw model::LoadError(file + ": is one of " + std::to_string(part.shard.count) + " shards, but " +
                           first_file_ + " one of " + std::to_string(all_.shard.count));
  if (part.shard.count > 1 && !shards_.insert(part.shard.index).second)
    throw model::LoadError(file + ": shard " + std::to_string(part.shard.index) + " was given twice");
  if (!list_) list_ = part.list;
  const bool is_other = part.list && part.list->sha256 != list_->sha256;
  if (is_other && part.shard.count > 1)
    throw model::LoadError(file + ": its list of prompts differs from that of " + first_file_ + " (SHA-256 " +
                           brief(part.list->sha256) + ", not " + brief(list_->sha256) + ")");
  if (is_other || !part.list) all_.list.reset();  // the whole is of no one list that is known
  constexpr int kLargestCount = std::numeric_limits<int>::max();
  if (part.prompts > kLargestCount - all_.prompts || part.skipped > kLargestCount - all_.skipped)
    throw model::LoadError(file + ": there are too many prompts to add up");
  all_.prompts += part.prompts;
  all_.skipped += part.skipped;
}

ListPart ListParts::whole() const {
  if (all_.shard.count > 1 && std::ssize(shards_) < all_.shard.count)
    throw model::LoadError(std::to_string(shards_.size()) + " of " + std::to_string(all_.shard.count) +
                           " shards were given; all of them are needed");
  ListPart whole = all_;
  whole.shard = {};
  return whole;
}

void for_each_part(std::span<const std::filesystem::path> files,
                   const std::function<void(const std::string& text, const std::string& file)>& add) {
  std::set<std::string> hashes;  // the texts of many large parts are not kept
  for (const std::filesystem::path& file : files) {
    const std::string name = system::text_of(file);
    const std::string text = model::read_file(file, kMaxPartBytes);
    system::Hash hash(system::Hash::Kind::sha256);
    hash.add(text);
    if (!hashes.insert(hash.hex()).second) throw model::LoadError(name + ": the same part was given twice");
    add(text, name);
  }
}

}  // namespace headscope::app
