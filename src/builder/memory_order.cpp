#include "builder/memory_order.h"

namespace torchtrt::builder {

namespace {

Order withoutUnits(const Dims& dims, const Order& order) {
  Order result;
  for (const uint8_t axis : explicitOrder(order, dims.rank())) {
    if (!(dims[axis] == Dim(1))) {
      result.push_back(axis);
    }
  }
  return result;
}

}  // namespace

Order channelsLast(int rank) {
  Order order = {0};
  for (int axis = 2; axis < rank; ++axis) {
    order.push_back(static_cast<uint8_t>(axis));
  }
  order.push_back(1);
  return order;
}

Order explicitOrder(const Order& order, int rank) {
  Order result = order;
  for (int axis = 0; order.empty() && axis < rank; ++axis) {
    result.push_back(static_cast<uint8_t>(axis));
  }
  return result;
}

Order simplified(const Order& order) {
  return order == explicitOrder({}, static_cast<int>(order.size())) ? Order() : order;
}

bool sameMemory(const Dims& dims, const Order& a, const Order& b) {
  return withoutUnits(dims, a) == withoutUnits(dims, b);
}

Order transposedOrder(const Order& order, const std::vector<int64_t>& permutation) {
  Order inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<uint8_t>(i);
  }
  Order result;
  for (const uint8_t axis : explicitOrder(order, static_cast<int>(permutation.size()))) {
    result.push_back(inverse[axis]);
  }
  return simplified(result);
}

}  // namespace torchtrt::builder
