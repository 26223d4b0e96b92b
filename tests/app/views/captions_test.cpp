// The line under an exported picture.
#include <map>
#include <regex>

#include "app/views/view.h"
#include "tests/app/views/view_suite.h"

namespace headscope::app::captions_test {
namespace {

TEST(Captions, NameWhatThePictureShows) {
  const Scenario s("A king\nlived");
  const ViewContext c = s.context(800, 600);
  EXPECT_EQ(caption(*find_view("heads"), c), "tales · “A king↵lived”");
  EXPECT_THAT(caption(*find_view("heatmap"), c), StartsWith("tales · “A king↵lived” · L2 H1 · query "));
  // Truncated between characters, not within one.
  const Scenario umlauts(std::string(59, 'a') + "ééééé");
  EXPECT_THAT(caption(*find_view("heads"), umlauts.context(800, 600)),
              HasSubstr("“" + std::string(59, 'a') + "…”"));
}

/// Values of an option that differ in what they do.
std::vector<OptionValue> several_values(const OptionSpec& option) {
  std::vector<OptionValue> values = ends_of(option);
  for (const int by : {1, -1, 2}) values.push_back(stepped(option, option.default_value, by));
  if (std::holds_alternative<Zoom>(option.default_value))
    values = {Zoom{0, 0, 5, 0}, Zoom{0, 0, 0, 5}, Zoom{0, 0, 5, 5}, Zoom{2, 2, 5, 5}};
  std::erase_if(values, [&](const OptionValue& value) {
    return value == option.default_value || !allowed(option, value);
  });
  return values;
}

bool is_said(const View& view, const OptionSpec& option) {
  const bool names_heads = view.shown_heads != nullptr && option.heads;
  return !option.pane_only && !option.reset_on_prompt_change && !names_heads;
}

/// Every view, with every option that captions say anything of.
TEST(Captions, SayAPhraseOfItsOwnForEachValueOfEachOption) {
  const Scenario s("A king lived");
  const std::regex no_phrase(": |[{}]|  |[0-9]-[0-9]");
  for (const View& view : views()) {
    std::map<std::string, std::pair<const OptionSpec*, OptionValue>> said;
    for (const OptionSpec* option : view.options) {
      if (!is_said(view, *option)) continue;
      for (const OptionValue& value : several_values(*option)) {
        SCOPED_TRACE(std::string(view.id) + " --" + std::string(option->name) + " " +
                     to_text(*option, value));
        ViewContext c = s.context(800, 600);
        c.options.set(*option, value);
        const std::string words = option_words(view, *option, c);
        EXPECT_NE(words, "") << "it needs a phrase";
        EXPECT_FALSE(std::regex_search(words, no_phrase)) << words;
        const auto [before, is_new] = said.try_emplace(words, option, value);
        EXPECT_TRUE(is_new || (before->second.first == option && before->second.second == value))
            << words << " is also said of --" << before->second.first->name;
      }
    }
  }
}

}  // namespace
}  // namespace headscope::app::captions_test
