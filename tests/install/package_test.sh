#!/usr/bin/env bash
# package_test.sh BUILD_DIR: what a desktop reads of the installed program is valid, and cpack's packages hold it: the .deb with
# the libraries that it depends on, the tar.gz a program that runs where it is unpacked. Needs neither root nor network.
set -euo pipefail
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() { echo "FAILED: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/usr" >/dev/null
share=usr/share
if command -v desktop-file-validate >/dev/null; then
  desktop-file-validate $share/applications/headscope.desktop || fail "the desktop entry"
fi
if command -v appstreamcli >/dev/null; then
  # Newer versions warn that there is no homepage.
  appstreamcli validate --no-net $share/metainfo/org.headscope.headscope.metainfo.xml >appstream.txt || true
  ! grep '^E:' appstream.txt || fail "the AppStream metadata"
fi
if command -v update-mime-database >/dev/null; then
  update-mime-database $share/mime 2>mime.txt || fail "the MIME type: $(cat mime.txt)"
  grep -q 'application/x-headscope-session:\*.headscope' $share/mime/globs2 || fail "no name belongs to the MIME type"
fi
for type in $(sed -n 's/^MimeType=//p' $share/applications/headscope.desktop | tr ';' ' '); do
  grep -q "<mime-type type=\"$type\">" $share/mime/packages/headscope.xml || fail "$type is of the desktop entry alone"
  grep -q "<mediatype>$type</mediatype>" $share/metainfo/*.xml || fail "$type is not in the AppStream metadata"
done
head -1 $share/doc/headscope/copyright | grep -q '^Format: https://www.debian.org/doc/packaging-manuals/copyright-format' ||
  fail "copyright is in no form that machines read"
version=$(usr/bin/headscope --version | cut -d' ' -f2)
zcat $share/doc/headscope/changelog.gz | head -1 | grep -q "^headscope ($version)" || fail "the changelog is not of $version"
grep -q "release version=\"$version\"" $share/metainfo/*.xml || fail "the AppStream metadata is not of $version"

cpack --config "$build/CPackConfig.cmake" -G TGZ -B "$scratch/tgz" >cpack.txt 2>&1 || fail "cpack -G TGZ: $(tail -3 cpack.txt)"
mkdir "unpacked here"
tar -xzf tgz/headscope-*.tar.gz -C "unpacked here"
program=$(echo "unpacked here"/headscope-*/bin/headscope)
"$program" predict --prompt "Once upon a" --count 1 | grep -q . || fail "the program of the tar.gz does not run"
[[ -z $(find "unpacked here" -perm /022 ! -type l) ]] || fail "others may write to files of the tar.gz"

if ! command -v dpkg-shlibdeps >/dev/null; then
  echo "dpkg-dev is not installed: the .deb is not made"
  exit 0
fi
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$scratch/deb" >cpack.txt 2>&1 || fail "cpack -G DEB: $(tail -3 cpack.txt)"
deb=$(echo deb/headscope_"$version"_*.deb)
depends=$(dpkg-deb -f "$deb" Depends)
for library in libc6 libstdc++6; do
  [[ $depends == *$library* ]] || fail "the .deb does not depend on $library: $depends"
done
for library in libglfw libgl1 libopengl0 libegl1; do  # a window alone needs them
  [[ $depends != *$library* ]] || fail "the .deb depends on $library: $depends"
done
[[ $(dpkg-deb -f "$deb" Recommends) == *libglfw3* ]] || fail "the .deb does not recommend GLFW"
[[ $(dpkg-deb -f "$deb" Recommends) == *libgl1-mesa-dri* ]] || fail "the .deb recommends no drivers"
dpkg-deb -c "$deb" >files.txt
for file in bin/headscope share/headscope/models/tales/model.safetensors share/headscope/guide/views.md \
            share/doc/headscope/copyright share/doc/headscope/changelog.gz; do
  grep -q " ./usr/$file$" files.txt || fail "usr/$file is not in the .deb"
done
if grep -v " root/root " files.txt; then fail "files of the .deb are not root's"; fi
