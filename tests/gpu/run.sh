#!/bin/bash
# Runs sections of tests/gpu/suite.py on a machine with a GPU, with the libraries that pack.sh collected.
# Usage: bash tests/gpu/run.sh [SECTION[=SECONDS]...]; without a section, all that test. Never stops at a failure.
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
work=$root/build/gpu
out=${OUT:-$root/build/gpu-results}
mkdir -p "$out"
python=${PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1 TORCHTRT_STRICT=1 HF_HUB_OFFLINE=1
torch=$($python -c 'import os, torch; print(os.path.dirname(torch.__file__))')
site=$(dirname "$torch")
export LD_LIBRARY_PATH=$work/lib:$torch/lib:$site/nvidia/cu13/lib:$site/nvidia/cudnn/lib:${LD_LIBRARY_PATH:-}
export PYTHONPATH=$work/python:$root/tests/python:$root/bench:${PYTHONPATH:-}

say() { echo "== $*"; }

# Libraries under the names that they are opened by, and the binding for this Python.
prepare() {
  local started=$SECONDS
  cd "$work/lib" || return 1
  [ -e libdnnl.so.3 ] || $python -c "
import lzma, shutil
with lzma.open('libdnnl.so.3.xz') as packed, open('libdnnl.so.3', 'wb') as to: shutil.copyfileobj(packed, to)"
  for library in libtorchtrt*.so.*; do ln -sf "$library" "${library%%.so*}.so"; done
  ln -sfn "$work/lib" "$work/python/torchtrt/lib"
  $python -c "import timm" 2> /dev/null || [ ! -e "$work/timm.tar.xz" ] || $python -m tarfile -e "$work/timm.tar.xz" "$work/python"
  chmod +x "$work"/bin/*
  cd "$root" || return 1
  local suffix include objects=()
  suffix=$($python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
  include=$($python -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  if [ -e "$work/python/torchtrt/_torchtrt$suffix" ]; then return 0; fi
  mkdir -p "$work/objects"
  for source in $(find python/bindings -name '*.cpp'); do
    local object=$work/objects/$(echo "${source#python/bindings/}" | tr / _).o
    objects+=("$object")
    g++ -std=c++20 -O1 -DNDEBUG -fPIC -fvisibility=hidden -w -D_GLIBCXX_USE_CXX11_ABI=1 -DTORCH_EXTENSION_NAME=_torchtrt \
      -Isrc -Iinclude -Ipython -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" -isystem "$include" \
      -c "$source" -o "$object" > "$object.log" 2>&1 &
  done
  wait
  g++ -shared -o "$work/python/torchtrt/_torchtrt$suffix" "${objects[@]}" -L"$work/lib" -L"$torch/lib" \
    -ltorchtrt -ltorchtrt_runtime -ltorchtrt_network -ltorchtrt_engine -ltorch_python -ltorch -ltorch_cpu -lc10 \
    -Wl,-rpath,'$ORIGIN/lib' -Wl,--allow-shlib-undefined > "$work/objects/link.log" 2>&1
  if [ ! -e "$work/python/torchtrt/_torchtrt$suffix" ]; then
    say "the binding does not build:"
    head -c 3000 "$work"/objects/*.log
    return 1
  fi
  say "binding built in $((SECONDS - started)) s"
}

prepare || { say "PREPARE FAILED"; exit 1; }
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | head -8
$python -c 'import torchtrt; print(torchtrt.get_build_info(), end="")' 2>&1 | tail -8
[ $# -gt 0 ] || set -- smoke operators models exports files threads capture replay misuse processes rows
for asked in "$@"; do
  section=${asked%%=*}
  limit=${asked#*=}
  [ "$limit" != "$asked" ] || limit=280
  say "$section (at most $limit s)"
  started=$SECONDS
  if [ "$section" = unit ]; then
    for program in "$work"/bin/test_*; do
      TORCHTRT_TEST_DEVICE=cuda timeout --kill-after=5 "$limit" "$program" --gtest_brief=1 > "$out/$(basename "$program").log" 2>&1
      say "$(basename "$program"): exit $?, $(grep -c '^\[  FAILED' "$out/$(basename "$program").log") lines of failures"
      grep '^\[  FAILED' "$out/$(basename "$program").log" | head -20
      tail -2 "$out/$(basename "$program").log"
    done
    continue
  fi
  if [ "$section" = sanitizer ]; then
    # All TOOLS at once, each in SHARDS processes: most of the time goes to compiling kernels. PROGRAM and FILTER choose the tests.
    # Errors of the driver are left out, because tests make them. initcheck sees nothing of what boxes of tensor maps write.
    tools=${TOOLS:-memcheck racecheck synccheck} shards=${SHARDS:-4} logs=$(mktemp -d)
    for tool in $tools; do
      [ "$tool" = synccheck ] && options="--num-cuda-barriers 65536" || options=""
      for shard in $(seq 0 $((shards - 1))); do
        GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard TORCHTRT_TEST_DEVICE=cuda timeout --kill-after=5 "$limit" compute-sanitizer --tool $tool $options \
          --report-api-errors no --print-limit 20 "$work/bin/${PROGRAM:-test_cuda}" --gtest_filter="${FILTER:-*}" > "$logs/$tool.$shard" 2>&1 &
      done
    done
    wait
    for tool in $tools; do
      cat "$logs/$tool".* > "$out/$tool.log"
      say "$tool: $(grep -c '^\[       OK' "$out/$tool.log") passed, $(grep -c '^\[  SKIPPED' "$out/$tool.log") skipped, $(grep -c '^\[  FAILED' "$out/$tool.log") lines of failures," \
        "$(grep -c SUMMARY "$out/$tool.log") of $shards processes ended"
      grep -h SUMMARY "$out/$tool.log" | sort | uniq -c
    done
    continue
  fi
  if [ "$section" = implementations ]; then
    timeout --kill-after=5 "$limit" "$work/bin/torchtrt-bench" --device "${TORCHTRT_GPU:-cuda:0}" --seconds 0.05 \
      --file "${PROBLEMS:-bench/kernels/gpu_problems.txt}" > "$out/$section.txt" 2>&1
    say "$section: exit $? after $((SECONDS - started)) s"
    cut -c1-150 "$out/$section.txt"
    continue
  fi
  if [ "$section" = ways ] || [ "$section" = ways-cpu ]; then
    device=${TORCHTRT_GPU:-cuda:0}
    [ "$section" = ways ] || device=cpu
    timeout --kill-after=5 "$limit" $python bench/ways_in.py --inductor --device "$device" --jobs "${JOBS:-4}" --json "$out/$section.json" \
      --seconds 240 --budget "$($python -c "print(($limit - 25) / 60)")" > "$out/$section.log" 2>&1
    say "$section: exit $? after $((SECONDS - started)) s; all of it in $section.log"
    sed -n '/^model (/,$p' "$out/$section.log" | cut -c1-190
    continue
  fi
  if [ "$section" = peers ]; then
    # The last model begins early enough to end within the limit, as a rule. What was measured before it is in the JSON file.
    [ -z "${KEPT:-}" ] || cp "$KEPT" "$out/peers.json"
    TORCHTRT_BUILD=$work timeout --kill-after=5 "$limit" $python bench/bench.py --device "${TORCHTRT_GPU:-cuda:0}" --json "$out/peers.json" --resume \
      --budget "$($python -c "print(max($limit - 200, 30) / 60)")" ${ARGUMENTS:---peers} > "$out/peers.txt" 2> "$out/peers.log"
    say "peers: exit $? after $((SECONDS - started)) s; tables in peers.txt, figures in peers.json, progress in peers.log"
    cut -c1-190 "$out/peers.txt"
    tail -3 "$out/peers.log" | cut -c1-190
    continue
  fi
  timeout --kill-after=5 "$limit" $python tests/gpu/suite.py "$section" --out "$out" --seconds $((limit - 10)) > "$out/$section.log" 2>&1
  code=$?
  grep -E "^(FAIL|CRASH|SLOW)" "$out/$section.log" | cut -c1-300 | head -40
  grep -E "^(SUM|TABLE)" "$out/$section.log" | cut -c1-240
  [ $code -eq 0 ] || tail -5 "$out/$section.log" | cut -c1-400
  say "$section: exit $code after $((SECONDS - started)) s; all of it in $section.log"
done
