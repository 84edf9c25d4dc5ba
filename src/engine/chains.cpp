#include "engine/chains.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "kernels/common/strided_loop.h"
#include "kernels/joins.h"
#include "kernels/parallel.h"

namespace torchtrt::engine {
namespace {

constexpr int64_t kPiece = 2048;  // elements
constexpr size_t kBuffers = 8;    // results that wait for their readers, at most
constexpr size_t kWidest = 8;     // bytes of an element, at most
// From one buffer to the next, in bytes: a few lines more than elements take, since what lies a multiple of 4096 apart
// shares places in the first-level cache.
constexpr size_t kBufferBytes = kPiece * kWidest + 320;
constexpr int64_t kGrain = 16384;  // elements of one step worth a thread

// An operand of a member: the chain's own operand of that number, or a buffer.
struct Source {
  bool is_buffer = false;
  size_t index = 0;
  int64_t element_bytes = 0;  // of a buffer
};

struct Member {
  const plan::Step* step = nullptr;
  std::unique_ptr<kernels::Prepared> prepared;
  const kernels::RunsPieces* pieces = nullptr;  // the same
  std::vector<Source> inputs;
  Source output;
};

class Chain final : public kernels::Prepared {
 public:
  Chain(std::vector<Member> members, int64_t count) : members_(std::move(members)), count_(count) {}

  void run(const kernels::RunArgs& args) const override {
    const int64_t grain = std::max<int64_t>(1, kGrain / kPiece / static_cast<int64_t>(members_.size()));
    kernels::parallelFor(args.threads, 0, (count_ + kPiece - 1) / kPiece, grain, [&](int64_t begin, int64_t end) {
      alignas(64) std::array<std::byte, kBuffers * kBufferBytes> buffers;
      for (int64_t piece = begin; piece < end; ++piece) {
        runPiece(args, buffers.data(), piece * kPiece, std::min((piece + 1) * kPiece, count_));
      }
    });
  }

  size_t heldBytes() const override {
    size_t bytes = 0;
    for (const Member& member : members_) {
      bytes += kBytesPerKernel + member.prepared->heldBytes();
    }
    return bytes;
  }

 private:
  void runPiece(const kernels::RunArgs& args, std::byte* buffers, int64_t begin, int64_t end) const {
    // Where the whole tensor would begin of which the buffer holds the elements from `begin` on.
    const auto in_buffer = [&](const Source& source) {
      const auto place = reinterpret_cast<uintptr_t>(buffers + source.index * kBufferBytes);
      return reinterpret_cast<void*>(place - static_cast<uintptr_t>(begin * source.element_bytes));
    };
    for (const Member& member : members_) {
      std::array<const void*, 3> inputs{};
      for (size_t i = 0; i < member.inputs.size(); ++i) {
        const Source& source = member.inputs[i];
        inputs[i] = source.is_buffer ? in_buffer(source) : args.inputs[source.index];
      }
      void* output = member.output.is_buffer ? in_buffer(member.output) : args.outputs[member.output.index];
      kernels::RunArgs each = args;
      each.inputs = inputs.data();
      each.outputs = &output;
      each.threads = 1;
      locateErrors(*member.step, [&] { member.pieces->runPiece(each, begin, end); });
    }
  }

  std::vector<Member> members_;
  int64_t count_;
};

class ChainMaker {
 public:
  ChainMaker(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts)
      : model_(model), places_(places), drafts_(drafts) {}

  void run() {
    std::vector<Draft> kept;
    std::vector<size_t> numbers(drafts_.size());  // of the action that a draft becomes a part of
    for (size_t begin = 0; begin < drafts_.size();) {
      const size_t end = endOfChain(begin);
      std::fill(numbers.begin() + static_cast<ptrdiff_t>(begin), numbers.begin() + static_cast<ptrdiff_t>(end),
                kept.size());
      kept.push_back(end - begin > 1 ? joined(begin, end) : std::move(drafts_[begin]));
      begin = end;
    }
    for (Place& place : places_) {
      if (place.written_by != kNever) {
        place.written_by = numbers[place.written_by];
      }
      if (place.last_use != kNever && !numbers.empty()) {
        place.last_use = numbers[place.last_use];
      }
    }
    drafts_ = std::move(kept);
  }

 private:
  const kernels::TensorDesc& descOf(int32_t tensor) const {
    return places_[static_cast<size_t>(tensor)].desc;
  }

  bool mayJoin(const Draft& draft) const {
    const auto* pieces = dynamic_cast<const kernels::RunsPieces*>(draft.prepared.get());
    return pieces != nullptr && pieces->hasDenseOutput() && draft.prepared->scratchBytes() == 0 && draft.step >= 0 &&
           draft.outputs.size() == 1 && draft.inputs.size() <= 3;
  }

