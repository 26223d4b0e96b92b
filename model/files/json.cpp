#include "model/files/json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/files/error.h"
#include "model/files/file_io.h"

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

/// Builds a value from what a parser reads.
template <class Json>
class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename Json::binary_t&) override { return false; }  // never in a text
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& object = *open_.back()->template get_ptr<typename Json::object_t*>();
    bool is_new = false;
    if constexpr (kKeepsOrder) {  // in a list, which the library would search for each key
      is_new = keys_.back().insert(name).second;
      if (is_new) member_ = &object.emplace_back(std::move(name), Json()).second;
    } else {
      const auto added = object.try_emplace(std::move(name));
      is_new = added.second;
      member_ = &added.first->second;
    }
    return is_new || fail("expected each key once, found " + quote(name) + " twice in one object");
  }

  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception& error) override {
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) fail("expected JSON, found a number that is out of range");
    const bool is_half = std::string_view(error.what()).find("surrogate") != std::string_view::npos;
    return reject_at(
        at, is_half ? "half of a surrogate pair, such as \\ud83d without \\ude00," : "a syntax error");
  }

  /// `at`: a byte's place, given from 1.
  [[noreturn]] bool reject_at(std::size_t at, const std::string& found) const {
    if (const std::string other = foreign_content(text_.substr(0, 64)); !other.empty())
      fail("expected JSON, found " + other);
    if (at > text_.size())
      fail("expected JSON, found its end too early, after byte " + std::to_string(text_.size()) +
           (where_.ends_with(".json") ? "; if it was downloaded, download it again" : ""));
    fail("expected JSON, found " + found + " at " + place_in(text_, at));
  }

  Json take() { return std::move(root_); }

 private:
  static constexpr bool kKeepsOrder = !std::is_same_v<Json, nlohmann::json>;

  std::string_view text_;
  const std::string& where_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;                  ///< the objects and lists whose end has not come yet
  std::vector<std::set<std::string>> keys_;  ///< of each of these, if members keep their order
  Json* member_ = nullptr;                   ///< of the last key
  std::size_t values_ = 0;

  [[noreturn]] bool fail(const std::string& what) const { throw LoadError(where_ + ": " + what); }

  /// Puts a value where it belongs.
  Json& put(Json value) {
    if (limits_.stop.stop_requested()) throw Stopped();
    if (values_++ == limits_.values)
      fail("expected at most " + std::to_string(limits_.values) + " JSON values, found more");
    if (open_.empty()) return root_ = std::move(value);
    if (auto* list = open_.back()->template get_ptr<typename Json::array_t*>())
      return list->emplace_back(std::move(value));
    return *member_ = std::move(value);
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  bool open(Json empty) {
    if (std::ssize(open_) >= limits_.depth)
      fail("expected JSON nested at most " + std::to_string(limits_.depth) + " levels deep, found more");
    open_.push_back(&put(std::move(empty)));
    if constexpr (kKeepsOrder) keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    if constexpr (kKeepsOrder) keys_.pop_back();
    return true;
  }
};

}  // namespace

template <class Json>
Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  JsonBuilder<Json> builder(text, where, limits);
  const std::string_view read = text.substr(0, text.find('\0'));  // which the library takes for the end
  Json::sax_parse(read.begin(), read.end(), &builder);
  if (read.size() < text.size()) builder.reject_at(read.size() + 1, "a null character");
  return builder.take();
}

template nlohmann::json parse_json(std::string_view, const std::string&, const JsonLimits&);
template nlohmann::ordered_json parse_json(std::string_view, const std::string&, const JsonLimits&);

const nlohmann::json& member(const nlohmann::json& object, std::string_view key) {
  static const nlohmann::json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNull : *found;
}

std::string described(const nlohmann::json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  return value.is_null() ? "none" : value.dump();
}

void reject_value(const std::string& where, const std::string& expected, const nlohmann::json& found) {
  reject(where, expected, described(found));
}

}  // namespace headscope::model
