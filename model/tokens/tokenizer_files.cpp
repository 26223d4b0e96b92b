#include "model/tokens/tokenizer_files.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMaxId = (1 << 24) - 1;  // limit of the configuration's vocab_size

using NamePair = std::pair<std::string, std::string>;

/// "a b" -> a, b. Neither can contain a space, which the byte alphabet lacks.
NamePair split_merge(std::string_view line, const std::string& file, std::size_t number) {
  const std::size_t space = line.find(' ');
  if (space == line.npos || space == 0 || space + 1 == line.size() || line.find(' ', space + 1) != line.npos)
    reject(file + ": merge " + std::to_string(number), "two names with a space between them", quote(line));
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

std::vector<NamePair> parse_merges(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const std::string other = foreign_content(text); !other.empty()) reject(file, "merges", other);
  std::vector<NamePair> merges;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    merges.push_back(split_merge(line, file, merges.size()));
  }
  return merges;
}

// --- JSON files ---

/// A step of a pipeline by its type, or any other value.
std::string shown(const json& value) {
  const json& type = member(value, "type");
  return described(type.is_string() ? type : value);
}

enum JsonFile : unsigned { kPipeline = 1, kVocabulary = 2, kAdded = 4, kMap = 8, kConfig = 16 };

/// A JSON file, of which one field is read at a time.
struct Document {
  std::string file;
  JsonFile kind;
  json root;
  TokenizerFiles* files = nullptr;
  std::string path = "(root)";  ///< of the field

  [[noreturn]] void fail(const std::string& expected, const json& found, const char* key = "") const {
    reject(file, expected + " as \"" + path + key + "\"", shown(found));
  }
  void warn(const std::string& what) const { files->warnings.push_back(file + ": " + what); }
};

/// A step of a pipeline, or the steps of a "Sequence", which are under `key`.
std::vector<const json*> steps(const json& pipeline, const char* key) {
  if (pipeline.is_null()) return {};
  if (member(pipeline, "type") != "Sequence") return {&pipeline};
  std::vector<const json*> all;
  for (const json& step : member(pipeline, key)) all.push_back(&step);
  return all;
}

bool take_normalizer(const json& value, Document&) {
  return steps(value, "normalizers").empty();
}

bool take_words(const json& value, Document& of) {
  const auto all = steps(value, "pretokenizers");
  if (all.size() != 1 || member(*all[0], "type") != "ByteLevel") return false;
  const json& use_regex = member(*all[0], "use_regex");
  of.files->add_prefix_space = member(*all[0], "add_prefix_space") == true;
  return use_regex.is_null() || use_regex == true;
}

bool take_type(const json& value, Document&) {
  return value.is_null() || value == "BPE";
}

bool is_unset(const json& value, Document&) {
  return value.is_null() || value == false || value == 0 || value == "";
}

bool warn_if_set(const json& value, Document& of) {
  if (!is_unset(value, of)) of.warn("\"" + of.path + "\" is " + shown(value) + ", which has no effect here");
  return true;
}

bool warn_of_class(const json& value, Document& of) {
  const bool same = value == "GPT2Tokenizer" || value == "GPT2TokenizerFast" ||
                    value == "PreTrainedTokenizerFast" || value == "TokenizersBackend";
  return same || warn_if_set(value, of);
}

template <auto kFlag>
bool take_flag(const json& value, Document& of) {
  of.files->*kFlag = value == true;
  return value.is_boolean();
}

int parse_id(const json& value, const std::string& file, const std::string& name) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMaxId)
    reject_value(file, "an id of 0 to " + std::to_string(kMaxId) + " for the token " + quote(name), value);
  return value.get<int>();
}

bool take_vocabulary(const json& value, Document& of) {
  if (!value.is_object()) return false;
  of.files->vocabulary.reserve(value.size());
  for (const auto& [name, id] : value.items())
    of.files->vocabulary.emplace_back(name, parse_id(id, of.file, name));
  return true;
}

bool take_merges(const json& value, Document& of) {
  if (!value.is_array()) return false;
  std::vector<NamePair>& merges = of.files->merges;
  merges.reserve(value.size());
  for (const json& merge : value) {
    const bool is_pair =
        merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
    if (!is_pair && !merge.is_string())
      reject_value(of.file + ": merge " + std::to_string(merges.size()), "two names", merge);
    merges.push_back(is_pair ? merge.get<NamePair>()
                             : split_merge(merge.get_ref<const std::string&>(), of.file, merges.size()));
  }
  return true;
}

