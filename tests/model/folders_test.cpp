// Folders as people have them: each form gives the logits of the float64 reference, or a sentence.

#include "model/files/error.h"
#include "model/pass/transformer.h"
#include "tests/model/activations.h"
#include "tests/support/gpt2_folder.h"
#include "tests/support/matchers.h"
#include "tests/support/reference_gpt2.h"
#include "tests/support/sentences.h"
#include "tests/support/torch_bytes.h"

namespace headscope::model::folders_test {
namespace {

using Tensors = std::vector<RawTensor>;

/// A folder that a program made, and what it means.
struct Form {
  std::string name;
  std::function<void(const TemporaryFolder&)> write;
  std::vector<std::string> warnings = {}, notes = {};  ///< part of each sentence
  Tensors means = gpt2_tensors({});                    ///< the same weights as GPT-2 publishes them
  std::string config = gpt2_config({});
};

Tensors renamed(Tensors tensors, const std::function<std::string(const std::string&)>& name) {
  for (RawTensor& tensor : tensors) tensor.name = name(tensor.name);
  return tensors;
}
Tensors behind(const std::string& prefix, Tensors tensors) {
  return renamed(std::move(tensors), [&](const std::string& name) { return prefix + name; });
}
Tensors with(Tensors tensors, const Tensors& more) {
  tensors.insert(tensors.end(), more.begin(), more.end());
  return tensors;
}
Tensors without(const std::string& ending, Tensors tensors) {
  std::erase_if(tensors, [&](const RawTensor& tensor) { return tensor.name.ends_with(ending); });
  return tensors;
}
RawTensor copy_of(const Tensors& tensors, const std::string& name, const std::string& as) {
  const auto found = std::ranges::find(tensors, name, &RawTensor::name);
  return {as, found->dtype, found->shape, found->bytes};
}
Tensors zeroed(const std::string& ending, Tensors tensors) {
  for (RawTensor& tensor : tensors)
    if (tensor.name.ends_with(ending)) tensor.bytes.assign(tensor.bytes.size(), '\0');
  return tensors;
}

/// The matrices of the blocks as torch.nn.Linear keeps them.
Tensors linear(Tensors tensors) {
  for (RawTensor& tensor : tensors) {
    if (!tensor.name.starts_with("h.") || tensor.shape.size() != 2) continue;
    tensor.bytes = transposed(tensor);
    std::swap(tensor.shape[0], tensor.shape[1]);
  }
  return tensors;
}

/// The numbers in another type, each converted by the compiler.
template <class To>
Tensors converted(const std::string& dtype, Tensors tensors) {
  for (RawTensor& tensor : tensors) {
    std::string bytes;
    for (std::size_t at = 0; at < tensor.bytes.size(); at += 4) {
      float value = 0;
      std::memcpy(&value, tensor.bytes.data() + at, 4);
      const auto other = static_cast<To>(value);
      bytes.append(reinterpret_cast<const char*>(&other), sizeof other);
    }
    tensor.dtype = dtype, tensor.bytes = bytes;
  }
  return tensors;
}
std::function<void(const TemporaryFolder&)> safetensors(const Tensors& tensors,
                                                        const std::string& config = gpt2_config({})) {
  return [=](const TemporaryFolder& folder) { write_gpt2(folder, config, tensors); };
}
std::function<void(const TemporaryFolder&)> torch(const Tensors& tensors, const TorchLayout& layout = {},
                                                  const std::string& config = gpt2_config({})) {
  return [=](const TemporaryFolder& folder) {
    folder.write("config.json", config);
    folder.write("pytorch_model.bin", torch_bytes(tensors, layout));
  };
}

/// Three shards of a file of either kind and their index, which names a tensor more than they have.
std::function<void(const TemporaryFolder&)> shards(const std::string& whole) {
  return [=](const TemporaryFolder& folder) {
    folder.write("config.json", gpt2_config({}));
    const Tensors tensors = gpt2_tensors({});
    std::vector<Tensors> parts(3);
    const std::size_t dot = whole.find('.');
    const auto file = [&](std::size_t part) {
      return whole.substr(0, dot) + "-0000" + std::to_string(part + 1) + "-of-00003" + whole.substr(dot);
    };
    std::string map = R"("h.0.attn.bias":")" + file(0) + '"';
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      parts[i % 3].push_back(tensors[i]);
      map += ",\"" + tensors[i].name + "\":\"" + file(i % 3) + '"';
    }
    for (std::size_t part = 0; part < 3; ++part)
      folder.write(file(part),
                   whole.ends_with(".bin") ? torch_bytes(parts[part]) : safetensors_bytes(parts[part]));
    folder.write(whole + ".index.json", R"({"metadata":{"total_size":1},"weight_map":{)" + map + "}}");
  };
}

