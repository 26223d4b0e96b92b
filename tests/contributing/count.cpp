#include <ostream>

#include "app/cli/command_line.h"
#include "app/cli/engine.h"
#include "app/cli/prompts.h"

namespace headscope::app {

/// The number of tokens in prompts.
Run describe_count(CLI::App& app, const std::shared_ptr<Arguments>& a) {
  const auto longer = std::make_shared<int>(0);
  add_computing(app, *a);
  add_prompt(app, *a, true);
  app.add_option("--longer", *longer, "prompts of more than N tokens (default: 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1 << 30));
  return [a, longer](const Streams& streams) {
    require_prompt(*a);
    const Engine engine = start_engine(*a, streams);
    for_each_prompt(*a, streams, [&](const PromptSource&, const ListedPrompt& prompt) {
      const int tokens = tokenize(*engine.model, prompt).length();
      if (tokens > *longer) streams.out << tokens << '\n';
    });
    return 0;
  };
}

}  // namespace headscope::app
