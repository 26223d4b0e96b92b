#include "app/views/parts/prompt_list_words.h"

#include <utility>

#include "app/counted.h"
#include "app/views/parts/frame.h"
#include "app/views/parts/names.h"

namespace headscope::app {

OverPrompts over_list(const ViewContext& c) {
  return {c.prompts, c.run && c.run->prompt.start_token};
}

Picture no_list(const ViewContext& c) {
  return message(
      c,
      "no list of prompts is open: drop a file on the window (.txt with one prompt per line, or .jsonl) "
      "or open one with --over");
}

std::string list_words(const ViewContext& c, const ListProgress& progress) {
  return list_words(c, progress, c.prompts->prompts.size());
}

std::string list_words(const ViewContext& c, const ListProgress& progress, std::size_t of_first) {
  const auto count = static_cast<std::int64_t>(of_first);
  const std::string of =
      (count - static_cast<std::int64_t>(progress.skipped) == 1 ? " prompt of “" : " prompts of “") +
      c.prompts->name + "”";
  if (std::cmp_less(progress.done, count))
    return "computing… " + grouped(static_cast<std::int64_t>(progress.done)) + " of " + grouped(count) + of;
  std::string words = grouped(count - static_cast<std::int64_t>(progress.skipped)) + of;
  if (of_first < c.prompts->prompts.size())
    words = "the first " + grouped(count) + " of " + grouped(std::ssize(c.prompts->prompts)) + of;
  if (progress.skipped > 0)
    words +=
        " (" + grouped(static_cast<std::int64_t>(progress.skipped)) + " skipped: " + progress.problem + ")";
  if (c.run && c.run->run->plan) words += ", without the edits";
  return words;
}

MeanSource mean_source(const ViewContext& c, const MeansOverList& means) {
  auto answer = c.prompts ? c.ask(means) : nullptr;
  if (answer && !answer->whole) answer = nullptr;
  return {means.over, std::move(answer)};
}

std::optional<Picture> waiting_for_means(const ViewContext& c, const MeansOverList& means) {
  if (!c.prompts) return no_list(c);
  const auto answer = c.ask(means);
  if (!answer) return waiting(c, means, false);
  if (answer->whole) return std::nullopt;
  return message(c, "means: " + list_words(c, answer->progress));
}

std::string mean_words(const ViewContext& c, const MeanSource& source) {
  return "means over " + counted(source.means->tokens, "token") + " of " +
         list_words(c, source.means->progress);
}

bool is_shown_prompt(const ViewContext& c, std::size_t index) {
  const Prompt &prompt = c.prompts->prompts.at(index), &shown = c.run->prompt;
  return prompt.ids == shown.ids && (!prompt.ids.empty() || prompt.text == shown.text);
}

ShowPrompt show_prompt(const ViewContext& c, std::size_t index, const Selection& selection) {
  Prompt prompt = c.prompts->prompts.at(index);
  prompt.start_token = over_list(c).start_token;
  return {std::move(prompt), selection};
}

}  // namespace headscope::app
