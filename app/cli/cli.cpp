#include "app/cli/cli.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "app/cli/argument_values.h"
#include "app/cli/command_options.h"
#include "app/cli/head_options.h"
#include "app/run/edit_text.h"
#include "app/views/export.h"
#include "model/quote.h"

namespace headscope::app {
namespace {

using model::quote;

std::string list_of(bool (*is_meant)(const View&)) {
  std::string list;
  for (const View& view : views())
    if (is_meant(view)) list += (list.empty() ? "" : ", ") + std::string(view.id);
  return list;
}
std::string list_of_views() {
  return list_of([](const View&) { return true; });
}
/// Those that can stand in the middle of the window.
std::string list_of_tabs() {
  return list_of([](const View& view) { return view.place == Place::tab; });
}

void check_view(const std::string& id) {
  if (!find_view(id)) throw WrongUse("there is no view " + quote(id) + "; there are " + list_of_views());
}

// --- the parser
// ----------------------------------------------------------------------------------------------

/// What the options of all commands write to. Several commands take the same option into the same place, so
/// that it may stand before the command's name as well as after it.
struct Given {
  ModelArguments model;
  PromptArguments prompt;
  std::vector<std::string> prompt_options;  // which of the ways to give a prompt were used
  std::string hooks;
  std::string out;
  std::string view;
  ComparisonArguments comparison;
  Selection selection;
  bool selected = false;  // whether any of it was given
  TourArguments tour;
  Options view_options;
  PictureArguments picture;
  bool size_given = false;
  bool scale_given = false;
  GenerateCommand generate;
  PredictCommand predict;
  LensCommand lens;
  AttributeCommand attribute;
  SweepArguments sweep;
  MetricsCommand metrics;
  SearchCommand search;
  BenchCommand bench;
  bool json = false;
  bool csv = false;
  bool svg_text = false;
  bool no_caption = false;
};

using Set = std::function<void(const std::string&)>;

class CommandLine {
 public:
  CommandLine() : app_("headscope: see inside GPT-2 while it runs", "headscope") {
    describe_program();
    describe_reading_commands();
    describe_drawing_commands();
    describe_bench();
    app_.get_formatter()->label("SUBCOMMAND", "COMMAND");
    plot_->formatter(std::make_shared<CLI::Formatter>());
    plot_->get_formatter()->label("SUBCOMMAND", "VIEW");
    for (CLI::App* app : every_) {
      app->allow_extras();  // refuse_strangers says better what is wrong with them
    }
  }

  Command parse(const std::vector<std::string>& arguments) {
    try {
      std::vector<std::string> reversed = separated(arguments);
      std::ranges::reverse(reversed);
      app_.parse(reversed);
      return command();
    } catch (const CLI::CallForHelp&) {
      return Reply{app_.help(), 0};
    } catch (const CLI::CallForVersion&) {
      return Reply{"headscope " HEADSCOPE_VERSION "\n", 0};
    } catch (const CLI::ParseError& error) {
      return wrong_use(error.what());
    } catch (const WrongUse& error) {
      return wrong_use(error.what());
    } catch (const Unfulfillable& error) {
      return Reply{error.what(), 1};
    }
  }

 private:
  CLI::App app_;
  Given given_;
  CLI::App* plot_ = nullptr;
  std::vector<CLI::App*> every_ = {&app_};
  static constexpr const char* kOwn = "Options";
  std::string group_ = kOwn;         // heading in the help of the options that are being added
  std::set<std::string> yes_or_no_;  // options that mean yes when no value follows

  // --- describing

  CLI::App* add_command(CLI::App* parent, std::string_view name, std::string_view help) {
    CLI::App* command = parent->add_subcommand(std::string(name), std::string(help));
    command->group(parent == &app_ ? "Commands" : "Views");
    every_.push_back(command);
    return command;
  }

  void add_option(CLI::App* app, const std::string& name, const std::string& values, const std::string& help,
                  const Set& set) {
    app->add_option_function<std::string>("--" + name, set, help)->type_name(values)->group(group_);
  }

  void add_flag(CLI::App* app, const std::string& name, const std::string& help, bool& value) {
    app->add_flag("--" + name, value, help)->group(group_);
  }

  void add_model_option(CLI::App* app) {
    group_ = "Model";
    add_option(app, "model", "DIR",
               "a GPT-2 folder in Hugging Face layout, or a name from the Hugging Face\n"
               "cache, as in openai-community/gpt2 (default: the bundled model)",
               [this](const std::string& text) { given_.model.model = text; });
  }

