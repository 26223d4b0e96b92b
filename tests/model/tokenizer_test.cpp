// Tokens of any text, compared with an oracle's; and the files of a tokenizer as people upload them, read as
// Hugging Face's libraries read them.
#include <utf8proc.h>
#include <nlohmann/json.hpp>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/tokens/bpe.h"
#include "model/tokens/pretokenizer.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"

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

using nlohmann::json;

// Ids of the vocabulary below. A byte has itself as its id.
constexpr int kSpacedH = 256, kHi = 257, kSpacedHi = 258, kEnd = 259, kFree = 260;

/// The names and ids of vocab.json.
json vocabulary() {
  json names = {{"Ġh", kSpacedH}, {"hi", kHi}, {"Ġhi", kSpacedHi}, {"<|endoftext|>", kEnd}};
  for (int byte = 0; byte < 256; ++byte) names[name_of_byte(static_cast<unsigned char>(byte))] = byte;
  return names;
}

constexpr const char* kMerges = "#version: 0.2\nĠ h\nh i\nĠh i\n";

/// A tokenizer.json of that vocabulary, changed by a merge patch.
std::string tokenizer_json(const char* patch = "{}") {
  json root = json::parse(R"({"added_tokens": [{"id": 259, "content": "<|endoftext|>", "special": true}],
    "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "post_processor": {"type": "ByteLevel"}, "model": {"type": "BPE", "merges": ["Ġ h", "h i", "Ġh i"]}})");
  root["model"]["vocab"] = vocabulary();
  root.merge_patch(json::parse(patch));
  return root.dump();
}

/// A form of folder, a text, and its tokens.
struct Row {
  const char* name;
  std::map<std::string, std::string> files;  ///< besides vocab.json and merges.txt
  const char* text = "hi";
  std::vector<int> ids = {kHi};
  std::optional<int> start = kEnd;  ///< the start token
  bool adds_start = false;
  std::string warning = {};  ///< a part of the only one; empty: there is none
};

const std::string kMark = "\xef\xbb\xbf";

std::vector<Row> rows() {
  return {
      {"nothing else", {}, "hi hi<|endoftext|>", {kHi, kSpacedHi, kEnd}},
      {"added_tokens.json",
       {{"added_tokens.json", R"({"<|user|>": 260, "<|bot|>": 263})"}},
       "<|user|>hi<|bot|>",
       {260, kHi, 263}},
      {"added_tokens_decoder",
       {{"tokenizer_config.json", R"({"added_tokens_decoder": {"259": {"content": "<|endoftext|>"},
         "260": {"content": "<|user|>", "special": true, "lstrip": false}}, "pad_token": null})"}},
       "<|user|>hi",
       {260, kHi}},
      {"special tokens without ids get the next free ones, in transformers' order",
       {{"special_tokens_map.json",
         R"({"additional_special_tokens": ["<a>", {"content": "<b>"}], "pad_token": "[PAD]",
             "bos_token": {"content": "<s>", "normalized": true}})"},
        {"added_tokens.json", R"({"<|user|>": 270})"}},
       "<s><a><b>[PAD]",
       {271, 273, 274, 272},
       271},
      {"a special token that is in the vocabulary has its id",
       {{"tokenizer_config.json", R"({"eos_token": "hi"})"}},
       " hi",
       {' ', kHi}},
      {.name = "add_bos_token",
       .files = {{"tokenizer_config.json",
                  R"({"add_bos_token": true, "bos_token": "<s>", "model_max_length": 1e30})"}},
       .start = kFree,
       .adds_start = true},
      {"add_prefix_space in the configuration",
       {{"tokenizer_config.json", R"({"add_prefix_space": true})"}},
       "hi<|endoftext|>hi<|endoftext|> hi",
       {kSpacedHi, kEnd, kSpacedHi, kEnd, kSpacedHi}},
      {"add_prefix_space in tokenizer.json",
       {{"tokenizer.json", tokenizer_json(R"({"pre_tokenizer": {"add_prefix_space": true}})")}},
       "hi",
       {kSpacedHi}},
      {"the configuration's add_prefix_space counts",
       {{"tokenizer.json", tokenizer_json(R"({"pre_tokenizer": {"add_prefix_space": true}})")},
        {"tokenizer_config.json", R"({"add_prefix_space": false, "tokenizer_class": "GPT2Tokenizer"})"}}},
      {"tokenizer.json counts, not vocab.json",
       {{"tokenizer.json", tokenizer_json(R"({"model": {"merges": ["h i"]}})")}},
       " hi",
       {' ', kHi}},
      {"merges as pairs",
       {{"tokenizer.json",
         tokenizer_json(R"({"model": {"merges": [["Ġ", "h"], ["h", "i"], ["Ġh", "i"]]}})")}},
       "hi hi",
       {kHi, kSpacedHi}},
      {"added tokens are found longest first",
       {{"tokenizer.json",
         tokenizer_json(R"({"added_tokens": [{"id": 259, "content": "<|endoftext|>", "special": true},
         {"id": 260, "content": "<pad>", "special": true, "lstrip": false}, {"id": 261, "content": "<pad> ü"},
         {"id": 270, "content": "漢字"}]})")}},
       "<pad><pad> ü漢字<|endoftext|>",
       {260, 261, 270, kEnd}},
      {"special tokens beside tokenizer.json",
       {{"tokenizer.json", tokenizer_json()}, {"special_tokens_map.json", R"({"pad_token": "[PAD]"})"}},
       "hi[PAD]",
       {kHi, kFree}},
      {.name = "a template",
       .files = {{"tokenizer.json",
                  tokenizer_json(R"({"post_processor": {"type": "TemplateProcessing", "single": [
         {"SpecialToken": {"id": "hi", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}})")}},
       .start = kHi,
       .adds_start = true},
      {.name = "a template within a sequence, with an end",
       .files = {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "Sequence", "processors": [
         {"type": "ByteLevel"}, {"type": "TemplateProcessing", "single": [
           {"SpecialToken": {"id": "<|endoftext|>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "hi"}}]}
         ]}})")}},
       .adds_start = true,
       .warning = "\"post_processor\" also puts \"hi\" around every text"},
      {.name = "RoBERTa's start and end",
       .files = {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "RobertaProcessing",
         "sep": ["<|endoftext|>", 259], "cls": ["hi", 257], "trim_offsets": true}})")}},
       .start = kHi,
       .adds_start = true,
       .warning = "also puts \"<|endoftext|>\""},
      {"add_bos_token turns a template off",
       {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "TemplateProcessing", "single": [
         {"SpecialToken": {"id": "hi"}}, {"Sequence": {"id": "A"}}]}})")},
        {"tokenizer_config.json", R"({"add_bos_token": false})"}}},
      {.name = "an end token",
       .files = {{"tokenizer_config.json", R"({"add_eos_token": true})"}},
       .warning = "\"add_eos_token\" is true"},
      {.name = "another class",
       .files = {{"tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})"}},
       .warning = "RobertaTokenizer"},
      {"lstrip and rstrip",
       {{"tokenizer_config.json", R"({"added_tokens_decoder": {"260": {"content": "<l>", "lstrip": true},
         "261": {"content": "<r>", "rstrip": true}}})"}},
       "hi \n<l> hi<r>\t hi",
       {kHi, 260, kSpacedHi, 261, kHi}},
      {"single_word",
       {{"tokenizer_config.json",
         R"({"added_tokens_decoder": {"260": {"content": "xy", "single_word": true}}})"}},
       "xy xyz éxy-xy",
       {260, ' ', 'x', 'y', 'z', ' ', 0xc3, 0xa9, 'x', 'y', '-', 260}},
      {"byte order marks and Windows' lines",
       {{"vocab.json", kMark + vocabulary().dump()},
        {"merges.txt", kMark + "#version: 0.2\r\nĠ h\r\nh i\r\nĠh i\r\n"},
        {"tokenizer_config.json", kMark + "{}"}},
       "hi hi",
       {kHi, kSpacedHi}},
      {"a byte order mark in tokenizer.json", {{"tokenizer.json", kMark + tokenizer_json()}}},
      {.name = "a foreign tokenizer.json beside GPT-2's files",
       .files = {{"tokenizer.json", R"({"normalizer": null, "pre_tokenizer": {"type": "Metaspace"}})"}},
       .warning = "found \"Metaspace\"; vocab.json and merges.txt are read instead"},
  };
}

