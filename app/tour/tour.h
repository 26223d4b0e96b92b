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

/// One stop: how the window is set, and what is said about it.
struct TourStop {
  std::string title;
  std::optional<std::string> prompt;  ///< nothing: as at the stop before
  std::string view;                   ///< id of a tab; empty: as before
  std::optional<int> layer, head;     ///< from 0, or from the last one on: -1; nothing: as before
  std::optional<std::string>
      token;  ///< words of the prompt whose last token is the query, or "last"; as before
  std::optional<std::string> key;  ///< likewise, of the key; nothing: none is chosen
  std::vector<std::pair<const OptionSpec*, OptionValue>> options;  ///< at this stop alone
  std::string edits;  ///< the edits at this stop alone, as parse_edits reads them; empty: none
  const Wait* wait = nullptr;        ///< null: nothing
  std::vector<std::string> caption;  ///< paragraphs; {words} in them are numbers of the run: see numbers.h
};

/// A guided walk through the window.
struct Tour {
  std::string id;  ///< its file's name without the ending
  std::string title;
  std::string about;  ///< one paragraph
  std::vector<TourStop> stops;
};

/// How the window stands at a stop: what its own lines say and, where they say nothing, those before it.
TourStop at_stop(const Tour& tour, int stop);

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

/// Where tours are: next to the program, and in `tours` of the user's configuration.
std::vector<std::filesystem::path> tour_folders();

struct LoadedTours {
  std::vector<Tour> tours;
  std::string problem;  ///< the first file that is not one, in a sentence; empty: all are
};

/// The `*.md` of folders in the order of their names; a folder that is not there has none. Of two with one id
/// the later folder's counts. Never throws.
LoadedTours load_tours(const std::vector<std::filesystem::path>& folders);

/// The index of a tour by its id, or of a file that ends in .md, which is read and added. Throws
/// model::LoadError, or std::runtime_error (one sentence) where there is no such tour.
std::size_t find_tour(LoadedTours& loaded, const std::string& name);

/// Where the token ends that somebody named by words: the position that holds the last byte of their first
/// occurrence; -1 where they do not occur, and of "last". `run_length` tokens can be chosen.
int position_of(const std::string& words, const std::string& prompt, const PromptTokens& tokens);

}  // namespace headscope::app