  // Whether all that the draft reads of results of the chain it reads element by element.
  bool readsAlike(const Draft& draft, size_t begin, size_t end) const {
    const kernels::TensorDesc& out = descOf(draft.outputs[0]);
    return std::all_of(draft.inputs.begin(), draft.inputs.end(), [&](int32_t input) {
      for (size_t i = begin; i < end && input >= 0; ++i) {
        const int32_t result = drafts_[i].outputs[0];
        if (rootOf(places_, input) == rootOf(places_, result) &&
            (input != result || descOf(input).strides != out.strides)) {
          return false;
        }
      }
      return true;
    });
  }

  bool isRead(int32_t tensor, size_t begin, size_t end) const {
    return std::any_of(drafts_.begin() + static_cast<ptrdiff_t>(begin), drafts_.begin() + static_cast<ptrdiff_t>(end),
                       [&](const Draft& draft) {
                         return std::find(draft.inputs.begin(), draft.inputs.end(), tensor) != draft.inputs.end();
                       });
  }

  // Behind the longest chain that begins here and whose last member reads another one.
  size_t endOfChain(size_t begin) const {
    if (!mayJoin(drafts_[begin])) {
      return begin + 1;
    }
    const kernels::TensorDesc& first = descOf(drafts_[begin].outputs[0]);
    size_t longest = begin + 1;
    for (size_t end = begin + 1; end < drafts_.size() && end - begin <= kBuffers; ++end) {
      const Draft& next = drafts_[end];
      if (!mayJoin(next) || descOf(next.outputs[0]).dims != first.dims ||
          descOf(next.outputs[0]).strides != first.strides || !readsAlike(next, begin, end)) {
        break;
      }
      for (size_t i = begin; i < end; ++i) {
        if (isRead(drafts_[i].outputs[0], end, end + 1)) {
          longest = end + 1;
        }
      }
    }
    return longest;
  }

  // Whether only drafts of the chain read it.
  bool isInner(int32_t tensor, size_t begin, size_t end) const {
    int reads = 0;
    for (size_t i = begin; i < end; ++i) {
      reads += static_cast<int>(std::count(drafts_[i].inputs.begin(), drafts_[i].inputs.end(), tensor));
    }
    return reads == model_.joins.reads[static_cast<size_t>(tensor)];
  }

  Draft joined(size_t begin, size_t end) {
    Draft chain;
    chain.step = drafts_[end - 1].step;
    std::map<int32_t, Source> buffers;  // by tensor: those that are still read
    std::vector<size_t> idle;
    size_t used = 0;
    std::vector<Member> members;
    for (size_t i = begin; i < end; ++i) {
      Draft& draft = drafts_[i];
      if (i + 1 < end) {
        chain.chained.push_back(draft.step);
      }
      Member& member = members.emplace_back();
      member.step = &model_.plan.steps[static_cast<size_t>(draft.step)];
      for (const int32_t input : draft.inputs) {
        if (const auto found = buffers.find(input); found != buffers.end()) {
          member.inputs.push_back(found->second);
        } else {
          member.inputs.push_back({false, chain.inputs.size(), 0});
          chain.inputs.push_back(input);
        }
      }
      const int32_t output = draft.outputs[0];
      if (isInner(output, begin, end)) {
        if (idle.empty()) {
          idle.push_back(used++);
        }
        member.output = {true, idle.back(), static_cast<int64_t>(sizeOf(descOf(output).dtype))};
        idle.pop_back();
        buffers.emplace(output, member.output);
        places_[static_cast<size_t>(output)].written_by = kNever;
      } else {
        member.output = {false, chain.outputs.size(), 0};
        chain.outputs.push_back(output);
      }
      std::erase_if(buffers, [&](const auto& entry) {
        const bool is_done = !isRead(entry.first, i + 1, end);
        if (is_done) {
          idle.push_back(entry.second.index);
        }
        return is_done;
      });
      member.pieces = dynamic_cast<const kernels::RunsPieces*>(draft.prepared.get());
      member.prepared = std::move(draft.prepared);
    }
    TORCHTRT_CHECK(used <= kBuffers, "a chain of " << members.size() << " steps takes " << used << " buffers");
    chain.prepared =
        std::make_unique<Chain>(std::move(members), kernels::countOf(descOf(drafts_[begin].outputs[0]).dims));
    return chain;
  }

  const Model& model_;
  std::vector<Place>& places_;
  std::vector<Draft>& drafts_;
};

}  // namespace

void joinChains(const Model& model, std::vector<Place>& places, std::vector<Draft>& drafts) {
  ChainMaker(model, places, drafts).run();
}

}  // namespace torchtrt::engine
