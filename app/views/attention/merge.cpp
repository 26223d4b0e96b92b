#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/parts.h"

namespace headscope::app::merge {

/// Roles of regions. part: id: a head, or after the heads the bias. component, over a part's region: the same
/// id; row: a Vector. strip: id: a Strip. Both have a column for each component.
enum Role { kPart, kComponent, kStrip };
enum Vector { kOwnZ, kOwnPart, kSum };
enum Strip { kZ, kOut, kBefore, kAfter };

const Option<bool> kLargestFirst =
    switch_option("largest-first", "Largest first", "lL",
                  "sort heads by the norm of their output, largest first, instead of by number");

/// The parts of the attention's output: one for each head, and the bias.
struct Numbers {
  std::shared_ptr<const MergedHeads> merged;
  int heads = 0;
  int count = 0;  ///< of the parts that add up to the sum: the heads, the bias, and edits of the sum if any
  // After the parts: their sum, and the residual stream before and after it.
  std::vector<std::string> names;
  std::vector<std::span<const float>> z;      ///< z of each head, [d_head]; empty for the bias
  std::vector<std::span<const float>> parts;  ///< [d_model]
  std::vector<float> norms;
  std::vector<float> along;  ///< components of the parts and the sum in the sum's direction
  double norm = 0;           ///< norm of the sum; the components along it add up to this

