// Reads text forward, keeping line and column for messages. Spaces, line ends and comments (# to the end of the line)
// separate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torchtrt/error.h"

namespace torchtrt::network {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool atEnd();
  bool take(std::string_view token);     // skips separators, then takes the token if it is next
  bool takeWord(std::string_view word);  // the same where no further letter follows
  bool sees(std::string_view token);     // whether the token is next; takes nothing
  void expect(std::string_view token);
  std::string word();  // letters, digits and '_'; may be empty
  std::string name();  // the rest of a name after '%': bare or quoted
  std::string quotedText();
  std::vector<std::string> list();  // "[a, f(b, c)]": the items between the commas, without outer spaces
  std::string scalar();             // up to the next separator, comma or closing bracket
  std::string commentOfLine();      // what stands behind '#' on this line, if only spaces come before it

  // Throws CompileError (kInvalidNetwork) with line and column of the place where the last token began.
  [[noreturn]] void fail(const std::string& message) const;
  Location here() const;

 private:
  void skip();
  char peek() const {
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t token_ = 0;  // where the last token began
};

}  // namespace torchtrt::network
