#include "app/cli/arguments/command_syntax.h"
#include "app/cli/batch.h"
#include "app/cli/commands/how.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/config.h"
#include "model/files/file_io.h"

namespace headscope::app {
namespace {

struct TokensCommand : Arguments {
  bool plain = false;  ///< special tokens in a text are plain text
};

/// How many ids the model has, which may be more than its tokenizer, where its config.json can be read.
int id_count(const model::Tokenizer& tokenizer, const std::filesystem::path& folder) {
  try {
    return std::max(tokenizer.size(),
                    model::parse_config(model::read_regular_file(folder / "config.json"), "").vocab_size);
  } catch (const model::LoadError&) {
    return tokenizer.size();
  }
}

/// Tokenizes without running: the length is unlimited, and the empty prompt has no tokens. `plain`: see
/// TokensCommand.
std::vector<model::Token> tokens_of(const model::Tokenizer& tokenizer, int ids, const Prompt& prompt,
                                    bool plain, const std::string& where) {
  std::vector<model::Token> tokens;
  if (*prompt.start_token) {
    const auto id = tokenizer.start_token();
    if (!id)
      throw model::RunError(where +
                            "--bos needs a bos_token or <|endoftext|>, and this tokenizer has neither");
    tokens.push_back({*id, 0, 0});
  }
  std::size_t end = 0;
  for (const int id : prompt.ids) {
    if (id < 0 || id >= ids)
      throw model::RunError(where + "the token id " + std::to_string(id) +
                            " is outside the vocabulary, whose ids are 0 to " + std::to_string(ids - 1));
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
  const int ids = id_count(tokenizer, model_folder(command.model));
  PromptArguments prompts = command.prompt;
  prompts.start_token = prompts.start_token.value_or(tokenizer.adds_start_token());
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
