#include <algorithm>
#include <map>
#include <optional>

#include "app/run/analyses/query_key_space.h"
#include "app/views/parts/common.h"
#include "app/views/parts/prompt_list_words.h"
#include "viz/charts/curves.h"
#include "viz/charts/scatter.h"
#include "viz/scene/colormap.h"
#include "viz/scene/path3d.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

enum Role { kPlane };
enum class Coloring { kind, weight, position, token, prompt };
enum class Text { prompt, list };

const Option<Text> kText = not_kept(
    choice_option<Text>("plane-text", "Text", "tT", "whose queries and keys are shown",
                        {{"prompt", "One prompt", "Of the prompt"},
                         {"list", "List", "Of all prompts of the list that is open, whatever the prompt"}}));
const Option<Coloring> kColoring = choice_option<Coloring>(
    "plane-color", "Colours", "cC",
    "what fills the marks: queries are circles, keys triangles, with outlines of their own",
    {{"kind", "Kind", "Queries in violet, keys in orange"},
     {"weight", "Weight", "Keys by the weight that the chosen query gives them"},
     {"position", "Position", "By position in the prompt"},
     {"token", "Token", "A colour for each token that occurs more than once, the most frequent"},
     {"prompt", "Prompt", "By the prompt's place in the list"}});

constexpr int kTokenColors = 7;

bool of_list(const ViewContext& c) {
  return c.options[kText] == Text::list;
}

PlaneOverList list_question(const ViewContext& c) {
  return {over_list(c), c.selection.layer, c.selection.head};
}
Question question_of(const ViewContext& c) {
  if (of_list(c)) return list_question(c);
  return PlaneOf{c.selection.layer, c.selection.head};
}

/// What is shown of one prompt, or of many.
struct Shown {
  std::shared_ptr<const QueryKeySpace> plane;
  std::shared_ptr<const ListPlane> of_list;  ///< null: of one prompt
  std::vector<ListPlane::Place> of_prompt;

  /// Of the queries, and of the keys.
  const std::vector<ListPlane::Place>& places() const { return of_list ? of_list->places : of_prompt; }
};
/// Nothing while there is no answer.
std::optional<Shown> shown_of(const ViewContext& c) {
  if (!c.run) {
    if (!of_list(c)) static_cast<void>(c.ask(PlaneOf{c.selection.layer, c.selection.head}));
    return std::nullopt;
  }
  Shown shown;
  if (of_list(c)) {
    shown.of_list = c.prompts ? c.ask(list_question(c)) : nullptr;
    if (!shown.of_list) return std::nullopt;
    shown.plane = {shown.of_list, &shown.of_list->plane};
    return shown;
  }
  shown.plane = c.ask(PlaneOf{c.selection.layer, c.selection.head});
  if (!shown.plane) return std::nullopt;
  for (int i = 0; i < shown.plane->length; ++i) shown.of_prompt.push_back({0, i, c.run->run->tokens[i]});
  return shown;
}

/// Ids that occur more than once, those that occur most: each has a colour, by falling count.
std::vector<int> repeated_tokens(const Shown& shown) {
  std::map<int, int> counts;
  for (const ListPlane::Place& place : shown.places()) ++counts[place.id];
  std::vector<int> repeated;
  for (const auto& [id, count] : counts)
    if (count > 1) repeated.push_back(id);
  std::ranges::stable_sort(repeated, std::greater{}, [&](int id) { return counts[id]; });
  if (std::ssize(repeated) > kTokenColors) repeated.resize(kTokenColors);
  return repeated;
}

/// What the marks are coloured by: of many prompts no query's weights, of one no prompts.
Coloring coloring_of(const ViewContext& c) {
  const Coloring coloring = c.options[kColoring];
  return coloring == (of_list(c) ? Coloring::weight : Coloring::prompt) ? Coloring::kind : coloring;
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
  if (coloring_of(c) != Coloring::weight) return std::nullopt;
  Shades shades{current_pattern(c), {}};
  if (!shades.pattern) return std::nullopt;
  const auto weights = weights_of_query(c, shades.pattern.get());
  shades.scale = viz::linear_scale(*std::ranges::max_element(weights));
  return shades;
}

