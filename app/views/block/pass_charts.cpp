#include "app/views/block/pass_charts.h"

#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"
#include "viz/charts/number_axis.h"

namespace headscope::app::pass_charts {
namespace {

enum Chart { kNorms, kAdded, kCosines };

/// A column's place in the model, and the vector added to the stream there.
struct Addition {
  int layer = -1;  ///< -1: the embedding
  bool mlp = false;
  const BlockPass* block = nullptr;  ///< null: pending, or none

  double norm() const { return mlp ? block->mlp_norm : block->attn_norm; }
  double stream() const { return mlp ? block->post_norm : block->mid_norm; }
  double cosine() const { return mlp ? block->mlp_cosine : block->attn_cosine; }
};

Addition addition_of(const TokenPass& pass, int column) {
  const int layer = layer_of(column);
  const bool known = layer >= 0 && layer < std::ssize(pass.blocks);
  return {layer, column % 2 == 1, known ? pass.blocks[layer].get() : nullptr};
}

/// Upright bars side by side in pairs, on an upright axis.
struct ColumnChart {
  Chart which = kNorms;
  std::vector<float> values;        ///< of each column; NaN: no bar
  viz::NumberAxis axis;             ///< its ticks depend on its height
  double base = 0;                  ///< where the bars start
  std::vector<std::string> titles;  ///< above the bars: the first that fits, longest first
};

ColumnChart chart_of(const ViewContext& c, const TokenPass& pass, Chart which) {
  ColumnChart chart;
  chart.which = which;
  const int columns = column_of(c.run->run->config.n_layer, false);
  for (int i = 0; i < columns; ++i) {
    const Addition a = addition_of(pass, i);
    double value = no_number();
    if (a.block) value = which == kNorms ? a.stream() : which == kAdded ? a.norm() : a.cosine();
    if (i == 1 && which == kNorms) value = pass.embedded_norm;
    chart.values.push_back(static_cast<float>(value));
  }
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(chart.values));
  if (which == kCosines) {
    chart.base = 1;
    chart.axis = {std::max(-1.0, 1 - viz::round_limit(1 - static_cast<double>(range.low))), 1};
  } else {
    chart.axis.high = viz::round_limit(static_cast<double>(range.high));
  }
  const std::string of = c.side == Side::difference ? "the difference in " : "";
  if (which == kNorms)
    chart.titles = {"norm of " + of + "the residual stream after each addition",
                    "norm of " + of + "the stream"};
  else if (which == kAdded)
    chart.titles = {"norm of " + of + "what is added: attention left, MLP right",
                    "norm of " + of + "what is added"};
  else
    chart.titles = {"cosine of " + of + "the stream before and after the addition", "cosine before · after"};
  return chart;
}

/// The part of a chart's area that has a pair of columns for each layer.
viz::Rect plot_in(const viz::Style& style, viz::Rect area) {
  const float left = std::ceil(style.width("000.00", style.small())) + 2 * style.unit();
  return {area.x + left, area.y, std::max(0.F, area.w - left), area.h};
}

void paint_columns(Picture& picture, const ViewContext& c, const ColumnChart& chart, const viz::Rect& area) {
  constexpr double kGap = 0.22;  // between pairs, of a pair's width
  constexpr int kMostTicks = 5;
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  const float title = style.line(style.small()) + style.unit();
  viz::Rect plot = plot_in(style, area);
  plot.y += title, plot.h = std::max(1.F, plot.h - title);
  viz::PlotFrame frame{plot, {}, chart.axis};
  for (int wanted = viz::upright_tick_count(plot.h, kMostTicks, style);
       wanted <= kMostTicks && frame.y.ticks.size() < 2; ++wanted)  // a single tick says nothing
    frame.y.ticks = viz::labelled_ticks(frame.y.low, frame.y.high, wanted);
  const int count = static_cast<int>(chart.values.size());
  const float pair = plot.w / static_cast<float>(count / 2),
              column = pair * static_cast<float>((1 - kGap) / 2);
  const auto left_of = [&](int i) { return plot.x + static_cast<float>(i) * pair; };
  scene.add(viz::FillRect{{left_of(c.selection.layer + 1), plot.y, pair, plot.h}, c.theme->raised});
  viz::paint_y_numbers(scene, frame, style);
  const auto y_of = [&](double v) { return frame.y.clamped(v, plot.bottom(), -plot.h); };
  const float base = y_of(chart.base);
  for (int i = 0; i < count; ++i) {
    if (std::isnan(chart.values[i])) continue;
    const float x = left_of(i / 2) + static_cast<float>(kGap / 2) * pair + static_cast<float>(i % 2) * column;
    const float to = y_of(static_cast<double>(chart.values[i]));
    scene.add(viz::FillRect{{x, std::min(base, to), column, std::abs(base - to)},
                            i < 2 ? c.theme->text_muted : color_of(c, i % 2 == 1)});
  }
  scene.add_line({plot.x, base}, {plot.right(), base}, style.theme.text_muted);
  for (const std::string& words : chart.titles)
    if (viz::add_whole_label(scene, style, words, {plot.x, area.y + style.line(style.small()) / 2}, plot.w,
                             style.theme.text, viz::FontStyle::medium))
      break;
  picture.regions.push_back(viz::Region::grid(kRole, chart.which, plot, 1, count));
}

/// The layers under the charts, as many as there is room for.
void paint_layers(viz::Scene& scene, const ViewContext& c, const viz::Rect& area) {
  const viz::Style style = style_of(c);
  const viz::Rect plot = plot_in(style, area);
  const int layers = c.run->run->config.n_layer;
  const float pair = plot.w / static_cast<float>(layers + 1),
              needed = style.width(std::to_string(layers), style.small()) + 2 * style.unit();
  const auto label = [&](int i, const std::string& name) {
    const bool marked = i == c.selection.layer + 1;
    viz::add_label(scene, style, name, {plot.x + (static_cast<float>(i) + 0.5F) * pair, plot.center().y},
                   style.small(), marked ? style.theme.text : style.theme.text_muted,
                   marked ? viz::FontStyle::medium : viz::FontStyle::regular, viz::Align::center);
  };
  if (pair >= style.width("emb", style.small()) + 2 * style.unit()) label(0, "emb");
  for (const int layer : viz::labelled_cells(0, layers, layers, pair, needed, c.selection.layer))
    label(layer + 1, std::to_string(layer));
  viz::add_muted(scene, style, "layer", {area.x, plot.center().y});
}

}  // namespace

