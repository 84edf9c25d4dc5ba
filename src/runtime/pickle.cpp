#include "runtime/pickle.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "torchtrt/error.h"

namespace torchtrt::runtime {
namespace {

constexpr size_t kMostValues = size_t{1} << 24;
constexpr size_t kDeepest = 1000;  // values within values: whoever lets go of them calls itself as often

[[noreturn]] void failPickle(const std::string& problem) {
  throw EngineError(ErrorCode::kPlanCorrupt, problem);
}

// Measures the nesting of values; a value within itself counts once.
class DepthCheck {
 public:
  explicit DepthCheck(const std::vector<Pickle::Value>& values) : values_(values), depths_(values.size(), kUnknown) {}

  void run() {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (depths_[i] == kUnknown) {
        measure(static_cast<Pickle::Index>(i));
      }
    }
  }

 private:
  static constexpr uint16_t kUnknown = 0xffff;
  static constexpr uint16_t kOpen = 0xfffe;
  static_assert(kDeepest < kOpen);

  // Measures without calling itself.
  void measure(Pickle::Index first) {
    struct Visit {
      Pickle::Index value;
      size_t next = 0;
      uint16_t depth = 0;
    };
    std::vector<Visit> path = {{first}};
    depths_[first] = kOpen;
    while (!path.empty()) {
      Visit& visit = path.back();
      const std::vector<Pickle::Index>& items = values_[visit.value].items;
      if (visit.next == items.size()) {
        const uint16_t depth = visit.depth;
        depths_[visit.value] = depth;
        path.pop_back();
        if (!path.empty()) {
          path.back().depth = std::max<uint16_t>(path.back().depth, depth + 1);
        }
        continue;
      }
      const Pickle::Index item = items[visit.next++];
      if (depths_[item] == kUnknown) {
        depths_[item] = kOpen;
        path.push_back({item});
      } else if (depths_[item] != kOpen) {
        visit.depth = std::max<uint16_t>(visit.depth, depths_[item] + 1);
      }
      if (path.size() > kDeepest || path.back().depth > kDeepest) {
        failPickle("its values lie more than " + std::to_string(kDeepest) + " deep within each other");
      }
    }
  }

  const std::vector<Pickle::Value>& values_;
  std::vector<uint16_t> depths_;
};

}  // namespace

// Runs the pickle's instructions.
class Pickle::Reader {
 public:
  Reader(std::string_view bytes, std::vector<Value>& values) : bytes_(bytes), values_(values) {}

  Index read() {
    while (true) {
      const char code = take(1)[0];
      if (code == '.') {
        return pop();
      }
      step(code);
    }
  }

