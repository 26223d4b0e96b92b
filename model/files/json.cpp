#include "model/files/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "model/files/error.h"
#include "model/files/foreign_content.h"
#include "model/files/quote.h"

namespace headscope::model {

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
    const std::string size = std::to_string(text.size());
    throw LoadError(where + ": expected JSON, found " +
                    (error.byte <= text.size()
                         ? "a syntax error at byte " + std::to_string(error.byte) + " of " + size
                         : "its end too early, after byte " + size +
                               (where.ends_with(".json") ? "; if it was downloaded, download it again" : "")));
  } catch (const json::exception&) {
    throw LoadError(where + ": expected JSON, found a number that is out of range");
  }
}

}  // namespace headscope::model
