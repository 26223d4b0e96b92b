#include "app/cli/arguments/arguments.h"

#include <algorithm>

#include "app/cli/arguments/argument_values.h"
#include "app/views/option_names.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
using model::quote;

std::string list_of_views(bool (*meant)(const View&)) {
  std::string list;
  for (const View& view : views())
    if (meant == nullptr || meant(view)) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
}

std::vector<const View*> views_named(std::span<const std::string> ids) {
  std::vector<const View*> named;
  for (const std::string& id : ids) named.push_back(find_view(id));
  return named;
}

void require_prompt(const Arguments& given) {
  if (given.prompt.from == PromptArguments::From::nothing)
    throw UsageError("a prompt is missing: give --prompt TEXT, --ids or --prompt-file");
  const bool many = given.prompt.from == PromptArguments::From::list;
  if (!many && given.prompt.shard.count > 1) throw UsageError("--shard requires --prompts");
}

void check_mean_over(const Arguments& given, std::optional<bool> ablates) {
  const EditArguments& edits = given.prompt.edits;
  if (!edits.mean_over || ablates.value_or(false) || !edits.empty()) return;
  throw UsageError("--mean-over requires " + std::string(ablates ? "--ablate mean, or " : "") +
                   "an edit that sets a mean, as in --edit L5H1.z=mean");
}

void check_alignment(const Arguments& given, bool second_in_lines) {
  const ComparisonArguments& comparison = given.comparison;
  const bool in_lines = second_in_lines && given.prompt.from == PromptArguments::From::list;
  const bool has_second = comparison.second || !comparison.second_attention.empty() || in_lines;
  refuse({{comparison.alignment && !has_second && !given.from_recipe, "--align requires --second"}});
}

void require_prompt_or_attention(const Arguments& given) {
  if (!given.model.patterns) {
    if (!given.comparison.second_attention.empty())
      throw UsageError("--second-attention requires --attention");
    return require_prompt(given);
  }
  const EditArguments& edits = given.prompt.edits;
  refuse(
      {{!given.prompt_options.empty(), "--attention replaces the prompt: it cannot be combined with " +
                                           (given.prompt_options.empty() ? "" : given.prompt_options[0])},
       {given.comparison.second.has_value(),
        "--second cannot be combined with --attention; use --second-attention"},
       {given.prompt.start_token.value_or(false) || !edits.empty() || edits.second_model,
        "--bos, --edit, --edits and --second-model need a model's weights; an --attention file has none"}});
}

void require_out(const Arguments& given, const char* example) {
  if (given.out_name.empty()) throw UsageError(std::string("--out is missing, e.g. --out ") + example);
  const bool many = given.prompt.from == PromptArguments::From::list;
  if (given.out_name == "-" && (many || given.choices.size() > 1))
    throw UsageError("standard output takes one file; with " +
                     std::string(many ? "--prompts" : "several views") + " give --out a name such as " +
                     (many ? "{n}-" : "{view}-") + example);
  if (given.choices.size() > 1 && given.out_name.find("{view}") == std::string::npos)
    throw UsageError(
        "with several views, the name after --out must contain {view}, the view's name, e.g. {view}-" +
        std::string(example));
  if (many && given.out_name.find("{n}") == std::string::npos)
    throw UsageError("with --prompts, the name after --out must contain {n}, the prompt's number, e.g. {n}-" +
                     std::string(example));
}

void reject_recipe(const Arguments& given) {
  if (given.recipe_given) throw UsageError("--recipe takes one file");
}

Destination destination_of(const Arguments& given, const char* example,
                           std::initializer_list<FileFormat> formats) {
  require_out(given, example);
  const bool standard = given.out_name == "-";
  std::vector<Named<FileFormat>> rows;
  for (const FileFormat format : formats)
    rows.push_back({extension_of(format).substr(standard ? 1 : 0), format});
  const std::string names = names_of(rows, ", ", " or ");
  if (standard && !given.out_format) throw UsageError("--out - requires --format: " + names);
  if (!standard && given.out_format)
    throw UsageError("--format applies only to --out -; a file's format is the ending of its name");
  const auto format = standard ? given.out_format : format_of(system::path_of(given.out_name));
  if (format && std::ranges::find(formats, *format) != formats.end())
    return {system::path_of(given.out_name), *format};
  throw UsageError(standard ? "--format takes " + names + " here"
                            : "the file after --out must end in " + names + "; " + quote(given.out_name) +
                                  " does not");
}

void reject_picture_options(const Arguments& given, const std::string& why) {
  if (!given.picture_options.empty()) throw UsageError(given.picture_options.front() + " " + why);
}

namespace {

/// The values that an option could have instead.
std::vector<OptionValue> other_values(const OptionSpec& option, OptionValue value) {
  const bool is_switch = std::holds_alternative<bool>(option.default_value);
  if (option.choices.empty() && !is_switch) return {option.default_value};
  std::vector<OptionValue> others;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, option.choices.size()); ++i)
    others.push_back(value = stepped(option, value, 1));
  return others;
}

