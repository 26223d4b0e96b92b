#include "app/tour/tour.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "app/ascii.h"
#include "app/run/sources/paths.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

constexpr Wait kWaits[] = {
    {"head", "Now choose another head.",
     [](const ViewState& a, const ViewState& b) {
       return a.selection.layer != b.selection.layer || a.selection.head != b.selection.head;
     },
     [](const ViewContext& c) {
       const model::Config config = c.run->model->config();
       return config.n_layer * config.n_head > 1;
     },
     true},
    {"query", "Now click another token.",
     [](const ViewState& a, const ViewState& b) { return a.selection.query != b.selection.query; },
     [](const ViewContext& c) { return c.run->tokens.run_length > 1; }},
    {"key", "Now click a key.",
     [](const ViewState& a, const ViewState& b) { return a.selection.key != b.selection.key; },
     [](const ViewContext&) { return true; }},
    {"view", "Now open another view.",
     [](const ViewState& a, const ViewState& b) { return a.view != b.view; },
     [](const ViewContext&) { return true; }},
};

/// The views with a pane of their own.
std::vector<const View*> side_views() {
  std::vector<const View*> side{&token_strip()};
  for (const View& view : views())
    if (view.place != Place::tab) side.push_back(&view);
  return side;
}

/// Parses the lines in order.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lines_(lines_of(text)), file_(file) {}

  Tour parse() {
    next();
    tour_.id = system::text_of(system::path_of(file_).stem());
    while (!at_end_ && line_.empty()) next();
    if (!line_.starts_with("# ")) fail("\"# title of the tour\"");
    tour_.title = trimmed(line_.substr(2));
    next();
    for (const TourParagraph& paragraph : paragraphs(false))
      tour_.about += (tour_.about.empty() ? "" : " ") + paragraph.words;
    if (tour_.about.empty()) fail("a paragraph about the tour");
    do stop();
    while (!at_end_);
    return std::move(tour_);
  }

 private:
  [[noreturn]] void fail_with(const std::string& why) const {
    throw model::LoadError(file_ + ":" + std::to_string(number_) + ": " + why);
  }
  [[noreturn]] void fail(const std::string& expected) const {
    fail_with("expected " + expected + ", found " + (at_end_ ? "the end of the file" : model::quote(line_)));
  }

  /// Moves to the next line that is not a comment.
  void next() {
    do {
      at_end_ = number_ >= lines_.size();
      line_ = at_end_ ? "" : trimmed(lines_[number_]);
      ++number_;
    } while (line_.starts_with('%'));
  }

  /// The paragraphs up to the next heading. In a stop they have conditions and names of numbers in braces.
  std::vector<TourParagraph> paragraphs(bool in_stop) {
    std::vector<TourParagraph> all;
    bool open = false, begun = false;  // begun: a condition is waiting for its paragraph
    for (; !at_end_ && !line_.starts_with('#'); next()) {
      const bool condition = in_stop && (line_ == "-" || line_.starts_with("- "));
      if (line_.empty() || condition) open = false;
      if (line_.empty()) continue;
      if (condition && begun) fail("a paragraph after the condition");
      if (!open && !begun) all.emplace_back();
      begun = condition;
      if (condition) {
        conditions(all);
        continue;
      }
      open = true;
      all.back().words.append(all.back().words.empty() ? "" : " ").append(line_);
      for (const std::string_view name : in_stop ? numbers_in(line_) : std::vector<std::string_view>())
        if (find_number(name) == nullptr) fail("one of the numbers " + number_names() + " in braces");
    }
    if (begun) fail("a paragraph after the condition");
    return all;
  }

  /// Reads "- if: …" or "- otherwise: …" for the last paragraph.
  void conditions(std::vector<TourParagraph>& all) {
    TourParagraph& paragraph = all.back();
    const auto [name, value] = name_and_value();
    paragraph.otherwise = name == "otherwise";
    if (paragraph.otherwise && (all.size() < 2 || all[all.size() - 2].conditions.empty()))
      fail("\"- if: …\" and its paragraph before \"- otherwise\"");
    if (!paragraph.otherwise && name != "if") fail("\"- if: this prompt\" or \"- otherwise\"");
    if (paragraph.otherwise && line_.find(':') == line_.npos) return;
    try {
      paragraph.conditions = parse_conditions(value);
    } catch (const std::invalid_argument& e) {
      fail_with(e.what());
    }
    const TourStop now = resolved();
    for (const auto& [needs, line, given] : {std::tuple("this layer", "layer", now.layer.has_value()),
                                             {"this head", "layer", now.layer.has_value()},
                                             {"this head", "head", now.head.has_value()},
                                             {"this token", "token", now.token.has_value()},
                                             {"this key", "key", now.key.has_value()}})
      if (!given && std::ranges::count(paragraph.conditions, needs, &Condition::name) > 0)
        fail("\"- " + std::string(line) + ": …\" at this stop or before it");
  }

  void stop() {
    if (!line_.starts_with("## ")) fail("\"## title of a stop\"");
    TourStop& stop = tour_.stops.emplace_back();
    stop.title = trimmed(line_.substr(3));
    for (next(); line_.starts_with('-') && !is_condition(); next()) command(stop);
    if (!resolved().prompt) fail("\"- prompt: words\" at the first stop");
    stop.caption = paragraphs(true);
    if (stop.caption.empty()) fail("a paragraph about the stop " + model::quote(stop.title));
  }

  /// The stop that is being read, completed by those before it.
  TourStop resolved() const { return resolve_stop(tour_, static_cast<int>(tour_.stops.size()) - 1); }

  /// Whether the line begins a paragraph with conditions.
  bool is_condition() const {
    const std::string_view name = name_and_value().first;
    return name == "if" || name == "otherwise";
  }

  /// "layer" and "2" for "- layer: 2"; both may be empty.
  std::pair<std::string_view, std::string_view> name_and_value() const {
    const std::size_t colon = std::min(line_.find(':'), line_.size());
    return {trimmed(line_.substr(1, colon - 1)), trimmed(line_.substr(std::min(colon + 1, line_.size())))};
  }

  void command(TourStop& stop) {
    const auto [name, value] = name_and_value();
    if (value.empty() && name != "prompt") fail("a line like \"- view: heatmap\"");
    for (const auto& [key, text] : {std::pair("prompt", &stop.prompt),
                                    {"second", &stop.second},
                                    {"token", &stop.token},
                                    {"key", &stop.key}})
      if (name == key) return void(*text = value);
    for (const auto& [key, number] : {std::pair("layer", &stop.layer), {"head", &stop.head}})
      if (name == key) return void(*number = index(value));
    if (name == "view") {
      if (!stop.points.empty()) fail("the view before what the stop points at");
      const View* view = find_view(value);
      if (!view || view->place != Place::tab) fail("the id of a view");
      stop.view = view->id;
    } else if (name == "option") {
      stop.options.push_back(option(value));
    } else if (name == "edit") {
      stop.edits.append(stop.edits.empty() ? "" : ";; ").append(value);
    } else if (name == "point") {
      stop.points.push_back(point(value));
    } else if (name == "wait") {
      stop.wait = find_wait(value);
      if (stop.wait == nullptr && value != "nothing") fail("head, query, key or view to wait for");
    } else {
      fail("prompt, second, view, layer, head, token, key, option, edit, point or wait");
    }
  }

  int index(std::string_view text) const {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < -1)
      fail("a number from 0, or -1 for the last");
    return value;
  }

  std::pair<const OptionSpec*, OptionValue> option(std::string_view text) const {
    const std::size_t space = text.find(' ');
    const OptionSpec* option = find_option(text.substr(0, space));
    if (!option) fail("the name of an option");
    try {
      return {option, parse_option(*option, trimmed(text.substr(std::min(space, text.size()))))};
    } catch (const std::exception& e) {
      fail_with(e.what());
    }
  }

  TourPoint point(const std::string_view text) const {
    using Kind = TourPoint::Kind;
    if (text == "prompt") return {Kind::prompt};
    if (text == "edits") return {Kind::edits};
    const View* view = find_view(resolved().view);
    if (text == "pane view" && view) return {Kind::pane, view};
    std::vector<const View*> places = side_views();
    std::string panes, names;
    for (const View* side : places) {
      if (text == "pane " + std::string(side->id)) return {Kind::pane, side};
      panes.append("pane ").append(side->id).append(", ");
    }
    if (view) places.insert(places.begin(), view);
    for (const View* place : places) {
      for (const Landmark& landmark : place->landmarks) {
        if (text == landmark.name) return {Kind::landmark, place, &landmark};
        names.append(landmark.name).append(", ");
      }
      for (const OptionSpec* option : place->options)
        if (text == "option " + std::string(option->name) && option->control != Control::none)
          return {Kind::option, place, nullptr, option};
    }
    fail_with("expected " + names + panes + "pane view, prompt, edits or option NAME, found " +
              model::quote(text));
  }

  const std::vector<std::string_view> lines_;
  std::string_view line_;
  const std::string& file_;
  std::size_t number_ = 0;  ///< of the line, from 1
  bool at_end_ = false;
  Tour tour_;
};

}  // namespace

