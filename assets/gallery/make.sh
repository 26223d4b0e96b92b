#!/bin/sh
# Makes the pictures of the gallery again, which README.md and the guide show: assets/gallery/make.sh [path of headscope]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
headscope=${1:-$here/../../build/release/app/headscope}

she="Once there was a little girl who lived by the sea with a big black dog. Every morning she"
fish="The green fish walk under golden bread and sing. Then the green fish walk under golden"
king="The king gave Mr. Pellinor a horse. Then the king gave Mr."

# NAME and the arguments of plot: view, then options.
picture() {
  name=$1
  shift
  "$headscope" plot "$@" --font-size 12 --scale 1 --no-caption --out "$here/$name.png"
}

picture heatmap heatmap --prompt "$fish" --layer 2 --head 5 --size 520x420
picture lines lines --prompt "$she" --layer 5 --head 5 --size 520x420
picture arcs lines --prompt "$she" --layer 5 --head 5 --arrangement arcs --size 520x420
picture scores scores --prompt "$she" --layer 5 --head 5 --size 520x420
picture qkv qkv --prompt "$she" --token 5 --size 520x420
picture query query --prompt "$fish" --layer 2 --head 5 --size 520x480
picture score-breakdown score --prompt "$fish" --layer 2 --head 5 --token 16 --key 6 --size 560x520
picture softmax softmax --scores-from robot --prompt "$she" --size 560x420
picture merge merge --prompt "$she" --layer 5 --head 5 --size 520x420
picture metrics metrics --metric induction --metric-least 0.1 --prompt "$fish" --size 520
picture tokenization tokenization --prompt "unbelievable daughters" --token 6 --size 520x460
picture embedding embedding --prompt "$she" --token 4 --size 520x420
picture positions positions --prompt "$she" --size 560x520
picture cosines cosines --prompt "$she" --size 520x460
picture staircase staircase --prompt "$she" --size 560x560
picture shift shift --prompt "$she" --size 560x460
picture forward-pass pass --prompt "$she" --layer 5 --size 560x620
picture mlp mlp --prompt "$she" --layer 5 --size 560x560
picture predictions predictions --prompt "$fish" --size 560x500
picture lens lens --prompt "$she" --size 960
picture attribution attribution --prompt "$she" --layer 4 --head 7 --attribution-list layers --size 640
picture sweep sweep --prompt "$king" --layer 1 --head 6 --size 560x480
picture query-key-space query_key_space --prompt "$fish" --layer 2 --head 5 --size 520x460
picture circuits circuits --prompt "$she" --layer 2 --head 5 --first-mlp --size 560x330
picture difference heatmap --prompt "$king" --layer 1 --head 6 --edit "L0H0.z=0" --show difference --size 560x480
picture sampling sampling --prompt "$she" --top-k 12 --top-p 0.9 --size 560
picture tree tree --prompt "$she" --ahead 4 --size 640x360
picture cache cache --prompt "Once there was a little girl" --ahead 8 --size 520x420
picture parameters parameters --prompt "$she" --size 560x540
picture heads heads --prompt "$fish" --size 520x420
