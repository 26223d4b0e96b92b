#include "app/cli/arguments/command_syntax.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "app/recipe/names.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/precision_names.h"
#include "app/views/option_names.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr const char* kModelAndAttention = "--attention replaces --model; give only one of them";

/// Throws UsageError for an empty value, as from an unset variable of the shell. A model takes empty prompts.
void refuse_empty(const std::string& name, const std::string& text) {
  constexpr std::string_view kMayBeEmpty[] = {"--prompt", "--ids", "--second"};
  if (text.empty() && std::ranges::find(kMayBeEmpty, name) == std::end(kMayBeEmpty))
    throw UsageError(name + " is empty");
}

/// A line for each target on paper or a slide.
std::string target_words() {
  std::string words;
  for (const auto& target : kTargetNames)
    if (target.value != Target::screen)
      words += "\n" + std::string(target.name) + ": " + std::string(spec_of(target.value).words);
  return words;
}

}  // namespace

// The callbacks refer to the arguments by address, because this object is temporary.

void CommandSyntax::on_option(const std::string& name, const std::string& values, const std::string& help,
                              Set set) {
  const bool of_picture = heading_ == kPicture && name != "recipe";
  const auto named = [set, flag = "--" + name, of_picture, given = given_.get()](const std::string& text) {
    refuse_empty(flag, text);
    if (of_picture) given->picture_options.push_back(flag);
    set(flag, text);
  };
  app_->add_option_function<std::string>("--" + name, named, help)->type_name(values)->group(heading_);
}

void CommandSyntax::on_list(const std::string& name, const std::string& values, const std::string& help,
                            bool repeated, const std::function<void(const std::vector<std::string>&)>& set) {
  const auto filled = [set, flag = "--" + name](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) refuse_empty(flag, text);
    set(texts);
  };
  CLI::Option* option = app_->add_option_function<std::vector<std::string>>("--" + name, filled, help)
                            ->type_name(values)
                            ->group(heading_)
                            ->expected(repeated ? 1 : -1)
                            ->allow_extra_args(!repeated);  // which would also split a value in brackets
  if (repeated) option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandSyntax::on_word(const std::string& name, const std::string& help,
                            const std::function<void(const std::string&)>& set) {
  const auto filled = [set, name](const std::string& text) {
    refuse_empty(name, text);
    set(text);
  };
  app_->add_option_function<std::string>(name, filled, help)->option_text(" ");
}

void CommandSyntax::check_alone(const CLI::App& app, const Alone& alone) {
  if (alone.name.empty() || app.count("--" + alone.name) == 0) return;
  std::string all;
  for (std::size_t i = 0; i < alone.others.size(); ++i)
    all += (i == 0 ? "--" : i + 1 < alone.others.size() ? ", --" : " and --") + alone.others[i];
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_single_name();
    if (option->count() == 0 || name == alone.name || std::ranges::count(alone.others, name) > 0) continue;
    throw UsageError("--" + alone.name + " can be combined only with " + all + ", not with --" + name);
  }
}

void CommandSyntax::flag(const std::string& name, const std::string& help, bool& value) {
  app_->add_flag("--" + name, value, help)->group(heading_);
}

void CommandSyntax::flag(const std::string& name, const std::string& help, std::optional<bool>& value,
                         bool sets) {
  const auto set = [&value, sets](std::int64_t count) { value = (count > 0) == sets; };  // --bos=false: -1
  app_->add_flag_function("--" + name, set, help)->group(heading_);
}

namespace {

/// An option of the command line that stands for options of several views.
struct SharedFlag {
  std::string flag;
  std::vector<ViewOption> options;  ///< each once; a token's rank and id

