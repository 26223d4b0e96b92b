#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/run/prompt_run.h"

namespace headscope::app {

/// How many tokens around a place belong to its excerpt.
struct ExcerptSize {
  int before = 0, after = 0;
  bool operator==(const ExcerptSize&) const = default;
};

/// The tokens of a prompt around a place, with a number for each.
struct Excerpt {
  int first = 0;                    ///< position of the first
  bool continues = false;           ///< tokens of the run follow the last
  std::vector<int> ids;             ///< of the tokens
  std::vector<std::string> labels;  ///< of the tokens
  std::vector<float> values;        ///< a number for each token; empty: there is none

  std::string text() const;  ///< "…·gave·a·drink": up to the last token
  std::size_t bytes() const;
  bool operator==(const Excerpt&) const = default;
};

/// The excerpt around a position of a run. `value`: the number of each position; empty: none.
Excerpt excerpt_of(const PromptRun& run, int position, ExcerptSize size,
                   const std::function<float(int position)>& value = {});

}  // namespace headscope::app
