#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "app/views/common.h"
#include "viz/bars.h"
#include "viz/vector_strip.h"

namespace headscope::app {
namespace {

/// Of regions. key: Region::id: position. component, over its key's region: Region::id: key position; row: a
/// Vector; col: component.
enum Role { kKey, kComponent };
enum class Vector : int { query, key, value, weighted_value, z };

const Option<int> kFirstKey{{.name = "first-key",
                             .label = "First key",
                             .help = "first row of the table that is shown",
                             .usual = 0,
                             .low = 0,
                             .high = 1 << 24,
                             .kept = false,
                             .follows = true,
                             .control = Control::none}};
const Option<bool> kStrongestFirst{{.name = "strongest-first",
                                    .label = "Strongest first",
                                    .help = "keys by falling weight instead of by position",
                                    .usual = false}};

enum class Column { position, token, key_vector, score, scaled, masked, weight, value_vector, weighted };

/// Everything the table shows, computed once. Vectors are of one head, [d_head].
struct Numbers {
  int layer = 0;
  int query = 0;
  std::size_t d_head = 0;
  std::span<const float> q;
  std::vector<std::vector<float>> k;  ///< of keys 0 .. query
  std::vector<std::span<const float>> v;
  std::array<std::span<const float>, kStages> stages;  ///< the query's row of each, [T]
  std::vector<float> z;                                ///< sum over keys of weight x value
  double weight_sum = 0;

  std::vector<float> weighted(int key) const {
    std::vector<float> result(d_head);
    const float w = stages[static_cast<std::size_t>(Stage::pattern)][static_cast<std::size_t>(key)];
    for (std::size_t i = 0; i < d_head; ++i) result[i] = w * v[static_cast<std::size_t>(key)][i];
    return result;
  }
  float at(Stage stage, int key) const {
    return stages[static_cast<std::size_t>(stage)][static_cast<std::size_t>(key)];
  }
};

Numbers numbers_of(const ViewContext& c, const Stages& stages) {
  const model::Run& run = *c.run->run;
  Numbers n;
  n.layer = c.selection.layer;
  n.query = c.selection.query;
  const int head = c.selection.head;
  n.d_head = static_cast<std::size_t>(run.config.d_head());
  n.q = run.q(n.layer, head, n.query);
  const auto length = static_cast<std::size_t>(stages.values.length);
  for (int s = 0; s < kStages; ++s) {
    const viz::Matrix m = stages.matrix(static_cast<Stage>(s));
    n.stages[static_cast<std::size_t>(s)] = {m.data + n.query * m.row_stride, length};
  }
  std::vector<double> z(n.d_head, 0.0);
  for (int key = 0; key <= n.query; ++key) {
    n.k.push_back(run.k(n.layer, head, key));
    n.v.push_back(run.v(n.layer, head, key));
    const double w = static_cast<double>(n.at(Stage::pattern, key));
    n.weight_sum += w;
    for (std::size_t i = 0; i < n.d_head; ++i) z[i] += w * static_cast<double>(n.v.back()[i]);
  }
  n.z.assign(z.begin(), z.end());
  return n;
}

float magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

template <class Vector>
float largest_magnitude(const std::vector<Vector>& vectors) {
  float largest = 0;
  for (const Vector& vector : vectors) largest = std::max(largest, magnitude(vector));
  return largest;
}

/// The largest component of weight x value of any key, and of their sum.
float weighted_magnitude(const Numbers& n) {
  float largest = magnitude(n.z);
  for (int key = 0; key <= n.query; ++key) {
    largest = std::max(largest, n.at(Stage::pattern, key) * magnitude(n.v[static_cast<std::size_t>(key)]));
  }
  return largest;
}

// ---- the table's columns ----

struct Place {
  Column column;
  float x = 0;
  float w = 0;
};

bool is_strip(Column c) {
  return c == Column::key_vector || c == Column::value_vector || c == Column::weighted;
}
bool is_number(Column c) {
  return c == Column::score || c == Column::scaled || c == Column::masked || c == Column::weight;
}

/// The columns that fit, by what matters most, then as wide as there is room.
std::vector<Place> place_columns(const ViewContext& c, const Numbers& n, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float gap = 3 * style.unit();
  float token = style.width("token", style.small(), viz::FontStyle::medium);
  for (int key = 0; key <= n.query; key += 1 + n.query / 128) {
    token =
        std::max(token, style.width(c.run->tokens.labels[static_cast<std::size_t>(key)], style.font_size));
  }
  token = std::min({std::ceil(token), 0.3F * area.w, 10 * style.font_size});
  const float number = std::ceil(style.width("−000.000", style.small())), least_bar = 2.5F * style.font_size;
  auto least = [&](Column column) {
    if (column == Column::position) return std::ceil(style.width(std::to_string(n.query), style.small()));
    if (column == Column::token) return token;
    return is_strip(column) ? 5.5F * style.font_size : number + least_bar;
  };
  std::vector<Column> chosen;
  float used = -gap;
  for (const Column column :
       {Column::token, Column::weight, Column::position, Column::value_vector, Column::weighted,
        Column::score, Column::key_vector, Column::scaled, Column::masked}) {
    if (used + gap + least(column) > area.w) break;
    used += gap + least(column);
    chosen.push_back(column);
  }
  std::sort(chosen.begin(), chosen.end());
  // What remains is shared: vectors want a whole number of pixels for each component, bars a little more
  // length.
  const float strip_most =
      std::max(5.5F * style.font_size, std::min(24 * style.font_size, 6.F * static_cast<float>(n.d_head)));
  const float bar_most = number + 9 * style.font_size;
  auto most = [&](Column column) {
    return is_strip(column) ? strip_most : is_number(column) ? bar_most : least(column);
  };
  float wanted = 0;
  for (const Column column : chosen) wanted += most(column) - least(column);
  const float share = wanted > 0 ? std::min(1.F, std::max(0.F, area.w - used) / wanted) : 0;
  std::vector<Place> places;
  float x = area.x;
  for (const Column column : chosen) {
    const float w = std::floor(least(column) + share * (most(column) - least(column)));
    places.push_back({column, x, w});
    x += w + gap;
  }
  return places;
}

const Place* find(const std::vector<Place>& places, Column column) {
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.column == column; });
  return found == places.end() ? nullptr : &*found;
}

