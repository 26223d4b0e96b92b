#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/edits.h"

// What the text and the JSON form of edits consist of, for their readers and for each EditKind.
namespace headscope::app {

using Json = nlohmann::json;
using Place = model::EditedPlace;

extern const float kHiddenScore;  ///< -inf, "null" in both forms

/// "a, b or c"; `last` is " or ".
std::string listed(const std::vector<std::string>& words, std::string_view last);

// ---- text ----

std::optional<model::Site> site_named(std::string_view short_name);

/// Whole numbers, or none of them: all there are.
struct Numbers {
  bool all = false;
  std::vector<int> list;
};

/// Reads the text of one edit from left to right; spaces before what is read are passed over. Throws
/// model::RunError with the whole text.
class EditReader {
 public:
  EditReader(std::string_view text, const LoadedModel& model);

  const LoadedModel& model() const { return model_; }
  const model::Config& config() const { return config_; }
  std::string_view rest() const { return rest_; }
  void rewind(std::string_view rest) { rest_ = rest; }
  [[noreturn]] void fail(const std::string& why) const;

  bool sees(std::string_view token);
  bool take(std::string_view token);
  void expect(std::string_view token);
  template <class Belongs>
  std::string_view take_while(const Belongs& belongs) {
    sees("");
    const auto end = std::ranges::find_if_not(rest_, belongs);
    const std::string_view taken = rest_.substr(0, end - rest_.begin());
    rest_.remove_prefix(taken.size());
    return taken;
  }
  int whole() { return read<int>("a number", "whole number"); }
  float number() { return read<float>("a value", "number"); }
  /// "3", "3,5-8", "*"; of queries or keys "3+5-8": a comma stands between these two.
  Numbers numbers(bool of_cells);
  std::vector<float> vector();  ///< "0.5" or "[0.5,1]"
  std::string quoted();

 private:
  template <class T>
  T read(const char* missing, const char* expected);

  std::string_view whole_, rest_;
  const LoadedModel& model_;
  const model::Config& config_;
  int count_;  // no position or unit has this number
};

std::string number_text(float value);
std::string list_text(const std::vector<int>& numbers);  ///< "3,5-8"
std::string vector_text(const std::vector<float>& values);
std::string point_text(model::HookPoint point, const std::optional<int>& head);  ///< "L5H1.z"
std::string place_text(const model::EditedPlace& at);                            ///< "L5H1.z[3,5-8]"
std::string place_words(const model::EditedPlace& at);                           ///< "L5 H1 at 3,5-8"

// ---- JSON ----

/// What is wrong with an edit; the file and its number are put in front.
class WrongEdit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// All throw WrongEdit; of a value `key` is for the message.
float number_of(const Json& value, std::string_view key, bool may_hide = false);
int whole_of(const Json& value, std::string_view key);
const Json::array_t& array_of(const Json& value, std::string_view key);
void allow(const Json& object, std::span<const std::string_view> keys);

/// The object of an edit.
struct EditObject {
  const Json& json;
  const Place& at;  ///< where its kind has one
  const LoadedModel& model;

  const Json& value(std::string_view key) const { return json.at(key); }
  float number(std::string_view key) const { return number_of(value(key), key); }
  /// A number or a list of them.
  std::vector<float> numbers(std::string_view key, bool may_hide = false) const;
  /// Of keys that may be left out, which then means all.
  std::vector<int> wholes(std::string_view key) const;
  std::optional<int> whole(std::string_view key) const;
};

}  // namespace headscope::app
