#include "app/views/common.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace headscope::app {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

}  // namespace

viz::Style style_of(const ViewContext& c) {
  return {*c.theme, *c.fonts, c.font_size, c.device_scale};
}

float margin(const ViewContext& c) {
  const float unit = style_of(c).unit();
  return c.width < 25 * c.font_size ? 2 * unit : 4 * unit;
}

Picture blank(const ViewContext& c) {
  Picture picture;
  picture.scene.width = c.width;
  picture.scene.height = c.height;
  picture.scene.background = c.theme->surface;
  return picture;
}

Picture message(const ViewContext& c, std::string_view words) {
  Picture picture = blank(c);
  viz::add_label(picture.scene, style_of(c), words, {c.width / 2, c.height / 2}, style_of(c).small(),
                 c.theme->text_muted, viz::FontStyle::regular, viz::Align::center, c.width - 2 * margin(c));
  return picture;
}

const HeadData* current_head(const ViewContext& c) {
  if (!c.run || !c.run->run || !c.head) return nullptr;
  const bool fits = c.head->layer == c.selection.layer && c.head->head == c.selection.head &&
                    c.head->stages.length == c.run->run->length();
  return fits ? c.head : nullptr;
}

const HeadData* current_stages(const ViewContext& c) {
  const HeadData* head = current_head(c);
  return head && head->has_stages() ? head : nullptr;
}

const Statistics* current_statistics(const ViewContext& c) {
  if (!c.run || !c.run->run || !c.statistics) return nullptr;
  return static_cast<int>(c.statistics->positions.size()) == c.run->run->length() ? c.statistics : nullptr;
}

const NextToken* current_next(const ViewContext& c) {
  if (!c.run || !c.run->run || !c.next) return nullptr;
  const bool fits = c.next->position == c.selection.query &&
                    static_cast<int>(c.next->logits.size()) == c.run->run->config.vocab_size;
  return fits ? c.next : nullptr;
}

std::span<const float> current_weights(const ViewContext& c) {
  const HeadData* head = current_head(c);
  if (!head) return {};
  const auto length = static_cast<std::size_t>(head->stages.length),
             query = static_cast<std::size_t>(c.selection.query);
  return std::span(head->stages.pattern).subspan(query * length, query + 1);
}

std::optional<Picture> waiting(const ViewContext& c, bool needed) {
  if (!c.run || !c.run->run) return message(c, "no run yet");
  if (!needed) return message(c, "computing…");
  return std::nullopt;
}

viz::Rect paint_title(Picture& picture, const ViewContext& c, std::string_view title,
                      std::string_view subtitle) {
  const viz::Style style = style_of(c);
  const float m = margin(c), u = style.unit(), line = style.line(style.title()), middle = m + line / 2;
  viz::add_label(picture.scene, style, title, {m, middle}, style.title(), c.theme->text,
                 viz::FontStyle::medium, viz::Align::left, c.width - 2 * m);
  const float used = style.width(title, style.title(), viz::FontStyle::medium) + 3 * u;
  // A few letters and an ellipsis say nothing: all of the subtitle or most of it.
  const float room = c.width - 2 * m - used;
  if (room >= std::min(14 * style.font_size, style.width(subtitle, style.small()))) {
    // On the title's baseline, not on its middle.
    const float lower = (c.fonts->cap_height(viz::FontStyle::medium, style.title()) -
                         c.fonts->cap_height(viz::FontStyle::regular, style.small())) /
                        2;
    viz::add_label(picture.scene, style, subtitle, {m + used, middle + lower}, style.small(),
                   c.theme->text_muted, viz::FontStyle::regular, viz::Align::left, room);
  }
  const float top = m + line + 2 * u;
  return {m, top, std::max(0.F, c.width - 2 * m), std::max(0.F, c.height - top - m)};
}

std::string head_name(int layer, int head) {
  return "L" + std::to_string(layer) + " H" + std::to_string(head);
}

std::string token_name(const PromptTokens& tokens, int position) {
  return std::to_string(position) + " “" + tokens.labels[static_cast<std::size_t>(position)] + "”";
}

std::string exact(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::string text;
  for (const char c : shortest(value)) text += c == '-' ? std::string("−") : std::string(1, c);
  return text;
}

std::string plain(float value) {
  return shortest(value);
}
std::string plain(double value) {
  return shortest(value);
}

std::string percent(double fraction) {
  const double p = 100 * fraction;
  std::array<char, 32> text{};
  if (p >= 99.95 && p < 100) {
    std::snprintf(text.data(), text.size(), "%.2f %%", std::min(p, 99.99));
  } else if (p >= 10 || p == 0) {
    std::snprintf(text.data(), text.size(), "%.1f %%", p);
  } else if (p >= 0.1) {
    std::snprintf(text.data(), text.size(), "%.2f %%", p);
  } else if (p >= 0.001) {
    std::snprintf(text.data(), text.size(), "%.4f %%", p);
  } else {
    return viz::number(p, 2) + " %";
  }
  return text.data();
}

std::string grouped(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3) {
    text.insert(static_cast<std::size_t>(i), ",");
  }
  return text;
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

viz::Matrix stage_matrix(const HeadData& head, Stage stage) {
  const model::AttentionStages& s = head.stages;
  const std::vector<float>& values = stage == Stage::scores   ? s.scores
                                     : stage == Stage::scaled ? s.scaled
                                     : stage == Stage::masked ? s.masked
                                                              : s.pattern;
  return viz::Matrix::row_major(values, s.length, s.length);
}

float stage_value(const HeadData& head, Stage stage, int query, int key) {
  return stage_matrix(head, stage).at(query, key);
}

viz::ColorScale weight_scale(const viz::ValueRange& range, const ViewOptions& options) {
  const bool chosen = options.value_max > 0, per_row = options.scale == ValueScale::per_row;
  const double largest = per_row ? 1 : static_cast<double>(range.high);
  const double high = chosen ? options.value_max : largest;
  viz::ColorScale scale = options.scale == ValueScale::logarithmic
                              ? viz::logarithmic_scale(static_cast<double>(range.smallest_positive), high)
                              : viz::linear_scale(high);
  scale.values_above = chosen && largest > high * (1 + 1e-6);
  return scale;
}

PatternScale pattern_scale(const viz::Matrix& pattern, const ViewOptions& options,
                           std::string_view quantity) {
  PatternScale result;
  result.title = quantity;
  // With one token there is nothing but key 0.
  if (options.without_key0 && pattern.cols > 1) result.outside_column = 0;
  const viz::ValueRange range = viz::value_range(pattern, {true, result.outside_column});
  result.scale = weight_scale(range, options);
  if (options.scale != ValueScale::per_row) return result;
  result.title = "of row's max";
  for (int row = 0; row < pattern.rows; ++row) {
    float largest = 0;
    for (int col = 0; col <= std::min(row, pattern.cols - 1); ++col) {
      if (col != result.outside_column) largest = std::max(largest, pattern.at(row, col));
    }
    result.row_factors.push_back(largest > 0 ? 1 / largest : 1);
  }
  return result;
}

viz::AxisLabels token_axis(const ViewContext& c, std::string_view title, viz::Color color, int emphasised) {
  return {std::span(c.run->tokens.labels).first(static_cast<std::size_t>(c.run->run->length())),
          std::string(title), color, emphasised};
}

viz::ShownCells shown_cells(const Zoom& zoom) {
  return {zoom.row, zoom.col, zoom.rows, zoom.cols};
}

}  // namespace headscope::app
