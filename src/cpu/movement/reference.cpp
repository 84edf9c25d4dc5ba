#include "base/check.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/movement/copy_loop.h"
#include "cpu/movement/movement.h"

namespace torchtrt::kernels {
namespace {

// Everything that is one copy: prepare() works out which.
class CopyPrepared final : public Prepared {
 public:
  explicit CopyPrepared(CopyLoop loop) : loop_(std::move(loop)) {}
  void run(const RunArgs& args) const override {
    loop_.run(args.threads, args.inputs[0], args.outputs[0]);
  }

 private:
  CopyLoop loop_;
};

class ExpandKernel final : public Kernel {
 public:
  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    const TensorDesc& out = shapes.outputs.at(0);
    return std::make_unique<CopyPrepared>(
        CopyLoop(out.dtype, out.dims, out.strides, broadcastStrides(shapes.inputs.at(0), out.dims)));
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }
};

class SliceKernel final : public Kernel {
 public:
  explicit SliceKernel(std::vector<int64_t> stride) : stride_(std::move(stride)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& out = shapes.outputs.at(0);
    const std::vector<int64_t>& start = shapes.dimsOf("start");
    std::vector<int64_t> strides(in.dims.size());
    int64_t offset = 0;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      // No second element is reached where there is none; a stride beyond the tensor would overflow.
      strides[axis] = out.dims[axis] > 1 ? in.strides[axis] * stride_.at(axis) : 0;
      offset += in.strides[axis] * start.at(axis);
    }
    return std::make_unique<CopyPrepared>(CopyLoop(out.dtype, out.dims, out.strides, strides, 0, offset));
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }

 private:
  std::vector<int64_t> stride_;
};

class ConcatenationPrepared final : public Prepared {
 public:
  ConcatenationPrepared(int64_t axis, const ShapeSet& shapes) {
    const TensorDesc& out = shapes.outputs.at(0);
    int64_t position = 0;
    for (const TensorDesc& in : shapes.inputs) {
      loops_.emplace_back(out.dtype, in.dims, out.strides, in.strides,
                          position * out.strides.at(static_cast<size_t>(axis)));
      position += in.dims.at(static_cast<size_t>(axis));
    }
  }
  void run(const RunArgs& args) const override {
    for (size_t i = 0; i < loops_.size(); ++i) {
      loops_[i].run(args.threads, args.inputs[i], args.outputs[0]);
    }
  }

 private:
  std::vector<CopyLoop> loops_;
};

// Axes of size 1, wherever they stand, make no difference to what moves where.
void dropOnes(std::vector<int64_t>& dims, std::vector<int64_t>& strides) {
  size_t left = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) {
      dims[left] = dims[i];
      strides[left++] = strides[i];
    }
  }
  dims.resize(left);
  strides.resize(left);
}

struct ShuffleConfig {
  std::vector<int64_t> first, second;  // permutations, empty for the identity
};

// A reshape of which neither side is dense: both are walked in row-major order.
class ReshapePrepared final : public Prepared {
 public:
  ReshapePrepared(DType dtype, FlatCursor target, FlatCursor source, int64_t count)
      : target_(std::move(target)), source_(std::move(source)), count_(count), size_(sizeOf(dtype)) {}

  void run(const RunArgs& args) const override {
    const auto* from = static_cast<const std::byte*>(args.inputs[0]);
    auto* to = static_cast<std::byte*>(args.outputs[0]);
    parallelFor(args.threads, 0, count_, grainFor(1), [&](int64_t begin, int64_t end) {
      FlatCursor target = target_;
      FlatCursor source = source_;
      target.seek(begin);
      source.seek(begin);
      while (begin < end) {
        const int64_t n = std::min({target.runLength(), source.runLength(), end - begin});
        copyRun(size_, from + static_cast<size_t>(source.offset()) * size_, source.step(),
                to + static_cast<size_t>(target.offset()) * size_, target.step(), n);
        target.advance(n);
        source.advance(n);
        begin += n;
      }
    });
  }

 private:
  FlatCursor target_, source_;
  int64_t count_;
  size_t size_;
};

class ShuffleKernel final : public Kernel {
 public:
  explicit ShuffleKernel(ShuffleConfig config) : config_(std::move(config)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    const TensorDesc& in = shapes.inputs.at(0);
    const TensorDesc& out = shapes.outputs.at(0);
    // The input seen after the first transposition, the output seen before the second.
    std::vector<int64_t> in_dims = in.dims, in_strides = in.strides, out_dims = out.dims, out_strides = out.strides;
    for (size_t i = 0; i < config_.first.size(); ++i) {
      in_dims.at(i) = in.dims.at(static_cast<size_t>(config_.first[i]));
      in_strides.at(i) = in.strides.at(static_cast<size_t>(config_.first[i]));
    }
    for (size_t i = 0; i < config_.second.size(); ++i) {
      out_dims.at(static_cast<size_t>(config_.second[i])) = out.dims.at(i);
      out_strides.at(static_cast<size_t>(config_.second[i])) = out.strides.at(i);
    }
    const int64_t count = countOf(out_dims);
    TORCHTRT_CHECK(count == countOf(in_dims), "a reshape of " << countOf(in_dims) << " elements to " << count);
    dropOnes(in_dims, in_strides);
    dropOnes(out_dims, out_strides);
    // A dense output also serves with the other side's dims, and the reshape is a copy.
    if (out_strides == denseStrides(out_dims)) {
      return std::make_unique<CopyPrepared>(CopyLoop(out.dtype, in_dims, denseStrides(in_dims), in_strides));
    }
    if (in_strides == denseStrides(in_dims)) {
      return std::make_unique<CopyPrepared>(CopyLoop(out.dtype, out_dims, out_strides, denseStrides(out_dims)));
    }
    if (in_dims == out_dims) {
      return std::make_unique<CopyPrepared>(CopyLoop(out.dtype, out_dims, out_strides, in_strides));
    }
    return std::make_unique<ReshapePrepared>(out.dtype, FlatCursor(out_dims, out_strides),
                                             FlatCursor(in_dims, in_strides), count);
  }
  bool acceptsStrides(int, const TensorDesc&) const override {
    return true;
  }

 private:
  ShuffleConfig config_;
};

}  // namespace

CreateResult createShuffleReference(const Problem& problem) {
  return std::make_unique<ShuffleKernel>(ShuffleConfig{problem.attributes->getInts("first_permutation", {}),
                                                       problem.attributes->getInts("second_permutation", {})});
}

CreateResult createSliceReference(const Problem& problem) {
  return std::make_unique<SliceKernel>(problem.attributes->getInts("stride"));
}

CreateResult createExpandReference(const Problem&) {
  return std::make_unique<ExpandKernel>();
}

CreateResult createConcatenationReference(const Problem& problem) {
  return makeKernel<ConcatenationPrepared>(problem.attributes->getInt("axis"));
}

CreateResult createIdentityReference(const Problem&) {
  return std::make_unique<ExpandKernel>();
}

CreateResult createReformatReference(const Problem&) {
  return std::make_unique<ExpandKernel>();
}

}  // namespace torchtrt::kernels
