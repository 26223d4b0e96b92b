#include "app/tour/tour.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/ascii.h"
#include "app/run/sources/paths.h"
#include "app/tour/numbers.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

// Limits, because the panel lays out the text in every frame.
constexpr std::size_t kMaxBytesInTitle = 200, kMaxBytesInParagraph = 2000;
constexpr std::size_t kMaxParagraphs = 20, kMaxStops = 100;

/// "head, query, key or view".
std::string names_of_waits() {
  std::string names;
  for (const Wait& wait : waits())
    names += (names.empty() ? "" : &wait == &waits().back() ? " or " : ", ") + std::string(wait.name);
  return names;
}

/// Parses the lines in order.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Tour parse() {
    next();
    tour_.id = system::text_of(system::path_of(file_).stem());
    while (!at_end_ && line_.empty()) next();
    if (at_end_ || !line_.starts_with("# ")) fail("\"# title of the tour\"");
    tour_.title = title(2);
    next();
    const int about = number_;
    for (const TourParagraph& paragraph : paragraphs(false))
      tour_.about += (tour_.about.empty() ? "" : " ") + paragraph.words;
    if (tour_.about.empty()) fail("a paragraph about the tour");
    require_length(tour_.about, kMaxBytesInParagraph, "a paragraph", about);
    while (!at_end_) {
      tour_.stops.push_back(stop());
      finish(tour_.stops.back(), resolve_stop(tour_, static_cast<int>(tour_.stops.size()) - 1));
    }
    if (tour_.stops.empty()) fail("\"## title of a stop\"");
    if (!tour_.stops.front().prompt) fail_at(first_stop_, "\"- prompt: words\" at the first stop", "none");
    return std::move(tour_);
  }

 private:
  [[noreturn]] void fail_at(int number, const std::string& expected, const std::string& found) const {
    fail_with(number, "expected " + expected + ", found " + found);
  }
  [[noreturn]] void fail_with(int number, const std::string& why) const {
    throw model::LoadError(file_ + ":" + std::to_string(number) + ": " + why);
  }
  [[noreturn]] void fail(const std::string& expected) const {
    fail_at(number_, expected, at_end_ ? "the end of the file" : model::quote(line_));
  }

  /// Moves to the next line that is not a comment.
  void next() {
    do {
      at_end_ = text_.empty();
      const std::size_t end = text_.find('\n');
      line_ = trimmed(text_.substr(0, end));
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      ++number_;
    } while (line_.starts_with('%'));
  }

  /// The text of a heading after its `marks`.
  std::string title(std::size_t marks) const {
    std::string words(trimmed(line_.substr(marks)));
    require_length(words, kMaxBytesInTitle, "a title", number_);
    return words;
  }

  void require_length(const std::string& words, std::size_t most, const std::string& where,
                      int number) const {
    if (words.size() > most)
      fail_at(number, "at most " + std::to_string(most) + " bytes in " + where, std::to_string(words.size()));
  }

  /// The paragraphs up to the next heading. In a stop they have conditions, and each name in braces must be a
  /// number's name, on one line.
  std::vector<TourParagraph> paragraphs(bool in_stop) {
    std::vector<TourParagraph> all;
    bool open = false, begun = false;  // begun: a condition is waiting for its paragraph
    for (; !at_end_ && !line_.starts_with('#'); next()) {
      const bool condition = in_stop && (line_ == "-" || line_.starts_with("- "));
      if (line_.empty() || condition) open = false;
      if (line_.empty()) continue;
      if (condition && begun) fail("a paragraph after the condition");
      if (!open && !begun) {
        if (all.size() == kMaxParagraphs)
          fail_at(number_, "at most " + std::to_string(kMaxParagraphs) + " paragraphs", "one more");
        all.emplace_back();
      }
      begun = condition;
      if (condition) {
        conditions(all);
        continue;
      }
      open = true;
      std::string& words = all.back().words;
      words.append(words.empty() ? "" : " ").append(line_);
      require_length(words, kMaxBytesInParagraph, "a paragraph", number_);
      for (const std::string_view name : in_stop ? numbers_in(words) : std::vector<std::string_view>())
        if (!is_number_name(name)) fail("one of the numbers " + number_names() + " in braces");
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
    if (paragraph.otherwise && line_.find(':') == std::string_view::npos) return;
    try {
      paragraph.conditions = parse_conditions(value);
    } catch (const std::invalid_argument& e) {
      fail_with(number_, e.what());
    }
    for (const Condition& condition : paragraph.conditions) conditions_.emplace_back(number_, condition);
  }

  /// Completes a stop by what depends on the stops before it.
  void finish(TourStop& stop, const TourStop& resolved) {
    for (const auto& [line, point] : std::exchange(points_, {})) {
      try {
        stop.points.push_back(parse_point(point, find_view(resolved.view)));
      } catch (const std::invalid_argument& e) {
        fail_with(line, e.what());
      }
    }
    for (const auto& [line, condition] : std::exchange(conditions_, {}))
      if (const std::string_view missing = lacks(condition, resolved); !missing.empty())
        fail_at(line, std::string(missing) + " at this stop or before it",
                "only the condition \"" + std::string(condition.kind->name) + "\"");
  }

  TourStop stop() {
    if (!line_.starts_with("## ")) fail("\"## title of a stop\"");
    if (tour_.stops.empty()) first_stop_ = number_;
    if (tour_.stops.size() == kMaxStops)
      fail_at(number_, "at most " + std::to_string(kMaxStops) + " stops", "one more");
    TourStop stop;
    stop.title = title(3);
    for (next(); line_.starts_with('-') && !is_condition(); next()) command(stop);
    stop.caption = paragraphs(true);
    if (stop.caption.empty()) fail("a paragraph about the stop " + model::quote(stop.title));
    return stop;
  }

  /// Whether the line begins a paragraph with conditions.
  bool is_condition() const {
    const std::string_view name = name_and_value().first;
    return name == "if" || name == "otherwise";
  }

  /// "layer" and "2" for "- layer: 2"; both may be empty.
  std::pair<std::string_view, std::string_view> name_and_value() const {
    const std::size_t colon = line_.find(':');
    if (colon == std::string_view::npos) return {trimmed(line_.substr(1)), ""};
    return {trimmed(line_.substr(1, colon - 1)), trimmed(line_.substr(colon + 1))};
  }

  void command(TourStop& stop) {
    const auto [name, words] = name_and_value();
    const std::string value(words);
    if (value.empty() && name != "prompt") fail("a line like \"- view: heatmap\"");
    if (name == "prompt") {
      stop.prompt = value;
    } else if (name == "second") {
      stop.second = value;
    } else if (name == "view") {
      const View* view = find_view(value);
      if (!view || view->place != Place::tab) fail("the id of a view");
      stop.view = view->id;
    } else if (name == "layer") {
      stop.layer = index(value);
    } else if (name == "head") {
      stop.head = index(value);
    } else if (name == "token") {
      stop.token = value;
    } else if (name == "key") {
      stop.key = value;
    } else if (name == "option") {
      stop.options.push_back(option(value));
    } else if (name == "edit") {
      stop.edits += (stop.edits.empty() ? "" : ";; ") + value;  // appended
    } else if (name == "point") {
      points_.emplace_back(number_, value);
    } else if (name == "wait") {
      stop.wait = find_wait(value);
      if (stop.wait == nullptr && value != "nothing") fail(names_of_waits() + " to wait for");
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
      fail_with(number_, e.what());
    }
  }

  std::string_view text_, line_;
  const std::string& file_;
  int number_ = 0, first_stop_ = 0;
  bool at_end_ = false;
  Tour tour_;
  // Of the stop being read, with their lines.
  std::vector<std::pair<int, std::string>> points_;
  std::vector<std::pair<int, Condition>> conditions_;
};

