#pragma once
#include <cstdint>
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

// Values out of the text of the command line. What reads one is given the option, which messages name
// ("--top"), and the text; it throws UsageError.

/// The program was used wrongly: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Well said, but nothing could fulfil it: exit status 1.
struct UnusableValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int kMost = std::numeric_limits<int>::max();

inline std::string any_text(const std::string&, const std::string& text) {
  return text;
}

/// In [low, high].
int whole_number(const std::string& option, std::string_view text, int low, int high = kMost);
inline auto whole(int low, int high = kMost) {
  return [=](const std::string& option, const std::string& text) {
    return whole_number(option, text, low, high);
  };
}

/// Finite and in [low, high], which `range` says in words.
double number(const std::string& option, std::string_view text, double low, double high, const char* range);
inline auto between(double low, double high, const char* range) {
  return [=](const std::string& option, const std::string& text) {
    return number(option, text, low, high, range);
  };
}

std::uint64_t seed_number(const std::string& option, std::string_view text);

/// A token's text or its id: not nothing.
std::string token_text(const std::string& option, const std::string& text);

/// The parts between separators, at least one, with the blanks around them.
std::vector<std::string_view> split(std::string_view text, char separator);

/// "16,64" with blanks around the numbers, each at least 1.
std::vector<int> lengths(const std::string& option, std::string_view text);

/// "464,3290"; none for blank text. For an id that is no 32-bit number it throws UnusableValue.
std::vector<int> token_ids(const std::string& option, std::string_view text);

/// What stands before and after the first separator; nothing where there is none.
std::optional<std::pair<std::string_view, std::string_view>> halves(std::string_view text, char separator);

/// "I/N", 0 <= I < N.
Shard shard(const std::string& option, const std::string& text);

/// "5.1": two whole numbers from 0; `what` is what the option takes, in words.
std::pair<int, int> pair_of(const std::string& option, const std::string& what, std::string_view text);

inline constexpr Named<bool> kYesOrNo[] = {{"yes", true}, {"no", false}};

/// The names of rows: "logit|difference", or with `last` "logit, difference or kl".
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

/// The value by its name.
template <class Row, std::size_t kCount>
auto one_of(const Row (&all)[kCount]) {
  return [&all](const std::string& option, const std::string& text) {
    for (const Row& row : all)
      if (text == row.name) return row.value;
    reject_name(option, names_of(all, ", ", " or "), text);
  };
}

/// "1000x700" into width and height; "fit" into the default width and height 0. Throws UsageError.
void set_size(PictureArguments& picture, std::string_view text);

/// Throws UsageError for a picture whose file would have too many pixels.
void check_pixels(const PictureArguments& picture);

}  // namespace headscope::app
