#include "app/views/attention/copying_scores.h"

#include <cmath>

#include "app/views/parts/file_rows.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"
#include "app/views/parts/token_axes.h"
#include "viz/charts/heatmap.h"
#include "viz/scene/scale.h"

namespace headscope::app {
namespace {

std::string words_of(TokenReading reading) {
  return std::string("sum of the OV circuit's eigenvalues divided by the sum of their magnitudes; ") +
         (reading.after_first_mlp ? "through MLP 0" : "plain embeddings");
}

}  // namespace

Picture copying_picture(const ViewContext& c, TokenReading reading) {
  const CopyingOfModel question{reading};
  if (!c.run) {
    static_cast<void>(c.ask(question));
    return *waiting(c);
  }
  const auto copying = c.ask(question);
  if (auto words = waiting(c, question, copying != nullptr)) return *words;
  const viz::Style style = style_of(c);
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  const viz::Rect area = paint_title(picture, c, "Copying scores of all heads", words_of(reading));
  if (area.h < 4 * c.font_size || area.w < 12 * c.font_size) return too_small(c, "for the heads");
  const std::vector<float> scores(copying->scores.begin(), copying->scores.end());
  std::vector<std::string> layers, heads;
  for (int layer = 0; layer < config.n_layer; ++layer) layers.push_back("L" + std::to_string(layer));
  for (int head = 0; head < config.n_head; ++head) heads.push_back("H" + std::to_string(head));
  viz::Heatmap map;
  map.cells.matrix = viz::Matrix::row_major(scores, config.n_layer, config.n_head);
  map.cells.scale = viz::diverging_scale(1);
  // A figure is not about the selected head.
  map.rows = selectable_axis(c, layers, "layer", c.in_pane ? c.selection.layer : -1);
  map.cols = selectable_axis(c, heads, "head", c.in_pane ? c.selection.head : -1);
  map.stretch = 1.7F;
  map.scale_title = "copying score";
  map.centered = !c.trimmed;
  map.saves_width = true;
  map.role = kCopyingCell;
  const viz::Region grid = viz::paint_heatmap(picture, map, area, style);
  if (c.in_pane)
    picture.scene.add(
        viz::StrokeRect{grid.cell_rect(c.selection.layer, c.selection.head), c.theme->accent, 2, 1});
  return picture;
}

Facts copying_facts(const ViewContext& c, TokenReading reading, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto copying = c.run ? c.ask(CopyingOfModel{reading}) : nullptr;
  if (!copying || hit.row >= c.run->run->config.n_layer || hit.col >= copying->heads) return facts;
  const viz::Region& grid = picture.regions[static_cast<std::size_t>(hit.region)];
  facts.overlay.add(viz::StrokeRect{grid.cell_rect(hit.row, hit.col).inset(-0.5F), c.theme->text, 1.5F, 1});
  facts.say(head_name(hit.row, hit.col));
  const double score = copying->score(hit.row, hit.col);
  if (std::isnan(score))
    facts.say("copying score none");
  else
    facts.number("copying score", score);
  facts.commands.push_back({"Show " + head_name(hit.row, hit.col), {SelectHead{hit.row, hit.col}}});
  return facts;
}

Table copying_table(const ViewContext& c, TokenReading reading) {
  const auto copying = c.run ? c.ask(CopyingOfModel{reading}) : nullptr;
  if (!copying) return {};
  Table result{{"layer", "head", "copying score"}, {}};
  const int layers = c.run->run->config.n_layer;
  for (int layer = 0; layer < layers; ++layer)
    for (int head = 0; head < copying->heads; ++head)
      add_row(result, layer, head, copying->score(layer, head));
  return result;
}

viz::Point copying_size(const ViewContext& c) {
  const model::Config* config = c.run ? &c.run->run->config : nullptr;
  const auto layers = static_cast<float>(config ? config->n_layer : 1),
             heads = static_cast<float>(config ? config->n_head : 1);
  return {std::max(36.F, 2.8F * heads + 12) * c.font_size, (2.4F * layers + 8) * c.font_size};
}

}  // namespace headscope::app
