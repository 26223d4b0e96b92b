// Fetching from a hub on the loopback that behaves well or badly, or is not the hub, and in parts.
#include <thread>

#include "tests/app/hub/fetch_fixture.h"

namespace headscope::app::fetch_test {
namespace {

TEST_F(HubFetch, BringsAWholeModelInTheCachesLayout) {
  const fs::path snapshot = fetch();
  expect_whole(snapshot);
  EXPECT_THAT(names(fs::path("snapshots") / FakeHub::kCommit),
              ElementsAre("config.json", "merges.txt", "model.safetensors", "vocab.json"));
  EXPECT_EQ(bytes_of_file(folder() / "refs/main"), FakeHub::kCommit);
  EXPECT_THAT(
      names(fs::path(".no_exist") / FakeHub::kCommit),
      ElementsAre("added_tokens.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"));
  EXPECT_EQ(names("blobs").size(), 4U);
  EXPECT_THAT(waits_, IsEmpty());
  EXPECT_THAT(discover_models(cache_.path()), ElementsAre(DiscoveredModel{FakeHub::kName, snapshot}));
}

TEST_F(HubFetch, ATokenGoesToTheEndpointAlone) {
  fetch();
  for (const WebRequest& request : hub_.hub_server().requests())
    EXPECT_EQ(request.header("authorization"), "Bearer hf_secret") << request.target;
  ASSERT_THAT(hub_.store_server().requests(), Not(IsEmpty()));
  for (const WebRequest& request : hub_.store_server().requests()) {
    EXPECT_EQ(request.header("authorization"), "") << request.target;
    for (const auto& [name, value] : request.headers) EXPECT_THAT(value, Not(HasSubstr("hf_secret"))) << name;
    EXPECT_THAT(request.target, Not(HasSubstr("hf_secret")));
  }
  for (const auto& entry : fs::recursive_directory_iterator(cache_.path())) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("hf_secret")));
    if (entry.is_regular_file()) {
      EXPECT_THAT(bytes_of_file(entry.path()), Not(HasSubstr("hf_secret"))) << entry.path();
    }
  }
}

TEST_F(HubFetch, ATokenIsWithheldFromAnotherPortAndAPasswordFromEverybody) {
  const std::string there = ":" + std::to_string(hub_.store_server().port()) + "/list";
  answer_all({.status = 302, .headers = {{"Location", "http://user:word@localhost" + there}}});
  EXPECT_THAT(refused(), Not(HasSubstr("word")));
  EXPECT_THAT(hub_.store_server().requests(), IsEmpty());
  EXPECT_THAT(waits_, IsEmpty());
  answer_all({.status = 307, .headers = {{"Location", "http://127.0.0.1" + there}}});
  refused();
  ASSERT_EQ(hub_.store_server().requests().size(), 1U);
  EXPECT_EQ(hub_.store_server().requests()[0].header("authorization"), "");
}

TEST_F(HubFetch, ARenamedModelIsFollowedOnTheSameHost) {
  const std::string old_list = "/api/models/some-org/old/revision/main";
  hub_.answer_first([&](const WebRequest& request) -> std::optional<WebReply> {
    const std::size_t old = request.target.find("some-org/old");
    if (old == std::string::npos) return std::nullopt;
    std::string target = request.target;
    return WebReply{
        .status = 307, .headers = {{"Location", target.replace(old, 12, FakeHub::kName)}}, .body = "moved"};
  });
  const fs::path snapshot = fetch_model({"some-org/old", "main"}, settings_, options_);
  EXPECT_TRUE(is_complete_model(snapshot));
  EXPECT_THAT(snapshot.string(), HasSubstr("models--some-org--old"));
  EXPECT_EQ(hub_.hub_server().requests()[1].header("authorization"), "Bearer hf_secret");
}

TEST_F(HubFetch, AWholePinnedCommitNeedsNobody) {
  fetch(FakeHub::kCommit);
  hub_.forget_requests();
  EXPECT_EQ(fetch(FakeHub::kCommit), snapshot());
  EXPECT_THAT(hub_.hub_server().requests(), IsEmpty());
}

