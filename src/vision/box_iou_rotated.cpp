#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "vision/vision.h"

namespace torchtrt::vision {
namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr double kNoArea = 1e-14;  // torchvision takes a smaller box for one that overlaps nothing
constexpr int kMostCorners = 8;    // of a rectangle that each edge of another cuts once

struct Point {
  double x;
  double y;
};

struct Box {
  Point center;
  double width;
  double height;
  double angle;  // in radians

  double area() const {
    return width * height;
  }
};

struct Polygon {
  std::array<Point, kMostCorners> corners;
  int count = 0;

  void add(const Point& corner) {
    if (count < kMostCorners) {
      corners[count++] = corner;
    }
  }
};

// The part of a polygon whose x is at most the limit.
Polygon cutAtX(const Polygon& given, double limit) {
  Polygon kept;
  for (int i = 0; i < given.count; ++i) {
    const Point& here = given.corners[i];
    const Point& next = given.corners[(i + 1) % given.count];
    if (here.x <= limit) {
      kept.add(here);
    }
    if ((here.x <= limit) != (next.x <= limit)) {
      kept.add({limit, here.y + (next.y - here.y) * (limit - here.x) / (next.x - here.x)});
    }
  }
  return kept;
}

Polygon turnedByRightAngle(const Polygon& given) {
  Polygon turned;
  for (int i = 0; i < given.count; ++i) {
    turned.add({-given.corners[i].y, given.corners[i].x});
  }
  return turned;
}

double areaOf(const Polygon& polygon) {
  double twice = 0;
  for (int i = 0; i < polygon.count; ++i) {
    const Point& here = polygon.corners[i];
    const Point& next = polygon.corners[(i + 1) % polygon.count];
    twice += here.x * next.y - next.x * here.y;
  }
  return std::abs(twice) / 2;
}

// The corners of a box where another one stands upright around the origin. y points down, so that angles turn to it.
Polygon seenFrom(const Box& origin, const Box& box) {
  const double turn = box.angle - origin.angle;
  const Point across{std::cos(turn) * box.width / 2, -std::sin(turn) * box.width / 2};
  const Point down{std::sin(turn) * box.height / 2, std::cos(turn) * box.height / 2};
  const double x = box.center.x - origin.center.x;
  const double y = box.center.y - origin.center.y;
  const Point center{x * std::cos(origin.angle) - y * std::sin(origin.angle),
                     x * std::sin(origin.angle) + y * std::cos(origin.angle)};
  Polygon corners;
  for (const auto& [right, low] : {std::pair{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}) {
    corners.add({center.x + right * across.x + low * down.x, center.y + right * across.y + low * down.y});
  }
  return corners;
}

double overlap(const Box& a, const Box& b) {
  Polygon rest = seenFrom(a, b);
  for (int side = 0; side < 4; ++side) {
    rest = turnedByRightAngle(cutAtX(rest, std::abs(side % 2 == 0 ? a.width : a.height) / 2));
  }
  return areaOf(rest);
}

float intersectionOverUnion(const Box& a, const Box& b) {
  if (a.area() < kNoArea || b.area() < kNoArea) {
    return 0;
  }
  const double shared = overlap(a, b);
  return static_cast<float>(std::clamp(shared / (a.area() + b.area() - shared), 0.0, 1.0));
}

void checkRotated(const at::Tensor& boxes1, const at::Tensor& boxes2) {
  for (const at::Tensor& boxes : {boxes1, boxes2}) {
    TORCH_CHECK(boxes.is_cpu(), "box_iou_rotated: expected boxes on the CPU, got them on ", boxes.device());
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 5, "box_iou_rotated: expected boxes of shape [n, 5], got ",
                boxes.sizes());
  }
  TORCH_CHECK(boxes1.scalar_type() == boxes2.scalar_type(), "box_iou_rotated: expected boxes of one dtype, got ",
              boxes1.scalar_type(), " and ", boxes2.scalar_type());
}

template <typename T>
Box boxOf(const T* numbers) {
  return {{numbers[0], numbers[1]}, numbers[2], numbers[3], numbers[4] * kDegree};
}

}  // namespace

at::Tensor boxIouRotated(const at::Tensor& boxes1, const at::Tensor& boxes2) {
  checkRotated(boxes1, boxes2);
  at::Tensor result = at::empty({boxes1.size(0), boxes2.size(0)}, boxes1.options().dtype(at::kFloat));
  const at::Tensor rows = boxes1.contiguous();
  const at::Tensor columns = boxes2.contiguous();
  AT_DISPATCH_FLOATING_TYPES(boxes1.scalar_type(), "box_iou_rotated", [&] {
    const auto* const row = rows.const_data_ptr<scalar_t>();
    const auto* const column = columns.const_data_ptr<scalar_t>();
    auto* const out = result.mutable_data_ptr<float>();
    const int64_t width = columns.size(0);
    at::parallel_for(0, rows.size(0), /*grain_size=*/1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          out[i * width + j] = intersectionOverUnion(boxOf(row + 5 * i), boxOf(column + 5 * j));
        }
      }
    });
  });
  return result;
}

}  // namespace torchtrt::vision
