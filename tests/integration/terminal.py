"""terminal: psql before a terminal, and what it offers where TAB is pressed."""
import os
import pty
import select
import subprocess
import tempfile

import harness

READLINE = b"set completion-query-items 0\nset page-completions off\nset enable-bracketed-paste off\nset bell-style none\n"
PROMPT, CLEAR = b"ready> ", b"\x15"


def _read_until(terminal, end):
    seen = b""
    while not seen.endswith(end):
        if not select.select([terminal], [], [], harness.PATIENCE)[0]:
            raise TimeoutError(seen)
        seen += os.read(terminal, 65536)
    return seen


def completions(route, texts):
    """What is seen behind each of the texts when TAB is pressed twice."""
    database, port = route
    terminal, side = pty.openpty()
    with tempfile.NamedTemporaryFile() as settings:
        settings.write(READLINE)
        settings.flush()
        psql = subprocess.Popen(["psql", "-Xq", "-v", f"PROMPT1={PROMPT.decode()}", "-h", "127.0.0.1", "-p", str(port),
                                 "-U", harness.USER, "-d", database], stdin=side, stdout=side, stderr=side,
                                env={**os.environ, "TERM": "dumb", "INPUTRC": settings.name})
        os.close(side)
        try:
            _read_until(terminal, PROMPT)
            seen = []
            for text in texts:
                os.write(terminal, text.encode() + b"\t\t" + CLEAR + b"\\echo end\n")
                seen.append(_read_until(terminal, b"\nend\r\n" + PROMPT))
            os.write(terminal, b"\\q\n")
            psql.wait(harness.PATIENCE)
            return seen
        finally:
            psql.kill()
            psql.wait()
            os.close(terminal)