RawTensor mask_buffer(const std::string& name, const std::string& dtype, std::size_t bytes) {
  return {name, dtype, {1, 1, 4, 4}, std::string(16 * bytes, '\1')};
}

std::vector<Form> forms_that_load() {
  const Tensors gpt2 = gpt2_tensors({});
  const RawTensor wte = copy_of(gpt2, "wte.weight", "lm_head.weight"),
                  head = random_tensor("lm_head.weight", "F32", {300, 8}, 77);
  const std::string untied = gpt2_config({}, R"(,"tie_word_embeddings":false)");
  const auto config_without = [](const std::string& key, const std::string& instead) {
    std::string config = gpt2_config({});
    return config.replace(config.find(key), key.size(), instead);
  };
  RawTensor whole{"ln_f.weight", "F32", {8}, ""};
  for (const float number : {1.F, 2.F, -3.F, 0.F, 1.F, 2.F, -3.F, 0.F})
    whole.bytes += bytes_of(number, "F32");
  std::string python = gpt2_config({}, R"(,"initializer_factor":NaN,"say \"NaN":[Infinity,-Infinity])");
  return {
      {"as_published", safetensors(gpt2)},
      {"distilgpt2", safetensors(behind("transformer.", gpt2))},
      {"masks_of_any_type",
       safetensors(with(gpt2, {mask_buffer("h.0.attn.bias", "U8", 1), mask_buffer("h.1.attn.bias", "F16", 2),
                               mask_buffer("h.1.attn.masked_bias", "Q3_K_M", 3)}))},
      {"a_copy_of_the_tied_head", safetensors(with(behind("transformer.", gpt2), {wte}))},
      {"a_copy_of_the_tied_head_in_another_type",
       safetensors(with(gpt2, {copy_of(gpt2_tensors({}, "F16"), "wte.weight", "lm_head.weight")}))},
      {"a_transposed_copy_of_the_tied_head", torch(with(gpt2, {wte}), {.transposed_views = true})},
      {"the_tied_head_alone", safetensors(with(without("wte.weight", gpt2), {wte}))},
      {.name = "a_head_of_its_own",
       .write = safetensors(with(gpt2, {head}), untied),
       .means = with(gpt2, {head}),
       .config = untied},
      {.name = "a_head_of_its_own_though_tied",
       .write = safetensors(with(gpt2, {head})),
       .warnings = {"\"lm_head.weight\" differs from wte.weight"},
       .means = with(gpt2, {head}),
       .config = untied},
      {.name = "parallel_and_compiled",
       .write = safetensors(with(behind("module._orig_mod.transformer.", gpt2),
                                 {copy_of(gpt2, "wte.weight", "module._orig_mod.lm_head.weight")})),
       .notes = {"module._orig_mod.transformer."}},
      {"a_model_within_one", safetensors(behind("model.transformer.", gpt2)), {}, {"model."}},
      {.name = "nanogpt",
       .write = torch(with(behind("_orig_mod.transformer.", linear(without(".bias", gpt2))),
                           {copy_of(gpt2, "wte.weight", "_orig_mod.lm_head.weight")}),
                      {.inside = "model"}),
       .notes = {"_orig_mod.", "zeros", "transposed"},
       .means = zeroed(".bias", gpt2)},
      {"linear_layout", safetensors(linear(gpt2)), {}, {"transposed"}},
      {"without_biases", safetensors(without(".bias", gpt2)), {}, {"zeros"}, zeroed(".bias", gpt2)},
      {.name = "without_biases_of_norms",
       .write = safetensors(without("ln_1.bias", gpt2)),
       .notes = {R"("h.0.ln_1.bias", "h.1.ln_1.bias")"},
       .means = zeroed("ln_1.bias", gpt2)},
      {"f16", safetensors(gpt2_tensors({}, "F16"))},
      {"bf16", safetensors(gpt2_tensors({}, "BF16"))},
      {"f64", safetensors(converted<double>("F64", gpt2))},
      {.name = "i32_among_f32",
       .write = safetensors(with(without("ln_f.weight", gpt2), converted<std::int32_t>("I32", {whole}))),
       .means = with(without("ln_f.weight", gpt2), {whole})},
      {"unaligned", safetensors(with({{"h.9.attn.masked_bias", "U8", {1}, "x"}}, gpt2))},
      {"shards", shards("model.safetensors")},
      {"shards_of_torch", shards("pytorch_model.bin")},
      {"broken_beside_shards",
       [](const TemporaryFolder& folder) {
         shards("model.safetensors")(folder);
         folder.write("model.safetensors", safetensors_bytes(gpt2_tensors({})).substr(0, 5000));
       },
       {"model.safetensors.index.json is used instead"}},
      {"torch", torch(gpt2)},
      {"torch_f16", torch(gpt2_tensors({}, "F16"))},
      {"torch_bf16", torch(gpt2_tensors({}, "BF16"))},
      {"torch_f64", torch(converted<double>("F64", gpt2))},
      {"torch_views", torch(gpt2, {.transposed_views = true})},
      {"torch_linear_views", torch(linear(gpt2), {.transposed_views = true}), {}, {"transposed"}},
      {"torch_one_storage", torch(gpt2, {.transposed_views = true, .one_storage = true})},
      {"torch_parameters", torch(gpt2, {.parameters = true})},
      {"torch_checkpoint", torch(gpt2, {.inside = "state_dict"})},
      {"torch_zip64",
       [=](const TemporaryFolder& folder) {
         folder.write("config.json", gpt2_config({}));
         std::vector<std::pair<std::string, std::string>> entries = {
             {"archive/data.pkl", state_dict_pickle(gpt2)}, {"archive/version", "3\n"}};
         for (std::size_t i = 0; i < gpt2.size(); ++i)
           entries.emplace_back("archive/data/" + std::to_string(i), gpt2[i].bytes);
         folder.write("pytorch_model.bin", zip_bytes(entries, true));
       }},
      {"python_numbers", safetensors(gpt2, python)},
      {"aliases",
       safetensors(gpt2, R"({"model_type":"gpt2","hidden_size":8,"num_hidden_layers":2,)"
                         R"("num_attention_heads":2,"max_position_embeddings":16,"vocab_size":300,)"
                         R"("intermediate_size":32,"hidden_act":"relu"})"),
       {"hidden_act is not used, since GPT-2 reads activation_function"}},
      {.name = "quick_gelu",
       .write = safetensors(gpt2, config_without("gelu_new", "quick_gelu")),
       .config = config_without("gelu_new", "quick_gelu")},
      {"n_ctx_unlike_n_positions", safetensors(gpt2, config_without(R"("n_ctx":16)", R"("n_ctx":8)"))},
      {"fewer_positions",
       safetensors(gpt2, gpt2_config({.positions = 1024})),
       {"wpe.weight has 16 rows, which count, though config.json says n_positions 1024"}},
      {"a_padded_vocabulary",
       safetensors(gpt2, gpt2_config({.vocabulary = 297})),
       {"wte.weight has 300 rows, which count, though config.json says vocab_size 297"}},
      {.name = "a_layer_too_many",
       .write = safetensors(gpt2, gpt2_config({.layers = 1})),
       .warnings = {"12 tensors are not used: \"h.1.attn.c_attn.bias\""},
       .config = gpt2_config({.layers = 1})},
      {"a_head_for_classes",
       safetensors(with(gpt2, {random_tensor("score.weight", "F32", {2, 8}, 3)})),
       {"\"score.weight\""}},
      {"an_adapter_beside_its_base",
       safetensors(with(gpt2, {random_tensor("h.0.attn.c_attn.lora_A.default.weight", "F32", {2, 8}, 3)})),
       {"adapter"}},
      {"an_adapter_file_beside",
       [=](const TemporaryFolder& folder) {
         write_gpt2(folder, gpt2_config({}), gpt2);
         folder.write("adapter_model.safetensors", "");
       },
       {"adapter_model.safetensors is not used"}},
  };
}

