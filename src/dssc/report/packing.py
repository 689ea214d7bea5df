"""Data as short text, which the page's script unpacks."""

import base64
import json
import zlib
from typing import Any


def packed(data: Any) -> str:
    """Return JSON, deflated and in base64."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode("utf-8", errors="replace"), 9)).decode()
