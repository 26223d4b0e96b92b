#include "app/views/output/logit_options.h"

#include "app/run/analyses/logit_direction.h"
#include "app/views/parts/declare.h"
#include "app/views/parts/names.h"

namespace headscope::app {

const Option<int> kLogitRank =
    make_option<int>("logit-rank", "Token",
                     "the token whose logit is decomposed, by rank (of the unedited run, while edits are on)",
                     {.default_value = 1, .low = 1, .high = 100, .keys = "hH"});
const Option<int> kAgainstRank =
    make_option<int>("against-rank", "Against", "the token whose logit is subtracted, by rank (0: none)",
                     {.default_value = 0, .default_name = "none", .low = 0, .high = 100, .keys = "wW"});

std::string logit_words(const ViewContext& c, int token, int against) {
  const std::string words = "“" + label_of(c, token) + "”";
  if (against == kVocabularyMean) return words + " − mean";
  return against < 0 ? words : words + " − “" + label_of(c, against) + "”";
}

}  // namespace headscope::app
