#pragma once
#include <string>
#include <string_view>

namespace headscope::app {

struct LoadedModel;
struct TokenChoice;

/// A token as it was given, before the vocabulary is known.
struct GivenToken {
  enum class By { none, text, id, rank };
  By by = By::none;
  std::string text = {};  ///< By::text
  int number = 0;         ///< the id, or the rank from 1
  bool empty() const { return by == By::none; }
  bool operator==(const GivenToken&) const = default;
};

/// "text:4", "id:4", "rank:4" (from 1), or a text that is no number. Throws std::invalid_argument, also for a
/// number alone, which could be any of them; its words go on after the name of what was given.
GivenToken parse_given_token(std::string_view text);

/// The text that parse_given_token reads back, with the kind of a token before it; empty: none was given.
std::string text_of(const GivenToken& token);

/// The token that was given, else `default_`. Throws model::RunError, which names the option, for a text that
/// is not a single token, and for ids and ranks that the vocabulary does not have.
TokenChoice token_of(const LoadedModel& model, const GivenToken& token, const std::string& option,
                     TokenChoice default_);

}  // namespace headscope::app
