#pragma once
#include <string>

#include "app/views/view.h"

// Options of views that take a logit, or the difference of two logits, apart.
namespace headscope::app {

extern const Option<int> kLogitRank;    ///< rank of the token, from 1
extern const Option<int> kAgainstRank;  ///< rank of the token whose logit is subtracted; 0: none

/// "“·it”", "“·it” − “·the”", "“·it” − mean"; `against`: -1: none; kVocabularyMean: the mean.
std::string logit_words(const ViewContext& context, int token, int against);

}  // namespace headscope::app
