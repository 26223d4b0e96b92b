#include "model/files/pickle.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "model/files/error.h"
#include "model/files/tensor_file.h"

namespace headscope::model {
namespace {

using Kind = Pickle::Kind;
using Values = std::vector<std::uint32_t>;

constexpr std::size_t kMostSteps = 1 << 18;
constexpr std::uint32_t kMark = std::numeric_limits<std::uint32_t>::max();

/// All that the pickle of a state dict refers to, besides storages.
constexpr std::string_view kGlobals[] = {"collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
                                         "torch._utils._rebuild_parameter", "torch.Size"};

/// The machine that a pickle is a program for: a stack, and values that are kept by number.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Pickle run() && {
    for (std::size_t steps = 0; steps < kMostSteps; ++steps) {
      const char opcode = take(1)[0];
      if (opcode == '.') {
        pickle_.root = pop();
        return std::move(pickle_);
      }
      step(opcode);
    }
    fail("more than " + std::to_string(kMostSteps) + " steps");
  }

 private:
  /// The opcodes of protocol 2, torch.save's, that plain data need, with pickletools' names.
  void step(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        if (const auto protocol = number(1); protocol > 2) fail("protocol " + std::to_string(protocol));
        return;
      case 'N':  // NONE
        return push({Kind::other});
      case '\x88':  // NEWTRUE, NEWFALSE
      case '\x89':
        return push({Kind::integer, opcode == '\x88'});
      case 'K':  // BININT1, BININT2, BININT
      case 'M':
      case 'J':
        return push({Kind::integer, signed_number(opcode == 'K' ? 1 : opcode == 'M' ? 2 : 4, opcode == 'J')});
      case '\x8a':  // LONG1
        return push({Kind::integer, signed_number(number(1), true)});
      case 'G':  // BINFLOAT
        take(8);
        return push({Kind::other});
      case 'X':  // BINUNICODE, BINSTRING, SHORT_BINSTRING
      case 'T':
      case 'U':
        return push({Kind::text, 0, take(number(opcode == 'U' ? 1 : 4))});
      case '(':  // MARK
        stack_.push_back(kMark);
        return;
      case ')':  // EMPTY_TUPLE, EMPTY_LIST
      case ']':
        return push({Kind::sequence});
      case '}':  // EMPTY_DICT
        return push({Kind::dictionary});
      case '\x85':  // TUPLE1, TUPLE2, TUPLE3
      case '\x86':
      case '\x87':
        return push({Kind::sequence, 0, {}, pop_items(static_cast<std::size_t>(opcode - '\x84'))});
      case 't':  // TUPLE
        return push({Kind::sequence, 0, {}, pop_to_mark()});
      case 'a':  // APPEND, SETITEM
      case 's':
        return add(pop_items(opcode == 'a' ? 1 : 2));
      case 'e':  // APPENDS, SETITEMS
      case 'u':
        return add(pop_to_mark());
      case 'c':  // GLOBAL
        return push_global(std::string(line()) + ".");
      case 'Q':  // BINPERSID
        return push({Kind::persistent, 0, {}, {pop()}});
      case 'R':  // REDUCE
        return call();
      case 'b':  // BUILD: attributes of an object, and no tensor is one
        pop();
        return;
      case 'q':  // BINPUT, LONG_BINPUT
      case 'r':
        return keep(number(opcode == 'q' ? 1 : 4));
      case 'h':  // BINGET, LONG_BINGET
      case 'j':
        return recall(number(opcode == 'h' ? 1 : 4));
      default:
        fail("the opcode " + std::to_string(static_cast<unsigned char>(opcode)));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    reject(where_, "the pickle of a state dict as torch.save writes it",
           what + " before byte " + std::to_string(at_) + " of " + std::to_string(bytes_.size()));
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("its end");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint64_t number(std::size_t size) { return little_endian(take(size)); }
  /// A number of up to 8 bytes; longer ones, of random generators, are of no use here: 0.
  std::int64_t signed_number(std::uint64_t size, bool is_signed) {
    const std::string_view bytes = take(size);
    if (size == 0 || size > 8) return 0;
    const auto spare = static_cast<int>(64 - 8 * size);
    const std::uint64_t digits = little_endian(bytes) << spare;
    return is_signed ? static_cast<std::int64_t>(digits) >> spare
                     : static_cast<std::int64_t>(digits >> spare);
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) fail("a name without an end");
    const std::size_t size = end - at_;
    return take(size + 1).substr(0, size);
  }

  void push(Pickle::Value value) {
    stack_.push_back(static_cast<std::uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  std::uint32_t top() const {
    if (stack_.empty() || stack_.back() == kMark) fail("too few values");
    return stack_.back();
  }
  std::uint32_t pop() {
    const std::uint32_t value = top();
    stack_.pop_back();
    return value;
  }
  Values pop_items(std::size_t count) {
    Values items(count);
    while (count > 0) items[--count] = pop();
    return items;
  }
  Values pop_to_mark() {
    const auto mark = std::find(stack_.rbegin(), stack_.rend(), kMark);
    if (mark == stack_.rend()) fail("no mark");
    Values items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }

  /// Adds items to the list or dictionary below them, also to an OrderedDict, which a call made.
  void add(const Values& items) {
    Pickle::Value& to = pickle_.values[top()];
    const bool fits = to.kind == Kind::sequence || (to.kind == Kind::dictionary && items.size() % 2 == 0);
    if (!fits) fail("items that do not fit where they go");
    to.items.insert(to.items.end(), items.begin(), items.end());
  }
  void push_global(std::string name) {
    name += line();
    const auto* const known = std::ranges::find(kGlobals, name);
    const StoredType* const type = stored_type(name, &StoredType::storage);
    if (known == std::end(kGlobals) && type == nullptr)
      reject(where_, "a state dict of tensors alone",
             "the global " + quote(name) + "; save model.state_dict() with torch.save");
    push({Kind::global, 0, type != nullptr ? type->storage : *known});
  }
  void call() {
    const std::uint32_t arguments = pop(), callee = pop();
    if (pickle_[callee].kind != Kind::global) fail("a call of no global");
    if (pickle_[callee].text == "collections.OrderedDict") return push({Kind::dictionary});
    push({Kind::call, 0, {}, {callee, arguments}});
  }
  void keep(std::uint64_t number) {
    if (number > kMostSteps) fail("a value kept as number " + std::to_string(number));
    if (number >= kept_.size()) kept_.resize(number + 1, kMark);
    kept_[number] = top();
  }
  void recall(std::uint64_t number) {
    if (number >= kept_.size() || kept_[number] == kMark) fail("a value that was not kept");
    stack_.push_back(kept_[number]);
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  Pickle pickle_;
  Values stack_, kept_;  // kMark in kept_: nothing
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace headscope::model
