#include "cpu/convolution/direct/each_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/align.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::kernels::convolution {
namespace {

// Returns a pointer to an element of an operand or result; null if that is absent or empty.
const void* elementOf(const void* tensor, int64_t element) {
  return tensor == nullptr ? nullptr : static_cast<const float*>(tensor) + element;
}
void* elementOf(void* tensor, int64_t element) {
  return tensor == nullptr ? nullptr : static_cast<float*>(tensor) + element;
}

class EachGroup final : public Prepared {
 public:
  EachGroup(const Geometry& geometry, std::vector<std::unique_ptr<Prepared>> groups, int64_t together)
      : geometry_(geometry), groups_(std::move(groups)), together_(together) {
    for (const std::unique_ptr<Prepared>& group : groups_) {
      slot_bytes_ = std::max(slot_bytes_, alignUp(group->scratchBytes()));
    }
  }

  size_t scratchBytes() const override {
    return slot_bytes_ * static_cast<size_t>(together_);
  }
  size_t heldBytes() const override {
    size_t bytes = 0;
    for (const std::unique_ptr<Prepared>& group : groups_) {
      bytes += group->heldBytes();
    }
    return bytes;
  }

  void run(const RunArgs& args) const override {
    const auto count = static_cast<int64_t>(groups_.size());
    if (together_ == 1) {
      for (int64_t group = 0; group < count; ++group) {
        runGroup(args, group, 0, args.threads);
      }
      return;
    }
    std::atomic<int64_t> next = 0;
    parallelFor(args.threads, 0, std::min<int64_t>(args.threads, together_), 1, [&](int64_t begin, int64_t end) {
      for (int64_t own = begin; own < end; ++own) {
        for (int64_t group = next.fetch_add(1); group < count; group = next.fetch_add(1)) {
          runGroup(args, group, own, 1);
        }
      }
    });
  }

 private:
  void runGroup(const RunArgs& args, int64_t group, int64_t slot, int threads) const {
    const int64_t output = group * (geometry_.outputs / geometry_.groups);
    std::array<const void*, 4> inputs = {elementOf(args.inputs[0], group * (geometry_.channels / geometry_.groups)),
                                         nullptr, geometry_.has_bias ? elementOf(args.inputs[2], output) : nullptr,
                                         geometry_.has_residual ? elementOf(args.inputs[3], output) : nullptr};
    void* out = elementOf(args.outputs[0], output);
    RunArgs own = args;
    own.inputs = inputs.data();
    own.outputs = &out;
    own.scratch = static_cast<std::byte*>(args.scratch) + static_cast<size_t>(slot) * slot_bytes_;
    own.threads = threads;
    groups_[static_cast<size_t>(group)]->run(own);
  }

  Geometry geometry_;
  std::vector<std::unique_ptr<Prepared>> groups_;
  int64_t together_;  // groups at a time
  size_t slot_bytes_ = 0;
};

}  // namespace

Geometry geometryOfGroup(const Geometry& geometry, int64_t group) {
  Geometry own = geometry;
  own.groups = 1;
  own.channels /= geometry.groups;
  own.outputs /= geometry.groups;
  own.weights += group * own.outputs * own.channels * own.taps();
  return own;
}

int threadsOfGroup(int64_t groups, int64_t parts_of_group, int threads) {
  constexpr int64_t kEach = 4;  // groups of each thread, so that none waits long for another
  const bool many = groups >= kEach * threads;
  return many || std::min<int64_t>(groups, threads) > parts_of_group ? 1 : threads;
}

std::unique_ptr<Prepared> prepareEachGroup(const Geometry& geometry, std::vector<std::unique_ptr<Prepared>> groups,
                                           int threads_of_group, int threads) {
  const int64_t together = threads_of_group == 1 ? std::min<int64_t>(threads, geometry.groups) : 1;
  return std::make_unique<EachGroup>(geometry, std::move(groups), together);
}

}  // namespace torchtrt::kernels::convolution
