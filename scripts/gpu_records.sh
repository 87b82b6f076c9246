#!/usr/bin/env bash
# Records everything that needs a GPU, on a machine with CUDA and torch but without a network:
#
#     scripts/gpu_records.sh WHEELS [SECONDS]
#
# WHEELS: a folder with the wheels that the Python of that machine lacks, blogsmith's own among them. To fill it
# elsewhere, for Python 3.12 on Linux:
#
#     pip wheel --no-deps --wheel-dir WHEELS .
#     pip download --dest WHEELS --only-binary :all: --python-version 3.12 --platform manylinux_2_28_x86_64 \
#         --no-deps cssselect2 latex2mathml linkify-it-py mdit-py-plugins msgspec tinycss2 uc-micro-py \
#         watchdog webencodings ziafont ziamath
#
# SECONDS: how long to measure attention (150 by default). A second run continues after the first.
# PYTHON (environment): the Python that has torch; python3 by default. OUT: a folder that gets the results too.
#
# Leaves `_freeze/` and `content/posts/*/timings.jsonl`, to be committed. A step that fails does not stop the
# others; the script ends with 1 then.
set -u
cd "$(dirname "$0")/.."
wheels=$1 seconds=${2:-150} python=${PYTHON:-python3} out=${OUT:-.gpu/out} status=0
mkdir -p .gpu "$out"
step() {
    echo "== $1"
    shift
    "$@" || status=1
}
keep() { tar -czf "$out/records.tar.gz" _freeze content/posts/*/timings.jsonl; }
# the working tree comes first, so that the code that runs is this one
export PYTHONPATH="$PWD:$PWD/.gpu/packages" PYTHONDONTWRITEBYTECODE=1
step packages "$python" -m pip install -q --no-index --no-deps --target .gpu/packages --upgrade "$wheels"/*.whl
step machine "$python" -c 'from blogsmith.lab import device_report; print(device_report())'
step measure "$python" -m scripts.gpu_rows content/posts/attention-in-tiles/timings.jsonl --seconds "$seconds" \
    ${ROWS_FLAGS:-}
keep
step record "$python" -m blogsmith execute --jobs 1 --needs cuda
keep
step verify "$python" -m blogsmith verify content/posts/attention-in-tiles content/posts/what-attention-costs
step tests timeout 100 "$python" -m pytest -q -p no:cacheprovider tests/torch tests/bench/test_attention.py
git --no-pager diff --stat -- _freeze content
exit "$status"
