#include "compiler/text.h"

#include <iomanip>
#include <sstream>

namespace torchtrt {

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << static_cast<int>(c) << std::dec;
    } else {
      out << c;
    }
  }
  out << '"';
  return out.str();
}

std::string number(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(3) << value;
  return out.str();
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string withoutPackageFolder(const std::string& location) {
  const std::string packages = "site-packages/";
  const size_t folder = location.rfind(packages);
  return folder == std::string::npos ? location : location.substr(folder + packages.size());
}

}  // namespace torchtrt
