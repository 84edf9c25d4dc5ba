// Interfaces of kernels that can compute more than their own layer: the layer before it, or one that reads its result,
// while rows are in the cache anyway. The rules of engine/fusion ask for it where a plan has such neighbours. The
// results are those of the layers one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/kernel.h"
#include "torchtrt/export.h"

namespace torchtrt::kernels {

// A kernel for several layers, or the reason why the layers stay apart.
using Fused = std::variant<std::unique_ptr<Prepared>, Refusal>;

// A convolution that reads the product of a tensor and one factor for each image and channel.
class TORCHTRT_API ScalesInput {
 public:
  virtual ~ScalesInput() = default;
  // shapes.inputs[0] is the tensor to multiply; the factors lie dense behind the layer's own inputs, as
  // args.inputs[shapes.inputs.size()].
  virtual Fused prepareScaled(const ShapeSet& shapes) const = 0;
};

// A convolution that writes the mean of each channel of each image, too: dense, as its second output.
class TORCHTRT_API AveragesOutput {
 public:
  virtual ~AveragesOutput() = default;
  virtual std::unique_ptr<Prepared> prepareWithMeans(const ShapeSet& shapes) const = 0;
};

// A convolution that writes the maxima of its result over windows of two by two instead.
class TORCHTRT_API PoolsOutput {
 public:
  virtual ~PoolsOutput() = default;
  // shapes.outputs[0] are the maxima.
  virtual Fused preparePooled(const ShapeSet& shapes) const = 0;
};

// Any consecutive pixels of a layer's result, computed when they are asked for.
class TORCHTRT_API PixelSource {
 public:
  virtual ~PixelSource() = default;
  // Pixels [first, first + count) of the whole batch, channels next to each other. `inputs`: the layer's operands, as
  // in RunArgs.
  virtual void compute(const void* const* inputs, int64_t first, int64_t count, float* to) const = 0;
};

// A convolution each of whose pixels is computed from one pixel.
class TORCHTRT_API ComputesPixels {
 public:
  virtual ~ComputesPixels() = default;
  // Null where that cannot be done as its operands lie.
  virtual std::unique_ptr<PixelSource> preparePixels(const ShapeSet& shapes) const = 0;
};

// A convolution that has the one before it computed line by line, as it needs them: what lies between the two stays in
// the cache.
class TORCHTRT_API ReadsPixels {
 public:
  virtual ~ReadsPixels() = default;
  // `before`, with shapes of its own, computes what would be the first operand. That one is null; the operands of
  // `before` lie behind the layer's own, from args.inputs[shapes.inputs.size()] on. with_means: the second output is
  // that of AveragesOutput.
  virtual Fused prepareBehind(const ShapeSet& shapes, const ComputesPixels& before, const ShapeSet& before_shapes,
                              bool with_means) const = 0;
};

// A prepared kernel of one output that computes any part of it alone, element by element or row by row: several of them
// take turns on pieces that stay in the cache.
class TORCHTRT_API RunsPieces {
 public:
  virtual ~RunsPieces() = default;
  // Elements [begin, end) in the order in which the output lies in memory; only for outputs that lie dense. Operands
  // are given by where whole tensors would begin; only what the piece reads and writes of them needs to be there.
  virtual void runPiece(const RunArgs& args, int64_t begin, int64_t end) const = 0;
  virtual bool hasDenseOutput() const = 0;
  // Above 1, each element of the output is a reduction of so many of operand 0, which lie next to each other there, in
  // the order of the output; a piece reads those of its elements.
  virtual int64_t reducedTerms() const {
    return 1;
  }
  // Above 1, pieces have to be whole rows of so many elements, each computed from the same row of operand 0.
  virtual int64_t rowLength() const {
    return 1;
  }
};

// Describes what a pointwise layer computes of operands that are one row each. The result is one row, too.
struct Arithmetic {
  std::string op;          // of an activation, unary, elementwise or select layer; "widen" or "narrow"
  std::string activation;  // what an elementwise layer applies last; empty for nothing
  double alpha = 0;        // of the activation, whichever it is
  double beta = 0;
  DType dtype = DType::kFloat32;             // of the operands, except for a condition; what is computed in
  std::array<int64_t, 3> steps = {1, 1, 1};  // of each operand: 1, or 0 for a single element
  DType stored = DType::kFloat32;            // of 16 bits: what "widen" reads, and "narrow" gives
};

// A prepared kernel that may be one of several whose operands and results stay in registers (pointwise/in_registers.h).
class TORCHTRT_API ComputesInRegisters {
 public:
  virtual ~ComputesInRegisters() = default;
  virtual std::optional<Arithmetic> arithmetic() const = 0;  // nothing where tensors are not one row
};

// A prepared kernel that computes each element of its one result from the elements at the same place, on a device where
// several of them may become one kernel: what they hand on stays in registers, rounded as it would be stored.
class TORCHTRT_API ComposesMaps {
 public:
  struct Layer {
    const ComposesMaps* kernel;
    std::vector<int32_t> operands;  // n: the input of that number, for all layers; -1 - n: the result of layer n
    bool is_written;                // an output, in the order of the layers
  };

  virtual ~ComposesMaps() = default;
  virtual const std::vector<int64_t>& dims() const = 0;  // of the result
  // False for kernels that report faults, which name one layer.
  virtual bool mayBeComposed() const = 0;
  // Layers of the same dims; the last one is written.
  virtual std::unique_ptr<Prepared> compose(std::span<const Layer> layers) const = 0;
};

// A reduction along dense rows (RunsPieces::reducedTerms) whose rows may be cut: the same parts give the same result
// whoever takes them.
class TORCHTRT_API FoldsParts {
 public:
  static constexpr int64_t kPart = 2048;  // terms of a part, except for the last one of a row

  virtual ~FoldsParts() = default;
  // True if the layer is one that can.
  virtual bool folds() const = 0;
  virtual double fold(const void* terms, int64_t count) const = 0;
  // Writes one output from the results of its parts in their order.
  virtual void finish(const RunArgs& args, int64_t output, const double* folded, int64_t parts) const = 0;
};

}  // namespace torchtrt::kernels
