#pragma once
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run/given_token.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "model/kernels/precision.h"

namespace headscope::app {

class KeptModels;

// The values of options that several commands share. No file has been read yet.

/// The models that stay loaded in this process; none: each command loads its own. Equal to any other, since
/// no answer depends on it.
struct KeptModelsHere {
  std::shared_ptr<KeptModels> models;
  bool operator==(const KeptModelsHere&) const { return true; }
};

struct ModelArguments {
  std::optional<std::string>
      model;  ///< a folder, or a name in the Hugging Face cache; nothing: the bundled model
  model::Precision precision = model::Precision::f32;
  int threads = 0;        ///< 0: one for each processor
  bool by_name = false;   ///< `model` is a name from a file, never a folder
  bool patterns = false;  ///< `model` is an attention file, without weights
  bool get = false;       ///< fetch it from the hub if it is not on this machine
  KeptModelsHere kept = {};
  bool operator==(const ModelArguments&) const = default;
};

/// The edits of a run: see edit_text.h.
struct EditArguments {
  std::optional<std::filesystem::path> file;  ///< with an edit on each line; first
  std::vector<std::string> texts;
  std::optional<ModelArguments> second_model =
      {};  ///< the source of some patches, and the baseline of the run
  /// The list over which means are taken, of edits and of an ablation; nothing: the run's positions.
  std::optional<std::filesystem::path> mean_over = {};

  bool empty() const { return !file && texts.empty(); }
};

/// Every `count`-th prompt of a list, starting at `index`.
struct Shard {
  int index = 0;
  int count = 1;
  bool operator==(const Shard&) const = default;
};

/// The source of the prompt or of a list of prompts.
struct PromptArguments {
  enum class From { nothing, text, ids, file, list };
  From from = From::nothing;
  std::string text;                      ///< From::text: any bytes; From::ids: the text of the ids, if known
  std::vector<int> ids;                  ///< From::ids
  std::filesystem::path file;            ///< From::file: its bytes are the prompt, but for a byte order mark;
                                         ///< From::list: one JSON value per line;
                                         ///< "-": standard input
  std::optional<bool> start_token = {};  ///< nothing: as the tokenizer's files say
  Shard shard = {};                      ///< part of a list
  bool skip_errors = false;              ///< lists: report a prompt that fails and continue
  std::size_t limit = Prompt::kMaxBytes;  ///< of a prompt's bytes, or its ids
  EditArguments edits = {};
};

struct PictureArguments {
  int width = 1000;  ///< logical pixels
  int height = 0;    ///< 0: as high as the view needs
  Page page = Page::trimmed;
  int rows = 0;     ///< maximum number of a list's rows; 0: as many as fit
  float scale = 2;  ///< device pixels for a logical one
  bool dark = false;
  float font_size = 14;
  Target target = Target::screen;
  bool byte_order_mark = false;  ///< of CSV, whether it is of a picture or an answer
};

/// The output of a picture or its numbers.
struct Destination {
  std::filesystem::path file =
      {};  ///< empty: none; "-": standard output; may contain the placeholders {n} and {view}
  FileFormat format = FileFormat::png;

  bool empty() const { return file.empty(); }
};

/// A tour to open at the start.
struct TourArguments {
  std::string name;  ///< id or file; empty: none
  int stop = 1;      ///< from 1
};

/// The baseline of a run, and the shown side of the comparison.
struct ComparisonArguments {
  std::optional<std::string> second = {};  ///< a second prompt's text; nothing: the unedited run
  std::optional<Alignment> alignment = {};
  Alignment aligned_by() const { return alignment.value_or(Alignment::position); }
  Side side = Side::run;
  std::filesystem::path second_attention =
      {};  ///< attention file to compare an attention file with; empty: none
};

/// A token given for one of a view's options.
struct ViewToken {
  std::string flag;  ///< "--token"
  GivenToken token;
  const View* view = nullptr;
  bool other = false;  ///< for the option of the other token
};

/// An option of a view as it was given, under one of its names.
struct GivenOption {
  std::string flag;  ///< "--metric"
  const View* view = nullptr;
  const OptionSpec* option = nullptr;
};

/// An option of one of the shown views, until it is known which views are shown.
struct UnplacedOption {
  std::string flag;  ///< "--metric"
  std::string text;
};

/// The arguments of a command: the options that several commands share. A command with its own options
/// derives from it.
struct Arguments {
  ModelArguments model;
  PromptArguments prompt;
  std::vector<std::string> prompt_options;  ///< the options that gave a prompt, for messages
  ComparisonArguments comparison;
  std::optional<Selection> selection;  ///< nothing: no option of it was given
  TourArguments tour;
  std::filesystem::path over_list;  ///< list of prompts, for views that can show one; empty: none
  Options options;                  ///< options of views
  std::vector<ViewToken> tokens;    ///< options of views that name tokens, until the vocabulary is known
  std::vector<GivenOption> given_options;        ///< the views' options that were given
  std::vector<UnplacedOption> unplaced_options;  ///< see place_view_options
  std::vector<std::string> picture_options;      ///< the options of a picture that were given
  PictureArguments picture;
  bool size_given = false;
  bool scale_given = false;
  bool font_size_given = false;
  std::string out_name;                  ///< name of the output file; empty: none; "-": standard output
  std::optional<FileFormat> out_format;  ///< format on standard output
  std::string answer_format;             ///< --format of an answer in text or JSON; empty: not given
  bool recipe_given = false;             ///< --recipe was given in a form that recipe_command does not handle
  bool json = false;
  bool from_recipe = false;               ///< the defaults are those of a figure or session
  std::vector<const View*> recipe_views;  ///< what a window shows whose recipe that is
  std::vector<std::string> choices;       ///< the words after the command's name: views

