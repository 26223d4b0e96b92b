#include "app/cli/arguments/command_syntax.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <limits>

#include "app/cli/arguments/argument_values.h"
#include "app/run/edits/edit_text.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

/// As a variable of the shell is that nobody set.
const std::string& not_nothing(const char* option, const std::string& text) {
  if (text.empty()) throw WrongUse(std::string(option) + " takes a folder or a model's name, not nothing");
  return text;
}

}  // namespace

// The functions given to the parser hold `given` by its own address: this object is of the moment.

void CommandSyntax::option(const std::string& name, const std::string& values, const std::string& help,
                           const std::function<void(const std::string&)>& set) {
  app_->add_option_function<std::string>("--" + name, set, help)->type_name(values)->group(heading_);
}

void CommandSyntax::options(const std::string& name, const std::string& values, const std::string& help,
                            const std::function<void(const std::vector<std::string>&)>& set) {
  app_->add_option_function<std::vector<std::string>>("--" + name, set, help)
      ->type_name(values)
      ->group(heading_)
      ->expected(-1);
}

void CommandSyntax::word(const std::string& name, const std::string& help,
                         const std::function<void(const std::string&)>& set) {
  app_->add_option_function<std::string>(name, set, help)->option_text(" ");
}

void CommandSyntax::flag(const std::string& name, const std::string& help, bool& value) {
  app_->add_flag("--" + name, value, help)->group(heading_);
}

void CommandSyntax::view_option(const OptionSpec& spec) {
  option(std::string(spec.name), values_of(spec), std::string(spec.help),
         [given = given_, &spec](const std::string& text) {
           try {
             given->view_options.set(spec, parse_option(spec, text));
           } catch (const std::invalid_argument& error) {
             throw WrongUse(error.what());
           }
         });
}

AddOption CommandSyntax::adding() {
  return [this](const std::string& name, const std::string& values, const std::string& help,
                const std::function<void(const std::string&)>& set) { option(name, values, help, set); };
}

void CommandSyntax::footer(const std::string& text) {
  app_->footer(text);
}

CommandSyntax CommandSyntax::choice(std::string_view name, std::string_view help) {
  CLI::App* app = app_->add_subcommand(std::string(name), std::string(help));
  return {*app, *given_};
}

void CommandSyntax::model() {
  heading("Model");
  option("model", "DIR",
         "a GPT-2 folder in Hugging Face layout, or a name from the Hugging Face\n"
         "cache, as in openai-community/gpt2 (default: the bundled model)",
         [given = given_](const std::string& text) {
           if (given->model.patterns) throw WrongUse("--attention is in place of --model; give one of them");
           given->model.model = not_nothing("--model", text);
         });
  flag("get", "fetch that from the Hugging Face hub first, if it is not here", given_->model.get);
  heading(kOwn);
}

void CommandSyntax::computing() {
  model();
  heading("Model");
  option("precision", "f32|f16|bf16", "how matrices are kept in memory (default: f32)",
         [given = given_](const std::string& text) { given->model.precision = precision(text); });
  option("threads", "N", "threads that compute (default 0: one for each processor)",
         [given = given_](const std::string& text) {
           given->model.threads = whole_number("--threads", text, 0, 1024);
         });
  heading(kOwn);
}

void CommandSyntax::attention(bool compared) {
  heading("Attention of any model");
  option("attention", "FILE.safetensors",
         "patterns in place of a model and a prompt: tensors\n"
         "blocks.L.attn.hook_pattern, as trace and TransformerLens name them",
         [given = given_](const std::string& text) {
           if (given->model.model) throw WrongUse("--attention is in place of --model; give one of them");
           given->model.model = text;
           given->model.patterns = true;
         });
  if (compared)
    option("second-attention", "FILE.safetensors",
           "patterns of as many layers and heads to compare those with",
           [given = given_](const std::string& text) { given->comparison.second_attention = text; });
  heading(kOwn);
}

PromptArguments& CommandSyntax::give_prompt(PromptArguments::From from, const char* option) const {
  given_->prompt_options.emplace_back(option);
  given_->prompt.from = from;
  return given_->prompt;
}

void CommandSyntax::prompt(bool many) {
  using From = PromptArguments::From;
  const CommandSyntax self = *this;
  heading("Prompt");
  option("prompt", "TEXT", "the prompt; may be empty: then the start token runs alone",
         [self](const std::string& text) { self.give_prompt(From::text, "--prompt").text = text; });
  option("ids", "ID,...", "token ids in place of text",
         [self](const std::string& text) { self.give_prompt(From::ids, "--ids").ids = token_ids(text); });
  option("prompt-file", "FILE", "the bytes of a file as the prompt; -: of standard input",
         [self](const std::string& text) { self.give_prompt(From::file, "--prompt-file").file = text; });
  if (many) {
    option("prompts", "FILE",
           "many prompts, one a line: a JSON string, or an object with\n"
           "\"prompt\" or \"ids\"; -: standard input",
           [self](const std::string& text) { self.give_prompt(From::list, "--prompts").file = text; });
    option("shard", "I/N", "of these every N-th, from the one with number I + 1 on; 0/1: all",
           [given = given_](const std::string& text) { given->prompt.shard = shard(text); });
    flag("skip-errors", "report a prompt that fails, and go on with the next one",
         given_->prompt.skip_errors);
  }
  flag("bos", "put the start token <|endoftext|> first", given_->prompt.start_token);
  heading(kOwn);
}

