#include <algorithm>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/commands/how.h"
#include "app/cli/commands/output.h"
#include "app/desktop/doctor.h"
#include "app/window/surfaceless_gl.h"
#include "system/machine.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;
using State = Finding::State;

OpenGlFacts open_gl_facts(const Environment& environment) {
  OpenGlFacts facts;
  if (const auto x11 = environment("DISPLAY")) facts.display = "X11 " + *x11;
  if (const auto wayland = environment("WAYLAND_DISPLAY"))
    facts.display = "Wayland " + *wayland + (facts.display.empty() ? "" : ", " + facts.display);
  if (system::is_windows()) facts.display = "Windows";
  if (system::is_macos()) facts.display = "macOS";
  if (facts.display.empty()) {
    const SurfacelessGl found = surfaceless_gl();
    facts.renderer = found.renderer;
    facts.problem = found.problem;
  } else {
    const WindowTrial found = try_window();
    facts.renderer = found.renderer;
    facts.problem = found.problem;
    if (facts.renderer.empty()) facts.surfaceless = surfaceless_gl().renderer;
  }
  return facts;
}

const char* word_of(State state) {
  return state == State::fine ? "ok" : state == State::missing ? "lacking" : "broken";
}

void write_text(const std::vector<Finding>& findings, std::ostream& out) {
  std::size_t width = 0;
  for (const Finding& finding : findings)
    if (finding.name.size() <= 20) width = std::max(width, finding.name.size());
  std::string part;
  for (const Finding& finding : findings) {
    if (finding.part != part) out << (part.empty() ? "" : "\n") << finding.part << '\n';
    part = finding.part;
    out << format("  %-7s  %-*s  %s\n", word_of(finding.state), static_cast<int>(width),
                  terminal_safe(finding.name).c_str(), terminal_safe(finding.text).c_str());
    if (!finding.remedy.empty())
      out << format("           %-*s  -> %s\n", static_cast<int>(width), "",
                    terminal_safe(finding.remedy).c_str());
  }
}

/// Returns the exit status: 1 if something is broken.
int run_doctor(const Arguments& command, const Streams& streams) {
  const Environment environment = process_environment();
  Surroundings facts = surroundings(environment);
  facts.open_gl = open_gl_facts(environment);
  const std::vector<Finding> findings = examine(facts);
  const auto count = [&](State state) { return std::ranges::count(findings, state, &Finding::state); };
  const bool works = count(State::broken) == 0;
  if (command.json) {
    Json list = Json::array();
    for (const Finding& finding : findings)
      list.push_back({{"part", finding.part},
                      {"name", utf8_or_replacement(finding.name)},
                      {"state", word_of(finding.state)},
                      {"text", utf8_or_replacement(finding.text)},
                      {"remedy", utf8_or_replacement(finding.remedy)}});
    streams.out << json_line(Json{{"how", {{"program", program_name()}}},
                                  {"works", works},
                                  {"findings", std::move(list)}})
                << '\n';
  } else {
    write_text(findings, streams.out);
    streams.out << '\n'
                << (!works                       ? "Something is broken: see above.\n"
                    : count(State::missing) == 0 ? "Everything is here.\n"
                                                 : "headscope works, without what is lacking.\n")
                << (facts.windows || facts.macos ? "" : "Package names are Debian's.\n");
  }
  return works ? 0 : 1;
}

}  // namespace

Finish describe_doctor(CommandSyntax& command) {
  command.json();
  command.answer_out();
  command.footer(
      "Exit status: 0 if headscope works here, 1 if something is broken: no font, no bundled model, or "
      "a\ndisplay without OpenGL 3.3. Parts that are merely lacking do not count.");
  return command.finish(
      std::make_shared<Arguments>(), [](Arguments&) {}, run_doctor);
}

}  // namespace headscope::app
