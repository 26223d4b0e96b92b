#include "app/run/edits/edit_json.h"

#include "app/run/sources/pattern_file.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

using Json = nlohmann::json;

/// What is wrong with an edit; the file and its number are put in front.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

float number_of(const Json& value, const std::string& key, bool may_hide) {
  if (value.is_null() && may_hide) return -std::numeric_limits<float>::infinity();
  if (!value.is_number()) throw Wrong("\"" + key + "\" takes numbers, not " + model::quote(value.dump()));
  const auto number = static_cast<float>(value.get<double>());
  if (!std::isfinite(number)) throw Wrong("\"" + key + "\" has a number that float32 cannot hold");
  return number;
}

int whole_of(const Json& value, const std::string& key) {
  if (!value.is_number_integer())
    throw Wrong("\"" + key + "\" takes whole numbers, not " + model::quote(value.dump()));
  const auto number = value.get<double>();  // of any size
  if (!(number >= -1 && number <= std::numeric_limits<int>::max()))
    throw Wrong("\"" + key + "\" has " + value.dump() + ", which is no index");
  return value.get<int>();
}

const Json::array_t& array_of(const Json& value, const std::string& key) {
  if (!value.is_array()) throw Wrong("\"" + key + "\" takes a list, not " + model::quote(value.dump()));
  return value.get_ref<const Json::array_t&>();
}

std::vector<int> wholes_of(const Json& object, const std::string& key) {
  std::vector<int> numbers;
  if (!object.contains(key)) return numbers;
  for (const Json& value : array_of(object.at(key), key)) numbers.push_back(whole_of(value, key));
  if (numbers.empty()) throw Wrong("\"" + key + "\" is empty; left out it means all");
  return numbers;
}

std::vector<float> numbers_of(const Json& value, const std::string& key, bool may_hide) {
  if (!value.is_array()) return {number_of(value, key, may_hide)};
  std::vector<float> numbers;
  for (const Json& one : array_of(value, key)) numbers.push_back(number_of(one, key, may_hide));
  return numbers;
}

std::optional<int> optional_whole(const Json& object, const std::string& key) {
  if (!object.contains(key)) return std::nullopt;
  return whole_of(object.at(key), key);
}

void allow(const Json& object, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(keys, key) == keys.end())
      throw Wrong("it has " + model::quote(key) + ", which means nothing there");
}

class Reader {
 public:
  explicit Reader(const LoadedModel& model) : model_(model) {
    for (const model::HookPoint point : all_hook_points(weights_of(model).config())) points_.push_back(point);
  }

  model::Edit read(const Json& object) const {
    if (!object.is_object()) throw Wrong("it is no object");
    if (object.contains("mask")) return mask(object);
    if (object.contains("position_ids")) {
      allow(object, {"position_ids"});
      return model::SetPositionIds{wholes_of(object, "position_ids")};
    }
    const model::EditedPlace at = place(object);
    const bool scores = at.point.site == model::Site::attn_scores;
    std::vector<std::string> kinds;
    for (const char* kind : {"set", "scale", "add", "cells", "patch"})
      if (object.contains(kind)) kinds.emplace_back(kind);
    if (kinds.size() != 1)
      throw Wrong(kinds.empty()
                      ? "it has none of \"set\", \"scale\", \"add\", \"cells\" and \"patch\""
                      : "it has \"" + kinds[0] + "\" and \"" + kinds[1] + "\"; make two edits of it");
    const std::string& kind = kinds.front();
    const Json& value = object.at(kind);
    if (kind == "cells") return cells(object, at);
    if (kind == "add") {
      allow(object, {"site", "head", "positions", "units", "add", "factor"});
      return model::AddVector{
          at, numbers_of(value, kind, false),
          object.contains("factor") ? number_of(object.at("factor"), "factor", false) : 1};
    }
    allow(object, {"site", "head", "positions", "units", kind});
    if (kind == "scale") return model::ScaleValues{at, number_of(value, kind, false)};
    if (kind == "patch") return patch(value, at);
    if (value.is_string()) {
      if (value.get_ref<const std::string&>() != "mean")
        throw Wrong("\"set\" takes a number, a list or \"mean\"");
      return model::SetMean{at};
    }
    return model::SetValues{at, numbers_of(value, kind, scores)};
  }

