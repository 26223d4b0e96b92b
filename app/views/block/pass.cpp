#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app::pass {

/// Roles of regions. step, strip: id: index of the line, col: dimension. chart: col: layer.
enum Role { kStep, kStrip, kChart };
enum Chart { kNorms, kAdded, kCosines };  // ids of the charts

constexpr int color_of(bool mlp) {  // see viz::categorical
  return mlp ? 3 : 2;
}

/// In the order of the pass; kBefore and kAfter stand for all blocks before and after the one shown in full.
enum Step {
  kEmbedding,
  kBefore,
  kLn1,
  kAttention,
  kAddAttention,
  kLn2,
  kMlp,
  kAddMlp,
  kAfter,
  kLnF,
  kUnembedding
};

/// One line of the drawing.
struct Line {
  Step step = kEmbedding;
  std::string name;               ///< in its box; empty: an addition
  std::string vector;             ///< its output: "attn_out"
  std::span<const float> values;  ///< values of the chosen token; empty: pending, or none
  std::string words;              ///< what it does
  std::optional<Part> part = {};  ///< of the model, whose view it leads to
  bool edited = false;            ///< an edit acts on it at the chosen token

  /// Whether it is on a branch, not on the residual stream.
  bool is_branch() const { return step == kLn1 || step == kAttention || step == kLn2 || step == kMlp; }
  bool is_normalized() const { return step == kLn1 || step == kLn2 || step == kLnF; }
};

struct Numbers {
  std::vector<Line> lines;
  std::vector<std::span<const float>> vectors;  ///< of the lines
  viz::ColorScale stream, normalized;

  /// The line of a step; null: none.
  const Line* find(Step step) const {
    const auto found = std::ranges::find(lines, step, &Line::step);
    return found == lines.end() ? nullptr : &*found;
  }
};

std::string layers_name(int first, int last) {
  return (first == last ? "block " : "blocks ") + range_words(first, last + 1);
}

std::vector<Line> lines_of(const ViewContext& c, const TokenPass& pass) {
  const model::Config& config = c.config();
  const int layer = c.selection.layer, last = config.n_layer - 1;
  const BlockPass& block = pass.blocks[layer];
  const std::string d = grouped(config.n_embd),
                    blocks =
                        "each block adds its attention and MLP output to the "
                        "residual stream",
                    ln = "the token's vector with mean 0 and variance 1; then gain and bias, not shown",
                    positions = c.selection.query == 0 ? "position 0 alone"
                                                       : "positions 0–" + grouped(c.selection.query);
  // The vectors next to collapsed blocks are of another block than the box says, or of one of its blocks.
  const auto of_layer = [](int at) { return "L" + std::to_string(at) + " "; };
  using model::Site;
  std::vector<Line> lines;
  const auto add = [&](Step step, std::string name, std::string vector, std::span<const float> values,
                       std::string words, std::vector<model::HookPoint> at, std::optional<Part> part = {}) {
    const bool edited = std::ranges::any_of(
        at, [&](const model::HookPoint& point) { return is_edited_at(c, point, c.selection.query); });
    if (edited) vector += ", edited";
    lines.push_back({step, std::move(name), std::move(vector), values, std::move(words), part, edited});
  };
  std::vector<model::HookPoint> embedded{{Site::embed}, {Site::pos_embed}};
  if (layer == 0) embedded.push_back({Site::resid_pre, 0});
  add(kEmbedding, "embed", "wte + wpe", pass.resid(0), "the token's row of wte + its position's row of wpe",
      embedded, Part::embedding);
  if (layer > 0)
    add(kBefore, layers_name(0, layer - 1), of_layer(layer) + "resid_pre", pass.resid(layer),
        blocks + ", which block " + std::to_string(layer) + " then reads", {{Site::resid_pre, layer}});
  add(kLn1, "ln_1", "normalized", block.ln_1, ln, {{Site::ln1_scale, layer}, {Site::ln1_normalized, layer}});
  add(kAttention, "attention", "attn_out", block.attn_out,
      grouped(config.n_head) + " heads of " + grouped(config.d_head()) + ", over " + positions,
      {{Site::attn_out, layer}}, Part::attention);
  add(kAddAttention, "", "resid_mid", block.resid_mid, "the residual stream + what attention adds",
      {{Site::resid_mid, layer}});
  add(kLn2, "ln_2", "normalized", block.ln_2, ln, {{Site::ln2_scale, layer}, {Site::ln2_normalized, layer}});
  add(kMlp, "MLP", "mlp_out", block.mlp_out,
      d + " → " + grouped(config.n_inner) + " → " + d + ", of this position alone", {{Site::mlp_out, layer}},
      Part::mlp);
  add(kAddMlp, "", "resid_post", block.resid_post, "the residual stream + what the MLP adds",
      {{Site::resid_post, layer}});
  if (layer < last)
    add(kAfter, layers_name(layer + 1, last), of_layer(last) + "resid_post", pass.resid(last + 1), blocks,
        {{Site::resid_post, last}});
  add(kLnF, "ln_f", "normalized", pass.ln_f, ln, {{Site::ln_final_scale}, {Site::ln_final_normalized}});
  add(kUnembedding, "unembed", "logits", {}, "a logit for each of " + grouped(config.vocab_size) + " tokens",
      {{Site::logits}}, Part::unembedding);
  return lines;
}

