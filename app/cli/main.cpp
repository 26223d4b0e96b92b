#include <cstdlib>
#include <iostream>
#include <istream>

#include "app/cli/program.h"
#include "app/cli/standard_streams.h"
#include "app/desktop/background.h"
#include "system/console.h"

int main(int argc, char** argv) {
  using namespace headscope;
  using namespace headscope::app;
  system::prepare_standard_streams();
  report_out_of_memory();
  InputBuffer input(system::without_name(system::standard_input()), "standard input");
  std::istream in(&input);
  in.exceptions(std::ios::badbit);
  StandardOutput buffer(system::without_name(system::standard_output()), "standard output");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  const int status =
      run_program(system::program_arguments(argc, argv),
                  {in, out, std::cerr, system::is_terminal(system::standard_output()),
                   system::is_terminal(system::standard_error()), system::hide_standard_streams});
  if (running_tasks > 0) std::_Exit(status);  // a hanging task may still use statics
  return status;
}
