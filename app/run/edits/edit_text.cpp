#include "app/run/edits/edit_text.h"

#include "app/run/sources/pattern_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using model::Site;

constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct ShortName {
  Site site;
  std::string_view name;
};
constexpr std::array kShortNames{
    ShortName{Site::embed, "embed"},
    ShortName{Site::pos_embed, "pos_embed"},
    ShortName{Site::resid_pre, "resid_pre"},
    ShortName{Site::ln1_scale, "ln1_scale"},
    ShortName{Site::ln1_normalized, "ln1"},
    ShortName{Site::q, "q"},
    ShortName{Site::k, "k"},
    ShortName{Site::v, "v"},
    ShortName{Site::attn_scores, "scores"},
    ShortName{Site::pattern, "pattern"},
    ShortName{Site::z, "z"},
    ShortName{Site::result, "result"},
    ShortName{Site::attn_out, "attn_out"},
    ShortName{Site::resid_mid, "resid_mid"},
    ShortName{Site::ln2_scale, "ln2_scale"},
    ShortName{Site::ln2_normalized, "ln2"},
    ShortName{Site::mlp_pre, "mlp_pre"},
    ShortName{Site::mlp_post, "mlp_post"},
    ShortName{Site::mlp_out, "mlp_out"},
    ShortName{Site::resid_post, "resid_post"},
    ShortName{Site::ln_final_scale, "ln_final_scale"},
    ShortName{Site::ln_final_normalized, "ln_final"},
    ShortName{Site::logits, "logits"},
};

std::string_view short_name(Site site) {
  return std::ranges::find(kShortNames, site, &ShortName::site)->name;
}

/// Whole numbers, or none of them: all there are.
struct Numbers {
  bool all = false;
  std::vector<int> list;
};

/// Reads one edit from left to right.
class Reader {
 public:
  Reader(std::string_view text, const LoadedModel& model)
      : whole_(text),
        rest_(text),
        model_(model),
        config_(weights_of(model).config()),
        count_(std::max({config_.n_ctx, config_.n_embd, config_.n_inner, config_.vocab_size})) {}

