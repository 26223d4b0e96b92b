#pragma once
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "viz/text/utf8.h"

namespace headscope::viz::testing {

/// Checks the relevant part of XML: characters are allowed, elements nest, attributes are quoted and unique,
/// entities are known, references resolve. Returns the error, or nothing.
class XmlCheck {
 public:
  explicit XmlCheck(const std::string& text) : text_(text) {}

  std::string error() {
    if (!take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")) return "no declaration";
    while (error_.empty() && at_ < text_.size()) text_[at_] == '<' ? tag() : character();
    if (error_.empty() && !open_.empty()) error_ = "not closed: " + open_.back();
    for (const std::string& id : referred_) {
      if (error_.empty() && !ids_.contains(id)) error_ = "no such id: " + id;
    }
    return error_;
  }

 private:
  bool take(std::string_view part) {
    if (text_.compare(at_, part.size(), part) != 0) return false;
    at_ += part.size();
    return true;
  }
  std::string name() {
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' || text_[at_] == ':'))
      ++at_;
    return text_.substr(start, at_ - start);
  }
  void character() {
    if (text_[at_] == '&') {
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
        if (take(entity)) return;
      }
      error_ = "unknown entity";
    }
    if (static_cast<unsigned char>(text_[at_]) < 0x20 && text_[at_] != '\n' && text_[at_] != '\t')
      error_ = "control character";
    const Decoded c = decode_utf8(text_, at_);
    if (!c.valid || c.code == 0xFFFE || c.code == 0xFFFF) error_ = "no character of XML";
    at_ += c.length;
  }
  void tag() {
    ++at_;
    if (take("/")) {
      const std::string closed = name();
      if (open_.empty() || open_.back() != closed || !take(">"))
        error_ = "closes what is not open: " + closed;
      if (!open_.empty()) open_.pop_back();
      return;
    }
    const std::string element = name();
    if (element.empty()) error_ = "no name";
    std::map<std::string, std::string> attributes;
    while (error_.empty() && take(" ")) {
      const std::string key = name();
      if (key.empty() || !take("=\"") || attributes.contains(key)) {
        error_ = "bad attribute " + key;
        return;
      }
      const std::size_t start = at_;
      while (at_ < text_.size() && text_[at_] != '"' && error_.empty()) {
        if (text_[at_] == '<') error_ = "< in attribute";
        character();
      }
      attributes[key] = text_.substr(start, at_ - start);
      ++at_;
    }
    if (attributes.contains("id") && !ids_.insert(attributes["id"]).second) error_ = "repeated id";
    if (const std::string href = attributes["xlink:href"]; href.starts_with("#"))
      referred_.insert(href.substr(1));
    if (const std::string clip = attributes["clip-path"]; !clip.empty())
      referred_.insert(clip.substr(5, clip.size() - 6));
    if (take("/>")) return;
    if (!take(">")) error_ = "tag not closed: " + element;
    open_.push_back(element);
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::string error_;
  std::vector<std::string> open_;
  std::set<std::string> ids_;
  std::set<std::string> referred_;
};

/// The error in a document; empty: none.
inline std::string xml_error(const std::string& text) {
  return XmlCheck(text).error();
}

}  // namespace headscope::viz::testing
