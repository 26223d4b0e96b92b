#pragma once
#include "app/views/content.h"
#include "app/views/parts/list.h"

// The merges that built each token of the prompt, step by step from its bytes for the selected one.
namespace headscope::app::token_merges {

constexpr int kStep = 2;  ///< role of regions of the steps; id: number of merges made

/// "20 69 74"; empty without a tokenizer: patterns only.
std::string bytes_at(const ViewContext& context, int position);
/// The first tokens with their ids and bytes, to which columns are added.
std::unique_ptr<List> list_of_tokens(const ViewContext& context, const ListRows& rows, int count);
/// `rows`: how the list of tokens is moved.
void declare(Content& it, const ListRows& rows);

}  // namespace headscope::app::token_merges
