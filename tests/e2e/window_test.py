"""The real window, in an X server of its own."""
import json
import signal
import time

from program import PROMPT, ProgramCase, main, only_on_linux, png_size, until
from screen import Screen, end_of


class Window(ProgramCase):
    @only_on_linux("signals")
    def test_keeps_what_was_typed_when_it_is_killed(self):
        """Within three seconds, though nothing else happens; and at once if a signal asks the window to end."""
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            folder = self.folder / number.name

            def shown():
                return "".join(json.loads(kept.read_text()).get("prompt", "") for kept in folder.glob("headscope/window-*.headscope"))

            with Screen() as screen:
                process = screen.start("--prompt", PROMPT, env={"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)})
                self.assertTrue(until(lambda: shown() == PROMPT, seconds=20))
                screen.keys("q")
                if number == signal.SIGKILL:
                    self.assertTrue(until(lambda: shown() == PROMPT + "q", seconds=20))
                process.send_signal(number)
                self.assertEqual(end_of(process), (-number, b"", ""))
            self.assertEqual(shown(), PROMPT + "q", number.name)

    @only_on_linux("an X server")
    def test_exports_by_the_mouse(self):
        with Screen() as screen:
            process = screen.start("--prompt", PROMPT, cwd=self.folder,
                                   env={"XDG_STATE_HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)})

            def exported():
                """Export, then the button in the dialog. A busy machine may draw either only after it was clicked."""
                screen.click(1510, 24)
                time.sleep(0.2)
                screen.click(800, 724)
                return list(self.folder.glob("*.png"))

            self.assertTrue(until(exported, seconds=20))
            screen.keys("ctrl+q")
            self.assertEqual(end_of(process), (0, b"", ""))
        png_size(next(self.folder.glob("*.png")).read_bytes())


if __name__ == "__main__":
    main()
