// Invalid and malicious files. Each causes one sentence: where, what was expected and what was found.

#include "model/files/error.h"

#include <nlohmann/json.hpp>
#include <stop_token>

#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/safetensors.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_bytes.h"
#include "tests/support/sentences.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"

namespace headscope::model::hostile_test {
namespace {

namespace fs = std::filesystem;

std::string repeated(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(Quote, ShowsNamesWithoutHarm) {
  EXPECT_EQ(quote("h.0.attn"), "\"h.0.attn\"");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quote(std::string_view("\x1b[31m\n\0\x7f\xe2", 9)), R"("\x1b[31m\x0a\x00\x7f\xe2")");
  EXPECT_EQ(quote(std::string(1000, 'x')), "\"" + std::string(64, 'x') + "\"...");
}

TEST(ParseJson, RefusesDepthAndRepetition) {
  EXPECT_EQ(parse_json(R"({"a":[{"a":1},{"a":2}]})", "f", {.depth = 3})["a"][1]["a"], 2);
  const auto message = [](const std::string& text, int depth) {
    return message_of<LoadError>([&] { parse_json(text, "f.json", {.depth = depth}); });
  };
  EXPECT_NO_THROW(parse_json("[1,[2,{}]]", "f", {.values = 5}));
  EXPECT_THROW(parse_json("[1,[2,{}]]", "f", {.values = 4}), LoadError);
  expect_load_sentence(message("[[[]]]", 2), "f.json", "at most 2 levels");
  expect_load_sentence(message(repeated("[", 1'000'000), 32), "f.json", "at most 32 levels");
  expect_load_sentence(message(repeated("{\"a\":", 1'000'000), 32), "f.json", "at most 32 levels");
  expect_load_sentence(message(R"({"a":1,"b":{"a":1,"c":2,"a":3}})", 8), "f.json", "\"a\" twice");
  expect_load_sentence(message("", 8), "f.json", "expected JSON");
  expect_load_sentence(message("{\n\"\xc3\xa9\": ]}", 8), "f.json", "a syntax error at line 2, column 6");
  expect_load_sentence(message(R"("a\ud83d")", 8), "f.json", "half of a surrogate pair");
  expect_load_sentence(message("{\"\xff\":1}", 8), "f.json", "expected JSON");
  expect_load_sentence(message("[1e999]", 8), "f.json", "out of range");
  for (const char* text : {"{}", "{} 1", "\"a\"", "[1,"})
    expect_load_sentence(message(text + std::string("\0", 1), 8), "f.json", "at column");
}

TEST(ParseJson, KeepsTheOrderOfMembersIfAsked) {
  using Ordered = nlohmann::ordered_json;
  EXPECT_EQ(parse_json<Ordered>(R"({"b":{"d":1,"c":[2]},"a":3})", "f").dump(),
            R"({"b":{"d":1,"c":[2]},"a":3})");
  EXPECT_THROW(parse_json<Ordered>(R"({"b":1,"a":2,"b":3})", "f"), LoadError);
}

TEST(ParseJson, StopsInsideAText) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(parse_json("[1]", "f", {.stop = source.get_token()}), Stopped);
}

// --- safetensors ---

struct HostileFile {
  const char* name;
  std::string bytes;
  std::string what;
};

/// A file with one tensor with these three members, and that many bytes of data.
std::string one_tensor(std::string_view members, std::size_t data_bytes) {
  return safetensors_of_header(R"({"x":{)" + std::string(members) + "}}", std::string(data_bytes, 'd'));
}

std::vector<HostileFile> hostile_files() {
  const std::string whole = safetensors_bytes({{"x", "F32", {2}, std::string(8, 'd')}});
  const std::string maximum = "9223372036854775807";
  return {
      {"Empty", "", "only 0 bytes (the file is truncated; download it again)"},
      {"HeaderLongerThanFile", std::string("\x10\0\0\0\0\0\0\0{}", 10), "truncated"},
      {"HeaderBeyondTheCap", std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10), "at most 100000000 bytes"},
      {"LfsPointer", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2\nsize 548105171\n",
       "git lfs pull"},
      {"NoJson", safetensors_of_header("hello"), "expected JSON"},
      {"DeepArrays", safetensors_of_header(R"({"x":)" + repeated("[", 500'000)), "nested"},
      {"TwiceTheSameTensor", safetensors_of_header(R"({"x":1,"x":1})"), "\"x\" twice"},
      {"MetadataOfNumbers", safetensors_of_header(R"({"__metadata__":{"a":1}})"), "\"a\""},
      {"NoDtype", one_tensor(R"("shape":[1],"data_offsets":[0,4])", 4), "dtype: expected a name, found none"},
      {"NegativeSize", one_tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])", 4), "found -1"},
      {"ProductOverflows",
       one_tensor(R"("dtype":"F32","shape":[)" + maximum + "," + maximum + R"(],"data_offsets":[0,4])", 4),
       "a size that can be addressed"},
      {"ProductOverflowsToTheRightSize",  // 2^32 * 2^32 * 4 bytes is 0 modulo 2^64
       one_tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0),
       "a size that can be addressed"},
      {"OffsetsBackwards", one_tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])", 4),
       "found [4, 0]"},
      {"OffsetBeyondTheFile", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])", 4),
       "the file's 4 bytes"},
      {"LengthTooSmall", one_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
       "expected 8 bytes"},
      {"Overlap",
       safetensors_of_header(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
                                 "b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}})",
                             "12345"),
       "overlapping"},
      {"Hole",
       safetensors_of_header(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                                 "b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
                             "123"),
       "a hole"},
      {"BytesAfterTheLast", whole + "more", "expected 8 bytes of data"},
      {"LastByteLost", whole.substr(0, whole.size() - 1), "truncated"},
      {"TerminalCodesInAName", safetensors_of_header("{\"\\u001b[2J\\n\\u0000\":0}"), "\\x1b[2J\\x0a\\x00"},
      {"EndlessName", safetensors_of_header("{\"" + std::string(1'000'000, 'n') + "\":0}"), "nnn\"..."},
  };
}

