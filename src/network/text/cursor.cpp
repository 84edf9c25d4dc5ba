// The tokens of the text form.
#include "network/text/cursor.h"

#include <algorithm>

#include "network/text/notation.h"

namespace torchtrt::network {
namespace {

bool isWordCharacter(char c) {
  return isNameCharacter(c) && c != '.' && c != '/' && c != '-';
}

int hexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void Cursor::skip() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
    } else {
      break;
    }
  }
  token_ = at_;
}

bool Cursor::atEnd() {
  skip();
  return at_ == text_.size();
}

// A token that is not next leaves the place as it is, so that a comment is still there for commentOfLine().
bool Cursor::sees(std::string_view token) {
  const size_t before = at_;
  skip();
  at_ = before;
  return text_.substr(token_, token.size()) == token;
}

bool Cursor::take(std::string_view token) {
  if (!sees(token)) {
    return false;
  }
  at_ = token_ + token.size();
  return true;
}

bool Cursor::takeWord(std::string_view word) {
  const size_t before = at_;
  if (!take(word)) {
    return false;
  }
  if (isWordCharacter(peek())) {
    at_ = before;
    return false;
  }
  return true;
}

void Cursor::expect(std::string_view token) {
  if (!take(token)) {
    const std::string_view rest = text_.substr(token_);
    fail("expected " + quoted(token) + ", got " +
         (rest.empty() ? "the end" : quoted(rest.substr(0, std::min<size_t>(rest.find('\n'), 12)))));
  }
}

std::string Cursor::word() {
  skip();
  std::string word;
  while (isWordCharacter(peek())) {
    word += text_[at_++];
  }
  return word;
}

std::string Cursor::name() {
  if (peek() == '"') {
    return quotedText();
  }
  std::string name;
  while (isNameCharacter(peek())) {
    name += text_[at_++];
  }
  if (name.empty()) {
    fail("expected a name");
  }
  return name;
}

std::string Cursor::quotedText() {
  expect("\"");
  std::string text;
  while (peek() != '"') {
    if (at_ >= text_.size() || text_[at_] == '\n') {
      fail("expected a closing quote");
    }
    if (text_[at_] != '\\') {
      text += text_[at_++];
      continue;
    }
    ++at_;
    if (peek() == 'x' && at_ + 2 < text_.size()) {
      const int high = hexDigit(text_[at_ + 1]);
      const int low = hexDigit(text_[at_ + 2]);
      if (high < 0 || low < 0) {
        fail("expected two hexadecimal digits after \\x");
      }
      text += static_cast<char>(high * 16 + low);
      at_ += 3;
    } else if (peek() == '"' || peek() == '\\') {
      text += text_[at_++];
    } else {
      fail("expected \\\", \\\\ or \\x in a quoted text");
    }
  }
  ++at_;
  return text;
}

std::vector<std::string> Cursor::list() {
  expect("[");
  std::vector<std::string> items;
  std::string item;
  for (int depth = 0;; ++at_) {
    const char c = peek();
    if (at_ >= text_.size() || c == '\n' || c == '#') {
      fail("expected a closing bracket");
    }
    if (depth == 0 && (c == ',' || c == ']')) {
      item.erase(item.find_last_not_of(' ') + 1);
      if (c == ',' || !items.empty() || !item.empty()) {
        items.push_back(item);
      }
      item.clear();
      if (c == ']') {
        break;
      }
      continue;
    }
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    if (c != ' ' || !item.empty()) {
      item += c;
    }
  }
  ++at_;
  return items;
}

std::string Cursor::scalar() {
  skip();
  std::string text;
  while (peek() != '\0' && std::string_view(" ,)]}#\n\r\t").find(peek()) == std::string_view::npos) {
    text += text_[at_++];
  }
  return text;
}

std::string Cursor::commentOfLine() {
  size_t at = at_;
  while (at < text_.size() && text_[at] == ' ') {
    ++at;
  }
  if (at >= text_.size() || text_[at] != '#') {
    return "";
  }
  const size_t begin = std::min(text_.find_first_not_of(' ', at + 1), text_.size());
  at_ = std::min(text_.find('\n', at), text_.size());
  return begin < at_ ? std::string(text_.substr(begin, at_ - begin)) : "";
}

Location Cursor::here() const {
  const std::string_view before = text_.substr(0, token_);
  Location location;
  location.file = "network text";
  location.line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n');
  location.column = 1 + static_cast<int>(line_start == std::string_view::npos ? token_ : token_ - line_start - 1);
  return location;
}

void Cursor::fail(const std::string& message) const {
  throw CompileError(ErrorCode::kInvalidNetwork, message, here());
}

}  // namespace torchtrt::network
