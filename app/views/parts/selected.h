#pragma once
#include <memory>
#include <optional>
#include <span>

#include "app/run/analyses/attention_questions.h"
#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/views/view.h"

// Answers about what is selected.
namespace headscope::app {

/// The pattern of the selected head; null while it is not there yet.
std::shared_ptr<const Pattern> current_pattern(const ViewContext& context);
std::shared_ptr<const Stages> current_stages(const ViewContext& context);
std::shared_ptr<const NextToken> current_next(const ViewContext& context);
/// What the run that is compared with makes of the same place; null: there is none, or nothing is known yet.
std::shared_ptr<const NextToken> compared_next(const ViewContext& context);
/// The guess of a rank (0: the most probable) after the selected query. Where something is compared, by its
/// id, the same one on all sides: a guess of the original, or of the first of two prompts. Nothing while that
/// is not known.
std::optional<TokenChoice> guess_of_rank(const ViewContext& context, int rank);
/// The selected query in what the run is compared with; -1: nothing stands for it.
int compared_query(const ViewContext& context);
/// A pattern's weights of the selected query, up to the last key that it sees and itself; empty of null.
std::span<const float> weights_of_query(const ViewContext& context, const Pattern* pattern);

}  // namespace headscope::app
