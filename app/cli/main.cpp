#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <istream>

#include "app/cli/arguments/standard_streams.h"
#include "app/cli/program.h"
#include "app/desktop/background.h"

int main(int argc, char** argv) {
  using namespace headscope::app;
  occupy_standard_descriptors();
  report_out_of_memory();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe becomes an error of the write
  DescriptorInput input(STDIN_FILENO, "standard input");
  std::istream in(&input);
  in.exceptions(std::ios::badbit);
  DescriptorBuffer buffer(STDOUT_FILENO, "standard output");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  const int status =
      run_program({argv + (argc > 0 ? 1 : 0), argv + argc},
                  {in, out, std::cerr, ::isatty(STDOUT_FILENO) == 1, ::isatty(STDERR_FILENO) == 1});
  if (running_tasks > 0) std::_Exit(status);  // a hanging task may still use statics
  return status;
}
