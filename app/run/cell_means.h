#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/run/exact_sum.h"

// Means over prompts of the numbers that each of them has.
namespace headscope::app {

/// Where a number is measured: only the members that it has are set. None: it is of the whole prompt.
struct CellPlace {
  std::optional<int> layer = {}, head = {}, position = {};
  std::string part = {};      ///< "mlp"
  std::string hook = {};      ///< TransformerLens' name
  std::string quantity = {};  ///< "rank", where a place has several numbers
  bool empty() const { return *this == CellPlace{}; }
  bool operator==(const CellPlace&) const = default;
};

/// A number that every prompt has.
struct MeanCell {
  std::string name;       ///< for people: "L0 H3"
  CellPlace place = {};   ///< those of the whole prompt are listed after the others
  std::string unit = {};  ///< "bits"; empty: none
  bool operator==(const MeanCell&) const = default;
};

/// A prompt's numbers and their cells, in the same order.
struct MeasuredCells {
  std::vector<MeanCell> cells;
  std::vector<double> numbers;  ///< not finite: the prompt has none
  void add(MeanCell cell, double number) {
    cells.push_back(std::move(cell));
    numbers.push_back(number);
  }
};

/// The mean of each cell over prompts, bit-identical for any order of them and any division into parts.
class CellMeans {
 public:
  CellMeans() = default;
  /// Means that are known, of as many cells.
  CellMeans(std::vector<MeanCell> cells, std::vector<SampleMean> means);

  /// Adds a prompt's numbers; those that are not finite do not count. Throws std::runtime_error that begins
  /// with `where` if its cells are not those of the first prompt: such a prompt is not skipped, since which
  /// one is the odd one out would depend on their order.
  void add(const MeasuredCells& prompt, const std::string& where);
  /// Adds the numbers of more prompts, which have the same cells.
  CellMeans& operator+=(const CellMeans& others);

  bool empty() const { return means_.empty(); }
  std::size_t size() const { return means_.size(); }
  const std::vector<MeanCell>& cells() const { return *cells_; }
  const std::vector<SampleMean>& means() const { return means_; }
  const MeanCell& cell(std::size_t index) const { return (*cells_)[index]; }
  const SampleMean& mean(std::size_t index) const { return means_[index]; }
  std::size_t bytes() const;

 private:
  // Shared by copies, of which there is one whenever progress is shown.
  std::shared_ptr<const std::vector<MeanCell>> cells_ = std::make_shared<const std::vector<MeanCell>>();
  std::vector<SampleMean> means_;
};

}  // namespace headscope::app
