#!/usr/bin/env bash
# Builds what the preset `windows` needs, from the sources of this Debian's packages: libraries that do not exist for
# Windows in Debian. Takes no root: the list of packages and everything else lies in one folder, outside the sources.
#
#   cmake/windows_libraries.sh [FOLDER]    usual: $HEADSCOPE_WINDOWS_LIBRARIES, else ~/.cache/headscope/windows
#
# src/NAME has the unpacked sources (CMake compiles those that PinnedSources.cmake names); the rest is built here, static,
# into FOLDER itself. Done once for each version: what has not changed is left alone. Lists of packages are brought up to date
# once a run.
set -euo pipefail
folder=${1:-${HEADSCOPE_WINDOWS_LIBRARIES:-${XDG_CACHE_HOME:-$HOME/.cache}/headscope/windows}}
mkdir -p "$folder"/{apt/lists/partial,apt/cache,src,built,log}
folder=$(cd "$folder" && pwd)
host=x86_64-w64-mingw32
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for tool in $host-g++-posix apt-get dpkg-source cmake meson ninja gperf pkg-config make; do
  command -v $tool >/dev/null || { echo "$tool is missing: install the packages of [windows] in cmake/debian-packages.txt" >&2; exit 1; }
done

# The same release and mirror as this machine's packages, with the sources.
apt_get() {
  apt-get -q -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User= "$@"
}
apt-get indextargets --format \
  'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(SITE) $(RELEASE) $(COMPONENT)' \
  'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u >"$folder/apt/sources.list"
apt_get update >"$folder/log/apt" 2>&1

