#include "app/run/answers.h"

#include "model/files/error.h"

namespace headscope::app {

std::shared_ptr<const Answer> DirectAnswers::ask(const Question& question) {
  if (auto known = known_.find(question)) return known;
  Question::ComputeContext means{workspace_, {}, nullptr, nullptr, {}};
  if (tell_) means.show = [&](const Answer&, double done) { tell_(question.work(), done); };
  auto answer = std::make_shared<const Answer>(question.compute(*run_, means));
  if (answer->value == nullptr) throw model::RunError(answer->failure);
  known_.set(question, answer);
  return answer;
}

std::shared_ptr<const Answer> SnapshotAnswers::ask(const Question& question) {
  if (!holds(asked_, question)) asked_.push_back(question);
  return snapshot_->answers->find(question);
}

std::vector<Question> newest_first(const std::vector<Question>& before, const std::vector<Question>& now) {
  std::vector<Question> ordered;
  for (const Question& question : now)
    if (!holds(before, question)) ordered.push_back(question);
  for (const Question& question : before)
    if (holds(now, question)) ordered.push_back(question);
  return ordered;
}

}  // namespace headscope::app
