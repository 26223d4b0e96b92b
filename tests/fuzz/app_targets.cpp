// The program's own formats: edits, tours, settings, prompts, arguments, sessions and figures; what the hub
// answers; and text of any bytes, shown and written.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <variant>

#include "app/ascii.h"
#include "app/cli/command_line.h"
#include "app/cli/prompts.h"
#include "app/cli/recipes.h"
#include "app/cli/request.h"
#include "app/hub/hub_model.h"
#include "app/recipe/recipe.h"
#include "app/run/analyses/patterns.h"
#include "app/run/edits/edit_list.h"
#include "app/run/edits/edit_text.h"
#include "app/run/sources/model_discovery.h"
#include "app/run/sources/pattern_file.h"
#include "app/text/output_text.h"
#include "app/tour/tour.h"
#include "model/files/error.h"
#include "system/path_text.h"
#include "tests/fuzz/targets.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/temporary_folder.h"
#include "viz/text/utf8.h"

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

/// Whether a path is below a folder, judging by its text.
bool is_below(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const auto inside = path.lexically_normal().lexically_relative(folder);
  return !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
}

void promise_recipe(const Recipe& recipe) {
  const std::string json = to_json(recipe);
  promise(to_json(recipe_of(json, "again")) == json, "a session is read back as it was written");
  promise(is_printable(command_of(recipe)), "the command of a figure can be shown");
  Recipe figure = recipe;
  if (!figure.figure) figure.figure = Figure{};
  promise(std::ranges::all_of(recipe_note(figure).text, [](char c) { return c >= 0x20 && c < 0x7f; }),
          "a note is of printable ASCII");
}

/// Models and attention files are named without a folder, and searched in the user's folders.
void promise_harmless(const Arguments& a) {
  promise(a.model.by_name && !a.model.get && !a.second_model, "a recipe's models are known by name");
  promise(!a.model.patterns || system::is_file_name(*a.model.name),
          "a recipe's attention file has no folder");
  for (const std::filesystem::path& file :
       {a.second_attention, a.edits_file, a.mean_over, a.over, a.prompt.file, a.recipe})
    promise(file.empty(), "a recipe names no file to read");
  promise(a.out.empty() && a.format.empty() && a.merge.empty() && a.tour.empty() && a.threads == 0,
          "a recipe does not say where to write");
}

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
  static const testing::TemporaryFolder folder(memory_folder());
  Settings s = load_settings(folder.write("settings.json", json));
  const std::string problem = std::exchange(s.problem, "");
  if (!problem.empty()) promise_sentence(problem);
  promise(
      s.window_width > 0 && s.window_height > 0 && s.export_scale >= 1 && s.export_scale <= kMaxExportScale,
      "sizes are within their limits");
  promise(s.recent_models.size() <= kMaxRecent && s.recent_sessions.size() <= kMaxRecent, "lists are short");
  promise(parse_settings(to_json(s), "again") == s, "settings are read back as they were written");
  return problem.empty() ? Outcome::read : Outcome::refused;
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
  const auto lines = lines_of(words);
  const std::vector<std::string> arguments(lines.begin(), lines.end());
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

Outcome check_hub_listing(std::string_view json) {
  return read_or_refused<std::runtime_error>([&] {
    const Listing listing = parse_listing(json, {"openai-community/gpt2"});
    promise(is_commit(listing.commit), "a listing is of a commit");
    for (const auto& [name, file] : listing.files)
      promise(file.digest.empty() || is_content_hash(file.digest),
              "a file is named by its hash, if it is known");
  });
}

Outcome check_hub_name(std::string_view name) {
  return read_or_refused<HubError>([&] {
    const HubModel model = parse_hub_model(name);
    promise(parse_hub_model(to_text(model)) == model, "a name is read back");
    promise(is_printable(to_text(model)), "a name can be shown");
    promise(is_below("/refs", std::filesystem::path("/refs") / model.revision),
            "a revision lies in its folder");
    promise(
        std::ranges::count(model.repository, '/') <= 1 && is_below("/cache", "/cache/" + model.repository),
        "a model lies in the cache");
  });
}

Outcome check_recipe(std::string_view file) {
  static const testing::TemporaryFolder folder(memory_folder());
  const std::filesystem::path path = folder.write("figure", file);
  return read_or_refused<std::runtime_error>([&] {
    const Recipe recipe = recipe_of(file, "figure");
    promise_recipe(recipe);
    Arguments arguments(nullptr);
    take_recipe(arguments, path, find_view(recipe.session.view));
    promise_harmless(arguments);
  });
}

