#include "app/views/block/pass_layout.h"

#include <array>

#include "app/views/parts/parts.h"
#include "viz/charts/curves.h"

namespace headscope::app::pass_picture {
namespace {

/// Whether a step is on a branch, not on the residual stream.
bool is_branch(int step) {
  return step == kLn1 || step == kAttention || step == kLn2 || step == kMlp;
}

std::string layers_name(int first, int last) {
  if (first == last) return "block " + std::to_string(first);
  return "blocks " + std::to_string(first) + "–" + std::to_string(last);
}

std::string shape_of(int rows, int cols) {
  return grouped(rows) + " × " + grouped(cols);
}

std::vector<Line> lines_of(const ViewContext& c, const TokenPass& pass) {
  const model::Config& config = c.run->run->config;
  const int layer = c.selection.layer, layers = config.n_layer, length = c.run->run->length();
  const std::string stream = shape_of(length, config.n_embd);
  const BlockPass* block = layer < std::ssize(pass.blocks) ? pass.blocks[layer].get() : nullptr;
  const auto of_block = [&](const std::vector<float> BlockPass::*vector) {
    return block ? std::span<const float>(block->*vector) : std::span<const float>();
  };
  const auto resid = [&](int at) {
    return at <= std::ssize(pass.blocks) ? std::span<const float>(pass.resid(at)) : std::span<const float>();
  };
  std::vector<Line> lines;
  lines.push_back({kEmbedding, "embed", "wte + wpe", stream, pass.embedded});
  // The vectors next to collapsed blocks are of another block than the box says, or of one of its blocks.
  const auto of_layer = [](int at) { return "L" + std::to_string(at) + " "; };
  if (layer > 0)
    lines.push_back(
        {kBefore, layers_name(0, layer - 1), of_layer(layer) + "resid_pre", stream, resid(layer)});
  lines.push_back({kLn1, "ln_1", "normalized", stream, of_block(&BlockPass::ln_1)});
  lines.push_back({kAttention, "attention", "attn_out", stream, of_block(&BlockPass::attn_out)});
  lines.push_back({kAddAttention, "", "resid_mid", stream, of_block(&BlockPass::resid_mid)});
  lines.push_back({kLn2, "ln_2", "normalized", stream, of_block(&BlockPass::ln_2)});
  lines.push_back({kMlp, "MLP", "mlp_out", stream, of_block(&BlockPass::mlp_out)});
  lines.push_back({kAddMlp, "", "resid_post", stream, of_block(&BlockPass::resid_post)});
  if (layer + 1 < layers)
    lines.push_back({kAfter, layers_name(layer + 1, layers - 1), of_layer(layers - 1) + "resid_post", stream,
                     resid(layers)});
  lines.push_back({kLnF, "ln_f", "normalized", stream, pass.ln_f});
  lines.push_back({kUnembedding, "unembed", "logits", shape_of(length, config.vocab_size), {}});
  using model::Site;
  const std::pair<Step, model::HookPoint> points[]{
      {kEmbedding, {Site::embed}},
      {kEmbedding, {Site::pos_embed}},
      {layer > 0 ? kBefore : kEmbedding, {Site::resid_pre, layer}},
      {kLn1, {Site::ln1_scale, layer}},
      {kLn1, {Site::ln1_normalized, layer}},
      {kAttention, {Site::attn_out, layer}},
      {kAddAttention, {Site::resid_mid, layer}},
      {kLn2, {Site::ln2_scale, layer}},
      {kLn2, {Site::ln2_normalized, layer}},
      {kMlp, {Site::mlp_out, layer}},
      {kAddMlp, {Site::resid_post, layer}},
      {kAfter, {Site::resid_post, layers - 1}},
      {kLnF, {Site::ln_final_scale}},
      {kLnF, {Site::ln_final_normalized}},
      {kUnembedding, {Site::logits}}};
  for (Line& line : lines) {
    line.edited = std::ranges::any_of(points, [&](const auto& of) {
      return of.first == line.step && is_edited_at(c, of.second, c.selection.query);
    });
    if (line.edited) line.vector += ", edited";
  }
  return lines;
}

viz::ColorScale scale_of(const std::vector<Line>& lines, bool normalized) {
  std::vector<float> all;
  for (const Line& line : lines)
    if (is_normalized(line.step) == normalized) all.insert(all.end(), line.values.begin(), line.values.end());
  return vector_scale(all);
}

/// A round number of at least the largest value; 1 if none is above 0.
double axis_end(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  const std::vector<double> ticks = viz::nice_ticks(0, largest, 4);
  const double step = ticks.size() > 1 ? ticks[1] : largest;
  return step * std::ceil(largest / step - 1e-9);
}

float widest(const ViewContext& c, const std::vector<Line>& lines, std::string Line::*words,
             viz::FontStyle face) {
  const viz::Style style = style_of(c);
  float w = 0;
  for (const Line& line : lines) w = std::max(w, style.width(line.*words, style.small(), face));
  return std::ceil(w);
}

void place_lines(Layout& l, const ViewContext& c, const Numbers& n, float pitch) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const viz::Rect& area = l.drawing;
  const float box_h = std::round(std::clamp(pitch - 2 * u, line, 3 * em));
  const float indent = 2.6F * em;
  const float boxes = indent + widest(c, n.lines, &Line::name, viz::FontStyle::medium) + 4 * u;
  l.stream = area.x + 0.9F * em;
  float left = area.x + boxes + 2 * u, right = area.right();
  const float norm = std::ceil(style.width("00000.0", style.small())) + 2 * u;
  const float vector = widest(c, n.lines, &Line::vector, viz::FontStyle::regular) + 2 * u,
              shape = widest(c, n.lines, &Line::shape, viz::FontStyle::regular) + 3 * u;
  const float least = 8 * em;  // minimum width of a strip
  if (right - left - norm >= least) {
    l.norm = right;
    right -= norm;
  }
  if (right - left - vector >= least) {
    l.vector = left;
    left += vector;
  }
  if (right - left - shape >= 1.5F * least) {
    l.shape = left;
    left += shape;
  }
  float y = area.y;
  if (l.norm > 0 && area.h >= pitch * static_cast<float>(n.lines.size()) + 2 * line + 2 * u) {
    l.heading = y + line / 2;
    y += line;
  }
  for (const Line& of : n.lines) {
    StepPlace place;
    place.row = {area.x, y, area.w, pitch};
    const float middle = y + pitch / 2, top = std::round(middle - box_h / 2);
    if (is_branch(of.step)) {
      place.box = {area.x + indent, top, boxes - indent, box_h};
    } else if (of.name.empty()) {
      const float r = std::min(0.6F * em, box_h / 2);
      place.box = {l.stream - r, middle - r, 2 * r, 2 * r};
    } else {
      place.box = {area.x, top, boxes, box_h};
    }
    if (right - left >= 4 * em) place.strip = {left, top, right - left, box_h};
    l.places.push_back(place);
    y += pitch;
  }
}

constexpr float kMinChart = 1.5F;  // ems

/// Room under the charts for the layers.
float labels_height(const viz::Style& style) {
  return style.line(style.small()) + 2 * style.unit();
}

/// Places as many charts as fit, below each other.
void place_charts(Layout& l, const ViewContext& c, const TokenPass& pass, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, title = chart_title_height(style), labels = labels_height(style),
              gap = 3 * style.unit();
  // By importance: the added norms first, the cosines last.
  static const std::array<std::vector<Chart>, kCharts> kShown{
      {{kAdded}, {kNorms, kAdded}, {kNorms, kAdded, kCosines}}};
  for (std::size_t count = kCharts; count > 0; --count) {
    const auto n = static_cast<float>(count);
    const float h = (area.h - labels - n * title - (n - 1) * gap) / n;
    if (h < (count == 1 ? kMinChart : 3.2F) * em) continue;
    float numbers = 0;
    for (const Chart which : kShown[count - 1])
      numbers = std::max(numbers,
                         std::ceil(chart_of(c, pass, which).axis(h, style).widest(style)) + 2 * style.unit());
    if (area.w - numbers < 6 * em) return;
    float y = area.y;
    for (const Chart which : kShown[count - 1]) {
      l.plots.emplace_back(which, viz::Rect{area.x + numbers, y + title, area.w - numbers, h});
      y += title + h + gap;
    }
    return;
  }
}

}  // namespace

