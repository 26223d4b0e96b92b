#include "app/views/parts/prompt_list_words.h"

#include "app/views/parts/parts.h"

namespace headscope::app {

const Option<TextOf> kTextOf =
    choice_option<TextOf>("text", "Text", "tT", "which text is measured",
                          {{"prompt", "Prompt", "The prompt"},
                           {"list", "List", "All prompts of the open list, independent of the prompt"}},
                          {.kept = false, .of_weights = true});

bool uses_list(const ViewContext& c) {
  return c.options[kTextOf] == TextOf::list;
}

OverPrompts over_list(const ViewContext& c) {
  return {c.prompts, c.run && c.run->tokens.has_start_token};
}

OverPrompts chosen_text(const ViewContext& c) {
  return uses_list(c) ? over_list(c) : OverPrompts{};
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
  const auto known = it.need(means);
  if (known && !known->whole) it.message = "means: " + list_words(it.c, known->progress);
  return known && known->whole;
}

std::string mean_words(const ViewContext& c, const MeanSource& source) {
  return "means over " + counted(source.means->tokens, "token") + " of " +
         list_words(c, source.means->progress);
}

std::string found_words(const ViewContext& c, std::size_t kept, std::int64_t found,
                        const ListProgress& progress) {
  return (std::cmp_less(kept, found) ? "; largest " + grouped(static_cast<std::int64_t>(kept)) : "") + "; " +
         (uses_list(c)             ? list_words(c, progress)
          : c.run->model->patterns ? "this attention file"
                                   : "this prompt");
}

bool is_shown_prompt(const ViewContext& c, int prompt) {
  if (!uses_list(c)) return true;
  const Prompt &one = c.prompts->prompts.at(prompt - 1), &shown = c.run->prompt;
  return one.ids == shown.ids && (!one.ids.empty() || one.text == shown.text);
}

ViewActions show_place(const ViewContext& c, int prompt, const Selection& place) {
  if (uses_list(c)) {
    Prompt one = c.prompts->prompts.at(prompt - 1);
    one.start_token = over_list(c).start_token;
    return {ShowPrompt{std::move(one), place}};
  }
  ViewActions actions{SelectHead{place.layer, place.head}, SelectQuery{place.query}};
  if (place.key >= 0) actions.emplace_back(SelectKey{place.key});
  return actions;
}

void add_place_of_list(Facts& facts, const ViewContext& c, int prompt, std::string words,
                       ViewActions actions) {
  if (uses_list(c)) {
    facts.say("prompt " + grouped(prompt));
    words = "Show prompt " + grouped(prompt);
  }
  facts.commands.push_back({std::move(words), std::move(actions)});
}

}  // namespace headscope::app
