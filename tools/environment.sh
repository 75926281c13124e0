# Sourced by tools/demo and tools/test: a virtual environment with this checkout installed in it.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# prepare_environment EXTRAS: make .venv if there is none, and install if pyproject.toml changed
# since these extras were installed. Leaves the interpreter's path in $python.
prepare_environment() {
  local extras=$1 venv=$root/.venv
  python=$venv/bin/python
  if ! "$python" -c '' 2>/dev/null; then
    local base
    base=$(find_python) || exit 1
    echo "making $venv"
    if ! "$base" -m venv "$venv"; then
      echo "cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2
      exit 1
    fi
  fi
  local stamp=$venv/.installed-$extras state
  state=$(cksum <"$root/pyproject.toml")
  if [ "$(cat "$stamp" 2>/dev/null)" != "$state" ]; then
    echo "installing clgraph with the extras $extras"
    "$python" -m pip install --quiet --disable-pip-version-check --editable "$root[$extras]"
    echo "$state" >"$stamp"
  fi
}

find_python() {
  local name
  for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "Python 3.11 or later is needed; set PYTHON to its path" >&2
  return 1
}