bool is_normalized(int step) {
  return step == kLn1 || step == kLn2 || step == kLnF;
}

viz::Color attention_color(const ViewContext& c) {
  return viz::categorical(*c.theme, 2);
}
viz::Color mlp_color(const ViewContext& c) {
  return viz::categorical(*c.theme, 3);
}

Numbers numbers_of(const ViewContext& c, const TokenPass& pass) {
  Numbers n;
  n.lines = lines_of(c, pass);
  n.stream = scale_of(n.lines, false);
  n.normalized = scale_of(n.lines, true);
  return n;
}

const Line* line_of(const Numbers& n, int step) {
  const auto found = std::ranges::find(n.lines, step, &Line::step);
  return found == n.lines.end() ? nullptr : &*found;
}

Step input_of(const Numbers& n) {
  return line_of(n, kBefore) ? kBefore : kEmbedding;
}

// ---- the charts of all layers ----

int column_of(int layer, bool mlp) {
  return 2 * (layer + 1) + mlp;
}

viz::NumberAxis ColumnChart::axis(float height, const viz::Style& style) const {
  constexpr int kMax = 5;
  viz::NumberAxis axis{low, high};
  // A single tick says nothing about the axis.
  for (int wanted = viz::upright_tick_count(height, kMax, style); wanted <= kMax && axis.ticks.size() < 2;
       ++wanted)
    axis.ticks = viz::labelled_ticks(low, high, wanted);
  return axis;
}

