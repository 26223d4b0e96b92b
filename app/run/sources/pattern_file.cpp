#include "app/run/sources/pattern_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>

#include "app/ascii.h"
#include "app/counted.h"
#include "app/run/sources/weights_hash.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/safetensors.h"
#include "model/kernels/kernels.h"
#include "system/path_text.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

using model::quote;

constexpr const char *kQueryTokens = "tokens", *kKeyTokens = "key_tokens";  // tensors, and keys of metadata
constexpr std::size_t kWeightsAtOnce = std::size_t{1} << 18;                // weights read at a time

std::string hook_of(int layer) {
  return "blocks." + std::to_string(layer) + ".attn.hook_pattern";
}

/// The layer in a pattern's tensor name; nothing for other tensors.
std::optional<int> layer_of(std::string_view name) {
  constexpr std::size_t kBefore = std::string_view("blocks.").size();
  constexpr int kEnd = 1'000'000;
  int layer = -1;
  if (name.size() > kBefore) std::from_chars(name.data() + kBefore, name.data() + name.size(), layer);
  if (layer < 0 || layer >= kEnd || name != hook_of(layer)) return std::nullopt;
  return layer;
}

/// Makes a text printable and shortens it.
std::string printable(std::string_view text, std::size_t most) {
  const std::size_t whole = text.size();
  if (whole > most) {
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text = text.substr(0, most);
  }
  std::string shown;
  for (const std::string_view word : split(text, " ")) shown += viz::visible(word) + " ";
  shown.pop_back();
  return shown + (text.size() < whole ? "…" : "");
}

std::string place(int layer, int head, int query) {
  return "query " + std::to_string(query) + " of L" + std::to_string(layer) + " H" + std::to_string(head);
}

}  // namespace

/// The file's header, before its weights are read.
struct PatternFile::Header {
  std::string name;
  model::TensorFile file;
  std::stop_token stop;
  int queries = 0, keys = 0;

  [[noreturn]] void fail(const std::string& what) const { throw model::LoadError(name + ": " + what); }

  std::string metadata(std::string_view key) const {
    const auto found = file.metadata.find(std::string(key));
    return found == file.metadata.end() ? "" : found->second;
  }

  /// [head, query, key] of a layer's tensor.
  std::vector<std::int64_t> shape_of(const std::string& tensor, const model::TensorView& view) const {
    const auto refuse = [&](const std::string& why) {
      model::reject(name + ": tensor " + quote(tensor), "[head, query, key]",
                    "the shape " + model::shape_text(view.shape) + why);
    };
    std::vector<std::int64_t> shape = view.shape;
    if (shape.size() == 4 && shape[0] > 1)
      refuse(", a batch of " + std::to_string(shape[0]) + "; save one batch item, as in pattern[0]");
    if (std::ranges::count(shape, 0) > 0) refuse(", which is empty");
    if (shape.size() == 4) shape.erase(shape.begin());
    if (shape.size() != 3) refuse("");
    if (shape[1] > kMaxPositions || shape[2] > kMaxPositions)
      refuse("; at most " + std::to_string(kMaxPositions) + " queries and keys are supported");
    if (shape[0] > kMaxHeads) refuse("; at most " + std::to_string(kMaxHeads) + " heads are supported");
    return shape;
  }

  model::Precision precision_of(const std::string& tensor, const model::TensorView& view) const {
    const model::StoredType* type = model::stored_type(view.dtype);
    if (type == nullptr || type->to_floats != nullptr)
      model::reject(name + ": tensor " + quote(tensor), "F32, F16 or BF16", quote(view.dtype));
    return type->precision;
  }

  /// Ids of `count` tokens; none if there is no such tensor.
  std::vector<int> ids(const std::string& tensor, int count, std::string_view of) const {
    const auto found = file.tensors.find(tensor);
    if (found == file.tensors.end()) return {};
    const model::TensorView& view = found->second;
    const std::string where = name + ": tensor " + quote(tensor);
    const std::size_t size = view.dtype == "I64" ? 8 : 4;
    if (view.dtype != "I64" && view.dtype != "I32")
      model::reject(where, "ids as I64 or I32", quote(view.dtype));
    const bool batch = view.shape.size() == 2 && view.shape[0] == 1;
    if (view.shape.size() != 1 && !batch)
      model::reject(where, "[n]", "the shape " + model::shape_text(view.shape));
    check_count(where, "id", view.shape.back(), count, of);
    std::vector<int> result;
    const std::vector<std::byte> data = view.read();
    for (std::size_t i = 0; i < data.size(); i += size) {
      std::int64_t id = 0;
      std::memcpy(&id, data.data() + i, size);
      id = id << (64 - 8 * size) >> (64 - 8 * size);  // with the sign of 32 bits
      if (id < 0 || id > std::numeric_limits<int>::max())
        model::reject(where, "ids of 0 to " + std::to_string(std::numeric_limits<int>::max()),
                      std::to_string(id));
      result.push_back(static_cast<int>(id));
    }
    return result;
  }

