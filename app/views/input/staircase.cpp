#include <array>
#include <numbers>
#include <numeric>

#include "app/run/analyses/geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"
#include "viz/scene/path3d.h"

namespace headscope::app {
namespace staircase {

enum Role { kSpace };  // its regions' cells are pixels

constexpr double kDefaultTurn = 30, kDefaultTilt = 25;

const auto kCoordinates =
    list_option("coordinates", "Coordinates",
                "three sinusoidal dimensions used as axes (auto: a pair that turns about five times over "
                "the context, and one that rises)",
                "{dimension} as axes", "auto");
const auto kTurn = make_option<double>("turn", "Turn", "horizontal viewing angle of the paths, in degrees",
                                       {.phrase = "seen from {}°",
                                        .default_value = kDefaultTurn,
                                        .low = -180,
                                        .high = 180,
                                        .step = 5,
                                        .control = Control::none});
const auto kTilt = make_option<double>("tilt", "Tilt", "vertical viewing angle of the paths, in degrees",
                                       {.phrase = "tilted to {}°",
                                        .default_value = kDefaultTilt,
                                        .low = -90,
                                        .high = 90,
                                        .step = 5,
                                        .control = Control::none});

/// A pair of dimensions with about five periods, and the dimension whose sine comes closest to rising over
/// all positions.
std::array<int, 3> readable_coordinates(const model::Config& config) {
  const auto turns = [&](int d) {
    return config.n_ctx * sinusoidal_frequency(d, config.n_embd) / (2 * std::numbers::pi);
  };
  const auto nearest = [&](double wanted, int other) {
    int best = -1;
    for (int d = 0; d < config.n_embd; d += 2) {
      if (d == other || (other < 0 && d + 1 >= config.n_embd)) continue;
      const auto far = [&](int of) { return std::abs(std::log2(turns(of) / wanted)); };
      if (best < 0 || far(d) < far(best)) best = d;
    }
    return std::max(best, 0);
  };
  const int pair = nearest(5, -1);
  return {pair, pair + 1, nearest(0.25, pair)};
}

std::string refuse(const ViewContext& c) {
  const std::vector<int>& chosen = c.options[kCoordinates];
  if (chosen.empty()) return "";
  if (chosen.size() != 3)
    return "a 3D path has three coordinates, not " + std::to_string(chosen.size()) + "; see --" +
           std::string(kCoordinates.name);
  return refuse_numbers(c, kCoordinates, "dimension", c.run->run->config.n_embd);
}

/// The chosen ones, if they are three that the model has.
std::array<int, 3> coordinates_of(const ViewContext& c) {
  const std::vector<int>& chosen = c.options[kCoordinates];
  if (chosen.empty() || !refuse(c).empty()) return readable_coordinates(c.run->run->config);
  return {chosen[0], chosen[1], chosen[2]};
}

struct PathPanel {
  std::string title, note;
  viz::Path3 path;
};

/// Adds a point; the axes reach from 0 as far as the points do.
void include(viz::Path3& path, const viz::Point3& point) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    path.low[i] = std::min(path.low[i], point[i]);
    path.high[i] = std::max(path.high[i], point[i]);
  }
  path.points.push_back(point);
}

void finish(const ViewContext& c, viz::Path3& path, Encoding encoding) {
  const auto n = path.points.size();
  for (std::size_t i = 0; i < n; ++i) {
    // The palest colours would be invisible.
    const double along = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 1;
    path.colors.push_back(viz::sequential(*c.theme, 0.3 + 0.7 * along));
  }
  constexpr int kLabels = 5;
  const int last = static_cast<int>(n) - 1;
  for (const int part : {0, kLabels - 1, 2, 1, 3}) path.labelled.push_back(part * last / (kLabels - 1));
  path.camera = {c.options[kTurn], c.options[kTilt]};
  path.role = kSpace;
  path.id = encoding;
}

PathPanel sinusoidal_panel(const ViewContext& c) {
  const model::Config& config = c.run->run->config;
  PathPanel panel{kSinusoidalTitle, kSinusoidalNote, {}};
  const std::array<int, 3> dimensions = coordinates_of(c);
  for (int p = 0; p < config.n_ctx; ++p) {
    viz::Point3 point;
    for (std::size_t i = 0; i < 3; ++i)
      point[i] = static_cast<double>(sinusoidal_value(p, dimensions[i], config.n_embd));
    include(panel.path, point);
  }
  for (std::size_t i = 0; i < 3; ++i) panel.path.titles[i] = "dimension " + std::to_string(dimensions[i]);
  finish(c, panel.path, kSinusoidal);
  return panel;
}

