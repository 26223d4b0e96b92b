#include "app/run/answers.h"

#include <algorithm>

#include "model/files/error.h"

namespace headscope::app {

std::shared_ptr<const Answer> DirectAnswers::ask(const Question& question) {
  AnswerMap& answers = of_model_ != nullptr && question.is_model_only() ? *of_model_ : known_;
  if (const auto known = answers.find(question); known != answers.end()) return known->second;
  Question::ComputeContext context{with_};
  context.ask = [&](const Question& side, const auto&) { return ask(side); };
  if (tell_) context.show = [&](const Answer&, double done) { tell_(question.name(), done); };
  auto answer = std::make_shared<const Answer>(question.compute(*run_, context));
  if (tell_) tell_(question.name(), 1);
  if (!answer->failure.empty()) throw model::RunError(answer->failure);
  if (const std::string& words = answer->skipped; !words.empty() && !std::ranges::count(skipped_, words))
    skipped_.push_back(words);
  answers.emplace(question, answer);
  return answer;
}

std::shared_ptr<const Answer> SnapshotAnswers::ask(const Question& question) {
  const auto [reply, is_new] = replies_.try_emplace(question);
  if (is_new) asked_.push_back(question), reply->second = snapshot_->answers.find(question);
  return reply->second;
}

}  // namespace headscope::app
