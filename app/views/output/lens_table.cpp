#include "app/views/output/lens_table.h"

#include <vector>

#include "app/run/analyses/next_token.h"
#include "app/views/output/lens_blocks.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/names.h"

namespace headscope::app {

const Option<LensAt> kLensAt = [] {
  auto option = choice_option<LensAt>(
      "lens-at", "Numbers", "", "the positions that the table has numbers of",
      {{"all", "All positions", "Numbers after every position"},
       {"query", "Query", "Numbers after the query alone, as for means over prompts of different lengths",
        "numbers after the query alone"}});
  option.of_list = true;
  return option;
}();

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
  const auto add_columns = [&result](const std::vector<Column>& columns) {
    result.columns.insert(result.columns.end(), columns.begin(), columns.end());
  };
  add_columns({"probability", "rank", Column("KL", "bits")});
  if (is_difference) add_columns({"compared probability", "compared rank", Column("compared KL", "bits")});
  for (int g = 1; g <= LogitLens::kGuesses; ++g) {
    const std::string guess = "guess " + std::to_string(g);
    add_columns({note_column(guess + " id"), note_column(guess + " token"), guess + " logit",
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
