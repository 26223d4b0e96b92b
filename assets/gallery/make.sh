#!/bin/sh
# Makes the pictures of the gallery, which README.md and the guide show: assets/gallery/make.sh [HEADSCOPE [FOLDER]]
# HEADSCOPE is the program (default: build/release/app/headscope), FOLDER where the pictures go (default: here).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
headscope=${1:-$here/../../build/release/app/headscope}
folder=${2:-$here}

she="Once there was a little girl who lived by the sea with a big black dog. Every morning she"
fish="The green fish walk under golden bread and sing. Then the green fish walk under golden"
bear="The little fox and the old bear ran. The little fox and the old"
fox="The king gave Mr. Fox a horse. Then the king gave Mr."
to_a_fox="The king gave to a Fox a horse. Then the king gave Mr."
king="The king gave Mr. Pellinor a horse. Then the king gave Mr."

# NAME, the view, and its options.
picture() {
  name=$1
  shift
  "$headscope" "$@" --font-size 12 --scale 1 --no-caption --out "$folder/$name.png"
}

picture heatmap heatmap --prompt "$fish" --layer 2 --head 5 --size 520x420
picture lines lines --prompt "$she" --layer 5 --head 5 --all-queries yes --size 520x420
picture arcs lines --prompt "$she" --layer 5 --head 5 --arrangement arcs --all-queries yes --size 520x420
picture scores scores --prompt "$she" --layer 5 --head 5 --size 520x420
picture qkv qkv --prompt "$she" --query 5 --size 520x420
picture query query --prompt "$fish" --layer 2 --head 5 --size 520x420
picture score-breakdown query --strips breakdown --prompt "$fish" --layer 2 --head 5 --query 16 --key 6 --size 560x520
picture score-sources score_sources --prompt "$fish" --layer 2 --head 5 --query 16 --key 6 --size 640x440
picture softmax softmax --prompt "$she" --size 560x420
picture merge merge --prompt "$she" --layer 5 --head 5 --size 520x420
picture metrics metrics --metric induction --prompt "$fish" --size 520x420
picture merges tokens --tokens-show merges --prompt "unbelievable daughters" --query 6 --size 520x420
picture embedding embedding --prompt "$she" --query 4 --size 520x420
picture positions positions --prompt "$she" --size 560x420
picture cosines positions --positions-show cosines --prompt "$she" --size 520x460
picture staircase staircase --prompt "$she" --size 560x560
picture shift positions --positions-show shift --prompt "$she" --size 560x460
picture forward-pass pass --prompt "$she" --layer 5 --size 560x560
picture mlp mlp --prompt "$she" --layer 5 --size 560x560
picture top-examples top_examples --prompt "$she" --layer 4 --size 760x250
picture predictions predictions --prompt "$fish" --size 560x420
picture lens lens --prompt "$she" --size 560x460
picture attribution attribution --prompt "$she" --layer 4 --head 7 --size 640x420
picture saliency saliency --prompt "$king" --method integrated --size 560x420
picture circuit-graph circuit_graph --prompt "$fox" --second "$to_a_fox" --token id:2900 --other-token id:2737 --circuit-positions yes --size 760x560
picture flow flow --prompt "$bear" --size 760x560
picture sweep sweep --prompt "$king" --layer 1 --head 6 --size 560x480
picture query-key-space query_key_space --prompt "$fish" --layer 2 --head 5 --size 520x460
picture circuits circuits --prompt "$she" --layer 2 --head 5 --first-mlp --size 560x330
picture composition composition --prompt "$she" --composition k --layer 2 --head 3 --size 640x440
picture difference heatmap --prompt "$king" --layer 1 --head 6 --edit "L0H0.z=0" --show difference --size 560x480
picture sampling sampling --prompt "$she" --top-k 40 --top-p 0.9 --size 560x420
picture tree tree --prompt "$she" --ahead 4 --size 640x360
picture cache cache --prompt "Once there was a little girl" --ahead 8 --size 520x420
picture parameters parameters --prompt "$she" --size 560x420
picture heads heads --prompt "$fish" --size 520x420

# The window at the top of README.md.
[ $# -gt 1 ] || "$headscope" shot --prompt "$fish" --layer 2 --head 5 --size 1600x1000 --out "$here/../screenshot.png"