TEST(TokenizerFolders, AreReadAsHuggingFaceReadsThem) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const TemporaryFolder folder;
    folder.write("vocab.json", vocabulary().dump());
    folder.write("merges.txt", kMerges);
    for (const auto& [name, content] : row.files) folder.write(name, content);
    const Tokenizer tokenizer = Tokenizer::load(folder.path());
    const std::vector<Token> tokens = tokenizer.encode(row.text);
    EXPECT_EQ(ids_of(tokens), row.ids);
    std::size_t end = 0;
    for (const Token& token : tokens) {
      EXPECT_EQ(token.start, end);
      end = token.end;
    }
    EXPECT_EQ(end, std::string_view(row.text).size());
    EXPECT_EQ(tokenizer.start_token(), row.start);
    EXPECT_EQ(tokenizer.adds_start_token(), row.adds_start);
    ASSERT_THAT(tokenizer.warnings(), SizeIs(row.warning.empty() ? 0 : 1));
    if (!row.warning.empty()) {
      EXPECT_THAT(tokenizer.warnings()[0], HasSubstr(row.warning));
    }
  }
}

/// A model without a tokenizer takes ids alone, also where a text is expected.
TEST(MissingTokenizer, ReadsIdsAndNothingElse) {
  const Tokenizer tokenizer = Tokenizer::missing("x: no files");
  EXPECT_EQ(tokenizer.problem(), "x: no files");
  EXPECT_EQ(tokenizer.text(41), "#41");
  EXPECT_EQ(tokenizer.decode(std::vector<int>{15, 4}), "#15#4");
  EXPECT_THAT(tokenizer.encode("#15#4"), ElementsAre(Token{15, 0, 3}, Token{4, 3, 5}));
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
  for (const char* text : {"hi", "#", "#-1", "#1 #2", "#99999999999"})
    EXPECT_THAT(testing::message_of<RunError>([&] { tokenizer.encode(text); }), HasSubstr("x: no files"))
        << text;
}

}  // namespace
}  // namespace headscope::model::tokenizer_test
