#include "app/hub/fetch.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "app/hub/http.h"
#include "app/hub/hub_responses.h"
#include "app/hub/model_cache.h"
#include "app/hub/partial_file.h"
#include "model/files/config.h"
#include "model/files/error.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = TransferRate::Clock;

constexpr int kMaxRedirects = 10;
constexpr std::size_t kMaxTextBytes = std::size_t{64}
                                      << 20;  // limit of a file list, a configuration or an index
constexpr std::uint64_t kProgressBytes =
    1 << 20;  // bytes to receive before a broken connection counts as the first again
constexpr milliseconds kBetweenReports{100};
constexpr milliseconds kBetweenLocks{200};

/// A failure after which another attempt may succeed.
struct RetryableFailure {
  std::string why;  // one sentence
  std::optional<std::chrono::seconds> after = {};
};

std::uintmax_t space_at(fs::path folder) {
  std::error_code error;
  while (!system::is_there(folder) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, error);
  return error ? static_cast<std::uintmax_t>(-1) : space.available;
}

class Fetch {
 public:
  Fetch(const HubModel& model, const HubSettings& settings, const FetchOptions& options)
      : model_(model),
        settings_(settings),
        options_(options),
        cache_(settings.cache, model),
        http_({.certificates = system::text_of(settings.certificates)}) {}

  fs::path run() {
    if (const auto there = cache_.complete_snapshot();
        there && (settings_.offline || is_commit(model_.revision)))
      return *there;
    if (settings_.offline)
      throw HubError(to_text(model_) + " is incomplete in " + system::text_of(settings_.cache) +
                     ", and HF_HUB_OFFLINE forbids fetching it");
    report(true);
    const std::string list =
        "/api/models/" + model_.repository + "/revision/" + percent_encoded(model_.revision);
    const Listing listing =
        parse_listing(text_of(endpoint_url(settings_.endpoint, list), "the list of its files"), model_);
    const ChosenFiles choice = choose_files(listing, model_);
    commit_ = listing.commit;
    try {
      model::parse_config(text_of(address(kConfig), kConfig), model_.repository + "/" + kConfig);
    } catch (const model::LoadError& error) {
      throw HubError(std::string(error.what()) + ": nothing was fetched");
    }

    // config.json is last, because a folder with it counts as a model.
    std::vector<std::string> names = choice.tokenizer;
    if (choice.sharded)
      std::ranges::copy(shards_of(text_of(address(choice.weights), choice.weights), listing, model_),
                        std::back_inserter(names));
    names.push_back(choice.weights);
    names.emplace_back(kConfig);

    std::vector<File> files;
    for (const std::string& name : names) {
      File file{name, facts_of(name)};
      file.there = has_size(cache_.snapshot(commit_) / name, file.facts.bytes);
      progress_.total += file.facts.bytes;
      files.push_back(std::move(file));
    }
    check_space(files);
    for (const File& file : files) bring(file);
    for (const std::string& name : choice.absent) cache_.remember_absent(commit_, name);
    cache_.remember(commit_);
    return cache_.snapshot(commit_);
  }

 private:
  struct File {
    std::string name;
    FileFacts facts;
    bool there = false;
  };
  struct Download {
    PartialFile part;
    std::uint64_t
        furthest;  // the largest size that the part has reached; bytes received again do not count as new
    bool from_the_start = false;  // request the whole file next, because a range request got a wrong response
  };

  // --- patience

  void poll() const {
    if (options_.cancelled && options_.cancelled()) throw model::Stopped();
  }

  void report(bool now) {
    if (!options_.progress) return;
    const auto time = Clock::now();
    if (!now && reported_ && time - *reported_ < kBetweenReports) return;
    reported_ = time;
    rate_.add(time, received_);
    progress_.received = received_;
    progress_.rate = rate_.rate();
    progress_.seconds_left = rate_.seconds_left(progress_.total - std::min(progress_.done, progress_.total));
    options_.progress(progress_);
  }

