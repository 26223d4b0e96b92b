#pragma once
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/views/export.h"
#include "app/views/view.h"
#include "model/kernels/precision.h"

namespace headscope::app {

// What the options that several commands take ask for, as values. Nothing here has looked at a file yet.

struct ModelArguments {
  std::optional<std::string> model;  ///< a folder, or a name in the Hugging Face cache; none: the bundled one
  model::Precision precision = model::Precision::f32;
  int threads = 0;        ///< 0: as many as the machine has processors
  bool by_name = false;   ///< `model` is a name that stood in a file: never a folder
  bool patterns = false;  ///< `model` is a file of attention patterns, without weights
  bool get = false;       ///< fetch it from the hub first, if it is not here
  bool operator==(const ModelArguments&) const = default;
};

/// The edits of a run: see edit_text.h and edit_json.h.
struct EditArguments {
  std::optional<std::filesystem::path> file;  ///< first
  std::vector<std::string> texts;
  std::optional<ModelArguments> second_model = {};  ///< that some patch from, and that runs are compared with

  bool empty() const { return !file && texts.empty(); }
};

/// Every `count`-th prompt of a list, from the one at `index` on.
struct Shard {
  int index = 0;
  int count = 1;
  bool operator==(const Shard&) const = default;
};

/// Where the prompt, or many of them, comes from.
struct PromptArguments {
  enum class From { nothing, text, ids, file, list };
  From from = From::nothing;
  std::string text;            ///< From::text: any bytes; From::ids: what they stand for, where that is known
  std::vector<int> ids;        ///< From::ids
  std::filesystem::path file;  ///< From::file (the prompt is its bytes), From::list (one JSON value a line);
                               ///< "-": standard input
  bool start_token = false;
  Shard shard = {};          ///< of a list
  bool skip_errors = false;  ///< of a list: a prompt that fails is reported, and the next one comes
  bool resume = false;       ///< of a list: a prompt whose file is there is passed over
  EditArguments edits = {};
};

struct PictureArguments {
  int width = 1000;  ///< logical pixels
  int height = 0;    ///< 0: what the view needs to show all of it, cut to the figure
  float scale = 2;   ///< device pixels for a logical one
  bool dark = false;
  float font_size = 14;
};

/// Where a picture or its numbers go.
struct Destination {
  std::filesystem::path file = {};  ///< empty: nowhere; "-": standard output; {n}, {view} stand for others
  FileFormat format = FileFormat::png;

  bool empty() const { return file.empty(); }
};

/// A tour that is open at first.
struct TourArguments {
  std::string name;  ///< id or file; empty: none
  int stop = 1;      ///< from 1
};

/// What a run is compared with, and which side of that is shown.
struct ComparisonArguments {
  std::optional<std::string> second = {};  ///< a second prompt's text; nothing: the unedited run
  Alignment alignment = Alignment::position;
  Side side = Side::run;
  std::filesystem::path second_attention = {};  ///< patterns that patterns are compared with; empty: none
};

/// What a command was given of the options that several take. A command with options of its own derives from
/// it.
struct Arguments {
  ModelArguments model;
  PromptArguments prompt;
  std::vector<std::string> prompt_options;  ///< which of the ways to give a prompt were used
  ComparisonArguments comparison;
  std::optional<Selection> selection;  ///< nothing: none of it was given
  TourArguments tour;
  std::filesystem::path over_list;  ///< of prompts, for views that can be about many; empty: none
  Options options;                  ///< of views
  PictureArguments picture;
  bool size_given = false;
  bool scale_given = false;
  std::string out_name;                  ///< of the file; empty: none, "-": standard output
  std::optional<FileFormat> out_format;  ///< of standard output
  bool recipe_given = false;             ///< where recipe_command does not take it: once, of a file
  bool json = false;
  std::vector<std::string> choices;  ///< what was named after the command's name: views

  Arguments() = default;
  Arguments(const Arguments&) = default;
  Arguments& operator=(const Arguments&) = default;
  virtual ~Arguments() = default;
};

// What a command cannot do without. They throw UsageError.

void require_prompt(const Arguments& given);
/// Or a file of patterns, and nothing besides that needs weights.
void require_prompt_or_attention(const Arguments& given);

/// `example`: a file's name as in "run.safetensors". With many prompts it needs the prompt's number.
void require_out(const Arguments& given, const char* example);

inline constexpr std::initializer_list<FileFormat> kPicturesOrNumbers = {FileFormat::png, FileFormat::svg,
                                                                         FileFormat::pdf, FileFormat::csv};

/// That no recipe is given, which another command takes.
void reject_recipe(const Arguments& given);

/// Where the picture or its numbers go, in one of these formats.
Destination destination_of(const Arguments& given, const char* example,
                           std::initializer_list<FileFormat> formats);

void require_at_most_one(std::span<const std::string> commands);

/// The ids of those views, "heads, heatmap, ...": all of them, or those that are `meant`.
std::string list_of_views(bool (*meant)(const View&) = nullptr);

/// Of those that can be about a list of prompts.
inline bool takes_prompt_list(const View& view) {
  return view.over_list != nullptr;
}

}  // namespace headscope::app