/// "--metric loss": the option of the view, as it is set, without which another option would have an effect;
/// empty: there is no such one.
std::string obstacle(const View& view, const OptionSpec& option, const Options& options) {
  for (const OptionSpec* other : view.options) {
    if (other == &option) continue;
    for (const OptionValue& value : other_values(*other, options.value(*other))) {
      Options changed = options;
      changed.set(*other, value);
      if (!option.applies(changed)) continue;
      const std::string flag = "--" + flag_of(view, *other);
      const bool is_id = other == view.tokens.id || other == view.tokens.other_id;
      if (is_id) return flag;  // a token whose id is not known yet
      return flag + (view.tokens.has(other) ? " rank:" : " ") + to_text(*other, options.value(*other));
    }
  }
  return "";
}

}  // namespace

void set_view_option(Arguments& given, const View& view, const OptionSpec& option, const std::string& flag,
                     const std::string& text) {
  OptionSpec named = option;  // in messages
  named.name = std::string_view(flag).substr(2);
  try {
    given.options.set(option, parse_option(named, text));
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  given.given_options.push_back({flag, &view, &option});
}

void add_view_token(Arguments& given, const View& view, bool other, const std::string& flag,
                    const std::string& text) {
  given.tokens.push_back({flag, given_token(flag, text), &view, other});
}

void place_view_options(Arguments& given, std::span<const View* const> shown) {
  for (const auto& [flag, text] : std::exchange(given.unplaced_options, {})) {
    const std::vector<ViewOption> meant = options_of_flag(std::string_view(flag).substr(2), shown);
    const bool is_shown = std::ranges::find(shown, meant.front().view) != shown.end();
    if (meant.size() > 1 || (!is_shown && given.tour.name.empty())) {  // a tour chooses its own views
      std::string views, names;
      for (std::size_t i = 0; i < meant.size(); ++i) {
        views += (i == 0 ? "" : i + 1 < meant.size() ? ", " : " and ") + std::string(meant[i].view->id);
        names += (i == 0 ? "--" : " or --") + std::string(meant[i].option->name);
      }
      throw UsageError(flag + " is an option of " + views +
                       (is_shown           ? ": give " + names
                        : meant.size() > 1 ? ", none of which is shown"
                                           : ", which is not shown"));
    }
    const auto& [view, option] = meant.front();
    const std::string name = flag_of(*view, *option);
    for (const GivenOption& before : given.given_options)
      if (before.option == option)
        throw UsageError(flag + " and " + before.flag + " are one option; give only one of them");
    if (flag == "--" + name && view->tokens.has(option)) {
      add_view_token(given, *view, name == kOtherTokenFlag, flag, text);
    } else {
      set_view_option(given, *view, *option, flag, text);
    }
  }
}

bool is_given(const Arguments& given, const OptionSpec* option) {
  return std::ranges::find(given.given_options, option, &GivenOption::option) != given.given_options.end();
}

std::vector<const View*> views_choosing_second(const Arguments& given, std::span<const View* const> shown) {
  if (given.from_recipe || given.comparison.side != Side::run) return {};
  std::vector<const View*> choosing(shown.begin(), shown.end());
  std::erase_if(choosing, [&](const View* view) {
    return view->with_second == nullptr || is_given(given, view->with_second);
  });
  return choosing;
}

void choose_second(Arguments& given, std::span<const View* const> choosing) {
  for (const View* view : choosing) given.options.set(*view->with_second, view->with_second_value);
}

void use_second(Arguments& given, std::span<const View* const> shown) {
  if (given.comparison.second || given.prompt.edits.second_model)
    choose_second(given, views_choosing_second(given, shown));
}

void subtract_other_tokens(Arguments& given) {
  if (given.from_recipe) return;
  for (const ViewToken& token : given.tokens)
    if (const TokenOptions& of = token.view->tokens;
        token.other && of.metric != nullptr && !is_given(given, of.metric))
      given.options.set(*of.metric, of.difference);
}

void check_given_options(const Arguments& given) {
  std::vector<GivenOption> all = given.given_options;
  for (const ViewToken& token : given.tokens) {
    const TokenOptions& of = token.view->tokens;
    all.push_back({token.flag, token.view, token.other ? of.other_rank : of.rank});
  }
  Options options = given.options;  // with some ids for the tokens, which are not known yet
  for (const ViewToken& token : given.tokens)
    options.set(*(token.other ? token.view->tokens.other_id : token.view->tokens.id), 0);
  for (const auto& [flag, view, option] : all) {
    if (option->applies == nullptr || option->applies(options)) continue;
    const std::string by = obstacle(*view, *option, options);
    throw UsageError(flag + " has no effect with " +
                     (by.empty() ? "the other options of the view " + std::string(view->id) : by));
  }
}

bool needs_no_prompt(const View& view, const Options& options) {
  if (view.of_model == nullptr) return !view.caption.prompt;
  ViewContext context;
  context.options = options;
  return view.of_model(context);
}

void complete_prompt(Arguments& given, std::span<const std::string> views) {
  using From = PromptArguments::From;
  if (given.prompt.from == From::nothing && !given.model.patterns &&
      std::ranges::all_of(
          views, [&](const std::string& id) { return needs_no_prompt(*find_view(id), given.options); }))
    given.prompt.from = From::text;
}

}  // namespace headscope::app
