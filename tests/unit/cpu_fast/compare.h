// Runs one problem, given as the line that logs print, with an implementation and with the reference, and compares the
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt::kernels {

// The values of random operands. int8 and uint8 hold any number unless it is kLargest.
enum class Values {
  kExact,     // multiples of 1/8 in [-1, 1]: sums of products are exact in float32, whatever their order
  kSomeNan,   // kExact with a few NaN among them
  kSmooth,    // in [-4, 4]
  kSpecial,   // kSmooth with NaN, infinities, zeros and large and tiny numbers among them
  kOutliers,  // kSmooth with a few of 1e9 among them
  kSparse,    // 0, and a few 1 among them
  kLargest,   // -127 in int8 and 255 in uint8; the others as in kExact
  kWide,      // kSpecial; integers of any bits, small ones and the largest among them, and bytes beside 1 that are true
  kPruned,    // 0 in the last row and column of 3x3 kernels, else 1/8 to 1: large values do not cancel
};

struct CompareOptions {
  Values values = Values::kExact;
  std::optional<Values> constants = {};  // what constant operands hold, if something else
  double rtol = 1e-5;
  double atol = 1e-6;             // times the largest finite magnitude of the reference
  bool float64_rounds = false;    // float64 is compared at 2^-29 of the tolerances, not by its bits
  bool zeros_have_signs = false;  // where both are 0 their signs are one
  int steps = 0;                  // that int8 and uint8 results may be off
  std::vector<std::string> shapes =
      {};  // more problems of the same kind, whose shapes the one kernel runs after its own
};

// Fails unless createKernel() chooses `implementation` for the problem; then compares for 1, 2 and 3 threads, whose
// results must be the same bits.
void expectMatchesReference(const std::string& problem, const std::string& implementation,
                            const CompareOptions& options = {});

// The same if the implementation takes the problem; else returns its refusal.
std::optional<Refusal> expectMatchesReferenceIfTaken(const std::string& problem, const std::string& implementation,
                                                     const CompareOptions& options = {});

// The same of the problem and of what becomes of it with float64 for float32.
void expectMatchesReferenceInBoth(const std::string& problem, const std::string& implementation,
                                  const CompareOptions& options = {});

// Fails if a run after the first allocates memory, takes a lock or calls the system, of an implementation that takes
// the problem and does not say that it may.
void expectRunsInRealTime(const std::string& problem, const std::string& implementation);

// Runs one prepared kernel from several threads at a time; every run must give the same bits.
void expectSafeForThreads(const std::string& problem, const std::string& implementation);

// Runs a kernel prepared for two threads on one whose helpers are left out (helpers.h): it asks nobody, and computes
// the same bits.
void expectAloneWithoutHelpers(const std::string& problem, const std::string& implementation);

// Fails unless the implementation refuses the problem with this code.
void expectRefused(const std::string& problem, const std::string& implementation, const std::string& code,
                   Values values = Values::kExact);

}  // namespace torchtrt::kernels
