#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/run/prompt_list.h"

// Lists of prompts whose lines say nothing else.
namespace headscope::testing {

inline std::shared_ptr<const app::PromptList> list_of(const std::vector<app::Prompt>& prompts,
                                                      const std::string& name = "list") {
  auto list = std::make_shared<app::PromptList>(app::PromptList{name, {}});
  for (const app::Prompt& prompt : prompts) list->prompts.push_back({prompt});
  return list;
}

/// A text after which the model guesses the name again.
inline std::string king_gave_to(const std::string& name) {
  return "The king gave Mr. " + name + " a horse. Then the king gave Mr.";
}

/// Two prompts with the same words.
inline std::shared_ptr<const app::PromptList> two_kings() {
  return list_of(
      {{.text = "The king and the queen and the king", .ids = {}}, {.text = "A king is no queen", .ids = {}}},
      "pairs.txt");
}

}  // namespace headscope::testing
