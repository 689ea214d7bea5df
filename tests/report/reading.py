"""What a page of a report contains, for tests."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser


def data_of(page, name="data"):
    """Return the data that the page's script unpacks."""
    packed = json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.S)[1])
    return None if packed is None else json.loads(zlib.decompress(base64.b64decode(packed)))


def text_of(page):
    """Return the tags of a page with their attributes, and its text."""

    class Text(HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags, self.parts = [], []

        def handle_starttag(self, tag, attributes):
            self.tags.append((tag, dict(attributes)))

        def handle_data(self, data):
            self.parts.append(data)

    parser = Text()
    parser.feed(page)
    return parser.tags, " ".join(parser.parts)