void CommandSyntax::edits() {
  heading("What is changed while it runs");
  app_->add_option_function<std::vector<std::string>>(
          "--edit",
          [given = given_](const std::vector<std::string>& texts) { given->prompt.edits.texts = texts; },
          "an intervention, as in L5H1.z=0; may be given again")
      ->type_name("EDIT")
      ->group(heading_)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option("edits", "FILE.json", "interventions as a JSON list; they come before those of --edit",
         [given = given_](const std::string& text) { given->prompt.edits.file = text; });
  option("second-model", "DIR",
         "another GPT-2 of the same shape and vocabulary, to patch from (<-second)\n"
         "and, in pictures, to compare with",
         [given = given_](const std::string& text) {
           given->prompt.edits.second_model = ModelArguments{.model = not_nothing("--second-model", text)};
         });
  if (app_->get_parent() != nullptr) footer(edit_grammar());
  heading(kOwn);
}

void CommandSyntax::comparison() {
  edits();
  heading("What it is compared with");
  add_comparison_options(adding(), given_->comparison);
  heading(kOwn);
}

void CommandSyntax::selection() {
  heading("What is shown");
  const auto chosen = [given = given_](const char* name, int low, int Selection::*member) {
    return [given, name, low, member](const std::string& text) {
      given->selected = true;
      given->selection.*member = whole_number(name, text, low, kMost);
    };
  };
  option("layer", "L", "the layer, from 0 (default: 0)", chosen("--layer", 0, &Selection::layer));
  option("head", "H", "the head, from 0 (default: 0)", chosen("--head", 0, &Selection::head));
  option("token", "I", "the position whose query is looked at, from 0 (default -1: the last)",
         chosen("--token", -1, &Selection::query));
  option("key", "I", "the position whose key is marked, at most --token (default -1: none)",
         chosen("--key", -1, &Selection::key));
  heading(kOwn);
}

void CommandSyntax::tour() {
  heading("Tour");
  option("tour", "NAME|FILE.md", "a guided walk that is open at first",
         [given = given_](const std::string& text) { given->tour.name = text; });
  option("stop", "N", "the stop of it, from 1 (default: 1)", [given = given_](const std::string& text) {
    given->tour.stop = whole_number("--stop", text, 1, kMost);
  });
  heading(kOwn);
}

void CommandSyntax::over() {
  option("over", "FILE",
         "a list of prompts, for views that can be about many (" + list_of_views_of_many() +
             "):\na .txt file with one a line, or one as --prompts takes it",
         [given = given_](const std::string& text) { given->over = text; });
}

void CommandSyntax::picture() {
  heading(kPicture);
  const bool of_window = app_->get_name() == "shot";
  option("size", of_window ? "WxH" : "WxH|fit",
         of_window
             ? "the window's size in logical pixels (default: 1600x1000)"
             : "the picture's size in logical pixels, caption included; fit (the default): cut to the figure",
         [given = given_](const std::string& text) {
           set_size(given->picture, text);
           given->size_given = true;
         });
  option("scale", "S", "pixels of the file for each logical one", [given = given_](const std::string& text) {
    given->picture.scale = static_cast<float>(number("--scale", text, 0.25, 16, "from 0.25 to 16"));
    given->scale_given = true;
  });
  option("theme", "light|dark", "colours (default: light)", [given = given_](const std::string& text) {
    if (text != "light" && text != "dark")
      throw WrongUse("--theme takes light or dark, not " + model::quote(text));
    given->picture.dark = text == "dark";
  });
  option("font-size", "PX", "height of the letters in logical pixels (default: 14)",
         [given = given_](const std::string& text) {
           given->picture.font_size = static_cast<float>(number("--font-size", text, 6, 72, "from 6 to 72"));
         });
  heading(kOwn);
}

void CommandSyntax::reading() {
  computing();
  prompt(true);
  edits();
  json();
}

void CommandSyntax::json() {
  flag("json", "JSON on standard output", given_->json);
}

void CommandSyntax::resume() {
  heading("Prompt");
  flag("resume", "with --prompts: leave out those whose file is there already", given_->prompt.resume);
  heading(kOwn);
}

void CommandSyntax::picture_out(const std::string& formats, const std::string& help) {
  out("FILE." + formats, help + "; -: standard output");
  option("format", formats, "what standard output gets", [given = given_](const std::string& text) {
    given->format = format_of("x." + text);
    if (!given->format) throw WrongUse("there is no format " + model::quote(text) + "; see --out");
  });
}

void CommandSyntax::out(const std::string& values, const std::string& help) {
  option("out", values, help, [given = given_](const std::string& text) { given->out = text; });
}

}  // namespace headscope::app
