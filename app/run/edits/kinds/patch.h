#pragma once
#include "app/run/edits/edit_kind.h"
#include "app/run/edits/edit_text.h"
#include "model/files/error.h"

namespace headscope::app {

template <>
struct EditKind<model::PatchFrom> : EditAtPlace<model::PatchFrom, &model::PatchFrom::positions> {
  using Patch = model::PatchFrom;
  using AtPlace = EditAtPlace<Patch, &Patch::positions>;
  static constexpr std::string_view kOperator = "<-";
  static constexpr std::string_view kGrammar =
      "  L3.pattern[2+5-8]<-\"text\"    in scores and pattern, rows of queries; + between them\n"
      "  L4.resid_pre[5]<-\"text\"[2]   patch from another prompt (its position 2; or give ids(1,2))\n"
      "  L4.resid_pre[5]<-second      patch from the second model; <-second \"text\"[2]: on another "
      "prompt\n"
      "  L1H6.q<-{L0H0.z=0}           patch from this prompt with other edits; <-\"text\"{...}: from "
      "another\n"
      "                               with edits: what a head changes on its way to another\n"
      "  L5H1.z -> L9H6.q <- \"text\"   patch a head or mlp_out on its direct path to a later head's q, k "
      "or v, or to\n"
      "                               logits: all other heads and MLPs stay; also L0H0.z=0 -> L1H6.k\n";
  static constexpr bool kOverwrites = true;
  static std::size_t values(const Patch& patch) {
    std::size_t sum = patch.tokens.size();
    for (const model::Edit& edit : patch.edits) sum += numbers_of(edit);
    return sum;
  }

  static Patch read(EditReader& in, const Place& at) {
    Patch patch{at, {}, {}, in.take("second"), {}};
    if (!in.sees("ids(") && !in.sees("\"")) {
      if (!patch.second && !in.sees("{"))
        in.fail("expected \"a text\", ids(...), {edits} or second after <-, found " +
                model::quote(in.rest()));
      read_edits(patch, in);
      if (in.sees("["))
        in.fail(std::string(patch.second ? "<-second" : "<-{...}") +
                " takes positions only after a \"text\" or ids(...)");
      return patch;
    }
    if (in.take("ids(")) {
      do patch.tokens.push_back(in.whole());
      while (in.take(","));
      in.expect(")");
    } else {
      for (const model::Token& token : in.model().tokenizer->encode(in.quoted()))
        patch.tokens.push_back(token.id);
      if (patch.tokens.empty()) in.fail("the prompt to patch from has no tokens");
    }
    read_edits(patch, in);
    if (in.take("[")) {
      patch.positions = in.numbers(false);
      in.expect("]");
    }
    return patch;
  }

  /// Of a path "L5H1.z -> L9H6.q <- ids(1,2)", "L5H1.z=0 -> logits".
  static std::string text(const Patch& patch) {
    if (!patch.direct) return AtPlace::text(patch);
    const std::string receiver = " -> " + place_text(named_receiver(patch));
    const auto* sender = std::get_if<Patch>(&patch.edits.front());
    return sender == nullptr ? edit_text(patch.edits.front()) + receiver
                             : place_text(sender->at) + receiver + " <- " + operand(*sender);
  }
  static std::string words(const Patch& patch, const EditNames& names) {
    if (!patch.direct) return AtPlace::words(patch, names);
    const bool to_end = patch.at.point.site == model::Site::resid_post;
    return edit_words(patch.edits.front(), names) + " on the direct path to " + (to_end ? "the " : "") +
           place_words(named_receiver(patch));
  }
  static std::string operand(const Patch& patch) {
    std::string text = patch.second ? "second" : "";
    if (!patch.tokens.empty()) {
      text += patch.second ? " ids(" : "ids(";
      for (const int id : patch.tokens) text += std::to_string(id) + ",";
      text.back() = ')';
    }
    if (!patch.edits.empty()) text += "{" + edit_text(patch.edits) + "}";
    return text + (patch.positions.empty() ? "" : "[" + list_text(patch.positions) + "]");
  }
  static std::string what(const Patch& patch, const EditNames& names) {
    if (names.prompt) return source_words(patch, names);
    const std::string edited = patch.edits.empty() ? "" : ", edited";
    if (patch.tokens.empty()) return (patch.second ? " from the second model" : " from this prompt") + edited;
    // From a shorter prompt only the positions that it has.
    const bool up_to = patch.at.positions.empty() && patch.positions.empty();
    const std::string until = up_to ? " up to position " + std::to_string(patch.tokens.size() - 1) : "";
    return (patch.second ? " from the second model, own tokens" : " patched") + until +
           (patch.edits.empty() ? "" : ", from an edited run");
  }

  static std::optional<Strength> strength(const Patch& patch) {
    return patch.direct ? strength_of(patch.edits.front()) : std::nullopt;
  }
  static void set_strength(Patch& patch, float value) {
    patch.edits.front() = with_strength(std::move(patch.edits.front()), double{value});
  }

  static bool is_beyond(const Patch& patch, int length) {
    return AtPlace::is_beyond(patch, length) || (patch.direct && app::is_beyond(patch.edits.front(), length));
  }
  static bool has_positions(const Patch& patch) {
    return !patch.at.positions.empty() ||
           (patch.tokens.empty() && std::ranges::any_of(patch.edits, names_positions));
  }

  static bool move(Patch& patch, PositionMap& map) {
    if (patch.tokens.empty())  // its source has this prompt's tokens
      std::erase_if(patch.edits, [&](model::Edit& edit) { return !move_edit(edit, map); });
    if (patch.tokens.empty() && !patch.second && patch.edits.empty()) return false;
    std::vector<int>& at = patch.at.positions;
    if (map.keeps(at)) return true;
    // A patch from the same positions keeps its sources when its positions move.
    if (patch.positions.empty() && !patch.tokens.empty()) {
      std::erase_if(at, [&](int position) { return position >= std::ssize(patch.tokens); });
      patch.positions = at;
    }
    return map.move(at, &patch.positions);
  }

  static bool fills(const Patch& patch, model::HeadIndex head, int query, int key) {
    const std::vector<int>& to = patch.at.positions;
    const auto found = std::ranges::find(to, query);
    if (!is_at_head(patch.at.point, patch.at.head, head) || found == to.end() || patch.positions.empty())
      return false;
    return key <= patch.positions[found - to.begin()];
  }

 private:
  /// A path's receiver as it is named: the end of the stream as logits.
  static Place named_receiver(const Patch& path) {
    Place at = path.at;
    if (at.point.site == model::Site::resid_post) at.point = {model::Site::logits};
    return at;
  }
  /// " patched from “The king” with L0 H0 off (its 2)".
  static std::string source_words(const Patch& patch, const EditNames& names) {
    std::string words = " patched from ";
    if (!patch.tokens.empty()) words += names.prompt(patch.tokens) + (patch.second ? " in " : "");
    if (patch.second || patch.tokens.empty()) words += patch.second ? "the second model" : "this prompt";
    for (std::size_t i = 0; i < patch.edits.size(); ++i)
      words += (i == 0 ? " with " : " and ") + edit_words(patch.edits[i], names);
    return words + (patch.positions.empty() ? "" : " (its " + ranges_words(patch.positions) + ")");
  }
  /// "{L0H0.z=0; ...}", if it follows.
  static void read_edits(Patch& patch, EditReader& in) {
    if (in.sees("{")) patch.edits = parse_edits(in.braced(), in.model());
  }
};

}  // namespace headscope::app
