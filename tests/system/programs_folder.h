#pragma once
#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace headscope::system {

/// A folder of programs that replace the desktop's.
class ProgramsFolder : public testing::TemporaryFolder {
 public:
  std::filesystem::path add(const std::filesystem::path& name, const std::string& script) const {
    std::filesystem::path program = write(name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program;
  }
};

}  // namespace headscope::system
