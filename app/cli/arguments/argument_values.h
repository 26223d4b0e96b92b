#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/arguments/arguments.h"
#include "app/run/named.h"

namespace headscope::app {

// Parsers for the values of options. Each takes the option's name for messages ("--top") and the text, and
// throws UsageError if the text is not valid.

/// Wrong usage: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A combination of arguments that is refused, and why.
struct Refusal {
  bool is_given = false;
  std::string why;
};
/// Throws UsageError for the first combination that is given.
void refuse(std::initializer_list<Refusal> combinations);

/// A well-formed value that can never be valid: exit status 1.
struct UnusableValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kMax = std::numeric_limits<int>::max();

inline std::string any_text(const std::string&, const std::string& text) {
  return text;
}

/// A whole number in [low, high].
int whole_number(const std::string& option, std::string_view text, int low, int high = kMax);
inline auto whole(int low, int high = kMax) {
  return [=](const std::string& option, const std::string& text) {
    return whole_number(option, text, low, high);
  };
}

/// A finite number in [low, high]; `range` describes the range in words.
double number(const std::string& option, std::string_view text, double low, double high, const char* range);
inline auto between(double low, double high, const char* range) {
  return [=](const std::string& option, const std::string& text) {
    return number(option, text, low, high, range);
  };
}

std::uint64_t seed_number(const std::string& option, std::string_view text);

/// "text:4", "id:4", "rank:4" (from 1), or a text that is no number. Throws UsageError also for a number
/// alone, which could be any of them.
GivenToken given_token(const std::string& option, const std::string& text);
inline constexpr const char* kTokenValues = "TOKEN";  ///< what such options take, for help
inline constexpr const char* kTokenGrammar =
    "TOKEN: a token's text, e.g. \" it\" with its space, or id:N, the token with that id, or rank:N, the one "
    "with\n"
    "that rank among the predictions (1: the most probable; of the unedited run). text:4 is the text 4.\n";

/// "  logit  the logit of ...", a line for the help of a metric, with its unit.
std::string metric_line(std::string_view name);

/// The parts between separators, at least one. Blanks around them are kept.
std::vector<std::string_view> split(std::string_view text, char separator);

/// "464,3290"; empty for blank text. Throws UnusableValue for an id that does not fit into 32 bits.
std::vector<int> token_ids(const std::string& option, std::string_view text);

/// The parts before and after the first separator; nothing if there is no separator.
std::optional<std::pair<std::string_view, std::string_view>> halves(std::string_view text, char separator);

/// "I/N", 0 <= I < N.
Shard shard(const std::string& option, const std::string& text);

/// "5.1": two whole numbers from 0. `what` says in words what the option takes.
std::pair<int, int> pair_of(const std::string& option, const std::string& what, std::string_view text);

inline constexpr Named<bool> kYesOrNo[] = {{"yes", true}, {"no", false}};

/// The names of all rows: "logit|difference", or with `last` "logit, difference or kl".
template <class Rows>
std::string names_of(const Rows& rows, const char* between, const char* last = nullptr) {
  std::string names;
  for (std::size_t left = std::size(rows); const auto& row : rows) {
    if (!names.empty()) names += left == 1 && last != nullptr ? last : between;
    names += row.name;
    --left;
  }
  return names;
}

[[noreturn]] void reject_name(const std::string& option, const std::string& names, const std::string& text);

/// Looks up a value by its name.
template <class Row, std::size_t kCount>
auto one_of(const Row (&all)[kCount]) {
  return [&all](const std::string& option, const std::string& text) {
    for (const Row& row : all)
      if (text == row.name) return row.value;
    reject_name(option, names_of(all, ", ", " or "), text);
  };
}

/// Sets width and height from "1000x700"; "fit" sets the default width and height 0. Throws UsageError.
void set_size(PictureArguments& picture, std::string_view text);

/// Sets what the picture's target chooses, except for what was given.
void set_for_target(Arguments& given);

/// Throws UsageError if the picture's file would have too many pixels.
void check_pixels(const PictureArguments& picture, FileFormat format);

}  // namespace headscope::app
