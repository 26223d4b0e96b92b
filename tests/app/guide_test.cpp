// Pages of the guide and its glossary: how they are parsed, that links lead somewhere, that every view and
// command has its entry, and that commands, options and tables are as they say.
#include "app/text/guide.h"

#include <regex>

#include "app/cli/command_line.h"
#include "app/desktop/bundled_guide.h"
#include "model/files/file_io.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::guide_test {
namespace {

using Kind = GuideBlock::Kind;
using Look = GuideSpan::Look;

TEST(GuidePage, HasBlocksInOrder) {
  const GuidePage page = parse_guide_page(
      "# Title\n\nOne `code`, **bold** and\n*more* [there](x.md#y).\n\n- an item\n  in two lines\n- [x] 2 * "
      "3\n\n"
      "```\n# no heading\n```\n\n    f(x)\n\n| a | b |\n|---|---:|\n| `1` | |\n\n![picture](p.png)\n## "
      "Next\n",
      "page");
  EXPECT_EQ(page.name, "page");
  EXPECT_EQ(page.title, "Title");
  ASSERT_EQ(page.blocks.size(), 8U);
  EXPECT_EQ(page.blocks[1].text, (GuideText{{Look::plain, "One "},
                                            {Look::code, "code"},
                                            {Look::plain, ", "},
                                            {Look::strong, "bold"},
                                            {Look::plain, " and "},
                                            {Look::strong, "more"},
                                            {Look::plain, " "},
                                            {Look::link, "there", "x.md#y"},
                                            {Look::plain, "."}}));
  EXPECT_EQ(plain_text(page.blocks[2].text), "an item in two lines");
  EXPECT_EQ(plain_text(page.blocks[3].text), "[x] 2 * 3");
  EXPECT_THAT(page.blocks[4].code, ElementsAre("# no heading"));
  EXPECT_THAT(page.blocks[5].code, ElementsAre("f(x)"));
  ASSERT_EQ(page.blocks[6].rows.size(), 2U);
  EXPECT_EQ(page.blocks[6].rows[1], (std::vector<GuideText>{{{Look::code, "1"}}, {}}));
  EXPECT_EQ(page.blocks[7].kind, Kind::heading);
  EXPECT_EQ(page.blocks[7].level, 2);
}

TEST(GuidePage, MarksWithoutAnEndMeanThemselves) {
  EXPECT_EQ(parse_guide_page("", "p").title, "p");
  const GuidePage page = parse_guide_page("# T\n\n[link](x.md and a `code\n\n```\nwithout end\n", "p");
  ASSERT_EQ(page.blocks.size(), 3U);
  EXPECT_EQ(page.blocks[1].text, (GuideText{{Look::plain, "[link](x.md and a `code"}}));
  EXPECT_THAT(page.blocks[2].code, ElementsAre("without end"));
}

TEST(GuidePage, IsSearchedBySections) {
  const GuidePage page =
      parse_guide_page("# Title\n\nfirst\n\n## Heads\n\nThe *Logit* lens\n\n    x = 1\n", "p");
  const auto sections = sections_of(page);
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_FALSE(section_rank(sections[0], "logit"));
  EXPECT_TRUE(section_rank(sections[1], " LENS  logit "));
  EXPECT_TRUE(section_rank(sections[1], "x ="));
  EXPECT_TRUE(section_rank(sections[1], "What does the lens do?"));
  EXPECT_FALSE(section_rank(sections[1], "lens first"));
  EXPECT_FALSE(section_rank(sections[1], "how?")) << "the word itself, without others";
  EXPECT_FALSE(section_rank(sections[1], "  "));
}

TEST(Guide, SectionsRankByHowWellTheirHeadingFits) {
  const GuidePage page =
      parse_guide_page("# Title\n\n## Overhead\n\n## Head, layer\n\n## Head\n\n## Other\n\na head\n", "p");
  std::vector<int> ranks;
  for (const GuideSection& section : sections_of(page))
    ranks.push_back(section_rank(section, " HEAD ").value_or(4));
  EXPECT_EQ(ranks, (std::vector{4, 2, 1, 0, 3}));
  const GuidePage apart = parse_guide_page("# Keys\n\nswitch here\n\noff there\n", "p");
  EXPECT_EQ(section_rank(sections_of(apart).front(), "off switch"), 4);
}

class TheGuide : public ::testing::Test {
 protected:
  const std::filesystem::path folder_ = source_dir() / "assets/guide";
  const Guide guide_ = load_guide(folder_);

