#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/standard_streams.h"
#include "app/cli/batch.h"
#include "app/cli/commands/how.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/config.h"

namespace headscope::app {
namespace {

struct TokensCommand : Arguments {
  bool plain = false;  ///< special tokens in a text are plain text
};

/// What a model's folder says about ids: the tokenizer's files, and config.json where it can be read.
struct Ids {
  int count;  ///< may be more than the tokenizer has
  std::optional<int> start;
};
Ids ids_in(const std::filesystem::path& folder, const model::Tokenizer& tokenizer) {
  Ids ids{tokenizer.size(), tokenizer.start_token()};
  try {
    const model::Config config = model::read_config(folder);
    ids.count = std::max(ids.count, config.vocab_size);
    if (!ids.start) ids.start = config.bos_token_id;
  } catch (const model::LoadError&) {
  }
  return ids;
}

/// Tokenizes without running: a prompt may be longer than any context, and the empty one has no tokens.
/// `plain`: see TokensCommand.
std::vector<model::Token> tokens_of(const model::Tokenizer& tokenizer, const Ids& ids, const Prompt& prompt,
                                    bool plain, const std::string& where) {
  std::vector<model::Token> tokens;
  if (*prompt.start_token) {
    if (!ids.start)
      throw model::RunError(where +
                            "--bos needs a bos_token, <|endoftext|> or, in config.json, a bos_token_id, "
                            "and this model has none of them");
    tokens.push_back({*ids.start, 0, 0});
  }
  std::size_t end = 0;
  for (const int id : prompt.ids) {
    if (id < 0 || id >= ids.count)
      throw model::RunError(where + "the token id " + std::to_string(id) +
                            " is outside the vocabulary, whose ids are 0 to " +
                            std::to_string(ids.count - 1));
    const std::size_t start = end;
    end += tokenizer.text(id).size();
    tokens.push_back({id, start, end});
  }
  if (prompt.ids.empty())
    for (const model::Token& token :
         saying_where(where, [&] { return tokenizer.encode(prompt.text, !plain); }))
      tokens.push_back(token);
  return tokens;
}

void write_table(const model::Tokenizer& tokenizer, const std::vector<model::Token>& tokens,
                 std::ostream& out) {
  out << format("%8s %8s %8s %8s  %s\n", "position", "id", "start", "end", "text");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const model::Token& token = tokens[i];
    const auto text = [](std::size_t number) { return std::to_string(number); };
    out << format("%8s %8d %8s %8s  ", text(i).c_str(), token.id, text(token.start).c_str(),
                  text(token.end).c_str())
        << token_label(tokenizer, token.id) << '\n';
  }
}

void run_tokens(const TokensCommand& command, const Streams& streams) {
  const std::shared_ptr<const model::Tokenizer> loaded = load_tokenizer(command.model);
  const model::Tokenizer& tokenizer = *loaded;
  const Ids ids = ids_in(model_folder(command.model), tokenizer);
  PromptArguments prompts = command.prompt;
  prompts.start_token = prompts.start_token.value_or(tokenizer.adds_start_token());
  prompts.limit = kMaxLineBytes;  // no model runs them
  show_warnings(tokenizer.warnings(), command.model, streams.err);
  Json how = {{"program", program_name()},
              {"model", utf8_or_replacement(model_name(model_folder(command.model)))},
              {"start_token", *prompts.start_token}};
  if (!tokenizer.warnings().empty()) how["warnings"] = texts_json(tokenizer.warnings());
  for_each_prompt(prompts, streams, [&](const PromptSource& source, const Prompt& prompt) {
    const std::vector<model::Token> tokens = tokens_of(tokenizer, ids, prompt, command.plain, source.where());
    if (!command.json) {
      source.separate(streams.out);
      return write_table(tokenizer, tokens, streams.out);
    }
    Json of_prompt = how;
    of_prompt["prompt"] = prompt_json(tokenizer, prompt);
    write_json_line(of_prompt, tokenizer, tokens, Json::object(), streams.out);
  });
}

}  // namespace

Finish describe_tokens(CommandSyntax& command) {
  const auto own = std::make_shared<TokensCommand>();
  command.model();
  command.prompt(true);
  command.flag("no-special", "read <|endoftext|> and other special tokens in a text as plain text",
               own->plain);
  command.answer_out();
  return command.finish(own, require_prompt, run_tokens);
}

}  // namespace headscope::app
