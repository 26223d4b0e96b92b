#include <algorithm>

#include "app/run/analyses/sinusoidal.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/matrix_zoom.h"
#include "app/views/parts/names.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

constexpr double kOutliers = 0.002;       // of the values may lie beyond the colour scale
enum Encoding { kLearned, kSinusoidal };  // Region::id

const Option<std::vector<int>> kDimensions{
    {.name = "dimensions",
     .label = "Dimensions",
     .help =
         "dimensions that are drawn as curves (auto: four whose sinusoids have four periods down to half a "
         "one over the context)",
     .default_value = std::vector<int>{},
     .default_name = "auto",
     .low = 0,
     .high = 1 << 24}};

const Option<Zoom> kEncodingZoom{
    {.name = "encoding-zoom",
     .label = "Zoom",
     .help = "only dimensions D to D and positions P to P (the ends not included)",
     .default_value = Zoom{},
     .default_name = "all",
     .kept = false,
     .control = Control::none}};

viz::Matrix by_dimension(std::span<const float> values, const model::Config& config) {
  return viz::Matrix::row_major(values, config.n_ctx, config.n_embd).transposed();
}

/// The dimensions that are drawn as curves: the chosen ones that the model has.
std::vector<int> shown_dimensions(const ViewContext& c) {
  const model::Config& config = c.run->run->config;
  std::vector<int> dimensions = c.options[kDimensions];
  if (dimensions.empty()) return c.run->model->readable_dimensions;
  std::erase_if(dimensions, [&](int d) { return d >= config.n_embd; });
  return dimensions.empty() ? c.run->model->readable_dimensions : dimensions;
}

Zoom shown_part(const ViewContext& c) {
  return part_of(c.options[kEncodingZoom], c.run->run->config.n_embd, c.run->run->config.n_ctx);
}

EncodingPanel learned_panel(const ViewContext& c) {
  EncodingPanel panel{
      kLearned,     "Learned by this model",
      "wpe.weight", by_dimension(c.run->model->transformer->position_embedding(), c.run->run->config),
      {},           {}};
  // A few dimensions carry values far above all others; they would leave the rest without colour.
  panel.scale = viz::robust_scale(panel.values, kOutliers, viz::value_range(panel.values.transposed()));
  return panel;
}

EncodingPanel sinusoidal_panel(const ViewContext& c, std::span<const float> encoding) {
  return {kSinusoidal,
          "Sinusoidal encoding (Vaswani et al. 2017)",
          "for comparison: not GPT-2's",
          by_dimension(encoding, c.run->run->config),
          viz::diverging_scale(1),
          sinusoid_formula(c.run->run->config.n_embd)};
}

Picture build(const ViewContext& c) {
  if (auto words = waiting(c)) return *words;
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(
      picture, c, "Positional encoding",
      std::to_string(config.n_ctx) + " positions × " + std::to_string(config.n_embd) + " dimensions");
  const std::vector<float> encoding = sinusoidal_encoding(config.n_ctx, config.n_embd);
  if (!paint_encodings(picture, c, {learned_panel(c), sinusoidal_panel(c, encoding)},
                       {"dimension", "dim.", shown_dimensions(c), 0, 0, shown_part(c)}, area))
    return too_small(c, "for the encodings");
  return picture;
}

float value_of(const ViewContext& c, int encoding, int position, int dimension) {
  const model::Config& config = c.run->run->config;
  if (encoding == kLearned) {
    return c.run->model->transformer
        ->position_embedding()[static_cast<std::size_t>(position) * static_cast<std::size_t>(config.n_embd) +
                               static_cast<std::size_t>(dimension)];
  }
  return sinusoidal_value(position, dimension, config.n_embd);
}

