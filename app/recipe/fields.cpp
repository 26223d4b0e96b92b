#include "app/recipe/fields.h"

#include "model/files/json.h"

namespace headscope::app {

Fields::Fields(const nlohmann::json& object, std::string where, std::string* unusable, std::string path)
    : object_(&object), where_(std::move(where)), path_(std::move(path)), unusable_(unusable) {
  if (!object.is_object())
    throw model::LoadError(where_ + ": expected a JSON object, found " + model::described(object));
}

void Fields::reject(const std::string& key, const std::string& expected) const {
  if (!reads()) return;
  if (unusable_ != nullptr)
    *unusable_ += (unusable_->empty() ? "" : ", ") + path_ + key;
  else
    require(false, path_ + key, expected, object_->contains(key) ? object_->at(key) : nlohmann::json());
}

void Fields::require(bool is_expected, const std::string& path, const std::string& expected,
                     const nlohmann::json& found) const {
  if (!is_expected)
    throw model::LoadError(where_ + ": expected " + path + " to be " + expected + ", found " +
                           model::described(found));
}

}  // namespace headscope::app