/// The views with a pane of their own.
std::vector<const View*> side_views() {
  std::vector<const View*> side{&token_strip()};
  for (const View& view : views())
    if (view.place != Place::tab) side.push_back(&view);
  return side;
}

std::string names_of_landmarks(const View& view) {
  std::string names;
  for (const Landmark& landmark : view.landmarks) names.append(landmark.name).append(", ");
  return names;
}

/// Everything that a stop with this view can point at.
std::string names_of_points(const View* view) {
  std::string names, panes;
  for (const View* side : side_views()) {
    names += names_of_landmarks(*side);
    panes.append("pane ").append(side->id).append(", ");
  }
  return (view ? names_of_landmarks(*view) : "") + names + panes + "pane view, prompt, edits or option NAME";
}

}  // namespace

TourPoint parse_point(std::string_view text, const View* view) {
  using Kind = TourPoint::Kind;
  if (text == "prompt") return {Kind::prompt};
  if (text == "edits") return {Kind::edits};
  if (text == "pane view" && view) return {Kind::pane, view};
  std::vector<const View*> places = side_views();
  for (const View* side : places)
    if (text == "pane " + std::string(side->id)) return {Kind::pane, side};
  if (view) places.insert(places.begin(), view);
  for (const View* place : places) {
    const auto landmark = std::ranges::find(place->landmarks, text, &Landmark::name);
    if (landmark != place->landmarks.end()) return {Kind::landmark, place, &*landmark};
    for (const OptionSpec* option : place->options)
      if (text == "option " + std::string(option->name) && option->control != Control::none)
        return {Kind::option, place, nullptr, option};
  }
  throw std::invalid_argument("expected " + names_of_points(view) + ", found " + model::quote(text));
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
  const auto kind = system::kind_at(file);
  if (kind && *kind != system::FileKind::regular)  // reading a pipe may never end
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
