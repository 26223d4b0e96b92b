#include "app/cli/program.h"

#include <exception>
#include <new>
#include <ostream>
#include <string_view>

#include "app/cli/commands/commands.h"
#include "app/cli/commands/engine.h"
#include "app/cli/commands/get.h"
#include "app/cli/interrupt.h"
#include "app/cli/prompt_source.h"
#include "app/cli/standard_streams.h"
#include "app/window/window.h"

namespace headscope::app {
namespace {

/// Runs a command and gives the exit status.
struct Runner {
  const Streams& streams;

  int operator()(const Reply& reply) const {
    if (reply.status == 0) {
      streams.out << reply.text;
    } else {
      streams.err << "headscope: " << one_line(reply.text) << '\n';
    }
    return reply.status;
  }
  int operator()(const WindowCommand& command) const {
    if (command.file.empty())
      return run_window(window_options(command.model, command.prompt, command.comparison, command.tour, streams));
    Recipe recipe = read_recipe(command.file);
    ModelArguments model = command.model;
    if (!model.model) model.model = recipe.session.model.name, model.by_name = true;
    WindowOptions options = window_options(model, command.prompt, command.comparison, command.tour, streams);
    options.session = std::move(recipe);
    options.session_file = std::filesystem::absolute(command.file);
    return run_window(options);
  }
  int operator()(const GetCommand& command) const { return run_get(command, streams), 0; }
  int operator()(const InfoCommand& command) const { return run_info(command, streams), 0; }
  int operator()(const TokensCommand& command) const { return run_tokens(command, streams), 0; }
  int operator()(const PredictCommand& command) const { return run_predict(command, streams), 0; }
  int operator()(const LensCommand& command) const { return run_lens(command, streams), 0; }
  int operator()(const AttributeCommand& command) const { return run_attribute(command, streams), 0; }
  int operator()(const SweepCommand& command) const { return run_sweep(command, streams), 0; }
  int operator()(const GenerateCommand& command) const { return run_generate(command, streams), 0; }
  int operator()(const TraceCommand& command) const { return run_trace(command, streams), 0; }
  int operator()(const MetricsCommand& command) const { return run_metrics(command, streams), 0; }
  int operator()(const SearchCommand& command) const { return run_search(command, streams), 0; }
  int operator()(const ViewsCommand& command) const { return run_views(command, streams), 0; }
  int operator()(const PlotCommand& command) const { return run_plot(command, streams), 0; }
  int operator()(const ShotCommand& command) const { return run_shot(command, streams), 0; }
  int operator()(const RecipeCommand& command) const {
    return std::visit(*this, command_of_recipe(command));
  }
  int operator()(const BenchCommand& command) const { return run_bench(command, streams), 0; }
  int operator()(const DoctorCommand& command) const { return run_doctor(command, streams); }
};

int failed(const Streams& streams, std::string_view why) {
  streams.err << "headscope: " << one_line(why) << '\n';
  return 1;
}

}  // namespace

std::string one_line(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
    } else {
      line += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (line.ends_with('.') && !line.ends_with("..")) line.pop_back();
  return line;
}

int run_program(const std::vector<std::string>& arguments, const Streams& streams) {
  try {
    const auto run = [&](auto command) {
      if constexpr (requires { command.model.get; }) bring_model(command.model, streams);
      return Runner{streams}(command);
    };
    const int status = std::visit(run, parse_command_line(arguments));
    streams.out.flush();
    return status;
  } catch (const StreamError& error) {
    return error.quiet() ? 1 : failed(streams, error.what());
  } catch (const Interrupted& interrupted) {
    return end_by(interrupted);
  } catch (const std::bad_alloc&) {
    return failed(
        streams,
        "there is not enough memory for this; take a shorter prompt, a smaller picture or a smaller model");
  } catch (const std::exception& error) {
    return failed(streams, error.what());
  }
}

}  // namespace headscope::app
