#include "compiler/reports/text.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string_view>

#include "base/logging.h"

namespace torchtrt {

std::string firstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string beginning(const std::string& text, size_t bytes) {
  size_t end = std::min(bytes, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  return text.substr(0, end);
}

std::string number(double value) {
  return fixed(value, 3);
}

std::string fixed(double value, int decimals, const char* unit) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(decimals) << value << unit;
  return out.str();
}

std::string brief(double value) {
  std::ostringstream out;
  out << std::setprecision(3) << value;
  return out.str();
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string messageOf(const std::string& error) {
  constexpr std::string_view kTrace = "Traceback of TorchScript";
  constexpr std::string_view kMark = "Error: ";  // "RuntimeError: ", "torch.jit.Error: "
  const size_t trace = error.find(kTrace);
  const size_t mark = trace == std::string::npos ? trace : error.rfind(kMark);
  const std::string said = mark == std::string::npos ? error : error.substr(mark + kMark.size());
  return said.substr(0, said.find('\n'));
}

void tell(const std::string& line) {
  if (logging::getReportableLevel() >= logging::kINFO) {
    TORCHTRT_LOG(kINFO, line);
  } else if (logging::getReportableLevel() >= logging::kWARNING) {
    std::cerr << logging::getPrefix() + line + "\n";
  }
}

std::string withoutPackageFolder(const std::string& location) {
  const std::string packages = "site-packages/";
  const size_t folder = location.rfind(packages);
  return folder == std::string::npos ? location : location.substr(folder + packages.size());
}

void Table::print(std::ostream& out) const {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += "  " + (i < numbers_ ? gap + row[i] : row[i] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
}

}  // namespace torchtrt
