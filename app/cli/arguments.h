#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/recipe/recipe.h"
#include "app/run/named.h"
#include "app/views/view.h"

// What commands take: groups of CLI11 options that fill one struct.
namespace headscope::app {

class KeptModels;

/// Wrong usage: exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A combination of arguments that is refused, and why.
struct Refusal {
  bool is_given = false;
  std::string why;
};
/// Throws UsageError for the first combination that is given.
void refuse(std::initializer_list<Refusal> combinations);

/// A model as it is named.
struct ModelArguments {
  std::optional<std::string>
      name;               ///< a folder, or a name in the Hugging Face cache; nothing: the bundled one
  bool by_name = false;   ///< it is a name from a file, never a folder
  bool patterns = false;  ///< it is an attention file, without weights
  bool get = false;       ///< fetch it from the hub if it is not on this machine
};

inline constexpr int kMaxShards = 1000000;

/// Every `count`-th prompt of a list, starting at `index`.
struct Shard {
  int index = 0;
  int count = 1;
  bool operator==(const Shard&) const = default;
};

/// Where prompts come from.
struct PromptArguments {
  enum class From { nothing, given, file, list };  ///< given: the session's own, a text or ids
  From from = From::nothing;
  std::filesystem::path file;  ///< its bytes are the prompt, but for a byte order mark; of a list, a prompt
                               ///< on each line; "-": standard input
  Shard shard = {};
  bool skip_errors = false;  ///< lists: report a prompt that fails and continue
};

/// How an answer is written.
enum class Format { text, json, csv, png, svg, pdf };
inline constexpr Named<Format> kFormats[]{{"txt", Format::text}, {"json", Format::json},
                                          {"csv", Format::csv},  {"png", Format::png},
                                          {"svg", Format::svg},  {"pdf", Format::pdf}};
constexpr bool is_picture(Format format) {
  return format >= Format::png;
}

/// The arguments of a command, as far as it takes them.
struct Arguments {
  explicit Arguments(std::shared_ptr<KeptModels> kept) : models(std::move(kept)) {
    session.prompt.start_token.reset();  // as the tokenizer's files say
  }

  Session session;  ///< what is run and shown, as recipes have it; of `prompt.from` given: its prompt
  Figure figure;    ///< how a picture of it is made
  ModelArguments model;
  std::optional<ModelArguments> second_model;
  std::filesystem::path second_attention, edits_file, mean_over, over;
  PromptArguments prompt;
  std::filesystem::path recipe;  ///< of which all this is the rest; empty: none
  std::string out;               ///< a file, "-": standard output; empty: none was named
  std::string format;            ///< of --out -; empty: none was given
  bool json = false;
  bool byte_order_mark = false;
  bool no_recipe = false;
  bool mean = false;
  std::vector<std::string> merge;
  int threads = 0;
  std::string tour;  ///< id or file; empty: none
  int stop = 1;
  std::shared_ptr<KeptModels> models;  ///< that stay loaded in this process; null: none

  bool is_list() const { return prompt.from == PromptArguments::From::list; }
  bool has_prompt() const { return prompt.from != PromptArguments::From::nothing; }
};

// Adding options. The app and what it fills must outlive parsing.

/// An option that takes one of these names.
template <class To, class Rows>
CLI::Option* add_choice(CLI::App& app, const std::string& name, To& value, const Rows& all,
                        const std::string& help) {
  std::vector<std::string> names;
  std::string values;
  for (const auto& row : all) names.emplace_back(row.name), values += "|" + names.back();
  const auto set = [&value, &all](const std::string& text) {
    for (const auto& row : all)
      if (row.name == text) value = row.value;
  };
  return app.add_option_function<std::string>(name, set, help)
      ->check(CLI::IsMember(names).description(""))
      ->type_name(values.substr(1));
}

/// Refuses an empty value, as from an unset variable of the shell.
extern const CLI::Validator kNotEmpty;
/// Refuses what is no number from `low` to `high`; NaN is none.
CLI::Validator within(double low, double high);
/// An option that takes a number from `low` to `high`.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, const char* unit, Number& number, double low,
                        double high, const std::string& help) {
  return app.add_option(name, number, help)->type_name(unit)->check(within(low, high));
}

void add_model(CLI::App& app, Arguments& arguments);      ///< --model, --get
void add_computing(CLI::App& app, Arguments& arguments);  ///< the model, and how it computes
/// `lists`: also many prompts, of which each is answered or a mean is taken.
void add_prompt(CLI::App& app, Arguments& arguments, bool lists);
void add_edits(CLI::App& app, Arguments& arguments, bool mean_over = true);
void add_second(CLI::App& app, Arguments& arguments, const std::string& help);
void add_comparison(CLI::App& app, Arguments& arguments);
void add_attention(CLI::App& app, Arguments& arguments);
void add_selection(CLI::App& app, Arguments& arguments);
void add_tour(CLI::App& app, Arguments& arguments);
void add_over(CLI::App& app, Arguments& arguments);
void add_picture(CLI::App& app, Arguments& arguments, bool of_window);
/// --out and --format, of which `formats` are accepted: "txt|json"; with json also --json.
void add_out(CLI::App& app, Arguments& arguments, const std::string& formats, const std::string& help);
/// An option of a view under one of its names.
void add_view_option(CLI::App& app, Arguments& arguments, const OptionSpec& option, const std::string& name,
                     const std::string& group);

/// A paragraph after the options in the help.
void add_footer(CLI::App& app, const std::string& text);

/// Whether an option was given on the command line.
bool is_given(const CLI::App& app, const std::string& name);

/// How the answer is written: by the ending of the file, --format or --json; text if none is given. Throws
/// UsageError for a format that is not in `formats`, and for --format without --out -.
Format format_of(const CLI::App& app, const Arguments& arguments, const std::string& formats);

/// Sets what the figure's target chooses, except for what was given. Throws UsageError for too many pixels.
void complete_figure(const CLI::App& app, Arguments& arguments, Format format);

/// Throws UsageError if neither a prompt nor, with `attention`, an attention file is given.
void require_prompt(const Arguments& arguments, bool attention = false);

/// The ids of views, "heads, heatmap, ...": of all, or of those for which `meant` is true.
std::string list_of_views(bool (*meant)(const View&) = nullptr);

/// What may have been meant by an unknown name: "; did you mean a, b or c?", those like it, then those whose
/// help has it as a word; else "; see" and the command `help_of`.
std::string suggestion(const std::string& typed,
                       std::vector<std::pair<std::string, std::string>> names_and_help,
                       const std::string& help_of);

}  // namespace headscope::app
