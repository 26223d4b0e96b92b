#include "app/views/parts/comparison_words.h"

#include <algorithm>

#include "app/counted.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"

namespace headscope::app {

Picture no_counterpart(const ViewContext& c, int position) {
  return message(c, token_name(c.run->tokens, position) + " has " + no_counterpart_words(c));
}

Picture no_counterpart(const ViewContext& c) {
  return no_counterpart(c, c.selection.query);
}

std::string second_name(const PromptRun& run) {
  if (run.model->patterns) return "second file";
  return compares_models(run) && !compares_texts(run) ? "second model" : "second prompt";
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
  const auto alone = is_between_two(c) ? std::ranges::count(c.run->aligned, -1) : 0;
  if (alone == 0) return subtraction_words(c);
  return subtraction_words(c) + "; " + counted(alone, "token") + (alone == 1 ? " has" : " have") +
         " no counterpart" + drawn;
}

const char* difference_suffix(const ViewContext& c) {
  return c.side == Side::difference ? ": difference" : "";
}

const char* difference_prefix(const ViewContext& c) {
  return c.side == Side::difference ? "difference in " : "";
}

const char* difference_column(const ViewContext& c) {
  return is_between_two(c) ? "difference" : "change";
}

std::string difference_column_prefix(const ViewContext& c) {
  return c.side == Side::difference ? std::string(difference_column(c)) + " of " : "";
}

}  // namespace headscope::app
