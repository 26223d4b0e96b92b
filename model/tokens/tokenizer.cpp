#include "model/tokens/tokenizer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/files/error.h"
#include "model/tokens/pretokenizer.h"
#include "model/tokens/tokenizer_files.h"

namespace headscope::model {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

using IdOfName = std::unordered_map<std::string_view, int>;

/// -1 for a name that is unknown.
int find(const IdOfName& ids, std::string_view name) {
  const auto found = ids.find(name);
  return found == ids.end() ? -1 : found->second;
}

/// Each added token once, with its id: the vocabulary's, that of a file, or the next free one.
std::vector<TokenizerFiles::Added> added_tokens(const TokenizerFiles& files, const IdOfName& ids) {
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
  if (ids.contains(kEndOfText) && !indices.contains(kEndOfText)) tokens.push_back({std::string(kEndOfText)});
  int next = 0;
  for (const auto& [name, id] : files.vocabulary) next = std::max(next, id + 1);
  for (auto& token : tokens) {
    if (const int id = find(ids, token.text); id >= 0) token.id = id;
    next = std::max(next, token.id + 1);
  }
  for (auto& token : tokens)
    if (token.id < 0) token.id = next++;
  return tokens;
}

using BytesOfId = std::unordered_map<int, std::string>;

BytesOfId token_bytes(const TokenizerFiles& files, const IdOfName& ids,
                      const std::vector<TokenizerFiles::Added>& added) {
  BytesOfId all;
  all.reserve(files.vocabulary.size() + added.size());
  for (const auto& [name, id] : files.vocabulary) {
    // A name outside the alphabet is plain text.
    if (!all.emplace(id, bytes_of_name(name).value_or(name)).second)
      reject(files.vocabulary_file, "each id once",
             std::to_string(id) + " again for the token " + quote(name));
  }
  for (const auto& token : added) {
    if (find(ids, token.text) == token.id) continue;
    std::string& bytes = all[token.id];
    if (!bytes.empty() && bytes != token.text)
      reject(files.vocabulary_file,
             "the id " + std::to_string(token.id) + " to be free for the added token " + quote(token.text),
             "it taken by " + quote(bytes));
    bytes = token.text;
  }
  return all;
}

MergeTable merges_of_ids(const TokenizerFiles& files, const IdOfName& ids) {
  MergeTable merges(files.merges.size());
  for (const auto& [left, right] : files.merges) {
    const auto id = [&](std::string_view name) {
      const int found = find(ids, name);
      if (found < 0)
        reject(files.merges_file, "merges of known tokens",
               quote(left) + " and " + quote(right) + ", but " + quote(name) + " is not in the vocabulary");
      return found;
    };
    const int first = id(left), second = id(right);
    merges.add(first, second, id(left + right));
  }
  return merges;
}

/// A vocabulary of longer tokens needs merges, but for added ones.
void check_merges(const TokenizerFiles& files, const std::vector<TokenizerFiles::Added>& added) {
  if (!files.merges.empty()) return;
  std::set<int> added_ids;
  for (const auto& token : added) added_ids.insert(token.id);
  for (const auto& [name, id] : files.vocabulary) {
    const auto bytes = bytes_of_name(name);
    if (bytes && bytes->size() > 1 && !added_ids.contains(id))
      reject(files.merges_file, "the merges that make tokens such as " + quote(name),
             "none; the folder may mix the files of two models");
  }
}

/// Texts that are single tokens wherever they occur. Matches the leftmost one, and of several there the
/// longest.
class SpecialTokens {
 public:
  explicit SpecialTokens(std::vector<TokenizerFiles::Added> tokens) : tokens_(std::move(tokens)) {
    std::sort(tokens_.begin(), tokens_.end(),
              [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    for (const auto& token : tokens_) begins_[static_cast<unsigned char>(token.text[0])] = true;
  }

  /// The next match at or after `from`; if there is none, the end of the text with the id -1.
  Token next(std::string_view text, std::size_t from) const {
    for (std::size_t at = from; at < text.size() && !tokens_.empty(); ++at) {
      if (!begins_[static_cast<unsigned char>(text[at])]) continue;
      const auto token = std::ranges::find_if(
          tokens_, [&](const auto& one) { return text.substr(at).starts_with(one.text); });
      if (token == tokens_.end()) continue;
      Token match{token->id, at, at + token->text.size()};
      if (token->single_word && (word_ends_at(text, at) || word_begins_at(text, match.end))) {
        at = match.end - 1;
        continue;
      }
      if (token->lstrip) match.start = white_space_begin(text, at, from);
      if (token->rstrip) match.end = white_space_end(text, match.end);
      return match;
    }
    return {-1, text.size(), text.size()};
  }

 private:
  std::vector<TokenizerFiles::Added> tokens_;
  std::array<bool, 256> begins_{};
};

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
  /// Appends the tokens of a part of the text that begins at `start` and contains no special token.
  void encode_plain(std::string_view plain, std::size_t start, std::vector<Token>& out) const {
    const std::size_t space = add_prefix_space && !plain.starts_with(' ') ? 1 : 0;
    const std::string spaced = space > 0 ? " " + std::string(plain) : "";
    if (space > 0) plain = spaced;
    for (std::size_t begin = 0; begin < plain.size();) {
      const std::size_t after = word_end(plain, begin);
      std::vector<int> word;
      for (const char c : plain.substr(begin, after - begin)) word.push_back(id_of_byte(c));
      merges.apply(word);
      for (const int id : word) {
        const std::size_t token_end = begin + bytes.at(id).size();
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

  BytesOfId bytes;
  std::array<int, 256> byte_ids;  ///< -1 for a byte without a token
  MergeTable merges;
  SpecialTokens specials;
  bool add_prefix_space;
};

Tokenizer::Tokenizer(TokenizerFiles files) : warnings_(std::move(files.warnings)) {
  const IdOfName ids(files.vocabulary.begin(), files.vocabulary.end());
  std::vector<TokenizerFiles::Added> added = added_tokens(files, ids);
  check_merges(files, added);
  const auto id_of = [&](std::string_view text) -> std::optional<int> {
    const auto found = std::ranges::find(added, text, &TokenizerFiles::Added::text);
    const int id = found == added.end() ? find(ids, text) : found->id;
    return id < 0 ? std::nullopt : std::optional(id);
  };
  const auto first = id_of(files.first_token), bos = id_of(files.bos_token);
  end_of_text_ = id_of(kEndOfText);
  adds_start_token_ = files.add_bos_token.value_or(first.has_value());
  start_token_ = adds_start_token_ && first ? first : bos ? bos : end_of_text_;
  BytesOfId bytes = token_bytes(files, ids, added);
  for (const auto& [id, text] : bytes) size_ = std::max(size_, id + 1);
  std::array<int, 256> byte_ids{};
  for (int byte = 0; byte < 256; ++byte)
    byte_ids[byte] = find(ids, name_of_byte(static_cast<unsigned char>(byte)));
  tables_.reset(new Tables{std::move(bytes), byte_ids, merges_of_ids(files, ids),
                           SpecialTokens(std::move(added)), files.add_prefix_space});
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder, const std::stop_token& stop) {
  return Tokenizer(read_tokenizer_files(folder, stop));
}

Tokenizer Tokenizer::missing(std::string problem) {
  Tokenizer none({.warnings = {problem + "; without a tokenizer, prompts are given as token ids"}});
  none.problem_ = std::move(problem);
  return none;
}

std::vector<Token> Tokenizer::encode(std::string_view text, bool specials) const {
  if (!problem_.empty()) return tokens_of_numbers(text, problem_);
  std::vector<Token> out;
  out.reserve(text.size() / 3);
  for (std::size_t at = 0; at < text.size();) {
    const Token special = specials ? tables_->specials.next(text, at) : Token{-1, text.size(), text.size()};
    if (at < special.start) tables_->encode_plain(text.substr(at, special.start - at), at, out);
    if (special.id >= 0) out.push_back(special);
    at = special.end;
  }
  return out;
}

std::vector<MergeStep> Tokenizer::merges(std::string_view word) const {
  std::vector<int> ids;
  for (const char c : word) ids.push_back(tables_->byte_ids[static_cast<unsigned char>(c)]);
  std::vector<MergeStep> steps;
  tables_->merges.apply(ids, &steps);
  return steps;
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
  const auto found = tables_->bytes.find(id);
  return found == tables_->bytes.end() ? std::string_view() : found->second;
}

}  // namespace headscope::model
