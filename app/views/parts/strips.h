#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/views/content.h"

// Vectors of the model below each other, each as a strip with a line of text above it.
namespace headscope::app {

struct NamedStrip {
  int id = 0;  ///< id of its region, which has a column for each component
  std::string name;
  std::string shape;   ///< shown next to the name
  std::string detail;  ///< muted, if there is room
  viz::Color color;    ///< colour of the name
  std::span<const float> values;
  viz::ColorScale scale;
  int parts = 1;                         ///< number of equal pieces
  int chosen = -1;                       ///< the highlighted piece
  std::vector<viz::Color> framing = {};  ///< a frame for each piece; empty: none
};

/// "[2,304]"
std::string shape_of(std::size_t n);
/// "[12 heads × 64]"
std::string shape_in_heads(const model::Config& config);
/// Symmetric about zero, with ends of two digits. A few outliers, which would leave the rest without colour,
/// lie beyond its ends: some dimensions of the residual stream are huge.
viz::ColorScale strip_scale(std::span<const float> values);
/// The part of an area that strips have: not wider than can be read.
viz::Rect strips_in(const ViewContext& context, viz::Rect area);

class Strips final : public RoleBox {
 public:
  Strips(int role, std::vector<NamedStrip> strips) : RoleBox(role), strips_(std::move(strips)) {}

  /// What a component is about. Null: nothing.
  std::function<Ref(const NamedStrip&, int component)> refers_to;
  /// Ems of height for each: with less they look cramped; with more, what is below gains more.
  float enough = 0, good = 2.3F;
  /// Facts about a component in addition to its name and value.
  std::function<void(Facts&, const NamedStrip&, int component)> component_facts;

  Wish height(const ViewContext& context, float width) const override;
  bool place(const ViewContext& context, viz::Rect area) override;
  void paint(Picture& picture, const ViewContext& context) const override;

 private:
  const NamedStrip& strip_of(const viz::Region& region) const;
  Ref ref_of(const viz::Region& region, int row, int col) const override;
  void say(Facts&, const ViewContext&, const viz::Region&, int row, int col) const override;

  std::vector<NamedStrip> strips_;
};

}  // namespace headscope::app
