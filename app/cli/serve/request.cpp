#include "app/cli/serve/request.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "app/text/json_text.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using RequestJson = nlohmann::json;
using model::quote;

constexpr int kMaxDepth = 8;

struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A text that can be an argument.
std::string argument(const RequestJson& value, const std::string& where) {
  const auto& text = value.get_ref<const std::string&>();
  if (text.find('\0') != text.npos)
    throw BadRequest(where +
                     " has a null character, which no argument can have; give such a prompt as \"input\", "
                     "with prompt-file \"-\"");
  return text;
}

bool may_be_id(const RequestJson& id) {
  return id.is_null() || id.is_number_integer() || id.is_string();
}

std::string id_of(const RequestJson& id) {
  if (may_be_id(id)) return json_line(id);
  throw BadRequest("\"id\" of a request is a text or a whole number, found " + std::string(id.type_name()));
}

std::vector<std::string> words_of_command(const RequestJson& command) {
  if (command.is_string()) return {argument(command, "\"command\"")};
  const char* const expected =
      "\"command\" of a request is a command's name, or a list of texts: the command and the words after it";
  if (!command.is_array() || command.empty()) throw BadRequest(expected);
  std::vector<std::string> words;
  for (const RequestJson& word : command) {
    if (!word.is_string()) throw BadRequest(expected);
    words.push_back(argument(word, "\"command\""));
  }
  return words;
}

/// A text as it is, or a number as JSON writes it.
std::string text_or_number(const RequestJson& value, const std::string& where) {
  if (value.is_string()) return argument(value, where);
  if (value.is_number()) return value.dump();
  throw BadRequest(where + " is a text, a number, true or false, or a list of texts and numbers, found " +
                   (value.is_array()     ? "a list in a list"
                    : value.is_boolean() ? "true or false in a list"
                                         : value.type_name()));
}

NamedOption option_of(const std::string& name, const RequestJson& value) {
  const std::string where = "the option " + quote(name);
  if (value.is_boolean()) return {name, value.get<bool>()};
  if (!value.is_array()) return {name, text_or_number(value, where)};
  std::vector<std::string> items;
  for (const RequestJson& item : value) items.push_back(text_or_number(item, where));
  return {name, std::move(items)};
}

std::vector<NamedOption> options_of(const RequestJson& object) {
  if (!object.is_object())
    throw BadRequest("\"options\" of a request is an object: each option's value by its name");
  std::vector<NamedOption> options;
  for (const auto& [name, value] : object.items())
    if (!value.is_null()) options.push_back(option_of(name, value));
  return options;
}

std::string input_of(const RequestJson& value) {
  if (auto bytes = bytes_from_json(value)) return *std::move(bytes);
  throw BadRequest("\"input\" of a request is a text, or a list of bytes, 0 to 255");
}

void read(std::string_view line, Request& request) {
  if (!is_utf8(line)) throw BadRequest("the request is no UTF-8");
  const RequestJson object = model::parse_json(line, "the request", kMaxDepth);
  if (!object.is_object())
    throw BadRequest("a request is a JSON object, found " + std::string(object.type_name()));
  if (const auto id = object.find("id"); id != object.end()) request.id = id_of(*id);
  for (const auto& [key, value] : object.items()) {
    if (key == "id") continue;
    if (key == "command") {
      request.words = words_of_command(value);
    } else if (key == "options") {
      request.options = options_of(value);
    } else if (key == "input") {
      request.input = input_of(value);
    } else {
      throw BadRequest("a request has \"command\" and perhaps \"id\", \"options\" and \"input\", found " +
                       quote(key));
    }
  }
  if (request.words.empty()) throw BadRequest("the request has no \"command\"");
}

/// The id in what can be read of JSON, even if that is broken; "null": there is none.
std::string id_in(std::string_view json) {
  std::string id = "null";
  bool is_next = false;
  const auto note = [&](int depth, RequestJson::parse_event_t event, RequestJson& parsed) {
    using Event = RequestJson::parse_event_t;
    if (depth == 1 && event == Event::key) is_next = parsed == "id";
    if (depth == 1 && event == Event::value && is_next && may_be_id(parsed)) id = json_line(parsed);
    return depth <= kMaxDepth;
  };
  [[maybe_unused]] const RequestJson whole = RequestJson::parse(json, note, false);
  return id;
}

/// The same of a line that is no request: also where the id comes after half of a surrogate pair.
std::string readable_id(std::string_view line) {
  std::string text = utf8_or_replacement(line);
  std::string id = id_in(text);
  if (id != "null") return id;
  for (std::size_t at = 0; (at = text.find("\\u", at)) != text.npos && text.size() - at >= 6; at += 2)
    if ((text[at + 2] == 'd' || text[at + 2] == 'D') && text[at + 3] >= '8') text.replace(at + 2, 4, "fffd");
  return id_in(text);
}

}  // namespace

Request parse_request(std::string_view line) {
  Request request;
  try {
    read(line, request);
  } catch (const BadRequest& error) {
    request.problem = error.what();
  } catch (const model::LoadError& error) {
    request.problem = error.what();
  }
  if (!request.problem.empty()) request.id = readable_id(line);
  return request;
}

std::optional<RequestLine> next_request_line(std::istream& in, std::size_t limit) {
  using Traits = std::istream::traits_type;
  std::streambuf& buffer = *in.rdbuf();
  RequestLine line;
  Traits::int_type next = buffer.sbumpc();
  if (next == Traits::eof()) return std::nullopt;
  for (; next != Traits::eof() && next != '\n'; next = buffer.sbumpc()) {
    line.too_long |= line.text.size() == limit;
    if (!line.too_long) line.text += Traits::to_char_type(next);
  }
  return line;
}

}  // namespace headscope::app