  model::Edits read() {
    skip_spaces();
    model::Edits result;
    std::optional<int> head;
    const std::optional<std::vector<int>> layers = read_layers(head);
    const std::string_view name = read_name();
    if (name == "mask") {
      expect("=");
      const auto sees = read_mask();
      for (const std::optional<int> layer : layers_or_all(layers))
        result.push_back(model::SetMask{layer, head, sees});
    } else if (name == "positions") {
      if (layers) fail("positions belong to no layer");
      expect("=");
      result.push_back(model::SetPositionIds{read_position_ids()});
    } else {
      const auto found = std::ranges::find(kShortNames, name, &ShortName::name);
      if (found == kShortNames.end()) fail(model::quote(name) + " is no site; see --help of predict");
      const bool block = model::in_block(found->site);
      if (block && !layers) fail("it needs a layer, as in L5." + std::string(name));
      if (!block && layers) fail(std::string(name) + " stands in no layer");
      read_change(found->site, layers.value_or(std::vector{0}), head, result);
    }
    skip_spaces();
    if (!rest_.empty()) fail("nothing is expected at " + model::quote(rest_));
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw model::RunError("the edit " + model::quote(whole_) + " cannot be read: " + why);
  }

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      fail("expected " + model::quote(token) +
           (rest_.empty() ? " at its end" : " at " + model::quote(rest_)));
  }

  std::string_view read_name() {
    skip_spaces();
    std::size_t end = 0;
    while (end < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[end])) || rest_[end] == '_'))
      ++end;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return name;
  }

  int read_whole() {
    skip_spaces();
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc())
      fail(rest_.empty() ? "a number is missing at its end" : "no whole number at " + model::quote(rest_));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  float read_number() {
    skip_spaces();
    float value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || !std::isfinite(value))
      fail(rest_.empty() ? "a value is missing at its end" : "no number at " + model::quote(rest_));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  /// "3", "3,5-8", "*"; of queries or keys "3+5-8": a comma stands between these two.
  Numbers read_numbers(bool of_cells) {
    if (take("*")) return {.all = true, .list = {}};
    Numbers numbers;
    do {
      const int first = read_whole();
      const int last = take("-") ? read_whole() : first;
      if (first < 0 || last < first || last >= count_)
        fail("there are no numbers from " + std::to_string(first) + " to " + std::to_string(last));
      if (std::ssize(numbers.list) + last - first >= count_)
        fail("it names more numbers than the " + std::to_string(count_) + " that there are");
      for (int i = first; i <= last; ++i) numbers.list.push_back(i);
    } while (take(of_cells ? "+" : ","));
    return numbers;
  }

  /// "L5H1." or "L*."; nothing where there is no layer.
  std::optional<std::vector<int>> read_layers(std::optional<int>& head) {
    const bool has_layer = rest_.size() > 1 && rest_[0] == 'L' &&
                           (rest_[1] == '*' || std::isdigit(static_cast<unsigned char>(rest_[1])));
    if (!has_layer) return std::nullopt;
    expect("L");
    std::vector<int> layers;
    if (take("*")) {
      for (int layer = 0; layer < config_.n_layer; ++layer) layers.push_back(layer);
    } else {
      layers.push_back(read_whole());
    }
    if (take("H") && !take("*")) head = read_whole();
    expect(".");
    return layers;
  }

  static std::vector<std::optional<int>> layers_or_all(const std::optional<std::vector<int>>& layers) {
    if (!layers) return {std::nullopt};
    return {layers->begin(), layers->end()};
  }

  /// "none", or rows of 0 and 1 with "/" between.
  std::vector<std::vector<bool>> read_mask() {
    if (take("none")) return {};
    std::vector<std::vector<bool>> rows;
    do {
      skip_spaces();
      std::vector<bool>& row = rows.emplace_back();
      for (; !rest_.empty() && (rest_.front() == '0' || rest_.front() == '1'); rest_.remove_prefix(1))
        row.push_back(rest_.front() == '1');
      if (row.empty()) fail("a mask is none, or rows of 0 and 1 as in 100/110/111");
    } while (take("/"));
    return rows;
  }

  std::vector<int> read_position_ids() {
    std::vector<int> ids;
    if (take("none")) {
      ids.assign(static_cast<std::size_t>(config_.n_ctx), -1);
      return ids;
    }
    do {
      const int id = read_whole();
      const int times = take("*") ? read_whole() : 1;
      if (times < 1 || times > config_.n_ctx - std::ssize(ids))
        fail("there are no more than " + std::to_string(config_.n_ctx) + " positions");
      ids.insert(ids.end(), static_cast<std::size_t>(times), id);
    } while (take(","));
    return ids;
  }

  void read_change(Site site, const std::vector<int>& layers, const std::optional<int>& head,
                   model::Edits& result) {
    Numbers positions{.all = true, .list = {}}, others{.all = true, .list = {}};
    bool cells = false;
    if (take("[")) {
      const bool of_cells = model::is_of_cells(site);
      positions = read_numbers(of_cells);
      if (of_cells && take(",")) {
        others = read_numbers(true);
        cells = !others.all;
      }
      expect("]");
      if (!of_cells && take("[")) {
        others = read_numbers(false);
        expect("]");
      }
    }
    const std::string_view change = read_operator();
    if (cells && change != "=" && change != "~=") fail("single cells can only be set, with = or ~=");
    if (!cells && change == "~=") fail("~= sets single cells of a pattern, as in L3.pattern[8,3]~=0");
    const std::string_view operand = rest_;
    for (const int layer : layers) {
      rest_ = operand;
      model::EditedPlace at{{site, layer}, head, positions.list, cells ? std::vector<int>{} : others.list};
      result.push_back(cells ? read_cells(at, positions, others.list, change == "~=")
                             : read_value(std::move(at), change));
    }
  }

  std::string_view read_operator() {
    for (const std::string_view change : {"~=", "*=", "+=", "<-", "="})
      if (take(change)) return change;
    fail(rest_.empty() ? "it says nothing to do: expected =, *=, += or <-"
                       : "expected =, *=, += or <- at " + model::quote(rest_));
  }

  model::Edit read_cells(const model::EditedPlace& at, const Numbers& queries, const std::vector<int>& keys,
                         bool renormalise) {
    const float value = take("null") ? kHidden : read_number();
    for (const std::vector<int>* positions : {&queries.list, &keys})
      for (const int position : *positions)
        if (position >= config_.n_ctx) fail("there is no position " + std::to_string(position));
    model::SetCells set{at.point, at.head, {}, renormalise};
    for (const int key : keys) {
      if (queries.all)
        for (int query = key; query < config_.n_ctx; ++query) set.cells.push_back({query, key, value});
      for (const int query : queries.list) set.cells.push_back({query, key, value});
    }
    return set;
  }

  std::vector<float> read_vector() {
    if (!take("[")) return {read_number()};
    std::vector<float> values;
    do values.push_back(read_number());
    while (take(","));
    expect("]");
    return values;
  }

  model::Edit read_value(model::EditedPlace at, std::string_view change) {
    if (change == "*=") return model::ScaleValues{std::move(at), read_number()};
    if (change == "<-") return read_patch(std::move(at));
    if (change == "+=") {
      float factor = 1;
      std::vector<float> vector = read_vector();
      if (vector.size() == 1 && take("*")) {
        factor = vector.front();
        vector = read_vector();
      }
      return model::AddVector{std::move(at), std::move(vector), factor};
    }
    if (take("mean")) return model::SetMean{std::move(at)};
    if (take("null")) return model::SetValues{std::move(at), {kHidden}};
    return model::SetValues{std::move(at), read_vector()};
  }

  std::string read_quoted() {
    expect("\"");
    std::string text;
    for (; !rest_.empty() && rest_.front() != '"'; rest_.remove_prefix(1)) {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      text += rest_.front();
    }
    expect("\"");
    return text;
  }

  model::Edit read_patch(model::EditedPlace at) {
    model::PatchFrom patch{std::move(at), {}, {}};
    patch.second = take("second");
    skip_spaces();
    if (!rest_.starts_with("ids(") && !rest_.starts_with('"')) {
      if (!patch.second) fail("<- takes \"a text\", ids(...) or second, not " + model::quote(rest_));
      if (rest_.starts_with('[')) fail("<-second takes positions behind a \"text\" or ids(...) alone");
      return patch;
    }
    if (take("ids(")) {
      do patch.tokens.push_back(read_whole());
      while (take(","));
      expect(")");
    } else {
      for (const model::Token& token : model_.tokenizer->encode(read_quoted()))
        patch.tokens.push_back(token.id);
      if (patch.tokens.empty()) fail("it patches from a prompt without tokens");
    }
    if (take("[")) {
      patch.positions = read_numbers(false).list;
      expect("]");
    }
    return patch;
  }

  std::string_view whole_, rest_;
  const LoadedModel& model_;
  const model::Config& config_;
  int count_;  // no position or unit has this number
};

