#include "app/cli/commands/drawn.h"

#include <utility>

#include "app/cli/commands/recipes.h"
#include "app/counted.h"
#include "model/files/error.h"

namespace headscope::app {

void drawn_output(CommandSyntax& command, DrawnCommand& own) {
  command.json();
  command.picture();
  command.no_recipe(own.no_recipe);
  command.picture_out(
      "png|svg|pdf|csv|txt|json",
      "a picture, its data as csv, or the\nanswer as txt or json (default: a list, the "
      "strongest first); with --prompts, {n}\nin a picture's name is the prompt's number from 1");
}

void check_drawn(DrawnCommand& command, const char* example) {
  check_alignment(command, true);
  if (command.out_name.empty() || is_answer_format(answer_format(command))) {
    refuse({{command.out_format.has_value(), "--format applies only to --out -"}});
    reject_picture_options(command, "is for a picture; name its file after --out");
    return refuse({{command.no_recipe, "--no-recipe is for a picture; name its file after --out"}});
  }
  command.out = destination_of(command, example, kPicturesOrNumbers);
  if (command.out.format == FileFormat::csv) reject_picture_options(command, kNoPicture);
  set_for_target(command);
  check_pixels(command.picture, command.out.format);
  refuse({{command.out_name == "-" && command.json,
           "standard output takes only one result: both --json and --out - were given"}});
}

SecondPrompts::SecondPrompts(const DrawnCommand& command, Engine& engine)
    : command_(command),
      engine_(engine),
      second_(
          command.comparison.second
              ? run_second(engine, {*command.comparison.second, {}, command.prompt.start_token}, "--second: ")
              : nullptr) {}

std::optional<std::string> SecondPrompts::compare(PromptRun& run, const ListedPrompt& line,
                                                  const std::string& where) {
  const std::string name = line.second ? "\"second\"" : "--second";
  const auto second =
      line.second ? run_second(engine_, {*line.second, {}, command_.prompt.start_token}, where + name + ": ")
                  : second_;
  if (second == nullptr) return std::nullopt;
  const int length = second->run->length();
  compare_with(run, second, command_.comparison.aligned_by());
  if (!command_.comparison.alignment && length != run.run->length())
    throw model::RunError(where + "the " + name + " prompt has " + grouped(length) +
                          " tokens, but the prompt has " + grouped(run.run->length()) +
                          "; give --align to match them");
  return second->prompt.text;
}

Drawing::Drawing(const DrawnCommand& command, const Engine& engine)
    : command_(command), fonts_(command.out.empty() ? nullptr : viz::Fonts::load()) {
  if (is_wanted() && !command.no_recipe && command.out.format != FileFormat::csv)
    weights_ = weights_of(engine);
}

void Drawing::write(const View& view, const Options& options, int position,
                    const std::optional<std::string>& second, const std::shared_ptr<const PromptRun>& run,
                    const std::shared_ptr<const PromptList>& prompts, Answers& answers,
                    const PromptSource& source, const Streams& streams) const {
  PlotCommand plot;
  plot.model = command_.model;
  if (second) plot.comparison = {second, command_.comparison.alignment};
  plot.selection = Selection{0, 0, position, -1};
  plot.options = options;
  plot.picture = command_.picture;
  plot.no_recipe = command_.no_recipe;
  plot.out = {source.file(command_.out.file), command_.out.format};
  const std::string bytes = figure_bytes(plot, view, run, prompts, answers, *fonts_, weights_);
  write_output(plot.out, bytes, streams);
}

}  // namespace headscope::app
