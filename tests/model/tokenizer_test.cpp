#include "model/tokens/tokenizer.h"

#include <utf8proc.h>

#include <cstdio>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "model/files/file_io.h"
#include "model/tokens/bpe.h"
#include "model/tokens/pretokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"

namespace headscope::model::tokenizer_test {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

const fs::path kOracle = headscope::testing::source_dir() / "tests/model/tokenizer_oracle";
const fs::path kTiny = kOracle / "tiny";
const fs::path kGpt2 = headscope::testing::shared_dir() / "gpt2";

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return out;
}

std::string to_hex(std::string_view bytes) {
  std::string out;
  char two[3];
  for (const char c : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    out += two;
  }
  return out;
}

std::vector<int> ids_of(const std::vector<Token>& tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

/// Guarantees for any text: the ranges cover it, each contains the bytes of its token, and nothing is lost.
void expect_lossless(const Tokenizer& tokenizer, const std::string& text, bool specials) {
  const std::vector<Token> tokens = tokenizer.encode(text, specials);
  std::size_t end = 0;
  for (const Token& token : tokens) {
    ASSERT_EQ(token.start, end) << to_hex(text);
    ASSERT_LT(token.start, token.end) << to_hex(text);
    ASSERT_EQ(tokenizer.bytes(token.id), std::string_view(text).substr(token.start, token.end - token.start));
    end = token.end;
  }
  ASSERT_EQ(end, text.size()) << to_hex(text);
  ASSERT_EQ(tokenizer.decode(ids_of(tokens)), text);
}

// --- The oracle's answers ---

/// A vocabulary, and the source of its expected answers.
struct Vocabulary {
  const char* name;
  const char* goldens;
  fs::path folder;
};

class Goldens : public ::testing::TestWithParam<Vocabulary> {
 protected:
  void SetUp() override {
    const fs::path& folder = GetParam().folder;
    if (!fs::exists(folder)) GTEST_SKIP() << "GPT-2's whole vocabulary is not here: " << folder;
    tokenizer_ = Tokenizer::load(folder);
  }
  static std::ifstream golden(const std::string& name) { return std::ifstream(kOracle / "goldens" / name); }

  std::optional<Tokenizer> tokenizer_;
};

TEST_P(Goldens, EveryTextGivesTheOraclesTokens) {
  std::ifstream file = golden(std::string(GetParam().goldens) + ".txt");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    std::istringstream words(line);
    std::string mode, hex;
    words >> mode >> hex;
    const std::vector<int> expected{std::istream_iterator<int>(words), {}};
    const std::string text = from_hex(hex);
    EXPECT_EQ(ids_of(tokenizer_->encode(text, mode == "s")), expected) << mode << " " << hex << "\n" << text;
    expect_lossless(*tokenizer_, text, mode == "s");
  }
  EXPECT_GT(count, 2000);
}

/// Steele et al. 2014; the oracle uses the same generator, and so creates the same texts.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

std::string random_text(std::uint64_t seed, const std::vector<std::string>& pieces) {
  SplitMix numbers(seed);
  std::string text;
  for (std::uint64_t left = numbers.next() % 40; left > 0; --left) {
    const std::uint64_t number = numbers.next();
    if (number % 8 == 0) {
      text += static_cast<char>(number >> 8 & 255);
    } else {
      text += pieces[(number >> 3) % pieces.size()];
    }
  }
  return text;
}

TEST_P(Goldens, TwentyThousandRandomTextsGiveTheOraclesTokens) {
  std::vector<std::string> pieces;
  std::ifstream pieces_file = golden("pieces.txt");
  for (std::string hex; pieces_file >> hex;) pieces.push_back(from_hex(hex));
  ASSERT_GT(pieces.size(), 200);

  std::ifstream file = golden(std::string(GetParam().goldens) + "_random.txt");
  std::uint64_t block = 0;
  for (std::string expected; file >> expected; ++block) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over the ids
    for (std::uint64_t seed = block * 100; seed < block * 100 + 100; ++seed) {
      const std::string text = random_text(seed, pieces);
      for (const int id : ids_of(tokenizer_->encode(text))) {
        hash = (hash ^ static_cast<std::uint64_t>(id)) * 0x100000001b3;
      }
      expect_lossless(*tokenizer_, text, true);
    }
    EXPECT_EQ(hash, std::stoull(expected, nullptr, 16)) << "one of the texts from seed " << block * 100;
  }
  EXPECT_EQ(block, 200);
}

