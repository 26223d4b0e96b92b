#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <streambuf>

#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/request.h"
#include "app/cli/standard_streams.h"
#include "app/run/kept_models.h"
#include "app/text/json_text.h"
#include "model/files/json.h"
#include "system/console.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "viz/players/base64.h"

namespace headscope::app {

void read_request(const InputLine& line, Request& request) {
  constexpr const char* kExpected =
      "a request is a JSON object with \"args\", a list of texts: a command's name and what follows it, and "
      "perhaps \"id\", a text or a whole number, and \"input\" or \"input_base64\", a text";
  if (line.too_long)
    throw UsageError("the request is longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB");
  Json object;
  try {
    object = model::parse_json<Json>(line.text, "the request");
  } catch (const model::LoadError& error) {
    throw UsageError(error.what());
  }
  const auto reject = [&](bool wrong) { refuse({{wrong, kExpected}}); };
  reject(!object.is_object());
  const Json id = object.value("id", Json());
  reject(!id.is_null() && !id.is_number_integer() && !id.is_string());
  request.id = id;
  for (const auto& [key, value] : object.items()) {
    if (key == "id") continue;
    if (key == "args") {
      reject(!value.is_array() || value.empty());
      for (const Json& word : value) {
        reject(!word.is_string());
        request.args.push_back(word.get<std::string>());
        if (request.args.back().find('\0') != std::string::npos)
          throw UsageError(
              "an argument has a null character; give such a prompt as \"input\", with --prompt-file -");
      }
    } else {
      reject((key != "input" && key != "input_base64") || !value.is_string() || request.input);
      const auto text = value.get<std::string>();
      request.input = key == "input" ? text : viz::bytes_from_base64(text);
      reject(!request.input);
    }
  }
  reject(request.args.empty());
}

namespace {

/// The most that a command may print in answer to a request, in bytes: all of it is in memory.
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;

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

int run_request(const Request& request, const std::shared_ptr<KeptModels>& models, const Streams& streams) {
  const auto parsed = parse_command_line(request.args, models);
  if (const auto* reply = std::get_if<std::string>(&parsed)) {
    streams.out << *reply;
    return 0;
  }
  const Task& task = std::get<Task>(parsed);
  const Arguments& a = *task.arguments;
  refuse({{task.command.empty(),
           "a request names a command that answers or makes a picture; the window is not one"},
          {task.command == "serve", "a request cannot start headscope serve"},
          {!a.out.empty() && system::standard_output().is_at(system::path_of(a.out)),
           "standard output takes the answers; for a picture in the answer give --out -"},
          {system::standard_input().is_at(a.prompt.file),
           "requests come on standard input; give the request its prompts as \"input\", and - as the file"}});
  return task.run(streams);
}

/// Runs the command of a line's request with the models that are kept. Returns the answer, a line of JSON
/// without its end: `id`, `status` (the command's exit status), `error` (the sentence of a failure),
/// `messages` (its other sentences) and what it printed, as `text`, or as `base64` where that is no UTF-8.
/// Throws system::Interrupted; whatever else is wrong is in the answer.
std::string answer_to(const InputLine& line, const std::shared_ptr<KeptModels>& models) {
  Request request;
  Printed printed;
  std::ostream out(&printed);
  out.exceptions(std::ios::badbit);
  std::ostringstream err;
  NoInput none;
  std::istringstream input;
  std::istream no_input(&none);
  no_input.exceptions(std::ios::badbit);
  const Outcome outcome = outcome_of([&] {
    read_request(line, request);
    if (request.input) input.str(*request.input);
    std::istream& in = request.input ? static_cast<std::istream&>(input) : no_input;
    // As for a terminal, where progress is a line that is cleared in the end.
    return run_request(request, models, {in, out, err, false, true});
  });
  Json answer = {{"id", request.id}, {"status", outcome.status}};
  if (!outcome.error.empty()) answer["error"] = utf8_or_replacement(one_line(outcome.error));
  answer["messages"] = messages_in(err.str());
  const std::string& text = printed.text();
  if (is_utf8(text))
    answer["text"] = text;
  else
    answer["base64"] = viz::base64(std::as_bytes(std::span(text)));
  return json_line(answer);
}

/// The memory for models that stay loaded, in bytes.
std::size_t memory_limit(int mebibytes) {
  constexpr std::size_t kMebibyte = 1 << 20, kUnknownMachine = 2048 * kMebibyte;
  if (mebibytes > 0) return static_cast<std::size_t>(mebibytes) * kMebibyte;
  const std::uint64_t all = system::memory_here().all;
  return all == 0 ? kUnknownMachine : static_cast<std::size_t>(all / 2);
}

}  // namespace

Run describe_serve(CLI::App& app, const std::shared_ptr<Arguments>&) {
  const auto stdio = std::make_shared<bool>(false);
  const auto memory = std::make_shared<int>(0);
  app.add_flag(
      "--stdio", *stdio,
      "read requests from standard input, one line of JSON each, and write one line\nof JSON each to "
      "standard output");
  app.add_option(
         "--memory", *memory,
         "memory for models that stay loaded, in MiB; the one used longest ago is\ndropped first (default 0: "
         "half of the machine's)")
      ->type_name("MB")
      ->check(within(0, 1 << 30));
  add_footer(
      app,
      "A request: {\"id\": 1, \"args\": [\"predict\", \"--prompt\", \"Once upon a time\", \"--json\"]}\n"
      "The answer has the same id, the exit status, what the command printed as text (or base64), and its\n"
      "messages; after a failure it has error, one sentence. serve ends with status 0 at the end of its "
      "input.");
  return [stdio, memory](const Streams& streams) {
    refuse({{!*stdio,
             "serve needs --stdio: it answers requests that come on standard input, and opens no port"}});
    if (streams.hide) streams.hide();
    const auto models = std::make_shared<KeptModels>(memory_limit(*memory));
    while (const auto line = next_line(streams.in)) {
      if (line->too_long) streams.in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
      streams.out << answer_to(*line, models) << '\n' << std::flush;
    }
    return 0;
  };
}

}  // namespace headscope::app
