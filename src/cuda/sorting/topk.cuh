// The first k of each row in order: of equal values the lowest position comes first. STORED, INDEX (stored) and LARGEST
// come from topk.cpp; ROWS is the rank of the axes that number the rows.

struct TopK {
  Walk<ROWS> in, values, indices;
  long long rows, size, k, in_step, value_step, index_step;
};

__device__ inline Item itemOf(const STORED* row, const TopK& of, long long place) {
  Item item = {~0ULL, place};
  if (place < of.size) {
    const unsigned long long key = keyOf(load(row + place * of.in_step));
    item.key = LARGEST ? ~key : key;
  }
  return item;
}

__device__ inline void writeItem(const STORED* in, const TopK& of, long long row, long long rank, Item item, STORED* values,
                                 INDEX* indices) {
  values[of.values.at(row) + rank * of.value_step] = in[of.in.at(row) + item.place * of.in_step];
  indices[of.indices.at(row) + rank * of.index_step] = (INDEX)item.place;
}

struct First {
  __device__ Item operator()(Item a, Item b) const { return isBefore(b, a) ? b : a; }
};

// k is 1: a thread for each row, for short rows and for those whose neighbours lie next to each other.
extern "C" __global__ void topk_first(TopK of, const STORED* in, STORED* values, INDEX* indices) {
  for (long long row = firstElement(); row < of.rows; row += allThreads()) {
    const STORED* const from = in + of.in.at(row);
    Item best = itemOf(from, of, 0);
    for (long long place = 1; place < of.size; ++place) {
      best = First()(best, itemOf(from, of, place));
    }
    writeItem(in, of, row, 0, best, values, indices);
  }
}

extern "C" __global__ void topk_items(TopK of, long long padded, const STORED* in, Item* items) {
  for (long long i = firstElement(); i < of.rows * padded; i += allThreads()) {
    items[i] = itemOf(in + of.in.at(i / padded), of, i % padded);
  }
}

// Rows of `width` items each.
extern "C" __global__ void topk_write(TopK of, long long width, const STORED* in, const Item* items, STORED* values,
                                      INDEX* indices) {
  for (long long i = firstElement(); i < of.rows * of.k; i += allThreads()) {
    const long long row = i / of.k, rank = i % of.k;
    writeItem(in, of, row, rank, items[row * width + rank], values, indices);
  }
}
