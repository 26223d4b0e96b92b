#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/views/view.h"

namespace headscope::app {

/// The names in braces in a text, in order: "tokens" for "{tokens} tokens". A name ends at the next closing
/// brace.
std::vector<std::string_view> numbers_in(std::string_view text);

/// What a name in braces stands for. Quantities have a value, percentages as fractions, which conditions can
/// compare with a limit; the others are words. Both are nothing while they are not known, and of a run.
struct Number {
  std::string_view name;
  std::optional<double> (*value)(const ViewContext&) = nullptr;
  std::string (*written)(double) = nullptr;  ///< of the value
  std::string (*words)(const ViewContext&) = nullptr;
};
/// Null: there is no such number.
const Number* find_number(std::string_view name);
/// All names, for a message: "tokens, token, …".
std::string number_names();

/// Replaces the names in braces by numbers of the shown model and prompt and of the selected query, key and
/// head. A number that is still being computed is "…".
std::string with_numbers(std::string_view text, const ViewContext& context);

/// What a stop of a tour points at: an outline is drawn around it.
struct TourPoint {
  enum class Kind { landmark, pane, option, prompt, edits };
  Kind kind = Kind::pane;
  const View* view = nullptr;          ///< whose picture or pane it is; null: none
  const Landmark* landmark = nullptr;  ///< one of the view's
  const OptionSpec* option = nullptr;  ///< an option whose control is in the view's pane
};

/// What the panes show and Back restores.
struct ViewState {
  std::string view, second_view;
  Selection selection;
  bool operator==(const ViewState&) const = default;
};

/// What a stop asks the user to do before going on; not enforced.
struct Wait {
  std::string_view name;     ///< after "wait:" in a tour's file
  std::string_view request;  ///< shown at the stop
  bool (*is_done)(const ViewState& entered, const ViewState& now);
  /// Whether the model and the prompt allow it: there may be no other head or token.
  bool (*is_possible)(const ViewContext& context);
  bool needs_heads = false;  ///< it needs the heads pane, which is then shown at any width
};
/// Null if there is no such wait.
const Wait* find_wait(std::string_view name);

struct TourStop;

/// Something that must hold for a paragraph to be shown.
struct Condition {
  std::string_view name = {};  ///< in a tour's file: "this prompt"; empty: a limit, "weight above 50 %"
  /// Whether it holds for the run and the selection at a stop (see resolve_stop); nothing while it is not
  /// known. Null: a limit.
  std::optional<bool> (*holds)(const TourStop& stop, const ViewContext& context) = nullptr;
  const Number* number = nullptr;
  bool above = true;
  double limit = 0;
};

/// A paragraph of a stop, and when it is shown.
struct TourParagraph {
  std::string words;                  ///< with {names} of numbers
  std::vector<Condition> conditions;  ///< all must hold
  bool otherwise = false;             ///< only if the paragraph before it could be shown and was not
};

/// Parses conditions separated by commas: "this prompt, this model, weight above 0.5". Throws
/// std::invalid_argument: what was expected and what was found.
std::vector<Condition> parse_conditions(std::string_view text);

/// One stop: what the window shows, and a text about it.
struct TourStop {
  std::string title;
  std::optional<std::string> prompt;  ///< nothing: the previous stop's
  std::string view;                   ///< id of a tab; empty: the previous stop's
  std::optional<int> layer, head;     ///< from 0, or -1 for the last; nothing: the previous stop's
  std::optional<std::string>
      token;  ///< words of the prompt whose last token is the query, or "last"; nothing: the previous stop's
  std::optional<std::string> key;  ///< the same for the key; nothing: no key is selected
  std::vector<std::pair<const OptionSpec*, OptionValue>> options;  ///< for this stop only
  std::optional<std::string> second;  ///< the second prompt at this stop, compared by position; nothing: none
  std::string edits;                  ///< the edits at this stop, in the notation of parse_edits; empty: none
  std::vector<TourPoint> points;
  const Wait* wait = nullptr;  ///< null: nothing
  std::vector<TourParagraph> caption;
};

/// A guided walk through the window.
struct Tour {
  std::string id;  ///< the file's name without its extension
  std::string title;
  std::string about;  ///< one paragraph
  std::vector<TourStop> stops;
};

/// What the window shows at a stop: the stop's own settings, completed by those of the previous stops.
TourStop resolve_stop(const Tour& tour, int stop);
/// The paragraphs that such a stop shows for this run and this selection, with numbers in place of their
/// names. A paragraph is left out while its conditions are not known.
std::vector<std::string> shown_paragraphs(const TourStop& stop, const ViewContext& context);

/// Parses a tour:
///
///     # Its title
///
///     A paragraph about it.
///
///     ## Title of a stop
///     - prompt: The old king had a daughter
///     - second: The old king had a son
///     - view: heatmap
///     - layer: 2
///     - head: -1
///     - token: daughter
///     - key: king
///     - option: value-scale log
///     - edit: L2H3.z=0
///     - point: cell
///     - wait: head
///
///     What to look at, in paragraphs, with numbers of the run such as {tokens} or {weight}.
///
///     - if: this prompt, this head, weight above 50 %
///     A paragraph that is shown only if all of this holds.
///     - otherwise: layers above 1
///     A paragraph in place of the one before it, if this holds.
///     - otherwise
///     A paragraph in place of both.
///
/// A stop points at a landmark of its view or of a side pane, at `pane view`, `pane next`, `pane heads` or
/// `pane tokens`, at `prompt`, `edits`, or at the control of an option: `option strips`.
/// assets/guide/tours.md explains points and conditions. The lines of a paragraph are joined; `%` begins a
/// comment. Throws model::LoadError that names `file` and the line.
Tour parse_tour(std::string_view text, const std::string& file);

/// The folders of tours: next to the program, and `tours` in the user's configuration.
std::vector<std::filesystem::path> tour_folders();

struct LoadedTours {
  std::vector<Tour> tours;
  std::string problem;  ///< one sentence about the first file that is not a tour; empty: none
};

/// Loads the `*.md` files of folders, in order of their names; a folder may be missing. Of two tours with the
/// same id, the later folder's is used. Never throws.
LoadedTours load_tours(const std::vector<std::filesystem::path>& folders);

/// The example prompts installed with the program: a tour's stops with a prompt and one paragraph each. Empty
/// if they cannot be read, since the program works without them.
std::vector<TourStop> bundled_examples();

/// The index of a tour, given by its id or by a file that ends in .md, which is read and added. Throws
/// model::LoadError, or std::runtime_error (one sentence) if there is no such tour.
std::size_t find_tour(LoadedTours& loaded, const std::string& name);

/// The position of the token that holds the last byte of the first occurrence of these words; -1 if they do
/// not occur, and for "last". Only the first `run_length` tokens count.
int position_of(const std::string& words, const std::string& prompt, const PromptTokens& tokens);

}  // namespace headscope::app