  bool is_token() const { return options.front().view->tokens.has(options.front().option); }
  /// The values that any of the options takes: "logit|loss|kl".
  std::string values() const {
    if (is_token()) return kTokenValues;
    std::string values;
    for (const ViewOption& one : options) {
      const std::string taken = values_of(*one.option);
      for (const std::string_view value : split(taken, '|'))
        if (("|" + values + "|").find("|" + std::string(value) + "|") == values.npos)
          values += (values.empty() ? "" : "|") + std::string(value);
    }
    return values;
  }
  std::string help() const {
    if (is_token())
      return flag == kTokenFlag ? "the token that the views measure" : "the token whose logit is subtracted";
    if (options.size() == 1) return std::string(options.front().option->help);
    std::string lines;
    for (const auto& [view, option] : options)
      lines += (lines.empty() ? "" : "\n") + std::string(view->id) + ": " + std::string(option->help);
    return lines;
  }
};

std::vector<SharedFlag> shared_flags() {
  std::vector<SharedFlag> flags;
  for (const View& view : views())
    for (const OptionSpec* option : view.options) {
      const std::string flag = flag_of(view, *option);
      auto known = std::ranges::find(flags, flag, &SharedFlag::flag);
      if (known == flags.end()) known = flags.insert(flags.end(), {flag, {}});
      if (std::ranges::find(known->options, option, &ViewOption::option) == known->options.end())
        known->options.push_back({&view, option});
    }
  return flags;
}

}  // namespace

void CommandSyntax::options_of_shown_views(const std::string& heading) {
  CommandSyntax group = under(heading);
  const Set keep = [given = given_.get()](const std::string& flag, const std::string& text) {
    given->unplaced_options.push_back({flag, text});
  };
  const std::vector<SharedFlag> flags = shared_flags();
  for (const SharedFlag& one : flags) {
    group.on_option(one.flag, one.values(), one.help(), keep);
    if (one.options.size() == 1) continue;
    for (const ViewOption& of : one.options)
      if (std::ranges::find(flags, of.option->name, &SharedFlag::flag) == flags.end())
        under("").on_list(std::string(of.option->name), values_of(*of.option), "", true,  // not in help
                          [keep, flag = "--" + std::string(of.option->name)](const auto& texts) {
                            for (const std::string& text : texts) keep(flag, text);
                          });
  }
}

/// Declares the options of a view by the names that they have after its own.
void CommandSyntax::options_of_view(const View& view) {
  CommandSyntax group = under("View");
  if (view.tokens.rank != nullptr) group.view_token(view, false);
  if (view.tokens.other_rank != nullptr) group.view_token(view, true);
  for (const OptionSpec* option : view.options) {
    if (view.tokens.has(option)) continue;
    const std::string flag(option->flag_name());
    group.on_option(flag, values_of(*option), std::string(option->help),
                    [given = given_.get(), &view, option](const std::string& named, const std::string& text) {
                      set_view_option(*given, view, *option, named, text);
                    });
  }
}

/// Declares --token or --other-token of a view.
void CommandSyntax::view_token(const View& view, bool other) {
  const TokenOptions& of = view.tokens;
  const OptionSpec* rank = other ? of.other_rank : of.rank;
  const bool has_other = other && of.metric != nullptr;
  const std::string by_default =
      has_other ? "the most probable other one" : to_text(*rank, rank->default_value);
  on_option(std::string(other ? kOtherTokenFlag : kTokenFlag), kTokenValues,
            std::string(other ? "the token whose logit is subtracted" : "the token that is measured") +
                " (default: " + (rank->default_name.empty() ? "rank:" : "") + by_default + ")",
            [given = given_.get(), &view, other](const std::string& flag, const std::string& text) {
              add_view_token(*given, view, other, flag, text);
            });
}

void CommandSyntax::footer(const std::string& text) {
  // The first paragraph replaces what the parser takes from the command above.
  const std::string before = has_footer_ ? app_->get_footer() : "";
  app_->footer(before.empty() ? text : before + (before.ends_with('\n') ? "\n" : "\n\n") + text);
  has_footer_ = true;
}