viz::Color color_of(const ViewContext& c, bool mlp) {
  return viz::categorical(*c.theme, mlp ? 3 : 2);
}

BoxPtr charts_of(const ViewContext& c, const TokenPass& pass) {
  const Wish width{10, 40};
  const auto box = [&](Chart which, Wish height) {
    return custom(
        width, height,
        [chart = chart_of(c, pass, which)](Picture& picture, const ViewContext& now, viz::Rect area) {
          paint_columns(picture, now, chart, area);
        });
  };
  const Wish height{4, 6, 14};
  return rows(
      boxes(may_be_left_out(box(kNorms, height), "the norms", 2), box(kAdded, height),
            may_be_left_out(box(kCosines, height), "the cosines"),
            custom(width, {1.2F, 1.2F, 1.2F}, [](Picture& picture, const ViewContext& now, viz::Rect area) {
              paint_layers(picture.scene, now, area);
            })));
}

void add_facts(Facts& facts, const ViewContext& c, const TokenPass& pass, const Picture& picture,
               int column) {
  const Addition a = addition_of(pass, column);
  for (const viz::Region& region : picture.regions) {
    if (region.role != kRole) continue;
    const viz::Rect &plot = region.rect, cell = region.cell_rect(0, column);
    facts.overlay.add(
        viz::FillRect{{plot.x, plot.y, cell.x - plot.x, plot.h}, c.theme->accent.with_alpha(36)});
    facts.overlay.add(viz::StrokeRect{{cell.x, plot.y, cell.w, plot.h}, c.theme->text, 1});
  }
  const std::string of = difference_prefix(c), stream = "norm of the " + of + "residual stream ";
  if (a.layer < 0) {
    facts.say("embed");
    return facts.say(stream + viz::number(pass.embedded_norm, 5));
  }
  facts.say("block " + std::to_string(a.layer) + (a.mlp ? ", MLP" : ", attention"));
  if (!a.block) return facts.say(kComputing);
  const double before = a.mlp ? a.block->mid_norm : pass.resid_norm(a.layer);
  facts.say("norm of the " + of + "vector it adds " + viz::number(a.norm(), 5));
  facts.say(stream + viz::number(before, 5) + " → " + viz::number(a.stream(), 5));
  if (!std::isnan(a.cosine()))
    facts.say("cosine of the " + of + "stream before and after it " + viz::number(a.cosine(), 5));
  const SelectHead layer{a.layer, c.selection.head};
  const Part part = a.mlp ? Part::mlp : Part::attention;
  facts.commands.push_back({"Layer " + std::to_string(a.layer), {layer}});
  facts.commands.push_back({"Show the view " + std::string(view_of(part)->title), {layer, ShowPart{part}}});
  add_part_edits(facts.commands, c, a.layer, a.mlp);
  facts.number("norm of what is added", a.norm(), Fact::Location::menu);
  facts.number("norm of the stream", a.stream(), Fact::Location::menu);
  facts.number("cosine", a.cosine(), Fact::Location::menu);
}

}  // namespace headscope::app::pass_charts
