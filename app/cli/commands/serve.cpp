#include <algorithm>
#include <limits>
#include <span>
#include <sstream>

#include "app/ascii.h"
#include "app/cli/command_line.h"
#include "app/cli/how.h"
#include "app/cli/request.h"
#include "app/cli/standard_streams.h"
#include "app/run/kept_models.h"
#include "app/text/output_text.h"
#include "model/files/json.h"
#include "system/console.h"
#include "system/machine.h"
#include "system/path_text.h"
#include "viz/players/base64.h"
#include "viz/text/utf8.h"

namespace headscope::app {

void read_request(const InputLine& line, Request& request) {
  constexpr const char* kExpected =
      "a request is a JSON object with \"args\", a command's name and what follows it, a list of texts, and "
      "perhaps \"id\", a text or a whole number, and \"input\" or \"input_base64\", a text";
  refuse({{line.too_long, "the request is longer than " + std::to_string(kMaxLineBytes >> 20) + " MiB"}});
  try {
    const Json object = model::parse_json<Json>(line.text, "the request"), id = object.value("id", Json());
    if (id.is_number_integer() || id.is_string()) request.id = id;
    bool fits = request.id == id;
    for (const auto& [key, value] : object.items()) {
      if (key == "args") {
        request.args = value.get<std::vector<std::string>>();
      } else if (key == "input" || key == "input_base64") {
        const auto text = value.get<std::string>();
        fits = fits && !request.input;
        request.input = key == "input" ? text : viz::bytes_from_base64(text);
        fits = fits && request.input;
      } else {
        fits = fits && key == "id";
      }
    }
    const auto has_null = [](const std::string& word) { return word.find('\0') != word.npos; };
    refuse({{!fits || request.args.empty(), kExpected},
            {std::ranges::any_of(request.args, has_null),
             "an argument has a null character; give such a prompt as \"input\", with --prompt-file -"}});
  } catch (const model::LoadError& error) {
    throw UsageError(error.what());
  } catch (const Json::exception&) {
    throw UsageError(kExpected);
  }
}

namespace {

/// Keeps what a command prints, up to a limit, since all of it is in memory.
class Printed : public std::stringbuf {
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
    if (static_cast<std::size_t>(count) > kMaxBytes - std::min(view().size(), kMaxBytes))
      throw StreamError("the answer is too long; ask for less, or run the command without serve", false);
    return std::stringbuf::xsputn(bytes, count);
  }
};

/// The sentences that a terminal would show in the end, without the program's name before them.
Json messages_in(const std::string& written) {
  constexpr std::string_view kProgram = "headscope: ";
  Json messages = Json::array();
  for (std::string_view line : lines_of(written)) {
    line = split(line, "\x1b[K").back();  // what is not cleared
    if (line.starts_with(kProgram)) line.remove_prefix(kProgram.size());
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
  const auto& task = std::get<Task>(parsed);
  const Arguments& a = *task.arguments;
  refuse({{task.command.empty(),
           "a request names a command that answers or makes a picture; the window is not one"},
          {task.command == "serve", "a request cannot start headscope serve"},
          {!a.out.empty() && system::standard_output().is_at(system::path_of(a.out)),
           "standard output takes the answers; for a picture in the answer give --out -"},
          {a.prompt.file == "-" ? !request.input : system::standard_input().is_at(a.prompt.file),
           "requests come on standard input; give the request its prompts as \"input\", and - as the file"}});
  return task.run(streams);
}

/// Runs a line's request with the models that are kept. Returns a line of JSON without its end: `id`,
/// `status` (the command's exit status), `error` (the sentence of a failure), `messages` (its other
/// sentences) and what it printed, as `text`, or as `base64` where that is no UTF-8. Throws only
/// system::Interrupted.
std::string answer_to(const InputLine& line, const std::shared_ptr<KeptModels>& models) {
  Printed printed;
  std::ostream out(&printed);
  out.exceptions(std::ios::badbit);
  std::ostringstream err;
  Request request;
  const Outcome outcome = outcome_of([&] {
    read_request(line, request);
    std::istringstream in(request.input.value_or(""));
    // As for a terminal, where progress is a line that is cleared in the end.
    return run_request(request, models, {in, out, err, false, true});
  });
  Json answer = {{"id", request.id}, {"status", outcome.status}};
  if (!outcome.error.empty()) answer["error"] = utf8_or_replacement(one_line(outcome.error));
  answer["messages"] = messages_in(err.str());
  if (const std::string_view text = printed.view(); viz::is_utf8(text))
    answer["text"] = text;
  else
    answer["base64"] = viz::base64(std::as_bytes(std::span(text)));
  return json_line(answer);
}

}  // namespace

Run describe_serve(CLI::App& app, const std::shared_ptr<Arguments>&) {
  const auto memory = std::make_shared<int>(static_cast<int>(system::memory_here().all >> 21));
  const CLI::Option* stdio = app.add_flag("--stdio")->description(
      "read requests from standard input, one line of JSON each, and write one line\nof JSON each to "
      "standard output; serve opens no port");
  add_number(app, "--memory", "MB", *memory, 0, 1 << 30,
             "memory for models that stay loaded, in MiB; the one used longest ago is\ndropped first "
             "(default: half of the machine's)");
  add_footer(
      app,
      "A request: {\"id\": 1, \"args\": [\"predict\", \"--prompt\", \"Once upon a time\", \"--json\"]}\n"
      "The answer has the same id, the exit status, what the command printed as text (or base64), and its\n"
      "messages; after a failure it has error, one sentence. serve ends at the end of its input.");
  return [memory, stdio](const Streams& streams) {
    if (stdio->count() == 0) throw UsageError("serve needs --stdio: it opens no port");
    if (streams.hide) streams.hide();
    const auto models = std::make_shared<KeptModels>(static_cast<std::size_t>(*memory) << 20);
    while (const auto line = next_line(streams.in)) {
      if (line->too_long) streams.in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      if (line->text.find_first_not_of(" \t\r") == std::string::npos && !line->too_long) continue;
      streams.out << answer_to(*line, models) << '\n' << std::flush;
    }
    return 0;
  };
}

}  // namespace headscope::app
