#include "app/cli/commands/mean_list.h"

#include "app/cli/commands/engine.h"
#include "app/cli/status_line.h"
#include "app/counted.h"
#include "app/run/sources/digest.h"
#include "app/text/terminal_text.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "system/interrupt.h"
#include "system/path_text.h"

namespace headscope::app {

std::shared_ptr<const MeanList> read_mean_list(const std::filesystem::path& file, const LoadedModel& model,
                                               bool start_token) {
  const std::string bytes = model::read_file(file, PromptList::kMaxBytes);  // once: it may be a pipe
  auto list = std::make_shared<MeanList>();
  list->over = {std::make_shared<const PromptList>(parse_prompt_list(bytes, file)), start_token};
  Digest digest = Digest::sha256();
  digest.add(bytes);
  list->file = {list->over.list->name, digest.hex(), std::ssize(list->over.list->prompts)};
  const std::string name = terminal_safe(system::text_of(file));
  const std::vector<int> lines = lines_with_prompts(bytes);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Prompt prompt = list->over.list->prompts.at(i);
    prompt.start_token = start_token;
    list->tokens += tokenize_whole(model, prompt, name + ":" + std::to_string(lines[i]) + ": ").length();
  }
  return list;
}

std::shared_ptr<const Answer> computed_means(const MeansOverList& question,
                                             const std::shared_ptr<const LoadedModel>& model,
                                             model::Workspace& workspace, const Streams& streams) {
  const system::InterruptGuard interrupts;
  StatusLine line(streams);
  const std::string where = "--mean-over: ";
  PromptRun of_model;
  of_model.model = model;
  const auto show = [&](const Answer&, double done) {
    interrupts.check();
    line.tell_work(where, MeansOverList::kName, done);
  };
  auto answer = std::make_shared<const Answer>(
      Question(question).compute(of_model, {workspace, {}, nullptr, nullptr, show}));
  if (answer->value == nullptr) throw model::RunError(where + answer->failure);
  const ListProgress& progress = static_cast<const ActivationMeans*>(answer->value.get())->progress;
  if (progress.skipped > 0) throw model::RunError(where + progress.problem);
  return answer;
}

MeanSource source_of(const MeansOverList& question, const Answer& answer) {
  return {question.over, std::static_pointer_cast<const ActivationMeans>(answer.value)};
}

std::string words_of(const MeanList& list) {
  return "means over " + counted(list.tokens, "token") + " of " +
         counted(std::ssize(list.over.list->prompts), "prompt") + " of " +
         terminal_safe(list.over.list->name);
}

}  // namespace headscope::app
