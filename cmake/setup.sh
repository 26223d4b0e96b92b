# Sourced by run.sh and test.sh, which set `root` to the source tree: Debian's packages, then the build.
# Everything here speaks on standard error, so that the program's own output stays clean.

# packages SECTION...: the packages of these sections of debian-packages.txt, one a line.
packages() {
  awk -v wanted=" $* " '
    /^\[/ { section = substr($0, 2, length($0) - 2); next }
    NF && !/^#/ && index(wanted, " " section " ")' "$root/cmake/debian-packages.txt"
}

# install_packages SECTION...: installs what is missing. Where that cannot be done it says what to install and goes on:
# CMake may find the libraries elsewhere, and names those it does not.
install_packages() {
  command -v dpkg-query >/dev/null || return 0
  local installed package missing=()
  installed=$(dpkg-query -W -f '${db:Status-Status}:${Package}\n')
  for package in $(packages "$@"); do
    [[ $'\n'$installed$'\n' == *$'\n'"installed:$package"$'\n'* ]] || missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "Installing packages takes root or sudo. As root, run: apt-get install ${missing[*]}" >&2
      return 0
    fi
    as_root=(sudo)
  fi
  echo "Installing Debian packages: ${missing[*]}" >&2
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  if [[ -z ${packages_updated-} ]]; then
    "${apt[@]}" update >&2 || true  # old lists may still do
    packages_updated=yes
  fi
  # Not every release has all of them: clang-format-14 is Debian 12's alone.
  local known
  known=$(apt-cache show --no-all-versions "${missing[@]}" 2>/dev/null | sed -n 's/^Package: //p' || true)
  for package in "${missing[@]}"; do
    [[ $'\n'$known$'\n' == *$'\n'"$package"$'\n'* ]] || echo "This release of Debian has no package $package." >&2
  done
  [[ -n $known ]] || return 0
  mapfile -t missing <<<"$known"
  "${apt[@]}" install --no-install-recommends "${missing[@]}" >&2 ||
    echo "apt-get failed (no network?). Install these by hand: apt-get install ${missing[*]}" >&2
}

# What a build tree is good for: this source folder on this processor (-march=native).
build_identity() {
  echo "$root"
  grep -m1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null || true
}

# is_built PRESET: whether nothing that goes into the program changed since its last build.
is_built() {
  local stamp=$root/build/$1/.built
  [[ -f $stamp && $(<"$stamp") == "$(build_identity)" ]] || return 1
  [[ -z $(find "$root"/{CMakeLists.txt,CMakePresets.json,cmake,system,model,viz,app} -newer "$stamp" -print -quit) ]]
}

# build PRESET TARGET: configures and builds. The stamp is as old as the start of the build, so that a file saved
# meanwhile counts as newer.
build() {
  local preset=$1 target=$2 tree=$root/build/$1 tool
  for tool in cmake ninja c++; do
    command -v "$tool" >/dev/null || { echo "Cannot build headscope: $tool is not installed." >&2; exit 1; }
  done
  if [[ -f $tree/.built && $(<"$tree/.built") != "$(build_identity)" ]]; then rm -rf "$tree"; fi
  mkdir -p "$tree"
  build_identity >"$tree/.building"
  (cd "$root" && cmake --preset "$preset" && cmake --build --preset "$preset" --target "$target") >&2
  mv "$tree/.building" "$tree/.built"
}

# portable_program: builds the program for any processor of this kind, and prints its path.
portable_program() {
  local tree=$root/build/portable-program
  (cd "$root" && cmake --preset release -B "$tree" -DHEADSCOPE_NATIVE=OFF && cmake --build "$tree" --target headscope) >&2
  echo "$tree/app/headscope"
}
