#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/views/common.h"

// What changed, in views that ask about one position: the answer about the selected token less that about the
// token of the other run that stands for it.
namespace headscope::app {

/// The answer to a question with a `position`, or on the side of changes `change(after, before)` of it and of
/// the other run's. Null while it is not there, and where nothing stands for the token.
template <class Q, class Change>
std::shared_ptr<const typename Q::Answer> asked_or_changed(const ViewContext& c, const Q& question,
                                                           Change change) {
  if (c.side != Side::change || !c.run) return c.ask(question);
  Q there = question;
  there.position = compared_query(c);
  if (there.position < 0) return nullptr;
  const auto after = c.ask_on(Side::run, question), before = c.ask_on(Side::other, there);
  return after && before ? std::make_shared<const typename Q::Answer>(change(*after, *before)) : nullptr;
}

/// Why there is no picture of that; null where it is `known`.
template <class Q>
std::optional<Picture> waiting_for(const ViewContext& c, const Q& question, bool known) {
  if (c.side != Side::change || !c.run) return waiting(c, question, known);
  Q there = question;
  there.position = compared_query(c);
  if (there.position < 0) return no_counterpart(c);
  const bool here = c.ask_on(Side::run, question) != nullptr;
  return waiting(c, here ? Question(there).of_other() : Question(question), known);
}

/// Where nothing did.
inline const char* unchanged_words(const ViewContext& c) {
  return is_of_two_prompts(*c.run) ? ": the same in both" : ": nothing changed here";
}

/// What the title says beside itself on the side of changes.
inline std::string change_subtitle(const ViewContext& c, const std::vector<std::span<const float>>& changed) {
  const bool none = std::ranges::all_of(changed, [](std::span<const float> vector) {
    return !vector.empty() && std::ranges::all_of(vector, [](float v) { return v == 0; });
  });
  return change_words(c) + (none ? unchanged_words(c) : "");
}

/// What stands before the name of a number on the side of changes, where change_of is too long.
inline const char* delta(const ViewContext& c) {
  return c.side == Side::change ? "Δ " : "";
}

}  // namespace headscope::app
