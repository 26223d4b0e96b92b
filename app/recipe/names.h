#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

// What values are called in files and on the command line.

inline constexpr std::pair<std::string_view, Alignment> kAlignmentNames[]{{"position", Alignment::position},
                                                                          {"token", Alignment::subsequence}};
inline constexpr std::pair<std::string_view, Side> kSideNames[]{
    {"run", Side::run}, {"other", Side::baseline}, {"difference", Side::difference}};

template <class Value, std::size_t kCount>
std::string name_of(const std::pair<std::string_view, Value> (&names)[kCount], Value value) {
  for (const auto& [name, meaning] : names)
    if (meaning == value) return std::string(name);
  return "";
}

}  // namespace headscope::app
