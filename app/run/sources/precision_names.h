#pragma once
#include "app/run/named.h"
#include "model/kernels/precision.h"

namespace headscope::app {

/// Names of precisions in files and on the command line.
inline constexpr Named<model::Precision> kPrecisionNames[]{
    {"f32", model::Precision::f32}, {"f16", model::Precision::f16}, {"bf16", model::Precision::bf16}};

constexpr std::string_view name_of(model::Precision precision) {
  return name_of(kPrecisionNames, precision);
}

}  // namespace headscope::app
