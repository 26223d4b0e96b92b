#pragma once
#include "app/run/analyses/patterns.h"
#include "app/run/answers.h"
#include "app/views/view.h"
#include "model/pass/transformer.h"
#include "tests/support/drawn_text.h"
#include "tests/support/matchers.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/source_folders.h"
#include "tests/viz/pictures.h"

namespace headscope::app {
namespace testing {}
using namespace testing;
}  // namespace headscope::app

namespace headscope::app::testing {

using namespace headscope::testing;
using namespace viz::testing;

inline const std::filesystem::path kBundledModel = headscope::testing::source_dir() / "assets/models/tales";

std::shared_ptr<const LoadedModel> bundled();

constexpr const char* kRobot = "A robot must obey the orders given it";

/// A prompt with tokens of many lengths, including spaces and line ends.
std::string long_text();

const viz::Theme& light();
const viz::Theme& dark();

/// A run and its answers.
class Scenario {
 public:
  explicit Scenario(const Prompt& prompt, Selection wanted = {2, 1, -1},
                    std::shared_ptr<const LoadedModel> model = bundled());
  explicit Scenario(const std::string& text, Selection wanted = {2, 1, -1})
      : Scenario(Prompt{text, {}, false}, wanted) {}
  /// For an existing run.
  explicit Scenario(PromptRun made, Selection wanted = {});

  /// Sets the run's baseline: the unedited run, or a second prompt.
  void compare(const std::optional<Prompt>& second = {}, Alignment by = Alignment::position);

  /// The first `length` tokens of a long text.
  static Scenario of_length(int length);

  int length() const { return run->run->length(); }
  const model::Config& config() const { return run->run->config; }
  void select(Selection wanted) { selection = clamped(wanted, *run); }

  Answers& answers() const { return *answers_; }
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> ask(const Q& question) const {
    return app::ask(*answers_, question);
  }
  /// The answer minus the baseline's.
  template <class Q>
  std::shared_ptr<const AnswerOf<Q>> ask_difference(const Q& question) const {
    return std::static_pointer_cast<const AnswerOf<Q>>(answers_->ask(Question(question).difference())->value);
  }
  /// A weight of the selected head.
  float weight(int query, int key) const {
    return ask(PatternOf{selection.layer, selection.head})->matrix().at(query, key);
  }

  /// The context of a view with that size, and with `answers` if given.
  ViewContext context(float width, float height, const viz::Theme& theme = light(),
                      Answers* answers = nullptr) const;
  ViewContext context(float width, float height, Answers& answers) const {
    return context(width, height, light(), &answers);
  }

  std::shared_ptr<const PromptRun> run;
  Selection selection;
  std::shared_ptr<const PromptList> prompts = std::make_shared<const PromptList>(PromptList{
      "two.txt",
      {{{.text = "The old king", .ids = {}}}, {{.text = "A very old king and a dog", .ids = {}}}}});

 private:
  std::unique_ptr<model::Workspace> workspace_;
  std::unique_ptr<DirectAnswers> answers_;
};

/// An edited run without a baseline.
Scenario with_edits(const std::string& edits, Selection selection = {2, 1, -1},
                    const std::string& text = kRobot);

/// An edited run compared with the unedited one.
Scenario edited(const std::string& edits, Selection selection = {2, 1, -1}, const std::string& text = kRobot);

/// Two prompts. Aligned by subsequence, tokens 0, 1, 2, 3 and 5 of the first match 0, 2, 3, 4 and 5 of the
/// second.
Scenario of_two(Selection selection = {2, 1, -1}, Alignment by = Alignment::subsequence);

/// Gives the same reply to every question: pending, or failed with a reason.
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

/// Has the answer to one question only.
class OneAnswer final : public Answers {
 public:
  template <class Q>
  OneAnswer(const Q& question, AnswerOf<Q> answer, bool whole = true) : question_(question) {
    const std::size_t bytes = answer.bytes();
    answer_ = std::make_shared<const Answer>(
        Answer{std::make_shared<const AnswerOf<Q>>(std::move(answer)), bytes, whole, {}});
  }
  std::shared_ptr<const Answer> ask(const Question& question) override {
    return question == question_ ? answer_ : nullptr;
  }

