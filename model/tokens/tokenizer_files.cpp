#include "model/tokens/tokenizer_files.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::model {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxId = (1 << 24) - 1;  // limit of the configuration's vocab_size

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw LoadError(file + ": " + what);
}

/// Reads `{"name": id, ...}` as a stream, which is three times as fast as building a tree.
class VocabularyReader : public nlohmann::json_sax<json> {
 public:
  explicit VocabularyReader(const std::string& file) : file_(file) {}

  bool start_object(std::size_t) override { return open_ ? refuse("an object") : (open_ = true); }
  bool end_object() override { return true; }
  bool key(std::string& name) override {
    name_ = std::move(name);
    return true;
  }
  bool number_unsigned(std::uint64_t id) override {
    if (!open_ || id > kMaxId) return refuse(std::to_string(id));
    entries_.push_back({std::move(name_), static_cast<int>(id)});
    return true;
  }
  bool number_integer(std::int64_t id) override { return refuse(std::to_string(id)); }
  bool number_float(double, const std::string& text) override { return refuse("the number " + quote(text)); }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool string(std::string& text) override { return refuse("the string " + quote(text)); }
  bool binary(json::binary_t&) override { return refuse("binary data"); }
  bool start_array(std::size_t) override { return refuse("an array"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    fail(file_, "expected JSON, found a syntax error at byte " + std::to_string(at));
  }

  std::vector<TokenizerFiles::Entry> take() { return std::move(entries_); }

 private:
  bool refuse(const std::string& found) const {
    if (!open_) fail(file_, "expected an object of names and ids, found " + found);
    fail(file_, "expected an id of 0 to " + std::to_string(kMaxId) + " for the token " + quote(name_) +
                    ", found " + found);
  }

  const std::string& file_;
  bool open_ = false;
  std::string name_;
  std::vector<TokenizerFiles::Entry> entries_;
};

TokenizerFiles::Merge join(std::string_view left, std::string_view right) {
  TokenizerFiles::Merge merge;
  merge.merged.reserve(left.size() + right.size());
  merge.merged.append(left).append(right);
  merge.left_size = left.size();
  return merge;
}

/// "a b" -> a, b. Neither can contain a space, which the byte alphabet lacks.
TokenizerFiles::Merge split_merge(std::string_view line, const std::string& file, std::size_t number) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    fail(file, "merge " + std::to_string(number) + ": expected two names with a space between them, found " +
                   quote(line));
  }
  return join(line.substr(0, space), line.substr(space + 1));
}

// --- tokenizer.json ---

/// A member of an object; null if it is missing or null.
const json& member(const json& object, const char* key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

bool is_empty_text(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().empty();
}

std::string shown(const json& value) {
  if (value.is_object() && member(value, "type").is_string()) return quote(value["type"].get<std::string>());
  if (value.is_string()) return quote(value.get<std::string>());
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  return value.dump();
}

void expect(bool fine, const std::string& file, const char* key, const std::string& expected,
            const json& found) {
  if (!fine) fail(file, std::string("expected ") + expected + " as \"" + key + "\", found " + shown(found));
}

/// Rejects settings that would produce tokens different from GPT-2's. Those that only add tokens around a
/// text (post_processor) or turn tokens back into text (decoder) do not affect encoding.
void check_pipeline(const json& root, const std::string& file) {
  const json& normalizer = member(root, "normalizer");
  expect(normalizer.is_null(), file, "normalizer", "null", normalizer);

  const json& words = member(root, "pre_tokenizer");
  expect(member(words, "type") == "ByteLevel", file, "pre_tokenizer", "\"ByteLevel\"", words);
  const json& prefix = member(words, "add_prefix_space");
  expect(prefix == false, file, "pre_tokenizer.add_prefix_space", "false", prefix);
  const json& use_regex = member(words, "use_regex");
  expect(use_regex.is_null() || use_regex == true, file, "pre_tokenizer.use_regex", "true", use_regex);

  const json& model = member(root, "model");
  expect(model.is_object(), file, "model", "an object", model);
  const json& type = member(model, "type");
  expect(type.is_null() || type == "BPE", file, "model.type", "\"BPE\"", type);
  const json& dropout = member(model, "dropout");
  expect(dropout.is_null() || dropout == 0, file, "model.dropout", "null", dropout);
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const json& affix = member(model, key);
    expect(affix.is_null() || is_empty_text(affix), file, key, "an empty string", affix);
  }
  const json& ignore = member(model, "ignore_merges");
  expect(ignore.is_null() || ignore == false, file, "model.ignore_merges", "false", ignore);
}

int parse_id(const json& value, const std::string& file, const std::string& name) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMaxId) {
    fail(file, "expected an id of 0 to " + std::to_string(kMaxId) + " for the token " + quote(name) +
                   ", found " + shown(value));
  }
  return value.get<int>();
}

std::vector<TokenizerFiles::Added> parse_added(const json& list, const std::string& file) {
  std::vector<TokenizerFiles::Added> added;
  if (list.is_null()) return added;
  expect(list.is_array(), file, "added_tokens", "an array", list);
  for (const json& token : list) {
    const json& content = member(token, "content");
    expect(content.is_string() && !is_empty_text(content), file, "added_tokens.content", "a non-empty string",
           content);
    const auto text = content.get<std::string>();
    for (const char* key : {"lstrip", "rstrip", "single_word"}) {
      const json& flag = member(token, key);
      if (!flag.is_null() && flag != false) {
        fail(file, std::string("expected false as \"") + key + "\" of the added token " + quote(text) +
                       ", found " + shown(flag));
      }
    }
    added.push_back({text, parse_id(member(token, "id"), file, text)});
  }
  return added;
}

}  // namespace

std::vector<TokenizerFiles::Entry> parse_vocabulary(std::string_view text, const std::string& file) {
  VocabularyReader reader(file);
  json::sax_parse(text.begin(), text.end(), &reader);
  return reader.take();
}

std::vector<TokenizerFiles::Merge> parse_merges(std::string_view text, const std::string& file) {
  std::vector<TokenizerFiles::Merge> merges;
  merges.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
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

TokenizerFiles parse_tokenizer_json(std::string_view text, const std::string& file) {
  const json root = parse_json(text, file);
  expect(root.is_object(), file, "(root)", "an object", root);
  check_pipeline(root, file);

  TokenizerFiles files;
  files.vocabulary_file = files.merges_file = file;
  files.added = parse_added(member(root, "added_tokens"), file);

  const json& vocabulary = member(root["model"], "vocab");
  expect(vocabulary.is_object(), file, "model.vocab", "an object of names and ids", vocabulary);
  files.vocabulary.reserve(vocabulary.size());
  for (const auto& [name, id] : vocabulary.items()) {
    files.vocabulary.push_back({name, parse_id(id, file, name)});
  }

  const json& merges = member(root["model"], "merges");
  expect(merges.is_array(), file, "model.merges", "an array", merges);
  files.merges.reserve(merges.size());
  for (const json& merge : merges) {
    if (merge.is_string()) {
      files.merges.push_back(split_merge(merge.get_ref<const std::string&>(), file, files.merges.size()));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      files.merges.push_back(
          join(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>()));
    } else {
      fail(file,
           "merge " + std::to_string(files.merges.size()) + ": expected two names, found " + shown(merge));
    }
  }
  return files;
}

}  // namespace headscope::model
