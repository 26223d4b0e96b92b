#include "model/tokens/tokenizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/files/quote.h"
#include "model/tokens/bpe.h"
#include "model/tokens/byte_alphabet.h"
#include "model/tokens/pretokenizer.h"
#include "model/tokens/tokenizer_files.h"

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
      const auto token = std::ranges::find_if(
          tokens_, [&](const auto& one) { return text.substr(at).starts_with(one.text); });
      if (token == tokens_.end()) continue;
      Match match{at, at + token->text.size(), token->id};
      if (token->single_word && (word_ends_at(text, match.begin) || word_begins_at(text, match.end))) {
        at = match.end - 1;
        continue;
      }
      if (token->lstrip) match.begin = white_space_begin(text, match.begin, from);
      if (token->rstrip) match.end = white_space_end(text, match.end);
      return match;
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
  return size;
}

/// Each added token once, with its id: the vocabulary's, that of a file, or the next free one.
std::vector<TokenizerFiles::Added> added_tokens(const TokenizerFiles& files, const NameTable& ids) {
  std::vector<TokenizerFiles::Added> tokens;
  std::unordered_map<std::string_view, std::size_t> indices;
  for (const auto& token : files.added) {
    const auto [found, is_new] = indices.try_emplace(token.text, tokens.size());
    if (is_new) {
      tokens.push_back(token);
    } else if (token.id >= 0) {  // the properties of the last file that has it with an id
      tokens[found->second] = token;
    }
  }
  if (ids.find(kEndOfText) >= 0 && !indices.contains(kEndOfText)) tokens.push_back({std::string(kEndOfText)});
  int next = table_size(files);
  for (auto& token : tokens) {
    if (const int id = ids.find(token.text); id >= 0) token.id = id;
    next = std::max(next, token.id + 1);
  }
  for (auto& token : tokens)
    if (token.id < 0) token.id = next++;
  return tokens;
}

TokenBytes token_bytes(const TokenizerFiles& files, const NameTable& ids,
                       const std::vector<TokenizerFiles::Added>& added) {
  int size = table_size(files);
  for (const auto& token : added) size = std::max(size, token.id + 1);
  TokenBytes bytes(size);
  std::vector<bool> taken(bytes.size()), is_added(bytes.size());
  for (const auto& token : added) is_added[token.id] = true;
  for (const auto& [name, id] : files.vocabulary) {
    if (taken[id]) {
      throw LoadError(files.vocabulary_file + ": expected each id once, found " + std::to_string(id) +
                      " again for the token " + quote(name));
    }
    taken[id] = true;
    const std::optional<std::string> of_name = bytes_of_name(name);
    if (files.merges.empty() && of_name && of_name->size() > 1 && !is_added[id]) {
      throw LoadError(files.merges_file + ": expected the merges that make tokens such as " + quote(name) +
                      ", found none; the folder may mix the files of two models");
    }
    bytes.set(id, of_name ? *of_name : name);  // a name outside the alphabet is plain text
  }
  for (const auto& token : added) {
    if (ids.find(token.text) == token.id) continue;
    if (taken[token.id] && bytes.get(token.id) != token.text) {
      throw LoadError(files.vocabulary_file + ": expected the id " + std::to_string(token.id) +
                      " to be free for the added token " + quote(token.text) + ", found it taken by " +
                      quote(bytes.get(token.id)));
    }
    taken[token.id] = true;
    bytes.set(token.id, token.text);
  }
  return bytes;
}

/// -1 for a byte without a token.
std::array<int, 256> ids_of_bytes(const NameTable& ids) {
  std::array<int, 256> out{};
  for (int byte = 0; byte < 256; ++byte) out[byte] = ids.find(name_of_byte(static_cast<unsigned char>(byte)));
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

/// The tokens of "#15#4", which stands for a text where there is no tokenizer.
std::vector<Token> tokens_of_numbers(std::string_view text, const std::string& problem) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    int id = -1;
    const auto [end, error] = std::from_chars(text.data() + at + 1, text.data() + text.size(), id);
    if (text[at] != '#' || error != std::errc{} || id < 0)
      throw RunError("a text needs a tokenizer, and the model has none (" + problem +
                     "); give token ids, as a text #15#4");
    tokens.push_back({id, at, static_cast<std::size_t>(end - text.data())});
    at = tokens.back().end;
  }
  return tokens;
}

}  // namespace

