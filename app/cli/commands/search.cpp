#include <set>

#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/command_arguments.h"
#include "app/cli/commands/how.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

/// Names the tokens of what was found: by the tokenizer, or by the labels of an attention file, which has one
/// run alone.
struct TokenNames {
  const model::Tokenizer* tokenizer = nullptr;  ///< null: an attention file
  const PromptTokens* queries = nullptr;
  const PromptTokens* keys = nullptr;

  std::string query(const FoundWeight& f) const {
    return tokenizer ? token_label(*tokenizer, f.query_id) : queries->labels[f.query];
  }
  std::string key(const FoundWeight& f) const {
    return tokenizer ? token_label(*tokenizer, f.key_id) : keys->labels[f.key];
  }
};

/// The tokens of an excerpt, with the number of each under a name.
Json context_json(const model::Tokenizer& tokenizer, const Excerpt& excerpt, const char* name) {
  Json context = Json::array();
  for (std::size_t i = 0; i < excerpt.ids.size(); ++i) {
    Json token = token_json(tokenizer, excerpt.ids[i]);
    token["position"] = excerpt.first + static_cast<int>(i);
    token[name] = excerpt.values[i];
    context.push_back(std::move(token));
  }
  return context;
}

/// "…·gave·a[·drink]·of…": the token at a position in brackets.
std::string context_words(const Excerpt& excerpt, int position) {
  std::string words = excerpt.first > 0 ? "…" : "";
  for (std::size_t i = 0; i < excerpt.labels.size(); ++i) {
    const bool is_place = excerpt.first + static_cast<int>(i) == position;
    words += is_place ? "[" + excerpt.labels[i] + "]" : excerpt.labels[i];
  }
  return words + (excerpt.continues ? "…" : "");
}

/// "1,234 weights, the largest 20".
void write_count(std::int64_t count, std::ptrdiff_t shown, const char* one, const char* many,
                 std::ostream& out) {
  out << grouped(count) << ' ' << (count == 1 ? one : many);
  if (shown < count) out << ", the largest " << grouped(shown);
  out << '\n';
}

void write_json(const Json& how, const TokenNames& names, const FoundWeights& found, bool context,
                std::ostream& out) {
  const auto token = [&](int position, int id, const std::string& label) {
    Json object = names.tokenizer ? token_json(*names.tokenizer, id) : Json{{"text", label}};
    object["position"] = position;
    return object;
  };
  Json best = Json::array();
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    const FoundWeight& f = found.best[i];
    best.push_back({{"prompt", f.prompt},
                    {"layer", f.layer},
                    {"head", f.head},
                    {"query", token(f.query, f.query_id, names.query(f))},
                    {"key", token(f.key, f.key_id, names.key(f))},
                    {"weight", f.weight}});
    if (context) best.back()["context"] = context_json(*names.tokenizer, found.excerpts[i], "weight");
  }
  out << json_line(Json{{"how", how}, {"count", found.count}, {"best", std::move(best)}}) << '\n';
}

void write_text(const TokenNames& names, const FoundWeights& found, bool context, std::ostream& out) {
  const std::vector<FoundWeight>& best = found.best;
  write_count(found.count, std::ssize(best), "weight", "weights", out);
  if (best.empty()) return;
  out << format("%8s %7s %-8s %6s %6s  %s\n", "weight", "prompt", "head", "query", "key", "tokens");
  for (std::size_t i = 0; i < best.size(); ++i) {
    const FoundWeight& f = best[i];
    out << format("%8.4f %7d %-8s %6d %6d  ", static_cast<double>(f.weight), f.prompt,
                  head_name(f.layer, f.head).c_str(), f.query, f.key)
        << names.query(f) << " → " << names.key(f);
    if (context) out << "  " << context_words(found.excerpts[i], f.query);
    out << '\n';
  }
}

void write_json(const Json& how, const model::Tokenizer& tokenizer, const FoundActivations& found,
                std::ostream& out) {
  Json best = Json::array();
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    const FoundActivation& f = found.best[i];
    Json token = token_json(tokenizer, f.id);
    token["position"] = f.position;
    best.push_back({{"prompt", f.prompt},
                    {"layer", f.layer},
                    {"neuron", f.neuron},
                    {"token", std::move(token)},
                    {"activation", f.activation},
                    {"context", context_json(tokenizer, found.excerpts[i], "activation")}});
  }
  out << json_line(Json{{"how", how}, {"count", found.count}, {"best", std::move(best)}}) << '\n';
}

