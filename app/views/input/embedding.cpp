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
  std::array<std::string, kVectors> names;       ///< "wte[464]"
  std::shared_ptr<const NearestTokens> nearest;  ///< null: not there yet
  std::vector<std::vector<float>> rows;          ///< of wte, of the nearest tokens
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

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const NearestTokens> nearest) {
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
  if (nearest == nullptr || nearest->id != n.id) return n;
  for (const Neighbour& neighbour : nearest->tokens) n.rows.push_back(row_of_wte(c, neighbour.id));
  n.nearest = std::move(nearest);
  return n;
}

const ListRows kRows{.role = kNeighbour, .first = kFirstNeighbour, .names = "nearest"};

/// "cosine 0.74 = product 5.1 / (2.3 × 3.0, the norms)"
std::string cosine_words(const NearestTokens& nearest, const Neighbour& neighbour) {
  return "cosine " + exact(neighbour.cosine) + " = product " + exact(neighbour.dot) + " / (" +
         exact(nearest.norm) + " × " + exact(neighbour.norm) + ", the norms)";
}

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const std::vector<Neighbour>& nearest = n.nearest->tokens;
  const bool negative = std::ranges::any_of(nearest, [](const Neighbour& one) { return !(one.cosine >= 0); });
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(nearest.size()));
  list->least_rows = 8;
  list->refers_to = [&nearest](int place) { return Ref{.token = nearest[place].id}; };
  list->on_click = [](const ViewContext&, int) { return ViewActions{}; };
  list->number("", 1, [](int place) { return place + 1; }, {.color = c.theme->text_muted, .digits = 0});
  list->text("nearest in wte", 4, [&c, &nearest](int place) { return label_of(c, nearest[place].id); });
  list->number("id", 0, [&nearest](int place) { return nearest[place].id; }, {.digits = 0, .tip = false});
  list->bar("cosine", 3, [&nearest](int place) { return nearest[place].cosine; },
            {.digits = 4,
             .low = negative ? -1. : 0.,
             .high = 1,
             .axis = true,
             .least = 16 * c.font_size,
             .is_signed = true,
             .tip = false});
  list->strip("its row of wte", 2, 0, n.rows, {.most = 1e4F}).scale = n.scale;  // all remaining room
  list->table.vector_role = kNeighbourStrip;
  list->row_facts = [&](Facts& facts, int place) {
    const Neighbour& one = nearest[place];
    facts.say("id " + std::to_string(one.id) + ", bytes " +
              bytes_as_hex(c.run->model->tokenizer->bytes(one.id)));
    facts.say(cosine_words(*n.nearest, one));
    facts.number("cosine", one.cosine, Fact::Location::menu);
  };
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

/// A row for each vector: the token's, the position's, their sum, and those of the nearest tokens.
Table table(const ViewContext& c, const Numbers& n) {
  Table result{"vector", note_column("id"), note_column("token"), "cosine", "norm"};
  result.add_components(c.run->run->config.n_embd);
  add_query_facts(result, c);
  for (std::size_t i = 0; i < kVectors; ++i)
    add_row(result, n.names[i], n.id, c.run->tokens.labels[n.position], std::nullopt, norm_of(n.vectors[i]),
            n.vectors[i]);
  for (std::size_t i = 0; i < n.rows.size(); ++i) {
    const auto& [id, dot, norm, cosine] = n.nearest->tokens[i];
    add_row(result, "wte[" + std::to_string(id) + "]", id, label_of(c, id), cosine, norm, n.rows[i]);
  }
  return result;
}

/// The facts of one dimension: the token's row, the position's row and their sum.
void add_component(Facts& facts, const Numbers& n, int dimension) {
  const auto equation = [&](int vector) {
    return n.component_name(vector, dimension) + " = " + exact(n.vectors[vector][dimension]);
  };
  facts.say("dimension " + std::to_string(dimension));
  facts.say(equation(kToken));
  facts.say("+ " + equation(kPosition));
  facts.say((n.edited ? "edited to " : "= ") + exact(n.vectors[kSum][dimension]) + ", the input of block 0");
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto nearest = c.ask(NearestTo{c.chosen_query});
  if (!c.run) return;
  const Numbers& n = it.keep(numbers_of(c, std::move(nearest)));
  const model::Config& config = c.run->run->config;
  it.title = "Embedding of " + token_name(c.run->tokens, n.position);
  it.says_difference = true;
  it.subtitle = "row " + std::to_string(n.id) + " of wte " + shape(config.vocab_size, config.n_embd) +
                (n.row_of_wpe < 0 ? "; without a position"
                                  : " + row " + std::to_string(n.row_of_wpe) + " of wpe " +
                                        shape(config.n_ctx, config.n_embd)) +
                (n.edited ? "; sum edited" : "");
  it.table = [&] { return table(c, n); };
  const std::array<const char*, kVectors> signs{"", "+ ", n.edited ? "→ " : "= "};
  std::vector<NamedStrip> vectors;
  for (int i = 0; i < kVectors; ++i)
    vectors.push_back({.id = i,
                       .name = signs[i] + n.names[i],
                       .shape = "norm " + viz::number(norm_of(n.vectors[i]), 4),
                       .detail = {},
                       .color = c.theme->text,
                       .values = n.vectors[i],
                       .scale = n.scale});
  auto strips = std::make_unique<Strips>(kStrip, std::move(vectors));
  strips->component_facts = [&n](Facts& facts, const NamedStrip&, int dimension) {
    add_component(facts, n, dimension);
  };
  constexpr float kProduct = kMatrixHeight + 4;  // with the 1 above it and two lines below
  auto product = custom({30, 70}, {kProduct, kProduct, kProduct},
                        [&n](Picture& picture, const ViewContext& now, viz::Rect area) {
                          area.y += now.font_size;
                          paint_one_hot_product(picture.scene, now, n, area);
                        });
  const std::string failure = c.failure(NearestTo{c.chosen_query});
  it.body = rows(boxes(may_be_left_out(std::move(product), "the look-up"), BoxPtr(std::move(strips)),
                       n.nearest ? BoxPtr(may_be_left_out(list_of(c, n), "the nearest tokens", 2))
                                 : notes({failure.empty() ? "nearest in wte: computing…" : failure})));
}

}  // namespace embedding

View embedding_view() {
  using namespace embedding;
  View view = make_view(
      Group::input, "embedding", "Embedding",
      "how a token becomes a vector: its row of wte, its position's row of wpe, and the nearest tokens",
      declare);
  view.part = Part::embedding;
  view.options = {&kFirstNeighbour};
  view.has_list = true;
  view.caption = {true, false, true};
  view.landmarks = {landmark("token row", kStrip, kToken), landmark("position row", kStrip, kPosition),
                    landmark("sum", kStrip, kSum), landmark("nearest tokens", kNeighbour)};
  return view;
}

}  // namespace headscope::app
