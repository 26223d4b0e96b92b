"""The script that makes the gallery runs, and makes the pictures that the guide shows."""
import re
import subprocess
import unittest

from program import HEADSCOPE, ROOT, ProgramCase, png_size

GALLERY = ROOT / "assets" / "gallery"


class Gallery(ProgramCase):
    def test_is_what_its_script_makes(self):
        script = GALLERY / "make.sh"
        done = subprocess.run(["sh", script, HEADSCOPE, self.folder], capture_output=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        sizes = dict(re.findall(r"^picture (\S+) .* --size (\d+x\d+)", script.read_text(), re.M))
        for folder in (self.folder, GALLERY):
            made = {file.stem: "{}x{}".format(*png_size(file.read_bytes())) for file in folder.glob("*.png")}
            self.assertEqual(made, sizes, folder)


if __name__ == "__main__":
    unittest.main()
