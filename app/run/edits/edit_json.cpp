#include "app/run/edits/edit_json.h"

#include <algorithm>

#include "app/run/edits/edit_kinds.h"
#include "app/run/sources/pattern_file.h"
#include "model/files/error.h"
#include "model/files/json.h"
#include "model/files/quote.h"

namespace headscope::app {
namespace {

template <class T>
constexpr bool kHasSite = std::ranges::find(EditKind<T>::kKeys, "site") != EditKind<T>::kKeys.end();

/// The keys that identify the kinds with or without a site, in quotes; `where`: only those that this object
/// has.
std::vector<std::string> kind_keys(bool with_site, const Json* where = nullptr) {
  std::vector<std::string> keys;
  any_kind([&]<class T>() {
    const std::string key(EditKind<T>::kKeys.front()), quoted = "\"" + key + "\"";
    if (kHasSite<T> == with_site && (where == nullptr || where->contains(key)) &&
        std::ranges::find(keys, quoted) == keys.end())
      keys.push_back(quoted);
    return false;
  });
  return keys;
}

Place place_of(const Json& object, const LoadedModel& model) {
  if (!object.contains("site") || !object.at("site").is_string()) {
    std::vector<std::string> keys = kind_keys(false);
    keys.insert(keys.begin(), "\"site\"");
    throw WrongEdit("expected the key " + listed(keys, " or "));
  }
  const std::string& name = object.at("site").get_ref<const std::string&>();
  const auto points = all_hook_points(weights_of(model).config());
  const auto point = std::ranges::find(points, name, &model::hook_name);
  if (point == points.end())
    throw WrongEdit("the model has no site " + model::quote(name) +
                    "; sites are named like blocks.0.attn.hook_z");
  const EditObject in{object, {}, model};
  return {*point, in.whole("head"), in.integers("positions"), in.integers("units")};
}

model::Edit read_edit(const Json& object, const LoadedModel& model) {
  if (!object.is_object()) throw WrongEdit("expected an object");
  std::optional<model::Edit> edit;
  const auto read = [&](bool with_site, const Place& at) {
    return any_kind([&]<class T>() {
      if (kHasSite<T> != with_site || !object.contains(EditKind<T>::kKeys.front())) return false;
      allow(object, EditKind<T>::kKeys);
      edit = EditKind<T>::from_json({object, at, model});
      return edit.has_value();
    });
  };
  if (read(false, {})) return *edit;
  const Place at = place_of(object, model);
  const std::vector<std::string> kinds = kind_keys(true, &object);
  if (kinds.empty()) throw WrongEdit("expected the key " + listed(kind_keys(true), " or "));
  if (kinds.size() > 1)
    throw WrongEdit("has both " + kinds[0] + " and " + kinds[1] + "; split it into two edits");
  read(true, at);
  return edit.value();
}

/// Whether edits are nested in the runs that they patch from more than `levels` deep.
bool is_deeper(const Json& list, int levels) {
  if (levels == 0) return true;
  return list.is_array() && std::ranges::any_of(list, [&](const Json& edit) {
           const bool nests = edit.is_object() && edit.contains("patch") && edit.at("patch").is_object() &&
                              edit.at("patch").contains("edits");
           return nests && is_deeper(edit.at("patch").at("edits"), levels - 1);
         });
}

}  // namespace

model::Edits edits_from_json(const Json& list, const LoadedModel& model) {
  if (!list.is_array()) throw WrongEdit("expected a list of edits");
  if (is_deeper(list, model::PatchFrom::kMostRuns + 2))
    throw WrongEdit("an edit patches through more than " + std::to_string(model::PatchFrom::kMostRuns) +
                    " runs");
  model::Edits all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    try {
      all.push_back(read_edit(list[i], model));
      check(model.transformer->config(), all.back());
    } catch (const std::runtime_error& error) {
      throw WrongEdit("edit " + std::to_string(i + 1) + ": " + error.what());
    }
  }
  return all;
}

model::Edits parse_edits_json(std::string_view json, const std::string& file, const LoadedModel& model) {
  const Json list = model::parse_json(json, file);
  try {
    return edits_from_json(list, model);
  } catch (const WrongEdit& error) {
    throw model::LoadError(file + ": " + error.what() + ".");
  }
}

}  // namespace headscope::app
