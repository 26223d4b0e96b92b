#include "app/run/analyses/vectors.h"
#include "app/views/block/pass_layout.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace pass {

using namespace pass_picture;

void paint_edge(viz::Scene& scene, const Edge& edge, viz::Color color, float width, const viz::Style& style) {
  const viz::Point tip = edge.points.back(), back = edge.points[edge.points.size() - 2];
  const float length = std::hypot(tip.x - back.x, tip.y - back.y),
              head = std::min(1.25F * style.unit(), 0.8F * length);
  std::vector<viz::Point> points = edge.points;
  if (length > 0) {
    const viz::Point by{(tip.x - back.x) / length * head, (tip.y - back.y) / length * head};
    points.back() = {tip.x - by.x, tip.y - by.y};
    scene.add(viz::FillPolygon{{tip,
                                {tip.x - by.x - 0.6F * by.y, tip.y - by.y + 0.6F * by.x},
                                {tip.x - by.x + 0.6F * by.y, tip.y - by.y - 0.6F * by.x}},
                               color});
  }
  scene.add(viz::Polyline{std::move(points), color, width});
}

viz::Color box_color(const ViewContext& c, Step step) {
  if (step == kAttention) return attention_color(c);
  if (step == kMlp) return mlp_color(c);
  return c.theme->text_muted;
}

void paint_box(Picture& picture, const ViewContext& c, const Line& line, const StepPlace& place) {
  const viz::Style style = style_of(c);
  const viz::Rect& box = place.box;
  const viz::Color color = box_color(c, line.step);
  if (line.name.empty()) {
    const float arm = 0.55F * box.w / 2;
    const viz::Point at = box.center();
    picture.scene.add(viz::FillRect{box, c.theme->surface, box.w / 2});
    picture.scene.add(viz::StrokeRect{box, color, 1.5F, box.w / 2});
    picture.scene.add(
        viz::Segments{{{at.x - arm, at.y}, {at.x + arm, at.y}, {at.x, at.y - arm}, {at.x, at.y + arm}},
                      c.theme->text,
                      1.5F});
    return;
  }
  const bool colored = line.step == kAttention || line.step == kMlp;
  picture.scene.add(viz::FillRect{
      box, colored ? viz::blended(c.theme->surface, color.with_alpha(40)) : c.theme->raised, style.unit()});
  picture.scene.add(viz::StrokeRect{box, color, 1, style.unit()});
  viz::add_label(picture.scene, style, line.name, box.center(), style.small(), c.theme->text,
                 viz::FontStyle::medium, viz::Align::center, box.w);
}

/// "next “·the” 31.2 %", the most probable token, shortened in a narrow room; empty while it is not known.
std::string best_guess(const ViewContext& c, const NextToken* next, float room) {
  if (next == nullptr || next->logits.empty()) return "";
  const auto best = std::ranges::max_element(next->logits);
  double sum = 0;
  for (const float logit : next->logits)
    sum += std::exp(static_cast<double>(logit) - static_cast<double>(*best));
  const std::string token = "“" + label_of(c, static_cast<int>(best - next->logits.begin())) + "”";
  const std::string likely = token + " " + percent(1 / sum);
  const viz::Style style = style_of(c);
  for (const std::string& words : {"next " + likely, likely})
    if (style.width(words, style.small(), viz::FontStyle::medium) <= room) return words;
  return token;
}

