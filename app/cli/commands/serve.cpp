#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/arguments/argument_values.h"
#include "app/cli/arguments/command.h"
#include "app/cli/arguments/command_syntax.h"
#include "app/cli/arguments/standard_streams.h"
#include "app/cli/commands/recipes.h"
#include "app/cli/program.h"
#include "app/cli/serve/request.h"
#include "app/run/kept_models.h"
#include "app/text/json_text.h"
#include "system/console.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "viz/players/base64.h"

namespace headscope::app {
namespace {

/// The most that a command may print in answer to a request, in bytes: all of it is in memory.
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

using Json = nlohmann::ordered_json;

/// Keeps what a command prints, up to a limit.
class Printed : public std::streambuf {
 public:
  const std::string& text() const { return text_; }

 protected:
  int_type overflow(int_type character) override {
    if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
    const char byte = traits_type::to_char_type(character);
    return xsputn(&byte, 1) == 1 ? character : traits_type::eof();
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (static_cast<std::size_t>(count) > kMaxAnswerBytes - text_.size())
      throw StreamError("the answer has more than " + std::to_string(kMaxAnswerBytes >> 20) +
                            " MiB; ask for less, or run the command without serve",
                        false);
    text_.append(bytes, static_cast<std::size_t>(count));
    return count;
  }

 private:
  std::string text_;
};

/// Standard input of a request without any.
class NoInput : public std::streambuf {
 protected:
  int_type underflow() override {
    throw UsageError(
        "the command reads standard input, which requests come on; give the request what it reads as "
        "\"input\"");
  }
};

bool says_whether_json(const Request& request) {
  return std::ranges::any_of(request.options,
                             [](const NamedOption& option) { return option.name == "json"; });
}

/// The command of a request. It answers as JSON, unless it cannot, or the request says how it answers.
ParsedCommand command_of(const Request& request, const std::shared_ptr<KeptModels>& models) {
  const std::vector<std::string> arguments = with_options(request.words, request.options);
  Arguments start;
  start.model.kept = {models};
  start.json = !says_whether_json(request);
  ParsedCommand command = parse_command_line(arguments, start);
  if (!start.json || std::holds_alternative<Task>(command)) return command;
  start.json = false;
  return parse_command_line(arguments, start);
}

/// The format of what a command writes to standard output for `--out -`; empty: it does not.
std::string format_of_out(const Task& task) {
  const Arguments& given = *task.arguments;
  if (const auto* recipe = dynamic_cast<const RecipeCommand*>(&given)) {  // reads its words when it runs
    const auto value_of = [&](std::string_view option) {
      const auto found = std::ranges::find(recipe->words, option, &Word::option);
      return found == recipe->words.end() ? std::string() : found->value;
    };
    return value_of("--out") == "-" ? value_of("--format") : "";
  }
  if (given.out_name != "-") return "";
  if (!given.answer_format.empty()) return given.answer_format;
  return given.out_format ? std::string(extension_of(*given.out_format).substr(1)) : "";
}

void refuse_what_is_not_served(const Task& task) {
  if (task.command.empty())
    throw UsageError("a request names a command that answers or makes a picture; the window is not one");
  if (task.command == "serve") throw UsageError("a request cannot start headscope serve");
  const Arguments& given = *task.arguments;
  if (system::standard_output().is_at(system::path_of(given.out_name)))
    throw UsageError("standard output takes the answers; for a picture in the answer give --out -");
  if (system::standard_input().is_at(given.prompt.file))
    throw UsageError(
        "requests come on standard input; give the request its prompts as \"input\", and - as the file");
}

/// The sentences that a terminal would show in the end, without the program's name before them.
Json messages_in(const std::string& written) {
  constexpr std::string_view kProgram = "headscope: ", kClear = "\x1b[K";
  Json messages = Json::array();
  std::istringstream lines(written);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.rfind('\r') + 1);  // what was written over
    if (line.starts_with(kClear)) line.erase(0, kClear.size());
    if (line.starts_with(kProgram)) line.erase(0, kProgram.size());
    if (!line.empty()) messages.push_back(utf8_or_replacement(line));
  }
  return messages;
}

/// The complete lines of a text.
std::vector<std::string_view> complete_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string base64_of(std::string_view bytes) {
  return viz::base64(std::as_bytes(std::span(bytes)));
}

/// What a command printed.
enum class Content { json, json_lines, file, text };

