#pragma once
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "app/cli/commands/engine.h"
#include "app/run/analyses/metric_choice.h"
#include "app/run/given_token.h"
#include "app/text/json_text.h"
#include "app/text/terminal_text.h"
#include "app/views/parts/names.h"
#include "viz/text/text.h"

namespace headscope::app {

// Output functions shared by the commands.

using Json = nlohmann::ordered_json;

/// A list of texts as strings, which are UTF-8.
Json texts_json(std::span<const std::string> texts);

/// Drops the sign of a NaN, which printf would write.
double printable(double number);

/// "·it (id 340)": a token for people, who may have given it by its rank.
std::string token_words(const model::Tokenizer& tokenizer, int id);

/// "logit of ·it (id 340)", or "... minus ·that (id 326)" if there is a second token (`against` is not -1).
std::string logit_name(const model::Tokenizer& tokenizer, int token, int against);

/// A gradient's metric as people read it: "logit of ·it (id 340) after position 5  ·was", "mean loss of the
/// prompt, bits". `token` and `against`: ids, as far as the metric names them.
std::string metric_name(GradientMetric metric, int token, int against, int position, const PromptRun& run);

struct NamedNumber {
  double number = 0;
  std::string name;
};

/// What a command says of many numbers in text: a title, a line for each, and facts about all of them.
struct NumberList {
  std::string title;
  std::vector<NamedNumber> numbers = {};
  std::vector<NamedNumber> facts = {};
  std::size_t most = static_cast<std::size_t>(-1);  ///< numbers with a line; the others are added up in one
  bool by_size = true;                              ///< the largest magnitude first, else in their order
};
void write_text(NumberList list, std::ostream& out);

/// `{"id":340,"text":" it","bytes":[32,105,116]}`; the text of an id without bytes is "#4100".
Json token_json(const model::Tokenizer& tokenizer, int id);

/// Writes the beginning of an object, token by token:
/// `{"how":{..},"tokens":[{"id":..,"text":..,"bytes":[..],"start":..,"end":..},..]`.
void begin_json(const Json& how, const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                std::ostream& out);

/// Writes one line: an object with `how`, the tokens, then the keys of `rest`.
void write_json_line(const Json& how, const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                     const Json& rest, std::ostream& out);

/// As token_json; null if there is no token (id -1).
Json token_or_null(const model::Tokenizer& tokenizer, int id);

/// What is measured of a prediction: "metric", "unit", "position", "token" and "other_token"; -1: it has
/// none.
Json measured_json(const model::Tokenizer& tokenizer, std::string_view metric, bool in_bits, int position,
                   int token, int against);

/// The first `top` guesses; none if their probabilities are NaN, since nothing ranks those.
std::span<const model::Guess> ranked(std::span<const model::Guess> guesses, int top);

/// `[{"id":..,"text":..,"bytes":[..],"logit":..,"probability":..},..]`; numbers that are not finite are null.
Json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses);

}  // namespace headscope::app
