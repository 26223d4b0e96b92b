#include "app/run/analyses/geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace position_cosines {

const auto kFromPositions =
    list_option("from-positions", "Positions",
                "positions whose cosines with all others are drawn as curves (auto: three, evenly spaced)",
                "curves of {position}", "auto");

const auto kCosineZoom =
    gesture_option("cosine-zoom", "Zoom", "only positions P to P with P to P (ends excluded)", Zoom{}, 0, 0,
                   "all", {.phrase = "positions {}, with positions {}"});

int positions_of(const ViewContext& c) {
  return c.run->run->config.n_ctx;
}

/// The positions drawn as curves: the chosen ones that the model has.
std::vector<int> shown_positions(const ViewContext& c) {
  const int n = positions_of(c);
  std::vector<int> shown = c.options[kFromPositions];
  std::erase_if(shown, [&](int p) { return p >= n; });
  if (!shown.empty()) return shown;
  for (const int sixth : {1, 3, 5}) shown.push_back(sixth * n / 6);
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

/// Moves all curves by one position, while all stay in range.
ViewActions step(const ViewContext& c, int by) {
  std::vector<int> shown = shown_positions(c);
  const auto [least, most] = std::ranges::minmax(shown);
  if (least + by < 0 || most + by >= positions_of(c)) return {};
  for (int& p : shown) p += by;
  return {SetOption{&kFromPositions, shown}};
}

constexpr EncodingView kEncodings{
    .curves = kFromPositions,
    .zoom = kCosineZoom,
    .row = "position",
    .whole = "Show all positions",
    .rows = positions_of,
    .shown = shown_positions,
    .step = step,
};

Picture build(const ViewContext& c) {
  const auto cosines = c.ask(CosinesOfPositions{});
  if (auto words = waiting(c, CosinesOfPositions{}, cosines != nullptr)) return *words;
  Picture picture = blank(c);
  const std::string n = std::to_string(cosines->positions), d = std::to_string(c.run->run->config.n_embd);
  const viz::Matrix learned = cosines->matrix(true), sinusoidal = cosines->matrix(false);
  const viz::Rect area = paint_title(picture, c, "Cosine similarity of all pairs of positions",
                                     n + " × " + n + " pairs, in " + d + " dimensions");
  const viz::ValueRange range = viz::united(viz::value_range(learned), viz::value_range(sinusoidal));
  const EncodingLook look{"position",
                          "of pos.",
                          shown_positions(c),
                          std::min(0.0, 1.1 * static_cast<double>(range.low)),
                          1.05,
                          shown_part(kEncodings, c),
                          viz::Pooling::mean,
                          true,
                          "cosine"};
  const viz::ColorScale scale = viz::diverging_scale(1);
  if (!paint_encodings(picture, c,
                       {{kLearned, kLearnedTitle, learned_note(c), learned, scale, {}},
                        {kSinusoidal, kSinusoidalTitle, kSinusoidalNote, sinusoidal, scale,
                         "at distance k: 2/" + d + " · Σ cos(k / 10000" + viz::superscript("2i/" + d) + ")"}},
                       look, area))
    return too_small(c, "for the cosines");
  return picture;
}

/// The cosines of the chosen positions with all others, a row for each of these.
Table table(const ViewContext& c) {
  const auto cosines = c.run ? c.ask(CosinesOfPositions{}) : nullptr;
  if (!cosines) return {};
  const std::vector<int> chosen = shown_positions(c);
  Table result{key_column("position")};
  for (const char* name : {"learned with ", "sinusoidal with "})
    for (const int p : chosen) result.columns.emplace_back(name + std::to_string(p));
  for (int position = 0; position < cosines->positions; ++position) {
    TableRow row{cell_of(position)};
    for (const bool learned : {true, false})
      for (const int p : chosen) add_cells(row, cosines->matrix(learned).at(p, position));
    result.add(std::move(row));
  }
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const auto cosines = c.run ? c.ask(CosinesOfPositions{}) : nullptr;
  if (!cosines || hit.col >= cosines->positions || hit.row >= cosines->positions) return {};
  Facts facts{.overlay = encoding_cross(c, picture, hit)};
  const bool curve = region.role == kEncodingCurves;
  facts.commands = encoding_menu(kEncodings, c, curve ? -1 : hit.row);
  if (curve) {
    const std::vector<int> curves = shown_positions(c);
    facts.say(position_words(c, hit.col));
    for (const int row : curves)
      facts.number("with position " + std::to_string(row) + ":",
                   cosines->matrix(region.id == kLearned).at(row, hit.col),
                   row == curves.back() ? Fact::Location::both : Fact::Location::tooltip);
  } else {
    facts.say(position_words(c, hit.col) + " with " + position_words(c, hit.row));
    facts.say("distance " + std::to_string(std::abs(hit.col - hit.row)), Fact::Location::tooltip);
    add_both(facts, cosines->matrix(true).at(hit.row, hit.col), cosines->matrix(false).at(hit.row, hit.col));
  }
  return facts;
}

}  // namespace position_cosines

View position_cosines_view() {
  using namespace position_cosines;
  View view = make_view(Group::input, "cosines", "Cosines",
                        "cosine similarity of every two position vectors, learned and sinusoidal", build,
                        facts, table);
  view.print_shape = [](const ViewContext& c) { return is_column_wide(c) ? 2.5F : 0.85F; };
  add_encodings(view, kEncodings, {}, "Show all positions",
                "cosines between the position vectors of any two positions: curves of some "
                "positions over a map of all");
  return view;
}

}  // namespace headscope::app