std::string heading(const ViewContext& c, const Numbers& n, Column column) {
  switch (column) {
    case Column::position:
      return "";
    case Column::token:
      return "token";
    case Column::key_vector:
      return "key k";
    case Column::score:
      return "score q·k";
    case Column::scaled:
      return "× " + scale_factor(c.run->run->config, n.layer);
    case Column::masked:
      return "masked";
    case Column::weight:
      return "weight";
    case Column::value_vector:
      return "value v";
    case Column::weighted:
      return "weight × v";
  }
  return {};
}

viz::Color heading_color(const ViewContext& c, Column column) {
  switch (column) {
    case Column::token:
    case Column::key_vector:
      return c.theme->key;
    case Column::value_vector:
    case Column::weighted:
      return c.theme->value;
    default:
      return c.theme->text_muted;
  }
}

int decimals_for(float largest) {
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

// ---- painting ----

float row_height(const viz::Style& style) {
  return std::round(1.7F * style.font_size);
}
float text_line(const viz::Style& style) {
  return style.line(style.small());
}

/// Heights of what stands around the rows of keys.
struct Frame {
  float head = 0;  ///< headings and the query's own row
  float foot = 0;  ///< the sum, the legend
};
Frame frame_of(const viz::Style& style) {
  const float u = style.unit();
  return {text_line(style) + u + row_height(style) + u, 2 * u + row_height(style) + 2 * u + text_line(style)};
}

/// Which keys the table shows.
struct Window {
  int first = 0;
  int count = 0;
  bool later = false;  ///< a line for the keys after the query
};
Window window_of(const ViewContext& c, const Numbers& n, float room) {
  const float h = row_height(style_of(c));
  const int keys = n.query + 1;
  const bool later = c.run->run->length() > keys && room >= 2 * h;
  const int fit = std::max(0, static_cast<int>(std::floor((room - (later ? h : 0)) / h)));
  const int count = std::min(keys, fit);
  return {std::clamp(c.options[kFirstKey], 0, keys - count), count, later};
}

/// Keys in the order of the table's rows.
std::vector<int> key_order(const Numbers& n, bool strongest_first) {
  std::vector<int> order(n.k.size());
  std::iota(order.begin(), order.end(), 0);
  if (strongest_first) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return n.at(Stage::pattern, a) > n.at(Stage::pattern, b); });
  }
  return order;
}

