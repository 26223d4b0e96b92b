#pragma once
#include <string_view>
#include <utility>

#include "model/kernels/precision.h"

namespace headscope::app {

/// What precisions are called in files and on the command line.
inline constexpr std::pair<std::string_view, model::Precision> kPrecisionNames[]{
    {"f32", model::Precision::f32}, {"f16", model::Precision::f16}, {"bf16", model::Precision::bf16}};

constexpr std::string_view name_of(model::Precision precision) {
  for (const auto& [name, meaning] : kPrecisionNames)
    if (meaning == precision) return name;
  return "";
}

}  // namespace headscope::app
