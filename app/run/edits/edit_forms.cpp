#include "app/run/edits/edit_forms.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "app/ascii.h"
#include "model/files/error.h"

namespace headscope::app {

using model::Site;

const float kHiddenScore = -std::numeric_limits<float>::infinity();

namespace {

/// In the order of Site.
constexpr std::string_view kSiteNames[] = {
    "embed",    "pos_embed",  "resid_pre",      "ln1_scale", "ln1",     "q",
    "k",        "v",          "scores",         "pattern",   "z",       "result",
    "attn_out", "resid_mid",  "ln2_scale",      "ln2",       "mlp_pre", "mlp_post",
    "mlp_out",  "resid_post", "ln_final_scale", "ln_final",  "logits"};

std::string short_name(Site site) {
  return std::string(kSiteNames[static_cast<std::size_t>(site)]);
}

}  // namespace

std::string site_names() {
  return listed({std::begin(kSiteNames), std::end(kSiteNames)}, " and ");
}

std::optional<Site> site_named(std::string_view name) {
  const auto* const found = std::ranges::find(kSiteNames, name);
  if (found == std::end(kSiteNames)) return std::nullopt;
  return static_cast<Site>(found - std::begin(kSiteNames));
}

std::optional<Site> site_of_hook(std::string_view hook, bool in_layer) {
  const std::string name = (in_layer ? "blocks.0." : "") + std::string(hook);
  for (std::size_t i = 0; i < std::size(kSiteNames); ++i)
    if (const Site site = static_cast<Site>(i); model::hook_name({site, 0}) == name) return site;
  return std::nullopt;
}

EditReader::EditReader(std::string_view text, const LoadedModel& model)
    : whole_(text),
      rest_(text),
      model_(model),
      config_(model.config()),
      count_(std::max({config_.n_ctx, config_.n_embd, config_.n_inner, config_.vocab_size})) {
  require(model, Capability::weights);
}

void EditReader::fail(const std::string& why) const {
  throw model::RunError("the edit " + model::quote(whole_) + " cannot be read: " + why);
}

void EditReader::fail_expecting(const std::string& what) const {
  fail("expected " + what + (rest_.empty() ? " at the end" : " at " + model::quote(rest_)));
}

bool EditReader::sees(std::string_view token) {
  while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  return rest_.starts_with(token);
}

bool EditReader::take(std::string_view token) {
  if (!sees(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void EditReader::expect(std::string_view token) {
  if (!take(token)) fail_expecting(model::quote(token));
}

template <class T>
T EditReader::read(const std::string& expected) {
  sees("");
  T value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc() || !std::isfinite(static_cast<double>(value))) fail_expecting(expected);
  rest_.remove_prefix(end - rest_.data());
  return value;
}

template int EditReader::read<int>(const std::string&);
template float EditReader::read<float>(const std::string&);

std::vector<int> EditReader::numbers(bool of_cells) {
  std::vector<int> numbers;
  if (take("*")) return numbers;
  do {
    const int first = whole();
    const int last = take("-") ? whole() : first;
    if (first < 0 || last < first || last >= count_)
      fail("invalid range " + std::to_string(first) + "-" + std::to_string(last));
    if (std::ssize(numbers) + last - first >= count_)
      fail("a list of more than " + std::to_string(count_) + " numbers");
    for (int i = first; i <= last; ++i) numbers.push_back(i);
  } while (take(of_cells ? "+" : ","));
  return numbers;
}

std::vector<float> EditReader::vector() {
  if (!take("[")) return {number()};
  std::vector<float> values;
  do values.push_back(number());
  while (take(","));
  expect("]");
  return values;
}

std::string EditReader::quoted() {
  expect("\"");
  std::string text;
  for (; !rest_.empty() && rest_.front() != '"'; rest_.remove_prefix(1)) {
    if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
    text += rest_.front();
  }
  expect("\"");
  return text;
}

std::string_view EditReader::braced() {
  expect("{");
  const auto [end, depth] = find_outside(rest_, '}');
  if (depth > model::PatchFrom::kMaxRuns)
    fail("patches through more than " + std::to_string(model::PatchFrom::kMaxRuns) + " runs");
  if (end == rest_.npos) fail("expected \"}\" at the end");
  const std::string_view inside = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  if (inside.find_first_not_of(' ') == inside.npos) fail("there are no edits in {}");
  return inside;
}

FoundOutside find_outside(std::string_view text, char mark) {
  FoundOutside found;
  bool quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (depth == 0 && c == mark) return {i, found.depth};
    if (c == '{') ++depth;
    if (c == '}') depth = std::max(0, depth - 1);
    found.depth = std::max(found.depth, depth);
  }
  return found;
}

std::string number_text(float value) {
  if (value == kHiddenScore) return "null";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += std::to_string(numbers[i]);
    if (last > i + 1) text += "-" + std::to_string(numbers[last]), i = last;
  }
  return text;
}

std::string ranges_words(const std::vector<int>& numbers) {
  std::string words;
  for (const char c : list_text(numbers)) words += c == ',' ? ", " : c == '-' ? "–" : std::string(1, c);
  return words;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + "\"";
}

std::string vector_text(const std::vector<float>& values) {
  if (values.size() == 1) return number_text(values.front());
  std::string text = "[";
  for (const float value : values) text += (text.size() > 1 ? "," : "") + number_text(value);
  return text + "]";
}

std::string point_text(model::HookPoint point, const std::optional<int>& head) {
  std::string text;
  if (model::in_block(point.site))
    text = "L" + std::to_string(point.layer) + (head ? "H" + std::to_string(*head) : "") + ".";
  return text + short_name(point.site);
}

std::string place_text(const model::EditSite& at) {
  std::string text = point_text(at.point, at.head);
  std::string positions = list_text(at.positions);
  if (model::has_cells(at.point.site)) std::ranges::replace(positions, ',', '+');
  if (!positions.empty()) text += "[" + positions + "]";
  if (!at.units.empty()) text += (at.positions.empty() ? "[*][" : "[") + list_text(at.units) + "]";
  return text;
}

std::string place_words(const model::EditSite& at) {
  std::string words;
  if (model::in_block(at.point.site))
    words = "L" + std::to_string(at.point.layer) + (at.head ? " H" + std::to_string(*at.head) : "");
  const bool whole_head = at.point.site == Site::z && at.head;
  if (!whole_head) words += (words.empty() ? "" : " ") + short_name(at.point.site);
  constexpr std::ptrdiff_t kMany = 12;
  if (std::ssize(at.positions) > kMany)
    words += " at " + std::to_string(at.positions.size()) + " positions";
  else if (!at.positions.empty())
    words += " at " + ranges_words(at.positions);
  if (std::ssize(at.units) > kMany)
    words += " in " + std::to_string(at.units.size()) + " units";
  else if (!at.units.empty())
    words += " unit " + ranges_words(at.units);
  return words;
}

}  // namespace headscope::app