/// How many numbers an edit holds, about.
struct Numbered {
  std::size_t operator()(const model::SetValues& set) const { return of(set.at) + set.values.size(); }
  std::size_t operator()(const model::SetMean& set) const { return of(set.at); }
  std::size_t operator()(const model::ScaleValues& scale) const { return of(scale.at); }
  std::size_t operator()(const model::AddVector& add) const { return of(add.at) + add.vector.size(); }
  std::size_t operator()(const model::PatchFrom& patch) const { return of(patch.at) + patch.tokens.size(); }
  std::size_t operator()(const model::SetCells& set) const { return 3 * set.cells.size(); }
  std::size_t operator()(const model::SetMask& mask) const {
    return mask.sees.size() * mask.sees.size() / 32;
  }
  std::size_t operator()(const model::SetPositionIds& set) const { return set.ids.size(); }
  static std::size_t of(const model::EditedPlace& at) { return 8 + at.positions.size() + at.units.size(); }
};

/// At each ";" that stands outside quotes.
std::vector<std::string_view> separate(std::string_view text) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted)
      ++i;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (text[i] == ';' && !quoted)
      parts.push_back(text.substr(begin, i - begin)), begin = i + 1;
  }
  const std::string_view last = text.substr(begin);
  if (parts.empty() || last.find_first_not_of(' ') != std::string_view::npos) parts.push_back(last);
  return parts;
}

