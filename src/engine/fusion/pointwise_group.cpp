#include "engine/fusion/pointwise_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "cpu/loops/strided_loop.h"
#include "cpu/pointwise/expression/in_registers.h"
#include "engine/fusion/group_kernel.h"
#include "engine/fusion/joined_drafts.h"
#include "kernels/fusion.h"

namespace torchtrt::engine {
namespace {

constexpr int64_t kPiece = kernels::FoldsParts::kPart;  // elements

bool lieAlike(const kernels::TensorDesc& a, const kernels::TensorDesc& b) {
  return a.dims == b.dims && a.strides == b.strides;
}

const kernels::RunsPieces* piecesOf(const Draft& draft) {
  return dynamic_cast<const kernels::RunsPieces*>(draft.prepared.get());
}

const kernels::FoldsParts* partsOf(const Draft& draft) {
  return dynamic_cast<const kernels::FoldsParts*>(draft.prepared.get());
}

bool foldsParts(const Draft& draft) {
  return partsOf(draft) != nullptr && partsOf(draft)->folds();
}

// The steps from `begin` on have this in common as long as they are a chain: all tensors lie like one, except those
// that have one element for each of its rows.
struct Common {
  const kernels::TensorDesc* whole = nullptr;
  const kernels::TensorDesc* per_row = nullptr;  // null until there is one
  int64_t row_length = 1;                        // 1 until a step takes whole rows
  int64_t folded_length = 1;                     // above 1 the last step reduces rows of that length part by part
  size_t widest = 1;                             // bytes of an element
  std::vector<bool> are_per_row;                 // results, by step

  bool fits() const {
    return static_cast<size_t>(row_length) <= GroupKernel::kPieceBytes / widest;
  }
  GroupCut cut() const {
    const int64_t most = row_length == 1 ? kPiece : static_cast<int64_t>(GroupKernel::kPieceBytes / widest);
    const int64_t count = kernels::countOf(whole->dims);
    return {count, row_length, folded_length == 1 ? count : folded_length, most / row_length * row_length};
  }
  // True if a tensor like `per_row`, broadcast, gives each row its element.
  bool isBroadcast() const {
    bool result = per_row->dims.size() == whole->dims.size();
    for (size_t axis = 0; result && axis < whole->dims.size(); ++axis) {
      result = per_row->dims[axis] == 1 || per_row->strides[axis] * row_length == whole->strides[axis];
    }
    return result;
  }
};

class GroupMaker {
 public:
  GroupMaker(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts)
      : model_(model), places_(places), drafts_(drafts) {}

  void run() {
    Common common;
    const auto end_of = [&](size_t begin) {
      common = Common();
      return endOfGroup(begin, common);
    };
    joinDrafts(places_, drafts_, end_of, [&](size_t begin, size_t end) { return fused(begin, end, common); });
  }

 private:
  const kernels::TensorDesc& descOf(int32_t tensor) const {
    return places_[static_cast<size_t>(tensor)].desc;
  }

  bool mayJoin(const Draft& draft) const {
    const kernels::RunsPieces* pieces = piecesOf(draft);
    return pieces != nullptr && pieces->hasDenseOutput() && draft.step >= 0 && draft.outputs.size() == 1 &&
           draft.inputs.size() <= GroupKernel::kMostInputs;
  }

  // Takes one more step into what those before it have in common, unless it does not fit.
  bool extend(Common& common, const Draft& next, size_t begin) const {
    if (common.folded_length != 1) {
      return false;
    }
    const kernels::RunsPieces& pieces = *piecesOf(next);
    const kernels::TensorDesc& out = descOf(next.outputs[0]);
    const bool reduces = pieces.reducedTerms() != 1;
    const int64_t row_length = std::max(pieces.reducedTerms(), pieces.rowLength());
    Common extended = common;
    const kernels::TensorDesc& whole = reduces ? descOf(next.inputs[0]) : out;
    if (common.whole == nullptr) {
      extended.whole = &whole;
    }
    const bool is_per_row = reduces || (common.per_row != nullptr && row_length == 1 && lieAlike(out, *common.per_row));
    if (row_length != 1) {
      extended.row_length = row_length;
    }
    if (is_per_row && common.per_row == nullptr) {
      extended.per_row = &out;
    }
    extended.widest = std::max(common.widest, sizeOf(out.dtype));
    extended.are_per_row.push_back(is_per_row);
    if (!extended.fits() && common.row_length == 1 && foldsParts(next)) {
      extended.row_length = 1;
      extended.folded_length = row_length;
    }
    const bool needs_scratch = extended.folded_length == 1 && next.prepared->scratchBytes() != 0;
    const bool lies_alike = ((is_per_row && !reduces) || lieAlike(whole, *extended.whole)) &&
                            (!is_per_row || lieAlike(out, *extended.per_row)) &&
                            (common.row_length == 1 || common.row_length == extended.row_length) &&
                            (common.whole != nullptr || extended.folded_length == 1);
    if (needs_scratch || !lies_alike || !extended.fits() || !readsAlike(extended, next, begin)) {
      return false;
    }
    common = std::move(extended);
    return true;
  }

