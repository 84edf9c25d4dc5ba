// Products of bfloat16 by oneDNN whose rows have the same bits in every batch. oneDNN divides a product by its rows and
// by the threads, and then the sums, too. So every call is of one block of rows, on one thread. Blocks are always of
// the same size: the last one is filled up. Threads share the blocks.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/align.h"
#include "cpu/matmul/config.h"
#include "cpu/matmul/fast.h"
#include "cpu/onednn/onednn.h"
#include "cpu/threads/parallel.h"
#include "cpu/threads/thread_memory.h"
#include "kernels/real_time.h"

namespace torchtrt::kernels::matmul {

#ifdef TORCHTRT_NO_ONEDNN

CreateResult createOneDnnBlocks(const Problem&) {
  return Refusal{"not-built", "is not part of this build"};
}

#else

namespace {

using dnnl::memory;

constexpr int64_t kRows = 64;          // of a block
constexpr int64_t kMostColumns = 512;  // of a product: threads share columns, too, where rows are few
constexpr size_t kElement = 2;         // bytes
constexpr int kBias = 2;               // operands
constexpr int kResidual = 3;

// The product of a block with some columns of b.
struct Part {
  int64_t first = 0;  // column
  int64_t columns = 0;
  onednn::PackedConstant b;
  std::unique_ptr<onednn::FusedCall> call;
  size_t scratch_bytes = 0;
};

struct Packed {
  Config config;
  int64_t depth = 0;
  int64_t columns = 0;
  std::vector<Part> parts;
  size_t scratch_bytes = 0;  // of any part
};

const std::byte* at(const void* data, int64_t element) {
  return data == nullptr ? nullptr : static_cast<const std::byte*>(data) + static_cast<size_t>(element) * kElement;
}

size_t bytesOf(int64_t elements) {
  return static_cast<size_t>(elements) * kElement;
}

class OneDnnBlocks final : public Prepared {
 public:
  OneDnnBlocks(std::shared_ptr<const Packed> packed, const ShapeSet& shapes) : packed_(std::move(packed)) {
    const std::vector<int64_t>& dims = shapes.outputs[0].dims;
    rows_ = std::accumulate(dims.begin(), dims.end() - 1, int64_t{1}, std::multiplies<>());
  }

  void run(const RunArgs& args) const override {
    const int64_t blocks = (rows_ + kRows - 1) / kRows;
    const auto parts = static_cast<int64_t>(packed_->parts.size());
    parallelFor(args.threads, 0, blocks * parts, 1, [&](int64_t begin, int64_t end) {
      const Memory memory(*packed_, rows_);
      for (int64_t unit = begin; unit < end; ++unit) {
        multiply(args, packed_->parts[static_cast<size_t>(unit / blocks)], unit % blocks * kRows, memory);
      }
    });
  }

 private:
  // Scratch memory of a thread: oneDNN's, and the operands of a block that is filled up.
  struct Memory {
    ThreadMemory<std::byte> all;
    std::byte* scratch;
    std::byte* a;
    std::byte* residual;
    std::byte* out;

    Memory(const Packed& packed, int64_t rows) {
      const bool fills_up = rows % kRows != 0;
      const size_t of_a = fills_up ? alignUp(bytesOf(kRows * packed.depth)) : 0;
      const size_t of_out = fills_up ? alignUp(bytesOf(kRows * packed.columns)) : 0;
      const size_t of_scratch = alignUp(packed.scratch_bytes);
      all = takeThreadMemory<std::byte>(of_scratch + of_a + 2 * of_out);
      scratch = all.get();
      a = scratch + of_scratch;
      residual = a + of_a;
      out = residual + of_out;
    }
  };

  void multiply(const RunArgs& args, const Part& part, int64_t first, const Memory& memory) const {
    const Packed& packed = *packed_;
    const int64_t rows = std::min(kRows, rows_ - first);
    const std::byte* a = at(args.inputs[0], first * packed.depth);
    const std::byte* residual =
        packed.config.has_residual ? at(args.inputs[kResidual], first * packed.columns + part.first) : nullptr;
    auto* out = const_cast<std::byte*>(at(args.outputs[0], first * packed.columns + part.first));
    std::byte* const result = out;
    if (rows < kRows) {
      fillUp(a, rows, packed.depth, packed.depth, memory.a);
      a = memory.a;
      if (residual != nullptr) {
        fillUp(residual, rows, part.columns, packed.columns, memory.residual);
        residual = memory.residual;
      }
      out = memory.out;
    }
    try {
      part.call->run({a, part.b.data.get(), out, memory.scratch,
                      packed.config.has_bias ? at(args.inputs[kBias], part.first) : nullptr, residual});
    } catch (const dnnl::error& error) {
      onednn::rethrow(error, "matrix_multiply");
    }
    for (int64_t row = 0; rows < kRows && row < rows; ++row) {
      const size_t offset = bytesOf(row * packed.columns);
      std::memcpy(result + offset, memory.out + offset, bytesOf(part.columns));
    }
  }

  // A block of which `rows` lines are given, and the others are zeros. Lines lie `stride` elements apart.
  static void fillUp(const std::byte* from, int64_t rows, int64_t length, int64_t stride, std::byte* to) {
    for (int64_t row = 0; row < kRows; ++row) {
      const size_t offset = bytesOf(row * stride);
      if (row < rows) {
        std::memcpy(to + offset, from + offset, bytesOf(length));
      } else {
        std::memset(to + offset, 0, bytesOf(length));
      }
    }
  }