void paint_lines(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l,
                 const NextToken* next) {
  const viz::Style style = style_of(c);
  const auto word = [&](std::string_view words, viz::Point at, viz::Align align = viz::Align::left,
                        float most = 1e9F) {
    viz::add_label(picture.scene, style, words, at, style.small(), c.theme->text_muted,
                   viz::FontStyle::regular, align, most);
  };
  for (const Edge& edge : edges_of(n, l, style))
    paint_edge(picture.scene, edge, c.theme->text_muted, 1.5F, style);
  if (l.heading > 0) {
    word(c.side == Side::difference ? "norm of Δ" : "norm", {l.norm, l.heading}, viz::Align::right);
    if (l.shape > 0) word("shape", {l.shape, l.heading});
    if (l.vector > 0) word("vector", {l.vector, l.heading});
  }
  bool waiting = false;
  for (std::size_t i = 0; i < n.lines.size(); ++i) {
    const Line& line = n.lines[i];
    const StepPlace& place = l.places[i];
    const float middle = place.row.center().y;
    viz::Region& region = picture.regions.emplace_back();
    region = {.role = kStep, .id = line.step, .rect = place.row};
    if (place.strip.w > 0 && line.step != kUnembedding) region.rect.w = place.strip.x - place.row.x;
    paint_box(picture, c, line, place);
    if (l.vector > 0) word(line.vector, {l.vector, middle});
    if (l.shape > 0) word(line.shape, {l.shape, middle});
    const viz::Rect& strip = place.strip;
    if (line.step == kUnembedding) {
      if (strip.w > 0)
        viz::add_label(picture.scene, style, best_guess(c, next, strip.w), {strip.x, middle}, style.small(),
                       c.theme->text, viz::FontStyle::medium, viz::Align::left, strip.w);
    } else if (line.values.empty()) {
      if (!waiting && strip.w > 0) word(kComputing, {strip.x, middle}, viz::Align::left, strip.w);
      waiting = true;
    } else {
      if (strip.w > 0)
        viz::paint_vector_strip(
            picture,
            {line.values, is_normalized(line.step) ? n.normalized : n.stream, kStrip, line.step, line.step},
            strip, style);
      if (l.norm > 0) word(viz::number(norm_of(line.values), 4), {l.norm, middle}, viz::Align::right);
    }
  }
}

void paint_legend(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l) {
  const viz::Style style = style_of(c);
  const float from = l.places.front().strip.x, right = l.drawing.right();
  if (l.places.front().strip.w <= 0 || l.legend <= 0) return;
  // Under the strips, or from the margin if that leaves too little room.
  const bool is_difference = c.side == Side::difference;
  viz::Scene stream, normalized;
  const float first =
      viz::paint_color_scale_line(stream, n.stream, is_difference ? "difference" : "value", {0, 0}, style);
  const float second = viz::paint_color_scale_line(
      normalized, n.normalized, is_difference ? "difference, normalized" : "normalized", {0, 0}, style);
  const float gap = 4 * style.unit(), both = first + gap + second;
  const float x = from + both <= right ? from : l.drawing.x + both <= right ? right - both : l.drawing.x;
  if (x + both <= right) {
    viz::append(picture.scene, stream, {x, l.legend});
    viz::append(picture.scene, normalized, {x + first + gap, l.legend});
    return;
  }
  // One ramp for both scales, which differ only in their limits.
  const std::string limit = viz::number(n.stream.high, 3), ln = viz::number(n.normalized.high, 3);
  for (const std::string& high : {"+limit, which is " + limit + ", of ln_1, ln_2, ln_f " + ln,
                                  "+limit " + limit + ", of ln " + ln, limit + ", ln " + ln}) {
    viz::Scene ramp;
    const bool bare = high.front() != '+';
    if (l.drawing.x + viz::paint_color_ramp(ramp, n.stream, bare ? "−" : "−limit", bare ? "±" + high : high,
                                            {0, 0}, style) >
        right)
      continue;
    return viz::append(picture.scene, ramp, {l.drawing.x, l.legend});
  }
}

/// Draws the bars in `plot`, with numbers and a title around it.
void paint_columns(Picture& picture, const ViewContext& c, const ColumnChart& chart, Chart which,
                   const viz::Rect& plot) {
  constexpr double kGap = 0.22;  // between pairs, of a pair's width
  viz::Scene& scene = picture.scene;
  const viz::Style style = style_of(c);
  const viz::PlotFrame frame{plot, {}, chart.axis(plot.h, style)};
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
    scene.add(viz::FillRect{{x, std::min(base, to), column, std::abs(base - to)}, chart.colors[i]});
  }
  scene.add_line({plot.x, base}, {plot.right(), base}, style.theme.text_muted);
  const float y = plot.y - chart_title_height(style) / 2;
  for (const std::string& title : chart.titles) {
    if (viz::add_whole_label(scene, style, title, {plot.x, y}, plot.w, style.theme.text,
                             viz::FontStyle::medium))
      break;
  }
  picture.regions.push_back(viz::Region::grid(kChart, which, plot, 1, count));
}

