#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/cli/arguments/words.h"
#include "app/hub/hub_name.h"
#include "app/recipe/recipe.h"
#include "app/run/analyses/head_metrics.h"
#include "app/run/analyses/sweep.h"
#include "app/run/analyses/weight_search.h"
#include "app/views/export.h"
#include "app/views/view.h"
#include "model/pass/transformer.h"
#include "model/tokens/sampling.h"

namespace headscope::app {

// What the command line asks for, as values. Nothing here has looked at a file yet.

struct ModelArguments {
  std::optional<std::string>
      model;  ///< a folder, or the name of a model in the Hugging Face cache; none: the bundled model
  model::Precision precision = model::Precision::f32;
  int threads = 0;        ///< 0: as many as the machine has processors
  bool by_name = false;   ///< `model` is a name that stood in a file: never a folder
  bool patterns = false;  ///< `model` is a file of attention patterns, without weights
  bool get = false;       ///< fetch it from the hub first, if it is not here
  bool operator==(const ModelArguments&) const = default;
};

/// What is changed while a prompt runs: see edit_text.h and edit_json.h.
struct EditArguments {
  std::optional<std::filesystem::path> file;  ///< first
  std::vector<std::string> texts;
  std::optional<ModelArguments> second_model = {};  ///< that some patch from, and that runs are compared with
};

/// Hashes of the weights (see weights_hash) that a figure was made with; empty: not known.
struct MetricWeights {
  std::string model;
  std::string second;  ///< of a second model
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
  EditArguments edits;
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
  std::filesystem::path file =
      {};  ///< empty: nowhere; "-": standard output; the names in braces stand for others
  FileFormat format = FileFormat::png;

