#include "model/files/config.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::model {
namespace {

using nlohmann::json;

constexpr int kLargestSize = 1 << 24;

/// Names of one value, GPT-2's own first.
using Names = std::initializer_list<const char*>;
constexpr Names kLayers = {"n_layer", "num_hidden_layers", "n_layers", "num_layers"};
constexpr Names kHeads = {"n_head", "num_attention_heads", "n_heads", "num_heads"};
constexpr Names kWidth = {"n_embd", "hidden_size", "d_model"};
constexpr Names kPositions = {"n_positions", "n_ctx", "max_position_embeddings", "block_size"};
constexpr Names kInner = {"n_inner", "intermediate_size", "ffn_hidden_size"};
constexpr Names kActivation = {"activation_function", "hidden_act", "activation"};
constexpr Names kEpsilon = {"layer_norm_epsilon", "layer_norm_eps"};

/// JSON of a text in which Python's numbers that JSON lacks are strings.
std::string without_python_numbers(std::string_view text) {
  std::string out;
  bool in_string = false;
  while (!text.empty()) {
    if (!in_string)
      for (const std::string_view number : {"NaN", "-Infinity", "Infinity"}) {
        if (!text.starts_with(number)) continue;
        out += '"' + std::string(number) + '"';
        text.remove_prefix(number.size());
        break;
      }
    if (text.empty()) break;
    if (text.front() == '"') in_string = !in_string;
    const std::size_t size = in_string && text.front() == '\\' ? std::min<std::size_t>(2, text.size()) : 1;
    out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out;
}

std::string describe(const json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_structured()) return std::string("a JSON ") + value.type_name();
  return value.dump();
}

/// Reads keys of one object; a null value counts as an absent key, as in Hugging Face's files.
class Reader {
 public:
  Reader(const json& object, const std::string& file) : object_(object), file_(file) {}

  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  /// The first of the names that has a value; else GPT-2's own.
  const char* key_of(Names names) const {
    const auto there = std::ranges::find_if(names, [&](const char* name) { return find(name) != nullptr; });
    return there == names.end() ? *names.begin() : *there;
  }

  [[noreturn]] void fail(const char* key, const std::string& expected, const std::string& found) const {
    throw LoadError(file_ + ": " + key + ": expected " + expected + ", found " + found);
  }

  std::optional<int> whole(const char* key, int smallest) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number_integer() &&
                      !(value->is_number_unsigned() && value->get<std::uint64_t>() > kLargestSize);
    if (!fits || value->get<std::int64_t>() < smallest || value->get<std::int64_t>() > kLargestSize) {
      fail(key, "a whole number from " + std::to_string(smallest) + " to " + std::to_string(kLargestSize),
           describe(*value));
    }
    return value->get<int>();
  }

  int size(const char* key) const {
    const std::optional<int> value = whole(key, 1);
    if (!value) fail(key, "a whole number", "no such key");
    return *value;
  }

  bool flag(const char* key, bool otherwise) const {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) fail(key, "true or false", describe(*value));
    return value->get<bool>();
  }

  float epsilon(const char* key, float otherwise) const {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_number() || !(value->get<double>() >= 0 && value->get<double>() <= 1)) {
      fail(key, "a number from 0 to 1", describe(*value));
    }
    return value->get<float>();
  }

  Activation activation(const char* key, Activation otherwise) const {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    const auto named =
        value->is_string() ? activation_named(value->get_ref<const std::string&>()) : std::nullopt;
    if (!named) fail(key, "one of " + std::string(activation_names()), describe(*value));
    return *named;
  }

  /// A setting with only one supported value.
  void only(const char* key, bool supported) const {
    if (flag(key, supported) != supported) {
      fail(key, std::string(supported ? "true" : "false") + " (the only supported value)",
           supported ? "false" : "true");
    }
  }

  /// A setting that must be absent or empty.
  void absent(const char* key) const {
    const json* value = find(key);
    if (value != nullptr && !value->empty()) fail(key, "none (it is not supported)", describe(*value));
  }

 private:
  const json& object_;
  const std::string& file_;
};

}  // namespace

float Config::attention_scale(int layer) const {
  double scale = scale_attn_weights ? 1.0 / std::sqrt(static_cast<double>(d_head())) : 1.0;
  if (scale_attn_by_inverse_layer_idx) scale /= layer + 1;
  return static_cast<float>(scale);
}

json parse_config_json(std::string_view text, const std::string& file) {
  return parse_json(without_python_numbers(text), file);
}

Config parse_config(std::string_view text, const std::string& file) {
  const json object = parse_config_json(text, file);
  if (!object.is_object()) throw LoadError(file + ": expected a JSON object, found " + describe(object));
  const Reader reader(object, file);

  if (const json* type = reader.find("model_type"); type != nullptr && *type != "gpt2") {
    reader.fail("model_type", "\"gpt2\"", describe(*type));
  }
  reader.only("add_cross_attention", false);
  reader.absent("pruned_heads");
  reader.absent("quantization_config");

  Config config;
  config.n_layer = reader.size(reader.key_of(kLayers));
  config.n_head = reader.size(reader.key_of(kHeads));
  config.n_embd = reader.size(reader.key_of(kWidth));
  config.n_ctx = reader.size(reader.key_of(kPositions));
  config.vocab_size = reader.size("vocab_size");
  if (config.n_embd % config.n_head != 0) {
    reader.fail("n_embd", "a multiple of n_head, " + std::to_string(config.n_head),
                std::to_string(config.n_embd));
  }
  config.n_inner = reader.whole(reader.key_of(kInner), 1).value_or(4 * config.n_embd);
  config.layer_norm_epsilon = reader.epsilon(reader.key_of(kEpsilon), config.layer_norm_epsilon);
  config.activation = reader.activation(reader.key_of(kActivation), config.activation);
  config.scale_attn_weights = reader.flag("scale_attn_weights", config.scale_attn_weights);
  config.scale_attn_by_inverse_layer_idx =
      reader.flag("scale_attn_by_inverse_layer_idx", config.scale_attn_by_inverse_layer_idx);
  config.tie_word_embeddings = reader.flag("tie_word_embeddings", config.tie_word_embeddings);
  config.bos_token_id = reader.whole("bos_token_id", 0);
  config.eos_token_id = reader.whole("eos_token_id", 0);
  return config;
}

std::string difference_of_shapes(const Config& first, const Config& second) {
  struct Size {
    const char* name;
    int Config::*of;
  };
  for (const Size& size :
       {Size{"layers", &Config::n_layer}, Size{"heads per layer", &Config::n_head},
        Size{"residual stream dimensions", &Config::n_embd}, Size{"neurons per MLP", &Config::n_inner},
        Size{"tokens in the vocabulary", &Config::vocab_size}}) {
    if (first.*size.of != second.*size.of)
      return "the first has " + std::to_string(first.*size.of) + " " + size.name + ", the second " +
             std::to_string(second.*size.of);
  }
  return "";
}

}  // namespace headscope::model