PathPanel learned_panel(const ViewContext& c, const PositionPath& path) {
  const double share = std::accumulate(path.shares.begin(), path.shares.end(), 0.0);
  PathPanel panel{kLearnedTitle,
                  "wpe.weight in its three principal directions: " + percent(share) + " of the variance",
                  {}};
  const auto directions = static_cast<std::size_t>(path.directions);
  for (std::size_t p = 0; p < path.coordinates.size() / directions; ++p) {
    viz::Point3 point{};
    for (std::size_t i = 0; i < directions; ++i)
      point[i] = static_cast<double>(path.coordinates[p * directions + i]);
    include(panel.path, point);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    panel.path.titles[i] = "direction " + std::to_string(i + 1);
    if (i < directions) panel.path.titles[i] += ": " + percent(path.shares[i]);
  }
  finish(c, panel.path, kLearned);
  return panel;
}

/// In float32, like the model's own numbers.
std::array<float, 3> in_float(const viz::Point3& point) {
  return {static_cast<float>(point[0]), static_cast<float>(point[1]), static_cast<float>(point[2])};
}

std::optional<PathPanel> panel_of(const ViewContext& c, int encoding) {
  const auto path = c.run ? c.ask(PathOfPositions{}) : nullptr;
  if (!path || c.run->run->config.n_embd < 3) return std::nullopt;
  return encoding == kLearned ? learned_panel(c, *path) : sinusoidal_panel(c);
}

/// Draws title and note over the path; an encoding that is not GPT-2's always keeps its title. False: no
/// room.
bool paint_panel(Picture& picture, const ViewContext& c, const PathPanel& panel, viz::Rect area) {
  const viz::Style style = style_of(c);
  float y = area.y;
  const auto say = [&](const std::string& words, float size, viz::FontStyle face, viz::Color color) {
    const float line = style.line(size);
    for (const std::string& text : viz::wrap(style, words, size, face, area.w)) {
      viz::add_label(picture.scene, style, text, {area.x, y + line / 2}, size, color, face);
      y += line;
    }
  };
  say(panel.title, style.font_size, viz::FontStyle::medium, c.theme->text);
  say(panel.note, style.small(), viz::FontStyle::regular, c.theme->text_muted);
  y += style.unit();
  const viz::Rect space{area.x, y, area.w, area.bottom() - y};
  if (space.h < 6 * style.font_size || space.w < 6 * style.font_size) return false;
  viz::paint_path(picture, panel.path, space, style);
  return true;
}

Picture build(const ViewContext& c) {
  const auto path = c.ask(PathOfPositions{});
  if (auto words = waiting(c, PathOfPositions{}, path != nullptr)) return *words;
  const model::Config& config = c.run->run->config;
  if (config.n_embd < 3) return message(c, "a 3D path needs three dimensions");
  Picture picture = blank(c);
  const viz::Rect area = paint_title(picture, c, "Positions as a 3D path", sinusoid_formula(config.n_embd));
  const float gap = 5 * style_of(c).unit();
  const bool side_by_side = area.w >= area.h;
  const float w = side_by_side ? (area.w - gap) / 2 : area.w, h = side_by_side ? area.h : (area.h - gap) / 2;
  const viz::Rect first{area.x, area.y, w, h};
  const viz::Rect second{side_by_side ? area.x + w + gap : area.x, side_by_side ? area.y : area.y + h + gap,
                         w, h};
  if (!paint_panel(picture, c, learned_panel(c, *path), first) ||
      !paint_panel(picture, c, sinusoidal_panel(c), second))
    return too_small(c, "for the paths");
  return picture;
}

/// The coordinates of both paths, a row for each position.
Table table(const ViewContext& c) {
  const auto learned = panel_of(c, kLearned);
  if (!learned) return {};
  const PathPanel sinusoidal = sinusoidal_panel(c);
  Table result{key_column("position"), "learned direction 1", "learned direction 2", "learned direction 3"};
  for (const int d : coordinates_of(c)) result.columns.emplace_back("sinusoidal " + std::to_string(d));
  const std::vector<double> shares = c.ask(PathOfPositions{})->shares;
  for (std::size_t i = 0; i < shares.size(); ++i)
    result.fact("direction " + std::to_string(i + 1) + "'s share of the variance", shares[i]);
  for (std::size_t p = 0; p < sinusoidal.path.points.size(); ++p)
    add_row(result, p, in_float(learned->path.points[p]), in_float(sinusoidal.path.points[p]));
  return result;
}