// ---- writing ----

std::string number_text(float value) {
  if (value == kHidden) return "null";
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

std::string plain_list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
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
  return text + std::string(short_name(point.site));
}

std::string place_text(const model::EditedPlace& at) {
  std::string text = point_text(at.point, at.head);
  std::string positions = list_text(at.positions);
  if (model::is_of_cells(at.point.site)) std::ranges::replace(positions, ',', '+');
  if (!positions.empty()) text += "[" + positions + "]";
  if (!at.units.empty()) text += (at.positions.empty() ? "[*][" : "[") + list_text(at.units) + "]";
  return text;
}

struct Writer {
  std::string operator()(const model::SetValues& set) const {
    return place_text(set.at) + "=" + vector_text(set.values);
  }
  std::string operator()(const model::SetMean& set) const { return place_text(set.at) + "=mean"; }
  std::string operator()(const model::ScaleValues& scale) const {
    return place_text(scale.at) + "*=" + number_text(scale.factor);
  }
  std::string operator()(const model::AddVector& add) const {
    return place_text(add.at) + "+=" + (add.factor != 1 ? number_text(add.factor) + "*" : "") +
           vector_text(add.vector);
  }
  std::string operator()(const model::PatchFrom& patch) const {
    const std::string from = place_text(patch.at) + (patch.second ? "<-second" : "<-");
    if (patch.tokens.empty()) return from;
    return from + (patch.second ? " ids(" : "ids(") + plain_list(patch.tokens) + ")" +
           (patch.positions.empty() ? "" : "[" + list_text(patch.positions) + "]");
  }
  std::string operator()(const model::SetCells& set) const {
    std::string text;
    for (const model::CellValue& cell : set.cells)
      text += (text.empty() ? "" : "; ") + point_text(set.point, set.head) + "[" +
              std::to_string(cell.query) + "," + std::to_string(cell.key) + "]" +
              (set.renormalise ? "~=" : "=") + number_text(cell.value);
    return text;
  }
  std::string operator()(const model::SetMask& mask) const {
    std::string text = mask.layer ? "L" + std::to_string(*mask.layer) +
                                        (mask.head ? "H" + std::to_string(*mask.head) : "") + "."
                       : mask.head ? "L*H" + std::to_string(*mask.head) + "."
                                   : "";
    text += "mask=";
    if (mask.sees.empty()) return text + "none";
    for (std::size_t row = 0; row < mask.sees.size(); ++row) {
      if (row > 0) text += "/";
      for (const bool sees : mask.sees[row]) text += sees ? '1' : '0';
    }
    return text;
  }
  std::string operator()(const model::SetPositionIds& set) const {
    std::string text;
    for (std::size_t i = 0; i < set.ids.size();) {
      std::size_t end = i;
      while (end < set.ids.size() && set.ids[end] == set.ids[i]) ++end;
      text += (text.empty() ? "" : ",") + std::to_string(set.ids[i]);
      if (end > i + 1) text += "*" + std::to_string(end - i);
      i = end;
    }
    return "positions=" + text;
  }
};

// ---- in words ----

std::string where_words(const model::EditedPlace& at) {
  std::string words;
  if (model::in_block(at.point.site))
    words = "L" + std::to_string(at.point.layer) + (at.head ? " H" + std::to_string(*at.head) : "");
  const bool whole_head = at.point.site == Site::z && at.head;
  if (!whole_head) words += (words.empty() ? "" : " ") + std::string(short_name(at.point.site));
  constexpr std::ptrdiff_t kMany = 12;
  if (std::ssize(at.positions) > kMany) {
    words += " at " + std::to_string(at.positions.size()) + " positions";
  } else if (!at.positions.empty()) {
    words += " at " + list_text(at.positions);
  }
  if (std::ssize(at.units) > kMany) {
    words += " in " + std::to_string(at.units.size()) + " units";
  } else if (!at.units.empty()) {
    words += " unit " + list_text(at.units);
  }
  return words;
}

