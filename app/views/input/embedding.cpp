#include <array>

#include "app/run/analyses/vectors.h"
#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

namespace headscope::app {
namespace embedding {

/// Roles of regions. strip: id and row: a Vector, col: dimension. neighbour, and its strip: id: its rank.
enum Role { kStrip, kNeighbour, kNeighbourStrip };
enum Vector { kToken, kPosition, kSum };
constexpr int kVectors = 3;

const auto kFirstNeighbour = first_row_option("first-neighbour", true);

// Fraction of values allowed beyond the colours: wpe has a few very large ones.
constexpr double kOutliers = 0.01;

/// The token's rows and their sum, [d_model] each.
struct Numbers {
  int position = 0;
  int id = 0;
  int row_of_wpe = 0;  ///< -1: none
  std::vector<float> token;
  std::vector<float> no_position;  ///< zeros if the position is removed
  std::array<std::span<const float>, kVectors> vectors;
  std::array<std::string, kVectors> names;  ///< "wte[464]"
  viz::ColorScale scale;
  bool edited = false;  ///< by edits of the two vectors or of their sum: it is not that of the rows

  /// "wte[464][17]"
  std::string component_name(int vector, int dimension) const {
    return names[vector] + "[" + std::to_string(dimension) + "]";
  }
};

std::vector<float> row_of_wte(const ViewContext& c, int id) {
  std::vector<float> row(static_cast<std::size_t>(c.run->run->config.n_embd));
  c.run->model->transformer->parameter_rows(0, id, 1, row);
  return row;
}

Numbers numbers_of(const ViewContext& c) {
  const model::Run& run = *c.run->run;
  const auto d = static_cast<std::size_t>(run.config.n_embd);
  Numbers n;
  n.position = c.selection.query;
  n.id = run.tokens[n.position];
  n.token = row_of_wte(c, n.id);
  n.row_of_wpe = run.plan ? run.plan->row_of_wpe(n.position) : n.position;
  const bool positioned = n.row_of_wpe >= 0;
  n.no_position.assign(positioned ? 0 : d, 0.F);
  const auto wpe = c.run->model->transformer->position_embedding();
  n.vectors = {n.token,
               positioned ? wpe.subspan(static_cast<std::size_t>(n.row_of_wpe) * d, d) : n.no_position,
               run.resid(0, n.position)};
  for (const model::Site site : {model::Site::embed, model::Site::pos_embed, model::Site::resid_pre})
    n.edited |= is_edited_at(c, {site}, n.position);
  n.names = {"wte[" + std::to_string(n.id) + "]",
             positioned ? "wpe[" + std::to_string(n.row_of_wpe) + "]" : "no wpe",
             n.edited ? "after edits" : "sum"};
  std::vector<float> all;
  for (const auto& vector : n.vectors) all.insert(all.end(), vector.begin(), vector.end());
  n.scale = viz::robust_scale(viz::Matrix::row(all), kOutliers);
  return n;
}

const ListRows kRows{.role = kNeighbour, .first = kFirstNeighbour, .names = "nearest"};

/// `vectors`: the rows of wte shown as strips.
List list_of(const ViewContext& c, const Numbers& n, const NearestTokens& nearest,
             const std::vector<std::vector<float>>& vectors) {
  const auto at = [&nearest](int place) -> const Neighbour& { return nearest.tokens[place]; };
  const bool negative =
      std::ranges::any_of(nearest.tokens, [](const Neighbour& one) { return !(one.cosine >= 0); });
  List list(c, kRows, static_cast<int>(nearest.tokens.size()));
  list.number("", 1, [](int place) { return place + 1; }, {.color = c.theme->text_muted, .digits = 0});
  list.text("nearest in wte", 4, [&c, at](int place) { return label_of(c, at(place).id); });
  list.number("id", 0, [at](int place) { return at(place).id; }, {.digits = 0});
  list.bar("cosine", 3, [at](int place) { return at(place).cosine; },
           {.digits = 4,
            .low = negative ? -1. : 0.,
            .high = 1,
            .axis = true,
            .least = std::min(21 * c.font_size, 0.32F * c.width),
            .is_signed = true});
  list.strip("its row of wte", 2, 0, vectors, {.most = 1e4F}).scale = n.scale;  // all remaining room
  list.table.vector_role = kNeighbourStrip;
  return list;
}

std::string shape(int rows, int cols) {
  return "[" + grouped(rows) + " × " + grouped(cols) + "]";
}

// ---- why the product is a look-up ----

// Lengths of the drawing, in ems.
constexpr float kMatrixHeight = 3.4F, kVectorHeight = 1.1F;
constexpr float kSignWidth = 2;  // room for × and =
constexpr float kMaxBox = 22;

/// What is under the three boxes: the one-hot vector, the matrix and its row.
struct ProductPart {
  std::string name, shape;
};
std::array<ProductPart, 3> product_parts(const ViewContext& c, const Numbers& n) {
  const model::Config& config = c.run->run->config;
  const std::string id = std::to_string(n.id);
  return {{{"one-hot of id " + id, shape(1, config.vocab_size)},
           {"wte", shape(config.vocab_size, config.n_embd)},
           {"its row " + id, shape(1, config.n_embd)}}};
}

float product_height(const viz::Style& style) {
  return kMatrixHeight * style.font_size + style.unit() + 2 * style.line(style.small());
}

/// The width below which names or shapes would be truncated.
float least_product_width(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  float widest = 4 * style.font_size;
  for (const auto& [name, shape] : product_parts(c, n))
    widest = std::max({widest, style.width(name, style.small(), viz::FontStyle::medium),
                       style.width(shape, style.small())});
  return std::ceil(3 * widest + 2 * kSignWidth * style.font_size);
}

/// The one-hot row with its single 1, the matrix with the selected line, and that line's values.
void paint_one_hot_product(viz::Scene& scene, const ViewContext& c, const Numbers& n, viz::Rect area) {
  const viz::Style style = style_of(c);
  const viz::Theme& theme = *c.theme;
  const float em = style.font_size, line = style.line(style.small());
  const float box_w = std::min(kMaxBox * em, std::floor((area.w - 2 * kSignWidth * em) / 3)),
              step = box_w + kSignWidth * em;
  const float middle = area.y + kMatrixHeight * em / 2, top = middle - kVectorHeight * em / 2;
  const std::array<viz::Rect, 3> boxes{viz::Rect{area.x, top, box_w, kVectorHeight * em},
                                       viz::Rect{area.x + step, area.y, box_w, kMatrixHeight * em},
                                       viz::Rect{area.x + 2 * step, top, box_w, kVectorHeight * em}};
  const auto rows = static_cast<float>(std::max(1, c.run->run->config.vocab_size));
  const float part = (static_cast<float>(n.id) + 0.5F) / rows;
  // Where a mark of length `length` begins, in the middle of the row's part of a box from `from` on.
  const auto mark_at = [&](float from, float size, float length) {
    return std::clamp(from + part * size - length / 2, from, from + size - length);
  };

  scene.add(viz::FillRect{boxes[0], theme.raised});
  const float hot_w = std::max(3.F, box_w / rows), hot_x = mark_at(boxes[0].x, box_w, hot_w);
  scene.add(viz::FillRect{{hot_x, boxes[0].y, hot_w, boxes[0].h}, theme.bar});
  scene.add(viz::StrokeRect{boxes[0], theme.line, 1});
  const float above = boxes[0].y - line / 2 - 1;
  const float one_x = std::clamp(hot_x + hot_w / 2, boxes[0].x + em / 2, boxes[0].right() - em / 2);
  viz::add_label(scene, style, "1", {one_x, above}, style.small(), theme.bar, viz::FontStyle::medium,
                 viz::Align::center);
  // Zeros on both sides of the 1, if there is room.
  for (const auto& [from, to] : {std::pair{boxes[0].x, hot_x}, {hot_x + hot_w, boxes[0].right()}}) {
    if (to - from > 2 * em) viz::add_muted(scene, style, "0", {(from + to) / 2, middle}, viz::Align::center);
  }

  scene.add(viz::FillRect{boxes[1], theme.raised});
  const float hot_h = std::max(2.F, boxes[1].h / rows);
  scene.add(viz::FillRect{{boxes[1].x, mark_at(boxes[1].y, boxes[1].h, hot_h), box_w, hot_h}, theme.bar});
  scene.add(viz::StrokeRect{boxes[1], theme.line, 1});

  viz::HeatmapCells cells;
  cells.matrix = viz::Matrix::row(n.vectors[kToken]);
  cells.scale = n.scale;
  const int cols = static_cast<int>(n.vectors[kToken].size());
  scene.add(viz::heatmap_image(cells, viz::Region::grid(0, 0, boxes[2], 1, cols), style));
  scene.add(viz::StrokeRect{boxes[2], theme.bar, 1.5F});

  for (const auto& [sign, box] : {std::pair{"×", 1}, {"=", 2}})
    viz::add_label(scene, style, sign, {boxes[box].x - kSignWidth * em / 2, middle}, style.title(),
                   theme.text, viz::FontStyle::regular, viz::Align::center);
  const float y = area.y + kMatrixHeight * em + style.unit() + line / 2;
  const std::array<ProductPart, 3> parts = product_parts(c, n);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const float x = boxes[i].center().x;
    viz::add_label(scene, style, parts[i].name, {x, y}, style.small(), theme.text, viz::FontStyle::medium,
                   viz::Align::center, box_w + em);
    viz::add_muted(scene, style, parts[i].shape, {x, y + line}, viz::Align::center, box_w + em);
  }
}

/// From the top: why the product is a look-up, the strips, the nearest tokens. What does not fit is left out,
/// the strips last.
struct Layout {
  viz::Rect product;  ///< h is 0: not there
  std::array<viz::Rect, kVectors> strips;
  float labels = 0;  ///< room left of the strips
  float norms = 0;   ///< width right of them; 0: no room
  float legend = 0;  ///< middle of its line; 0: not there
  viz::Rect nearest;
};

float label_width(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  float width = 0;
  for (const std::string& name : n.names)
    width = std::max(width, style.width("→ " + name, style.small(), viz::FontStyle::medium));
  return std::ceil(width) + 2 * style.unit();
}

Layout lay_out(const ViewContext& c, const Numbers& n) {
  const viz::Style style = style_of(c);
  const float em = style.font_size, u = style.unit(), line = style.line(style.small());
  const viz::Rect area = below_title(c);
  const float strip_h = std::round((area.h >= 24 * em ? 1.6F : 1.2F) * em), pitch = strip_h + u;
  const float row = viz::table_row_height(style), head = line + 2 * u;
  const float strips_h = kVectors * pitch + line + 3 * u;
  const float all_rows = head + NearestTokens::kMax * row,
              product_h = product_height(style) + 2 * line + 4 * u;
  Layout l;
  float y = area.y;
  if (area.h >= product_h + strips_h + all_rows && area.w >= least_product_width(c, n)) {
    l.product = {area.x, y + line / 2, area.w, product_height(style)};  // leaves a line for the 1 above it
    y += product_h;
  }
  l.labels = label_width(c, n);
  if (area.w >= 30 * em) l.norms = std::ceil(style.width("norm 0000.0", style.small())) + 3 * u;
  for (viz::Rect& strip : l.strips) {
    strip = {area.x + l.labels, y, std::max(0.F, area.w - l.labels - l.norms), strip_h};
    y += pitch;
  }
  if (y + line + u <= area.bottom()) {
    l.legend = y + u + line / 2;
    y += line + 3 * u;
  }
  l.nearest = {area.x, y, area.w, std::max(0.F, area.bottom() - y)};
  return l;
}

void paint_product(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l) {
  const viz::Style style = style_of(c);
  paint_one_hot_product(picture.scene, c, n, l.product);
  const std::string words =
      "The one-hot vector selects row " + std::to_string(n.id) + " of wte: the product is a table lookup.";
  if (style.width(words, style.small()) > l.product.w) return;
  paint_small_lines(picture, c, {words}, {l.product.x, l.product.bottom() + style.unit()});
}

void paint_strips(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l) {
  const viz::Style style = style_of(c);
  const std::array<const char*, kVectors> signs{"", "+", n.edited ? "→" : "="};
  const float x = below_title(c).x, sign_w = style.width("→ ", style.small(), viz::FontStyle::medium);
  const auto word = [&](std::string_view words, viz::Point at, viz::Color color, viz::FontStyle face,
                        viz::Align align = viz::Align::left) {
    viz::add_label(picture.scene, style, words, at, style.small(), color, face, align);
  };
  for (std::size_t i = 0; i < kVectors; ++i) {
    const viz::Rect& rect = l.strips[i];
    const float middle = rect.center().y;
    word(signs[i], {x, middle}, c.theme->text_muted, viz::FontStyle::medium);
    word(n.names[i], {x + sign_w, middle}, c.theme->text, viz::FontStyle::medium);
    const int index = static_cast<int>(i);
    viz::paint_vector_strip(picture, {n.vectors[i], n.scale, kStrip, index, index}, rect, style);
    if (l.norms > 0) {
      word("norm " + viz::number(norm_of(n.vectors[i]), 4), {rect.right() + l.norms, middle},
           c.theme->text_muted, viz::FontStyle::regular, viz::Align::right);
    }
  }
  if (l.legend <= 0) return;
  // Under the strips, or where that leaves too little room, from the margin on.
  viz::Scene legend;
  const float used = viz::paint_color_scale_line(legend, n.scale, "value", {0, 0}, style);
  const float right = below_title(c).right(), at = l.strips[0].x + used <= right ? l.strips[0].x : x;
  if (at + used > right) return;
  viz::append(picture.scene, legend, {at, l.legend});
  const std::string note = "one column per dimension, " + grouped(std::ssize(n.token)) + " in all";
  const float from = at + used + 4 * style.unit();
  if (from + style.width(note, style.small()) <= right)
    word(note, {from, l.legend}, c.theme->text_muted, viz::FontStyle::regular);
}

/// Draws the table, or why it is missing.
void paint_nearest(Picture& picture, const ViewContext& c, const Numbers& n, const Layout& l,
                   const NearestTokens* nearest) {
  const viz::Style style = style_of(c);
  const float line = style.line(style.small());
  if (l.nearest.h < line || l.nearest.w < 6 * style.font_size) return;
  if (nearest == nullptr || nearest->id != n.id) {
    const std::string failure = c.failure(NearestTo{c.chosen_query});
    const std::string words = failure.empty() ? "nearest in wte: computing…" : failure;
    paint_small_lines(picture, c, {words}, {l.nearest.x, l.nearest.y}, l.nearest.w);
    return;
  }
  std::vector<std::vector<float>> vectors;
  for (const Neighbour& neighbour : nearest->tokens) vectors.push_back(row_of_wte(c, neighbour.id));
  List list = list_of(c, n, *nearest, vectors);
  if (list.lay_out(l.nearest)) list.paint(picture);
}

Picture build(const ViewContext& c) {
  const auto nearest = c.ask(NearestTo{c.chosen_query});
  if (auto words = waiting(c)) return *words;
  const Numbers n = numbers_of(c);
  const Layout l = lay_out(c, n);
  if (l.strips[0].w < 4 * c.font_size || l.strips[kSum].bottom() > c.height - 1) return too_small(c);
  const model::Config& config = c.run->run->config;
  Picture picture = blank(c);
  paint_title(picture, c, "Embedding of " + token_name(c.run->tokens, n.position),
              "row " + std::to_string(n.id) + " of wte " + shape(config.vocab_size, config.n_embd) +
                  (n.row_of_wpe < 0 ? ", without a position"
                                    : " + row " + std::to_string(n.row_of_wpe) + " of wpe " +
                                          shape(config.n_ctx, config.n_embd)) +
                  (n.edited ? "; edits make another vector of their sum" : ""));
  // Scrolled rows and parts left out for lack of room do not make the picture incomplete.
  const bool whole = picture.whole;
  if (l.product.h > 0) paint_product(picture, c, n, l);
  paint_strips(picture, c, n, l);
  paint_nearest(picture, c, n, l, nearest.get());
  picture.whole = whole;
  return picture;
}

/// "cosine 0.74 = 5.1 / (2.3 × 3.0)"
std::string cosine_words(const NearestTokens& nearest, const Neighbour& neighbour) {
  return "cosine " + exact(neighbour.cosine) + " = product " + exact(neighbour.dot) + " / (" +
         exact(nearest.norm) + " × " + exact(neighbour.norm) + ", the norms)";
}

/// A row for each vector: the token's, the position's, their sum, and those of the nearest tokens.
Table table(const ViewContext& c) {
  const auto nearest = c.ask(NearestTo{c.chosen_query});
  if (!c.run) return {};
  const Numbers n = numbers_of(c);
  Table result{"vector", note_column("id"), note_column("token"), "cosine", "norm"};
  result.add_components(c.run->run->config.n_embd);
  add_query_facts(result, c);
  for (std::size_t i = 0; i < kVectors; ++i)
    add_row(result, n.names[i], n.id, c.run->tokens.labels[n.position], std::nullopt, norm_of(n.vectors[i]),
            n.vectors[i]);
  if (!nearest || nearest->id != n.id) return result;
  for (const auto& [id, dot, norm, cosine] : nearest->tokens)
    add_row(result, "wte[" + std::to_string(id) + "]", id, label_of(c, id), cosine, norm, row_of_wte(c, id));
  return result;
}

/// The facts of one dimension: the token's row, the position's row and their sum.
Facts facts_of_component(const ViewContext& c, const Picture& picture, const Numbers& n, int dimension) {
  Facts facts;
  for (const viz::Region& strip : picture.regions)
    if (strip.role == kStrip)
      facts.overlay.add(
          viz::StrokeRect{strip.cell_rect(strip.id, dimension).inset(-0.75F), c.theme->text, 1.5F});
  const auto equation = [&](int vector) {
    return n.component_name(vector, dimension) + " = " + exact(n.vectors[vector][dimension]);
  };
  facts.say("dimension " + std::to_string(dimension));
  facts.say(equation(kToken));
  facts.say("+ " + equation(kPosition));
  facts.say((n.edited ? "edited to " : "= ") + exact(n.vectors[kSum][dimension]) + ", the input of block 0");
  for (int i = 0; i < kVectors; ++i)
    facts.number(n.component_name(i, dimension), n.vectors[i][dimension], Fact::Location::menu);
  return facts;
}

Facts facts(const ViewContext& c, const Picture& picture, const viz::Hit& hit) {
  const viz::Region& region = region_of(picture, hit);
  if (!c.run || hit.col >= c.run->run->config.n_embd) return {};
  const Numbers n = numbers_of(c);
  if (region.role == kStrip) return facts_of_component(c, picture, n, hit.col);
  Facts facts = facts_of_row(c, region.rect);
  const auto nearest = c.ask(NearestTo{c.chosen_query});
  if (!nearest || region.id >= std::ssize(nearest->tokens)) {
    facts.say(kComputing);
    return facts;
  }
  const Neighbour& neighbour = nearest->tokens[region.id];
  const int id = neighbour.id;
  const std::string name = std::to_string(id);
  facts.say("“" + label_of(c, id) + "”, id " + name + ", bytes " +
            bytes_as_hex(c.run->model->tokenizer->bytes(id)));
  facts.say(cosine_words(*nearest, neighbour));
  facts.number("cosine", neighbour.cosine, Fact::Location::menu);
  if (region.role == kNeighbourStrip) {
    facts.number("wte[" + name + "][" + std::to_string(hit.col) + "] =", row_of_wte(c, id)[hit.col],
                 Fact::Location::tooltip);
    facts.number(n.component_name(kToken, hit.col) + " =", n.token[hit.col], Fact::Location::tooltip);
  }
  add_copies_of_token(facts, c, id);
  return facts;
}

}  // namespace embedding

View embedding_view() {
  using namespace embedding;
  View view = make_view(
      Group::input, "embedding", "Embedding",
      "how a token becomes a vector: its row of wte, its position's row of wpe, and the nearest tokens",
      build, facts, table);
  view.part = Part::embedding;
  view.options = {&kFirstNeighbour};
  add_list(view, kRows);
  view.caption = {true, false, true};
  view.landmarks = {landmark("token row", kStrip, kToken), landmark("position row", kStrip, kPosition),
                    landmark("sum", kStrip, kSum), landmark("nearest tokens", kNeighbour)};
  return view;
}

}  // namespace headscope::app