  static std::set<std::string> anchors(const GuidePage& page) {
    std::set<std::string> all;
    for (const GuideBlock& block : page.blocks)
      if (block.kind == Kind::heading) all.insert(anchor_of(block.text));
    return all;
  }
  static std::vector<GuideSpan> spans(const GuideBlock& block, Look look) {
    std::vector<GuideSpan> found;
    const auto add = [&](const GuideText& text) {
      std::ranges::copy_if(text, std::back_inserter(found),
                           [&](const auto& span) { return span.look == look; });
    };
    add(block.text);
    for (const auto& row : block.rows) std::ranges::for_each(row, add);
    return found;
  }
};

TEST_F(TheGuide, EveryLinkLeadsToAPlaceInIt) {
  int links = 0;
  for (const GuidePage& page : guide_.pages)
    for (const GuideBlock& block : page.blocks)
      for (const auto& [look, text, target] : spans(block, Look::link)) {
        ++links;
        const std::size_t sharp = std::min(target.find('#'), target.size());
        const std::string file = target.substr(0, sharp);
        ASSERT_TRUE(file.empty() || file.ends_with(".md")) << page.name << ": " << target;
        const GuidePage* to = file.empty() ? &page : guide_.find(file.substr(0, file.size() - 3));
        ASSERT_NE(to, nullptr) << page.name << ": " << target;
        if (sharp < target.size()) {
          EXPECT_TRUE(anchors(*to).contains(target.substr(sharp + 1))) << page.name << ": " << target;
        }
      }
  EXPECT_GT(links, 80);
}

TEST_F(TheGuide, DescribesEveryViewUnderItsName) {
  const GuidePage* page = guide_.find("views");
  ASSERT_NE(page, nullptr);
  std::set<std::string> headings;
  for (const GuideBlock& block : page->blocks)
    if (block.kind == Kind::heading) headings.insert(plain_text(block.text));
  for (const View& view : views())
    EXPECT_TRUE(headings.contains(std::string(view.title) + " (" + std::string(view.id) + ")")) << view.title;
}

TEST_F(TheGuide, NamesEveryCommand) {
  const std::string text = model::read_file(folder_ / "command-line.md");
  for (const CommandRow& command : command_rows())
    EXPECT_THAT(text, HasSubstr("headscope " + std::string(command.name))) << command.name;
}

/// The words of a command as a shell reads it, up to a comment, a pipe or a redirection.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  static const std::regex part(R"re(\s*((?:"[^"]*"|'[^']*'|[^\s"'])+))re");
  for (std::sregex_iterator it(line.begin(), line.end(), part), end; it != end; ++it) {
    const std::string word = (*it)[1].str();
    if (word == "|" || word.starts_with('>') || word.starts_with('#')) break;
    words.push_back(std::regex_replace(word, std::regex("[\"']"), ""));
  }
  return words;
}

TEST_F(TheGuide, ItsExamplesCanBeTyped) {
  int examples = 0;
  std::vector<GuidePage> pages = guide_.pages;
  for (const char* file : {"README.md", "assets/cluster/README.md"})
    pages.push_back(parse_guide_page(model::read_file(source_dir() / file), file));
  for (const GuidePage& page : pages) {
    std::string line;
    for (const GuideBlock& block : page.blocks)
      for (const std::string& code : block.code) {
        line += code;
        if (line.ends_with('\\')) {
          line.pop_back();
          continue;
        }
        std::vector<std::string> words = words_of(std::exchange(line, ""));
        if (words.empty() || words.front() != "headscope") continue;
        words.erase(words.begin());
        EXPECT_NO_THROW(parse_command_line(words)) << page.name << ": " << code;
        ++examples;
      }
  }
  EXPECT_GT(examples, 40);
}

/// All options of a command: "--edit".
std::set<std::string> options_of(std::string_view command) {
  std::set<std::string> names;
  const auto parsed = parse_command_line({std::string(command)});
  for (const CLI::Option* option : std::get<Task>(parsed).app->get_options())
    for (const std::string& name : option->get_lnames()) names.insert("--" + name);
  return names;
}

TEST_F(TheGuide, NamesOptionsThatThereAre) {
  std::map<std::string, std::set<std::string>> of_command;
  std::set<std::string> all = options_of("");
  for (const CommandRow& row : command_rows()) all.merge(options_of(row.name));
  for (const View& view : views()) {
    const auto& own = of_command[std::string(view.title) + " (" + std::string(view.id) + ")"] =
        options_of(view.id);
    all.insert(own.begin(), own.end());
  }
  for (const GuidePage& page : guide_.pages) {
    const std::set<std::string>* options = &all;
    for (const GuideBlock& block : page.blocks) {
      if (block.kind == Kind::heading && page.name == "views") {
        const auto found = of_command.find(plain_text(block.text));
        options = found == of_command.end() ? &all : &found->second;
      }
      for (const GuideSpan& span : spans(block, Look::code))
        if (span.text.starts_with("--")) {
          EXPECT_TRUE(options->contains(span.text.substr(0, span.text.find_first_of(" =")))) << span.text;
        }
    }
  }
}