  std::span<const float> sum() const { return merged->of.out; }
};

Numbers numbers_of(const ViewContext& c, const std::shared_ptr<const MergedHeads>& merged) {
  const model::Config& config = c.config();
  Numbers n;
  n.merged = merged;
  n.heads = config.n_head;
  const auto d = static_cast<std::size_t>(config.n_embd), d_head = static_cast<std::size_t>(config.d_head());
  for (int head = 0; head < n.heads; ++head) {
    n.names.push_back(head_name(c.selection.layer, head));
    n.z.push_back(std::span(merged->of.z).subspan(head * d_head, d_head));
    n.parts.push_back(std::span(merged->of.results).subspan(head * d, d));
  }
  const auto add = [&](const char* name, const std::vector<float>& vector) {
    n.names.emplace_back(name);
    n.parts.emplace_back(vector);
  };
  add("bias", merged->bias);
  if (!merged->edits.empty()) add("edits", merged->edits);
  n.count = static_cast<int>(n.parts.size());
  n.z.resize(n.parts.size());
  add("sum", merged->of.out);
  add("residual stream before", merged->before);
  add("residual stream after", merged->after);
  n.norm = norm_of(n.sum());
  for (const std::span<const float> part : n.parts) {
    n.norms.push_back(static_cast<float>(norm_of(part)));
    n.along.push_back(n.norm > 0 ? static_cast<float>(dot(part, n.sum()) / n.norm) : 0.F);
  }
  n.along[n.count] = static_cast<float>(n.norm);
  return n;
}

std::vector<NamedStrip> strips_of(const ViewContext& c, const Numbers& n) {
  const model::Config& config = c.config();
  const MergedHeads& m = *n.merged;
  const std::string d = grouped(config.n_embd), shape = shape_of(m.before.size());
  const viz::Theme& t = *c.theme;
  const viz::ColorScale residual = strip_scale(m.after);
  const std::string prefix = delta(c), bias = prefix.empty() ? " + bias" : "";
  using model::Site;
  return {
      {kZ, prefix + "z, side by side", shape_in_heads(config),
       with_edits(c, "each head's sum of weight × value", {Site::z}), t.value, m.of.z, strip_scale(m.of.z),
       n.heads, c.selection.head},
      {kOut, prefix + "z × c_proj.weight" + bias, shape,
       with_edits(c, "weight [" + d + " × " + d + "]: what attention writes", {Site::result, Site::attn_out}),
       t.text, m.of.out, strip_scale(m.of.out)},
      {kBefore, prefix + "residual stream before", shape,
       with_edits(c, "the block's input at this position", {Site::resid_pre}), t.text, m.before, residual},
      {kAfter, prefix + "residual stream after", shape,
       with_edits(c, "with what attention writes", {Site::resid_mid}), t.text, m.after, residual}};
}

const ListRows kRows{kPart, first_row_option("first-part", false, -1), "parts", ListKeys::pages};

/// The parts' own scale, since on that of their sum most would be near white. Strong parts may exceed it.
viz::ColorScale scale_of_parts(const Numbers& n) {
  constexpr double kStrong = 0.03;  // fraction of the values beyond the scale
  std::vector<float> values = n.merged->of.results;
  values.insert(values.end(), n.merged->bias.begin(), n.merged->bias.end());
  return viz::robust_scale(viz::Matrix::row(values), kStrong);
}

/// In files the sum and the residual stream before and after are rows, too.
std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  auto list = std::make_unique<List>(c, kRows, n.count);
  list->refers_to = [&](int row) { return row < n.heads ? Ref{c.selection.layer, row} : Ref(); };
  const auto label = [&](int row) {
    return row < n.heads ? head_title(c, c.selection.layer, row) : n.names[row];
  };
  list->text("part", 9, label, {.file = "part"}).file_cell = [&n](int row) { return n.names[row]; };
  const auto is_no_head = [&n](int row) { return row >= n.heads; };
  ListColumn& z =
      list->strip(delta(c) + std::string("z"), 5, kOwnZ, n.z,
                  {.file = "z", .heading = c.theme->value, .most = 12 * c.font_size, .blank = is_no_head});
  z.scale = strip_scale(n.merged->of.z), z.scale_title = "z";
  ListColumn& part = list->strip(delta(c) + std::string("z × c_proj"), 7, kOwnPart, n.parts,
                                 {.file = "", .heading = c.theme->text, .most = 80 * c.font_size});
  part.scale = scale_of_parts(n), part.scale_title = "parts";
  const int vectors = list->last();
  // Bars of one scale: a part's component along the sum is as long as its norm at most.
  const std::span<const float> parts = std::span(n.norms).first(static_cast<std::size_t>(n.count)),
                               along = std::span(n.along).first(static_cast<std::size_t>(n.count));
  const auto low = std::min(0.0, static_cast<double>(std::ranges::min(along))),
             high = static_cast<double>(std::ranges::max(parts));
  const bool differs = c.differs();
  list->bar(
      differs ? "norm of Δ" : "norm", 8, n.norms,
      {.file = differs ? "norm of the difference" : "norm", .low = low, .high = high, .is_signed = false});
  const int norms = list->last();
  list->bar("along the sum", 6, n.along,
            {.file = "along the sum", .low = low, .high = high, .is_signed = true, .blank = [&n](int row) {
               return row > n.count;
             }});
  viz::FixedCell sum = list->strip_cell(vectors, kSum, "sum", n.sum());
  sum.scale = strip_scale(n.sum());
  // Its norm stands under the components, which add up to it, and not under the norms, which do not.
  const std::string norm = viz::fixed_number(n.norm, viz::decimals_for(n.norm));
  list->table.footer = {{list->cell(0, "sum"), sum, list->cell(norms + 1, norm)}};
  list->rank_by(n.norms);
  if (c.options[kLargestFirst]) list->order_by(n.norms);
  list->table.marked = list->kept = c.selection.head;
  list->least_rows = 4;
  list->table.vector_role = kComponent;
  return list;
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  if (it.lacks_counterpart()) return;
  const auto merged = it.need(MergedHeadsOf{c.selection.layer, std::max(0, c.selection.query)});
  if (!merged) return;
  const Numbers& n = it.keep(numbers_of(c, merged));
  it.title = "Merge and project: " + token_name(c.run->tokens, c.selection.query);
  it.same = are_zero({merged->of.z, n.sum(), merged->before, merged->after});
  it.subtitle = "layer " + std::to_string(c.selection.layer);
  auto strips = std::make_unique<Strips>(kStrip, strips_of(c, n));
  strips->refers_to = [&](const NamedStrip& strip, int component) {
    return strip.id == kZ ? Ref{c.selection.layer, component / c.config().d_head()} : Ref();
  };
  auto list = list_of(c, n);
  std::vector<Swatch> scales = list->scales();
  scales.push_back({.words = "sum", .scale = strip_scale(n.sum())});
  it.on = arrows({0, 1});
  it.table = [&c, &n, &list = *list] {
    Table result = list.exported("", static_cast<int>(n.names.size()));
    result.about("layer", c.selection.layer);
    add_query_facts(result, c);
    return result;
  };
  it.body = rows(
      boxes(may_be_left_out(std::move(strips), "the vectors"), std::move(list), swatches(std::move(scales)),
            remarks({"Parts along the sum add up to its norm; norms do not, as parts may cancel."})));
}

View view() {
  View view = make_view(
      "merge", "Merge", declare,
      "the heads' outputs z side by side, through c_proj into the residual stream, and what each head adds");
  view.options = {&kLargestFirst, &kRows.first};
  view.caption.head = true;
  view.landmarks = {{"head", kPart, [](const ViewContext& c) { return c.selection.head; }},
                    {"residual stream", kStrip, always<kAfter>}};
  return view;
}

}  // namespace headscope::app::merge