float chart_title_height(const viz::Style& style) {
  return style.line(style.small()) + style.unit();
}

ColumnChart chart_of(const ViewContext& c, const TokenPass& pass, Chart which) {
  ColumnChart chart;
  const auto layers = static_cast<std::size_t>(c.run->run->config.n_layer);
  chart.values.assign(2 * layers + 2, std::numeric_limits<float>::quiet_NaN());
  chart.colors.assign(2 * layers + 2, c.theme->text_muted);
  if (which == kNorms) chart.values[1] = static_cast<float>(pass.embedded_norm);
  for (std::size_t i = 0; i < layers; ++i) {
    chart.colors[2 * i + 2] = attention_color(c);
    chart.colors[2 * i + 3] = mlp_color(c);
    if (i >= pass.blocks.size()) continue;
    const BlockPass& block = *pass.blocks[i];
    const auto [first, second] = which == kNorms   ? std::pair(block.mid_norm, block.post_norm)
                                 : which == kAdded ? std::pair(block.attn_norm, block.mlp_norm)
                                                   : std::pair(block.attn_cosine, block.mlp_cosine);
    chart.values[2 * i + 2] = static_cast<float>(first);
    chart.values[2 * i + 3] = static_cast<float>(second);
  }
  const viz::ValueRange range = viz::value_range(viz::Matrix::row(chart.values));
  if (which == kCosines) {
    chart.base = 1;
    chart.low = std::max(-1.0, 1 - axis_end(1 - static_cast<double>(range.low)));
  } else {
    chart.high = axis_end(static_cast<double>(range.high));
  }
  const std::string difference = "difference", streams = "the stream's " + difference,
                    added = difference + " in what is added";
  const std::array<std::vector<std::string>, kCharts> difference_titles{
      {{"norm of " + streams + " after each addition", "norm of " + streams, "stream's " + difference,
        "norm"},
       {"norm of the " + added + ": attention left, MLP right", "norm of the " + added, added, "added"},
       {"cosine of " + streams + " before and after the addition", "cosine of the differences",
        "of differences"}}};
  static const std::array<std::vector<std::string>, kCharts> titles{
      {{"norm of the residual stream after each addition", "norm of the residual stream", "residual stream",
        "norm"},
       {"norm of what is added: attention left, MLP right", "norm of what is added", "added"},
       {"cosine of the stream before and after the addition", "cosine before · after", "cosine"}}};
  chart.titles = (c.side == Side::difference ? difference_titles : titles)[which];
  return chart;
}