TEST(HostileSafetensors, IsRefusedInOneSentence) {
  const TemporaryFolder folder;
  for (const HostileFile& hostile : hostile_files()) {
    SCOPED_TRACE(hostile.name);
    const fs::path file = folder.write("model.safetensors", hostile.bytes);
    const std::string message = message_of<LoadError>([&] { open_safetensors(file); });
    expect_load_sentence(message, file.string(), hostile.what);
  }
}

TEST(HostileSafetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = safetensors_bytes({{"x", "F32", {2}, "12345678"}, {"y", "U8", {3}, "abc"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const fs::path file = folder.write("cut", whole.substr(0, size));
    EXPECT_THROW(open_safetensors(file), LoadError) << size;
  }
}

// --- The tokenizer's files ---

const fs::path kTiny = headscope::testing::source_dir() / "tests/model/tokenizer_oracle/tiny";

Tokenizer tokenizer_of(const std::map<std::string, std::string>& files) {
  const TemporaryFolder folder;
  for (const auto& [name, content] : files) folder.write(name, content);
  return Tokenizer::load(folder.path());
}

std::string load_vocabulary(const std::string& vocabulary, const std::string& merges = "#version: 0.2\n") {
  return message_of<LoadError>([&] { tokenizer_of({{"vocab.json", vocabulary}, {"merges.txt", merges}}); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(HostileVocabulary, IsRefusedInOneSentence) {
  const std::string file = "vocab.json";
  expect_load_sentence(load_vocabulary(""), file, "expected JSON");
  expect_load_sentence(load_vocabulary("[]"), file, "found an array");
  expect_load_sentence(load_vocabulary(R"({"a": "b"})"), file, "\"a\", found \"b\"");
  expect_load_sentence(load_vocabulary(R"({"a": 16777216})"), file, "0 to 16777215");
  expect_load_sentence(load_vocabulary(R"({"a": 1, "a": 2})"), file, "\"a\" twice");
  expect_load_sentence(load_vocabulary(R"({"a": 1, "b": 1})"), file, "each id once");
}

TEST(HostileVocabulary, InPlaceOfAFileThereMayBeAPointerOrAPage) {
  const std::string vocabulary = read_file(kTiny / "vocab.json");
  for (const auto& [content, said] :
       {std::pair("version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
        {"\n<!DOCTYPE html><html>", "an HTML page"}}) {
    expect_load_sentence(load_vocabulary(content), "vocab.json", said);
    expect_load_sentence(load_vocabulary(vocabulary, content), "merges.txt", said);
  }
  EXPECT_THAT(load_vocabulary("{\"a\": 1"), HasSubstr("download it again"));
}

TEST(HostileVocabulary, WithoutAByteFailsOnlyForATextWithThatByte) {
  const std::string vocabulary = replaced(read_file(kTiny / "vocab.json"), "\"q\":", "\"\u6f22\":");
  const Tokenizer tokenizer = tokenizer_of({{"vocab.json", vocabulary}, {"merges.txt", "r e\n"}});
  EXPECT_EQ(tokenizer.encode("there").size(), 4U);
  const std::string said = message_of<RunError>([&] { tokenizer.encode("a question"); });
  EXPECT_THAT(said, HasSubstr("no token for the byte 113"));
}

TEST(HostileMerges, AreRefusedInOneSentence) {
  const std::string vocabulary = read_file(kTiny / "vocab.json");
  const std::string file = "merges.txt";
  expect_load_sentence(load_vocabulary(vocabulary, "#version: 0.2\nthe\n"), file, "\"the\"");
  expect_load_sentence(load_vocabulary(vocabulary, "q\xff \x01z\n"), file,
                       "\"q\\xff\" is not in the vocabulary");
  expect_load_sentence(load_vocabulary(vocabulary, std::string(1'000'000, 'x')), file, "xxx\"...");
  expect_load_sentence(load_vocabulary(vocabulary, "#version: 0.2\n"), file, "mix the files of two models");
}

std::string load_tokenizer_json(const std::string& text) {
  return message_of<LoadError>([&] { tokenizer_of({{"tokenizer.json", text}}); });
}

/// A tokenizer.json in which `from` was replaced.
std::string tokenizer_json_with(const std::string& from, const std::string& to) {
  const std::string text =
      R"({"added_tokens":[{"id":9000,"content":"<x>","lstrip":false,"rstrip":false,"single_word":false}],
      "normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},
      "model":{"type":"BPE","dropout":null,"continuing_subword_prefix":"","end_of_word_suffix":"","ignore_merges":false,
      "vocab":)" +
      read_file(kTiny / "vocab.json") + R"(,"merges":["r e"]}})";
  return replaced(text, from, to);
}

TEST(HostileTokenizerJson, IsRefusedInOneSentence) {
  EXPECT_NO_THROW(tokenizer_of({{"tokenizer.json", tokenizer_json_with("<x>", "<y>")}}));
  const auto expect = [](const std::string& text, const std::string& what) {
    expect_load_sentence(load_tokenizer_json(text), "tokenizer.json", what);
  };
  expect("[]", "expected an object");
  expect(repeated("[", 1'000'000), "nested");
  expect(tokenizer_json_with(R"("normalizer":null)", R"("normalizer":{"type":"NFC"})"),
         R"("normalizer", found "NFC")");
  expect(tokenizer_json_with(R"("type":"ByteLevel")", R"("type":"Whitespace")"), R"(found "Whitespace")");
  expect(tokenizer_json_with(R"("use_regex":true)", R"("use_regex":false)"), "use_regex");
  expect(tokenizer_json_with(R"("type":"BPE")", R"("type":"Unigram")"), R"("model.type", found "Unigram")");
  expect(tokenizer_json_with(R"("dropout":null)", R"("dropout":0.1)"), "model.dropout");
  expect(tokenizer_json_with(R"("continuing_subword_prefix":"")", R"("continuing_subword_prefix":"##")"),
         "##");
  expect(tokenizer_json_with(R"("ignore_merges":false)", R"("ignore_merges":true)"), "ignore_merges");
  expect(tokenizer_json_with(R"("merges":["r e"])", R"("merges":null)"), "model.merges");
  expect(tokenizer_json_with(R"("merges":["r e"])", R"("merges":[["a"]])"), "merge 0");
  expect(tokenizer_json_with(R"("merges":["r e"])", R"("merges":[["Q","Z"]])"), "QZ");
  expect(tokenizer_json_with(R"("id":9000)", R"("id":-1)"), "\"<x>\", found -1");
  expect(tokenizer_json_with(R"("id":9000)", R"("id":3)"), "the id 3");
  expect(tokenizer_json_with(R"("content":"<x>")", R"("content":"")"), "added_tokens.content");
  expect(tokenizer_json_with(R"("added_tokens":[)", R"("added_tokens":7,"x":[)"), "added_tokens");
  expect(tokenizer_json_with(R"("vocab":{)", R"("vocab":[],"x":{)"), "model.vocab");
}

TEST(HostileTokenizerConfig, IsRefusedInOneSentence) {
  for (const auto& [name, text, what] :
       {std::tuple("tokenizer_config.json", "[]", "an object"),
        {"tokenizer_config.json", R"({"bos_token": 7})", "\"bos_token.content\", found 7"},
        {"added_tokens.json", R"({"<a>": "x"})", "for the token \"<a>\", found \"x\""}}) {
    const std::map<std::string, std::string> files{{"vocab.json", read_file(kTiny / "vocab.json")},
                                                   {"merges.txt", read_file(kTiny / "merges.txt")},
                                                   {name, text}};
    EXPECT_THAT(message_of<LoadError>([&] { tokenizer_of(files); }), AllOf(HasSubstr(name), HasSubstr(what)));
  }
}

TEST(HostileFolder, WithoutATokenizerSaysWhatIsMissing) {
  const TemporaryFolder folder;
  const auto load = [](const fs::path& path) {
    return message_of<LoadError>([&] { Tokenizer::load(path); });
  };
  expect_load_sentence(load(folder.path()), folder.path().string(), "none of them");
  const fs::path file = folder.write("merges.txt", "");
  expect_load_sentence(load(folder.path()), folder.path().string(), "only merges.txt");
  expect_load_sentence(load(file), file.string(), "something else");
  expect_load_sentence(load(folder.path() / "x"), folder.path().string(), "nothing of that name");
  fs::create_directory(folder.path() / "vocab.json");
  EXPECT_THAT(load(folder.path()), HasSubstr("a directory"));
}

}  // namespace
}  // namespace headscope::model::hostile_test
