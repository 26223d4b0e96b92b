// The line under an exported picture.
#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <tuple>

#include "app/run/given_token.h"
#include "app/views/option_words.h"
#include "tests/app/views/view_suite.h"

namespace headscope::app::captions_test {
namespace {

TEST(Captions, NameWhatThePictureShows) {
  const Scenario s("A king\nlived");
  const ViewContext c = s.context(800, 600);
  const std::string query =
      "query " + std::to_string(s.selection.query) + " “" + s.run->tokens.labels.back() + "”";
  EXPECT_EQ(caption(*find_view("heatmap"), c), "tales · “A king↵lived” · L2 H1 · " + query);
  EXPECT_EQ(caption(*find_view("heads"), c), "tales · “A king↵lived”");
  EXPECT_EQ(caption(*find_view("positions"), c), "tales");
  EXPECT_THAT(caption(*find_view("next"), c), HasSubstr(query));
  // Truncated between characters, not within one.
  const Scenario umlauts(std::string(59, 'a') + "ééééé");
  EXPECT_THAT(caption(*find_view("heads"), umlauts.context(800, 600)),
              HasSubstr("“" + std::string(59, 'a') + "…”"));
  const Scenario empty("");
  EXPECT_THAT(caption(*find_view("heads"), empty.context(800, 600)), HasSubstr("the empty prompt"));
}

TEST(Captions, NameTheHeadsThatAreDrawn) {
  const Scenario s("A king lived");
  ViewContext c = s.context(800, 600);
  EXPECT_THAT(caption(*find_view("lines"), c), HasSubstr(" · L2 H1 · query"));
  set(c, "line-heads", "5.5,1.6");
  EXPECT_THAT(caption(*find_view("lines"), c),
              AllOf(HasSubstr(" · L5 H5, L1 H6 · query"), Not(HasSubstr("line-heads"))));
}

std::string caption_with(const Scenario& s, const char* view, const NamedOptions& options) {
  ViewContext c = s.context(800, 600);
  for (const auto& [name, value] : options) set(c, name, value);
  return caption(*find_view(view), c);
}

TEST(Captions, SayInWordsWhatOptionsDo) {
  const Scenario s("A king lived");
  const std::vector<std::tuple<const char*, NamedOptions, const char*>> said = {
      {"heatmap", {{"value-scale", "log"}}, "log scale"},
      {"heatmap", {{"value-max", "0.5"}}, "full colour at 0.5"},
      {"heatmap", {{"zoom", "2:5,1:4"}}, "queries 2–4, keys 1–3"},
      {"heatmap", {{"zoom", "2:5,all"}}, "queries 2–4"},
      {"heatmap", {{"zoom", "all,1:4"}}, "keys 1–3"},
      {"heatmap", {{"shape-cells", "2.1,3.2"}}, "marked cells (2, 1), (3, 2)"},
      {"lines", {{"arrangement", "arcs"}}, "drawn as arcs"},
      {"circuits", {{"circuit", "copying"}}, "copying heads"},
      {"circuits", {{"token-norm", "no"}}, "ln_1 by its gain alone"},
      {"composition", {{"senders", "2.3,1.6"}}, "senders L2 H3, L1 H6"},
      {"composition", {{"senders", "2.3"}}, "sender L2 H3"},
      {"positions", {{"encoding-zoom", "0:4,10:20"}}, "dimensions 0–3, positions 10–19"},
      {"staircase", {{"turn", "-30"}}, "seen from −30°"},
      {"metrics", {{"metric", "previous"}}, "previous-token heads"},
      {"metrics", {{"metrics-text", "repeated"}}, "on random tokens repeated once"},
      {"metrics", {{"first-head", "3"}}, "from row 4 on"},
      {"next", {{"temperature", "0.8"}}, "temperature 0.8"},
      {"lens", {{"lens-mid", "no"}}, "only between blocks"},
      {"flow", {{"flow-edges", "1"}}, "at most 1 edge"},
      {"circuit_graph", {{"circuit-edges", "5"}}, "at most 5 edges"},
      {"attribution", {{"logit-rank", "2"}}, "for the guess of rank 2"},
      {"attribution", {{"against-rank", "3"}}, "minus the guess of rank 3"},
      {"sweep", {{"sweep-id", "4"}}, "for “%”"},
      {"sweep", {{"sweep-over", "senders"}, {"sweep-change", "patch"}}, "senders patched"},
      {"sweep", {{"sweep-change", "patch"}}, "patched"},
      {"sweep",
       {{"sweep-over", "senders"},
        {"sweep-receiver", "q"},
        {"sweep-receiver-layer", "3"},
        {"sweep-receiver-head", "2"}},
       "senders · into queries in layer 3, head 2"},
      {"sweep", {{"sweep-change", "list-mean"}}, "set to means over the prompts of “two.txt”"},
      {"top_examples", {{"example-neurons", "5,9"}}, "neurons 5, 9"}};
  for (const auto& [view, options, phrase] : said)
    EXPECT_THAT(caption_with(s, view, options), EndsWith(" · " + std::string(phrase)));
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

/// The title stands over the picture, with what it says.
TEST(Captions, DoNotRepeatTheTitle) {
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
    return text;
  };
  const Scenario s("A king lived");
  for (const View& view : views()) {
    for (const OptionSpec* option : view.options) {
      if (option->choices.empty() || !is_said(view, *option) || option == view.over_list) continue;
      for (const OptionValue& value : several_values(*option)) {
        ViewContext c = s.context(1200, 800);
        c.options.set(*option, value);
        if (option == view.list_mean && value == view.list_mean_value) continue;
        std::string words = option_words(view, *option, c);
        words.erase(0, words.find_first_not_of("… ,"));
        if (words.find(' ') == words.npos) continue;  // "patched"
        EXPECT_THAT(lower(view.build(c).title), Not(HasSubstr(lower(words))))
            << view.id << " --" << option->name << " " << to_text(*option, value);
      }
    }
  }
}

/// A token by its id stands in place of the rank, and is as unused as that.
TEST(Captions, DoNotSayWhatThePictureDoesNotUse) {
  const Scenario s("A king lived");
  EXPECT_THAT(caption_with(s, "attribution", {{"logit-rank", "2"}, {"logit-id", "4"}}),
              EndsWith(" · for “%”"));
  EXPECT_THAT(caption_with(s, "sweep", {{"sweep-metric", "kl"}, {"sweep-id", "4"}, {"sweep-other-id", "5"}}),
              EndsWith(" · measured by KL divergence"));
  EXPECT_THAT(caption_with(s, "saliency", {{"saliency-metric", "loss"}, {"saliency-id", "4"}}),
              EndsWith(" · by the mean loss"));
  EXPECT_THAT(caption_with(s, "tree", {{"texts", "0"}, {"seed", "3"}}),
              EndsWith("“A king lived” · 0 sampled continuations"));
  EXPECT_THAT(caption_with(s, "softmax", {{"scores-from", "ten"}, {"strongest-first", "yes"}}),
              EndsWith(" · of three numbers times 10"));
  EXPECT_THAT(caption_with(s, "heatmap", {{"cell-values", "rollout"}}), HasSubstr(" · layers 0–2 · query"));
  EXPECT_THAT(caption_with(s, "search", {{"shape-cells", "2.1"}}), Not(HasSubstr("marked")));
}

/// The tokens of a mean are those of the list's lines, if these name any.
TEST(Captions, OfMeansNameTheOptionsTokenOnlyIfItIsMeasured) {
  Scenario s("A king lived");
  const auto of_means = [&] {
    ViewContext c = s.context(800, 600);
    set(c, "over-list", "yes");
    set(c, "lens-id", "4");
    return caption(*find_view("lens"), c);
  };
  EXPECT_EQ(of_means(), "tales · mean over the prompts of “two.txt” · for “%”");
  PromptList named = *s.prompts;
  for (ListedPrompt& line : named.prompts) line.token = parse_given_token("rank:2");
  s.prompts = std::make_shared<const PromptList>(named);
  EXPECT_EQ(of_means(), "tales · mean over the prompts of “two.txt”");
}

TEST(Captions, AreWrappedUnderThePicture) {
  const Scenario s(long_text().substr(0, 60));
  const ViewContext c = s.context(260, 300);
  const Picture picture = find_view("next")->build(c);
  const viz::Scene scene = with_caption(picture, caption(*find_view("next"), c), c).scene;
  EXPECT_GT(scene.height, 300 + 2 * 14);
  EXPECT_EQ(text_faults(scene, *fonts()), "");
  EXPECT_GT(scene.items.size(), picture.scene.items.size() + 1);
}

}  // namespace
}  // namespace headscope::app::captions_test
