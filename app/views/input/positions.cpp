#include "app/run/analyses/geometry.h"
#include "app/views/parts/encoding_panels.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace positions {

constexpr double kOutliers = 0.002;  // fraction of values allowed beyond the colour scale

const auto kDimensions = list_option(
    "dimensions", "Dimensions",
    "dimensions drawn as curves (auto: four whose sinusoids have from four periods down to half a period "
    "over the context)",
    "curves of {dimension}", "auto");

const auto kEncodingZoom =
    gesture_option("encoding-zoom", "Zoom", "only dimensions D to D and positions P to P (ends excluded)",
                   Zoom{}, 0, 0, "all", {.phrase = "dimensions {}, positions {}"});

viz::Matrix by_dimension(std::span<const float> values, const model::Config& config) {
  return viz::Matrix::row_major(values, config.n_ctx, config.n_embd).transposed();
}

/// The dimensions drawn as curves: the chosen ones that the model has.
std::vector<int> shown_dimensions(const ViewContext& c) {
  const model::Config& config = c.run->run->config;
  std::vector<int> dimensions = c.options[kDimensions];
  if (dimensions.empty()) return c.run->model->readable_dimensions;
  std::erase_if(dimensions, [&](int d) { return d >= config.n_embd; });
  return dimensions.empty() ? c.run->model->readable_dimensions : dimensions;
}

int dimensions_of(const ViewContext& c) {
  return c.run->run->config.n_embd;
}

/// Moves all curves by as many dimensions as there are curves.
ViewActions step(const ViewContext& c, int by) {
  if (!c.run) return {};
  const int count = dimensions_of(c);
  std::vector<int> dimensions = shown_dimensions(c);
  by *= static_cast<int>(dimensions.size());
  for (int& d : dimensions) d = ((d + by) % count + count) % count;
  return {SetOption{&kDimensions, dimensions}};
}

constexpr EncodingView kEncodings{
    .curves = kDimensions,
    .zoom = kEncodingZoom,
    .row = "dimension",
    .whole = "Show the whole encodings",
    .rows = dimensions_of,
    .shown = shown_dimensions,
    .step = step,
};

Picture build(const ViewContext& c) {
  if (auto words = waiting(c)) return *words;
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(
      picture, c, "Positional encoding",
      std::to_string(config.n_ctx) + " positions × " + std::to_string(config.n_embd) + " dimensions");
  const std::vector<float> encoding = sinusoidal_encoding(config.n_ctx, config.n_embd);
  const viz::Matrix learned = by_dimension(c.run->model->transformer->position_embedding(), config);
  // A few dimensions have values far above all others, which would leave the rest without colour.
  const viz::ColorScale scale = viz::robust_scale(learned, kOutliers, viz::value_range(learned.transposed()));
  if (!paint_encodings(picture, c,
                       {{kLearned, kLearnedTitle, learned_note(c), learned, scale, {}},
                        {kSinusoidal, kSinusoidalTitle, kSinusoidalNote, by_dimension(encoding, config),
                         viz::diverging_scale(1), sinusoid_formula(config.n_embd)}},
                       {"dimension", "dim.", shown_dimensions(c), 0, 0, shown_part(kEncodings, c),
                        viz::Pooling::row_pairs},
                       area))
    return too_small(c, "for the encodings");
  return picture;
}

float value_of(const ViewContext& c, int encoding, int position, int dimension) {
  const int n_embd = dimensions_of(c);
  if (encoding == kSinusoidal) return sinusoidal_value(position, dimension, n_embd);
  const auto row = static_cast<std::size_t>(position) * static_cast<std::size_t>(n_embd);
  return c.run->model->transformer->position_embedding()[row + static_cast<std::size_t>(dimension)];
}

/// The chosen dimensions of both encodings, a row for each position.
Table table(const ViewContext& c) {
  if (!c.run) return {};
  const std::vector<int> dimensions = shown_dimensions(c);
  Table result{key_column("position")};
  for (const char* name : {"learned ", "sinusoidal "})
    for (const int d : dimensions) result.columns.emplace_back(name + std::to_string(d));
  for (int position = 0; position < c.run->run->config.n_ctx; ++position) {
    TableRow row{cell_of(position)};
    for (const int encoding : {kLearned, kSinusoidal})
      for (const int d : dimensions) add_cells(row, value_of(c, encoding, position, d));
    result.add(std::move(row));
  }
  return result;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  const bool curve = region.role == kEncodingCurves;
  if (!c.run || hit.col >= c.run->run->config.n_ctx || (!curve && hit.row >= dimensions_of(c))) return {};
  Facts facts{.overlay = encoding_cross(c, picture, hit)};
  facts.commands = encoding_menu(kEncodings, c, curve ? -1 : hit.row);
  facts.say(position_words(c, hit.col));
  if (curve) {
    const std::vector<int> curves = shown_dimensions(c);
    const std::string name = region.id == kLearned ? "learned" : "sinusoidal";
    for (const int d : curves)
      facts.number(name + " dimension " + std::to_string(d) + ":", value_of(c, region.id, hit.col, d),
                   d == curves.back() ? Fact::Location::both : Fact::Location::tooltip);
  } else {
    facts.say("dimension " + std::to_string(hit.row));
    add_both(facts, value_of(c, kLearned, hit.col, hit.row), value_of(c, kSinusoidal, hit.col, hit.row));
  }
  return facts;
}

}  // namespace positions

View positions_view() {
  using namespace positions;
  View view =
      make_view(Group::input, "positions", "Positions",
                "the learned position embeddings as curves and as a heatmap, next to sinusoidal encodings",
                build, facts, table);
  view.print_shape = [](const ViewContext& c) { return is_column_wide(c) ? 2.4F : 0.8F; };
  add_encodings(
      view, kEncodings,
      {{"D", "‹", "Previous dimensions", [](const ViewContext& c, int) { return step(c, -1); }},
       {"d", "›", "Next dimensions", [](const ViewContext& c, int) { return step(c, 1); }}},
      "Show the whole encodings",
      "position embeddings of the model next to sinusoids: curves of some dimensions over a map of all");
  return view;
}

}  // namespace headscope::app
