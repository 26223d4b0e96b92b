#include <array>
#include <ranges>

#include "app/run/analyses/geometry.h"
#include "app/run/analyses/parameters.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app::positions {

constexpr int kErrors = kEncodingCurves + 1;  // role of the region with a column for each k
constexpr double kOutliers = 0.002;           // fraction of values allowed beyond the colour scale
constexpr double kMaxError = 2;  // larger ones are clipped: a guess twice as long as e itself is useless
constexpr std::size_t kMaxCurves = 6;  // more colours would not be distinguishable

enum class Shown { encodings, cosines, shift };
const auto kShown = choice_option<Shown>(
    "positions-show", "Show", "fF",
    "the encodings, the cosine of every two positions, or how well one linear map shifts them all",
    {{"encodings", "Encodings", "Position embeddings and sinusoids, a row for each dimension"},
     {"cosines", "Cosines", "Cosine similarity of every two position vectors"},
     {"shift", "Shift", "One linear map from every position to the next, and its error"}});

bool has_maps(const Options& options) {
  return options[kShown] != Shown::shift;
}
const auto kCurves = list_option(
    "curves", "Curves",
    "rows of the maps drawn as curves: dimensions, or positions of cosines (auto: dimensions whose sinusoids "
    "have one period and an eighth of one, or three positions, evenly spaced)",
    "auto", {.applies = has_maps});
const auto kEncodingZoom =
    gesture_option("encoding-zoom", "Zoom", "only rows R to R and positions P to P (ends excluded)", Zoom{},
                   0, 0, "all", {.applies = has_maps});

// ---- maps of encodings or cosines ----

bool shows_cosines(const ViewContext& c) {
  return c.options[kShown] == Shown::cosines;
}
/// Dimensions or positions: the rows of both maps.
int rows_of(const ViewContext& c) {
  return shows_cosines(c) ? c.config().n_ctx : c.config().n_embd;
}
std::string row_name(const ViewContext& c, int row) {
  return (shows_cosines(c) ? "position " : "dimension ") + std::to_string(row);
}

/// The rows drawn as curves: the chosen ones that the model has, or readable ones.
std::vector<int> curves_of(const ViewContext& c) {
  const int rows = rows_of(c);
  std::vector<int> curves = c.options[kCurves];
  std::erase_if(curves, [&](int row) { return row >= rows; });
  if (!curves.empty()) return curves;
  if (!shows_cosines(c)) return c.run->model->readable_dimensions;
  curves = {rows / 6, rows / 2, 5 * rows / 6};
  curves.erase(std::unique(curves.begin(), curves.end()), curves.end());
  return curves;
}

/// Sinusoids next to the learned embeddings, a row for each dimension.
void fill_encodings(Content& it, EncodingMaps& maps) {
  const model::Config& config = it.c.config();
  const auto by_dimension = [&](std::span<const float> values) {
    return viz::Matrix::row_major(values, config.n_ctx, config.n_embd).transposed();
  };
  auto& [learned, sinusoidal] = maps.cells;
  learned.matrix = by_dimension(it.c.run->model->transformer->position_embedding());
  sinusoidal.matrix = by_dimension(it.keep(sinusoidal_encoding(config.n_ctx, config.n_embd)));
  // A few dimensions have values far above all others, which would leave the rest without colour.
  learned.scale = viz::robust_scale(learned.matrix, kOutliers, viz::value_range(learned.matrix));
  sinusoidal.scale = viz::diverging_scale(1);
  learned.pooling = sinusoidal.pooling = viz::Pooling::mean;
  maps.row_title = "dimension", maps.value_title = "value", maps.curves_title = "value of dim.";
}

/// The cosines of all positions with all, by both encodings.
void fill_cosines(Content& it, EncodingMaps& maps, const std::shared_ptr<const PositionCosines>& answer) {
  const PositionCosines& cosines = *it.keep(answer);
  for (const Encoding encoding : {kLearned, kSinusoidal}) {
    viz::HeatmapCells& cells = maps.cells[encoding];
    cells.matrix = cosines.matrix(encoding == kLearned);
    cells.scale = viz::diverging_scale(1);
    cells.pooling = viz::Pooling::mean;
    maps.low = std::min(maps.low, 1.1 * static_cast<double>(viz::value_range(cells.matrix).low));
  }
  maps.high = 1.05;
  maps.row_title = "position", maps.value_title = "cosine", maps.curves_title = "cosine with pos.";
}

