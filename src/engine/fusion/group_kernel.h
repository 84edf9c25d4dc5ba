// A pointwise group as one prepared kernel: each piece goes through all members. Private to engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/schedule/drafts.h"
#include "kernels/fusion.h"
#include "plan/plan.h"

namespace torchtrt::engine {

// An operand of a member: the group's own operand of that number, or a buffer.
struct Source {
  size_t index = 0;
  int64_t element_bytes = 0;
  bool is_buffer = false;
  bool is_per_row = false;  // holds one element for each row
};

struct Member {
  const plan::Step* step = nullptr;  // the last of `steps` that it is
  size_t steps = 1;
  std::unique_ptr<kernels::Prepared> prepared;
  const kernels::RunsPieces* pieces = nullptr;  // the same
  const kernels::FoldsParts* parts = nullptr;   // the same, if it reduces rows part by part: the last member
  bool is_per_row = false;                      // its result has one element for each row
  std::vector<Source> inputs;
  Source output;
};

// Says how a group cuts its tensors.
struct GroupCut {
  int64_t count;       // elements
  int64_t row_length;  // 1 if no member takes whole rows
  int64_t span;        // elements that are cut by themselves: a row that is reduced part by part, or all
  int64_t piece;       // elements: whole rows
};

class GroupKernel final : public kernels::Prepared {
 public:
  static constexpr size_t kBuffers = 12;        // results that wait for their readers, at most
  static constexpr size_t kPieceBytes = 16384;  // of a result, at most
  static constexpr size_t kMostInputs = 8;      // of a member

  GroupKernel(std::vector<Member> members, const GroupCut& cut);

  void run(const kernels::RunArgs& args) const override;
  size_t scratchBytes() const override;
  size_t heldBytes() const override;

 private:
  struct Piece {
    int64_t number, begin, end;  // elements
  };

  Piece pieceAt(int64_t number) const;
  void runPiece(const kernels::RunArgs& args, std::byte* buffers, const Piece& piece) const;

  std::vector<Member> members_;
  GroupCut cut_;
  int64_t pieces_of_span_;
  int64_t steps_ = 0;
};

}  // namespace torchtrt::engine
