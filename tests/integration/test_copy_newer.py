"""COPY … FROM STDIN before newer servers: all files and encodings of test_copy.py, and options that only these take.
KEYSPREAD_SERVERS: the versions, "16 17 18" by default."""
import os
import unittest

import test_copy

# Of items (id, v, n): from which version on, options, and data.
FILES = (
    (16, " (default 'D')", b"1\ta\tD\n2\tD\t5\n3\tb\t7\n"),
    (16, " (default 'D')", b"1\ta\t\\D\n2\tx\\D\t5\n"),
    (16, " (format csv, default 'D')", b'1,D,D\n2,"D",5\n3,,\n'),
    (16, " (format csv, default '\\D', null 'D')", b"1,D,\\D\n"),
    (16, " (default '')", b"1\t\t2\n"),
    (16, " (default 'D', null 'D')", b"1\tD\t2\n"),
    (16, " (format binary, default 'D')", b""),
    (16, " (default 'D')", b"1\ta\t1\nD\ta\t1\n"),  # The key has no default.
    (17, " (format csv, force_null *)", b'1,"",""\n'),
    (17, " (format csv, force_not_null *)", b"1,,3\n"),
    (17, " (format csv, null 'x', force_null *, force_not_null *)", b'1,"x",3\n2,x,4\n'),
    (17, " (format csv, null '0x', force_not_null *)", b"0x,a,3\n"),
    (17, " (on_error stop)", b"1\ta\tx\n"),
    (17, " (on_error ignore)", b"1\ta\tx\n2\tb\t20\nx\tc\t30\n4\td\t40\n"),
    (17, " (on_error ignore)", b"1\ta\n2\tb\t20\n"),  # How many fields there are is no error of this kind.
    (17, " (on_error ignore)", b"\\N\ta\t10\n"),
    (17, " (on_error ignore, log_verbosity verbose)", b"1\ta\tx\n2\tb\t20\nlong" + b" key" * 30 + b"\tc\t30\n"),
    (17, " (format csv, header match, on_error ignore, log_verbosity verbose)", b"id,v,n\n1,a,x\n2,b,20\n"),
    (17, " (format binary, on_error ignore)", b""),
    (17, " (on_error 'nothing')", b"1\ta\t1\n"),
    (17, " (log_verbosity 'loud')", b"1\ta\t1\n"),
    (18, " (on_error ignore, log_verbosity silent)", b"1\ta\tx\n2\tb\t20\n"),
    (18, " (on_error ignore, reject_limit 2)", b"1\ta\tx\n2\tb\tx\n3\tc\t30\n"),
    (18, " (on_error ignore, reject_limit 1)", b"1\ta\tx\nx\tb\t20\n3\tc\t30\n"),
    (18, " (on_error ignore, reject_limit '2')", b"1\ta\tx\n"),
    (18, " (on_error ignore, reject_limit 0)", b"1\ta\tx\n"),
    (18, " (reject_limit 1)", b"1\ta\tx\n"),
    (18, " csv", b"1,a,10\n\\.\n2,b,20\n"),  # The mark is data, where it is no row's end.
    (18, " (format csv, freeze)", b"1,a,10\n"),
)


class Newer(test_copy.Files):
    """The way of bytes and of many rows through keyspread is not another one before another server."""
    test_many_rows = test_large_rows = test_an_error_far_behind = None

    def files(self):
        for text, data in super().files():
            if "no_such_option" not in text:  # keyspread refuses what it does not know.
                yield text, data
        yield from self.newer_files()

    def newer_files(self):
        for since, options, data in FILES:
            if self.version >= since:
                yield f"copy items from stdin{options}", data

    def test_cut_at_each_byte(self):
        for text, data in self.newer_files():
            with self.subTest(text, data=data):
                self.copied(text, *(data[at:at + 1] for at in range(len(data))))


for number in os.environ.get("KEYSPREAD_SERVERS", "16 17 18").split():
    for kind in (Newer, test_copy.Encoded):
        name = f"{kind.__name__}{number}"
        globals()[name] = type(name, (kind,), {"version": int(number)})
del Newer, kind

if __name__ == "__main__":
    unittest.main()
