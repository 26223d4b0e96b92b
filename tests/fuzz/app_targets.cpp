// The program's own formats: edits, tours, settings, prompts, arguments.
#include <algorithm>
#include <memory>
#include <sstream>
#include <variant>

#include "app/cli/command_line.h"
#include "app/cli/prompts.h"
#include "app/cli/request.h"
#include "app/recipe/recipe.h"
#include "app/run/analyses/patterns.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/pattern_file.h"
#include "app/tour/numbers.h"
#include "app/tour/tour.h"
#include "model/files/error.h"
#include "system/path_text.h"
#include "tests/fuzz/targets.h"
#include "tests/support/gpt2_folder.h"

namespace headscope::fuzz {
namespace {

using namespace headscope::app;

/// A model of two layers with two heads, and the bundled model's tokenizer.
const LoadedModel& small_model() {
  static const std::shared_ptr<const LoadedModel> model = [] {
    const testing::TemporaryFolder folder;
    testing::write_other_model(folder, {.positions = 8, .vocabulary = 4096});
    return load_model(folder.path(), {});
  }();
  return *model;
}

/// Checks that an edit, wherever it was read, can be written, read and run.
void promise_edits(const model::Edits& edits) {
  for (const model::Edit& edit : edits) {
    promise(is_printable(edit_words(edit)) && is_printable(edit_brief(edit)), "edits can be shown");
    static_cast<void>(is_beyond(edit, 4));
    if (const auto strength = strength_of(edit)) static_cast<void>(with_strength(edit, strength->value));
  }
  if (edits.empty()) return;
  promise(parse_edits(edit_text(edits), small_model()) == edits, "an edit is read back as it was written");
  static model::Workspace workspace(1);
  const std::vector<int> tokens{1, 2, 3};
  try {
    model::ForwardOptions options;
    options.plan = small_model().transformer->plan(edits, workspace);
    small_model().transformer->forward(tokens, workspace, options);
  } catch (const model::RunError& error) {
    promise_sentence(error.what());
  }
}

}  // namespace

Outcome check_edit_text(std::string_view text) {
  return read_or_refused<model::RunError>([&] { promise_edits(parse_edits(text, small_model())); });
}

Outcome check_tour(std::string_view text) {
  return read_or_refused<model::LoadError>([&] {
    const Tour tour = parse_tour(text, "walk.md");
    promise(tour.id == "walk" && !tour.stops.empty() && !tour.about.empty(),
            "a tour has stops, and words about it");
    for (std::size_t i = 0; i < tour.stops.size(); ++i) {
      promise(!tour.stops[i].caption.empty(), "a stop has something to say");
      promise(resolve_stop(tour, static_cast<int>(i)).prompt.has_value(), "every stop has a prompt");
      promise(shown_paragraphs(resolve_stop(tour, static_cast<int>(i)), {}).size() <=
                  tour.stops[i].caption.size(),
              "without a run, only paragraphs without conditions are shown");
      for (const TourParagraph& paragraph : tour.stops[i].caption) {
        promise(!paragraph.words.empty(), "a paragraph has words");
        promise(with_numbers(paragraph.words, {}).size() <= paragraph.words.size() * 3,
                "numbers stand in for their names");
      }
    }
  });
}

Outcome check_settings(std::string_view json) {
  const LoadedSettings loaded = parse_settings(json, "settings.json");
  if (!loaded.message.empty()) promise_sentence(loaded.message);
  const Settings& s = loaded.settings;
  promise(
      s.window_width > 0 && s.window_height > 0 && s.export_scale >= 1 && s.export_scale <= kMaxExportScale,
      "sizes are within their limits");
  promise(s.recent_models.size() <= kMaxRecent && s.recent_sessions.size() <= kMaxRecent, "lists are short");
  const LoadedSettings again = parse_settings(to_json(s), "settings.json");
  promise(again.message.empty() && again.settings == s, "settings are read back as they were written");
  return loaded.message.empty() ? Outcome::read : Outcome::refused;
}

Outcome check_prompt_list(std::string_view lines) {
  std::istringstream stream{std::string(lines)};
  Arguments arguments(nullptr);
  arguments.prompt.from = PromptArguments::From::list;
  arguments.prompt.file = "-";
  Outcome outcome = Outcome::read;
  PromptSource source(arguments, stream);
  for (bool more = true; more;) {
    const auto next = [&] { more = source.next().has_value(); };
    if (read_or_refused<std::runtime_error>(next) == Outcome::refused) {
      outcome = Outcome::refused;
      more = source.can_continue();
    }
  }
  return outcome;
}

/// A part of a mean, added up with nothing else.
Outcome check_means(std::string_view json) {
  static const testing::TemporaryFolder folder(memory_folder());
  const auto merged = [](std::string_view part) {
    const std::string file = system::text_of(folder.write("part.json", part));
    std::istringstream in;
    std::ostringstream out, err;
    const auto task = parse_command_line({"sweep", "--json", "--merge", file});
    promise(std::get<Task>(task).run({in, out, err}) == 0, "parts that are added up are an answer");
    return out.str();
  };
  return read_or_refused<std::runtime_error>([&] { merged(merged(json)); });
}

/// Arguments, each followed by a line break.
Outcome check_command_line(std::string_view words) {
  std::vector<std::string> arguments;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('\n'), words.size());
    arguments.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return read_or_refused<std::runtime_error>([&] { parse_command_line(arguments); });
}

Outcome check_request(std::string_view line) {
  Request request;
  const Outcome outcome = read_or_refused<UsageError>([&] { read_request({std::string(line)}, request); });
  promise(request.id.is_null() || request.id.is_string() || request.id.is_number_integer(),
          "an id is a text or a number");
  promise(outcome == Outcome::refused || !request.args.empty(), "a request names a command");
  return outcome;
}

Outcome check_attention(std::string_view file) {
  static const testing::TemporaryFolder folder(memory_folder());
  const std::filesystem::path path = folder.write("x.safetensors", file);
  const bool has_patterns = PatternFile::is_one(path);
  return read_or_refused<model::LoadError>([&] {
    const std::shared_ptr<const LoadedModel> model = load_model(path, {});
    const PatternFile& patterns = *model->patterns;
    promise(has_patterns, "what is no file of patterns by its header cannot be read as one");
    promise(
        is_printable(patterns.summary()) && is_printable(patterns.model()) && is_printable(patterns.text()),
        "what a file says of itself can be shown");
    for (const std::string& note : patterns.notes()) promise(is_printable(note), "notes can be shown");
    for (const PromptTokens* tokens : {&patterns.queries(), &patterns.keys()}) {
      promise(std::ssize(tokens->labels) == tokens->length(), "every token has a label");
      for (const std::string& label : tokens->labels) promise(is_printable(label), "labels can be shown");
    }
    const PromptRun run = run_of_patterns(model);
    const std::size_t cells =
        static_cast<std::size_t>(patterns.query_count()) * static_cast<std::size_t>(patterns.key_count());
    promise(cells <= file.size(), "there are no more weights than the file holds");
    std::vector<float> pattern(cells);
    const int last = patterns.layers() - 1;
    pattern_of(run, last, patterns.heads() - 1, pattern);
    if (patterns.causal()) promise(!sees_later(run, {last, 0}), "a causal pattern sees nothing later");
  });
}

}  // namespace headscope::fuzz
