#include "app/hub/fetch.h"

#include <algorithm>
#include <iomanip>
#include <ranges>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/ascii.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/config.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/tensor_source.h"
#include "model/tokens/tokenizer_files.h"
#include "system/atomic_file.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kConfig = "config.json";
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;  // of a file list
constexpr std::uint64_t kStep = 1 << 20;    // hashed at once, or received before a fault counts as the first
constexpr int kTries = 5, kFirstTries = 3;  // without anything new; the first: before the hub has answered
constexpr seconds kLongestWait{120};        // gives up if a server asks for a longer wait
constexpr milliseconds kOften{100};         // between reports of progress, and between looks at a lock

/// "models--org--name"
std::string folder_name(std::string name) {
  if (const std::size_t slash = name.find('/'); slash != name.npos) name.replace(slash, 1, "--");
  return "models--" + name;
}

/// Does what writes to a path, whose folder is made, and nothing else; its errors become HubErrors.
template <class Work>
auto write(const fs::path& path, const Work& work) {
  try {
    system::make_folders(path.parent_path());
    return work();
  } catch (const std::system_error& error) {
    throw HubError("cannot write " + system::text_of(path) + ": " + error.code().message());
  } catch (const std::runtime_error& error) {
    throw HubError(error.what());
  }
}

class Fetch {
 public:
  Fetch(const HubModel& model, const HubSettings& settings, const FetchOptions& options)
      : model_(model), cache_(settings.cache), options_(options), client_(settings, [this] { poll(); }) {}

  fs::path run() {
    listing_ = parse_listing(list(), model_);
    snapshot_ = folder_ / "snapshots" / listing_.commit;
    std::vector<std::string> names, absent;
    const auto choose = [&](const char* file) {
      const bool is_there = listing_.files.contains(file);
      (is_there ? names : absent).emplace_back(file);
      return is_there;
    };
    if (std::ranges::none_of(model::kWeightFiles, choose)) {
      const auto found = std::views::keys(listing_.files);
      throw HubError(model::no_weights(to_text(model_) + " on the hub", {found.begin(), found.end()}));
    }
    const std::string weights = names.front();
    std::ranges::for_each(model::kTokenizerFiles, choose);
    model::parse_config(text_of(kConfig, model::kMaxConfigBytes), in_model(kConfig));
    if (weights.ends_with(model::kIndexEnding))
      for (const std::string& shard :
           model::shards_of(text_of(weights, model::kMaxIndexBytes), in_model(weights))) {
        if (!shard.ends_with(".safetensors") && !shard.ends_with(".bin"))
          throw HubError(in_model(weights) + ": expected files of weights, found " + model::quote(shard));
        names.push_back(shard);
      }
    names.emplace_back(kConfig);  // last, because a folder with it counts as a model
    for (const std::string& name : names) progress_.total += facts(name).bytes;
    check_space(names);
    for (const std::string& name : names) {
      bring(name, true);
      progress_.done = before_ += facts(name).bytes;
    }
    report();
    for (const std::string& name : absent) {
      const fs::path mark = folder_ / ".no_exist" / listing_.commit / name;
      try {
        write(mark, [&] { system::File(mark, system::Open::change); });
      } catch (const HubError&) {  // a model that needs no mark may be where nothing can be written
      }
    }
    const fs::path ref = folder_ / "refs" / model_.revision;
    if (!is_commit(model_.revision) && cached_model(cache_, model_) != snapshot_)
      write(ref, [&] { system::write_file_atomically(ref, listing_.commit); });
    return snapshot_;
  }

 private:
  void poll() {
    if (Clock::now() - reported_ >= kOften) report();
    if (options_.cancelled && options_.cancelled()) throw model::Stopped();
  }

  void report() {
    reported_ = Clock::now();
    if (options_.progress) options_.progress(progress_);
  }

  /// Notes how much of the current file is done; what is done again does not count.
  void advance(std::uint64_t bytes) {
    progress_.done = std::max(progress_.done, before_ + bytes);
    poll();
  }

