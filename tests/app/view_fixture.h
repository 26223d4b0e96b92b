#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/next_token.h"
#include "app/run/analyses/thumbnails.h"
#include "app/run/analyses/token_statistics.h"
#include "app/run/answers.h"
#include "app/run/edits/edit_text.h"
#include "app/views/view.h"
#include "model/pass/transformer.h"
#include "tests/support/drawn_text.h"
#include "tests/support/reference_gpt2.h"
#include "tests/viz/pictures.h"

namespace headscope::app::testing {

using namespace headscope::testing;
using namespace viz::testing;

inline const std::filesystem::path kBundledModel =
    std::filesystem::path(HEADSCOPE_SOURCE_DIR) / "assets/models/tales";

inline std::shared_ptr<const LoadedModel> bundled() {
  static const auto model = load_model(kBundledModel, {});
  return model;
}

constexpr const char* kRobot = "A robot must obey the orders given it";

/// A prompt of some tokens of every kind of length, spaces and line ends among them.
inline std::string long_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text +=
        "The old king had three daughters, and the youngest was so beautiful that the sun itself "
        "wondered.\nOnce, No. " +
        std::to_string(i * 37) + ": \"Naïve café!\"\n";
  }
  return text;
}

/// A run, and whom to ask about it.
class Scenario {
 public:
  explicit Scenario(const Prompt& prompt, Selection wanted = {2, 1, -1},
                    std::shared_ptr<const LoadedModel> model = bundled())
      : workspace_(std::make_unique<model::Workspace>(2)) {
    PromptRun made;
    made.model = std::move(model);
    made.prompt = prompt;
    made.tokens = tokenize(*made.model, prompt);
    model::ForwardOptions options;
    if (!prompt.edits.empty()) options.plan = made.model->transformer->plan(prompt.edits, *workspace_);
    made.run = made.model->transformer->forward(made.tokens.ids(), *workspace_, options);
    run = std::make_shared<const PromptRun>(std::move(made));
    answers_ = std::make_unique<DirectAnswers>(run, *workspace_);
    select(wanted);
  }
  explicit Scenario(const std::string& text, Selection wanted = {2, 1, -1})
      : Scenario(Prompt{text, {}, false}, wanted) {}
  /// Of a run that is there already.
  explicit Scenario(PromptRun made, Selection wanted = {})
      : run(std::make_shared<const PromptRun>(std::move(made))),
        workspace_(std::make_unique<model::Workspace>(1)),
        answers_(std::make_unique<DirectAnswers>(run, *workspace_)) {
    select(wanted);
  }

  /// Gives the run what it is compared with: itself with nothing changed, or another prompt.
  void compare(const std::optional<Prompt>& second = {}, Alignment by = Alignment::position) {
    PromptRun made = *run;
    const auto clean = [&](const PromptTokens& tokens) {
      return made.model->transformer->forward(tokens.ids(), *workspace_, {});
    };
    if (second) {
      auto other = std::make_shared<PromptRun>();
      other->model = made.model;
      other->prompt = *second;
      other->tokens = tokenize(*made.model, *second);
      other->run = clean(other->tokens);
      compare_with(made, std::move(other), by);
    } else {
      compare_with_unedited(made, clean(made.tokens));
    }
    run = std::make_shared<const PromptRun>(std::move(made));
    answers_ = std::make_unique<DirectAnswers>(run, *workspace_);
  }

  /// The first `length` tokens of a long text.
  static Scenario of_length(int length) {
    PromptTokens tokens = tokenize(*bundled(), Prompt{long_text(), {}, false});
    return Scenario(long_text().substr(0, tokens.tokens[length - 1].end));
  }

  int length() const { return run->run->length(); }
  const model::Config& config() const { return run->run->config; }
  void select(Selection wanted) { selection = clamped(wanted, *run); }

