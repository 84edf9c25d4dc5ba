// The fusion rules by name, in the order in which a schedule applies them. A rule that is switched off fuses nothing; a
// rule that leaves steps apart says why. Private to engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torchtrt::engine {

enum class Rule : uint8_t {
  kNone,
  kScaleInput,
  kDepthwiseLines,
  kAverageOutput,
  kPoolOutput,
  kPointwiseGroup,
  kRegisterUnit
};

struct RuleInfo {
  Rule rule;
  const char* name;
  const char* meaning;
};

std::span<const RuleInfo> fusionRules();
const char* nameOf(Rule rule);  // "" for kNone

// The rules that are switched on: all of them at first.
class RuleSet {
 public:
  bool has(Rule rule) const {
    return (bits_ >> static_cast<unsigned>(rule) & 1U) != 0;
  }
  // Throws CompileError (C003) for a name that is no rule's.
  void remove(std::span<const std::string> names);

 private:
  uint32_t bits_ = ~0U;
};

}  // namespace torchtrt::engine
