#pragma once
#include <cstddef>
#include <string>

namespace headscope::app {

/// Progress over a list of prompts: the member `progress` of answers about one.
struct ListProgress {
  std::size_t done = 0;     ///< prompts, from the first on
  std::size_t skipped = 0;  ///< prompts among them that could not be run
  std::string problem;      ///< why the first of these could not be run: "prompt 3: …"
};

/// "2 of 40 prompts were skipped, the first because: ..."; empty: none was.
std::string skipped_words(const ListProgress& progress);

}  // namespace headscope::app