Numbers numbers_of(const ViewContext& c, const TokenPass& pass) {
  Numbers n;
  n.lines = lines_of(c, pass);
  std::vector<float> stream, normalized;
  for (const Line& line : n.lines) {
    n.vectors.push_back(line.values);
    std::vector<float>& all = line.is_normalized() ? normalized : stream;
    all.insert(all.end(), line.values.begin(), line.values.end());
  }
  n.stream = strip_scale(stream), n.normalized = strip_scale(normalized);
  return n;
}

// ---- the steps ----

/// An edge to the last of the points, where it has an arrow head.
void paint_edge(viz::Scene& scene, std::vector<viz::Point> points, viz::Color color,
                const viz::Style& style) {
  const viz::Point tip = points.back(), back = points[points.size() - 2];
  const float length = std::hypot(tip.x - back.x, tip.y - back.y),
              head = std::min(1.25F * style.unit(), 0.8F * length);
  if (length > 0) {
    const viz::Point by{(tip.x - back.x) / length * head, (tip.y - back.y) / length * head};
    points.back() = {tip.x - by.x, tip.y - by.y};
    scene.add(viz::FillPolygon{{tip,
                                {tip.x - by.x - 0.6F * by.y, tip.y - by.y + 0.6F * by.x},
                                {tip.x - by.x + 0.6F * by.y, tip.y - by.y - 0.6F * by.x}},
                               color});
  }
  scene.add(viz::Polyline{std::move(points), color, 1.5F});
}

void paint_box(viz::Scene& scene, const ViewContext& c, const Line& line, const viz::Rect& box) {
  const viz::Style style = style_of(c);
  const bool colored = line.step == kAttention || line.step == kMlp;
  const viz::Color color =
      colored ? viz::categorical(*c.theme, color_of(line.step == kMlp)) : c.theme->text_muted;
  if (line.name.empty()) {
    const float arm = 0.55F * box.w / 2;
    const viz::Point at = box.center();
    scene.add(viz::FillRect{box, c.theme->surface, box.w / 2});
    scene.add(viz::StrokeRect{box, color, 1.5F, box.w / 2});
    scene.add(viz::Segments{{{at.x - arm, at.y}, {at.x + arm, at.y}, {at.x, at.y - arm}, {at.x, at.y + arm}},
                            c.theme->text,
                            1.5F});
    return;
  }
  scene.add(viz::FillRect{
      box, colored ? viz::blended(c.theme->surface, color.with_alpha(40)) : c.theme->raised, style.unit()});
  scene.add(viz::StrokeRect{box, color, 1, style.unit()});
  viz::add_label(scene, style, line.name, box.center(), style.small(), c.theme->text, viz::FontStyle::medium,
                 viz::Align::center, box.w);
}

