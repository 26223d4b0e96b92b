#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/run/named.h"
#include "app/run/prompt_run.h"
#include "app/run/tries.h"
#include "app/views/figure.h"
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

/// Before the text of an edit that is switched off.
inline constexpr std::string_view kOff = "off: ";

constexpr float kDefaultFontSize = 14, kWidestPane = 1600;  // logical pixels

/// Widths of the window's panes in logical pixels; 0: chosen from the window's size.
struct PaneSizes {
  float heads = 0;
  float next = 0;
  float second_view = 0;  ///< 0: half of the middle
  bool operator==(const PaneSizes&) const = default;
};

struct WindowLook {
  bool dark = false;
  float font_size = kDefaultFontSize;  ///< logical pixels, in [6, 72]
  PaneSizes panes;
  bool operator==(const WindowLook&) const = default;
};

/// Everything that the window shows. Contains no paths.
struct Session : WindowLook {
  std::string model;    ///< see model_name; a name to search for, never a path
  std::string weights;  ///< see weights_hash; empty: unknown
  model::Precision precision = model::Precision::f32;
  std::string attention;              ///< name of an attention file; empty: a model with weights
  bool adds_start_token = false;      ///< the model's tokenizer puts one before every text
  Prompt prompt;                      ///< without edits, which are in `edits`
  std::vector<std::string> edits;     ///< in the notation of edit_text, some after kOff
  std::optional<std::string> second;  ///< the second prompt
  std::string second_attention;       ///< instead of a second prompt, as `attention`
  std::string second_model;           ///< to compare with, as `model`; empty: the same
  std::string second_weights;         ///< of that file or model
  bool second_on = true;              ///< the second prompt or file is compared with
  Alignment alignment = Alignment::position;
  Side side = Side::run;
  std::string view = std::string(view_at(Place::tab).id);
  std::string second_view;  ///< empty: none
  Options options;
  Selection selection;
  Tries tries;
  std::optional<PromptList> prompts;  ///< for views that can show a list
  bool operator==(const Session&) const = default;
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

/// Reads the recipe of a session or of a picture. Throws model::LoadError, one sentence that begins with
/// `file`, for anything else. The selection and the edits are valid, but a model may not have them.
Recipe recipe_of(std::string_view bytes, const std::string& file);
Recipe read_recipe(const std::filesystem::path& file);

/// The recipe as a text entry of a figure's file.
viz::Note recipe_note(const Recipe& recipe);

/// The arguments of the command that makes a figure, without the models, lists and `--out`.
std::vector<std::string> arguments_of(const Recipe& recipe);
/// "headscope heatmap --prompt 'A robot'", quoted for a shell. What a command line cannot contain, such as a
/// prompt with a zero byte or a model's folder, is a placeholder in capitals.
std::string command_of(const Recipe& recipe);
/// The part of a session that a view's picture depends on, for its recipe.
Session figure_part(Session session, const View& view);

constexpr int kMaxExportScale = 4;

/// What the window knows by heart, whatever it shows.
struct Remembered {
  std::vector<std::filesystem::path> recent_models;    ///< newest first, see `remember`
  std::vector<std::filesystem::path> recent_folders;   ///< folders browsed or exported to, newest first
  std::vector<std::filesystem::path> recent_sessions;  ///< newest first
  bool offer_models = true;                            ///< offer larger models while the bundled one is open
  std::vector<std::string> finished_tours;             ///< ids of those whose last stop was seen, each once
  bool all_controls = false;                           ///< all controls of a view are shown, however many
  std::filesystem::path export_folder;                 ///< folder of the last export; empty: none yet
  bool operator==(const Remembered&) const = default;
};

/// What the window remembers between starts: that, a part of its session, and paths.
struct Settings : Remembered {
  Session session;          ///< only what the next start restores; the selection may be of another model
  bool has_prompt = false;  ///< whether the session's prompt was ever set
  int window_width = 1600;
  int window_height = 1000;
  std::filesystem::path last_model;  ///< empty: the bundled model
  int export_scale = 2;              ///< PNG: device pixels per logical pixel, in [1, kMaxExportScale]
  bool start_token = false;          ///< the start token toggle for new prompts
  std::string problem = {};          ///< of the file they were read from, one sentence; not kept
  bool operator==(const Settings&) const = default;
};

constexpr std::size_t kMaxRecent = 8;  ///< paths in each of the lists

std::string to_json(const Settings& settings);

/// Values that cannot be used keep their defaults, and the problem, of `file`, names them. Throws
/// model::LoadError for what is no JSON object.
Settings parse_settings(std::string_view json, const std::string& file);

constexpr std::string_view kSettingsFile = "settings.json";  ///< in the configuration folder

/// Never throws: the defaults with a problem, without one if the file does not exist.
Settings load_settings(const std::filesystem::path& file);

}  // namespace headscope::app
