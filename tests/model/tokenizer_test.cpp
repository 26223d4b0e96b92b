#include "model/tokens/tokenizer.h"

#include <utf8proc.h>

#include "model/files/file_io.h"
#include "model/tokens/bpe.h"
#include "model/tokens/pretokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"

namespace headscope::model::tokenizer_test {
namespace {

namespace fs = std::filesystem;

const fs::path kOracle = headscope::testing::source_dir() / "tests/model/tokenizer_oracle";
const fs::path kTiny = kOracle / "tiny";

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

std::vector<int> ids_of(const std::vector<Token>& tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

// --- The oracle's answers ---

/// Of a small vocabulary of many scripts, and of the part of GPT-2's that these texts need.
TEST(Goldens, EveryTextGivesTheOraclesTokens) {
  for (const auto& [folder, answers] : {std::pair("tiny", "tiny.txt"), {"gpt2_part", "gpt2.txt"}}) {
    SCOPED_TRACE(folder);
    const Tokenizer tokenizer = Tokenizer::load(kOracle / folder);
    std::ifstream file(kOracle / "goldens" / answers);
    int count = 0;
    for (std::string line; std::getline(file, line); ++count) {
      std::istringstream words(line);
      std::string mode, hex;
      words >> mode >> hex;
      const std::vector<int> expected{std::istream_iterator<int>(words), {}};
      const std::string text = from_hex(hex);
      EXPECT_EQ(ids_of(tokenizer.encode(text, mode == "s")), expected) << mode << " " << hex << "\n" << text;
    }
    EXPECT_GT(count, 2000);
  }
}

// --- Words ---

TEST(Pretokenizer, EveryCodePointHasTheOraclesClass) {
  std::map<char32_t, CharacterClass> classes;
  std::ifstream file(kOracle / "goldens" / "classes.txt");
  char letter = 0;
  char32_t count = 0;
  for (std::uint32_t first = 0, last = 0; file >> letter >> std::hex >> first >> last;
       count += last - first + 1) {
    for (std::uint32_t c = first; c <= last; ++c) {
      classes[c] = letter == 'L'   ? CharacterClass::letter
                   : letter == 'N' ? CharacterClass::number
                                   : CharacterClass::space;
    }
  }
  ASSERT_EQ(classes.size(), count);
  int differences = 0;
  int newer = 0;  // characters added after Unicode 15, which the oracle uses
  for (char32_t c = 0; c < 0x110000; ++c) {
    const auto found = classes.find(c);
    const CharacterClass expected = found == classes.end() ? CharacterClass::other : found->second;
    if (character_class(c) == expected) continue;
    ++(expected == CharacterClass::other ? newer : differences);
  }
  EXPECT_EQ(differences, 0);
  if (std::string(utf8proc_unicode_version()) == "15.0.0") {
    EXPECT_EQ(newer, 0);
  }
}

// --- The tokenizer as a whole ---

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = Tokenizer::load(kTiny);
  ASSERT_TRUE(tokenizer.end_of_text());
  EXPECT_EQ(tokenizer.size(), *tokenizer.end_of_text() + 1);
  EXPECT_EQ(tokenizer.bytes(*tokenizer.end_of_text()), "<|endoftext|>");
  EXPECT_EQ(tokenizer.bytes(-1), "");
  EXPECT_EQ(tokenizer.bytes(tokenizer.size()), "");
  EXPECT_EQ(tokenizer.decode(std::vector<int>{tokenizer.size(), 1 << 20}),
            "#" + std::to_string(tokenizer.size()) + "#1048576");
}

// Quadratic time would exceed the test's limit: 10^12 steps.
TEST(Tokenizer, LongWordsAndTextsTakeNoQuadraticTime) {
  const Tokenizer tokenizer = Tokenizer::load(kTiny);
  std::string letters(1'000'000, 'a');
  std::mt19937 random(3);
  for (char& c : letters) c = static_cast<char>('a' + random() % 26);
  std::string endings;
  while (endings.size() < 1'000'000) endings += "<|endoftext|";
  for (const std::string& text :
       {letters, endings, std::string(1'000'000, 'e'), std::string(1'000'000, ' ') + "x",
        std::string(1'000'000, '\xe2'), std::string(1'000'000, '\'')}) {
    EXPECT_EQ(tokenizer.encode(text).back().end, text.size());
  }
}

// --- Merges, step by step ---

std::string name_of(std::string_view bytes) {
  std::string name;
  for (const char c : bytes) name += name_of_byte(static_cast<unsigned char>(c));
  return name;
}

/// Expects steps of merges.txt in the order of their ranks, which lead from bytes to the tokens of encode:
/// for a vocabulary that was made by merging there is one such list.
void expect_steps(const Tokenizer& tokenizer, const std::vector<std::string>& merges, std::string_view word,
                  const std::vector<std::string>& tokens) {
  std::vector<std::string> pieces;
  for (const char c : word) pieces.emplace_back(1, c);
  std::pair<int, std::size_t> last{-1, 0};
  for (const MergeStep& step : tokenizer.merges(word)) {
    ASSERT_LT(step.at + 1, pieces.size());
    EXPECT_GE(std::pair(step.rank, step.at), last);
    last = {step.rank, step.at};
    EXPECT_EQ(merges[step.rank], name_of(pieces[step.at]) + " " + name_of(pieces[step.at + 1]));
    EXPECT_EQ(tokenizer.bytes(step.left), pieces[step.at]);
    EXPECT_EQ(tokenizer.bytes(step.right), pieces[step.at + 1]);
    pieces[step.at] += pieces[step.at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    EXPECT_EQ(tokenizer.bytes(step.merged), pieces[step.at]);
  }
  EXPECT_EQ(pieces, tokens);
}

TEST(Merges, LeadToEveryTokenOfTheBundledVocabularyAndToTheTokensOfWords) {
  const fs::path folder = headscope::testing::source_dir() / "assets/models/tales";
  const Tokenizer tokenizer = Tokenizer::load(folder);
  std::vector<std::string> merges;
  std::istringstream lines(read_file(folder / "merges.txt"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  for (int id = 0; id < tokenizer.size(); ++id) {
    if (id == tokenizer.end_of_text()) continue;
    SCOPED_TRACE(id);
    expect_steps(tokenizer, merges, tokenizer.bytes(id), {std::string(tokenizer.bytes(id))});
  }
  for (const std::string word : {"", "a", "aaaaaaa", " robots", "lalalalala", "Zwölfzimmerwohnung",
                                 "unbelievably", " banananana", "thethethethe"}) {
    SCOPED_TRACE(word);
    std::vector<std::string> tokens;
    for (const Token& token : tokenizer.encode(word)) tokens.emplace_back(tokenizer.bytes(token.id));
    expect_steps(tokenizer, merges, word, tokens);
  }
}

}  // namespace
}  // namespace headscope::model::tokenizer_test