CommandSyntax CommandSyntax::under(const std::string& heading) const {
  CommandSyntax group = *this;
  group.heading_ = heading;
  return group;
}

std::string CommandSyntax::name() const {
  return app_->get_parent() == nullptr ? "" : app_->get_name();
}

CommandSyntax CommandSyntax::choice(std::string_view name, std::string_view help) const {
  return {*app_->add_subcommand(std::string(name), std::string(help)), given_, line_};
}

bool CommandSyntax::may_name(const std::vector<std::string>* line, std::string_view word) {
  return std::ranges::any_of(*line, [&](std::string_view argument) {
    const std::size_t sign = argument.find('=');  // the parser gets the value as a separate argument
    return argument == word || (sign != argument.npos && argument.substr(sign + 1) == word);
  });
}

void CommandSyntax::model() {
  has_model_ = true;
  CommandSyntax group = under("Model");
  group.option("model", "DIR",
               "a GPT-2 folder in Hugging Face layout, or the name of a model in the\nHugging Face cache, "
               "e.g. openai-community/gpt2 (default: the bundled model)",
               given_->model.model, [given = given_.get()](const std::string&, const std::string& text) {
                 if (given->model.patterns) throw UsageError(kModelAndAttention);
                 return text;
               });
  group.flag("get", "fetch that model from the Hugging Face hub first if it is missing", given_->model.get);
}

void CommandSyntax::computing() {
  model();
  CommandSyntax group = under("Model");
  group.option("precision", "f32|f16|bf16", "precision of the weight matrices in memory (default: f32)",
               given_->model.precision, one_of(kPrecisionNames));
  group.option("threads", "N", "number of threads (default 0: one per processor)", given_->model.threads,
               whole(0, 1024));
}

void CommandSyntax::attention(bool compared) {
  CommandSyntax group = under("Attention patterns");
  group.option("attention", "FILE.safetensors",
               "attention patterns instead of a model and a prompt: tensors\nblocks.L.attn.hook_pattern, as "
               "trace and TransformerLens name them",
               given_->model.model, [given = given_.get()](const std::string&, const std::string& text) {
                 if (given->model.model) throw UsageError(kModelAndAttention);
                 given->model.patterns = true;
                 return text;
               });
  if (compared)
    group.option("second-attention", "FILE.safetensors",
                 "attention patterns to compare with, with as many layers and heads",
                 given_->comparison.second_attention);
}

void CommandSyntax::prompt(bool many) {
  using From = PromptArguments::From;
  PromptArguments& prompt = given_->prompt;
  const auto source = [&](From from, const auto& read) {
    return [given = given_.get(), from, read](const std::string& option, const std::string& text) {
      given->prompt_options.push_back(option);
      given->prompt.from = from;
      return read(option, text);
    };
  };
  CommandSyntax group = under("Prompt");
  group.option("prompt", "TEXT", "the prompt; if empty, only the start token is run", prompt.text,
               source(From::text, any_text));
  group.option("ids", "ID,...", "token ids instead of text", prompt.ids, source(From::ids, token_ids));
  group.option("prompt-file", "FILE", "read the prompt from a file; -: from standard input", prompt.file,
               source(From::file, any_text));
  if (many) {
    group.option("prompts", "FILE",
                 "many prompts, one per line: a JSON string, or an object with\n"
                 "\"prompt\" or \"ids\", and optionally \"second\", \"token\", \"other_token\",\n"
                 "\"position\" for how it is measured; -: standard input",
                 prompt.file, source(From::list, any_text));
    group.option("shard", "I/N", "only every N-th of these, starting with number I + 1; 0/1: all",
                 prompt.shard, shard);
    group.flag("skip-errors", "report a prompt that fails and continue with the next one",
               prompt.skip_errors);
  }
  group.flag("bos",
             "put the start token first: the tokenizer's bos_token, usually <|endoftext|>\n"
             "(default: as the tokenizer's files say)",
             prompt.start_token, true);
  group.flag("no-bos", "do not put a start token first", prompt.start_token, false);
}