  // True if all that the draft, the last of the chain that begins here, reads of the others' results goes with its own
  // result piece by piece.
  bool readsAlike(const Common& common, const Draft& draft, size_t begin) const {
    const kernels::RunsPieces& pieces = *piecesOf(draft);
    const bool takes_rows = pieces.reducedTerms() != 1 || pieces.rowLength() != 1;
    for (size_t k = 0; k < draft.inputs.size(); ++k) {
      const int32_t input = draft.inputs[k];
      for (size_t i = 0; i + 1 < common.are_per_row.size() && input >= 0; ++i) {
        const int32_t result = drafts_[begin + i].outputs[0];
        if (rootOf(places_, input) != rootOf(places_, result)) {
          continue;
        }
        const bool fits = takes_rows                  ? k == 0 && !common.are_per_row[i]
                          : common.are_per_row.back() ? common.are_per_row[i]
                                                      : !common.are_per_row[i] || common.isBroadcast();
        if (input != result || !fits) {
          return false;
        }
      }
    }
    return true;
  }

  bool isRead(int32_t tensor, size_t begin, size_t end) const {
    return std::any_of(drafts_.begin() + static_cast<ptrdiff_t>(begin), drafts_.begin() + static_cast<ptrdiff_t>(end),
                       [&](const Draft& draft) {
                         return std::find(draft.inputs.begin(), draft.inputs.end(), tensor) != draft.inputs.end();
                       });
  }

  // Behind the longest chain that begins here and whose last member reads another one.
  size_t endOfGroup(size_t begin, Common& common) const {
    if (!mayJoin(drafts_[begin]) || !extend(common, drafts_[begin], begin)) {
      return begin + 1;
    }
    Common longer = common;
    size_t longest = begin + 1;
    for (size_t end = begin + 1; end < drafts_.size() && end - begin <= GroupKernel::kBuffers; ++end) {
      if (!mayJoin(drafts_[end]) || !extend(longer, drafts_[end], begin)) {
        break;
      }
      for (size_t i = begin; i < end; ++i) {
        if (isRead(drafts_[i].outputs[0], end, end + 1)) {
          longest = end + 1;
          common = longer;
        }
      }
    }
    return longest;
  }

  int64_t bytesOf(int32_t tensor) const {  // of an element
    return static_cast<int64_t>(sizeOf(descOf(tensor).dtype));
  }

  // True if only drafts of the chain read it.
  bool isInner(int32_t tensor, size_t begin, size_t end) const {
    return isReadWithin(drafts_, begin, end, tensor, model_.candidates.reads[static_cast<size_t>(tensor)]);
  }

  // Drafts that become one member.
  struct RegisterUnit {
    size_t end;
    std::vector<int32_t> inputs;
    std::unique_ptr<kernels::Prepared> prepared;
  };

  // The longest from `first` on, of the chain [chain, end), whose results but the last are read by it alone and need
  // not leave the registers; else one draft.
  RegisterUnit unitFrom(size_t first, size_t end, size_t chain, const Common& common) {
    std::vector<kernels::Arithmetic> arithmetic;
    for (size_t i = first; i < end && common.are_per_row[i - chain] == common.are_per_row[first - chain]; ++i) {
      const auto* draft = dynamic_cast<const kernels::ComputesInRegisters*>(drafts_[i].prepared.get());
      std::optional<kernels::Arithmetic> what = draft == nullptr ? std::nullopt : draft->arithmetic();
      if (!what) {
        break;
      }
      arithmetic.push_back(std::move(*what));
    }
    if (!model_.rules.has(Rule::kRegisterUnit)) {
      arithmetic.clear();
    }
    for (; arithmetic.size() > 1; arithmetic.pop_back()) {
      RegisterUnit unit{first + arithmetic.size(), {}, nullptr};
      bool is_inner = true;
      for (size_t i = first; is_inner && i + 1 < unit.end; ++i) {
        is_inner = isInner(drafts_[i].outputs[0], first, unit.end);
      }
      if (is_inner) {
        unit.prepared = inRegisters(first, arithmetic, unit.inputs);
      }
      if (unit.prepared != nullptr && unit.inputs.size() <= GroupKernel::kMostInputs) {
        return unit;
      }
    }
    return {first + 1, drafts_[first].inputs, std::move(drafts_[first].prepared)};
  }

