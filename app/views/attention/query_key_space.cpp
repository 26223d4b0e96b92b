#include "app/run/analyses/geometry.h"
#include "app/views/parts/parts.h"
#include "viz/charts/scatter.h"
#include "viz/scene/path3d.h"

namespace headscope::app::query_key_space {

enum Role { kPlot };
enum class Coloring { kind, weight, position };

const Option<Coloring> kColoring = choice_option<Coloring>(
    "query-key-color", "Colours", "cC", "fill colour of the marks: queries are circles, keys are triangles",
    {{"kind", "Kind", "Queries in violet, keys in teal"},
     {"weight", "Weight", "Keys by their weight from the chosen query"},
     {"position", "Position", "By position in the prompt"}});

/// The queries and keys of one prompt, or of many.
struct Marks {
  std::shared_ptr<const QueryKeySpace> space;
  bool of_list = false;

  bool is_key(int mark) const { return mark >= space->length(); }
  const QueryKeySpace::Place& place(int mark) const { return space->places[mark % space->length()]; }
  int prompt(int mark) const { return static_cast<int>(place(mark).prompt) + 1; }
  /// A mark as an item: the queries come first, then the keys.
  Ref ref(int mark) const {
    if (of_list) return {.other = mark};
    return is_key(mark) ? Ref{.key = mark - space->length()} : Ref{.query = mark};
  }
  int mark(const Ref& ref) const {
    return of_list ? ref.other : ref.query >= 0 ? ref.query : space->length() + ref.key;
  }
};

/// Nothing while there is no answer.
std::optional<Marks> marks_of(Content& it) {
  const auto& [layer, head, query, key] = it.c.selection;
  Marks shown{it.need(QueryKeySpaceOf{layer, head, chosen_text(it.c)}), uses_list(it.c)};
  return shown.space ? std::optional(std::move(shown)) : std::nullopt;
}

/// The colouring in effect: a query's weights are not those of many prompts.
Coloring coloring_of(const ViewContext& c) {
  const Coloring coloring = c.options[kColoring];
  return coloring == Coloring::weight && uses_list(c) ? Coloring::kind : coloring;
}

/// The marks are the queries in the order of the places, then the keys; the scale is of weights or positions.
std::pair<viz::ScatterChart, viz::ColorScale> chart_of(const ViewContext& c, const Marks& shown) {
  using Shape = viz::ScatterChart::Shape;
  const viz::Theme& theme = *c.theme;
  const QueryKeySpace& space = *shown.space;
  const Coloring by = coloring_of(c);
  const auto pattern = by == Coloring::weight ? current_pattern(c) : nullptr;
  float largest = pattern ? std::ranges::max(weights_of_query(c, pattern.get())) : 1.F;
  for (const QueryKeySpace::Place& place : space.places)
    if (!pattern) largest = std::max(largest, static_cast<float>(place.position));
  const viz::ColorScale scale = viz::linear_scale(double{largest});
  viz::ScatterChart chart;
  chart.kinds = {{"query", Shape::circle, theme.query}, {"key", Shape::triangle, theme.key}};
  chart.x_title = "direction 1, " + percent(space.shares[0]) + " of the variance";
  chart.y_title = "direction 2, " + percent(space.shares[1]) + " of the variance";
  chart.role = kPlot;
  for (int i = 0; i < 2 * space.length(); ++i) {
    const bool key = shown.is_key(i);
    const QueryKeySpace::Place& place = shown.place(i);
    const auto [x, y] = space.at(key, i % space.length());
    viz::ScatterChart::Mark& mark = chart.marks.emplace_back();
    mark.x = x, mark.y = y, mark.kind = key ? 1 : 0;
    mark.fill = by == Coloring::kind       ? (key ? theme.key : theme.query).with_alpha(190)
                : by == Coloring::position ? scale.color(theme, place.position)
                : key && pattern ? scale.color(theme, pattern->matrix().at(c.selection.query, place.position))
                                 : theme.surface;
    // Of one prompt tokens are told apart by their positions, as they are elsewhere.
    mark.label = (shown.of_list ? "" : std::to_string(place.position) + " ") + label_of(c, place.id);
    mark.chosen =
        place.position == (key ? c.selection.key : c.selection.query) && is_shown_prompt(c, shown.prompt(i));
  }
  return {std::move(chart), scale};
}

Table table(const ViewContext& c, const Marks& shown) {
  const QueryKeySpace& space = *shown.space;
  List list(c, kPlot, 2 * space.length());
  if (shown.of_list) list.file(key_column("prompt"), [&](int i) { return shown.prompt(i); });
  list.file("kind", [&](int i) { return std::string(shown.is_key(i) ? "key" : "query"); });
  list.file(key_column("position"), [&](int i) { return shown.place(i).position; });
  list.file(note_column("token"), [&](int i) { return label_of(c, shown.place(i).id); });
  for (const std::size_t axis : {0, 1})
    list.file("direction " + std::to_string(axis + 1),
              [&, axis](int i) { return space.at(shown.is_key(i), i % space.length())[axis]; });
  Table result = list.exported();
  add_head_facts(result, c);
  for (const std::size_t axis : {0, 1})
    result.fact("direction " + std::to_string(axis + 1) + "'s share of the variance", space.shares[axis]);
  return result;
}

/// Selects a query, or a key together with a query that sees it: the last one sees all.
ViewActions chosen(const ViewContext& c, const Marks& shown, int mark) {
  const bool key = shown.is_key(mark);
  const QueryKeySpace::Place& at = shown.place(mark);
  const auto& [layer, head, query, selected] = c.selection;
  if (shown.of_list)
    return show_place(c, shown.prompt(mark), {layer, head, key ? -1 : at.position, key ? at.position : -1});
  if (!key || may_see(c, query, at.position)) return choice_of(shown.ref(mark), c);
  return {SelectQuery{c.run->run->length() - 1}, SelectKey{at.position}};
}

/// `stages`: of the head; null: not there yet.
void add_mark(Facts& facts, const ViewContext& c, const Marks& shown, int mark, const Stages* stages) {
  const bool key = shown.is_key(mark);
  const QueryKeySpace::Place& at = shown.place(mark);
  const auto& [layer, head, query, selected] = c.selection;
  if (shown.of_list) {
    facts.say((key ? "key " : "query ") + std::to_string(at.position) + " “" + label_of(c, at.id) + "”");
    add_place_of_list(facts, c, shown.prompt(mark), "", chosen(c, shown, mark));
  } else if (const int q = key ? query : at.position, k = key ? at.position : selected; stages && k >= 0) {
    facts.say("with " + std::string(key ? "query " : "key ") + token_name(c.run->tokens, key ? q : k));
    facts.number("score", stages->matrix(Stage::scaled).at(q, k));
    if (stages->masked(q, k))
      facts.say("masked");
    else
      facts.number("weight", stages->matrix(Stage::pattern).at(q, k));
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
  if (space.length() == 0) it.message = list_words(c, space.progress);
  it.table = [&] { return table(c, shown); };
  if (!it.message.empty()) return;
  const auto& [chart, scale] = it.keep(chart_of(c, shown));
  const auto stages = uses_list(c) ? nullptr : c.ask(StagesOf{c.selection.layer, c.selection.head});
  it.title = "Queries and keys of " + head_title(c, c.selection.layer, c.selection.head);
  it.subtitle = (shown.of_list ? list_words(c, space.progress, space.prompts) + "; " : "") +
                percent(space.shares[0] + space.shares[1]) + " of the variance";
  it.place_facts = [&c, &shown, stages](Facts& facts, const Ref& ref) {
    add_mark(facts, c, shown, shown.mark(ref), stages.get());
  };
  it.choose = [&shown](const ViewContext& now, const Ref& ref) {
    return chosen(now, shown, shown.mark(ref));
  };
  const auto layout = std::make_shared<viz::ScatterLayout>();
  DrawnPlaces places{.role = kPlot};
  places.refers_to = [&shown, layout](const viz::Region& plot, int row, int col) {
    const int mark =
        viz::nearest_point(layout->places, plot.cell_rect(row, col).center(), plot.rect.w + plot.rect.h);
    return mark < 0 ? Ref() : shown.ref(mark);
  };
  places.frame = [&shown, layout](viz::Scene& scene, const ViewContext& now, const Picture&, const Ref& ref) {
    const viz::Point place = layout->places[static_cast<std::size_t>(shown.mark(ref))];
    const float r = 2.5F * style_of(now).unit();
    scene.add(viz::StrokeRect{viz::Rect::around(place, r), now.theme->text, 1.5F, r});
  };
  places.place = [&chart = chart, layout](const ViewContext& now, viz::Rect area) {
    *layout = viz::lay_out_scatter(chart, area, style_of(now));
    return true;
  };
  const auto paint = [&chart = chart, layout](Picture& picture, const ViewContext& now, viz::Rect) {
    viz::paint_scatter(picture, chart, *layout, style_of(now));
  };
  const auto height = [](float width) { return Wish{8, width < 45 ? 0.9F * width : 0.62F * width}; };
  const Coloring by = coloring_of(c);
  const char* colors = by == Coloring::position ? "position" : "weight from the query";
  it.body = rows(
      boxes(custom({10, 60}, height, paint, places), by == Coloring::kind ? nullptr : legend(scale, colors)));
}

View view() {
  View view =
      make_view("query_key_space", "Query-key space", declare,
                "queries and keys of one head as points, projected onto their two principal directions");
  view.shows_parts = true;
  view.options = {&kTextOf, &kColoring};
  view.caption.head = true;
  view.uses = [](const ViewContext& c, const OptionSpec& option) {
    return &option != &kColoring || coloring_of(c) != Coloring::kind;
  };
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::query_key_space
