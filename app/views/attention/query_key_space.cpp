#include "app/run/analyses/geometry.h"
#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"
#include "viz/charts/scatter.h"
#include "viz/scene/path3d.h"

namespace headscope::app::query_key_space {

enum Role { kPlot };
enum class Coloring { kind, weight, position };
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
     {"position", "Position", "By position in the prompt"}});

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
  /// A mark as an item: the queries come first, then the keys.
  Ref ref(int mark) const {
    return list                   ? Ref{.other = mark}
           : mark < space->length ? Ref{.query = mark}
                                  : Ref{.key = mark - space->length};
  }
  bool is_key(int mark) const { return mark >= space->length; }
  const ListQueryKeySpace::Place& place(int mark) const {
    return places()[is_key(mark) ? mark - space->length : mark];
  }
  int mark(const Ref& ref) const {
    return list ? ref.other : ref.query >= 0 ? ref.query : space->length + ref.key;
  }
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

/// The colouring in effect: a query's weights are not those of many prompts.
Coloring coloring_of(const ViewContext& c) {
  const Coloring coloring = c.options[kColoring];
  return coloring == Coloring::weight && uses_list(c) ? Coloring::kind : coloring;
}

/// How the marks are coloured.
struct Fill {
  Coloring by = Coloring::kind;
  std::shared_ptr<const Pattern> pattern;  ///< the weights; null: pending
  viz::ColorScale scale;                   ///< colours for weights or positions
};

Fill fill_of(const ViewContext& c, const Marks& marks) {
  Fill fill{coloring_of(c), nullptr, {}};
  if (fill.by == Coloring::weight) fill.pattern = current_pattern(c);
  int last = 1;
  for (const ListQueryKeySpace::Place& place : marks.places()) last = std::max(last, place.position);
  fill.scale = viz::linear_scale(
      fill.pattern ? double{*std::ranges::max_element(weights_of_query(c, fill.pattern.get()))} : last);
  return fill;
}

viz::Color color_of(const ViewContext& c, const Fill& fill, bool key, int position) {
  const viz::Theme& theme = *c.theme;
  if (fill.by == Coloring::kind) return (key ? theme.key : theme.query).with_alpha(190);
  if (fill.by == Coloring::position) return fill.scale.color(theme, position);
  if (!key || !fill.pattern) return theme.surface;
  const bool masked = fill.pattern->masked(c.selection.query, position);
  return fill.scale.color(theme, masked ? 0 : fill.pattern->matrix().at(c.selection.query, position));
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
  for (int i = 0; i < 2 * space.length; ++i) {
    const bool key = shown.is_key(i);
    const ListQueryKeySpace::Place& place = shown.place(i);
    const auto [x, y] = space.at(key, i % space.length);
    viz::ScatterChart::Mark mark;
    mark.x = x, mark.y = y;
    mark.kind = key ? 1 : 0;
    mark.fill = color_of(c, fill, key, place.position);
    // Of one prompt tokens are told apart by their positions, as they are elsewhere.
    mark.label = (uses_list(c) ? "" : std::to_string(place.position) + " ") + label_of(c, place.id);
    mark.chosen = place.position == (key ? c.selection.key : c.selection.query) &&
                  (!uses_list(c) || is_shown_prompt(c, place.prompt));
    chart.marks.push_back(std::move(mark));
  }
  return chart;
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
  for (int i = 0; i < 2 * space.length; ++i) {
    const ListQueryKeySpace::Place& place = shown.place(i);
    const auto [x, y] = space.at(shown.is_key(i), i % space.length);
    TableRow row;
    if (uses_list(c)) add_cells(row, place.prompt + 1);
    add_cells(row, shown.is_key(i) ? "key" : "query", place.position, label_of(c, place.id), x, y);
    result.add(std::move(row));
  }
  return result;
}

