#!/usr/bin/env bash
# Tries the ARM wheel of dist/ on another machine than ARM: an emulator and Debian's Python for ARM are downloaded into a folder
# (nothing is installed), and a release is made with the kernels of the wheel. Compare it with one that was made here.
# Takes a few minutes. Needs Debian 12 (whose Python is 3.11), uv, and the wheel of `make dist`.
set -euo pipefail
dist=$(cd "${1:-dist}" && pwd)
here=$(mktemp -d); cd "$here"
uv=${UV:-uv}
apt-get download -q qemu-user-static && dpkg -x qemu-user-static*.deb qemu
mkdir -p lists/partial cache/archives/partial state root && touch state/status
printf '%s\n' 'APT::Architecture "arm64";' 'APT::Architectures "arm64";' "Dir::State \"$here/state\";" \
    "Dir::State::status \"$here/state/status\";" "Dir::State::Lists \"$here/lists\";" "Dir::Cache \"$here/cache\";" \
    'APT::Sandbox::User "root";' > apt.conf
APT_CONFIG=$here/apt.conf apt-get update -q
APT_CONFIG=$here/apt.conf apt-get install -qy --download-only --no-install-recommends python3.11 libstdc++6 libgomp1
for package in cache/archives/*.deb; do dpkg -x "$package" root; done
"$uv" pip install -q --python-platform aarch64-manylinux_2_28 --python-version 3.11 --target site --only-binary :all: \
    "$dist"/shoal-*-cp311-*aarch64.whl
cat > run.py <<'EOF'
import sys
from numba.core.event import Listener, register

compiled = []

class Compiled(Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass

register("numba:compile", Compiled())
from shoal.cli import main
try:
    main(sys.argv[1:])
finally:
    print("compiled in this run:", ", ".join(compiled) or "nothing")
EOF
export PYTHONPATH=$here/site NUMBA_CACHE_DIR=$here/kernels
arm() { ./qemu/usr/bin/qemu-aarch64-static -L root root/usr/bin/python3.11 run.py "$@"; }
arm demo --write-sample admissions.csv --sample admissions
arm anonymize admissions.csv -o release.csv --quasi birth_date,sex,zip,admitted --sensitive diagnosis \
    --identifiers first_name,last_name --person patient_id --k 5 --algorithm mondrian --seed 1
sha256sum release.csv
echo "The release is in $here"
