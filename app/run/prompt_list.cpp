#include "app/run/prompt_list.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/json.h"
#include "model/files/quote.h"
#include "system/path_text.h"
#include "viz/text/text.h"

namespace headscope::app {
namespace {

using nlohmann::json;

std::vector<int> ids_of(const json& value, const std::string& where) {
  if (!value.is_array()) throw model::LoadError(where + ": \"ids\" must be an array of token ids");
  std::vector<int> ids;
  for (const json& id : value) {
    if (!id.is_number_integer())
      throw model::LoadError(where + ": \"ids\" must hold whole numbers, found " + model::quote(id.dump()));
    const bool fits = id.is_number_unsigned() ? id.get<std::uint64_t>() <= std::numeric_limits<int>::max()
                                              : id.get<std::int64_t>() >= std::numeric_limits<int>::min();
    if (!fits) throw model::LoadError(where + ": the token id " + id.dump() + " is out of range");
    ids.push_back(id.get<int>());
  }
  return ids;
}

}  // namespace

Prompt parse_prompt_line(std::string_view line, const std::string& where) {
  const json value = [&] {
    try {
      return model::parse_json(line, where);
    } catch (const model::LoadError& error) {
      throw model::LoadError(std::string(error.what()) +
                             "; a line is a JSON string, as in \"A robot must obey\", or an object");
    }
  }();
  if (value.is_string()) return {.text = value.get<std::string>(), .ids = {}};
  const bool has_text = value.is_object() && value.contains("prompt");
  const bool has_ids = value.is_object() && value.contains("ids");
  if (has_text == has_ids) {
    throw model::LoadError(where +
                           ": expected a JSON string, or an object with either \"prompt\" or \"ids\"");
  }
  if (has_ids) return {.text = "", .ids = ids_of(value["ids"], where)};
  if (!value["prompt"].is_string()) throw model::LoadError(where + ": \"prompt\" must be a string");
  return {.text = value["prompt"].get<std::string>(), .ids = {}};
}

std::string_view without_byte_order_mark(std::string_view bytes) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (bytes.starts_with(kMark)) bytes.remove_prefix(kMark.size());
  return bytes;
}

std::string_view bare_prompt_line(std::string_view line, bool first) {
  if (first) line = without_byte_order_mark(line);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool has_plain_lines(const std::filesystem::path& file) {
  return file.extension() == ".txt";
}

bool is_prompt_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") != std::string_view::npos;
}

bool may_hold_prompts(const std::filesystem::path& file) {
  const std::filesystem::path extension = file.extension();
  return extension == ".jsonl" || extension == ".ndjson" || has_plain_lines(file);
}

PromptList read_prompt_list(const std::filesystem::path& file) {
  const std::string name = viz::visible(system::text_of(file));
  const std::string bytes = model::read_file(file, PromptList::kMaxBytes);
  const bool plain = has_plain_lines(file);
  PromptList list{viz::visible(system::text_of(file.filename())), {}};
  int number = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = bare_prompt_line(rest.substr(0, end), number++ == 0);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!is_prompt_line(line)) continue;
    if (list.prompts.size() == PromptList::kMaxPrompts)
      throw model::LoadError(name + ": expected at most " + std::to_string(PromptList::kMaxPrompts) +
                             " prompts, found more; the commands metrics and search take any number");
    list.prompts.push_back(plain ? Prompt{.text = std::string(line), .ids = {}}
                                 : parse_prompt_line(line, name + ":" + std::to_string(number)));
  }
  if (list.prompts.empty()) throw model::LoadError(name + ": expected one prompt per line, found none");
  return list;
}

PromptRun run_of(const OverPrompts& over, std::size_t index, const std::shared_ptr<const LoadedModel>& model,
                 model::Workspace& workspace, std::stop_token stop) {
  PromptRun run;
  run.model = model;
  run.prompt = over.list->prompts.at(index);
  run.prompt.start_token = over.start_token;
  run.tokens = tokenize(*model, run.prompt);
  model::ForwardOptions options;
  options.stop = std::move(stop);
  run.run = model->transformer->forward(run.tokens.ids(), workspace, options);
  return run;
}

}  // namespace headscope::app
