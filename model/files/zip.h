#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "model/files/file_io.h"

namespace headscope::model {

/// The bytes of one file in an archive.
struct ZipEntry {
  std::uint64_t offset = 0;  ///< in the archive's file
  std::uint64_t bytes = 0;
};

/// The entries of a ZIP archive by name (PKWARE's APPNOTE 6.3, with its 64-bit records), as torch.save writes
/// one: stored, neither compressed nor encrypted. Every entry lies inside the file. Throws LoadError that
/// names the file for anything else.
std::map<std::string, ZipEntry> zip_entries(const OpenFile& file);

}  // namespace headscope::model