/// Selects a query, or a key together with a query that sees it: the last one sees all.
ViewActions chosen(const ViewContext& c, const Marks& shown, int mark) {
  const bool key = shown.is_key(mark);
  const ListQueryKeySpace::Place& at = shown.place(mark);
  if (uses_list(c))
    return {show_prompt(
        c, at.prompt, {c.selection.layer, c.selection.head, key ? -1 : at.position, key ? at.position : -1})};
  if (!key || may_see(c, c.selection.query, at.position)) return choice_of(shown.ref(mark), c);
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{at.position}};
}

/// `stages`: of the head; null: not there yet.
void add_mark(Facts& facts, const ViewContext& c, const Marks& shown, int mark, const Stages* stages) {
  const bool key = shown.is_key(mark);
  const ListQueryKeySpace::Place& at = shown.place(mark);
  const auto& [layer, head, query, selected] = c.selection;
  if (uses_list(c)) {
    facts.say((key ? "key " : "query ") + std::to_string(at.position) + " “" + label_of(c, at.id) + "”");
    facts.say(opening_words(c, *shown.list, at.prompt));
    facts.commands.push_back(
        {"Show prompt " + grouped(static_cast<std::int64_t>(at.prompt) + 1), chosen(c, shown, mark)});
  } else if (key) {
    facts.say(score_words(stages, query, at.position, "query " + token_name(c.run->tokens, query)));
  } else if (selected >= 0) {
    facts.say(score_words(stages, at.position, selected, "key " + token_name(c.run->tokens, selected)));
  }
  add_copies_of_token(facts, c, at.id);
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
  const Fill fill = fill_of(c, shown);
  const viz::ScatterChart& chart = it.keep(chart_of(c, shown, fill));
  const auto stages = uses_list(c) ? nullptr : current_stages(c);
  it.title = "Queries and keys of " + head_title(c, c.selection.layer, c.selection.head);
  it.says_difference = true;
  it.subtitle = subtitle_of(c, shown);
  it.place_facts = [&c, &shown, stages](Facts& facts, const Ref& ref) {
    add_mark(facts, c, shown, shown.mark(ref), stages.get());
  };
  it.choose = [&shown](const ViewContext& now, const Ref& ref) {
    return chosen(now, shown, shown.mark(ref));
  };
  const auto layout = std::make_shared<viz::ScatterLayout>();
  const DrawnPlaces places{
      .role = kPlot,
      .refers_to =
          [&shown, layout](const viz::Region& plot, int row, int col) {
            const int mark = viz::nearest_point(layout->places, plot.cell_rect(row, col).center(),
                                                plot.rect.w + plot.rect.h);
            return mark < 0 ? Ref() : shown.ref(mark);
          },
      .frame =
          [&shown, layout](viz::Scene& scene, const ViewContext& now, const Picture&, const Ref& ref) {
            const viz::Point place = layout->places[static_cast<std::size_t>(shown.mark(ref))];
            const float r = 2.5F * style_of(now).unit();
            scene.add(viz::StrokeRect{{place.x - r, place.y - r, 2 * r, 2 * r}, now.theme->text, 1.5F, r});
          },
      .place =
          [&chart, layout](const ViewContext& now, viz::Rect area) {
            *layout = viz::lay_out_scatter(chart, area, style_of(now));
            return true;
          }};
  const auto paint = [&chart, layout](Picture& picture, const ViewContext& now, viz::Rect) {
    viz::paint_scatter(picture, chart, *layout, style_of(now));
  };
  const auto height = [](float width) { return Wish{8, width < 45 ? 0.9F * width : 0.62F * width}; };
  const char* colors = fill.by == Coloring::position ? "position" : "weight from the query";
  it.body = rows(boxes(custom({10, 60}, height, paint, places),
                       fill.by == Coloring::kind ? nullptr : legend(fill.scale, colors)));
}

View view() {
  View view =
      make_view("query_key_space", "Query-key space", declare,
                "queries and keys of one head as points, projected onto their two principal directions");
  view.over_list = {kText, Text::list};
  view.of_model = uses_list;
  view.shows_parts = true;
  view.options = {&kText, &kColoring};
  view.caption.head = true;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kColoring || coloring_of(c) != Coloring::kind;
  };
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::query_key_space
