// Names, settings, lists, hashes and what is in the cache, without a server.
#include "app/hub/fetch.h"
#include "app/hub/hub_client.h"
#include "app/run/sources/model_discovery.h"
#include "model/files/error.h"
#include "tests/support/environment.h"
#include "tests/support/matchers.h"
#include "tests/support/sentences.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/torch_bytes.h"

namespace headscope::app::hub_parsing_test {
namespace {

Environment environment(std::map<std::string, std::string> variables) {
  variables.emplace("HOME", "/nowhere/at/all");
  return testing::environment(std::move(variables));
}

TEST(HubName, HasAnOrganisationAndARevision) {
  EXPECT_EQ(parse_hub_model("openai-community/gpt2"), (HubModel{"openai-community/gpt2", "main"}));
  EXPECT_EQ(parse_hub_model("a/b@v1.0"), (HubModel{"a/b", "v1.0"}));
  EXPECT_EQ(parse_hub_model("a/b@refs/pr/1"), (HubModel{"a/b", "refs/pr/1"}));
  EXPECT_EQ(parse_hub_model("Some_Org.x/My-Model_0.5b").repository, "Some_Org.x/My-Model_0.5b");
  EXPECT_EQ(to_text(parse_hub_model("a/b@v1")), "a/b@v1");
  EXPECT_EQ(to_text(parse_hub_model("a/b@main")), "a/b");
}

TEST(HubName, NoneLeadsOutOfTheCache) {
  for (const std::string name :
       {"",         "/",           "a/",     "/a",      "a/b/c",       "..",         "../x",    "a/..",
        "a/.",      ".a/b",        "a/b..c", "a/b--c",  "a--b",        "-a/b",       "a/b-",    "a/b.",
        "a b",      "a/b\n",       "a\\b",   "a/b%2f",  "a/b.git",     "a/b?x",      "a/b#x",   "a:b",
        "~/a",      "a/\xc3\xa4",  "a/b@",   "a/b@..",  "a/b@../../x", "a/b@x/../y", "a/b@/x",  "a/b@x/",
        "a/b@x//y", "a/b@.hidden", "a/b@-x", "a/b@x y", "a/b@x\ny",    "a/b@x.lock", "a/b@x@y", "a/b@x?y"}) {
    const std::string message = message_of<HubError>([&] { parse_hub_model(name); });
    EXPECT_TRUE(is_sentence(message)) << name << ": " << message;
  }
  EXPECT_THROW(parse_hub_model(std::string("a\0b", 3)), HubError);
  EXPECT_THROW(parse_hub_model("a/" + std::string(95, 'b')), HubError);
  EXPECT_THROW(parse_hub_model("a/b@" + std::string(201, 'b')), HubError);
  EXPECT_NO_THROW(parse_hub_model("a/" + std::string(94, 'b')));
}

TEST(HubSettings, ComeFromTheEnvironment) {
  const HubSettings defaults = hub_settings(environment({}));
  EXPECT_EQ(defaults.endpoint, "https://huggingface.co");
  EXPECT_EQ(defaults.token, "");
  EXPECT_FALSE(defaults.offline);
  EXPECT_EQ(defaults.cache, "/nowhere/at/all/.cache/huggingface/hub");

  const HubSettings own = hub_settings(environment({{"HF_ENDPOINT", "http://Mirror.example:8080/hub/"},
                                                    {"HF_TOKEN", " hf_x \n"},
                                                    {"HF_HUB_OFFLINE", "yes"},
                                                    {"HF_HUB_CACHE", "/cache"}}));
  EXPECT_EQ(own.endpoint, "http://Mirror.example:8080/hub");
  EXPECT_EQ(own.token, "hf_x");
  EXPECT_TRUE(own.offline);
  EXPECT_FALSE(hub_settings(environment({{"HF_HUB_OFFLINE", "0"}})).offline);
}

TEST(HubSettings, CertificatesOfAnInnerNetworkAreNamedAsForPython) {
  EXPECT_EQ(hub_settings(environment({})).certificates, "");
  EXPECT_EQ(hub_settings(environment({{"SSL_CERT_FILE", "/s"}})).certificates, "/s");
  EXPECT_EQ(hub_settings(environment({{"SSL_CERT_FILE", "/s"}, {"REQUESTS_CA_BUNDLE", "/r"}})).certificates,
            "/r");
}

TEST(HubSettings, TheTokenMayLieInAFile) {
  const TemporaryFolder folder;
  folder.write("token", "hf_home\n");
  folder.write("elsewhere", "hf_path");
  EXPECT_EQ(hub_settings(environment({{"HF_HOME", folder.path().string()}})).token, "hf_home");
  EXPECT_EQ(hub_settings(environment({{"HF_HOME", folder.path().string()},
                                      {"HF_TOKEN_PATH", (folder.path() / "elsewhere").string()}}))
                .token,
            "hf_path");
  EXPECT_EQ(hub_settings(environment({{"HF_HOME", folder.path().string()}, {"HF_TOKEN", "hf_given"}})).token,
            "hf_given");
  EXPECT_EQ(hub_settings(environment({{"HF_TOKEN_PATH", folder.path().string()}})).token, "")
      << "a folder is no token";
}

TEST(HubSettings, WhatCannotBeIsASentence) {
  for (const char* endpoint : {"huggingface co", "ftp://x", "file:///etc/passwd", "https://user:word@x",
                               "https://@x", "https://", "http://x/?a"}) {
    const std::string message = message_of<HubError>([&] {
      hub_settings(environment({{"HF_ENDPOINT", endpoint}}));
    });
    EXPECT_TRUE(is_sentence(message)) << endpoint;
    EXPECT_THAT(message, Not(HasSubstr("word@"))) << "a password is never shown";
  }
  for (const char* token : {"a\r\nX-Header: b", "a b", "\xc3\xa4"}) {
    const std::string message = message_of<HubError>([&] {
      hub_settings(environment({{"HF_TOKEN", token}}));
    });
    EXPECT_TRUE(is_sentence(message)) << message;
    EXPECT_THAT(message, Not(HasSubstr(token))) << "a token is never shown";
  }
  EXPECT_THROW(hub_settings([](const std::string&) { return std::nullopt; }), HubError);
}

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

std::string listing(const std::string& sha, const std::string& siblings) {
  return "{\"sha\":\"" + sha + "\",\"siblings\":" + siblings + "}";
}

TEST(HubListing, NamesACommitAndFilesByHashAndSize) {
  const std::string git(40, 'a'), own(64, 'b'), file = R"({"rfilename":"m","size":5,"blobId":")" + git + "\"";
  const Listing list = parse_listing(listing(kCommit, "[" + file + "}]"), {"a/b", kCommit});
  EXPECT_EQ(list.commit, kCommit);
  EXPECT_EQ(list.files.at("m").digest, git);
  EXPECT_EQ(list.files.at("m").bytes, 5U);
  const std::string large = "[" + file + R"(,"lfs":{"sha256":")" + own + "\"}}]";
  EXPECT_EQ(parse_listing(listing(kCommit, large), {"a/b"}).files.at("m").digest, own);
  for (const std::string& wrong : {std::string("[]"), std::string("{}"), listing("../..", "[]"),
                                   listing("main", "[]"), listing(kCommit, "3"), listing(kCommit, "{}")})
    EXPECT_TRUE(is_sentence(message_of<HubError>([&] { parse_listing(wrong, {"a/b"}); }))) << wrong;
  EXPECT_THROW(parse_listing("<html>", {"a/b"}), model::LoadError);
}

