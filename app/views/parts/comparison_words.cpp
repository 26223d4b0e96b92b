#include "app/views/parts/comparison_words.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

/// What differs first between the two of a comparison: "prompt", "model" or "file".
static const char* compared_thing(const PromptRun& run) {
  if (run.model->patterns) return "file";
  return compares_models(run) && !compares_texts(run) ? "model" : "prompt";
}

static std::string first_name(const PromptRun& run) {
  return std::string("first ") + compared_thing(run);
}

std::string second_name(const PromptRun& run) {
  return std::string("second ") + compared_thing(run);
}

std::string second_words(const PromptRun& run) {
  return second_name(run) + (compares_models(run) && compares_texts(run) ? " in the second model" : "");
}

std::string no_counterpart_words(const ViewContext& c) {
  return "no counterpart in the " + second_name(*c.run);
}

/// Whether the run is compared with another input, not with itself unedited.
static bool is_between_two(const ViewContext& c) {
  return c.compared() && compares_different_inputs(*c.run);
}

std::string subtraction_words(const ViewContext& c) {
  if (!is_between_two(c)) return "edited − unedited";
  if (!c.run->run->plan) return "first − " + second_words(*c.run);
  return std::string(compares_texts(*c.run) ? "first prompt" : "first model") + ", edited − " +
         second_words(*c.run) + ", unedited";
}

std::string difference_words(const ViewContext& c, const char* drawn) {
  std::string words = subtraction_words(c);
  if (!is_between_two(c)) return words;
  const std::vector<int>& aligned = c.run->aligned;
  const auto alone = std::ranges::count(aligned, -1);
  std::int64_t others = 0;
  std::string last;
  for (int position = 0; position < std::ssize(aligned); ++position) {
    if (aligned[position] < 0 || !other_token_words(c, position)) continue;
    ++others;
    last = token_name(c.run->tokens, position) + " is compared with " +
           token_name(c.run->baseline->tokens, aligned[position]);
  }
  if (others > 0)
    words += "; " + (others == 1 ? last : counted(others, "token") + " are compared with others");
  const bool shifted =
      c.run->run->length() != c.run->baseline->run->length() && !matches_other_positions(*c.run);
  if (c.in_pane && others > 1 && shifted) words += "; “By token” matches equal ones";
  if (alone > 0)
    words += "; " + counted(alone, "token") + (alone == 1 ? " has" : " have") + " no counterpart" + drawn;
  return words;
}

bool matches_other_positions(const PromptRun& run) {
  for (int position = 0; position < std::ssize(run.aligned); ++position)
    if (run.aligned[position] >= 0 && run.aligned[position] != position) return true;
  return false;
}

std::optional<std::string> other_token_words(const ViewContext& c, int position) {
  const PromptRun* first = c.asked ? c.asked.get() : c.run.get();
  if (first == nullptr || !compares_different_inputs(*first) || position >= c.run->run->length())
    return std::nullopt;
  const std::vector<int>& aligned = first->aligned;
  const bool is_second = c.side == Side::baseline;
  const auto found = is_second ? std::ranges::find(aligned, position) : aligned.begin() + position;
  const std::string other = is_second ? first_name(*first) : second_name(*first);
  if (found == aligned.end() || *found < 0) return "no counterpart in the " + other;
  const int at = static_cast<int>(found - aligned.begin()), there = *found;
  if (first->run->tokens[at] == first->baseline->run->tokens[there]) return std::nullopt;
  return "in the " + other + " " +
         (is_second ? token_name(first->tokens, at) : token_name(first->baseline->tokens, there));
}

std::string shown_run_words(const ViewContext& c) {
  const PromptRun* first = c.asked ? c.asked.get() : c.run.get();
  if (first == nullptr || !first->baseline) return "";
  const bool second = c.side == Side::baseline;
  if (!compares_different_inputs(*first)) return second ? " in the unedited run" : " in the edited run";
  return " in the " + (second ? second_name(*first) : first_name(*first));
}

std::string counterpart_words(const ViewContext& c, int position) {
  if (!is_between_two(c) || position < 0 || position >= std::ssize(c.run->aligned)) return "";
  const int there = c.run->aligned[position];
  if (there < 0 || (there == position && c.run->run->tokens[position] == c.run->baseline->run->tokens[there]))
    return "";
  return "there " + token_name(c.run->baseline->tokens, there);
}

std::string query_difference_words(const ViewContext& c) {
  const std::string there = counterpart_words(c, c.selection.query);
  return subtraction_words(c) + (there.empty() ? "" : "; " + there);
}

const char* difference_suffix(const ViewContext& c) {
  return c.side == Side::difference ? ": difference" : "";
}

const char* difference_prefix(const ViewContext& c) {
  return c.side == Side::difference ? "difference in " : "";
}

std::string difference_column_prefix(const ViewContext& c) {
  return c.side == Side::difference ? "difference of " : "";
}

}  // namespace headscope::app
