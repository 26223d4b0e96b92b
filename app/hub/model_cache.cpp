#include "app/hub/model_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>

#include "app/run/sources/weights_hash.h"
#include "model/files/file_io.h"

namespace headscope::app {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, int error) {
  throw HubError("cannot write " + path.string() + ": " + std::generic_category().message(error));
}

std::string folder_name(const std::string& repository) {
  std::string name = "models--" + repository;
  if (const std::size_t slash = name.find('/'); slash != name.npos) name.replace(slash, 1, "--");
  return name;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

}  // namespace

ModelCache::ModelCache(fs::path cache, const HubModel& model)
    : cache_(std::move(cache)), folder_(cache_ / folder_name(model.repository)), revision_(model.revision) {}

fs::path ModelCache::blob(const std::string& digest) const {
  return folder_ / "blobs" / digest;
}

fs::path ModelCache::incomplete(const std::string& digest) const {
  return folder_ / "blobs" / (digest + ".incomplete");
}

fs::path ModelCache::lock(const std::string& digest) const {
  return cache_ / ".locks" / folder_.filename() / (digest + ".lock");
}

fs::path ModelCache::snapshot(const std::string& commit) const {
  return folder_ / "snapshots" / commit;
}

std::optional<std::string> ModelCache::commit() const {
  if (is_commit(revision_)) return revision_;
  try {
    const fs::path ref = folder_ / "refs" / revision_;
    if (!is_file(ref)) return std::nullopt;
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
  // Created under a temporary name and renamed, because symlink() does not replace a file.
  fs::path temporary = link;
  temporary.replace_filename("." + file + "." + std::to_string(::getpid()) + ".link");
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) fail(link, errno);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    fail(link, error);
  }
}

void ModelCache::remember(const std::string& commit) const {
  if (is_commit(revision_) || this->commit() == commit) return;
  const fs::path ref = folder_ / "refs" / revision_;
  make_folder(ref.parent_path());
  try {
    model::write_file_atomically(ref, commit);
  } catch (const std::runtime_error& error) {
    throw HubError(error.what());
  }
}

void ModelCache::remember_absent(const std::string& commit, const std::string& file) const noexcept {
  try {
    const fs::path mark = folder_ / ".no_exist" / commit / file;
    make_folder(mark.parent_path());
    if (const int descriptor = model::open_descriptor(mark, O_WRONLY | O_CREAT); descriptor >= 0)
      ::close(descriptor);
  } catch (const std::exception&) {
  }
}

bool is_complete_model(const fs::path& folder) {
  const auto has = [&](const fs::path& name) { return is_file(folder / name); };
  if (!has("config.json") || !(has("tokenizer.json") || (has("vocab.json") && has("merges.txt"))))
    return false;
  try {
    return std::ranges::all_of(weight_files(folder), has);
  } catch (const std::exception&) {
    return false;
  }
}

bool has_size(const fs::path& file, std::uint64_t bytes) {
  std::error_code error;
  return is_file(file) && fs::file_size(file, error) == bytes && !error;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw HubError("cannot create the folder " + folder.string() + ": " + error.message());
}

FileLock::FileLock(fs::path file) : file_(std::move(file)) {
  make_folder(file_.parent_path());
  open();
}

FileLock::~FileLock() {
  close();
}

void FileLock::open() {
  descriptor_ = model::open_descriptor(file_, O_RDWR | O_CREAT);
  if (descriptor_ < 0) fail(file_, errno);
}

void FileLock::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool FileLock::try_lock() {
  int result = 0;
  do result = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  if (result != 0) return errno != EWOULDBLOCK;
  // The previous holder may have removed the file, which makes this lock useless.
  struct stat held {
  }, named{};
  if (::fstat(descriptor_, &held) == 0 && ::stat(file_.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
      held.st_dev == named.st_dev)
    return true;
  close();
  open();
  return false;
}

}  // namespace headscope::app
