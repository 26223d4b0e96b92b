"""A window that is killed keeps what was typed."""
import json
import signal

from program import PROMPT, ProgramCase, main, only_on_linux, until
from screen import Screen, end_of


class EndOfAWindow(ProgramCase):
    @only_on_linux("signals")
    def test_keeps_what_was_typed(self):
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


if __name__ == "__main__":
    main()