TEST(Folders, HaveTheLogitsOfTheReference) {
  for (const Form& form : forms_that_load()) {
    SCOPED_TRACE(form.name);
    const TemporaryFolder folder, plain;
    form.write(folder);
    write_gpt2(plain, form.config, form.means);
    const auto transformer = Transformer::load(folder.path());
    const std::vector<int> tokens = {7, 0, 5, 11, 5};
    Workspace workspace(1);
    const std::vector<float> logits =
        all_logits(*transformer, *transformer->forward(tokens, workspace), workspace);
    EXPECT_LE(logit_error(logits, ReferenceGpt2(plain.path()).run(tokens).logits), 1e-5);

    std::vector<::testing::Matcher<std::string>> notes, warnings;
    for (const std::string& part : form.notes) notes.push_back(HasSubstr(part));
    for (const std::string& part : form.warnings) warnings.push_back(HasSubstr(part));
    if (!form.notes.empty()) {
      EXPECT_THAT(transformer->report().notes, ElementsAreArray(notes));
    }
    EXPECT_THAT(transformer->report().warnings, ElementsAreArray(warnings));
    for (const std::string& sentence : transformer->report().warnings)
      EXPECT_TRUE(is_sentence(sentence)) << sentence;
  }
}

// --- What cannot be loaded ---