  /// Texts of `count` tokens; none if the metadata have none.
  std::vector<std::string> texts(const std::string& key, int count, std::string_view of) const {
    if (!file.metadata.contains(key)) return {};
    const std::string where = name + ": metadata " + quote(key);
    const nlohmann::json list = model::parse_json(metadata(key), where, {.stop = stop});
    if (!list.is_array()) model::reject_value(where, "a JSON list of texts", list);
    check_count(where, "text", std::ssize(list), count, of);
    for (const nlohmann::json& text : list)
      if (!text.is_string()) model::reject_value(where, "a JSON list of texts", text);
    return list.get<std::vector<std::string>>();
  }

  void check_count(const std::string& where, std::string_view what, std::int64_t found, int expected,
                   std::string_view of) const {
    if (found == expected) return;
    const bool are_of_keys = of == "queries" && found == keys;
    model::reject(
        where, "as many " + std::string(what) + "s as " + std::string(of) + ", " + std::to_string(expected),
        std::to_string(found) + (are_of_keys ? "; tokens of the keys belong in " + quote(kKeyTokens) : ""));
  }

  /// Nothing if there are neither texts nor ids.
  std::optional<PromptTokens> tokens(const std::string& key, int count, std::string_view of) const {
    constexpr std::size_t kLongest = 200;  // bytes of a label
    const std::vector<int> given = ids(key, count, of);
    const std::vector<std::string> named = texts(key, count, of);
    if (given.empty() && named.empty()) return std::nullopt;
    PromptTokens tokens = numbered(count);
    std::map<std::string_view, int> numbers;  // of equal texts
    std::size_t end = 0;
    for (std::size_t i = 0; i < tokens.tokens.size(); ++i) {
      const std::string_view text = named.empty() ? std::string_view() : named[i];
      const int number = numbers.try_emplace(text, static_cast<int>(numbers.size())).first->second;
      tokens.tokens[i] = {given.empty() ? number : given[i], end, end + text.size()};
      end += text.size();
      const std::string shown = viz::visible(text.substr(0, kLongest));
      tokens.labels[i] = named.empty() ? "#" + std::to_string(given[i]) : shown.empty() ? "∅" : shown;
    }
    return tokens;
  }

  /// Tokens labelled by their positions, no two equal.
  static PromptTokens numbered(int count) {
    PromptTokens tokens;
    tokens.run_length = count;
    for (int i = 0; i < count; ++i) {
      tokens.tokens.push_back({i, 0, 0});
      tokens.labels.push_back(std::to_string(i));
    }
    return tokens;
  }
};

std::shared_ptr<const PatternFile> PatternFile::open(const std::filesystem::path& file,
                                                     const model::LoadOptions& options) {
  const std::shared_ptr<PatternFile> patterns(new PatternFile());
  patterns->path_ = file;
  patterns->read_header(options.stop);
  patterns->scan(options);
  return patterns;
}

bool PatternFile::is_one(const std::filesystem::path& file, const std::stop_token& stop) noexcept {
  try {
    return model::open_safetensors(file, stop).tensors.contains(hook_of(0));
  } catch (const std::exception&) {
    return false;
  }
}

void PatternFile::read_header(const std::stop_token& stop) {
  Header header{system::text_of(path_), model::open_safetensors(path_, stop), stop};
  std::map<int, const std::pair<const std::string, model::TensorView>*> found;
  for (const auto& entry : header.file.tensors)
    if (const auto layer = layer_of(entry.first)) found.emplace(*layer, &entry);
  if (found.empty())
    header.fail("no attention patterns found: expected tensors " + quote(hook_of(0)) +
                " and so on; to open a model, open its folder");
  file_ = found.begin()->second->second.file;
  std::vector<std::int64_t> first;
  for (const auto& [layer, entry] : found) {
    const auto& [name, view] = *entry;
    if (layer != layers())
      header.fail("has patterns for layer " + std::to_string(layer) + " but none for layer " +
                  std::to_string(layers()) + "; layers must be numbered from 0 without gaps");
    const std::vector<std::int64_t> shape = header.shape_of(name, view);
    if (first.empty()) first = shape;
    if (shape != first)
      model::reject(header.name + ": tensor " + quote(name),
                    "the shape of layer 0, " + model::shape_text(first), model::shape_text(shape));
    layers_.push_back({view.offset, header.precision_of(name, view)});
    if (static_cast<std::int64_t>(layers_.size()) * first[0] > kMaxHeads)
      header.fail("has more than " + std::to_string(kMaxHeads) + " heads in total");
  }
  heads_ = static_cast<int>(first[0]);
  header.queries = static_cast<int>(first[1]), header.keys = static_cast<int>(first[2]);

  auto queries = header.tokens(kQueryTokens, header.queries, "queries");
  queries_ = queries ? std::move(*queries) : Header::numbered(header.queries);
  keys_ = header.tokens(kKeyTokens, header.keys, "keys");
  if (!keys_ && header.keys != header.queries) keys_ = Header::numbered(header.keys);

  constexpr std::size_t kMaxName = 100, kMaxText = 1000;  // bytes
  model_ = printable(header.metadata("model"), kMaxName);
  text_ = printable(header.metadata("text"), kMaxText);
  edits_ = printable(header.metadata("edits"), kMaxText);
  mask_said_ = header.file.metadata.contains("causal");
  const std::string said = header.metadata("causal"), where = header.name + ": metadata \"causal\"";
  if (mask_said_ && said != "true" && said != "false")
    model::reject(where, "\"true\" or \"false\"", quote(said));
  causal_ = said == "true";
  if (causal_ && header.queries != header.keys)
    model::reject(where, "as many keys as queries",
                  std::to_string(header.keys) + " and " + std::to_string(header.queries));
}

