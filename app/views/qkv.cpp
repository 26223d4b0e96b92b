#include <algorithm>
#include <array>
#include <cmath>

#include "app/run/attention_input.h"
#include "app/views/common.h"
#include "viz/vector_strip.h"

namespace headscope::app {
namespace {

/// Of regions. component: id: a Row, a column for each component. head: id: Row * n_head + head, over a row.
enum Role { kComponent, kHead };
enum Row {
  kResidual,
  kNormed,
  kBias,
  kOutput,
  kQuery,
  kKey,
  kValue,
  kQueryHead,
  kKeyHead,
  kValueHead,
  kRows
};

AttentionInputOf question_of(const ViewContext& c) {
  return {c.selection.layer, c.selection.query};
}

std::shared_ptr<const AttentionInput> current_input(const ViewContext& c) {
  return c.run ? c.ask(question_of(c)) : nullptr;
}

/// A vector as the picture shows it.
struct Strip {
  Row row = kResidual;
  std::string name;
  std::string shape;   ///< beside it
  std::string detail;  ///< muted, behind the name
  viz::Color color;
  std::span<const float> values;
  int parts = 1;    ///< it is framed in so many equal pieces
  int chosen = -1;  ///< piece with a frame of its own
};

std::string shape_of(std::size_t n) {
  return "[" + grouped(static_cast<std::int64_t>(n)) + "]";
}

std::vector<Strip> strips_of(const ViewContext& c, const AttentionInput& input) {
  const model::Config& config = c.run->run->config;
  const auto d = static_cast<std::size_t>(config.n_embd), d_head = static_cast<std::size_t>(config.d_head());
  const int heads = config.n_head, head = c.selection.head;
  const std::string in_heads =
      "[" + std::to_string(heads) + " heads × " + std::to_string(config.d_head()) + "]";
  const viz::Theme& t = *c.theme;
  const auto output = std::span(input.output);
  std::vector<Strip> strips{
      {kResidual, "residual stream", shape_of(d), "what the block gets at this position", t.text,
       input.residual, 1, -1},
      {kNormed, "ln_1", shape_of(d), "centred, over its deviation, times gain, plus bias", t.text,
       input.normed, 1, -1},
      {kBias, "c_attn.bias", shape_of(3 * d), "the same for every token", t.text, input.bias, 3, -1},
      {kOutput, "ln_1 × c_attn.weight + bias", shape_of(3 * d),
       "weight [" + grouped(config.n_embd) + " × " + grouped(3 * config.n_embd) + "]; thirds: q, k, v",
       t.text, input.output, 3, -1}};
  const std::array<std::pair<const char*, viz::Color>, 3> names{
      {{"query q", t.query}, {"key k", t.key}, {"value v", t.value}}};
  for (std::size_t i = 0; i < 3; ++i)
    strips.push_back({static_cast<Row>(kQuery + i), names[i].first, in_heads, "one piece for each head",
                      names[i].second, output.subspan(i * d, d), heads, head});
  for (std::size_t i = 0; i < 3; ++i)
    strips.push_back({static_cast<Row>(kQueryHead + i),
                      std::string(names[i].first) + " of " + head_name(c.selection.layer, head),
                      shape_of(d_head), "", names[i].second,
                      output.subspan(i * d + static_cast<std::size_t>(head) * d_head, d_head), 1, -1});
  return strips;
}

/// Strips that share a scale, so that the eye may compare them: q, k, v and all that is cut from them.
bool of_output(Row row) {
  return row >= kOutput;
}

float magnitude(std::span<const float> values) {
  return viz::value_range(viz::Matrix::row(values)).magnitude();
}

viz::ColorScale scale_of(const Strip& strip, const AttentionInput& input) {
  // A few outliers would leave the rest without colour.
  const std::span<const float> values =
      of_output(strip.row) ? std::span<const float>(input.output) : strip.values;
  constexpr double kOutliers = 0.005;
  const float most = viz::robust_magnitude(viz::Matrix::row(values), kOutliers);
  viz::ColorScale scale = viz::diverging_scale(static_cast<double>(most > 0 ? most : magnitude(values)));
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(values));
  scale.values_above = static_cast<double>(range.high) > scale.high;
  scale.values_below = static_cast<double>(range.low) < scale.low;
  return scale;
}

/// Heights of a strip with the line of words above it, from above.
struct Layout {
  viz::Rect area;
  float words = 0, strip = 0, gap = 0;
  float step() const { return words + strip + gap; }
  viz::Rect rect(int row) const {
    return {area.x, area.y + static_cast<float>(row) * step() + words, area.w, strip};
  }
};

Layout lay_out(const ViewContext& c) {
  constexpr float kWidest = 80;  // ems
  const viz::Style style = style_of(c);
  Layout layout;
  layout.area = below_title(c);
  layout.area.w = std::min(layout.area.w, kWidest * c.font_size);
  layout.words = style.line(style.small()) + style.unit() / 2;
  layout.gap = style.unit() / 2;
  const float step = std::min(layout.area.h / static_cast<float>(kRows), 4 * c.font_size);
  layout.gap = std::min(2 * style.unit(), std::max(layout.gap, step - layout.words - 1.6F * c.font_size));
  layout.strip = step - layout.words - layout.gap;
  return layout;
}

/// Name, detail, and at the right the shape and the scale, as far as there is room. Returns whether all had.
bool paint_words(viz::Scene& scene, const ViewContext& c, const Strip& strip, const viz::ColorScale& scale,
                 const viz::Rect& rect, float words) {
  const viz::Style style = style_of(c);
  const float y = rect.y - words / 2, gap = 3 * style.unit();
  float left = rect.x, right = rect.right();
  viz::add_label(scene, style, strip.name, {left, y}, style.small(), strip.color, viz::FontStyle::medium,
                 viz::Align::left, rect.w);
  left += style.width(strip.name, style.small(), viz::FontStyle::medium) + 2 * style.unit();
  const float shape = style.width(strip.shape, style.small());
  if (left + shape > right) return false;
  viz::add_label(scene, style, strip.shape, {left, y}, style.small(), c.theme->text);
  left += shape + gap;
  viz::Scene measured;
  const float legend = viz::paint_color_scale_line(measured, scale, "", {0, 0}, style);
  bool whole = left + legend <= right;
  if (whole) {
    right -= legend;
    viz::paint_color_scale_line(scene, scale, "", {right, y}, style);
    right -= gap;
  }
  if (style.width(strip.detail, style.small()) > right - left) return whole;  // goes without saying
  viz::add_label(scene, style, strip.detail, {left, y}, style.small(), c.theme->text_muted);
  return whole;
}

void paint_parts(Picture& picture, const ViewContext& c, const Strip& strip, const viz::Rect& rect) {
  const float part = rect.w / static_cast<float>(strip.parts);
  viz::Segments cuts{{}, c.theme->surface, 1.5F};
  for (int i = 1; i < strip.parts; ++i) {
    const float x = rect.x + static_cast<float>(i) * part;
    cuts.points.insert(cuts.points.end(), {{x, rect.y}, {x, rect.bottom()}});
  }
  if (!cuts.points.empty()) picture.scene.add(std::move(cuts));
  if (strip.row == kOutput || strip.row == kBias) {
    for (int i = 0; i < 3; ++i) {
      const viz::Color color = i == 0 ? c.theme->query : i == 1 ? c.theme->key : c.theme->value;
      picture.scene.add(viz::StrokeRect{
          viz::Rect{rect.x + static_cast<float>(i) * part, rect.y, part, rect.h}.inset(1), color, 1.5F});
    }
  }
  if (strip.chosen >= 0) {
    const float x = rect.x + static_cast<float>(strip.chosen) * part;
    picture.scene.add(
        viz::StrokeRect{viz::Rect{x, rect.y, part, rect.h}.inset(-0.5F), c.theme->accent, 2, 1});
  }
}

/// From the chosen piece to the strip of it alone.
void paint_leads(viz::Scene& scene, const ViewContext& c, const Layout& layout, int heads) {
  const viz::Rect last = layout.rect(kValue), first = layout.rect(kQueryHead);
  const float part = last.w / static_cast<float>(heads),
              x = last.x + static_cast<float>(c.selection.head) * part;
  const float y0 = last.bottom() + 1, y1 = first.y - layout.words;
  if (y1 <= y0) return;
  scene.add(viz::Segments{{{x, y0}, {first.x, y1}, {x + part, y0}, {first.right(), y1}}, c.theme->accent, 1});
}

Picture build(const ViewContext& c) {
  if (!c.run) {
    static_cast<void>(c.ask(AttentionInputOf{c.selection.layer, 0}));
    return *waiting(c);
  }
  const auto input = current_input(c);
  if (auto words = waiting(c, question_of(c), input != nullptr)) return *words;
  const viz::Style style = style_of(c);
  const Layout layout = lay_out(c);
  if (layout.strip < 0.6F * c.font_size || layout.area.w < 16 * c.font_size)
    return message(c, "too small for the vectors");
  Picture picture = blank(c);
  paint_title(picture, c, "q, k, v of " + token_name(c.run->tokens, c.selection.query),
              "layer " + std::to_string(c.selection.layer) + ": from the residual stream into the heads");
  paint_leads(picture.scene, c, layout, c.run->run->config.n_head);
  for (const Strip& strip : strips_of(c, *input)) {
    const viz::Rect rect = layout.rect(strip.row);
    const viz::ColorScale scale = scale_of(strip, *input);
    viz::paint_vector_strip(picture, {strip.values, scale, kComponent, strip.row, 0}, rect, style);
    paint_parts(picture, c, strip, rect);
    picture.whole &= paint_words(picture.scene, c, strip, scale, rect, layout.words);
  }
  return picture;
}

/// The strip, and which of its components; of q, k and v also the head that it belongs to.
struct Place {
  Row row = kResidual;
  int component = 0;
  int head = -1;
};
Place place_of(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const model::Config& config = c.run->run->config;
  Place place{static_cast<Row>(region.id), hit.col};
  if (place.row >= kQuery && place.row <= kValue) place.head = hit.col / config.d_head();
  if (place.row == kOutput) place.head = hit.col % config.n_embd / config.d_head();
  if (place.row >= kQueryHead) place.head = c.selection.head;
  return place;
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const auto input = current_input(c);
  if (!input) return result;
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const Place place = place_of(c, picture, hit);
  const Strip strip = strips_of(c, *input)[static_cast<std::size_t>(place.row)];
  const auto i = static_cast<std::size_t>(place.component);
  if (i >= strip.values.size()) return result;
  const model::Config& config = c.run->run->config;
  viz::Rect cell = region.cell_rect(0, place.component).inset(-0.5F);
  result.overlay.add(viz::StrokeRect{cell, c.theme->text, 1});
  if (place.row >= kQuery && place.row <= kValue) {
    const float part = region.rect.w / static_cast<float>(config.n_head);
    result.overlay.add(viz::StrokeRect{
        {region.rect.x + static_cast<float>(place.head) * part, region.rect.y, part, region.rect.h},
        c.theme->text,
        1.5F});
  }
  result.lines = {strip.name + "[" + std::to_string(i) + "] = " + exact(strip.values[i])};
  if (place.row == kOutput || place.row == kBias) {
    const char* const parts[] = {"q", "k", "v"};
    result.lines.push_back(std::string("of ") + parts[place.component / config.n_embd] + ", component " +
                           std::to_string(place.component % config.n_embd));
  }
  if (place.head >= 0) {
    result.lines.push_back(
        head_name(c.selection.layer, place.head) + ", component " +
        std::to_string(place.row >= kQueryHead ? place.component : place.component % config.d_head()));
  }
  for (const std::string& line : result.lines) result.status += (result.status.empty() ? "" : "   ") + line;
  return result;
}

/// A row for each component of the longest strip.
Table table(const ViewContext& c) {
  Table result;
  const auto input = current_input(c);
  if (!input) return result;
  const std::vector<Strip> strips = strips_of(c, *input);
  result.header = {"component"};
  for (const Strip& strip : strips) result.header.push_back(strip.name);
  for (std::size_t i = 0; i < input->output.size(); ++i) {
    std::vector<std::string> row{std::to_string(i)};
    for (const Strip& strip : strips) row.push_back(i < strip.values.size() ? plain(strip.values[i]) : "");
    result.rows.push_back(std::move(row));
  }
  return result;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  if (gesture.kind == Gesture::Kind::key) {
    if (gesture.key == Key::up) return {MoveHead{0, -1}};
    if (gesture.key == Key::down) return {MoveHead{0, 1}};
    return keys_along_prompt(c, gesture);
  }
  if (gesture.kind != Gesture::Kind::click || !hit) return {};
  const Place place = place_of(c, picture, *hit);
  if (place.head < 0) return {};
  return {SelectHead{c.selection.layer, place.head}};
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto input = current_input(c);
  if (!input || !hit) return lines;
  const Place place = place_of(c, picture, *hit);
  const Strip strip = strips_of(c, *input)[static_cast<std::size_t>(place.row)];
  if (place.head >= 0)
    lines.push_back(
        {"Show " + head_name(c.selection.layer, place.head), {SelectHead{c.selection.layer, place.head}}});
  if (place.component < std::ssize(strip.values))
    lines.push_back(copy_value(strip.values[static_cast<std::size_t>(place.component)]));
  return lines;
}

viz::Point figure_size(const ViewContext& c) {
  return {56 * c.font_size, static_cast<float>(kRows) * 3.3F * c.font_size + 5 * c.font_size};
}

}  // namespace

View qkv_view() {
  View view;
  view.id = "qkv";
  view.title = "Q, K, V";
  view.help = "how a token gets its query, key and value: ln_1, one product for all three, cut into heads";
  view.on = on;
  view.menu = menu;
  view.figure_size = figure_size;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