 private:
  model::EditedPlace place(const Json& object) const {
    if (!object.contains("site") || !object.at("site").is_string())
      throw Wrong("it has no \"site\", \"mask\" or \"position_ids\"");
    const std::string& name = object.at("site").get_ref<const std::string&>();
    const auto point = std::ranges::find(points_, name, &model::hook_name);
    if (point == points_.end())
      throw Wrong("the model has no site " + model::quote(name) +
                  "; sites are named like blocks.0.attn.hook_z");
    return {*point, optional_whole(object, "head"), wholes_of(object, "positions"),
            wholes_of(object, "units")};
  }

  static model::Edit mask(const Json& object) {
    allow(object, {"mask", "layer", "head"});
    model::SetMask mask{optional_whole(object, "layer"), optional_whole(object, "head"), {}};
    const Json& value = object.at("mask");
    if (value == "none") return mask;
    for (const Json& row : array_of(value, "mask")) {
      mask.sees.emplace_back();
      for (const Json& cell : array_of(row, "mask")) {
        if (cell != 0 && cell != 1 && !cell.is_boolean())
          throw Wrong("\"mask\" takes \"none\" or rows of 0 and 1");
        mask.sees.back().push_back(cell.is_boolean() ? cell.get<bool>() : cell == 1);
      }
    }
    if (mask.sees.empty()) throw Wrong("\"mask\" is empty; \"none\" means that every query sees every key");
    return mask;
  }

  static model::Edit cells(const Json& object, const model::EditedPlace& at) {
    allow(object, {"site", "head", "cells", "renormalise"});
    model::SetCells set{at.point, at.head, {}, false};
    if (object.contains("renormalise")) {
      if (!object.at("renormalise").is_boolean()) throw Wrong("\"renormalise\" takes true or false");
      set.renormalise = object.at("renormalise").get<bool>();
    }
    for (const Json& cell : array_of(object.at("cells"), "cells")) {
      const Json::array_t& three = array_of(cell, "cells");
      if (three.size() != 3) throw Wrong("\"cells\" takes [query, key, value] each");
      set.cells.push_back({whole_of(three[0], "cells"), whole_of(three[1], "cells"),
                           number_of(three[2], "cells", at.point.site == model::Site::attn_scores)});
    }
    return set;
  }

  model::Edit patch(const Json& value, const model::EditedPlace& at) const {
    const bool second = value.is_object() && value.contains("model");
    const int sources = value.is_object() ? value.contains("prompt") + value.contains("ids") : 0;
    if (sources > 1 || (sources == 0 && !second))
      throw Wrong("\"patch\" takes an object with \"prompt\" or \"ids\", or with \"model\"");
    allow(value, {"prompt", "ids", "positions", "model"});
    model::PatchFrom patch{at, wholes_of(value, "ids"), wholes_of(value, "positions")};
    if (second) {
      if (value.at("model") != "second") throw Wrong("\"model\" of \"patch\" takes \"second\"");
      patch.second = true;
    }
    if (value.contains("prompt")) {
      if (!value.at("prompt").is_string()) throw Wrong("\"prompt\" takes text");
      for (const model::Token& token :
           model_.tokenizer->encode(value.at("prompt").get_ref<const std::string&>()))
        patch.tokens.push_back(token.id);
    }
    if (sources > 0 && patch.tokens.empty()) throw Wrong("it patches from a prompt without tokens");
    return patch;
  }

  const LoadedModel& model_;
  std::vector<model::HookPoint> points_;
};

}  // namespace

model::Edits parse_edits_json(std::string_view json, const std::string& file, const LoadedModel& model) {
  const Json list = model::parse_json(json, file);
  if (!list.is_array()) throw model::LoadError(file + ": expected a list of edits.");
  const Reader reader(model);
  model::Edits all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    try {
      all.push_back(reader.read(list[i]));
      check(model.transformer->config(), all.back());
    } catch (const std::runtime_error& error) {
      throw model::LoadError(file + ": edit " + std::to_string(i + 1) + ": " + error.what() + ".");
    }
  }
  return all;
}

}  // namespace headscope::app
