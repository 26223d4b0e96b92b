// Pages of the guide and its glossary: how they are parsed, that links lead somewhere, and that every view
// and command has its entry.
#include "app/text/guide.h"

#include <set>

#include "app/cli/commands/commands.h"
#include "app/desktop/bundled_guide.h"
#include "app/text/glossary.h"
#include "model/files/error.h"
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
      "folder/page.md");
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
  EXPECT_EQ(page.blocks[7].line, 21);
}

TEST(GuidePage, ErrorsNameTheLine) {
  for (const auto& [text, line] : {std::pair{"", ":1:"},
                                   {"no title\n", ":1:"},
                                   {"# T\n\n```\nwithout end\n", ":3:"},
                                   {"# T\n\n[link](x.md\n", ":3:"},
                                   {"# T\n\na `code\n", ":3:"},
                                   {"# T\n\n##\n", ":3:"}}) {
    try {
      parse_guide_page(text, "page.md");
      ADD_FAILURE() << text;
    } catch (const model::LoadError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("page.md") + line));
    }
  }
}

TEST(GuidePage, IsSearchedBySections) {
  const GuidePage page =
      parse_guide_page("# Title\n\nfirst\n\n## Heads\n\nThe *Logit* lens\n\n    x = 1\n", "p.md");
  const auto sections = sections_of(page);
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_FALSE(section_has(page, sections[0], "logit"));
  EXPECT_TRUE(section_has(page, sections[1], " LENS  logit "));
  EXPECT_TRUE(section_has(page, sections[1], "x ="));
  EXPECT_FALSE(section_has(page, sections[1], "lens first"));
  EXPECT_FALSE(section_has(page, sections[1], "  "));
}

TEST(Guide, SectionsRankByHowWellTheirHeadingFits) {
  const GuidePage page =
      parse_guide_page("# Title\n\n## Overhead\n\n## Head, layer\n\n## Head\n\n## Other\n\na head\n", "p.md");
  std::vector<int> ranks;
  for (const GuideSection& section : sections_of(page))
    ranks.push_back(section_rank(page, section, " HEAD "));
  EXPECT_EQ(ranks, (std::vector{4, 2, 1, 0, 3}));
  const GuidePage apart = parse_guide_page("# Keys\n\nswitch here\n\noff there\n", "p.md");
  EXPECT_EQ(section_rank(apart, sections_of(apart).front(), "off switch"), 4);
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
  static void for_each_link(const GuidePage& page, const std::function<void(const std::string&)>& use) {
    const auto visit = [&](const GuideText& text) {
      for (const GuideSpan& span : text)
        if (span.look == Look::link) use(span.target);
    };
    for (const GuideBlock& block : page.blocks) {
      visit(block.text);
      for (const auto& row : block.rows) std::ranges::for_each(row, visit);
    }
  }
};

TEST_F(TheGuide, EveryLinkLeadsToAPlaceInIt) {
  int links = 0;
  for (const GuidePage& page : guide_.pages) {
    for_each_link(page, [&](const std::string& target) {
      ++links;
      const std::size_t sharp = std::min(target.find('#'), target.size());
      const std::string file = target.substr(0, sharp);
      ASSERT_TRUE(file.empty() || file.ends_with(".md")) << page.name << ": " << target;
      const GuidePage* to = file.empty() ? &page : guide_.find(file.substr(0, file.size() - 3));
      ASSERT_NE(to, nullptr) << page.name << ": " << target;
      if (sharp < target.size()) {
        EXPECT_TRUE(anchors(*to).contains(target.substr(sharp + 1))) << page.name << ": " << target;
      }
    });
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

TEST_F(TheGuide, ReadmeLinksEachPage) {
  const std::string readme = model::read_file(source_dir() / "README.md");
  for (const GuidePage& page : guide_.pages)
    EXPECT_THAT(readme, HasSubstr("](assets/guide/" + page.name + ".md)"));
}

Glossary parsed(const std::string& text) {
  return {parse_guide_page("# Glossary\n\n" + text, "glossary.md"), "glossary.md"};
}

TEST(Glossary, EntriesHaveWhatThePageSays) {
  const Glossary glossary = parsed(
      "An introduction.\n\n## KV cache\n\nAlso: cache, cached\n\nKeys and\nvalues.\n\n    k, v\n\n"
      "View: [cache](views.md#cache-cache)\n\n## Bit\n\nA unit.\n");
  ASSERT_EQ(glossary.entries().size(), 2U);
  EXPECT_EQ(glossary.entries()[0],
            (GlossaryEntry{"KV cache", {"cache", "cached"}, "Keys and values.", "k, v", "cache"}));
  EXPECT_EQ(glossary.entries()[1], (GlossaryEntry{"Bit", {}, "A unit.", "", ""}));
  for (const char* wrong : {"## A\n", "## A\n\none\n\nAlso: b\n", "## A\n\none\n\nView: [x](y)\n\n    f\n"})
    EXPECT_THROW(parsed(wrong), model::LoadError) << wrong;
}

TEST(Glossary, FindsWholeWordsTheLongestFirst) {
  const Glossary glossary =
      parsed("## Logit\n\nl\n\n## Logit lens\n\nll\n\n## Query\n\nAlso: queries\n\nq\n\n## Loss\n\nx\n");
  const auto term = [&](std::string_view label) {
    const GlossaryEntry* entry = glossary.find(label);
    return entry ? entry->term : "";
  };
  EXPECT_EQ(term("Logit lens of “he”"), "Logit lens");
  EXPECT_EQ(term("queries"), "Query");
  EXPECT_EQ(term("losses"), "Loss");
  EXPECT_EQ(term("logistic"), "");
  EXPECT_EQ(term("logit of “loss”"), "Logit") << "not the user's own word";
  const auto matches = glossary.matches("logits, logit lens: loss");
  ASSERT_EQ(matches.size(), 3U);
  EXPECT_EQ(matches[1].entry->term, "Logit lens");
  EXPECT_EQ(matches[1].start, 8U);
  EXPECT_EQ(matches[1].end, 18U);
}

TEST_F(TheGuide, GlossaryEntriesAreShortAndLeadToViews) {
  for (const GlossaryEntry& entry : guide_.glossary.entries()) {
    EXPECT_LE(entry.text.size(), 300U) << entry.term << " is too long for a tooltip";
    EXPECT_TRUE(entry.view.empty() || find_view(entry.view) != nullptr) << entry.term << ": " << entry.view;
  }
}

}  // namespace
}  // namespace headscope::app::guide_test
