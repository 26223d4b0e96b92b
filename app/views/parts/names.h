#pragma once
#include "app/counted.h"
#include "app/run/named.h"
#include "app/views/view.h"

// Names of heads, neurons and tokens, and numbers as text.
namespace headscope::app {

std::string token_name(const PromptTokens& tokens, int position);  ///< "8 “·it”"
std::string label_of(const ViewContext& context, int id);  ///< "·it"; "#50300" for an id without a token
std::string range_words(int first, int end);               ///< "17", or for more than one "16–18"
std::string exact(float value);  ///< shortest text that reads back as this float; real minus sign, −∞
/// The same for what is computed from floats: at most nine digits, as many as a float can need.
std::string exact(double value);
std::string with_sign(double value, int digits);  ///< "+0.28", "−0.11", "0"
std::string plain(float value);  ///< shortest text that reads back as this number, in ASCII, for files
std::string plain(double value);
std::string percent(double fraction);                              ///< "41.2 %", "0.031 %"
std::string bytes_as_hex(std::string_view bytes);                  ///< "20 69 74"
std::string scale_factor(const model::Config& config, int layer);  ///< the factor of scores: "1/√64"

}  // namespace headscope::app
