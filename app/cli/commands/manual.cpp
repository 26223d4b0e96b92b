#include "app/cli/arguments/command_tree.h"

#include "app/cli/arguments/command_syntax.h"
#include "app/run/version.h"

namespace headscope::app {

Finish describe_manual(CommandSyntax& command) {
  command.footer("To read it: headscope manual | man -l -");
  return [] { return Reply{manual_page(whole_program(), version(), HEADSCOPE_DATE), 0}; };
}

}  // namespace headscope::app
