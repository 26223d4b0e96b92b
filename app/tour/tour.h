#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/tour/wait.h"
#include "app/views/view.h"

namespace headscope::app {

/// One stop: what the window shows, and a text about it.
struct TourStop {
  std::string title;
  std::optional<std::string> prompt;  ///< nothing: as at the previous stop
  std::string view;                   ///< id of a tab; empty: as before
  std::optional<int> layer, head;     ///< from 0, or from the last one on: -1; nothing: as before
  std::optional<std::string>
      token;  ///< words of the prompt whose last token is the query, or "last"; as before
  std::optional<std::string> key;  ///< likewise, of the key; nothing: none is chosen
  std::vector<std::pair<const OptionSpec*, OptionValue>> options;  ///< at this stop only
  std::string edits;                 ///< the edits at this stop alone, as parse_edits reads them; empty: none
  const Wait* wait = nullptr;        ///< null: nothing
  std::vector<std::string> caption;  ///< paragraphs, with {numbers} of the run: see numbers.h
};

/// A guided walk through the window.
struct Tour {
  std::string id;  ///< its file's name without the extension
  std::string title;
  std::string about;  ///< one paragraph
  std::vector<TourStop> stops;
};

/// What the window shows at a stop: as its own lines say, or else those of the stops before.
TourStop resolve_stop(const Tour& tour, int stop);

/// Parses a tour:
///
///     # Its title
///
///     A paragraph about it.
///
///     ## Title of a stop
///     - prompt: The old king had a daughter
///     - view: heatmap
///     - layer: 2
///     - head: -1
///     - token: daughter
///     - key: king
///     - option: value-scale log
///     - edit: L2H3.z=0
///     - wait: head
///
///     What is to be seen, in paragraphs, with numbers of the run such as {tokens} or {weight}.
///
/// Lines of a paragraph are joined, `%` begins a comment. Throws model::LoadError that names `file` and the
/// line, also where there are more than 100 stops, 20 paragraphs at one of them, 2000 bytes in a paragraph or
/// 200 in a title.
Tour parse_tour(std::string_view text, const std::string& file);

/// The folders of tours: next to the program, and `tours` in the user's configuration.
std::vector<std::filesystem::path> tour_folders();

struct LoadedTours {
  std::vector<Tour> tours;
  std::string problem;  ///< of the first file that is not a tour, one sentence; empty: none
};

/// The `*.md` of folders in order of their names; a missing folder has none. Of two tours with the same id
/// the later folder's is used. Never throws.
LoadedTours load_tours(const std::vector<std::filesystem::path>& folders);

/// The index of a tour by its id, or of a file that ends in .md, which is read and added. Throws
/// model::LoadError, or std::runtime_error (one sentence) if there is no such tour.
std::size_t find_tour(LoadedTours& loaded, const std::string& name);

/// The position of the token that ends with these words: it holds the last byte of their first occurrence; -1
/// if they do not occur, and for "last". Only the first `run_length` tokens count.
int position_of(const std::string& words, const std::string& prompt, const PromptTokens& tokens);

}  // namespace headscope::app