  void wait(milliseconds time, const std::string& why) {
    progress_.waiting = why;
    report(true);
    if (options_.wait) {
      options_.wait(time);
      poll();
    } else {
      for (const auto until = Clock::now() + time; Clock::now() < until;) {
        poll();
        std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds(50), until - Clock::now()));
      }
    }
    progress_.waiting.clear();
  }

  /// Repeats an attempt after retryable failures, as long as new bytes arrive from time to time.
  template <class Attempt>
  auto patiently(const Attempt& attempt) {
    std::uint64_t gained_before = gained_;
    for (int tries = 1;; ++tries) {
      RetryableFailure failure;
      try {
        return attempt();
      } catch (const ConnectionError& broken) {
        if (!broken.is_retryable())
          throw HubError(settings_.endpoint.host + " cannot be reached: " + broken.what());
        failure.why = "the connection failed: " + std::string(broken.what());
      } catch (const RetryableFailure& caught) {
        failure = caught;
      }
      if (gained_ - gained_before >= kProgressBytes) tries = 1;
      gained_before = gained_;
      const bool never_heard = !heard_ && tries >= 2;  // no network: waiting does not help
      if (never_heard || tries >= options_.tries || failure.after > options_.longest_wait) {
        std::string how =
            failure.after > options_.longest_wait
                ? "; it asks to retry in " + duration_text(static_cast<double>(failure.after->count()))
                : "; tried " + std::to_string(tries) + " times";
        if (received_ > 0) how += ", and the next attempt resumes here";
        throw HubError(failure.why + how);
      }
      const milliseconds time =
          failure.after ? milliseconds(*failure.after) : milliseconds(500) * (1 << std::min(tries, 6));
      wait(time, failure.why + "; retrying in " + duration_text(std::chrono::duration<double>(time).count()));
    }
  }

  // --- asking

  /// Sends a request and follows redirects; the token is sent only to the endpoint. A redirected HEAD request
  /// is not followed if the redirect has the file's hash and size, because the content may be on another
  /// host.
  HttpResponse follow(HttpRequest request, const std::function<void(const HttpResponse&)>& begin,
                      const std::function<void(std::string_view)>& bytes) {
    auto url = parse_url(request.url);
    if (!url) throw HubError("expected a web address, found " + request.url);
    const auto headers = request.headers;
    for (int hops = 0; hops <= kMaxRedirects; ++hops) {
      request.url = url->text;
      request.headers = headers;
      request.headers.emplace_back("Accept-Encoding", "identity");
      if (!settings_.token.empty() && same_origin(*url, settings_.endpoint))
        request.headers.emplace_back("Authorization", "Bearer " + settings_.token);
      bool redirected = false;
      const HttpResponse response = http_.send(
          request,
          [&](const HttpResponse& first) {
            heard_ = true;
            redirected = first.is_redirect() && !(request.head && has_linked_headers(first));
            if (!redirected && begin) begin(first);
          },
          [&](std::string_view piece) {
            if (!redirected && bytes) bytes(piece);
          },
          options_.cancelled);
      if (!redirected) return response;
      url = redirect_target(settings_.endpoint, *url, *response.header("location"));
    }
    throw HubError(settings_.endpoint.host + " redirects more than " + std::to_string(kMaxRedirects) +
                   " times");
  }

  [[noreturn]] void reject(const HttpResponse& response, const std::string& what) const {
    const std::string why =
        status_error(response, model_, settings_.endpoint, what, !settings_.token.empty());
    if (is_retryable(response.status)) throw RetryableFailure{why, retry_after(response, std::time(nullptr))};
    throw HubError(why);
  }

  std::string text_of(const std::string& url, const std::string& what) {
    return patiently([&] {
      std::string text;
      const HttpResponse response = follow({url}, {}, [&](std::string_view piece) {
        if (text.size() + piece.size() > kMaxTextBytes)
          throw HubError(settings_.endpoint.host + " sent more than " + bytes_text(kMaxTextBytes) + " as " +
                         what);
        text += piece;
      });
      if (response.status != 200) reject(response, what);
      return text;
    });
  }

  FileFacts facts_of(const std::string& file) {
    return patiently([&] {
      const HttpResponse response = follow({.url = address(file), .head = true}, {}, {});
      if (response.status != 200 && !response.is_redirect()) reject(response, file);
      const std::string* commit = response.header("x-repo-commit");
      const auto facts = file_facts(response);
      if (!facts || (commit && *commit != commit_))
        throw HubError(settings_.endpoint.host + ": asked about " + file + " of " + model_.repository +
                       ", expected its hash and size" + (facts ? " at commit " + commit_ : "") +
                       (facts ? ", found another commit's" : ", found none"));
      return *facts;
    });
  }

  std::string address(const std::string& file) const {
    return endpoint_url(settings_.endpoint,
                        "/" + model_.repository + "/resolve/" + commit_ + "/" + percent_encoded(file));
  }

  // --- bringing

  void check_space(const std::vector<File>& files) const {
    std::uint64_t needed = 0;
    for (const File& file : files) {
      if (file.there) continue;
      std::error_code error;
      const std::uintmax_t received = fs::file_size(cache_.incomplete(file.facts.digest), error);
      needed += file.facts.bytes - (error ? 0 : std::min<std::uintmax_t>(received, file.facts.bytes));
    }
    const std::uintmax_t free =
        options_.free_space ? options_.free_space(settings_.cache) : space_at(settings_.cache);
    if (needed > free)
      throw HubError(model_.repository + " needs " + bytes_text(needed) + " more in " +
                     system::text_of(settings_.cache) + ", but only " + bytes_text(free) +
                     " are free; free some space, or set HF_HOME to a folder on another disk");
  }

  void bring(const File& file) {
    progress_.file = file.name;
    progress_.done = before_;
    report(true);
    if (!file.there) {
      FileLock lock(cache_.lock(file.facts.digest));
      while (!lock.try_lock()) wait(kBetweenLocks, "another program is fetching it; waiting");
      if (!has_size(cache_.blob(file.facts.digest), file.facts.bytes)) download(file);
      cache_.link(commit_, file.name, file.facts.digest);
    }
    before_ += file.facts.bytes;
    progress_.done = before_;
    report(true);
  }

  void download(const File& file) {
    make_folder(cache_.folder() / "blobs");
    Download download{.part{cache_.incomplete(file.facts.digest), file.facts, [&] { poll(); }},
                      .furthest = 0};
    PartialFile& part = download.part;
    for (bool resumed = part.size() > 0;; resumed = false) {
      progress_.done = before_ + part.size();
      download.furthest = part.size();
      patiently([&] { download_rest(file, download); });
      if (part.finish(cache_.blob(file.facts.digest))) return;
      // A resumed part may have been wrong; a file fetched in one go may not.
      if (!resumed)
        throw HubError(file.name + " of " + model_.repository + ": the download has a different hash than " +
                       settings_.endpoint.host + " announced (" + file.facts.digest.substr(0, 12) +
                       "...), so it was discarded; try again; a proxy may be altering downloads");
    }
  }

  /// Drops the received part only for a response that may be the complete file. Other responses may be
  /// temporary, and the part may have gigabytes.
  void download_rest(const File& file, Download& download) {
    PartialFile& part = download.part;
    if (part.is_complete()) return;
    HttpRequest request{address(file.name)};
    const bool rest = part.size() > 0 && !download.from_the_start;
    if (rest) request.headers.emplace_back("Range", "bytes=" + std::to_string(part.size()) + "-");
    const auto begin = [&](const HttpResponse& response) {
      if (response.status == 200) {
        if (!may_be_complete(response, file.facts.bytes))
          throw RetryableFailure{"received something other than the " + std::to_string(file.facts.bytes) +
                                 " bytes of " + file.name + ", perhaps a proxy's error page"};
        if (part.size() > 0) part.restart();  // the server does not support ranges, or none was requested
        download.from_the_start = false;
      } else if (response.status == 206) {
        if (!rest || range_start(response, file.facts.bytes) != part.size()) {
          download.from_the_start = true;
          throw RetryableFailure{settings_.endpoint.host + " sent a different part of " + file.name +
                                 " than requested"};
        }
      } else if (response.status == 416) {
        download.from_the_start = true;
        throw RetryableFailure{settings_.endpoint.host + " does not have the requested part of " + file.name};
      } else {
        reject(response, file.name);
      }
    };
    const auto take = [&](std::string_view piece) {
      try {
        part.append(piece);
      } catch (const HubError& error) {
        throw HubError(file.name + " of " + model_.repository + ": " + error.what());
      }
      received_ += piece.size();
      if (part.size() > download.furthest)
        gained_ += part.size() - std::exchange(download.furthest, part.size());
      progress_.done = before_ + part.size();
      report(false);
    };
    follow(request, begin, take);
    if (!part.is_complete())
      throw RetryableFailure{"the connection ended after " + std::to_string(part.size()) + " of " +
                             std::to_string(file.facts.bytes) + " bytes of " + file.name};
  }

  HubModel model_;
  const HubSettings& settings_;
  const FetchOptions& options_;
  ModelCache cache_;
  HttpClient http_;
  std::string commit_;
  bool heard_ = false;          // whether the server has ever responded
  std::uint64_t received_ = 0;  // bytes of files received in this fetch
  std::uint64_t gained_ = 0;    // number of these bytes that are new
  FetchProgress progress_;
  std::uint64_t before_ = 0;  // bytes of completed files
  TransferRate rate_;
  std::optional<Clock::time_point> reported_;
};

}  // namespace

fs::path fetch_model(const HubModel& model, const HubSettings& settings, const FetchOptions& options) {
  return Fetch(model, settings, options).run();
}

}  // namespace headscope::app