/// The members of the answer for what was printed, each after a comma; empty: none.
std::string printed_members(Content content, const std::string& format, std::string_view printed,
                            bool failed) {
  const auto member = [](const char* name, const std::string& text) {
    return std::string(",\"") + name + "\":" + json_line(text);
  };
  switch (content) {
    case Content::json: {  // what a failure left unfinished is no JSON
      const auto lines = complete_lines(printed);
      return lines.empty() ? "" : ",\"result\":" + std::string(lines.front());
    }
    case Content::json_lines: {
      std::string results;
      for (const std::string_view line : complete_lines(printed)) {
        results += results.empty() ? "" : ",";
        results += line;
      }
      return ",\"results\":[" + results + "]";
    }
    case Content::file:
      return failed ? "" : member("format", format) + member("base64", base64_of(printed));
    case Content::text:
      if (printed.empty()) return "";
      return member("text", utf8_or_replacement(printed)) +
             (is_utf8(printed) ? "" : member("base64", base64_of(printed)));
  }
  return "";
}

/// Runs the command of a line's request with the models that are kept. Returns the answer, a line of JSON
/// without its end: `id`, `status` (the command's exit status), `error` (the sentence of a failure),
/// `messages` (its other sentences), and what it printed: `result` (the JSON of `--json`), `results` (a list
/// of them, with `prompts`), `format` and `base64` (of `--out -`) or `text` (anything else; with U+FFFD for
/// what is no UTF-8, and then also `base64`). Throws system::Interrupted; whatever else is wrong is in the
/// answer.
std::string answer_to(const InputLine& line, const std::shared_ptr<KeptModels>& models) {
  Request request;
  Printed printed;
  std::ostream out(&printed);
  out.exceptions(std::ios::badbit);
  std::ostringstream err;
  std::istringstream input;
  NoInput none;
  std::istream no_input(&none);
  no_input.exceptions(std::ios::badbit);
  Content content = Content::text;
  std::string format;
  const Outcome outcome = outcome_of([&] {
    if (line.too_long)
      throw UsageError("the request is longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB");
    read_request(line.text, request);
    const ParsedCommand command = command_of(request, models);
    if (const auto* task = std::get_if<Task>(&command)) {
      refuse_what_is_not_served(*task);
      using From = PromptArguments::From;
      const bool many = task->arguments->prompt.from == From::list;
      format = format_of_out(*task);
      if (!format.empty()) content = Content::file;
      if (task->has_json && task->arguments->json) content = many ? Content::json_lines : Content::json;
    }
    if (request.input) input.str(*request.input);
    // As for a terminal, where progress is a line that is cleared in the end.
    std::istream& in = request.input ? static_cast<std::istream&>(input) : no_input;
    return run(command, {in, out, err, false, true});
  });
  std::string answer = "{\"id\":" + request.id + ",\"status\":" + std::to_string(outcome.status);
  if (!outcome.error.empty())
    answer += ",\"error\":" + json_line(utf8_or_replacement(one_line(outcome.error)));
  answer += ",\"messages\":" + json_line(messages_in(err.str()));
  return answer + printed_members(content, format, printed.text(), !outcome.error.empty()) + "}";
}

/// Answers requests until their end.
struct ServeCommand : Arguments {
  bool stdio = false;
  int memory = 0;  ///< MiB of models that stay loaded; 0: half of the machine's
};

/// The memory for models that stay loaded, in bytes.
std::size_t memory_limit(int mebibytes) {
  constexpr std::size_t kMebibyte = 1 << 20, kUnknownMachine = 2048 * kMebibyte;
  if (mebibytes > 0) return static_cast<std::size_t>(mebibytes) * kMebibyte;
  const std::uint64_t all = system::memory_here().all;
  return all == 0 ? kUnknownMachine : static_cast<std::size_t>(all / 2);
}

void run_serve(const ServeCommand& command, const Streams& streams) {
  if (streams.hide) streams.hide();
  const auto models = std::make_shared<KeptModels>(memory_limit(command.memory));
  while (const auto line = next_line(streams.in)) {
    if (line->too_long) streams.in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
    streams.out << answer_to(*line, models) << '\n' << std::flush;
  }
}

void check_serve(const ServeCommand& serve) {
  if (!serve.stdio)
    throw UsageError(
        "serve needs --stdio: it answers requests that come on standard input, and opens no port");
}

}  // namespace

Finish describe_serve(CommandSyntax& command) {
  const auto own = std::make_shared<ServeCommand>();
  command.flag(
      "stdio",
      "read requests from standard input, one line of JSON each, and write one line\nof JSON each to "
      "standard output",
      own->stdio);
  command.option("memory", "MB",
                 "memory for models that stay loaded, in MiB; the one used longest ago is\ndropped first "
                 "(default 0: half of the machine's)",
                 own->memory, whole(0, 1 << 30));
  command.footer(
      "A request: {\"id\": 1, \"command\": \"predict\", \"options\": {\"prompt\": \"Once upon a time\", "
      "\"top\": "
      "5}}\n"
      "Options are named as in the help, without dashes. The answer has the same id, the exit status, and\n"
      "result (the JSON of --json), text, or format and base64 (with --out -); after a failure it has "
      "error,\n"
      "one sentence. serve ends with status 0 at the end of its input.");
  return command.finish(own, check_serve, run_serve);
}

}  // namespace headscope::app