  Arguments() = default;
  Arguments(const Arguments&) = default;
  Arguments& operator=(const Arguments&) = default;
  virtual ~Arguments() = default;
};

// Checks of required arguments. They throw UsageError.

void require_prompt(const Arguments& given);
/// A list over which means are taken comes with some. `ablates`: whether the command's ablation takes them;
/// nothing: it has none.
void check_mean_over(const Arguments& given, std::optional<bool> ablates);
/// --align comes with something to compare with. `second_in_lines`: the lines of a list may name it.
void check_alignment(const Arguments& given, bool second_in_lines = false);
/// A prompt is given, or an attention file without anything that needs weights.
void require_prompt_or_attention(const Arguments& given);

/// `example`: a file name such as "run.safetensors". With a list of prompts the name must contain {n}.
void require_out(const Arguments& given, const char* example);

inline constexpr std::initializer_list<FileFormat> kPicturesOrNumbers = {FileFormat::png, FileFormat::svg,
                                                                         FileFormat::pdf, FileFormat::csv};

/// Throws UsageError if --recipe was given.
void reject_recipe(const Arguments& given);

/// The output of a picture or its numbers, in one of these formats.
Destination destination_of(const Arguments& given, const char* example,
                           std::initializer_list<FileFormat> formats);

/// Why options of a picture do not apply.
inline constexpr const char* kNoPicture = "is for pictures; a csv file has only numbers";
/// Throws UsageError for options of a picture, where `why` is the reason that none is drawn: "--size is for
/// pictures; csv has numbers alone".
void reject_picture_options(const Arguments& given, const std::string& why);

/// Sets an option of a view that was given as `flag`. Throws UsageError.
void set_view_option(Arguments& given, const View& view, const OptionSpec& option, const std::string& flag,
                     const std::string& text);
/// Adds a token that was given for a view. Throws UsageError.
void add_view_token(Arguments& given, const View& view, bool other, const std::string& flag,
                    const std::string& text);
/// Sets the options in `unplaced_options` of these views, which are shown together. Throws UsageError for a
/// flag of several of them, or of other views alone.
void place_view_options(Arguments& given, std::span<const View* const> shown);

/// Whether an option of a view is given by its flag.
bool is_given(const Arguments& given, const OptionSpec* option);

/// Those of the views for which a second prompt would choose another value of an option: the run is shown,
/// and the option is not given.
std::vector<const View*> views_choosing_second(const Arguments& given, std::span<const View* const> shown);
/// Chooses that value for such views.
void choose_second(Arguments& given, std::span<const View* const> choosing);
/// Both, if a second prompt or model is given.
void use_second(Arguments& given, std::span<const View* const> shown);
/// An other token without a metric chooses the difference.
void subtract_other_tokens(Arguments& given);

/// Throws UsageError for a view's option that has no effect with its other options; see also
/// subtract_other_tokens, which comes first.
void check_given_options(const Arguments& given);

/// Whether, with these options, the view's picture is of the weights alone, or of a list of prompts.
bool needs_no_prompt(const View& view, const Options& options);
/// Gives the views the empty prompt if no prompt was given and they need none.
void complete_prompt(Arguments& given, std::span<const std::string> views);

/// The ids of views, "heads, heatmap, ...": of all, or of those for which `meant` is true.
std::string list_of_views(bool (*meant)(const View&) = nullptr);

/// The views with these ids or names, which exist.
std::vector<const View*> views_named(std::span<const std::string> ids);

/// Whether a view can show a list of prompts.
inline bool shows_prompt_list(const View& view) {
  return view.over_list != nullptr;
}
/// Whether a view can take the means of a list of prompts.
inline bool takes_means_of_list(const View& view) {
  return view.list_mean != nullptr;
}

}  // namespace headscope::app