struct WrongForm {
  std::string name;
  std::function<void(const TemporaryFolder&)> write;
  std::vector<std::string> says;
};

std::vector<WrongForm> forms_that_do_not_load() {
  const Tensors gpt2 = gpt2_tensors({});
  const auto with_file = [](const std::string& name, const std::string& bytes) {
    return [=](const TemporaryFolder& folder) {
      folder.write("config.json", gpt2_config({}));
      folder.write(name, bytes);
    };
  };
  const auto pickled = [&](const std::string& pickle) {
    return with_file("pytorch_model.bin", zip_bytes({{"a/data.pkl", pickle}, {"a/version", "3\n"}}));
  };
  std::string compressed = torch_bytes(gpt2);
  const std::size_t entry = compressed.find("PK\x01\x02");
  compressed[entry + 10] = 8;  // deflate
  return {
      {"no_config", [](const TemporaryFolder&) {}, {"config.json"}},
      {"no_weights", with_file("notes.txt", "x"), {"model.safetensors", "pytorch_model.bin", "neither"}},
      {"weights_of_another_program", with_file("tf_model.h5", "x"), {"\"tf_model.h5\""}},
      {"a_checkpoint_of_another_name",
       with_file("ckpt.pt", torch_bytes(gpt2)),
       {"\"ckpt.pt\"", "expected names"}},
      {"an_adapter_alone",
       [](const TemporaryFolder& folder) { folder.write("adapter_model.safetensors", ""); },
       {"adapter", "merge"}},
      {"an_adapter", with_file("adapter_config.json", "{}"), {"adapter", "merge"}},
      {"an_adapters_names", safetensors(behind("base_model.model.transformer.", gpt2)), {"adapter", "merge"}},
      {"two_models",
       safetensors(with(behind("encoder.", gpt2), behind("decoder.", gpt2))),
       {"several", "\"decoder.\"", "\"encoder.\""}},
      {"other_names",
       safetensors(renamed(gpt2,
                           [](std::string name) {
                             return name == "wte.weight"   ? "wte.weights"
                                    : name == "wpe.weight" ? "position.table"
                                                           : name;
                           })),
       {"no \"wte.weight\"", "\"position.table\", \"wte.weights\" (wte.weight?)"}},
      {"megatron",
       safetensors(
           {random_tensor("language_model.embedding.word_embeddings.weight", "F32", {300, 8}, 1),
            random_tensor("language_model.transformer.layers.0.input_layernorm.weight", "F32", {8}, 2)}),
       {"\"language_model.embedding.word_embeddings.weight\"", "Megatron", "convert"}},
      {"a_layer_missing", safetensors(gpt2, gpt2_config({.layers = 1 << 24})), {"h.2."}},
      {"untied_without_an_embedding",
       safetensors(
           renamed(gpt2, [](std::string name) { return name == "wte.weight" ? "lm_head.weight" : name; }),
           gpt2_config({}, R"(,"tie_word_embeddings":false)")),
       {"wte.weight"}},
      {"untied_without_a_head",
       safetensors(gpt2, gpt2_config({}, R"(,"tie_word_embeddings":false)")),
       {"lm_head.weight", "tie_word_embeddings"}},
      {"f8",
       safetensors(with(without("ln_f.weight", gpt2), {{"ln_f.weight", "F8_E4M3", {8}, "12345678"}})),
       {"\"ln_f.weight\"", "F8_E4M3"}},
      {"a_page", with_file("pytorch_model.bin", "\n<!DOCTYPE html><html>"), {"HTML page"}},
      {"torch_cut_off",
       with_file("pytorch_model.bin", torch_bytes(gpt2).substr(0, 5000)),
       {"download the file again"}},
      {"torch_before_1_6",
       with_file("pytorch_model.bin", std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15)),
       {"older", "torch.save"}},
      {"no_pickle", with_file("pytorch_model.bin", zip_bytes({{"a/code/x.py", "import os"}})), {"data.pkl"}},
      {"a_program",
       with_file("pytorch_model.bin", zip_bytes({{"a/data.pkl", "."}, {"a/constants.pkl", "."}})),
       {"TorchScript"}},
      {"compressed", with_file("pytorch_model.bin", compressed), {"compressed"}},
      {"another_global",
       pickled("\x80\x02"
               "cposix\nsystem\n."),
       {"\"posix.system\""}},
      {"one_storage_as_many",
       with_file("pytorch_model.bin",
                 [&] {
                   Tensors same(8, gpt2[0]);
                   for (std::size_t i = 0; i < same.size(); ++i) same[i].name += std::to_string(i);
                   std::string pickle = state_dict_pickle(same);
                   for (std::size_t at = 0, i = 0; i < same.size();
                        ++i) {  // each tensor's storage is the first's
                     const std::string key = std::string("X\x01\0\0\0", 5) + std::to_string(i) + "X";
                     at = pickle.find(key, at);
                     pickle[at + 5] = '0';
                   }
                   return zip_bytes({{"a/data.pkl", pickle}, {"a/data/0", gpt2[0].bytes}});
                 }()),
       {"same numbers"}},
      {"a_sparse_view",
       with_file("pytorch_model.bin",
                 [] {
                   std::string pickle = state_dict_pickle({{"x", "F32", {2}, "8 bytes."}});
                   pickle[pickle.find(std::string("(J\1\0\0\0t", 7)) + 2] = '\xff';  // the stride
                   return zip_bytes({{"a/data.pkl", pickle}, {"a/data/0", std::string(1024, 'x')}});
                 }()),
       {"\"x\"", "sparse"}},
      {"no_state_dict", pickled("\x80\x02]."), {"state dict"}},
      {"big_endian",
       with_file("pytorch_model.bin", zip_bytes({{"a/data.pkl", "."}, {"a/byteorder", "big"}})),
       {"big-endian"}},
      {"beyond_its_storage",
       with_file("pytorch_model.bin",
                 zip_bytes({{"a/data.pkl", state_dict_pickle({gpt2[2]})}, {"a/data/0", "1234"}})),
       {"\"h.0.ln_1.weight\"", "beyond"}},
      {"another_architecture", safetensors(gpt2, R"({"model_type":"llama"})"), {"model_type", "llama"}},
  };
}

