#pragma once
#include <cmath>

#include "app/run/edits/edit_kind.h"
#include "viz/text/text.h"

// Kinds that edit values at a place by numbers that are part of the edit.
namespace headscope::app {

/// Whether values that are set to `value`, or scaled by it, are off. Scores of 0 weigh all keys alike.
inline bool is_off(const model::EditSite& at, float value) {
  return value == 0 && at.point.site != model::Site::attn_scores;
}

/// What follows the words of a place: after a comma where they end with a number, which it does not belong
/// to.
inline std::string after_place(const model::EditSite& at, std::string_view words) {
  return (at.positions.empty() && at.units.empty() ? " " : ", ") + std::string(words);
}

template <>
struct EditKind<model::SetValues> : EditAtPlace<model::SetValues> {
  using Set = model::SetValues;
  static constexpr std::string_view kOperator = "=";
  static constexpr std::string_view kGrammar =
      "  L5H1.z=0                     turn off head 1 of layer 5 (L5: all heads, L*: all layers)\n"
      "  L5H1.z=[0.5,...]             set it to a vector; mean over \"FILE\" after it names the list\n";
  static constexpr std::string_view kMeanOver = "mean over ";
  static constexpr bool kOverwrites = true;
  static std::size_t values(const Set& set) { return set.values.size(); }
  static std::optional<Set> read(EditReader& in, const Place& at) {
    if (in.sees("mean")) return std::nullopt;
    if (in.take("null")) return Set{at, {kHiddenScore}};
    Set set{at, in.vector()};
    if (!in.take(kMeanOver)) return set;
    constexpr std::size_t kMost = 255;          // bytes, as of files
    set.mean_over = viz::visible(in.quoted());  // it comes from a file, which may say anything
    if (set.mean_over.size() > kMost)
      in.fail("the name of a list has at most " + std::to_string(kMost) + " bytes");
    return set;
  }
  static std::string operand(const Set& set) {
    return vector_text(set.values) +
           (set.mean_over.empty() ? "" : " " + std::string(kMeanOver) + quoted_text(set.mean_over));
  }
  static std::string what(const Set& set, const EditNames&) {
    if (!set.mean_over.empty()) return " = mean over “" + set.mean_over + "”";
    if (set.values.size() > 1) return " set";
    return is_off(set.at, set.values.front()) ? " off" : " = " + number_text(set.values.front());
  }
};

template <>
struct EditKind<model::SetMean> : EditAtPlace<model::SetMean> {
  using Mean = model::SetMean;
  static constexpr std::string_view kOperator = "=";
  static constexpr std::string_view kGrammar =
      "  L5H1.z=mean                  replace it by its mean over positions, or over those of --mean-over\n";
  static constexpr bool kOverwrites = true;
  static Mean read(EditReader& in, const Place& at) { return in.expect("mean"), Mean{at}; }
  static std::string operand(const Mean&) { return "mean"; }
  static std::string what(const Mean&, const EditNames& names) { return " = mean over " + names.means_over; }
};

template <>
struct EditKind<model::ScaleValues> : EditAtPlace<model::ScaleValues> {
  using Scale = model::ScaleValues;
  static constexpr std::string_view kOperator = "*=";
  static constexpr std::string_view kGrammar =
      "  L2.mlp_out[3,5-8]*=0.5       halve at positions 3 and 5 to 8; without [...]: everywhere\n"
      "  L0.mlp_post[*][17]=0         turn off unit 17 at all positions\n";
  static Scale read(EditReader& in, const Place& at) { return {at, in.number()}; }
  static std::string operand(const Scale& scale) { return number_text(scale.factor); }
  static std::string what(const Scale& scale, const EditNames&) {
    return is_off(scale.at, scale.factor) ? " off" : after_place(scale.at, "× ") + number_text(scale.factor);
  }
  static std::optional<Strength> strength(const Scale& scale) {
    const auto factor = static_cast<double>(scale.factor);
    return Strength{"factor", factor, std::min(-1.0, std::floor(factor)), std::max(3.0, std::ceil(factor)),
                    0.05,     1};
  }
  static void set_strength(Scale& scale, float factor) { scale.factor = factor; }
};

template <>
struct EditKind<model::AddVector> : EditAtPlace<model::AddVector> {
  using Add = model::AddVector;
  static constexpr std::string_view kOperator = "+=";
  static constexpr std::string_view kGrammar =
      "  L2.resid_pre[7]+=2*[0.5,...] add twice a vector of d_model numbers; one number: to all units\n";
  static std::size_t values(const Add& add) { return add.vector.size(); }

  static Add read(EditReader& in, const Place& at) {
    Add add{at, in.vector()};
    if (add.vector.size() == 1 && in.take("*")) {
      add.factor = add.vector.front();
      add.vector = in.vector();
    }
    return add;
  }
  static std::string operand(const Add& add) {
    return (add.factor != 1 ? number_text(add.factor) + "*" : "") + vector_text(add.vector);
  }
  static std::string what(const Add& add, const EditNames&) {
    const std::string plus = after_place(add.at, "plus ");
    if (add.vector.size() > 1) return plus + number_text(add.factor) + " × a vector";
    return plus + number_text(add.factor * add.vector.front());
  }
  static bool replaces(const Add& next, const Add& before) {
    return next.at == before.at && next.vector == before.vector;
  }
  static std::optional<Strength> strength(const Add& add) {
    const auto factor = static_cast<double>(add.factor);
    const double most = std::max(10.0, std::ceil(std::abs(factor)));
    return Strength{"factor", factor, -most, most, 0.1, 1};
  }
  static void set_strength(Add& add, float factor) { add.factor = factor; }
};

}  // namespace headscope::app