/// The layers under the last chart, as many as there is room for.
void paint_layers(viz::Scene& scene, const ViewContext& c, const viz::Rect& plot) {
  const viz::Style style = style_of(c);
  const int layers = c.run->run->config.n_layer;
  const float pair = plot.w / static_cast<float>(layers + 1);
  const float y = plot.y + plot.h + 1.5F * style.unit() + style.line(style.small()) / 2;
  const auto name_of = [](int i) { return i == 0 ? "emb" : std::to_string(i - 1); };
  float widest = 0;
  for (int i = 0; i <= layers; ++i) widest = std::max(widest, style.width(name_of(i), style.small()));
  const float needed = widest + 2 * style.unit();
  std::vector<int> labelled;
  if (pair >= needed) labelled.push_back(0);
  for (const int layer : viz::labelled_cells(0, layers, layers, pair, needed, c.selection.layer))
    labelled.push_back(layer + 1);
  for (const int i : labelled) {
    const bool marked = i == c.selection.layer + 1;
    viz::add_label(scene, style, name_of(i), {plot.x + (static_cast<float>(i) + 0.5F) * pair, y},
                   style.small(), marked ? style.theme.text : style.theme.text_muted,
                   marked ? viz::FontStyle::medium : viz::FontStyle::regular, viz::Align::center);
  }
  // The first label may extend beyond the plot's edge.
  const int first = labelled.empty() ? 0 : labelled.front();
  const float over =
      style.width(name_of(first), style.small()) / 2 - (static_cast<float>(first) + 0.5F) * pair;
  const float end = plot.x - std::max(0.F, over) - 1.5F * style.unit();
  viz::add_whole_label(scene, style, "layer", {end, y}, end, style.theme.text_muted, viz::FontStyle::regular,
                       viz::Align::right);
}

void paint_charts(Picture& picture, const ViewContext& c, const TokenPass& pass, const Layout& l) {
  for (const auto& [which, plot] : l.plots) paint_columns(picture, c, chart_of(c, pass, which), which, plot);
  if (!l.plots.empty()) paint_layers(picture.scene, c, l.plots.back().second);
}

/// A sentence about what a step does.
std::string words_of(const ViewContext& c, Step step) {
  const model::Config& config = c.run->run->config;
  const int position = c.selection.query;
  switch (step) {
    case kEmbedding:
      return "the token's row of wte + its position's row of wpe";
    case kBefore:
      return "each block adds its attention and MLP output to the residual stream, which block " +
             std::to_string(c.selection.layer) + " then reads";
    case kAfter:
      return "each block adds its attention and MLP output to the residual stream";
    case kLn1:
    case kLn2:
    case kLnF:
      return "the token's vector with mean 0 and variance 1; then gain and bias, not shown";
    case kAttention:
      return grouped(config.n_head) + " heads of " + grouped(config.d_head()) + ", over " +
             (position == 0 ? "position 0 alone" : "positions 0–" + grouped(position));
    case kMlp:
      return grouped(config.n_embd) + " → " + grouped(config.n_inner) + " → " + grouped(config.n_embd) +
             ", of this position alone";
    case kAddAttention:
      return "the residual stream + what attention adds";
    case kAddMlp:
      return "the residual stream + what the MLP adds";
    case kUnembedding:
      return "a logit for each of " + grouped(config.vocab_size) + " tokens";
  }
  return "";
}

/// The part of the model that a step belongs to; none for additions and norms.
std::optional<Part> part_of(Step step) {
  if (step == kEmbedding) return Part::embedding;
  if (step == kAttention) return Part::attention;
  if (step == kMlp) return Part::mlp;
  if (step == kUnembedding) return Part::unembedding;
  return std::nullopt;
}

/// The action of a step: shows its view, or the block before or after.
ViewActions choice_of(Step step) {
  if (step == kBefore) return {MoveHead{-1, 0}};
  if (step == kAfter) return {MoveHead{1, 0}};
  const auto part = part_of(step);
  if (!part || view_of(*part) == nullptr) return {};
  return {ShowPart{*part}};
}

std::string choice_words(Step step) {
  if (step == kBefore) return "the previous block";
  if (step == kAfter) return "the next block";
  const auto part = part_of(step);
  const View* view = part ? view_of(*part) : nullptr;
  return view ? "the view " + std::string(view->title) : "";
}

