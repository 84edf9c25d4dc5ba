// Orders equal values as PyTorch's sort, topk and kthvalue on the CPU leave them. Their algorithms are not stable, but
// always take the same steps. This code takes those steps only for equal values, since the order of others is the same
// by any algorithm.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "cpu/threads/thread_memory.h"
#include "kernels/kernel.h"

namespace torchtrt::kernels::topk {

enum class Ties : uint8_t {
  kFirst,     // the lowest position
  kSort,      // as PyTorch's sort
  kTopK,      // as its topk
  kKthValue,  // the last of the front is what its kthvalue finds; the others are in no particular order
};

struct Order {
  size_t axis = 0;
  bool largest = true;
  bool sorted = true;
  Ties ties = Ties::kFirst;
};

// The attributes of a topk layer.
Order readOrder(const Attributes& attributes);
// The same for one set of shapes: PyTorch sorts some tensors by a stable algorithm.
Order orderFor(const Order& order, const TensorDesc& input);

template <typename T>
bool isNan(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else {
    return false;
  }
}

// PyTorch's order puts NaN above every number and makes it equal to itself.
template <typename T>
bool areEqual(T a, T b) {
  return a == b || (isNan(a) && isNan(b));
}

// Brings positions of a row into PyTorch's order; `places` are those of any right order.
template <typename T>
class PyTorchOrder {
 public:
  explicit PyTorchOrder(const Order& order) : order_(order) {}

  void arrange(const T* row, int64_t size, int64_t* places, int64_t count) {
    constexpr int64_t kShort = 16;  // PyTorch's sort inserts, which is stable
    if (order_.ties == Ties::kFirst || (order_.ties == Ties::kSort && size <= kShort) ||
        (order_.sorted && isOnly(row, size, places, count))) {
      return;
    }
    elements_.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      elements_[static_cast<size_t>(i)] = {row[i], i};
    }
    if (order_.largest) {
      take(count,
           [](const Element& a, const Element& b) { return (isNan(a.first) && !isNan(b.first)) || a.first > b.first; });
    } else {
      take(count,
           [](const Element& a, const Element& b) { return (!isNan(a.first) && isNan(b.first)) || a.first < b.first; });
    }
    for (int64_t i = 0; i < count; ++i) {
      places[i] = elements_[static_cast<size_t>(i)].second;
    }
  }

 private:
  using Element = std::pair<T, int64_t>;

  // True if the front has no other right order than this one.
  bool isOnly(const T* row, int64_t size, const int64_t* places, int64_t count) const {
    for (int64_t i = 1; i < count && order_.ties != Ties::kKthValue; ++i) {
      if (areEqual(row[places[i - 1]], row[places[i]])) {
        return false;
      }
    }
    const T last = row[places[count - 1]];
    if (count == size && order_.ties != Ties::kKthValue) {
      return true;
    }
    int64_t equal = 0;  // to the last
    for (int64_t i = 0; i < size; ++i) {
      equal += static_cast<int64_t>(row[i] == last);
    }
    return equal == 1 || (isNan(last) && std::count_if(row, row + size, isNan<T>) == 1);
  }

  template <typename Before>
  void take(int64_t count, const Before& before) {
    const auto begin = elements_.begin();
    const auto end = elements_.end();
    const auto size = static_cast<int64_t>(elements_.size());
    constexpr int64_t kFew = 64;  // PyTorch sorts a front that is at most this part of all
    if (order_.ties == Ties::kSort) {
      std::sort(begin, end, before);
    } else if (order_.ties == Ties::kKthValue) {
      selectKth(count - 1, before);
    } else if (count * kFew <= size) {
      std::partial_sort(begin, begin + count, end, before);
    } else {
      std::nth_element(begin, begin + count - 1, end, before);
      if (order_.sorted) {
        std::sort(begin, begin + count - 1, before);
      }
    }
  }

  // Hoare's selection with the median of three as the pivot, which lies at the left end while elements are exchanged.
  template <typename Before>
  void selectKth(int64_t k, const Before& before) {
    const auto at = [&](int64_t i) -> Element& { return elements_[static_cast<size_t>(i)]; };
    const auto order = [&](int64_t first, int64_t second) {
      if (before(at(second), at(first))) {
        std::swap(at(first), at(second));
      }
    };
    int64_t left = 0;
    int64_t right = static_cast<int64_t>(elements_.size()) - 1;
    while (right > left + 1) {
      std::swap(at(left + (right - left) / 2), at(left + 1));
      order(left + 1, right);
      order(left, right);
      order(left + 1, left);
      const Element pivot = at(left);
      int64_t i = left + 1;
      int64_t j = right;
      while (true) {
        while (before(at(++i), pivot)) {
        }
        while (before(pivot, at(--j))) {
        }
        if (j < i) {
          break;
        }
        std::swap(at(i), at(j));
      }
      std::swap(at(left), at(j));
      left = j <= k ? i : left;
      right = j >= k ? j - 1 : right;
    }
    if (right == left + 1) {
      order(left, right);
    }
  }

  Order order_;
  ThreadVector<Element> elements_;
};

}  // namespace torchtrt::kernels::topk
