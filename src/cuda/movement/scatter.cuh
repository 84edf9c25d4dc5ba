// Updates at places along an axis, folded one after the other as on the CPU. The output holds a copy of the data. STORED,
// C (computed in), INDEX, OUTER (rank of the lines along the axis), FOLDED(old, update), NEUTRAL, STARTS_ANEW (the old
// element does not count) and PER_LINE (each line has indices of its own) come from scatter.cpp.

struct Lines {
  Walk<OUTER> out, index, update;
  long long count, updates;  // lines, and updates of each
  long long index_step, update_step, out_step, size;
  long long negative;
};

__device__ inline long long placeOf(const Lines& lines, const INDEX* indices, long long line, long long k, int* fault) {
  const long long at = k * lines.index_step + (PER_LINE ? lines.index.at(line) : 0);
  return checkedIndex((long long)indices[at], lines.size, (int)lines.negative, fault);
}

__device__ inline void foldInto(STORED* target, const STORED* update) {
#if COPIES
  *target = *update;
#else
  store(target, FOLDED(load(target), load(update)));
#endif
}

// A thread for each line.
extern "C" __global__ void scatter_lines(Lines lines, const INDEX* indices, const STORED* updates, STORED* out,
                                         int* fault) {
  for (long long line = firstElement(); line < lines.count; line += allThreads()) {
    STORED* const target = out + lines.out.at(line);
    const STORED* const update = updates + lines.update.at(line);
#if STARTS_ANEW
    for (long long k = 0; k < lines.updates; ++k) {
      const long long place = placeOf(lines, indices, line, k, fault);
      if (place >= 0) {
        store(target + place * lines.out_step, (C)NEUTRAL);
      }
    }
#endif
    for (long long k = 0; k < lines.updates; ++k) {
      const long long place = placeOf(lines, indices, line, k, fault);
      if (place >= 0) {
        foldInto(target + place * lines.out_step, update + k * lines.update_step);
      }
    }
  }
}

// The number of the last update of a place is found first, where only that stays: last[group of lines][place] is one more.
extern "C" __global__ void scatter_clear(long long count, unsigned* last) {
  for (long long i = firstElement(); i < count; i += allThreads()) {
    last[i] = 0;
  }
}

extern "C" __global__ void scatter_find(long long groups, Lines lines, const INDEX* indices, unsigned* last, int* fault) {
  for (long long i = firstElement(); i < groups * lines.updates; i += allThreads()) {
    const long long line = i / lines.updates, k = i % lines.updates;
    const long long place = placeOf(lines, indices, line, k, fault);
    if (place >= 0) {
      atomicMax(last + line * lines.size + place, (unsigned)k + 1u);
    }
  }
}

extern "C" __global__ void scatter_last(Lines lines, const INDEX* indices, const unsigned* last, const STORED* updates,
                                        STORED* out, int* fault) {
  for (long long i = firstElement(); i < lines.count * lines.updates; i += allThreads()) {
    const long long k = i / lines.count, line = i % lines.count;
    const long long place = placeOf(lines, indices, line, k, fault);
    if (place >= 0 && last[(PER_LINE ? line * lines.size : 0) + place] == (unsigned)k + 1u) {
      out[lines.out.at(line) + place * lines.out_step] = updates[lines.update.at(line) + k * lines.update_step];
    }
  }
}

// Many updates of few lines are sorted by place first, those of one place in their order.
extern "C" __global__ void scatter_items(long long groups, long long padded, Lines lines, const INDEX* indices, Item* items,
                                         int* fault) {
  for (long long i = firstElement(); i < padded; i += allThreads()) {
    Item item = {~0ULL, i};
    if (i < groups * lines.updates) {
      const long long line = i / lines.updates;
      const long long place = placeOf(lines, indices, line, i % lines.updates, fault);
      item.key = place < 0 ? ~0ULL : (unsigned long long)(line * lines.size + place);
    }
    items[i] = item;
  }
}

// The thread of the first of equal places folds them all.
extern "C" __global__ void scatter_runs(long long groups, Lines lines, const Item* items, const STORED* updates,
                                        STORED* out) {
  const long long sorted = groups * lines.updates;
  const long long lines_of_group = lines.count / groups;
  for (long long i = firstElement(); i < sorted * lines_of_group; i += allThreads()) {
    const long long first = i / lines_of_group;
    const unsigned long long key = items[first].key;
    if (key == ~0ULL || (first > 0 && items[first - 1].key == key)) {
      continue;
    }
    const long long line = PER_LINE ? (long long)(key / (unsigned long long)lines.size) : i % lines_of_group;
    const long long place = (long long)(key % (unsigned long long)lines.size);
    STORED* const target = out + lines.out.at(line) + place * lines.out_step;
    const STORED* const update = updates + lines.update.at(line);
#if STARTS_ANEW
    store(target, (C)NEUTRAL);
#endif
    for (long long at = first; at < sorted && items[at].key == key; ++at) {
      foldInto(target, update + items[at].place % lines.updates * lines.update_step);
    }
  }
}
