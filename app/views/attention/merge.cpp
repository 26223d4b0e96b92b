#include "app/run/analyses/token_pass.h"
#include "app/run/analyses/vectors.h"
#include "app/views/parts/parts.h"

namespace headscope::app {
namespace merge {

/// Roles of regions. part: id: a head, or after the heads the bias. component, over a part's region: the same
/// id; row: a Vector. strip: id: a Strip. Both have a column for each component.
enum Role { kPart, kComponent, kStrip };
enum Vector { kOwnZ, kOwnPart, kSum };
enum Strip { kZ, kOut, kBefore, kAfter };
constexpr int kStrips = kAfter + 1;
constexpr float kWidest = 80;  // ems

const Option<bool> kLargestFirst = switch_option(
    "largest-first", "Largest first", "lL",
    "sort heads by the norm of their output, largest first, instead of by number", "largest outputs first");
const Option<int> kFirstPart = first_row_option("first-part", false, -1);

MergedHeadsOf question_of(const ViewContext& c) {
  return {c.selection.layer, c.selection.query};
}

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

std::optional<Numbers> numbers_of(const ViewContext& c) {
  const auto merged = c.run ? c.ask(question_of(c)) : nullptr;
  if (!merged) return std::nullopt;
  const model::Config& config = c.run->run->config;
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
  const model::Config& config = c.run->run->config;
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

const ListRows kRows{.role = kPart, .first = kFirstPart, .names = "parts", .keys = ListKeys::pages};

/// The parts' own scale: on that of their sum most would be near white. A strong part may exceed it, which
/// the legend says.
viz::ColorScale scale_of_parts(const Numbers& n) {
  constexpr double kStrong = 0.03;  // fraction of the values beyond the scale
  std::vector<float> values = n.merged->of.results;
  values.insert(values.end(), n.merged->bias.begin(), n.merged->bias.end());
  return viz::robust_scale(viz::Matrix::row(values), kStrong);
}

/// In files the sum and the residual stream before and after are rows, too.
List list_of(const ViewContext& c, const Numbers& n) {
  List list(c, kRows, n.count);
  const auto label = [&](int row) {
    return row < n.heads ? head_label(c, c.selection.layer, row) : n.names[row];
  };
  list.text("part", 9, label, {.file = "part"}).file_cell = [&n](int row) { return n.names[row]; };
  ListColumn& z =
      list.strip(delta(c) + std::string("z"), 5, kOwnZ, n.z,
                 {.file = "z", .heading = c.theme->value, .most = 12 * c.font_size, .blank = [&n](int row) {
                    return row >= n.heads;
                  }});
  z.scale = strip_scale(n.merged->of.z), z.scale_title = "z";
  ListColumn& part = list.strip(
      delta(c) + std::string(c.printed && is_column_wide(c) ? "z × c_proj" : "z × its rows of c_proj.weight"),
      7, kOwnPart, n.parts, {.file = "", .heading = c.theme->text, .most = kWidest * c.font_size});
  part.scale = scale_of_parts(n), part.scale_title = "parts";
  const int vectors = list.last();
  // Bars of one scale: a part's component along the sum is as long as its norm at most.
  const std::span<const float> parts = std::span(n.norms).first(static_cast<std::size_t>(n.count)),
                               along = std::span(n.along).first(static_cast<std::size_t>(n.count));
  const auto low = std::min(0.0, static_cast<double>(std::ranges::min(along))),
             high = static_cast<double>(std::ranges::max(parts));
  list.bar(c.side == Side::difference ? "norm of Δ" : "norm", 8, n.norms,
           {.file = c.side == Side::difference ? "norm of the difference" : "norm",
            .low = low,
            .high = high,
            .is_signed = false});
  const int norms = list.last();
  list.bar("along the sum", 6, n.along,
           {.file = "along the sum", .low = low, .high = high, .is_signed = true, .blank = [&n](int row) {
              return row > n.count;
            }});
  viz::FixedCell sum = list.cell(vectors, "");
  sum.vector = n.sum(), sum.vector_id = n.count, sum.vector_row = kSum;
  sum.scale = strip_scale(n.sum()), sum.scale_title = "sum";
  // Its norm stands under the components, which add up to it, and not under the norms, which do not.
  const std::string norm = viz::fixed_number(n.norm, viz::decimals_for(n.norm));
  list.table.footer = {{list.sum_cell(0, n.z.size()), sum, list.cell(norms + 1, norm)}};
  list.table.legend = true;
  list.table.strength = norms;
  if (c.options[kLargestFirst]) list.table.order = {norms};
  list.table.marked = c.selection.head;
  list.table.vector_role = kComponent;
  return list;
}

/// Lines under the table, if there is room.
constexpr const char* kNote =
    "The components along the sum add up to its norm. Norms do not: parts may cancel.";

/// Strips above, the table under them, and the note.
struct Layout {
  viz::Rect strips;  ///< no height: no room for them
  viz::Rect table;
  std::vector<std::string> note;
};

Layout lay_out(const ViewContext& c, const viz::Table& table) {
  const viz::Style style = style_of(c);
  viz::Rect area = below_title(c);
  area.w = std::min(area.w, kWidest * c.font_size);
  const float gap = 3 * style.unit(), whole = viz::table_height(table, style);
  constexpr float kMinTable = 10;  // ems
  Layout layout{{area.x, area.y, area.w, 0}, area, {}};
  const float least = kStrips * least_strip_step(c);
  if (area.h >= least + gap + kMinTable * c.font_size) {
    layout.strips.h = std::max(least, std::min(area.h - gap - whole, kStrips * 3.5F * c.font_size));
    layout.table.y = layout.strips.bottom() + gap;
    layout.table.h = area.bottom() - layout.table.y;
  }
  const float line = style.line(style.small());
  layout.note =
      viz::wrap(style, kNote, style.small(), viz::FontStyle::regular, std::min(area.w, 60 * c.font_size));
  const float note = static_cast<float>(layout.note.size()) * line + gap;
  if (layout.table.h < whole + note) {
    // A figure must say it; a pane shows the rows instead.
    const bool shortens = !c.in_pane && layout.table.h - note >= kMinTable * c.font_size;
    if (shortens) layout.table.h -= note;
    if (!shortens) layout.note.clear();
  }
  return layout;
}

Picture build(const ViewContext& c) {
  if (auto words = waiting_for_run(c, MergedHeadsOf{c.selection.layer, 0})) return *words;
  const auto n = numbers_of(c);
  if (auto words = waiting_for(c, question_of(c), n.has_value())) return *words;
  const viz::Style style = style_of(c);
  List list = list_of(c, *n);
  const Layout layout = lay_out(c, list.table);
  if (!list.lay_out(layout.table)) return too_small(c, "for the heads");
  if (c.in_pane && c.options[kFirstPart] < 0) {
    const std::vector<int> rows = viz::table_rows(list.table);
    const auto row = std::ranges::find(rows, c.selection.head) - rows.begin();
    list.table.first =
        first_row_showing(static_cast<int>(row), static_cast<int>(std::ssize(list.layout().rows)));
    list.lay_out(layout.table);
  }
  Picture picture = blank(c);
  const bool is_difference = c.side == Side::difference;
  paint_title(
      picture, c, "Merge and project: " + token_name(c.run->tokens, c.selection.query) + difference_suffix(c),
      (is_difference
           ? difference_subtitle(c, {n->merged->of.z, n->sum(), n->merged->before, n->merged->after}) +
                 "; layer "
           : "layer ") +
          std::to_string(c.selection.layer) + ": z of the heads through c_proj into the residual stream" +
          list.note(", ") + list.left_out("; "));
  if (layout.strips.h > 0) {
    const StripStack stack = stack_strips(c, layout.strips, kStrips);
    for (const NamedStrip& strip : strips_of(c, *n))
      paint_named_strip(picture, c, stack, strip.id, strip, kStrip);
  }
  picture.whole = picture.whole && (layout.strips.h > 0 || c.in_pane);
  list.paint(picture);
  const float more = static_cast<float>(std::max(1, list.layout().legend) - 1) * style.line(style.small());
  const float y = layout.table.y + std::min(layout.table.h, viz::table_height(list.table, style) + more) +
                  3 * style.unit();
  paint_small_lines(picture, c, layout.note, {layout.table.x, y});
  return picture;
}

/// The place under the mouse.
struct Place {
  int part = -1;       ///< a head, or `heads`: the bias; -1: none
  int component = -1;  ///< index in `values`; -1: a whole row
  std::span<const float> values;
  std::string of;  ///< their name
};

Place place_of(const ViewContext& c, const Numbers& n, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  Place place;
  if (region.role == kStrip) {
    const NamedStrip strip = strips_of(c, n)[region.id];
    place.component = hit.col;
    place.values = strip.values;
    place.of = strip.name;
    if (region.id == kZ) place.part = hit.col / c.run->run->config.d_head();
  } else if (region.id < n.count) {
    place.part = region.id;
    if (region.role == kComponent) {
      place.component = hit.col;
      place.values = hit.row == kOwnZ ? n.z[region.id] : n.parts[region.id];
      place.of = n.names[region.id] + (hit.row == kOwnZ ? ": z" : ": part");
    }
  } else {
    place.component = hit.col;
    place.values = n.sum();
    place.of = "sum";
  }
  if (place.component >= std::ssize(place.values)) return {};
  return place;
}

std::optional<ViewActions> on_key(const ViewContext& c, const TableRows&, const Gesture& gesture) {
  return heads_by_lines(c, gesture);
}

ViewActions click(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const auto n = numbers_of(c);
  const int part = n ? place_of(c, *n, picture, hit).part : -1;
  if (part < 0 || part >= n->heads) return {};
  return {SelectHead{c.selection.layer, part}};
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  Facts facts;
  const auto n = numbers_of(c);
  if (!n) return facts;
  const viz::Region& region = region_of(picture, hit);
  const Place place = place_of(c, *n, picture, hit);
  frame_regions(facts, picture, kPart, place.part, c.theme->text);
  if (place.component >= 0) {
    paint_hovered_component(facts.overlay, c, region, place.component,
                            region.role == kStrip && region.id == kZ ? n->heads : 1);
    facts.number(place.of + "[" + std::to_string(place.component) + "] =", place.values[place.component]);
  }
  if (place.part >= 0) {
    const std::string& name = n->names[place.part];
    if (place.part < n->heads)
      facts.commands.push_back({"Show " + name, {SelectHead{c.selection.layer, place.part}}});
    facts.number(name + (c.side == Side::difference ? ": norm of the difference" : ": norm"),
                 n->norms[place.part]);
    facts.number("along the sum", n->along[place.part]);
    facts.said.back().unit = "of " + viz::number(n->norm, 4);
  }
  return facts;
}

/// A row for each part, for their sum, and for the residual stream before and after.
Table table(const ViewContext& c) {
  const auto n = numbers_of(c);
  if (!n) return {};
  Table result = list_of(c, *n).exported(static_cast<int>(n->names.size()));
  result.about("layer", c.selection.layer);
  add_query_facts(result, c);
  return result;
}

float whole_height(const ViewContext& c) {
  const viz::Style style = style_of(c);
  viz::Table table;
  table.rows = (c.run ? c.run->run->config.n_head : 1) + 2;  // with the bias and, perhaps, edits
  table.footer.resize(1);
  table.legend = true;
  constexpr float kStep = 3, kNoteLines = 4;
  return below_title(c).y + kStrips * kStep * c.font_size + viz::table_height(table, style) +
         kNoteLines * style.line(style.small()) + 6 * style.unit() + margin(c);
}

}  // namespace merge

View merge_view() {
  using namespace merge;
  View view =
      make_view(Group::attention, "merge", "Merge",
                "the heads' z side by side, through c_proj into the residual stream, and what each head adds",
                build, facts, table);
  view.options = {&kLargestFirst, &kFirstPart};
  add_list(view, kRows, click, on_key);
  view.whole_height = whole_height;
  view.caption = {true, true, true};
  view.shows_difference = true;
  view.landmarks = {landmark("parts", kPart),
                    {"head", [](const ViewContext& c,
                                const Picture& p) { return around_regions(p, kPart, c.selection.head); }},
                    landmark("sums", kStrip, kZ),
                    landmark("output", kStrip, kOut),
                    landmark("residual stream", kStrip, kAfter)};
  return view;
}

}  // namespace headscope::app
