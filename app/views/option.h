#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::app {

/// A part of a matrix, in cells; rows == 0: all rows, cols == 0: all columns.
struct Zoom {
  double row = 0;
  double col = 0;
  double rows = 0;
  double cols = 0;
  bool operator==(const Zoom&) const = default;
};

/// What an option can be. An int with choices is the index of one of them.
using OptionValue = std::variant<bool, int, double, Zoom, std::vector<int>>;

struct Choice {
  std::string_view name;   ///< on the command line and in settings, "log"
  std::string_view label;  ///< on the control, "Log"
  std::string_view help;   ///< one line
};

/// A choice that stands for a value, in a table that the command line may read, too.
template <class Value>
struct ChoiceOf {
  Value value;
  std::string_view name, label, help;  ///< as of Choice
};
/// Whether an enum's values stand in such a table in their order, as in options that hold the enum.
template <class Enum, std::size_t kCount>
constexpr bool in_order(const ChoiceOf<Enum> (&all)[kCount]) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (static_cast<std::size_t>(all[i].value) != i) return false;
  return true;
}
template <class Value, std::size_t kCount>
std::vector<Choice> choices_of(const ChoiceOf<Value> (&all)[kCount]) {
  std::vector<Choice> choices;
  for (const ChoiceOf<Value>& row : all) choices.push_back({row.name, row.label, row.help});
  return choices;
}

/// How the window lets an option be changed, beside its key.
enum class Control {
  automatic,  ///< by its type: a check box, a slider, a field, choices side by side
  none,       ///< by gestures in the picture only
};

/// Numbers in a list at the most, where its spec does not say otherwise: more than a picture can tell apart.
inline constexpr std::size_t kMostInList = 16;

/// All there is to know about an option of a view: its control, flag, line in `views --json`, setting and
/// tests come from here. An option that several views list has one value for all of them.
struct OptionSpec {
  std::string_view name = {};   ///< without dashes; no other option has it: "value-scale"
  std::string_view label = {};  ///< beside its control, "Scale"
  std::string_view help = {};   ///< one line
  OptionValue default_value = {};
  std::string_view default_name = {};  ///< of a default value that is not like the others: "auto", "all"
  std::vector<Choice> choices = {};    ///< of an int; empty: it is a number
  double low = 0, high = 0;            ///< limits of a number, or of each in a list
  double step = 1;                     ///< of its control and of its keys
  std::vector<double> steps = {};  ///< of a number, in place of even ones, upwards; the default may be last
  std::string_view keys = {};      ///< with Alt: a step up (or the next choice), a step down; may be empty
  bool heads = false;  ///< of a list: its numbers are heads (see `head_number`), written "5.1,5.3"
  bool cells = false;  ///< of a list: likewise queries with their keys, written "8.3,9.4"
  std::size_t most = kMostInList;       ///< numbers in a list
  bool kept = true;                     ///< between starts of the window
  bool reset_on_prompt_change = false;  ///< where a picture is scrolled to: of one query and prompt
  bool of_prompt = false;               ///< reset when the prompt is replaced, not while it is typed
  bool of_weights = false;              ///< does nothing to attention without weights: no control there
  bool pane_only = false;  ///< how much of the picture a pane shows: a figure in a file shows all
  Control control = Control::automatic;
};

/// A spec that knows its type: bool, int, double, an enumeration with its choices, Zoom or a list of numbers.
template <class T>
struct Option : OptionSpec {};

/// The values of all options; those never set are the defaults. Comparable.
class Options {
 public:
  template <class T>
  T operator[](const Option<T>& option) const {
    using Stored = std::conditional_t<std::is_enum_v<T>, int, T>;
    return static_cast<T>(std::get<Stored>(value(option)));
  }
  /// Numbers are brought within the limits; a list has each of them once, and as many as the spec says.
  template <class T>
  void set(const Option<T>& option, T to) {
    if constexpr (std::is_enum_v<T>) {
      set(static_cast<const OptionSpec&>(option), OptionValue(static_cast<int>(to)));
    } else {
      set(static_cast<const OptionSpec&>(option), OptionValue(std::move(to)));
    }
  }

  const OptionValue& value(const OptionSpec& option) const;
  /// As above; asserts that the value is of the option's type.
  void set(const OptionSpec& option, OptionValue to);

  bool operator==(const Options&) const = default;

 private:
  std::map<std::string_view, OptionValue> set_;  // other than the defaults; names live in the specs
};

/// "linear|log|row", "yes|no", "N", "X", "R:R,C:C|all", "D,D,...": for help.
std::string values_of(const OptionSpec& option);

/// A value from the command line or a settings file. Throws std::invalid_argument, one sentence that names
/// the flag, what it takes and what was found. An empty text is yes for a flag.
OptionValue parse_option(const OptionSpec& option, std::string_view text);

/// A head as a number in a list, and back: {layer, head}.
inline constexpr int kHeadNumbers = 4096;  ///< more than a layer has heads, and a model layers
constexpr int head_number(int layer, int head) {
  return layer * kHeadNumbers + head;
}
constexpr std::pair<int, int> head_of_number(int number) {
  return {number / kHeadNumbers, number % kHeadNumbers};
}

/// A list while it is typed: the parts that can be read already, within the limits, each once.
std::vector<int> list_as_typed(const OptionSpec& option, std::string_view text);

/// What `parse_option` reads back.
std::string to_text(const OptionSpec& option, const OptionValue& value);

/// The value one step up (or down), the next choice, the other of yes and no; others stay.
OptionValue stepped(const OptionSpec& option, const OptionValue& value, int by);

}  // namespace headscope::app
