// A step with its numbers filled in, and the small vocabulary that the rules of the families are written in. Private to
// this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/operations.h"
#include "plan/plan.h"

namespace torchtrt::plan {

using Shape = std::vector<int64_t>;

class StepChecker {
 public:
  StepChecker(const Plan& plan, const Step& step, std::span<const int64_t> registers, ErrorCode code);

  struct Value {
    bool present = false;
    DType dtype = DType::kFloat32;
    Shape dims;
    size_t rank() const {
      return dims.size();
    }
  };
  const Step& step() const {
    return step_;
  }
  const Attributes& attributes() const {
    return step_.attributes;
  }
  const Value& in(size_t i) const;  // an absent operand, or one past the end, has present == false
  const Value& out(size_t i) const;
  size_t inputs() const {
    return inputs_.size();
  }
  size_t outputs() const {
    return outputs_.size();
  }
  const Shape& dims(std::string_view name) const;  // a symbolic attribute
  bool hasDims(std::string_view name) const;

  // Throws when `holds` is false; `rule` completes "step 'x' (convolution): ".
  void require(bool holds, const char* rule) const;
  void requirePresent(size_t count) const;  // operands 0 .. count-1
  void requireOneOf(const std::string& value, std::initializer_list<std::string_view> known, const char* what) const;
  // The operation that an attribute names.
  const Operation& requireOperation(const char* attribute, std::span<const Operation> operations) const;
  void requireOutput(size_t i, const Shape& dims, DType dtype) const;
  void requireBroadcast(const Shape& from, const Shape& to) const;
  void requireInts(const char* name, size_t count, int64_t least,
                   int64_t most) const;  // every entry of an attribute of ints
  void requirePermutation(const std::vector<int64_t>& permutation, size_t rank) const;  // or empty
  void requireActivation() const;                                                       // the fused one, if any
  size_t axis(const Value& value) const;                                                // attribute "axis", in range
  Shape broadcast(const Shape& a, const Shape& b) const;

 private:
  [[noreturn]] void throwUnknown(const char* what, const std::string& value) const;

  const Step& step_;
  ErrorCode code_;
  std::vector<Value> inputs_, outputs_;
  std::vector<std::pair<std::string, Shape>> dims_;
};

// Window arithmetic never overflows with these bounds on attributes and 128-bit intermediate values.
inline constexpr int64_t kMostPadding = int64_t{1} << 40;

// One function per group of families; each returns whether the step's family is one of its.
bool checkWindowed(const StepChecker& step);
bool checkPointwise(const StepChecker& step);
bool checkReducing(const StepChecker& step);
bool checkMoving(const StepChecker& step);
bool checkQuantized(const StepChecker& step);
// Of a convolution of operand 0 with operand 1, by the attributes: requires all of them, but no element types.
Shape convolvedShape(const StepChecker& step);
std::string dimsText(const Shape& dims);  // "[1, 3, 224, 224]"

}  // namespace torchtrt::plan
