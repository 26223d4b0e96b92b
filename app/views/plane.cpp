#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "app/run/query_key_plane.h"
#include "app/views/common.h"
#include "viz/colormap.h"
#include "viz/curves.h"
#include "viz/path3d.h"
#include "viz/scatter.h"

namespace headscope::app {
namespace {

enum Role { kPlane };
enum class Coloring { kind, weight, position, token };

const Option<Coloring> kColoring{
    {.name = "plane-color",
     .label = "Colours",
     .help = "what fills the marks: queries are circles, keys triangles, with outlines of their own",
     .usual = 0,
     .choices = {{"kind", "Kind", "Queries in violet, keys in orange"},
                 {"weight", "Weight", "Keys by the weight that the chosen query gives them"},
                 {"position", "Position", "By position in the prompt"},
                 {"token", "Token", "A colour for each token that occurs more than once, the most frequent"}},
     .keys = "cC"}};

constexpr int kTokenColors = 7;

PlaneOf question_of(const ViewContext& c) {
  return {c.selection.layer, c.selection.head};
}

/// Of ids that occur most: which colour, by falling count.
std::map<int, int> colors_of_tokens(const ViewContext& c) {
  std::map<int, int> counts;
  for (const int id : c.run->run->tokens) ++counts[id];
  std::vector<std::pair<int, int>> repeated;  // -count, id
  for (const auto& [id, count] : counts)
    if (count > 1) repeated.emplace_back(-count, id);
  std::ranges::sort(repeated);
  std::map<int, int> colors;
  for (const auto& [count, id] : repeated)
    if (std::ssize(colors) < kTokenColors) colors.emplace(id, static_cast<int>(colors.size()));
  return colors;
}

/// The weights of the chosen query and their scale; empty while they are missing.
struct Shades {
  std::shared_ptr<const Pattern> pattern;
  viz::ColorScale scale;
  float weight(const ViewContext& c, int key) const {
    return pattern->masked(c.selection.query, key) ? 0 : pattern->matrix().at(c.selection.query, key);
  }
};
std::optional<Shades> shades_of(const ViewContext& c) {
  if (c.options[kColoring] != Coloring::weight) return std::nullopt;
  Shades shades{current_pattern(c), {}};
  if (!shades.pattern) return std::nullopt;
  const auto weights = weights_of_query(c, shades.pattern.get());
  shades.scale = viz::linear_scale(static_cast<double>(*std::ranges::max_element(weights)));
  return shades;
}

viz::ColorScale position_scale(const ViewContext& c) {
  return viz::linear_scale(std::max(1, c.run->run->length() - 1));
}

viz::Color fill_of(const ViewContext& c, bool key, int position, const std::optional<Shades>& shades,
                   const std::map<int, int>& tokens) {
  const viz::Color own = key ? c.theme->key : c.theme->query;
  switch (c.options[kColoring]) {
    case Coloring::kind:
      break;
    case Coloring::weight:
      if (!key || !shades) return c.theme->surface;
      return shades->scale.color(*c.theme, static_cast<double>(shades->weight(c, position)));
    case Coloring::position:
      return position_scale(c).color(*c.theme, position);
    case Coloring::token: {
      const auto found = tokens.find(c.run->run->tokens[static_cast<std::size_t>(position)]);
      return found != tokens.end() ? viz::categorical(*c.theme, found->second) : c.theme->surface;
    }
  }
  return own.with_alpha(190);
}

std::string axis_title(const QueryKeyPlane& plane, std::size_t axis) {
  return "direction " + std::to_string(axis + 1) + ", " + percent(plane.shares[axis]) + " of the variance";
}

/// The marks are the queries by position, then the keys.
viz::ScatterChart chart_of(const ViewContext& c, const QueryKeyPlane& plane) {
  using Shape = viz::ScatterChart::Shape;
  viz::ScatterChart chart;
  chart.kinds = {{"query", Shape::circle, c.theme->query}, {"key", Shape::triangle, c.theme->key}};
  chart.x_title = axis_title(plane, 0);
  chart.y_title = axis_title(plane, 1);
  chart.role = kPlane;
  const auto shades = shades_of(c);
  const std::map<int, int> tokens = colors_of_tokens(c);
  for (const bool key : {false, true}) {
    for (int position = 0; position < plane.length; ++position) {
      const auto [x, y] = plane.at(key, position);
      viz::ScatterChart::Mark mark;
      mark.x = static_cast<double>(x), mark.y = static_cast<double>(y);
      mark.kind = key ? 1 : 0;
      mark.fill = fill_of(c, key, position, shades, tokens);
      mark.label = c.run->tokens.labels[static_cast<std::size_t>(position)];
      mark.chosen = position == (key ? c.selection.key : c.selection.query);
      chart.marks.push_back(std::move(mark));
    }
  }
  return chart;
}

/// The line of words under the chart is left to the legend of colours.
viz::Rect chart_area(const ViewContext& c) {
  viz::Rect area = below_title(c);
  if (c.options[kColoring] != Coloring::kind) area.h -= style_of(c).line(style_of(c).small()) + style_of(c).unit();
  return area;
}

/// Where the room ends some of it is left out.
void paint_legend(Picture& picture, const ViewContext& c) {
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const float line = style.line(style.small()), u = style.unit(), y = area.bottom() - line / 2;
  if (c.options[kColoring] == Coloring::position)
    viz::paint_color_scale_line(picture.scene, position_scale(c), "position", {area.x, y}, style);
  if (c.options[kColoring] == Coloring::weight) {
    if (const auto shades = shades_of(c))
      viz::paint_color_scale_line(picture.scene, shades->scale, "weight of the query", {area.x, y}, style);
  }
  if (c.options[kColoring] != Coloring::token) return;
  const std::map<int, int> tokens = colors_of_tokens(c);
  float x = area.x;
  const auto add = [&](const std::string& words, viz::Color color) {
    const float w = 2 * u + u + style.width(words, style.small());
    if (x + w > area.right()) return;
    picture.scene.add(viz::FillRect{{x, y - u, 2 * u, 2 * u}, color});
    viz::add_label(picture.scene, style, words, {x + 3 * u, y}, style.small(), c.theme->text_muted);
    x += w + 3 * u;
  };
  for (int color = 0; color < std::ssize(tokens); ++color) {
    for (const auto& [id, of_id] : tokens)
      if (of_id == color) add(label_of(c, id), viz::categorical(*c.theme, color));
  }
  if (tokens.empty()) {
    viz::add_label(picture.scene, style, "no token of this prompt occurs twice", {area.x, y}, style.small(),
                   c.theme->text_muted, viz::FontStyle::regular, viz::Align::left, area.w);
  }
}

Picture build(const ViewContext& c) {
  const auto plane = c.ask(question_of(c));
  if (auto words = waiting(c, question_of(c), plane != nullptr)) return *words;
  if (!plane->finite) return message(c, "queries or keys of this head are not finite");
  const viz::ScatterChart chart = chart_of(c, *plane);
  const viz::ScatterLayout layout = viz::lay_out_scatter(chart, chart_area(c), style_of(c));
  if (layout.frame.w < 8 * c.font_size || layout.frame.h < 6 * c.font_size)
    return message(c, "too small for the plane");
  Picture picture = blank(c);
  paint_title(picture, c, "Queries and keys of " + head_name(c.selection.layer, c.selection.head),
              percent(plane->shares[0] + plane->shares[1]) + " of their variance lies in this plane");
  viz::paint_scatter(picture, chart, layout, style_of(c));
  paint_legend(picture, c);
  return picture;
}

/// The mark nearest to the mouse.
struct Under {
  bool key = false;
  int position = 0;
  viz::Point place;
};
std::optional<Under> under(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto plane = c.run ? c.ask(question_of(c)) : nullptr;
  if (!plane || !plane->finite) return std::nullopt;
  const viz::ScatterChart chart = chart_of(c, *plane);
  const viz::ScatterLayout layout = viz::lay_out_scatter(chart, chart_area(c), style_of(c));
  const viz::Region& region = picture.regions[static_cast<std::size_t>(hit.region)];
  const int i =
      viz::nearest_point(layout.places, region.cell_rect(hit.row, hit.col).center(), c.width + c.height);
  if (i < 0) return std::nullopt;
  const bool key = i >= plane->length;
  return Under{key, key ? i - plane->length : i, layout.places[static_cast<std::size_t>(i)]};
}

/// "with key 1 “·robot”: score 3.93, weight 0.74".
std::string score_words(const ViewContext& c, int query, int key, const std::string& with) {
  const auto stages = current_stages(c);
  if (!stages) return "";
  const std::string words = "with " + with + ": score " + exact(stages->matrix(Stage::scaled).at(query, key));
  if (stages->masked(query, key)) return words + ", masked";
  return words + ", weight " + exact(stages->matrix(Stage::pattern).at(query, key));
}

Hover hover(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Hover result;
  const auto at = under(c, picture, hit);
  if (!at) return result;
  const PromptTokens& tokens = c.run->tokens;
  const float r = 2.5F * style_of(c).unit();
  result.overlay.add(viz::StrokeRect{{at->place.x - r, at->place.y - r, 2 * r, 2 * r}, c.theme->text, 1.5F, r});
  result.lines = {(at->key ? "key " : "query ") + token_name(tokens, at->position)};
  if (at->key) {
    result.lines.push_back(score_words(c, c.selection.query, at->position,
                                       "query " + token_name(tokens, c.selection.query)));
  } else if (c.selection.key >= 0) {
    result.lines.push_back(
        score_words(c, at->position, c.selection.key, "key " + token_name(tokens, c.selection.key)));
  }
  std::erase(result.lines, "");
  for (const std::string& line : result.lines) result.status += (result.status.empty() ? "" : "   ") + line;
  return result;
}

Table table(const ViewContext& c) {
  Table result;
  const auto plane = c.run ? c.ask(question_of(c)) : nullptr;
  if (!plane) return result;
  result.header = {"kind", "position", "token", axis_title(*plane, 0), axis_title(*plane, 1)};
  for (const bool key : {false, true}) {
    for (int position = 0; position < plane->length; ++position) {
      const auto [x, y] = plane->at(key, position);
      result.rows.push_back({key ? "key" : "query", std::to_string(position),
                             c.run->tokens.labels[static_cast<std::size_t>(position)], plain(x), plain(y)});
    }
  }
  return result;
}

/// Of a key that no chosen query sees the last query's, which sees all of them.
ViewActions chosen(const ViewContext& c, const Under& at) {
  if (!at.key) return {SelectQuery{at.position}};
  if (may_see(c, c.selection.query, at.position)) return {clicked_key(c, at.position)};
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{at.position}};
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) return keys_along_prompt(c, gesture);
  if (gesture.kind != Gesture::Kind::click || !hit) return {};
  const auto at = under(c, picture, *hit);
  return at ? chosen(c, *at) : ViewActions{};
}

std::vector<MenuLine> menu(const ViewContext& c, const Picture& picture, const viz::Hit* hit) {
  std::vector<MenuLine> lines;
  const auto at = hit ? under(c, picture, *hit) : std::nullopt;
  if (!at) return lines;
  lines.push_back(choose_query(c, at->position));
  add_choice_of_key(lines, c, at->position, c.selection.query);
  const auto index = static_cast<std::size_t>(at->position);
  add_copies_of_token(lines, c, c.run->run->tokens[index], c.run->tokens.labels[index]);
  return lines;
}

}  // namespace

View plane_view() {
  View view;
  view.id = "plane";
  view.title = "Plane";
  view.help = "queries and keys of one head in the plane where they lie furthest apart";
  view.options = {&kColoring};
  view.on = on;
  view.menu = menu;
  view.build = build;
  view.hover = hover;
  view.table = table;
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