 private:
  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) {
      failPickle("it ends within a value");
    }
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  // Little-endian.
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      failPickle("it ends within a name");
    }
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  Index add(Value value) {
    if (values_.size() == kMostValues) {
      failPickle("it has more than " + std::to_string(kMostValues) + " values");
    }
    values_.push_back(std::move(value));
    return static_cast<Index>(values_.size() - 1);
  }
  void push(Value value) {
    stack_.push_back(add(std::move(value)));
  }
  void pushText(Kind kind, std::string_view text) {
    Value value;
    value.kind = kind;
    value.text = text;
    push(std::move(value));
  }
  void pushInt(int64_t number) {
    Value value;
    value.kind = Kind::kInt;
    value.number = number;
    push(std::move(value));
  }

  Index pop() {
    if (stack_.empty() || values_[stack_.back()].kind == Kind::kMark) {
      failPickle("it takes more values than there are");
    }
    const Index index = stack_.back();
    stack_.pop_back();
    return index;
  }

  // Returns the values behind the last mark, without it.
  std::vector<Index> popToMark() {
    const auto mark =
        std::find_if(stack_.rbegin(), stack_.rend(), [&](Index index) { return values_[index].kind == Kind::kMark; });
    if (mark == stack_.rend()) {
      failPickle("it takes more values than there are");
    }
    std::vector<Index> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }
  std::vector<Index> popAll(size_t count) {
    std::vector<Index> items(count);
    for (size_t i = count; i-- > 0;) {
      items[i] = pop();
    }
    return items;
  }

  void pushMade(Kind kind, std::vector<Index> items) {
    Value value;
    value.kind = kind;
    push(std::move(value));
    append(stack_.back(), std::move(items));
  }

  void append(Index to, std::vector<Index> items) {
    Value& value = values_[to];
    if (value.items.empty()) {
      value.items = std::move(items);
    } else {
      value.items.insert(value.items.end(), items.begin(), items.end());
    }
  }

  void appendTo(Kind kind, std::vector<Index> items) {
    const Index to = pop();
    if (values_[to].kind != kind || (kind == Kind::kDict && items.size() % 2 != 0)) {
      failPickle("it adds to what is no list or dictionary");
    }
    append(to, std::move(items));
    stack_.push_back(to);
  }

  // libtorch makes room for every number below, so that a large one would take memory: they count up.
  void memorize(size_t number) {
    if (number > memo_.size()) {
      failPickle("it keeps a value under a number that leaves others out");
    }
    const Index index = pop();
    stack_.push_back(index);
    if (number == memo_.size()) {
      memo_.push_back(index);
    } else {
      memo_[number] = index;
    }
  }
  void recall(size_t number) {
    if (number >= memo_.size()) {
      failPickle("it names a value that it has not kept");
    }
    stack_.push_back(memo_[number]);
  }

  void longInt() {
    const std::string_view digits = take(number<uint8_t>());
    if (digits.size() > sizeof(int64_t)) {
      failPickle("it has a number of more than 64 bits");
    }
    int64_t value = !digits.empty() && static_cast<signed char>(digits.back()) < 0 ? -1 : 0;
    std::memcpy(&value, digits.data(), digits.size());
    pushInt(value);
  }

  void step(char code) {
    switch (static_cast<unsigned char>(code)) {
      case 0x80:  // protocol
        take(1);
        break;
      case '(':
        pushText(Kind::kMark, {});
        break;
      case 'N':
      case 0x88:
      case 0x89:
        push({});
        break;
      case 'G':
        take(8);
        push({});
        break;
      case 'K':
        pushInt(number<uint8_t>());
        break;
      case 'M':
        pushInt(number<uint16_t>());
        break;
      case 'J':
        pushInt(number<int32_t>());
        break;
      case 0x8a:
        longInt();
        break;
      case 'X':
      case 'T':
        pushText(Kind::kText, take(number<uint32_t>()));
        break;
      case 'U':
      case 0x8c:
        pushText(Kind::kText, take(number<uint8_t>()));
        break;
      case 'c': {
        const size_t begin = at_;
        line();
        line();
        pushText(Kind::kGlobal, bytes_.substr(begin, at_ - 1 - begin));
        break;
      }
      case 'q':
        memorize(number<uint8_t>());
        break;
      case 'r':
        memorize(number<uint32_t>());
        break;
      case 'h':
        recall(number<uint8_t>());
        break;
      case 'j':
        recall(number<uint32_t>());
        break;
      default:
        stepOfContainers(code);
    }
  }

  void stepOfContainers(char code) {
    switch (static_cast<unsigned char>(code)) {
      case ')':
        pushMade(Kind::kTuple, {});
        break;
      case 't':
        pushMade(Kind::kTuple, popToMark());
        break;
      case 0x85:
      case 0x86:
      case 0x87:
        pushMade(Kind::kTuple, popAll(static_cast<unsigned char>(code) - 0x84));
        break;
      case ']':
        pushMade(Kind::kList, {});
        break;
      case '}':
        pushMade(Kind::kDict, {});
        break;
      case 'a':
        appendTo(Kind::kList, popAll(1));
        break;
      case 'e':
        appendTo(Kind::kList, popToMark());
        break;
      case 's':
        appendTo(Kind::kDict, popAll(2));
        break;
      case 'u':
        appendTo(Kind::kDict, popToMark());
        break;
      case 'R':
      case 0x81:
        pushMade(Kind::kMade, popAll(2));
        break;
      case 'b': {  // the state of what was made
        const Index state = pop();
        const Index made = pop();
        if (values_[made].kind != Kind::kMade) {
          failPickle("it gives a state to what has none");
        }
        append(made, {state});
        stack_.push_back(made);
        break;
      }
      case 'Q':
        pushStorage();
        break;
      default:
        failPickle("it has an instruction " + std::to_string(static_cast<unsigned char>(code)) +
                   " that no saved module has");
    }
  }

  void pushStorage() {
    const Index name = pop();
    if (values_[name].kind != Kind::kTuple) {
      failPickle("it names a storage by what is no tuple");
    }
    pushMade(Kind::kStorage, values_[name].items);
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::vector<Value>& values_;
  std::vector<Index> stack_;
  std::vector<Index> memo_;
};

Pickle::Pickle(std::string_view bytes) {
  root_ = Reader(bytes, values_).read();
  DepthCheck(values_).run();
}

std::vector<Pickle::Index> Pickle::all(Kind kind) const {
  std::vector<Index> found;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].kind == kind) {
      found.push_back(static_cast<Index>(i));
    }
  }
  return found;
}

const Pickle::Value& Pickle::item(const Value& value, size_t i) const {
  if (i >= value.items.size()) {
    failPickle("it has a value of fewer parts than it should have");
  }
  return values_[value.items[i]];
}

}  // namespace torchtrt::runtime
