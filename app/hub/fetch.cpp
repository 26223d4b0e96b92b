#include "app/hub/fetch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "app/ascii.h"
#include "app/hub/hub_responses.h"
#include "app/hub/model_cache.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/config.h"
#include "model/files/error.h"
#include "model/files/file_io.h"
#include "model/files/quote.h"
#include "system/file.h"
#include "system/path_text.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxTextBytes = std::size_t{64}
                                      << 20;  // limit of a file list, a configuration or an index
constexpr std::uint64_t kProgressBytes =
    1 << 20;               // bytes to receive before a broken connection counts as the first again
constexpr int kTries = 5;  // attempts for one file without receiving anything new
constexpr std::chrono::seconds kLongestWait{120};  // gives up if a server asks for a longer wait
constexpr milliseconds kBetweenReports{100};
constexpr milliseconds kBetweenLocks{200};

constexpr const char* kEndpoint = "https://huggingface.co";

std::string token_of(const Environment& environment) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto token = environment(name)) return std::string(trimmed(*token, kBlanks));
  fs::path file;
  if (const auto path = environment("HF_TOKEN_PATH")) {
    file = system::path_of(*path);
  } else if (const auto home = hugging_face_home(environment)) {
    file = *home / "token";
  }
  if (!system::is_file(file)) return {};
  return std::string(trimmed(model::read_file(file, 1 << 16), kBlanks));
}

bool switched_on(const Environment& environment, const char* name) {
  const std::string value = lowered(environment(name).value_or(""));
  return value == "1" || value == "on" || value == "yes" || value == "true";
}