void CommandSyntax::edits(bool list_means) {
  EditArguments& edits = given_->prompt.edits;
  CommandSyntax group = under("Edits");
  group.list_option("edit", "EDIT", "an edit, e.g. L5H1.z=0; may be repeated", edits.texts, true);
  group.option("edits", "FILE", "a text file with an edit on each line; applied before those of --edit",
               edits.file);
  group.option("second-model", "DIR",
               "another GPT-2 of the same shape and vocabulary, to patch from (<-second)\n"
               "and, in pictures, to compare with",
               edits.second_model,
               [](const std::string&, const std::string& text) { return ModelArguments{.model = text}; });
  if (list_means)
    group.option(
        "mean-over", "FILE",
        "the means of =mean and --ablate mean are over all positions of this list's prompts\n(a .txt file "
        "with "
        "one per line, or a file as for --prompts), each token once,\ninstead of over the prompt's own",
        edits.mean_over);
  if (!name().empty()) footer(edit_grammar());
}

void CommandSyntax::second_prompt(const std::string& help) {
  option("second", "TEXT", help, given_->comparison.second);
  choice_option("align",
                "match the tokens at the same positions, as far as both prompts go, or those\nof the longest "
                "common subsequence (default: position)",
                given_->comparison.alignment, kAlignmentNames);
}

void CommandSyntax::comparison(bool list_means) {
  edits(list_means);
  ComparisonArguments& comparison = given_->comparison;
  CommandSyntax group = under("Comparison");
  group.second_prompt("a second prompt to compare with");
  group.choice_option("show",
                      "the run, its baseline (the unedited run, the second prompt, or either in\nthe second "
                      "model), or the difference, run minus baseline (default: run)",
                      comparison.side, kSideNames);
}

void CommandSyntax::selection() {
  CommandSyntax group = under("Selection");
  const auto chosen = [&](const std::string& name, const char* values, int low, int Selection::*member,
                          const char* help) {
    group.on_option(name, values, help,
                    [given = given_.get(), low, member](const std::string& flag, const std::string& text) {
                      if (!given->selection) given->selection.emplace();
                      (*given->selection).*member = whole_number(flag, text, low);
                    });
  };
  chosen("layer", "L", 0, &Selection::layer, "the layer, from 0 (default: 0)");
  chosen("head", "H", 0, &Selection::head, "the head, from 0 (default: 0)");
  chosen("query", "I", -1, &Selection::query, "the position of the query, from 0 (default -1: the last)");
  chosen("key", "I", -1, &Selection::key, "the position of the key, at most --query (default -1: none)");
}

void CommandSyntax::tour() {
  CommandSyntax group = under("Tour");
  group.option("tour", "NAME|FILE.md", "a guided tour to open", given_->tour.name);
  group.option("stop", "N", "the stop of the tour, from 1 (default: 1)", given_->tour.stop, whole(1));
}

void CommandSyntax::over() {
  option("over", "FILE",
         "a list of prompts, for views of many prompts (" + list_of_views(shows_prompt_list) +
             "):\na .txt file with one per line, or a file as for --prompts; also for views that\nset its "
             "means (" +
             list_of_views(takes_means_of_list) + ", with list-mean)",
         given_->over_list);
}

