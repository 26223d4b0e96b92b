#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "model/pass/edits.h"

// Building blocks of the text of edits, for its reader and for each EditKind.
namespace headscope::app {

using Place = model::EditSite;

extern const float kHiddenScore;  ///< -inf; written "null"

std::optional<model::Site> site_named(std::string_view short_name);
/// By the name of its hook, in a layer what follows "blocks.5.": "attn.hook_z".
std::optional<model::Site> site_of_hook(std::string_view hook, bool in_layer);
std::string site_names();  ///< "embed, pos_embed, ... and logits"

/// Reads the text of one edit from left to right, skipping spaces before each token. Throws model::RunError
/// with the whole text.
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
  int whole() { return read<int>("a whole number"); }
  float number() { return read<float>("a number"); }
  /// "3", "3,5-8"; queries and keys as "3+5-8", because a comma separates the two. Empty for "*": all.
  std::vector<int> numbers(bool of_cells);
  std::vector<float> vector();  ///< "0.5" or "[0.5,1]"
  std::string quoted();
  std::string_view braced();  ///< what stands between braces

 private:
  template <class T>
  T read(const std::string& expected);
  [[noreturn]] void fail_expecting(const std::string& what) const;

  std::string_view whole_, rest_;
  const LoadedModel& model_;
  model::Config config_;
  int count_;  // upper bound of positions and units, exclusive
};

/// Where a mark is first found outside quotes and braces.
struct FoundOutside {
  std::size_t at = std::string_view::npos;
  int depth = 0;  ///< the most braces that are open at once before it
};
FoundOutside find_outside(std::string_view text, char mark);

std::string number_text(float value);
std::string list_text(const std::vector<int>& numbers);     ///< "3,5-8"
std::string ranges_words(const std::vector<int>& numbers);  ///< the same for people: "3, 5–8"
std::string quoted_text(std::string_view text);             ///< as EditReader::quoted reads it: "\"a\""
std::string vector_text(const std::vector<float>& values);
std::string point_text(model::HookPoint point, const std::optional<int>& head);  ///< "L5H1.z"
std::string place_text(const model::EditSite& at);                               ///< "L5H1.z[3,5-8]"
std::string place_words(const model::EditSite& at);                              ///< "L5 H1 at 3, 5–8"

}  // namespace headscope::app