  void add_computing_options(CLI::App* app) {
    add_model_option(app);
    add_option(app, "precision", "f32|f16|bf16", "how matrices are kept in memory (default: f32)",
               [this](const std::string& text) { given_.model.precision = precision(text); });
    add_option(
        app, "threads", "N", "threads that compute (default 0: one for each processor)",
        [this](const std::string& text) { given_.model.threads = whole_number("--threads", text, 0, 1024); });
  }

  void add_prompt_options(CLI::App* app, bool many) {
    using From = PromptArguments::From;
    group_ = "Prompt";
    add_option(app, "prompt", "TEXT", "the prompt; may be empty: then the start token runs alone",
               [this](const std::string& text) { give_prompt(From::text, "--prompt").text = text; });
    add_option(app, "ids", "ID,...", "token ids in place of text",
               [this](const std::string& text) { give_prompt(From::ids, "--ids").ids = token_ids(text); });
    add_option(app, "prompt-file", "FILE", "the bytes of a file as the prompt; -: of standard input",
               [this](const std::string& text) { give_prompt(From::file, "--prompt-file").file = text; });
    if (many) {
      add_option(app, "prompts", "FILE",
                 "many prompts, one a line: a JSON string, or an object with\n"
                 "\"prompt\" or \"ids\"; -: standard input",
                 [this](const std::string& text) { give_prompt(From::list, "--prompts").file = text; });
    }
    add_flag(app, "bos", "put the start token <|endoftext|> first", given_.prompt.start_token);
  }

  void add_edit_options(CLI::App* app) {
    group_ = "What is changed while it runs";
    app->add_option_function<std::vector<std::string>>(
           "--edit", [this](const std::vector<std::string>& texts) { given_.prompt.edits.texts = texts; },
           "an intervention, as in L5H1.z=0; may be given again")
        ->type_name("EDIT")
        ->group(group_)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    add_option(app, "edits", "FILE.json", "interventions as a JSON list; they come before those of --edit",
               [this](const std::string& text) { given_.prompt.edits.file = text; });
    if (app != &app_) app->footer(edit_grammar());
  }

  /// Of what shows pictures.
  void add_comparison(CLI::App* app) {
    add_edit_options(app);
    group_ = "What it is compared with";
    add_comparison_options(options_of(app), given_.comparison);
  }

  PromptArguments& give_prompt(PromptArguments::From from, const char* option) {
    given_.prompt_options.emplace_back(option);
    given_.prompt.from = from;
    return given_.prompt;
  }

  void add_json(CLI::App* app) { add_flag(app, "json", "JSON on standard output", given_.json); }

  void add_out(CLI::App* app, const std::string& values, const std::string& help) {
    add_option(app, "out", values, help, [this](const std::string& text) { given_.out = text; });
  }

  void add_selection_options(CLI::App* app) {
    group_ = "What is shown";
    constexpr int kMost = std::numeric_limits<int>::max();
    add_option(app, "layer", "L", "the layer, from 0 (default: 0)", [this](const std::string& text) {
      given_.selected = true;
      given_.selection.layer = whole_number("--layer", text, 0, kMost);
    });
    add_option(app, "head", "H", "the head, from 0 (default: 0)", [this](const std::string& text) {
      given_.selected = true;
      given_.selection.head = whole_number("--head", text, 0, kMost);
    });
    add_option(app, "token", "I", "the position whose query is looked at, from 0 (default -1: the last)",
               [this](const std::string& text) {
                 given_.selected = true;
                 given_.selection.query = whole_number("--token", text, -1, kMost);
               });
    add_option(app, "key", "I", "the position whose key is marked, at most --token (default -1: none)",
               [this](const std::string& text) {
                 given_.selected = true;
                 given_.selection.key = whole_number("--key", text, -1, kMost);
               });
  }

  void add_tour_options(CLI::App* app) {
    group_ = "Tour";
    add_option(app, "tour", "NAME|FILE.md", "a guided walk that is open at first",
               [this](const std::string& text) { given_.tour.name = text; });
    add_option(app, "stop", "N", "the stop of it, from 1 (default: 1)", [this](const std::string& text) {
      given_.tour.stop = whole_number("--stop", text, 1, std::numeric_limits<int>::max());
    });
  }