Layout lay_out(const ViewContext& c, const Numbers& n, const TokenPass& pass, viz::Rect area) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const auto count = static_cast<float>(n.lines.size());
  const float least = line + u / 2, legend = line + 2 * u;
  Layout l;
  if (area.h < count * least || area.w < 14 * em) return l;
  // A chart of all layers is more important than the legend of colours.
  const float one = chart_title_height(style) + labels_height(style) + kMinChart * em + u;
  const bool wide = area.w >= 60 * em && area.h >= 26 * em,
             low = area.w >= 28 * em && area.h < count * least + one;
  if (wide || low) {
    const float gap = (wide ? 3.F : 1.5F) * em, w = std::round(0.56F * (area.w - gap));
    l.drawing = {area.x, area.y, w, area.h};
    const float pitch = std::floor(std::clamp((area.h - legend - line) / count, least, 5.6F * em));
    place_lines(l, c, n, pitch);
    float bottom = l.places.back().row.bottom();
    if (area.bottom() - bottom >= legend) {
      l.legend = bottom + u + line / 2;
      bottom = l.legend + line / 2;
    }
    place_charts(l, c, pass, {area.x + w + gap, area.y, area.w - w - gap, bottom - area.y});
    return l;
  }
  constexpr float kChartHeight = 6;  // ems: the charts get this before the lines get more than they need
  const float charts = kCharts * kChartHeight * em;
  const float pitch = std::floor(std::clamp((area.h - legend - line - charts) / count, least, 2.4F * em));
  const float drawn = pitch * count + legend;
  const float heading = c.printed || area.h - drawn >= charts / 2 ? line + 2 * u : 0;
  l.drawing = {area.x, area.y, area.w, drawn + heading};
  place_lines(l, c, n, pitch);
  float y = l.places.back().row.bottom();
  const float room = area.bottom() - y;
  if (room >= legend + one || (room < one && room >= legend)) {
    l.legend = y + u + line / 2;
    y += legend + u;
  }
  place_charts(l, c, pass, {area.x, y + u, area.w, area.bottom() - y - u});
  return l;
}

// ---- edges between the steps ----

std::vector<Edge> edges_of(const Numbers& n, const Layout& l, const viz::Style& style) {
  const float bend = l.stream + 1.1F * style.font_size;  // x of the branch's output
  std::vector<Edge> edges;
  std::size_t on_stream = 0;  // the last step on the stream
  const auto edge = [&](std::size_t from, std::size_t to, std::vector<viz::Point> points) {
    edges.push_back({n.lines[from].step, n.lines[to].step, std::move(points)});
  };
  for (std::size_t i = 1; i < n.lines.size(); ++i) {
    const Step step = n.lines[i].step;
    const viz::Rect &box = l.places[i].box, &before = l.places[i - 1].box, &from = l.places[on_stream].box;
    const viz::Point middle = box.center();
    if (step == kLn1 || step == kLn2) {
      edge(on_stream, i, {{l.stream, from.bottom()}, {l.stream, middle.y}, {box.x, middle.y}});
    } else if (is_branch(step)) {
      edge(i - 1, i, {{middle.x, before.bottom()}, {middle.x, box.y}});
    } else {
      if (is_branch(n.lines[i - 1].step))
        edge(i - 1, i,
             {{before.x, before.center().y},
              {bend, before.center().y},
              {bend, middle.y},
              {box.right(), middle.y}});
      edge(on_stream, i, {{l.stream, from.bottom()}, {l.stream, box.y}});
      on_stream = i;
    }
  }
  return edges;
}

}  // namespace headscope::app::pass_picture
