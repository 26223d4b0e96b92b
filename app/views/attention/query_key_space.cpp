#include <map>

#include "app/run/analyses/geometry.h"
#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"
#include "viz/charts/scatter.h"
#include "viz/scene/path3d.h"

namespace headscope::app {
namespace query_key_space {

enum Role { kPlot };
enum class Coloring { kind, weight, position, token, prompt };
enum class Text { prompt, list };

const Option<Text> kText = choice_option<Text>(
    "query-key-text", "Text", "tT", "whose queries and keys are shown",
    {{"prompt", "One prompt", "Those of the prompt"},
     {"list", "List", "Those of all prompts of the open list, independent of the prompt"}},
    {.kept = false});
const Option<Coloring> kColoring = choice_option<Coloring>(
    "query-key-color", "Colours", "cC", "fill colour of the marks: queries are circles, keys are triangles",
    {{"kind", "Kind", "Queries in violet, keys in teal"},
     {"weight", "Weight", "Keys by their weight from the chosen query"},
     {"position", "Position", "By position in the prompt"},
     {"token", "Token", "A colour for each of the most frequent repeated tokens"},
     {"prompt", "Prompt", "By the prompt's number in the list"}});

constexpr int kTokenColors = 7;

bool uses_list(const ViewContext& c) {
  return c.options[kText] == Text::list;
}

/// The queries and keys of one prompt, or of many.
struct Marks {
  std::shared_ptr<const QueryKeySpace> space;
  std::shared_ptr<const ListQueryKeySpace> list;  ///< null: of one prompt
  std::vector<ListQueryKeySpace::Place> prompt_places;