void write_text(const FoundActivations& found, std::ostream& out) {
  write_count(found.count, std::ssize(found.best), "activation", "activations", out);
  if (found.best.empty()) return;
  out << format("%10s %7s %-14s %8s  %s\n", "activation", "prompt", "neuron", "position", "context");
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    const FoundActivation& f = found.best[i];
    out << format("%10.4f %7d %-14s %8d  ", static_cast<double>(f.activation), f.prompt,
                  neuron_name(f.layer, f.neuron).c_str(), f.position)
        << context_words(found.excerpts[i], f.position) << '\n';
  }
}

/// "any", "@3", "@3+", "@-1", or a token's text; write "@@" for a text that begins with @.
auto tokens_meant(TokenSelector::Kind counted_back) {
  return [=](const std::string& option, const std::string& text) {
    using Kind = TokenSelector::Kind;
    if (text == "any") return TokenSelector{};
    if (text.empty()) throw UsageError(option + " takes a token's text, a position such as @3, or any");
    if (!text.starts_with('@')) return TokenSelector{Kind::text, text, 0};
    if (text.starts_with("@@")) return TokenSelector{Kind::text, text.substr(1), 0};
    std::string_view place = std::string_view(text).substr(1);
    if (place.ends_with('+')) {
      place.remove_suffix(1);
      return TokenSelector{Kind::from_position, "", whole_number(option + " @", place, 0)};
    }
    const int position = whole_number(option + " @", place, -kMax);
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

/// Which selectors have meant no token yet: a typo, if it stays so.
class Unmatched {
 public:
  explicit Unmatched(const WeightSearch& search) : selectors_{{"--from", search.from}, {"--to", search.to}} {}

  void look_at(const PromptRun& run) {
    const int last = run.run->length() - 1;
    std::erase_if(selectors_, [&](const auto& selector) {
      const bool keys = selector.first == "--to";
      for (int i = 0; i < (keys ? key_count(run) : last + 1); ++i)
        if (is_token_of(selector.second, run, keys ? key_tokens(run) : run.tokens, i, last)) return true;
      return false;
    });
  }
  void report(std::ostream& err) const {
    for (const auto& [option, selector] : selectors_)
      if (selector.kind != TokenSelector::Kind::any)  // which no token matches where there is no prompt
        err << "headscope: " << option
            << " matches no token; headscope tokens lists the tokens of a prompt and their positions\n";
  }

 private:
  std::vector<std::pair<std::string, TokenSelector>> selectors_;
};

/// Calls visit(run, number) for each prompt's run. `hooks`: of the passes; null: none.
template <class Visit>
PromptsRun for_each_run(const SearchCommand& command, Engine& engine, const Streams& streams,
                        const model::Hooks* hooks, const Visit& visit) {
  Unmatched unmatched(command.search);
  const auto visit_run = [&](const PromptSource& source, const Prompt& prompt) {
    const PromptRun run = run_prompt(engine, prompt, source.where(), hooks);
    warn_about(run, source.where(), streams.err);
    unmatched.look_at(run);
    visit(run, source.number());
  };
  const PromptsRun done = for_each_prompt(command.prompt, streams, visit_run);
  unmatched.report(streams.err);
  return done;
}

void search_neurons(const SearchCommand& command, Engine& engine, How& how, const Streams& streams) {
  const int context = command.context.value_or(SearchCommand::kContext);
  ActivationSearch search{
      .neurons = command.neurons, .at = command.search.from, .excerpt = {context, context}};
  if (command.above) search.above = *command.above;
  const WatchedNeurons watched(command.neurons, *engine.model);
  FoundActivations found;
  const auto search_in = [&](const PromptRun& run, int number) {
    add_activations(run, search, watched, number, static_cast<std::size_t>(command.top), found);
  };
  const PromptsRun done = for_each_run(command, engine, streams, &watched.hooks(), search_in);
  if (command.json) return write_json(how.of(engine, done), *engine.model->tokenizer, found, streams.out);
  write_text(found, streams.out);
}

void run_search(const SearchCommand& command, const Streams& streams) {
  How how(command);
  Engine engine = start_engine(command, streams, {.needs = Capability::patterns});
  if (!command.neurons.empty()) return search_neurons(command, engine, how, streams);
  BestWeights best(static_cast<std::size_t>(command.top));
  FoundWeights found;  // with excerpts
  const bool context = command.context.has_value();
  const auto search_in = [&](const PromptRun& run, int number) {
    BestWeights of_run = best.none();
    search_weights(run, command.search, number, engine.workspace, context ? of_run : best);
    if (context)
      join_weights(found, of_run, run, number, static_cast<std::size_t>(command.top),
                   {*command.context, *command.context});
  };
  const auto write = [&](const TokenNames& names, const PromptsRun& done) {
    if (!context) found.best = best.best(), found.count = best.count();
    if (command.json) return write_json(how.of(engine, done), names, found, context, streams.out);
    write_text(names, found, context, streams.out);
  };
  if (engine.model->patterns) {
    const PromptRun run = run_of_patterns(engine, command.prompt, {});
    warn_about(run, "", streams.err);
    Unmatched unmatched(command.search);
    unmatched.look_at(run);
    unmatched.report(streams.err);
    search_in(run, 1);
    return write({nullptr, &run.tokens, &key_tokens(run)}, {});
  }
  const PromptsRun done = for_each_run(command, engine, streams, nullptr, search_in);
  write({.tokenizer = engine.model->tokenizer.get()}, done);
}

void check_search(SearchCommand& command) {
  require_prompt_or_attention(command);
  WeightSearch& search = command.search;
  const bool patterns = command.model.patterns, weights = command.neurons.empty();
  if (weights) search.above = command.above.value_or(search.above);
  const auto of_weights = [](const std::string& option) {
    return "--neurons searches activations; " + option + " is of weights";
  };
  refuse(
      {{patterns && command.context, "--context requires a prompt; an attention file has only weights"},
       {weights && (search.above < 0 || search.above > 1), "--above takes a number from 0 to 1 for weights"},
       {patterns && !weights, "--neurons requires a prompt; an attention file has no neurons"},
       {!weights && !search.heads.empty(), of_weights("--heads")},
       {!weights && search.to.kind != TokenSelector::Kind::any, of_weights("--to")},
       {!weights && !search.shape.empty(), of_weights("--shape")},
       {!weights && !search.moves, of_weights("--shape-moves")}});
}

}  // namespace

Finish describe_search(CommandSyntax& command) {
  const auto own = std::make_shared<SearchCommand>();
  WeightSearch& search = own->search;
  command.reading();
  command.attention(false);
  command.option(
      "from", "TEXT|@N|any",
      "queries: tokens with this text, with or without a leading space;\n@3: position 3, @3+: from "
      "position 3 on, @-1: the last; any (the\ndefault); not position 0 where it sees only itself; "
      "with --neurons\nthe tokens at which they are active",
      search.from, tokens_meant(TokenSelector::Kind::from_end));
  command.option(
      "to", "TEXT|@N|any",
      "keys: likewise, but @-1 is the token before the query; @1+ leaves\nout key 0, on which many "
      "heads of GPT-2 rest",
      search.to, tokens_meant(TokenSelector::Kind::before_query));
  command.option("above", "X",
                 "only weights larger than X (default: 0), or activations larger than X\n(default: all)",
                 own->above, between(-1e30, 1e30, "from -1e30 to 1e30"));
  command.option("heads", "L.H,...", "only these heads, e.g. 5.1,5.3 (default: all)", search.heads,
                 pairs<model::HeadIndex>("layers and heads"));
  command.option("shape", "Q.K,...",
                 "instead of tokens: heads whose attention is in these cells,\ne.g. 2.1,3.2,4.3; X is then "
                 "the share of attention in them",
                 search.shape, pairs<WeightSearch::Cell>("queries and keys"));
  command.option("shape-moves", "yes|no", "also find the shape elsewhere along the diagonal (default: yes)",
                 search.moves, one_of(kYesOrNo));
  command.option("neurons", "L.N,...",
                 "instead of weights: the largest activations of these neurons, after\nthe nonlinearity",
                 own->neurons, pairs<NeuronIndex>("layers and neurons"));
  command.option(
      "context", "N",
      "also the N tokens on each side, with the neuron's activation or the\nquery's weight on each "
      "(default: 8 for neurons, none for weights)",
      own->context, whole(0));
  command.option("top", "N", "the N largest (default: 20)", own->top, whole(1, 1000000));
  command.answer_out();
  return command.finish(own, check_search, run_search);
}

}  // namespace headscope::app
