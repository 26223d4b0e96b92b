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

std::string difference_words(const ViewContext& c, const View& view) {
  std::string words = subtraction_words(c);
  if (!is_between_two(c) || !view.caption.prompt || view.is_of_model(c)) return words;
  const std::string there = view.caption.query ? counterpart_words(c, c.selection.query) : "";
  if (!there.empty()) words += "; " + there;
  std::int64_t others = 0;
  const std::vector<int>& aligned = c.run->aligned;
  for (int position = 0; position < std::ssize(aligned); ++position)
    others += aligned[position] >= 0 && other_token_words(c, position);
  if (others > 0) words += "; " + counted(others, "token") + (others == 1 ? " differs" : " differ");
  const auto alone = std::ranges::count(aligned, -1);
  if (alone > 0) words += "; " + grouped(alone) + " without counterpart";
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
  const bool is_second = c.side == Side::baseline;
  const int at = is_second ? own_position(*first, position) : position,
            there = at < 0 ? -1 : first->aligned[at];
  const std::string other = is_second ? first_name(*first) : second_name(*first);
  if (there < 0) return "no counterpart in the " + other;
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
  return "matched with " + token_name(c.run->baseline->tokens, there);
}

const char* difference_prefix(const ViewContext& c) {
  return c.differs() ? "difference in " : "";
}

std::string difference_column_prefix(const ViewContext& c) {
  return c.differs() ? "difference of " : "";
}

}  // namespace headscope::app