struct Painter {
  const ViewContext& c;
  const viz::Style style;
  const Numbers& n;
  const std::vector<Place>& places;
  Picture& picture;
  viz::ColorScale query_key_scale;
  viz::ColorScale value_scale;
  viz::ColorScale weighted_scale;
  double weight_limit = 1;  ///< where the axis of the weights ends: a round number
  float right = 0;          ///< of the last column

  void text(const std::string& words, viz::Point at, viz::Color color, viz::Align align, float room,
            bool strong = false) {
    viz::add_label(picture.scene, style, words, at, style.small(), color,
                   strong ? viz::FontStyle::medium : viz::FontStyle::regular, align, room);
  }

  void strip(const Place& place, float y, std::span<const float> values, const viz::ColorScale& scale,
             Vector which, int key) {
    const float h = row_height(style), inset = style.unit();
    viz::paint_vector_strip(picture, {values, scale, kComponent, key, static_cast<int>(which)},
                            {place.x, y + inset, place.w, h - 2 * inset}, style);
  }

  /// Where a column's bars stand: left of its numbers.
  viz::Rect bar_rect(const Place& place, float y) const {
    return {place.x, y + 1.5F * style.unit(), place.w - number_room() - style.unit(),
            row_height(style) - 3 * style.unit()};
  }
  float number_room() const { return std::ceil(style.width("−000.000", style.small())); }

  void bar(const Place& place, float y, float value, Stage stage) {
    const float h = row_height(style), number = number_room();
    const auto row =
        n.stages[static_cast<std::size_t>(stage == Stage::masked ? Stage::scaled : stage)].first(n.k.size());
    const auto [low, high] = std::minmax_element(row.begin(), row.end());
    const bool weight = stage == Stage::pattern;
    const viz::Rect rect = bar_rect(place, y);
    if (weight) {
      picture.scene.add(
          viz::Segments{{{rect.right(), rect.y - 1}, {rect.right(), rect.bottom() + 1}}, c.theme->line, 1});
    }
    viz::paint_signed_bar(picture.scene, rect, static_cast<double>(value),
                          weight ? 0 : std::min(0.0, static_cast<double>(*low)),
                          weight ? weight_limit : std::max(0.0, static_cast<double>(*high)),
                          weight ? c.theme->key : c.theme->text_muted.with_alpha(150), style);
    const std::string words =
        weight ? weight_text(value) : column_number(value, decimals_for(magnitude(row)));
    text(words, {place.x + place.w, y + h / 2}, c.theme->text, viz::Align::right, number + 1);
  }

  void headings(float y) {
    for (const Place& place : places) {
      const bool right_aligned = is_number(place.column);
      text(heading(c, n, place.column),
           {right_aligned ? place.x + place.w : place.x, y + text_line(style) / 2},
           heading_color(c, place.column), right_aligned ? viz::Align::right : viz::Align::left, place.w,
           !right_aligned);
      if (place.column == Column::weight) weight_axis(place, y + text_line(style) / 2);
    }
  }

  /// The ends of the axis that the weights' bars stand on, beside the column's heading.
  void weight_axis(const Place& place, float middle) {
    const viz::Rect bars = bar_rect(place, 0);
    const auto width_of = [&](const std::string& words) { return style.width(words, style.small()); };
    const float heading_left = place.x + place.w - width_of(heading(c, n, place.column));
    const std::string limit = viz::number(weight_limit, 1);
    const float width = width_of(limit);
    const float end = std::min(bars.right() + width / 2, heading_left - 1.5F * style.unit());
    text(limit, {end, middle}, c.theme->text_muted, viz::Align::right, 1e9F);
    if (bars.x + width_of("0") + style.unit() > end - width) return;
    text("0", {bars.x, middle}, c.theme->text_muted, viz::Align::left, 1e9F);
  }

  void query_row(float y) {
    const Place* place = find(places, Column::key_vector);
    const Place* token = find(places, Column::token);
    const float middle = y + row_height(style) / 2;
    viz::add_label(picture.scene, style, c.run->tokens.labels[static_cast<std::size_t>(n.query)],
                   {token->x, middle}, style.font_size, c.theme->query, viz::FontStyle::medium,
                   viz::Align::left, token->w + 0.5F);
    if (!place) {
      text("the query", {token->x + token->w + 3 * style.unit(), middle}, c.theme->query, viz::Align::left,
           right - token->x - token->w);
      return;
    }
    strip(*place, y, n.q, query_key_scale, Vector::query, n.query);
    text("← query q", {place->x + place->w + 2 * style.unit(), middle}, c.theme->query, viz::Align::left,
         right - place->x - place->w, true);
  }