  void add_picture_options(CLI::App* app) {
    group_ = "Picture";
    const bool plot = app->get_name() != "shot";
    add_option(
        app, "size", plot ? "WxH|fit" : "WxH",
        plot ? "the picture's size in logical pixels, caption included; fit (the default): cut to the figure"
             : "the window's size in logical pixels (default: 1600x1000)",
        [this](const std::string& text) {
          set_size(given_.picture, text);
          given_.size_given = true;
        });
    add_option(app, "scale", "S", "pixels of the file for each logical one", [this](const std::string& text) {
      given_.picture.scale = static_cast<float>(number("--scale", text, 0.25, 16, "from 0.25 to 16"));
      given_.scale_given = true;
    });
    add_option(app, "theme", "light|dark", "colours (default: light)", [this](const std::string& text) {
      if (text != "light" && text != "dark")
        throw WrongUse("--theme takes light or dark, not " + quote(text));
      given_.picture.dark = text == "dark";
    });
    add_option(app, "font-size", "PX", "height of the letters in logical pixels (default: 14)",
               [this](const std::string& text) {
                 given_.picture.font_size =
                     static_cast<float>(number("--font-size", text, 6, 72, "from 6 to 72"));
               });
  }

  void add_view_option(CLI::App* app, const OptionSpec& option) {
    const std::string name(option.name);
    if (std::holds_alternative<bool>(option.usual)) yes_or_no_.insert("--" + name);
    add_option(app, name, values_of(option), std::string(option.help),
               [this, &option](const std::string& text) {
                 try {
                   given_.view_options.set(option, parse_option(option, text));
                 } catch (const std::invalid_argument& error) {
                   throw WrongUse(error.what());
                 }
               });
  }

  void describe_program() {
    app_.set_help_flag("-h,--help", "this text");
    app_.set_version_flag("--version", std::string("headscope " HEADSCOPE_VERSION), "the version");
    app_.footer(
        "Without a command the window opens.\n\n"
        "Results go to standard output, messages to standard error.\n"
        "Exit status: 0 done, 1 it failed (one line says what, where and how to mend it), 2 wrong usage.\n\n"
        "Examples:\n"
        "  headscope --prompt \"A robot must obey\"\n"
        "  headscope predict --model ~/models/gpt2 --prompt \"The capital of France is\" --top 5\n"
        "  headscope plot heatmap --layer 2 --head 1 --prompt \"Once upon a time\" --out pattern.svg\n"
        "  headscope COMMAND --help");
    add_computing_options(&app_);
    add_prompt_options(&app_, false);
    add_comparison(&app_);
    add_tour_options(&app_);
  }

  void describe_reading_commands() {
    CLI::App* info = add_command(&app_, "info", "a model's configuration and the table of its parameters");
    add_model_option(info);
    group_ = kOwn;
    add_json(info);

    CLI::App* tokens = add_command(
        &app_, "tokens", "a prompt's tokens: ids, bytes, ranges (needs only the tokenizer's files)");
    add_model_option(tokens);
    add_prompt_options(tokens, true);
    group_ = kOwn;
    add_json(tokens);

    CLI::App* predict = add_reading_command("predict", "the most probable next tokens");
    add_option(predict, "top", "K", "how many (default: 10)", [this](const std::string& text) {
      given_.predict.top = whole_number("--top", text, 1, std::numeric_limits<int>::max());
    });
    add_flag(predict, "all-positions", "after every position, with the rank of the token that does follow",
             given_.predict.all_positions);

    add_lens_options(options_of(add_reading_command(
                         "lens", "what the model would guess at each place of the residual stream")),
                     given_.lens);
    add_attribute_options(
        options_of(add_reading_command("attribute", "what each part of the model adds to a token's logit")),
        given_.attribute);

    describe_sweep();
    describe_generate();

    CLI::App* trace =
        add_command(&app_, "trace", "write activations to a safetensors file, under TransformerLens' names");
    add_computing_options(trace);
    add_prompt_options(trace, true);
    add_edit_options(trace);
    group_ = kOwn;
    add_option(trace, "hooks", "GLOB,...",
               "only the hooks whose names match, as in blocks.0.attn.*,logits\n"
               "(default: all; hook_result only when it is named)",
               [this](const std::string& text) { given_.hooks = text; });
    add_out(trace, "FILE.safetensors",
            "the file; with --prompts, {n} in its name is the prompt's\nnumber from 1");

    describe_head_commands();

    CLI::App* views = add_command(&app_, "views", "the views there are, and the options that each takes");
    group_ = kOwn;
    add_json(views);
  }