  void wait(milliseconds time, const std::string& why) {
    progress_.waiting = why;
    report();
    if (options_.wait) options_.wait(time);
    for (const auto end = Clock::now() + time; !options_.wait && Clock::now() < end; poll())
      std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds(50), end - Clock::now()));
    poll();
    progress_.waiting.clear();
  }

  /// Repeats an attempt after faults that may pass, as long as new bytes arrive from time to time.
  void patiently(const std::function<void()>& attempt) {
    std::uint64_t before = progress_.done;
    for (int tries = 1;; ++tries) {
      try {
        return attempt();
      } catch (const HubError& error) {
        if (!error.retry_after) throw;
        if (progress_.done - before >= kStep) tries = 1;
        before = progress_.done;
        const seconds asked = *error.retry_after;
        const int most = snapshot_.empty() && asked.count() == 0 ? kFirstTries : kTries;
        if (asked > kLongestWait)
          throw HubError(error.what() + ("; it asks to retry in " + std::to_string(asked.count()) + " s"));
        if (tries >= most)
          throw HubError(error.what() + ("; tried " + std::to_string(tries) + " times") +
                         (progress_.done > 0 ? ", and the next attempt resumes here" : ""));
        const milliseconds time = asked.count() > 0 ? asked : milliseconds(500) * (1 << tries);
        wait(time, error.what() + ("; retrying in " + std::to_string(time.count() / 1000)) + " s");
      }
    }
  }

  std::string in_model(const std::string& what) const { return what + " of " + model_.repository; }

  std::string list() {
    std::string revision = model_.revision, text;
    for (std::size_t slash; (slash = revision.find('/')) != revision.npos;) revision.replace(slash, 1, "%2F");
    patiently([&] {
      text.clear();
      const auto take = [&](std::string_view piece) {
        text += piece;
        if (text.size() > kMaxTextBytes) throw HubError("the hub's list of files is too long");
      };
      client_.get({.path = "/api/models/" + model_.repository + "/revision/" + revision + "?blobs=true",
                   .what = in_model("the list of files")},
                  take);
    });
    return text;
  }

  const FileFacts& facts(const std::string& name) const {
    const auto file = listing_.files.find(name);
    if (file == listing_.files.end() || file->second.digest.empty())
      throw HubError(to_text(model_) + " on the hub: expected " + name + " with size and hash, found none");
    return file->second;
  }

  std::string text_of(const std::string& name, std::uint64_t most) {
    if (const std::uint64_t found = facts(name).bytes; found > most)
      throw HubError(in_model(name) + ": expected at most " + bytes_text(most) + ", found " +
                     bytes_text(found));
    return model::read_file(bring(name, false), most);
  }

  fs::path blob(const FileFacts& file, const char* ending = "") const {
    return folder_ / "blobs" / (file.digest + ending);
  }

  /// Whether a file has the right size and hash. Throws model::LoadError if it cannot be read.
  bool is_right(const fs::path& path, const FileFacts& file) {
    const model::OpenFile content(path);
    if (content.size() != file.bytes) return false;
    progress_.waiting = "checking";
    report();
    system::Hash hash = hash_like(file.digest, file.bytes);
    for (std::uint64_t at = 0; at < file.bytes; at += kStep) {
      advance(at);
      hash.add(content.text(at, std::min(kStep, file.bytes - at)));
    }
    progress_.waiting.clear();
    return hash.hex() == file.digest;
  }

  /// Returns the path of a file with the right content, which is fetched if there is none. `named`: the file
  /// gets its name in the snapshot, too.
  fs::path bring(const std::string& name, bool named) {
    const FileFacts& file = facts(name);
    const fs::path place = snapshot_ / name;
    const fs::path lock_path = cache_ / ".locks" / folder_.filename() / (file.digest + ".lock");
    progress_.file = name;
    if (system::is_file(place) && is_right(place, file)) return place;
    system::File lock;
    const auto is_locked = [&] {
      lock = system::File(lock_path, system::Open::change);
      // The previous holder may have removed the file, which makes a lock on it useless.
      return lock.try_lock() && lock.is_at(lock_path);
    };
    while (!write(lock_path, is_locked)) wait(kOften, "another program is fetching it; waiting");
    if (!system::is_file(blob(file)) || !is_right(blob(file), file)) download(name, file);
    if (!named) return blob(file);
    write(place, [&] {
      system::remove_file(place);  // if it is there, its content is wrong
      system::make_link(fs::path("..") / ".." / "blobs" / file.digest, place);
    });
    return place;
  }

  /// Throws HubError if what is missing of all files does not fit on the disk.
  void check_space(const std::vector<std::string>& names) const {
    std::uint64_t missing = 0;
    for (const std::string& name : names) {
      const FileFacts& file = facts(name);
      std::uint64_t there = 0;
      for (const fs::path& path : {snapshot_ / name, blob(file), blob(file, ".incomplete")})
        if (system::is_file(path)) there = std::max(there, model::OpenFile(path).size());
      missing += file.bytes - std::min(file.bytes, there);
    }
    std::error_code error;
    if (const fs::space_info disk = fs::space(cache_, error); !error && disk.available < missing)
      throw HubError(to_text(model_) + " needs " + bytes_text(missing) + " more in " +
                     system::text_of(cache_) + ", but only " + bytes_text(disk.available) +
                     " are free; free some space, or set HF_HOME to a folder on another disk");
  }

  void download(const std::string& name, const FileFacts& file) {
    const fs::path path = blob(file, ".incomplete");
    system::File part;
    std::uint64_t size = 0;
    const auto restart = [&] { write(path, [&] { part.resize(size = 0); }); };
    write(path, [&] {
      part = system::File(path, system::Open::change_no_link);
      size = part.status().size;
    });
    for (bool resumed = size > 0;; resumed = false) {
      progress_.done = before_ + size;  // less than before, where content of the right size was wrong
      bool from_start = false;
      patiently([&] {
        if (size >= file.bytes) return;
        // What was received is kept until the whole file comes.
        bool restarts = std::exchange(from_start, false) && size > 0;
        const auto take = [&](std::string_view piece) {
          if (restarts) restart();
          restarts = false;
          if (piece.size() > file.bytes - size)
            throw HubError(in_model(name) + ": the server sent more than " + bytes_text(file.bytes));
          // At an offset, not at the end: another process that writes here without a lock writes the same.
          write(path, [&] { part.write_at(size, std::as_bytes(std::span(piece))); });
          size += piece.size();
          advance(size);
        };
        from_start =
            !client_.get({.path = "/" + model_.repository + "/resolve/" + listing_.commit + "/" + name,
                          .what = in_model(name),
                          .bytes = file.bytes,
                          .from = restarts ? 0 : size},
                         take);
        if (size != file.bytes)
          throw HubError(in_model(name) + ": the server did not send all of it", seconds(0));
      });
      write(path, [&] { part.sync(); });
      if (is_right(path, file)) break;
      restart();
      // A resumed part may have been wrong; a file fetched in one go may not.
      if (!resumed)
        throw HubError(in_model(name) + ": the download does not have the announced hash, so it was " +
                       "discarded; try again; a proxy may be altering downloads");
    }
    write(path, [&] {
      part.close();
      system::rename_over(path, blob(file));
    });
  }

  const HubModel model_;
  const fs::path cache_, folder_ = cache_ / folder_name(model_.repository);
  const FetchOptions& options_;
  HubClient client_;
  Listing listing_;
  fs::path snapshot_;         // empty: the hub has not answered yet
  std::uint64_t before_ = 0;  // bytes of completed files
  FetchProgress progress_;
  Clock::time_point reported_;
};

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  auto value = static_cast<double>(bytes);
  std::string_view units = "kMGTPE";
  while ((value /= 1000) >= 999.5) units.remove_prefix(1);
  return (std::ostringstream() << std::setprecision(3) << value << ' ' << units.front() << 'B').str();
}