# sources NAME PACKAGE VERSION [authors-alone]: unpacks a source package into src/NAME, with Debian's patches; apt checks what it
# downloads against the signed lists. VERSION is the authors', and no other is taken; Debian's own revisions of it, which mend
# security holes, are. The stamp has the whole version. The fourth argument takes the authors' archive alone.
sources() {
  local name=$1 package=$2 pinned=$3 whole found log=$folder/log/$1
  whole=$(apt_get source --print-uris "$package" 2>/dev/null | awk '$2 ~ /\.dsc$/ { print $2; exit }')
  [[ -n $whole ]] || { echo "$name: Debian's lists have no sources of the package $package" >&2; exit 1; }
  found=${whole#*_} found=${found%.dsc} found=${found%-*}
  if [[ $found != "$pinned" ]]; then
    echo "$name: Debian has version $found of ${package%%/*}, but headscope was built for Windows with $pinned. To build with" \
      "$found, put its number into cmake/windows_libraries.sh and run tests/windows.sh." >&2
    exit 1
  fi
  [[ $(cat "$folder/src/$name.version" 2>/dev/null) == "$whole${4:+ $4}" ]] && return
  echo "$name: $whole" >&2
  rm -rf "$folder/src/$name" "$folder/apt/$name" "$folder/built/$name"
  mkdir "$folder/apt/$name"
  local status=0
  set +e
  (set -e
    cd "$folder/apt/$name"
    if [[ ${4-} == authors-alone ]]; then
      apt_get source --download-only --tar-only "$package"
      mkdir "$folder/src/$name"
      tar -xf ./*.orig.tar.* -C "$folder/src/$name" --strip-components=1
    else
      apt_get source --download-only "$package"
      dpkg-source --no-copy -x "$whole" "$folder/src/$name"
    fi) >"$log" 2>&1
  status=$?
  set -e
  ((status == 0)) || { tail -20 "$log" >&2; echo "$name: its sources were not had (the whole log is $log)" >&2; exit 1; }
  echo "$whole${4:+ $4}" >"$folder/src/$name.version"
  rm -rf "$folder/apt/$name"
}

# once NAME: builds and installs with build_NAME, in a folder of its own, what has not been yet in this way.
once() {
  local name=$1 tree=$folder/built/$1.tree
  [[ $(cat "$folder/built/$name" 2>/dev/null) == "$(declare -f build_$name)" ]] && return
  echo "$name: building" >&2
  rm -rf "$tree" && mkdir "$tree"
  local status=0
  set +e  # tested by ||, the function would go on after what failed
  (set -e; cd "$tree"; build_$name) >>"$folder/log/$name" 2>&1
  status=$?
  set -e
  ((status == 0)) || { tail -20 "$folder/log/$name" >&2; exit 1; }
  rm -rf "$tree"
  declare -f build_$name >"$folder/built/$name"
}

export PKG_CONFIG_LIBDIR=$folder/lib/pkgconfig HEADSCOPE_WINDOWS_LIBRARIES=$folder

# with_cmake NAME OPTIONS...
with_cmake() {
  cmake -G Ninja -S "$folder/src/$1" -B . -DCMAKE_TOOLCHAIN_FILE="$root/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_PREFIX_PATH="$folder" -DBUILD_SHARED_LIBS=OFF "${@:2}"
  cmake --build .
  cmake --install .
}

build_zlib() {
  $host-gcc-posix -O2 -c "$folder"/src/zlib/*.c  # Debian's archive lacks what the authors have for Windows
  $host-ar rcs libz.a ./*.o
  install -D -m 644 -t "$folder/lib" libz.a
  install -D -m 644 -t "$folder/include" "$folder"/src/zlib/{zlib,zconf}.h
  mkdir -p "$folder/lib/pkgconfig"
  printf 'prefix=%s\nName: zlib\nDescription: compression\nVersion: 1.2.13\nLibs: -L%s/lib -lz\nCflags: -I%s/include\n' \
    "$folder" "$folder" "$folder" >"$folder/lib/pkgconfig/zlib.pc"
}
build_mimalloc() {
  $host-gcc-posix -O2 -DNDEBUG -D_WIN32_WINNT=0x0A00 -I"$folder/src/mimalloc/include" -c "$folder/src/mimalloc/src/static.c" -o mimalloc.o
  $host-ar rcs libmimalloc.a mimalloc.o
  install -D -m 644 -t "$folder/lib" libmimalloc.a
  install -D -m 644 -t "$folder/include" "$folder"/src/mimalloc/include/mimalloc{,-new-delete}.h
}
build_freetype() {
  with_cmake freetype -DFT_REQUIRE_ZLIB=ON -DFT_DISABLE_{BZIP2,BROTLI,HARFBUZZ,PNG}=ON
}
# with_meson NAME OPTIONS...
with_meson() {
  cat >cross <<EOF
[binaries]
c = '$host-gcc-posix'
ar = '$host-ar'
strip = '$host-strip'
pkgconfig = 'pkg-config'
[host_machine]
system = 'windows'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
EOF
  meson setup --cross-file cross --prefix "$folder" --libdir lib --buildtype release --default-library static \
    . "$folder/src/$1" "${@:2}"
  ninja install
}
build_pixman() {
  with_meson pixman -Dtests=disabled -Dgtk=disabled -Dlibpng=disabled -Dopenmp=disabled
}
build_expat() {
  with_cmake expat/expat -DEXPAT_DTD=OFF -DEXPAT_SHARED_LIBS=OFF -DEXPAT_BUILD_{TOOLS,EXAMPLES,TESTS,DOCS}=OFF
}
# Cairo takes a font's file by a pattern of it.
build_fontconfig() {
  with_meson fontconfig -Dtests=disabled -Dtools=disabled -Dcache-build=disabled -Ddoc=disabled -Dnls=disabled
}
# Only what PDF takes. Its _FORTIFY_SOURCE brings a library of MinGW that opens Windows' cryptography when the program starts, and
# with that those of windows and fonts.
build_cairo() {
  "$folder/src/cairo/configure" --host=$host --prefix="$folder" --disable-shared --enable-static \
    --disable-{xlib,xcb,png,ps,svg,script,gobject,interpreter,trace,win32,win32-font,valgrind,gtk-doc} \
    --enable-{pdf,ft,fc} CC=$host-gcc-posix CFLAGS="-O2 -Wp,-U_FORTIFY_SOURCE" CPPFLAGS="-I$folder/include" LDFLAGS="-L$folder/lib" PKG_CONFIG="pkg-config --static"
  make -C src -j2 install AUTOMAKE=: AUTOCONF=: ACLOCAL=:
  install -D -m 644 -t "$folder/lib/pkgconfig" src/cairo.pc src/cairo-pdf.pc src/cairo-ft.pc
}
# With the system's TLS and certificates.
build_curl() {
  with_cmake curl -DCURL_USE_SCHANNEL=ON -DHTTP_ONLY=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DENABLE_UNICODE=ON \
    -DCURL_ZLIB=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBSSH2=OFF -DENABLE_MANUAL=OFF -DCURL_DISABLE_LDAP=ON
}

sources eigen eigen3 3.4.0
sources json nlohmann-json3 3.11.2
sources cli11 cli11 2.1.2+ds
sources stb libstb 0.0~git20220908.8b5f1f3+ds
sources imgui imgui 1.86+ds
sources glfw glfw3 3.3.8
sources utf8proc utf8proc 2.8.0
sources googletest googletest 1.12.1
sources zlib zlib 1.2.13.dfsg
sources mimalloc mimalloc 2.0.9+ds
sources freetype freetype 2.12.1+dfsg
sources pixman pixman 0.42.2 authors-alone  # not every mirror has Debian's part
# The release's own, not the security archive's, which not every mirror has whole: fontconfig would read its configuration
# with it, and the program has it read none.
sources expat "expat/$(. /etc/os-release && echo "$VERSION_CODENAME")" 2.5.0
sources fontconfig fontconfig 2.14.1
sources cairo cairo 1.16.0
sources curl curl 7.88.1
for name in zlib mimalloc freetype pixman expat fontconfig cairo curl; do
  once $name
done
echo "$folder"
