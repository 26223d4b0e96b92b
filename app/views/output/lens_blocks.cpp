#include "app/views/output/lens_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace headscope::app {

LensBlocks lens_blocks(const ViewContext& c, int first, int count) {
  LensBlocks known{first, count, {}};
  known.blocks.resize(LensOf::blocks(c.run->run->length()));
  const int from = LensOf::around(first).block, query = LensOf::around(c.selection.query).block;
  std::vector<int> wanted(LensOf::around(first + count - 1).block + 1 - from);
  std::iota(wanted.begin(), wanted.end(), from);
  std::ranges::stable_sort(wanted, {}, [&](int block) { return std::abs(block - query); });
  for (const int block : wanted) known.blocks[block] = c.ask(LensOf{block});
  return known;
}

std::string place_name(const ViewContext& c, int place) {
  return lens_place_name(place, c.run->run->config.n_layer);
}

std::string place_words(const ViewContext& c, int place) {
  const auto [layer, mid] = lens_place(place);
  const std::string block = "block " + std::to_string(layer);
  if (layer == c.run->run->config.n_layer) return "the end of the stream";
  if (mid) return block + ", between attention and MLP";
  return layer == 0 ? "embedding, before block 0" : "before " + block;
}

}  // namespace headscope::app