TEST(HubListing, NamesFilesWithoutAUsableHashOrSize) {
  const std::string git(40, 'a'), hash = ",\"blobId\":\"" + git + "\"";
  for (const std::string& facts :
       {std::string(), std::string(R"(,"size":5)"), R"(,"size":-1)" + hash, R"(,"size":1.7)" + hash,
        R"(,"size":1e300)" + hash, R"(,"size":9e15)" + hash, R"(,"size":9007199254740992)" + hash,
        std::string(R"(,"size":5,"blobId":"../../x")"), R"(,"size":5,"lfs":{})" + hash}) {
    const Listing list = parse_listing(listing(kCommit, R"([3,{},{"rfilename":"m")" + facts + "}]"), {"a/b"});
    ASSERT_EQ(list.files.size(), 1U) << facts;
    EXPECT_EQ(list.files.at("m").digest, "") << facts;
  }
  const std::string null = R"([{"rfilename":"m","size":5,"lfs":null)" + hash + "}]";
  EXPECT_EQ(parse_listing(listing(kCommit, null), {"a/b"}).files.at("m").digest, git);
}

TEST(HubListing, OfAnotherCommitThanThePinnedOneIsRefused) {
  const std::string other(40, 'a'), said = message_of<HubError>([&] {
                                      parse_listing(listing(kCommit, "[]"), {"a/b", other});
                                    });
  EXPECT_THAT(said, AllOf(HasSubstr(kCommit), HasSubstr(other)));
}