/// The steps' boxes and the edges between them, from the cell of the first line on.
void paint_steps(viz::Scene& scene, const ViewContext& c, const Numbers& n, const viz::Rect& first) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, pitch = first.h + 2, u = style.unit();  // cells keep apart by 2
  const float stream = first.x + 0.9F * em, bend = stream + 1.1F * em;      // x of the branch's output
  const auto box_of = [&](std::size_t i) -> viz::Rect {
    const float h = std::max(first.h - 1.5F * u, style.line(style.small())),
                y = first.center().y + static_cast<float>(i) * pitch;
    const float r = std::min(0.6F * em, h / 2), indent = n.lines[i].is_branch() ? 2.6F * em : 0;
    if (n.lines[i].name.empty()) return {stream - r, y - r, 2 * r, 2 * r};
    return {first.x + indent, y - h / 2, first.w - indent, h};
  };
  const auto edge = [&](std::vector<viz::Point> points) {
    paint_edge(scene, std::move(points), c.theme->text_muted, style);
  };
  std::size_t on_stream = 0;  // the last step on the stream
  for (std::size_t i = 1; i < n.lines.size(); ++i) {
    const Line& line = n.lines[i];
    const viz::Rect box = box_of(i), before = box_of(i - 1), from = box_of(on_stream);
    const viz::Point middle = box.center();
    if (line.step == kLn1 || line.step == kLn2) {
      edge({{stream, from.bottom()}, {stream, middle.y}, {box.x, middle.y}});
    } else if (line.is_branch()) {
      edge({{middle.x, before.bottom()}, {middle.x, box.y}});
    } else {
      if (n.lines[i - 1].is_branch())
        edge({{before.x, before.center().y},
              {bend, before.center().y},
              {bend, middle.y},
              {box.right(), middle.y}});
      edge({{stream, from.bottom()}, {stream, box.y}});
      on_stream = i;
    }
  }
  for (std::size_t i = 0; i < n.lines.size(); ++i) paint_box(scene, c, n.lines[i], box_of(i));
}

/// What a click on a step does, in words and actions; empty: nothing.
MenuLine choice_of(const Line& line) {
  if (line.step == kBefore) return {"Show the previous block", {MoveHead{-1, 0}}};
  if (line.step == kAfter) return {"Show the next block", {MoveHead{1, 0}}};
  if (!line.part) return {};
  return {"Show the view " + std::string(view_of(*line.part)->title), {ShowPart{*line.part}}};
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const auto line = [&n](int row) -> const Line& { return n.lines[row]; };
  const auto none = [line](int row) { return line(row).values.empty(); };
  const viz::Color muted = c.theme->text_muted;
  const float steps = 8.5F * c.font_size;
  auto list = std::make_unique<List>(c, kStep, static_cast<int>(n.lines.size()));
  list->least_width = is_slide(c) ? 27.5F : 40, list->good_width = 44;  // shapes, too
  list->table.vector_role = kStrip;
  list->text("", 9, [](int) { return std::string(); }, {.least = steps, .most = steps}).draw =
      [&n](viz::Scene& scene, const ViewContext& now, int row, viz::Rect cell) {
        if (row == 0) paint_steps(scene, now, n, cell);  // all of them at once
      };
  list->text("vector", 5, [line](int row) { return line(row).vector; }, {.color = muted});
  const auto shape = [&c, line](int row) {
    const model::Config& config = c.config();
    return grouped(c.run->run->length()) + " × " +
           grouped(line(row).step == kUnembedding ? config.vocab_size : config.n_embd);
  };
  list->text("shape", 0, shape, {.color = muted});
  ListColumn& strips =
      list->strip("value", 8, 0, n.vectors, {.least = 9 * c.font_size, .most = 1e4F, .blank = none});
  for (const Line& of : n.lines) strips.scales.push_back(of.is_normalized() ? n.normalized : n.stream);
  list->number(c.differs() ? "norm of Δ" : "norm", 6, [line](int row) { return norm_of(line(row).values); },
               {.color = muted, .blank = none})
      .text = [line](int row) { return viz::number(norm_of(line(row).values), 4); };
  list->on_click = [line](const ViewContext&, int row) { return choice_of(line(row)).actions; };
  return list;
}

// ---- charts of all layers ----