  void key_row(float y, int key) {
    const float h = row_height(style), middle = y + h / 2;
    viz::Region region;
    region.role = kKey;
    region.id = key;
    region.rect = {places.front().x, y, right - places.front().x, h};
    picture.regions.push_back(region);
    for (const Place& place : places) {
      switch (place.column) {
        case Column::position:
          text(std::to_string(key), {place.x + place.w, middle}, c.theme->text_muted, viz::Align::right,
               place.w + 1);
          break;
        case Column::token:
          viz::add_label(picture.scene, style, c.run->tokens.labels[static_cast<std::size_t>(key)],
                         {place.x, middle}, style.font_size, c.theme->text, viz::FontStyle::regular,
                         viz::Align::left, place.w + 0.5F);
          break;
        case Column::key_vector:
          strip(place, y, n.k[static_cast<std::size_t>(key)], query_key_scale, Vector::key, key);
          break;
        case Column::score:
          bar(place, y, n.at(Stage::scores, key), Stage::scores);
          break;
        case Column::scaled:
          bar(place, y, n.at(Stage::scaled, key), Stage::scaled);
          break;
        case Column::masked:
          bar(place, y, n.at(Stage::masked, key), Stage::masked);
          break;
        case Column::weight:
          bar(place, y, n.at(Stage::pattern, key), Stage::pattern);
          break;
        case Column::value_vector:
          strip(place, y, n.v[static_cast<std::size_t>(key)], value_scale, Vector::value, key);
          break;
        case Column::weighted:
          strip(place, y, n.weighted(key), weighted_scale, Vector::weighted_value, key);
          break;
      }
    }
  }

  void later_keys(float y) {
    const int count = c.run->run->length() - n.query - 1;
    const float h = row_height(style), u = style.unit(), left = places.front().x;
    const viz::Rect swatch{left, y + (h - 3 * u) / 2, 5 * u, 3 * u};
    viz::Segments hatch{{}, c.theme->hatch, 1};
    for (float x = swatch.x - swatch.h + u; x < swatch.right(); x += 1.5F * u) {
      const float x0 = std::max(x, swatch.x), x1 = std::min(x + swatch.h, swatch.right());
      hatch.points.insert(hatch.points.end(),
                          {{x0, swatch.bottom() - (x0 - x)}, {x1, swatch.bottom() - (x1 - x)}});
    }
    picture.scene.add(std::move(hatch));
    picture.scene.add(viz::StrokeRect{swatch, c.theme->line, 1});
    text(
        std::to_string(count) + (count == 1 ? " later key" : " later keys") + ": masked (score −∞, weight 0)",
        {swatch.right() + 2 * u, y + h / 2}, c.theme->text_muted, viz::Align::left,
        right - swatch.right() - 2 * u);
  }

  void sum_row(float y) {
    const float h = row_height(style), middle = y + h / 2;
    picture.scene.add(viz::Segments{{{places.front().x, y}, {right, y}}, c.theme->text_muted, 1});
    const Place* token = find(places, Column::token);
    const Place* weight = find(places, Column::weight);
    const Place* weighted = find(places, Column::weighted);
    text("sum", {token->x, middle + 1}, c.theme->text, viz::Align::left, token->w, true);
    text(column_number(static_cast<float>(n.weight_sum), 4), {weight->x + weight->w, middle + 1},
         c.theme->text, viz::Align::right, weight->w, true);
    if (!weighted) return;
    strip(*weighted, y + 1, n.z, weighted_scale, Vector::z, n.query);
    text("z =", {weighted->x - 1.5F * style.unit(), middle + 1}, c.theme->value, viz::Align::right, 1e9F,
         true);
  }

  void legend(float y) {
    const float middle = y + text_line(style) / 2;
    float x = places.front().x;
    auto line = [&](const viz::ColorScale& scale, const std::string& title) {
      const float width =
          style.width(title + viz::number(scale.low, 3) + viz::number(scale.high, 3), style.small()) +
          18 * style.unit();
      if (x + width > right) return;
      x += viz::paint_color_scale_line(picture.scene, scale, title, {x, middle}, style) + 6 * style.unit();
    };
    if (find(places, Column::key_vector)) line(query_key_scale, "q, k");
    if (find(places, Column::value_vector)) line(value_scale, "v");
    if (find(places, Column::weighted)) line(weighted_scale, "weight × v, z");
  }
};