// The part of GPT-2's vocabulary needed for these texts is bundled; the whole is tested if available.
INSTANTIATE_TEST_SUITE_P(Vocabularies, Goldens,
                         ::testing::Values(Vocabulary{"tiny", "tiny", kTiny},
                                           Vocabulary{"gpt2_part", "gpt2", kOracle / "gpt2_part"},
                                           Vocabulary{"gpt2", "gpt2", kGpt2}),
                         [](const auto& test) { return std::string(test.param.name); });

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

TEST(ByteAlphabet, NamesEveryByteAndBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = name_of_byte(static_cast<unsigned char>(byte));
    EXPECT_EQ(bytes_of_name(name), std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(name_of_byte(' '), "Ġ");
  EXPECT_EQ(name_of_byte('\n'), "Ċ");
  EXPECT_EQ(name_of_byte('A'), "A");
  EXPECT_EQ(name_of_byte(0xe9), "é");
  EXPECT_EQ(bytes_of_name("Ġthe"), " the");
  for (const char* foreign : {"a b", "漢", "\xc3", "\xff", "ń ", "ō", "\n"}) {
    EXPECT_EQ(bytes_of_name(foreign), std::nullopt) << foreign;
  }
}

// --- Merging ---

/// A table for a power of two of merges needs empty slots, or a lookup of a missing pair would not end.
TEST(MergeTable, OfAPowerOfTwoMergesKnowsWhatItLacks) {
  for (const int count : {16, 64, 256}) {
    std::vector<Merge> merges;
    for (int i = 0; i < count; ++i) merges.push_back({2 * i, 2 * i + 1, 10'000 + i});
    const MergeTable table(merges);
    MergeTable::Workspace workspace;
    std::vector<int> word = {0, 1, 1, 0, 2, 3};
    table.apply(word, workspace);
    EXPECT_THAT(word, ElementsAre(10'000, 1, 0, 10'001)) << count;
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
    expect_lossless(tokenizer, text, true);
  }
}

TEST(Tokenizer, CanBeSharedBetweenThreads) {
  const Tokenizer tokenizer = Tokenizer::load(kTiny);
  const std::string text = read_file(kOracle / "inputs.py");
  const std::vector<Token> expected = tokenizer.encode(text);
  std::vector<std::vector<Token>> results(4);
  std::vector<std::jthread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) result = tokenizer.encode(text);
    });
  }
  threads.clear();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(TokenizerFiles, ToleratesWindowsLinesAndGaps) {
  std::string merges;
  for (const char c : read_file(kTiny / "merges.txt")) merges += c == '\n' ? "\r\n" : std::string(1, c);
  std::string vocabulary = read_file(kTiny / "vocab.json");
  const Tokenizer reference = Tokenizer::load(kTiny);
  vocabulary.replace(vocabulary.find("\"<|endoftext|>\": "), 17, "\"<|endoftext|>\": 9");
  const TemporaryFolder folder;
  folder.write("vocab.json", vocabulary);
  folder.write("merges.txt", merges);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  EXPECT_GT(tokenizer.size(), 9000);
  EXPECT_EQ(tokenizer.bytes(8999), "");
  EXPECT_EQ(tokenizer.encode("the quick brown fox"), reference.encode("the quick brown fox"));
}

// --- Merges, step by step ---

/// `bpe` of the published encoder.py, on the names of merges.txt: records each merge.
class PublishedMerges {
 public:
  explicit PublishedMerges(const fs::path& merges_txt) {
    std::istringstream lines(read_file(merges_txt));
    std::string line;
    while (std::getline(lines, line)) {
      if (line.empty() || line.starts_with("#version")) continue;
      const std::size_t space = line.find(' ');
      ranks_[{line.substr(0, space), line.substr(space + 1)}] = static_cast<int>(ranks_.size());
    }
  }

