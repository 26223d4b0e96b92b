#include "model/files/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/json.h"

namespace headscope::model {
namespace {

using nlohmann::json;

constexpr int kLargestSize = 1 << 24;

/// A size and its names, GPT-2's own first. Those of other configurations are safe to take, since the
/// tensors' shapes must agree with them.
struct Size {
  std::array<const char*, 4> names;
  int Config::*of;
};
constexpr Size kSizes[] = {
    {{"n_layer", "num_hidden_layers", "n_layers", "num_layers"}, &Config::n_layer},
    {{"n_head", "num_attention_heads", "n_heads", "num_heads"}, &Config::n_head},
    {{"n_embd", "hidden_size", "d_model"}, &Config::n_embd},
    {{"n_positions", "n_ctx", "max_position_embeddings", "block_size"}, &Config::n_ctx},
    {{"vocab_size"}, &Config::vocab_size},
    {{"n_inner", "intermediate_size", "ffn_hidden_size"}, &Config::n_inner},
};

constexpr std::pair<const char*, bool Config::*> kFlags[] = {
    {"scale_attn_weights", &Config::scale_attn_weights},
    {"scale_attn_by_inverse_layer_idx", &Config::scale_attn_by_inverse_layer_idx},
    {"tie_word_embeddings", &Config::tie_word_embeddings},
};

constexpr const char *kActivation = "activation_function", *kEpsilon = "layer_norm_epsilon";

/// Names of other configurations, which GPT-2 passes over in transformers, and those that count instead.
constexpr std::pair<const char*, const char*> kPassedOver[] = {
    {"hidden_act", kActivation}, {"activation", kActivation}, {"layer_norm_eps", kEpsilon}};

/// JSON of a text in which Python's numbers that JSON lacks are strings.
std::string without_python_numbers(std::string_view text) {
  std::string out;
  bool in_string = false;
  while (!text.empty()) {
    std::string_view piece = text.substr(0, in_string && text.front() == '\\' ? 2 : 1), quotes;
    for (const std::string_view number : {"NaN", "-Infinity", "Infinity"}) {
      if (in_string || !text.starts_with(number)) continue;
      piece = number;
      quotes = "\"";
    }
    if (piece == "\"") in_string = !in_string;
    out.append(quotes).append(piece).append(quotes);
    text.remove_prefix(piece.size());
  }
  return out;
}

/// A whole number from `smallest` on; nothing if there is none.
std::optional<int> whole(const json& value, const std::string& where, int smallest) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_number_integer() || value < smallest || value > kLargestSize)
    reject_value(where,
                 "a whole number from " + std::to_string(smallest) + " to " + std::to_string(kLargestSize),
                 value);
  return value.get<int>();
}

/// Throws for a setting that alters the computation in a way that is not supported, or of another model.
void check_supported(const json& object, const std::string& in) {
  if (const json& type = member(object, "model_type"); !type.is_null() && type != "gpt2")
    reject_value(in + "model_type", "\"gpt2\"", type);
  for (const char* name : {"add_cross_attention", "pruned_heads", "quantization_config"})
    if (const json& value = member(object, name); !value.empty() && value != false)
      reject_value(in + name, "none (it is not supported)", value);
}

}  // namespace

float Config::attention_scale(int layer) const {
  double scale = scale_attn_weights ? 1.0 / std::sqrt(static_cast<double>(d_head())) : 1.0;
  if (scale_attn_by_inverse_layer_idx) scale /= layer + 1;
  return static_cast<float>(scale);
}

json parse_config_json(std::string_view text, const std::string& file) {
  return parse_json(without_python_numbers(text), file);
}

Config parse_config(std::string_view text, const std::string& file, std::vector<std::string>* warnings) {
  const json object = parse_config_json(text, file);
  if (!object.is_object()) reject_value(file, "a JSON object", object);
  const std::string in = file + ": ";
  check_supported(object, in);

  Config config;
  for (const Size& size : kSizes) {
    const auto* const name = std::ranges::find_if(
        size.names, [&](const char* one) { return one != nullptr && !member(object, one).is_null(); });
    if (name != size.names.end())
      config.*size.of = *whole(member(object, *name), in + *name, 1);
    else if (size.of != &Config::n_inner)
      reject_value(in + size.names[0], "a whole number", nullptr);
  }
  if (config.n_inner == 0) config.n_inner = 4 * config.n_embd;
  if (config.n_embd % config.n_head != 0)
    reject_value(in + "n_embd", "a multiple of n_head, " + std::to_string(config.n_head), config.n_embd);
  for (const auto& [name, flag] : kFlags)
    if (const json& value = member(object, name); value.is_boolean())
      config.*flag = value.get<bool>();
    else if (!value.is_null())
      reject_value(in + name, "true or false", value);
  if (const json& value = member(object, kEpsilon); !value.is_null()) {
    if (!value.is_number() || value < 0 || value > 1)
      reject_value(in + kEpsilon, "a number from 0 to 1", value);
    config.layer_norm_epsilon = value.get<float>();
  }
  if (const json& value = member(object, kActivation); !value.is_null()) {
    const auto named = value.is_string() ? activation_named(value.get<std::string>()) : std::nullopt;
    if (!named) reject_value(in + kActivation, "one of " + activation_names(), value);
    config.activation = *named;
  }
  for (const auto& [other, own] : kPassedOver)
    if (warnings != nullptr && !member(object, other).is_null() && member(object, own).is_null())
      warnings->push_back(in + other + " is not used, since GPT-2 reads " + own + ", which is not there");
  config.bos_token_id = whole(member(object, "bos_token_id"), in + "bos_token_id", 0);
  config.eos_token_id = whole(member(object, "eos_token_id"), in + "eos_token_id", 0);
  return config;
}

std::string difference_of_shapes(const Config& first, const Config& second) {
  for (const auto& [name, size] : {std::pair{"layers", &Config::n_layer},
                                   {"heads per layer", &Config::n_head},
                                   {"residual stream dimensions", &Config::n_embd},
                                   {"neurons per MLP", &Config::n_inner},
                                   {"tokens in the vocabulary", &Config::vocab_size}}) {
    if (first.*size != second.*size)
      return "the first has " + std::to_string(first.*size) + " " + name + ", the second " +
             std::to_string(second.*size);
  }
  return "";
}

}  // namespace headscope::model
