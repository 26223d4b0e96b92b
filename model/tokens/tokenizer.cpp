#include "model/tokens/tokenizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "model/tokens/bpe.h"
#include "model/tokens/byte_alphabet.h"
#include "model/tokens/pretokenizer.h"
#include "model/tokens/tokenizer_files.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::model {
namespace {

/// A flat hash table from names to ids, used while loading: three times as fast as std::unordered_map, which
/// matters with three lookups for each of 50,000 merges. Does not own the names.
class NameTable {
 public:
  explicit NameTable(std::size_t count) : slots_(std::bit_ceil(std::max<std::size_t>(16, count * 2))) {}

  /// Adds a name and returns whether it was new. Holds at most `count` names.
  bool insert(std::string_view name, int id) {
    const std::uint32_t hash = hash_of(name);
    Slot& slot = slots_[slot_of(name, hash)];
    if (slot.id >= 0) return false;
    slot = {name, hash, id};
    return true;
  }

  /// The id of a name; -1 if it is unknown.
  int find(std::string_view name) const { return slots_[slot_of(name, hash_of(name))].id; }

 private:
  struct Slot {
    std::string_view name;
    std::uint32_t hash = 0;
    int id = -1;
  };
  static std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  }
  /// The slot of a name, or the empty one where it would go.
  std::size_t slot_of(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot].id >= 0 && (slots_[slot].hash != hash || slots_[slot].name != name)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  std::vector<Slot> slots_;  // open addressing, a power of two, at most half full
};

namespace fs = std::filesystem;

constexpr std::string_view kEndOfText = "<|endoftext|>";

/// The bytes of all ids, in one block of memory.
class TokenBytes {
 public:
  explicit TokenBytes(int size) : places_(static_cast<std::size_t>(size)) {}

  void set(int id, std::string_view bytes) {
    places_[id] = {static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(bytes.size())};
    arena_ += bytes;
  }
  std::string_view get(int id) const {
    if (id < 0 || id >= size()) return {};
    return std::string_view(arena_).substr(places_[id].begin, places_[id].length);
  }
  int size() const { return static_cast<int>(places_.size()); }

 private:
  struct Place {
    std::uint32_t begin = 0, length = 0;
  };
  std::vector<Place> places_;
  std::string arena_;
};

/// Texts that are single tokens wherever they occur. Matches the leftmost one, and of several there the
/// longest.
class SpecialTokens {
 public:
  struct Match {
    std::size_t begin, end;
    int id;
  };

  explicit SpecialTokens(std::vector<TokenizerFiles::Added> tokens) : tokens_(std::move(tokens)) {
    std::sort(tokens_.begin(), tokens_.end(),
              [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    for (const auto& token : tokens_) begins_[static_cast<unsigned char>(token.text[0])] = true;
  }

  /// The next match at or after `from`; if there is none, the end of the text with the id -1.
  Match next(std::string_view text, std::size_t from) const {
    for (std::size_t at = from; at < text.size() && !tokens_.empty(); ++at) {
      if (!begins_[static_cast<unsigned char>(text[at])]) continue;
      for (const auto& token : tokens_) {
        if (text.substr(at).starts_with(token.text)) return {at, at + token.text.size(), token.id};
      }
    }
    return {text.size(), text.size(), -1};
  }

 private:
  std::vector<TokenizerFiles::Added> tokens_;
  std::array<bool, 256> begins_{};
};

NameTable ids_of_names(const TokenizerFiles& files) {
  NameTable ids(files.vocabulary.size());
  for (const auto& entry : files.vocabulary) {
    if (!ids.insert(entry.name, entry.id)) {
      throw LoadError(files.vocabulary_file + ": expected each token once, found " + quote(entry.name) +
                      " twice");
    }
  }
  return ids;
}

int table_size(const TokenizerFiles& files) {
  int size = 0;
  for (const auto& entry : files.vocabulary) size = std::max(size, entry.id + 1);
  for (const auto& token : files.added) size = std::max(size, token.id + 1);
  return size;
}

TokenBytes token_bytes(const TokenizerFiles& files) {
  TokenBytes bytes(table_size(files));
  std::vector<bool> taken(bytes.size());
  for (const auto& [name, id] : files.vocabulary) {
    if (taken[id]) {
      throw LoadError(files.vocabulary_file + ": expected each id once, found " + std::to_string(id) +
                      " again for the token " + quote(name));
    }
    taken[id] = true;
    bytes.set(id, bytes_of_name(name).value_or(name));  // a name outside the alphabet is plain text
  }
  for (const auto& [text, id] : files.added) {
    if (taken[id] && bytes.get(id) != text) {
      throw LoadError(files.vocabulary_file + ": expected the id " + std::to_string(id) +
                      " to be free for the added token " + quote(text) + ", found it taken by " +
                      quote(bytes.get(id)));
    }
    taken[id] = true;
    bytes.set(id, text);
  }
  return bytes;
}

std::array<int, 256> ids_of_bytes(const TokenizerFiles& files, const NameTable& ids) {
  std::array<int, 256> out{};
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name = name_of_byte(static_cast<unsigned char>(byte));
    out[byte] = ids.find(name);
    if (out[byte] < 0) {
      throw LoadError(files.vocabulary_file +
                      ": expected a token for each of the 256 bytes, found none for the byte " +
                      std::to_string(byte) + " (" + quote(name) + ")");
    }
  }
  return out;
}

std::vector<Merge> merges_of_ids(const TokenizerFiles& files, const NameTable& ids) {
  std::vector<Merge> merges;
  merges.reserve(files.merges.size());
  for (const auto& merge : files.merges) {
    const auto id = [&](std::string_view name) {
      const int found = ids.find(name);
      if (found < 0) {
        throw LoadError(files.merges_file + ": expected merges of known tokens, found " +
                        quote(merge.left()) + " and " + quote(merge.right()) + ", but " + quote(name) +
                        " is not in the vocabulary");
      }
      return found;
    };
    merges.push_back({id(merge.left()), id(merge.right()), id(merge.merged)});
  }
  return merges;
}

std::vector<TokenizerFiles::Added> special_tokens(const TokenizerFiles& files, const NameTable& ids) {
  std::vector<TokenizerFiles::Added> tokens = files.added;
  const auto known = [&](const auto& token) { return token.text == kEndOfText; };
  if (const int id = ids.find(kEndOfText); id >= 0 && std::ranges::none_of(tokens, known)) {
    tokens.push_back({std::string(kEndOfText), id});
  }
  return tokens;
}

std::optional<int> end_of_text_id(const std::vector<TokenizerFiles::Added>& tokens) {
  for (const auto& token : tokens) {
    if (token.text == kEndOfText) return token.id;
  }
  return std::nullopt;
}

}  // namespace