std::string printed(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// A failure after which another attempt may succeed.
struct RetryableFailure {
  std::string why;                // one sentence
  std::chrono::seconds after{0};  // how long the server asks to wait
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
        http_(system::text_of(settings.certificates)) {}

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
      std::ranges::copy(
          shards_of(text_of(address(choice.weights), choice.weights), choice.weights, listing, model_),
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

  // --- patience

  void poll() const {
    if (options_.cancelled && options_.cancelled()) throw model::Stopped();
  }

  void report(bool now) {
    if (!options_.progress) return;
    const auto time = Clock::now();
    if (!now && reported_ && time - *reported_ < kBetweenReports) return;
    reported_ = time;
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
    const std::string failed_at_host = "asking " + settings_.endpoint.host + " failed: ";
    std::uint64_t furthest_before = furthest_;
    for (int tries = 1;; ++tries) {
      RetryableFailure failure;
      try {
        return attempt();
      } catch (const ConnectionError& broken) {
        if (!broken.is_retryable()) throw HubError(failed_at_host + broken.what());
        failure.why = failed_at_host + broken.what();
      } catch (const RetryableFailure& caught) {
        failure = caught;
      }
      if (furthest_ - furthest_before >= kProgressBytes) tries = 1;
      furthest_before = furthest_;
      const bool never_heard = !heard_ && tries >= 2;  // no network: waiting does not help
      if (never_heard || tries >= kTries || failure.after > kLongestWait) {
        std::string how = failure.after > kLongestWait
                              ? "; it asks to retry in " + std::to_string(failure.after.count()) + " s"
                              : "; tried " + std::to_string(tries) + " times";
        if (progress_.received > 0) how += ", and the next attempt resumes here";
        throw HubError(failure.why + how);
      }
      const milliseconds time =
          failure.after.count() > 0 ? failure.after : milliseconds(500) * (1 << std::min(tries, 6));
      wait(time, failure.why + "; retrying in " +
                     printed("%.0f s", std::ceil(std::chrono::duration<double>(time).count())));
    }
  }

  // --- asking

  /// Asks the endpoint, with the token.
  HttpResponse ask(HttpRequest request, const std::function<void(const HttpResponse&)>& begin,
                   const std::function<void(std::string_view)>& bytes) {
    request.headers.emplace_back("Accept-Encoding: identity");
    if (!settings_.token.empty()) request.headers.push_back("Authorization: Bearer " + settings_.token);
    const auto heard = [&](const HttpResponse& response) {
      heard_ = true;
      if (begin) begin(response);
    };
    return http_.send(request, heard, bytes, options_.cancelled);
  }

  [[noreturn]] void reject(const HttpResponse& response, const std::string& what) const {
    const std::string why =
        status_error(response, model_, settings_.endpoint, what, !settings_.token.empty());
    if (is_retryable(response.status)) throw RetryableFailure{why, response.retry_after};
    throw HubError(why);
  }

  std::string text_of(const std::string& url, const std::string& what) {
    return patiently([&] {
      std::string text;
      const HttpResponse response = ask({url}, {}, [&](std::string_view piece) {
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
      const HttpResponse response = ask({.url = address(file), .head = true}, {}, {});
      if (response.status != 200 && response.status / 100 != 3) reject(response, file);
      const std::string* commit = response.header("x-repo-commit");
      const auto facts = file_facts(response);
      if (!facts || (commit && *commit != commit_))
        throw HubError(settings_.endpoint.host + ": asked about " + file + " of " + model_.repository +
                       ", expected its hash and size at commit " + commit_ +
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
    const std::uintmax_t free = space_at(settings_.cache);
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
    PartialFile part(cache_.incomplete(file.facts.digest), file.facts, [&] { poll(); });
    bool from_the_start = false;
    for (bool resumed = part.size() > 0;; resumed = false) {
      progress_.done = before_ + part.size();
      furthest_ = part.size();
      patiently([&] { download_rest(file, part, from_the_start); });
      if (part.finish(cache_.blob(file.facts.digest))) return;
      // A resumed part may have been wrong; a file fetched in one go may not.
      if (!resumed)
        throw HubError(file.name + " of " + model_.repository + ": the download has a different hash than " +
                       settings_.endpoint.host + " announced (" + file.facts.digest.substr(0, 12) +
                       "...), so it was discarded; try again; a proxy may be altering downloads");
    }
  }

  /// Drops the received part only for a response that may be the complete file. Other responses may be
  /// temporary, and the part may have gigabytes. After a wrong response to a request for the rest, the whole
  /// file is requested.
  void download_rest(const File& file, PartialFile& part, bool& from_the_start) {
    if (part.is_complete()) return;
    HttpRequest request{address(file.name)};
    const bool rest = part.size() > 0 && !from_the_start;
    if (rest) request.headers.push_back("Range: bytes=" + std::to_string(part.size()) + "-");
    const auto begin = [&](const HttpResponse& response) {
      if (response.status == 200) {
        if (!may_be_complete(response, file.facts.bytes))
          throw RetryableFailure{"received something other than the " + std::to_string(file.facts.bytes) +
                                 " bytes of " + file.name + ", perhaps a proxy's error page"};
        if (part.size() > 0) part.restart();  // the server does not support ranges, or none was requested
        from_the_start = false;
      } else if (response.status == 416 ||
                 (response.status == 206 &&
                  (!rest || range_start(response, file.facts.bytes) != part.size()))) {
        from_the_start = true;
        throw RetryableFailure{settings_.endpoint.host + " did not send the requested part of " + file.name};
      } else if (response.status != 206) {
        reject(response, file.name);
      }
    };
    const auto take = [&](std::string_view piece) {
      try {
        part.append(piece);
      } catch (const HubError& error) {
        throw HubError(file.name + " of " + model_.repository + ": " + error.what());
      }
      progress_.received += piece.size();
      furthest_ = std::max(furthest_, part.size());
      progress_.done = before_ + part.size();
      report(false);
    };
    ask(request, begin, take);
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
  std::uint64_t furthest_ = 0;  // the largest size of the part; bytes received again do not count as new
  FetchProgress progress_;
  std::uint64_t before_ = 0;  // bytes of completed files
  std::optional<Clock::time_point> reported_;
};

}  // namespace

HubSettings hub_settings(const Environment& environment) {
  HubSettings settings;
  std::string endpoint(trimmed(environment("HF_ENDPOINT").value_or(kEndpoint), kBlanks));
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const auto url = parse_url(endpoint);
  if (!url || url->text.find('?') != std::string::npos)
    throw HubError("HF_ENDPOINT: expected an address like " + std::string(kEndpoint) + ", found " +
                   (endpoint.find('@') == endpoint.npos ? model::quote(endpoint)
                                                        : "one with a user name or a password in it"));
  settings.endpoint = *url;
  settings.token = token_of(environment);
  if (std::ranges::any_of(settings.token, [](unsigned char c) { return c <= 0x20 || c >= 0x7f; }))
    throw HubError(
        "the token for the Hugging Face hub (HF_TOKEN or the token file) contains invalid characters");
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const auto file = environment(name); file && settings.certificates.empty())
      settings.certificates = system::path_of(*file);
  settings.offline =
      switched_on(environment, "HF_HUB_OFFLINE") || switched_on(environment, "TRANSFORMERS_OFFLINE");
  const auto cache = hugging_face_cache(environment);
  if (!cache) throw HubError("there is no folder for models: set HF_HOME, or HOME");
  std::error_code error;
  settings.cache = fs::absolute(*cache, error);
  if (error) settings.cache = *cache;
  return settings;
}

std::string endpoint_url(const Url& endpoint, const std::string& path) {
  std::string text = endpoint.text;
  while (text.ends_with('/')) text.pop_back();
  return text + path;
}

std::string bytes_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  if (value < 999.5e3) return printed("%.0f kB", value / 1e3);
  if (value < 99.95e6) return printed("%.1f MB", value / 1e6);
  if (value < 999.5e6) return printed("%.0f MB", value / 1e6);
  return printed("%.2f GB", value / 1e9);
}

std::string progress_text(const FetchProgress& progress) {
  std::string text = progress.file;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "  ") + part; };
  if (progress.total > 0) {
    add(bytes_text(progress.done) + " of " + bytes_text(progress.total));
    add(std::to_string(100 * progress.done / progress.total) + " %");
  }
  if (!progress.waiting.empty()) add(progress.waiting);
  return text.empty() ? "contacting the hub" : text;
}

fs::path fetch_model(const HubModel& model, const HubSettings& settings, const FetchOptions& options) {
  return Fetch(model, settings, options).run();
}

}  // namespace headscope::app
