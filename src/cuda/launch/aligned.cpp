#include "cuda/launch/aligned.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace torchtrt::cuda {

namespace {

class WhereAligned final : public kernels::Prepared {
 public:
  WhereAligned(std::unique_ptr<kernels::Prepared> first, std::unique_ptr<kernels::Prepared> other,
               std::vector<bool> present)
      : first_(std::move(first)), other_(std::move(other)), present_(std::move(present)) {}

  void begin() const override {
    first_->begin();
    other_->begin();
  }
  void complete() const override {
    first_->complete();
    other_->complete();
  }
  void run(const kernels::RunArgs& args) const override {
    auto all = reinterpret_cast<uintptr_t>(args.outputs[0]);
    for (size_t i = 0; i < present_.size(); ++i) {
      all |= present_[i] ? reinterpret_cast<uintptr_t>(args.inputs[i]) : 0;
    }
    all % kChunkBytes == 0 ? first_->run(args) : other_->run(args);
  }
  bool readsAhead(size_t input) const override {
    return first_->readsAhead(input) || other_->readsAhead(input);
  }
  size_t scratchBytes() const override {
    return std::max(first_->scratchBytes(), other_->scratchBytes());
  }

 private:
  std::unique_ptr<kernels::Prepared> first_;
  std::unique_ptr<kernels::Prepared> other_;
  std::vector<bool> present_;
};

}  // namespace

std::unique_ptr<kernels::Prepared> whereAligned(std::unique_ptr<kernels::Prepared> first,
                                                std::unique_ptr<kernels::Prepared> other, std::vector<bool> present) {
  return std::make_unique<WhereAligned>(std::move(first), std::move(other), std::move(present));
}

}  // namespace torchtrt::cuda
