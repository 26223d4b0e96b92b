#include "app/cli/arguments.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "app/ascii.h"
#include "app/run/edits/edit_text.h"
#include "app/run/named.h"
#include "app/views/figure.h"
#include "model/files/error.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

using model::quote;
using model::spelling_distance;
using From = PromptArguments::From;

constexpr double kMaxPixels = 4e8;

CLI::Option* add_text(CLI::App& app, const std::string& name, const char* values, std::string& text,
                      const std::string& help) {
  return app.add_option(name, text, help)->type_name(values)->check(kNotEmpty);
}

/// `set` takes the text.
CLI::Option* add_text(CLI::App& app, const std::string& name, const char* values, const std::string& help,
                      const std::function<void(const std::string&)>& set) {
  return app.add_option_function<std::string>(name, set, help)->type_name(values)->check(kNotEmpty);
}

CLI::Option* add_path(CLI::App& app, const std::string& name, const char* values, std::filesystem::path& path,
                      const std::string& help) {
  return add_text(app, name, values, help,
                  [&path](const std::string& text) { path = system::path_of(text); });
}

template <class... Options>
void in_group(const std::string& group, Options*... options) {
  (options->group(group), ...);
}

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "464,3290"; empty for blank text.
std::vector<int> ids_of(std::string_view text) {
  std::vector<int> ids;
  if (trimmed(text, " ").empty()) return ids;
  for (std::string_view part : split(text, ",")) {
    part = trimmed(part, " ");
    const auto id = whole(part);
    const bool is_number = !part.empty() && part.find_first_not_of("-0123456789") == part.npos;
    if (!id && is_number)
      throw model::RunError("the token id " + std::string(part.substr(0, 64)) +
                            " is outside every vocabulary; see --ids");
    if (!id) throw UsageError("--ids takes comma-separated token ids, e.g. 464,3290, not " + quote(part));
    ids.push_back(*id);
  }
  return ids;
}

Shard shard_of(const std::string& text) {
  const auto parts = split(text, "/");
  const auto index = whole(parts.front()), count = whole(parts.back());
  if (parts.size() != 2 || !index || !count || *count > kMaxShards || *index < 0 || *index >= *count)
    throw UsageError("--shard takes I/N with I from 0 to N - 1, e.g. 0/4, not " + quote(text));
  return {*index, *count};
}

bool has_word(std::string_view text, std::string_view word) {
  const auto is_letter = [&](std::size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t at = 0; !word.empty() && (at = text.find(word, at)) != text.npos; ++at)
    if (!is_letter(at - 1) && !is_letter(at + word.size())) return true;
  return false;
}

}  // namespace

const CLI::Validator kNotEmpty([](const std::string& text) { return text.empty() ? "is empty" : ""; }, "");

CLI::Validator within(double low, double high) {
  const auto problem = [=](const std::string& text) {
    double number = 0;
    const bool fits = CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
    return fits ? std::string()
                : "takes a number from " + number_text(low) + " to " + number_text(high) + ", not " +
                      quote(text);
  };
  return {problem, ""};
}

void refuse(std::initializer_list<Refusal> combinations) {
  for (const auto& [is_given, why] : combinations)
    if (is_given) throw UsageError(why);
}