  std::shared_ptr<const Packed> packed_;
  int64_t rows_ = 0;
};

class OneDnnBlocksKernel final : public Kernel, public MayAllocate {
 public:
  explicit OneDnnBlocksKernel(std::shared_ptr<const Packed> packed) : packed_(std::move(packed)) {}

  std::unique_ptr<Prepared> prepare(const ShapeSet& shapes) const override {
    return std::make_unique<OneDnnBlocks>(packed_, shapes);
  }
  bool needsConstant(int input) const override {
    return input != 1;
  }
  size_t packedBytes() const override {
    size_t bytes = 0;
    for (const Part& part : packed_->parts) {
      bytes += part.b.desc.get_size();
    }
    return bytes;
  }
  bool mayAllocate() const override {
    return true;
  }

 private:
  std::shared_ptr<const Packed> packed_;
};

Part makePart(const Packed& packed, const Problem& problem, int64_t first) {
  const Config& config = packed.config;
  Part part;
  part.first = first;
  part.columns = std::min(kMostColumns, packed.columns - first);
  const ThreadScope scope(1);
  const memory::desc a = onednn::describe({kRows, packed.depth}, {packed.depth, 1}, DType::kBFloat16);
  const memory::desc out = onednn::describe({kRows, part.columns}, {packed.columns, 1}, DType::kBFloat16);
  const memory::desc bias = onednn::describe({1, part.columns}, {part.columns, 1}, DType::kBFloat16);
  const memory::desc any = onednn::describeAny({packed.depth, part.columns}, DType::kBFloat16);
  onednn::Fusion fusion = onednn::fuse(config.activation, config.alpha, config.beta,
                                       config.has_residual ? &out : nullptr, DType::kBFloat16);
  const dnnl::matmul::primitive_desc desc =
      config.has_bias ? dnnl::matmul::primitive_desc(onednn::engine(), a, any, bias, out, fusion.attributes)
                      : dnnl::matmul::primitive_desc(onednn::engine(), a, any, out, fusion.attributes);
  const bool transposed = config.transpose_b;
  const memory::desc given = onednn::describe(
      {packed.depth, part.columns}, {transposed ? 1 : packed.columns, transposed ? packed.depth : 1}, DType::kBFloat16);
  part.b = onednn::packConstant(at(problem.inputs[1].constant, transposed ? first * packed.depth : first), given,
                                desc.weights_desc(), problem.threads);
  part.scratch_bytes = desc.scratchpad_desc().get_size();
  part.call = std::make_unique<onednn::FusedCall>(dnnl::matmul(desc), desc, config.has_bias ? &bias : nullptr,
                                                  config.has_residual ? &out : nullptr, std::move(fusion), 1);
  return part;
}

}  // namespace

CreateResult createOneDnnBlocks(const Problem& problem) {
  if (!problem.batch_invariant) {
    return Refusal{"batch", "is for rows whose bits may not depend on the batch"};
  }
  if (std::optional<Refusal> refusal = onednn::refuseBFloat16()) {
    return *refusal;
  }
  if (std::optional<Refusal> refusal = commonRefusal(problem, DType::kBFloat16)) {
    return *refusal;
  }
  auto packed = std::make_shared<Packed>();
  packed->config = configOf(problem);
  const Config& config = packed->config;
  const std::vector<int64_t>& b = problem.inputs[1].dims;
  const Operand& output = problem.outputs[0];
  if (problem.inputs[1].constant == nullptr) {
    return Refusal{"dynamic-weights", "packs b when it is loaded and needs it constant"};
  }
  if (std::any_of(b.begin(), b.end() - 2, [](int64_t size) { return size != 1; }) ||
      b.size() > problem.inputs[0].dims.size()) {
    return Refusal{"batch", "multiplies with one matrix b only"};
  }
  if (config.transpose_a) {
    return Refusal{"transpose", "reads a in rows only"};
  }
  packed->depth = b[b.size() - (config.transpose_b ? 1 : 2)];
  packed->columns = b[b.size() - (config.transpose_b ? 2 : 1)];
  if (packed->depth == 0 || packed->columns == 0) {
    return Refusal{"empty", "has nothing to pack"};
  }
  if (config.has_bias && (!isRow(problem.inputs[kBias].dims) || problem.inputs[kBias].dims.back() != packed->columns)) {
    return Refusal{"bias-shape", "adds a bias of one value per column only"};
  }
  if (config.has_residual && problem.inputs[kResidual].dims != output.dims) {
    return Refusal{"residual-shape", "adds a residual of the output's shape only"};
  }
  if (onednn::fuse(config.activation, config.alpha, config.beta, nullptr, DType::kBFloat16).rest) {
    return Refusal{"activation", "has no " + config.activation + " for sums that are not rounded yet"};
  }
  try {
    for (int64_t first = 0; first < packed->columns; first += kMostColumns) {
      packed->parts.push_back(makePart(*packed, problem, first));
      packed->scratch_bytes = std::max(packed->scratch_bytes, packed->parts.back().scratch_bytes);
    }
  } catch (const dnnl::error& error) {
    return Refusal{"unsupported", std::string("oneDNN refuses: ") + error.what()};
  }
  return std::make_unique<OneDnnBlocksKernel>(std::move(packed));
}

#endif  // TORCHTRT_NO_ONEDNN

}  // namespace torchtrt::kernels::matmul