Picture build(const ViewContext& c) {
  const auto stages = current_stages(c);
  if (auto words = waiting(c, StagesOf{c.selection.layer, c.selection.head}, stages != nullptr))
    return *words;
  const viz::Style style = style_of(c);
  const Numbers n = numbers_of(c, *stages);
  Picture picture = blank(c);
  const float u = style.unit();
  const Frame frame = frame_of(style);
  const float top = margin(c) + style.line(style.title()) + 2 * u;
  const Window window = window_of(c, n, c.height - margin(c) - top - frame.head - frame.foot);
  std::string note = head_name(c.selection.layer, c.selection.head);
  if (window.count <= n.query) {
    note += c.options[kStrongestFirst] ? ", strongest keys " : ", keys ";
    const int start = window.first + (c.options[kStrongestFirst] ? 1 : 0);
    note += std::to_string(start) + " to " + std::to_string(start + window.count - 1) + " of " +
            std::to_string(n.query + 1);
  }
  const viz::Rect area =
      paint_title(picture, c, "What query " + token_name(c.run->tokens, n.query) + " takes", note);
  const std::vector<Place> places = place_columns(c, n, area);
  if (places.size() < 2 || window.count == 0) return message(c, "too small for the table");

  Painter paint{c,
                style,
                n,
                places,
                picture,
                viz::diverging_scale(std::max(magnitude(n.q), largest_magnitude(n.k))),
                viz::diverging_scale(static_cast<double>(largest_magnitude(n.v))),
                viz::diverging_scale(static_cast<double>(weighted_magnitude(n))),
                viz::round_limit(static_cast<double>(magnitude(n.stages.back().first(n.k.size())))),
                places.back().x + places.back().w};
  float y = area.y;
  paint.headings(y);
  y += text_line(style) + u;
  paint.query_row(y);
  y += row_height(style) + u / 2;
  picture.scene.add(viz::Segments{{{area.x, y}, {paint.right, y}}, c.theme->line, 1});
  y += u / 2;
  const std::vector<int> order = key_order(n, c.options[kStrongestFirst]);
  for (int row = window.first; row < window.first + window.count; ++row) {
    paint.key_row(y, order[static_cast<std::size_t>(row)]);
    y += row_height(style);
  }
  if (window.later) {
    paint.later_keys(y);
    y += row_height(style);
  }
  y += 2 * u;
  paint.sum_row(y);
  y += row_height(style) + 2 * u;
  paint.legend(y);
  return picture;
}

/// "v[17] = 0.1234" and what it becomes.
std::vector<std::string> component_lines(const Numbers& n, Vector which, int key, std::size_t i) {
  const std::string at = "[" + std::to_string(i) + "]";
  const auto index = static_cast<std::size_t>(key);
  switch (which) {
    case Vector::query:
      return {"q" + at + " = " + exact(n.q[i])};
    case Vector::key:
      return {"k" + at + " = " + exact(n.k[index][i]),
              "q" + at + " × k" + at + " = " + exact(n.q[i] * n.k[index][i])};
    case Vector::value:
      return {"v" + at + " = " + exact(n.v[index][i])};
    case Vector::weighted_value:
      return {exact(n.at(Stage::pattern, key)) + " × v" + at + " = " +
              exact(n.at(Stage::pattern, key) * n.v[index][i])};
    case Vector::z:
      return {"z" + at + " = " + exact(n.z[i]), "the sum of weight × v" + at + " over all keys"};
  }
  return {};
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto stages = current_stages(c);
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  Hover result;
  const bool component = region.role == kComponent;
  if (!stages || (!component && region.role != kKey) || region.id > c.selection.query) return result;
  const Numbers n = numbers_of(c, *stages);
  for (const viz::Region& row : picture.regions) {
    if (row.role == kKey && row.id == region.id && (!component || row.rect.contains(region.rect.center()))) {
      result.overlay.add(viz::StrokeRect{row.rect.inset(0.5F), c.theme->query, 1, 2});
    }
  }
  const auto which = static_cast<Vector>(hit.row);
  const bool own = component && (which == Vector::query || which == Vector::z);
  result.lines = {(own ? "query " : "key ") + token_name(c.run->tokens, region.id)};
  if (component && hit.col < static_cast<int>(n.d_head)) {
    result.overlay.add(
        viz::StrokeRect{region.cell_rect(hit.row, hit.col).inset(-0.75F), c.theme->text, 1.5F});
    for (std::string& line : component_lines(n, which, region.id, static_cast<std::size_t>(hit.col)))
      result.lines.push_back(std::move(line));
  }
  if (!own) {
    auto digits = [&](Stage stage) { return viz::number(static_cast<double>(n.at(stage, region.id)), 4); };
    if (!component) {
      result.lines.push_back("score " + exact(n.at(Stage::scores, region.id)));
      result.lines.push_back("scaled " + exact(n.at(Stage::scaled, region.id)));
      result.lines.push_back("weight " + exact(n.at(Stage::pattern, region.id)));
    }
    result.lines.push_back("q·k = " + digits(Stage::scores) + "; × " +
                           scale_factor(c.run->run->config, n.layer) + " = " + digits(Stage::scaled) +
                           "; softmax → " + digits(Stage::pattern));
  }
  result.status = head_name(c.selection.layer, c.selection.head) + "   query " +
                  token_name(c.run->tokens, n.query) + " → " + result.lines.front() + "   " +
                  result.lines.back();
  return result;
}

