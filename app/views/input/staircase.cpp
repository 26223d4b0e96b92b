#include <array>
#include <numbers>
#include <numeric>

#include "app/run/analyses/geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"
#include "viz/scene/path3d.h"

namespace headscope::app::staircase {

enum Role { kSpace };  // its regions' cells are pixels

const auto kTurn =
    gesture_option("turn", "Turn", "horizontal viewing angle of the paths, in degrees", 30.0, -180, 180);
const auto kTilt =
    gesture_option("tilt", "Tilt", "vertical viewing angle of the paths, in degrees", 25.0, -90, 90);

/// The sinusoidal dimensions used as axes: a pair with about five periods over the context, and the one whose
/// sine comes closest to rising over all positions.
std::array<int, 3> coordinates_of(const model::Config& config) {
  const auto nearest_sine = [&](double periods) {
    const double d =
        config.n_embd * std::log(config.n_ctx / (2 * std::numbers::pi * periods)) / std::log(10000.0);
    return 2 * std::clamp(static_cast<int>(std::lround(d / 2)), 0, (config.n_embd - 1) / 2);
  };
  const int pair = std::min(nearest_sine(5), 2 * (config.n_embd / 2 - 1)), rising = nearest_sine(0.25);
  return {pair, pair + 1, rising != pair ? rising : pair > 0 ? pair - 2 : 2};
}

struct Paths {
  std::array<viz::Path3, 2> of;  ///< [Encoding]
  double share = 0;              ///< of the variance, of the learned one's directions together
};

/// Adds a point; the axes reach from 0 as far as the points do.
void include(viz::Path3& path, const viz::Point3& point) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    path.low[i] = std::min(path.low[i], point[i]);
    path.high[i] = std::max(path.high[i], point[i]);
  }
  path.points.push_back(point);
}

Paths paths_of(const ViewContext& c, const PositionPath& answer) {
  const model::Config& config = c.config();
  const auto directions = static_cast<std::size_t>(answer.directions);
  const std::array<int, 3> dimensions = coordinates_of(config);
  Paths paths;
  auto& [learned, sinusoidal] = paths.of;
  for (int p = 0; p < config.n_ctx; ++p) {
    viz::Point3 point{}, on_spiral{};
    for (std::size_t i = 0; i < 3; ++i) {
      if (i < directions) point[i] = static_cast<double>(answer.coordinates[p * directions + i]);
      on_spiral[i] = static_cast<double>(sinusoidal_value(p, dimensions[i], config.n_embd));
    }
    include(learned, point);
    include(sinusoidal, on_spiral);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    learned.titles[i] = "direction " + std::to_string(i + 1);
    if (i < directions) learned.titles[i] += ": " + percent(answer.shares[i]);
    sinusoidal.titles[i] = "dimension " + std::to_string(dimensions[i]);
  }
  paths.share = std::accumulate(answer.shares.begin(), answer.shares.end(), 0.0);
  const int last = config.n_ctx - 1;
  for (const int encoding : {kLearned, kSinusoidal}) {
    viz::Path3& path = paths.of[encoding];
    for (int p = 0; p <= last; ++p)  // the palest colours would be invisible
      path.colors.push_back(viz::sequential(*c.theme, last > 0 ? 0.3 + 0.7 * p / last : 1));
    for (const int quarter : {0, 4, 2, 1, 3}) path.labelled.push_back(quarter * last / 4);
    path.camera = {c.options[kTurn], c.options[kTilt]};
    path.role = kSpace;
    path.id = encoding;
  }
  return paths;
}

BoxPtr box_of(const Paths& paths, Encoding encoding) {
  const auto height = [](float width) { return Wish{8, width}; };
  const auto paint = [&path = paths.of[encoding]](Picture& picture, const ViewContext& c, viz::Rect area) {
    viz::paint_path(picture, path, area, style_of(c));
  };
  return rows(boxes(
      encoding_heading(encoding, encoding == kLearned ? "wpe.weight, principal directions" : kSinusoidalNote),
      custom({12.5F, 30}, height, paint)));
}

/// The coordinates of both paths, a row for each position.
Table table(const ViewContext& c, const PositionPath& answer, const Paths& paths) {
  Table result{key_column("position"), "learned direction 1", "learned direction 2", "learned direction 3"};
  for (const int d : coordinates_of(c.config()))
    result.columns.emplace_back("sinusoidal " + std::to_string(d));
  for (std::size_t i = 0; i < answer.shares.size(); ++i)
    result.fact("direction " + std::to_string(i + 1) + "'s share of the variance", answer.shares[i]);
  for (std::size_t p = 0; p < paths.of[kLearned].points.size(); ++p) {
    TableRow row{cell_of(p)};
    for (const viz::Path3& path : paths.of)  // in float32, like the model's own numbers
      for (const double x : path.points[p]) add_cells(row, static_cast<float>(x));
    result.add(std::move(row));
  }
  return result;
}

