#pragma once

namespace headscope::model {

/// How the elements of a matrix lie in memory: float32, IEEE 754 binary16, bfloat16.
enum class Precision { f32, f16, bf16 };

}  // namespace headscope::model