  /// Of many prompts, in JSON too.
  CLI::App* add_reading_command(std::string_view name, std::string_view help) {
    CLI::App* command = add_command(&app_, name, help);
    add_computing_options(command);
    add_prompt_options(command, true);
    add_edit_options(command);
    group_ = kOwn;
    add_json(command);
    return command;
  }

  AddOption options_of(CLI::App* app) {
    return [this, app](const std::string& name, const std::string& values, const std::string& help,
                       const Set& set) { add_option(app, name, values, help, set); };
  }

  void describe_head_commands() {
    CLI::App* metrics = add_reading_command("metrics", "what each head does, in numbers, over all prompts");
    for (const CommandOption& option : app::options_of(given_.metrics))
      add_option(metrics, option.name, option.values, option.help, option.set);
    add_flag(metrics, "csv", "CSV on standard output", given_.csv);
    CLI::App* search = add_reading_command("search", "where heads look from some tokens to some others");
    for (const CommandOption& option : app::options_of(given_.search))
      add_option(search, option.name, option.values, option.help, option.set);
  }

  void describe_sweep() {
    CLI::App* sweep = add_reading_command(
        "sweep", "what switching off or patching each head, or each layer at each position, does to a guess");
    add_sweep_options(options_of(sweep), given_.sweep);
    add_picture_options(sweep);
    group_ = kOwn;
    add_out(sweep, "FILE.png|svg|csv",
            "a picture of it, or its numbers (default: a list, the strongest first);\n"
            "with --prompts, {n} in its name is the prompt's number from 1");
  }

  void describe_generate() {
    CLI::App* generate = add_command(
        &app_, "generate", "continue the prompt; stops early at <|endoftext|> and where the context is full");
    add_computing_options(generate);
    add_prompt_options(generate, false);
    add_edit_options(generate);
    group_ = kOwn;
    add_generate_options(options_of(generate), given_.generate);
    add_flag(generate, "echo", "write the prompt first", given_.generate.echo);
  }

  void add_plot_options(CLI::App* app) {
    add_computing_options(app);
    add_prompt_options(app, true);
    add_comparison(app);
    add_selection_options(app);
    add_picture_options(app);
    add_flag(app, "svg-text", "text in SVG files as text, not as outlines", given_.svg_text);
    add_flag(app, "no-caption", "without the line that names model, prompt, layer and head",
             given_.no_caption);
    group_ = kOwn;
    add_out(app, "FILE.png|svg|csv",
            "the file: a picture, or its numbers; with --prompts, {n} in\n"
            "its name is the prompt's number from 1");
  }

  void describe_drawing_commands() {
    plot_ = add_command(&app_, "plot", "write a view's picture, as the window exports it");
    add_plot_options(plot_);
    plot_->footer("headscope plot VIEW --help names the options of one view.");
    for (const View& view : views()) {
      CLI::App* plot_view = add_command(plot_, view.id, view.help);
      add_plot_options(plot_view);
      group_ = "This view";
      for (const OptionSpec* option : view.options) add_view_option(plot_view, *option);
    }

    CLI::App* shot = add_command(&app_, "shot", "write a picture of the whole window; needs no display");
    add_computing_options(shot);
    add_prompt_options(shot, false);
    add_comparison(shot);
    group_ = kOwn;
    add_option(shot, "view", "VIEW",
               "the view in the middle: " + list_of_tabs() +
                   " (default: " + std::string(view_at(Place::tab).id) + ")",
               [this](const std::string& text) {
                 check_view(text);
                 if (find_view(text)->place != Place::tab)
                   throw WrongUse("the view " + quote(text) +
                                  " has a place of its own in the window; --view takes " + list_of_tabs());
                 given_.view = text;
               });
    add_selection_options(shot);
    add_tour_options(shot);
    add_picture_options(shot);
    group_ = kOwn;
    add_out(shot, "FILE.png", "the file");
    group_ = "Views";
    for (const OptionSpec* option : all_options()) add_view_option(shot, *option);
  }

  void describe_bench() {
    CLI::App* bench = add_command(&app_, "bench", "measure how fast the model and the window are here");
    add_computing_options(bench);
    group_ = kOwn;
    add_option(bench, "tokens", "N,...",
               "lengths of the prompts (default: 16,64,256,1024, as far as\nthe context goes)",
               [this](const std::string& text) { given_.bench.tokens = lengths("--tokens", text); });
    add_flag(bench, "materialize", "passes that return the patterns of all heads, too",
             given_.bench.materialize);
    add_flag(bench, "ui", "from a keystroke or another head to the window's picture, too", given_.bench.ui);
    add_json(bench);
  }

