#include "tests/app/view_fixture.h"

#include "app/run/edits/edit_text.h"

namespace headscope::app::testing {

std::shared_ptr<const LoadedModel> bundled() {
  static const auto model = load_model(kBundledModel, {});
  return model;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text +=
        "The old king had three daughters, and the youngest was so beautiful that the sun itself "
        "wondered.\nOnce, No. " +
        std::to_string(i * 37) + ": \"Naïve café!\"\n";
  }
  return text;
}

Scenario with_edits(const std::string& edits, Selection selection, const std::string& text) {
  return Scenario(Prompt{text, {}, false, parse_edits(edits, *bundled())}, selection);
}

Scenario edited(const std::string& edits, Selection selection, const std::string& text) {
  Scenario scenario = with_edits(edits, selection, text);
  scenario.compare();
  return scenario;
}

Scenario of_two(Selection selection, Alignment by) {
  Scenario scenario("The old king had a daughter", selection);
  scenario.compare(Prompt{"The very old king had daughter", {}, false}, by);
  scenario.select(selection);
  return scenario;
}

void set(Options& options, std::string_view name, std::string_view value) {
  for (const View& view : views())
    for (const OptionSpec* option : view.options)
      if (option->name == name) return options.set(*option, parse_option(*option, value));
  throw std::invalid_argument("There is no option " + std::string(name) + ".");
}

void set(ViewContext& context, std::string_view name, std::string_view value) {
  set(context.options, name, value);
}

std::vector<int> ids_of_role(const Picture& picture, int role) {
  std::vector<int> ids;
  for (const viz::Region& region : picture.regions)
    if (region.role == role) ids.push_back(region.id);
  return ids;
}

const viz::Theme& light() {
  static const viz::Theme theme = viz::light_theme();
  return theme;
}

const viz::Theme& dark() {
  static const viz::Theme theme = viz::dark_theme();
  return theme;
}

const Scenario& scenario(int length) {
  static std::map<int, Scenario> all;
  return all.try_emplace(length, Scenario::of_length(length)).first->second;
}

const ReferenceGpt2& reference_model() {
  static const ReferenceGpt2 model(kBundledModel);
  return model;
}

const ReferenceGpt2::Result& reference(const Scenario& s) {
  static std::map<std::vector<int>, headscope::testing::ReferenceGpt2::Result> all;
  const std::vector<int> tokens = s.run->tokens.ids();
  const auto found = all.find(tokens);
  return found != all.end() ? found->second
                            : all.emplace(tokens, reference_model().run(tokens)).first->second;
}

const ReferenceGpt2::Head& reference_head(const Scenario& s, int layer, int head) {
  return reference(s).heads.at(static_cast<std::size_t>(layer)).at(static_cast<std::size_t>(head));
}

const ReferenceGpt2::Head& reference_head(const Scenario& s) {
  return reference_head(s, s.selection.layer, s.selection.head);
}

ViewContext on(Side side, std::string_view view, const Scenario& scenario, float width, float height) {
  return on_side(side, *find_view(view), scenario.context(width, height));
}

Table table_of(Side side, std::string_view view, const Scenario& scenario) {
  return find_view(view)->table(on(side, view, scenario));
}

static ViewContext with_options(const View& view, ViewContext context, const NamedOptions& options) {
  for (const auto& [name, value] : options) {
    if (std::ranges::find(view.options, name, &OptionSpec::name) == view.options.end())
      throw std::invalid_argument("The view has no option " + std::string(name) + ".");
    set(context, name, value);
  }
  return context;
}

Table table_of(std::string_view view, const Scenario& scenario, const NamedOptions& options) {
  return find_view(view)->table(with_options(*find_view(view), scenario.context(900, 700), options));
}