/// Adds a token that is a text, or an object with its properties.
TokenizerFiles::Added& add_token(const json& value, Document& of) {
  const json& content = value.is_string() ? value : member(value, "content");
  if (!content.is_string() || content == "")
    of.fail("a non-empty string", content.is_null() ? value : content, ".content");
  return of.files->added.emplace_back(
      TokenizerFiles::Added{.text = content.get<std::string>(),
                            .lstrip = member(value, "lstrip") == true,
                            .rstrip = member(value, "rstrip") == true,
                            .single_word = member(value, "single_word") == true});
}

/// The number that a key is; else the key.
json number_or_text(const std::string& key) {
  std::uint64_t number = 0;
  const char* const end = key.data() + key.size();
  const auto [rest, error] = std::from_chars(key.data(), end, number);
  return error == std::errc() && rest == end ? json(number) : json(key);
}

/// Tokens with their ids: a list, or an object with the ids as keys.
bool take_added(const json& value, Document& of) {
  for (const auto& [key, token] : value.items()) {
    TokenizerFiles::Added& added = add_token(token, of);
    added.id = parse_id(value.is_array() ? member(token, "id") : number_or_text(key), of.file, added.text);
  }
  return true;
}

/// An object of names and ids.
bool take_names(const json& value, Document& of) {
  for (const auto& [text, id] : value.items())
    if (!text.empty()) of.files->added.push_back({.text = text, .id = parse_id(id, of.file, text)});
  return true;
}

/// A special token, or a list or an object of them.
bool take_special(const json& value, Document& of) {
  if (is_unset(value, of)) return true;
  const bool is_one = value.is_string() || value.contains("content");
  for (const json& token : is_one ? json::array({value}) : value) add_token(token, of);
  return true;
}

/// The first file that names one counts.
bool take_bos(const json& value, Document& of) {
  const std::size_t before = of.files->added.size();
  take_special(value, of);
  if (of.files->bos_token.empty() && of.files->added.size() > before)
    of.files->bos_token = of.files->added[before].text;
  return true;
}

/// The tokens that are put around every text: the first one before it is the start token.
bool take_template(const json& value, Document& of) {
  std::string others;
  const auto take = [&](const json& token, bool before) {
    if (before && token.is_string() && of.files->first_token.empty())
      of.files->first_token = token.get<std::string>();
    else
      others += (others.empty() ? "" : ", ") + shown(token);
  };
  for (const json* step : steps(value, "processors")) {
    const json& type = member(*step, "type");
    if (type == "TemplateProcessing") {
      bool before = true;
      for (const json& piece : member(*step, "single")) {
        before = before && !piece.contains("Sequence");
        if (piece.contains("SpecialToken")) take(member(piece["SpecialToken"], "id"), before);
      }
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
      for (const char* end : {"cls", "sep"})  // each a name and an id
        for (const json& part : member(*step, end))
          if (part.is_string()) take(part, end[0] == 'c');
    } else if (type != "ByteLevel") {
      warn_if_set(*step, of);
    }
  }
  if (!others.empty())
    of.warn("\"" + of.path + "\" also puts " + others +
            " around every text; this is not done here, so write it in the prompt");
  return true;
}