/// Drags and arrows turn the paths, all the way round, and tilt them, up to a view from above.
std::optional<ViewActions> on(const ViewContext& c, const Spot* at, const Gesture& gesture) {
  constexpr double kDegreesPerPixel = 0.4, kStep = 5;
  const auto step = [&](Key back, Key on) {
    return gesture.key == back ? -kStep : gesture.key == on ? kStep : 0;
  };
  double turn = step(Key::left, Key::right), tilt = step(Key::up, Key::down);
  if (gesture.kind == Gesture::Kind::drag && at) {
    turn = kDegreesPerPixel * static_cast<double>(gesture.by.x);
    tilt = kDegreesPerPixel * static_cast<double>(gesture.by.y);
  }
  ViewActions actions;
  if (turn != 0) actions.emplace_back(SetOption{&kTurn, std::remainder(c.options[kTurn] + turn, 360)});
  if (tilt != 0)
    actions.emplace_back(SetOption{&kTilt, std::clamp(c.options[kTilt] + tilt, kTilt.low, kTilt.high)});
  return actions;
}

void add_facts(Facts& facts, const ViewContext& c, const Paths& paths, const Spot& at) {
  if (c.options[kTilt] != 90) facts.commands.push_back({"View from above", {SetOption{&kTilt, 90.0}}});
  if (c.options[kTilt] != 0) facts.commands.push_back({"View from the side", {SetOption{&kTilt, 0.0}}});
  const viz::Region& region = at.region;
  const viz::Path3& path = paths.of[region.id];
  const int position =
      viz::nearest_point(viz::projected(path, region.rect), at.cell().center(), 0.8F * c.font_size);
  if (position < 0) return;
  for (const viz::Region& in : at.picture.regions) {  // the same position in both panels
    const viz::Point p = viz::projected(paths.of[in.id], in.rect)[position];
    const float r = 1.25F * style_of(c).unit();
    facts.overlay.add(viz::StrokeRect{viz::Rect::around(p, r), c.theme->text, 1.5F, r});
  }
  facts.say(position_words(c, position));
  facts.say(region.id == kLearned ? "learned" : "sinusoidal", Fact::Location::status);
  std::string all;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto x = static_cast<float>(path.points[position][i]);
    facts.tip(path.titles[i] + " = " + exact(x));
    all += (i > 0 ? " " : "") + plain(x);
  }
  facts.copy("the coordinates of " + position_words(c, position), std::move(all));
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = it.need(PathOfPositions{});
  if (!answer) return;
  if (c.config().n_embd < 3) {
    it.message = "a 3D path needs three dimensions";
    return;
  }
  const PositionPath& kept = *it.keep(answer);
  const Paths& paths = it.keep(paths_of(c, kept));
  it.title = "Positions as a 3D path";
  it.subtitle = "three directions with " + percent(paths.share) + " of the variance";
  it.body = rows(boxes(beside(boxes(box_of(paths, kLearned), box_of(paths, kSinusoidal))),
                       notes({sinusoid_formula(c.config().n_embd)})));
  it.table = [&] { return table(c, kept, paths); };
  it.facts = [&](Facts& facts, const ViewContext& now, const Spot& at) { add_facts(facts, now, paths, at); };
  it.on = on;
}

View view() {
  View view = make_view("staircase", "Staircase", declare,
                        "positions as a path in 3D: the sinusoids' spiral staircase, and the learned "
                        "embeddings in their three principal directions");
  view.options = {&kTurn, &kTilt};
  view.commands = {
      {"", "Reset view", "Reset the viewing angle", [](const ViewContext& c, int) {
         if (!c.run) return ViewActions();
         return ViewActions{SetOption{&kTurn, kTurn.default_value}, SetOption{&kTilt, kTilt.default_value}};
       }}};
  view.needs = Capability::weights | Capability::positions_table;
  view.caption = {
      .prompt = false,
      .note =
          "the vectors of all positions as paths, coloured by position; nearer parts are thicker; "
          "numbers are positions"};
  view.landmarks = {{"sinusoidal path", kSpace, always<kSinusoidal>}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::staircase
