#include "app/run/cell_means.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "app/counted.h"

namespace headscope::app {

void CellMeans::add(const MeasuredCells& prompt, const std::string& where) {
  if (means_.empty()) {
    cells_ = std::make_shared<const std::vector<MeanCell>>(prompt.cells);
    means_.resize(prompt.cells.size());
  }
  if (prompt.cells != *cells_) {
    const auto differs = std::ranges::mismatch(prompt.cells, *cells_);
    const auto named = [](const auto& it, const std::vector<MeanCell>& all) {
      return it == all.end() ? std::string("nothing") : it->name;
    };
    throw std::runtime_error(where + "it has " + named(differs.in1, prompt.cells) +
                             " where the first prompt has " + named(differs.in2, *cells_) +
                             "; means over layers and positions need prompts of the same length");
  }
  for (std::size_t i = 0; i < prompt.numbers.size(); ++i) means_[i].add(prompt.numbers[i]);
}

CellMeans::CellMeans(std::vector<MeanCell> cells, std::vector<SampleMean> means)
    : cells_(std::make_shared<const std::vector<MeanCell>>(std::move(cells))), means_(std::move(means)) {}

CellMeans& CellMeans::operator+=(const CellMeans& others) {
  for (std::size_t i = 0; i < means_.size(); ++i) means_[i] += others.means_[i];
  return *this;
}

std::size_t CellMeans::bytes() const {
  constexpr std::size_t kParts = 4 * sizeof(double);  // of a sum, about
  std::size_t sum = means_.size() * (sizeof(SampleMean) + 2 * kParts);
  for (const MeanCell& cell : *cells_) sum += sizeof(MeanCell) + cell.name.capacity();
  return sum;
}

}  // namespace headscope::app