  Answers& answers() const { return *answers_; }
  template <class Q>
  std::shared_ptr<const typename Q::Answer> ask(const Q& question) const {
    return app::ask(*answers_, question);
  }
  /// The answer minus the baseline's.
  template <class Q>
  std::shared_ptr<const typename Q::Answer> ask_difference(const Q& question) const {
    return std::static_pointer_cast<const typename Q::Answer>(
        answers_->ask(Question(question).difference())->value);
  }
  /// Of the selected head.
  float weight(int query, int key) const {
    return ask(PatternOf{selection.layer, selection.head})->matrix().at(query, key);
  }

  ViewContext context(float width, float height, const viz::Theme& theme) const {
    ViewContext c;
    c.run = run;
    c.answers = answers_.get();
    c.selection = selection;
    c.chosen_query = selection.query;
    c.prompts = prompts;
    c.theme = &theme;
    c.fonts = viz::testing::fonts().get();
    c.width = width;
    c.height = height;
    return c;
  }

  std::shared_ptr<const PromptRun> run;
  Selection selection;
  std::shared_ptr<const PromptList> prompts = std::make_shared<const PromptList>(PromptList{
      "two.txt", {{.text = "The old king", .ids = {}}, {.text = "A very old king and a dog", .ids = {}}}});

 private:
  std::unique_ptr<model::Workspace> workspace_;
  std::unique_ptr<DirectAnswers> answers_;
};

/// With edits, compared with the run without.
inline Scenario edited(const std::string& edits, Selection selection = {2, 1, -1},
                       const std::string& text = kRobot) {
  Scenario scenario(Prompt{text, {}, false, parse_edits(edits, *bundled())}, selection);
  scenario.compare();
  return scenario;
}

/// Two prompts. By subsequence, tokens 0, 1, 2, 3 and 5 of the first stand for 0, 2, 3, 4 and 5 of the
/// second.
inline Scenario of_two(Selection selection = {2, 1, -1}, Alignment by = Alignment::subsequence) {
  Scenario scenario("The old king had a daughter", selection);
  scenario.compare(Prompt{"The very old king had daughter", {}, false}, by);
  scenario.select(selection);
  return scenario;
}

/// Says the same whatever it is asked: that nothing is known yet, or why there is no answer.
class NoAnswers final : public Answers {
 public:
  NoAnswers() = default;
  explicit NoAnswers(const std::string& failure)
      : answer_(std::make_shared<const Answer>(Answer{nullptr, 0, true, failure})) {}
  std::shared_ptr<const Answer> ask(const Question&) override {
    ++asked;
    return answer_;
  }
  int asked = 0;

 private:
  std::shared_ptr<const Answer> answer_;
};

/// Knows the answer to one question, and nothing else.
class OneAnswer final : public Answers {
 public:
  template <class Q>
  OneAnswer(const Q& question, typename Q::Answer answer, bool whole = true) : question_(question) {
    const std::size_t bytes = answer.bytes();
    answer_ = std::make_shared<const Answer>(
        Answer{std::make_shared<const typename Q::Answer>(std::move(answer)), bytes, whole, {}});
  }
  std::shared_ptr<const Answer> ask(const Question& question) override {
    return question == question_ ? answer_ : nullptr;
  }

 private:
  Question question_;
  std::shared_ptr<const Answer> answer_;
};

/// Sets an option as the command line does, by its name.
inline void set(Options& options, std::string_view name, std::string_view value) {
  const OptionSpec* option = find_option(name);
  if (!option) throw std::invalid_argument("There is no option " + std::string(name) + ".");
  options.set(*option, parse_option(*option, value));
}
inline void set(ViewContext& context, std::string_view name, std::string_view value) {
  set(context.options, name, value);
}

// What the regions of the views are, by their roles: the only place beside the views that knows these
// numbers.
constexpr int kCellRole = 0;                                          // of heatmap and scores
constexpr int kHeadRole = 0;                                          // of heads
constexpr int kChipRole = 0;                                          // of tokens
constexpr int kGuessRole = 0;                                         // of next
constexpr int kKeyRole = 0, kComponentRole = 1;                       // of query
constexpr int kEncodingRole = 0, kCurvesRole = 1;                     // of positions
constexpr int kPredictionRole = 0, kShadedRole = 1;                   // of predictions: a row, a chip
enum class Vector { query, key, value, weighted_value, z, product };  // rows of the query's components