/// Adds that action to the menu, for another layer if given.
void add_choice(Facts& facts, const ViewContext& c, Step step, std::optional<int> layer = {}) {
  ViewActions choice = choice_of(step);
  if (choice.empty()) return;
  if (layer) choice.insert(choice.begin(), SelectHead{*layer, c.selection.head});
  facts.commands.push_back({"Show " + choice_words(step), std::move(choice)});
}

/// A column of a chart: its place in the model, and the vector added to the stream there.
struct Addition {
  int layer = -1;  ///< -1: the embedding
  bool mlp = false;
  const BlockPass* block = nullptr;  ///< null: pending, or none

  double norm() const { return mlp ? block->mlp_norm : block->attn_norm; }
  double stream() const { return mlp ? block->post_norm : block->mid_norm; }
  double cosine() const { return mlp ? block->mlp_cosine : block->attn_cosine; }
};

/// -1: the embedding.
int layer_of_column(int column) {
  return column / 2 - 1;
}

Addition addition_of(const TokenPass& pass, int column) {
  const int layer = layer_of_column(column);
  const bool known = layer >= 0 && layer < std::ssize(pass.blocks);
  return {layer, column % 2 == 1, known ? pass.blocks[layer].get() : nullptr};
}

/// Highlights the steps that feed one, and the edges between them.
void highlight_steps(viz::Scene& overlay, const ViewContext& c, const Numbers& n, const Layout& l,
                     Step upto) {
  const viz::Style style = style_of(c);
  for (const Edge& edge : edges_of(n, l, style))
    if (edge.to <= upto) paint_edge(overlay, edge, c.theme->accent, 2.5F, style);
  for (std::size_t i = 0; i < n.lines.size(); ++i) {
    if (n.lines[i].step > upto) break;
    const viz::Rect& box = l.places[i].box;
    overlay.add(viz::StrokeRect{box, c.theme->accent, 2, n.lines[i].name.empty() ? box.w / 2 : style.unit()});
  }
}

/// Highlights the columns that feed a step, and frames its own column if it has one.
void highlight_columns(viz::Scene& overlay, const ViewContext& c, const Picture& picture, int before,
                       bool framed) {
  for (const viz::Region& region : picture.regions) {
    if (region.role != kChart) continue;
    const viz::Rect cell = region.cell_rect(0, before);
    const viz::Rect& plot = region.rect;
    overlay.add(
        viz::FillRect{{plot.x, plot.y, std::max(0.F, std::min(cell.x, plot.right()) - plot.x), plot.h},
                      c.theme->accent.with_alpha(36)});
    if (framed) overlay.add(viz::StrokeRect{{cell.x, plot.y, cell.w, plot.h}, c.theme->text, 1});
  }
}

/// The first column that does not come before a step.
int first_column_after(const ViewContext& c, Step step) {
  const int layer = c.selection.layer;
  if (step == kEmbedding) return 0;
  if (step == kBefore) return column_of(layer - 1, true);
  if (step < kAddAttention) return column_of(layer, false);
  if (step < kAddMlp) return column_of(layer, true);
  if (step == kAddMlp) return column_of(layer + 1, false);
  return column_of(c.run->run->config.n_layer, false);
}

std::vector<std::string> chart_words(const ViewContext& c, const TokenPass& pass, const Addition& a) {
  const std::string prefix = difference_prefix(c);
  const std::string stream = "norm of the " + prefix + "residual stream ";
  if (a.layer < 0) return {"embed", stream + viz::number(pass.embedded_norm, 5)};
  std::vector<std::string> lines{"block " + std::to_string(a.layer) + (a.mlp ? ", MLP" : ", attention")};
  if (!a.block) return {lines[0], kComputing};
  const double before = a.mlp ? a.block->mid_norm : pass.resid_norm(a.layer);
  lines.push_back(
      (c.side == Side::difference ? "norm of the difference in what it adds " : "adds a vector of norm ") +
      viz::number(a.norm(), 5));
  lines.push_back(stream + viz::number(before, 5) + " → " + viz::number(a.stream(), 5));
  if (!std::isnan(a.cosine()))
    lines.push_back((c.side == Side::difference ? "cosine of the differences before and after it "
                                                : "cosine of the stream before and after it ") +
                    viz::number(a.cosine(), 5));
  return lines;
}

