// Marks of what counts: STORED (stored) and RANK come from counted.cpp. With IS_SORTED elements are those of `items`, and the first
// of equal ones counts, else what is not zero.

typedef Walk<RANK> Counted;

__device__ inline long long isCounted(const Counted& walk, const void* data, const Item* items, long long i) {
  const STORED* const in = (const STORED*)data;
#if IS_SORTED
  return i == 0 || load(in + walk.at(items[i].place)) != load(in + walk.at(items[i - 1].place));
#else
  (void)items;
  return load(in + walk.at(i)) != 0;
#endif
}

extern "C" __global__ void unique_items(long long count, long long padded, Counted walk, const STORED* in, Item* items) {
  for (long long i = firstElement(); i < padded; i += allThreads()) {
    Item item = {~0ULL, i};
    if (i < count) {
      item.key = IS_CONSECUTIVE ? (unsigned long long)i : keyOf(load(in + walk.at(i)));
    }
    items[i] = item;
  }
}

// The index along one axis of each place.
extern "C" __global__ void nonzero_axis(long long most, const long long* total, long long behind, long long size,
                                        const long long* places, long long step, long long* out) {
  for (long long k = firstElement(); k < most && k < *total; k += allThreads()) {
    out[k * step] = places[k] / behind % size;
  }
}

// Values of groups, how many each has, and where the elements of each are.
extern "C" __global__ void unique_groups(long long count, const long long* total, Counted walk, const STORED* in,
                                         const Item* items, const long long* places, long long value_step, STORED* values,
                                         long long count_step, long long* counts) {
  for (long long k = firstElement(); k < count && k < *total; k += allThreads()) {
    values[k * value_step] = in[walk.at(items[places[k]].place)];
    counts[k * count_step] = (k + 1 < *total ? places[k + 1] : count) - places[k];
  }
}

extern "C" __global__ void unique_inverse(long long count, const long long* total, const Item* items, const long long* places,
                                          long long step, long long* inverse) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    long long begin = 0, end = *total;  // the last group that begins at i or before
    while (end - begin > 1) {
      const long long middle = begin + (end - begin) / 2;
      if (places[middle] <= i) {
        begin = middle;
      } else {
        end = middle;
      }
    }
    inverse[items[i].place * step] = begin;
  }
}