/// A number of each block's attention and of its MLP.
template <class NumberOf>
BoxPtr chart_of(Content& it, const TokenPass& pass, Chart id, std::string title, const NumberOf& number_of,
                std::string x_title = {}) {
  viz::CurveChart chart;
  double low = 1, high = 0;
  for (const bool of_mlp : {false, true}) {
    std::vector<float> values;
    for (const BlockPass& block : pass.blocks) {
      const double value = number_of(block, of_mlp);
      values.push_back(static_cast<float>(value));
      if (value < low) low = value;
      if (value > high) high = value;
    }
    add_curve(chart, it, of_mlp ? "MLP" : "attention", color_of(of_mlp), std::move(values));
  }
  chart.id = id;
  chart.count = it.c.config().n_layer;
  chart.marked_x = it.c.selection.layer + 0.5, chart.mark_color = it.c.theme->text_muted;
  chart.low = id == kCosines ? std::max(-1.0, 1 - viz::round_limit(1 - low)) : 0;
  chart.high = id == kCosines ? 1 : viz::round_limit(1.02 * high);
  const auto height = [x = x_title.empty() ? 0.F : 3.F](float) {
    return Wish{3.4F + 0.7F * x, 8 + x, 16 + x};
  };
  return curve_box(std::move(chart), std::move(title), std::move(x_title), height,
                   {kChart, [](const viz::Region&, int, int layer) { return Ref{.layer = layer}; }});
}

BoxPtr charts_of(Content& it, const TokenPass& pass) {
  const std::string of = it.c.differs() ? "the difference in " : "";
  const auto norm_after = [](const BlockPass& block, bool mlp) {
    return norm_of(mlp ? block.resid_post : block.resid_mid);
  };
  const auto norm_added = [](const BlockPass& block, bool mlp) {
    return norm_of(mlp ? block.mlp_out : block.attn_out);
  };
  const auto cosine = [](const BlockPass& block, bool mlp) { return block.cosine(mlp); };
  return rows(boxes(
      may_be_left_out(chart_of(it, pass, kNorms, "norm of " + of + "the stream after", norm_after), "norms",
                      2),
      may_be_left_out(chart_of(it, pass, kCosines, "cosine of " + of + "the stream before and after", cosine),
                      "cosines"),
      chart_of(it, pass, kAdded, "norm of " + of + "what is added", norm_added, "layer")));
}

/// Says what a layer adds.
void add_layer(Facts& facts, const ViewContext& c, const TokenPass& pass, int layer) {
  const BlockPass& block = pass.blocks[layer];
  const std::string of = difference_prefix(c);
  const auto say = [&](const std::string& part, double before, double added, double after, double cosine) {
    facts.number(part + " adds a vector of norm", added);
    facts.say(of + "stream's norm " + viz::number(before, 5) + " → " + viz::number(after, 5));
    if (!std::isnan(cosine)) facts.number("cosine of " + of + "the stream before and after", cosine);
  };
  const double middle = norm_of(block.resid_mid);
  say("attention", norm_of(pass.resid(layer)), norm_of(block.attn_out), middle, block.cosine(false));
  say("MLP", middle, norm_of(block.mlp_out), norm_of(block.resid_post), block.cosine(true));
  for (const bool mlp : {false, true}) add_part_edits(facts.commands, c, layer, mlp);
}

// ---- what is said ----

/// The summands of an addition's component.
void add_summands(Facts& facts, const Numbers& n, const Line& line, int dimension) {
  if (!line.name.empty()) return;
  const bool mlp = line.step == kAddMlp;
  const auto say = [&](const std::string& words, Step of) {
    facts.say(words + exact(n.find(of)->values[dimension]));
  };
  say(mlp ? "resid_mid " : "resid_pre ", mlp ? kAddAttention : n.find(kBefore) ? kBefore : kEmbedding);
  say(mlp ? "+ mlp_out " : "+ attn_out ", mlp ? kMlp : kAttention);
  say(line.edited ? "edited to " : "= ", line.step);
}

