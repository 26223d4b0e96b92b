"""The script that makes the gallery runs, and its pictures are those that the guide shows."""
import re
import subprocess
import unittest

import numpy as np

from program import HEADSCOPE, ROOT, ProgramCase, pixels_of, png_size

GALLERY = ROOT / "assets" / "gallery"


class Gallery(ProgramCase):
    def test_is_what_its_script_makes(self):
        script = GALLERY / "make.sh"
        done = subprocess.run(["sh", script, HEADSCOPE, self.folder], capture_output=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        sizes = dict(re.findall(r"^picture (\S+) .* --size (\d+x\d+)", script.read_text(), re.M))
        self.assertEqual(sorted(path.stem for path in self.folder.iterdir()), sorted(sizes))
        self.assertEqual({path.name for path in GALLERY.glob("*.png")}, {name + ".png" for name in sizes})
        for name, size in sizes.items():
            made, kept = ((folder / f"{name}.png").read_bytes() for folder in (self.folder, GALLERY))
            self.assertEqual("{}x{}".format(*png_size(made)), size, name)
            if made == kept:
                continue
            made, kept = pixels_of(made).astype(int), pixels_of(kept).astype(int)
            self.assertEqual(made.shape, kept.shape, f"{name}: run assets/gallery/make.sh")
            # Processors round differently: a few pixels may be a little different.
            share = np.mean(np.abs(made - kept).max(axis=2) > 24)
            self.assertLess(share, 0.003, f"{name} differs; run assets/gallery/make.sh and look at the picture")


if __name__ == "__main__":
    unittest.main()
