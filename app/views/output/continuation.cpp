#include "app/views/output/continuation.h"

#include <cmath>

#include "app/run/analyses/attribution.h"
#include "app/run/analyses/next_token.h"
#include "app/views/parts/comparison_words.h"
#include "app/views/parts/menu_lines.h"
#include "app/views/parts/names.h"
#include "app/views/view.h"
#include "model/pass/statistics.h"

namespace headscope::app {

int continued(const ViewContext& c) {
  return c.chosen_query >= 0 && c.selection.query + 1 < c.run->tokens.length() ? c.selection.query : -1;
}

ViewActions go_on(const ViewContext& c, const NextToken& next, int id) {
  const int after = continued(c);
  if (after < 0 && c.run->tokens.length() >= c.run->run->config.n_ctx) return {};
  const auto logit = static_cast<double>(next.logits[static_cast<std::size_t>(id)]);
  return {AppendToken{id, after, std::exp(logit - model::log_sum_exp(next.logits)), c.run}};
}

std::vector<std::string> guess_lines(const ViewContext& c, const NextToken& next, int id,
                                     double probability) {
  std::vector<std::string> lines{
      "“" + label_of(c, id) + "”",
      "id " + std::to_string(id) + ", bytes " + bytes_as_hex(c.run->model->tokenizer->bytes(id)),
      "probability " + plain(probability), "logit " + exact(next.logits[static_cast<std::size_t>(id)])};
  if (c.side == Side::baseline && c.asked && !compares_one_prompt(*c.asked))
    lines.push_back("of the " + second_name(*c.asked) + ": a click continues that one");
  else if (const int after = continued(c); after >= 0)
    lines.push_back("continues after position " + std::to_string(after) + ", in place of what follows");
  else if (c.run->tokens.length() >= c.run->run->config.n_ctx)
    lines.push_back("the context is full: nothing can follow");
  return lines;
}

std::vector<MenuLine> guess_menu(const ViewContext& c, const NextToken& next, int id, double probability) {
  std::vector<MenuLine> lines;
  const int after = continued(c);
  const std::string label = label_of(c, id);
  if (ViewActions actions = go_on(c, next, id); !actions.empty())
    lines.push_back(
        {(after < 0 ? "Append “" : "Continue after position " + std::to_string(after) + " with “") + label +
             "”",
         std::move(actions)});
  lines.push_back({"Copy probability " + plain(probability), {CopyText{plain(probability)}}});
  lines.push_back(copy_value(next.logits[static_cast<std::size_t>(id)], "logit"));
  add_copies_of_token(lines, c, id, label);
  return lines;
}

}  // namespace headscope::app