  /// The places of the queries, and of the keys.
  const std::vector<ListQueryKeySpace::Place>& places() const { return list ? list->places : prompt_places; }
};
/// Nothing while there is no answer.
std::optional<Marks> marks_of(Content& it) {
  const ViewContext& c = it.c;
  Marks shown;
  if (uses_list(c)) {
    if (!c.prompts) it.message = no_list_words(c);
    if (!c.prompts || !c.run) return std::nullopt;
    shown.list = it.need(QueryKeySpaceOverList{over_list(c), c.selection.layer, c.selection.head});
    if (!shown.list) return std::nullopt;
    shown.space = {shown.list, &shown.list->space};
    return shown;
  }
  shown.space = it.need(QueryKeySpaceOf{c.selection.layer, c.selection.head});
  if (!shown.space) return std::nullopt;
  for (int i = 0; i < shown.space->length; ++i) shown.prompt_places.push_back({0, i, c.run->run->tokens[i]});
  return shown;
}

/// Ids that occur more than once, by descending count: each gets a colour.
std::vector<int> repeated_tokens(const Marks& shown) {
  std::map<int, int> counts;
  for (const ListQueryKeySpace::Place& place : shown.places()) ++counts[place.id];
  std::vector<int> repeated;
  for (const auto& [id, count] : counts)
    if (count > 1) repeated.push_back(id);
  std::ranges::stable_sort(repeated, std::greater{}, [&](int id) { return counts[id]; });
  if (std::ssize(repeated) > kTokenColors) repeated.resize(kTokenColors);
  return repeated;
}

/// The colouring in effect: a query's weights are not possible for many prompts, prompts not for one.
Coloring coloring_of(const ViewContext& c) {
  const Coloring coloring = c.options[kColoring];
  return coloring == (uses_list(c) ? Coloring::weight : Coloring::prompt) ? Coloring::kind : coloring;
}

/// How the marks are coloured.
struct Fill {
  Coloring by = Coloring::kind;
  std::vector<int> tokens;                 ///< tokens with a colour
  std::shared_ptr<const Pattern> pattern;  ///< the weights; null: pending
  viz::ColorScale scale;                   ///< colours for weights, positions or prompts
};

Fill fill_of(const ViewContext& c, const Marks& marks) {
  Fill fill{coloring_of(c), {}, nullptr, {}};
  if (fill.by == Coloring::token) fill.tokens = repeated_tokens(marks);
  if (fill.by == Coloring::weight) fill.pattern = current_pattern(c);
  if (fill.pattern)
    fill.scale = viz::linear_scale(*std::ranges::max_element(weights_of_query(c, fill.pattern.get())));
  if (fill.by != Coloring::position && fill.by != Coloring::prompt) return fill;
  int most = 1;
  for (const ListQueryKeySpace::Place& place : marks.places())
    most = std::max(most, fill.by == Coloring::prompt ? static_cast<int>(place.prompt) : place.position);
  fill.scale = viz::linear_scale(most);
  return fill;
}

viz::Color color_of(const ViewContext& c, const Fill& fill, bool key, const ListQueryKeySpace::Place& place) {
  const viz::Theme& theme = *c.theme;
  switch (fill.by) {
    case Coloring::kind:
      break;
    case Coloring::weight: {
      if (!key || !fill.pattern) return theme.surface;
      const bool masked = fill.pattern->masked(c.selection.query, place.position);
      return fill.scale.color(theme,
                              masked ? 0 : fill.pattern->matrix().at(c.selection.query, place.position));
    }
    case Coloring::position:
      return fill.scale.color(theme, place.position);
    case Coloring::prompt:
      return fill.scale.color(theme, static_cast<double>(place.prompt));
    case Coloring::token: {
      const auto found = std::ranges::find(fill.tokens, place.id);
      if (found == fill.tokens.end()) return theme.surface;
      return viz::categorical(theme, static_cast<int>(found - fill.tokens.begin()));
    }
  }
  return (key ? theme.key : theme.query).with_alpha(190);
}

std::string axis_title(const QueryKeySpace& space, std::size_t axis) {
  return "direction " + std::to_string(axis + 1) + ", " + percent(space.shares[axis]) + " of the variance";
}

/// The marks are the queries in the order of the places, then the keys.
viz::ScatterChart chart_of(const ViewContext& c, const Marks& shown, const Fill& fill) {
  using Shape = viz::ScatterChart::Shape;
  const QueryKeySpace& space = *shown.space;
  viz::ScatterChart chart;
  chart.kinds = {{"query", Shape::circle, c.theme->query}, {"key", Shape::triangle, c.theme->key}};
  chart.x_title = axis_title(space, 0);
  chart.y_title = axis_title(space, 1);
  chart.role = kPlot;
  for (const bool key : {false, true}) {
    for (int i = 0; i < space.length; ++i) {
      const ListQueryKeySpace::Place& place = shown.places()[i];
      const auto [x, y] = space.at(key, i);
      viz::ScatterChart::Mark mark;
      mark.x = x, mark.y = y;
      mark.kind = key ? 1 : 0;
      mark.fill = color_of(c, fill, key, place);
      // Of one prompt tokens are told apart by their positions, as they are elsewhere.
      mark.label = (uses_list(c) ? "" : std::to_string(place.position) + " ") + label_of(c, place.id);
      mark.chosen = place.position == (key ? c.selection.key : c.selection.query) &&
                    (!uses_list(c) || is_shown_prompt(c, place.prompt));
      chart.marks.push_back(std::move(mark));
    }
  }
  return chart;
}

/// The colours in one line; null: the chart names them. Tokens that do not fit are left out.
BoxPtr legend_of(const ViewContext& c, const Fill& fill) {
  if (fill.by == Coloring::kind) return nullptr;
  if (fill.by != Coloring::token)
    return legend(fill.scale, fill.by == Coloring::position ? "position"
                              : fill.by == Coloring::prompt ? "prompt"
                                                            : "weight from the query");
  if (fill.tokens.empty())
    return notes({uses_list(c) ? "no token occurs twice" : "no token of this prompt occurs twice"});
  constexpr float kLine = 1.1F;  // ems
  return custom(
      {0, 20}, {kLine, kLine, kLine}, [&fill](Picture& picture, const ViewContext& now, viz::Rect area) {
        const viz::Style style = style_of(now);
        const float u = style.unit(), y = area.center().y;
        float x = area.x;
        for (int color = 0; color < std::ssize(fill.tokens); ++color) {
          const std::string words = label_of(now, fill.tokens[color]);
          const float w = 3 * u + style.width(words, style.small());
          if (x + w > area.right()) continue;
          picture.scene.add(viz::FillRect{{x, y - u, 2 * u, 2 * u}, viz::categorical(*now.theme, color)});
          paint_note(picture, now, words, {x + 3 * u, y});
          x += w + 3 * u;
        }
      });
}

/// "62 % of the variance", after the name of the list.
std::string subtitle_of(const ViewContext& c, const Marks& shown) {
  const QueryKeySpace& space = *shown.space;
  std::string words = percent(space.shares[0] + space.shares[1]) + " of the variance";
  if (!shown.list) return words;
  const ListQueryKeySpace& list = *shown.list;
  if (list.prompts < c.prompts->prompts.size() && list.progress.done == list.prompts)
    words = grouped(space.length) + " tokens; " + words;
  return list_words(c, list.progress, list.prompts) + "; " + words;
}

/// A mark, and its place in the picture.
struct Mark {
  bool key = false;
  ListQueryKeySpace::Place of;  ///< its prompt is only meaningful in a list
  viz::Point place;
};

/// "with key 1 “·robot”: score 3.93, weight 0.74".
std::string score_words(const Stages* stages, int query, int key, const std::string& with) {
  if (stages == nullptr) return "";
  const std::string words = "with " + with + ": score " + exact(stages->matrix(Stage::scaled).at(query, key));
  if (stages->masked(query, key)) return words + ", masked";
  return words + ", weight " + exact(stages->matrix(Stage::pattern).at(query, key));
}

/// The beginning of a prompt of the list.
std::string opening_words(const ViewContext& c, const ListQueryKeySpace& list, std::size_t prompt) {
  constexpr int kMax = 24;  // tokens
  std::string words = "prompt " + grouped(static_cast<std::int64_t>(prompt) + 1) + ": ";
  auto place = std::ranges::lower_bound(list.places, prompt, {}, &ListQueryKeySpace::Place::prompt);
  for (int i = 0; i < kMax && place != list.places.end() && place->prompt == prompt; ++i, ++place)
    words += label_of(c, place->id);
  return words + (place != list.places.end() && place->prompt == prompt ? "…" : "");
}

Table table(const ViewContext& c, const Marks& shown) {
  const QueryKeySpace& space = *shown.space;
  Table result{key_column("prompt"), "kind",        key_column("position"),
               note_column("token"), "direction 1", "direction 2"};
  if (!uses_list(c)) result.columns.erase(result.columns.begin());
  add_head_facts(result, c);
  for (const std::size_t i : {0, 1})
    result.fact("direction " + std::to_string(i + 1) + "'s share of the variance", space.shares[i]);
  for (const bool key : {false, true}) {
    for (int i = 0; i < space.length; ++i) {
      const ListQueryKeySpace::Place& place = shown.places()[i];
      const auto [x, y] = space.at(key, i);
      TableRow row;
      if (uses_list(c)) add_cells(row, place.prompt + 1);
      add_cells(row, key ? "key" : "query", place.position, label_of(c, place.id), x, y);
      result.add(std::move(row));
    }
  }
  return result;
}

/// Selects a query, or a key together with a query that sees it: the last one sees all.
ViewActions chosen(const ViewContext& c, const Mark& at) {
  const int position = at.of.position;
  if (uses_list(c))
    return {
        show_prompt(c, at.of.prompt,
                    {c.selection.layer, c.selection.head, at.key ? -1 : position, at.key ? position : -1})};
  if (!at.key) return {SelectQuery{position}};
  if (may_see(c, c.selection.query, position)) return {clicked_key(c, position)};
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{position}};
}

/// `stages`: of the head; null: not there yet.
void add_mark(Facts& facts, const ViewContext& c, const Marks& shown, const Mark& at, const Stages* stages) {
  const float r = 2.5F * style_of(c).unit();
  facts.overlay.add(viz::StrokeRect{{at.place.x - r, at.place.y - r, 2 * r, 2 * r}, c.theme->text, 1.5F, r});
  const std::string kind = at.key ? "key " : "query ";
  const int position = at.of.position;
  if (uses_list(c)) {
    facts.say(kind + std::to_string(position) + " “" + label_of(c, at.of.id) + "”");
    facts.say(opening_words(c, *shown.list, at.of.prompt));
    facts.commands.push_back(
        {"Show prompt " + grouped(static_cast<std::int64_t>(at.of.prompt) + 1), chosen(c, at)});
  } else {
    const PromptTokens& tokens = c.run->tokens;
    facts.say(kind + token_name(tokens, position));
    if (at.key)
      facts.say(
          score_words(stages, c.selection.query, position, "query " + token_name(tokens, c.selection.query)));
    else if (c.selection.key >= 0)
      facts.say(score_words(stages, position, c.selection.key, "key " + token_name(tokens, c.selection.key)));
    facts.commands.push_back(choose_query(c, position));
    add_choice_of_key(facts.commands, c, position, c.selection.query);
  }
  add_copies_of_token(facts, c, at.of.id);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto marks = marks_of(it);
  if (!marks) return;
  const Marks& shown = it.keep(*marks);
  const QueryKeySpace& space = *shown.space;
  if (!space.finite) it.message = "this head has non-finite queries or keys";
  if (space.length == 0) it.message = list_words(c, shown.list->progress);
  it.table = [&] { return table(c, shown); };
  if (!it.message.empty()) return;
  const Fill& fill = it.keep(fill_of(c, shown));
  const viz::ScatterChart& chart = it.keep(chart_of(c, shown, fill));
  const auto stages = uses_list(c) ? nullptr : current_stages(c);
  const auto layout = std::make_shared<viz::ScatterLayout>();
  it.title = "Queries and keys of " + head_title(c, c.selection.layer, c.selection.head);
  it.says_difference = true;
  it.subtitle = subtitle_of(c, shown);
  const auto mark_at = [&shown, layout](const Picture& picture, const viz::Hit& hit) -> std::optional<Mark> {
    const viz::Region& region = region_of(picture, hit);
    const int length = shown.space->length,
              i = viz::nearest_point(layout->places, region.cell_rect(hit.row, hit.col).center(),
                                     picture.scene.width + picture.scene.height);
    if (region.role != kPlot || i < 0) return std::nullopt;
    const bool key = i >= length;
    return Mark{key, shown.places()[key ? i - length : i], layout->places[i]};
  };
  it.facts = [&c, &shown, stages, mark_at](Facts& facts, const ViewContext&, const Picture& picture,
                                           const viz::Hit& hit) {
    if (const auto at = mark_at(picture, hit)) add_mark(facts, c, shown, *at, stages.get());
  };
  it.on = [mark_at](const ViewContext& now, const Picture& picture, const viz::Hit* hit,
                    const Gesture& gesture) -> std::optional<ViewActions> {
    const bool clicks = gesture.kind == Gesture::Kind::click && hit != nullptr;
    const auto at = clicks ? mark_at(picture, *hit) : std::nullopt;
    return at ? std::optional(chosen(now, *at)) : std::nullopt;
  };
  const auto height = [](float width) { return Wish{8, width < 45 ? 0.9F * width : 0.62F * width}; };
  it.body = rows(boxes(custom({10, 60}, height,
                              [&chart, layout](Picture& picture, const ViewContext& now, viz::Rect area) {
                                *layout = viz::lay_out_scatter(chart, area, style_of(now));
                                viz::paint_scatter(picture, chart, *layout, style_of(now));
                              }),
                       legend_of(c, fill)));
}

}  // namespace query_key_space

View query_key_space_view() {
  using namespace query_key_space;
  View view = make_view(
      Group::attention, "query_key_space", "Query-key space",
      "queries and keys of one head as points, projected onto their two principal directions", declare);
  view.audience = Audience::research;
  view.over_list = &kText;
  view.over_list_value = static_cast<int>(Text::list);
  view.of_model = uses_list;
  view.shows_parts = true;
  view.options = {&kText, &kColoring};
  view.caption = {true, true, true};
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kColoring || coloring_of(c) != Coloring::kind;
  };
  view.landmarks = {landmark("plot", kPlot)};
  return view;
}

}  // namespace headscope::app
