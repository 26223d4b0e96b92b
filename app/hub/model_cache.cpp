#include "app/hub/model_cache.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "app/run/sources/weights_hash.h"
#include "model/files/file_io.h"
#include "system/atomic_file.h"
#include "system/file.h"
#include "system/machine.h"
#include "system/path_text.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const std::error_code& error) {
  throw HubError("cannot write " + system::text_of(path) + ": " + error.message());
}

/// Writes to a path; the system's errors become sentences.
template <class Work>
void write(const fs::path& path, const Work& work) {
  try {
    work();
  } catch (const std::system_error& error) {
    fail(path, error.code());
  }
}

std::string folder_name(const std::string& repository) {
  std::string name = "models--" + repository;
  if (const std::size_t slash = name.find('/'); slash != name.npos) name.replace(slash, 1, "--");
  return name;
}

}  // namespace

ModelCache::ModelCache(fs::path cache, const HubModel& model)
    : cache_(std::move(cache)), folder_(cache_ / folder_name(model.repository)), revision_(model.revision) {}

std::optional<std::string> ModelCache::commit() const {
  if (is_commit(revision_)) return revision_;
  try {
    const fs::path ref = folder_ / "refs" / revision_;
    if (!system::is_file(ref)) return std::nullopt;
    std::string commit = model::read_file(ref, 4096);
    while (commit.ends_with('\n') || commit.ends_with('\r')) commit.pop_back();
    if (is_commit(commit)) return commit;
  } catch (const std::exception&) {  // treated as missing
  }
  return std::nullopt;
}

std::optional<fs::path> ModelCache::complete_snapshot() const {
  const auto known = commit();
  if (!known || !is_complete_model(snapshot(*known))) return std::nullopt;
  return snapshot(*known);
}

void ModelCache::link(const std::string& commit, const std::string& file, const std::string& digest) const {
  const fs::path link = snapshot(commit) / file;
  const fs::path target = fs::path("..") / ".." / "blobs" / digest;
  std::error_code ignored;
  if (fs::read_symlink(link, ignored) == target) return;
  make_folder(link.parent_path());
  // Created under a temporary name, another for each thread, and renamed, because making a link does not
  // replace a file.
  static std::atomic<unsigned> links = 0;
  fs::path temporary = link;
  temporary.replace_filename("." + file + "." + std::to_string(system::process_id()) + "-" +
                             std::to_string(links++) + ".link");
  system::remove_file(temporary);
  try {
    system::make_link(target, temporary);
    system::rename_over(temporary, link);
    system::remove_file(temporary);  // is still there if both were names of the same file
  } catch (const std::system_error& error) {
    system::remove_file(temporary);
    fail(link, error.code());
  }
}

void ModelCache::remember(const std::string& commit) const {
  if (is_commit(revision_) || this->commit() == commit) return;
  const fs::path ref = folder_ / "refs" / revision_;
  make_folder(ref.parent_path());
  try {
    system::write_file_atomically(ref, commit);
  } catch (const std::runtime_error& error) {
    throw HubError(error.what());
  }
}

void ModelCache::remember_absent(const std::string& commit, const std::string& file) const noexcept {
  try {
    const fs::path mark = folder_ / ".no_exist" / commit / file;
    make_folder(mark.parent_path());
    system::File(mark, system::Open::change);
  } catch (const std::exception&) {
  }
}

bool is_complete_model(const fs::path& folder) {
  const auto has = [&](const fs::path& name) { return system::is_file(folder / name); };
  const fs::path absent = folder / ".." / ".." / ".no_exist" / folder.filename();
  const auto lacks = [&](const char* name) { return system::is_file(absent / name); };
  const bool has_tokenizer = has("tokenizer.json") || (has("vocab.json") && has("merges.txt"));
  const bool has_none = lacks("tokenizer.json") && (lacks("vocab.json") || lacks("merges.txt"));
  if (!has("config.json") || !(has_tokenizer || has_none)) return false;
  try {
    return std::ranges::all_of(weight_files(folder), has);
  } catch (const std::exception&) {
    return false;
  }
}

bool has_size(const fs::path& file, std::uint64_t bytes) {
  std::error_code error;
  return system::is_file(file) && fs::file_size(file, error) == bytes && !error;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw HubError("cannot create the folder " + system::text_of(folder) + ": " + error.message());
}

FileLock::FileLock(fs::path path) : path_(std::move(path)) {
  make_folder(path_.parent_path());
  open();
}

void FileLock::open() {
  write(path_, [&] { file_ = system::File(path_, system::Open::change); });
}

bool FileLock::try_lock() {
  if (!file_.try_lock()) return false;
  // The previous holder may have removed the file, which makes this lock useless.
  if (file_.is_at(path_)) return true;
  open();
  return false;
}

PartialFile::PartialFile(fs::path path, FileFacts facts, const std::function<void()>& poll)
    : path_(std::move(path)), facts_(std::move(facts)), digest_(facts_.digest, facts_.bytes) {
  write(path_, [&] {
    file_ = system::File(path_, system::Open::change_no_link);
    const system::FileStatus status = file_.status();
    if (status.kind != system::FileKind::regular) fail(path_, std::make_error_code(std::errc::file_exists));
    if (status.size > facts_.bytes) file_.resize(0);
    std::vector<char> buffer(std::size_t{1} << 20);
    for (;;) {
      poll();
      const std::size_t got = file_.read_at(size_, std::as_writable_bytes(std::span(buffer)));
      if (got == 0) break;
      digest_.add({buffer.data(), got});
      size_ += got;
    }
  });
}

void PartialFile::append(std::string_view bytes) {
  if (bytes.size() > facts_.bytes - size_)
    throw HubError("the server sent more than the announced " + std::to_string(facts_.bytes) + " bytes");
  // At an offset, not at the end: another process that writes here without a lock writes the same bytes.
  write(path_, [&] { file_.write_at(size_, std::as_bytes(std::span(bytes))); });
  digest_.add(bytes);
  size_ += bytes.size();
}

void PartialFile::restart() {
  write(path_, [&] { file_.resize(0); });
  size_ = 0;
  digest_ = Digest(facts_.digest, facts_.bytes);
}

bool PartialFile::finish(const fs::path& goal) {
  bool right = false;
  write(path_, [&] {
    right = file_.status().size == facts_.bytes && digest_.hex() == facts_.digest;
    if (!right) return;
    file_.sync();
    file_.close();
    system::rename_over(path_, goal);
  });
  if (!right) restart();
  return right;
}

}  // namespace headscope::app