 private:
  Question question_;
  std::shared_ptr<const Answer> answer_;
};

/// Sets an option by name, like the command line.
void set(Options& options, std::string_view name, std::string_view value);
void set(ViewContext& context, std::string_view name, std::string_view value);

// The roles of the views' regions, which tests and views agree on.
constexpr int kCellRole = 0;                         // in heatmap and scores
constexpr int kChipRole = 0;                         // in tokens
constexpr int kGuessRole = 0;                        // in next
constexpr int kComponentRole = 1;                    // in query
constexpr int kEncodingRole = 0;                     // in positions
constexpr int kPredictionRole = 0, kShadedRole = 1;  // in predictions: rows and chips
// Rows of the query's components.
enum class Vector { query, key, value, weighted_value, z, product, edited_z };

/// The ids of a picture's regions with one role, in order.
std::vector<int> ids_of_role(const Picture& picture, int role);

/// The first `length` tokens of a long text, cached.
const Scenario& scenario(int length);

/// The bundled model's results for the scenario's tokens, in double precision.
const ReferenceGpt2& reference_model();
const ReferenceGpt2::Result& reference(const Scenario& s);
const ReferenceGpt2::Head& reference_head(const Scenario& s, int layer, int head);
const ReferenceGpt2::Head& reference_head(const Scenario& s);

/// Options by their command-line names.
using NamedOptions = std::vector<std::pair<std::string_view, std::string_view>>;

/// A painted view of a scenario. It contains all code by which tests of single views call them.
class ViewFixture {
 public:
  ViewFixture(std::string_view view, const Scenario& s, float width, float height,
              const NamedOptions& options = {});
  /// Also keeps the scenario.
  ViewFixture(std::string_view view, Scenario&& s, float width, float height,
              const NamedOptions& options = {});
  ViewFixture(std::string_view view, const ViewContext& context, const NamedOptions& options = {});

  const viz::Scene& scene() const { return picture_.scene; }
  DrawnPage page() const { return {picture_.scene, *viz::testing::fonts()}; }
  Table table() const { return view_.table(context_); }

  // The index of a region by its role, id and place; -1: none.
  int find(int role, std::optional<int> id = {}, int row = -1) const;
  int grid(int stage = 0) const { return find(kCellRole, stage); }  ///< of scores: 0 scores .. 3 pattern
  int chip(int position) const { return find(kChipRole, position); }
  int strip(Vector which, int key) const { return find(kComponentRole, key, static_cast<int>(which)); }
  int fixed_strip(Vector which) const { return find(kComponentRole, {}, static_cast<int>(which)); }
  int encoding(int which) const { return find(kEncodingRole, which); }  ///< 0 learned, 1 sinusoidal
  const viz::Region& region(int index) const { return picture_.regions.at(static_cast<std::size_t>(index)); }
  /// The indices of all regions with a role.
  std::vector<int> all_of(int role) const;
  std::optional<viz::Color> color_of(int index, int row, int col) const;

  /// The lines of the tooltip.
  std::vector<std::string> tooltip(int index, int row = 0, int col = 0) const;
  const Picture& picture() const { return picture_; }
  const ViewContext& context() const { return context_; }
  ViewActions click(int index, int row = 0, int col = 0) const;
  ViewActions press(Key key, bool shift = false) const;
  /// The actions of a menu line; empty if there is no such line.
  ViewActions choose(const std::string& label, int index, int row = 0, int col = 0) const;

 private:
  std::unique_ptr<const Scenario> own_;
  const View& view_;
  ViewContext context_;
  Picture picture_;
};

/// The view's table of a run, with these options.
Table table_of(std::string_view view, const Scenario& scenario, const NamedOptions& options = {});
// One side of a scenario's comparison: the view's context for it, and its table.
ViewContext on(Side side, std::string_view view, const Scenario& scenario, float width = 900,
               float height = 700);
Table table_of(Side side, std::string_view view, const Scenario& scenario);

std::vector<std::string> headings(const Table& table);
/// The rows as files have them.
std::vector<std::vector<std::string>> text_rows(const Table& table);
/// The cells of a column. They throw for a column that is not there, or is of the other kind.
std::vector<double> numbers_of(const Table& table, std::string_view column);
std::vector<std::string> texts_of(const Table& table, std::string_view column);
/// A column's cells by the numbers in the columns query and key, as files have them.
std::map<std::pair<int, int>, std::string> matrix_of(const Table& table, std::string_view column);
/// A number about the whole table, which must be there.
double fact_of(const Table& table, std::string_view name);

double dot(const std::vector<double>& a, const std::vector<double>& b);
double norm(const std::vector<double>& v);
double cosine(const std::vector<double>& a, const std::vector<double>& b);

/// Actions as text, for comparing: "head +0 +1, query 3, key -1".
std::string in_words(const ViewActions& actions);

/// The index of the first item with a non-finite number or a negative size; -1: none.
int senseless_item(const viz::Scene& scene);

/// Whether looking up a colour in the legend gives the value, within `slack` of the legend's range.
::testing::AssertionResult reads(const DrawnScale& scale, const std::optional<viz::Color>& color,
                                 double value, double slack = 0.02);

/// The number after some words, in the first line that has one there.
std::optional<DrawnNumber> number_after(const std::vector<std::string>& lines, std::string_view words);

}  // namespace headscope::app::testing
