// Makes system calls fail. Preloaded into the program and controlled by environment variables:
//
//   FAULTY_PATH    calls for files whose path contains this text count; for a descriptor, its path in /proc
//   FAULTY_CALL    the kind of call that fails: open, create, read, write, close, sync, resize, allocate,
//                  rename, link, folder, remove, stat, list, map, thread
//   FAULTY_AT      number of the first call that fails, from 1
//   FAULTY_AGAIN   it fails again after each such number of calls; none: it fails once
//   FAULTY_HOW     an errno, "short" (half of the requested bytes) or "zero" (none)
//   FAULTY_LOG     a file that receives a line "KIND PATH" for each call that counts
//   FAULTY_HIDDEN  paths, separated by colons, below which nothing exists
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Faults {
  std::string path = variable("FAULTY_PATH"), call = variable("FAULTY_CALL"), how = variable("FAULTY_HOW"),
              log = variable("FAULTY_LOG"), hidden = variable("FAULTY_HIDDEN");
  long at = std::atol(variable("FAULTY_AT").c_str()), again = std::atol(variable("FAULTY_AGAIN").c_str());
  std::atomic<long> seen = 0;
};

Faults& faults() {
  static Faults all;
  return all;
}

/// Calls the system's own function. Returns errno instead of -1 on failure.
template <class... Arguments>
long system_call(long number, Arguments... arguments) {
  return ::syscall(number, arguments...);
}

