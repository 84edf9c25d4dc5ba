#include "compiler/inputs/size_guesses.h"

#include <algorithm>
#include <set>

#include "base/dim_substitution.h"
#include "base/logging.h"

namespace torchtrt::compiler {

namespace {

const Symbol* symbolNamed(const InputLeaves& leaves, const std::string& name) {
  const auto found = std::find_if(leaves.symbols.begin(), leaves.symbols.end(),
                                  [&](const Symbol& symbol) { return symbol.name == name; });
  return found == leaves.symbols.end() ? nullptr : &*found;
}

template <typename DimOrDims>
DimOrDims replaced(const DimOrDims& dims, const std::string& from, const std::string& to) {
  return substitute(
      dims, [&](const std::string& name) { return name == from ? std::optional(Dim::symbol(to)) : std::nullopt; });
}

bool isNamedByUser(const InputLeaves& leaves, const std::string& name) {
  return std::any_of(leaves.leaves.begin(), leaves.leaves.end(), [&](const auto& entry) {
    const std::vector<std::string>& names = entry.second.input->dim_names;
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

struct Place {
  const InputLeaf* leaf;
  int axis;
};

std::vector<Place> placesOf(const InputLeaves& leaves, const std::string& symbol) {
  std::vector<Place> places;
  for (const auto& [path, leaf] : leaves.leaves) {
    for (int axis = 0; axis < leaf.dims.rank(); ++axis) {
      if (leaf.dims[axis].isSymbol() && leaf.dims[axis].symbolName() == symbol) {
        places.push_back({&leaf, axis});
      }
    }
  }
  return places;
}

std::string textOf(const Place& place) {
  return place.leaf->name + ", dimension " + std::to_string(place.axis);
}

// The user's own name, else "batch" where it is everywhere the first dimension, else "size".
std::string nameFor(const InputLeaves& leaves, const std::string& symbol, std::set<std::string>& used) {
  if (isNamedByUser(leaves, symbol)) {
    return symbol;
  }
  const std::vector<Place> places = placesOf(leaves, symbol);
  const bool is_batch = std::all_of(places.begin(), places.end(), [](const Place& place) { return place.axis == 0; });
  const std::string wanted = is_batch ? "batch" : "size";
  std::string name = wanted;
  for (int i = 1; isNamedByUser(leaves, name) || used.count(name) != 0; ++i) {
    name = wanted + std::to_string(i);
  }
  used.insert(name);
  return name;
}

// Two pairs do for dims such as batch * length. More are no guess.
SizePairs guessesFor(const InputLeaves& leaves, const Dim& a, const Dim& b, int most) {
  if (a == b || most == 0) {
    return {};
  }
  for (const std::string& x : a.symbols()) {
    for (const std::string& y : b.symbols()) {
      if (x == y || !haveOneRange(leaves, x, y)) {
        continue;
      }
      const Dim first = replaced(a, y, x);
      const Dim second = replaced(b, y, x);
      SizePairs rest = guessesFor(leaves, first, second, most - 1);
      if (first == second || !rest.empty()) {
        rest.insert(rest.begin(), {x, y});
        return rest;
      }
    }
  }
  return {};
}

}  // namespace

bool haveOneRange(const InputLeaves& leaves, const std::string& a, const std::string& b) {
  const Symbol* const first = symbolNamed(leaves, a);
  const Symbol* const second = symbolNamed(leaves, b);
  const auto sample_a = leaves.sample_sizes.find(a);
  const auto sample_b = leaves.sample_sizes.find(b);
  const bool is_one_in_samples = sample_a == leaves.sample_sizes.end() || sample_b == leaves.sample_sizes.end() ||
                                 sample_a->second == sample_b->second;
  return is_one_in_samples && first && second && first->min == second->min && first->opt == second->opt &&
         first->max == second->max;
}

SizePairs guessesFor(const InputLeaves& leaves, const Dim& a, const Dim& b) {
  return guessesFor(leaves, a, b, 2);
}

void takeForOne(InputLeaves& leaves, const std::string& a, const std::string& b, const std::string& reason) {
  const auto is_first = [&](const Symbol& symbol) { return symbol.name == a || symbol.name == b; };
  std::string kept = std::find_if(leaves.symbols.begin(), leaves.symbols.end(), is_first)->name;
  std::string gone = kept == a ? b : a;
  if (isNamedByUser(leaves, gone) && !isNamedByUser(leaves, kept)) {
    std::swap(kept, gone);
  }
  for (auto& [path, leaf] : leaves.leaves) {
    leaf.dims = replaced(leaf.dims, gone, kept);
  }
  std::erase_if(leaves.symbols, [&](const Symbol& symbol) { return symbol.name == gone; });
  auto earlier = leaves.guessed.extract(gone);
  leaves.guessed.emplace(kept, earlier ? earlier.mapped() : reason);
}

std::string placesText(const InputLeaves& leaves, const std::string& symbol) {
  std::string text;
  for (const Place& place : placesOf(leaves, symbol)) {
    text += (text.empty() ? "" : "; ") + textOf(place);
  }
  return text;
}

std::string sharedDims(const InputLeaves& leaves, const SizePairs& more) {
  InputLeaves all = leaves;
  for (const auto& [a, b] : more) {
    takeForOne(all, a, b, "");
  }
  std::set<std::string> used;
  std::map<std::string, std::string> names;  // by symbol
  for (const auto& [symbol, reason] : all.guessed) {
    names[symbol] = nameFor(all, symbol, used);
  }
  std::string text;
  for (const auto& [path, leaf] : all.leaves) {
    std::string dims;
    bool has_guess = false;
    for (int axis = 0; axis < leaf.dims.rank(); ++axis) {
      const std::string symbol = leaf.dims[axis].isSymbol() ? leaf.dims[axis].symbolName() : "";
      const auto name = names.find(symbol);
      has_guess |= name != names.end();
      if (name != names.end() || isNamedByUser(all, symbol)) {
        dims += (dims.empty() ? "" : ", ") + std::to_string(axis) + ": \"" +
                (name != names.end() ? name->second : symbol) + "\"";
      }
    }
    if (has_guess) {
      text += (text.empty() ? "" : "; ") + leaf.name + ": shared_dims={" + dims + "}";
    }
  }
  return text;
}

void addGuesses(const InputLeaves& leaves, Report& report) {
  if (leaves.guessed.empty()) {
    return;
  }
  std::string told;
  for (const auto& [symbol, reason] : leaves.guessed) {
    Report::GuessedSize size{{}, reason};
    for (const Place& place : placesOf(leaves, symbol)) {
      size.places.push_back(textOf(place));
    }
    told += "\n  " + placesText(leaves, symbol) + ", for " + reason;
    report.guessed_sizes.push_back(std::move(size));
  }
  report.shared_dims = sharedDims(leaves);
  TORCHTRT_LOG(kWARNING,
               report.module << ": these are taken to be one size each, and PyTorch runs calls in which they differ:"
                             << told << "\n  if they never do, say so in the Inputs: " << report.shared_dims);
}

}  // namespace torchtrt::compiler
