#include "model/files/name_table.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace headscope::model {
namespace {

std::uint32_t hash_of(std::string_view name) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
}

}  // namespace

NameTable::NameTable(std::size_t count) : slots_(std::bit_ceil(std::max<std::size_t>(16, count * 2))) {}

// The slot of a name, or the empty one where it would go.
std::size_t NameTable::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id >= 0 && (slots_[slot].hash != hash || slots_[slot].name != name)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

bool NameTable::insert(std::string_view name, int id) {
  const std::uint32_t hash = hash_of(name);
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.id >= 0) return false;
  slot = {name, hash, id};
  return true;
}

int NameTable::find(std::string_view name) const {
  return slots_[slot_of(name, hash_of(name))].id;
}

}  // namespace headscope::model