struct Tokenizer::Tables {
  static std::unique_ptr<const Tables> build(TokenizerFiles files, std::string problem = {}) {
    const NameTable ids = ids_of_names(files);
    std::vector<TokenizerFiles::Added> added = added_tokens(files, ids);
    const auto id_of = [&](std::string_view text) -> std::optional<int> {
      const auto found = std::ranges::find(added, text, &TokenizerFiles::Added::text);
      const int id = found == added.end() ? ids.find(text) : found->id;
      return id < 0 ? std::nullopt : std::optional(id);
    };
    const auto end_of_text = id_of(kEndOfText), bos = id_of(files.bos_token),
               first = id_of(files.first_token);
    const bool adds_start = files.add_bos_token.value_or(first.has_value());
    TokenBytes bytes = token_bytes(files, ids, added);
    return std::unique_ptr<const Tables>(
        new Tables{std::move(bytes), ids_of_bytes(ids), MergeTable(merges_of_ids(files, ids)),
                   SpecialTokens(std::move(added)), files.add_prefix_space, end_of_text,
                   adds_start && first ? first
                   : bos               ? bos
                                       : end_of_text,
                   adds_start, std::move(files.warnings), std::move(problem)});
  }

  /// Appends the tokens of a part of the text that begins at `start` and contains no special token.
  void encode_plain(std::string_view plain, std::size_t start, MergeTable::Workspace& workspace,
                    std::vector<int>& word, std::vector<Token>& out) const {
    const std::size_t space = add_prefix_space && !plain.starts_with(' ') ? 1 : 0;
    const std::string spaced = space > 0 ? " " + std::string(plain) : "";
    if (space > 0) plain = spaced;
    for (std::size_t begin = 0; begin < plain.size();) {
      const std::size_t after = word_end(plain, begin);
      word.clear();
      for (const char c : plain.substr(begin, after - begin)) word.push_back(id_of_byte(c));
      merges.apply(word, workspace);
      for (const int id : word) {
        const std::size_t token_end = begin + bytes.get(id).size();
        out.push_back({id, start + std::max(begin, space) - space, start + token_end - space});
        begin = token_end;
      }
    }
  }

  int id_of_byte(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    if (byte_ids[byte] < 0)
      throw RunError("the tokenizer's vocabulary has no token for the byte " + std::to_string(byte) + " (" +
                     quote(name_of_byte(byte)) + " in its files), which is in the text");
    return byte_ids[byte];
  }

  TokenBytes bytes;
  std::array<int, 256> byte_ids;
  MergeTable merges;
  SpecialTokens specials;
  bool add_prefix_space;
  std::optional<int> end_of_text;
  std::optional<int> start_token;
  bool adds_start_token;
  std::vector<std::string> warnings;
  std::string problem;
};

Tokenizer::Tokenizer(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& folder, const std::stop_token& stop) {
  return Tokenizer(Tables::build(read_tokenizer_files(folder, stop)));
}

Tokenizer Tokenizer::missing(std::string problem) {
  return Tokenizer(Tables::build(
      {.warnings = {problem + "; without a tokenizer, prompts are given as token ids"}}, problem));
}

Tokenizer Tokenizer::from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                           const std::string& where) {
  return Tokenizer(Tables::build(parse_vocab_and_merges(vocab_json, merges_txt, where)));
}

Tokenizer Tokenizer::from_tokenizer_json(std::string_view json, const std::string& where) {
  return Tokenizer(Tables::build(parse_tokenizer_json(json, where)));
}

std::vector<Token> Tokenizer::encode(std::string_view text, bool specials) const {
  if (!problem().empty()) return tokens_of_numbers(text, problem());
  std::vector<Token> out;
  out.reserve(text.size() / 3);
  MergeTable::Workspace workspace;
  std::vector<int> word;
  for (std::size_t at = 0; at < text.size();) {
    const auto special =
        specials ? tables_->specials.next(text, at) : SpecialTokens::Match{text.size(), text.size(), -1};
    if (at < special.begin)
      tables_->encode_plain(text.substr(at, special.begin - at), at, workspace, word, out);
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
  for (const int id : ids) out += text(id);
  return out;
}

std::string Tokenizer::text(int id) const {
  const std::string_view own = bytes(id);
  return own.empty() ? "#" + std::to_string(id) : std::string(own);
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

std::optional<int> Tokenizer::start_token() const {
  return tables_->start_token;
}

bool Tokenizer::adds_start_token() const {
  return tables_->adds_start_token;
}

const std::string& Tokenizer::problem() const {
  return tables_->problem;
}

const std::vector<std::string>& Tokenizer::warnings() const {
  return tables_->warnings;
}

}  // namespace headscope::model