  struct Step {
    int rank;
    std::string left, right;
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps(std::string_view bytes) const {
    std::vector<std::string> word;
    for (const char c : bytes) word.push_back(name_of_byte(static_cast<unsigned char>(c)));
    std::vector<Step> steps;
    while (true) {
      auto best = ranks_.end();
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        const auto found = ranks_.find({word[i], word[i + 1]});
        if (found != ranks_.end() && (best == ranks_.end() || found->second < best->second)) best = found;
      }
      if (best == ranks_.end()) return steps;
      std::vector<std::string> merged;
      for (std::size_t i = 0; i < word.size(); ++i) {
        if (i + 1 < word.size() && word[i] == best->first.first && word[i + 1] == best->first.second) {
          steps.push_back({best->second, word[i], word[i + 1]});
          merged.push_back(word[i] + word[i + 1]);
          ++i;
        } else {
          merged.push_back(word[i]);
        }
      }
      word = std::move(merged);
    }
  }

 private:
  std::map<std::pair<std::string, std::string>, int> ranks_;
};

std::string name_of(std::string_view bytes) {
  std::string name;
  for (const char c : bytes) name += name_of_byte(static_cast<unsigned char>(c));
  return name;
}

/// The steps by the published code, checked to lead from the bytes to the result of encode.
std::vector<PublishedMerges::Step> checked_steps(const Tokenizer& tokenizer, std::string_view word,
                                                 std::vector<std::string>& pieces) {
  std::vector<PublishedMerges::Step> steps;
  pieces.clear();
  for (const char c : word) pieces.emplace_back(1, c);
  for (const MergeStep& step : tokenizer.merges(word)) {
    if (step.at + 1 >= pieces.size()) {
      ADD_FAILURE() << "no two pieces at " << step.at;
      break;
    }
    EXPECT_EQ(pieces[step.at], tokenizer.bytes(step.left));
    EXPECT_EQ(pieces[step.at + 1], tokenizer.bytes(step.right));
    pieces[step.at] += pieces[step.at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(step.at) + 1);
    EXPECT_EQ(pieces[step.at], tokenizer.bytes(step.merged));
    steps.push_back({step.rank, name_of(tokenizer.bytes(step.left)), name_of(tokenizer.bytes(step.right))});
  }
  return steps;
}

TEST(Merges, OfEveryTokenOfTheBundledVocabularyAreThoseOfThePublishedAlgorithm) {
  const fs::path folder = headscope::testing::source_dir() / "assets/models/tales";
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const PublishedMerges published(folder / "merges.txt");
  std::vector<std::string> pieces;
  int built = 0;
  for (int id = 0; id < tokenizer.size(); ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    SCOPED_TRACE(to_hex(bytes));
    EXPECT_EQ(checked_steps(tokenizer, bytes, pieces), published.steps(bytes));
    built += pieces.size() == 1 && bytes.size() > 1;
  }
  EXPECT_GT(built, tokenizer.size() - 300) << "all but single bytes and special tokens";
}

// All occurrences of a pair are merged before any pair that results from this is considered.
TEST(Merges, OfWordsLeadToTheirTokens) {
  const fs::path folder = headscope::testing::source_dir() / "assets/models/tales";
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const PublishedMerges published(folder / "merges.txt");
  for (const std::string word : {"", "a", "aaaaaaa", " robots", "lalalalala", "\xff\xfe",
                                 "Zwölfzimmerwohnung", "unbelievably", " banananana", "thethethethe"}) {
    SCOPED_TRACE(word);
    std::vector<std::string> pieces, tokens;
    EXPECT_EQ(checked_steps(tokenizer, word, pieces), published.steps(word));
    for (const Token& token : tokenizer.encode(word)) tokens.emplace_back(tokenizer.bytes(token.id));
    if (word.find('\xff') == std::string::npos) {
      EXPECT_EQ(pieces, tokens);
    }
  }
}

}  // namespace
}  // namespace headscope::model::tokenizer_test
