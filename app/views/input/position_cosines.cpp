#include <algorithm>

#include "app/run/analyses/position_geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

enum Encoding { kLearned, kSinusoidal };  // Region::id

const Option<std::vector<int>> kFromPositions{
    {.name = "from-positions",
     .label = "Positions",
     .help = "positions whose cosines with all others are drawn as curves (auto: three, evenly spread)",
     .default_value = std::vector<int>{},
     .default_name = "auto",
     .low = 0,
     .high = 1 << 24}};

const Option<Zoom> kCosineZoom{{.name = "cosine-zoom",
                                .label = "Zoom",
                                .help = "only positions P to P with P to P (the ends not included)",
                                .default_value = Zoom{},
                                .default_name = "all",
                                .kept = false,
                                .control = Control::none}};

int positions_of(const ViewContext& c) {
  return c.run->run->config.n_ctx;
}

/// The positions that are drawn as curves: the chosen ones that the model has.
std::vector<int> shown_positions(const ViewContext& c) {
  const int n = positions_of(c);
  std::vector<int> shown = c.options[kFromPositions];
  std::erase_if(shown, [&](int p) { return p >= n; });
  if (!shown.empty()) return shown;
  for (const int sixth : {1, 3, 5}) shown.push_back(sixth * n / 6);
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

Zoom shown_part(const ViewContext& c) {
  return part_of(c.options[kCosineZoom], positions_of(c), positions_of(c));
}

EncodingPanel panel_of(const ViewContext& c, const PositionCosines& cosines, Encoding encoding) {
  const std::string d = std::to_string(c.run->run->config.n_embd);
  if (encoding == kLearned) {
    return {encoding, "Learned by this model", "wpe.weight", cosines.matrix(true), viz::diverging_scale(1),
            {}};
  }
  return {encoding,
          "Sinusoidal encoding (Vaswani et al. 2017)",
          "for comparison: not GPT-2's",
          cosines.matrix(false),
          viz::diverging_scale(1),
          "at distance k: 2/" + d + " · Σ cos(k / 10000^(2i/" + d + "))"};
}

Picture build(const ViewContext& c) {
  const auto cosines = c.ask(CosinesOfPositions{});
  if (auto words = waiting(c, CosinesOfPositions{}, cosines != nullptr)) return *words;
  Picture picture = blank(c);
  const std::string n = std::to_string(cosines->positions);
  const viz::Rect area =
      paint_title(picture, c, "Cosine of every position with every other",
                  n + " × " + n + " pairs, in " + std::to_string(c.run->run->config.n_embd) + " dimensions");
  EncodingLook look{"position", "of pos.", shown_positions(c), -1.05, 1.05, shown_part(c)};
  const viz::ValueRange range =
      viz::united(viz::value_range(cosines->matrix(true)), viz::value_range(cosines->matrix(false)));
  look.low = std::min(0.0, 1.1 * static_cast<double>(range.low));
  if (!paint_encodings(picture, c, {panel_of(c, *cosines, kLearned), panel_of(c, *cosines, kSinusoidal)},
                       look, area))
    return too_small(c, "for the cosines");
  return picture;
}

/// Of the chosen positions with all others, a row for each of these.
Table table(const ViewContext& c) {
  Table result;
  const auto cosines = c.run ? c.ask(CosinesOfPositions{}) : nullptr;
  if (!cosines) return result;
  const std::vector<int> chosen = shown_positions(c);
  result.header = {"position"};
  for (const char* name : {"learned with ", "sinusoidal with "})
    for (const int p : chosen) result.header.push_back(name + std::to_string(p));
  for (int position = 0; position < cosines->positions; ++position) {
    std::vector<std::string> row{std::to_string(position)};
    for (const bool learned : {true, false})
      for (const int p : chosen) row.push_back(plain(cosines->matrix(learned).at(p, position)));
    result.rows.push_back(std::move(row));
  }
  return result;
}

ViewActions toggle(const ViewContext& c, int position) {
  return {SetOption{&kFromPositions, with_curve_toggled(shown_positions(c), position)}};
}

/// All curves by one position, as far as they all go.
ViewActions step(const ViewContext& c, int by) {
  if (!c.run) return {};
  std::vector<int> shown = shown_positions(c);
  const auto [least, most] = std::ranges::minmax(shown);
  if (least + by < 0 || most + by >= positions_of(c)) return {};
  for (int& p : shown) p += by;
  return {SetOption{&kFromPositions, shown}};
}

ViewActions zoom_maps(const ViewContext& c, int which) {
  if (!c.run) return {};
  return zoom_about_middle(c, kCosineZoom, positions_of(c), positions_of(c), which);
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  if (gesture.kind == Gesture::Kind::key) {
    if (shown_part(c) != Zoom{})
      return zoom_keys(kCosineZoom, c.options, positions_of(c), positions_of(c), gesture.key);
    if (gesture.key == Key::left) return step(c, -1);
    if (gesture.key == Key::right) return step(c, 1);
    return {};
  }
  if (!hit) return {};
  const viz::Region& region = region_of(picture, *hit);
  if (region.role != kEncodingMap) return {};
  if (gesture.kind == Gesture::Kind::click) return toggle(c, hit->row);
  return zoom_gesture(kCosineZoom, c.options, region, gesture);
}

std::vector<MenuLine> menu(const ViewContext& c) {
  std::vector<MenuLine> lines;
  add_whole(lines, "All positions", kCosineZoom, c.options);
  return lines;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  const auto cosines = c.run ? c.ask(CosinesOfPositions{}) : nullptr;
  if (!cosines || hit.col >= cosines->positions || hit.row >= cosines->positions) return facts;
  facts.overlay = encoding_cross(c, picture, hit);
  const std::vector<int> curves = shown_positions(c);
  if (region.role == kEncodingCurves) {
    facts.say(position_words(c, hit.col));
    for (const int row : curves)
      facts.number("with position " + std::to_string(row) + ":",
                   cosines->matrix(region.id == kLearned).at(row, hit.col),
                   row == curves.back() ? Fact::In::both : Fact::In::tooltip);
  } else {
    facts.say(position_words(c, hit.col) + " with " + position_words(c, hit.row));
    facts.say("distance " + std::to_string(std::abs(hit.col - hit.row)), Fact::In::tooltip);
    add_both(facts, cosines->matrix(true).at(hit.row, hit.col), cosines->matrix(false).at(hit.row, hit.col));
    add_curve_of(facts, curves, hit.row, "position " + std::to_string(hit.row), toggle(c, hit.row));
  }
  add_whole(facts.commands, "All positions", kCosineZoom, c.options);
  return facts;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return zoom_scrolls(kCosineZoom, c, picture, kEncodingMap);
}

std::string refuse(const ViewContext& c) {
  return refuse_numbers(c, kFromPositions, "position", positions_of(c));
}

}  // namespace

View position_cosines_view() {
  View view;
  view.id = "cosines";
  view.title = "Cosines";
  view.help = "how alike the vectors of any two positions are, learned and sinusoidal";
  view.group = Group::input;
  view.options = {&kFromPositions, &kCosineZoom};
  view.commands = {{"+=-", "", "Zoom the maps", zoom_maps},
                   {"0", "Whole", "Show all positions again",
                    [](const ViewContext& c, int) { return show_whole(kCosineZoom, c.options); }}};
  view.on = on;
  view.menu = menu;
  view.scrolls = scrolls;
  view.refuse = refuse;
  view.needs = Capability::weights | Capability::positions_table;
  view.build = build;
  view.facts = facts;
  view.table = table;
  view.caption = {false, false, false};
  return view;
}

}  // namespace headscope::app
