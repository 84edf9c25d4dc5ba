#include "cuda/sorting/sort.h"

#include <algorithm>

namespace torchtrt::cuda {

int64_t paddedLength(int64_t length) {
  int64_t padded = 2;
  while (padded < length) {
    padded *= 2;
  }
  return padded;
}

void addSort(Launches& launches, int64_t rows, int64_t padded, int64_t scratch) {
  const int64_t tile = std::min(padded, kMostTile);
  Source source;
  source.define("TILE", tile).include("text/storage.cuh").include("sorting/items.cuh").include("sorting/sorting.cuh");
  const int64_t tiles = rows * padded / tile;
  const auto addTiles = [&](int64_t merged) {
    Arguments arguments;
    arguments.value(tiles).value(padded / tile).value(merged).scratch(scratch);
    launches.add(source, "sort_tiles", blocksFor(tiles, static_cast<unsigned>(tile / 2)), std::move(arguments));
  };
  addTiles(0);
  for (int64_t width = 2 * tile; width <= padded; width *= 2) {
    for (int64_t distance = width / 2; distance >= tile; distance /= 2) {
      const int64_t pairs = rows * padded / 2;
      Arguments arguments;
      arguments.value(pairs).value(padded).value(width).value(distance).scratch(scratch);
      launches.add(source, "sort_step", geometryFor(pairs), std::move(arguments));
    }
    addTiles(width);
  }
}

}  // namespace torchtrt::cuda
