// Measures how deep printed TorchScript is nested: libtorch reads and compiles it by calling itself.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/module_file.h"
#include "torchtrt/error.h"

namespace torchtrt::runtime {
namespace {

// A stack of 8 MB holds more than 3000 expressions within each other; other threads have less.
constexpr size_t kMostParts = 2000;
constexpr size_t kWidestIndent = 400;

[[noreturn]] void fail(const char* what, size_t most) {
  throw EngineError(ErrorCode::kPlanCorrupt,
                    "its code has " + std::string(what) + ", more than " + std::to_string(most));
}

class CodeCheck {
 public:
  explicit CodeCheck(std::string_view code) : code_(code) {}

  void run() {
    while (at_ < code_.size()) {
      step();
    }
  }

 private:
  void step() {
    const char c = code_[at_];
    if (c == '\n') {
      ++at_;
      indent();
    } else if (c == '#') {
      at_ = std::min(code_.find('\n', at_), code_.size());
    } else if (c == '"' || c == '\'') {
      text(c);
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word();
    } else {
      sign(c);
      ++at_;
    }
  }

  void indent() {
    const size_t begin = at_;
    while (at_ < code_.size() && (code_[at_] == ' ' || code_[at_] == '\t')) {
      ++at_;
    }
    if (at_ - begin > kWidestIndent) {
      fail("a line that is indented far", kWidestIndent);
    }
    if (levels_.size() == 1) {
      restart();
    }
  }

  // A text of one quote, or of three.
  void text(char quote) {
    const std::string three(3, quote);
    const std::string end = code_.substr(at_, 3) == three ? three : std::string(1, quote);
    at_ += end.size();
    while (at_ < code_.size() && code_.substr(at_, end.size()) != end) {
      at_ += code_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), code_.size());
    part();
  }

  void word() {
    while (at_ < code_.size() && (std::isalnum(static_cast<unsigned char>(code_[at_])) != 0 || code_[at_] == '_')) {
      ++at_;
    }
    part();
  }

  void sign(char c) {
    if (c == '(' || c == '[' || c == '{') {
      part();
      levels_.push_back(0);
    } else if (c == ')' || c == ']' || c == '}') {
      if (levels_.size() > 1) {
        restart();
        levels_.pop_back();
      }
    } else if (c == ',' || c == ';') {
      restart();
    } else if (c != ' ') {
      part();
    }
  }

  // Counts a part of an expression. A chain of parts may be as deep as it is long, and is as deep as the brackets
  // around it besides.
  void part() {
    ++levels_.back();
    if (++parts_ > kMostParts) {
      fail("an expression of many parts", kMostParts);
    }
  }
  void restart() {
    parts_ -= levels_.back();
    levels_.back() = 0;
  }

  std::string_view code_;
  size_t at_ = 0;
  std::vector<size_t> levels_ = {0};  // parts so far, in each of the brackets that are open
  size_t parts_ = 0;                  // their sum
};

}  // namespace

void checkCode(const std::string& code) {
  CodeCheck(code).run();
}

}  // namespace torchtrt::runtime