/// A name in a view's table, as json.md has it: "guess N id", in which N is a number and NAME any text.
struct PageName {
  bool is_fact = false;
  std::string name, unit = {};
  bool is_seen = false;

  bool matches(const std::string& other) const {
    std::string pattern = std::regex_replace(name, std::regex(R"([.*\[\]()])"), R"(\$&)");
    pattern = std::regex_replace(pattern, std::regex(R"(\bNAME\b)"), ".+");
    return std::regex_match(other, std::regex(std::regex_replace(pattern, std::regex(R"(\bN\b)"), "[0-9]+")));
  }
};

std::map<std::string, std::vector<PageName>> names_on(const GuidePage& page) {
  std::map<std::string, std::vector<PageName>> names;
  for (const GuideBlock& block : page.blocks) {
    std::string view;
    if (block.rows.empty() || plain_text(block.rows.front().front()) != "view") continue;
    for (const std::vector<GuideText>& row : block.rows) {
      if (!row.front().empty()) view = plain_text(row.front());
      const bool is_fact = plain_text(row[1]).starts_with("facts: ");
      static const std::regex unit(R"(^ \((\w+)\))");
      std::smatch found;
      for (const GuideSpan& span : row[1])
        if (span.look == Look::code)
          names[view].push_back({is_fact, span.text});
        else if (std::regex_search(span.text, found, unit))
          names[view].back().unit = found[1];
    }
  }
  names.erase("view");
  return names;
}

TEST_F(TheGuide, HasTheColumnsAndFactsOfEveryView) {
  auto on_page = names_on(*guide_.find("json"));
  // Runs and options that together make every column and fact.
  const Scenario one = edited("L1H1.z=0; L2H1.scores[5,2]=1.5", {2, 1, 5, 2}), two = of_two({2, 1, -1, 1});
  const Scenario& of_many = scenario(200);
  struct Shown {
    const Scenario& of;
    std::string_view view;
    NamedOptions options = {};
  };
  std::vector<Shown> shown{
      {of_many, "heads"},
      {one, "positions", {{"positions-show", "cosines"}}},
      {one, "positions", {{"positions-show", "shift"}}},
      {one, "heatmap", {{"cell-values", "values"}}},
      {one, "heatmap", {{"of", "mean"}}},
      {one, "scores", {{"of", "mean"}}},
      {one, "lines", {{"of", "mean"}}},
      {one, "heatmap", {{"cell-values", "rollout"}}},
      {one, "query", {{"strips", "products"}}},
      {one, "query", {{"strips", "breakdown"}}},
      {one, "softmax", {{"scores-from", "ten"}}},
      {one, "search", {{"text", "list"}}},
      {one, "search", {{"search-for", "shape"}, {"shape-cells", "3.2"}}},
      {one, "query_key_space", {{"text", "list"}}},
      {one, "metrics", {{"metrics-text", "list"}}},
      {one, "metrics", {{"metrics-text", "repeated"}, {"repeated-sequences", "1"}}},
      {one, "circuits", {{"circuit", "keys"}}},
      {one, "circuits", {{"circuit", "pairs"}}},
      {one, "circuits", {{"circuit", "copying"}}},
      {one, "top_examples", {{"text", "list"}}},
      {one, "tokens", {{"tokens-show", "merges"}}},
      {one, "attribution", {{"attribution-list", "sources"}, {"against", "rank:2"}}},
      {one, "attribution", {{"attribution-list", "neurons"}}},
      {one, "flow", {{"against", "rank:2"}}},
      {one, "saliency", {{"saliency-metric", "difference"}}},
      {one, "saliency", {{"saliency-method", "integrated"}, {"saliency-metric", "loss"}}},
      {two, "circuit_graph", {{"circuit-positions", "yes"}}},
      {two, "circuit_graph", {{"circuit-metric", "loss"}}},
      {two, "sweep", {{"sweep-change", "patch"}, {"sweep-over", "head-position"}}},
      {two, "sweep", {{"sweep-metric", "kl"}}},
      {two, "sweep", {{"sweep-over", "neurons"}, {"sweep-neurons", "2"}}}};
  for (const View& view : views()) shown.push_back({one, view.id});
  for (const auto& [of, id, options] : shown) {
    ViewContext context = of.context(900, 700);
    context.prompts = of.prompts;
    context.fonts = nullptr;  // tables need none
    for (const auto& [name, value] : options) set(context, name, value);
    const Table table = find_view(id)->table(context);
    std::vector<PageName>& names = on_page[std::string(id)];
    const auto check = [&](bool is_fact, const std::string& name, const std::string& unit) {
      const auto found = std::ranges::find_if(names, [&](const PageName& one_name) {
        return one_name.is_fact == is_fact && one_name.matches(name);
      });
      ASSERT_NE(found, names.end()) << id << ": " << name << (is_fact ? " (a fact)" : "");
      EXPECT_TRUE(unit.empty() || unit == found->unit) << id << ": " << name << " in " << unit;
      found->is_seen = true;
    };
    for (const Column& column : table.columns) check(false, column.name, column.unit);
    for (const TableFact& fact : table.facts) check(true, fact.name, fact.unit);
  }
  for (const auto& [view, names] : on_page)
    for (const PageName& name : names) EXPECT_TRUE(name.is_seen) << view << " never has " << name.name;
}

