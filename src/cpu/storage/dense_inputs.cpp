#include "cpu/storage/dense_inputs.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/copy_loop.h"
#include "cpu/threads/thread_memory.h"

namespace torchtrt::kernels {
namespace {

struct Copy {
  size_t input;
  size_t offset;  // in the scratch memory, in bytes
  CopyLoop loop;
};

class PreparedOnCopies final : public Prepared {
 public:
  PreparedOnCopies(std::unique_ptr<Prepared> inner, std::vector<Copy> copies, size_t bytes, size_t input_count)
      : inner_(std::move(inner)), copies_(std::move(copies)), bytes_(bytes), input_count_(input_count) {}

  void run(const RunArgs& args) const override {
    ThreadVector<const void*> inputs(args.inputs, args.inputs + input_count_);
    auto* scratch = static_cast<std::byte*>(args.scratch);
    for (const Copy& copy : copies_) {
      if (inputs[copy.input] != nullptr) {
        copy.loop.run(args.threads, inputs[copy.input], scratch + copy.offset);
        inputs[copy.input] = scratch + copy.offset;
      }
    }
    inner_->run({inputs.data(), args.outputs, scratch + bytes_, args.threads});
  }
  size_t scratchBytes() const override {
    return bytes_ + inner_->scratchBytes();
  }
  size_t heldBytes() const override {
    return inner_->heldBytes();
  }

 private:
  std::unique_ptr<Prepared> inner_;
  std::vector<Copy> copies_;
  size_t bytes_;
  size_t input_count_;
};

}  // namespace

bool liesCrosswise(const TensorDesc& desc) {
  constexpr int64_t kSmall = 4096;  // elements: a loop of their own costs more than what it saves
  bool neighbours = false;
  int64_t last_stride = 0;
  for (size_t axis = 0; axis < desc.dims.size(); ++axis) {
    if (desc.dims[axis] > 1) {
      neighbours = neighbours || desc.strides[axis] == 1;
      last_stride = desc.strides[axis];
    }
  }
  return neighbours && last_stride != 0 && last_stride != 1 && countOf(desc.dims) >= kSmall;
}

std::unique_ptr<Prepared> prepareOnDenseInputs(
    const ShapeSet& shapes, const std::function<std::unique_ptr<Prepared>(const ShapeSet&)>& prepare) {
  ShapeSet dense = shapes;
  std::vector<Copy> copies;
  size_t bytes = 0;
  for (size_t i = 0; i < dense.inputs.size(); ++i) {
    TensorDesc& desc = dense.inputs[i];
    std::vector<int64_t> strides = denseStrides(desc.dims);
    if (strides != desc.strides) {
      copies.push_back({i, bytes, CopyLoop(desc.dtype, desc.dims, strides, desc.strides)});
      bytes += alignUp(static_cast<size_t>(countOf(desc.dims)) * sizeOf(desc.dtype));
      desc.strides = std::move(strides);
    }
  }
  std::unique_ptr<Prepared> inner = copies.empty() ? nullptr : prepare(dense);
  if (inner == nullptr) {
    return nullptr;
  }
  return std::make_unique<PreparedOnCopies>(std::move(inner), std::move(copies), bytes, dense.inputs.size());
}

}  // namespace torchtrt::kernels