/// The rows drawn as curves, a line for each position: "learned 8", of cosines "learned with 8".
Table table(const ViewContext& c, const EncodingMaps& maps) {
  Table result{key_column("position")};
  for (const std::string name : {"learned ", "sinusoidal "})
    for (const int row : maps.curves)
      result.columns.emplace_back(name + (shows_cosines(c) ? "with " : "") + std::to_string(row));
  for (int position = 0; position < maps.cells[kLearned].matrix.cols; ++position) {
    TableRow line{cell_of(position)};
    for (const viz::HeatmapCells& cells : maps.cells)
      for (const int row : maps.curves) add_cells(line, cells.matrix.at(row, position));
    result.add(std::move(line));
  }
  return result;
}

/// Toggles a curve. At least one stays, and at most as many as are distinguishable.
ViewActions curve_toggled(const ViewContext& c, int row) {
  std::vector<int> curves = curves_of(c);
  const auto found = std::ranges::find(curves, row);
  if (found == curves.end()) {
    if (curves.size() >= kMaxCurves) curves.erase(curves.begin());
    curves.push_back(row);
  } else if (curves.size() > 1) {
    curves.erase(found);
  }
  return {SetOption{&kCurves, curves}};
}

/// The curves of the next rows, after the last row those of the first ones.
ViewActions step(const ViewContext& c, int by) {
  if (!c.run || !has_maps(c.options)) return {};
  std::vector<int> curves = curves_of(c);
  const int rows = rows_of(c);
  by *= shows_cosines(c) ? 1 : static_cast<int>(curves.size());
  for (int& row : curves) row = ((row + by) % rows + rows) % rows;
  return {SetOption{&kCurves, curves}};
}

/// Marks the column under the mouse in all regions, and in maps its row.
void add_cross(viz::Scene& scene, const ViewContext& c, const Spot& at) {
  const viz::Color color = c.theme->text_muted;
  for (const viz::Region& region : at.picture.regions) {
    if (region.role == kEncodingMap && at.region.role == kEncodingMap) {
      viz::paint_crosshair(scene, region, at.hit.row, at.hit.col, color, color, style_of(c));
    } else {
      const float x = region.cell_rect(0, at.hit.col).center().x;
      scene.add_line({x, region.rect.y}, {x, region.rect.bottom()}, color);
    }
  }
}

void add_facts(Facts& facts, const ViewContext& c, const EncodingMaps& maps, const Spot& at) {
  const viz::Region& region = at.region;
  add_cross(facts.overlay, c, at);
  facts.say(position_words(c, at.hit.col));
  if (region.role == kEncodingCurves) {
    const std::string which = region.id == kLearned ? "learned " : "sinusoidal ";
    for (const int row : maps.curves)
      facts.number(which + (shows_cosines(c) ? "with " : "") + row_name(c, row) + ":",
                   maps.cells[region.id].matrix.at(row, at.hit.col),
                   row == maps.curves.back() ? Fact::Location::both : Fact::Location::tooltip);
    return;
  }
  facts.say(shows_cosines(c) ? "with " + position_words(c, at.hit.row) : row_name(c, at.hit.row));
  if (shows_cosines(c)) facts.tip("distance " + std::to_string(std::abs(at.hit.col - at.hit.row)));
  facts.number("learned", maps.cells[kLearned].matrix.at(at.hit.row, at.hit.col));
  facts.number("sinusoidal", maps.cells[kSinusoidal].matrix.at(at.hit.row, at.hit.col));
  facts.said.back().unit = "(not GPT-2's)";
  const bool drawn = std::ranges::count(maps.curves, at.hit.row) > 0;
  if (!drawn || maps.curves.size() > 1)
    facts.commands.push_back({(drawn ? "Hide the curve of " : "Show the curve of ") + row_name(c, at.hit.row),
                              curve_toggled(c, at.hit.row)});
}