  bool none() const { return file.empty(); }
};

/// A tour that is open at first.
struct TourArguments {
  std::string name;  ///< id or file; empty: none
  int stop = 1;      ///< from 1
};

/// What a run is compared with, and which side of that is shown.
struct ComparisonArguments {
  std::optional<std::string> second =
      {};  ///< a second prompt's text; nothing: what is changed with what is not
  Alignment alignment = Alignment::position;
  Side side = Side::run;
  std::filesystem::path second_attention = {};  ///< patterns that patterns are compared with; empty: none
};

struct WindowCommand {
  ModelArguments model;
  PromptArguments prompt;
  ComparisonArguments comparison = {};
  TourArguments tour = {};
  std::filesystem::path file = {};  ///< a session or a figure that is shown at first; empty: none
  std::filesystem::path over = {};  ///< a list of prompts, for views that can be about many; empty: none
};

/// Brings a model from the Hugging Face hub into the cache.
struct GetCommand {
  HubModel wanted;
};

struct InfoCommand {
  ModelArguments model;
  std::filesystem::path file;  ///< whose recipe is told, in place of the model; empty: none
  bool json = false;
};

struct TokensCommand {
  ModelArguments model;
  PromptArguments prompt;
  bool json = false;
};

struct PredictCommand {
  ModelArguments model;
  PromptArguments prompt;
  int top = 10;
  bool all_positions = false;
  bool json = false;
};

/// The logit lens after every position.
struct LensCommand {
  ModelArguments model;
  PromptArguments prompt;
  int top = 5;  ///< guesses of each place
  bool json = false;
};

/// What each part of the model adds to a logit.
struct AttributeCommand {
  ModelArguments model;
  PromptArguments prompt;
  std::string token;                        ///< text or id; empty: the most probable
  std::string against;                      ///< text or id; empty: none
  int position = -1;                        ///< -1: the last
  std::optional<model::HeadIndex> sources;  ///< the head whose part is told by source
  bool all_sources = false;                 ///< of every head
  bool json = false;
};

/// What single changes make of a guess: of each head, or of each layer at each position.
struct SweepCommand {
  ModelArguments model;
  PromptArguments prompt;
  SweepMetric metric = SweepMetric::difference;
  SweepOver over = SweepOver::heads;
  SweepChange change = SweepChange::zero;
  model::Site site = model::Site::z;
  std::string token;                   ///< text or id; empty: the most probable
  std::string other_token;             ///< text or id; empty: the second most probable
  int position = -1;                   ///< -1: the last
  std::optional<std::string> from;     ///< text of the prompt that is patched from
  std::optional<Alignment> alignment;  ///< of prompts that need not be as long
  PictureArguments picture;
  bool recipe = true;  ///< a picture's file carries what it was made of
  Destination out = {};
  bool json = false;
};

struct GenerateCommand {
  ModelArguments model;
  PromptArguments prompt;
  int tokens = 40;
  model::SamplingOptions sampling;
  std::uint64_t seed = 0;
  bool echo = false;  ///< the prompt first
};

struct TraceCommand {
  ModelArguments model;
  PromptArguments prompt;
  std::string hooks;  ///< globs, comma-separated; empty: all
  std::filesystem::path out;
};

/// What heads do with the prompts, all of them together, or with repeated random tokens.
struct MetricsCommand {
  enum class Form { text, csv, json };
  ModelArguments model;
  PromptArguments prompt;
  std::optional<RepeatedTokens> repeated;         ///< in place of prompts
  std::vector<std::filesystem::path> merge = {};  ///< parts of a measurement, in place of prompts
  std::uint64_t seed = 0;                         ///< of the random tokens
  std::optional<HeadMetric> sort;                 ///< the largest first; none: by layer and head
  int top = 0;                                    ///< so many heads; 0: all
  Form form = Form::text;
};

/// Where heads look from some tokens to some others.
struct SearchCommand {
  ModelArguments model;
  PromptArguments prompt;
  WeightSearch search;
  int top = 20;
  bool json = false;
};

struct ViewsCommand {
  bool json = false;
};

struct PlotCommand {
  ModelArguments model;
  PromptArguments prompt;
  ComparisonArguments comparison;
  std::filesystem::path over = {};  ///< a list of prompts, for views that can be about many; empty: none
  std::vector<std::string> views;   ///< a file of each
  Selection selection;
  Options options;
  PictureArguments picture;
  bool svg_text = false;
  bool caption = true;
  bool recipe = true;        ///< see SweepCommand
  std::optional<Page> page;  ///< of a picture whose size is given; nothing: exactly that
  Tries tries = {};
  std::shared_ptr<const PromptList> prompts = {};  ///< the list, where it does not come from `over`
  MetricWeights weights;                           ///< that the models must have; empty: any
  Destination out;
};

struct ShotCommand {
  ModelArguments model;
  PromptArguments prompt;
  ComparisonArguments comparison;
  std::filesystem::path over = {};  ///< a list of prompts, for views that can be about many; empty: none
  std::string view = std::string(view_at(Place::tab).id);
  std::string beside = {};             ///< another view beside it; empty: none
  std::optional<Selection> selection;  ///< null: what the window chooses itself
  TourArguments tour;
  Options options;
  PictureArguments picture{.width = 1600, .height = 1000, .scale = 1};
  bool recipe = true;  ///< as of a plot
  MetricWeights weights;
  std::optional<Session> session;  ///< what the window shows, in place of all that is said above
  Destination out;
};

/// A picture as a file says that it was made, but for what the arguments say otherwise.
struct RecipeCommand {
  std::filesystem::path file;
  bool window = false;      ///< of the whole window, whatever the file's is of
  std::vector<Word> words;  ///< the others that were given, the command's name left out
};

struct BenchCommand {
  ModelArguments model;
  std::vector<int> tokens;   ///< lengths; empty: the usual ones, as far as the context goes
  bool materialize = false;  ///< passes that return every head's pattern, too
  bool ui = false;           ///< the window, too
  bool json = false;
};

/// What the program runs on, and what is missing.
struct DoctorCommand {
  bool json = false;
};

/// What needs no work: help and version (status 0, for standard output), a wrong use (status 2) or a value
/// that nothing could fulfil (status 1); those two are one sentence for standard error.
struct Reply {
  std::string text;
  int status = 0;
};

using Command =
    std::variant<Reply, WindowCommand, GetCommand, InfoCommand, TokensCommand, PredictCommand, LensCommand,
                 AttributeCommand, SweepCommand, GenerateCommand, TraceCommand, MetricsCommand, SearchCommand,
                 ViewsCommand, PlotCommand, ShotCommand, RecipeCommand, BenchCommand, DoctorCommand>;

/// The arguments after the program's name, any bytes. Pure: looks at nothing else, never throws for what a
/// user can type.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace headscope::app
