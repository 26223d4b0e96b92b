#include "app/views/parts/prompt_list_words.h"

#include "app/views/content.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

OverPrompts over_list(const ViewContext& c) {
  return {c.prompts, c.run && c.run->tokens.has_start_token};
}

std::string no_list_words(const ViewContext& c) {
  return c.in_pane
             ? "no list of prompts is open: press Ctrl+O to open one (.txt with one prompt per line, or "
               ".jsonl), or drop it on the window"
             : "no list of prompts is open: name one with --over";
}

std::string list_words(const ViewContext& c, const ListProgress& progress,
                       std::optional<std::size_t> of_first) {
  const auto all = std::ssize(c.prompts->prompts), done = static_cast<std::int64_t>(progress.done),
             skipped = static_cast<std::int64_t>(progress.skipped),
             count = static_cast<std::int64_t>(of_first.value_or(c.prompts->prompts.size()));
  const std::string of = (all == 1 ? " prompt of “" : " prompts of “") + c.prompts->name + "”";
  if (done < count) return "computing… " + grouped(done) + " of " + grouped(count) + of;
  std::string words = count < all   ? "the first " + grouped(count) + " of "
                      : skipped > 0 ? grouped(all - skipped) + " of "
                                    : "";
  words += grouped(all) + of;
  if (skipped > 0) words += " (" + grouped(skipped) + " skipped: " + progress.problem + ")";
  if (c.run && c.run->run->plan) words += ", without the edits";
  return words;
}

MeanSource mean_source(const ViewContext& c, const MeansOverList& means) {
  auto answer = c.prompts ? c.ask(means) : nullptr;
  if (answer && !answer->whole) answer = nullptr;
  return {means.over, std::move(answer)};
}

bool has_list_means(Content& it, const MeansOverList& means) {
  if (!it.c.prompts) it.message = no_list_words(it.c);
  const auto known = it.c.prompts ? it.need(means) : nullptr;
  if (known && !known->whole) it.message = "means: " + list_words(it.c, known->progress);
  return known && known->whole;
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
