#pragma once
#include "app/run/named.h"
#include "app/run/prompt_run.h"
#include "app/views/view.h"

namespace headscope::app {

// The names of values in files and on the command line.

inline constexpr Named<Alignment> kAlignmentNames[]{{"position", Alignment::position},
                                                    {"token", Alignment::subsequence}};
inline constexpr Named<Side> kSideNames[]{
    {"run", Side::run}, {"baseline", Side::baseline}, {"difference", Side::difference}};
inline constexpr Named<bool> kThemeNames[]{{"light", false}, {"dark", true}};

}  // namespace headscope::app
