#include "app/cli/commands/search.h"

#include <set>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/how.h"
#include "model/files/quote.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// Names the tokens of what was found: by the tokenizer, or by the labels of an attention file, which has one
/// run alone.
struct TokenNames {
  const model::Tokenizer* tokenizer = nullptr;  ///< null: an attention file
  const PromptTokens* queries = nullptr;
  const PromptTokens* keys = nullptr;

  std::string query(const FoundWeight& f) const {
    return tokenizer ? viz::visible(tokenizer->bytes(f.query_id)) : queries->labels[f.query];
  }
  std::string key(const FoundWeight& f) const {
    return tokenizer ? viz::visible(tokenizer->bytes(f.key_id)) : keys->labels[f.key];
  }
};

void write_json(const Json& how, const TokenNames& names, const BestWeights& found, std::ostream& out) {
  const auto token = [&](int position, int id, const std::string& label) {
    Json object = names.tokenizer ? token_json(id, names.tokenizer->bytes(id)) : Json{{"text", label}};
    object["position"] = position;
    return object;
  };
  Json best = Json::array();
  for (const FoundWeight& f : found.best()) {
    best.push_back({{"prompt", f.prompt},
                    {"layer", f.layer},
                    {"head", f.head},
                    {"query", token(f.query, f.query_id, names.query(f))},
                    {"key", token(f.key, f.key_id, names.key(f))},
                    {"weight", f.weight}});
  }
  out << json_line(Json{{"how", how}, {"count", found.count()}, {"best", std::move(best)}}) << '\n';
}

void write_text(const TokenNames& names, const BestWeights& found, std::ostream& out) {
  const std::vector<FoundWeight> best = found.best();
  out << grouped(found.count()) << (found.count() == 1 ? " weight" : " weights");
  if (static_cast<std::int64_t>(best.size()) < found.count())
    out << ", the largest " << grouped(std::ssize(best));
  out << '\n';
  if (best.empty()) return;
  out << format("%8s %7s %-8s %6s %6s  %s\n", "weight", "prompt", "head", "query", "key", "tokens");
  for (const FoundWeight& f : best) {
    out << format("%8.4f %7d %-8s %6d %6d  ", static_cast<double>(f.weight), f.prompt,
                  head_name(f.layer, f.head).c_str(), f.query, f.key)
        << names.query(f) << " → " << names.key(f) << '\n';
  }
}

/// "any", "@3", "@-1", or a token's text; write "@@" for a text that begins with @.
auto tokens_meant(TokenSelector::Kind counted_back) {
  return [=](const std::string& option, const std::string& text) {
    using Kind = TokenSelector::Kind;
    if (text == "any") return TokenSelector{};
    if (text.empty()) throw UsageError(option + " takes a token's text, a position such as @3, or any");
    if (!text.starts_with('@')) return TokenSelector{Kind::text, text, 0};
    if (text.starts_with("@@")) return TokenSelector{Kind::text, text.substr(1), 0};
    const int position = whole_number(option + " @", std::string_view(text).substr(1), -kMax);
    return position < 0 ? TokenSelector{counted_back, "", -position}
                        : TokenSelector{Kind::position, "", position};
  };
}

/// "5.1,5.3", each pair once; `what` describes them.
template <class Pair>
auto pairs(const std::string& what) {
  return [what](const std::string& option, const std::string& text) {
    const std::string expected = what + ", e.g. 5.1,5.3, not " + model::quote(text);
    std::set<std::pair<int, int>> found;
    std::vector<Pair> result;
    for (const std::string_view part : split(text, ',')) {
      const auto pair = pair_of(option, expected, part);
      if (found.insert(pair).second) result.push_back({pair.first, pair.second});
    }
    return result;
  };
}

void run_search(const SearchCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command.model, command.prompt.edits, Capability::patterns);
  BestWeights found(static_cast<std::size_t>(command.top));
  const auto write = [&](const TokenNames& names) {
    if (command.json) return write_json(how.shared(engine), names, found, streams.out);
    write_text(names, found, streams.out);
  };
  if (engine.model->patterns) {
    const PromptRun run = run_of_patterns(engine, command.prompt, {}, streams.err);
    search_weights(run, command.search, 1, engine.workspace, found);
    return write({nullptr, &run.tokens, &key_tokens(run)});
  }
  bool some = false;
  for_each_prompt(command.prompt, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const PromptRun run = run_prompt(engine, prompt, source.where());
    warn_about(run, source.where(), streams.err);
    search_weights(run, command.search, source.number(), engine.workspace, found);
    some = true;
  });
  if (!some && command.prompt.shard.count == 1)
    throw model::RunError("there is no prompt in " + system::text_of(command.prompt.file));
  write({.tokenizer = engine.model->tokenizer.get()});
}

}  // namespace

Finish describe_search(CommandSyntax& command) {
  const auto own = std::make_shared<SearchCommand>();
  WeightSearch& search = own->search;
  command.reading();
  command.attention(false);
  command.option("from", "TEXT|@N|any",
                 "queries: tokens with this text, with or without a leading space;\n@3: position 3, @-1: the "
                 "last; any (the default); not position 0 where it sees only itself",
                 search.from, tokens_meant(TokenSelector::Kind::from_end));
  command.option("to", "TEXT|@N|any", "keys: likewise, but @-1 is the token before the query", search.to,
                 tokens_meant(TokenSelector::Kind::before_query));
  command.option("above", "X", "only weights larger than X (default: 0)", search.above,
                 between(0, 1, "from 0 to 1"));
  command.option("heads", "L.H,...", "only these heads, e.g. 5.1,5.3 (default: all)", search.heads,
                 pairs<model::HeadIndex>("layers and heads"));
  command.option("shape", "Q.K,...",
                 "instead of tokens: heads whose attention is in these cells,\ne.g. 2.1,3.2,4.3; X is then "
                 "the share of attention in them",
                 search.shape, pairs<WeightSearch::Cell>("queries and keys"));
  command.option("shape-moves", "yes|no", "also find the shape elsewhere along the diagonal (default: yes)",
                 search.moves, one_of(kYesOrNo));
  command.option("top", "N", "the N largest (default: 20)", own->top, whole(1, 1000000));
  command.answer_out();
  return command.finish(own, require_prompt_or_attention, run_search);
}

}  // namespace headscope::app