/// Clicks toggle curves; arrows take other curves.
std::optional<ViewActions> on(const ViewContext& c, const Spot* at, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) {
    return gesture.key == Key::left ? step(c, -1) : gesture.key == Key::right ? step(c, 1) : ViewActions{};
  }
  if (!at || at->region.role != kEncodingMap) return std::nullopt;
  if (gesture.kind == Gesture::Kind::click) return curve_toggled(c, at->hit.row);
  const viz::Region& map = at->region;
  return ZoomedMatrix{kEncodingZoom, c.options, map.row_count, map.col_count}.by(gesture, map.rect);
}

void declare_maps(Content& it) {
  const ViewContext& c = it.c;
  const bool cosines = shows_cosines(c);
  const auto answer = cosines ? it.need(CosinesOfPositions{}) : nullptr;
  if (!c.run || (cosines && !answer)) return;
  const auto bundled = c.ask(IsBundledModel{});
  EncodingMaps made;
  made.notes = {bundled && *bundled ? "wpe.weight; began as sinusoids" : "wpe.weight", kSinusoidalNote};
  made.curves = curves_of(c);
  made.zoom = part_of(c.options[kEncodingZoom], rows_of(c), c.config().n_ctx);
  made.length = c.run->tokens.was_empty ? 0 : c.run->run->length();
  cosines ? fill_cosines(it, made, answer) : fill_encodings(it, made);
  const EncodingMaps& maps = it.keep(std::move(made));
  const std::string n = std::to_string(c.config().n_ctx), d = std::to_string(c.config().n_embd);
  it.title = cosines ? "Cosine similarity of all pairs of positions" : "Positional encoding";
  it.subtitle =
      cosines ? n + " × " + n + " pairs, in " + d + " dimensions" : n + " positions × " + d + " dimensions";
  it.scrolls = [](const ViewContext& now, const Picture& picture) {
    return zoom_scrolls(kEncodingZoom, now, picture, kEncodingMap, now.height - kScrollBar * now.font_size);
  };
  it.body = rows(boxes(beside(boxes(encoding_panel(kLearned, maps), encoding_panel(kSinusoidal, maps))),
                       notes({cosines ? "sinusoids at distance k: 2/" + d + " · Σ cos(k / 10000" +
                                            viz::superscript("2i/" + d) + ")"
                                      : sinusoid_formula(c.config().n_embd)})));
  it.table = [&] { return table(c, maps); };
  it.facts = [&](Facts& facts, const ViewContext&, const Spot& at) { add_facts(facts, c, maps, at); };
  it.on = on;
}

// ---- the linear map from each position to the next ----

/// One way to predict e(t+k) from e(t), whose errors are a curve.
struct Method {
  const char* name;   ///< label of its curve
  const char* words;  ///< in the table
  const std::vector<float> PositionShift::*errors;
};
constexpr std::array<Method, 4> kMethods{{
    {"sinusoidal", "sinusoidal, T exact", &PositionShift::sinusoidal},
    {"learned", "learned, T fitted to all t", &PositionShift::learned},
    {"unseen", "learned at odd t, T fitted to even t", &PositionShift::unseen},
    {"no map", "learned, T = identity", &PositionShift::stay},
}};

/// Whether the fitted map can be exact, so that its error is rounding at every k.
bool fits_exactly(const ViewContext& c, const PositionShift& shift) {
  return shift.pairs <= c.config().n_embd;
}

viz::CurveChart chart_of(Content& it, const PositionShift& shift) {
  viz::CurveChart chart;
  chart.count = shift.steps + 1;
  chart.high = 1e-6;
  for (int i = 0; i < std::ssize(kMethods); ++i) {
    const std::vector<float>& errors = shift.*kMethods[i].errors;
    const bool rounds = kMethods[i].errors == &PositionShift::learned && fits_exactly(it.c, shift);
    add_curve(chart, it, std::string(kMethods[i].name) + (rounds ? ": rounding" : ""), i, errors);
    for (const float error : errors)
      if (std::isfinite(error)) chart.high = std::max(chart.high, 1.08 * static_cast<double>(error));
  }
  chart.high = std::min(kMaxError, chart.high);
  chart.low = -0.03 * chart.high;  // a curve along 0 is seen above the frame
  return chart;
}

