#include "app/views/output/lens_blocks.h"

#include <cstdlib>
#include <numeric>

#include "app/views/output/logit_options.h"
#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<LensColoring> kLensColor = choice_option<LensColoring>(
    "lens-color", "Colour", "cC", "what the cell colours show",
    {{"probability", "Probability",
      "Probability of the best guess, or of --token; for differences, of the baseline's final answer"},
     {"rank", "Rank", "Rank of the final answer, on a logarithmic scale"},
     {"kl", "KL", "KL divergence of the final distribution from the one here, in bits"}},
    {.flag = "metric"});
const Option<bool> kLensMid =
    switch_option("lens-mid", "Inside blocks", "hH", "also show the stream between attention and MLP", true);

const Option<TokenRef> kLensToken =
    make_option<TokenRef>("lens-token", "Token",
                          "the token whose probability and rank are read: its text, "
                          "id:N, or rank:N at the end of the stream",
                          {.flag = "token", .default_value = TokenRef::best(), .keys = "lL"});

TokenRef lens_token(const ViewContext& c) {
  const TokenRef token = given_token(c, kLensToken);
  return token.empty() ? TokenRef::best() : token;
}

bool chooses_token(const ViewContext& c) {
  return lens_token(c) != TokenRef::best();
}

std::string lens_target(const ViewContext& c) {
  const TokenRef token = lens_token(c);
  if (!chooses_token(c)) return "the final answer";
  return token.by == TokenRef::By::id ? "“" + label_of(c, token.number) + "”"
                                      : "the final guess of rank " + std::to_string(token.number);
}

LensBlocks lens_blocks(const ViewContext& c, int first, int count) {
  LensBlocks known{first, count, {}};
  known.blocks.resize(LensOf::blocks(c.run->run->length()));
  const int from = LensOf::around(first).block, query = LensOf::around(c.selection.query).block;
  std::vector<int> wanted(LensOf::around(first + count - 1).block + 1 - from);
  std::iota(wanted.begin(), wanted.end(), from);
  std::ranges::stable_sort(wanted, {}, [&](int block) { return std::abs(block - query); });
  for (const int block : wanted) known.blocks[block] = c.ask(LensOf{block, lens_token(c)});
  return known;
}

std::vector<int> shown_places(const ViewContext& c) {
  std::vector<int> places;
  for (int place = 2 * c.run->run->config.n_layer; place >= 0; --place)
    if (c.options[kLensMid] || !lens_place(place).mid) places.push_back(place);
  return places;
}

std::string place_name(const ViewContext& c, int place) {
  return lens_place_name(place, c.run->run->config.n_layer);
}

std::string place_words(const ViewContext& c, int place) {
  const auto [layer, mid] = lens_place(place);
  const std::string block = "block " + std::to_string(layer);
  if (layer == c.run->run->config.n_layer) return "the end of the stream";
  if (mid) return block + ", between attention and MLP";
  return layer == 0 ? "embedding, before block 0" : "before " + block;
}

model::HookPoint point_of(int place) {
  if (place == 0) return {model::Site::resid_pre, 0};
  return {place % 2 == 1 ? model::Site::resid_mid : model::Site::resid_post, (place - 1) / 2};
}

const Option<LensAt> kLensAt = choice_option<LensAt>(
    "lens-at", "Numbers", "pP", "the positions that the table has numbers of",
    {{"all", "All positions", "Numbers after every position"},
     {"query", "Query", "Numbers after the query alone, as for means over prompts of different lengths"}},
    {.of_list = true});

Table lens_table(const ViewContext& c) {
  if (!c.run) return {};
  const bool of_query = c.options[kLensAt] == LensAt::query, is_difference = c.side == Side::difference;
  const LensBlocks lens =
      of_query ? lens_blocks(c, c.selection.query, 1) : lens_blocks(c, 0, c.run->run->length());
  if (lens.positions() == 0) return {};
  Table result{of_query ? note_column("position") : key_column("position"),
               note_column("token"),
               "place",
               "hook",
               note_column("answer id"),
               note_column("answer")};
  result.add_columns({"probability", "rank", Column("KL", "bits")});
  if (is_difference)
    result.add_columns({"compared probability", "compared rank", Column("compared KL", "bits")});
  for (int g = 1; g <= LogitLens::kGuesses; ++g) {
    const std::string guess = "guess " + std::to_string(g);
    result.add_columns({note_column(guess + " id"), note_column(guess + " token"), guess + " logit",
                        guess + " probability"});
  }
  const auto add_reading = [](TableRow& row, const model::LensReading& of) {
    add_cells(row, of.guesses.next_probability, rank_cell(of.guesses.next_rank), bits(of.divergence));
  };
  const int layers = c.run->run->config.n_layer;
  for (int position = lens.first; position < lens.first + lens.count; ++position) {
    if (!lens.knows(position)) continue;
    const LogitLens& block = lens.known_block(position);
    const int answer = block.answer(position);
    for (int place = 0; place <= 2 * layers; ++place) {
      const model::LensReading& reading = block.at(position, place);
      TableRow row;
      add_cells(row, position, c.run->tokens.labels[position], place_name(c, place),
                lens_hook_name(place, layers), answer, label_of(c, answer));
      add_reading(row, reading);
      if (is_difference && block.compares(position)) add_reading(row, block.before_at(position, place));
      if (is_difference) row.resize(result.at("guess 1 id"));
      for (const model::Guess& guess : reading.guesses.top)
        add_cells(row, guess.id, label_of(c, guess.id), guess.logit, guess.probability);
      result.add(std::move(row));
    }
  }
  return result;
}

}  // namespace headscope::app