/// Of positions, or of prompts.
viz::ColorScale place_scale(const ViewContext& c, const Shown& shown) {
  int most = 1;
  for (const ListPlane::Place& place : shown.places())
    most =
        std::max(most, coloring_of(c) == Coloring::prompt ? static_cast<int>(place.prompt) : place.position);
  return viz::linear_scale(most);
}

/// Colours of all marks.
class Fill {
 public:
  Fill(const ViewContext& c, const Shown& shown)
      : c_(c), shades_(shades_of(c)), scale_(place_scale(c, shown)) {
    if (coloring_of(c) == Coloring::token) tokens_ = repeated_tokens(shown);
  }

  viz::Color of(bool key, const ListPlane::Place& place) const {
    switch (coloring_of(c_)) {
      case Coloring::kind:
        break;
      case Coloring::weight:
        if (!key || !shades_) return c_.theme->surface;
        return shades_->scale.color(*c_.theme, shades_->weight(c_, place.position));
      case Coloring::position:
        return scale_.color(*c_.theme, place.position);
      case Coloring::prompt:
        return scale_.color(*c_.theme, static_cast<double>(place.prompt));
      case Coloring::token: {
        const auto found = std::ranges::find(tokens_, place.id);
        if (found == tokens_.end()) return c_.theme->surface;
        return viz::categorical(*c_.theme, static_cast<int>(found - tokens_.begin()));
      }
    }
    return (key ? c_.theme->key : c_.theme->query).with_alpha(190);
  }

 private:
  const ViewContext& c_;
  std::optional<Shades> shades_;
  std::vector<int> tokens_;
  viz::ColorScale scale_;
};

std::string axis_title(const QueryKeySpace& plane, std::size_t axis) {
  return "direction " + std::to_string(axis + 1) + ", " + percent(plane.shares[axis]) + " of the variance";
}

/// The marks are the queries in the order of the places, then the keys.
viz::ScatterChart chart_of(const ViewContext& c, const Shown& shown) {
  using Shape = viz::ScatterChart::Shape;
  const QueryKeySpace& plane = *shown.plane;
  viz::ScatterChart chart;
  chart.kinds = {{"query", Shape::circle, c.theme->query}, {"key", Shape::triangle, c.theme->key}};
  chart.x_title = axis_title(plane, 0);
  chart.y_title = axis_title(plane, 1);
  chart.role = kPlane;
  const Fill fill(c, shown);
  for (const bool key : {false, true}) {
    for (int i = 0; i < plane.length; ++i) {
      const ListPlane::Place& place = shown.places()[i];
      const auto [x, y] = plane.at(key, i);
      viz::ScatterChart::Mark mark;
      mark.x = x, mark.y = y;
      mark.kind = key ? 1 : 0;
      mark.fill = fill.of(key, place);
      mark.label = label_of(c, place.id);
      mark.chosen = place.position == (key ? c.selection.key : c.selection.query) &&
                    (!of_list(c) || is_shown_prompt(c, place.prompt));
      chart.marks.push_back(std::move(mark));
    }
  }
  return chart;
}

/// The line of words under the chart is left to the legend of colours.
viz::Rect chart_area(const ViewContext& c) {
  viz::Rect area = below_title(c);
  if (coloring_of(c) != Coloring::kind) area.h -= style_of(c).line(style_of(c).small()) + style_of(c).unit();
  return area;
}