std::string progress_text(const FetchProgress& progress) {
  std::string text = progress.file;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
  if (progress.total > 0)
    add(bytes_text(progress.done) + " of " + bytes_text(progress.total) + "  " +
        std::to_string(100 * progress.done / progress.total) + " %");
  if (!progress.waiting.empty()) add(progress.waiting);
  return text.empty() ? "contacting the hub" : text;
}

std::optional<fs::path> cached_model(const fs::path& cache, const HubModel& model) {
  const fs::path folder = cache / folder_name(model.repository);
  try {
    std::string commit = model.revision;
    if (!is_commit(commit)) commit = trimmed(model::read_file(folder / "refs" / commit, 4096), "\r\n");
    const fs::path snapshot = folder / "snapshots" / commit;
    if (is_commit(commit) && is_complete_model(snapshot)) return snapshot;
  } catch (const std::exception&) {  // treated as missing
  }
  return std::nullopt;
}

bool is_complete_model(const fs::path& folder) {
  const auto has = [&](const fs::path& name) { return system::is_file(folder / name); };
  const fs::path absent = folder / ".." / ".." / ".no_exist" / folder.filename();
  const auto lacks = [&](const char* name) { return system::is_file(absent / name); };
  const bool has_tokenizer = has("tokenizer.json") || (has("vocab.json") && has("merges.txt"));
  const bool has_none = lacks("tokenizer.json") && (lacks("vocab.json") || lacks("merges.txt"));
  if (!has(kConfig) || !(has_tokenizer || has_none)) return false;
  try {
    const auto* const weights = std::ranges::find_if(model::kWeightFiles, has);
    return weights != std::end(model::kWeightFiles) &&
           std::ranges::all_of(model::files_behind(folder, *weights), has);
  } catch (const std::exception&) {
    return false;
  }
}

fs::path fetch_model(const HubModel& model, const HubSettings& settings, const FetchOptions& options) {
  const auto there = cached_model(settings.cache, model);
  if (there && (settings.offline || is_commit(model.revision))) return *there;
  if (!settings.offline) return Fetch(model, settings, options).run();
  throw HubError(to_text(model) + " is incomplete in " + system::text_of(settings.cache) +
                 ", and HF_HUB_OFFLINE forbids fetching it");
}

}  // namespace headscope::app
