#include "tests/fuzz/targets.h"

#include <cstdlib>

#include "viz/text/utf8.h"

namespace headscope::fuzz {
namespace {

using namespace std::string_view_literals;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Tokens of JSON and words of a format.
Words json_and(std::string_view words) {
  return words_in(words) + json_words();
}

/// Characters of several bytes, graphemes of several characters, and invalid bytes.
Words characters() {
  return words_in(
      " ~\n~\r\n~\t~'s~'ll~<|endoftext|>~\xc2\xa0~\xe3\x80\x80~\xed\xa0\x80~\xf0\x9f\x91\x8d~\xcc\x81~\xff~1~"
      "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80~\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa~\xe2\x80\x8d~"
      "\xe6\xbc\xa2~"
      "\0~\x1b[31m~\xc2\x9b~\x7f~\xe2\x80\xae~\xef\xbf\xbe~\xf4\x8f\xbf\xbf~a-b~-~\xea\xb0\x81~\xef\xb8\x8f~"
      "\xe1\x84\x80\xe1\x85\xa1~\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7~\xf3\xa0\x81\xa5"sv,
      '~');
}

Words recipe_words() {
  return json_and(
      "figure version program command model weights precision bf16 prompt ids bos no-bos edit off: second "
      "second-on second-model second-weights second-attention align token show difference view beside layer "
      "head query key tries probabilities over over-lines theme dark font-size heads-pane window size "
      "300x300+ scale no-title no-caption svg-text for column rows heatmap "
      "lines heads value-scale log zoom 0:4,all 5.1,5.3 --out "
      "--out=x -o ../../x --model out L0H1.z=0");
}

const std::vector<Target> kTargets{
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
    {"shown-text", check_shown_text, characters() + Words{"\"", "\\"}, nullptr, 256},
    {"figure-note", check_recipe_note,
     characters() + Words{"\"", "\\", "&amp;", "<", "]]>", "</metadata>", "\n%headscope "}, nullptr, 256},
    {"edit-text", check_edit_text,
     words_in("L0 L1H1 L* H* . z scores pattern mask positions resid_pre mlp_post logits result embed = *= "
              "+= <- ~= [ ] , - * null none mean ids( ) \" \\ ; / 100/110/111 0 1 7 8 1e38 -1 0.5 nan inf "
              "1048576 2147483647 99999999999 [0-7] 0*8"),
     nullptr, 512},
    {"attention", check_attention,
     json_and("__metadata__ dtype shape data_offsets F32 F16 BF16 I64 I32 tokens key_tokens causal true "
              "false model text blocks.0.attn.hook_pattern blocks.1.attn.hook_pattern [\"a\",\"b\"] "
              "[1,\"b\"] 4097 16385"),
     mutate_safetensors, 4096, 800},
    {"tour", check_tour,
     characters() +
         words_in("# |## |- prompt: |- view: heatmap|- view: |- layer: |- head: |-1|- token: last|- key: |- "
                  "point: cell|- point: pane next|- if: this prompt, weight above 50 %|- if: this head|- "
                  "otherwise|- otherwise: layers below 2|- option: value-scale log|- option: zoom 0:4,all|- "
                  "edit: L0H0.z=0|- wait: head|{tokens}|{weight}|{|}|%|:|99999999999",
                  '|'),
     mutate_lines, 1024},
    {"settings", check_settings,
     json_and("theme dark font-size window-width heads-pane view heatmap layer query last-model "
              "recent-models recent-sessions export-folder export-scale has-prompt prompt value-scale log "
              "zoom 0:4,all dimensions 0,1,64"),
     mutate_json, 2048},
    {"prompt-list", check_prompt_list,
     json_and("prompt ids second token other_token position id:7 \n \r\n {\"ids\":[1,2]}\n \"text\"\n"),
     mutate_json_lines, 512},
    {"means", check_means,
     json_and("how view sweep options facts columns units skipped shard index count prompts layer head "
              "change 1e120 -1e300 nats ranked_by"),
     mutate_json, 4096, 300},
    {"command-line", check_command_line,
     characters() +
         words_in("\n shot predict tokens sweep metrics search trace get info heatmap lens serve --prompt "
                  "--out x.png --format --size 100x100 fit --layer=1 --head --ids 1,2,3 --json --model "
                  "--scale 1e9 --zoom 0:4,all --help --edit L0H0.z=0 --prompts --shard 1/2 --recipe --tour "
                  "-1 = -- - --mean --rows --merge nan --token id:7 99999999999"),
     mutate_lines, 256, 200},
    {"request", check_request,
     json_and("id args input input_base64 YQ== predict heatmap --prompt --json - \\u0000"), mutate_json, 1024,
     300},
    {"session", check_recipe, recipe_words(), mutate_json, 2048},
    {"figure", check_recipe, recipe_words(), nullptr, 4096},
    {"hub-listing", check_hub_listing,
     json_and("sha siblings rfilename size blobId lfs sha256 config.json ../x") +
         Words{std::string(40, 'a'), std::string(64, 'b')},
     mutate_json, 1024},
    {"hub-name", check_hub_name, characters() + words_in("gpt2 / @ main -- .. . .git refs/pr/1 %2f .lock a"),
     nullptr, 320},
};

}  // namespace

void promise(bool kept, std::string_view what) {
  if (!kept) throw Broken("not kept: " + std::string(what));
}

std::filesystem::path memory_folder() {
  const std::filesystem::path memory = "/dev/shm";
  const bool chosen = std::getenv("TMPDIR") != nullptr;
  return !chosen && std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
}

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const viz::Decoded c = viz::decode_utf8(text, at);
    if (!c.valid || viz::is_control(c.code)) return false;
    at += c.length;
  }
  return true;
}

void promise_sentence(const std::string& message) {
  constexpr std::size_t kShortest = 10, kLongest = 1200;
  promise(message.size() >= kShortest, "an error says what is wrong");
  promise(message.size() <= kLongest, "an error is of sensible length");
  promise(is_printable(message), "an error can be shown: " + viz::drawable(message));
}

std::span<const Target> targets() {
  return kTargets;
}

}  // namespace headscope::fuzz
