#include "compiler/inputs/size_relations.h"

#include <algorithm>
#include <set>

namespace torchtrt::compiler {

namespace {

constexpr int64_t kMostSize = int64_t{1} << 31;  // so that nothing here overflows

std::vector<int64_t> column(const std::vector<RunSizes>& runs, const std::string& symbol) {
  std::vector<int64_t> sizes;
  for (const RunSizes& run : runs) {
    sizes.push_back(run.at(symbol));
  }
  return sizes;
}

size_t distinct(const std::vector<int64_t>& sizes) {
  return std::set<int64_t>(sizes.begin(), sizes.end()).size();
}

// sizes = factor * of + offset in every run.
struct Line {
  int64_t factor;
  int64_t offset;
};

std::optional<Line> lineThrough(const std::vector<int64_t>& sizes, const std::vector<int64_t>& of) {
  const auto [low, high] = std::minmax_element(of.begin(), of.end());
  if (*low == *high) {
    return std::nullopt;
  }
  const int64_t rise = sizes[static_cast<size_t>(high - of.begin())] - sizes[static_cast<size_t>(low - of.begin())];
  if (rise <= 0 || rise % (*high - *low) != 0) {
    return std::nullopt;
  }
  const int64_t factor = rise / (*high - *low);
  const Line line{factor, sizes[static_cast<size_t>(low - of.begin())] - factor * *low};
  for (size_t run = 0; run < sizes.size(); ++run) {
    if (sizes[run] != line.factor * of[run] + line.offset) {
      return std::nullopt;
    }
  }
  // One run more than the numbers that it gives; the size itself gives none, and is the most likely.
  const size_t numbers = line.offset != 0 ? 2 : (line.factor != 1 ? 1 : 0);
  return distinct(of) > numbers ? std::optional(line) : std::nullopt;
}

std::vector<int64_t> productOf(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> products;
  for (size_t run = 0; run < a.size(); ++run) {
    products.push_back(a[run] * b[run]);
  }
  return products;
}

// Keeps the simplest of several dims that fit; nothing if two are as simple.
class Best {
 public:
  void offer(int terms, Dim dim) {
    if (!best_ || terms < terms_) {
      best_ = std::move(dim);
      terms_ = terms;
      is_alone_ = true;
    } else if (terms == terms_) {
      is_alone_ = false;
    }
  }
  std::optional<Dim> take() const {
    return is_alone_ ? best_ : std::nullopt;
  }

 private:
  std::optional<Dim> best_;
  int terms_ = 0;
  bool is_alone_ = false;
};

}  // namespace

std::optional<Dim> relationOf(const std::vector<int64_t>& sizes, const std::vector<RunSizes>& symbols) {
  const auto is_out = [](int64_t size) { return size < 0 || size > kMostSize; };
  if (sizes.size() < 2 || sizes.size() != symbols.size() || std::any_of(sizes.begin(), sizes.end(), is_out)) {
    return std::nullopt;
  }
  Best best;
  std::map<std::string, std::vector<int64_t>> known;
  for (const auto& [name, size] : symbols.front()) {
    std::vector<int64_t> of = column(symbols, name);
    if (std::none_of(of.begin(), of.end(), is_out)) {
      known.emplace(name, std::move(of));
    }
  }
  for (const auto& [name, of] : known) {
    if (const auto line = lineThrough(sizes, of)) {
      const Dim symbol = Dim::symbol(name);
      best.offer(line->offset != 0 ? 2 : (line->factor != 1 ? 1 : 0), Dim(line->factor) * symbol + Dim(line->offset));
    }
  }
  for (auto a = known.begin(); a != known.end(); ++a) {
    for (auto b = std::next(a); b != known.end(); ++b) {
      const auto line = lineThrough(sizes, productOf(a->second, b->second));
      if (line && line->offset == 0 && sizes.size() > 2) {
        best.offer(3, Dim(line->factor) * Dim::symbol(a->first) * Dim::symbol(b->first));
      }
    }
  }
  return best.take();
}

}  // namespace torchtrt::compiler