/// The ids of a picture's regions of one role, in their order.
inline std::vector<int> ids_of_role(const Picture& picture, int role) {
  std::vector<int> ids;
  for (const viz::Region& region : picture.regions)
    if (region.role == role) ids.push_back(region.id);
  return ids;
}

inline const viz::Theme& light() {
  static const viz::Theme theme = viz::light_theme();
  return theme;
}
inline const viz::Theme& dark() {
  static const viz::Theme theme = viz::dark_theme();
  return theme;
}

/// The first `length` tokens of a long text, made once.
inline const Scenario& scenario(int length) {
  static std::map<int, Scenario> all;
  return all.try_emplace(length, Scenario::of_length(length)).first->second;
}

/// What the bundled model makes of the scenario's tokens, in double precision.
inline const headscope::testing::ReferenceGpt2& reference_model() {
  static const headscope::testing::ReferenceGpt2 model(kBundledModel);
  return model;
}
inline const headscope::testing::ReferenceGpt2::Result& reference(const Scenario& s) {
  static std::map<std::vector<int>, headscope::testing::ReferenceGpt2::Result> all;
  const std::vector<int> tokens = s.run->tokens.ids();
  const auto found = all.find(tokens);
  return found != all.end() ? found->second
                            : all.emplace(tokens, reference_model().run(tokens)).first->second;
}
inline const headscope::testing::ReferenceGpt2::Head& reference_head(const Scenario& s, int layer, int head) {
  return reference(s).heads.at(static_cast<std::size_t>(layer)).at(static_cast<std::size_t>(head));
}
inline const headscope::testing::ReferenceGpt2::Head& reference_head(const Scenario& s) {
  return reference_head(s, s.selection.layer, s.selection.head);
}

/// Options by the names that the command line gives them.
using NamedOptions = std::vector<std::pair<std::string_view, std::string_view>>;

/// A view of a scenario, painted. All that the tests of single views know about how views are asked is in
/// here.
class Shown {
 public:
  Shown(std::string_view view, const Scenario& s, float width, float height, const NamedOptions& options = {},
        const viz::Theme& theme = light(), float device_scale = 1)
      : view_(*find_view(view)), context_(s.context(width, height, theme)) {
    context_.device_scale = device_scale;
    for (const auto& [name, value] : options) apply(name, value);
    picture_ = view_.build(context_);
  }

  const viz::Scene& scene() const { return picture_.scene; }
  viz::testing::DrawnPage page() const { return {picture_.scene, *viz::testing::fonts()}; }
  Table table() const { return view_.table(context_); }

  // What answers the mouse, by what it is; its index. -1: there is no such thing.
  int find(int role, std::optional<int> id = {}, int row = -1) const {
    for (std::size_t i = 0; i < picture_.regions.size(); ++i) {
      const viz::Region& region = picture_.regions[i];
      if (region.role == role && (!id || region.id == *id) &&
          (row < 0 || static_cast<int>(region.first_row) == row))
        return static_cast<int>(i);
    }
    return -1;
  }
  int grid(int stage = 0) const { return find(kCellRole, stage); }  ///< of scores: 0 scores .. 3 pattern
  int map_of(int layer, int head) const {
    return find(kHeadRole, layer * context_.run->run->config.n_head + head);
  }
  int chip(int position) const { return find(kChipRole, position); }
  int key_row(int key) const { return find(kKeyRole, key); }
  int strip(Vector which, int key) const { return find(kComponentRole, key, static_cast<int>(which)); }
  int bar(int token_id) const { return find(kGuessRole, token_id); }
  int encoding(int which) const { return find(kEncodingRole, which); }  ///< 0 learned, 1 sinusoidal
  int curves(int which) const { return find(kCurvesRole, which); }
  const viz::Region& region(int index) const { return picture_.regions.at(static_cast<std::size_t>(index)); }
  std::optional<viz::Color> color_of(int index, int row, int col) const {
    return viz::testing::image_color_at(scene(), region(index).cell_rect(row, col).center());
  }