/// Turns the path, with wrap-around, and tilts it, up to a view from above.
ViewActions turned(const ViewContext& c, double turn, double tilt) {
  ViewActions actions;
  const double to = std::remainder(c.options[kTurn] + turn, 360),
               up = std::clamp(c.options[kTilt] + tilt, kTilt.low, kTilt.high);
  if (turn != 0) actions.emplace_back(SetOption{&kTurn, to});
  if (tilt != 0) actions.emplace_back(SetOption{&kTilt, up});
  return actions;
}

ViewActions on(const ViewContext& c, const Picture&, const viz::Hit* hit, const Gesture& gesture) {
  if (!c.run) return {};
  constexpr double kDegreesPerPixel = 0.4, kStep = 5;
  if (gesture.kind == Gesture::Kind::drag && hit)
    return turned(c, kDegreesPerPixel * static_cast<double>(gesture.by.x),
                  kDegreesPerPixel * static_cast<double>(gesture.by.y));
  if (gesture.kind != Gesture::Kind::key) return {};
  const auto step = [&](Key back, Key on) {
    return gesture.key == back ? -kStep : gesture.key == on ? kStep : 0;
  };
  return turned(c, step(Key::left, Key::right), step(Key::up, Key::down));
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const viz::Region& region = region_of(picture, hit);
  const auto panel = panel_of(c, region.id);
  if (!panel) return facts;
  if (c.options[kTilt] != 90) facts.commands.push_back({"View from above", {SetOption{&kTilt, 90.0}}});
  if (c.options[kTilt] != 0) facts.commands.push_back({"View from the side", {SetOption{&kTilt, 0.0}}});
  const int position = viz::nearest_point(viz::projected(panel->path, region.rect),
                                          region.cell_rect(hit.row, hit.col).center(), 0.8F * c.font_size);
  if (position < 0) return facts;
  // The same position in both panels.
  for (const viz::Region& in : picture.regions) {
    const auto shown = panel_of(c, in.id);
    if (!shown || position >= std::ssize(shown->path.points)) continue;
    const viz::Point p = viz::projected(shown->path, in.rect)[position];
    const float r = 1.25F * style_of(c).unit();
    facts.overlay.add(viz::StrokeRect{{p.x - r, p.y - r, 2 * r, 2 * r}, c.theme->text, 1.5F, r});
  }
  facts.say(position_words(c, position));
  facts.say(panel->title, Fact::Location::status);
  const std::array<float, 3> point = in_float(panel->path.points[position]);
  std::string all;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string name = region.id == kLearned ? "direction " + std::to_string(i + 1)
                                                   : "dimension " + std::to_string(coordinates_of(c)[i]);
    facts.say(name + ": " + exact(point[i]), Fact::Location::tooltip);
    all += (i > 0 ? " " : "") + plain(point[i]);
  }
  facts.copy("the coordinates of " + position_words(c, position), std::move(all));
  return facts;
}

}  // namespace staircase

View staircase_view() {
  using namespace staircase;
  View view = make_view(
      Group::input, "staircase", "Staircase",
      "positions as a path in 3D: the sinusoids' spiral staircase, and the learned embeddings in their "
      "three principal directions",
      build, facts, table);
  view.options = {&kCoordinates, &kTurn, &kTilt};
  view.commands = {{"", "Reset view", "Reset the viewing angle", [](const ViewContext& c, int) {
                      if (!c.run) return ViewActions();
                      return ViewActions{SetOption{&kTurn, kDefaultTurn}, SetOption{&kTilt, kDefaultTilt}};
                    }}};
  view.print_shape = [](const ViewContext& c) { return is_column_wide(c) ? 1.7F : 0.62F; };
  view.on = on;
  view.refuse = refuse;
  view.needs = Capability::weights | Capability::positions_table;
  view.caption = {
      .prompt = false,
      .note =
          "the vectors of all positions as paths, coloured by position; nearer parts are thicker; "
          "numbers are positions"};
  view.landmarks = {landmark("learned path", kSpace, kLearned),
                    landmark("sinusoidal path", kSpace, kSinusoidal)};
  return view;
}

}  // namespace headscope::app
