#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/how.h"
#include "app/views/option_names.h"

namespace headscope::app {
namespace {

Json json_of(const View& view, const OptionSpec& option) {
  Json json{{"name", option.name},
            {"flag", flag_of(view, option)},
            {"values", values_of(option)},
            {"help", option.help},
            {"default", to_text(option, option.default_value)}};
  const bool number = std::holds_alternative<int>(option.default_value) ||
                      std::holds_alternative<double>(option.default_value);
  if (number && option.choices.empty()) {
    json["least"] = option.low;
    json["most"] = option.high;
  }
  return json;
}

Json views_json() {
  Json array = Json::array();
  for (const View& view : views()) {
    Json options = Json::array();
    for (const OptionSpec* option : view.options) options.push_back(json_of(view, *option));
    array.push_back({{"id", view.id},
                     {"title", view.title},
                     {"group", spec_of(view.group).title},
                     {"help", view.help},
                     {"options", std::move(options)}});
  }
  return {{"how", {{"program", program_name()}}}, {"views", std::move(array)}};
}

void write_text(std::ostream& out) {
  for (const View& view : views()) {
    out << format("%-10s %s\n", std::string(view.id).c_str(), std::string(view.help).c_str());
    for (const OptionSpec* option : view.options) {
      if (option == view.tokens.id || option == view.tokens.other_id) continue;
      const bool token = view.tokens.has(option);
      const std::string flag =
          "--" + flag_of(view, *option) + " " + (token ? kTokenValues : values_of(*option));
      const std::string help(!token                       ? option->help
                             : option == view.tokens.rank ? "the token that is measured"
                                                          : "the token whose logit is subtracted");
      out << format("           %-28s %s (default: %s%s)\n", flag.c_str(), help.c_str(),
                    token && option->default_name.empty() ? "rank:" : "",
                    to_text(*option, option->default_value).c_str());
    }
  }
}

void run_views(const Arguments& command, const Streams& streams) {
  if (command.json) {
    streams.out << json_line(views_json()) << '\n';
  } else {
    write_text(streams.out);
  }
}

}  // namespace

Finish describe_views(CommandSyntax& command) {
  command.answer_out();
  return command.finish(
      std::make_shared<Arguments>(), [](Arguments&) {}, run_views);
}

}  // namespace headscope::app