TEST_F(HubFetch, NothingIsFetchedOrWrittenToAWholeCache) {
  fetch();
  cache_.write(folder() / "refs/main", hub_.commit + "\n");
  fs::remove_all(folder() / ".no_exist");
  cache_.write(folder() / ".no_exist", "no folder can be here");
  hub_.forget_requests();
  expect_whole(fetch());
  EXPECT_THAT(hub_.store_server().requests(), IsEmpty());
  EXPECT_EQ(hub_.gets_of("vocab.json"), 0);
  EXPECT_EQ(bytes_of_file(folder() / "refs/main"), hub_.commit + "\n");
}

TEST_F(HubFetch, WhatIsThereAndWrongIsFetchedAgain) {
  fetch();
  std::string damaged = weights();
  damaged[1000] = static_cast<char>(damaged[1000] ^ 1);
  cache_.write(blob("model.safetensors"), damaged);
  fs::resize_file(blob("vocab.json"), 100);
  fs::remove(snapshot() / "merges.txt");
  cache_.write(snapshot() / "merges.txt", "a copy");
  hub_.forget_requests();
  expect_whole(fetch());
  EXPECT_EQ(hub_.gets_of("merges.txt"), 0) << "its blob is right";
}

TEST_F(HubFetch, ANewCommitTakesOnlyWhatChanged) {
  const fs::path first = fetch();
  hub_.forget_requests();
  hub_.commit = std::string(40, 'c');
  hub_.files["vocab.json"] += "\n";
  const fs::path second = fetch();
  EXPECT_NE(first, second);
  expect_whole(second);
  EXPECT_EQ(hub_.gets_of("vocab.json"), 1);
  EXPECT_EQ(hub_.gets_of("merges.txt"), 0);
  EXPECT_THAT(hub_.store_server().requests(), IsEmpty());
  EXPECT_TRUE(is_complete_model(first)) << "who has it open goes on";
  EXPECT_EQ(bytes_of_file(folder() / "refs/main"), hub_.commit);
}

TEST_F(HubFetch, WhatAModelIsLoadedFromComesAndNothingElse) {
  const auto at_hub = hub_.files;
  const auto expect_files = [&](const std::set<std::string>& files) {
    expect_whole(fetch());
    EXPECT_EQ(names(fs::path("snapshots") / FakeHub::kCommit), files);
    fs::remove_all(folder());
    hub_.files = at_hub;
  };
  hub_.cut_into_shards();
  expect_files({"config.json", "merges.txt", "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors", "model.safetensors.index.json", "vocab.json"});
  hub_.files.erase("model.safetensors");
  expect_files({"config.json", "merges.txt", "pytorch_model.bin", "vocab.json"});
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) hub_.files.erase(name);
  hub_.files["pytorch_model-1.bin"] = hub_.files["pytorch_model-2.bin"] = "weights";
  hub_.files["pytorch_model.bin.index.json"] =
      R"({"weight_map":{"a":"pytorch_model-1.bin","b":"pytorch_model-2.bin"}})";
  expect_files({"config.json", "merges.txt", "pytorch_model-1.bin", "pytorch_model-2.bin",
                "pytorch_model.bin.index.json", "vocab.json"});
  for (const char* name : {"vocab.json", "merges.txt"}) hub_.files.erase(name);
  expect_files({"config.json", "model.safetensors"});
  for (const char* name :
       {"added_tokens.json", "special_tokens_map.json", "tokenizer_config.json", "generation_config.json"})
    hub_.files[name] = "{}";
  expect_files({"added_tokens.json", "config.json", "merges.txt", "model.safetensors",
                "special_tokens_map.json", "tokenizer_config.json", "vocab.json"});
}

TEST_F(HubFetch, OnlyWhatMayPassIsTriedAgain) {
  for (const int status : {201, 206, 300, 401, 403, 404, 418}) {
    answer_all({.status = status, .body = "<html>"});
    EXPECT_THAT(refused(), HasSubstr(std::to_string(status)));
  }
  EXPECT_THAT(waits_, IsEmpty());
  answer_all({.status = 503});
  refused();
  EXPECT_EQ(waits_.size(), 2U);
  EXPECT_THAT(names("blobs"), Not(Contains(HasSubstr("incomplete"))));
}

TEST_F(HubFetch, NoByteOfAServerDisturbsTheTerminal) {
  answer_all({.status = 302,
              .headers = {{"Location",
                           "http://x\xc2\x9b"
                           "31m.invalid/"}}});
  std::string reported;
  options_.progress = [&](const FetchProgress& progress) { reported += progress_text(progress); };
  reported += refused();
  EXPECT_THAT(reported, HasSubstr("127.0.0.1"));
  EXPECT_TRUE(std::ranges::all_of(reported, [](char c) { return c >= 0x20 && c < 0x7f; })) << reported;
}

