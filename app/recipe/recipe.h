#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/named.h"
#include "app/run/prompt_run.h"
#include "app/run/tries.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "model/kernels/precision.h"
#include "viz/scene/notes.h"

// What is saved of the window: in a file of its own (a session), in every figure (its recipe), and between
// starts (the settings). All have the same JSON format, which only this folder reads and writes.
namespace headscope::app {

// The names of values in files and on the command line.
inline constexpr Named<Alignment> kAlignmentNames[]{{"position", Alignment::position},
                                                    {"token", Alignment::subsequence}};
inline constexpr Named<Side> kSideNames[]{
    {"run", Side::run}, {"baseline", Side::baseline}, {"difference", Side::difference}};
inline constexpr Named<bool> kThemeNames[]{{"light", false}, {"dark", true}};

/// The keyword of the text entry that holds the recipe in a picture's file.
constexpr std::string_view kRecipeNote = "headscope";
constexpr std::string_view kSessionExtension = ".headscope";

/// An edit in the notation of edit_text.
struct WrittenEdit {
  std::string text;
  bool on = true;
  bool operator==(const WrittenEdit&) const = default;
};

constexpr float kNarrowestPane = 180, kWidestPane = 1600;  // if the window does not choose

/// Widths of the window's panes in logical pixels; 0: chosen from the window's size.
struct PaneSizes {
  float heads = 0;
  float next = 0;
  float second_view = 0;  ///< 0: half of the middle
  bool operator==(const PaneSizes&) const = default;
};

/// Everything that the window shows. Contains no paths.
struct Session {
  struct Model {
    std::string name;     ///< see model_name; a name to search for, never a path
    std::string weights;  ///< see weights_hash; empty: unknown
    model::Precision precision = model::Precision::f32;
    std::string attention = {};     ///< name of the attention file, never a path; empty: a model with weights
    bool adds_start_token = false;  ///< its tokenizer's files put one before every text
    bool operator==(const Model&) const = default;
  };
  struct Second {
    std::string text;
    bool on = true;
    Alignment alignment = Alignment::position;
    std::string attention = {};  ///< an attention file instead of the text, as in Model; empty: a prompt
    std::string weights = {};    ///< hash of that file's weights, as in Model
    bool operator==(const Second&) const = default;
  };
  struct Look {
    bool dark = false;
    float font_size = 14;  ///< logical pixels, in [6, 72]
    bool operator==(const Look&) const = default;
  };
  Model model;
  Prompt prompt;  ///< without edits, which are in `edits`
  std::vector<WrittenEdit> edits;
  std::optional<Second> second;
  /// The model to compare with, never an attention file, in the first one's precision. Nothing: the same.
  std::optional<Model> second_model = {};
  Side side = Side::run;
  std::string view = std::string(view_at(Place::tab).id);
  std::string second_view;  ///< empty: none
  Options options;
  Selection selection;
  Tries tries;
  std::optional<PromptList> prompts = {};  ///< for views that can show a list; nothing: none is open
  Look look;
  PaneSizes panes;
  bool operator==(const Session&) const = default;
};

/// How a figure's file was made from a session.
struct Figure {
  bool window = false;  ///< the whole window; else the session's view
  int width = 1000;     ///< logical pixels
  int height = 0;       ///< 0: as high as the view needs
  Page page = Page::trimmed;
  float scale = 2;  ///< device pixels per logical pixel
  bool caption = true;
  bool svg_text = false;
  int rows = 0;  ///< maximum number of a list's rows; 0: as many as fit
  Target target = Target::screen;
  bool title = true;
  bool operator==(const Figure&) const = default;
};

struct Recipe {
  Session session;
  std::optional<Figure> figure;  ///< nothing: a session
  std::string program = {};      ///< version of the program that wrote it; writing uses this program's
  std::vector<std::string> unknown = {};  ///< options that this program does not have, ignored when reading
};

/// The recipe as ASCII JSON: a flat object whose keys are names of options of the command line, and a few for
/// what the command line cannot say. A figure's has no line breaks and includes the command, for human
/// readers.
std::string to_json(const Recipe& recipe);
/// The options of the command line in it that are not as a command has them by itself, or as `defaults`.
nlohmann::ordered_json options_of(const Recipe& recipe, const Options& defaults);

/// Reads the recipe of a session or of a picture. Throws model::LoadError, one sentence that begins with
/// `file`, for anything else. The selection and the edits are valid, but a model may not have them.
Recipe recipe_of(std::string_view bytes, const std::string& file);
Recipe read_recipe(const std::filesystem::path& file);

/// The recipe as a text entry of a figure's file.
viz::Note recipe_note(const Recipe& recipe);

/// The views that a figure shows.
std::vector<const View*> shown_views(const Recipe& recipe);
/// The arguments of the command that makes a figure, without the models, lists and `--out`.
std::vector<std::string> arguments_of(const Recipe& recipe);
/// "headscope heatmap --prompt 'A robot'", quoted for a shell. What a command line cannot contain, such as a
/// prompt with a zero byte or a model's folder, is a placeholder in capitals.
std::string command_of(const Recipe& recipe);
/// What a command makes by itself: the size, scale and page of a target or of the whole window.
Figure figure_for(Target target, bool window = false);
/// A figure's size as --size takes it: "900x600", "900x600+" if it may grow, "900" or "fit".
std::string size_text(const Figure& figure);
/// Returns false for a text that is none, also in another unit: see parse_figure_size.
bool set_size(Figure& figure, std::string_view text);

/// The part of a session that a view's picture depends on, for its recipe.
Session figure_part(Session session, const View& view);

constexpr int kMaxRows = 1 << 30;
constexpr int kMaxExportScale = 4;
constexpr float kSmallestFont = 9, kDefaultFontSize = 14, kLargestFont = 32;  // logical pixels

/// What the window knows by heart, whatever it shows.
struct Remembered {
  std::vector<std::filesystem::path> recent_models;    ///< newest first, see `remember`
  std::vector<std::filesystem::path> recent_folders;   ///< folders browsed or exported to, newest first
  std::vector<std::filesystem::path> recent_sessions;  ///< newest first
  bool offer_models = true;                            ///< offer larger models while the bundled one is open
  std::vector<std::string> finished_tours;             ///< ids of those whose last stop was seen, each once
  bool all_controls = false;                           ///< all controls of a view are shown, however many
  bool operator==(const Remembered&) const = default;
};

/// What the window remembers between starts: that, a part of its session, and paths.
struct Settings : Remembered {
  /// What the next start restores: look, panes, views, kept options, the prompt's text and start token, and
  /// the selection, which may be of another model.
  Session session;
  bool has_prompt = false;  ///< whether the session's prompt was ever set
  int window_width = 1600;
  int window_height = 1000;
  std::filesystem::path last_model;     ///< empty: the bundled model
  std::filesystem::path export_folder;  ///< folder of the last export; empty: none yet
  int export_scale = 2;                 ///< PNG: device pixels per logical pixel, in [1, kMaxExportScale]
  bool start_token = false;             ///< the start token toggle for new prompts
  bool operator==(const Settings&) const = default;
};

struct LoadedSettings {
  Settings settings;
  std::string message;  ///< one sentence if the file or a part of it is invalid; else empty
};

constexpr std::size_t kMaxRecent = 8;

/// Puts a path, unless it is empty, in front of at most kMaxRecent, each once; a slash at its end does not
/// count.
void remember(std::vector<std::filesystem::path>& recent, const std::filesystem::path& used);

std::string to_json(const Settings& settings);

/// Never throws: values that cannot be used keep their defaults, and the message, of `file`, names them.
LoadedSettings parse_settings(std::string_view json, const std::string& file);

/// In the configuration folder.
constexpr std::string_view kSettingsFile = "settings.json";

/// The defaults, without a message, if the file does not exist.
LoadedSettings load_settings(const std::filesystem::path& file);

}  // namespace headscope::app
