#pragma once
#include "app/views/view.h"

// Menu lines shared by several views; the edits that menus and keys offer are the same in all of them.
namespace headscope::app {

/// "Select query 8 “·it”".
MenuLine choose_query(const ViewContext& context, int position, std::string_view words = "Select query");
/// Adds "Select key 1 “·robot”", or the line that clears it; nothing if the query `of` does not see it.
void add_choice_of_key(std::vector<MenuLine>& menu, const ViewContext& context, int position, int of);
/// Adds lines that copy a token's text and id; with the default label if none is given.
void add_copies_of_token(Facts& facts, const ViewContext& context, int id, std::string label = "");

/// What the view of a weight shows next to the keys: vectors, or only how the chosen one's score is computed.
enum class ShownOfKeys { values, products, breakdown };
extern const Option<ShownOfKeys> kShownOfKeys;

/// Whether the run can be edited: patterns without weights cannot.
bool can_edit(const ViewContext& context);
/// The action that adds the edit, or removes it.
ViewActions toggled(const model::Edit& edit);
/// Whether the shown run, or the run it is the baseline of, has this edit.
bool is_edited(const ViewContext& context, const model::Edit& edit);

model::Edit head_off(int layer, int head);
model::Edit head_at_mean(int layer, int head);

/// An edit of a head that can be made or undone.
struct HeadEdit {
  MenuLine line;
  std::vector<std::string> synonyms;  ///< other words for it: "ablate"
};
/// A head's edits: off, replaced by its mean, halved; with a second prompt or model patched from there.
std::vector<HeadEdit> head_edits(const ViewContext& context, int layer, int head);
/// Adds their lines.
void add_head_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, int head);
/// Adds how a weight is computed, which shows the view of its steps, and its edits: masked, all of the
/// query's weight, the row frozen at its unedited values. For a key that the query cannot see: unmasked.
void add_cell_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, int head, int query,
                    int key);
/// Adds the edits of a token's position: none, or its neighbour's.
void add_position_edits(std::vector<MenuLine>& menu, const ViewContext& context, int position);
/// Adds the edit that turns a neuron of a layer's MLP off.
void add_neuron_edit(std::vector<MenuLine>& menu, const ViewContext& context, int layer, int neuron);
/// Adds the edits of the output of a layer's attention or MLP.
void add_part_edits(std::vector<MenuLine>& menu, const ViewContext& context, int layer, bool mlp);
/// With a second prompt or model, adds the patch from there, at one position or at all (-1), of `what`.
void add_patch(std::vector<MenuLine>& menu, const ViewContext& context, model::HookPoint point, int position,
               const std::string& what);

}  // namespace headscope::app