/// Where the room ends some of it is left out.
void paint_legend(Picture& picture, const ViewContext& c, const Shown& shown) {
  const viz::Style style = style_of(c);
  const viz::Rect area = below_title(c);
  const float line = style.line(style.small()), u = style.unit(), y = area.bottom() - line / 2;
  const Coloring coloring = coloring_of(c);
  if (coloring == Coloring::position || coloring == Coloring::prompt)
    viz::paint_color_scale_line(picture.scene, place_scale(c, shown),
                                coloring == Coloring::prompt ? "prompt" : "position", {area.x, y}, style);
  if (coloring == Coloring::weight) {
    if (const auto shades = shades_of(c))
      viz::paint_color_scale_line(picture.scene, shades->scale, "weight of the query", {area.x, y}, style);
  }
  if (coloring != Coloring::token) return;
  const std::vector<int> tokens = repeated_tokens(shown);
  float x = area.x;
  const auto add = [&](const std::string& words, viz::Color color) {
    const float w = 2 * u + u + style.width(words, style.small());
    if (x + w > area.right()) return;
    picture.scene.add(viz::FillRect{{x, y - u, 2 * u, 2 * u}, color});
    paint_note(picture, c, words, {x + 3 * u, y});
    x += w + 3 * u;
  };
  for (int color = 0; color < std::ssize(tokens); ++color)
    add(label_of(c, tokens[color]), viz::categorical(*c.theme, color));
  if (tokens.empty())
    paint_note(picture, c, of_list(c) ? "no token occurs twice" : "no token of this prompt occurs twice",
               {area.x, y}, area.w);
}

/// "62 % of their variance lies in this plane", of many prompts which.
std::string subtitle_of(const ViewContext& c, const Shown& shown) {
  const QueryKeySpace& plane = *shown.plane;
  std::string words = percent(plane.shares[0] + plane.shares[1]) + " of their variance lies in this plane";
  if (!shown.of_list) return words;
  const ListPlane& list = *shown.of_list;
  if (list.prompts < c.prompts->prompts.size() && list.progress.done == list.prompts)
    words = grouped(plane.length) + " tokens; " + words;
  return list_words(c, list.progress, list.prompts) + "; " + words;
}

Picture build(const ViewContext& c) {
  const std::optional<Shown> shown = shown_of(c);
  if (of_list(c) && !c.prompts) return no_list(c);
  if (auto words = waiting(c, question_of(c), shown.has_value())) return *words;
  const QueryKeySpace& plane = *shown->plane;
  if (!plane.finite) return message(c, "queries or keys of this head are not finite");
  if (plane.length == 0) return message(c, list_words(c, shown->of_list->progress));
  const viz::ScatterChart chart = chart_of(c, *shown);
  const viz::ScatterLayout layout = viz::lay_out_scatter(chart, chart_area(c), style_of(c));
  if (layout.frame.w < 8 * c.font_size || layout.frame.h < 6 * c.font_size)
    return too_small(c, "for the plane");
  Picture picture = blank(c);
  paint_title(picture, c, "Queries and keys of " + head_name(c.selection.layer, c.selection.head),
              subtitle_of(c, *shown));
  viz::paint_scatter(picture, chart, layout, style_of(c));
  paint_legend(picture, c, *shown);
  return picture;
}

/// The mark nearest to the mouse.
struct Under {
  bool key = false;
  ListPlane::Place of;  ///< its prompt counts in a list alone
  viz::Point place;
};
std::optional<Under> under(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const std::optional<Shown> shown = shown_of(c);
  if (!shown || !shown->plane->finite) return std::nullopt;
  const int length = shown->plane->length;
  const viz::ScatterChart chart = chart_of(c, *shown);
  const viz::ScatterLayout layout = viz::lay_out_scatter(chart, chart_area(c), style_of(c));
  const viz::Region& region = region_of(picture, hit);
  const int i =
      viz::nearest_point(layout.places, region.cell_rect(hit.row, hit.col).center(), c.width + c.height);
  if (i < 0) return std::nullopt;
  const bool key = i >= length;
  return Under{key, shown->places()[key ? i - length : i], layout.places[i]};
}

/// "with key 1 “·robot”: score 3.93, weight 0.74".
std::string score_words(const ViewContext& c, int query, int key, const std::string& with) {
  const auto stages = current_stages(c);
  if (!stages) return "";
  const std::string words = "with " + with + ": score " + exact(stages->matrix(Stage::scaled).at(query, key));
  if (stages->masked(query, key)) return words + ", masked";
  return words + ", weight " + exact(stages->matrix(Stage::pattern).at(query, key));
}

