#include "app/window/picture_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/window/gui.h"

namespace headscope::app {

ViewContext make_context(const View* view, const UiState& state, const Snapshot& snapshot, Answers& answers,
                         const viz::Fonts& fonts, float width, float height, float device_scale) {
  ViewContext context;
  context.run = snapshot.run;
  context.answers = &answers;
  context.selection = snapshot.run ? clamped(state.selection, *snapshot.run) : state.selection;
  context.chosen_query = state.selection.query;
  context.options = state.options;
  context.tries = state.tries;
  context.prompts = state.prompts;
  context.theme = &theme_of(state.dark);
  context.fonts = &fonts;
  context.width = std::max(1.0F, width);
  context.height = std::max(1.0F, height);
  context.font_size = state.font_size;
  context.device_scale = device_scale;
  context.in_pane = true;
  context.asked = context.run;
  return view ? on_side(state.side, *view, std::move(context)) : context;
}

namespace {

using AnswerTo = std::pair<Question, std::shared_ptr<const Answer>>;

/// Replies that are known, and those of another Answers to what else is asked, which are recorded.
class RecordedAnswers final : public Answers {
 public:
  explicit RecordedAnswers(std::shared_ptr<SnapshotAnswers> more, std::vector<AnswerTo> replies = {})
      : replies_(std::move(replies)), more_(std::move(more)) {}

  std::shared_ptr<const Answer> ask(const Question& question) override {
    for (const auto& [known, answer] : replies_)
      if (known == question) return answer;
    if (!more_) return nullptr;
    replies_.emplace_back(question, more_->ask(question));
    return replies_.back().second;
  }
  std::vector<AnswerTo> replies() && { return std::move(replies_); }

 private:
  std::vector<AnswerTo> replies_;
  std::shared_ptr<SnapshotAnswers> more_;  // null: nothing new is asked
};

/// Whether the replies are still the same. Asks every question again, which also keeps the shown answers
/// wanted.
bool same_replies(const std::vector<AnswerTo>& replies, SnapshotAnswers& now) {
  bool all = true;
  for (const auto& [question, answer] : replies) all = now.ask(question) == answer && all;
  return all;
}

/// Whether a picture with these replies is better than the previous picture. One without regions is a
/// message: a reply may only tell what to ask next.
bool is_enough(const View& view, const Picture& picture, const std::vector<AnswerTo>& replies) {
  const auto missing = std::ranges::count(replies, nullptr, &AnswerTo::second);
  return missing == 0 || (missing < std::ssize(replies) && view.shows_parts && !picture.regions.empty());
}
bool awaits_quick_answer(const std::vector<AnswerTo>& replies) {
  return std::ranges::any_of(
      replies, [](const AnswerTo& reply) { return reply.second == nullptr && reply.first.quick(); });
}

/// Whether the options that only drawing reads, or the others, have the same values.
bool same_options(const View& view, const ViewContext& a, const ViewContext& b, bool of_drawing) {
  return std::ranges::all_of(view.options, [&](const OptionSpec* option) {
    return option->of_drawing != of_drawing || a.options.value(*option) == b.options.value(*option);
  });
}

/// Whether two contexts give the same content of a view, given equal answers.
bool shows_same(const View& view, const ViewContext& a, const ViewContext& b) {
  return same_options(view, a, b, false) && a.run == b.run && a.asked == b.asked && a.side == b.side &&
         a.selection == b.selection && a.chosen_query == b.chosen_query &&
         (a.tries == b.tries || !view.reads_tries) &&
         (a.prompts == b.prompts || (view.over_list.option == nullptr && view.list_mean.option == nullptr)) &&
         a.theme->dark == b.theme->dark && a.font_size == b.font_size && a.device_scale == b.device_scale;
}

/// Whether they then give the same picture.
bool draws_same(const View& view, const ViewContext& a, const ViewContext& b) {
  return a.width == b.width && a.height == b.height && same_options(view, a, b, true);
}

}  // namespace

CachedPicture PictureCache::get(const View& view, const ViewContext& wanted,
                                const std::shared_ptr<SnapshotAnswers>& answers,
                                const std::optional<ExportOptions>& file) {
  const Key key{&view, &view == &token_strip() && wanted.side == Side::baseline, file.has_value()};
  Slot& slot = slots_[key];
  slot.used = true;
  const bool same_kind = slot.picture && slot.file == file;
  const bool same =
      same_kind && shows_same(view, slot.context, wanted) && same_replies(slot.replies, *answers);
  const auto shown = [&] {
    return CachedPicture{slot.picture, wanted, answers, awaits_quick_answer(slot.replies)};
  };
  if (same && draws_same(view, slot.context, wanted)) return shown();
  RecordedAnswers recorded(answers);
  ViewContext context = wanted;
  context.answers = &recorded;
  const std::shared_ptr<void> content = same && !file && view.draws_again ? slot.picture->content : nullptr;
  auto picture = std::make_shared<const Picture>(file ? export_picture_of(view, context, *file)
                                                      : view.drawn(context, content));
  ++built_;
  std::vector<AnswerTo> replies = content ? slot.replies : std::move(recorded).replies();
  if (!is_enough(view, *picture, replies) && same_kind && slot.context.run &&
      is_enough(view, *slot.picture, slot.replies)) {
    // New questions are possible only about the same run.
    const auto known = std::make_shared<RecordedAnswers>(
        slot.context.asked == wanted.asked ? answers : nullptr, slot.replies);
    CachedPicture previous{slot.picture, slot.context, known, awaits_quick_answer(replies)};
    previous.context.answers = known.get();
    return previous;
  }
  context.answers = nullptr;
  slot = {file, std::move(replies), std::move(picture), std::move(context)};
  return shown();
}

void PictureCache::drop_unused() {
  std::erase_if(slots_, [](const auto& slot) { return !slot.second.used; });
  for (auto& [key, slot] : slots_) slot.used = false;
}

}  // namespace headscope::app