TEST(WrongFolders, AreRefusedInOneSentence) {
  for (const WrongForm& form : forms_that_do_not_load()) {
    SCOPED_TRACE(form.name);
    const TemporaryFolder folder;
    form.write(folder);
    const std::string message = message_of<LoadError>([&] { Transformer::load(folder.path()); });
    EXPECT_TRUE(is_sentence(message)) << message;
    for (const std::string& part : form.says) EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(Load, TellsItsProgressAndStopsWhenAsked) {
  const TemporaryFolder folder;
  write_gpt2(folder, gpt2_config({}), gpt2_tensors({}));
  std::vector<double> fractions;
  LoadOptions options;
  options.progress = [&](double fraction, const char*) { fractions.push_back(fraction); };
  Transformer::load(folder.path(), options);
  ASSERT_FALSE(fractions.empty());
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_GE(fractions.front(), 0);
  EXPECT_EQ(fractions.back(), 1);

  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](double fraction, const char*) {
    if (fraction > 0.3) stop.request_stop();
  };
  EXPECT_THROW(Transformer::load(folder.path(), options), Stopped);
}

std::string load_message(const std::filesystem::path& folder) {
  return message_of<LoadError>([&] { Transformer::load(folder); });
}

std::string load_message(const std::string& config, const Tensors& tensors) {
  const TemporaryFolder folder;
  write_gpt2(folder, config, tensors);
  return load_message(folder.path());
}

TEST(BadModel, EveryTensorIsMissedAndItsShapeChecked) {
  const Tensors all = gpt2_tensors({});
  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensors tensors = all;
    tensors[i].shape.insert(tensors[i].shape.begin(), 1);
    expect_load_sentence(load_message(gpt2_config({}), tensors), "model.safetensors",
                         "\"" + all[i].name + "\"");
    if (all[i].name.ends_with(".bias")) continue;  // which counts as zeros
    tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
    expect_load_sentence(load_message(gpt2_config({}), tensors), "model.safetensors", all[i].name);
  }
}

