"""Files of one JSON document a line, to which a script adds while it runs."""

import json
import os


def read(path):
    """The documents of a file, oldest first; none where there is no file. A line that was torn when a run was cut off is passed over."""
    if not os.path.exists(path):
        return
    with open(path) as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                pass