Table table(const ViewContext& c) {
  const auto stages = current_stages(c);
  Table result;
  if (!stages) return result;
  const Numbers n = numbers_of(c, *stages);
  result.header = {"key", "token", "score", "scaled", "masked", "weight"};
  for (const char* vector : {"k", "v", "weight*v"}) {
    for (std::size_t i = 0; i < n.d_head; ++i)
      result.header.push_back(vector + ("[" + std::to_string(i) + "]"));
  }
  auto append = [](std::vector<std::string>& row, std::span<const float> values) {
    for (const float v : values) row.push_back(plain(v));
  };
  for (int key = 0; key < stages->values.length; ++key) {
    std::vector<std::string> row{std::to_string(key), c.run->tokens.labels[static_cast<std::size_t>(key)]};
    for (int s = 0; s < kStages; ++s) row.push_back(plain(n.at(static_cast<Stage>(s), key)));
    if (key <= n.query) {
      append(row, n.k[static_cast<std::size_t>(key)]);
      append(row, n.v[static_cast<std::size_t>(key)]);
      append(row, n.weighted(key));
    }
    row.resize(result.header.size());
    result.rows.push_back(std::move(row));
  }
  std::vector<std::string> sum{"sum", "", "", "", "", plain(n.weight_sum)};
  sum.resize(6 + 2 * n.d_head);
  append(sum, n.z);
  result.rows.push_back(std::move(sum));
  return result;
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  const Frame frame = frame_of(style);
  const int keys = c.selection.query + 1 + (c.run && c.run->run->length() > c.selection.query + 1 ? 1 : 0);
  return 2 * margin(c) + style.line(style.title()) + 2 * style.unit() + frame.head + frame.foot +
         static_cast<float>(keys) * row_height(style) + 1;
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::click && hit)
    return {SelectQuery{picture.regions[static_cast<std::size_t>(hit->region)].id}};
  constexpr int kRows = 3;  // for a step of the wheel
  if (gesture.kind == Gesture::Kind::wheel) {
    const int first = c.options[kFirstKey] + kRows * (gesture.by.y > 0 ? -1 : 1);
    return {SetOption{&kFirstKey, std::clamp(first, 0, c.selection.query)}};
  }
  return {};
}

/// The query before or after the shown one.
ViewActions step(const ViewContext& c, int by) {
  if (!c.run) return {};
  const int last = c.run->run->length() - 1, to = std::clamp(c.selection.query + by, 0, last);
  return {SelectQuery{to == last && by > 0 ? -1 : to}};
}

}  // namespace

View query_view() {
  View view;
  view.id = "query";
  view.title = "Query";
  view.help =
      "one query: its score with each key through the stages, and values, weights and their sum as vectors";
  view.options = {&kFirstKey, &kStrongestFirst};
  view.commands = {
      {"", "‹ Previous", "The query before this one", [](const ViewContext& c, int) { return step(c, -1); }},
      {"", "Next ›", "The query after this one", [](const ViewContext& c, int) { return step(c, 1); }}};
  view.on = on;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