void add_step_facts(Facts& facts, const ViewContext& c, const Line& line) {
  facts.say(line.name.empty() ? line.vector : line.name);
  facts.say(line.words);
  if (MenuLine choice = choice_of(line); !choice.label.empty()) {
    facts.tip("click: " + choice.label);
    facts.commands.push_back(std::move(choice));
  }
  if (line.step == kAttention || line.step == kMlp)
    add_part_edits(facts.commands, c, c.selection.layer, line.step == kMlp);
}

/// A row for the embedding, and for each layer four: what attention adds, the stream, what the MLP adds, the
/// stream; before them the stream that enters a block if edits make it another than left the block before.
Table table(const ViewContext& c, const TokenPass& pass) {
  Table result{
      key_column("layer"), "vector", c.differs() ? "norm of the difference" : "norm",
      c.differs() ? "cosine of the differences before and after" : "cosine of the stream before and after"};
  result.add_components(c.config().n_embd);
  add_query_facts(result, c);
  const auto add = [&](std::optional<std::size_t> layer, const char* name, const std::vector<float>& vector,
                       std::optional<double> cosine = {}) {
    add_row(result, layer, name, norm_of(vector), cosine, vector);
  };
  add({}, "wte + wpe", pass.resid(0));
  for (std::size_t i = 0; i < pass.blocks.size(); ++i) {
    const BlockPass& block = pass.blocks[i];
    if (i > 0 && block.resid_pre != pass.blocks[i - 1].resid_post) add(i, "resid_pre", block.resid_pre);
    add(i, "attn_out", block.attn_out);
    add(i, "resid_mid", block.resid_mid, block.cosine(false));
    add(i, "mlp_out", block.mlp_out);
    add(i, "resid_post", block.resid_post, block.cosine(true));
  }
  return result;
}

/// "; next “·the” 39.5 %", the most probable token; empty while it is not known.
std::string best_guess(const ViewContext& c, const NextToken* next) {
  if (next == nullptr || next->logits.empty()) return "";
  const auto best = std::ranges::max_element(next->logits);
  const double probability = std::exp(static_cast<double>(*best) - model::log_sum_exp(next->logits));
  return "; next “" + label_of(c, static_cast<int>(best - next->logits.begin())) + "” " +
         percent(probability);
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  const auto answer = it.need(PassOfToken{c.chosen_query});
  const auto next = current_next(c);
  if (it.lacks_counterpart() || !answer) return;
  const TokenPass& pass = *it.keep(answer);
  const Numbers& n = it.keep(numbers_of(c, pass));
  it.title = "Forward pass of " + token_name(c.run->tokens, c.selection.query);
  it.subtitle = "block " + std::to_string(c.selection.layer) + " expanded" + best_guess(c, next.get());
  std::vector<std::span<const float>> vectors{pass.resid(0), pass.ln_f};
  for (const BlockPass& block : pass.blocks)
    for (const auto* vector : {&block.attn_out, &block.resid_mid, &block.mlp_out, &block.resid_post})
      vectors.emplace_back(*vector);
  it.same = are_zero(vectors);
  it.table = [&] { return table(c, pass); };
  for (const Line& line : n.lines)
    if (line.edited) it.subtitle += "; " + line.vector;
  auto list = list_of(c, n);
  list->row_facts = [&](Facts& facts, int row) { add_step_facts(facts, c, n.lines[row]); };
  it.facts = [&](Facts& facts, const ViewContext&, const Spot& at) {
    if (at.region.role == kChart) add_layer(facts, c, pass, at.hit.col);
    if (at.region.role == kStrip) add_summands(facts, n, n.lines[at.region.id], at.hit.col);
  };
  it.on = arrows({1, 0});
  const std::string value = c.differs() ? "difference" : "value";
  BoxPtr steps = rows(
      boxes(std::move(list), beside(boxes(legend(n.stream, value), legend(n.normalized, "normalized")))));
  it.body = beside(boxes(std::move(steps), may_be_left_out(charts_of(it, pass), "the charts")));
}

View view() {
  View view = make_view("pass", "Forward pass", declare,
                        "the forward pass of one token: what each step computes, and how far each layer "
                        "moves the residual stream");
  view.landmarks = {{"norm of what is added", kChart, always<kAdded>}};
  return view;
}

}  // namespace headscope::app::pass
