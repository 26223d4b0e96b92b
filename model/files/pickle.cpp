#include "model/files/pickle.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "model/files/error.h"
#include "model/files/quote.h"

namespace headscope::model {
namespace {

using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::size_t kMostSteps = 1 << 18;
constexpr std::uint32_t kMark = std::numeric_limits<std::uint32_t>::max();

/// All that the pickle of a state dict refers to.
constexpr std::string_view kGlobals[] = {
    "collections.OrderedDict",   "torch._utils._rebuild_tensor",  "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_parameter", "torch.DoubleStorage",     "torch.FloatStorage",
    "torch.HalfStorage",         "torch.BFloat16Storage",         "torch.LongStorage",
    "torch.IntStorage",          "torch.ShortStorage",            "torch.CharStorage",
    "torch.ByteStorage",         "torch.BoolStorage",             "torch.Size",
};

/// The machine that a pickle is a program of: a stack, and a memo of values by number.
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
  void step(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        if (number(1) > 5) fail("a newer protocol than 5");
        return;
      case '\x95':  // FRAME
        take(8);
        return;
      case 'N':
        return push({Kind::none});
      case '\x88':
      case '\x89':
        return push({Kind::boolean, opcode == '\x88'});
      case 'K':
        return push({Kind::integer, static_cast<std::int64_t>(number(1))});
      case 'M':
        return push({Kind::integer, static_cast<std::int64_t>(number(2))});
      case 'J':
        return push({Kind::integer, static_cast<std::int32_t>(number(4))});
      case '\x8a':  // LONG1
        return push({Kind::integer, signed_number(number(1))});
      case 'G':
        take(8);
        return push({Kind::real});
      case 'X':
      case 'B':
      case 'T':
        return push({Kind::text, 0, take(number(4))});
      case '\x8c':
      case 'U':
      case 'C':
        return push({Kind::text, 0, take(number(1))});
      case '(':
        stack_.push_back(kMark);
        return;
      case ')':
      case ']':
      case '\x8f':
        return push({Kind::sequence});
      case '}':
        return push({Kind::dictionary});
      case '\x85':
      case '\x86':
      case '\x87':
        return push({Kind::sequence, 0, {}, pop_items(static_cast<std::size_t>(opcode - '\x84'))});
      case 't':
      case 'l':
        return push({Kind::sequence, 0, {}, pop_to_mark()});
      case 'd':
        return push({Kind::dictionary, 0, {}, pop_to_mark()});
      case 'a':
        return add(pop_items(1));
      case 'e':
      case '\x90':
      case 'u':
        return add(pop_to_mark());
      case 's':
        return add(pop_items(2));
      case 'c':
        return push_global(line(), line());
      case '\x93': {  // STACK_GLOBAL
        const auto names = pop_items(2);
        return push_global(pickle_[names[0]].text, pickle_[names[1]].text);
      }
      case 'Q':
        return push({Kind::persistent, 0, {}, {pop()}});
      case 'R':
      case '\x81':
        return call();
      case 'b':  // BUILD: attributes of an object, which no tensor is among
        pop();
        top();
        return;
      case 'q':
        return keep(number(1));
      case 'r':
        return keep(number(4));
      case '\x94':
        return keep(memo_.size());
      case 'h':
        return recall(number(1));
      case 'j':
        return recall(number(4));
      case '0':
        pop();
        return;
      case '1':
        pop_to_mark();
        return;
      case '2':
        stack_.push_back(top());
        return;
      default:
        fail("the opcode " + std::to_string(static_cast<unsigned char>(opcode)));
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw LoadError(where_ + ": expected the pickle of a PyTorch state dict, found " + what + " at byte " +
                    std::to_string(at_) + " of " + std::to_string(bytes_.size()));
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("its end too early");
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view digits = take(size);
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    return value;
  }
  /// Two's complement of any length up to 8; longer ones (of random generators) are of no use here, and 0.
  std::int64_t signed_number(std::uint64_t size) {
    if (size == 0 || size > 8) return take(size), 0;
    const auto spare = static_cast<int>(64 - 8 * size);
    return static_cast<std::int64_t>(number(size) << spare) >> spare;
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) fail("a name without an end");
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  void push(Value value) {
    stack_.push_back(static_cast<std::uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  std::uint32_t top() const {
    if (stack_.empty() || stack_.back() == kMark) fail("a value missing");
    return stack_.back();
  }
  std::uint32_t pop() {
    const std::uint32_t value = top();
    stack_.pop_back();
    return value;
  }
  std::vector<std::uint32_t> pop_items(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    while (count > 0) items[--count] = pop();
    return items;
  }
  std::vector<std::uint32_t> pop_to_mark() {
    std::size_t mark = stack_.size();
    while (mark > 0 && stack_[mark - 1] != kMark) --mark;
    if (mark == 0) fail("no mark");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(mark);
    std::vector<std::uint32_t> items(first, stack_.end());
    stack_.resize(mark - 1);
    return items;
  }

  /// Adds items to the list or dictionary below them, also to an OrderedDict, which a call made.
  void add(const std::vector<std::uint32_t>& items) {
    Value& to = pickle_.values[top()];
    if (to.kind != Kind::sequence && to.kind != Kind::dictionary) fail("items of something without items");
    if (to.kind == Kind::dictionary && items.size() % 2 != 0) fail("a key without a value");
    to.items.insert(to.items.end(), items.begin(), items.end());
  }
  void push_global(std::string_view module, std::string_view name) {
    const std::string full = std::string(module) + "." + std::string(name);
    const auto known = std::ranges::find(kGlobals, full);
    if (known == std::end(kGlobals))
      throw LoadError(where_ + ": expected a state dict, found the global " + quote(full) +
                      ", which is not tensors alone; save model.state_dict() with torch.save");
    push({Kind::global, 0, *known});
  }
  void call() {
    const std::uint32_t arguments = pop(), callee = pop();
    if (pickle_[callee].kind != Kind::global) fail("a call of no global");
    if (pickle_[callee].text == "collections.OrderedDict") return push({Kind::dictionary});
    push({Kind::call, 0, {}, {callee, arguments}});
  }
  void keep(std::uint64_t number) {
    if (number > kMostSteps) fail("a value kept as number " + std::to_string(number));
    if (number >= memo_.size()) memo_.resize(number + 1, kMark);
    memo_[number] = top();
  }
  void recall(std::uint64_t number) {
    if (number >= memo_.size() || memo_[number] == kMark) fail("a value that was not kept");
    stack_.push_back(memo_[number]);
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  Pickle pickle_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> memo_;  // kMark: not kept
};

}  // namespace

Pickle read_pickle(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace headscope::model
