#include "app/cli/answer_file.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/text/output_text.h"

namespace headscope::app {
namespace {

Json json_of(const OptionSpec& option) {
  Json json{{"name", option.name},
            {"flag", option.flag_name()},
            {"values", values_of(option)},
            {"help", option.help},
            {"default", to_text(option, option.default_value)}};
  const bool number = std::holds_alternative<int>(option.default_value) ||
                      std::holds_alternative<double>(option.default_value);
  if (number && option.choices.empty()) json["least"] = option.low, json["most"] = option.high;
  return json;
}

Json views_json() {
  Json all = Json::array();
  for (const View& view : views()) {
    Json options = Json::array();
    for (const OptionSpec* option : view.options)
      if (!option->pane_only) options.push_back(json_of(*option));
    all.push_back({{"id", view.id},
                   {"title", view.title},
                   {"group", spec_of(view.group).title},
                   {"audience", audience_title(view.audience)},
                   {"help", view.help},
                   {"options", std::move(options)}});
  }
  return {{"how", {{"program", program_name()}}}, {"views", std::move(all)}};
}

void write_text(std::ostream& out) {
  for (const View& view : views()) {
    out << format("%-10s %s (%s)\n", std::string(view.id).c_str(), std::string(view.help).c_str(),
                  std::string(audience_title(view.audience)).c_str());
    for (const OptionSpec* option : view.options)
      if (!option->pane_only)
        out << format("           %-28s %s (default: %s)\n",
                      ("--" + std::string(option->flag_name()) + " " + values_of(*option)).c_str(),
                      std::string(option->help).c_str(), to_text(*option, option->default_value).c_str());
  }
}

}  // namespace

Run describe_views(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  add_out(app, *a, "txt|json", "write the answer to this file");
  return [&app, a](const Streams& streams) {
    const Format format = format_of(app, *a, "txt|json");
    AnswerFile file(a->out, streams);
    if (format == Format::json)
      file.streams().out << json_line(views_json()) << '\n';
    else
      write_text(file.streams().out);
    file.commit();
    return 0;
  };
}

}  // namespace headscope::app
