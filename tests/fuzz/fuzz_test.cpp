// Thousands of damaged files, the same ones every time. Each either loads or is refused with one sentence;
// built with the sanitizers, this also shows that no byte outside a file is looked at. HEADSCOPE_FUZZ_ROUNDS
// multiplies them.
#include <gmock/gmock.h>

#include <cstdlib>

#include "model/config.h"
#include "model/error.h"
#include "model/file_io.h"
#include "model/safetensors.h"
#include "model/tokenizer.h"
#include "model/transformer.h"
#include "tests/fuzz/mutation.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/sentences.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using testing::is_sentence;
using testing::json_words;
using testing::Mutator;
using testing::safetensors_of_header;
using testing::TemporaryFolder;

const fs::path kTiny = fs::path(HEADSCOPE_SOURCE_DIR) / "tests/model/tokenizer_oracle/tiny";

int rounds() {
  const char* text = std::getenv("HEADSCOPE_FUZZ_ROUNDS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

/// Where thousands of small files are written in no time.
fs::path memory_folder() {
  return fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
}

/// Counts how the files fared: a fuzz test whose files all fail the same way tests nothing.
struct Outcome {
  int loaded = 0;
  int refused = 0;
};

template <typename Action>
Outcome fuzz(int count, Action&& action) {
  Outcome outcome;
  for (int i = 0; i < count * rounds() && !::testing::Test::HasFailure(); ++i) {
    try {
      action(i);
      ++outcome.loaded;
    } catch (const LoadError& error) {
      ++outcome.refused;
      EXPECT_TRUE(is_sentence(error.what())) << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "file " << i << " made the wrong kind of error: " << error.what();
    }
  }
  return outcome;
}

std::vector<std::string> words_with(std::vector<std::string> more) {
  std::vector<std::string> words = json_words();
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

unsigned checksum(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte byte : bytes) sum = sum * 31 + std::to_integer<unsigned>(byte);
  return sum;
}

TEST(Fuzz, Safetensors) {
  const TemporaryFolder folder(memory_folder());
  const std::string whole = testing::safetensors_bytes(
      {{"a", "F32", {2, 3}, std::string(24, 'a')}, {"b", "F16", {}, "bb"}, {"c", "U8", {0, 9}, ""}});
  const std::size_t header_size = static_cast<unsigned char>(whole[0]);
  Mutator mutator(1, words_with({"__metadata__", "dtype", "shape", "data_offsets", "F64", "F4", "U8",
                                 "\"x\":", "a", "b"}));
  volatile unsigned sink = 0;
  const Outcome outcome = fuzz(4000, [&](int i) {
    // Mostly the header alone, its length made right again, or else hardly a file would get past it.
    const std::string file = i % 4 == 0 ? mutator.mutate(whole)
                                        : safetensors_of_header(mutator.mutate(whole.substr(8, header_size)),
                                                                whole.substr(8 + header_size));
    const SafetensorsFile opened = SafetensorsFile::open(folder.write("x", file));
    for (const auto& [name, view] : opened.tensors()) sink = sink + checksum(view.data);
  });
  EXPECT_GT(outcome.refused, 1000);
  EXPECT_GT(outcome.loaded, 50);
}

TEST(Fuzz, Config) {
  const std::string whole = testing::gpt2_config({}, R"(,"n_inner":null,"scale_attn_weights":true)");
  Mutator mutator(2, words_with({"gpt2", "gelu", "n_layer", "\"n_inner\":", "tie_word_embeddings"}));
  const Outcome outcome = fuzz(10'000, [&](int) {
    const Config config = parse_config(mutator.mutate(whole), "config.json");
    EXPECT_GT(config.n_layer, 0);
    EXPECT_GT(config.n_head, 0);
    EXPECT_EQ(config.n_embd % config.n_head, 0);
    EXPECT_GT(config.n_ctx, 0);
    EXPECT_GT(config.vocab_size, 0);
    EXPECT_GT(config.n_inner, 0);
  });
  EXPECT_GT(outcome.refused, 2000);
  EXPECT_GT(outcome.loaded, 500);
}

/// A tokenizer that came out of damaged files still keeps its promises.
void expect_lossless(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  ASSERT_EQ(tokenizer.decode(ids), text);
}

TEST(Fuzz, VocabularyAndMerges) {
  const std::string vocabulary = read_file(kTiny / "vocab.json");
  const std::string merges = read_file(kTiny / "merges.txt");
  const std::string text = "the robot <|endoftext|> " + vocabulary.substr(0, 500);
  Mutator mutator(
      3, words_with({"Ġ", "Ġt", " ", "\n", "\r", "#version", "<|endoftext|>", "\"a\": ", "16777215"}));
  const Outcome outcome = fuzz(3000, [&](int i) {
    const bool first = i % 2 == 0;
    const Tokenizer tokenizer = Tokenizer::from_vocab_and_merges(
        first ? mutator.mutate(vocabulary) : vocabulary, first ? merges : mutator.mutate(merges), "folder");
    expect_lossless(tokenizer, text);
  });
  EXPECT_GT(outcome.refused, 500);
  EXPECT_GT(outcome.loaded, 50);
}

TEST(Fuzz, TokenizerJson) {
  const std::string whole =
      R"({"added_tokens":[{"id":9000,"content":"<x>","lstrip":false}],"normalizer":null,"pre_tokenizer":)"
      R"({"type":"ByteLevel","add_prefix_space":false},"model":{"type":"BPE","merges":["' s",["ðŁ","ĳ"],"Ġ â"],"vocab":)" +
      read_file(kTiny / "vocab.json") + "}}";
  const std::string text = "the <x>'s 👍 <|endoftext|> “\xff";
  Mutator mutator(4, words_with({"Ġ", "\"' s\"", "added_tokens", "content", "vocab", "merges", "16777215"}));
  const std::size_t head = whole.find("\"vocab\"");
  const Outcome outcome = fuzz(2000, [&](int i) {
    const std::string damaged =
        i % 4 == 0 ? mutator.mutate(whole) : mutator.mutate(whole.substr(0, head)) + whole.substr(head);
    expect_lossless(Tokenizer::from_tokenizer_json(damaged, "tokenizer.json"), text);
  });
  EXPECT_GT(outcome.refused, 500);
  EXPECT_GT(outcome.loaded, 50);
}

TEST(Fuzz, TextsOfAnyBytes) {
  const Tokenizer tokenizer = Tokenizer::load(kTiny);
  Mutator mutator(5,
                  {" ", "\n", "\t", "'s", "'ll", "<|endoftext|>", "\xc2\xa0", "\xe3\x80\x80", "\xed\xa0\x80",
                   "\xf0\x9f\x91\x8d", "\xe2\x80\x8d", "\xcc\x81", "\xff", "1", "漢", std::string(1, '\0')});
  std::string text = "the robot's 42 friends";
  for (int i = 0; i < 5000 * rounds(); ++i) {
    text = mutator.mutate(text);
    ASSERT_NO_FATAL_FAILURE(expect_lossless(tokenizer, text));
    if (text.size() < 4 || text.size() > 2000) text = "the robot's 42 friends";
  }
}

TEST(Fuzz, ModelFolder) {
  const testing::Gpt2Shape shape{.layers = 1, .heads = 1, .width = 2, .positions = 4, .vocabulary = 5};
  const std::string config = testing::gpt2_config(shape);
  const std::string model = testing::safetensors_bytes(testing::gpt2_tensors(shape));
  const std::string index =
      R"({"weight_map":{"wte.weight":"model.safetensors","ln_f.bias":"model.safetensors"}})";
  const TemporaryFolder folder(memory_folder());
  Mutator mutator(6, words_with({"F32", "F16", "BF16", "I64", "transformer.", "h.0.", "wte.weight", "../x",
                                 "16", "2", "5"}));
  const std::size_t header_size =
      static_cast<unsigned char>(model[0]) + 256U * static_cast<unsigned char>(model[1]);
  const Outcome outcome = fuzz(1500, [&](int i) {
    folder.write("config.json", i % 3 == 0 ? mutator.mutate(config) : config);
    folder.write("model.safetensors",
                 i % 3 != 1 ? model
                            : safetensors_of_header(mutator.mutate(model.substr(8, header_size)),
                                                    model.substr(8 + header_size)));
    if (i % 3 == 2) {
      fs::rename(folder.path() / "model.safetensors", folder.path() / "model-1.safetensors");
      std::string text = index;
      for (std::size_t at = 0; (at = text.find("model.", at)) != std::string::npos; at += 7)
        text.insert(at + 5, "-1");
      folder.write("model.safetensors.index.json", mutator.mutate(text));
    }
    const std::shared_ptr<const Transformer> transformer = Transformer::load(folder.path());
    Workspace workspace(1);
    const std::vector<int> tokens = {0};
    const auto run = transformer->forward(tokens, workspace);
    std::vector<float> logits(static_cast<std::size_t>(transformer->config().vocab_size));
    transformer->logits(*run, 0, 1, workspace, logits);
  });
  EXPECT_GT(outcome.refused, 300);
  EXPECT_GT(outcome.loaded, 50);
}

}  // namespace
}  // namespace headscope::model
