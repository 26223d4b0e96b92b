#include "model/files/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "model/files/error.h"
#include "model/files/foreign_content.h"
#include "model/files/quote.h"

namespace headscope::model {
namespace {

/// "column 9", or of a text of several lines "line 3, column 9": a byte's place, given from 1.
std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(byte, 1) - 1);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto column =
      1 + std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  const std::string in_line = "column " + std::to_string(column);
  if (text.find('\n') == text.npos) return in_line;
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", " + in_line;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where, int max_depth) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys_of_open_objects;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (depth >= max_depth) {
          throw LoadError(where + ": expected JSON nested at most " + std::to_string(max_depth) +
                          " levels deep, found more");
        }
        if (event == json::parse_event_t::object_start) keys_of_open_objects.emplace_back();
        break;
      case json::parse_event_t::key:
        if (!keys_of_open_objects.back().insert(parsed.get_ref<const std::string&>()).second) {
          throw LoadError(where + ": expected each key once, found " +
                          quote(parsed.get_ref<const std::string&>()) + " twice in one object");
        }
        break;
      case json::parse_event_t::object_end:
        keys_of_open_objects.pop_back();
        break;
      default:
        break;
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check);
  } catch (const json::parse_error& error) {
    if (const std::string other = foreign_content(text.substr(0, 64)); !other.empty())
      throw LoadError(where + ": expected JSON, found " + other);
    if (error.byte > text.size())
      throw LoadError(where + ": expected JSON, found its end too early, after byte " +
                      std::to_string(text.size()) +
                      (where.ends_with(".json") ? "; if it was downloaded, download it again" : ""));
    const bool is_half = std::string_view(error.what()).find("surrogate") != std::string_view::npos;
    throw LoadError(
        where + ": expected JSON, found " +
        (is_half ? "half of a surrogate pair, such as \\ud83d without \\ude00," : "a syntax error") + " at " +
        place_in(text, error.byte));
  } catch (const json::exception&) {
    throw LoadError(where + ": expected JSON, found a number that is out of range");
  }
}

}  // namespace headscope::model