  // --- parsing

  bool takes_value(const std::string& name) const {
    const auto named = [&](const CLI::Option* option) {
      return name.starts_with("--") && option->check_lname(name.substr(2)) &&
             option->get_items_expected_max() > 0;
    };
    return std::ranges::any_of(
        every_, [&](const CLI::App* app) { return std::ranges::any_of(app->get_options(), named); });
  }

  /// Each option's value as an argument of its own, `--name=value` too: CLI11 would take the next argument
  /// for the value when nothing follows the sign. What is an option's value is left alone whatever it looks
  /// like.
  std::vector<std::string> separated(const std::vector<std::string>& arguments) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::size_t sign = arguments[i].find('=');
      const std::string name = arguments[i].substr(0, sign);
      if (!takes_value(name)) {
        out.push_back(arguments[i]);
        continue;
      }
      out.push_back(name);
      const bool last = i + 1 == arguments.size();
      if (sign != std::string::npos) {
        out.push_back(arguments[i].substr(sign + 1));
      } else if (yes_or_no_.contains(name) && (last || arguments[i + 1].starts_with('-'))) {
        out.emplace_back("yes");
      } else if (last) {
        throw WrongUse(name + " needs a value");
      } else {
        out.push_back(arguments[++i]);
      }
    }
    return out;
  }

  /// The command's name and, of plot, the view's.
  std::vector<CLI::App*> chosen() const {
    std::vector<CLI::App*> path;
    for (const CLI::App* app = &app_; !app->get_subcommands().empty(); app = path.back()) {
      path.push_back(app->get_subcommands().front());
    }
    return path;
  }

  Reply wrong_use(std::string text) const {
    std::string command = "headscope";
    for (const CLI::App* app : chosen()) command += " " + app->get_name();
    if (text.ends_with('.')) text.pop_back();
    if (text.find("--help") == std::string::npos) text += "; see " + command + " --help";
    return {std::move(text), 2};
  }

  /// What no command or option took.
  void refuse_strangers() const {
    for (const CLI::App* app : every_) {
      for (const std::string& word : app->remaining()) {
        const bool option = word.starts_with('-') && word.size() > 1;
        if (app == plot_ && !option) check_view(word);
        const bool command = app == &app_ && !option && app->get_subcommands().empty();
        throw WrongUse(std::string("there is no ") +
                       (command  ? "command "
                        : option ? "option "
                                 : "place for ") +
                       quote(word) + (command ? "" : " here"));
      }
    }
  }

  static void require_one_command(const CLI::App& app) {
    const auto commands = app.get_subcommands();
    if (commands.size() > 1) {
      throw WrongUse("one command at a time: both " + commands[0]->get_name() + " and " +
                     commands[1]->get_name() + " were given");
    }
  }

  void require_prompt() const {
    if (given_.prompt.from == PromptArguments::From::nothing) {
      throw WrongUse("a prompt is missing: give --prompt TEXT, --ids or --prompt-file");
    }
  }

  void require_out(const char* example) const {
    if (given_.out.empty()) throw WrongUse(std::string("--out is missing, as in --out ") + example);
    const bool many = given_.prompt.from == PromptArguments::From::list;
    if (many && given_.out.find("{n}") == std::string::npos) {
      throw WrongUse("with --prompts the name after --out needs {n}, the prompt's number, as in {n}-" +
                     std::string(example));
    }
  }

  void require_format(std::initializer_list<FileFormat> formats, const char* names) const {
    const auto format = format_of(given_.out);
    if (!format || std::ranges::find(formats, *format) == formats.end()) {
      throw WrongUse("the file after --out must end in " + std::string(names) + ", not as " +
                     quote(given_.out) + " does");
    }
  }