Outcome check_shown_text(std::string_view bytes) {
  promise(is_printable(viz::visible(bytes)), "a label has no control character");
  std::string drawn = viz::drawable(bytes);
  std::erase(drawn, '\t');
  promise(is_printable(drawn), "what is drawn has no control character but tabs");
  promise(is_printable(model::quote(bytes)) && model::quote(bytes).size() <= 64 * 4 + 5,
          "a quoted name is short and printable");
  promise(is_printable(terminal_safe(bytes)), "what goes to a terminal is no command to it");
  promise(viz::is_utf8(utf8_or_replacement(bytes)), "what is no UTF-8 is replaced");
  promise(!viz::is_utf8(bytes) || utf8_or_replacement(bytes) == bytes, "what is UTF-8 stays");
  promise(bytes_from_json(bytes_to_json(bytes)) == std::string(bytes), "bytes come back out of JSON");
  const nlohmann::ordered_json shown = utf8_or_replacement(bytes);
  const std::string json = json_line(shown);
  promise(is_printable(json), "JSON has no control character");
  promise(nlohmann::ordered_json::parse(json) == shown, "JSON means what it was made of");
  return Outcome::read;
}

Words recipe_words() {
  return json_and(
      "figure version program command model weights precision bf16 prompt ids bos no-bos edit off: second "
      "second-on second-model second-weights second-attention align token show difference view beside layer "
      "head query key tries probabilities over over-lines theme dark font-size heads-pane window size "
      "300x300+ scale no-title no-caption svg-text for column rows heatmap "
      "lines heads value-scale log zoom 0:4,all 5.1,5.3 --out "
      "--out=x -o ../../x --model out L0H1.z=0");
}

}  // namespace

std::vector<Target> app_targets() {
  return {
      {"shown-text", check_shown_text, characters() + Words{"\"", "\\"}, nullptr, 256},
      {"edit-text", check_edit_text,
       words_in("L0 L1H1 L* H* . z scores pattern mask positions resid_pre mlp_post logits result embed = *= "
                "+= <- ~= [ ] , - * null none mean ids( ) \" \\ ; / 100/110/111 0 1 7 8 1e38 -1 0.5 nan inf "
                "1048576 2147483647 99999999999 [0-7] 0*8"),
       nullptr, 512},
      {"attention", check_attention,
       json_and("__metadata__ dtype shape data_offsets F32 F16 BF16 I64 I32 tokens key_tokens causal true "
                "false model text blocks.0.attn.hook_pattern blocks.1.attn.hook_pattern [\"a\",\"b\"] "
                "[1,\"b\"] 4097 16385"),
       mutate_safetensors, 4096, 800},
      {"tour", check_tour,
       characters() +
           words_in(
               "# |## |- prompt: |- view: heatmap|- view: |- layer: |- head: |-1|- token: last|- key: |- "
               "point: cell|- point: pane next|- if: this prompt, weight above 50 %|- if: this head|- "
               "otherwise|- otherwise: layers below 2|- option: value-scale log|- option: zoom 0:4,all|- "
               "edit: L0H0.z=0|- wait: head|{tokens}|{weight}|{|}|%|:|99999999999",
               '|'),
       mutate_lines, 1024},
      {"settings", check_settings,
       json_and("theme dark font-size window-width heads-pane view heatmap layer query last-model "
                "recent-models recent-sessions export-folder export-scale has-prompt prompt value-scale log "
                "zoom 0:4,all dimensions 0,1,64"),
       mutate_json, 2048},
      {"prompt-list", check_prompt_list,
       json_and("prompt ids second token other_token position id:7 \n \r\n {\"ids\":[1,2]}\n \"text\"\n"),
       mutate_json_lines, 512},
      {"means", check_means,
       json_and("how view sweep options facts columns units skipped shard index count prompts layer head "
                "change 1e120 -1e300 nats ranked_by"),
       mutate_json, 4096, 300},
      {"command-line", check_command_line,
       characters() +
           words_in("\n shot predict tokens sweep metrics search trace get info heatmap lens serve --prompt "
                    "--out x.png --format --size 100x100 fit --layer=1 --head --ids 1,2,3 --json --model "
                    "--scale 1e9 --zoom 0:4,all --help --edit L0H0.z=0 --prompts --shard 1/2 --recipe --tour "
                    "-1 = -- - --mean --rows --merge nan --token id:7 99999999999"),
       mutate_lines, 256, 200},
      {"request", check_request,
       json_and("id args input input_base64 YQ== predict heatmap --prompt --json - \\u0000"), mutate_json,
       1024, 300},
      {"session", check_recipe, recipe_words(), mutate_json, 2048},
      {"figure", check_recipe, recipe_words(), nullptr, 4096},
      {"hub-listing", check_hub_listing,
       json_and("sha siblings rfilename size blobId lfs sha256 config.json ../x") +
           Words{std::string(40, 'a'), std::string(64, 'b')},
       mutate_json, 1024},
      {"hub-name", check_hub_name,
       characters() + words_in("gpt2 / @ main -- .. . .git refs/pr/1 %2f .lock a"), nullptr, 320},
  };
}

}  // namespace headscope::fuzz
