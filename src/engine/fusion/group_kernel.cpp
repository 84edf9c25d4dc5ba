#include "engine/fusion/group_kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "cpu/threads/parallel.h"

namespace torchtrt::engine {
namespace {

// The distance of buffers, in bytes. It is a few lines more than elements take: memory a multiple of 4096 apart shares
// places in the first-level cache.
constexpr size_t kBufferBytes = GroupKernel::kPieceBytes + 320;
constexpr int64_t kGrain = 16384;  // elements of one step worth a thread

}  // namespace

GroupKernel::GroupKernel(std::vector<Member> members, const GroupCut& cut)
    : members_(std::move(members)), cut_(cut), pieces_of_span_((cut.span + cut.piece - 1) / cut.piece) {
  TORCHTRT_CHECK(cut.span > 0, "a pointwise group without elements");
  for (const Member& member : members_) {
    steps_ += static_cast<int64_t>(member.steps);
  }
}

void GroupKernel::run(const kernels::RunArgs& args) const {
  const int64_t grain = std::max<int64_t>(1, kGrain / cut_.piece / steps_);
  const int64_t spans = cut_.count / cut_.span;
  kernels::parallelFor(args.threads, 0, spans * pieces_of_span_, grain, [&](int64_t begin, int64_t end) {
    alignas(64) std::array<std::byte, kBuffers * kBufferBytes> buffers;
    for (int64_t i = begin; i < end; ++i) {
      runPiece(args, buffers.data(), pieceAt(i));
    }
  });
  const Member& last = members_.back();
  for (int64_t i = 0; last.parts != nullptr && i < spans; ++i) {
    kernels::RunArgs each = args;
    each.outputs = &args.outputs[last.output.index];
    last.parts->finish(each, i, static_cast<const double*>(args.scratch) + i * pieces_of_span_, pieces_of_span_);
  }
}

size_t GroupKernel::scratchBytes() const {
  const int64_t pieces = members_.back().parts == nullptr ? 0 : cut_.count / cut_.span * pieces_of_span_;
  return static_cast<size_t>(pieces) * sizeof(double);
}

size_t GroupKernel::heldBytes() const {
  size_t bytes = 0;
  for (const Member& member : members_) {
    bytes += kBytesPerKernel + member.prepared->heldBytes();
  }
  return bytes;
}

GroupKernel::Piece GroupKernel::pieceAt(int64_t number) const {
  const int64_t span = number / pieces_of_span_ * cut_.span;
  const int64_t begin = number % pieces_of_span_ * cut_.piece;
  return {number, span + begin, span + std::min(begin + cut_.piece, cut_.span)};
}

void GroupKernel::runPiece(const kernels::RunArgs& args, std::byte* buffers, const Piece& piece) const {
  const int64_t row = piece.begin / cut_.row_length;
  // The buffer holds the tensor's elements from the piece's first on; kernels get the place where all would begin.
  const auto in_buffer = [&](const Source& source) {
    const auto place = reinterpret_cast<uintptr_t>(buffers + source.index * kBufferBytes);
    const int64_t first = source.is_per_row ? row : piece.begin;
    return reinterpret_cast<void*>(place - static_cast<uintptr_t>(first * source.element_bytes));
  };
  for (const Member& member : members_) {
    std::array<const void*, kMostInputs> inputs{};
    for (size_t i = 0; i < member.inputs.size(); ++i) {
      const Source& source = member.inputs[i];
      inputs[i] = source.is_buffer ? in_buffer(source) : args.inputs[source.index];
    }
    if (member.parts != nullptr) {
      const auto place =
          reinterpret_cast<uintptr_t>(inputs[0]) + static_cast<uintptr_t>(piece.begin * member.inputs[0].element_bytes);
      static_cast<double*>(args.scratch)[piece.number] =
          member.parts->fold(reinterpret_cast<const void*>(place), piece.end - piece.begin);
      continue;
    }
    void* output = member.output.is_buffer ? in_buffer(member.output) : args.outputs[member.output.index];
    kernels::RunArgs each = args;
    each.inputs = inputs.data();
    each.outputs = &output;
    each.threads = 1;
    locateErrors(*member.step, [&] {
      if (member.is_per_row) {
        member.pieces->runPiece(each, row, piece.end / cut_.row_length);
      } else {
        member.pieces->runPiece(each, piece.begin, piece.end);
      }
    });
  }
}

}  // namespace torchtrt::engine
