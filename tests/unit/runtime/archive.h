// Archives of saved modules with other records.
#pragma once

#include <caffe2/serialize/inline_container.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace torchtrt::runtime {

// Name, without the archive's, and content.
using Records = std::vector<std::pair<std::string, std::string>>;

// Returns the records without those that the writer makes on its own. Throws c10::Error for bytes that are no archive.
inline Records recordsOf(const std::string& archive) {
  std::istringstream in(archive);
  caffe2::serialize::PyTorchStreamReader reader(&in);
  Records records;
  for (const std::string& name : reader.getAllRecords()) {
    if (name != "version" && name != "byteorder" && !name.starts_with(".data/")) {
      const auto [data, bytes] = reader.getRecord(name);
      records.emplace_back(name, std::string(static_cast<const char*>(data.get()), bytes));
    }
  }
  return records;
}

// Returns an archive with checksums that are right. Nothing is compressed.
inline std::string archiveOf(const Records& records) {
  std::string written;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, size_t bytes) {
    written.append(static_cast<const char*>(data), bytes);
    return bytes;
  });
  for (const auto& [name, content] : records) {
    writer.writeRecord(name, content.data(), content.size());
  }
  writer.writeEndOfFile();
  return written;
}

}  // namespace torchtrt::runtime