struct Tokenizer::Tables {
  static std::unique_ptr<const Tables> build(const TokenizerFiles& files) {
    const NameTable ids = ids_of_names(files);
    std::vector<TokenizerFiles::Added> specials = special_tokens(files, ids);
    const std::optional<int> end_of_text = end_of_text_id(specials);
    return std::unique_ptr<const Tables>(new Tables{token_bytes(files), ids_of_bytes(files, ids),
                                                    MergeTable(merges_of_ids(files, ids)),
                                                    SpecialTokens(std::move(specials)), end_of_text});
  }

  /// Appends the tokens of text[begin, end), which contains no special token.
  void encode_plain(std::string_view text, std::size_t begin, std::size_t end,
                    MergeTable::Workspace& workspace, std::vector<int>& word, std::vector<Token>& out) const {
    const std::string_view plain = text.substr(0, end);
    while (begin < end) {
      const std::size_t after = word_end(plain, begin);
      word.clear();
      for (const char c : plain.substr(begin, after - begin))
        word.push_back(byte_ids[static_cast<unsigned char>(c)]);
      merges.apply(word, workspace);
      for (const int id : word) {
        const std::size_t token_end = begin + bytes.get(id).size();
        out.push_back({id, begin, token_end});
        begin = token_end;
      }
    }
  }

  TokenBytes bytes;
  std::array<int, 256> byte_ids;
  MergeTable merges;
  SpecialTokens specials;
  std::optional<int> end_of_text;
};

Tokenizer::Tokenizer(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const fs::path& folder) {
  const auto has = [&](const char* name) { return system::is_there(folder / name); };
  if (has("vocab.json") && has("merges.txt")) {
    return from_vocab_and_merges(read_regular_file(folder / "vocab.json"),
                                 read_regular_file(folder / "merges.txt"), system::text_of(folder));
  }
  if (has("tokenizer.json")) {
    return from_tokenizer_json(read_regular_file(folder / "tokenizer.json"),
                               system::text_of(folder / "tokenizer.json"));
  }
  if (!system::is_folder(folder)) {
    throw LoadError(system::text_of(folder) + ": expected a model folder, found " +
                    (system::is_there(folder) ? "something else" : "nothing of that name"));
  }
  throw LoadError(system::text_of(folder) +
                  ": expected the tokenizer's files vocab.json and merges.txt, or tokenizer.json, found " +
                  (has("vocab.json")   ? "only vocab.json"
                   : has("merges.txt") ? "only merges.txt"
                                       : "none of them"));
}

Tokenizer Tokenizer::from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                           const std::string& where) {
  TokenizerFiles files;
  files.vocabulary_file = where + "/vocab.json";
  files.merges_file = where + "/merges.txt";
  files.vocabulary = parse_vocabulary(vocab_json, files.vocabulary_file);
  files.merges = parse_merges(merges_txt, files.merges_file);
  return Tokenizer(Tables::build(files));
}

Tokenizer Tokenizer::from_tokenizer_json(std::string_view json, const std::string& where) {
  return Tokenizer(Tables::build(parse_tokenizer_json(json, where)));
}

std::vector<Token> Tokenizer::encode(std::string_view text, bool specials) const {
  std::vector<Token> out;
  out.reserve(text.size() / 3);
  MergeTable::Workspace workspace;
  std::vector<int> word;
  for (std::size_t at = 0; at < text.size();) {
    const auto special =
        specials ? tables_->specials.next(text, at) : SpecialTokens::Match{text.size(), text.size(), -1};
    tables_->encode_plain(text, at, special.begin, workspace, word, out);
    if (special.id >= 0) out.push_back({special.id, special.begin, special.end});
    at = special.end;
  }
  return out;
}

std::vector<MergeStep> Tokenizer::merges(std::string_view word) const {
  std::vector<int> ids;
  for (const char c : word) ids.push_back(tables_->byte_ids[static_cast<unsigned char>(c)]);
  return tables_->merges.steps(std::move(ids));
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::string out;
  for (const int id : ids) out += bytes(id);
  return out;
}

std::string_view Tokenizer::bytes(int id) const {
  return tables_->bytes.get(id);
}

int Tokenizer::size() const {
  return tables_->bytes.size();
}

std::optional<int> Tokenizer::end_of_text() const {
  return tables_->end_of_text;
}

}  // namespace headscope::model
