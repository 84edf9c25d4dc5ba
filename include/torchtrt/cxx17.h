// Included by export.h where the compiler speaks C++17, never by others. It has a class of std::span's layout, so that
// plugins and output allocators can be written in C++17. Values of types.h cannot be compared there, and a function
// that takes a span and is not virtual (Engine::load) links in C++20 alone.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace torchtrt {

template <typename T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, size_t size) noexcept : data_(data), size_(size) {}
  // Views a vector, array or string, which has to live as long as the view is used.
  template <typename Range, typename Element = std::remove_pointer_t<decltype(std::data(std::declval<Range&>()))>,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<Range>, Span> &&
                                        std::is_convertible_v<Element (*)[], T (*)[]>>>
  constexpr Span(Range&& range) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T* data() const noexcept {
    return data_;
  }
  constexpr size_t size() const noexcept {
    return size_;
  }
  constexpr bool empty() const noexcept {
    return size_ == 0;
  }
  constexpr T* begin() const noexcept {
    return data_;
  }
  constexpr T* end() const noexcept {
    return data_ + size_;
  }
  constexpr T& operator[](size_t index) const noexcept {
    return data_[index];
  }
  constexpr T& front() const noexcept {
    return data_[0];
  }
  constexpr T& back() const noexcept {
    return data_[size_ - 1];
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace torchtrt

#define TORCHTRT_SPAN ::torchtrt::Span
#define TORCHTRT_DEFAULTED = delete
#define TORCHTRT_USING_ENUM(name) static_assert(true)