/// The chosen dimensions of both encodings, a row for each position.
Table table(const ViewContext& c) {
  Table result;
  if (!c.run) return result;
  const std::vector<int> dimensions = shown_dimensions(c);
  result.header = {"position"};
  for (const char* name : {"learned ", "sinusoidal "}) {
    for (const int d : dimensions) result.header.push_back(name + std::to_string(d));
  }
  for (int position = 0; position < c.run->run->config.n_ctx; ++position) {
    std::vector<std::string> row{std::to_string(position)};
    for (const int encoding : {kLearned, kSinusoidal}) {
      for (const int d : dimensions) row.push_back(plain(value_of(c, encoding, position, d)));
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

ViewActions toggle(const ViewContext& c, int dimension) {
  return {SetOption{&kDimensions, with_curve_toggled(shown_dimensions(c), dimension)}};
}

/// All curves by as many dimensions as there are curves; `which` is 0: up.
ViewActions step(const ViewContext& c, int which) {
  if (!c.run) return {};
  const int count = c.run->run->config.n_embd;
  std::vector<int> dimensions = shown_dimensions(c);
  const int by = static_cast<int>(dimensions.size()) * (which == 0 ? 1 : -1);
  for (int& d : dimensions) d = ((d + by) % count + count) % count;
  return {SetOption{&kDimensions, dimensions}};
}

ViewActions zoom_maps(const ViewContext& c, int which) {
  if (!c.run) return {};
  return zoom_about_middle(c, kEncodingZoom, c.run->run->config.n_embd, c.run->run->config.n_ctx, which);
}

ViewActions on_key(const ViewContext& c, Key key) {
  if (!c.run) return {};
  const model::Config& config = c.run->run->config;
  if (shown_part(c) != Zoom{}) return zoom_keys(kEncodingZoom, c.options, config.n_embd, config.n_ctx, key);
  if (key == Key::left) return step(c, 1);
  if (key == Key::right) return step(c, 0);
  return {};
}

ViewActions on(const ViewContext& c, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
  if (gesture.kind == Gesture::Kind::key) return on_key(c, gesture.key);
  if (!hit) return {};
  const viz::Region& region = region_of(picture, *hit);
  if (region.role != kEncodingMap) return {};
  if (gesture.kind == Gesture::Kind::click) return toggle(c, hit->row);
  return zoom_gesture(kEncodingZoom, c.options, region, gesture);
}

std::vector<MenuLine> menu(const ViewContext& c) {
  std::vector<MenuLine> lines;
  add_whole(lines, "Whole encodings", kEncodingZoom, c.options);
  return lines;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Facts facts;
  const bool curve = region.role == kEncodingCurves;
  if (!c.run) return facts;
  const model::Config& config = c.run->run->config;
  if (hit.col >= config.n_ctx || (!curve && hit.row >= config.n_embd)) return facts;
  facts.overlay = encoding_cross(c, picture, hit);
  facts.say(position_words(c, hit.col));
  const std::vector<int> curves = shown_dimensions(c);
  if (curve) {
    const std::string name = region.id == kLearned ? "learned" : "sinusoidal";
    for (const int d : curves)
      facts.number(name + " dimension " + std::to_string(d) + ":", value_of(c, region.id, hit.col, d),
                   d == curves.back() ? Fact::In::both : Fact::In::tooltip);
  } else {
    const std::string dimension = "dimension " + std::to_string(hit.row);
    facts.say(dimension);
    add_both(facts, value_of(c, kLearned, hit.col, hit.row), value_of(c, kSinusoidal, hit.col, hit.row));
    add_curve_of(facts, curves, hit.row, dimension, toggle(c, hit.row));
  }
  add_whole(facts.commands, "Whole encodings", kEncodingZoom, c.options);
  return facts;
}

std::vector<Scroll> scrolls(const ViewContext& c, const Picture& picture) {
  return zoom_scrolls(kEncodingZoom, c, picture, kEncodingMap);
}

std::string refuse(const ViewContext& c) {
  return refuse_numbers(c, kDimensions, "dimension", c.run->run->config.n_embd);
}

}  // namespace

View positions_view() {
  View view;
  view.id = "positions";
  view.title = "Positions";
  view.help = "the learned positional encoding as curves and as a heatmap, beside the sinusoidal one of 2017";
  view.group = Group::input;
  view.options = {&kDimensions, &kEncodingZoom};
  view.commands = {{"D", "‹", "Curves of the dimensions before these",
                    [](const ViewContext& c, int) { return step(c, 1); }},
                   {"d", "›", "Curves of the dimensions after these", step},
                   {"+=-", "", "Zoom the maps", zoom_maps},
                   {"0", "Whole", "Show the whole encodings again",
                    [](const ViewContext& c, int) { return show_whole(kEncodingZoom, c.options); }}};
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
