// A model's files, which come from the web and are untrusted.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/files/config.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/safetensors.h"
#include "model/files/tensor_source.h"
#include "model/pass/transformer.h"
#include "model/tokens/tokenizer.h"
#include "tests/fuzz/targets.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/source_folders.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/torch_bytes.h"

namespace headscope::fuzz {
namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;
using testing::TemporaryFolder;

const fs::path kTiny = headscope::testing::source_dir() / "tests/model/tokenizer_oracle/tiny";

/// Checks that a tokenizer read from any file is lossless; `spaces`: except that it may add and take away
/// spaces.
void promise_lossless(const model::Tokenizer& tokenizer, std::string_view text, bool spaces = false) {
  for (const bool specials : {true, false}) {
    std::size_t at = 0;
    std::vector<int> ids;
    for (const model::Token& token : tokenizer.encode(text, specials)) {
      promise(token.start == at && token.end >= at + (spaces ? 0 : 1) && token.end <= text.size(),
              "tokens cover the text without gaps");
      promise(spaces || tokenizer.bytes(token.id) == text.substr(at, token.end - at),
              "a token's range holds its bytes");
      at = token.end;
      ids.push_back(token.id);
    }
    promise(at == text.size(), "tokens cover the whole text");
    promise(spaces || tokenizer.decode(ids) == text, "decode(encode(x)) == x");
  }
}

constexpr std::string_view kText =
    "the robot's 42 <x>friends <|endoftext|> \xf0\x9f\x91\x8d \xe2\x80\x9c\xff\n ";

/// `"!":1000,...`: the tokens of single bytes, which every vocabulary needs.
const std::string& byte_tokens() {
  static const std::string members = [] {
    std::string text;
    for (int byte = 0; byte < 256; ++byte)
      text += (byte > 0 ? "," : "") +
              nlohmann::json(model::name_of_byte(static_cast<unsigned char>(byte))).dump() + ":" +
              std::to_string(1000 + byte);
    return text;
  }();
  return members;
}

/// Adds these tokens to a vocabulary with at least one entry, so that inputs stay short.
std::string with_byte_tokens(std::string_view json, std::string_view open) {
  const std::size_t at = json.find(open);
  if (at == std::string_view::npos) return std::string(json);
  const std::size_t begin = at + open.size();
  const bool empty = json.substr(begin).starts_with('}');
  return std::string(json.substr(0, begin)) + byte_tokens() + (empty ? "" : ",") +
         std::string(json.substr(begin));
}

/// Opens a file of tensors and reads all of them.
template <class Open>
Outcome check_tensors(std::string_view bytes, const Open& open, bool may_overlap) {
  static const TemporaryFolder folder(memory_folder());
  const fs::path path = folder.write("x", bytes);
  return read_or_refused<model::LoadError>([&] {
    const model::TensorFile opened = open(path);
    std::size_t sum_of_bytes = 0;
    volatile unsigned sum = 0;
    for (const auto& [name, view] : opened.tensors) {
      promise(view.bytes <= bytes.size(), "a tensor lies in the file");
      for (const std::byte byte : view.read()) sum = sum * 31 + std::to_integer<unsigned>(byte);
      sum_of_bytes += view.bytes;
    }
    promise(may_overlap || sum_of_bytes <= bytes.size(), "no tensor lies over another");
  });
}

Outcome check_safetensors(std::string_view file) {
  return check_tensors(
      file, [](const fs::path& path) { return model::open_safetensors(path); }, false);
}

Outcome check_torch(std::string_view file) {
  return check_tensors(file, model::open_torch_file, true);
}

Outcome check_pickle(std::string_view pickle) {
  const std::string numbers(64, '\1');
  return check_torch(testing::zip_bytes(
      {{"a/data.pkl", std::string(pickle)}, {"a/data/0", numbers}, {"a/data/1", numbers}}));
}

Outcome check_shard_index(std::string_view index) {
  static const TemporaryFolder parent(memory_folder());
  static const bool made = [] {
    const std::string shard = testing::safetensors_bytes({{"a", "U8", {1}, "a"}, {"b", "U8", {1}, "b"}});
    for (const char* name : {"inside/s-1.safetensors", "inside/s-2.safetensors", "outside.safetensors"})
      parent.write(name, shard);
    return true;
  }();
  const fs::path folder = parent.path() / "inside";
  if (made) parent.write("inside/model.safetensors.index.json", index);
  return read_or_refused<model::LoadError>([&] {
    const model::TensorSource source = model::TensorSource::open(folder);
    for (const char* name : {"a", "b"})
      if (const auto tensor = source.tensors.find(name); tensor != source.tensors.end())
        promise(fs::canonical(tensor->second.file->path()).parent_path() == fs::canonical(folder),
                "shards lie in the folder of their index");
  });
}

Outcome check_config(std::string_view json) {
  return read_or_refused<model::LoadError>([&] {
    const model::Config config = model::parse_config(json, "config.json");
    promise(config.n_layer > 0 && config.n_head > 0 && config.n_ctx > 0 && config.vocab_size > 0 &&
                config.n_inner > 0,
            "sizes are from 1 on");
    promise(config.n_embd > 0 && config.n_embd % config.n_head == 0, "heads share d_model evenly");
    promise(config.layer_norm_epsilon >= 0 && config.attention_scale(config.n_layer - 1) > 0,
            "numbers are numbers");
  });
}

Outcome check_vocabulary(std::string_view json) {
  static const TemporaryFolder folder(memory_folder());
  folder.write("vocab.json", with_byte_tokens(json, "{"));
  folder.write("merges.txt", "t h\nth e");
  return read_or_refused<model::LoadError>(
      [&] { promise_lossless(model::Tokenizer::load(folder.path()), kText); });
}

Outcome check_merges(std::string_view text) {
  // Small, because it is parsed for every input.
  static const std::string vocabulary = with_byte_tokens(
      R"({"th":256,"the":257,"in":258,"he":259,"Ġt":260,"Ġth":261,"Ġthe":262,"hi":263,"thin":264,"ne":265,"âĢ":266,"ĠĠ":267})",
      "{");
  static const TemporaryFolder folder(memory_folder());
  folder.write("vocab.json", vocabulary);
  folder.write("merges.txt", text);
  return read_or_refused<model::LoadError>(
      [&] { promise_lossless(model::Tokenizer::load(folder.path()), kText); });
}

Outcome check_tokenizer_json(std::string_view json) {
  static const TemporaryFolder folder(memory_folder());
  folder.write("tokenizer.json", with_byte_tokens(json, "\"vocab\":{"));
  return read_or_refused<model::LoadError>([&] {
    const auto tokenizer = model::Tokenizer::load(folder.path());
    try {
      promise_lossless(tokenizer, kText, true);
    } catch (const model::RunError&) {  // a byte without a token
    }
  });
}

/// The input is a configuration, a line break, and a tensor header, for which data of the declared size is
/// generated.
Outcome check_model_header(std::string_view input) {
  static const TemporaryFolder folder(memory_folder());
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view header = input.substr(std::min(end + 1, input.size()));
  std::uint64_t bytes = 0;
  const auto read = nlohmann::json::parse(header, nullptr, false);
  for (const auto& tensor : read.is_object() ? read : nlohmann::json::object()) {
    const auto offsets = tensor.is_object() ? tensor.find("data_offsets") : tensor.end();
    if (!tensor.is_object() || offsets == tensor.end() || !offsets->is_array() || offsets->size() != 2)
      continue;
    if (const auto& last = offsets->back(); last.is_number_unsigned())
      bytes = std::max(bytes, last.get<std::uint64_t>());
  }
  constexpr std::uint64_t kMax = 1 << 16;
  std::string data(std::min(bytes, kMax), '\x11');
  folder.write("config.json", input.substr(0, end));
  folder.write("model.safetensors", testing::safetensors_of_header(header, data));
  return read_or_refused<model::LoadError>([&] {
    const std::shared_ptr<const model::Transformer> transformer = model::Transformer::load(folder.path());
    static model::Workspace workspace(1);
    const std::vector<int> tokens(1);
    const auto run = transformer->forward(tokens, workspace);
    std::vector<float> logits(static_cast<std::size_t>(transformer->config().vocab_size));
    transformer->logits(*run, 0, 1, workspace, logits);
  });
}

Outcome check_tokenizer(std::string_view text) {
  static const model::Tokenizer tokenizer = model::Tokenizer::load(kTiny);
  promise_lossless(tokenizer, text);
  const std::string_view word = text.substr(0, 64);
  std::size_t pieces = word.size();
  for (const model::MergeStep& step : tokenizer.merges(word)) {
    --pieces;
    promise(step.at < pieces && step.rank >= 0, "a merge joins two pieces that are there");
  }
  promise(word.empty() ? pieces == 0 : pieces >= 1, "merges leave something");
  // Use any numbers as ids.
  for (std::size_t at = 0; at + 4 <= text.size(); at += 4) {
    int id = 0;
    for (std::size_t i = 0; i < 4; ++i)
      id = static_cast<int>(static_cast<unsigned>(id) << 8 | static_cast<unsigned char>(text[at + i]));
    const bool known = id >= 0 && id < tokenizer.size();
    promise(known || tokenizer.bytes(id).empty(), "an unknown id has no bytes");
  }
  return Outcome::read;
}

}  // namespace