struct Describer {
  std::string operator()(const model::SetValues& set) const {
    if (set.values.size() > 1) return where_words(set.at) + " set";
    return where_words(set.at) + (set.values.front() == 0 ? " off" : " = " + number_text(set.values.front()));
  }
  std::string operator()(const model::SetMean& set) const { return where_words(set.at) + " at its mean"; }
  std::string operator()(const model::ScaleValues& scale) const {
    return where_words(scale.at) + (scale.factor == 0 ? " off" : " × " + number_text(scale.factor));
  }
  std::string operator()(const model::AddVector& add) const {
    return where_words(add.at) + " + " +
           (add.vector.size() > 1 ? number_text(add.factor) + " v"
                                  : number_text(add.factor * add.vector.front()));
  }
  std::string operator()(const model::PatchFrom& patch) const {
    const char* from = patch.tokens.empty() ? " of the second model"
                       : patch.second       ? " of the second model on tokens of its own"
                                            : " patched";
    return where_words(patch.at) + from;
  }
  std::string operator()(const model::SetCells& set) const {
    const std::string where =
        "L" + std::to_string(set.point.layer) + (set.head ? " H" + std::to_string(*set.head) : "");
    const auto& first = set.cells.front();
    const bool one_key = std::ranges::all_of(set.cells, [&](const model::CellValue& cell) {
      return cell.key == first.key && cell.value == kHidden;
    });
    if (set.cells.size() > 1 && one_key) return where + " key " + std::to_string(first.key) + " hidden";
    if (set.cells.size() > 1) return where + " " + std::to_string(set.cells.size()) + " cells";
    const model::CellValue& cell = set.cells.front();
    const std::string pair = "query " + std::to_string(cell.query);
    if (cell.value == kHidden || (cell.value == 0 && set.point.site == Site::pattern))
      return where + " " + pair + " may not see key " + std::to_string(cell.key);
    return where + " " + pair + ", key " + std::to_string(cell.key) + " = " + number_text(cell.value);
  }
  std::string operator()(const model::SetMask& mask) const {
    const std::string words = mask.sees.empty() ? "no mask" : "other mask";
    if (!mask.layer && !mask.head) return words;
    return words + " in " + (mask.layer ? "L" + std::to_string(*mask.layer) : "all layers") +
           (mask.head ? " H" + std::to_string(*mask.head) : "");
  }
  std::string operator()(const model::SetPositionIds& set) const {
    return std::ranges::all_of(set.ids, [](int id) { return id == -1; }) ? "no positions" : "other positions";
  }
};

/// Whether cells of a head follow cells of the same one, so that as text they would be one edit.
bool are_cells_of_one(const model::Edit& before, const model::Edit& next) {
  const auto* a = std::get_if<model::SetCells>(&before);
  const auto* b = std::get_if<model::SetCells>(&next);
  return a && b && a->point == b->point && a->head == b->head && a->renormalise == b->renormalise;
}

}  // namespace

model::Edits parse_edits(std::string_view text, const LoadedModel& model) {
  constexpr std::size_t kMostNumbers = std::size_t{1} << 24;  // a few letters can stand for a million of them
  model::Edits all;
  std::size_t numbers = 0;
  bool apart = false;
  for (const std::string_view part : separate(text)) {
    if (!all.empty() && part.find_first_not_of(' ') == part.npos) {
      apart = true;
      continue;
    }
    for (model::Edit& edit : Reader(part, model).read()) {
      const bool is_part = std::holds_alternative<model::SetCells>(edit);  // others may still come
      if (!is_part) check(model.transformer->config(), edit);
      numbers += std::visit(Numbered(), edit);
      if (numbers > kMostNumbers)
        throw model::RunError("the edits that end with " + model::quote(part) + " name more than " +
                              std::to_string(kMostNumbers) + " positions, units and values");
      // Cells of one head side by side are one edit, so that a row is renormalised once.
      if (!apart && !all.empty() && are_cells_of_one(all.back(), edit)) {
        const auto& cells = std::get<model::SetCells>(edit).cells;
        auto& before = std::get<model::SetCells>(all.back()).cells;
        before.insert(before.end(), cells.begin(), cells.end());
      } else {
        all.push_back(std::move(edit));
      }
    }
    apart = false;
  }
  for (const model::Edit& edit : all)  // cells that came together add up
    if (std::holds_alternative<model::SetCells>(edit)) check(model.transformer->config(), edit);
  return all;
}