  /// The lines of the tooltip.
  std::vector<std::string> tooltip(int index, int row = 0, int col = 0) const {
    return view_.facts(context_, picture_, {index, row, col}).tooltip();
  }
  const Picture& picture() const { return picture_; }
  const ViewContext& context() const { return context_; }
  ViewActions click(int index, int row = 0, int col = 0) const {
    const viz::Hit hit{index, row, col};
    return view_.on(context_, picture_, &hit, {Gesture::Kind::click, {}, {}, {}});
  }
  ViewActions press(Key key, bool shift = false) const {
    Gesture gesture{Gesture::Kind::key, {}, {}, {}, key};
    gesture.modifiers.shift = shift;
    return view_.on(context_, picture_, nullptr, gesture);
  }
  /// What a line of the menu does; nothing where there is no such line.
  ViewActions choose(const std::string& label, int index, int row = 0, int col = 0) const {
    const viz::Hit hit{index, row, col};
    for (MenuLine& line : menu_at(view_, context_, picture_, &hit))
      if (line.label == label) return line.actions;
    return {};
  }
  viz::Scene card(int index, int row, int col) const {
    return view_.facts(context_, picture_, {index, row, col}).card;
  }

 private:
  void apply(std::string_view name, std::string_view value) {
    if (std::ranges::find(view_.options, find_option(name)) == view_.options.end())
      throw std::invalid_argument("The view has no option " + std::string(name) + ".");
    set(context_, name, value);
  }

  const View& view_;
  ViewContext context_;
  Picture picture_;
};

/// The cells of a table's column.
inline std::vector<std::string> cells_of(const Table& table, std::string_view heading) {
  const auto at = std::ranges::find(table.header, heading) - table.header.begin();
  std::vector<std::string> cells;
  for (const auto& row : table.rows) cells.push_back(row.at(static_cast<std::size_t>(at)));
  return cells;
}
/// The numbers of a score's table, by what stands before them.
inline std::map<std::string, std::string> named(const Table& table) {
  std::map<std::string, std::string> values;
  for (const auto& row : table.rows) values[row[0] + row[1]] = row[2];
  return values;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
inline double norm(const std::vector<double>& v) {
  return std::sqrt(dot(v, v));
}
inline double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  return dot(a, b) / (norm(a) * norm(b));
}

/// "head +0 +1, query 3, key -1": actions, for comparing.
inline std::string in_words(const ViewActions& actions) {
  std::string words;
  const auto say = [&](const auto& action) {
    using T = std::decay_t<decltype(action)>;
    const auto n = [](int number) { return " " + std::to_string(number); };
    if (!words.empty()) words += ", ";
    if constexpr (std::is_same_v<T, SelectHead>) words += "head" + n(action.layer) + n(action.head);
    if constexpr (std::is_same_v<T, MoveHead>) words += "head by" + n(action.layers) + n(action.heads);
    if constexpr (std::is_same_v<T, SelectQuery>) words += "query" + n(action.position);
    if constexpr (std::is_same_v<T, MoveQuery>) words += "query by" + n(action.by);
    if constexpr (std::is_same_v<T, SelectKey>) words += "key" + n(action.position);
    if constexpr (std::is_same_v<T, AppendToken>)
      words += "append" + n(action.id) + " after" + n(action.after);
    if constexpr (std::is_same_v<T, SetTokens>) {
      words += "tokens";
      for (const int id : action.ids) words += n(id);
    }
    if constexpr (std::is_same_v<T, ShowPrompt>)
      words += "prompt “" + action.prompt.text + "”" + n(action.selection.layer) + n(action.selection.head) +
               n(action.selection.query) + n(action.selection.key);
    if constexpr (std::is_same_v<T, CopyText>) words += "copy " + action.text;
    if constexpr (std::is_same_v<T, ShowPart>) {
      const View* view = view_of(action.part);
      words += "show " + std::string(view ? view->id : "nothing");
    }
    if constexpr (std::is_same_v<T, SetOption>)
      words += std::string(action.option->name) + " " + to_text(*action.option, action.value);
  };
  for (const ViewAction& action : actions) std::visit(say, action);
  return words;
}