/// What the JSON files say about a tokenizer, in the order in which it is read.
struct Field {
  unsigned files;
  const char* path;                               ///< keys with dots between; empty: the whole file
  const char* expected;                           ///< in messages
  bool (*take)(const json& value, Document& of);  ///< false: something else than expected
};
constexpr Field kFields[] = {
    {kPipeline, "normalizer", "null", take_normalizer},
    {kPipeline, "pre_tokenizer", "\"ByteLevel\" (with use_regex)", take_words},
    {kPipeline, "model.type", "\"BPE\"", take_type},
    {kPipeline, "model.dropout", "null", is_unset},
    {kPipeline, "model.continuing_subword_prefix", "an empty string", is_unset},
    {kPipeline, "model.end_of_word_suffix", "an empty string", is_unset},
    {kPipeline, "model.ignore_merges", "false", is_unset},
    {kPipeline, "model.vocab", "an object of names and ids", take_vocabulary},
    {kPipeline, "model.merges", "an array", take_merges},
    {kPipeline, "added_tokens", "an array of tokens", take_added},
    {kPipeline, "post_processor", "an object", take_template},
    {kVocabulary, "", "an object of names and ids", take_vocabulary},
    {kAdded, "", "an object of names and ids", take_names},
    {kConfig, "added_tokens_decoder", "an object of ids and tokens", take_added},
    {kConfig, "tokenizer_class", "a name", warn_of_class},
    {kConfig, "add_prefix_space", "true or false", take_flag<&TokenizerFiles::add_prefix_space>},
    {kConfig, "add_bos_token", "true or false", take_flag<&TokenizerFiles::add_bos_token>},
    {kConfig, "add_eos_token", "false", warn_if_set},
    {kConfig, "split_special_tokens", "false", warn_if_set},
    // In the order in which they get ids, where they have none.
    {kMap | kConfig, "bos_token", "a token", take_bos},
    {kMap | kConfig, "eos_token", "a token", take_special},
    {kMap | kConfig, "unk_token", "a token", take_special},
    {kMap | kConfig, "sep_token", "a token", take_special},
    {kMap | kConfig, "pad_token", "a token", take_special},
    {kMap | kConfig, "cls_token", "a token", take_special},
    {kMap | kConfig, "mask_token", "a token", take_special},
    {kMap | kConfig, "additional_special_tokens", "tokens", take_special},
    {kMap | kConfig, "extra_special_tokens", "tokens", take_special},
};

/// Reads the file that has the vocabulary, and the others.
TokenizerFiles read_fields(Document first, std::vector<Document> documents) {
  TokenizerFiles files{.vocabulary_file = first.file, .merges_file = first.file};
  documents.insert(documents.begin(), std::move(first));
  for (const Field& field : kFields) {
    for (Document& of : documents) {
      if ((field.files & of.kind) == 0) continue;
      const json* value = &of.root;
      for (std::string_view path = field.path; !path.empty();) {
        const std::size_t end = std::min(path.find('.'), path.size());
        value = &member(*value, path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
      }
      if (value->is_null() && of.kind != kPipeline) continue;
      of.files = &files;
      of.path = field.path;
      if (!field.take(*value, of)) of.fail(field.expected, *value);
    }
  }
  return files;
}

}  // namespace

TokenizerFiles read_tokenizer_files(const fs::path& folder, const std::stop_token& stop) {
  const auto has = [&](const char* name) { return has_entry(folder / name); };
  const auto document = [&](const char* name, JsonFile kind) {
    const std::string file = system::text_of(folder / name);
    Document read{file, kind, parse_json(read_regular_file(folder / name), file, {.stop = stop})};
    if (!read.root.is_object()) read.fail("an object", read.root);
    return read;
  };
  const bool pair = has("vocab.json") && has("merges.txt"), single = has("tokenizer.json");
  if (!pair && !single && !system::is_folder(folder))
    reject(system::text_of(folder), "a model folder",
           system::is_there(folder) ? "something else" : "nothing of that name");
  if (!pair && !single)
    reject(system::text_of(folder), "the tokenizer's files vocab.json and merges.txt, or tokenizer.json",
           has("vocab.json")   ? "only vocab.json"
           : has("merges.txt") ? "only merges.txt"
                               : "none of them");
  std::vector<Document> others;
  for (const auto& [name, kind] :
       {std::pair("added_tokens.json", kAdded), std::pair("special_tokens_map.json", kMap),
        std::pair("tokenizer_config.json", kConfig)})
    if (has(name)) others.push_back(document(name, kind));

  // With a decoder of added tokens, the configuration has what the older files would say.
  const bool decides = std::ranges::any_of(others, [](const Document& of) {
    return of.kind == kConfig && !member(of.root, "added_tokens_decoder").is_null();
  });
  if (decides) std::erase_if(others, [](const Document& of) { return of.kind != kConfig; });

  std::string unusable;
  if (single) try {
      return read_fields(document("tokenizer.json", kPipeline), others);
    } catch (const ReadError&) {
      throw;
    } catch (const LoadError& error) {
      if (!pair) throw;
      unusable = std::string(error.what()) + "; vocab.json and merges.txt are read instead";
    }
  TokenizerFiles files = read_fields(document("vocab.json", kVocabulary), std::move(others));
  files.merges_file = system::text_of(folder / "merges.txt");
  files.merges = parse_merges(read_regular_file(folder / "merges.txt"), files.merges_file);
  if (single) files.warnings.insert(files.warnings.begin(), unusable);
  return files;
}

}  // namespace headscope::model
