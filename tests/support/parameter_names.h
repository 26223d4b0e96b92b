#pragma once
#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include "model/kernels/panels.h"
#include "model/kernels/precision.h"

// Readable names for the parameters of parameterised tests.

namespace headscope::testing {

/// Text as part of a test's name: letters and digits, and one underscore for everything between them.
inline std::string as_test_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (kept || (!name.empty() && name.back() != '_')) name += kept ? c : '_';
  }
  if (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

inline std::string name_of(model::Precision precision) {
  return std::array{"f32", "f16", "bf16"}[static_cast<std::size_t>(precision)];
}

}  // namespace headscope::testing

namespace headscope::model {

inline void PrintTo(const PanelKernels& kernels, std::ostream* out) {
  *out << kernels.name;
}
inline void PrintTo(Precision precision, std::ostream* out) {
  *out << testing::name_of(precision);
}

}  // namespace headscope::model