/// The first item that has a number that is none, or a size below zero; -1: none has.
inline int senseless_item(const viz::Scene& scene) {
  const auto point = [](viz::Point p) { return std::isfinite(p.x) && std::isfinite(p.y); };
  const auto rect = [&](viz::Rect r) {
    return point({r.x, r.y}) && r.w >= 0 && r.h >= 0 && point({r.w, r.h});
  };
  const auto sensible = [&](const auto& item) {
    using T = std::decay_t<decltype(item)>;
    if constexpr (requires { item.rect; }) return rect(item.rect);
    if constexpr (requires { item.points; }) return std::ranges::all_of(item.points, point);
    if constexpr (std::is_same_v<T, viz::Image>) return rect(item.dest) && item.bitmap->width > 0;
    if constexpr (std::is_same_v<T, viz::GlyphRun>) return point(item.origin) && item.size > 0;
    return true;
  };
  for (std::size_t i = 0; i < scene.items.size(); ++i)
    if (!std::visit(sensible, scene.items[i])) return static_cast<int>(i);
  return -1;
}

/// "50,257"
inline std::string with_commas(std::size_t n) {
  const std::string digits = std::to_string(n);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// Whether a number is drawn, is the one in the table as far as its digits go, and the table's is the
/// reference's.
inline ::testing::AssertionResult agree(const std::optional<viz::testing::DrawnNumber>& drawn,
                                        const std::string& cell, double reference, double tolerance) {
  if (!drawn) return ::testing::AssertionFailure() << "no number is drawn for " << cell;
  char* end = nullptr;
  const double table = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != 0)
    return ::testing::AssertionFailure() << "no number in the table: \"" << cell << "\"";
  const auto near = [](double a, double b, double slack) { return a == b || std::abs(a - b) <= slack; };
  if (!near(drawn->value, table, 1.001 * drawn->rounding + 1e-12) || !near(table, reference, tolerance)) {
    return ::testing::AssertionFailure() << "drawn " << drawn->value << " (within " << drawn->rounding
                                         << "), in the table " << cell << ", by the reference " << reference;
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult agree(std::string_view drawn, const std::string& cell, double reference,
                                        double tolerance) {
  return agree(viz::testing::read_number(drawn), cell, reference, tolerance);
}

/// Whether a reader who looks a colour up in the legend finds the value there, within `slack` of the legend's
/// range.
inline ::testing::AssertionResult reads(const viz::testing::DrawnScale& scale,
                                        const std::optional<viz::Color>& color, double value,
                                        double slack = 0.02) {
  if (!color) return ::testing::AssertionFailure() << "nothing is painted for " << value;
  const auto range = scale.values_of(*color);
  if (!range) return ::testing::AssertionFailure() << "the colour for " << value << " is not in the legend";
  const double room = slack * (scale.high() - scale.low());
  const double inside = std::clamp(value, scale.low(), scale.high());
  if (inside >= range->first - room && inside <= range->second + room) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "the colour says " << range->first << " to " << range->second << ", the value is " << value;
}

/// The number after some words, in the first of a tooltip's lines that has them.
inline std::optional<viz::testing::DrawnNumber> number_after(const std::vector<std::string>& lines,
                                                             std::string_view words) {
  for (const std::string& line : lines) {
    if (line.find(words) != std::string::npos) return viz::testing::number_after(line, words);
  }
  return std::nullopt;
}

}  // namespace headscope::app::testing
