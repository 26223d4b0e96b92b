#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace headscope::app {

/// An immutable value of one of several types, like std::variant but cheap to compile with many types: copies
/// share the value, so that constructing and copying instantiate code for one type only. Only `visit` needs
/// all of them.
template <class... Types>
class OneOf {
  template <class T>
  static constexpr bool kHas = (std::same_as<T, Types> || ...);

 public:
  static constexpr std::size_t kTypes = sizeof...(Types);

  /// The index of a type in `Types`.
  template <class T>
  requires kHas<T>
  static constexpr std::size_t index_of() {
    std::size_t index = 0;
    for (const bool same : {std::same_as<T, Types>...}) {
      if (same) break;
      ++index;
    }
    return index;
  }

  template <class T>
  requires kHas<std::remove_cvref_t<T>> OneOf(
      T&& value)  // NOLINT(google-explicit-constructor): as std::variant
      : index_(index_of<std::remove_cvref_t<T>>()),
        value_(std::make_shared<const std::remove_cvref_t<T>>(std::forward<T>(value))) {}

  std::size_t index() const { return index_; }

  /// Null if the value has another type.
  template <class T>
  requires kHas<T>
  const T* get_if() const { return index_ == index_of<T>() ? static_cast<const T*>(value_.get()) : nullptr; }

  /// Calls the visitor with the value.
  template <class Visitor>
  auto visit(Visitor&& visitor) const {
    using Result = std::common_type_t<std::invoke_result_t<Visitor&, const Types&>...>;
    using Call = Result (*)(Visitor&, const void*);
    static constexpr std::array<Call, kTypes> kCalls{[](Visitor& visit_as, const void* value) -> Result {
      return visit_as(*static_cast<const Types*>(value));
    }...};
    return kCalls[index_](visitor, value_.get());
  }

 private:
  std::size_t index_;
  std::shared_ptr<const void> value_;
};

}  // namespace headscope::app