TEST_F(TheGuide, HowTwoPromptsAreComparedIsFoundOnTheWindowsPage) {
  const GuidePage* window = guide_.find("window");
  ASSERT_NE(window, nullptr);
  for (const char* search : {"compare two prompts", "two prompts compare", "second prompt"}) {
    const bool found = std::ranges::any_of(sections_of(*window), [&](const GuideSection& section) {
      return plain_text(section.front().text) == "Comparison" && section_rank(section, search) == 3;
    });
    EXPECT_TRUE(found) << search;
  }
}

TEST_F(TheGuide, ReadmeLinksEachPage) {
  const std::string readme = model::read_file(source_dir() / "README.md");
  for (const GuidePage& page : guide_.pages)
    EXPECT_THAT(readme, HasSubstr("](assets/guide/" + page.name + ".md)"));
}

Glossary parsed(const std::string& text) {
  return glossary_of(parse_guide_page("# Glossary\n\n" + text, "glossary"));
}

TEST(Glossary, EntriesHaveWhatThePageSays) {
  const Glossary glossary = parsed(
      "An introduction.\n\n## KV cache\n\nAlso: cache, cached\n\nKeys and\nvalues.\n\n    k, v\n\n"
      "View: [cache](views.md#cache-cache)\n\n## Bit\n\nA unit.\n");
  ASSERT_EQ(glossary.size(), 2U);
  EXPECT_EQ(glossary[0],
            (GlossaryEntry{"KV cache", {"cache", "cached"}, "Keys and values.", "k, v", "cache"}));
  EXPECT_EQ(glossary[1], (GlossaryEntry{"Bit", {}, "A unit.", "", ""}));
}

TEST(Glossary, FindsWholeWordsTheLongestFirst) {
  const Glossary glossary =
      parsed("## Logit\n\nl\n\n## Logit lens\n\nll\n\n## Query\n\nAlso: queries\n\nq\n\n## Loss\n\nx\n");
  const auto term = [&](std::string_view label) {
    const GlossaryEntry* entry = find_term(glossary, label);
    return entry ? entry->term : "";
  };
  EXPECT_EQ(term("Logit lens of “he”"), "Logit lens");
  EXPECT_EQ(term("queries"), "Query");
  EXPECT_EQ(term("losses"), "Loss");
  EXPECT_EQ(term("logistic"), "");
  EXPECT_EQ(term("logit of “loss”"), "Logit") << "not the user's own word";
  EXPECT_EQ(term("logits, logit lens: loss"), "Logit lens");
}

TEST_F(TheGuide, GlossaryEntriesAreShortAndLeadToViews) {
  for (const GlossaryEntry& entry : guide_.glossary) {
    EXPECT_FALSE(entry.text.empty()) << entry.term;
    EXPECT_EQ(find_term(guide_.glossary, entry.term), &entry)
        << entry.term << " is also another entry's term";
    for (const std::string& synonym : entry.synonyms)
      EXPECT_EQ(find_term(guide_.glossary, synonym), &entry) << synonym << " is also another entry's term";
    EXPECT_LE(entry.text.size(), 300U) << entry.term << " is too long for a tooltip";
    EXPECT_TRUE(entry.view.empty() || find_view(entry.view) != nullptr) << entry.term << ": " << entry.view;
  }
}

}  // namespace
}  // namespace headscope::app::guide_test