TEST(BadModel, AFolderThatIsNoneSaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(load_message(folder.path() / "no such folder"), HasSubstr("no such folder"));
  EXPECT_THAT(load_message("/dev/null"), HasSubstr("/dev/null"));
  folder.write("config.json", std::string(2 << 20, ' '));
  EXPECT_THAT(load_message(folder.path()), HasSubstr("at most 1048576 bytes, found 2097152"));
  folder.write("config.json", gpt2_config({}));
  std::filesystem::create_directory(folder.path() / "model.safetensors");
  expect_load_sentence(load_message(folder.path()), "model.safetensors", "a directory");
}

TEST(BadModel, ADamagedIndexIsRefused) {
  const TemporaryFolder folder;
  shards("model.safetensors")(folder);
  const std::string name = "model.safetensors.index.json";
  const std::string index = testing::bytes_of_file(folder.path() / name);
  const auto message_with = [&](const std::string& from, const std::string& to) {
    std::string text = index;
    folder.write(name, text.replace(text.find(from), from.size(), to));
    return load_message(folder.path());
  };
  const std::string shard = "model-00001-of-00003.safetensors";
  expect_load_sentence(message_with(index, ""), name, "JSON");
  expect_load_sentence(message_with(index, "[]"), name, "weight_map");
  expect_load_sentence(message_with("\"" + shard + "\"", "7"), name, "weight_map");
  expect_load_sentence(message_with(shard, "../" + shard), name, "same folder");
  expect_load_sentence(message_with(shard, "/etc/passwd"), name, "same folder");
  expect_load_sentence(message_with(shard,
                                    "x\xc2\x9b"
                                    "31m"),
                       name, "\"x\\xc2\\x9b31m\"");
  EXPECT_THAT(message_with(shard, "lost.safetensors"), HasSubstr("lost.safetensors"));

  folder.write(name, index);
  const std::string bytes = testing::bytes_of_file(folder.path() / shard);
  folder.write(shard, bytes.substr(0, bytes.size() - 1));
  expect_load_sentence(load_message(folder.path()), shard, "truncated");
}

}  // namespace
}  // namespace headscope::model::folders_test
