#include "app/cli/prompts.h"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <utility>

#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/counted.h"
#include "app/text/output_text.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

/// All bytes, or as many as are more than `limit` also without a byte order mark.
std::string bytes_of(std::istream& in, std::size_t limit) {
  std::string bytes(kByteOrderMark.size() + limit + 1, '\0');
  in.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

/// Runs `attempt` and reports an error of the prompt if errors are skipped. Other errors are not skipped: a
/// full disk stays full.
template <class Attempt>
bool run_or_skip(bool skip, const PromptSource& source, std::ostream& err, StatusLine& progress,
                 const Attempt& attempt) {
  const auto skipped = [&](const std::exception& error) {
    if (!skip || !source.is_list() || !source.can_continue()) return false;
    progress.clear();
    err << "headscope: " << one_line(error.what()) << "; skipped\n" << std::flush;
    return true;
  };
  try {
    attempt();
    return true;
  } catch (const model::LoadError& error) {
    if (!skipped(error)) throw;
  } catch (const model::RunError& error) {
    if (!skipped(error)) throw;
  }
  return false;
}

}  // namespace

PromptSource::PromptSource(const Arguments& of_command, std::istream& standard_input)
    : start_token_(of_command.session.prompt.start_token),
      plain_text_(of_command.session.prompt.plain),
      shard_(of_command.prompt.shard) {
  using From = PromptArguments::From;
  const PromptArguments& arguments = of_command.prompt;
  const bool standard = arguments.file == "-";
  name_ = standard ? "standard input" : terminal_safe(system::text_of(arguments.file));
  switch (arguments.from) {
    case From::nothing:
      break;
    case From::given:
      single_ = ListedPrompt{of_command.session.prompt};
      break;
    case From::file: {
      if (!standard) file_ = std::make_unique<InputFile>(arguments.file);
      const std::string bytes = bytes_of(standard ? standard_input : *file_, Prompt::kMaxBytes);
      single_ = ListedPrompt{{.text = std::string(without_byte_order_mark(bytes)), .ids = {}}};
      break;
    }
    case From::list:
      hash_.emplace(system::Hash::Kind::sha256);
      list_name_ = standard ? name_ : system::text_of(arguments.file.filename());
      if (standard) {
        lines_ = &standard_input;
        break;
      }
      plain_ = has_plain_lines(arguments.file);
      file_ = std::make_unique<InputFile>(arguments.file);
      file_->peek();  // a folder can be opened but not read
      file_->clear();
      lines_ = file_.get();
      break;
  }
}

std::string PromptSource::where() const {
  return is_list() ? name_ + ":" + std::to_string(line_) + ": " : "";
}

std::optional<ListedPrompt> PromptSource::next() {
  std::optional<ListedPrompt> prompt;
  if (is_list()) {
    std::optional<InputLine> read;
    while (!prompt && (read = next_line(*lines_))) {
      hash_->add(read->text);
      if (!lines_->eof()) hash_->add("\n");
      const std::string_view line = bare_prompt_line(read->text, line_++ == 0);
      is_cut_ = read->too_long;
      if (is_cut_)
        throw model::LoadError(where() + "expected a line of at most " + std::to_string(kMaxLineBytes) +
                               " bytes, found a longer one");
      if (!is_prompt_line(line) || number_++ % shard_.count != shard_.index) continue;
      prompt = plain_ ? ListedPrompt{{.text = std::string(line), .ids = {}}}
                      : parse_prompt_line(line, name_ + ":" + std::to_string(line_));
    }
  } else {
    prompt = std::exchange(single_, std::nullopt);
  }
  if (!prompt) {
    if (is_list() && !list_) list_ = ListFile{list_name_, hash_->hex(), number_};
    return prompt;
  }
  prompt->start_token = start_token_, prompt->plain = plain_text_;
  if (!is_list()) ++number_;
  if (std::max(prompt->text.size(), prompt->ids.size()) > Prompt::kMaxBytes)
    throw model::RunError((is_list() || name_.empty() ? where() : name_ + ": ") +
                          "expected a prompt of at most " + std::to_string(Prompt::kMaxBytes) +
                          " bytes or ids, found a longer one");
  return prompt;
}

bool PromptSource::can_continue() const {
  return is_list() && !lines_->bad() && !is_cut_;
}

std::string PromptSource::file(std::string name) const {
  constexpr std::string_view kNumber = "{n}";
  const std::string number = std::to_string(number_);
  for (std::size_t at = 0; is_list() && (at = name.find(kNumber, at)) != name.npos; at += number.size())
    name.replace(at, kNumber.size(), number);
  return name;
}

PromptsRun for_each_prompt(const Arguments& of_command, const Streams& streams, const PromptWork& work) {
  const PromptArguments& arguments = of_command.prompt;
  PromptSource source(of_command, streams.in);
  constexpr std::chrono::milliseconds kTerminalPause{200}, kLogPause{30000};
  StatusLine progress(streams, kTerminalPause, kLogPause);
  const bool has_room = !streams.err_is_terminal || !streams.out_is_terminal;  // answers take the terminal
  int done = 0, failed = 0;
  for (bool more = true; more;) {
    const bool well = run_or_skip(arguments.skip_errors, source, streams.err, progress, [&] {
      const auto prompt = source.next();
      more = prompt.has_value();
      if (!more) return;
      progress.clear();
      work(source, *prompt);
    });
    if (!more) break;
    ++done;
    failed += well ? 0 : 1;
    if (!source.is_list()) continue;
    streams.out.flush();
    if (has_room && progress.is_due()) progress.tell("headscope: " + counted(done, "prompt") + " done");
  }
  progress.clear();
  const bool all_of_them = arguments.shard.count == 1;  // other shards may have prompts, which may succeed
  if (done == 0 && source.is_list() && all_of_them) throw model::RunError(no_prompt_in(source.name()));
  if (failed > 0 && failed == done && all_of_them)
    throw model::RunError(done == 1 ? "the prompt failed" : "all " + counted(done, "prompt") + " failed");
  if (failed > 0)
    streams.err << "headscope: " << failed << " of " << counted(done, "prompt")
                << (failed == 1 ? " was" : " were") << " skipped; the others succeeded\n";
  return {failed, source.list()};
}

}  // namespace headscope::app