/// One dimension in a strip; for an addition all of its summands.
std::vector<std::string> dimension_words(const ViewContext& c, const Numbers& n, Step step, int dimension) {
  const auto value = [&](std::string words, Step of) {
    const Line* line = line_of(n, of);
    return std::move(words) + (line && !line->values.empty() ? exact(line->values[dimension]) : "…");
  };
  const std::string name = difference_prefix(c) + ("dimension " + std::to_string(dimension));
  const bool is_sum = !line_of(n, step)->edited;
  if (step == kAddAttention)
    return {name, value("resid_pre ", input_of(n)), value("+ attn_out ", kAttention),
            value(is_sum ? "= " : "edited to ", step)};
  if (step == kAddMlp)
    return {name, value("resid_mid ", kAddAttention), value("+ mlp_out ", kMlp),
            value(is_sum ? "= " : "edited to ", step)};
  return {name, value(line_of(n, step)->vector + " ", step)};
}

/// A row for the embedding, and for each layer four: what attention adds, the stream, what the MLP adds, the
/// stream; before them the stream that enters a block if edits make it another than left the block before.
Table table(const ViewContext& c, const TokenPass& pass) {
  const bool is_difference = c.side == Side::difference;
  Table result{
      key_column("layer"), "vector", is_difference ? "norm of the difference" : "norm",
      is_difference ? "cosine of the differences before and after" : "cosine of the stream before and after"};
  result.add_components(c.run->run->config.n_embd);
  add_query_facts(result, c);
  add_row(result, std::nullopt, "wte + wpe", pass.embedded_norm, std::nullopt, pass.embedded);
  for (std::size_t i = 0; i < pass.blocks.size(); ++i) {
    const BlockPass& block = *pass.blocks[i];
    if (i > 0 && block.resid_pre != pass.blocks[i - 1]->resid_post)
      add_row(result, i, "resid_pre", block.pre_norm, std::nullopt, block.resid_pre);
    add_row(result, i, "attn_out", block.attn_norm, std::nullopt, block.attn_out);
    add_row(result, i, "resid_mid", block.mid_norm, block.attn_cosine, block.resid_mid);
    add_row(result, i, "mlp_out", block.mlp_norm, std::nullopt, block.mlp_out);
    add_row(result, i, "resid_post", block.post_norm, block.mlp_cosine, block.resid_post);
  }
  return result;
}

ViewActions click(const ViewContext& c, const viz::Region& region, const viz::Hit& hit) {
  if (region.role != kChart) return choice_of(static_cast<Step>(region.id));
  const int layer = layer_of_column(hit.col);
  if (layer < 0 || layer >= c.run->run->config.n_layer) return {};
  return {SelectHead{layer, c.selection.head}};
}

void add_chart_facts(Facts& facts, const ViewContext& c, const TokenPass& pass, const Addition& a) {
  facts.say(chart_words(c, pass, a));
  if (!a.block) return;
  facts.commands.push_back({"Layer " + std::to_string(a.layer), {SelectHead{a.layer, c.selection.head}}});
  facts.number("norm of what is added", static_cast<float>(a.norm()), Fact::Location::menu);
  facts.number("norm of the stream", static_cast<float>(a.stream()), Fact::Location::menu);
  facts.number("cosine", static_cast<float>(a.cosine()), Fact::Location::menu);
  add_choice(facts, c, a.mlp ? kMlp : kAttention, a.layer);
  add_part_edits(facts.commands, c, a.layer, a.mlp);
}

