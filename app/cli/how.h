#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/engine.h"

namespace headscope::app {

using Json = nlohmann::ordered_json;

/// What all answers of a command say of how they were made, the member `how` of their JSON: program, models
/// and the hashes of their weights, precision, start token, edits and the list over which means are taken.
/// Throws like weights_hash.
Json how_made(const Arguments& arguments, const Engine& engine);
/// The same with the prompt, and the second prompt if the run is compared with one.
Json with_prompt(Json how, const PromptRun& run);
Json list_json(const ListFile& list);

/// "headscope 1.2.3".
std::string program_name();

/// Texts as strings, which are UTF-8.
Json texts_json(std::span<const std::string> texts);

/// `{"id":340,"text":" it","bytes":[32,105,116]}`; the text of an id without bytes is "#4100".
Json token_json(const model::Tokenizer& tokenizer, int id);

}  // namespace headscope::app