const Wait* find_wait(std::string_view name) {
  const auto* const found = std::ranges::find(kWaits, name, &Wait::name);
  return found == std::end(kWaits) ? nullptr : found;
}

Tour parse_tour(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

TourStop resolve_stop(const Tour& tour, int stop) {
  TourStop now;
  for (int i = 0; i <= stop; ++i) {
    TourStop next = tour.stops[i];
    const bool same_prompt = !next.prompt || next.prompt == now.prompt;
    if (!next.prompt) next.prompt = now.prompt;
    if (next.view.empty()) next.view = now.view;
    if (!next.layer) next.layer = now.layer;
    if (!next.head) next.head = now.head;
    if (!next.token && same_prompt) next.token = now.token;
    now = std::move(next);
  }
  return now;
}

namespace {

Tour load_tour(const std::filesystem::path& file) {
  if (system::is_there(file) && !system::is_file(file))  // reading a pipe may never end
    throw model::LoadError(system::text_of(file) + ": expected a file, found something else");
  constexpr std::size_t kMaxBytes = 1 << 20;
  return parse_tour(model::read_file(file, kMaxBytes), system::text_of(file));
}

}  // namespace

std::vector<std::filesystem::path> tour_folders() {
  std::vector<std::filesystem::path> folders{assets_folder() / "tours"};
  if (const auto own = config_folder(process_environment())) folders.push_back(*own / "tours");
  return folders;
}

LoadedTours load_tours(const std::vector<std::filesystem::path>& folders) {
  LoadedTours loaded;
  for (const std::filesystem::path& folder : folders) {
    for (const std::filesystem::path& file : model::entries_of(folder)) {
      if (file.extension() != ".md") continue;
      try {
        Tour tour = load_tour(file);
        std::erase_if(loaded.tours, [&](const Tour& known) { return known.id == tour.id; });
        loaded.tours.push_back(std::move(tour));
      } catch (const std::exception& e) {
        if (loaded.problem.empty()) loaded.problem = e.what();
      }
    }
  }
  return loaded;
}

std::vector<TourStop> bundled_examples() {
  LoadedTours loaded = load_tours({assets_folder() / "examples"});
  if (loaded.tours.empty()) return {};
  std::vector<TourStop> examples = std::move(loaded.tours.front().stops);
  std::erase_if(examples, [](const TourStop& stop) { return !stop.prompt || stop.caption.empty(); });
  return examples;
}

std::size_t find_tour(LoadedTours& loaded, const std::string& name) {
  std::vector<Tour>& tours = loaded.tours;
  if (name.ends_with(".md")) {
    tours.push_back(load_tour(system::path_of(name)));
    return tours.size() - 1;
  }
  const auto found = std::ranges::find(tours, name, &Tour::id);
  if (found != tours.end()) return static_cast<std::size_t>(found - tours.begin());
  if (!loaded.problem.empty()) throw std::runtime_error(loaded.problem);  // the failed file may be that tour
  std::string known;
  for (const Tour& tour : tours) known += (known.empty() ? "" : ", ") + tour.id;
  throw std::runtime_error("there is no tour " + model::quote(name) + "; expected one of " + known +
                           ", or a file that ends in .md");
}

int position_of(const std::string& words, const std::string& prompt, const PromptTokens& tokens) {
  const std::size_t found = words == "last" ? std::string::npos : prompt.find(words);
  if (found == std::string::npos) return -1;
  const std::size_t last_byte = found + words.size() - 1;
  for (int i = 0; i < tokens.run_length; ++i) {
    const model::Token& token = tokens.tokens[i];
    if (token.start <= last_byte && last_byte < token.end) return i;
  }
  return -1;
}

}  // namespace headscope::app