void add_facts(Facts& facts, const ViewContext& c, const TokenPass& pass, const Numbers& n, const Layout& l,
               const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (region.role == kChart) {
    const Addition a = addition_of(pass, hit.col);
    if (a.layer >= c.run->run->config.n_layer) return;
    const int layer = c.selection.layer;
    highlight_steps(facts.overlay, c, n, l,
                    a.layer < 0        ? kEmbedding
                    : a.layer < layer  ? input_of(n)
                    : a.layer == layer ? (a.mlp ? kMlp : kAttention)
                                       : (line_of(n, kAfter) ? kAfter : kAddMlp));
    highlight_columns(facts.overlay, c, picture, hit.col, true);
    add_chart_facts(facts, c, pass, a);
    return;
  }
  const auto step = static_cast<Step>(region.id);
  add_choice(facts, c, step);
  const Line* line = line_of(n, step);
  if (!line) return;
  highlight_steps(facts.overlay, c, n, l, step);
  highlight_columns(facts.overlay, c, picture, first_column_after(c, step), false);
  facts.say((line->name.empty() ? line->vector : line->name) + "   " + line->shape);
  facts.say(words_of(c, step));
  if (region.role == kStrip && hit.col < std::ssize(line->values)) {
    facts.overlay.add(
        viz::StrokeRect{region.cell_rect(region.id, hit.col).inset(-0.75F), c.theme->text, 1.5F});
    facts.say(dimension_words(c, n, step, hit.col));
    facts.number(line->vector + "[" + std::to_string(hit.col) + "]", line->values[hit.col],
                 Fact::Location::menu);
  }
  if (const std::string to = choice_words(step); !to.empty())
    facts.say("click to show " + to, Fact::Location::tooltip);
  if (!line->values.empty())
    facts.number("norm", static_cast<float>(norm_of(line->values)), Fact::Location::menu);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = it.need(PassOfToken{c.chosen_query});
  const auto next = current_next(c);
  if (it.lacks_counterpart() || !answer) return;
  const TokenPass& pass = *it.keep(answer);
  const Numbers& n = it.keep(numbers_of(c, pass));
  it.title = "Forward pass of " + token_name(c.run->tokens, c.selection.query);
  it.subtitle = "block " + std::to_string(c.selection.layer) + " of 0–" +
                std::to_string(c.run->run->config.n_layer - 1);
  for (const Line& line : n.lines)
    if (line.edited) it.subtitle += "; " + line.vector;
  std::vector<std::span<const float>> vectors{pass.embedded, pass.ln_f};
  for (const auto& block : pass.blocks)
    for (const auto* vector : {&block->attn_out, &block->resid_mid, &block->mlp_out, &block->resid_post})
      vectors.emplace_back(*vector);
  it.same = are_zero(vectors);
  it.table = [&] { return table(c, pass); };
  const auto layout = std::make_shared<Layout>();
  it.facts = [&c, &pass, &n, layout](Facts& facts, const ViewContext&, const Picture& picture,
                                     const viz::Hit& hit) {
    add_facts(facts, c, pass, n, *layout, picture, hit);
  };
  it.on = [](const ViewContext& now, const Picture& picture, const viz::Hit* hit, const Gesture& gesture) {
    if (gesture.kind == Gesture::Kind::click && hit != nullptr)
      return std::optional(click(now, region_of(picture, *hit), *hit));
    return gesture.kind == Gesture::Kind::key ? layers_by_lines(now, gesture) : std::nullopt;
  };
  const auto steps = static_cast<float>(n.lines.size());
  const auto height = [steps](float width) {
    return Wish{1.4F * steps, std::max(2 * steps + 4, 0.7F * width)};
  };
  const auto paint = [&pass, &n, next, layout](Picture& picture, const ViewContext& now, viz::Rect) {
    const bool whole = picture.whole;  // parts left out for lack of room count as not missing
    paint_lines(picture, now, n, *layout, next.get());
    paint_legend(picture, now, n, *layout);
    paint_charts(picture, now, pass, *layout);
    picture.whole = whole;
  };
  it.body =
      custom({14, 80}, height, paint, {.place = [&pass, &n, layout](const ViewContext& now, viz::Rect area) {
               *layout = lay_out(now, n, pass, area);
               return !layout->places.empty();
             }});
}

}  // namespace pass

View pass_view() {
  using namespace pass;
  View view =
      make_view(Group::block, "pass", "Forward pass",
                "the forward pass of one token: what each step computes, and how far each layer moves the "
                "residual stream",
                declare);
  view.caption = {true, false, true};
  view.shows_difference = true;
  view.landmarks = {landmark("steps", kStep), landmark("attention", kStep, kAttention),
                    landmark("MLP", kStep, kMlp), landmark("charts", kChart)};
  return view;
}

}  // namespace headscope::app
