// Writes messages in the encoding of Protocol Buffers. Private to plan and its tests.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace torchtrt::plan {

class ProtoMessage {
 public:
  void add(int field, int64_t value) {
    addKey(field, Wire::kVarint);
    addVarint(static_cast<uint64_t>(value));
  }
  void add(int field, float value) {
    addKey(field, Wire::kFixed32);
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes_ += static_cast<char>(bits >> shift);
    }
  }
  void add(int field, std::string_view text) {
    addKey(field, Wire::kLength);
    addVarint(text.size());
    bytes_ += text;
  }
  void add(int field, const ProtoMessage& message) {
    add(field, std::string_view(message.bytes_));
  }
  const std::string& bytes() const {
    return bytes_;
  }

 private:
  enum class Wire : uint8_t { kVarint = 0, kLength = 2, kFixed32 = 5 };

  void addKey(int field, Wire wire) {
    addVarint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire));
  }
  void addVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>(value | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace torchtrt::plan