/// What the curves are of.
std::vector<std::string> words_of(const ViewContext& c, const PositionShift& shift, bool clipped) {
  return {"error: √(Σ |T" + viz::superscript("k") + " e(t) − e(t+k)|² / Σ |e(t+k)|²)" +
              (clipped ? "; arrow: beyond " + viz::number(kMaxError, 2) : ""),
          "e(t) is the vector of position t. Sinusoidal: " + sinusoid_formula(c.config().n_embd) +
              "; T turns each pair of dimensions, exact but for rounding.",
          "Learned: T is the least-squares map from e(t) to e(t+1), fitted to " +
              std::to_string(shift.pairs) + " pairs." +
              (fits_exactly(c, shift) ? " So few are fitted exactly: what grows is rounding." : ""),
          "Unseen: fitted to even t, tested at odd t. No map: T is the identity."};
}

Table table(const PositionShift& shift) {
  Table result{key_column("k")};
  for (const Method& method : kMethods) result.columns.emplace_back(method.words);
  for (std::size_t k = 0; k < shift.learned.size(); ++k)
    add_row(result, k, kMethods | std::views::transform([&](const Method& method) {
                         return (shift.*method.errors)[k];
                       }));
  return result;
}

void add_facts(Facts& facts, const PositionShift& shift, int k) {
  facts.say(counted(k, "position") + " ahead");
  for (const Method& method : kMethods) facts.number(method.name, (shift.*method.errors)[k]);
}

void declare_shift(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = it.need(ShiftOfPositions{});
  if (!answer) return;
  const PositionShift& shift = *it.keep(answer);
  if (shift.steps < 1) it.message = "a single position has no next one";
  const auto done = static_cast<int>(shift.learned.size()) - 1;
  it.title = "From e(t) to e(t+k) by one map T";
  it.subtitle = (done < shift.steps ? "computing… k up to " : "error, k up to ") + std::to_string(done);
  viz::CurveChart chart = chart_of(it, shift);
  const auto height = [](float width) { return Wish{8, 0.6F * width}; };
  it.body = rows(boxes(notes(words_of(c, shift, chart.high >= kMaxError)),
                       curve_box(std::move(chart), "", "k, positions ahead", height, {.role = kErrors})));
  it.table = [&] { return table(shift); };
  it.facts = [&](Facts& facts, const ViewContext&, const Spot& at) {
    if (at.hit.col >= std::ssize(shift.learned)) return;
    add_cross(facts.overlay, c, at);
    add_facts(facts, shift, at.hit.col);
  };
}

void declare(Content& it) {
  has_maps(it.c.options) ? declare_maps(it) : declare_shift(it);
}

View view() {
  View view = make_view("positions", "Positions", declare,
                        "positional encodings, learned and sinusoidal: their values, the cosines of all "
                        "pairs, and whether one linear map takes every position to the next");
  view.options = {&kShown, &kCurves, &kEncodingZoom};
  view.commands = {{"D", "‹", "Previous curves", [](const ViewContext& c, int) { return step(c, -1); }},
                   {"d", "›", "Next curves", [](const ViewContext& c, int) { return step(c, 1); }},
                   {"0", "Fit", "Show the whole maps",
                    [](const ViewContext& c, int) { return show_whole(kEncodingZoom, c.options); }}};
  view.refuse = [](const ViewContext& c) {
    return refuse_numbers(c, kCurves, shows_cosines(c) ? "position" : "dimension", rows_of(c));
  };
  view.needs = Capability::weights | Capability::positions_table;
  view.landmarks = {{"learned map", kEncodingMap, always<kLearned>},
                    {"sinusoidal map", kEncodingMap, always<kSinusoidal>},
                    {"learned curves", kEncodingCurves, always<kLearned>},
                    {"sinusoidal curves", kEncodingCurves, always<kSinusoidal>},
                    {"errors", kErrors}};
  view.caption = {.prompt = false, .note = "position embeddings of the model next to sinusoids"};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::positions
