// The merges that built each token: read from the picture, compared with the table and the tokenizer.

#include "app/run/analyses/vocabulary.h"
#include "tests/app/view_fixture.h"

namespace headscope::app::tokenization_test {
namespace {

constexpr int kStepRole = 1;  // of the view's regions

/// "daughters": many bytes, and several merges.
Scenario daughters() {
  Scenario s("The king had three daughters", {0, 0, -1});
  return s;
}

std::vector<std::string> drawn_in(DrawnPage& page, viz::Rect rect) {
  std::vector<std::string> words;
  for (const auto& box : page.take(rect)) words.push_back(box.text);
  return words;
}

TEST(Tokenization, RowsLeadFromTheBytesToTheTokenAsTheTokenizerMergesThem) {
  const Scenario s = daughters();
  const model::Tokenizer& tokenizer = *bundled()->tokenizer;
  const int id = s.run->tokens.ids().back();
  const std::string bytes(tokenizer.bytes(id));
  const auto steps = tokenizer.merges(bytes);
  ASSERT_GE(steps.size(), 4U);
  const ViewFixture shown("tokenization", s, 1200, 900);
  DrawnPage page = shown.page();
  std::vector<std::string> pieces;
  for (const char c : bytes) pieces.push_back(viz::visible(std::string(1, c)));
  for (std::size_t row = 0; row <= steps.size(); ++row) {
    SCOPED_TRACE(row);
    const int region = shown.find(kStepRole, static_cast<int>(row));
    ASSERT_GE(region, 0);
    if (row > 0) {
      const model::MergeStep& step = steps[row - 1];
      pieces[step.at] += pieces[step.at + 1];
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    }
    auto drawn = drawn_in(page, shown.region(region).rect);
    if (row > 0) {
      ASSERT_EQ(drawn.size(), pieces.size() + 2);
      const model::MergeStep& step = steps[row - 1];
      EXPECT_EQ(drawn.back(), "“" + viz::visible(tokenizer.bytes(step.left)) + "” + “" +
                                  viz::visible(tokenizer.bytes(step.right)) + "”");
      drawn.pop_back();
      EXPECT_EQ(read_number(drawn.back())->value, step.rank + 1);
      drawn.pop_back();
    }
    EXPECT_EQ(drawn, pieces);
  }
  EXPECT_EQ(pieces, std::vector{s.run->tokens.labels.back()});
}

TEST(Tokenization, TheTableHasARowForEachMerge) {
  const Scenario s = daughters();
  const auto rows = text_rows(ViewFixture("tokenization", s, 900, 700).table());
  std::size_t row = 0;
  for (int i = 0; i < s.length(); ++i) {
    const int id = s.run->tokens.ids()[i];
    const auto steps = bundled()->tokenizer->merges(bundled()->tokenizer->bytes(id));
    for (std::size_t k = 0; k < std::max<std::size_t>(1, steps.size()); ++k, ++row) {
      ASSERT_LT(row, rows.size());
      EXPECT_EQ(rows[row][0], std::to_string(i));
      EXPECT_EQ(rows[row][5], steps.empty() ? "" : std::to_string(steps[k].rank + 1));
    }
  }
  EXPECT_EQ(row, rows.size());
  EXPECT_EQ(rows.back()[8], s.run->tokens.labels.back());
}

TEST(Tokenization, BytesThatAreNoTextAreShownAsSuch) {
  const model::Tokenizer& tokenizer = *bundled()->tokenizer;
  int id = -1;  // two bytes of a longer character, created by one merge
  for (int token = 0; token < tokenizer.size() && id < 0; ++token) {
    const std::string_view bytes = tokenizer.bytes(token);
    if (bytes.size() == 2 && bytes[0] < 0 && bytes[1] < 0 && tokenizer.merges(bytes).size() == 1) id = token;
  }
  ASSERT_GE(id, 0);
  const ViewFixture shown("tokenization", Scenario(Prompt{"", {id}, false}), 900, 700);
  DrawnPage page = shown.page();
  const auto bytes = drawn_in(page, shown.region(shown.find(kStepRole, 0)).rect);
  ASSERT_EQ(bytes.size(), 2U);
  for (const std::string& byte : bytes) EXPECT_TRUE(byte.starts_with("<") && byte.size() == 4) << byte;
  EXPECT_EQ(drawn_in(page, shown.region(shown.find(kStepRole, 1)).rect)[0],
            viz::visible(tokenizer.bytes(id)));
}

TEST(Tokenization, MergesAreOfTheRunsTokensEachOnce) {
  const Scenario s(Prompt{long_text() + long_text(), {}, false});
  ASSERT_GT(s.run->tokens.length(), s.length());
  const auto merges = s.ask(MergesOfTokens{});
  const std::vector<int>& ids = s.run->run->tokens;
  EXPECT_EQ(merges->of_id.size(), std::set<int>(ids.begin(), ids.end()).size());
}

}  // namespace
}  // namespace headscope::app::tokenization_test
