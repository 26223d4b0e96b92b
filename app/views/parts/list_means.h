#pragma once
#include <cstddef>

#include "app/run/prompt_list.h"
#include "app/run/question.h"
#include "app/views/table_fold.h"
#include "app/views/view.h"

// Means of a view's numbers over the prompts of a list: any view's table is folded.
namespace headscope::app {

/// Whether views show the mean over the open list instead of the shown prompt; one switch for all of them.
extern const Option<bool> kMeanOverList;

/// Whether a view has this switch.
inline bool can_show_means(const View& view) {
  return view.over_list.option == &kMeanOverList;
}
/// Whether it is on.
inline bool shows_means(const View& view, const ViewContext& context) {
  return can_show_means(view) && context.options[kMeanOverList];
}

/// Sets what a prompt's line in a list says of how it is measured: tokens, of which an other one chooses the
/// difference, and the position. Throws model::LoadError if the line cannot be measured.
void measure_as(const ListedPrompt& line, const View& view, Options& options, Selection& selection);

/// The tables of the prompts so far.
struct FoldOverPrompts {
  TableFold fold;
  ListProgress progress;
  AnswerMap of_model;  ///< answers that are the same for all prompts
  std::size_t bytes() const {
    std::size_t sum = fold.bytes() + progress.problem.size();
    for (const auto& [question, answer] : of_model) sum += answer->bytes;
    return sum;
  }
};

/// A view's table over the prompts of a list, each without edits and compared with the second prompt of its
/// line where the view uses one: independent of the shown prompt.
struct MeansOfView {
  static constexpr std::string_view kName = "means over many prompts";
  const View* view = nullptr;
  Options options;      ///< those that have an effect
  Selection selection;  ///< layer and head, of views about one
  OverPrompts over;
  bool operator==(const MeansOfView&) const = default;
  /// Prompts that cannot be measured are skipped. Throws RunError if none is left, and std::runtime_error,
  /// one sentence, if their tables do not fit together.
  FoldOverPrompts compute(const PromptRun& run, const Computation<FoldOverPrompts>& computation) const;
};
MeansOfView means_of(const View& view, const ViewContext& context);

/// What a view shows while the switch is on: a list of the means.
void declare_means(Content& content, const View& view);
/// The view with the switch. Views without a table for each prompt stay as they are.
View with_means(View view);

}  // namespace headscope::app