TEST_F(HubFetch, WaitsAsLongAsItIsAskedToButNotForHours) {
  answer_all({.status = 429, .headers = {{"Retry-After", "7200"}}});
  EXPECT_THAT(refused(), HasSubstr("7200 s"));
  EXPECT_THAT(waits_, IsEmpty());
  std::atomic<int> left = 2;
  hub_.answer_first([&](const WebRequest&) -> std::optional<WebReply> {
    if (left-- <= 0) return std::nullopt;
    return WebReply{.status = 429, .headers = {{"Retry-After", "7"}}};
  });
  std::vector<std::string> reported;
  options_.progress = [&](const FetchProgress& progress) { reported.push_back(progress.waiting); };
  expect_whole(fetch());
  EXPECT_THAT(waits_, ElementsAre(milliseconds(7000), milliseconds(7000)));
  EXPECT_THAT(reported, Contains(HasSubstr("retrying in 7 s")));
}

TEST_F(HubFetch, NobodyThereIsToldSoon) {
  const int port = LoopbackServer([](const WebRequest&) { return WebReply{}; }).port();  // closed again
  settings_.endpoint = "http://127.0.0.1:" + std::to_string(port);
  refused();
  EXPECT_EQ(waits_.size(), 2U);
}

TEST_F(HubFetch, SomebodyElseIsNotTakenForTheHub) {
  for (const WebReply& reply :
       {WebReply{.body = "<html>Please log in to this network</html>"}, WebReply{.body = "{}"},
        WebReply{.status = 302, .headers = {{"Location", "ftp://elsewhere/"}}},
        WebReply{.status = 302, .headers = {{"Location", "/api/again"}}},
        WebReply{.status = 302, .headers = {{"Location", "file:///etc/passwd"}}},
        WebReply{.raw = "SSH-2.0-OpenSSH\r\n"}, WebReply{.raw = "HTTP/1.1 200 Fine\r\n\r\n"},
        WebReply{.raw = "HTTP/1.1 999999 x\r\n\r\n"},
        WebReply{.raw = "HTTP/1.1 200 Fine\r\nX: " + std::string(400'000, 'x') + "\r\n\r\n"}}) {
    answer_all(reply);
    refused();
  }
  EXPECT_THAT(names("."), IsEmpty());
}

TEST_F(HubFetch, OnlyAFileThatIsNeededHasToBeIdentified) {
  for (const char* file : {"README.md", "merges.txt"}) {
    std::string list = hub_.listing();
    list.replace(list.find(digest(file)), 40, "unknown");
    answer("?blobs=true", {.body = list});
    if (file == std::string("README.md"))
      expect_whole(fetch());
    else
      EXPECT_THAT(refused(), HasSubstr("merges.txt"));
  }
}

TEST_F(HubFetch, AnotherKindOfModelIsRefusedBeforeItsWeights) {
  hub_.files["config.json"] = R"({"model_type":"llama","n_layer":2})";
  EXPECT_THAT(refused(), HasSubstr("llama"));
  EXPECT_EQ(hub_.gets_of("model.safetensors"), 0);
  EXPECT_THAT(discover_models(cache_.path()), IsEmpty());
}

TEST_F(HubFetch, AllOfItHasToFitOnTheDisk) {
  hub_.cut_into_shards();
  std::string list = hub_.listing();
  const std::uint64_t most = fs::space(cache_.path()).available / 10 * 6;  // either shard fits alone
  for (const char* shard : {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
    const std::string size = "\"size\":" + std::to_string(hub_.files.at(shard).size());
    list.replace(list.find(size, list.find(shard)), size.size(), "\"size\":" + std::to_string(most));
  }
  answer("?blobs=true", {.body = list});
  EXPECT_THAT(refused(), HasSubstr("are free"));
  EXPECT_THAT(hub_.store_server().requests(), IsEmpty());
}

TEST_F(HubFetch, OfflineTakesWhatIsThereAndAsksNobody) {
  settings_.offline = true;
  EXPECT_THAT(refused(), HasSubstr("HF_HUB_OFFLINE"));
  EXPECT_THAT(hub_.hub_server().requests(), IsEmpty());
  settings_.offline = false;
  const fs::path snapshot = fetch();
  hub_.forget_requests();
  settings_.offline = true;
  EXPECT_EQ(fetch(), snapshot);
  EXPECT_THAT(hub_.hub_server().requests(), IsEmpty());
}

TEST_F(HubFetch, CancelledKeepsWhatCameAndGoesOnFromThere) {
  from_store([](WebReply& reply) { reply.stall = 60'000; });
  std::atomic<bool> cancelled = false;
  options_.cancelled = [&] { return cancelled.load(); };
  options_.progress = [&](const FetchProgress& progress) {
    cancelled = cancelled || (progress.file == "model.safetensors" && progress.done > 0);
  };
  EXPECT_THROW(fetch(), model::Stopped);
  EXPECT_FALSE(fs::exists(blob("model.safetensors")));
  const std::string came = bytes_of_file(part());
  EXPECT_TRUE(weights().starts_with(came));

  cancelled = false;
  options_.progress = {};
  expect_whole_again();
  EXPECT_THAT(ranges_at_store(),
              ElementsAre(came.empty() ? "" : "bytes=" + std::to_string(came.size()) + "-"));
}

TEST_F(HubFetch, TwoAtOnceFetchEachFileOnce) {
  std::atomic<int> lists = 0;
  hub_.answer_first(
      [&](const WebRequest& request) -> std::optional<WebReply> {
        lists += request.target.starts_with("/api/");
        lists.notify_all();
        return std::nullopt;
      },
      [&](const WebRequest&) -> std::optional<WebReply> {
        for (int asked = lists; asked < 2; asked = lists) lists.wait(asked);  // until both want the weights
        return std::nullopt;
      });
  options_.wait = {};
  std::thread other([&] { fetch(); });
  const fs::path snapshot = fetch();
  other.join();
  expect_whole(snapshot);
  EXPECT_EQ(hub_.store_server().requests().size(), 1U);
  EXPECT_EQ(hub_.gets_of("merges.txt"), 1);
}

TEST_F(HubFetch, WaitsForAnotherProgramAndSaysSo) {
  cache_.write(lock("model.safetensors"), "");
  std::optional<system::File> other(std::in_place, lock("model.safetensors"), system::Open::change);
  ASSERT_TRUE(other->try_lock());
  std::vector<std::string> reported;
  options_.progress = [&](const FetchProgress& progress) { reported.push_back(progress.waiting); };
  options_.wait = [&](milliseconds) {
    fs::remove(lock("model.safetensors"));  // as some programs do when they release it
    other.reset();
  };
  expect_whole(fetch());
  EXPECT_THAT(reported, Contains(HasSubstr("another program")));
}

TEST_F(HubFetch, ProgressGoesUpToTheWhole) {
  std::vector<FetchProgress> reported;
  options_.progress = [&](const FetchProgress& progress) { reported.push_back(progress); };
  fetch();
  std::uint64_t whole = 0;
  for (const char* file : {"config.json", "vocab.json", "merges.txt", "model.safetensors"})
    whole += hub_.files.at(file).size();
  EXPECT_EQ(reported.back().done, whole);
  EXPECT_EQ(reported.back().total, whole);
  EXPECT_TRUE(std::ranges::is_sorted(reported, {}, &FetchProgress::done));
  EXPECT_THAT(reported, Contains(::testing::Field(&FetchProgress::waiting, "checking")));
  reported.clear();
  fetch();
  EXPECT_EQ(reported.back().done, whole) << "what was there counts";
}

TEST_F(HubFetch, ASlowAnswerEnds) {
  settings_.patience = milliseconds(50);
  for (const char* file : {"?blobs=true", "config.json"}) {
    waits_.clear();
    answer(file, {.body = hub_.files.at("config.json"), .stall = 1});
    EXPECT_THAT(refused(), HasSubstr("imeout"));
    EXPECT_GT(waits_.size(), 0U);
  }
}

TEST_F(HubFetch, AProxyOfTheEnvironmentIsAsked) {
  LoopbackServer proxy([](const WebRequest&) { return WebReply{.status = 404}; });
  set_variable("http_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
  settings_.endpoint = "http://hub.example";
  refused();
  unset_variable("http_proxy");
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_EQ(proxy.requests()[0].target,
            "http://hub.example/api/models/some-org/tiny-gpt2/revision/main?blobs=true");
}

TEST_F(HubFetch, AProxysFaultThatMayPassIsTriedAgain) {
  settings_.endpoint = "https://hub.example";
  for (const auto& [status, waits] : {std::pair(403, 0U), std::pair(503, 2U)}) {
    LoopbackServer proxy([status = status](const WebRequest&) { return WebReply{.status = status}; });
    set_variable("https_proxy", "http://127.0.0.1:" + std::to_string(proxy.port()));
    EXPECT_THAT(refused(), HasSubstr(std::to_string(status)));
    EXPECT_EQ(waits_.size(), waits);
  }
  unset_variable("https_proxy");
}

TEST_F(HubFetch, AProxysPasswordIsNeverShown) {
  settings_.endpoint = "http://hub.example";
  LoopbackServer proxy([](const WebRequest&) { return WebReply{.status = 407}; });
  const std::string good = "http://user:pass-word@127.0.0.1:" + std::to_string(proxy.port());
  for (const std::string& url : {good, std::string("nonsense://user:pass-word@127.0.0.1:1"), good + "99999",
                                 std::string("http://user:pass-word@no.such.host.invalid"),
                                 std::string("http://user:pass-word@[bad"), std::string("user:pass-word")}) {
    set_variable("http_proxy", url);
    EXPECT_THAT(refused(), Not(HasSubstr("pass-word"))) << url;
  }
  unset_variable("http_proxy");
}

TEST_F(HubFetch, GoesOnWhereverTheConnectionBroke) {
  const std::size_t size = weights().size();
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, size / 2, size - 1}) {
    SCOPED_TRACE(at);
    hub_.forget_requests();
    from_store([&](WebReply& reply) { reply.cut_content = at; }, true);
    expect_fetched();
    EXPECT_THAT(ranges_at_store(), Contains(at == 0 ? "" : "bytes=" + std::to_string(at) + "-"));
  }
}

TEST_F(HubFetch, GivesUpWhenItAlwaysBreaksAndGoesOnTheNextTime) {
  from_store([](WebReply& reply) { reply.cut_content = 1000; });
  EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
  EXPECT_EQ(waits_.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(waits_));
  expect_part_kept(5000);
  EXPECT_FALSE(fs::exists(snapshot() / "model.safetensors"));
  EXPECT_FALSE(fs::exists(snapshot() / "config.json")) << "nobody takes it for a model";
  EXPECT_FALSE(fs::exists(folder() / "refs/main"));

  expect_whole_again();
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=5000-"));
}

TEST_F(HubFetch, WhatIsThereAndWrongIsNoProgress) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  hub_.files["model.safetensors"] = std::string(10 * kStep, 'w');
  from_store([&](WebReply& reply) { reply.cut_content = kStep; });
  for (const fs::path& wrong : {blob("model.safetensors"), part()}) {
    SCOPED_TRACE(wrong);
    fs::remove_all(folder());
    cache_.write(wrong, std::string(10 * kStep, 'x'));
    std::vector<std::uint64_t> done;
    options_.progress = [&](const FetchProgress& progress) {
      if (progress.waiting.find("retrying") != std::string::npos) done.push_back(progress.done);
    };
    expect_whole(fetch());
    ASSERT_EQ(done.size(), 9U);
    EXPECT_EQ(done.front(), kStep);
  }
}

TEST_F(HubFetch, WhatCameBeforeIsNothingNew) {
  hub_.files["model.safetensors"] = std::string(std::size_t{3} << 20, 'w');
  hub_.answer_first({}, [&](const WebRequest&) {
    return WebReply{.body = weights(), .cut_content = std::size_t{2} << 20};
  });
  options_.cancelled = [&] { return waits_.size() > 20; };
  EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
  EXPECT_EQ(hub_.store_server().requests().size(), 5U);
}

TEST_F(HubFetch, WhatCameFromTheStartIsResumed) {
  leave_part();
  hub_.answer_first({}, [&](const WebRequest& request) -> std::optional<WebReply> {
    switch (hub_.store_server().requests().size()) {
      case 1:
        return WebReply{.body = weights()};
      case 2:
        return WebReply{.body = weights(), .cut_content = 50'000};
      default:
        return FakeHub::content(request, weights());
    }
  });
  expect_whole(fetch());
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=777-", "", "bytes=50000-"));
}

TEST_F(HubFetch, AWrongPartIsNotTaken) {
  for (const char* range : {"bytes 0-9/10", "bytes 778-999/1000", "", "bytes */5"}) {
    SCOPED_TRACE(range);
    from_store([&](WebReply& reply) { reply.headers = {{"Content-Range", range}}; }, true);
    expect_fetched(weights().substr(0, 777));
  }
}

TEST_F(HubFetch, APageOfSomebodyBetweenIsNotTakenForTheFile) {
  const std::string page = "<html>Please log in to this network</html>";
  for (const WebReply& reply :
       {WebReply{.body = page},
        WebReply{.raw = "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n\r\n" + page}}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{777}}) {
      hub_.forget_requests();
      from_store([&](WebReply& right) { right = reply; }, true);
      expect_fetched(weights().substr(0, bytes));
      EXPECT_THAT(ranges_at_store(), AllOf(SizeIs(2), Each(bytes == 0 ? "" : "bytes=777-")))
          << "what was there is kept";
    }
    leave_part();
    hub_.answer_first({}, [&](const WebRequest&) { return reply; });
    EXPECT_THAT(refused(), HasSubstr("tried 5 times"));
    expect_part_kept();
  }
}

TEST_F(HubFetch, AWrongPartAloneCostsNothing) {
  const std::size_t size = weights().size();
  for (const WebReply& wrong :
       {WebReply{.status = 416},
        WebReply{.status = 206, .headers = {{"Content-Range", "bytes 0-9/10"}}, .body = "0123456789"}}) {
    leave_part();
    hub_.answer_first({}, [&](const WebRequest& request) {
      return request.header("range").empty() ? WebReply{.status = 503} : wrong;
    });
    refused();
    EXPECT_THAT(ranges_at_store(), Contains(""));
    expect_part_kept();
    hub_.answer_first({}, [&](const WebRequest&) { return wrong; });
    refused();
    expect_part_kept();
  }
  leave_part(size - 1);
  expect_whole_again();
  EXPECT_THAT(ranges_at_store(), ElementsAre("bytes=" + std::to_string(size - 1) + "-"));
}

TEST_F(HubFetch, ALeftoverOfSomethingElseIsThrownAway) {
  for (const std::size_t size : {std::size_t{50}, weights().size(), weights().size() + 9}) {
    SCOPED_TRACE(size);
    expect_fetched(std::string(size, 'x'));
  }
}

TEST_F(HubFetch, AWrongHashIsRefusedAndNothingStays) {
  from_store([](WebReply& reply) { reply.body[1000] = static_cast<char>(reply.body[1000] ^ 1); });
  EXPECT_THAT(refused(), HasSubstr("hash"));
  EXPECT_FALSE(fs::exists(blob("model.safetensors")));
  EXPECT_FALSE(fs::exists(snapshot() / "model.safetensors"));
  EXPECT_EQ(hub_.store_server().requests().size(), 1U) << "what came in one go comes so again";
}

TEST_F(HubFetch, MoreThanWasPromisedIsNotWritten) {
  from_store([&](WebReply& reply) {
    reply = {.raw = "HTTP/1.1 200 OK\r\n\r\n" + weights() + std::string(100'000, 'x')};
  });
  EXPECT_THAT(refused(), HasSubstr("sent more than"));
  EXPECT_FALSE(fs::exists(blob("model.safetensors")));
}

TEST_F(HubFetch, CancelledWhileItWaits) {
  std::atomic<bool> cancelled = false;
  options_.cancelled = [&] { return cancelled.load(); };
  options_.wait = [&](milliseconds) { cancelled = true; };
  answer_all({.status = 503});
  EXPECT_THROW(fetch(), model::Stopped);
}

TEST_F(HubFetch, WhatTheLoaderRefusesIsNotFetched) {
  hub_.files["config.json"].append(std::size_t{1} << 20, ' ');
  EXPECT_THAT(refused(), HasSubstr("config.json"));
  EXPECT_EQ(hub_.gets_of("config.json"), 0);
}

TEST_F(HubFetch, LongHeadersAreNotBlamedOnTheNetwork) {
  for (const int lines : {1, 20'000}) {
    std::string headers;
    for (int i = 0; i < lines; ++i) headers += "X: " + std::string(1'000'000 / lines, 'x') + "\r\n";
    answer_all({.raw = "HTTP/1.1 200 Fine\r\n" + headers + "\r\n"});
    EXPECT_THAT(refused(), HasSubstr("headers"));
  }
  EXPECT_THAT(waits_, IsEmpty());
}

}  // namespace
}  // namespace headscope::app::fetch_test
