#!/usr/bin/env bash
# shells_test.sh PROGRAM: completions are read by the shells that are installed here, and offer what they should; the manual
# page is read without a warning.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p folder/inside
touch picture.png
fail() { echo "FAILED: $*" >&2; exit 1; }

"$program" completion bash >bash
"$program" completion zsh >_headscope
"$program" completion fish >fish
"$program" manual >headscope.1

# offered LINE...: what bash offers after the words, the last of which is being typed.
offered() {
  bash --norc -uc '
    source ./bash
    COMP_WORDS=(headscope "$@") COMP_CWORD=$#
    compopt() { :; }
    _headscope
    printf "%s\n" "${COMPREPLY[@]}"' offered "$@" | LC_ALL=C sort
}
bash -n bash || fail "bash cannot read its completions"
is() { [[ $1 == "$2" ]] || fail "offered '$1', not '$2'"; }
is "$(offered pre)" predict
is "$(offered plot heatm)" heatmap
is "$(offered plot --layer 2 heatm)" heatmap
is "$(offered --prompt plot predict --to)" --top
is "$(offered plot heatmap --out x.png --theme d)" dark
is "$(offered plot heatmap --out pic)" picture.png
is "$(offered --model fol)" folder
is "$(offered completion z)" zsh
is "$(offered predict --prompt pic)" ""
is "$(offered plot heatmap --theme = d)" dark
is "$(offered plot heatmap --theme = dark --value-sc)" --value-scale
is "$(offered plot heatmap --out =)" $'_headscope\nbash\nfish\nfolder\nheadscope.1\npicture.png'
is "$(offered info pic)" picture.png
is "$(offered pic)" picture.png
is "$(offered metrics --merge a.json pic)" picture.png
[[ $(offered get gpt2 --) == *--help* ]] || fail "options are not offered after a word of one's own"
[[ $(offered "") == *doctor* ]] || fail "commands are not offered"
[[ $(offered plot heatmap --) == *--value-scale* ]] || fail "options of a view are not offered"

if command -v zsh >/dev/null; then
  zsh -n _headscope || fail "zsh cannot read its completions"
  zsh -fc 'fpath=(. $fpath); autoload -U compinit && compinit -u -D && autoload +X _headscope && whence -w _headscope' |
    grep -q function || fail "zsh does not load its completions"
else
  echo "zsh is not installed: not looked at"
fi

if command -v fish >/dev/null; then
  fish --no-config --no-execute fish || fail "fish cannot read its completions"
  fish_offers() { fish --no-config -c 'source fish; complete -C "$argv"' "$1" | cut -f1 | tr '\n' ' '; }
  is "$(fish_offers 'headscope pred')" "predict "
  is "$(fish_offers 'headscope plot --layer 2 heatm')" "heatmap "
  is "$(fish_offers 'headscope --prompt plot predict --to')" "--top "
  is "$(fish_offers 'headscope plot heatmap --theme d')" "dark "
  is "$(fish_offers 'headscope info pic')" "picture.png "
  is "$(fish_offers 'headscope metrics --merge a.json pic')" "picture.png "
  is "$(fish_offers 'headscope plot heatmap --value-sc')" "--value-scale "
  [[ $(fish_offers 'headscope get gpt2 --') == *--help* ]] || fail "fish offers no options after a word of one's own"
  [[ $(fish_offers 'headscope predict --value-sc') == "" ]] || fail "fish offers a view's option to predict"
else
  echo "fish is not installed: not looked at"
fi

if command -v groff >/dev/null; then
  groff -k -man -ww -z -Tutf8 headscope.1 2>groff.txt || fail "groff cannot read the manual page"
  [[ ! -s groff.txt ]] || fail "groff warns of the manual page: $(head -3 groff.txt)"
fi
if command -v mandoc >/dev/null; then
  mandoc -Tlint -Wwarning headscope.1 >mandoc.txt || fail "mandoc warns of the manual page: $(head -3 mandoc.txt)"
fi
