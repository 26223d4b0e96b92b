#pragma once

namespace headscope::app {

constexpr int kMaxIndex = 1 << 24;  ///< limit of a layer, head or position

/// The fields of a Selection: `form` is a FieldReader or a FieldWriter.
void describe_selection(auto& form, auto& selection) {
  form.whole("layer", 0, kMaxIndex, selection.layer);
  form.whole("head", 0, kMaxIndex, selection.head);
  form.whole("query", -1, kMaxIndex, selection.query);
  form.whole("key", -1, kMaxIndex, selection.key);
}

}  // namespace headscope::app
