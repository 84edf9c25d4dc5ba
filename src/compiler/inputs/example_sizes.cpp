#include "compiler/inputs/example_sizes.h"

#include <algorithm>
#include <set>

namespace torchtrt::compiler {

namespace {

bool isPrime(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) {
      return false;
    }
  }
  return number > 1;
}

// The unused size nearest to the optimum within the range, larger ones first; primes alone if asked for.
std::optional<int64_t> nearest(const Symbol& symbol, const std::set<int64_t>& used, bool prime) {
  constexpr int64_t kFarthest = 64;
  for (int64_t step = 1; step <= kFarthest; ++step) {
    for (const int64_t size : {symbol.opt + step, symbol.opt - step}) {
      if (size >= symbol.min && size <= symbol.max && used.count(size) == 0 && (!prime || isPrime(size))) {
        return size;
      }
    }
  }
  return std::nullopt;
}

RunSizes near(const InputLeaves& leaves) {
  std::set<int64_t> used;
  for (const Symbol& symbol : leaves.symbols) {
    used.insert(symbol.opt);
  }
  RunSizes sizes;
  for (const Symbol& symbol : leaves.symbols) {
    auto size = nearest(symbol, used, /*prime=*/true);
    size = size ? size : nearest(symbol, used, /*prime=*/false);
    size = size ? size : nearest(symbol, {symbol.opt}, /*prime=*/false);
    sizes[symbol.name] = size.value_or(symbol.opt);
    used.insert(sizes[symbol.name]);
  }
  return sizes;
}

RunSizes far(const InputLeaves& leaves, const std::vector<bool>& is_large) {
  RunSizes sizes;
  for (size_t i = 0; i < leaves.symbols.size(); ++i) {
    const Symbol& symbol = leaves.symbols[i];
    const int64_t larger = symbol.opt > symbol.max / 2 ? symbol.max : symbol.opt * 2;
    sizes[symbol.name] = is_large[i] ? larger : std::max(symbol.min, (symbol.opt + 1) / 2);
  }
  return sizes;
}

}  // namespace

RunSizes optimumSizes(const InputLeaves& leaves) {
  RunSizes sizes;
  for (const Symbol& symbol : leaves.symbols) {
    sizes[symbol.name] = symbol.opt;
  }
  return sizes;
}

std::vector<RunSizes> otherSizes(const InputLeaves& leaves) {
  std::vector<RunSizes> runs = {near(leaves)};
  const size_t count = leaves.symbols.size();
  const auto bits = [&](size_t bit, bool value) {
    std::vector<bool> is_large;
    for (size_t i = 0; i < count; ++i) {
      is_large.push_back(((i >> bit & 1) != 0) == value);
    }
    return is_large;
  };
  runs.push_back(far(leaves, bits(0, false)));
  runs.push_back(far(leaves, bits(0, true)));
  for (size_t bit = 1; count > size_t{1} << bit; ++bit) {
    runs.push_back(far(leaves, bits(bit, false)));
  }
  return runs;
}

RunSizes commonSizes(const InputLeaves& leaves) {
  RunSizes sizes;
  for (const Symbol& symbol : leaves.symbols) {
    sizes[symbol.name] = std::clamp(leaves.symbols.front().opt, symbol.min, symbol.max);
  }
  return sizes;
}

SizePairs pairsIn(const InputLeaves& leaves, const RunSizes& run, const std::vector<int64_t>& failed) {
  const auto is_in = [&](int64_t size) { return std::find(failed.begin(), failed.end(), size) != failed.end(); };
  SizePairs pairs;
  std::set<std::string> joined;
  for (const Symbol& a : leaves.symbols) {
    for (const Symbol& b : leaves.symbols) {
      const bool is_candidate = a.name < b.name && joined.count(b.name) == 0 && haveOneRange(leaves, a.name, b.name) &&
                                run.at(a.name) != run.at(b.name) && is_in(run.at(a.name)) && is_in(run.at(b.name));
      if (is_candidate) {
        pairs.emplace_back(a.name, b.name);
        joined.insert(b.name);
      }
    }
  }
  return pairs;
}

}  // namespace torchtrt::compiler