std::vector<std::string> headings(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::vector<std::vector<std::string>> text_rows(const Table& table) {
  std::vector<std::vector<std::string>> rows(table.rows());
  for (const Column& column : table.columns)
    for (std::size_t row = 0; row < rows.size(); ++row)
      rows[row].push_back(column.has_texts() ? std::get<1>(column.cells)[row]
                                             : number_text(std::get<0>(column.cells)[row]));
  return rows;
}

std::vector<double> numbers_of(const Table& table, std::string_view column) {
  return std::get<0>(table.columns[table.at(column)].cells);
}

std::vector<std::string> texts_of(const Table& table, std::string_view column) {
  return std::get<1>(table.columns[table.at(column)].cells);
}

std::map<std::pair<int, int>, std::string> matrix_of(const Table& table, std::string_view column) {
  const std::vector<double> queries = numbers_of(table, "query"), keys = numbers_of(table, "key"),
                            cells = numbers_of(table, column);
  std::map<std::pair<int, int>, std::string> matrix;
  for (std::size_t i = 0; i < cells.size(); ++i)
    matrix[{static_cast<int>(queries[i]), static_cast<int>(keys[i])}] = number_text(cells[i]);
  return matrix;
}

double fact_of(const Table& table, std::string_view name) {
  return std::get<double>(std::ranges::find(table.facts, name, &TableFact::name)->value);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(const std::vector<double>& v) {
  return std::sqrt(dot(v, v));
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  return dot(a, b) / (norm(a) * norm(b));
}

std::string in_words(const ViewActions& actions) {
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

int senseless_item(const viz::Scene& scene) {
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

::testing::AssertionResult reads(const DrawnScale& scale, const std::optional<viz::Color>& color,
                                 double value, double slack) {
  if (!color) return ::testing::AssertionFailure() << "nothing is painted for " << value;
  const auto range = scale.values_of(*color);
  if (!range) return ::testing::AssertionFailure() << "the colour for " << value << " is not in the legend";
  const double room = slack * (scale.high() - scale.low());
  const double inside = std::clamp(value, scale.low(), scale.high());
  if (inside >= range->first - room && inside <= range->second + room) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "the colour says " << range->first << " to " << range->second << ", the value is " << value;
}

std::optional<DrawnNumber> number_after(const std::vector<std::string>& lines, std::string_view words) {
  for (const std::string& line : lines)
    if (const auto number = viz::testing::number_after(line, words)) return number;
  return std::nullopt;
}
Scenario::Scenario(const Prompt& prompt, Selection wanted, std::shared_ptr<const LoadedModel> model)
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

Scenario::Scenario(PromptRun made, Selection wanted)
    : run(std::make_shared<const PromptRun>(std::move(made))),
      workspace_(std::make_unique<model::Workspace>(1)),
      answers_(std::make_unique<DirectAnswers>(run, *workspace_)) {
  select(wanted);
}

void Scenario::compare(const std::optional<Prompt>& second, Alignment by) {
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

Scenario Scenario::of_length(int length) {
  PromptTokens tokens = tokenize(*bundled(), Prompt{long_text(), {}, false});
  return Scenario(long_text().substr(0, tokens.tokens[length - 1].end));
}

ViewContext Scenario::context(float width, float height, const viz::Theme& theme, Answers* answers) const {
  ViewContext c;
  c.run = run;
  c.answers = answers ? answers : answers_.get();
  c.selection = selection;
  c.chosen_query = selection.query;
  c.prompts = prompts;
  c.theme = &theme;
  c.fonts = viz::testing::fonts().get();
  c.width = width;
  c.height = height;
  return c;
}

ViewFixture::ViewFixture(std::string_view view, const Scenario& s, float width, float height,
                         const NamedOptions& options)
    : ViewFixture(view, s.context(width, height), options) {}

ViewFixture::ViewFixture(std::string_view view, Scenario&& s, float width, float height,
                         const NamedOptions& options)
    : ViewFixture(view, s, width, height, options) {
  own_ = std::make_unique<const Scenario>(std::move(s));  // so that its answers keep their addresses
}

ViewFixture::ViewFixture(std::string_view view, const ViewContext& context, const NamedOptions& options)
    : view_(*find_view(view)),
      context_(with_options(view_, context, options)),
      picture_(view_.build(context_)) {}

int ViewFixture::find(int role, std::optional<int> id, int row) const {
  for (std::size_t i = 0; i < picture_.regions.size(); ++i) {
    const viz::Region& region = picture_.regions[i];
    if (region.role == role && (!id || region.id == *id) &&
        (row < 0 || static_cast<int>(region.first_row) == row))
      return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> ViewFixture::all_of(int role) const {
  std::vector<int> all;
  for (int i = 0; i < std::ssize(picture_.regions); ++i)
    if (picture_.regions[i].role == role) all.push_back(i);
  return all;
}

std::optional<viz::Color> ViewFixture::color_of(int index, int row, int col) const {
  return image_color_at(scene(), region(index).cell_rect(row, col).center());
}

std::vector<std::string> ViewFixture::tooltip(int index, int row, int col) const {
  return view_.facts(context_, picture_, {index, row, col}).tooltip();
}

ViewActions ViewFixture::click(int index, int row, int col) const {
  const viz::Hit hit{index, row, col};
  return view_.on(context_, picture_, &hit, {Gesture::Kind::click, {}, {}, {}});
}

ViewActions ViewFixture::press(Key key, bool shift) const {
  Gesture gesture{Gesture::Kind::key, {}, {}, {}, key};
  gesture.modifiers.shift = shift;
  return view_.on(context_, picture_, nullptr, gesture);
}

ViewActions ViewFixture::choose(const std::string& label, int index, int row, int col) const {
  const viz::Hit hit{index, row, col};
  for (MenuLine& line : menu_at(view_, context_, picture_, &hit))
    if (line.label == label) return line.actions;
  return {};
}

}  // namespace headscope::app::testing
