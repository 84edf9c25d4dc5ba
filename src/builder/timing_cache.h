// A timing cache says which implementation was the fastest for a problem, by machine. It is a value with a text form,
// and the file it is kept in. It is a hint, never needed: what cannot be read is as if it were not there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "torchtrt/export.h"

namespace torchtrt::builder {

struct Timing {
  std::string implementation;  // equal to by_rule where no other was faster
  std::string by_rule;
  double microseconds = 0;  // medians of a run; 0 where there was nothing to compare
  double by_rule_microseconds = 0;

  bool operator==(const Timing&) const = default;
};

using Timings = std::map<std::string, Timing>;       // by problem, as Problem::toString() writes it
using TimingCache = std::map<std::string, Timings>;  // by machine, kernels::machineKey()

// Equal caches give equal texts.
TORCHTRT_API std::string print(const TimingCache& cache);
// None for what print() did not write.
TORCHTRT_API std::optional<TimingCache> parseTimings(std::string_view text);

// Returns what the file holds; nothing where there is none. Warns if it is damaged, of another version or no timing
// cache.
TORCHTRT_API TimingCache readTimings(const std::string& file);
// Adds to the file's present content, or replaces it if that is damaged, in one step: a reader sees the old file or the
// new one. If two write at a time, one may be lost. A file that is no timing cache, or cannot be written, stays as it
// is, with a warning for the latter.
TORCHTRT_API void addTimings(const std::string& file, const TimingCache& found);

}  // namespace torchtrt::builder