bool is_given(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

void add_model(CLI::App& app, Arguments& a) {
  auto* model = add_text(app, "--model", "DIR",
                         "a GPT-2 folder in Hugging Face layout, or the name of a model in the\nHugging Face "
                         "cache, e.g. openai-community/gpt2 (default: the bundled model)",
                         [&a](const std::string& name) {
                           a.model.name = name;
                           a.model.by_name = a.model.patterns = false;
                         });
  auto* get =
      app.add_flag("--get", a.model.get, "fetch that model from the Hugging Face hub first if it is missing")
          ->needs(model);
  in_group("Model", model, get);
}

void add_computing(CLI::App& app, Arguments& a) {
  add_model(app, a);
  in_group("Model",
           add_choice(app, "--precision", a.session.precision, kPrecisionNames,
                      "precision of the weight matrices in memory (default: f32)"),
           add_number(app, "--threads", "N", a.threads, 0, 1024,
                      "number of threads (default 0: one per processor)"));
}

void add_prompt(CLI::App& app, Arguments& a, bool lists) {
  // One replaces the other, also that of a recipe.
  const auto set = [&a](From from, Prompt prompt, const std::string& file) {
    a.prompt.from = from;
    prompt.start_token = a.session.prompt.start_token, prompt.plain = a.session.prompt.plain;
    a.session.prompt = std::move(prompt);
    a.prompt.file = system::path_of(file);
  };
  std::vector<CLI::Option*> sources{
      app.add_option_function<std::string>(
             "--prompt", [=](const std::string& text) { set(From::given, {.text = text, .ids = {}}, ""); },
             "the prompt; if empty, only the start token is run")
          ->type_name("TEXT"),
      app.add_option_function<std::string>(
             "--ids",
             [=](const std::string& text) { set(From::given, {.text = "", .ids = ids_of(text)}, ""); },
             "token ids instead of text")
          ->type_name("ID,..."),
      add_text(app, "--prompt-file", "FILE", "read the prompt from a file; -: from standard input",
               [=](const std::string& file) { set(From::file, {}, file); })};
  if (lists) {
    auto* list = sources.emplace_back(add_text(
        app, "--prompts", "FILE",
        "many prompts, one per line: of a .txt file the line, else a JSON string, or an object\nwith "
        "\"prompt\" or \"ids\", and optionally \"second\", \"token\", \"other_token\",\n\"position\" "
        "for how it is measured; -: standard input",
        [=](const std::string& file) { set(From::list, {}, file); }));
    in_group("Prompt",
             app.add_option_function<std::string>(
                    "--shard", [&a](const std::string& text) { a.prompt.shard = shard_of(text); },
                    "only every N-th of these, starting with number I + 1; 0/1: all")
                 ->type_name("I/N")
                 ->needs(list),
             app.add_flag("--skip-errors", a.prompt.skip_errors,
                          "report a prompt that fails and continue with the next one")
                 ->needs(list),
             app.add_flag("--no-special", a.session.prompt.plain,
                          "read <|endoftext|> and other special tokens in a text as plain text"));
  }
  for (CLI::Option* one : sources) {
    one->group("Prompt");
    for (CLI::Option* other : sources)
      if (one != other) one->excludes(other);
  }
  in_group(
      "Prompt",
      app.add_flag_callback(
          "--bos", [&a] { a.session.prompt.start_token = true; },
          "put the start token first: the tokenizer's bos_token, usually <|endoftext|>\n(default: as the "
          "tokenizer's files say)"),
      app.add_flag_callback(
          "--no-bos", [&a] { a.session.prompt.start_token = false; }, "do not put a start token first"));
}

void add_edits(CLI::App& app, Arguments& a, bool mean_over) {
  const auto add = [&a](const std::vector<std::string>& texts) {
    a.session.edits.insert(a.session.edits.end(), texts.begin(), texts.end());
  };
  auto* edit = app.add_option_function<std::vector<std::string>>("--edit", add,
                                                                 "an edit, e.g. L5H1.z=0; may be repeated")
                   ->type_name("EDIT")
                   ->check(kNotEmpty)
                   ->expected(1)
                   ->allow_extra_args(false)  // which would also split a value in brackets
                   ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* file = add_path(app, "--edits", "FILE", a.edits_file,
                        "a text file with an edit on each line; applied before those of --edit");
  auto* second = add_text(
      app, "--second-model", "DIR",
      "another GPT-2 of the same shape and vocabulary, to patch from (<-second)\nand to compare with",
      [&a](const std::string& name) { a.second_model = ModelArguments{.name = name}; });
  in_group("Edits", edit, file, second);
  if (mean_over)
    in_group("Edits",
             add_path(app, "--mean-over", "FILE", a.mean_over,
                      "the means of =mean and of mean ablations are over all positions of this list's "
                      "prompts,\neach token once, instead of over the prompt's own"));
  add_footer(app, edit_grammar());
}

void add_second(CLI::App& app, Arguments& a, const std::string& help) {
  auto* text = app.add_option_function<std::string>(
                      "--second",
                      [&a](const std::string& given) {
                        a.session.second = given, a.session.second_on = true;
                        a.session.second_attention.clear();
                      },
                      help)
                   ->type_name("TEXT");
  auto* align = add_choice(
      app, "--align", a.session.alignment, kAlignmentNames,
      "match the tokens at the same positions, as far as both prompts go, or those\nof the longest "
      "common subsequence (default: position)");
  in_group("Comparison", text, align);
}

void add_comparison(CLI::App& app, Arguments& a) {
  add_second(app, a, "a second prompt to compare with and to patch from");
  in_group("Comparison",
           add_choice(app, "--show", a.session.side, kSideNames,
                      "the run, its baseline (the unedited run, the second prompt, or either in\nthe "
                      "second model), or the difference, run minus baseline (default: run)"));
}

void add_attention(CLI::App& app, Arguments& a) {
  auto* file =
      add_text(app, "--attention", "FILE.safetensors",
               "attention patterns instead of a model and a prompt: tensors\nblocks.L.attn.hook_pattern, as "
               "trace and TransformerLens name them",
               [&a](const std::string& name) {
                 if (a.model.by_name) a.prompt.from = From::nothing;  // the recipe's
                 a.model.name = name, a.model.patterns = true, a.model.by_name = false;
               })
          ->excludes(app.get_option("--model"));
  auto* second = add_path(app, "--second-attention", "FILE.safetensors", a.second_attention,
                          "attention patterns to compare with, with as many layers and heads");
  in_group("Attention patterns", file, second);
}

void add_selection(CLI::App& app, Arguments& a) {
  Selection& at = a.session.selection;
  const auto add = [&](const char* name, const char* value, int& place, int low, const char* help) {
    constexpr int kMost = 1 << 24;
    add_number(app, name, value, place, low, kMost, help)->group("Selection");
  };
  add("--layer", "L", at.layer, 0, "the layer, from 0 (default: 0)");
  add("--head", "H", at.head, 0, "the head, from 0 (default: 0)");
  add("--query", "I", at.query, -1,
      "the position of the query, and of the prediction that is measured, from 0\n(default -1: the last)");
  add("--key", "I", at.key, -1, "the position of the key, at most --query (default -1: none)");
}

void add_tour(CLI::App& app, Arguments& a) {
  auto* tour = add_text(app, "--tour", "NAME|FILE.md", a.tour, "a guided tour to open");
  if (auto* prompt = app.get_option_no_throw("--prompt")) tour->excludes(prompt);
  in_group("Tour", tour,
           add_number(app, "--stop", "N", a.stop, 1, 1000, "the stop of the tour, from 1 (default: 1)")
               ->needs(tour));
}

void add_over(CLI::App& app, Arguments& a) {
  add_path(app, "--over", "FILE", a.over, "a list of prompts, as for --prompts, for views of many prompts")
      ->group("Prompt");
}

void add_picture(CLI::App& app, Arguments& a, bool of_window) {
  Figure& figure = a.figure;
  const char* const group = "Picture";
  const auto size = [&figure, of_window](const std::string& text) {
    if (!set_size(figure, text) || (of_window && figure.how.page != Page::exact))
      throw UsageError(
          (of_window
               ? "--size takes WIDTHxHEIGHT in pixels, e.g. 1600x1000, not "
               : "--size takes WIDTHxHEIGHT in pixels, in, cm, mm or pt, e.g. 1000x700 or 6.5x4in, from " +
                     std::to_string(kShortestSide) + " to " + std::to_string(kLongestSide) +
                     " pixels per side, or a width, or fit, not ") +
          quote(text));
  };
  app.add_option_function<std::string>(
         "--size", size,
         of_window
             ? "the window's size in logical pixels (default: 1600x1000)"
             : "the picture's size in logical pixels, or with a unit (in, cm, mm, pt): 84mmx60mm,\ncaption "
               "included: lists are cut to the rows that fit; WxH+: or larger, if the content needs\nit; W: "
               "a "
               "width, as high as needed; fit (the default): cropped to the content")
      ->type_name(of_window ? "WxH" : "WxH|WxH+|W|fit")
      ->group(group);
  add_number(app, "--scale", "S", figure.how.scale, 0.25, 16,
             "png: file pixels per logical pixel" + std::string(of_window ? "" : " (default: 2)"))
      ->group(group);
  add_choice(app, "--theme", a.session.dark, kThemeNames, "colours (default: light)")->group(group);
  add_number(app, "--font-size", "PX", a.session.font_size, 6, 72,
             "font size in logical pixels, 1/96 inch on paper (default: 14)")
      ->group(group);
  app.add_flag("--no-recipe", a.no_recipe, "leave out of the file how it was made")->group(group);
  add_path(app, "--recipe", "FILE", a.recipe, "a figure or a session: all that is not given is as there")
      ->group(group);
  if (of_window) return;
  std::string targets =
      "what the figure is made for, which chooses size, font size, lines and scale\nunless they are given "
      "(default: screen):";
  for (const auto& target : kTargetNames)
    if (target.value != Target::screen)
      targets += "\n" + std::string(target.name) + ": " + std::string(spec_of(target.value).words);
  add_choice(app, "--for", figure.how.target, kTargetNames, targets)->group(group);
  app.add_flag("--svg-text", figure.how.svg_text, "keep text in SVG files as text instead of outlines")
      ->group(group);
  const auto leave_out = [&](const char* name, bool& part, const char* help) {
    app.add_flag_callback(
           name, [&part] { part = false; }, help)
        ->group(group);
  };
  leave_out("--no-caption", figure.how.caption,
            "omit the caption, which names model, prompt, layer and head");
  leave_out("--no-title", figure.how.title,
            "omit the title, for figures whose title is in the text around them");
}

void add_out(CLI::App& app, Arguments& a, const std::string& formats, const std::string& help) {
  add_text(app, "--out", "FILE", a.out, help + "; -: standard output, see --format");
  add_text(app, "--format", formats.c_str(), a.format, "the format with --out -")
      ->needs(app.get_option("--out"));
  if (("|" + formats + "|").find("|json|") != std::string::npos)
    app.add_flag("--json", a.json, "answer as JSON");
  if (("|" + formats + "|").find("|csv|") != std::string::npos)
    app.add_flag("--bom", a.byte_order_mark,
                 "begin CSV with a UTF-8 byte order mark, by which Excel knows its letters");
}

void add_view_option(CLI::App& app, Arguments& a, const OptionSpec& option, const std::string& name,
                     const std::string& group) {
  const auto set = [&a, &option, name](const std::string& text) {
    OptionSpec named = option;  // in messages
    named.name = name;
    const bool is_switch = std::holds_alternative<bool>(option.default_value);
    try {
      a.session.options.set(option, parse_option(named, is_switch && text == "true" ? "yes" : text));
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  };
  auto* added = app.add_option_function<std::string>("--" + name, set, std::string(option.help))
                    ->type_name(values_of(option))
                    ->group(group);
  if (std::holds_alternative<bool>(option.default_value)) added->expected(0, 1);
}

void add_footer(CLI::App& app, const std::string& text) {
  const std::string before = app.get_footer();
  app.footer(before.empty() ? text : before + (before.ends_with('\n') ? "\n" : "\n\n") + text);
}

Format format_of(const CLI::App& app, const Arguments& a, const std::string& formats) {
  std::string name = a.format;
  const bool to_file = !a.out.empty() && a.out != "-";
  if (to_file) {
    refuse({{!name.empty(), "--format applies only to --out -; a file's format is the ending of its name"}});
    name = lowered(system::text_of(system::path_of(a.out).extension()));
    if (!name.empty()) name.erase(0, 1);
    if (name == "jsonl") name = "json";
  } else if (name.empty() && (a.json || a.out.empty())) {
    name = a.json ? "json" : "txt";
  }
  const auto* const row = std::ranges::find(kFormats, name, &Named<Format>::name);
  if (row == std::end(kFormats) || ("|" + formats + "|").find("|" + name + "|") == std::string::npos)
    throw UsageError(
        to_file ? "the file after --out must end in ." + formats + "; " + quote(a.out) + " does not"
                : "--out - needs --format " + formats + (name.empty() ? "" : ", not " + quote(name)));
  refuse(
      {{a.json && row->value != Format::json,
        "one format at a time: both --json and one for " + name + " were given"},
       {a.byte_order_mark && row->value != Format::csv, "--bom is for CSV; name a .csv file after --out"}});
  if (!is_picture(row->value))
    for (const CLI::Option* option : app.get_options())
      if (option->get_group() == "Picture" && option->count() > 0 && option->get_lnames().front() != "recipe")
        throw UsageError(option->get_name() + " is for pictures; " + name + " has only numbers");
  return row->value;
}

void complete_figure(const CLI::App& app, Arguments& a, Format format) {
  Figure& figure = a.figure;
  if (is_given(app, "--for") && figure.how.target != Target::screen) {
    const Figure chosen = figure_for(figure.how.target);
    if (!is_given(app, "--size"))
      figure.width = chosen.width, figure.height = chosen.height, figure.how.page = chosen.how.page;
    if (!is_given(app, "--scale")) figure.how.scale = chosen.how.scale;
    if (!is_given(app, "--font-size")) a.session.font_size = spec_of(figure.how.target).font_size;
  }
  const double scale = format == Format::png ? static_cast<double>(figure.how.scale) : 1;
  const double width = figure.width * scale, height = figure.height * scale;
  if (width > kLongestSide || height > kLongestSide || width * height > kMaxPixels)
    throw UsageError("--size times --scale exceeds " + std::to_string(kLongestSide) +
                     " pixels per side or 400 million in total; choose a smaller size");
  refuse({{figure.how.svg_text && format != Format::svg && a.recipe.empty(),
           "--svg-text is for SVG files; those of other formats have their text in one form"}});
}

void require_prompt(const Arguments& a, bool attention) {
  const bool edited = !a.session.edits.empty() || !a.edits_file.empty() || a.second_model;
  if (attention && a.model.patterns)
    return refuse(
        {{a.has_prompt(), "--attention replaces the prompt: give only one of them"},
         {a.session.second_on && !a.session.second.value_or("").empty(),
          "--second cannot be combined with --attention; use --second-attention"},
         {a.session.prompt.start_token.value_or(false) || edited,
          "--bos, --edit, --edits and --second-model need a model's weights; an --attention file has none"}});
  refuse({{!a.second_attention.empty(), "--second-attention requires --attention"},
          {!a.has_prompt(), "a prompt is missing: give --prompt TEXT, --ids or --prompt-file"}});
}

std::string list_of_views(bool (*meant)(const View&)) {
  std::string list;
  for (const View& view : views())
    if (meant == nullptr || meant(view)) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
}

std::string suggestion(const std::string& typed,
                       std::vector<std::pair<std::string, std::string>> names_and_help,
                       const std::string& help_of) {
  constexpr std::size_t kMost = 4;
  const std::string word = typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
  std::ranges::stable_sort(names_and_help, {},
                           [&](const auto& row) { return spelling_distance(typed, row.first); });
  std::vector<std::string> meant;
  for (const bool by_name : {true, false})
    for (const auto& [name, help] : names_and_help)
      if (meant.size() < kMost && std::ranges::count(meant, name) == 0 &&
          (by_name ? 3 * spelling_distance(typed, name) <= name.size() - (typed.size() - word.size())
                   : has_word(help, word)))
        meant.push_back(name);
  if (meant.empty()) return "; see " + help_of;
  return "; did you mean " + listed(meant, " or ") + "?";
}

}  // namespace headscope::app