void PatternFile::scan(const model::LoadOptions& options) {
  const int queries = query_count(), keys = key_count();
  const int rows = std::clamp(static_cast<int>(kWeightsAtOnce) / keys, 1, queries);
  std::vector<float> block;
  std::string not_finite, below_zero, odd_sum, sees_later;  // about the first place; empty: there is none
  const double all = static_cast<double>(layers()) * heads_;
  for (int index = 0; index < layers() * heads_ * queries; ++index) {
    const int query = index % queries, head = index / queries % heads_, layer = index / queries / heads_;
    if (query == 0) {
      if (options.stop.stop_requested()) throw model::Stopped();
      if (options.progress) options.progress((layer * heads_ + head) / all, "reading");
    }
    if (query % rows == 0) {
      block.resize(std::ptrdiff_t{keys} * std::min(rows, queries - query));
      read(layer, head, query, block);
    }
    const std::span<const float> row = model::rows_of(block, keys).row(query % rows);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    const double slack = layers_[layer].precision == model::Precision::f32 ? 1e-3 : 1e-2;
    if (not_finite.empty() && !std::isfinite(sum))
      not_finite = "non-finite weights, first in " + place(layer, head, query);
    if (odd_sum.empty() && std::isfinite(sum) && std::abs(sum - 1) > slack) {
      char number[32];
      std::snprintf(number, sizeof number, "%.4g", sum);
      odd_sum = "rows that do not sum to 1, first " + place(layer, head, query) + ": " + number;
    }
    if (below_zero.empty() && std::ranges::any_of(row, [](float weight) { return weight < 0; }))
      below_zero = "weights below 0, first in " + place(layer, head, query);
    const auto later = row.subspan(std::min(query + 1, keys));
    if (sees_later.empty() && keys == queries &&
        std::ranges::any_of(later, [](float weight) { return weight != 0; }))
      sees_later = place(layer, head, query);
  }
  for (std::string* note : {&not_finite, &below_zero, &odd_sum})
    if (!note->empty()) notes_.push_back(std::move(*note));
  if (!mask_said_) causal_ = has_own_keys() && sees_later.empty();
  if (mask_said_ && causal_ && !sees_later.empty())
    model::reject(system::text_of(path_) + ": metadata \"causal\"", "no weight on later keys",
                  "some in " + sees_later);
}

void PatternFile::read(int layer, int head, int first_query, std::span<float> out) const {
  const Layer& of = layers_.at(static_cast<std::size_t>(layer));
  const std::int64_t first = (std::int64_t{head} * query_count() + first_query) * key_count();
  const std::size_t size = model::element_bytes(of.precision);
  std::vector<std::byte> piece(std::min(out.size(), kWeightsAtOnce) * size);
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(out.size() - done, kWeightsAtOnce);
    file_->read(of.offset + (first + done) * size, std::span(piece).first(count * size));
    model::fastest_kernels().widen(piece.data(), of.precision, static_cast<int>(count), out.data() + done);
    done += count;
  }
}

std::string PatternFile::name() const {
  return printable(system::text_of(path_.filename()), 100);
}

std::string PatternFile::mask_words() const {
  const std::string who = mask_said_ ? " (stated in the file)" : " (inferred)";
  if (causal_) return "causal" + who;
  return has_own_keys() ? "no mask" + who : "no mask";
}

std::string PatternFile::summary() const {
  std::string tokens = counted(query_count(), "token");
  if (!has_own_keys())
    tokens = std::to_string(query_count()) + (query_count() == 1 ? " query, " : " queries, ") +
             counted(key_count(), "key");
  return counted(layers(), "layer") + " of " + counted(heads_, "head") + ", " + tokens + ", " + mask_words() +
         (edits_.empty() ? "" : ", with " + edits_);
}

std::shared_ptr<const LoadedModel> load_patterns(const std::filesystem::path& file,
                                                 const model::LoadOptions& options) {
  auto loaded = std::make_shared<LoadedModel>();
  loaded->folder = file;
  loaded->weights_stamp = weights_stamp(file, options.stop);
  loaded->patterns = PatternFile::open(file, options);
  const std::string& made_by = loaded->patterns->model();
  loaded->name = made_by.empty() ? loaded->patterns->name() : made_by;
  return loaded;
}

PromptRun run_of_patterns(std::shared_ptr<const LoadedModel> model) {
  auto placeholder = std::make_shared<model::Run>();
  placeholder->config = model->config();
  placeholder->tokens = model->patterns->queries().ids();
  PromptRun run;
  run.tokens = model->patterns->queries();
  run.run = std::move(placeholder);
  run.model = std::move(model);
  return run;
}

}  // namespace headscope::app
