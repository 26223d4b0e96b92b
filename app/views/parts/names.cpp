#include "app/views/parts/names.h"
#include "viz/scene/colormap.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace headscope::app {
namespace {

/// In ASCII; without a format, with the fewest digits that read back as the value.
template <class T, class... Format>
std::string digits_of(T value, Format... format) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, format...).ptr};
}

std::string typeset(double value, std::string_view digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string text;
  for (const char c : digits) text += c == '-' ? std::string("−") : std::string(1, c);
  return text;
}

}  // namespace

std::string token_name(const PromptTokens& tokens, int position) {
  const std::string number = std::to_string(position), &label = tokens.labels[position];
  return label == number ? number : number + " “" + label + "”";  // named by its position alone
}

std::string label_of(const ViewContext& c, int id) {
  return token_label(*c.run->model->tokenizer, id);
}

std::string range_words(int first, int end) {
  const std::string name = std::to_string(first);
  return end - first > 1 ? name + "–" + std::to_string(end - 1) : name;
}

std::string exact(float value) {
  return typeset(double{value}, digits_of(value));
}

std::string exact(double value) {
  return typeset(value, digits_of(value, std::chars_format::general, 9));
}

std::string with_sign(double value, int digits) {
  return (value > 0 ? "+" : "") + viz::number(value, digits);
}

std::string plain(float value) {
  return digits_of(value);
}

std::string plain(double value) {
  return digits_of(value);
}

std::string percent(double fraction) {
  const double p = 100 * fraction;
  if (p != 0 && !(p >= 0.001)) return viz::number(p, 2) + " %";
  const bool is_nearly_all = p >= 99.95 && p < 100;
  const int decimals = is_nearly_all ? 2 : p >= 10 || p == 0 ? 1 : p >= 0.1 ? 2 : 4;
  if (is_nearly_all && p > 99.99) return "> 99.99 %";
  return viz::fixed_number(p, decimals) + " %";
}

std::string bytes_as_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%02X", static_cast<unsigned char>(c));
    text += (text.empty() ? "" : " ") + std::string(hex.data());
  }
  return text;
}

std::string scale_factor(const model::Config& config, int layer) {
  std::string text = config.scale_attn_weights ? "1/√" + std::to_string(config.d_head()) : "1";
  if (config.scale_attn_by_inverse_layer_idx) text += " × 1/" + std::to_string(layer + 1);
  return text;
}

}  // namespace headscope::app