  std::unique_ptr<kernels::Prepared> inRegisters(size_t first, const std::vector<kernels::Arithmetic>& arithmetic,
                                                 std::vector<int32_t>& inputs) const {
    std::vector<kernels::ArithmeticLayer> layers;
    std::map<int32_t, int32_t> numbers;  // by tensor
    for (size_t i = 0; i < arithmetic.size(); ++i) {
      kernels::ArithmeticLayer& layer = layers.emplace_back();
      layer.what = arithmetic[i];
      const Draft& draft = drafts_[first + i];
      for (const int32_t input : draft.inputs) {
        const auto [found, is_new] = numbers.try_emplace(input, static_cast<int32_t>(inputs.size()));
        if (is_new) {
          inputs.push_back(input);
        }
        layer.operands.push_back(found->second);
      }
      numbers[draft.outputs[0]] = -1 - static_cast<int32_t>(i);
    }
    return kernels::prepareInRegisters(layers, kernels::countOf(descOf(drafts_[first].outputs[0]).dims));
  }

  Draft fused(size_t begin, size_t end, const Common& common) {
    Draft group;
    group.rule = Rule::kPointwiseGroup;
    group.step = drafts_[end - 1].step;
    std::map<int32_t, Source> buffers;  // by tensor: those that are still read
    std::vector<size_t> idle;
    size_t used = 0;
    std::vector<Member> members;
    for (size_t i = begin; i + 1 < end; ++i) {
      group.fused.push_back(drafts_[i].step);
    }
    for (size_t i = begin; i < end; ++i) {
      const size_t first = i;
      RegisterUnit unit = unitFrom(first, end, begin, common);
      for (; i + 1 < unit.end; ++i) {
        places_[static_cast<size_t>(drafts_[i].outputs[0])].written_by = kNever;
      }
      Draft& draft = drafts_[i];
      Member& member = members.emplace_back();
      member.step = &model_.plan.steps[static_cast<size_t>(draft.step)];
      member.steps = unit.end - first;
      group.unit_sizes.push_back(static_cast<uint32_t>(member.steps));
      member.is_per_row = common.are_per_row[i - begin];
      for (const int32_t input : unit.inputs) {
        if (const auto found = buffers.find(input); found != buffers.end()) {
          member.inputs.push_back(found->second);
        } else {
          member.inputs.push_back({group.inputs.size(), input < 0 ? 0 : bytesOf(input)});
          group.inputs.push_back(input);
        }
      }
      const int32_t output = draft.outputs[0];
      member.prepared = std::move(unit.prepared);
      member.pieces = dynamic_cast<const kernels::RunsPieces*>(member.prepared.get());
      if (common.folded_length != 1 && i + 1 == end) {
        member.parts = dynamic_cast<const kernels::FoldsParts*>(member.prepared.get());
      }
      if (member.parts == nullptr && isInner(output, begin, end)) {
        if (idle.empty()) {
          idle.push_back(used++);
        }
        member.output = {idle.back(), bytesOf(output), true, member.is_per_row};
        idle.pop_back();
        buffers.emplace(output, member.output);
        places_[static_cast<size_t>(output)].written_by = kNever;
      } else {
        member.output = {group.outputs.size(), bytesOf(output)};
        group.outputs.push_back(output);
      }
      std::erase_if(buffers, [&](const auto& entry) {
        const bool is_done = !isRead(entry.first, i + 1, end);
        if (is_done) {
          idle.push_back(entry.second.index);
        }
        return is_done;
      });
    }
    TORCHTRT_CHECK(used <= GroupKernel::kBuffers,
                   "a pointwise group of " << members.size() << " members takes " << used << " buffers");
    group.prepared = std::make_unique<GroupKernel>(std::move(members), common.cut());
    return group;
  }

  const Model& model_;
  std::vector<Place>& places_;
  std::vector<Draft>& drafts_;
};

}  // namespace

void fusePointwiseGroups(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts) {
  if (!model.rules.has(Rule::kPointwiseGroup)) {
    return;
  }
  GroupMaker(model, places, drafts).run();
}

}  // namespace torchtrt::engine
