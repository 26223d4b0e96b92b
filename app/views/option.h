#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/run/token_ref.h"
#include "viz/scene/region.h"

namespace headscope::app {

/// A part of a matrix; rows == 0: all rows, cols == 0: all columns.
using Zoom = viz::ShownCells;

/// The value of an option. An int with choices is the index of one of them.
using OptionValue = std::variant<bool, int, double, Zoom, std::vector<int>, TokenRef>;

struct Choice {
  std::string_view name;   ///< on the command line and in settings, "log"
  std::string_view label;  ///< on the control, "Log"
  std::string_view help;   ///< one line
};

/// A choice for a value, in a table that the command line can read, too.
template <class Value>
struct ChoiceOf {
  Value value;
  std::string_view name, label, help;  ///< as in Choice
};
/// Whether a table has an enum's values in order, as options that hold the enum require.
template <class Enum, std::size_t kCount>
constexpr bool in_order(const ChoiceOf<Enum> (&all)[kCount]) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (static_cast<std::size_t>(all[i].value) != i) return false;
  return true;
}
/// `first`: choices before these.
template <class Rows>
std::vector<Choice> choices_of(const Rows& all, std::vector<Choice> first = {}) {
  std::vector<Choice> choices = std::move(first);
  for (const auto& row : all) choices.push_back({row.name, row.label, row.help});
  return choices;
}

/// The control of an option in the window, besides its keys.
enum class Control {
  automatic,  ///< by its type: a check box, a slider, a field, or choices side by side
  list,       ///< choices in a list that a button opens
  none,       ///< set only by gestures in the picture
};

/// Default maximum of numbers in a list: more than a picture can distinguish.
inline constexpr std::size_t kMaxInList = 16;

class Options;

/// Everything about an option of a view: its control, flag, line in `views --json`, setting and tests are
/// derived from it. An option that several views list has one value for all of them.
struct OptionSpec {
  std::string_view name = {};  ///< without dashes; no other option has it: "value-scale"
  /// Its name on the view's command line, which other views may use, too: "metric". Empty: name.
  std::string_view flag = {};
  std::string_view label = {};  ///< next to its control and in captions, "Scale"
  std::string_view help = {};   ///< one line
  OptionValue default_value = {};
  std::string_view default_name = {};  ///< name of a special default value: "auto", "all"
  std::vector<Choice> choices = {};    ///< for an int; empty: it is a number
  double low = 0, high = 0;            ///< limits of a number, or of each number in a list
  double step = 1;                     ///< step of its control and its keys
  /// For a number: ascending steps instead of even ones; the default may be last.
  std::vector<double> steps = {};
  std::string_view keys = {};  ///< with Alt: a step up (or the next choice), a step down; may be empty
  /// It names heads, as View::shown_heads does; a list's numbers are `head_number`s, written "5.1,5.3".
  bool heads = false;
  bool cells = false;                   ///< for a list: likewise queries with their keys, written "8.3,9.4"
  std::size_t most = kMaxInList;        ///< numbers in a list
  bool kept = true;                     ///< kept between starts of the window
  bool reset_on_prompt_change = false;  ///< a scroll position, valid for one query and prompt
  bool of_prompt = false;               ///< reset when the prompt is replaced, but not while it is typed
  bool of_weights = false;  ///< has no effect on attention patterns without weights: no control there
  bool of_list = false;     ///< about an open list of prompts: without one, no control unless it is set
  bool plays = false;       ///< its slider has a button that runs through its values
  /// How a pane shows the picture, such as a scroll position; unknown to figures, command line and files.
  bool pane_only = false;
  bool of_rows = false;     ///< the first row of a list that is shown
  bool of_drawing = false;  ///< read when content is drawn, not when it is made: changing it computes nothing
  Control control = Control::automatic;
  /// Whether it has an effect, given the others: else it has no control and no flag. Null: always.
  bool (*applies)(const Options&) = nullptr;
  bool advanced = false;  ///< the window shows its control only after "More options", or if it is set
  std::string_view flag_name() const { return flag.empty() ? name : flag; }
};

/// A spec with its type: bool, int, double, an enum with choices, Zoom, a list of numbers or a token.
template <class T>
struct Option : OptionSpec {};

/// The values of all options; unset ones have their defaults. Comparable.
class Options {
 public:
  template <class T>
  using Stored = std::conditional_t<std::is_enum_v<T>, int, T>;
  template <class T>
  T operator[](const Option<T>& option) const {
    return static_cast<T>(std::get<Stored<T>>(value(option)));
  }
  /// Numbers are clamped to the limits; a list keeps each number once, up to the spec's maximum.
  template <class T>
  void set(const Option<T>& option, T to) {
    set(static_cast<const OptionSpec&>(option), OptionValue(static_cast<Stored<T>>(std::move(to))));
  }

  const OptionValue& value(const OptionSpec& option) const;
  /// As above; asserts that the value has the option's type.
  void set(const OptionSpec& option, OptionValue to);

  bool operator==(const Options&) const = default;

 private:
  std::map<std::string_view, OptionValue> set_;  // non-default values; names point into the specs
};

/// An option and one of its values; no option: none.
struct OptionSetting {
  const OptionSpec* option = nullptr;
  OptionValue value = {};
  bool is_in(const Options& options) const { return option != nullptr && options.value(*option) == value; }
};

/// "linear|log|row", "yes|no", "N", "X", "R:R,C:C|all", "D,D,...", "TOKEN|none": for help.
std::string values_of(const OptionSpec& option);

/// Parses a value from the command line or a settings file. Throws std::invalid_argument, one sentence that
/// names the flag, what it takes and what was found. An empty text means yes for a flag.
OptionValue parse_option(const OptionSpec& option, std::string_view text);

/// A head as a number in a list, and back: {layer, head}.
inline constexpr int kHeadNumbers = 4096;  ///< more than the heads of a layer and the layers of a model
constexpr int head_number(int layer, int head) {
  return layer * kHeadNumbers + head;
}
constexpr std::pair<int, int> head_of_number(int number) {
  return {number / kHeadNumbers, number % kHeadNumbers};
}

/// What `parse_option` takes: "a number from 1 to 50", "linear, log or row".
std::string expected(const OptionSpec& option);

/// The text that `parse_option` reads back.
std::string to_text(const OptionSpec& option, const OptionValue& value);

/// `n` steps from 0, as the nearest number to its decimals: 24 steps of 0.05 are 1.2.
double multiple(double n, double step);

/// The value one step up or down, the next choice, or the opposite of a switch; others are unchanged. Tokens
/// step by their ranks; without one, to rank 1.
OptionValue stepped(const OptionSpec& option, const OptionValue& value, int by);

}  // namespace headscope::app
