#include "app/views/output/continuation.h"

#include "app/views/parts/parts.h"
#include "model/pass/statistics.h"

namespace headscope::app {

/// The position that a guess continues from, -1 if it is the last one.
static int continued_position(const ViewContext& c) {
  return c.chosen_query >= 0 && c.selection.query + 1 < c.run->tokens.length() ? c.selection.query : -1;
}

ViewActions continue_with(const ViewContext& c, const NextToken& next, int id) {
  const int after = continued_position(c);
  if (after < 0 && c.run->tokens.length() >= c.config().n_ctx) return {};
  const auto logit = static_cast<double>(next.logits[id]);
  return {AppendToken{id, after, std::exp(logit - model::log_sum_exp(next.logits)), c.run}};
}

ListColumn& add_token_columns(List& list, const ViewContext& c, const std::function<int(int row)>& id,
                              ListLook look) {
  look.file = note_column("token");
  list.file(note_column("id"), id);
  ListColumn& column = list.text(
      "token", 9, [&c, id](int row) { return label_of(c, id(row)); }, look);
  list.file(note_column("bytes"),
            [&c, id](int row) { return bytes_as_hex(c.run->model->tokenizer->bytes(id(row))); });
  return column;
}

std::string guess_words(const ViewContext& c, const model::Guess& guess) {
  return "“" + label_of(c, guess.id) + "” " + percent(guess.probability);
}

void add_guess(Facts& facts, const ViewContext& c, const NextToken& next, int id, double probability) {
  const int after = continued_position(c);
  const std::string label = label_of(c, id);
  facts.say(percent(probability), Fact::Location::status);
  facts.tip("id " + std::to_string(id) + ", bytes " + bytes_as_hex(c.run->model->tokenizer->bytes(id)));
  facts.number("probability", probability, Fact::Location::tooltip);
  facts.number("logit", next.logits[id], Fact::Location::tooltip);
  if (c.side == Side::baseline && c.asked && !compares_one_prompt(*c.asked))
    facts.tip("from the " + second_name(*c.asked) + "; click to continue that one");
  else if (after >= 0)
    facts.tip("click to continue after position " + std::to_string(after) + ", replacing what follows");
  else if (c.run->tokens.length() >= c.config().n_ctx)
    facts.tip("the context is full");
  if (ViewActions actions = continue_with(c, next, id); !actions.empty())
    facts.commands.push_back(
        {(after < 0 ? "Append “" : "Continue after position " + std::to_string(after) + " with “") + label +
             "”",
         std::move(actions)});
}

const Option<double> kTemperature =
    number_option("temperature", "Temperature", ".,", "divides the logits before the softmax", 1.0, 0.05, 2,
                  {.step = 0.05});
const Option<int> kTopK =
    number_option("top-k", "Top-k", "iI", "sample only from this many most probable tokens", 0, 1, 1000,
                  {.default_name = "all", .steps = {1, 2, 3, 5, 10, 20, 40, 50, 100, 200, 500, 1000, 0}});
const Option<double> kTopP = number_option(
    "top-p", "Top-p", "cC",
    "sample only from the most probable tokens that together reach this probability, after top-k (nucleus)",
    1.0, 0.05, 1, {.step = 0.05});
const Option<int> kSeed =
    number_option("seed", "Seed", "jJ", "seed of the random numbers: the same seed gives the same tokens", 0,
                  0, 2147483647.0);
const Option<int> kAhead =
    number_option("ahead", "Tokens", "bB", "number of tokens sampled per continuation", 4, 1, 32);

model::SamplingOptions sampling_of(const Options& options) {
  return {options[kTemperature], options[kTopK], options[kTopP]};
}

std::uint64_t seed_of(const Options& options) {
  return static_cast<std::uint64_t>(options[kSeed]);
}

int next_seed(int seed) {
  return seed < static_cast<int>(kSeed.high) ? seed + 1 : static_cast<int>(kSeed.low);
}

}  // namespace headscope::app