/// What a prompt of the list begins with.
std::string beginning_of(const ViewContext& c, const ListPlane& list, std::size_t prompt) {
  constexpr int kMost = 24;  // tokens
  std::string words = "prompt " + grouped(static_cast<std::int64_t>(prompt) + 1) + ": ";
  auto place = std::ranges::lower_bound(list.places, prompt, {}, &ListPlane::Place::prompt);
  for (int i = 0; i < kMost && place != list.places.end() && place->prompt == prompt; ++i, ++place)
    words += label_of(c, place->id);
  return words + (place != list.places.end() && place->prompt == prompt ? "…" : "");
}

Table table(const ViewContext& c) {
  const std::optional<Shown> shown = shown_of(c);
  if (!shown) return {};
  const QueryKeySpace& plane = *shown->plane;
  Table result{{"kind", "position", "token", axis_title(plane, 0), axis_title(plane, 1)}, {}};
  if (of_list(c)) result.header.insert(result.header.begin(), "prompt");
  for (const bool key : {false, true}) {
    for (int i = 0; i < plane.length; ++i) {
      const ListPlane::Place& place = shown->places()[i];
      const auto [x, y] = plane.at(key, i);
      auto& row = result.add(key ? "key" : "query", place.position, label_of(c, place.id), x, y);
      if (of_list(c)) row.insert(row.begin(), std::to_string(place.prompt + 1));
    }
  }
  return result;
}

/// Of a key that no chosen query sees the last query's, which sees all of them.
ViewActions chosen(const ViewContext& c, const Under& at) {
  const int position = at.of.position;
  if (of_list(c))
    return {
        show_prompt(c, at.of.prompt,
                    {c.selection.layer, c.selection.head, at.key ? -1 : position, at.key ? position : -1})};
  if (!at.key) return {SelectQuery{position}};
  if (may_see(c, c.selection.query, position)) return {clicked_key(c, position)};
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{position}};
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto at = under(c, picture, hit);
  return at ? chosen(c, *at) : ViewActions{};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto at = under(c, picture, hit);
  if (!at) return facts;
  const float r = 2.5F * style_of(c).unit();
  facts.overlay.add(
      viz::StrokeRect{{at->place.x - r, at->place.y - r, 2 * r, 2 * r}, c.theme->text, 1.5F, r});
  const std::string kind = at->key ? "key " : "query ";
  if (of_list(c)) {
    facts.say(kind + std::to_string(at->of.position) + " “" + label_of(c, at->of.id) + "”");
    facts.say(beginning_of(c, *c.ask(list_question(c)), at->of.prompt));
    facts.commands.push_back(
        {"Show prompt " + grouped(static_cast<std::int64_t>(at->of.prompt) + 1), chosen(c, *at)});
  } else {
    const PromptTokens& tokens = c.run->tokens;
    facts.say(kind + token_name(tokens, at->of.position));
    if (at->key) {
      facts.say(score_words(c, c.selection.query, at->of.position,
                            "query " + token_name(tokens, c.selection.query)));
    } else if (c.selection.key >= 0) {
      facts.say(
          score_words(c, at->of.position, c.selection.key, "key " + token_name(tokens, c.selection.key)));
    }
    facts.commands.push_back(choose_query(c, at->of.position));
    add_choice_of_key(facts.commands, c, at->of.position, c.selection.query);
  }
  add_copies_of_token(facts, c, at->of.id);
  return facts;
}

}  // namespace

View query_key_space_view() {
  View view = make_view(
      "plane", "Plane",
      "queries and keys of one head, of the prompt or a list, in the plane where they lie furthest apart",
      build, facts, table);
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.of_model = of_list;
  view.shows_parts = true;
  view.options = {&kText, &kColoring};
  add_gestures<click>(view);
  view.caption = {true, true, true};
  return view;
}

}  // namespace headscope::app