std::vector<Target> model_targets() {
  return {
      {"safetensors", check_safetensors,
       json_and("__metadata__ dtype shape data_offsets F64 F4 U8 F32 BF16 a b"), mutate_safetensors},
      {"torch", check_torch,
       words_in("PK\x01\x02 PK\x03\x04 PK\x05\x06 PK\x06\x06 PK\x06\x07 a/data/0 a/data.pkl a/byteorder big "
                "\xff\xff\xff\xff \x01\0\x18\0"sv),
       nullptr, 2048},
      {"pickle", check_pickle,
       words_in("ccollections\nOrderedDict\n)R ctorch._utils\n_rebuild_tensor_v2\n "
                "ctorch._utils\n_rebuild_parameter\n ctorch\nFloatStorage\n ctorch\nHalfStorage\n "
                "cos\nsystem\n h\1 q\1 ( t R Q K\1 u s } ) ] e \x85 \x86 \x87 \x8a\xff 0 2 b ."),
       nullptr, 1024},
      {"shard-index", check_shard_index,
       json_and("weight_map metadata a b s-1.safetensors s-2.safetensors ../outside.safetensors .. "
                "./s-1.safetensors /etc/passwd transformer."),
       mutate_json, 1024},
      {"config", check_config,
       json_and("gpt2 gelu n_layer n_head n_embd n_positions n_ctx vocab_size n_inner model_type "
                "tie_word_embeddings scale_attn_weights layer_norm_epsilon activation_function pruned_heads "
                "quantization_config bos_token_id"),
       mutate_json, 1024},
      {"vocabulary", check_vocabulary,
       json_and("\xc4\xa0 \xc4\xa0t th the <|endoftext|> 65535 16777215 \\u0120 t h"), mutate_json, 512},
      {"merges", check_merges,
       words_in("\xc4\xa0~\xc4\xa0t~ ~\n~\r~#version: 0.2\n~th~e~i~n~t h\n~\xc3\xa2 \xc4\xa2\n", '~'),
       mutate_lines, 512},
      {"tokenizer-json", check_tokenizer_json,
       json_and("\xc4\xa0 's added_tokens content vocab merges model type BPE ByteLevel add_prefix_space "
                "use_regex pre_tokenizer normalizer dropout ignore_merges id lstrip 65535 <x> <|endoftext|>"),
       mutate_json, 2048},
      {"model", check_model_header,
       json_and("F32 F16 BF16 I64 transformer. h.0. wte.weight lm_head.weight 2 5 16"), mutate_json_lines,
       4096},
      {"tokenizer", check_tokenizer, characters() + Words{"robot", " the", "\xe2\x80\x9c"}},
  };
}

}  // namespace headscope::fuzz
