#include "cuda/launch/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>

namespace torchtrt::cuda {

Layout collapsed(const Ints& dims, const std::vector<Ints>& strides) {
  Layout result;
  result.strides.resize(strides.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) {
      continue;
    }
    bool merges = !result.dims.empty();
    for (size_t k = 0; k < strides.size() && merges; ++k) {
      merges = result.strides[k].back() == strides[k][axis] * dims[axis];
    }
    if (!merges) {
      result.dims.push_back(1);
    }
    for (size_t k = 0; k < strides.size(); ++k) {
      merges ? void() : result.strides[k].push_back(0);
      result.strides[k].back() = strides[k][axis];
    }
    result.dims.back() *= dims[axis];
  }
  return result;
}

Layout collapsedInAnyOrder(const Ints& dims, const std::vector<Ints>& strides) {
  Ints axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  const Ints& order = strides.back();
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
    return std::abs(order[static_cast<size_t>(a)]) > std::abs(order[static_cast<size_t>(b)]);
  });
  const auto sorted = [&](const Ints& values) {
    Ints result;
    for (const int64_t axis : axes) {
      result.push_back(values[static_cast<size_t>(axis)]);
    }
    return result;
  };
  std::vector<Ints> sorted_strides;
  for (const Ints& each : strides) {
    sorted_strides.push_back(sorted(each));
  }
  return collapsed(sorted(dims), sorted_strides);
}

Ints walkOf(const Ints& dims, const Ints& strides) {
  Ints values = dims.empty() ? Ints{1} : dims;
  const Ints steps = strides.empty() ? Ints{0} : strides;
  values.insert(values.end(), steps.begin(), steps.end());
  return values;
}

void addWalk(Arguments& arguments, const Ints& dims, const Ints& strides) {
  const Ints values = walkOf(dims, strides);
  arguments.bytes(values.data(), values.size() * sizeof(int64_t));
}

bool isShort(const Ints& dims, const Ints& strides) {
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  // Products do not wrap in floating point: sizes this near to the limit are not worth the difference.
  double count = 1, reach = 0;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    count *= static_cast<double>(dims[axis]);
    reach += static_cast<double>(dims[axis]) * std::abs(static_cast<double>(strides[axis]));
  }
  return count > 0 && count < kMost && reach < kMost;
}

void addShortWalk(Arguments& arguments, const Ints& dims, const Ints& strides) {
  const Ints walk = walkOf(dims, strides);
  const auto middle = walk.begin() + static_cast<std::ptrdiff_t>(walk.size() / 2);
  std::vector<uint32_t> values;
  for (auto dim = walk.begin(); dim != middle; ++dim) {
    const auto size = static_cast<uint64_t>(*dim);
    uint32_t shift = 0;
    while ((uint64_t{1} << shift) < size) {
      ++shift;
    }
    const uint64_t multiplier = (((uint64_t{1} << shift) - size) << 32) / size + 1;
    values.insert(values.end(), {static_cast<uint32_t>(size), static_cast<uint32_t>(multiplier), shift});
  }
  std::transform(middle, walk.end(), std::back_inserter(values),
                 [](int64_t stride) { return static_cast<uint32_t>(stride); });
  arguments.bytes(values.data(), values.size() * sizeof(uint32_t));
}

void addStrides(Arguments& arguments, const Ints& strides) {
  const Ints values = strides.empty() ? Ints{0} : strides;
  arguments.bytes(values.data(), values.size() * sizeof(int64_t));
}

int64_t inChunk(size_t element_size) {
  constexpr size_t kBytes = 16;
  return static_cast<int64_t>(kBytes / element_size);
}

bool keepChunks(std::span<const int64_t> strides, int64_t chunk) {
  return std::all_of(strides.begin(), strides.end(), [chunk](int64_t stride) { return stride % chunk == 0; });
}

int64_t chunkOf(const Layout& layout, const std::vector<size_t>& element_sizes) {
  const int64_t chunk = inChunk(*std::max_element(element_sizes.begin(), element_sizes.end()));
  if (layout.dims.empty() || layout.strides.back().back() != 1 ||
      (layout.rank() > 1 && layout.dims.back() % chunk != 0)) {
    return 1;
  }
  for (const Ints& strides : layout.strides) {
    const bool is_one = strides.back() == 0;
    if (!is_one && (strides.back() != 1 || !keepChunks({strides.begin(), strides.end() - 1}, chunk))) {
      return 1;
    }
  }
  return chunk;
}

}  // namespace torchtrt::cuda
