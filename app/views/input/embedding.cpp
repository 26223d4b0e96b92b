#include <array>

#include "app/run/analyses/vectors.h"
#include "app/run/analyses/vocabulary.h"
#include "app/views/parts/parts.h"
#include "model/pass/plan.h"

namespace headscope::app::embedding {

/// Roles of regions. strip: id and row: a Vector, col: dimension. neighbour, and its strip: id: its rank.
enum Role { kStrip, kNeighbour, kNeighbourStrip };
enum Vector { kToken, kPosition, kSum, kOneHot };
constexpr int kVectors = 3;  // those of d_model components

// Fraction of values allowed beyond the colours: wpe has a few very large ones.
constexpr double kOutliers = 0.01;

/// The token's rows and their sum, [d_model] each.
struct Numbers {
  int position = 0;
  int id = 0;
  int row_of_wpe = 0;          ///< -1: none
  std::vector<float> one_hot;  ///< [vocabulary]
  std::vector<float> token;
  std::vector<float> no_position;  ///< zeros if the position is removed
  std::array<std::span<const float>, kVectors> vectors;
  std::array<std::string, kVectors> names;       ///< "wte[464]"
  std::shared_ptr<const NearestTokens> nearest;  ///< null: not there yet
  std::vector<std::vector<float>> rows;          ///< of wte, of the nearest tokens
  viz::ColorScale scale;
  bool edited = false;  ///< by edits of the two vectors or of their sum: it is not that of the rows
};

std::vector<float> row_of_wte(const ViewContext& c, int id) {
  std::vector<float> row(static_cast<std::size_t>(c.config().n_embd));
  c.run->model->transformer->parameter_rows(0, id, 1, row);
  return row;
}

Numbers numbers_of(const ViewContext& c, std::shared_ptr<const NearestTokens> nearest) {
  const model::Run& run = *c.run->run;
  const auto d = static_cast<std::size_t>(run.config.n_embd);
  Numbers n;
  n.position = c.selection.query;
  n.id = run.tokens[n.position];
  n.one_hot.assign(static_cast<std::size_t>(run.config.vocab_size), 0.F);
  n.one_hot[n.id] = 1;
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

const ListRows kRows{kNeighbour, first_row_option("first-neighbour", true), "nearest"};

std::unique_ptr<List> list_of(const ViewContext& c, const Numbers& n) {
  const std::vector<Neighbour>& nearest = n.nearest->tokens;
  const bool negative = std::ranges::any_of(nearest, [](const Neighbour& one) { return !(one.cosine >= 0); });
  auto list = std::make_unique<List>(c, kRows, static_cast<int>(nearest.size()));
  list->least_rows = 8;
  list->refers_to = [&nearest](int place) { return Ref{.token = nearest[place].id}; };
  list->on_click = [](const ViewContext&, int) { return ViewActions{}; };
  list->number("", 1, [](int place) { return place + 1; }, {.color = c.theme->text_muted, .digits = 0});
  list->text("nearest in wte", 4, [&c, &nearest](int place) { return label_of(c, nearest[place].id); });
  list->number("id", 3, [&nearest](int place) { return nearest[place].id; }, {.digits = 0, .tip = false});
  list->bar("cosine", 3, [&nearest](int place) { return nearest[place].cosine; },
            {.digits = 4,
             .low = negative ? -1. : 0.,
             .high = 1,
             .axis = true,
             .least = 8 * c.font_size,
             .most = 24 * c.font_size,
             .is_signed = true,
             .tip = false});
  list->strip("its row of wte", 2, 0, n.rows, {.most = 1e4F}).scale = n.scale;  // all remaining room
  list->table.vector_role = kNeighbourStrip;
  list->row_facts = [&](Facts& facts, int place) {
    const Neighbour& one = nearest[place];
    facts.say("id " + std::to_string(one.id) + ", bytes " +
              bytes_as_hex(c.run->model->tokenizer->bytes(one.id)));
    facts.say("cosine " + exact(one.cosine) + " = product " + exact(one.dot) + " / (" +
              exact(n.nearest->norm) + " × " + exact(one.norm) + ", the norms)");
    facts.number("cosine", one.cosine, Fact::Location::menu);
  };
  return list;
}

std::string shape(int rows, int cols) {
  return "[" + grouped(rows) + " × " + grouped(cols) + "]";
}

/// A row for each vector: the token's, the position's, their sum, and those of the nearest tokens.
Table table(const ViewContext& c, const Numbers& n) {
  Table result{"vector", note_column("id"), note_column("token"), "cosine", "norm"};
  result.add_components(c.config().n_embd);
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
void add_component(Facts& facts, const Numbers& n, const NamedStrip& strip, int dimension) {
  if (strip.id == kOneHot) return;
  const auto equation = [&](int vector) {
    return n.names[vector] + "[" + std::to_string(dimension) + "] = " + exact(n.vectors[vector][dimension]);
  };
  facts.say(equation(kToken));
  facts.say("+ " + equation(kPosition));
  facts.say((n.edited ? "edited to " : "= ") + exact(n.vectors[kSum][dimension]) + ", the input of block 0");
}

void declare(Content& it) {
  const ViewContext& c = it.c;
  auto nearest = c.ask(NearestTo{c.chosen_query});
  if (!c.run) return;
  const Numbers& n = it.keep(numbers_of(c, std::move(nearest)));
  const model::Config& config = c.config();
  it.title = "Embedding of " + token_name(c.run->tokens, n.position);
  it.subtitle = "row " + std::to_string(n.id) + " of wte " + shape(config.vocab_size, config.n_embd) +
                (n.row_of_wpe < 0 ? "; without a position"
                                  : " + row " + std::to_string(n.row_of_wpe) + " of wpe " +
                                        shape(config.n_ctx, config.n_embd)) +
                (n.edited ? "; sum edited" : "");
  it.table = [&] { return table(c, n); };
  const auto strip = [&](int id, std::string name, std::span<const float> values) -> NamedStrip {
    return {.id = id,
            .name = std::move(name),
            .shape = "norm " + viz::number(norm_of(values), 4),
            .detail = "one column per dimension, " + grouped(config.n_embd) + " in all",
            .color = c.theme->text,
            .values = values,
            .scale = n.scale};
  };
  const std::string row = std::to_string(n.id);
  std::vector<NamedStrip> vectors{strip(kOneHot, "one-hot of id " + row, n.one_hot),
                                  strip(kToken, "× wte = " + n.names[kToken], n.token),
                                  strip(kPosition, "+ " + n.names[kPosition], n.vectors[kPosition]),
                                  strip(kSum, (n.edited ? "→ " : "= ") + n.names[kSum], n.vectors[kSum])};
  vectors[0].shape = shape(1, config.vocab_size), vectors[0].scale = viz::linear_scale(1);
  vectors[0].detail = "selects row " + row + " of wte: the product is a table lookup";
  auto strips = std::make_unique<Strips>(kStrip, std::move(vectors));
  strips->component_facts = [&n](Facts& facts, const NamedStrip& of, int dimension) {
    add_component(facts, n, of, dimension);
  };
  it.body = rows(boxes(std::move(strips),
                       n.nearest ? BoxPtr(may_be_left_out(list_of(c, n), "the nearest tokens"))
                                 : notes({"nearest in wte: " + it.why_missing(NearestTo{c.chosen_query})})));
}

View view() {
  View view = make_view(
      "embedding", "Embedding", declare,
      "how a token becomes a vector: its row of wte, its position's row of wpe, and the nearest tokens");
  view.part = Part::embedding;
  view.options = {&kRows.first};
  view.landmarks = {{"token row", kStrip, always<kToken>},
                    {"position row", kStrip, always<kPosition>},
                    {"sum", kStrip, always<kSum>},
                    {"nearest tokens", kNeighbour}};
  view.shows_difference = false;
  return view;
}

}  // namespace headscope::app::embedding
