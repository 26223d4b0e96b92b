#include "app/cli/commands/output.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/quote.h"

namespace headscope::app {

Json texts_json(std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(utf8_or_replacement(text));
  return list;
}

double printable(double number) {
  return std::isnan(number) ? std::abs(number) : number;
}

std::string token_words(const model::Tokenizer& tokenizer, int id) {
  return token_label(tokenizer, id) + " (id " + std::to_string(id) + ")";
}

std::string logit_name(const model::Tokenizer& tokenizer, int token, int against) {
  const std::string name = "logit of " + token_words(tokenizer, token);
  return against < 0 ? name : name + " minus " + token_words(tokenizer, against);
}

std::string metric_name(GradientMetric metric, int token, int against, int position, const PromptRun& run) {
  const model::Tokenizer& tokenizer = *run.model->tokenizer;
  if (metric == GradientMetric::loss) return "mean loss of the prompt, bits";
  const std::string after =
      format(" after position %d  ", position) + run.tokens.labels[static_cast<std::size_t>(position)];
  if (metric == GradientMetric::log_probability)
    return "log2 probability of " + token_words(tokenizer, token) + after;
  return logit_name(tokenizer, token, metric == GradientMetric::difference ? against : -1) + after;
}

void write_text(NumberList list, std::ostream& out) {
  const auto write = [&](const char* pattern, double number, const std::string& name) {
    out << format(pattern, printable(number)) << name << '\n';
  };
  std::vector<NamedNumber>& numbers = list.numbers;
  const auto size = [](const NamedNumber& one) { return std::isnan(one.number) ? -1 : std::abs(one.number); };
  if (list.by_size) std::ranges::stable_sort(numbers, std::ranges::greater(), size);
  out << list.title << '\n';
  const std::size_t shown = std::min(numbers.size(), list.most);
  for (std::size_t i = 0; i < shown; ++i) write("%+14.6f  ", numbers[i].number, numbers[i].name);
  double others = 0;
  for (std::size_t i = shown; i < numbers.size(); ++i) others += numbers[i].number;
  if (shown < numbers.size())
    write("%+14.6f  ", others, "the other " + grouped(static_cast<std::int64_t>(numbers.size() - shown)));
  for (const auto& [number, name] : list.facts)  // such as rounding errors
    write(number != 0 && std::abs(number) < 1e-4 ? "%14.6g  " : "%14.6f  ", number, name);
}

Json token_json(const model::Tokenizer& tokenizer, int id) {
  Json token = token_json(id, tokenizer.bytes(id));
  token["text"] = utf8_or_replacement(tokenizer.text(id));
  return token;
}

void begin_json(const Json& how, const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                std::ostream& out) {
  out << "{\"how\":" << json_line(how) << ",\"tokens\":[";
  const char* separator = "";
  for (const model::Token& token : tokens) {
    Json object = token_json(tokenizer, token.id);
    object["start"] = token.start;
    object["end"] = token.end;
    out << std::exchange(separator, ",") << json_line(object);
  }
  out << ']';
}

void write_json_line(const Json& how, const model::Tokenizer& tokenizer, std::span<const model::Token> tokens,
                     const Json& rest, std::ostream& out) {
  begin_json(how, tokenizer, tokens, out);
  out << (rest.empty() ? "" : ",") << json_line(rest).substr(1) << '\n';
}

Json token_or_null(const model::Tokenizer& tokenizer, int id) {
  return id < 0 ? Json(nullptr) : token_json(tokenizer, id);
}

Json measured_json(const model::Tokenizer& tokenizer, std::string_view metric, bool in_bits, int position,
                   int token, int against) {
  return {{"metric", metric},
          {"unit", in_bits ? Json("bits") : Json(nullptr)},
          {"position", position < 0 ? Json(nullptr) : Json(position)},
          {"token", token_or_null(tokenizer, token)},
          {"other_token", token_or_null(tokenizer, against)}};
}

std::span<const model::Guess> ranked(std::span<const model::Guess> guesses, int top) {
  if (guesses.empty() || std::isnan(guesses.front().probability)) return {};
  return guesses.first(std::min(guesses.size(), static_cast<std::size_t>(top)));
}

Json guesses_json(const model::Tokenizer& tokenizer, std::span<const model::Guess> guesses) {
  Json array = Json::array();
  for (const model::Guess& guess : guesses) {
    Json object = token_json(tokenizer, guess.id);
    object["logit"] = guess.logit;
    object["probability"] = guess.probability;
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace headscope::app