std::string edit_text(const model::Edit& edit) {
  return std::visit(Writer(), edit);
}

std::string edit_text(const model::Edits& all) {
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += are_cells_of_one(all[i - 1], all[i]) ? ";; " : "; ";
    text += edit_text(all[i]);
  }
  return text;
}

std::string edit_brief(const model::Edit& edit) {
  constexpr std::size_t kMany = 24;
  struct Size {
    std::size_t operator()(const model::SetValues& set) const { return set.values.size() + of(set.at); }
    std::size_t operator()(const model::SetMean& set) const { return of(set.at); }
    std::size_t operator()(const model::ScaleValues& scale) const { return of(scale.at); }
    std::size_t operator()(const model::AddVector& add) const { return add.vector.size() + of(add.at); }
    std::size_t operator()(const model::PatchFrom& patch) const { return patch.tokens.size() + of(patch.at); }
    std::size_t operator()(const model::SetCells& set) const { return set.cells.size(); }
    std::size_t operator()(const model::SetMask& mask) const { return mask.sees.size() * mask.sees.size(); }
    std::size_t operator()(const model::SetPositionIds& set) const { return set.ids.size(); }
    static std::size_t of(const model::EditedPlace& at) { return at.units.size(); }
  };
  return std::visit(Size(), edit) > kMany ? edit_words(edit) : edit_text(edit);
}

std::string edit_words(const model::Edit& edit) {
  return std::visit(Describer(), edit);
}

std::string edit_grammar() {
  return "Edits: a place, then what is done there; several with ; between\n"
         "(cells of one head side by side are one edit, unless ;; stands between).\n"
         "  L5H1.z=0                     head 1 of layer 5 off (L5: all heads, L*: all layers)\n"
         "  L5H1.z=mean                  its mean over the positions\n"
         "  L2.mlp_out[3,5-8]*=0.5       at positions 3 and 5 to 8; without [...]: at all\n"
         "  L0.mlp_post[*][17]=0         unit 17 at all positions\n"
         "  L2.resid_pre[7]+=2*[0.5,...] a vector of d_model numbers, twice; one number: in all units\n"
         "  L3.pattern[8,3]=0            the weight of query 8 on key 3; ~=: the rest of the row scaled to "
         "1\n"
         "  L3H0.scores[*,0]=null        no query may see key 0\n"
         "  L3.pattern[2+5-8]<-\"text\"    of scores and patterns rows of queries, with + between them\n"
         "  L4.resid_pre[5]<-\"text\"[2]   what another prompt has there (its position 2; ids(1,2): of ids)\n"
         "  L4.resid_pre[5]<-second      what the second model has there; <-second \"text\"[2]: of another "
         "prompt\n"
         "  mask=none                    every query sees every key; L3H2.mask=100/110/111: those with a 1\n"
         "  positions=0,0,-1             rows of wpe for positions 0, 1, 2 (-1: none); none: no position has "
         "one\n"
         "Sites: embed, pos_embed, logits, ln_final_scale, ln_final; in a layer resid_pre, ln1_scale, ln1, "
         "q, k,\n"
         "v, scores, pattern, z, result, attn_out, resid_mid, ln2_scale, ln2, mlp_pre, mlp_post, mlp_out,\n"
         "resid_post. They are TransformerLens' hooks.\n";
}

}  // namespace headscope::app