  Command command() const {
    refuse_strangers();
    if (given_.prompt_options.size() > 1) {
      throw WrongUse("one prompt at a time: both " + given_.prompt_options[0] + " and " +
                     given_.prompt_options[1] + " were given");
    }
    require_one_command(app_);
    if (!given_.tour.name.empty() && !given_.prompt_options.empty())
      throw WrongUse("a tour brings its prompt: --tour and " + given_.prompt_options[0] + " were given");
    if (given_.tour.name.empty() && given_.tour.stop != 1)
      throw WrongUse("--stop is of a tour; --tour names it");
    const std::vector<CLI::App*> path = chosen();
    if (path.empty()) return WindowCommand{given_.model, given_.prompt, given_.comparison, given_.tour};
    const std::string& name = path.front()->get_name();
    if (name == "info") return InfoCommand{given_.model, given_.json};
    if (name == "views") return ViewsCommand{given_.json};
    if (name == "bench") return filled(given_.bench);
    if (name == "shot") return shot_command();
    if (name == "metrics") return metrics_command();
    require_prompt();
    if (name == "search") return filled(given_.search);
    if (name == "tokens") return TokensCommand{given_.model, given_.prompt, given_.json};
    if (name == "predict") return filled(given_.predict);
    if (name == "lens") return filled(given_.lens);
    if (name == "attribute") return filled(given_.attribute);
    if (name == "sweep") return sweep_of_given();
    if (name == "generate") return filled(given_.generate);
    if (name == "trace") {
      require_out("run.safetensors");
      return TraceCommand{given_.model, given_.prompt, given_.hooks, given_.out};
    }
    return plot_command();
  }

  /// With what several commands take.
  template <class OwnOptions>
  Command filled(OwnOptions command) const {
    command.model = given_.model;
    if constexpr (requires { command.prompt; }) command.prompt = given_.prompt;
    if constexpr (requires { command.json; }) command.json = given_.json;
    return command;
  }

  Command metrics_command() const {
    MetricsCommand metrics = given_.metrics;
    if (!metrics.repeated) {
      require_prompt();
    } else if (!given_.prompt_options.empty()) {
      throw WrongUse("--repeated is in place of " + given_.prompt_options[0] + "; give one of them");
    } else {
      metrics.repeated->seed = metrics.seed;
      const EditArguments& edits = given_.prompt.edits;
      if (edits.file || !edits.texts.empty())
        throw WrongUse("--repeated measures the model as it is; --edit and --edits change runs of prompts");
    }
    if (given_.csv && given_.json) throw WrongUse("one form at a time: both --csv and --json were given");
    using Form = MetricsCommand::Form;
    metrics.form = given_.csv ? Form::csv : given_.json ? Form::json : Form::text;
    metrics.model = given_.model;
    metrics.prompt = given_.prompt;
    return metrics;
  }

  Command sweep_of_given() const {
    SweepCommand sweep = sweep_command(given_.sweep);
    if (!given_.out.empty()) {
      require_out("sweep.png");
      require_format({FileFormat::png, FileFormat::svg, FileFormat::csv}, ".png, .svg or .csv");
      check_pixels(given_.picture);
    }
    sweep.picture = given_.picture;
    sweep.out = given_.out;
    return filled(std::move(sweep));
  }

  Command plot_command() const {
    require_one_command(*plot_);
    if (plot_->get_subcommands().empty()) {
      throw WrongUse("plot needs a view, as in headscope plot heatmap; there are " + list_of_views());
    }
    require_out("heads.png");
    require_format({FileFormat::png, FileFormat::svg, FileFormat::csv}, ".png, .svg or .csv");
    PlotCommand plot{.model = given_.model,
                     .prompt = given_.prompt,
                     .comparison = given_.comparison,
                     .view = plot_->get_subcommands().front()->get_name(),
                     .selection = given_.selection,
                     .options = given_.view_options,
                     .picture = given_.picture,
                     .svg_text = given_.svg_text,
                     .caption = !given_.no_caption,
                     .out = given_.out};
    check_pixels(plot.picture);
    return plot;
  }

  Command shot_command() const {
    require_out("window.png");
    require_format({FileFormat::png}, ".png");
    ShotCommand shot;
    shot.model = given_.model;
    shot.prompt = given_.prompt;
    shot.comparison = given_.comparison;
    if (!given_.view.empty()) shot.view = given_.view;
    if (given_.selected) shot.selection = given_.selection;
    shot.tour = given_.tour;
    shot.options = given_.view_options;
    shot.out = given_.out;
    shot.picture.dark = given_.picture.dark;
    shot.picture.font_size = given_.picture.font_size;
    if (given_.scale_given) shot.picture.scale = given_.picture.scale;
    if (given_.size_given) {
      if (given_.picture.height == 0) throw WrongUse("--size fit is for plot; shot takes WIDTHxHEIGHT");
      shot.picture.width = given_.picture.width;
      shot.picture.height = given_.picture.height;
    }
    check_pixels(shot.picture);
    return shot;
  }
};

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  return CommandLine().parse(arguments);
}

}  // namespace headscope::app