std::string path_of(int descriptor) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long length = system_call(SYS_readlinkat, AT_FDCWD, link, path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

std::string path_at(int folder, const char* path) {
  return !path ? "" : path[0] == '/' || folder == AT_FDCWD ? path : path_of(folder) + "/" + path;
}

enum class Fate { well, error, half, nothing };

/// The fate of the next call of that kind on that file. Sets errno if it fails.
Fate fate(std::string_view kind, const std::string& path) {
  const int before = errno;
  Faults& all = faults();
  if (all.path.empty() || path.find(all.path) == std::string::npos || path == all.log) return Fate::well;
  if (!all.log.empty()) {
    const std::string line = std::string(kind) + " " + path + "\n";
    const long log = system_call(SYS_openat, AT_FDCWD, all.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    system_call(SYS_write, log, line.data(), line.size());
    system_call(SYS_close, log);
  }
  errno = before;
  if (kind != all.call) return Fate::well;
  const long now = ++all.seen;
  if (now < all.at || (now > all.at && (all.again == 0 || (now - all.at) % all.again != 0)))
    return Fate::well;
  if (all.how == "short") return Fate::half;
  if (all.how == "zero") return Fate::nothing;
  errno = std::atoi(all.how.c_str());
  return Fate::error;
}

bool is_hidden(const std::string& path) {
  const std::string& hidden = faults().hidden;
  for (std::size_t at = 0; at < hidden.size();) {
    const std::size_t end = std::min(hidden.find(':', at), hidden.size());
    if (end > at && path.starts_with(hidden.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

/// Whether a call with a path fails.
bool fails(std::string_view kind, const std::string& path) {
  if (is_hidden(path)) errno = ENOENT;
  return is_hidden(path) || fate(kind, path) == Fate::error;
}

long open_at(int folder, const char* path, int flags, mode_t mode) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0;
  if (fails(writes ? "create" : "open", path_at(folder, path))) return -1;
  return system_call(SYS_openat, folder, path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(arguments, mode_t) : 0;
}

/// Calls `transfer` with the requested number of bytes, or fewer.
template <class Transfer>
ssize_t transferred(std::string_view kind, int descriptor, std::size_t count, const Transfer& transfer) {
  switch (fate(kind, path_of(descriptor))) {
    case Fate::error:
      return -1;
    case Fate::nothing:
      return 0;
    case Fate::half:
      return transfer(count > 1 ? count / 2 : count);
    default:
      return transfer(count);
  }
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::FILE* open_stream(const char* name, const char* path, const char* mode) {
  if (fails(mode[0] == 'r' ? "open" : "create", path)) return nullptr;
  return next<std::FILE* (*)(const char*, const char*)>(name)(path, mode);
}

}  // namespace

extern "C" {

#define OPENS(name, folder, ...)                                 \
  int name(__VA_ARGS__ const char* path, int flags, ...) {       \
    va_list arguments;                                           \
    va_start(arguments, flags);                                  \
    const mode_t mode = mode_of(flags, arguments);               \
    va_end(arguments);                                           \
    return static_cast<int>(open_at(folder, path, flags, mode)); \
  }
OPENS(open, AT_FDCWD)
OPENS(open64, AT_FDCWD)
OPENS(openat, folder, int folder, )
OPENS(openat64, folder, int folder, )
#undef OPENS

std::FILE* fopen(const char* path, const char* mode) {
  return open_stream("fopen", path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  return open_stream("fopen64", path, mode);
}
DIR* opendir(const char* path) {
  return fails("open", path) ? nullptr : next<DIR* (*)(const char*)>("opendir")(path);
}
dirent* readdir(DIR* folder) {
  if (fate("list", path_of(::dirfd(folder))) == Fate::error) return nullptr;
  return next<dirent* (*)(DIR*)>("readdir")(folder);
}
dirent64* readdir64(DIR* folder) {
  if (fate("list", path_of(::dirfd(folder))) == Fate::error) return nullptr;
  return next<dirent64* (*)(DIR*)>("readdir64")(folder);
}

ssize_t read(int file, void* to, size_t count) {
  return transferred("read", file, count, [&](size_t n) { return system_call(SYS_read, file, to, n); });
}
ssize_t pread(int file, void* to, size_t count, off_t at) {
  return transferred("read", file, count,
                     [&](size_t n) { return system_call(SYS_pread64, file, to, n, at); });
}
ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));
ssize_t write(int file, const void* from, size_t count) {
  return transferred("write", file, count, [&](size_t n) { return system_call(SYS_write, file, from, n); });
}
ssize_t pwrite(int file, const void* from, size_t count, off_t at) {
  return transferred("write", file, count,
                     [&](size_t n) { return system_call(SYS_pwrite64, file, from, n, at); });
}
ssize_t pwrite64(int, const void*, size_t, off64_t) __attribute__((alias("pwrite")));
ssize_t writev(int file, const iovec* from, int count) {
  if (fate("write", path_of(file)) == Fate::error) return -1;
  return system_call(SYS_writev, file, from, count);
}

/// The file is closed even if an error is reported, as on Linux.
int close(int file) {
  const bool failed = fate("close", path_of(file)) == Fate::error;
  const int error = errno;
  const long result = system_call(SYS_close, file);
  if (failed) errno = error;
  return failed ? -1 : static_cast<int>(result);
}

int fsync(int file) {
  return fails("sync", path_of(file)) ? -1 : static_cast<int>(system_call(SYS_fsync, file));
}
int fdatasync(int file) {
  return fails("sync", path_of(file)) ? -1 : static_cast<int>(system_call(SYS_fdatasync, file));
}
int ftruncate(int file, off_t size) noexcept {
  return fails("resize", path_of(file)) ? -1 : static_cast<int>(system_call(SYS_ftruncate, file, size));
}
int ftruncate64(int, off64_t) noexcept __attribute__((alias("ftruncate")));
int posix_fallocate(int file, off_t from, off_t size) {
  return fails("allocate", path_of(file)) || system_call(SYS_fallocate, file, 0, from, size) != 0 ? errno : 0;
}
int posix_fallocate64(int, off64_t, off64_t) __attribute__((alias("posix_fallocate")));

int rename(const char* from, const char* to) noexcept {
  return fails("rename", to) ? -1
                             : static_cast<int>(system_call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (fails("link", path_at(to_folder, to))) return -1;
  return static_cast<int>(system_call(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int symlink(const char* target, const char* path) noexcept {
  return fails("link", path) ? -1 : static_cast<int>(system_call(SYS_symlinkat, target, AT_FDCWD, path));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails("folder", path) ? -1 : static_cast<int>(system_call(SYS_mkdirat, AT_FDCWD, path, mode));
}
int unlink(const char* path) noexcept {
  return fails("remove", path) ? -1 : static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, 0));
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t at) noexcept {
  if (fails("map", file < 0 ? "memory" : path_of(file))) return MAP_FAILED;
  return reinterpret_cast<void*>(system_call(SYS_mmap, address, size, protection, flags, file, at));
}
void* mmap64(void*, size_t, int, int, int, off64_t) noexcept __attribute__((alias("mmap")));
/// Operator new takes memory with it that begins at a cache line.
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails("map", "memory") ? nullptr : next<void* (*)(size_t, size_t)>("aligned_alloc")(alignment, size);
}

int stat(const char* path, struct stat* to) noexcept {
  return fails("stat", path) ? -1 : static_cast<int>(system_call(SYS_newfstatat, AT_FDCWD, path, to, 0));
}
int lstat(const char* path, struct stat* to) noexcept {
  if (fails("stat", path)) return -1;
  return static_cast<int>(system_call(SYS_newfstatat, AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW));
}
int fstat(int file, struct stat* to) noexcept {
  return fails("stat", path_of(file)) ? -1 : static_cast<int>(system_call(SYS_fstat, file, to));
}
int stat64(const char* path, struct stat64* to) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(to));
}
int lstat64(const char* path, struct stat64* to) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(to));
}
int fstat64(int file, struct stat64* to) noexcept {
  return fstat(file, reinterpret_cast<struct stat*>(to));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (fate("thread", faults().path) == Fate::error) return errno;
  return next<decltype(&pthread_create)>("pthread_create")(thread, attributes, start, argument);
}

}  // extern "C"
