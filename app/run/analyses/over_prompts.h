#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "app/counted.h"
#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "app/run/run_prompt.h"
#include "model/files/error.h"

namespace headscope::app {

/// What else over_prompts takes.
template <class Answer>
struct ListOptions {
  bool compared = false;                            ///< runs them with the second prompts of their lines
  const model::Hooks* hooks = nullptr;              ///< of the prompts' passes
  std::function<void(Answer& answer)> finish = {};  ///< turns an answer into one that can be shown
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< how many of the first prompts
};

/// Answers a question about the prompts of a list, one after the other; without a list, about the run `of`.
/// `add(run, index, answer)` adds one prompt's share; if it throws Stopped, the answer must be unchanged.
/// Prompts of a list that cannot be run, and those for which `add` throws RunError or LoadError, are skipped
/// and counted in the answer's `progress`.
template <class Answer, class Add>
Answer over_prompts(const OverPrompts& over, const PromptRun& of, const Computation<Answer>& computation,
                    const Add& add, const ListOptions<Answer>& options = {}) {
  if (!over.list) {
    Answer answer;
    if (options.hooks != nullptr) recompute(of, 0, of.run->length(), *options.hooks, computation);
    add(of, 0, answer);
    if (options.finish) options.finish(answer);
    return answer;
  }
  constexpr std::chrono::milliseconds kPause{100};  // between two parts that are shown
  if (of.model->patterns)
    throw model::RunError("a list of prompts needs a model that runs them; an attention file holds one run");
  const std::size_t count = std::min(options.most, over.list->prompts.size());
  Answer answer = computation.partial != nullptr ? *computation.partial : Answer{};
  auto shown = std::chrono::steady_clock::now();
  for (ListProgress& progress = answer.progress; progress.done < count;) {
    const auto skip = [&](std::string why) {
      if (progress.skipped++ == 0) progress.problem = std::move(why);
    };
    try {
      const ListedPrompt& line = over.list->prompts.at(progress.done);
      PromptToRun what{.model = of.model, .prompt = line};
      what.prompt.start_token = over.start_token;
      if (options.compared && line.second) what.second = Prompt{*line.second, {}, over.start_token};
      add(run_prompt(what, {computation, options.hooks}), progress.done, answer);
    } catch (const model::RunError& error) {
      skip("prompt " + grouped(static_cast<std::int64_t>(progress.done) + 1) + ": " + error.what());
    } catch (const model::LoadError& error) {  // names its line
      skip(error.what());
    }
    ++progress.done;
    const auto now = std::chrono::steady_clock::now();
    if (progress.done == count || now - shown < kPause) continue;
    shown = now;
    if (options.finish) options.finish(answer);
    computation.show(answer, static_cast<double>(progress.done) / static_cast<double>(count));
  }
  if (options.finish) options.finish(answer);
  return answer;
}

}  // namespace headscope::app
