#include "app/cli/arguments/commands.h"

namespace headscope::app {

Finish describe_doctor(CommandSyntax& command, Given& given) {
  command.json();
  command.footer(
      "Exit status: 0 headscope works here, 1 something is broken: there is no font, no bundled model, or a\n"
      "display without OpenGL 3.3. What is merely lacking does not count.");
  return [&given] { return DoctorCommand{given.json}; };
}

}  // namespace headscope::app