TEST(HubDigest, NamesContentAsGitAndLfsDo) {
  const auto digest_like = [](const std::string& expected, std::string_view bytes) {
    system::Hash hash = hash_like(expected, bytes.size());
    hash.add(bytes);
    return hash.hex();
  };
  EXPECT_EQ(digest_like(std::string(40, '0'), "hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(digest_like(std::string(40, '0'), ""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(digest_like(std::string(64, '0'), "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(is_content_hash(std::string(40, 'a')) && is_content_hash(std::string(64, '9')));
  EXPECT_FALSE(is_content_hash(std::string(32, 'a')) || is_content_hash(std::string(40, 'G')) ||
               is_content_hash("../../../etc/passwd"));
}

namespace fs = std::filesystem;

const std::string kEmpty = testing::safetensors_of_header("{}");

TEST(CachedModel, IsWholeWithAllThatItIsLoadedFrom) {
  const TemporaryFolder folder;
  const fs::path model = folder.path();
  const auto now = [&] { return is_complete_model(model); };
  EXPECT_FALSE(now());
  folder.write("config.json", "{}");
  folder.write("model.safetensors", kEmpty);
  EXPECT_FALSE(now()) << "no tokenizer";
  folder.write("vocab.json", "");
  EXPECT_FALSE(now()) << "half a tokenizer";
  folder.write("merges.txt", "");
  EXPECT_TRUE(now());
  fs::remove(model / "model.safetensors");
  folder.write("pytorch_model.bin", testing::torch_bytes({{"x", "U8", {1}, "x"}}));
  EXPECT_TRUE(now()) << "PyTorch's own file";
  fs::remove(model / "pytorch_model.bin");
  fs::create_symlink("nowhere", model / "model.safetensors");
  EXPECT_FALSE(now()) << "a link to nothing";
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  folder.write("1.safetensors", kEmpty);
  EXPECT_FALSE(now()) << "a shard is missing";
  folder.write("2.safetensors", kEmpty);
  EXPECT_TRUE(now());
  for (const char* wrong : {"", "{}", R"({"weight_map":{"a":3}})", "[]"}) {
    folder.write("model.safetensors.index.json", wrong);
    EXPECT_FALSE(now()) << wrong;
  }
}

TEST(CachedModel, IsOfTheCommitThatItsRevisionNames) {
  const TemporaryFolder folder;
  const std::string commit(40, 'a');
  const fs::path model = "models--org--name", snapshot = model / "snapshots" / commit;
  for (const char* file : {"config.json", "tokenizer.json", "model.safetensors"})
    folder.write(snapshot / file, kEmpty);
  const auto found = [&](const std::string& revision) {
    return cached_model(folder.path(), {"org/name", revision});
  };
  EXPECT_EQ(found(commit), folder.path() / snapshot);
  EXPECT_EQ(found("refs/pr/1"), std::nullopt);
  folder.write(model / "refs/refs/pr/1", commit + "\n");
  EXPECT_EQ(found("refs/pr/1"), folder.path() / snapshot);
  for (const std::string& wrong :
       {std::string(), "../snapshots/" + commit, std::string("main"), commit + "a"}) {
    folder.write(model / "refs/main", wrong);
    EXPECT_EQ(found("main"), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace headscope::app::hub_parsing_test
