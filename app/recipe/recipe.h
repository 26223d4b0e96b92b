#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/prompt_run.h"
#include "app/run/tries.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "model/kernels/precision.h"
#include "viz/scene/notes.h"

namespace headscope::app {

// What is looked at, as a value that is kept: in a file of its own (a session) and in every figure (its
// recipe). Both are the same JSON, written and read here and nowhere else.

/// The name of the note that a picture's file carries.
constexpr std::string_view kRecipeNote = "headscope";
constexpr std::string_view kSessionExtension = ".headscope";

/// An edit in the words of edit_text.
struct WrittenEdit {
  std::string text;
  bool on = true;
  bool operator==(const WrittenEdit&) const = default;
};

/// What is on the screen. Nothing in it is a path.
struct Session {
  struct Model {
    std::string name;     ///< see model_name; a name to look for, never a place
    std::string weights;  ///< see weights_hash; empty: not known
    model::Precision precision = model::Precision::f32;
    std::string attention =
        {};  ///< of patterns without weights: their file's name, never a place; empty: of a model
    bool operator==(const Model&) const = default;
  };
  struct Second {
    std::string text;
    bool on = true;
    Alignment alignment = Alignment::position;
    std::string attention = {};  ///< in place of the text a file's name, as Model has one; empty: a prompt
    std::string weights = {};    ///< of that file, as Model has them
    bool operator==(const Second&) const = default;
  };
  struct Look {
    bool dark = false;
    float font_size = 14;  ///< logical pixels, in [6, 72]
    bool operator==(const Look&) const = default;
  };
  /// Widths of the window's panes in logical pixels; 0: chosen by its size.
  struct Panes {
    float left = 0, right = 0, beside = 0;
    bool operator==(const Panes&) const = default;
  };
  Model model;
  Prompt prompt;  ///< without edits: those are the edits
  std::vector<WrittenEdit> edits;
  bool edits_off = false;  ///< all of them, whatever each says
  std::optional<Second> second;
  /// That is compared with, never of attention; its precision is the first one's. Nothing: it is the same
  /// one.
  std::optional<Model> second_model = {};
  Side side = Side::run;
  std::string view = std::string(view_at(Place::tab).id);
  std::string beside;  ///< empty: none
  Options options;
  Selection selection;
  Tries tries;
  std::optional<PromptList> prompts = {};  ///< of views that are about many; nothing: none is open
  Look look;
  Panes panes;
  bool operator==(const Session&) const = default;
};

/// How a session became a file.
struct Figure {
  bool window = false;  ///< of the whole window; else of the session's view
  int width = 1000;     ///< logical pixels
  int height = 0;       ///< 0: what the view needs
  Page page = Page::trimmed;
  float scale = 2;  ///< device pixels for a logical one
  bool caption = true;
  bool svg_text = false;
  bool operator==(const Figure&) const = default;
};

struct Recipe {
  Session session;
  std::optional<Figure> figure;           ///< nothing: a session
  std::string program = {};               ///< version of the one that wrote it; writing says this one
  std::vector<std::string> unknown = {};  ///< options that this program does not have, passed over in reading
};

/// JSON in ASCII, without line breaks where it is of a figure. A figure's names its command, for readers.
std::string to_json(const Recipe& recipe);

/// Reads what that wrote, of this version and older ones. Throws model::LoadError, one sentence that begins
/// with `file`, for all else: no JSON, a newer version, a value of a wrong type or out of its range, no such
/// view. What comes out is in range, but of any model: the selection need not be in it, nor the edits.
Recipe parse_recipe(std::string_view json, const std::string& file);

/// The recipe of a session's file or of a picture's. Throws model::LoadError, also for a picture without one.
Recipe read_recipe(const std::filesystem::path& file);
/// The same of a file's bytes.
Recipe recipe_of(std::string_view bytes, const std::string& file);

/// Whether a vocabulary of so many tokens has all of its ids.
bool fits_vocabulary(const TriedText& tried, int vocabulary);

/// What a figure's file carries.
viz::Note note_of(const Recipe& recipe);

/// The arguments of the command that makes a figure, without the models, `--out`, and what no argument says.
/// Of the view's options those that differ from their default.
std::vector<std::string> arguments_of(const Recipe& recipe);
/// "headscope plot heatmap --prompt 'A robot'": for people, and for a shell. What no command line can say, a
/// prompt with a zero byte and where a model's folder is, is said in capitals.
std::string command_of(const Recipe& recipe);

/// The edits as they are written.
std::vector<WrittenEdit> written(const model::Edits& edits);
/// The options that a view has, as they are.
Options options_of(const View& view, const Options& options);
/// All of what a view shows, whatever part of it a pane does.
Options without_pane_only(const View& view, Options options);

/// The part of a session that a view's picture depends on: its recipe.
Session figure_part(Session session, const View& view);

}  // namespace headscope::app