void CommandSyntax::picture(bool of_window) {
  PictureArguments& picture = given_->picture;
  CommandSyntax group = under(kPicture);
  group.on_option("size", of_window ? "WxH" : "WxH|W|fit",
                  of_window
                      ? "the window's size in logical pixels (default: 1600x1000)"
                      : "the picture's size in logical pixels, or with a unit (in, cm, mm, pt): 84mmx60mm,\n"
                        "caption included: lists are cut to the rows that fit; W: a width, as high as\n"
                        "needed; fit (the default): cropped to the content",
                  [given = given_.get()](const std::string&, const std::string& text) {
                    set_size(given->picture, text);
                    given->size_given = true;
                  });
  if (!of_window)
    group.choice_option(
        "for",
        "what the figure is made for, which chooses size, font size, lines and scale\nunless they "
        "are given (default: screen):" +
            target_words(),
        picture.target, kTargetNames);
  if (!of_window)
    group.option(
        "rows", "N",
        "at most N rows of a list: the chosen one and the strongest, or the first ones if rows have\n"
        "no strength (default: all where the list is the whole picture, else those that fit)",
        picture.rows, whole(1));
  group.option(
      "scale", "S",
      of_window ? "file pixels per logical pixel" : "png: file pixels per logical pixel (default: 2)",
      picture.scale, [given = given_.get()](const std::string& option, const std::string& text) {
        given->scale_given = true;
        return number(option, text, 0.25, 16, "from 0.25 to 16");
      });
  group.choice_option("theme", "colours (default: light)", picture.dark, kThemeNames);
  group.option("font-size", "PX",
               of_window ? "font size in logical pixels (default: 14)"
                         : "font size in logical pixels, 1/96 inch on paper (default: 14)",
               picture.font_size, [given = given_.get()](const std::string& option, const std::string& text) {
                 given->font_size_given = true;
                 return number(option, text, 6, 72, "from 6 to 72");
               });
}

void CommandSyntax::no_recipe(bool& value) {
  under(kPicture).flag("no-recipe", "do not store the recipe in the file: prompt, model, options", value);
}

void CommandSyntax::recipe(bool& without, const std::string& more) {
  under(kPicture).option(
      "recipe", "FILE",
      "recreate the picture of a figure made by headscope, or of a session;\noptions that are "
      "given override its own" +
          more,
      given_->recipe_given, [](const std::string&, const std::string&) { return true; });
  no_recipe(without);
}

void CommandSyntax::reading() {
  computing();
  prompt(true);
  edits();
}

void CommandSyntax::json() {
  has_json_ = true;
  flag("json", "write JSON to standard output", given_->json);
}

void CommandSyntax::each_view(const std::function<void(CommandSyntax&, const View&)>& add) {
  for (const View& view : views()) {
    CommandSyntax of_view = choice(view.id, view.help);
    if (!may_name(view.id)) continue;
    add(of_view, view);
    of_view.options_of_view(view);
  }
}

void CommandSyntax::picture_out(const std::string& formats, const std::string& help) {
  out("FILE." + formats, help + "; -: standard output");
  const bool answers = formats.find("json") != formats.npos;
  if (answers) answers_ = AnswerOut::or_picture;
  if (formats.find("csv") != formats.npos) byte_order_mark();
  option("format", formats, "the format on standard output", given_->out_format,
         [given = given_.get(), answers](const std::string&, const std::string& text) {
           if (answers && is_answer_format(text)) {
             given->answer_format = text;
             return std::optional<FileFormat>();
           }
           const auto format = format_of("x." + text);
           if (!format) throw UsageError("unknown format " + model::quote(text) + "; see --out");
           return format;
         });
}

void CommandSyntax::answer_out(bool csv) {
  answers_ = AnswerOut::always;
  json();
  const std::string formats = csv ? "txt|json|csv" : "txt|json";
  if (csv) byte_order_mark();
  out("FILE." + formats, "write the answer to this file instead of standard output (-)");
  option("format", formats, "the format with --out -", given_->answer_format);
}

void CommandSyntax::byte_order_mark() {
  flag("bom", "begin CSV with a UTF-8 byte order mark, by which Excel knows its letters",
       given_->picture.byte_order_mark);
}

void CommandSyntax::out(const std::string& values, const std::string& help) {
  option("out", values, help, given_->out_name);
}

}  // namespace headscope::app
