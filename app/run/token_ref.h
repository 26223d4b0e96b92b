#pragma once
#include <span>
#include <string>
#include <string_view>

namespace headscope::app {

struct LoadedModel;

/// A token: by its text, its id or its rank among the guesses after a position. Of what a token is compared
/// with, also the most probable one that is not that token, or the mean over the vocabulary.
struct TokenRef {
  enum class By { none, text, id, rank, other, mean };
  By by = By::none;
  std::string text = {};  ///< By::text
  int number = 0;         ///< the id, or the rank from 1; beyond the vocabulary: the least probable
  static TokenRef best(int rank = 1) { return {By::rank, "", rank}; }
  static TokenRef of(int id) { return {By::id, "", id}; }
  static TokenRef other() { return {By::other, "", 0}; }
  static TokenRef mean() { return {By::mean, "", 0}; }
  bool empty() const { return by == By::none; }
  int id() const { return by == By::id ? number : -1; }  ///< -1: none, or not known
  bool operator==(const TokenRef&) const = default;
};

/// "text:4", "id:4", "rank:4" (from 1), or a text that is no number. Throws std::invalid_argument, also for a
/// number alone, which could be any of them; its words go on after the name of what was given.
TokenRef parse_token(std::string_view text);

/// The text that parse_token reads back, with the kind of a token before it; empty: none was given.
std::string text_of(const TokenRef& token);

/// A token that was given, by its id in place of its text. Throws model::RunError, which names the option,
/// for a text that is not a single token, and for ids and ranks that the vocabulary does not have.
TokenRef without_text(const LoadedModel& model, const TokenRef& token, const std::string& option);

/// The same by its id in place of its rank, by the logits after the position; none and the mean remain.
/// `token`: the one that it is compared with. Throws RunError for an id outside the vocabulary.
TokenRef by_id(const TokenRef& ref, std::span<const float> logits, const TokenRef& token = {});

}  // namespace headscope::app
