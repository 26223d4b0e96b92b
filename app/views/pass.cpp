#include "app/views/pass.h"

#include "app/views/common.h"

namespace headscope::app {
namespace {

/// Nothing where no token stands for the selected one.
std::optional<PassOfToken> counterpart(const ViewContext& c) {
  const int there = compared_query(c);
  return there < 0 ? std::nullopt : std::optional(PassOfToken{there});
}

}  // namespace

std::shared_ptr<const TokenPass> pass_of(const ViewContext& c) {
  const PassOfToken question{c.chosen_query};
  if (c.side != Side::change || !c.run) return c.ask(question);
  const auto there = counterpart(c);
  if (!there) return nullptr;
  const auto after = c.ask_on(Side::run, question), before = c.ask_on(Side::other, *there);
  return after && before ? std::make_shared<const TokenPass>(pass_change(*after, *before)) : nullptr;
}

std::optional<Picture> waiting_for_pass(const ViewContext& c, bool there) {
  const PassOfToken question{c.chosen_query};
  if (c.side != Side::change || !c.run) return waiting(c, question, there);
  const auto other = counterpart(c);
  if (!other) return no_counterpart(c);
  const bool here = c.ask_on(Side::run, question) != nullptr;
  return waiting(c, here ? Question(*other).of_other() : Question(question), there);
}

const char* change_of(const ViewContext& c) {
  return c.side == Side::change ? "change of " : "";
}

}  // namespace headscope::app
