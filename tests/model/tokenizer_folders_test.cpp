// The files of a tokenizer as people upload them, read as Hugging Face's libraries read them.
#include <nlohmann/json.hpp>

#include "model/files/error.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"

namespace headscope::model::tokenizer_folders_test {
namespace {

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
  const char* text;
  std::vector<int> ids;
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
      {"add_bos_token",
       {{"tokenizer_config.json",
         R"({"add_bos_token": true, "bos_token": "<s>", "model_max_length": 1e30})"}},
       "hi",
       {kHi},
       kFree,
       true},
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
        {"tokenizer_config.json", R"({"add_prefix_space": false, "tokenizer_class": "GPT2Tokenizer"})"}},
       "hi",
       {kHi}},
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
      {"a template",
       {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "TemplateProcessing", "single": [
         {"SpecialToken": {"id": "hi", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]}})")}},
       "hi",
       {kHi},
       kHi,
       true},
      {"a template within a sequence, with an end",
       {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "Sequence", "processors": [
         {"type": "ByteLevel"}, {"type": "TemplateProcessing", "single": [
           {"SpecialToken": {"id": "<|endoftext|>"}}, {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "hi"}}]}
         ]}})")}},
       "hi",
       {kHi},
       kEnd,
       true,
       "\"post_processor\" also puts \"hi\" around every text"},
      {"RoBERTa's start and end",
       {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "RobertaProcessing",
         "sep": ["<|endoftext|>", 259], "cls": ["hi", 257], "trim_offsets": true}})")}},
       "hi",
       {kHi},
       kHi,
       true,
       "also puts \"<|endoftext|>\""},
      {"add_bos_token turns a template off",
       {{"tokenizer.json", tokenizer_json(R"({"post_processor": {"type": "TemplateProcessing", "single": [
         {"SpecialToken": {"id": "hi"}}, {"Sequence": {"id": "A"}}]}})")},
        {"tokenizer_config.json", R"({"add_bos_token": false})"}},
       "hi",
       {kHi}},
      {"an end token",
       {{"tokenizer_config.json", R"({"add_eos_token": true})"}},
       "hi",
       {kHi},
       kEnd,
       false,
       "\"add_eos_token\" is true"},
      {"another class",
       {{"tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})"}},
       "hi",
       {kHi},
       kEnd,
       false,
       "RobertaTokenizer"},
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
      {"a byte order mark in tokenizer.json", {{"tokenizer.json", kMark + tokenizer_json()}}, "hi", {kHi}},
      {"a foreign tokenizer.json beside GPT-2's files",
       {{"tokenizer.json", R"({"normalizer": null, "pre_tokenizer": {"type": "Metaspace"}})"}},
       "hi",
       {kHi},
       kEnd,
       false,
       "found \"Metaspace\"; vocab.json and merges.txt are read instead"},
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
    std::vector<int> ids;
    std::size_t end = 0;
    for (const Token& token : tokenizer.encode(row.text)) {
      ids.push_back(token.id);
      EXPECT_EQ(token.start, end);
      end = token.end;
    }
    EXPECT_EQ(ids, row.ids);
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
}  // namespace headscope::model::tokenizer_folders_test
